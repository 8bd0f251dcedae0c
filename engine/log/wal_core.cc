// The log's segments: appended to by the leader, synced and cut after it.
#include "engine/log/wal_core.h"

#include <fmt/format.h>

#include "base/coding.h"

namespace cellar {
namespace {

constexpr uint64_t kSegmentBytesMin = 4096;
constexpr size_t kScratchBytesMax = 1 << 20;  // kept between appends
constexpr uint64_t kPreparedAheadBytes = 16 << 20;
constexpr size_t kUnsyncedSegmentsMax = 8;  // a writer that outruns the medium further syncs itself

}  // namespace

// ---- starting and stopping

// A crash before this returns leaves at most a segment without DATA records, which recovery passes over.
Status WalCore::start() {
  if (options_.segment_bytes < kSegmentBytesMin)
    return Status::invalid_argument("log segments need at least 4096 bytes");
  last_sequence_ = options_.last_sequence;
  CELLAR_ASSERT(current_ == nullptr && lsn_ > 0);  // 0 in a header would mean: PREV says it
  CELLAR_ASSERT(options_.older.empty() || options_.older.back().id < options_.first_segment);
  next_bytes_ = first_bytes();
  const bool continues = options_.continues.segment != 0;
  CELLAR_TRY_ASSIGN(SegmentPtr first,
                    create_segment(options_.first_segment, continues ? 0 : lsn_, next_bytes_));
  first->last_sequence.store(last_sequence_);
  if (continues) {
    const LogPosition& from = options_.continues;
    CELLAR_TRY(put_prev(*first, {from.segment, from.offset, from.lsn, from.chain}));
  }
  first->next_lsn.store(lsn_);
  make_current(std::move(first));
  return Status();
}

// The segment takes the records from now on. The one after it is prepared when it is half full, and a large
// one later: until then the prepared one takes room on disk.
void WalCore::make_current(SegmentPtr segment) {
  CELLAR_ASSERT(segment->file != nullptr && segment->capacity > kFileHeaderBytes + kCloseBytes);
  next_bytes_ = std::min(options_.segment_bytes, std::max(segment->capacity, first_bytes()) * kSegmentGrowth);
  const uint64_t ahead =
      segment->capacity < kPreparedAheadBytes ? segment->capacity / 2 : kPreparedAheadBytes;
  prepare_at_ = segment->capacity - ahead;
  const MutexLock lock(mutex_);
  CELLAR_ASSERT(current_ == nullptr || segment->id > current_->id);
  current_segment_.store(segment->id, std::memory_order_release);
  current_ = std::move(segment);
}

// Jobs that have not begun find the log stopped and touch nothing; those that run are waited for.
void WalCore::stop() {
  for (;;) {
    const uint64_t seen = changed_->count();
    {
      const MutexLock lock(mutex_);
      stopped_ = true;
      if (!sync_turn_taken_ && preparation_ != Preparation::kRunning) return;
    }
    changed_->wait(seen, -1);
  }
}

Status WalCore::seal(const Status& failure) {
  CELLAR_ASSERT(!failure.ok());
  const MutexLock lock(mutex_);
  if (failure_.ok()) failure_ = failure;
  sealed_.store(true);
  return failure_;
}

// ---- appending: the leader

// One record, in one piece. Afterwards the record is in the hands of the operating system.
Status WalCore::put(WalSegment& segment, RecordHeader header, std::string_view payload) {
  const uint64_t offset = segment.appended.load(std::memory_order_relaxed);
  const size_t bytes = record_bytes(payload.size());
  CELLAR_ASSERT(segment.file != nullptr && offset + bytes <= segment.capacity);
  header.lsn = lsn_;
  header.edit = manifest_edit_.load(std::memory_order_relaxed);
  header.synced = segment.synced.load(std::memory_order_acquire);
  header.flags = segment.earlier_durable.load(std::memory_order_acquire) ? kFlagEarlierDurable : 0;
  if (scratch_.size() < bytes) scratch_.resize(std::max<size_t>(bytes, 4096));
  uint32_t chain = segment.chain;
  segment.codec.encode(header, payload, offset, chain, scratch_.data());
  CELLAR_TRY(segment.file->append({scratch_.data(), bytes}));
  segment.chain = chain;
  ++lsn_;
  segment.next_lsn.store(lsn_, std::memory_order_release);
  segment.last_sequence.store(last_sequence_, std::memory_order_relaxed);
  segment.appended.store(offset + bytes, std::memory_order_release);
  return Status();
}

Status WalCore::put_prev(WalSegment& segment, const PrevFacts& facts) {
  char raw[kPrevPayloadBytes];
  encode_prev(facts, raw);
  return put(segment, {.type = RecordType::kPrev, .sequence = last_sequence_}, {raw, sizeof raw});
}

Status WalCore::append(uint64_t sequence, uint32_t count, std::string_view payload) {
  if (sealed_.load(std::memory_order_relaxed)) return health();
  if (payload.size() > kLogPayloadBytesMax) return Status::limit("a batch of more than 64 MiB");
  CELLAR_ASSERT(sequence > last_sequence_ && payload.size() >= kLogTimeBytes);
  const uint64_t bytes = record_bytes(payload.size());
  while (current_->appended.load(std::memory_order_relaxed) + bytes + kCloseBytes > current_->capacity) {
    CELLAR_TRY(roll(payload.size()));
    finish_in_background();
  }
  CELLAR_TRY(have_room(bytes + kCloseBytes));
  const uint64_t before = std::exchange(last_sequence_, sequence);
  const Status status =
      put(*current_, {.type = RecordType::kData, .sequence = sequence, .count = count}, payload);
  if (!status.ok()) {
    last_sequence_ = before;
    return seal(status.with_context("write-ahead log"));
  }
  if (scratch_.size() > kScratchBytesMax) std::string().swap(scratch_);
  if (current_->appended.load(std::memory_order_relaxed) >= prepare_at_) {
    prepare_at_ = UINT64_MAX;
    prepare_in_background(next_bytes_);
  }
  return Status();
}

// Goes on in the next segment. Nothing has happened when no segment could be had.
Status WalCore::roll(uint64_t payload_bytes) {
  const uint64_t least = std::max(first_bytes(), segment_for(payload_bytes));
  const uint64_t wanted = std::max(next_bytes_, least);
  Result<SegmentPtr> next = next_segment(wanted);
  if (next.status().is(Code::kNoSpace) && least < wanted) next = next_segment(least);
  if (!next.ok()) return next.status();
  SegmentPtr old = current_;

  // A crash from here on: CLOSE is written, or not; the new segment is empty, or begins with PREV. The log
  // then ends at the last record of the old segment that reached the medium, or goes on after a whole PREV.
  char raw[kClosePayloadBytes];
  store_le64(raw, (*next)->id);
  Status status = put(*old, {.type = RecordType::kClose, .sequence = last_sequence_}, {raw, sizeof raw});
  if (!status.ok()) return seal(status.with_context("write-ahead log"));
  const uint64_t final_bytes = old->appended.load();
  (*next)->earlier_durable.store(false);
  status = put_prev(**next, {old->id, final_bytes, lsn_, old->chain});
  if (!status.ok()) return seal(status.with_context("write-ahead log"));

  size_t unsynced = 0;
  {
    const MutexLock lock(mutex_);
    old_.push_back(old);
    unsynced = old_.size();
  }
  make_current(*next);
  if (options_.events != nullptr) options_.events->on_log_rolled(old->id, final_bytes);
  if (unsynced <= kUnsyncedSegmentsMax) return Status();
  CELLAR_TRY(take_sync_turn());
  status = finish_old(old->id);
  give_sync_turn();
  return status;
}

Status WalCore::begin_small_segment() {
  if (sealed_.load(std::memory_order_relaxed)) return health();
  CELLAR_ASSERT(current_ != nullptr && current_->file != nullptr);
  if (is_small(current_->appended.load(std::memory_order_relaxed), options_.segment_bytes)) return Status();
  next_bytes_ = first_bytes();
  return roll(0);
}

// ---- syncing

// Not ok when the log is stopped, or sealed unless `of_sealed`.
Status WalCore::take_sync_turn(bool of_sealed) {
  for (;;) {
    const uint64_t seen = changed_->count();
    {
      const MutexLock lock(mutex_);
      if (!failure_.ok() && !of_sealed) return failure_;
      if (stopped_) return Status::aborted("the log is closed");
      if (!sync_turn_taken_) {
        sync_turn_taken_ = true;
        return Status();
      }
    }
    changed_->wait(seen, -1);
  }
}

void WalCore::give_sync_turn() {
  {
    const MutexLock lock(mutex_);
    CELLAR_ASSERT(sync_turn_taken_);
    sync_turn_taken_ = false;
  }
  changed_->signal();
}

void WalCore::finish_in_background() {
  executor_.submit(JobPriority::kHigh, [self = shared_from_this()] {
    {
      const MutexLock lock(self->mutex_);
      if (self->stopped_ || self->old_.empty()) return;  // somebody who needed it durable came first
    }
    if (!self->take_sync_turn().ok()) return;
    const Status status = self->finish_old(UINT64_MAX);
    self->give_sync_turn();
    if (!status.ok() && self->options_.events != nullptr) self->options_.events->on_background_error(status);
  });
}

// For the holder of the sync turn. Syncs, then cuts, the rolled segments up to `through`, oldest first. When
// the last one is durable, the current segment's records begin to say so.
Status WalCore::finish_old(uint64_t through) {
  for (;;) {
    SegmentPtr segment;
    {
      const MutexLock lock(mutex_);
      if (old_.empty() || old_.front()->id > through) return Status();
      segment = old_.front();
    }
    const uint64_t bytes = segment->appended.load(std::memory_order_acquire);
    Status status = segment->file->sync();
    // Durable now. A crash before the cut leaves zeros after CLOSE, which mean nothing.
    if (status.ok()) status = segment->file->close();
    if (!status.ok()) return seal(status.with_context(fmt::format("log segment {}", segment->id)));
    segment->synced.store(bytes, std::memory_order_release);
    segment->file.reset();
    const MutexLock lock(mutex_);
    CELLAR_ASSERT(sync_turn_taken_ && old_.front() == segment);
    done_.push_back({segment->id, bytes, segment->last_sequence.load()});
    old_.pop_front();
    if (old_.empty()) current_->earlier_durable.store(true, std::memory_order_release);
  }
}

Status WalCore::sync() {
  uint64_t lsn = 0;
  {
    const MutexLock lock(mutex_);
    if (!failure_.ok()) return failure_;
    lsn = current_->next_lsn.load(std::memory_order_acquire);
  }
  return sync_before(lsn);
}

Status WalCore::sync_before(uint64_t lsn) {
  const Status turn = take_sync_turn();
  if (!turn.ok()) return is_durable(lsn) ? Status() : turn;
  const Status status = is_durable(lsn) ? Status() : sync_in_turn();
  CELLAR_ASSERT(!status.ok() || is_durable(lsn));
  give_sync_turn();
  return status;
}

// For the holder of the sync turn. Older segments first, so that what is durable has no holes. A segment that
// was rolled meanwhile is one of them. One that restart() retired meanwhile has no file; its records are in
// store files.
Status WalCore::sync_in_turn() {
  SegmentPtr segment;
  {
    const MutexLock lock(mutex_);
    CELLAR_ASSERT(sync_turn_taken_);
    segment = current_;
  }
  uint64_t lsn = segment->next_lsn.load(std::memory_order_acquire);
  CELLAR_TRY(finish_old(segment->id));
  if (segment->file == nullptr) {
    lsn = segment->next_lsn.load(std::memory_order_acquire);  // the segment is complete
  } else {
    const uint64_t covered = segment->appended.load(std::memory_order_acquire);
    if (const Status status = segment->file->sync(); !status.ok())
      return seal(status.with_context(fmt::format("log segment {}", segment->id)));
    segment->synced.store(covered, std::memory_order_release);
  }
  if (lsn > durable_before_.load(std::memory_order_relaxed))
    durable_before_.store(lsn, std::memory_order_release);
  return Status();
}

// ---- the end

// Removes the segment prepared ahead: after a clean close nothing follows the CLOSE.
Status WalCore::remove_prepared() {
  Result<SegmentPtr> prepared = SegmentPtr();
  for (;;) {
    const uint64_t seen = changed_->count();
    {
      const MutexLock lock(mutex_);
      if (preparation_ != Preparation::kRunning) {
        if (preparation_ == Preparation::kReady) prepared = std::exchange(prepared_, SegmentPtr());
        preparation_ = Preparation::kNone;
        break;
      }
    }
    changed_->wait(seen, -1);
  }
  if (!prepared.ok() || *prepared == nullptr) return Status();
  // A job may make room in it, in the sync turn. None can begin once the log is stopped.
  const bool turn = take_sync_turn(true).ok();
  (*prepared)->file.reset();
  if (turn) give_sync_turn();
  // Should a crash bring the empty segment back, it means nothing.
  return remove_unused((*prepared)->id);
}

Result<LogPosition> WalCore::close_cleanly() {
  CELLAR_TRY(sync());  // so that CLOSE says that all before it was durable
  if (const Status status = remove_prepared(); !status.ok())
    return seal(status.with_context("write-ahead log"));
  const char nothing[kClosePayloadBytes] = {};
  WalSegment& segment = *current_;
  const Status status =
      put(segment, {.type = RecordType::kClose, .sequence = last_sequence_}, {nothing, sizeof nothing});
  if (!status.ok()) return seal(status.with_context("write-ahead log"));
  CELLAR_TRY(sync());
  CELLAR_ASSERT(segment.synced.load() == segment.appended.load());  // the CLOSE is durable
  CELLAR_TRY(take_sync_turn());
  const Status closed = segment.file->close();
  const LogPosition position{segment.id, segment.appended.load(), lsn_, segment.chain};
  const Status sealed = seal(closed.ok() ? Status::aborted("the log is closed") : closed);
  give_sync_turn();
  if (!closed.ok()) return sealed;
  return position;
}

// Everything in the segments so far is void for recovery: they are only waiting to be removed.
void WalCore::retire_all(const std::vector<LogSegment>& ends) {
  std::vector<SegmentPtr> retired;
  {
    const MutexLock lock(mutex_);
    CELLAR_ASSERT(sync_turn_taken_ && !failure_.ok());  // nobody syncs or appends
    retired.assign(old_.begin(), old_.end());
    retired.push_back(current_);
  }
  for (const SegmentPtr& segment : retired) segment->file.reset();
  const MutexLock lock(mutex_);
  for (const SegmentPtr& segment : retired)
    done_.push_back({segment->id, segment->appended.load(), segment->last_sequence.load()});
  old_.clear();
  for (LogSegment& each : done_)
    if (const auto end = std::ranges::find(ends, each.id, &LogSegment::id); end != ends.end()) each = *end;
  restarts_.fetch_add(1, std::memory_order_release);
}

// The turn is taken although the log is sealed: no sync can succeed any more, and none runs after this
// waited.
Status WalCore::restart(uint64_t last_sequence, const std::vector<LogSegment>& ends) {
  CELLAR_TRY(remove_prepared());
  CELLAR_TRY(take_sync_turn(true));
  // A record may name the segment after the current one, which must stay then.
  const uint64_t before = last_sequence_;
  last_sequence_ = std::min(before, last_sequence);  // the header tells it; not every write is logged
  Result<SegmentPtr> first = create_segment(highest() + 1, lsn_, first_bytes());
  Status status = first.status();
  if (!status.ok()) last_sequence_ = before;
  if (status.ok()) {
    retire_all(ends);
    (*first)->last_sequence.store(last_sequence_);
    (*first)->next_lsn.store(lsn_);
    make_current(*first);
    durable_before_.store(lsn_, std::memory_order_release);
    const MutexLock lock(mutex_);
    failure_ = Status();
    sealed_.store(false);
  }
  give_sync_turn();
  return status;
}

// Removals are not synced: a crash leaves some of these segments, or brings them back. Nobody reads them, for
// the manifest's log begins after them. The next open removes them.
Status WalCore::release_before(uint64_t segment) {
  if (segment <= 1) return Status();
  CELLAR_TRY(take_sync_turn());
  std::vector<LogSegment> removed;
  Status status = finish_old(segment - 1);
  while (status.ok()) {
    LogSegment oldest;
    {
      const MutexLock lock(mutex_);
      if (done_.empty() || done_.front().id >= segment) break;
      oldest = done_.front();
    }
    status = directory_->unlink(segment_name(oldest.id));
    if (status.is(Code::kNotFound)) status = Status();
    if (!status.ok()) break;
    removed.push_back(oldest);
    const MutexLock lock(mutex_);
    done_.erase(done_.begin());
  }
  give_sync_turn();
  if (options_.events != nullptr)
    for (const LogSegment& each : removed) options_.events->on_log_removed(each.id, each.bytes);
  return status;
}

// ---- looking

uint64_t WalCore::needed_from(uint64_t sequence) const {
  const MutexLock lock(mutex_);
  for (const LogSegment& segment : done_)
    if (segment.last_sequence > sequence) return segment.id;
  for (const SegmentPtr& segment : old_)
    if (segment->last_sequence.load() > sequence) return segment->id;
  return current_->id;
}

LogPosition WalCore::synced() const {
  const MutexLock lock(mutex_);
  const WalSegment& segment = old_.empty() ? *current_ : *old_.front();
  const uint64_t durable = segment.synced.load(std::memory_order_acquire);
  CELLAR_ASSERT(durable <= segment.appended.load(std::memory_order_acquire));
  return {segment.id, durable, 0, 0};
}

std::vector<LogSegment> WalCore::segments() const {
  const MutexLock lock(mutex_);
  std::vector<LogSegment> all = done_;
  for (const SegmentPtr& segment : old_)
    all.push_back({segment->id, segment->appended.load(), segment->last_sequence.load()});
  all.push_back({current_->id, current_->appended.load(), current_->last_sequence.load()});
  return all;
}

}  // namespace cellar
