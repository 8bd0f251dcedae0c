// EngineImpl: opens, schema changes, close.
#include "engine/engine_impl.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/plugins.h"
#include "base/random.h"
#include "engine/engine_memory.h"
#include "engine/jobs/family_stores.h"
#include "engine/jobs/feeds.h"
#include "engine/jobs/live_store.h"
#include "engine/jobs/recovery.h"
#include "engine/jobs/refresh_job.h"
#include "engine/jobs/resume_job.h"
#include "engine/jobs/table_alteration.h"
#include "engine/schema/names.h"
#include "engine/store/open_cache.h"
#include "engine/table_impl.h"
#include "engine/trace/traced_operations.h"
#include "engine/values/remote_engines.h"
#include "engine/write/transaction.h"

namespace cellar {

namespace {

std::shared_ptr<EngineParts> make_parts(const EngineOptions& options, const std::string& path,
                                        const std::shared_ptr<BlockCache>& cache) {
  const EngineParts::MakeTable make_table = [](std::shared_ptr<EngineParts> of, uint32_t id,
                                               const std::string& name, const TableOptions& schema,
                                               std::vector<std::shared_ptr<Store>> stores) {
    return std::make_shared<TableImpl>(std::move(of), id, name, schema, std::move(stores));
  };
  return std::make_shared<EngineParts>(options, path, cache, make_table);
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::open(const std::string& path, const EngineOptions& options) {
  if (auto remote = open_remote(path, options)) return std::move(*remote);
  register_memtable_plugins();
  register_cache_plugins();
  register_bloom_plugins();
  register_hfile_plugins();
  register_compaction_plugins();
  CELLAR_TRY(validate(options));
  CELLAR_TRY(
      parse_trace_options(options.operation_trace_options).status().with_context("operation_trace_options"));
  if (options.read_only && !options.metrics_file.empty())
    return Status::invalid_argument("metrics_file must be empty if the store is opened for reading only")
        .hinting("the engine that writes the store writes the file");
  EngineOptions heeded = options;
  if (heeded.cell_bytes_max == 0) heeded.cell_bytes_max = kCellBytesHardMax;
  CELLAR_TRY_ASSIGN(const std::shared_ptr<BlockCache> cache, open_cache(options, path));
  std::shared_ptr<EngineParts> parts;
  std::unique_ptr<EngineImpl> engine;
  const auto attempt = [&]() -> Status {
    engine.reset();
    parts = make_parts(heeded, path, cache);
    engine = std::make_unique<EngineImpl>(parts);
    const Status status = open_store(parts->work, parts->catalog, parts->background, parts->recovery);
    // The destructor must not finish what the failed open has begun. A reader begins nothing, and may succeed
    // the next time.
    if (!status.ok() && !heeded.read_only) parts->health.fail(status, Health::Ends::kByReopen);
    return status;
  };
  CELLAR_TRY(heeded.read_only ? open_live_store(attempt, [&]() -> const World& { return parts->world; })
                              : attempt());
  CELLAR_ASSERT(parts->disk.manifest != nullptr &&
                (parts->disk.wal == nullptr) == parts->world.options.read_only);
  CELLAR_TRY(parts->second_tables.install());
  // Before anything that can fail: a close of what was opened records the last unique time.
  parts->unique_time.start(parts->disk.manifest->state().unique_time_us);
  CELLAR_TRY(parts->totals.open());
  if (!parts->world.options.metrics_file.empty()) CELLAR_TRY(engine->begin_metrics_file());
  for (const auto& store : parts->catalog.stores()) {
    if (store->frozen_count() != 0) parts->background.queue_flush(store);
    parts->background.queue_prefetch(store);
    parts->background.queue_compaction(store);
  }
  parts->background.relieve_memory();  // the log may hold more than memtables may
  if (!parts->world.options.operation_trace.empty()) engine->begin_optional_trace();
  return std::unique_ptr<Engine>(std::move(engine));
}

// A store opens even if its trace cannot be written.
void EngineImpl::begin_optional_trace() {
  const EngineOptions& options = parts_->world.options;
  const Status status =
      parts_->recorder.start_numbered(options.operation_trace, options.operation_trace_options);
  if (!status.ok()) tell_end_of_trace(*parts_, status);
}

Status EngineImpl::begin_metrics_file() {
  CELLAR_ASSERT(metrics_file_ == nullptr);
  metrics_file_ = std::make_unique<MetricsFile>(parts_->world, parts_->health, parts_->disk.identity.hex(),
                                                [this] { return to_prometheus(metrics()); });
  return metrics_file_->start();
}

// Does not even destroy the parts of the engine in a forked child. Their threads run only in the parent, and
// mutexes may be locked for ever.
EngineImpl::~EngineImpl() {
  if (parts_->life.inherited()) {
    static_cast<void>(new std::shared_ptr<EngineParts>(parts_));
    static_cast<void>(metrics_file_.release());
    return;
  }
  if (!parts_->life.closed.load() && check_not_in_observer().ok()) static_cast<void>(close_now());
}

Status EngineImpl::check_writable() const {
  CELLAR_TRY(check_not_in_observer());
  CELLAR_TRY(parts_->life.check_open());
  if (parts_->world.options.read_only) return Status::read_only("the store was opened read-only");
  return parts_->health.check();
}

Result<std::shared_ptr<Table>> EngineImpl::open_table(const std::string& name) {
  CELLAR_TRY(parts_->life.check_open());
  CELLAR_TRY_ASSIGN(std::shared_ptr<TableState> table, parts_->catalog.find(name));
  return std::shared_ptr<Table>(std::move(table));
}

Result<std::shared_ptr<Table>> EngineImpl::create_table(const std::string& name, const TableOptions& options,
                                                        const std::vector<std::string>& splits) {
  CELLAR_TRY(check_writable());
  CELLAR_TRY(check_table_name(name));
  CELLAR_TRY(validate(options));
  CELLAR_TRY(check_splits(splits).with_context("table " + name));
  // Schema changes go one at a time, between two groups of writes.
  CELLAR_TRY(parts_->write_path.alone([&] { return create_now(name, options); }));
  return open_table(name);
}

Result<std::shared_ptr<Table>> EngineImpl::open_or_create_table(const std::string& name,
                                                                const TableOptions& options) {
  if (parts_->catalog.lookup(name) != nullptr) return open_table(name);
  CELLAR_TRY(check_writable());
  CELLAR_TRY(check_table_name(name));
  CELLAR_TRY(validate(options));
  // Another thread may have been faster, and a third one may drop the table again.
  CELLAR_TRY(parts_->write_path.alone(
      [&] { return parts_->catalog.lookup(name) != nullptr ? Status() : create_now(name, options); }));
  return open_table(name);
}

Status EngineImpl::create_now(const std::string& name, const TableOptions& options,
                              const std::optional<SecondTable>& second) {
  if (parts_->catalog.lookup(name) != nullptr)
    return Status::invalid_argument("table " + name + " already exists");
  const ManifestState state = parts_->disk.manifest->state();
  TableRecord record;
  record.id = parts_->disk.next_table_id();
  record.name = name;
  record.options = options;
  record.options.families.clear();
  ManifestEdit edit;
  edit.set_tables.push_back(record);
  if (second) edit.set_seconds.push_back({record.id, *second});
  edit.next_table_id = record.id + 1;
  edit.next_family_id = state.next_family_id;
  for (const FamilyOptions& family : options.families) {
    edit.set_families.push_back({record.id, edit.next_family_id, family.name, option_list(family)});
    record.families.push_back(
        {edit.next_family_id, family.name, option_list(family), parts_->mvcc.read_point(), {}});
    ++edit.next_family_id;
  }
  CELLAR_ASSERT(!record.families.empty() && record.id < edit.next_table_id);
  CELLAR_TRY_ASSIGN(std::vector<std::shared_ptr<Store>> stores, open_new_families(parts_->work, record));
  CELLAR_TRY(parts_->disk.commit(edit));
  const auto table = parts_->catalog.make(record.id, name, record.options, std::move(stores));
  table->set_second(second);  // before anybody can write to it
  parts_->catalog.exchange({}, {table});
  return {};
}

std::vector<std::string> EngineImpl::list_tables() { return parts_->catalog.names(); }

Status EngineImpl::drop_table(const std::string& name) {
  CELLAR_TRY(check_writable());
  CELLAR_TRY(open_table(name).status());
  return parts_->write_path.alone([&] { return drop_now(name); });
}

Status EngineImpl::drop_now(const std::string& name) {
  const std::shared_ptr<TableState> table = parts_->catalog.lookup(name);
  if (table == nullptr) return Status::not_found("table " + name + " was dropped");
  if (table->has_seconds()) return parts_->second_tables.drop_refusal(name);
  ManifestEdit edit;
  edit.drop_tables.push_back(table->id());
  edit.last_sequence = parts_->mvcc.read_point();
  CELLAR_TRY(parts_->disk.commit(edit));
  table->set_dropped();
  for (const auto& store : table->families().stores) {
    parts_->background.note_dropped(*store, parts_->mvcc.last_taken());
    parts_->memory.shrink(store->drop());
  }
  CELLAR_ASSERT(table->dropped());
  parts_->catalog.remove(name);
  parts_->files.remove_table(table->id());
  parts_->activity.changed.signal();  // writers may wait for the memory of the table
  return table->second() ? parts_->second_tables.install() : Status();
}

Status EngineImpl::alter_table(const std::string& name, const TableChange& change) {
  CELLAR_TRY(check_writable());
  CELLAR_TRY(open_table(name).status());
  return parts_->write_path.alone([&]() -> Status {
    const std::shared_ptr<TableState> table = parts_->catalog.lookup(name);
    if (table == nullptr) return Status::not_found("table " + name + " was dropped");
    CELLAR_TRY(parts_->second_tables.check_alter(name, change));
    return TableAlteration(parts_->work, parts_->background, *table, change).run();
  });
}

Status EngineImpl::alter_family(const std::string& table, const FamilyOptions& family) {
  return alter_table(table, {.set_families = {family}});
}

Status EngineImpl::add_observer(const std::string& table, const std::string& name,
                                std::shared_ptr<Observer> observer) {
  CELLAR_TRY(check_writable());
  if (observer == nullptr || name.empty())
    return Status::invalid_argument("an observer needs an object and a name");
  CELLAR_TRY_ASSIGN(const std::shared_ptr<TableState> found, parts_->catalog.find(table));
  return parts_->observers.add(*found, name, std::move(observer));
}

Status EngineImpl::write(const Batch& batch, const WriteOptions& options) {
  const MeteredScope metered(parts_->world.operations(), Metered::kBatch);
  TraceScope trace(parts_->recorder);
  Status status = parts_->write_path.write(batch, options);
  if (trace) trace_write(trace, batch, options, status.code());
  return status;
}

Result<std::shared_ptr<const Snapshot>> EngineImpl::snapshot() {
  CELLAR_TRY(parts_->life.check_open());
  return std::shared_ptr<const Snapshot>(std::make_shared<SnapshotImpl>(parts_->shared(parts_->snapshots)));
}

Result<std::unique_ptr<Transaction>> EngineImpl::begin(const TransactionOptions& options) {
  CELLAR_TRY(parts_->life.check_open());
  return std::unique_ptr<Transaction>(std::make_unique<TransactionImpl>(
      parts_->shared(parts_->host), parts_->shared(parts_->write_path), parts_->memory, options));
}

Result<int64_t> EngineImpl::unique_time_us() {
  CELLAR_TRY(check_writable());
  return parts_->unique_time.next([this](int64_t until_us) {
    ManifestEdit edit;
    edit.unique_time_us = until_us;
    return parts_->disk.commit(edit).with_context("unique time");
  });
}

Status EngineImpl::run_transaction(const std::function<Status(Transaction&)>& work,
                                   const TransactionOptions& options) {
  if (options.attempts_max == 0) return Status::invalid_argument("attempts_max must be at least 1");
  int64_t pause_us = options.pause_us;
  for (uint32_t attempt = 1;; ++attempt) {
    CELLAR_TRY(parts_->life.check_open());
    TransactionImpl transaction(parts_->shared(parts_->host), parts_->shared(parts_->write_path),
                                parts_->memory, options);
    Status status = work(transaction);
    if (status.ok() && transaction.active()) status = transaction.commit();
    transaction.rollback();
    if (!status.is(Code::kConflict)) return status;
    if (attempt == options.attempts_max)
      return status.with_context(fmt::format("gave up after {} attempts", attempt));
    pause_us = std::min(pause_us, options.pause_us_max);
    if (pause_us > 0) {
      // Different pauses, so that who has met does not meet again.
      Random random(pauses_.fetch_add(1, std::memory_order_relaxed));
      const int64_t half = pause_us / 2;
      const auto event = parts_->world.executor.make_event();
      event->wait(event->count(),
                  pause_us - half + static_cast<int64_t>(random.below(static_cast<uint64_t>(half) + 1)));
      pause_us *= 2;
    }
  }
}

Status FeedsImpl::create(const std::string& name, const FeedOptions& options) {
  CELLAR_TRY(engine_.check_writable());
  CELLAR_TRY(check_feed(parts_.world, parts_.catalog, name, options));
  return parts_.write_path.alone(
      [&] { return create_feed_now(parts_.disk, parts_.mvcc.read_point(), name, options); });
}

std::vector<FeedInfo> FeedsImpl::list() {
  if (!parts_.life.check_open().ok()) return {};
  return cellar::list_feeds(parts_.disk);
}

Status FeedsImpl::drop(const std::string& name) {
  CELLAR_TRY(engine_.check_writable());
  CELLAR_TRY(parts_.write_path.alone([&] { return drop_feed_now(parts_.disk, name); }));
  parts_.background.log_release().run();
  return {};
}

Result<std::unique_ptr<FeedReader>> FeedsImpl::read(const std::string& name, std::optional<uint64_t> from) {
  CELLAR_TRY(parts_.life.check_open());
  return open_feed(parts_.shared(parts_.feed_source), name, from);
}

Status EngineImpl::flush() {
  CELLAR_TRY(check_writable());
  TraceScope trace(parts_->recorder);
  Status status = parts_->background.flush(parts_->catalog.stores());
  if (trace) trace.work(TraceKind::kFlush, {}, {}, status.code());
  return status;
}

Status EngineImpl::start_trace(const std::string& path, const std::string& options) {
  CELLAR_TRY(check_not_in_observer());
  CELLAR_TRY(parts_->life.check_open());
  CELLAR_TRY(parts_->recorder.start(path, options));
  parts_->health.over(kTraceTrouble);
  return {};
}

Status EngineImpl::stop_trace() {
  CELLAR_TRY(check_not_in_observer());
  CELLAR_TRY(parts_->life.check_open());
  Status status = parts_->recorder.stop();
  const bool was_trouble = parts_->health.over(kTraceTrouble);
  return was_trouble && status.is(Code::kNotFound) ? Status() : status;
}

Status EngineImpl::resume() {
  CELLAR_TRY(check_not_in_observer());
  CELLAR_TRY(parts_->life.check_open());
  if (parts_->world.options.read_only) return Status::read_only("the store was opened read-only");
  if (!parts_->health.resumable()) return parts_->health.check();
  CELLAR_TRY(parts_->write_path.alone_to_resume([&] {
    return ResumeJob(parts_->work, parts_->catalog, parts_->write_path, parts_->background).run();
  }));
  parts_->activity.changed.signal();
  parts_->files.resume();
  parts_->background.resume();
  return {};
}

Status EngineImpl::refresh() {
  CELLAR_TRY(check_not_in_observer());
  CELLAR_TRY(parts_->life.check_open());
  if (!parts_->world.options.read_only)
    return Status::invalid_argument("refresh() is for engines that were opened read-only")
        .hinting("the engine that writes the store shows each write at once: leave out the call");
  const TurnHeld held(parts_->refresh_turn);
  CELLAR_TRY(refresh_store(parts_->work, parts_->catalog, parts_->write_path, parts_->background));
  return parts_->second_tables.install();
}

Status EngineImpl::wait_for_background() {
  CELLAR_TRY(check_not_in_observer());
  CELLAR_TRY(parts_->life.check_open());
  return parts_->background.wait_idle();
}

EngineStatus EngineImpl::status() {
  EngineStatus status;
  status.path = parts_->world.path;
  status.identity = parts_->disk.identity.hex();
  status.read_only = parts_->world.options.read_only;
  status.health = parts_->health.summary();
  status.troubles = parts_->health.troubles();
  status.last_sequence = parts_->mvcc.read_point();
  status.snapshots = parts_->mvcc.snapshots();
  status.scanners = parts_->life.scanners.load();
  for (const LogSegment& segment : parts_->disk.log_segments()) {
    ++status.log_segments;
    status.log_bytes += segment.bytes;
  }
  for (const auto& store : parts_->catalog.stores()) {
    const std::shared_ptr<const StoreView> view = store->view();
    if (view->active.get() != nullptr) status.memtable_bytes += view->active->bytes();
    for (const MemtableRef& memtable : view->frozen) status.memtable_bytes += memtable->bytes();
    for (const auto& file : view->files) {
      ++status.store_files;
      status.store_bytes += file->record().bytes;
    }
  }
  const BlockCacheStats cache = parts_->files.cache().stats();
  status.cache_capacity_bytes = cache.capacity_bytes;
  status.cache_used_bytes = cache.used_bytes + cache.pinned_bytes;
  status.cache_hits = cache.hits;
  status.cache_misses = cache.misses;
  status.cache_rows = cache.rows;
  status.cache_row_hits = cache.row_hits;
  status.flushes = parts_->counters.flushes.load();
  status.compactions = parts_->counters.compactions.load();
  status.bytes_flushed = parts_->counters.bytes_flushed.load();
  status.bytes_compacted = parts_->counters.bytes_compacted.load();
  status.files_dropped = parts_->counters.files_dropped.load();
  status.scan_compactions = parts_->counters.scan_compactions.load();
  status.refreshes = parts_->counters.refreshes.load();
  status.refreshes_whole = parts_->counters.refreshes_whole.load();
  status.stalls = parts_->counters.stalls.load();
  status.stall_micros = parts_->counters.stall_micros.load();
  add_memory(*parts_, status);
  return status;
}

Metrics EngineImpl::metrics() { return metrics_of(*parts_, status()); }

// Lets the log go if all of it is in files, so that the next open has little to read. The question about the
// stores only saves work: a release asks them again. If no segment can be made, the log stays as it is. Any
// other failure seals the log or the manifest, and the close reports it.
void EngineImpl::leave_flushed_log() {
  const auto is_flushed = [](const auto& store) { return store->oldest_unflushed() == UINT64_MAX; };
  if (!std::ranges::all_of(parts_->catalog.stores(), is_flushed)) return;
  if (parts_->disk.wal->begin_small_segment().ok()) parts_->background.log_release().run();
}

// The end of a healthy engine: what no log holds is flushed, the log is closed, and the manifest remembers
// exactly where.
Status EngineImpl::finish() {
  CELLAR_ASSERT(parts_->disk.wal != nullptr && parts_->disk.manifest != nullptr);
  std::vector<std::shared_ptr<Store>> unlogged;
  for (const auto& store : parts_->catalog.stores())
    if (store->has_unlogged()) unlogged.push_back(store);
  if (!unlogged.empty()) CELLAR_TRY(parts_->background.flush(unlogged));
  parts_->activity.closing.store(true);
  parts_->activity.changed.signal();
  parts_->background.stop_timers();
  CELLAR_TRY(parts_->background.wait_idle());
  CELLAR_TRY(parts_->disk.check_lock());
  CELLAR_ASSERT(parts_->activity.closing.load() && !parts_->world.options.read_only);
  leave_flushed_log();
  CELLAR_TRY_ASSIGN(const LogPosition end, parts_->disk.wal->close_cleanly());
  CELLAR_ASSERT(end.segment == parts_->disk.wal->current_segment() &&
                !parts_->disk.wal->health().ok());  // it takes no more
  ManifestState state = parts_->disk.manifest->state();
  CELLAR_ASSERT(parts_->mvcc.read_point() >= state.last_sequence);  // or a sequence could be given out twice
  CELLAR_ASSERT(parts_->unique_time.last() <= state.unique_time_us);  // each was recorded before it was given
  state.clean_close = end;
  state.last_sequence = parts_->mvcc.read_point();
  const ExpiryClock::Memory time = parts_->expiry.memory();
  state.wall_ms = time.wall_ms;
  state.doubted_ms = time.doubted_ms;
  state.unique_time_us = parts_->unique_time.last();
  state.log_synced = end;
  return parts_->disk.manifest->switch_to(std::move(state)).status();
}

// A transaction holds a snapshot, so that counting snapshots counts it too.
Status EngineImpl::close() {
  if (parts_->life.inherited()) return EngineLife::inherited_status();
  CELLAR_TRY(check_not_in_observer());
  if (parts_->life.closed.load()) return closed_with_;
  const uint64_t snapshots = parts_->mvcc.snapshots();
  const uint64_t scanners = parts_->life.scanners.load();
  if (snapshots > 0 || scanners > 0)
    return Status::busy(
               fmt::format("the store is in use: {} snapshots or transactions and {} scanners are open",
                           snapshots, scanners))
        .hinting("destroy them, then close again");
  return close_now();
}

Status EngineImpl::close_now() {
  CELLAR_ASSERT(!parts_->life.inherited());  // the store belongs to the parent of a forked child
  if (metrics_file_ != nullptr) metrics_file_->stop();
  const bool opened = parts_->disk.wal != nullptr && !parts_->world.options.read_only;
  if (opened && !parts_->health.failed()) {
    closed_with_ = finish();
    if (!closed_with_.ok()) parts_->health.fail(closed_with_.with_context("close"));
  } else if (parts_->health.failed()) {
    closed_with_ = parts_->health.check();
  }
  if (metrics_file_ != nullptr) metrics_file_->write_last();
  parts_->activity.closing.store(true);
  parts_->life.closed.store(true, std::memory_order_release);
  if (const Status traced = parts_->recorder.stop(); !traced.ok() && !traced.is(Code::kNotFound))
    parts_->world.log(LogLevel::kWarning, traced.to_text());
  parts_->activity.changed.signal();
  parts_->background.stop_timers();
  static_cast<void>(parts_->background.wait_idle());
  parts_->catalog.take_all().clear();  // tables hold the parts: let go, or neither ever ends
  parts_->observers.clear();           // they may hold tables, too
  parts_->spare_pages.reset();
  parts_->region_helper.reset();
  parts_->files.wait_for_removals();
  if (const Status traced = parts_->files.finish_trace(); closed_with_.ok()) closed_with_ = traced;
  parts_->disk.wal.reset();
  parts_->disk.manifest.reset();
  parts_->disk.lock.reset();
  return closed_with_;
}

}  // namespace cellar
