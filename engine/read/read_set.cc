// ReadSet: searches every memtable and sorted run that can hold newer cells.
#include "engine/read/read_set.h"

#include <algorithm>

#include "base/assert.h"
#include "cell/cell_key.h"
#include "hfile/read/hfile_reader.h"

namespace cellar {
namespace {

// Returns the first row within the range that has a cell newer than `since`.
Result<std::optional<std::string>> newer_row(CellCursor& cursor, const RowRange& range, uint64_t since) {
  OwnedCell from;
  first_of_row(from, range.start);
  for (const CellView* cell = cursor.seek(from.view()); cell != nullptr; cell = cursor.next()) {
    if (range.past_stop(cell->row())) break;
    if (cell->sequence > since && !range.is_excluded_start(cell->row()))
      return std::optional<std::string>(cell->row());
  }
  CELLAR_TRY(cursor.status());
  return std::optional<std::string>();
}

bool file_may_hold(const HFileReader& reader, const RowRange& range, ReadStats& stats) {
  if (range.single_row()) return reader.may_contain_row(range.start, &stats);
  return reader.cells() != 0 && (range.stop.empty() || reader.first_row() <= range.stop) &&
         (range.start.empty() || reader.last_row() >= range.start);
}

using FoundRow = Result<std::optional<std::string>>;

// MemtableSource: a memtable with a cursor that is created when needed.
class MemtableSource {
 public:
  explicit MemtableSource(const Memtable& memtable) : memtable_(&memtable) {}

  FoundRow newer(const RowRange& range, uint64_t since) {
    if (range.single_row() && !memtable_->may_contain_row(range.start)) return std::optional<std::string>();
    if (cursor_ == nullptr) cursor_ = memtable_->cursor();
    return newer_row(*cursor_, range, since);
  }

 private:
  const Memtable* memtable_;
  std::unique_ptr<CellCursor> cursor_;
};

// RunSource: a sorted run with a cursor of the file that was searched last. Rows are searched in ascending
// order, so that one cursor is enough.
class RunSource {
 public:
  RunSource(const StoreView& view, const FileRun& run) : view_(&view), run_(&run) {
    CELLAR_ASSERT(run.size() > 0 && run.end <= view.files.size());
  }

  FoundRow newer(const RowRange& range, uint64_t since) {
    const FileRange files =
        run_->size() == 1 ? run_->files() : files_within(*view_, *run_, range.ascending());
    for (size_t i = files.begin; i < files.end; ++i) {
      const StoreFile& file = *view_->files[i];
      ReadStats unwanted;
      if (file.record().sequence_max <= since || !file_may_hold(file.reader(), range, unwanted)) continue;
      if (cursor_ == nullptr || file_ != i) cursor_ = file.reader().cursor({});
      file_ = i;
      CELLAR_TRY_ASSIGN(std::optional<std::string> found, newer_row(*cursor_, range, since));
      if (found) return found;
    }
    return std::optional<std::string>();
  }

 private:
  const StoreView* view_;
  const FileRun* run_;
  size_t file_ = 0;  // of the cursor
  std::unique_ptr<CellCursor> cursor_;
};

}  // namespace

RowRange PassedRange::forward() const {
  if (!reversed)
    return {
        .start = start, .stop = stop, .start_inclusive = start_inclusive, .stop_inclusive = stop_inclusive};
  return {.start = stop, .stop = start, .start_inclusive = stop_inclusive, .stop_inclusive = start_inclusive};
}

void ReadSet::add_row(std::string_view row) {
  CELLAR_ASSERT(!row.empty() && row.size() <= kRowBytesMax);
  if (!rows_.contains(row)) rows_.emplace(row);
}

std::shared_ptr<PassedRange> ReadSet::add_range() {
  return ranges_.emplace_back(std::make_shared<PassedRange>());
}

bool ReadSet::contains(std::string_view row) const {
  const auto holds = [&](const std::shared_ptr<PassedRange>& each) {
    if (!each->passed) return false;
    const RowRange range = each->forward();
    return row >= range.start && !range.is_excluded_start(row) && !range.past_stop(row);
  };
  return rows_.contains(row) || std::ranges::any_of(ranges_, holds);
}

template <class Source>
FoundRow ReadSet::changed_in(Source source, uint64_t since) const {
  for (const std::string& row : rows_) {
    CELLAR_TRY_ASSIGN(std::optional<std::string> found, source.newer(RowRange::of_row(row), since));
    if (found) return found;
  }
  for (const auto& range : ranges_) {
    if (!range->passed) continue;
    CELLAR_TRY_ASSIGN(std::optional<std::string> found, source.newer(range->forward(), since));
    if (found) return found;
  }
  return std::optional<std::string>();
}

FoundRow ReadSet::changed_row(const StoreView& view, uint64_t since) const {
  for (size_t i = 0; i <= view.frozen.size(); ++i) {
    const MemtableRef& memtable = i == 0 ? view.active : view.frozen[i - 1];
    if (memtable.get() == nullptr || memtable->summary().sequence_max <= since) continue;
    CELLAR_TRY_ASSIGN(std::optional<std::string> found, changed_in(MemtableSource(*memtable.get()), since));
    if (found) return found;
  }
  for (const FileRun& run : view.runs) {
    if (run.sequence_max <= since) continue;
    CELLAR_TRY_ASSIGN(std::optional<std::string> found, changed_in(RunSource(view, run), since));
    if (found) return found;
  }
  return std::optional<std::string>();
}

}  // namespace cellar
