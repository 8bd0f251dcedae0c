// TraceSession: full buffers go to a queue; one job at a time writes them.
#include "engine/trace/trace_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "hfile/codec/codecs.h"

namespace cellar {
namespace {

constexpr size_t kRecordHeadMax = 23;  // kind, flags, code and two varints

}  // namespace

TraceSlot::TraceSlot(std::shared_ptr<TraceSession> of, uint32_t number)
    : session(std::move(of)), thread(number), out(session->keys()) {
  CELLAR_ASSERT(number > 0);
}

TraceSlot::~TraceSlot() { session->leave(*this); }

void TraceSlot::commit(TraceKind kind, uint8_t flags, Code code, uint64_t start, uint64_t end) {
  const std::string_view body = out.bytes();
  const size_t most = kRecordHeadMax + body.size();
  if (most > kTracePlainBytesMax) {
    session->note_lost(1);
    return;
  }
  if (buffer == nullptr || buffer->used() + most > buffer->capacity ||
      session->is_old(buffer->base_ticks, end)) [[unlikely]] {
    if (!session->exchange(*this, most)) return;
    buffer->base_ticks = start;
    buffer->last_ticks = start;
  }
  const uint64_t published = buffer->published.load(std::memory_order_relaxed);
  char* const begin = buffer->room.get() + static_cast<uint32_t>(published);
  char* to = begin;
  *to++ = static_cast<char>(kind);
  *to++ = static_cast<char>(flags);
  *to++ = static_cast<char>(code);
  to = TraceEncoder::put_zigzag(to, static_cast<int64_t>(start - buffer->last_ticks));
  to = TraceEncoder::put_varint(to, end > start ? end - start : 0);  // processors may differ a little
  std::memcpy(to, body.data(), body.size());
  to += body.size();
  buffer->last_ticks = start;
  CELLAR_DCHECK(static_cast<size_t>(to - buffer->room.get()) <= buffer->capacity);
  buffer->published.store(published + (uint64_t{1} << 32) + static_cast<uint64_t>(to - begin),
                          std::memory_order_release);
}

TraceSession::TraceSession(const Parts& parts, TraceKeys keys, uint64_t bytes_max, std::string path,
                           std::function<void(const Status&)> ended)
    : clock_(parts.clock),
      executor_(parts.executor),
      by_processor_(parts.by_processor),
      keys_(keys),
      bytes_max_(bytes_max),
      path_(std::move(path)),
      ended_(std::move(ended)),
      done_(parts.executor.make_event()) {
  CELLAR_ASSERT(keys_.sample > 0 && ended_ != nullptr);
}

Status TraceSession::begin(std::unique_ptr<Directory> directory, const std::string& name) {
  directory_ = std::move(directory);
  CELLAR_TRY_ASSIGN(file_, directory_->create(name));
  TraceHeader header;
  header.hashed = keys_.hash.has_value();
  header.sample = keys_.sample;
  header.wall_ms = clock_.wall_ms();
  header.steady_ns = static_cast<uint64_t>(clock_.steady_us()) * 1000;
  header.ticks = ticks();
  Status status = file_->append(encode(header));
  if (status.ok()) status = directory_->sync();
  if (status.ok()) return {};
  file_.reset();
  static_cast<void>(directory_->unlink(name));  // an empty trace is of no use
  return status;
}

std::shared_ptr<TraceSlot> TraceSession::join() {
  if (generation_ != process_generation()) return nullptr;  // in a forked child: the file is the parent's
  uint32_t number = 0;
  {
    MutexLock lock(mutex_);
    if (closed_) return nullptr;
    number = ++threads_;
  }
  auto slot = std::make_shared<TraceSlot>(shared_from_this(), number);
  MutexLock lock(mutex_);
  if (closed_) return nullptr;
  slots_.push_back(slot.get());
  return slot;
}

// The thread ends, or has found that the session has.
void TraceSession::leave(TraceSlot& slot) {
  if (generation_ != process_generation()) return;
  {
    MutexLock lock(mutex_);
    if (closed_) return;
    std::erase(slots_, &slot);
    if (slot.buffer == nullptr || !queue(std::move(slot.buffer))) return;
  }
  executor_.submit(JobPriority::kHigh, [this] { run(); });
}

// Memory that was used before costs no page faults.
std::unique_ptr<TraceBuffer> TraceSession::take_spare(uint32_t thread, size_t bytes) {
  std::unique_ptr<TraceBuffer> spare;
  if (bytes <= kBufferBytes) {
    MutexLock lock(mutex_);
    if (!spares_.empty()) {
      spare = std::move(spares_.back());
      spares_.pop_back();
    }
  }
  if (spare == nullptr) return std::make_unique<TraceBuffer>(thread, std::max(kBufferBytes, bytes));
  CELLAR_ASSERT(spare->capacity == kBufferBytes);
  spare->thread = thread;
  spare->published.store(0, std::memory_order_relaxed);
  return spare;
}

bool TraceSession::exchange(TraceSlot& slot, size_t bytes) {
  if (generation_ != process_generation()) return false;
  std::unique_ptr<TraceBuffer> fresh = take_spare(slot.thread, bytes);
  bool begin_job = false;
  {
    MutexLock lock(mutex_);
    if (closed_) return false;
    if (slot.buffer != nullptr) begin_job = queue(std::move(slot.buffer));
    slot.buffer = std::move(fresh);
  }
  if (begin_job) executor_.submit(JobPriority::kHigh, [this] { run(); });
  return true;
}

// Returns whether the caller must begin the job. finish() waits for it, so that this object and the executor
// live until then.
bool TraceSession::queue(std::unique_ptr<TraceBuffer> buffer) {
  CELLAR_ASSERT(buffer != nullptr && !closed_);
  if (buffer->records() == 0) return false;
  if (queued_bytes_ + buffer->capacity > kQueueBytesMax) {
    note_lost(buffer->records());
    return false;
  }
  queued_bytes_ += buffer->capacity;
  queue_.push_back(std::move(buffer));
  return !std::exchange(runs_, true);
}

void TraceSession::run() {
  while (true) {
    std::unique_ptr<TraceBuffer> next;
    {
      MutexLock lock(mutex_);
      CELLAR_ASSERT(runs_);  // one job, until it finds nothing
      if (queue_.empty()) {
        runs_ = false;
        done_->signal();
        return;
      }
      next = std::move(queue_.front());
      queue_.pop_front();
    }
    write(*next);
    MutexLock lock(mutex_);
    queued_bytes_ -= next->capacity;
    if (next->capacity == kBufferBytes && spares_.size() < kSparesMax) spares_.push_back(std::move(next));
  }
}

void TraceSession::write(const TraceBuffer& buffer) {
  CELLAR_ASSERT(file_ != nullptr && buffer.used() <= buffer.capacity);
  const uint32_t records = buffer.records();  // both of one moment, or the owner is done with the buffer
  if (!status_.ok()) return note_lost(records);
  TraceChunkHeader header;
  header.thread = buffer.thread;
  header.records = records;
  header.base_ticks = buffer.base_ticks;
  const Status status = write_chunk(header, {buffer.room.get(), buffer.used()});
  if (status.ok()) {
    records_ += records;
  } else {
    note_lost(records);
    end(status);
  }
}

Status TraceSession::write_chunk(TraceChunkHeader header, std::string_view payload) {
  CELLAR_ASSERT(payload.size() <= kTracePlainBytesMax);
  header.ticks = ticks();
  header.steady_ns = static_cast<uint64_t>(clock_.steady_us()) * 1000;
  header.lost = lost_.load(std::memory_order_relaxed);
  header.plain_bytes = static_cast<uint32_t>(payload.size());
  stored_.clear();
  const Result<const Compressor*> lz4 = compressor_by_name("lz4");
  if (lz4.ok() && !payload.empty()) {
    CELLAR_TRY((*lz4)->compress(payload, stored_));
    header.compressed = stored_.size() < payload.size();
  }
  if (!header.compressed) stored_.assign(payload);
  header.stored_bytes = static_cast<uint32_t>(stored_.size());
  const std::string head = encode(header, stored_);
  // The last chunk always fits: room for it is kept.
  constexpr uint64_t kEndBytes = kTraceChunkHeaderBytes + 32;
  const uint64_t after = file_->size() + head.size() + stored_.size();
  if (header.kind == TraceChunkKind::kRecords && after + kEndBytes > bytes_max_)
    return Status::limit(fmt::format("the trace {} has reached its limit of {} bytes", path_, bytes_max_))
        .hinting("start another trace, or raise bytes_max");
  CELLAR_TRY(file_->append(head));
  return file_->append(stored_);
}

void TraceSession::end(const Status& status) {
  CELLAR_ASSERT(status_.ok() && !status.ok());
  status_ = status.is(Code::kLimit) ? status : status.with_context("trace " + path_);
  ended_(status_);
}

Status TraceSession::finish() {
  CELLAR_ASSERT(mutexes_held() == 0);
  std::vector<std::unique_ptr<TraceBuffer>> rests;
  {
    MutexLock lock(mutex_);
    CELLAR_ASSERT(!closed_);
    closed_ = true;
    // Owners may go on appending after what they have published, so that part is copied.
    for (TraceSlot* slot : slots_) {
      if (slot->buffer == nullptr || slot->buffer->records() == 0) continue;
      const uint64_t published = slot->buffer->published.load(std::memory_order_acquire);
      auto& rest =
          rests.emplace_back(std::make_unique<TraceBuffer>(slot->thread, static_cast<uint32_t>(published)));
      std::memcpy(rest->room.get(), slot->buffer->room.get(), static_cast<uint32_t>(published));
      rest->base_ticks = slot->buffer->base_ticks;
      rest->published.store(published);
    }
    slots_.clear();
  }
  while (true) {
    const uint64_t seen = done_->count();
    {
      MutexLock lock(mutex_);
      if (!runs_) break;
    }
    done_->wait(seen, -1);
  }
  for (const auto& rest : rests) write(*rest);
  const Status closed = close_file();
  done_.reset();  // the executor may go before the last thread lets go of its slot
  return status_.ok() ? closed : status_;
}

Status TraceSession::close_file() {
  TraceChunkHeader header;
  header.kind = TraceChunkKind::kEnd;
  std::string payload(1, static_cast<char>(status_.is(Code::kLimit) ? TraceEnd::kLimit : TraceEnd::kStopped));
  append_varint(payload, records_);
  if (!status_.ok() && !status_.is(Code::kLimit)) return status_;  // a file that failed takes no more
  CELLAR_TRY(write_chunk(header, payload).with_context("trace " + path_));
  CELLAR_TRY(file_->sync().with_context("trace " + path_));
  CELLAR_TRY(file_->close().with_context("trace " + path_));
  return directory_->sync().with_context("trace " + path_);
}

}  // namespace cellar
