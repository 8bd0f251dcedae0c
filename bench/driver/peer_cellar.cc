// Cellar as a peer: one table, its public interface alone.
#include <array>
#include <utility>

#include "bench/driver/peer_options.h"
#include "bench/driver/peers.h"
#include "bench/workload/counted_files.h"
#include "cellar/cellar.h"

namespace cellar::bench {
namespace {

void check(const Status& status, const char* what) {
  if (!status.ok()) give_up("cellar: " + std::string(what) + ": " + status.to_text());
}

template <class T>
T take(Result<T> result, const char* what) {
  check(result.status(), what);
  return std::move(result).value();
}

WriteOptions durable(Keep keep) {
  static constexpr std::array<Durability, 3> kLevels = {Durability::kSkipWal, Durability::kSyncWal,
                                                        Durability::kFsyncWal};
  return {.durability = kLevels[static_cast<size_t>(keep)]};
}

class CellarSession : public Session {
 public:
  CellarSession(Engine& engine, std::shared_ptr<Table> table) : engine_(engine), table_(std::move(table)) {}

  void put(const RowIn& row, Keep keep, int64_t timestamp) override {
    fill(row, timestamp);
    check(table_->put(put_, durable(keep)), "put");
  }

  void put_rows(std::span<const RowIn> rows, Keep keep, int64_t timestamp) override {
    batch_.clear();
    for (const RowIn& row : rows) {
      fill(row, timestamp);
      batch_.put(table_, put_);
    }
    check(engine_.write(batch_, durable(keep)), "write");
  }

  void erase_row(const RowIn& row, Keep keep) override {
    check(table_->erase(Delete(row.row), durable(keep)), "erase");
  }

  bool get(std::string_view row, std::string_view family, std::string_view qualifier, Tally& tally) override {
    return read(Get(row).column(family, qualifier), tally);
  }

  bool get_row(std::string_view row, std::string_view family, Tally& tally) override {
    return read(Get(row).family(family), tally);
  }

  void scan(const ScanIn& in, Tally& tally) override {
    Scan scan;
    for (const std::string& family : in.families) scan.family(family);
    if (!in.prefix.empty()) scan.prefix(in.prefix);
    if (!in.start.empty()) scan.start(in.start);
    scan.limit(in.limit).reversed(in.reversed);
    if (in.from != 0 || in.until != INT64_MAX) scan.time_range(in.from, in.until);
    const std::unique_ptr<Scanner> scanner = take(table_->scan(scan), "scan");
    while (scanner->next()) {
      const RowView row = scanner->row();
      uint64_t counted = 0;
      for (const CellView& cell : row) {
        if (in.filter != nullptr && !in.filter(cell.row(), cell.value_bytes())) continue;
        tally.add(cell.row(), cell.qualifier(), cell.value_bytes());
        ++counted;
      }
      tally.rows += counted != 0 ? 1 : 0;
    }
    check(scanner->status(), "scan");
  }

  int64_t increment(std::string_view row, std::string_view family, std::string_view qualifier, int64_t amount,
                    Keep keep) override {
    return take(table_->increment(Increment(row).add(family, qualifier, amount), durable(keep)), "increment")
        .front();
  }

 private:
  void fill(const RowIn& row, int64_t timestamp) {
    put_.start(row.row);
    for (const CellIn& cell : row.cells) put_.add_at(cell.family, cell.qualifier, timestamp, cell.value);
  }

  bool read(const Get& get, Tally& tally) {
    check(table_->get_into(get, rows_), "get");
    const RowView row = rows_.row();
    for (const CellView& cell : row) tally.add(cell.row(), cell.qualifier(), cell.value_bytes());
    tally.rows += row.empty() ? 0 : 1;
    return !row.empty();
  }

  Engine& engine_;
  std::shared_ptr<Table> table_;
  Put put_{""};
  Batch batch_;
  RowBatch rows_;
};

class CellarPeer : public Peer {
 public:
  // `compaction` is a compaction policy; empty: the default one.
  CellarPeer(std::string name, const std::string& compaction) : name_(std::move(name)) {
    if (!compaction.empty()) check(options_.set("compaction", compaction), "compaction");
  }
  ~CellarPeer() override { close(); }

  std::string name() const override { return name_; }
  std::string version() const override { return CELLAR_DRIVER_VERSION; }
  bool has(Feature) const override { return true; }
  Status set(const std::string& name, const std::string& value) override { return options_.set(name, value); }
  std::string options() const override { return options_.to_text(); }

  void open(const StoreOptions& options) override {
    EngineOptions engine = options_.engine();
    engine.create_if_missing = options.create;
    engine.cache_bytes = options_.cache_bytes(options.cache_bytes);
    engine.memtable_bytes = options_.memtable_bytes(options.memtable_bytes);
    engine.environment.files = &files_;
    engine_ = take(Engine::open(options.path, engine), "open");
    TableOptions table;
    for (const std::string& family : options.families) {
      table.families.push_back(options_.family());
      table.families.back().name = family;
    }
    table_ = options.create ? take(engine_->create_table("t", table), "create_table")
                            : take(engine_->open_table("t"), "open_table");
  }

  void close() override {
    if (engine_ == nullptr) return;
    table_.reset();
    check(engine_->close(), "close");
    engine_.reset();
  }

  std::unique_ptr<Session> session() override { return std::make_unique<CellarSession>(*engine_, table_); }

  void flush() override { check(table_->flush(), "flush"); }
  void compact() override { check(table_->major_compact(), "compact"); }
  void settle() override { check(engine_->wait_for_background(), "wait_for_background"); }

  void set_time_to_live(const std::string& family, int64_t seconds) override {
    for (FamilyInfo& info : table_->info().families) {
      if (info.options.name != family) continue;
      info.options.ttl_s = seconds;
      check(engine_->alter_family("t", info.options), "alter_family");
    }
  }

  uint64_t run_bytes() override { return engine_->status().store_bytes; }
  FileBytes file_bytes() override { return files_.bytes(); }
  std::string counted_by() const override { return "file_system"; }

 private:
  const std::string name_;
  PeerOptions options_;
  CountedFiles files_{posix_file_system()};
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<Table> table_;
};

}  // namespace

std::unique_ptr<Peer> make_cellar_peer() { return std::make_unique<CellarPeer>("cellar", ""); }
std::unique_ptr<Peer> make_leveled_cellar_peer() {
  return std::make_unique<CellarPeer>("cellar_leveled", "leveled");
}

}  // namespace cellar::bench
