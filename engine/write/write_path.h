// WritePath: the recipe of a write.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "cellar/batch.h"
#include "cellar/check_and_mutate.h"
#include "engine/write/commit_order.h"
#include "engine/write/observed_write.h"
#include "engine/write/prepared_batch.h"
#include "engine/write/write_parts.h"

namespace cellar {

class BatchChanges;

// A condition that must still hold when a write is applied. The leader asks, with everything before it
// visible and nothing after it begun.
class CommitCheck {
 public:
  virtual ~CommitCheck() = default;
  // Returns ok if nothing that is visible conflicts with the write.
  virtual Status holds() = 0;
};

// The requests of the write path to background work. Called by the leader, alone.
class FlushScheduler {
 public:
  virtual ~FlushScheduler() = default;
  // Returns true if relieve_memory_and_log() may have something to do. Cheap; any thread.
  virtual bool relief_is_due() const = 0;
  // Memtables grow, and will need more pages of memory. A job makes some ready. Cheap.
  virtual void make_pages_ready() = 0;
  // Flushes what is frozen in the store.
  virtual void queue_flush(std::shared_ptr<Store> store) = 0;
  // Freezes the largest memtable when memory runs short, and the one that holds back the log when that grows
  // long.
  virtual void relieve_memory_and_log() = 0;
};

// Throttle → row locks → prepare (validate, stamp, encode) → log in turn → sync → insert → publish in order.
// The leader is the thread that has the turn to log. Any thread.
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
  Status alone(const std::function<Status()>& work);
  // The same in an engine that has failed.
  Status alone_to_resume(const std::function<Status()>& work) { return order_.alone(work); }
  // Inside alone(): the engine's own observers have changed. A write that looked for observers before does
  // not join the log if it writes to a store that is watched.
  void watch_anew() { watch_.fetch_add(1, std::memory_order_release); }
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
  // Read before the observers of the tables are.
  uint64_t watch() const { return watch_.load(std::memory_order_acquire); }
  Status commit(PreparedWrite& prepared, int64_t now_ms, Durability durability);
  // A write on its way, on the stack of its thread.
  struct Commit {
    PreparedWrite& prepared;
    Durability durability;
    uint64_t place = 0;  // in the order of commits
    // Records below this number must be durable before the write is visible. 0: all are that need to be.
    uint64_t durable_before = 0;
    std::atomic<bool> leads{false};  // its thread syncs for those that wait
    bool full = false;               // a memtable is full now
    Status status = {};
  };
  Status log(Commit& commit) noexcept;
  void finish_after_sync(Commit& own) noexcept;
  void sync_and_insert() noexcept;
  Status append(PreparedWrite& prepared, Durability durability);
  Status refusal(const Store& store) const;
  Status make_durable(uint64_t before);
  bool insert(PreparedWrite& prepared, bool logged) noexcept;
  static void insert_all(std::span<const PreparedBatch::PreparedCell> cells, Memtable& memtable);
  bool count_growth(Store& store);
  bool is_full(const Store& store) const;
  Status relieve(std::span<Store* const> stores);

  // Memtables take one writer at a time. Two families rarely share a turn.
  static constexpr size_t kInsertTurns = 16;
  Turn& insert_turn(const Store& store) { return insert_turns_[store.ids().family % kInsertTurns]; }

  const WriteParts parts_;
  FlushScheduler& flushes_;
  CommitOrder order_;
  std::atomic<uint64_t> watch_{0};
  // The leader's: records below this number must be durable before a later write is visible.
  uint64_t durable_before_ = 0;
  Mutex sync_mutex_;
  std::vector<Commit*> awaiting_sync_ CELLAR_GUARDED_BY(sync_mutex_);  // the oldest first
  bool somebody_syncs_ CELLAR_GUARDED_BY(sync_mutex_) = false;
  std::deque<Turn> insert_turns_;
};

}  // namespace cellar
