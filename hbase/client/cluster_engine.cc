// ClusterEngine: tables of a cluster; what a cluster does not have is refused, with what to use instead.
#include "hbase/client/cluster_engine.h"

#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/mutex.h"
#include "cellar/metrics.h"
#include "engine/values/batch_reader.h"
#include "engine/values/remote_engines.h"
#include "hbase/client/cluster_name.h"
#include "hbase/client/cluster_table.h"
#include "hbase/client/refused.h"
#include "hbase/client/registry.h"
#include "hbase/client/schema_calls.h"

namespace cellar::hbase {
namespace {

class NoSnapshots final : public NamedSnapshots {
 public:
  Result<CheckpointInfo> create(const std::string&, const std::vector<std::string>&) override {
    return refused();
  }
  Result<std::vector<CheckpointInfo>> list() override { return refused(); }
  Status drop(const std::string&) override { return refused(); }
  Result<std::unique_ptr<Engine>> open(const std::string&) override { return refused(); }
  Status restore(const std::string&, const std::vector<std::string>&) override { return refused(); }
  Result<std::shared_ptr<Table>> clone(const std::string&, const std::string&, const std::string&) override {
    return refused();
  }

 private:
  static Status refused() {
    return cluster_has_no("snapshots over tables", "HBase's shell takes snapshots of one table");
  }
};

class NoFeeds final : public Feeds {
 public:
  Status create(const std::string&, const FeedOptions&) override { return refused(); }
  std::vector<FeedInfo> list() override { return {}; }
  Status drop(const std::string&) override { return refused(); }
  Result<std::unique_ptr<FeedReader>> read(const std::string&, std::optional<uint64_t>) override {
    return refused();
  }

 private:
  static Status refused() { return cluster_has_no("feeds", "HBase's replication follows a table"); }
};

class ClusterEngine final : public Engine {
 public:
  ClusterEngine(std::string name, std::shared_ptr<Cluster> cluster, Logger* log)
      : name_(std::move(name)), cluster_(std::move(cluster)), log_(log) {}
  ~ClusterEngine() override { cluster_->close(); }

  // ---- Tables

  Result<std::shared_ptr<Table>> create_table(const std::string& name, const TableOptions& options,
                                              const std::vector<std::string>& splits) override {
    CELLAR_TRY(hbase::create_table(*cluster_, name, options, splits));
    return open_table(name);
  }
  Result<std::shared_ptr<Table>> open_table(const std::string& name) override {
    CELLAR_TRY_ASSIGN(TableOptions options, fetch_table(*cluster_, name));
    return std::shared_ptr<Table>(std::make_shared<ClusterTable>(cluster_, name, std::move(options)));
  }
  Result<std::shared_ptr<Table>> open_or_create_table(const std::string& name,
                                                      const TableOptions& options) override {
    Result<std::shared_ptr<Table>> opened = open_table(name);
    if (opened.ok() || !opened.status().is(Code::kNotFound)) return opened;
    const Status created = hbase::create_table(*cluster_, name, options);
    // Another client may have been faster.
    opened = open_table(name);
    return opened.ok() || created.ok() ? opened : Result<std::shared_ptr<Table>>(created);
  }
  std::vector<std::string> list_tables() override {
    Result<std::vector<std::string>> names = fetch_names(*cluster_);
    if (names.ok()) return std::move(names).value();
    if (log_ != nullptr)
      log_->log(LogLevel::kError, "hbase", "the tables cannot be listed: " + names.status().to_text());
    return {};
  }
  Status drop_table(const std::string& name) override { return hbase::drop_table(*cluster_, name); }
  Status truncate_table(const std::string& name) override { return hbase::truncate_table(*cluster_, name); }
  Status alter_table(const std::string& name, const TableChange& change) override {
    return hbase::alter_table(*cluster_, name, change);
  }
  Status alter_family(const std::string& table, const FamilyOptions& family) override {
    TableChange change;
    change.set_families.push_back(family);
    return alter_table(table, change);
  }
  Result<std::shared_ptr<Table>> create_second_table(const std::string&, const SecondTable&) override {
    return no_second_tables();
  }
  Status build_second_table(const std::string&, const std::function<bool(uint64_t)>&) override {
    return no_second_tables();
  }
  Result<SecondTableCheck> verify_second_table(const std::string&,
                                               const std::function<bool(uint64_t)>&) override {
    return no_second_tables();
  }
  Status add_observer(const std::string&, const std::string&, std::shared_ptr<Observer>) override {
    return cluster_has_no("observers in its clients", "HBase runs coprocessors in its servers");
  }

  // ---- Reads and writes over several tables

  // HBase changes one row atomically, and no more.
  Status write(const Batch& batch, const WriteOptions& options) override {
    const std::span<const BatchEntry> entries = entries_of(batch);
    if (entries.empty()) return {};
    ClusterTable* const table = table_of(entries.front());
    if (table == nullptr) return foreign_table();
    RowMutations row(row_of(entries.front()));
    for (const BatchEntry& each : entries) {
      const ClusterTable* const other = table_of(each);
      if (other == nullptr) return foreign_table();
      if (std::holds_alternative<Cell>(each.change))
        return cluster_has_no("writes of stored cells", "write them as puts, or load HFiles: Table::ingest");
      if (other->name() != table->name() || row_of(each) != row.row())
        return cluster_has_no("writes of several rows at one instant",
                              "write one row in a batch, or many rows with Table::batch");
      std::visit(
          [&row](const auto& change) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(change)>, Cell>) row.add(change);
          },
          each.change);
    }
    return table->mutate(row, options).status();
  }
  Result<std::shared_ptr<const Snapshot>> snapshot() override {
    return cluster_has_no("snapshots over tables", "read without Query::snapshot");
  }
  Result<std::unique_ptr<Transaction>> begin(const TransactionOptions&) override { return no_transactions(); }
  Status run_transaction(const std::function<Status(Transaction&)>&, const TransactionOptions&) override {
    return no_transactions();
  }
  Result<int64_t> unique_time_us() override {
    return cluster_has_no("unique times", "take them from a counter: Table::increment_one");
  }

  // ---- Copies and feeds

  NamedSnapshots& named_snapshots() override { return snapshots_; }
  Feeds& feeds() override { return feeds_; }
  Result<CheckpointInfo> checkpoint(const std::string&, const std::string&) override {
    return cluster_has_no("checkpoints", "HBase's shell takes snapshots of tables");
  }

  // ---- The engine's work

  Status flush() override {
    CELLAR_TRY_ASSIGN(const std::vector<std::string> names, fetch_names(*cluster_));
    for (const std::string& name : names) {
      CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, open_table(name));
      CELLAR_TRY(table->flush());
    }
    return {};
  }
  Status resume() override {
    return cluster_has_no("resumption by its clients", "its servers resume by themselves");
  }
  Status wait_for_background() override {
    return cluster_has_no("view of all work of its servers",
                          "Table::compact waits for the compactions that it asks for");
  }
  Status start_trace(const std::string&, const std::string&) override {
    return cluster_has_no("traces of operations", "HBase's servers keep logs of slow operations");
  }
  Status stop_trace() override { return Status::not_found("no trace is being recorded"); }
  EngineStatus status() override {
    EngineStatus status;
    status.path = name_;
    status.identity = cluster_->identity();
    const MutexLock lock(mutex_);
    if (closed_) status.health = Status::aborted("the engine is closed");
    return status;
  }
  // The status alone: what operations cost is the servers' to tell.
  Metrics metrics() override {
    Metrics metrics;
    metrics.status = status();
    return metrics;
  }
  const RecoveryReport& recovery_report() const override { return report_; }
  // Each read asks the servers.
  Status refresh() override {
    const MutexLock lock(mutex_);
    return closed_ ? Status::aborted("the engine is closed") : Status();
  }
  Status close() override {
    cluster_->close();
    const MutexLock lock(mutex_);
    closed_ = true;
    return {};
  }

 private:
  // Null for a table of another engine.
  ClusterTable* table_of(const BatchEntry& entry) const {
    auto* const table = dynamic_cast<ClusterTable*>(entry.table);
    return table != nullptr && table->is_of(*cluster_) ? table : nullptr;
  }
  static std::string_view row_of(const BatchEntry& entry) {
    const auto row = [](const auto& change) -> std::string_view {
      if constexpr (std::is_same_v<std::decay_t<decltype(change)>, Cell>)
        return change.row;
      else
        return change.row();
    };
    return std::visit(row, entry.change);
  }
  static Status foreign_table() {
    return Status::invalid_argument("the batch names a table of another engine")
        .hinting("open the table with the engine that writes the batch");
  }
  static Status no_second_tables() {
    return cluster_has_no("second tables", "write a second table with each put, or keep one in a store");
  }
  static Status no_transactions() {
    return cluster_has_no("transactions", "use Table::check_and_mutate for one row");
  }

  const std::string name_;
  const std::shared_ptr<Cluster> cluster_;
  Logger* const log_;
  NoSnapshots snapshots_;
  NoFeeds feeds_;
  const RecoveryReport report_;  // of nothing: a cluster recovers by itself
  Mutex mutex_;
  bool closed_ CELLAR_GUARDED_BY(mutex_) = false;
};

}  // namespace

Result<std::unique_ptr<Engine>> open_cluster(const std::string& name, const EngineOptions& options) {
  CELLAR_TRY_ASSIGN(const ClusterName parsed, parse_cluster_name(name));
  if (options.read_only)
    return cluster_has_no("clients that only read",
                          "open it without EngineOptions::read_only; rights are the cluster's matter");
  if (options.error_if_exists)
    return Status::invalid_argument("a cluster exists: error_if_exists cannot be on");
  Result<std::shared_ptr<Cluster>> cluster = Cluster::open(parsed, options.environment);
  if (!cluster.ok()) return cluster.status().with_context("cluster " + name);
  return std::unique_ptr<Engine>(
      std::make_unique<ClusterEngine>(name, std::move(*cluster), options.environment.log));
}

void register_cluster_engine() {
  set_remote_opener(std::string(kMastersScheme), open_cluster);
  if (knows_zookeeper()) set_remote_opener(std::string(kZooKeeperScheme), open_cluster);
}

}  // namespace cellar::hbase

// Linked with the library by its name, see CMakeLists.txt: the constructor runs before main().
extern "C" {
extern const int cellar_hbase_is_linked;
const int cellar_hbase_is_linked = (cellar::hbase::register_cluster_engine(), 1);
}
