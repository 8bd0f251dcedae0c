// TableImpl: implements Table by handing work to the parts below.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "engine/core.h"
#include "engine/table_read.h"
#include "engine/table_scanner.h"

namespace cellar {

// The families of a table at one time, in order of their names. Immutable.
struct FamilyList {
  std::vector<std::shared_ptr<Store>> stores;

  // Null when there is none.
  Store* find(std::string_view name) const {
    for (const auto& store : stores)
      if (store->family() == name) return store.get();
    return nullptr;
  }
};

// What a write to a table that is only read is answered with.
Status is_read_only(std::string_view table);

class TableImpl final : public Table, public std::enable_shared_from_this<TableImpl> {
 public:
  TableImpl(std::shared_ptr<EngineCore> core, uint32_t id, std::string name, TableOptions options,
            std::vector<std::shared_ptr<Store>> stores);

  const std::string& name() const override { return name_; }
  TableInfo info() const override;
  Status put(const Put& put, const WriteOptions& options) override;
  Status erase(const Delete& erase, const WriteOptions& options) override;
  Result<std::vector<int64_t>> increment(const Increment& increment, const WriteOptions& options) override;
  Result<Row> append(const Append& append, const WriteOptions& options) override;
  Result<Row> mutate(const RowMutations& mutations, const WriteOptions& options) override;
  Result<CheckAndMutateResult> check_and_mutate(const CheckAndMutate& check,
                                                const WriteOptions& options) override;
  std::vector<ActionResult> batch(std::span<const Action> actions, const WriteOptions& options) override;
  Result<RowBatch> get(const Get& get) override;
  Status get_into(const Get& get, RowBatch& batch) override;
  Result<bool> exists(const Get& get) override;
  Result<std::vector<bool>> exists_many(std::span<const Get> gets) override;
  Result<std::vector<RowBatch>> get_many(std::span<const Get> gets) override;
  Result<std::unique_ptr<Scanner>> scan(const Scan& scan) override;
  Result<std::vector<std::unique_ptr<Scanner>>> scan_many(std::span<const Scan> scans) override;
  Result<RangeEstimate> estimate(const EstimateRequest& request) override;
  Result<RangeSplits> split_points(size_t parts, const EstimateRequest& request) override;
  Result<IngestInfo> ingest(const IngestRequest& request) override;
  Status flush(const FlushOptions& options) override;
  Status compact(const CompactOptions& options) override;

  // A get and a scan as of an instant that is kept from being rewritten, with cells of the reader's own. The
  // scanner holds `keep`.
  Status get_as_of(const Get& get, const ReadInstant& instant, const ReadOverlay& own, RowBatch& batch) const;
  Result<std::unique_ptr<Scanner>> scan_as_of(const Scan& scan, const ReadInstant& instant,
                                              const ReadOverlay& own, std::shared_ptr<const void> keep);

  uint32_t id() const { return id_; }
  EngineCore& core() const { return *core_; }
  std::optional<Durability> durability() const {
    const int known = durability_.load(std::memory_order_relaxed);
    return known < 0 ? std::nullopt : std::optional(static_cast<Durability>(known));
  }
  // Without families, which are a list of their own.
  TableOptions options() const;
  void set_options(TableOptions options);
  // Lists are kept as long as the table, so that readers need no lock: families come and go rarely.
  const FamilyList& families() const { return *families_.load(std::memory_order_acquire); }
  void set_families(std::vector<std::shared_ptr<Store>> stores);
  bool dropped() const { return dropped_.load(std::memory_order_acquire); }
  void set_dropped() { dropped_.store(true, std::memory_order_release); }

  // Null when there are none: the common case. After check(): they go when the engine is closed.
  const ObserverList* observers() const { return observers_.load(std::memory_order_acquire); }
  void set_observers(const ObserverList* observers) {
    observers_.store(observers, std::memory_order_release);
  }

  // Ok while the table can be used.
  Status check() const;
  // … and written to.
  Status check_writable() const;
  // kInvalidArgument naming the family, the nearest one as hint.
  Status unknown_family(std::string_view family) const;
  // Of all families, or of this one.
  Result<std::vector<std::shared_ptr<Store>>> stores_of(std::string_view family) const;

 private:
  // One reader for each family that holds something for it: everything visible now, or to the query's
  // snapshot. The query and the range's bounds are borrowed by the readers.
  template <class Q>
  Result<StoreReaders> open_readers(const Query<Q>& query, const TableRead& read) const;
  // Reads the row of a get into `batch`. Whether there was one.
  Result<bool> read_row(const Get& get, ScanBudget budget, RowBatch& batch,
                        const ReadInstant* instant = nullptr, const ReadOverlay* own = nullptr) const;
  Result<std::unique_ptr<Scanner>> open_scan(const Scan& scan, const ReadInstant* instant,
                                             const ReadOverlay* own, std::shared_ptr<const void> keep);
  Result<std::vector<std::shared_ptr<const StoreView>>> views_of(const EstimateRequest& request) const;
  Status resolve_choices(const FamilyList& list, const std::vector<FamilyChoice>& choices,
                         std::vector<std::pair<Store*, const FamilyChoice*>>& chosen) const;

  const std::shared_ptr<EngineCore> core_;
  const uint32_t id_;
  const std::string name_;
  std::atomic<int> durability_{-1};  // -1: none
  std::atomic<bool> read_only_{false};
  std::atomic<const FamilyList*> families_{nullptr};
  mutable Mutex history_mutex_;
  TableOptions options_ CELLAR_GUARDED_BY(history_mutex_);
  std::vector<std::unique_ptr<const FamilyList>> history_ CELLAR_GUARDED_BY(history_mutex_);
  std::atomic<bool> dropped_{false};
  std::atomic<const ObserverList*> observers_{nullptr};  // the core's
};

// A snapshot as users hold it.
class SnapshotImpl final : public Snapshot {
 public:
  explicit SnapshotImpl(std::shared_ptr<EngineCore> core)
      : core_(std::move(core)), sequence_(core_->mvcc.open_snapshot()) {}
  ~SnapshotImpl() override;
  uint64_t sequence() const override { return sequence_; }
  const EngineCore* core() const { return core_.get(); }

 private:
  std::shared_ptr<EngineCore> core_;
  uint64_t sequence_;
};

}  // namespace cellar
