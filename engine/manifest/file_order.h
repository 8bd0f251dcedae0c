// The order of a family's files: sorted runs, the oldest first, and in a run the files ascending by rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "cellar/status.h"
#include "engine/manifest/file_record.h"

namespace cellar {

// A sorted run is one or more files whose ranges of rows are disjoint. All its files have the same
// FileRecord::run, which is unique in the family. A file with run 0 is a run of its own. For any row, runs
// are ordered by age: the cells of an older run were written before those of a younger one. So a file may
// move, or be merged, past another run only if that run has no rows in common with it.

// Return the rows of a file; empty for a file without cells.
std::string_view first_row_of(const FileRecord& file);
std::string_view last_row_of(const FileRecord& file);

// FileRange: half-open range of indexes into a list of files.
struct FileRange {
  size_t begin = 0;
  size_t end = 0;

  size_t size() const { return end - begin; }
};

// The functions below take a list in this order. Its elements have a member `run`, and `row_of` gives the
// first row of an element.

// Returns the run that the file at `index` belongs to.
template <class Files>
FileRange run_around(const Files& files, size_t index) {
  CELLAR_ASSERT(index < files.size());
  FileRange span{index, index + 1};
  const uint64_t run = files[index].run;
  if (run == 0) return span;
  while (span.begin > 0 && files[span.begin - 1].run == run) --span.begin;
  while (span.end < files.size() && files[span.end].run == run) ++span.end;
  return span;
}

// Inserts a file: in its run by its rows if the list has the run, else at `otherwise`.
template <class Files, class File, class RowOf>
void insert_file(Files& files, File file, size_t otherwise, const RowOf& row_of) {
  CELLAR_ASSERT(otherwise <= files.size());
  size_t place = otherwise;
  size_t end = file.run == 0 ? 0 : files.size();
  while (end > 0 && files[end - 1].run != file.run) --end;
  if (end != 0) {
    const FileRange span = run_around(files, end - 1);
    const std::string_view row = row_of(file);
    const auto before = [&](const auto& each) { return row_of(each) < row; };
    const auto first = files.begin() + static_cast<std::ptrdiff_t>(span.begin);
    const auto last = files.begin() + static_cast<std::ptrdiff_t>(span.end);
    place = static_cast<size_t>(std::partition_point(first, last, before) - files.begin());
  }
  files.insert(files.begin() + static_cast<std::ptrdiff_t>(place), std::move(file));
}

// Takes a file out of the list. Lowers `place` to the beginning of its run. New files at `place` have the
// age of the oldest run of the files taken out, or are just older than its other files.
template <class Files>
void take_out(Files& files, size_t index, size_t& place) {
  place = std::min(place, run_around(files, index).begin);
  files.erase(files.begin() + static_cast<std::ptrdiff_t>(index));
}

// Ok if each run's files stand together, ascending by disjoint rows. kInvalidArgument with the files' names.
Status check_runs(const std::vector<FileRecord>& files);

}  // namespace cellar
