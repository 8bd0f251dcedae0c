// WritePath: the recipe of a write.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "cellar/batch.h"
#include "cellar/check_and_mutate.h"
#include "engine/write/observed_write.h"
#include "engine/write/prepared_batch.h"
#include "engine/write/write_group.h"
#include "engine/write/write_parts.h"

namespace cellar {

class BatchChanges;

// A condition that must still hold when a write is applied. The leader asks, with everything before it
// applied or handed to holds_after().
class CommitCheck {
 public:
  virtual ~CommitCheck() = default;
  // Returns ok if nothing that is visible conflicts with the write.
  virtual Status holds() = 0;
  // Returns ok if this cell, of a write that comes just before, does not conflict either.
  virtual Status holds_after(const Store& store, const CellView& cell) = 0;
};

// The requests of the write path to background work. Called by the write leader.
class FlushScheduler {
 public:
  virtual ~FlushScheduler() = default;
  // Flushes what is frozen in the store.
  virtual void queue_flush(std::shared_ptr<Store> store) = 0;
  // Freezes the largest memtable when memory runs short, and the one that holds back the log when that grows
  // long.
  virtual void relieve_memory_and_log() = 0;
};

// Throttle → row locks → prepare (validate, stamp, encode) → join a group; the group's leader logs, inserts
// and publishes. Any thread.
class WritePath {
 public:
  // Borrows `flushes`, which is not called before the first write.
  WritePath(const WriteParts& parts, FlushScheduler& flushes);

  Status put(TableState& table, const Put& put, const WriteOptions& options);
  Status erase(TableState& table, const Delete& erase, const WriteOptions& options);
  Result<std::vector<int64_t>> increment(TableState& table, const Increment& increment,
                                         const WriteOptions& options);
  Result<Row> append(TableState& table, const Append& append, const WriteOptions& options);
  Result<Row> mutate(TableState& table, const RowMutations& mutations, const WriteOptions& options);
  Result<ActionResult> check_and_mutate(TableState& table, const CheckAndMutate& check,
                                        const WriteOptions& options);
  Status write(const Batch& batch, const WriteOptions& options);
  // Writes cells of any rows of these tables of this engine, with their timestamps, atomically at `now_ms`,
  // if `check` holds. Their bytes are borrowed. Nothing comes between the check and the write. Observers read
  // by `reads`.
  Status write_checked(std::span<TableState* const> tables, std::span<const PreparedBatch::Item> cells,
                       int64_t now_ms, CommitCheck& check, ObservedReads& reads, const WriteOptions& options);
  Durability durability_of(const TableState& table, const WriteOptions& options) const;

  // Runs `work` with no write under way: every sequence so far is in the memtables and visible, none above
  // exists.
  Status alone(std::function<Status()> work) { return group_.alone(std::move(work)); }
  // Inside alone(): freezes the store's active memtable if it holds anything.
  void freeze(Store& store);

 private:
  template <class Change>
  Status change_row(TableState& table, std::string_view row, const std::vector<Store*>& touched,
                    RowLocks::Mode mode, const WriteOptions& options, const Change& change);
  Status put_slowly(TableState& table, const Put& put, const WriteOptions& options);
  Status write_observed(const BatchChanges& changes, RowLocks::Mode mode, Durability durability,
                        const WriteOptions& options);
  Status commit_observed(ObservedWrite& write, const ObservedWrite::Build& build, Durability durability,
                         const WriteOptions& options, CommitCheck* check = nullptr);
  Status check_writable() const;
  int64_t lock_wait_us() const;
  Status commit(PreparedWrite& prepared, int64_t now_ms, Durability durability);
  void apply(std::span<WriteRequest*> group);
  static Status recheck(WriteRequest& request, std::span<WriteRequest*> before);
  Status append(WriteRequest& request, uint64_t& sequence);
  Status refusal(const Store& store) const;
  void insert(PreparedWrite& prepared, uint64_t sequence, bool logged);
  void after_group(std::span<WriteRequest*> group);

  const WriteParts parts_;
  FlushScheduler& flushes_;
  WriteGroup group_;
};

}  // namespace cellar
