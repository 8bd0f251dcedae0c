// EngineCore: construction of the shared parts, and the few services every recipe needs.
#include "engine/store/core.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/store/recorded_file.h"

namespace cellar {
namespace {

Executor& choose_executor(const Environment& environment, const std::unique_ptr<Executor>& own) {
  return environment.executor != nullptr ? *environment.executor : *own;
}

}  // namespace

EngineCore::EngineCore(EngineOptions opened_with, std::string opened_at)
    : options(std::move(opened_with)),
      path(std::move(opened_at)),
      files(options.environment.files != nullptr ? *options.environment.files : posix_file_system()),
      clock(options.environment.clock != nullptr ? *options.environment.clock : system_clock()),
      own_executor(options.environment.executor != nullptr
                       ? nullptr
                       // One of those for flushes may wait for the next retry of a job that failed.
                       : make_thread_executor(3, std::max(1, options.background_threads - 1))),
      executor(choose_executor(options.environment, own_executor)),
      events(options.environment.events != nullptr ? *options.environment.events : silent),
      handles(options.open_files_max),
      remover(executor, health),
      mvcc(clock),
      expiry(clock, options.ttl_clock_guard_s * 1000),
      unique_time(clock),
      row_locks(executor),
      changed(executor.make_event()),
      written(executor.make_event()),
      catalog(path) {}

EngineCore::~EngineCore() = default;

void EngineCore::fail(const Status& status, Health::Ends ends) {
  if (!health.fail(status, ends)) return;
  log(LogLevel::kError, "writes are refused from now on: " + status.to_text());
  events.on_background_error(status);
  changed->signal();
}

void EngineCore::log(LogLevel level, std::string_view text) const {
  if (options.environment.log != nullptr) options.environment.log->log(level, "engine", text);
}

// A reader adds itself to those that wait, then looks for writes. Both sides change the same number: either
// the reader sees what was published before, or it is seen here.
void EngineCore::publish(uint64_t sequence) {
  mvcc.publish(sequence);
  if (feeds_waiting.fetch_add(0, std::memory_order_acq_rel) != 0) written->signal();
}

Status EngineCore::sync_log() {
  const Status synced = wal->sync();
  if (!synced.ok() && !wal->health().ok()) fail(synced.with_context("write-ahead log"));
  return synced;
}

Status EngineCore::check_lock() {
  const Status held = lock == nullptr ? Status() : lock->check();
  if (held.is(Code::kLocked)) fail(held, Health::Ends::kByReopen);
  return held;
}

Status EngineCore::commit(const ManifestEdit& edit) {
  CELLAR_TRY(check_lock());
  const auto committed = manifest->commit(edit);
  if (!committed.ok()) {
    if (manifest->poisoned()) fail(committed.status().with_context("manifest"));
    return committed.status();
  }
  if (wal != nullptr) wal->note_manifest_edit(*committed);
  return {};
}

MemtableRef EngineCore::new_memtable() const {
  // The name was checked when the engine was opened.
  return MemtableRef(Registry<Memtable>::instance().make(options.memtable).value().release());
}

Result<std::shared_ptr<StoreFile>> EngineCore::open_store_file(const std::shared_ptr<Directory>& directory,
                                                               uint32_t table_id, const FamilyOptions& family,
                                                               const FileRecord& record) {
  StoredFile stored{table_id, family.name, record.name, record.bytes};
  HFileReaderOptions reader_options;
  reader_options.cache = cache;
  reader_options.name = to_text(stored);
  reader_options.in_memory = family.in_memory;
  reader_options.block_payload_bytes_max = block_payload_bytes_max();
  CELLAR_TRY_ASSIGN(RecordedFile opened, open_recorded_file(handles.open(directory, record.name), record,
                                                            identity, std::move(reader_options)));
  return std::make_shared<StoreFile>(std::move(opened.reader), record, opened.number, directory,
                                     std::move(stored), options.read_only ? nullptr : &remover);
}

uint64_t EngineCore::block_payload_bytes_max() const { return store_block_bytes_max(options); }

int64_t EngineCore::erase_now_ms() {
  const ExpiryClock::Reading reading = expiry.read();
  if (reading.ahead_ms != 0)
    log(LogLevel::kWarning,
        fmt::format("the clock is {} s ahead of what is believed: expired cells are hidden, and erased once "
                    "the clock has said so for an hour",
                    reading.ahead_ms / 1000));
  return reading.ms;
}

}  // namespace cellar
