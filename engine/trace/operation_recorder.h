// OperationRecorder: switches the recording of an engine's operations on and off.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "cellar/environment.h"
#include "cellar/file_system.h"
#include "engine/trace/trace_session.h"

namespace cellar {

// Options of a recording, written in a text: "keys=hashed, sample=100, bytes_max=1g".
struct TraceOptions {
  bool hashed = false;
  uint32_t sample = 1;
  uint64_t bytes_max = 1u << 30;
};
// kInvalidArgument for an unknown option or an invalid value.
Result<TraceOptions> parse_trace_options(std::string_view text);

// ThreadSlots: the slots of a thread. Its end gives their buffers to the sessions.
struct ThreadSlots;

// Any thread. One recording at a time.
class OperationRecorder {
 public:
  struct Parts {
    FileSystem& files;
    Clock& clock;
    Executor& executor;
    bool real_clock = false;  // the processor's ticks may take the place of the clock
    uint64_t seed = 0;        // of the keys of hashes; 0: from the operating system
    std::string store;        // the directory that a trace must not be in
  };
  // `ended` hears why a recording ended by itself: kLimit, or the failure of its file.
  OperationRecorder(Parts parts, std::function<void(const Status&)> ended)
      : parts_(std::move(parts)), ended_(std::move(ended)) {}

  // Begins a recording into the new file `path`. Errors: kInvalidArgument (an option, or the file exists);
  // kBusy (one is running already); kNotFound, kIoError, kNoSpace.
  Status start(const std::string& path, std::string_view options);
  // As start(). If the file exists, the name gets the first free number: "path.2".
  Status start_numbered(const std::string& path, std::string_view options);
  // Ends the recording. Returns ok, or why it had ended before; kNotFound if there was none.
  Status stop();

  // Returns the calling thread's slot; null while nothing is recorded.
  TraceSlot* slot() {
    const uint64_t session = live_.load(std::memory_order_acquire);
    if (session == 0) return nullptr;
    return last_used_.session == session ? last_used_.slot : slot_of(session);
  }

 private:
  // The slot that the thread used last. It has no constructor, so that no access asks whether it is built.
  struct LastUsed {
    uint64_t session;
    TraceSlot* slot;
    bool ended;  // the thread ends: it has no slots any more
  };
  static constinit inline thread_local LastUsed last_used_{0, nullptr, false};
  static void forget_last_used(bool ended) { last_used_ = {0, nullptr, ended}; }
  friend struct ThreadSlots;

  TraceSlot* slot_of(uint64_t session);
  TraceSlot* join(uint64_t session);
  Status start_at(const std::string& path, const TraceOptions& options);

  const Parts parts_;
  const std::function<void(const Status&)> ended_;
  std::atomic<uint64_t> live_{0};  // the number of the session that records; 0: none does
  Mutex mutex_;
  bool starting_ CELLAR_GUARDED_BY(mutex_) = false;
  uint64_t number_ CELLAR_GUARDED_BY(mutex_) = 0;
  std::shared_ptr<TraceSession> session_ CELLAR_GUARDED_BY(mutex_);
};

// TraceScope: one operation on its way, if it is recorded. Operations that it calls on the same thread are
// not recorded.
class TraceScope {
 public:
  explicit TraceScope(OperationRecorder& recorder) : slot_(recorder.slot()) {
    if (slot_ != nullptr) [[unlikely]]
      enter(true);
  }
  // The same for an operation on one row, which may not be sampled: then the scope is false, and no clock is
  // asked.
  TraceScope(OperationRecorder& recorder, std::string_view row) : slot_(recorder.slot()) {
    if (slot_ != nullptr) [[unlikely]]
      enter(takes(row));
  }
  ~TraceScope() {
    if (slot_ != nullptr) [[unlikely]]
      slot_->inside = false;
  }
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

  explicit operator bool() const { return is_recorded_; }
  // Returns whether the operations on this row are recorded. Only if the scope is true.
  bool takes(std::string_view row) const { return slot_->out.keys().take(row); }
  uint64_t start() const { return start_; }
  TraceSlot& slot() { return *slot_; }

  // Begins the body of an operation with this many entries. The entries follow, then commit().
  TraceEncoder& begin(uint8_t durability, size_t entries);
  void commit(TraceKind kind, Code code, const TraceResults& results = {}, uint8_t flags = 0);
  // Records work on a table and a family; empty: all.
  void work(TraceKind kind, std::string_view table, std::string_view family, Code code);

 private:
  void enter(bool is_sampled) {
    if (slot_->inside) {
      slot_ = nullptr;
      return;
    }
    slot_->inside = true;
    is_recorded_ = is_sampled;
    if (is_sampled) start_ = slot_->session->ticks();
  }

  TraceSlot* slot_;
  bool is_recorded_ = false;
  uint64_t start_ = 0;
};

}  // namespace cellar
