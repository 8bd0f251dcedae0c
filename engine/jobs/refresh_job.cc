// RefreshJob: look at the manifest, at files and at the log, as an opening does; then show all of it at once.
#include "engine/jobs/refresh_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "cell/cell_key.h"
#include "engine/jobs/background.h"
#include "engine/jobs/family_stores.h"
#include "engine/jobs/live_store.h"
#include "engine/jobs/log_replay.h"
#include "engine/write/write_path.h"

namespace cellar {
namespace {

// An attempt at a store that moves may fail. Afterwards, the log is read whole: a cause that this file does
// not foresee must not keep a reader from what an opening would show.
constexpr int kAttemptsOfTail = 2;

// A family keeps its name. One of another name is another family: the edit that made the first was given up,
// and its id went to the next.
std::shared_ptr<Store> find_store(const TableState* table, const FamilyRecord& family) {
  if (table == nullptr) return nullptr;
  for (const auto& store : table->families().stores)
    if (store->ids().family == family.id && store->family() == family.name) return store;
  return nullptr;
}

// Copies the cells that a flush has not written yet. No two of them are equal: a write has one cell for each
// place.
void copy_unflushed(const Memtable& from, uint64_t flushed_sequence, Memtable& to) {
  OwnedCell first;
  first_of_row(first, {});
  const std::unique_ptr<RunCursor> cursor = from.cursor();
  for (const CellView* cell = cursor->seek(first.view()); cell != nullptr; cell = cursor->next())
    if (cell->sequence > flushed_sequence) to.insert(*cell);
  CELLAR_ASSERT(cursor->status().ok());  // a memtable reads no file
}

// The directory that is open may have been moved or removed, and another may have its name.
Status check_place(const World& world, const Identity& identity) {
  CELLAR_ASSERT(identity.is_set());
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> root, world.files.open_directory(world.path, false));
  CELLAR_TRY_ASSIGN(const Current current, read_current(*root));
  if (current.identity == identity) return {};
  return Status::conflict("another store has taken the place of the one that was opened")
      .at(world.path)
      .hinting("open that store with an engine of its own");
}

}  // namespace

Status refresh_store(const StoreWork& work, Catalog& catalog, WritePath& write_path, Background& background) {
  CELLAR_ASSERT(work.world.options.read_only && work.disk.manifest != nullptr);
  if (!work.disk.manifest->current()->snapshot.empty()) {  // a named snapshot never changes
    ++work.counters.refreshes;
    return {};
  }
  std::optional<RefreshJob> job;
  int attempts = 0;
  const auto attempt = [&] {
    CELLAR_TRY(check_place(work.world, work.disk.manifest->current()->identity));
    job.emplace(work, catalog, background);
    return job->look(++attempts > kAttemptsOfTail);
  };
  CELLAR_TRY(open_live_store(attempt, [&]() -> const World& { return work.world; }));
  const Status installed = write_path.alone([&]() -> Status {
    job->install();
    return {};
  });
  if (const std::string_view why = job->read_whole_because(); installed.ok() && !why.empty())
    work.world.log(LogLevel::kInfo, fmt::format("a refresh has read the log whole: {}", why));
  return installed;
}

// Returns why what was read of the log before is of no use; empty if it is.
std::string_view RefreshJob::why_whole() const {
  const LogPosition& end = work_.disk.log_end.position;
  if (news_.new_generation) return "the manifest has begun a new generation";
  if (end.segment == 0) return "no log was read before";
  if (state_->log_start > end.segment) return "the part of the log that was read last is not needed any more";
  if (news_.seals) return "records of the log became void";
  return {};
}

Status RefreshJob::look(bool whole) {
  CELLAR_ASSERT(state_ == nullptr && families_.empty());  // used once
  before_ = work_.disk.manifest->current();
  CELLAR_TRY_ASSIGN(news_, work_.disk.manifest->look_for_news());
  state_ = news_.state != nullptr ? news_.state : before_;
  CELLAR_TRY(held_.hold(work_, *state_, before_.get()));
  why_ = whole ? "attempts to read only what is new have failed" : why_whole();
  CELLAR_TRY(look_at_everything());
  if (overtaken_) {
    why_ = "writes that were read before have been given up";
    CELLAR_TRY(look_at_everything());
  }
  return check_manifest(*work_.disk.root, *work_.disk.manifest, news_.end.generation, *state_, summary_);
}

Status RefreshJob::look_at_everything() {
  families_.clear();
  waiting_.clear();
  overtaken_ = false;
  last_sequence_ = state_->last_sequence;
  CELLAR_TRY(look_at_tables());
  return read_log();
}

Status RefreshJob::look_at_tables() {
  std::unordered_map<uint32_t, std::shared_ptr<TableState>> known;
  for (const auto& table : catalog_.all()) known.emplace(table->id(), table);
  std::unordered_map<uint32_t, const FamilyRecord*> before;
  for (const TableRecord& table : before_->tables)
    for (const FamilyRecord& family : table.families) before.emplace(family.id, &family);
  for (const TableRecord& table : state_->tables) {
    const auto found = known.find(table.id);
    // A table keeps its name. One that has another name is another table.
    const bool is_known = found != known.end() && found->second->name() == table.name;
    for (const FamilyRecord& record : table.families) {
      std::shared_ptr<Store> store = find_store(is_known ? found->second.get() : nullptr, record);
      CELLAR_TRY(store == nullptr ? look_at_new(table, record)
                                  : look_at_known(table, record, before[record.id], std::move(store)));
      last_sequence_ = std::max(last_sequence_, record.flushed_sequence);
    }
  }
  return {};
}

Status RefreshJob::look_at_new(const TableRecord& table, const FamilyRecord& record) {
  Family& family = families_[record.id];
  CELLAR_TRY_ASSIGN(family.store, open_family(work_, table, record, &held_));
  family.store->set_active(work_.memory.create());
  family.is_new = family.changed = true;
  family.direct = family.store->active();
  family.found.totals = record.totals;
  family.found.flushed_sequence = record.flushed_sequence;
  return {};
}

Status RefreshJob::look_at_known(const TableRecord& table, const FamilyRecord& record,
                                 const FamilyRecord* before, std::shared_ptr<Store> store) {
  CELLAR_ASSERT(before != nullptr && store != nullptr);  // the catalog shows what the manifest names
  Family& family = families_[record.id];
  family.store = std::move(store);
  family.found.totals = record.totals;
  family.found.flushed_sequence = record.flushed_sequence;
  if (before != &record && *before != record) CELLAR_TRY(look_at_content(table, record, *before, family));
  look_at_memory(family);
  return {};
}

// The options and files of a family that the manifest has changed.
Status RefreshJob::look_at_content(const TableRecord& table, const FamilyRecord& record,
                                   const FamilyRecord& before, Family& family) {
  family.changed = true;
  CELLAR_TRY_ASSIGN(const FamilyOptions options, options_of(record));
  if (record.options != before.options) {
    CELLAR_TRY_ASSIGN(family.found.config, FamilyConfig::create(options));
  }
  if (record.files == before.files) return {};
  std::shared_ptr<Directory> directory;
  if (auto known = family.store->directory(); known.ok() && !news_.new_generation) {
    directory = std::move(known).value();
  } else {  // a family without files may have none; a writer that opened the store may have made another
    CELLAR_TRY_ASSIGN(directory, directory_of(work_, table, record));
    family.found.directory = directory;
  }
  const std::shared_ptr<const StoreView> view = family.store->view();
  CELLAR_TRY_ASSIGN(family.found.files,
                    open_files(work_, family.store->ids(), options, record, directory, view.get(), &held_));
  return {};
}

// Cells that are in files now must leave memory. They lie among others, and memtables only grow. So the
// others move to a new one. That costs memory and time in proportion to the writer's memtable, once a flush.
void RefreshJob::look_at_memory(Family& family) {
  const std::shared_ptr<const StoreView> view = family.store->view();
  CELLAR_ASSERT(view->frozen.empty() && view->active.get() == family.store->active());
  const bool all_unflushed = view->active->summary().sequence_min > family.found.flushed_sequence;
  if (why_.empty() && all_unflushed) return;
  family.found.active = work_.memory.create();
  family.direct = family.found.active.get();
  family.changed = true;
  if (why_.empty()) copy_unflushed(*view->active.get(), family.found.flushed_sequence, *family.direct);
}

Status RefreshJob::read_log() {
  const LogEnd* const from = why_.empty() ? &work_.disk.log_end : nullptr;
  CELLAR_TRY_ASSIGN(summary_, replay_log(work_.world, *work_.disk.root, *state_, held_.log(), from,
                                         [&](const LogRecord& record) { return visit(record); }));
  last_sequence_ = std::max(last_sequence_, summary_.last_sequence);
  return {};
}

Status RefreshJob::visit(const LogRecord& record) {
  if (why_.empty() && record.sequence <= work_.mvcc.read_point()) overtaken_ = true;
  LogCells cells(record.payload, record.count, record.sequence);
  LogCell each;
  bool waits = false;
  while (cells.next(each)) {
    const auto found = families_.find(each.family_id);
    if (found == families_.end()) {
      if (!state_->is_dropped(each.family_id)) return unknown_family_in_log(record, each.family_id);
      continue;
    }
    const Family& family = found->second;
    if (record.sequence <= family.found.flushed_sequence) continue;
    if (family.direct != nullptr)
      family.direct->insert(each.cell);
    else
      waits = true;
  }
  if (!cells.status().ok()) return cells.status().at(place_of(record));
  if (waits) waiting_.push_back({record.sequence, record.count, std::string(record.payload)});
  return {};
}

// Readers do not see these cells before their sequence is published.
void RefreshJob::insert_waiting() {
  for (const Waiting& record : waiting_) {
    LogCells cells(record.payload, record.count, record.sequence);
    LogCell each;
    while (cells.next(each)) {
      const auto found = families_.find(each.family_id);
      if (found == families_.end() || found->second.direct != nullptr) continue;
      if (record.sequence > found->second.found.flushed_sequence)
        found->second.store->active()->insert(each.cell);
    }
    CELLAR_ASSERT(cells.status().ok());  // visit() has read them
  }
  for (auto& [id, family] : families_)
    if (!family.changed) work_.memory.grow(family.store->take_growth());
}

// Nothing here can fail. Reads that begin meanwhile show the state before or the new one.
void RefreshJob::install() {
  CELLAR_ASSERT(state_ != nullptr && !overtaken_);
  insert_waiting();
  work_.mvcc.with_snapshots([&](const std::vector<uint64_t>& snapshots) {
    const uint64_t shown = work_.mvcc.read_point();
    const uint64_t read_point = read_point_after(shown, snapshots);
    work_.mvcc.begin_round();
    work_.disk.manifest->take(news_);
    note_log();
    if (!why_.empty()) work_.disk.logs_read_anew.fetch_add(1, std::memory_order_release);
    for (auto& [id, family] : families_)
      if (family.changed) install_family(family, read_point, snapshots);
    if (news_.state != nullptr) install_tables(read_point, snapshots);
    if (read_point > shown) {
      const uint64_t taken = work_.mvcc.take_sequence_above(read_point - 1);
      CELLAR_ASSERT(taken == read_point);
      work_.mvcc.publish(taken);
    }
    work_.mvcc.end_round();
  });
  work_.disk.log_end = summary_.read_to;
  for (const auto& [id, family] : families_)
    if (family.is_new || family.new_files) background_.queue_prefetch(family.store);
  const bool whole = !why_.empty();
  ++(whole ? work_.counters.refreshes_whole : work_.counters.refreshes);
}

// After writes were given up, a sequence that was shown may belong to another write. Snapshots of that
// sequence keep the old state. A sequence that no write has yet tells later snapshots from them.
uint64_t RefreshJob::read_point_after(uint64_t shown, const std::vector<uint64_t>& snapshots) const {
  CELLAR_ASSERT(std::ranges::is_sorted(snapshots));
  if (last_sequence_ > shown) return last_sequence_;
  const bool may_differ = !why_.empty() && std::ranges::binary_search(snapshots, shown);
  return may_differ ? shown + 1 : shown;
}

// The segments of the log, beginning with those that are kept for feeds.
void RefreshJob::note_log() {
  std::vector<LogSegment> segments = state_->feeds.retained;
  if (why_.empty())
    for (const LogSegment& each : work_.disk.log_segments())
      if (each.id >= state_->log_start && each.id < work_.disk.log_end.position.segment)
        segments.push_back(each);
  segments.insert(segments.end(), summary_.segments.begin(), summary_.segments.end());
  work_.disk.note_log_found(std::move(segments));
}

void RefreshJob::install_family(Family& family, uint64_t read_point, const std::vector<uint64_t>& snapshots) {
  CELLAR_ASSERT(family.changed && family.store != nullptr);
  family.new_files = family.found.files.has_value();
  const Store::FoundInstalled installed = family.store->install_found(
      std::move(family.found), read_point, family.is_new ? std::vector<uint64_t>() : snapshots);
  work_.counters.views_kept += installed.views_kept;
  work_.memory.shrink(installed.freed);
  work_.memory.grow(family.store->take_growth());
}

std::vector<std::shared_ptr<Store>> RefreshJob::stores_of(const TableRecord& record) const {
  std::vector<std::shared_ptr<Store>> stores;
  for (const FamilyRecord& family : record.families) stores.push_back(families_.at(family.id).store);
  return stores;
}

// A new table may have the name of one that is gone: names change all at once.
void RefreshJob::install_tables(uint64_t read_point, const std::vector<uint64_t>& snapshots) {
  std::unordered_map<uint32_t, const TableRecord*> wanted;
  for (const TableRecord& record : state_->tables) wanted.emplace(record.id, &record);
  std::vector<std::shared_ptr<TableState>> gone, fresh;
  for (const auto& table : catalog_.all()) {
    const auto found = wanted.find(table->id());
    if (found == wanted.end() || found->second->name != table->name()) gone.push_back(table);
  }
  for (const TableRecord& record : state_->tables) {
    const std::shared_ptr<TableState> known = catalog_.lookup(record.name);
    if (known != nullptr && known->id() == record.id) {
      install_families(*known, record, read_point, snapshots);
      continue;
    }
    for (const auto& store : stores_of(record))
      if (!snapshots.empty())
        work_.counters.views_kept += store->replace(nullptr, std::max<uint64_t>(read_point, 1), snapshots);
    fresh.push_back(catalog_.make(record.id, record.name, record.options, stores_of(record)));
  }
  catalog_.exchange(gone, fresh);
  for (const auto& table : gone) drop_table(*table);
}

// Open snapshots still see the rows of a family whose place a new one has taken.
void RefreshJob::install_families(TableState& table, const TableRecord& record, uint64_t read_point,
                                  const std::vector<uint64_t>& snapshots) {
  CELLAR_ASSERT(!table.dropped() && table.id() == record.id);
  TableOptions options = record.options;
  options.families.clear();
  if (options != table.options()) table.set_options(std::move(options));
  std::vector<std::shared_ptr<Store>> gone = table.families().stores;
  bool any_new = false;
  for (const FamilyRecord& family : record.families) {
    const Family& found = families_.at(family.id);
    std::erase(gone, found.store);
    if (!found.is_new) continue;
    any_new = true;
    if (snapshots.empty()) continue;
    const Store* const before = table.families().find(family.name);
    work_.counters.views_kept += found.store->replace(before, std::max<uint64_t>(read_point, 1), snapshots);
  }
  if (gone.empty() && !any_new) return;
  table.set_families(stores_of(record));
  for (const auto& store : gone) drop(*store);
}

void RefreshJob::drop_table(TableState& table) {
  table.set_dropped();
  for (const auto& store : table.families().stores) drop(*store);
}

void RefreshJob::drop(Store& store) {
  CELLAR_ASSERT(store.active() != nullptr);
  work_.memory.grow(store.take_growth());
  work_.memory.shrink(store.drop());
}

}  // namespace cellar
