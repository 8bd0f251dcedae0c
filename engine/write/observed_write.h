// ObservedWrite: a write to tables that have observers: locks, what they add, and again if a lock is missing.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cellar/observer.h"
#include "engine/read/table_read.h"
#include "engine/store/row_locks.h"
#include "engine/store/table_state.h"
#include "engine/write/prepared_batch.h"
#include "engine/write/write_parts.h"

namespace cellar {

// How the observers of a write read, and what their reads and additions mean to the writer.
class ObservedReads {
 public:
  virtual ~ObservedReads() = default;
  // From now on as of another instant, if that is how the writer reads: more is locked.
  virtual void renew() = 0;
  virtual Status get_observed(TableState& table, const Get& get, const ReadOverlay& own, RowBatch& found) = 0;
  virtual Result<std::unique_ptr<Scanner>> scan_observed(TableState& table, const Scan& scan) = 0;
  // The write adds to this row.
  virtual void note_added(TableState& table, std::string_view row) = 0;
};

// One write, one thread. Holds the locks of the write, and bytes that the batch borrows, until it ends.
class ObservedWrite final : private ObserverContext {
 public:
  // Fills the batch, under the locks, with what the write itself comes to; the time of the write. May be
  // called again, for an empty batch.
  using Build = std::function<Result<int64_t>()>;

  // `stamps` as PreparedBatch::begin() takes them; `watch` as PreparedWrite has it. Without `reads` observers
  // see what is visible now.
  ObservedWrite(const WriteParts& parts, PreparedBatch& batch, std::optional<Stamps> stamps, uint64_t watch,
                ObservedReads* reads = nullptr);

  // A row of the write, for its lock: taken exclusively, whatever the mode, if the table has observers.
  void add_row(TableState& table, std::string_view row, RowLocks::Mode mode);
  // A store that is written to.
  void add_store(Store* store);

  // Takes the locks, builds, lets observers see it, adds what they add. The batch is then to be finished at
  // now_ms(); it stays empty if nothing was built.
  Status run(const Build& build);

  PreparedBatch& batch() { return batch_; }
  int64_t now_ms() const { return now_ms_; }
  uint64_t watch() const { return watch_; }
  // Returns true if second tables are derived from a table of the write.
  bool has_seconds() const;
  const std::vector<TableState*>& added_tables() const { return added_tables_; }

 private:
  struct ObservedTable {
    std::shared_ptr<Table> table;
    uint32_t id = 0;
    const ObserverList* observers = nullptr;
  };
  struct Addition {
    TableState* table = nullptr;
    std::variant<Put, Delete> change;
    const ObserverList::Named* by = nullptr;
  };
  struct Counters {
    TableState* table = nullptr;
    Increment amounts;
    const ObserverList::Named* by = nullptr;  // the first
  };

  const std::shared_ptr<Table>& observed_table() const override { return observed_table_; }
  int64_t timestamp() const override { return now_ms_; }
  Result<std::shared_ptr<Table>> table(std::string_view name) override;
  Result<RowBatch> get(const std::shared_ptr<Table>& table, const Get& get) override;
  Result<RowBatch> get_after(const std::shared_ptr<Table>& table, const Get& get) override;
  Result<std::unique_ptr<Scanner>> scan(const std::shared_ptr<Table>& table, const Scan& scan) override;
  Status put(const std::shared_ptr<Table>& table, const Put& put) override;
  Status erase(const std::shared_ptr<Table>& table, const Delete& erase) override;
  Status increment(const std::shared_ptr<Table>& table, std::string_view row, std::string_view family,
                   std::string_view qualifier, int64_t amount) override;

  const ObservedTable* find(uint32_t table_id) const;
  Result<TableState*> resolve(const std::shared_ptr<Table>& table) const;
  Result<TableState*> resolve_added(const std::shared_ptr<Table>& table) const;
  PreparedBatch::Limits limits() const;
  void begin();
  Status attempt(const Build& build, bool& done);
  Status observe();
  Status observe_row(const ObservedTable& table, std::span<const CellView> cells);
  Status read(const std::shared_ptr<Table>& table, const Get& get, const ReadOverlay& own, RowBatch& found);
  const ReadOverlay& after();
  // Keeps the failure of an addition; returns it.
  Status failed(Status status);
  Status take_bytes(uint64_t bytes);
  Status add_change(const std::shared_ptr<Table>& table, std::variant<Put, Delete> change);
  void keep(TableState& table);
  bool lock_additions();
  bool room_for_additions();
  Status add_changes();
  Status add_counters();
  Status check_counters_apart() const;

  const WriteParts& parts_;
  PreparedBatch& batch_;
  const std::optional<Stamps> stamps_;
  const uint64_t watch_;
  const std::unique_ptr<ObservedReads> own_reads_;
  ObservedReads& reads_;
  GrowingRowLocks locks_;
  std::vector<ObservedTable> observed_;
  std::vector<Store*> admitted_;  // to the write, so far
  // Tables that are added to, with their stores. One may be dropped while the write waits.
  std::vector<std::shared_ptr<Table>> kept_;

  // State of one attempt.
  int64_t now_ms_ = 0;
  ReadOverlay after_;
  std::deque<Addition> additions_;
  std::map<std::pair<uint32_t, std::string>, Counters> counters_;  // by table and row
  std::vector<TableState*> added_tables_;
  uint64_t added_bytes_ = 0;
  const ObserverList::Named* observer_ = nullptr;  // that runs
  std::shared_ptr<Table> observed_table_;          // whose row it sees
  Status failed_;
};

}  // namespace cellar
