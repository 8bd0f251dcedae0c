// Recovery: read everything, check it, and make what was recovered visible by one rename.
#include "engine/jobs/recovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/assert.h"
#include "base/random.h"
#include "engine/jobs/background.h"
#include "engine/jobs/feeds.h"
#include "engine/jobs/flush_job.h"
#include "engine/jobs/named_snapshot_files.h"
#include "engine/log/wal_reader.h"
#include "engine/store/table_state.h"

namespace cellar {
namespace {

// The steps of one opening, top to bottom in run().
class Recovery {
 public:
  Recovery(EngineCore& core, Background& background) : core_(core), background_(background) {}

  Status run() {
    const int64_t begun_us = core_.clock.steady_us();
    CELLAR_TRY(open_directory());
    CELLAR_TRY(open_manifest());
    CELLAR_TRY(open_tables());
    CELLAR_TRY(replay());
    if (!core_.options.read_only) {
      CELLAR_TRY(summary_.clean && !is_scattered() ? continue_log() : publish_recovered());
      sweep_orphans();
      NamedSnapshotFiles(core_).sweep();
    }
    core_.log_found = known_segments();
    core_.recovery.micros = core_.clock.steady_us() - begun_us;
    core_.events.on_recovered(core_.recovery);
    return {};
  }

 private:
  Status open_directory();
  Status open_manifest();
  Status create_manifest();
  Status open_tables();
  Status replay();
  Status replay_record(const LogRecord& record);
  void freeze(Store& store);
  Status write_frozen(Store& store);
  Status make_room(Store& store);
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
    std::vector<FileRecord> files;  // written, not yet published
  };

  EngineCore& core_;
  Background& background_;
  ManifestState state_;
  std::map<uint32_t, Recovered> families_;  // by id
  LogSummary summary_;
  std::vector<std::pair<FeedRecord, uint64_t>> lost_;  // feeds that hold back too much, and how much
  uint64_t last_sequence_ = 0;
};

Status Recovery::open_directory() {
  auto opened =
      core_.files.open_directory(core_.path, core_.options.create_if_missing && !core_.options.read_only);
  if (!opened.ok() && opened.status().is(Code::kNotFound))
    return Status::not_found("there is no store at " + core_.path).hinting("create_if_missing makes one");
  CELLAR_TRY(opened.status());
  core_.root = std::move(opened).value();
  CELLAR_TRY_ASSIGN(const StoreProbe probe, probe_store(*core_.root));
  const bool may_create = core_.options.create_if_missing && !core_.options.read_only;
  if (probe.kind != StoreKind::kStore && !may_create) return require_store(*core_.root).at(core_.path);
  if (probe.kind == StoreKind::kLost) return require_store(*core_.root).at(core_.path);
  if (probe.kind == StoreKind::kEmpty && probe.strangers != 0)
    return Status::invalid_argument(fmt::format("{} holds {} other files", core_.path, probe.strangers))
        .hinting("a new store wants an empty directory");
  auto locked = core_.options.read_only ? core_.root->lock_shared(kLockName) : core_.root->lock(kLockName);
  if (!locked.ok() && core_.options.read_only && locked.status().is(Code::kNotFound))
    return {};  // read-only media hold no lock
  CELLAR_TRY(locked.status());
  core_.lock = std::move(locked).value();
  return {};
}

Status Recovery::create_manifest() {
  ManifestState fresh;
  uint64_t seed = core_.options.environment.seed;
  if (seed == 0) {
    fresh.identity = {system_random(), system_random()};
  } else {
    Random random(seed);
    fresh.identity = {random.next(), random.next()};
  }
  fresh.wall_ms = core_.clock.wall_ms();
  CELLAR_TRY_ASSIGN(core_.manifest, Manifest::create(*core_.root, core_.executor, fresh));
  return {};
}

Status Recovery::open_manifest() {
  // Looked at again under the lock: somebody may have created the store meanwhile.
  CELLAR_TRY_ASSIGN(const StoreProbe probe, probe_store(*core_.root));
  if (probe.kind != StoreKind::kStore) {
    CELLAR_TRY(create_manifest());
  } else {
    if (core_.options.error_if_exists)
      return Status::invalid_argument("there is a store at " + core_.path + " already");
    CELLAR_TRY_ASSIGN(core_.manifest,
                      Manifest::load(*core_.root, core_.executor, {.read_only = core_.options.read_only}));
  }
  state_ = core_.manifest->state();
  if (!state_.snapshot.empty() && !core_.options.read_only)
    return Status::read_only("this is snapshot " + state_.snapshot + " of a store, and stays as it is")
        .at(core_.path)
        .hinting("open it read_only; a clone of a table, or an export of the whole, can be written to");
  core_.identity = state_.identity;
  core_.expiry.start(state_.wall_ms);
  core_.unique_time.start(state_.unique_time_us);
  last_sequence_ = state_.last_sequence;
  return {};
}

Status Recovery::open_tables() {
  uint64_t newest_file = 0;
  for (const TableRecord& table : state_.tables) {
    std::vector<std::shared_ptr<Store>> stores;
    for (const FamilyRecord& family : table.families) {
      CELLAR_TRY_ASSIGN(std::shared_ptr<Store> store, open_family(core_, table, family));
      const std::shared_ptr<const StoreView> view = store->view();
      for (const auto& file : view->files) newest_file = std::max(newest_file, file->number());
      store->set_active(core_.new_memtable());
      families_[family.id].store = store;
      last_sequence_ = std::max(last_sequence_, family.flushed_sequence);
      stores.push_back(std::move(store));
    }
    core_.catalog.add(core_.make_table(table.id, table.name, table.options, std::move(stores)));
  }
  // Orphans too: the number of a file that was never published must not be given out again while its name is
  // taken.
  if (!core_.options.read_only) {
    CELLAR_TRY_ASSIGN(const std::vector<StoredFile> stored, list_store_files(*core_.root, nullptr));
    uint64_t number = 0;
    for (const StoredFile& file : stored)
      if (parse_store_file_name(core_.identity, file.name, number))
        newest_file = std::max(newest_file, number);
  }
  core_.manifest->raise_file_number(newest_file);
  return {};
}

Status Recovery::replay_record(const LogRecord& record) {
  LogCells cells(record.payload, record.count, record.sequence);
  LogCell each;
  std::set<Store*> touched;
  while (cells.next(each)) {
    const auto found = families_.find(each.family_id);
    if (found == families_.end()) {
      if (!state_.is_dropped(each.family_id))
        return Status::corruption(
                   fmt::format("the log names family {}, which the manifest does not know", each.family_id))
            .at(fmt::format("wal/{}: offset {}", segment_name(record.segment), record.offset));
      ++core_.recovery.cells_skipped;
      continue;
    }
    Store& store = *found->second.store;
    if (record.sequence <= store.flushed_sequence()) {
      ++core_.recovery.cells_skipped;
      continue;
    }
    store.active()->insert(each.cell);
    touched.insert(&store);
    ++core_.recovery.cells_replayed;
  }
  CELLAR_TRY(
      cells.status().at(fmt::format("wal/{}: offset {}", segment_name(record.segment), record.offset)));
  last_sequence_ = std::max(last_sequence_, record.sequence);
  for (Store* store : touched) {
    core_.memtable_bytes.fetch_add(store->take_growth());
    if (store->active()->bytes() >= store->flush_bytes(core_.options) && !core_.options.read_only)
      CELLAR_TRY(make_room(*store));
  }
  return {};
}

// Moves what the store has replayed so far out of the way of further records.
void Recovery::freeze(Store& store) {
  if (store.active()->summary().cells != 0) store.freeze(core_.new_memtable());
}

// Writes the frozen memtables of the store to a file that nothing names yet: until the end of the recovery
// the log counts.
Status Recovery::write_frozen(Store& store) {
  const std::shared_ptr<const StoreView> view = store.view();
  if (view->frozen.empty()) return {};
  OpenReadPoints points;
  points.read_point = last_sequence_;
  CELLAR_TRY_ASSIGN(const NewFile made, write_memtables(core_, store, view->frozen, points));
  const Store::FlushInstalled installed =
      store.install_flush(view->frozen, made.rewritten, store.flushed_sequence(), {});
  core_.memtable_bytes.fetch_sub(static_cast<int64_t>(installed.freed));
  if (made.file != nullptr) families_[store.ids().family].files.push_back(made.record);
  return {};
}

// The memtable of the store is full. After a clean close everything fits into memory, and the engine flushes
// what is frozen once it is open. After a crash the log may hold more than memory may.
Status Recovery::make_room(Store& store) {
  freeze(store);
  return state_.clean_close.segment != 0 ? Status() : write_frozen(store);
}

Status Recovery::replay() {
  auto wal = open_wal_directory(*core_.root, false);
  if (!wal.ok() && wal.status().is(Code::kNotFound)) {
    // An interrupted creation has none yet; whoever has written since has lost it.
    if (state_.log_facts().synced.segment != 0 || state_.clean_close.segment != 0)
      return Status::corruption("the directory wal is missing, and with it writes that were acknowledged")
          .at(core_.path + "/wal");
    summary_.clean = false;
  } else {
    CELLAR_TRY(wal.status());
    LogFacts facts = state_.log_facts(core_.files.boot_identity());
    facts.tolerate_torn = core_.options.tolerate_torn_log;
    CELLAR_TRY_ASSIGN(summary_,
                      read_log(**wal, facts, [&](const LogRecord& record) { return replay_record(record); }));
    last_sequence_ = std::max(last_sequence_, summary_.last_sequence);
  }
  RecoveryReport& report = core_.recovery;
  report.clean = summary_.clean;
  report.segments_read = summary_.segments.size();
  report.records_replayed = summary_.records;
  report.torn_bytes = summary_.torn_bytes;
  core_.mvcc.start_at(last_sequence_);
  return {};
}

WalOptions Recovery::wal_options() const {
  WalOptions options;
  options.identity = core_.identity;
  options.boot = boot_identity_of(core_.files.boot_identity());
  options.segment_bytes = core_.options.log_segment_bytes;
  options.first_segment = std::max<uint64_t>(summary_.next_segment, state_.log_start);
  options.first_lsn = std::max<uint64_t>(summary_.end.lsn, 1);
  options.last_sequence = last_sequence_;
  options.events = &core_.events;
  return options;
}

// Empty segments behind the end of a closed log: their removal did not survive a power loss. They go before
// the log continues: between its end and a torn first record they would look like records that are missing.
// Nothing is written to the log before the name of its next segment is durable, and with it these removals.
Status Recovery::remove_spare_segments() {
  const auto is_spare = [&](const LogSegment& segment) { return segment.id > summary_.end.segment; };
  if (std::ranges::none_of(summary_.segments, is_spare)) return {};
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> wal, open_wal_directory(*core_.root, false));
  for (const LogSegment& segment : summary_.segments)
    if (is_spare(segment)) CELLAR_TRY(wal->unlink(segment_name(segment.id)));
  std::erase_if(summary_.segments, is_spare);
  summary_.next_segment = summary_.end.segment + 1;  // numbers of segments leave no gap
  return {};
}

// Segments before the start of the log: of a release that failed, or whose removals did not survive a power
// loss.
void Recovery::remove_old_segments(uint64_t first) {
  background_.log_begins_at(first);
  auto wal = open_wal_directory(*core_.root, false);
  const FeedBook feeds = core_.manifest->current()->feeds;
  const Status removed =
      wal.ok() ? remove_segments_before(**wal, first, feeds.retained, &core_.events) : wal.status();
  if (!removed.ok())
    core_.log(LogLevel::kWarning, "old log segments stay until the next open: " + removed.to_text());
}

// What feeds may read: kept for them before, and read now. Up to the ends found, whatever stands behind.
std::vector<LogSegment> Recovery::known_segments() const {
  std::vector<LogSegment> segments = state_.feeds.retained;
  segments.insert(segments.end(), summary_.segments.begin(), summary_.segments.end());
  return segments;
}

// The recovered log is kept as far as feeds need it. It may only be in the page cache yet.
Status Recovery::keep_for_feeds(FeedBook& feeds, uint64_t log_start) {
  const std::vector<LogSegment> segments = known_segments();
  const FeedRetention keep = retention_of(feeds, segments, log_start);
  const FeedEdit edit = edit_of(feeds, keep);
  if (!edit.retain.empty()) {
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> wal, open_wal_directory(*core_.root, false));
    for (const LogSegment& segment : edit.retain)
      CELLAR_TRY(wal->sync_file(segment_name(segment.id)).with_context("keeping the log for feeds"));
  }
  for (const FeedRecord& feed : keep.lost)
    lost_.emplace_back(feed, held_back(feeds, feed, segments, log_start));
  return apply(feeds, edit);
}

// Each time that a store is opened and closed leaves a segment: in the end there are many with next to
// nothing in them, and what they hold is better written to files.
bool Recovery::is_scattered() const {
  constexpr int64_t kSmallMax = 32;
  const uint64_t small = core_.options.log_segment_bytes / 64;
  return std::ranges::count_if(summary_.segments,
                               [&](const LogSegment& each) { return each.bytes < small; }) > kSmallMax;
}

// The store was closed properly: its log stays, a new segment continues it.
Status Recovery::continue_log() {
  CELLAR_TRY(remove_spare_segments());
  ManifestEdit edit;
  edit.clean_close = LogPosition{};
  edit.last_sequence = last_sequence_;
  CELLAR_TRY(core_.manifest->commit(edit).status());  // from here on the end of the log may be torn again
  WalOptions options = wal_options();
  options.continues = summary_.end;
  options.older = known_segments();
  CELLAR_TRY_ASSIGN(core_.wal, Wal::create(*core_.root, core_.executor, options));
  remove_old_segments(state_.log_start);
  return {};
}

// The store was not closed, or its log is scattered: what was only in the page cache is written anew, and one
// rename makes files, flushed sequences and the new start of the log count. A crash before it leaves the old
// state and orphans.
Status Recovery::publish_recovered() {
  for (auto& [id, recovered] : families_) {
    freeze(*recovered.store);
    CELLAR_TRY(write_frozen(*recovered.store));
  }
  WalOptions options = wal_options();
  ManifestState next = state_;
  CELLAR_TRY(keep_for_feeds(next.feeds, options.first_segment));
  options.older = next.feeds.retained;
  CELLAR_TRY_ASSIGN(core_.wal, Wal::create(*core_.root, core_.executor, options));
  for (TableRecord& table : next.tables) {
    for (FamilyRecord& family : table.families) {
      Recovered& recovered = families_[family.id];
      // From here on the log of these writes is not needed: all of them must be in files.
      CELLAR_ASSERT(recovered.store->oldest_unflushed() == UINT64_MAX);
      family.flushed_sequence = last_sequence_;
      family.files.insert(family.files.end(), recovered.files.begin(), recovered.files.end());
      recovered.store->install_flush({}, {}, last_sequence_, {});
    }
  }
  next.last_sequence = last_sequence_;
  next.log_start = options.first_segment;
  next.log_synced = {};
  next.clean_close = {};
  next.sealed.clear();
  next.dropped_families.clear();  // no segment mentions them any more
  next.next_file_number = std::max(next.next_file_number, core_.manifest->next_file_number());
  CELLAR_TRY(core_.manifest->switch_to(next).status());
  for (const auto& [feed, bytes] : lost_) tell_feed_lost(core_, feed, bytes);
  remove_old_segments(options.first_segment);
  return {};
}

// Files that nothing names: outputs that were never published, inputs whose removal a crash undid. What the
// manifest names was checked to be there, and the log to reach from it to its end without a gap: so these
// hold nothing that counts. What a power loss brings back is swept by the next open: removals are not synced.
void Recovery::sweep_orphans() {
  const ManifestState state = core_.manifest->state();
  std::set<std::string> live;
  std::set<uint32_t> tables;
  for (const TableRecord& table : state.tables) {
    tables.insert(table.id);
    for (const FamilyRecord& family : table.families)
      for (const FileRecord& file : family.files)
        live.insert(to_text(StoredFile{table.id, family.name, file.name, 0}));
  }
  auto stored = list_store_files(*core_.root, nullptr);
  if (!stored.ok()) return;
  std::set<std::pair<uint32_t, std::string>> emptied;
  for (const StoredFile& file : *stored) {
    if (live.contains(to_text(file))) continue;
    auto directory = open_family_directory(*core_.root, file.table_id, file.family, false);
    if (directory.ok() && (*directory)->unlink(file.name).ok()) ++core_.recovery.orphans_removed;
    if (!tables.contains(file.table_id)) emptied.emplace(file.table_id, file.family);
  }
  for (const auto& [table, family] : emptied) {
    remove_family_directory(*core_.root, table, family);
    remove_table_directory(*core_.root, table);
  }
  if (!state.obsolete.empty()) {
    ManifestEdit edit;
    edit.forget_obsolete = state.obsolete;
    static_cast<void>(core_.commit(edit));  // what stays recorded is forgotten at a later open
  }
}

}  // namespace

Result<FamilyOptions> options_of(const FamilyRecord& family) {
  FamilyOptions options;
  options.name = family.name;
  for (const auto& [key, value] : family.options)
    CELLAR_TRY(set_option(options, key, value).with_context("family " + family.name));
  return options;
}

namespace {

// Null for a family without files in a store that is only read.
Result<std::unique_ptr<Directory>> directory_of(EngineCore& core, const TableRecord& table,
                                                const FamilyRecord& family) {
  auto opened = open_family_directory(*core.root, table.id, family.name, false);
  if (!opened.status().is(Code::kNotFound)) return opened;
  if (!family.files.empty()) {
    return Status::corruption("the directory of a family is missing, and the manifest knows files in it: " +
                              std::string(opened.status().message()))
        .at(std::string(opened.status().place()));
  }
  if (core.options.read_only) return std::unique_ptr<Directory>();
  // The store was copied by something that leaves out empty directories.
  opened = open_family_directory(*core.root, table.id, family.name, true);
  CELLAR_TRY(opened.status());
  // The name of tables/ itself: the first edit after an open begins a generation, which syncs the root.
  CELLAR_TRY(sync_table_directory(*core.root, table.id));
  return opened;
}

}  // namespace

Result<std::shared_ptr<Store>> open_family(EngineCore& core, const TableRecord& table,
                                           const FamilyRecord& family) {
  CELLAR_TRY_ASSIGN(const FamilyOptions options, options_of(family));
  CELLAR_TRY_ASSIGN(std::shared_ptr<const FamilyConfig> config, FamilyConfig::create(options));
  CELLAR_TRY_ASSIGN(std::shared_ptr<Directory> directory, directory_of(core, table, family));
  std::vector<std::shared_ptr<StoreFile>> files;
  for (const FileRecord& record : family.files) {
    CELLAR_TRY_ASSIGN(std::shared_ptr<StoreFile> file,
                      core.open_store_file(directory, table.id, options, record));
    files.push_back(std::move(file));
  }
  // Age goes by the newest write a file was made from, whenever it was added.
  std::ranges::stable_sort(files, {}, [](const auto& file) { return file->record().sequence_max; });
  return std::make_shared<Store>(StoreIds{table.id, family.id}, table.name, std::move(config),
                                 std::move(directory), std::move(files), 0, family.flushed_sequence);
}

Result<std::vector<std::shared_ptr<Store>>> open_new_families(EngineCore& core, const TableRecord& table) {
  for (const FamilyRecord& family : table.families)
    CELLAR_TRY(open_family_directory(*core.root, table.id, family.name, true).status());
  CELLAR_TRY(sync_table_directory(*core.root, table.id));
  std::vector<std::shared_ptr<Store>> stores;
  for (const FamilyRecord& family : table.families) {
    CELLAR_TRY_ASSIGN(std::shared_ptr<Store> store, open_family(core, table, family));
    store->set_active(core.new_memtable());
    stores.push_back(std::move(store));
  }
  return stores;
}

Status open_store(EngineCore& core, Background& background) { return Recovery(core, background).run(); }

}  // namespace cellar
