// The log works ahead of its leader: it prepares the next segment, and makes room in the current one ready.
#include <fmt/format.h>

#include "base/raise_to.h"
#include "engine/log/wal_core.h"

namespace cellar {
namespace {

// A page that is ready takes memory. Jobs keep half of kRoomAhead ready or more: 40 ms of the fastest writer.
constexpr uint64_t kRoomAtFirst = 1 << 20;
constexpr uint64_t kRoomAhead = 16 << 20;
constexpr uint64_t kRoomNext = kRoomAhead / 2;  // in the next segment, before the leader comes to it
constexpr uint64_t kRoomStep = 1 << 20;         // of a job, in a turn of its own
constexpr uint64_t kRoomOfLeader = 128 << 10;   // beyond what it needs, if no job came in time

}  // namespace

Result<WalCore::SegmentPtr> WalCore::create_file(uint64_t id, uint64_t bytes) {
  auto segment = std::make_shared<WalSegment>(id, options_.identity);
  segment->capacity = bytes;
  bool plain = false, leftover = false;
  {
    const MutexLock lock(mutex_);
    plain = plain_;
    CELLAR_ASSERT(id > highest_ || id == leftover_);  // no file of a log is made twice
    leftover = leftover_ == id;
  }
  if (leftover) {
    const Status removed = remove_unused(id);  // leftover_ stays until this succeeds
    if (!removed.ok() && !removed.is(Code::kNotFound)) return removed;
  }
  if (!plain) {
    Result<std::unique_ptr<WritableFile>> mapped = directory_->create(segment_name(id), bytes);
    if (mapped.ok()) {
      segment->file = std::move(mapped).value();
      return segment;
    }
    if (!mapped.status().is(Code::kNotSupported)) return mapped.status();
    const MutexLock lock(mutex_);
    plain_ = true;
  }
  CELLAR_TRY_ASSIGN(segment->file, directory_->create(segment_name(id), {}));
  segment->asked = bytes;  // appends to a plain file need nothing to be ready
  return segment;
}

// A segment with a durable header and a durable name. On a failure the file is removed again, so that the id
// can be used once more.
Result<WalCore::SegmentPtr> WalCore::create_segment(uint64_t id, uint64_t first_lsn, uint64_t bytes) {
  const std::string context = fmt::format("log segment {} of {} bytes", id, bytes);
  Result<SegmentPtr> created = create_file(id, bytes);
  if (!created.ok()) return created.status().with_context(context);
  WalSegment& segment = **created;
  char raw[kFileHeaderBytes];
  const FileHeader header{
      FileKind::kLog, options_.identity, id, first_lsn, first_lsn == 0 ? 0 : last_sequence_, options_.boot};
  segment.chain = encode_file_header(header, raw);
  segment.asked = std::max(segment.asked, std::min(kRoomAtFirst, segment.capacity));
  Status status = make_ready(segment, segment.asked);
  if (status.ok()) status = segment.file->append({raw, sizeof raw});
  if (status.ok()) status = segment.file->sync();
  // A later attempt makes a new file, and syncs its new name: it does not rely on what failed here.
  if (status.ok()) status = directory_->sync();
  if (!status.ok()) {
    segment.file.reset();
    static_cast<void>(remove_unused(id).ok());
    return status.with_context(context);
  }
  segment.appended.store(kFileHeaderBytes);
  segment.synced.store(kFileHeaderBytes);
  const MutexLock lock(mutex_);
  highest_ = id;
  return created;
}

// The file of a segment that no record names. If it stays, the next attempt at this id removes it first.
Status WalCore::remove_unused(uint64_t id) {
  const Status removed = directory_->unlink(segment_name(id));
  const MutexLock lock(mutex_);
  CELLAR_ASSERT(current_ == nullptr || id > current_->id);
  const bool gone = removed.ok() || removed.is(Code::kNotFound);
  highest_ = gone ? id - 1 : id;
  leftover_ = gone ? 0 : id;
  return removed;
}

// ---- room in the current segment

Status WalCore::make_ready(WalSegment& segment, uint64_t until) {
  until = std::min(until, segment.capacity);
  CELLAR_TRY(segment.file->make_ready(until));
  raise_to(segment.ready, until);
  return Status();
}

// For the leader: `bytes` can be appended, without a page fault. On a failure nothing has happened.
Status WalCore::have_room(uint64_t bytes) {
  WalSegment& segment = *current_;
  const uint64_t until = segment.appended.load(std::memory_order_relaxed) + bytes;
  if (until + kRoomAhead / 2 > segment.asked && segment.asked < segment.capacity) {
    segment.asked = std::min(segment.asked + kRoomAhead, segment.capacity);
    executor_.submit(JobPriority::kHigh, [self = shared_from_this(), of = current_, to = segment.asked] {
      self->make_room(*of, to);
    });
  }
  if (until <= segment.ready.load(std::memory_order_acquire)) return Status();
  const Status status = make_ready(segment, until + kRoomOfLeader);
  return status.ok() ? status : status.with_context(fmt::format("log segment {}", segment.id));
}

// A job. In the sync turn nobody closes the file. The leader does the rest after a failure, and tells its
// writer.
void WalCore::make_room(WalSegment& segment, uint64_t until) {
  until = std::min(until, segment.capacity);
  for (uint64_t ready = 0; (ready = segment.ready.load(std::memory_order_acquire)) < until;) {
    if (!take_sync_turn().ok()) return;
    const bool made = segment.file != nullptr && make_ready(segment, std::min(ready + kRoomStep, until)).ok();
    give_sync_turn();
    if (!made) return;
  }
}

// ---- the next segment

void WalCore::prepare_in_background(uint64_t bytes) {
  {
    const MutexLock lock(mutex_);
    if (stopped_) return;
    CELLAR_ASSERT(preparation_ == Preparation::kNone);
    preparation_ = Preparation::kQueued;
    preparation_bytes_ = bytes;
  }
  executor_.submit(JobPriority::kHigh, [self = shared_from_this()] {
    uint64_t id = 0, size = 0;
    {
      const MutexLock lock(self->mutex_);
      if (self->stopped_ || self->preparation_ != Preparation::kQueued) return;  // a writer came first
      self->preparation_ = Preparation::kRunning;
      id = self->current_->id + 1;
      size = self->preparation_bytes_;
    }
    if (const SegmentPtr made = self->prepare(id, size, kRoomNext)) self->make_room(*made, kRoomNext);
  });
}

// Call only after setting preparation_ to kRunning. The caller then makes `room` bytes ready; with 0, the
// leader asks for them. Returns the segment, null after a failure. It may be the current one by then.
WalCore::SegmentPtr WalCore::prepare(uint64_t id, uint64_t bytes, uint64_t room) {
  Result<SegmentPtr> made = create_segment(id, 0, bytes);
  SegmentPtr segment = made.ok() ? *made : nullptr;
  if (segment != nullptr) segment->asked = std::max(segment->asked, std::min(room, segment->capacity));
  {
    const MutexLock lock(mutex_);
    CELLAR_ASSERT(preparation_ == Preparation::kRunning);
    prepared_ = std::move(made);
    preparation_ = Preparation::kReady;
  }
  changed_->signal();
  return segment;
}

// The segment after the current one, for the leader: waits for a preparation that runs, does one that has not
// begun. It may be smaller than `bytes` if it was prepared before that was known. A failure is the leader's
// own: that of a job may be long over.
Result<WalCore::SegmentPtr> WalCore::next_segment(uint64_t bytes) {
  bool tried = false;
  for (;;) {
    const uint64_t seen = changed_->count();
    bool mine = false;
    {
      const MutexLock lock(mutex_);
      if (preparation_ == Preparation::kReady && (tried || prepared_.ok())) {
        preparation_ = Preparation::kNone;
        CELLAR_ASSERT(!prepared_.ok() || (*prepared_)->id == current_->id + 1);
        return std::exchange(prepared_, SegmentPtr());
      }
      mine = preparation_ != Preparation::kRunning;
      if (mine) preparation_ = Preparation::kRunning;
    }
    if (mine) {
      tried = true;
      prepare(current_->id + 1, bytes, 0);
    } else {
      changed_->wait(seen, -1);
    }
  }
}

}  // namespace cellar
