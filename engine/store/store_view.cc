// StoreView: finds sorted runs among its files, and files of a run by their rows.
#include "engine/store/store_view.h"

#include <algorithm>

#include "base/assert.h"

namespace cellar {
namespace {

bool in_one_run(const StoreFile& before, const StoreFile& file) {
  const uint64_t run = file.record().run;
  return run != 0 && run == before.record().run && before.reader().cells() != 0 && file.reader().cells() != 0;
}

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

void find_runs(StoreView& view) {
  view.runs.clear();
  view.rows.clear();
  for (size_t i = 0; i < view.files.size(); ++i) {
    if (i == 0 || !in_one_run(*view.files[i - 1], *view.files[i])) view.runs.push_back({.begin = i});
    FileRun& run = view.runs.back();
    run.end = i + 1;
    run.sequence_max = std::max(run.sequence_max, view.files[i]->record().sequence_max);
  }
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
  for (const auto& file : view.files)
    add(std::ranges::find(files, file) != files.end(), file->record().earliest_put,
        file->record().version_deletes);
  return result;
}

}  // namespace cellar
