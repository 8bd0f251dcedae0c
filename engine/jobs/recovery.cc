// Recovery: read everything, check it, and make what was recovered visible by one rename.
#include "engine/jobs/recovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <set>

#include "base/assert.h"
#include "base/pages.h"
#include "base/random.h"
#include "engine/jobs/background.h"
#include "engine/jobs/family_stores.h"
#include "engine/jobs/feeds.h"
#include "engine/jobs/flush_job.h"
#include "engine/jobs/log_replay.h"
#include "engine/jobs/named_snapshot_files.h"
#include "engine/jobs/replay_helper.h"
#include "engine/log/wal_reader.h"
#include "engine/store/file_copy.h"
#include "engine/store/table_state.h"

namespace cellar {
namespace {

// The steps of one opening, top to bottom in run().
class Recovery {
 public:
  Recovery(const StoreWork& work, Catalog& catalog, Background& background, RecoveryReport& report)
      : work_(work), catalog_(catalog), background_(background), report_(report) {}

  Status run() {
    const int64_t begun_us = work_.world.clock.steady_us();
    CELLAR_TRY(open_directory());
    CELLAR_TRY(open_manifest());
    CELLAR_TRY(open_tables());
    CELLAR_TRY(replay());
    if (!work_.world.options.read_only) {
      CELLAR_TRY(summary_.clean && !is_scattered() ? continue_log() : publish_recovered());
      sweep_orphans();
      NamedSnapshotFiles(work_.world, work_.disk).sweep();
    } else {
      const Manifest& manifest = *work_.disk.manifest;
      CELLAR_TRY(check_manifest(*work_.disk.root, manifest, manifest.generation(), state_, summary_));
    }
    work_.disk.note_log_found(known_segments());
    work_.disk.log_end = summary_.read_to;
    report_.micros = work_.world.clock.steady_us() - begun_us;
    work_.world.events.on_recovered(report_);
    return {};
  }

 private:
  Status open_directory();
  Status lock_snapshot();
  Status open_manifest();
  Status create_manifest();
  Status open_tables();
  Status replay();
  struct Lane;
  struct Recovered;
  Status replay_record(const LogRecord& record);
  Status insert_record(const LogRecord& record, Lane& lane);
  Memtable& memtable_of(Recovered& recovered, const Lane& lane);
  static uint64_t bytes_of(const Recovered& recovered);
  void settle(Recovered& recovered);
  void freeze(Recovered& recovered);
  Status write_frozen(Recovered& recovered);
  Status make_room();
  Status remove_spare_segments();
  std::vector<LogSegment> known_segments() const;
  Status keep_for_feeds(FeedBook& feeds, uint64_t log_start);
  void remove_old_segments(uint64_t first);
  bool is_scattered() const;
  Status continue_log();
  Status publish_recovered();
  void sweep_orphans();
  WalOptions wal_options() const;

  struct Recovered {
    std::shared_ptr<Store> store;
    // The helper's, made at its first cell. Written to files together with those of the store.
    MemtableRef second = {};
    std::atomic<uint64_t> second_bytes{0};
    std::vector<FileRecord> files = {};  // written, not yet published
    FamilyTotals totals = {};            // of these files
  };

  // One of the threads that insert.
  struct Lane {
    bool is_helper = false;  // it inserts into the second memtables
    uint64_t cells_replayed = 0;
    uint64_t cells_skipped = 0;
    std::vector<Recovered*> touched = {};  // by the record that is inserted
  };

  const StoreWork work_;
  Catalog& catalog_;
  Background& background_;
  RecoveryReport& report_;
  ManifestState state_;
  HeldStore held_;                          // empty unless the store is only read
  std::map<uint32_t, Recovered> families_;  // by id
  Lane lane_;
  Lane helper_lane_{.is_helper = true};
  uint64_t bytes_read_ = 0;             // payloads of the log
  std::atomic<bool> full_{false};       // memtables of a family are full
  std::optional<ReplayHelper> helper_;  // if all that is replayed goes into files
  LogSummary summary_;
  std::vector<std::pair<FeedRecord, uint64_t>> lost_;  // feeds that hold back too much, and how much
  uint64_t last_sequence_ = 0;
  // Files and directories below tables/ before anything was written there. Empty if the store is only read.
  std::vector<StoredFile> stored_;
  std::vector<FamilyPlace> directories_;
};

Status Recovery::open_directory() {
  const bool may_create = work_.world.options.create_if_missing && !work_.world.options.read_only;
  auto opened = work_.world.files.open_directory(work_.world.path, may_create);
  if (opened.status().is(Code::kNotFound)) {
    return may_create ? opened.status().hinting("first make the directory that will contain the store")
                      : Status::not_found("no store at " + work_.world.path)
                            .hinting("create_if_missing creates one");
  }
  CELLAR_TRY(opened.status());
  work_.disk.root = std::move(opened).value();
  CELLAR_TRY_ASSIGN(const StoreProbe probe, probe_store(*work_.disk.root));
  if (probe.kind != StoreKind::kStore && !may_create)
    return require_store(*work_.disk.root).at(work_.world.path);
  if (probe.kind == StoreKind::kLost) return require_store(*work_.disk.root).at(work_.world.path);
  if (probe.kind == StoreKind::kEmpty && probe.strangers != 0)
    return Status::invalid_argument(fmt::format("{} holds {} other files", work_.world.path, probe.strangers))
        .hinting("a new store needs an empty directory");
  if (work_.world.options.read_only) return {};  // a reader locks nobody out
  CELLAR_TRY_ASSIGN(work_.disk.lock, work_.disk.root->lock(kLockName));
  return {};
}

// A named snapshot is never written, but it can be dropped. The lock prevents that while somebody reads it.
Status Recovery::lock_snapshot() {
  CELLAR_ASSERT(work_.world.options.read_only && work_.disk.lock == nullptr);
  auto locked = work_.disk.root->lock_shared(kLockName);
  if (locked.status().is(Code::kNotFound)) return {};  // read-only media hold no lock
  CELLAR_TRY(locked.status());
  work_.disk.lock = std::move(locked).value();
  return {};
}

Status Recovery::create_manifest() {
  ManifestState fresh;
  uint64_t seed = work_.world.options.environment.seed;
  if (seed == 0) {
    fresh.identity = {system_random(), system_random()};
  } else {
    Random random(seed);
    fresh.identity = {random.next(), random.next()};
  }
  fresh.wall_ms = work_.world.clock.wall_ms();
  CELLAR_ASSERT(fresh.identity.is_set());
  CELLAR_TRY_ASSIGN(work_.disk.manifest, Manifest::create(*work_.disk.root, work_.world.executor, fresh));
  return {};
}

Status Recovery::open_manifest() {
  // Looked at again under the lock: somebody may have created the store meanwhile.
  CELLAR_TRY_ASSIGN(const StoreProbe probe, probe_store(*work_.disk.root));
  if (probe.kind != StoreKind::kStore) {
    CELLAR_TRY(create_manifest());
  } else {
    if (work_.world.options.error_if_exists)
      return Status::invalid_argument("a store already exists at " + work_.world.path);
    CELLAR_TRY_ASSIGN(work_.disk.manifest, Manifest::load(*work_.disk.root, work_.world.executor,
                                                          {.read_only = work_.world.options.read_only}));
  }
  state_ = work_.disk.manifest->state();
  if (!state_.snapshot.empty() && !work_.world.options.read_only)
    return Status::read_only("this is snapshot " + state_.snapshot + " of a store, and cannot be changed")
        .at(work_.world.path)
        .hinting("open it read_only; to write, clone a table from it or export all of it");
  if (!state_.snapshot.empty()) CELLAR_TRY(lock_snapshot());
  work_.disk.identity = state_.identity;
  work_.expiry.start({state_.wall_ms, state_.doubted_ms});
  last_sequence_ = state_.last_sequence;
  return {};
}

Status Recovery::open_tables() {
  CELLAR_TRY(check_left_out(work_.world, state_));
  if (work_.world.options.read_only) CELLAR_TRY(held_.hold(work_, state_, nullptr));
  uint64_t newest_file = 0;
  for (const TableRecord& table : state_.tables) {
    std::vector<std::shared_ptr<Store>> stores;
    for (const FamilyRecord& family : table.families) {
      CELLAR_TRY_ASSIGN(std::shared_ptr<Store> store, open_family(work_, table, family, &held_));
      const std::shared_ptr<const StoreView> view = store->view();
      for (const auto& file : view->files) newest_file = std::max(newest_file, file->number());
      store->set_active(work_.memory.create());
      families_[family.id].store = store;
      last_sequence_ = std::max(last_sequence_, family.flushed_sequence);
      stores.push_back(std::move(store));
    }
    catalog_.add(table.id, table.name, table.options, std::move(stores));
  }
  // Orphans too: the number of a file that was never published must not be given out again while its name is
  // taken.
  if (!work_.world.options.read_only) {
    CELLAR_TRY_ASSIGN(stored_, list_store_files(*work_.disk.root, nullptr, &directories_));
    uint64_t number = 0;
    for (const StoredFile& file : stored_)
      if (parse_store_file_name(work_.disk.identity, file.name, number))
        newest_file = std::max(newest_file, number);
  }
  work_.disk.manifest->raise_file_number(newest_file);
  return {};
}

Status Recovery::replay_record(const LogRecord& record) {
  const uint64_t before = std::exchange(bytes_read_, bytes_read_ + record.payload.size());
  if (SparePages::is_passed(before, bytes_read_)) SparePages::make_ready(SparePages::kReadyBytes);
  bool taken = false;
  if (helper_) {
    CELLAR_TRY_ASSIGN(taken, helper_->offer(record));
  }
  if (!taken) CELLAR_TRY(insert_record(record, lane_));
  last_sequence_ = std::max(last_sequence_, record.sequence);
  return full_.load(std::memory_order_relaxed) ? make_room() : Status();
}

// Called by the thread of the lane.
Status Recovery::insert_record(const LogRecord& record, Lane& lane) {
  LogCells cells(record.payload, record.count, record.sequence);
  LogCell each;
  lane.touched.clear();
  while (cells.next(each)) {
    const auto found = families_.find(each.family_id);
    if (found == families_.end()) {
      if (!state_.is_dropped(each.family_id)) return unknown_family_in_log(record, each.family_id);
      ++lane.cells_skipped;
      continue;
    }
    Recovered& recovered = found->second;
    if (record.sequence <= recovered.store->flushed_sequence()) {
      ++lane.cells_skipped;
      continue;
    }
    CELLAR_ASSERT(each.cell.sequence == record.sequence);
    memtable_of(recovered, lane).add(each.cell);
    if (lane.touched.empty() || lane.touched.back() != &recovered) lane.touched.push_back(&recovered);
    ++lane.cells_replayed;
  }
  if (!cells.status().ok()) return cells.status().at(place_of(record));
  for (Recovered* const recovered : lane.touched) {
    if (lane.is_helper) recovered->second_bytes.store(recovered->second->bytes(), std::memory_order_relaxed);
    if (bytes_of(*recovered) >= recovered->store->flush_bytes(work_.world.options))
      full_.store(true, std::memory_order_relaxed);
  }
  return {};
}

// Called by the thread of the lane.
Memtable& Recovery::memtable_of(Recovered& recovered, const Lane& lane) {
  CELLAR_ASSERT(recovered.store->active() != nullptr);
  if (!lane.is_helper) return *recovered.store->active();
  if (recovered.second.get() == nullptr) recovered.second = work_.memory.create();
  return *recovered.second.get();
}

// Returns the bytes that were replayed since the family was last written to a file. Any thread.
uint64_t Recovery::bytes_of(const Recovered& recovered) {
  return recovered.store->active()->bytes() + recovered.second_bytes.load(std::memory_order_relaxed);
}

// Inserts the cells that the memtables have taken so far, and counts their memory. The second memtable ends
// before anybody reads the figure.
void Recovery::settle(Recovered& recovered) {
  recovered.store->active()->settle();
  if (recovered.second.get() != nullptr) recovered.second->settle();
  work_.memory.grow(recovered.store->take_growth());
}

// Moves what the store has replayed so far out of the way of further records.
void Recovery::freeze(Recovered& recovered) {
  settle(recovered);
  Store& store = *recovered.store;
  if (store.active()->summary().cells != 0) store.freeze(work_.memory.create());
}

// Writes the frozen memtables of the store to a file that nothing names yet: until the end of the recovery
// the log counts. The helper must be idle.
Status Recovery::write_frozen(Recovered& recovered) {
  Store& store = *recovered.store;
  const std::shared_ptr<const StoreView> view = store.view();
  std::vector<MemtableRef> memtables = view->frozen;
  if (recovered.second.get() != nullptr) memtables.push_back(std::exchange(recovered.second, {}));
  recovered.second_bytes.store(0, std::memory_order_relaxed);
  if (memtables.empty()) return {};
  CELLAR_ASSERT(!work_.world.options.read_only);
  OpenReadPoints points;
  points.read_point = last_sequence_;
  CELLAR_TRY_ASSIGN(NewFiles made, work_.writer.write_replayed(store, memtables, points));
  made.rewritten.work = flush_totals(memtables, made);
  const Store::FlushInstalled installed =
      store.install_flush(view->frozen, made.rewritten, store.flushed_sequence(), {});
  work_.memory.shrink(installed.freed);
  CELLAR_ASSERT(store.frozen_count() == 0);
  recovered.totals += made.rewritten.work;
  for (const auto& file : made.files()) recovered.files.push_back(file->record());
  return {};
}

// The memtables of a family are full. After a clean close everything fits into memory, and the engine flushes
// what is frozen once it is open. After a crash the log may hold more than memory may.
Status Recovery::make_room() {
  full_.store(false, std::memory_order_relaxed);
  if (work_.world.options.read_only) return {};
  if (helper_) CELLAR_TRY(helper_->drain());
  for (auto& [id, recovered] : families_) {
    if (bytes_of(recovered) < recovered.store->flush_bytes(work_.world.options)) continue;
    freeze(recovered);
    if (helper_) CELLAR_TRY(write_frozen(recovered));
  }
  return {};
}

Status Recovery::replay() {
  // After a clean close, readers see what is replayed before it is in a file. They need it in one memtable.
  if (!work_.world.options.read_only && state_.clean_close.segment == 0)
    helper_.emplace(work_.world.executor,
                    [this](const LogRecord& record) { return insert_record(record, helper_lane_); });
  Result<LogSummary> read = replay_log(work_.world, *work_.disk.root, state_, held_.log(), nullptr,
                                       [&](const LogRecord& record) { return replay_record(record); });
  const Status helped = helper_ ? helper_->drain() : Status();
  for (auto& [id, recovered] : families_) settle(recovered);
  CELLAR_TRY_ASSIGN(summary_, std::move(read));
  CELLAR_TRY(helped);
  last_sequence_ = std::max(last_sequence_, summary_.last_sequence);
  report_.clean = summary_.clean;
  report_.cells_replayed = lane_.cells_replayed + helper_lane_.cells_replayed;
  report_.cells_skipped = lane_.cells_skipped + helper_lane_.cells_skipped;
  report_.segments_read = summary_.segments.size();
  report_.records_replayed = summary_.records;
  report_.torn_bytes = summary_.torn_bytes;
  CELLAR_ASSERT(last_sequence_ >= summary_.last_sequence && last_sequence_ >= state_.last_sequence);
  work_.mvcc.start_at(last_sequence_);
  return {};
}

WalOptions Recovery::wal_options() const {
  WalOptions options;
  options.identity = work_.disk.identity;
  options.boot = boot_identity_of(work_.world.files.boot_identity());
  options.segment_bytes = work_.world.options.log_segment_bytes;
  options.first_segment = std::max<uint64_t>(summary_.next_segment, state_.log_start);
  options.first_lsn = std::max<uint64_t>(summary_.end.lsn, 1);
  options.last_sequence = last_sequence_;
  options.events = &work_.world.events;
  CELLAR_ASSERT(summary_.segments.empty() || summary_.segments.back().id < options.first_segment);
  return options;
}

// Removes empty segments after the end of a closed log: their earlier removal did not survive a power loss.
// They go before the log continues. Between its end and a torn first record, they would look like missing
// records. Nothing is written to the log before the name of its next segment, and with it these removals, is
// durable.
Status Recovery::remove_spare_segments() {
  const auto is_spare = [&](const LogSegment& segment) { return segment.id > summary_.end.segment; };
  if (std::ranges::none_of(summary_.segments, is_spare)) return {};
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> wal, open_wal_directory(*work_.disk.root, false));
  for (const LogSegment& segment : summary_.segments)
    if (is_spare(segment)) CELLAR_TRY(wal->unlink(segment_name(segment.id)));
  std::erase_if(summary_.segments, is_spare);
  summary_.next_segment = summary_.end.segment + 1;  // numbers of segments leave no gap
  return {};
}

// Segments before the start of the log: of a release that failed, or whose removals did not survive a power
// loss.
void Recovery::remove_old_segments(uint64_t first) {
  background_.log_release().begins_at(first);
  auto wal = open_wal_directory(*work_.disk.root, false);
  const FeedBook feeds = work_.disk.manifest->current()->feeds;
  const Status removed =
      wal.ok() ? remove_segments_before(**wal, first, feeds.retained, &work_.world.events) : wal.status();
  if (!removed.ok())
    work_.world.log(LogLevel::kWarning, "old log segments remain until the next open: " + removed.to_text());
}

// Returns the segments that feeds may read: those kept for them, and those that this recovery has read. Each
// reaches to the end that was found; bytes after it do not count.
std::vector<LogSegment> Recovery::known_segments() const {
  std::vector<LogSegment> segments = state_.feeds.retained;
  segments.insert(segments.end(), summary_.segments.begin(), summary_.segments.end());
  return segments;
}

// The recovered log is kept as far as feeds need it. Its end may only be in the page cache yet, after a sync
// that has failed, so that another sync would prove nothing. It is therefore written anew.
Status Recovery::keep_for_feeds(FeedBook& feeds, uint64_t log_start) {
  const std::vector<LogSegment> segments = known_segments();
  const FeedRetention keep = retention_of(feeds, segments, log_start);
  const FeedEdit edit = edit_of(feeds, keep);
  if (!edit.retain.empty()) {
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> wal, open_wal_directory(*work_.disk.root, false));
    for (const LogSegment& segment : edit.retain)
      if (segment.id >= state_.log_synced.segment)
        CELLAR_TRY(
            rewrite_file(work_.world.executor, *wal, segment_name(segment.id), segment_copy_name(segment.id))
                .with_context("keeping the log for feeds"));
    CELLAR_TRY(wal->sync());
  }
  for (const FeedRecord& feed : keep.lost)
    lost_.emplace_back(feed, held_back(feeds, feed, segments, log_start));
  return apply(feeds, edit);
}

// Returns true if the log consists of many small segments. Each time that a store is opened and closed leaves
// a segment. Many segments with little content are better written to files.
bool Recovery::is_scattered() const {
  constexpr int64_t kSmallMax = 32;
  const uint64_t small = work_.world.options.log_segment_bytes / 64;
  return std::ranges::count_if(summary_.segments,
                               [&](const LogSegment& each) { return each.bytes < small; }) > kSmallMax;
}

// The store was closed properly: its log stays, a new segment continues it.
Status Recovery::continue_log() {
  CELLAR_ASSERT(summary_.clean && work_.disk.wal == nullptr);
  CELLAR_TRY(remove_spare_segments());
  ManifestEdit edit;
  edit.clean_close = LogPosition{};
  edit.last_sequence = last_sequence_;
  // From here on the end of the log may be torn again.
  CELLAR_TRY_ASSIGN(const uint64_t opened, work_.disk.manifest->commit(edit));
  WalOptions options = wal_options();
  options.continues = summary_.end;
  options.older = known_segments();
  CELLAR_TRY_ASSIGN(work_.disk.wal, Wal::create(*work_.disk.root, work_.world.executor, options));
  work_.disk.wal->note_manifest_edit(opened);
  // The log may still mention them, at most in its newest record.
  for (const uint32_t family : state_.dropped_families)
    background_.log_release().note_dropped(family, last_sequence_);
  remove_old_segments(state_.log_start);
  return {};
}

// Writes the recovered memtables to files, and starts a new log. The store was not closed, or its log is
// scattered. Content that was only in the page cache is written anew. One rename makes the files, the flushed
// sequences and the new start of the log count. A crash before it leaves the old state and orphans.
Status Recovery::publish_recovered() {
  CELLAR_ASSERT(!work_.world.options.read_only && work_.disk.wal == nullptr);
  for (auto& [id, recovered] : families_) {
    freeze(recovered);
    CELLAR_TRY(write_frozen(recovered));
  }
  WalOptions options = wal_options();
  ManifestState next = state_;
  CELLAR_TRY(keep_for_feeds(next.feeds, options.first_segment));
  options.older = next.feeds.retained;
  CELLAR_TRY_ASSIGN(work_.disk.wal, Wal::create(*work_.disk.root, work_.world.executor, options));
  for (TableRecord& table : next.tables) {
    for (FamilyRecord& family : table.families) {
      Recovered& recovered = families_[family.id];
      // From here on the log of these writes is not needed: all of them must be in files.
      CELLAR_ASSERT(recovered.store->oldest_unflushed() == UINT64_MAX);
      family.flushed_sequence = last_sequence_;
      family.files.insert(family.files.end(), recovered.files.begin(), recovered.files.end());
      family.totals += recovered.totals;
      recovered.store->install_flush({}, {}, last_sequence_, {});
    }
  }
  next.last_sequence = last_sequence_;
  CELLAR_ASSERT(options.first_segment >= state_.log_start);
  next.log_start = options.first_segment;
  next.log_synced = {};
  next.clean_close = {};
  next.sealed.clear();
  next.dropped_families.clear();  // no segment mentions them any more
  next.next_file_number = std::max(next.next_file_number, work_.disk.manifest->next_file_number());
  CELLAR_TRY_ASSIGN(const uint64_t published, work_.disk.manifest->switch_to(next));
  work_.disk.wal->note_manifest_edit(published);
  for (const auto& [feed, bytes] : lost_) tell_feed_lost(work_.world, work_.mvcc, feed, bytes);
  remove_old_segments(options.first_segment);
  return {};
}

// Removes files that the manifest does not name: outputs that were never published, and inputs whose removal
// a crash undid. They hold nothing that counts. All named files were found, and the log reaches to its end
// without a gap. Directories go with them if no table of the manifest has them, and nothing is left inside.
// Removals are not synced. The next open sweeps what a power loss brings back.
void Recovery::sweep_orphans() {
  CELLAR_ASSERT(!work_.world.options.read_only &&
                work_.disk.wal != nullptr);  // the manifest is known to be whole
  const ManifestState state = work_.disk.manifest->state();
  std::set<std::string> live;
  std::set<std::pair<uint32_t, std::string>> places;  // with a place of each table itself
  for (const TableRecord& table : state.tables) {
    places.emplace(table.id, std::string());
    for (const FamilyRecord& family : table.families) {
      places.emplace(table.id, family.name);
      for (const FileRecord& file : family.files)
        live.insert(to_text(StoredFile{table.id, family.name, file.name, 0}));
    }
  }
  for (const StoredFile& file : stored_) {
    if (live.contains(to_text(file))) continue;
    auto directory = open_family_directory(*work_.disk.root, file.table_id, file.family, false);
    if (directory.ok() && (*directory)->unlink(file.name).ok()) ++report_.orphans_removed;
  }
  for (const auto& [table, family] : directories_) {
    if (places.contains({table, family})) continue;
    if (family.empty())
      static_cast<void>(remove_table_directories(*work_.disk.root, table));
    else if (places.contains({table, {}}))
      remove_family_directory(*work_.disk.root, table, family);
  }
  if (!state.obsolete.empty()) {
    ManifestEdit edit;
    edit.forget_obsolete = state.obsolete;
    static_cast<void>(work_.disk.commit(edit));  // what stays recorded is forgotten at a later open
  }
}

}  // namespace

Status open_store(const StoreWork& work, Catalog& catalog, Background& background, RecoveryReport& report) {
  return Recovery(work, catalog, background, report).run();
}

}  // namespace cellar
