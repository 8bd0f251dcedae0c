// Store: every change makes a new view.
#include "engine/store/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace cellar {
namespace {

std::string_view row_of(const PlacedFile& each) { return first_row_of(each.file->record()); }

size_t index_of(const std::vector<PlacedFile>& files, const StoreFile& file) {
  const auto found = std::ranges::find(files, &file, [](const PlacedFile& each) { return each.file.get(); });
  CELLAR_ASSERT(found != files.end());
  return static_cast<size_t>(found - files.begin());
}

// Adds files as runs of their own, the last one the youngest.
void add_youngest(StoreView& view, std::span<const std::shared_ptr<StoreFile>> added) {
  std::vector<PlacedFile> files = placed_files(view);
  for (const auto& file : added) {
    CELLAR_ASSERT(file->record().run == 0);
    file->note_read(view.number);  // else a new file would be the coldest
    files.push_back({file});
  }
  set_files(view, std::move(files));
}

}  // namespace

Store::Store(StoreIds ids, std::string table_name, std::shared_ptr<const FamilyConfig> config,
             std::shared_ptr<Directory> directory, std::vector<std::shared_ptr<StoreFile>> files,
             uint64_t rewritten_at, uint64_t flushed_sequence, const FamilyTotals& totals)
    : ids_(ids),
      table_name_(std::move(table_name)),
      family_(config->options.name),
      directory_(std::move(directory)),
      files_stop_(config->options.files_stop),
      stamps_(config->options.stamps),
      flushed_sequence_(flushed_sequence) {
  auto view = std::make_shared<StoreView>();
  CELLAR_ASSERT(ids_.family != 0 && (directory_ != nullptr || files.empty()));
  view->config = std::move(config);
  std::vector<PlacedFile> placed;
  for (auto& file : files) {
    const FileRecord& record = file->record();
    placed.push_back({std::move(file), record.run, record.level});
  }
  set_files(*view, std::move(placed));
  view->rewritten_at = rewritten_at;
  view->totals = totals;
  count_files(*view);
  view_ = std::move(view);
  current_.store(view_.get(), std::memory_order_seq_cst);
}

Result<std::shared_ptr<Directory>> Store::directory() const {
  MutexLock lock(mutex_);
  if (directory_ != nullptr && !dropped()) return directory_;
  return Status::not_found(
      fmt::format("family {} is gone: the table {} was dropped, emptied or altered", family_, table_name_));
}

std::shared_ptr<const StoreView> Store::view_at(uint64_t snapshot) const {
  MutexLock lock(mutex_);
  if (kept_.empty()) return view_;
  const auto kept = kept_.find(snapshot);
  CELLAR_ASSERT(kept == kept_.end() || kept->second != nullptr);
  return kept == kept_.end() ? view_ : kept->second;
}

void Store::let_go(uint64_t snapshot) {
  std::shared_ptr<const StoreView> last;  // let go after the lock, since that may delete files
  MutexLock lock(mutex_);
  const auto kept = kept_.find(snapshot);
  if (kept == kept_.end()) return;
  last = std::move(kept->second);
  kept_.erase(kept);
}

template <class Change>
void Store::change_view(const Change& change, const std::vector<uint64_t>* keep_for) {
  std::vector<std::shared_ptr<const StoreView>> unused;
  {
    MutexLock lock(mutex_);
    auto next = std::make_shared<StoreView>(*view_);
    ++next->number;
    change(*next);
    CELLAR_ASSERT(next->config != nullptr && next->rewritten_at >= view_->rewritten_at);
    CELLAR_ASSERT(!dropped() ||
                  (next->files.empty() && next->frozen.empty() && next->active.get() == nullptr));
    frozen_count_.store(next->frozen.size(), std::memory_order_relaxed);
    count_files(*next);
    next->older_time_max = latest_of_older(*next);
    if (keep_for != nullptr)
      for (const uint64_t snapshot : *keep_for) kept_.emplace(snapshot, view_);
    replaced_.push_back(std::exchange(view_, std::move(next)));
    current_.store(view_.get(), std::memory_order_seq_cst);
    unused = take_unused();
  }
}

// Returns the replaced views that no lease uses. The caller lets go of them without the lock, since that may
// delete files.
std::vector<std::shared_ptr<const StoreView>> Store::take_unused() const {
  std::vector<std::shared_ptr<const StoreView>> unused;
  std::erase_if(replaced_, [&](std::shared_ptr<const StoreView>& view) {
    CELLAR_ASSERT(view != nullptr && view.get() != current_.load(std::memory_order_relaxed));
    if (HazardSlot::any_holds(view.get())) return false;
    unused.push_back(std::move(view));
    return true;
  });
  return unused;
}

// A lease of a view that was replaced meanwhile has ended.
void Store::let_go_unused() const {
  std::vector<std::shared_ptr<const StoreView>> unused;
  MutexLock lock(mutex_);
  unused = take_unused();
}

void ViewLease::begin(std::shared_ptr<const StoreView> view) {
  CELLAR_ASSERT(view != nullptr);
  end();
  held_ = std::move(view);
  view_ = held_.get();
}

void Store::count_files(const StoreView& view) {
  const auto counts = [&](const FileRun& run) {
    for (size_t i = run.begin; i < run.end; ++i)
      if (!view.files[i]->is_aside()) return true;
    return false;
  };
  run_count_.store(std::ranges::count_if(view.runs, counts), std::memory_order_relaxed);
  int64_t bytes = 0;
  for (const auto& file : view.files) bytes += static_cast<int64_t>(file->record().bytes);
  CELLAR_ASSERT(bytes >= 0);
  bytes_.store(bytes, std::memory_order_relaxed);
}

bool Store::mark_aside(StoreFile& file, bool aside) {
  MutexLock lock(mutex_);
  const bool changed = file.set_aside(aside);
  count_files(*view_);
  return changed;
}

bool Store::set_aside(StoreFile& file) { return mark_aside(file, true); }
bool Store::take_back(StoreFile& file) { return mark_aside(file, false); }

void Store::set_active(MemtableRef first) {
  CELLAR_ASSERT(active_ == nullptr && first.get() != nullptr);
  active_ = first.get();
  active_bytes_seen_ = 0;
  change_view([&](StoreView& view) { view.active = first; });
}

void Store::freeze(MemtableRef fresh) {
  CELLAR_ASSERT(active_ != nullptr && fresh.get() != nullptr && fresh.get() != active_);
  CELLAR_ASSERT(fresh->summary().cells == 0);
  CELLAR_ASSERT(active_->bytes() == active_bytes_seen_);  // a flush gives back all bytes, so all are counted
  active_ = fresh.get();
  active_bytes_seen_ = 0;
  change_view([&](StoreView& view) {
    view.frozen.insert(view.frozen.begin(), view.active);
    view.active = fresh;
  });
}

int64_t Store::take_growth() {
  const uint64_t now = active_->bytes();
  CELLAR_ASSERT(now >= active_bytes_seen_);  // a memtable only grows
  return static_cast<int64_t>(now - std::exchange(active_bytes_seen_, now));
}

// Returns the open snapshots that may miss cells that the rewrite dropped. These are snapshots that the
// rewrite did not know. A snapshot at the rewrite's own read point may be unknown only if the rewrite knew no
// snapshot.
std::vector<uint64_t> Store::keepers(const Outside& outside, const Rewritten& made,
                                     std::span<const uint64_t> snapshots) {
  if (made.dropped_live) return {snapshots.begin(), snapshots.end()};
  const bool versions = outside.version_deletes && made.dropped_versions;
  const bool any = versions || outside.earliest <= made.newest_dropped_marker;
  std::vector<uint64_t> result;
  for (const uint64_t snapshot : snapshots)
    if ((any && snapshot > made.rewritten_at) ||
        (versions && snapshot == made.rewritten_at && !made.knew_snapshots))
      result.push_back(snapshot);
  return result;
}

Store::FlushInstalled Store::install_flush(std::span<const MemtableRef> memtables, const Rewritten& made,
                                           uint64_t flushed_sequence, std::span<const uint64_t> snapshots) {
  FlushInstalled result;
  std::vector<uint64_t> keep_for;
  const auto change = [&](StoreView& view) {
    if (dropped()) {  // the edit that dropped the store came after the one that added the file
      for (const auto& file : made.outputs) file->set_obsolete();
      return;
    }
    keep_for = keepers(outside_of(view, memtables, {}), made, snapshots);
    CELLAR_ASSERT(memtables.size() <= view.frozen.size());
    const auto into = std::make_shared<FlushedInto>();
    into->files.assign(made.outputs.begin(), made.outputs.end());
    for (size_t i = 0; i < memtables.size(); ++i) {
      CELLAR_ASSERT(std::ranges::find(memtables, view.frozen.back()) != memtables.end());  // the oldest
      result.freed += view.frozen.back()->bytes();
      view.frozen.back()->let_go();
      if (!made.dropped_any) view.frozen.back()->set_successor(into);
      view.frozen.pop_back();
    }
    add_youngest(view, made.outputs);
    view.rewritten_at = std::max(view.rewritten_at, made.rewritten_at);
    view.totals += made.work;
  };
  change_view(change, &keep_for);
  if (flushed_sequence > this->flushed_sequence())
    flushed_sequence_.store(flushed_sequence, std::memory_order_release);
  CELLAR_ASSERT(dropped() || oldest_unflushed() > this->flushed_sequence());
  result.views_kept = keep_for.size();
  return result;
}

size_t Store::install_compaction(std::span<const std::shared_ptr<StoreFile>> inputs, const Rewritten& made,
                                 std::span<const uint64_t> snapshots) {
  CELLAR_ASSERT(!inputs.empty());
  std::vector<uint64_t> keep_for;
  const auto change = [&](StoreView& view) {
    if (dropped()) {
      for (const auto& file : made.outputs) file->set_obsolete();
      return;
    }
    keep_for = keepers(outside_of(view, {}, inputs), made, snapshots);
    std::vector<PlacedFile> files = placed_files(view);
    size_t place = files.size();
    for (const auto& input : inputs) {
      CELLAR_ASSERT(input->busy() && !input->obsolete());
      take_out(files, index_of(files, *input), place);
    }
    for (const auto& file : made.outputs) {
      file->note_read(view.number);
      insert_file(files, PlacedFile{file, file->record().run, file->record().level}, place, row_of);
    }
    set_files(view, std::move(files));
    view.rewritten_at = std::max(view.rewritten_at, made.rewritten_at);
    view.totals += made.work;
  };
  change_view(change, &keep_for);
  for (const auto& input : inputs) input->set_obsolete();
  return keep_for.size();
}

void Store::install_move(std::span<const std::shared_ptr<StoreFile>> files, uint64_t run, uint32_t level) {
  CELLAR_ASSERT(run != 0 && !files.empty());
  change_view([&](StoreView& view) {
    if (dropped()) return;
    std::vector<PlacedFile> placed = placed_files(view);
    for (const auto& file : files) {
      size_t place = placed.size();
      take_out(placed, index_of(placed, *file), place);
      insert_file(placed, PlacedFile{file, run, level}, place, row_of);
    }
    set_files(view, std::move(placed));
  });
}

void Store::install_adopted(std::span<const std::shared_ptr<StoreFile>> files) {
  CELLAR_ASSERT(std::ranges::none_of(files, [](const auto& each) { return each->obsolete(); }));
  change_view([&](StoreView& view) { add_youngest(view, files); });
}

uint64_t Store::compaction_begins(std::span<const std::shared_ptr<StoreFile>> inputs, int64_t runs_replaced,
                                  uint64_t run) {
  CELLAR_ASSERT(!inputs.empty());
  const RowHull hull = hull_of(inputs);
  MutexLock lock(mutex_);
  for (const auto& input : inputs)
    if (input->busy() || input->obsolete()) return 0;
  const auto meets = [&](const RunningCompaction& other) {
    return run != 0 && other.run == run && other.first_row <= hull.last && other.last_row >= hull.first;
  };
  if (std::ranges::any_of(running_, meets)) return 0;
  uint64_t bytes = 0;
  for (const auto& input : inputs) {
    input->set_busy(true);
    bytes += input->record().bytes;
  }
  being_replaced_.fetch_add(runs_replaced, std::memory_order_relaxed);
  running_.push_back({.number = ++compactions_begun_,
                      .runs_replaced = runs_replaced,
                      .run = run,
                      .first_row = std::string(hull.first),
                      .last_row = std::string(hull.last),
                      .bytes_begun = bytes_.load(std::memory_order_relaxed),
                      .inputs_bytes = bytes});
  note_oldest_compaction();
  return compactions_begun_;
}

void Store::compaction_ends(std::span<const std::shared_ptr<StoreFile>> inputs, uint64_t compaction) {
  MutexLock lock(mutex_);
  const auto ended = std::ranges::find(running_, compaction, &RunningCompaction::number);
  CELLAR_ASSERT(!inputs.empty() && ended != running_.end());
  being_replaced_.fetch_sub(ended->runs_replaced, std::memory_order_relaxed);
  for (const auto& input : inputs) input->set_busy(false);
  running_.erase(ended);
  if (running_.empty()) compaction_seen_us_ = -1;
  note_oldest_compaction();
}

void Store::note_oldest_compaction() {
  const RunningCompaction none;
  const RunningCompaction& oldest = running_.empty() ? none : running_.front();
  CELLAR_ASSERT(running_.empty() || oldest.number > 0);
  bytes_begun_.store(oldest.bytes_begun, std::memory_order_relaxed);
  inputs_bytes_.store(oldest.inputs_bytes, std::memory_order_relaxed);
}

int64_t Store::take_compaction_us(int64_t now_us) {
  MutexLock lock(mutex_);
  const int64_t before = std::exchange(compaction_seen_us_, running_.empty() ? -1 : now_us);
  return before < 0 ? 0 : std::max<int64_t>(0, now_us - before);
}

uint32_t Store::files_slow(const EngineOptions& engine) const {
  CELLAR_ASSERT(engine.files_stop > 0 && engine.files_slow <= engine.files_stop);
  const uint64_t own = files_stop_.load(std::memory_order_relaxed);
  if (own == 0) return engine.files_slow;
  return static_cast<uint32_t>(std::max<uint64_t>(1, own * engine.files_slow / engine.files_stop));
}

void Store::install_config(std::shared_ptr<const FamilyConfig> config) {
  CELLAR_ASSERT(config != nullptr && config->options.name == family_);
  files_stop_.store(config->options.files_stop, std::memory_order_relaxed);
  stamps_.store(config->options.stamps, std::memory_order_relaxed);
  change_view([&](StoreView& view) { view.config = config; });
  alter_kept(config);
}

void Store::alter_kept(const std::shared_ptr<const FamilyConfig>& config) {
  CELLAR_ASSERT(config != nullptr && config->options.name == family_);
  std::vector<std::shared_ptr<const StoreView>> old;  // let go after the lock
  MutexLock lock(mutex_);
  for (auto& [snapshot, view] : kept_) {
    auto altered = std::make_shared<StoreView>(*view);
    altered->config = config;
    old.push_back(std::exchange(view, std::move(altered)));
  }
}

Store::FoundInstalled Store::install_found(Found found, uint64_t read_point,
                                           const std::vector<uint64_t>& snapshots) {
  CELLAR_ASSERT(!dropped() && (found.config == nullptr || found.config->options.name == family_));
  FoundInstalled result;
  result.views_kept = snapshots.size();
  if (found.config != nullptr) {
    files_stop_.store(found.config->options.files_stop, std::memory_order_relaxed);
    stamps_.store(found.config->options.stamps, std::memory_order_relaxed);
  }
  flushed_sequence_.store(found.flushed_sequence, std::memory_order_release);
  if (found.directory != nullptr) {
    MutexLock lock(mutex_);
    std::swap(directory_, found.directory);  // the one before, if any, is closed after the lock
  }
  const std::shared_ptr<const FamilyConfig> config = found.config;
  const bool fresh = found.active.get() != nullptr;
  if (fresh) active_ = found.active.get();
  if (fresh) result.freed = std::exchange(active_bytes_seen_, 0);
  change_view(
      [&](StoreView& view) {
        CELLAR_ASSERT(view.frozen.empty());  // a reader never flushes
        if (found.config != nullptr) view.config = std::move(found.config);
        if (found.files) set_files(view, std::move(*found.files));
        if (fresh && view.active.get() != nullptr) view.active->let_go();
        if (fresh) view.active = std::move(found.active);
        view.totals = found.totals;
        view.rewritten_at = std::max(view.rewritten_at, read_point);
      },
      &snapshots);
  if (config != nullptr) alter_kept(config);  // as for the writer, snapshots see options as they are now
  return result;
}

void Store::count_hidden_reads(std::shared_ptr<HiddenReads> reads) {
  CELLAR_ASSERT(reads != nullptr);
  change_view([&](StoreView& view) { view.hidden_reads = std::move(reads); });
}

void Store::take_table_options(const TableOptions& table) {
  read_only_.store(table.read_only, std::memory_order_release);
  compaction_enabled_.store(table.compaction_enabled, std::memory_order_relaxed);
  memtable_bytes_.store(table.memtable_bytes, std::memory_order_relaxed);
}

uint64_t Store::drop() {
  CELLAR_ASSERT(!dropped());
  CELLAR_ASSERT(active_ == nullptr || active_->bytes() == active_bytes_seen_);
  uint64_t freed = active_ != nullptr ? active_->bytes() : 0;
  active_ = nullptr;
  change_view([&](StoreView& view) {
    dropped_.store(true, std::memory_order_release);
    for (const MemtableRef& memtable : view.frozen) {
      freed += memtable->bytes();
      memtable->let_go();
    }
    if (view.active.get() != nullptr) view.active->let_go();
    for (const auto& file : view.files) file->set_obsolete();
    set_files(view, {});
    view.frozen.clear();
    view.active = {};
  });
  // Both end after the lock: views may delete files, and a directory is closed. A table keeps its dropped
  // stores as long as it lives, but not their descriptors.
  std::map<uint64_t, std::shared_ptr<const StoreView>> unread;
  std::shared_ptr<Directory> unused;
  MutexLock lock(mutex_);
  unread.swap(kept_);
  unused.swap(directory_);
  return freed;
}

size_t Store::replace(const Store* before, uint64_t sequence, std::span<const uint64_t> snapshots) {
  CELLAR_ASSERT(replaced_at_ == 0 && sequence > 0 && before != this);
  replaced_at_ = sequence;
  auto nothing = std::make_shared<StoreView>();
  nothing->config = view()->config;
  std::map<uint64_t, std::shared_ptr<const StoreView>> kept;  // made first: no mutex of two stores is held
  for (const uint64_t snapshot : snapshots)
    kept.emplace(snapshot, before != nullptr ? before->view_at(snapshot) : nothing);
  const size_t views = kept.size();
  MutexLock lock(mutex_);
  CELLAR_ASSERT(kept_.empty());  // nobody knows of the store yet
  kept_ = std::move(kept);
  return views;
}

uint64_t Store::oldest_unflushed() const {
  const std::shared_ptr<const StoreView> view = this->view();
  uint64_t oldest = view->active.get() != nullptr ? view->active->summary().sequence_min : UINT64_MAX;
  for (const MemtableRef& memtable : view->frozen)
    oldest = std::min(oldest, memtable->summary().sequence_min);
  return oldest;
}

}  // namespace cellar
