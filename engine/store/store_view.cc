// StoreView: files and their runs, and what a rewrite leaves outside.
#include "engine/store/store_view.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace cellar {
namespace {

// Fills in the rows of a run of several files.
void note_rows(StoreView& view, const FileRun& run) {
  CELLAR_ASSERT(run.size() > 1 && run.end <= view.files.size());
  size_t next_marked = run.end;
  for (size_t i = run.end; i-- > run.begin;) {
    const HFileReader& reader = view.files[i]->reader();
    if (view.files[i]->may_hold_markers()) next_marked = i;
    view.rows[i] = {reader.first_row(), reader.last_row(), next_marked};
    CELLAR_ASSERT(i + 1 == run.end || view.rows[i].last < view.rows[i + 1].first);  // no row is in two files
  }
}

}  // namespace

std::vector<PlacedFile> placed_files(const StoreView& view) {
  std::vector<PlacedFile> result;
  for (const FileRun& run : view.runs)
    for (size_t i = run.begin; i < run.end; ++i)
      result.push_back({view.files[i], run.run, run.level});
  CELLAR_ASSERT(result.size() == view.files.size());
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
  for (PlacedFile& each : files) {
    const size_t at = view.files.size();
    const bool continues = each.run != 0 && !view.runs.empty() && view.runs.back().run == each.run;
    if (continues) {
      CELLAR_ASSERT(last_row_of(view.files.back()->record()) < first_row_of(each.file->record()));
      view.runs.back().end = at + 1;
    } else {
      view.runs.push_back({at, at + 1, each.run, each.level});
    }
    view.runs.back().sequence_max = std::max(view.runs.back().sequence_max, each.file->record().sequence_max);
    view.files.push_back(std::move(each.file));
  }
  CELLAR_ASSERT(view.runs.empty() || view.runs.back().end == view.files.size());
  if (view.runs.size() == view.files.size()) return;
  view.rows.resize(view.files.size());
  for (const FileRun& run : view.runs)
    if (run.size() > 1) note_rows(view, run);
}

FileRun files_within(const StoreView& view, const FileRun& run, const RowBounds& bounds) {
  CELLAR_ASSERT(run.size() > 1 && run.end <= view.rows.size());
  const auto at = [&](size_t index) { return view.rows.begin() + static_cast<std::ptrdiff_t>(index); };
  const auto is_below = [&](const FileRows& file) {
    return bounds.low_inclusive ? file.last < bounds.low : file.last <= bounds.low;
  };
  const auto is_not_above = [&](const FileRows& file) {
    return bounds.high.empty() ||
           (bounds.high_inclusive ? file.first <= bounds.high : file.first < bounds.high);
  };
  FileRun found = run;
  found.begin = static_cast<size_t>(std::partition_point(at(run.begin), at(run.end), is_below) - at(0));
  found.end = found.begin;
  // Most ranges end in the file in which they begin.
  if (found.end < run.end && is_not_above(view.rows[found.end])) ++found.end;
  if (found.end > found.begin && found.end < run.end && is_not_above(view.rows[found.end]))
    found.end = static_cast<size_t>(std::partition_point(at(found.end), at(run.end), is_not_above) - at(0));
  CELLAR_DCHECK(found.begin >= run.begin && found.end <= run.end);
  return found;
}

Outside outside_of(const StoreView& view, std::span<const MemtableRef> memtables,
                   std::span<const std::shared_ptr<StoreFile>> files) {
  const bool keeps_deleted = view.config->rules.keep_deleted_cells != KeepDeleted::kFalse;
  Outside result;
  const auto add = [&](bool takes_part, int64_t earliest, uint64_t version_deletes) {
    if (!takes_part) result.earliest = std::min(result.earliest, earliest);
    if (!takes_part || keeps_deleted) result.version_deletes = result.version_deletes || version_deletes != 0;
  };
  const auto add_memtable = [&](const MemtableRef& each) {
    const MemtableSummary summary = each->summary();
    add(std::ranges::find(memtables, each) != memtables.end(), summary.timestamp_min,
        summary.version_deletes);
  };
  if (view.active.get() != nullptr) add_memtable(view.active);
  for (const MemtableRef& memtable : view.frozen) add_memtable(memtable);
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
