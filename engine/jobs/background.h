// Background: which job runs next. Owns nothing else.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "base/assert.h"
#include "engine/jobs/alarm.h"
#include "engine/jobs/idle_watch.h"
#include "engine/jobs/log_release.h"
#include "engine/jobs/store_work.h"
#include "engine/store/catalog.h"
#include "engine/write/write_path.h"

namespace cellar {

class PrefetchJob;
struct CompactionPlan;
struct ShapeOfStore;

// At most one flush and one prefetch of a store run at a time. Compactions of different files run at the same
// time, and those of newer files take turns with a long one. Any thread; waits only through Events.
class Background final : public FlushScheduler {
 public:
  // Borrows all. `write_path` may be constructed later.
  Background(const StoreWork& work, const Catalog& catalog, WritePath& write_path)
      : work_(work),
        catalog_(catalog),
        write_path_(write_path),
        log_release_(work, catalog),
        idle_watch_(work.world.clock, work.world.executor, work.activity.changed,
                    [this] { return begin_due_compactions(); }),
        retry_alarm_(work.world.clock, work.world.executor, JobPriority::kHigh, work.activity.changed,
                     [this] { return queue_due(); }),
        pages_alarm_(work.world.clock, work.world.executor, JobPriority::kLow, work.activity.changed,
                     [this] { return release_spare_pages(); }) {
    work.activity.look_now = [this] { idle_watch_.hurry(); };
  }

  void queue_flush(std::shared_ptr<Store> store) override;
  // Compacts automatically if the store's policy has a plan.
  void queue_compaction(std::shared_ptr<Store> store);
  // Reads the store's files that came since the last time into the cache, if its family asks for that. Also
  // where the engine only reads.
  void queue_prefetch(std::shared_ptr<Store> store);

  // Freezes and flushes these stores; returns when that is done or has failed.
  Status flush(const std::vector<std::shared_ptr<Store>>& stores);
  // After Engine::resume(): everything that waited is tried again now.
  void resume();
  // Inside WritePath::alone(): freezes and flushes this store on this thread, so that no other store's flush
  // is waited for. Nothing of the store is only in memory when it returns ok.
  Status flush_here(const std::shared_ptr<Store>& store);
  // Compacts these stores until their policy has no plan. If `major`, compacts all files of a store into one.
  Status compact(const std::vector<std::shared_ptr<Store>>& stores, bool major);

  // Returns the compaction of the store that would begin next, or nothing. See Table::next_compaction().
  Result<std::optional<CompactionInfo>> next_compaction(Store& store, bool major,
                                                        std::vector<std::string>* trace);

  void make_pages_ready() override;
  bool relief_is_due() const override;
  void relieve_memory_and_log() override;
  // Freezes and flushes memtables if all memtables together are too large. Called where no write may ask for
  // it: writers that wait for memory write nothing.
  void relieve_memory();

  // Call it before Store::drop(). The troubles of the store are over. Its id is forgotten when no segment of
  // the log mentions it. `sequence` is the newest that the log may have, visible or not.
  void note_dropped(const Store& store, uint64_t sequence);
  // Runs after a flush, and when a feed needs less of the log than before.
  LogRelease& log_release() { return log_release_; }

  // Waits until no flush of the store runs, and keeps others from running until end_flush().
  void claim_flush(Store& store);
  // `status` is what the flush came to.
  void end_flush(Store& store, const Status& status);

  // The engine closes: no compaction begins by itself any more, and no job is tried again.
  void stop_timers() {
    CELLAR_ASSERT(work_.activity.closing.load());
    idle_watch_.stop();
    retry_alarm_.stop();
    pages_alarm_.stop();
    forget_retries();
  }

  // Returns when no job is running or queued. If only jobs are left that failed and wait to be tried again,
  // returns the error of the last of them.
  Status wait_idle();

 private:
  // The blocks of flushed memtables wait so long for the next ones. A fast writer takes one each 10 ms. A
  // slow one can do without: to fault the pages of a memtable takes milliseconds.
  static constexpr int64_t kSparePagesUs = 2'000'000;

  int64_t memory_relieved_at() const;  // so many bytes in memtables
  static bool flush_is_under_way(Store& store);
  void freeze_largest(const std::vector<std::shared_ptr<Store>>& stores);
  enum class Wanted : uint8_t { kAutomatic, kPolicy, kMajor };
  // A job that compacts: on request, or automatic while no other, or some other, ran when it began.
  enum class Job : uint8_t { kOnRequest, kAlone, kBesideOthers };
  void job_begins() {
    MutexLock lock(jobs_mutex_);
    ++jobs_;
  }
  // Signals under the mutex: who sees that nothing is left knows that no job touches the engine any more.
  void job_ended() {
    MutexLock lock(jobs_mutex_);
    CELLAR_ASSERT(jobs_ > 0);
    --jobs_;
    work_.activity.changed.signal();
  }
  // A job that failed and is queued again at `due_us` of the steady clock. It does not count in `jobs_`.
  struct Retry {
    std::shared_ptr<Store> store;
    bool flush = false;  // else a compaction
    int64_t due_us = 0;
    bool may_be_earlier = false;  // a further try before is not the same again
  };
  void retry_later(Retry retry, const Status& status);
  void forget_retries() {
    MutexLock lock(jobs_mutex_);
    retries_.clear();
  }
  // Returns true if a compaction of the store has failed, and would fail again before its retry is due.
  bool retry_waits(const Store& store);
  // The job has succeeded.
  void drop_retries(const Store& store, bool flush);
  // Queues the retries that are due. Returns how long until the next one, or nothing if none is left.
  std::optional<int64_t> queue_due();
  void run_flush(const std::shared_ptr<Store>& store);
  void after_flush_failure(const std::shared_ptr<Store>& store, const Status& status);
  void after_compaction_failure(const std::shared_ptr<Store>& store, const Status& status);
  bool wants_compaction(Store& store);
  void compaction_succeeded(Store& store);
  class Turns;
  struct Picked;
  Picked pick(Store& store, Wanted wanted, std::vector<std::string>* trace = nullptr);
  // Tells whether an automatic compaction would begin if nothing were written for some time.
  enum class Due : uint8_t { kNo, kMerge, kDrop };
  struct IdleShape;
  Due due_in(IdleShape& idle, int64_t ms) const;
  std::optional<int64_t> next_due_ms(IdleShape& idle) const;
  std::optional<int64_t> begin_due_compactions();
  std::optional<int64_t> release_spare_pages();
  // Memtables of this engine have taken or returned blocks of memory.
  void note_pages() {
    pages_used_.store(true, std::memory_order_relaxed);
    pages_alarm_.set(kSparePagesUs);
  }
  void flush_hidden(const std::shared_ptr<Store>& store);
  static Status check_picked(const Store& store, const Picked& picked);
  Status run_compactions(Store& store, Wanted wanted);
  // Carries out one plan and returns it. Returns nothing if no plan can begin now. `depth` is the number of
  // running compactions that this one takes turns with.
  Result<std::optional<CompactionPlan>> compact_next(Store& store, Wanted wanted, int depth);
  // Returns whether a compaction on request waits for the automatic ones to end. They are wanted again after
  // it.
  static bool request_waits(Store& store);
  // A compaction on request. An exception ends the process: nobody would end the claim.
  Status compact_alone(const std::shared_ptr<Store>& store, bool major) noexcept;
  void claim_compactions(Store& store);
  void take_back(Store& store);
  void run_automatic_compaction(const std::shared_ptr<Store>& store);
  // Notes what a compaction came to, and tells the troubles of the store.
  void end_compaction(const std::shared_ptr<Store>& store, const Status& status, Job job);
  void submit_prefetch(std::shared_ptr<PrefetchJob> job);

  const StoreWork work_;
  const Catalog& catalog_;
  WritePath& write_path_;
  Mutex jobs_mutex_;
  int64_t jobs_ CELLAR_GUARDED_BY(jobs_mutex_) = 0;  // running or queued
  std::vector<Retry> retries_ CELLAR_GUARDED_BY(jobs_mutex_);
  Status retry_status_ CELLAR_GUARDED_BY(jobs_mutex_);  // the error of the last job that waits
  std::atomic<uint64_t> segment_seen_{0};               // by relieve_memory_and_log()
  LogRelease log_release_;
  std::atomic<bool> pages_used_{false};  // by this engine, since the last call of pages_alarm_
  uint64_t spare_uses_ = 0;              // SparePages::uses() at that call
  IdleWatch idle_watch_;
  Alarm retry_alarm_;
  Alarm pages_alarm_;
};

}  // namespace cellar
