// EngineCore: the parts that an engine's recipes share. Owns them; decides nothing.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "cache/block_cache.h"
#include "cellar/engine.h"
#include "engine/log/wal_writer.h"
#include "engine/manifest/manifest.h"
#include "engine/store/catalog.h"
#include "engine/store/engine_life.h"
#include "engine/store/expiry_clock.h"
#include "engine/store/file_handles.h"
#include "engine/store/health.h"
#include "engine/store/mvcc.h"
#include "engine/store/observers.h"
#include "engine/store/row_locks.h"
#include "engine/store/store.h"
#include "engine/store/unique_time.h"

namespace cellar {

// What status() counts; any thread, relaxed.
struct EngineCounters {
  std::atomic<uint64_t> flushes{0};
  std::atomic<uint64_t> compactions{0};
  std::atomic<uint64_t> bytes_flushed{0};
  std::atomic<uint64_t> bytes_compacted{0};
  std::atomic<uint64_t> views_kept{0};  // for snapshots, see Store::install_compaction
  std::atomic<uint64_t> stalls{0};
  std::atomic<int64_t> stall_micros{0};
};

// Makes a table that the engine's users see.
using MakeTable = std::function<std::shared_ptr<TableState>(
    uint32_t id, std::string name, TableOptions options, std::vector<std::shared_ptr<Store>> stores)>;

// Members are in the order of their construction, so that what is used longest is destroyed last.
struct EngineCore : std::enable_shared_from_this<EngineCore> {
  EngineCore(EngineOptions opened_with, std::string opened_at);
  ~EngineCore();
  EngineCore(const EngineCore&) = delete;
  EngineCore& operator=(const EngineCore&) = delete;

  EngineLife life;
  const EngineOptions options;
  const std::string path;
  FileSystem& files;
  Clock& clock;
  std::unique_ptr<Executor> own_executor;  // when the environment brings none
  Executor& executor;
  EventListener silent;
  EventListener& events;

  Health health;
  FileHandles handles;
  FileRemover remover;
  Mvcc mvcc;
  ExpiryClock expiry;
  UniqueTime unique_time;
  RowLocks row_locks;
  Observers observers;
  EngineCounters counters;
  std::unique_ptr<Event> changed;  // signalled whenever background work begins, ends or fails
  std::atomic<bool> closing{false};
  std::atomic<int64_t> memtable_bytes{0};
  std::unique_ptr<Event> written;          // signalled by publish() while a feed's reader waits
  std::atomic<uint32_t> feeds_waiting{0};  // readers that wait
  std::atomic<uint64_t> scanners{0};       // open ones: close() refuses while there are any
  std::atomic<uint64_t> pauses{0};         // of transactions that are tried again: seeds

  std::unique_ptr<Directory> root;
  std::unique_ptr<FileLock> lock;
  std::shared_ptr<BlockCache> cache;
  std::unique_ptr<Manifest> manifest;
  std::unique_ptr<Wal> wal;           // null when read-only
  std::vector<LogSegment> log_found;  // the log as the recovery found it; for who only reads
  Identity identity;                  // of the store; fixed once it is open
  RecoveryReport recovery;

  MakeTable make_table;  // set before the store is opened
  Catalog catalog;

  // Makes the engine read-only and says so, once.
  void fail(const Status& status, Health::Ends ends = Health::Ends::kByResume);
  void log(LogLevel level, std::string_view text) const;
  // The log as it is now, what is kept for feeds first.
  std::vector<LogSegment> log_segments() const { return wal != nullptr ? wal->segments() : log_found; }
  // Makes the writes up to this sequence visible. The write leader's.
  void publish(uint64_t sequence);
  // Makes the log durable. A failure that seals it makes the engine read-only.
  Status sync_log();
  // Whether the store is still this engine's alone. If not, the engine becomes read-only.
  Status check_lock();
  // Commits an edit of the manifest and lets the log know of it. A manifest that can't be trusted any more
  // makes the engine read-only.
  Status commit(const ManifestEdit& edit);

  MemtableRef new_memtable() const;
  // Opens a store file that the manifest names.
  Result<std::shared_ptr<StoreFile>> open_store_file(const std::shared_ptr<Directory>& directory,
                                                     uint32_t table_id, const FamilyOptions& family,
                                                     const FileRecord& record);
  // The longest block that store files may have.
  uint64_t block_payload_bytes_max() const;
  // The time up to which expired cells may be erased; says so in the log when the clock is not believed.
  int64_t erase_now_ms();
};

}  // namespace cellar
