// WalCore: the state of a log, which its jobs share with it. wal_writer.h describes the calls.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/mutex.h"
#include "cellar/environment.h"
#include "engine/log/directory.h"
#include "engine/log/wal_options.h"
#include "engine/log/wal_segment.h"

namespace cellar {

// Ownership: `current_`, `lsn_`, `scratch_` and a segment's `chain` belong to the leader; `current_` is also
// read under the mutex, and changed under it. The mutex guards everything else, and is never held across I/O.
// Two turns stand in for it there: the sync turn (sync, close, unlink of segments) and the preparation of the
// next segment. They are taken under the mutex and given back with a signal.
class WalCore : public std::enable_shared_from_this<WalCore> {
 public:
  WalCore(std::unique_ptr<Directory> directory, Executor& executor, const WalOptions& options)
      : directory_(std::move(directory)),
        executor_(executor),
        options_(options),
        changed_(executor.make_event()),
        durable_before_(options.continues.segment != 0 ? options.continues.lsn : options.first_lsn),
        lsn_(durable_before_.load()),
        done_(options.older) {}

  Status start();
  void stop();
  Status append(uint64_t sequence, uint32_t count, std::string_view payload);
  Status sync();
  Status sync_before(uint64_t lsn);
  uint64_t next_lsn() const { return lsn_; }
  bool is_durable(uint64_t lsn) const { return durable_before_.load(std::memory_order_acquire) >= lsn; }
  Status begin_small_segment();
  Result<LogPosition> close_cleanly();
  Status release_before(uint64_t segment);
  uint64_t needed_from(uint64_t sequence) const;
  uint64_t current_segment() const { return current_segment_.load(std::memory_order_acquire); }
  LogPosition end() const {
    const MutexLock lock(mutex_);
    return {current_->id, current_->appended.load(std::memory_order_acquire), current_->next_lsn.load(), 0};
  }
  LogPosition synced() const;
  std::vector<LogSegment> segments() const;
  uint64_t preallocated_bytes() const {
    const MutexLock lock(mutex_);
    const bool ready = preparation_ == Preparation::kReady && prepared_.ok() && *prepared_ != nullptr;
    return plain_ ? 0 : current_->ready.load() + (ready ? (*prepared_)->ready.load() : 0);
  }
  Status health() const {
    const MutexLock lock(mutex_);
    return failure_;
  }
  Status restart(uint64_t last_sequence, const std::vector<LogSegment>& ends);
  uint64_t restarts() const { return restarts_.load(std::memory_order_acquire); }
  Status seal(const Status& failure);
  void note_manifest_edit(uint64_t edit) {
    manifest_edit_.store(static_cast<uint32_t>(edit), std::memory_order_relaxed);
  }

 private:
  enum class Preparation : uint8_t { kNone, kQueued, kRunning, kReady };
  using SegmentPtr = std::shared_ptr<WalSegment>;

  void make_current(SegmentPtr segment);
  Status put(WalSegment& segment, RecordHeader header, std::string_view payload);
  Status put_prev(WalSegment& segment, const PrevFacts& facts);
  Status roll(uint64_t payload_bytes);
  Result<SegmentPtr> create_segment(uint64_t id, uint64_t first_lsn, uint64_t bytes);
  Result<SegmentPtr> create_file(uint64_t id, uint64_t bytes);
  Result<SegmentPtr> next_segment(uint64_t bytes);
  Status make_ready(WalSegment& segment, uint64_t until);
  Status have_room(uint64_t bytes);
  void make_room(WalSegment& segment, uint64_t until);
  void prepare_in_background(uint64_t bytes);
  SegmentPtr prepare(uint64_t id, uint64_t bytes, uint64_t room);
  void finish_in_background();
  Status finish_old(uint64_t through);
  Status remove_prepared();
  Status take_sync_turn(bool of_sealed = false);
  Status sync_in_turn();
  void give_sync_turn();
  void retire_all(const std::vector<LogSegment>& ends);
  Status remove_unused(uint64_t id);
  uint64_t highest() const {
    const MutexLock lock(mutex_);
    return highest_;
  }
  uint64_t first_bytes() const { return std::min(options_.segment_bytes, kFirstSegmentBytes); }

  const std::unique_ptr<Directory> directory_;
  Executor& executor_;
  const WalOptions options_;
  const std::unique_ptr<Event> changed_;  // signalled when a turn is given back or a preparation ends
  std::atomic<bool> sealed_{false};       // hint for the leader: look at failure_
  std::atomic<uint32_t> manifest_edit_{0};
  std::atomic<uint64_t> durable_before_;      // the records with lower numbers are; stored in the sync turn
  std::atomic<uint64_t> current_segment_{0};  // the id of the current one
  std::atomic<uint64_t> restarts_{0};

  // The leader's, in a line of cache of their own.
  alignas(64) uint64_t lsn_;  // of the next record
  std::string scratch_;       // a record in its stored form
  uint64_t last_sequence_ = 0;
  uint64_t next_bytes_ = 0;           // size of the segment after the current one
  uint64_t prepare_at_ = UINT64_MAX;  // the next segment is prepared when the current one has so many bytes

  alignas(64) mutable Mutex mutex_;
  SegmentPtr current_;  // see above
  Status failure_ CELLAR_GUARDED_BY(mutex_);
  bool stopped_ CELLAR_GUARDED_BY(mutex_) = false;
  bool plain_ CELLAR_GUARDED_BY(mutex_) = false;  // mapping is not supported here
  bool sync_turn_taken_ CELLAR_GUARDED_BY(mutex_) = false;
  std::deque<SegmentPtr> old_ CELLAR_GUARDED_BY(mutex_);    // rolled, not yet synced; ascending
  std::vector<LogSegment> done_ CELLAR_GUARDED_BY(mutex_);  // synced and closed; ascending
  Preparation preparation_ CELLAR_GUARDED_BY(mutex_) = Preparation::kNone;
  uint64_t preparation_bytes_ CELLAR_GUARDED_BY(mutex_) = 0;
  Result<SegmentPtr> prepared_ CELLAR_GUARDED_BY(mutex_) = SegmentPtr();  // when kReady; may be a failure
  uint64_t highest_ CELLAR_GUARDED_BY(mutex_) = 0;                        // id of any file there is
  uint64_t leftover_ CELLAR_GUARDED_BY(mutex_) = 0;  // id of a failed segment whose file is there, or 0
};

}  // namespace cellar
