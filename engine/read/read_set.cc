// ReadSet: searches every memtable and file that can hold newer cells.
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

// Source: a memtable or file, with a cursor that is created when needed.
struct Source {
  const Memtable* memtable = nullptr;
  const HFileReader* file = nullptr;
  std::unique_ptr<CellCursor> cursor = nullptr;

  bool may_hold(const RowRange& range, ReadStats& stats) const {
    if (file != nullptr) return file_may_hold(*file, range, stats);
    return !range.single_row() || memtable->may_contain_row(range.start);
  }
  CellCursor& opened() {
    CELLAR_ASSERT((file == nullptr) != (memtable == nullptr));
    if (cursor == nullptr) cursor = file != nullptr ? file->cursor({}) : memtable->cursor();
    return *cursor;
  }
};

// Returns the memtables and files that hold anything newer than `since`.
std::vector<Source> newer_sources(const StoreView& view, uint64_t since) {
  std::vector<Source> sources;
  const auto add = [&](const MemtableRef& memtable) {
    if (memtable.get() != nullptr && memtable->summary().sequence_max > since)
      sources.push_back({.memtable = memtable.get()});
  };
  add(view.active);
  for (const MemtableRef& memtable : view.frozen) add(memtable);
  for (const auto& file : view.files)
    if (file->record().sequence_max > since) sources.push_back({.file = &file->reader()});
  CELLAR_ASSERT(sources.size() <= view.files.size() + view.frozen.size() + 1);
  return sources;
}

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

Result<std::optional<std::string>> ReadSet::changed_row(const StoreView& view, uint64_t since) const {
  std::vector<Source> sources = newer_sources(view, since);
  ReadStats unwanted;
  std::optional<std::string> found;
  const auto look = [&](Source& source, const RowRange& range) -> Status {
    if (!source.may_hold(range, unwanted)) return {};
    CELLAR_TRY_ASSIGN(found, newer_row(source.opened(), range, since));
    return {};
  };
  for (Source& source : sources) {
    for (const std::string& row : rows_) {
      CELLAR_TRY(look(source, RowRange::of_row(row)));
      if (found) return found;
    }
    for (const auto& range : ranges_) {
      if (!range->passed) continue;
      CELLAR_TRY(look(source, range->forward()));
      if (found) return found;
    }
  }
  return found;
}

}  // namespace cellar
