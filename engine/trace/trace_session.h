// TraceSession: one recording: the buffers of its threads, and the job that writes full buffers to the file.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "cellar/environment.h"
#include "cellar/file_system.h"
#include "engine/trace/trace_encoder.h"
#include "engine/trace/trace_format.h"
#include "platform/posix_process.h"
#include "platform/ticks.h"

namespace cellar {

class TraceSession;

// TraceBuffer: records of one thread. The thread appends; any other thread may read what was published.
struct TraceBuffer {
  TraceBuffer(uint32_t of_thread, size_t bytes)
      : thread(of_thread), capacity(bytes), room(std::make_unique_for_overwrite<char[]>(bytes)) {}

  uint32_t thread;
  size_t capacity;
  std::unique_ptr<char[]> room;
  uint64_t base_ticks = 0;
  uint64_t last_ticks = 0;             // the start of the last record; the thread's own
  std::atomic<uint64_t> published{0};  // the number of records << 32, and their bytes

  uint32_t used() const { return static_cast<uint32_t>(published.load(std::memory_order_acquire)); }
  uint32_t records() const { return static_cast<uint32_t>(published.load(std::memory_order_acquire) >> 32); }
};

// TraceSlot: the place of one thread in a session. The thread uses it alone. The session replaces or reads
// `buffer` under its mutex only.
struct TraceSlot {
  TraceSlot(std::shared_ptr<TraceSession> of, uint32_t number);
  ~TraceSlot();
  TraceSlot(const TraceSlot&) = delete;
  TraceSlot& operator=(const TraceSlot&) = delete;

  // Appends a record whose body is `out`. It never waits for the file: without room for more buffers the
  // record is lost, and counted.
  void commit(TraceKind kind, uint8_t flags, Code code, uint64_t start, uint64_t end);

  const std::shared_ptr<TraceSession> session;
  const uint32_t thread;
  TraceEncoder out;
  bool inside = false;  // an operation of this thread is being recorded
  std::unique_ptr<TraceBuffer> buffer;
};

// Any thread.
class TraceSession : public std::enable_shared_from_this<TraceSession> {
 public:
  struct Parts {
    Clock& clock;
    Executor& executor;
    bool by_processor = false;  // times come from cpu_ticks(), not from the clock
  };
  // `ended` hears the reason once, on the thread that writes: kLimit, or the failure of the file.
  TraceSession(const Parts& parts, TraceKeys keys, uint64_t bytes_max, std::string path,
               std::function<void(const Status&)> ended);

  // Writes the header into the new file.
  Status begin(std::unique_ptr<Directory> directory, const std::string& name);
  // Ends the recording: writes what the threads have published, and closes the file. Returns ok, kLimit, or
  // the failure of the file.
  Status finish();

  uint64_t ticks() const {
    return by_processor_ ? cpu_ticks() : static_cast<uint64_t>(clock_.steady_us()) * 1000;
  }
  const TraceKeys& keys() const { return keys_; }
  const std::string& path() const { return path_; }
  bool is_closed() {
    MutexLock lock(mutex_);
    return closed_;
  }

  // Returns a place for the calling thread, or null after finish().
  std::shared_ptr<TraceSlot> join();
  // The slot is destroyed: takes its buffer.
  void leave(TraceSlot& slot);
  // Takes the slot's full buffer and gives it one with room for `bytes`. Returns false after finish().
  bool exchange(TraceSlot& slot, size_t bytes);
  void note_lost(uint64_t operations) { lost_.fetch_add(operations, std::memory_order_relaxed); }
  // Returns whether a buffer that began at `base` is due for writing at `now`.
  bool is_old(uint64_t base, uint64_t now) const {
    constexpr uint64_t kNanoseconds = 1'000'000'000;
    constexpr uint64_t kTicks = 4'000'000'000;  // one to four seconds of today's processors
    return now > base && now - base > (by_processor_ ? kTicks : kNanoseconds);
  }

 private:
  static constexpr size_t kBufferBytes = 64 << 10;
  static constexpr size_t kQueueBytesMax = 16 << 20;
  static constexpr size_t kSparesMax = 8;

  bool queue(std::unique_ptr<TraceBuffer> buffer) CELLAR_REQUIRES(mutex_);
  std::unique_ptr<TraceBuffer> take_spare(uint32_t thread, size_t bytes);
  void run();
  void write(const TraceBuffer& buffer);
  Status write_chunk(TraceChunkHeader header, std::string_view payload);
  void end(const Status& status);
  Status close_file();

  Clock& clock_;
  Executor& executor_;
  const bool by_processor_;
  const TraceKeys keys_;
  const uint64_t bytes_max_;
  const std::string path_;
  const std::function<void(const Status&)> ended_;
  const uint64_t generation_ = process_generation();
  std::atomic<uint64_t> lost_{0};

  Mutex mutex_;
  std::unique_ptr<Event> done_;
  bool closed_ CELLAR_GUARDED_BY(mutex_) = false;
  // The job clears this and signals while it holds the mutex. A thread that then sees it cleared may close
  // the file.
  bool runs_ CELLAR_GUARDED_BY(mutex_) = false;
  uint32_t threads_ CELLAR_GUARDED_BY(mutex_) = 0;
  std::vector<TraceSlot*> slots_ CELLAR_GUARDED_BY(mutex_);
  std::deque<std::unique_ptr<TraceBuffer>> queue_ CELLAR_GUARDED_BY(mutex_);
  size_t queued_bytes_ CELLAR_GUARDED_BY(mutex_) = 0;
  std::vector<std::unique_ptr<TraceBuffer>> spares_ CELLAR_GUARDED_BY(mutex_);  // written, to be used again

  // Used by one thread at a time: the job, or finish() after the last job.
  std::unique_ptr<Directory> directory_;
  std::unique_ptr<WritableFile> file_;
  Status status_;
  uint64_t records_ = 0;
  std::string stored_;
};

}  // namespace cellar
