// StoreView: finds sorted runs among its files, and files of a run by their rows.
#include "engine/store/store_view.h"

#include <algorithm>
#include <span>

#include "base/assert.h"

namespace cellar {
namespace {

bool in_one_run(const StoreFile& before, const StoreFile& file) {
  const uint64_t run = file.record().run;
  return run != 0 && run == before.record().run && before.has_cells() && file.has_cells();
}

// Fills in the rows of a run of several files.
void note_rows(StoreView& view, FileRun& run) {
  CELLAR_ASSERT(run.size() > 1 && run.end <= view.files.size());
  size_t next_marked = run.end;
  for (size_t i = run.end; i-- > run.begin;) {
    const StoreFile& file = *view.files[i];
    if (file.may_hold_markers()) next_marked = i;
    view.rows[i] = {file.first_row(), file.last_row(), next_marked};
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
