// OperationRecorder: finds the slot of a thread, and begins and ends sessions.
#include "engine/trace/operation_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/random.h"
#include "cellar/plugin.h"

namespace cellar {

struct ThreadSlots {
  struct Known {
    uint64_t session = 0;
    std::shared_ptr<TraceSlot> slot;
  };
  ThreadSlots() = default;
  ~ThreadSlots() { OperationRecorder::forget_last_used(true); }
  ThreadSlots(const ThreadSlots&) = delete;
  ThreadSlots& operator=(const ThreadSlots&) = delete;

  std::vector<Known> all;
};

namespace {

ThreadSlots& thread_slots() {
  thread_local ThreadSlots slots;
  return slots;
}

// Sessions of all engines of the process are numbered.
uint64_t next_session() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1) + 1;
}

std::pair<std::string, std::string> split_path(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

}  // namespace

Result<TraceOptions> parse_trace_options(std::string_view text) {
  constexpr uint64_t kBytesMin = 64 << 10;
  if (text.empty()) return TraceOptions{};
  CELLAR_TRY_ASSIGN(const PluginParams params, PluginParams::parse(fmt::format("trace({})", text)));
  TraceOptions options;
  options.hashed = params.choice("keys", "plain", {"plain", "hashed"}) == "hashed";
  options.sample = static_cast<uint32_t>(params.count_within("sample", 1, 1, UINT32_MAX));
  options.bytes_max = params.bytes("bytes_max", options.bytes_max);
  if (options.bytes_max < kBytesMin) params.complain("bytes_max", "a size of at least 64k");
  CELLAR_TRY(params.finish());
  return options;
}

Status OperationRecorder::start(const std::string& path, std::string_view options) {
  CELLAR_TRY_ASSIGN(const TraceOptions parsed, parse_trace_options(options));
  return start_at(path, parsed);
}

Status OperationRecorder::start_numbered(const std::string& path, std::string_view options) {
  constexpr int kMost = 10000;
  CELLAR_TRY_ASSIGN(const TraceOptions parsed, parse_trace_options(options));
  const auto [folder, name] = split_path(path);
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> directory, parts_.files.open_directory(folder, false));
  for (int number = 1; number <= kMost; ++number) {
    const std::string suffix = number == 1 ? "" : fmt::format(".{}", number);
    const Result<std::unique_ptr<ReadableFile>> found = directory->open(name + suffix);
    if (found.status().is(Code::kNotFound)) return start_at(path + suffix, parsed);
  }
  return Status::limit(fmt::format("{} traces with the name {} exist", kMost, path))
      .hinting("remove the old ones, or choose another name");
}

Status OperationRecorder::start_at(const std::string& path, const TraceOptions& options) {
  const auto [folder, name] = split_path(path);
  if (name.empty()) return Status::invalid_argument("the path of a trace names a file");
  if (folder == parts_.store || folder.starts_with(parts_.store + "/"))
    return Status::invalid_argument("the trace " + path + " would lie in the store itself")
        .hinting("choose another directory, best on another disk");
  {
    MutexLock lock(mutex_);
    if (starting_ || session_ != nullptr)
      return Status::busy(session_ == nullptr
                              ? "another trace is being started"
                              : "operations are being recorded already, to " + session_->path())
          .hinting("stop_trace() ends that recording");
    starting_ = true;
  }
  TraceKeys keys{.hash = {}, .sample = options.sample};
  if (options.hashed) {
    Random random(parts_.seed);
    keys.hash = parts_.seed != 0 ? TraceHash({random.next(), random.next()})
                                 : TraceHash({system_random(), system_random()});
  }
  const uint64_t number = next_session();
  const auto session = std::make_shared<TraceSession>(
      TraceSession::Parts{parts_.clock, parts_.executor, parts_.real_clock && cpu_ticks_are_steady()}, keys,
      options.bytes_max, path, [this, number](const Status& status) {
        uint64_t expected = number;
        live_.compare_exchange_strong(expected, 0);
        ended_(status);
      });
  Result<std::unique_ptr<Directory>> directory = parts_.files.open_directory(folder, false);
  Status status = directory.status();
  if (directory.ok()) status = session->begin(std::move(directory).value(), name);
  MutexLock lock(mutex_);
  starting_ = false;
  if (!status.ok()) return status.with_context("trace " + path);
  CELLAR_ASSERT(session_ == nullptr && number != 0);
  session_ = session;
  number_ = number;
  live_.store(number, std::memory_order_release);
  return {};
}

Status OperationRecorder::stop() {
  std::shared_ptr<TraceSession> session;
  {
    MutexLock lock(mutex_);
    if (session_ == nullptr)
      return Status::not_found("no operations are being recorded")
          .hinting("start_trace() begins a recording");
    live_.store(0, std::memory_order_release);
    session = std::move(session_);
    session_ = nullptr;
    number_ = 0;
  }
  return session->finish();
}

TraceSlot* OperationRecorder::slot_of(uint64_t session) {
  if (last_used_.ended) return nullptr;
  for (const ThreadSlots::Known& each : thread_slots().all) {
    if (each.session != session) continue;
    last_used_ = {session, each.slot.get(), false};
    return last_used_.slot;
  }
  return join(session);
}

TraceSlot* OperationRecorder::join(uint64_t session) {
  std::shared_ptr<TraceSession> current;
  {
    MutexLock lock(mutex_);
    if (number_ != session) return nullptr;
    current = session_;
  }
  ThreadSlots& known = thread_slots();
  // Slots of recordings that are over go, except one that an operation of this thread is using.
  forget_last_used(false);
  std::erase_if(known.all, [](const ThreadSlots::Known& each) {
    return !each.slot->inside && each.slot->session->is_closed();
  });
  std::shared_ptr<TraceSlot> slot = current->join();
  if (slot == nullptr) return nullptr;
  CELLAR_ASSERT(slot->session == current);
  last_used_ = {session, slot.get(), false};
  known.all.push_back({session, std::move(slot)});
  return last_used_.slot;
}

TraceEncoder& TraceScope::begin(uint8_t durability, size_t entries) {
  CELLAR_DCHECK(slot_ != nullptr && slot_->inside);
  TraceEncoder& out = slot_->out;
  out.clear();
  out.byte(durability);
  out.varint(entries);
  return out;
}

void TraceScope::commit(TraceKind kind, Code code, const TraceResults& results, uint8_t flags) {
  CELLAR_DCHECK(slot_ != nullptr && slot_->inside && (reads_only(kind) || writes_rows(kind)));
  slot_->out.results(results);
  slot_->commit(kind, flags, code, start_, slot_->session->ticks());
}

void TraceScope::work(TraceKind kind, std::string_view table, std::string_view family, Code code) {
  CELLAR_ASSERT(!reads_only(kind) && !writes_rows(kind));
  slot_->out.clear();
  slot_->out.name(table);
  slot_->out.name(family);
  slot_->commit(kind, 0, code, start_, slot_->session->ticks());
}

}  // namespace cellar
