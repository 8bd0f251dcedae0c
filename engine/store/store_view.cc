// StoreView: files and their runs, and what a rewrite leaves outside.
#include "engine/store/store_view.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/assert.h"

namespace cellar {
namespace {

// Fills in the rows of a run of several files.
void note_rows(StoreView& view, FileRun& run) {
  CELLAR_ASSERT(run.size() > 1 && run.end <= view.files.size());
  size_t next_marked = run.end;
  for (size_t i = run.end; i-- > run.begin;) {
    const StoreFile& file = *view.files[i];
    if (file.may_hold_markers()) next_marked = i;
    view.rows[i] = rows_of(file);
    view.rows[i].next_marked = next_marked;
    CELLAR_ASSERT(i + 1 == run.end || view.rows[i].last < view.rows[i + 1].first);  // no row is in two files
  }
  run.lasts = RowWords(run.size(), [&](size_t i) { return view.rows[run.begin + i].last; });
}

// Returns the first file of the run, or its end, whose last row is not below `row`.
size_t first_up_to(const StoreView& view, const FileRun& run, std::string_view row) {
  const WordRange near = run.lasts.narrow(row);
  const auto files = std::span(view.rows).subspan(run.begin + near.low, near.high - near.low);
  const auto found = std::ranges::partition_point(files, [&](const FileRows& of) { return of.last < row; });
  return run.begin + near.low + static_cast<size_t>(found - files.begin());
}

}  // namespace

FileRows rows_of(const StoreFile& file) { return {first_row_of(file.record()), last_row_of(file.record())}; }

std::vector<PlacedFile> placed_files(const StoreView& view) {
  std::vector<PlacedFile> result;
  for (const FileRun& run : view.runs)
    for (size_t i = run.begin; i < run.end; ++i) result.push_back({view.files[i], run.run, run.level});
  CELLAR_ASSERT(result.size() == view.files.size());
  return result;
}

std::shared_ptr<const StoreView> without_flushed(const StoreView& view) {
  if (!has_flushed(view)) return nullptr;
  auto result = std::make_shared<StoreView>(view);
  std::vector<PlacedFile> files = placed_files(view);
  const FlushedInto* last = nullptr;  // several memtables may have become one file
  bool replaced = false;
  while (has_flushed(*result)) {
    MemtableRef& oldest = result->frozen.empty() ? result->active : result->frozen.back();
    const auto* into = static_cast<const FlushedInto*>(oldest->successor());
    if (into != last) {
      std::vector<PlacedFile> younger;
      for (const std::weak_ptr<StoreFile>& each : into->files)
        if (std::shared_ptr<StoreFile> file = each.lock()) younger.push_back({std::move(file)});
      if (younger.size() != into->files.size()) break;
      std::ranges::move(younger, std::back_inserter(files));
      last = into;
    }
    replaced = true;
    if (result->frozen.empty()) {
      result->active = {};
    } else {
      result->frozen.pop_back();
    }
  }
  if (!replaced) return nullptr;
  set_files(*result, std::move(files));
  return result;
}

std::vector<StoreFileInfo> infos_of(const StoreView& view) {
  std::vector<StoreFileInfo> result;
  for (const PlacedFile& each : placed_files(view)) {
    StoreFileInfo& info = result.emplace_back(info_of(*each.file));
    info.run = each.run;
    info.level = each.level;
  }
  return result;
}

void set_files(StoreView& view, std::vector<PlacedFile> files) {
  view.files.clear();
  view.runs.clear();
  view.rows.clear();
  view.files_time_max = INT64_MIN;
  for (PlacedFile& each : files) {
    const size_t at = view.files.size();
    const bool continues = each.run != 0 && !view.runs.empty() && view.runs.back().run == each.run;
    if (continues) {
      CELLAR_ASSERT(last_row_of(view.files.back()->record()) < first_row_of(each.file->record()));
      view.runs.back().end = at + 1;
    } else {
      view.runs.push_back({.begin = at,
                           .end = at + 1,
                           .run = each.run,
                           .level = each.level,
                           .older_time_max = view.files_time_max});
    }
    const TimestampRange times =
        each.file->reader().times().value_or(TimestampRange{.min = INT64_MIN, .max = INT64_MAX});
    view.files_time_max = std::max(view.files_time_max, times.max);
    FileRun& run = view.runs.back();
    run.times = {.min = std::min(run.times.min, times.min), .max = std::max(run.times.max, times.max)};
    run.sequence_max = std::max(run.sequence_max, each.file->record().sequence_max);
    view.files.push_back(std::move(each.file));
  }
  CELLAR_ASSERT(view.runs.empty() || view.runs.back().end == view.files.size());
  if (view.runs.size() == view.files.size()) return;
  view.rows.resize(view.files.size());
  for (FileRun& run : view.runs)
    if (run.size() > 1) note_rows(view, run);
}

FileRange files_within(const StoreView& view, const FileRun& run, const RowBounds& bounds) {
  CELLAR_ASSERT(run.size() > 1 && run.end <= view.rows.size());
  FileRange found = run.files();
  if (!bounds.low.empty()) {
    found.begin = first_up_to(view, run, bounds.low);
    if (!bounds.low_inclusive && found.begin < run.end && view.rows[found.begin].last == bounds.low)
      ++found.begin;
  }
  if (bounds.high.empty() || found.begin == run.end) return found;
  // Most ranges end in the file in which they begin.
  const bool ends_here = view.rows[found.begin].last >= bounds.high;
  found.end = ends_here ? found.begin : std::max(found.begin, first_up_to(view, run, bounds.high));
  if (found.end == run.end) return found;
  const std::string_view first = view.rows[found.end].first;
  if (bounds.high_inclusive ? first <= bounds.high : first < bounds.high) ++found.end;
  CELLAR_DCHECK(found.begin >= run.begin && found.begin <= found.end && found.end <= run.end);
  return found;
}

int64_t latest_of_older(const StoreView& view) {
  int64_t latest = view.files_time_max;
  for (const MemtableRef& memtable : view.frozen)
    latest = std::max(latest, memtable->summary().timestamp_max);
  return latest;
}

Outside outside_of(const StoreView& view, std::span<const MemtableRef> memtables,
                   std::span<const std::shared_ptr<StoreFile>> files) {
  const bool keeps_deleted = view.config->rules.keep_deleted_cells != KeepDeleted::kFalse;
  Outside result;
  const auto add = [&](bool takes_part, int64_t earliest, uint64_t version_deletes) {
    if (!takes_part) result.earliest = std::min(result.earliest, earliest);
    if (!takes_part || keeps_deleted) result.version_deletes = result.version_deletes || version_deletes != 0;
  };
  const auto add_memtable = [&](const MemtableRef& each, bool takes_part) {
    const MemtableSummary summary = each->summary();
    add(takes_part, summary.timestamp_min, summary.version_deletes);
  };
  const auto add_other = [&](const MemtableRef& each) {
    if (std::ranges::find(memtables, each) == memtables.end()) add_memtable(each, false);
  };
  for (const MemtableRef& memtable : memtables) add_memtable(memtable, true);
  if (view.active.get() != nullptr) add_other(view.active);
  for (const MemtableRef& memtable : view.frozen) add_other(memtable);
  // Files that share no rows with the files that are rewritten do not matter. Memtables may have any row.
  std::optional<RowHull> hull;
  if (memtables.empty() && !files.empty()) hull = hull_of(files);
  for (const auto& file : view.files) {
    const bool takes_part = std::ranges::find(files, file) != files.end();
    if (!takes_part && hull && !hull->meets(file->record())) continue;
    add(takes_part, file->record().earliest_put, file->record().version_deletes);
  }
  return result;
}

RowHull hull_of(std::span<const std::shared_ptr<StoreFile>> files) {
  CELLAR_ASSERT(!files.empty());
  RowHull hull{first_row_of(files.front()->record()), last_row_of(files.front()->record())};
  for (const auto& file : files) {
    hull.first = std::min(hull.first, first_row_of(file->record()));
    hull.last = std::max(hull.last, last_row_of(file->record()));
  }
  return hull;
}

}  // namespace cellar
