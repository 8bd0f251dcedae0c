// Rising stamps: what a store holds of a column or family, looked up by seeks in its memtables and files.
#include "engine/write/rising_stamps.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>

#include "base/assert.h"
#include "base/bytes.h"
#include "cell/cell_key.h"
#include "engine/read/store_reader.h"
#include "engine/read/table_read.h"

namespace cellar {
namespace {

// The newest cell of the column, then the newest marker of the family, which lies in the empty column.
Result<int64_t> stored_in_column(const Store& store, std::string_view row, std::string_view qualifier) {
  const std::shared_ptr<const StoreView> view = store.view();
  const std::string column(qualifier);
  ReadStats stats;
  const std::unique_ptr<CellCursor> cursor = open_row_cursor(*view, row, std::span(&column, 1), stats);
  if (cursor == nullptr) return kOldestTimestamp;
  int64_t newest = kOldestTimestamp;
  OwnedCell key;
  first_of_column(key, row, store.family(), qualifier);
  if (const CellView* cell = cursor->seek(key.view());
      cell != nullptr && cell->row() == row && cell->qualifier() == qualifier)
    newest = cell->timestamp;
  CELLAR_TRY(cursor->status());
  first_of_column(key, row, store.family(), {});
  for (const CellView* cell = cursor->seek(key.view());
       cell != nullptr && cell->row() == row && cell->qualifier().empty() && cell->timestamp > newest;
       cell = cursor->next())
    if (covers_family(cell->type())) newest = cell->timestamp;
  CELLAR_TRY(cursor->status());
  return newest;
}

// The first cell of each column is its newest.
Result<int64_t> stored_in_family(const Store& store, std::string_view row) {
  const std::shared_ptr<const StoreView> view = store.view();
  ReadStats stats;
  const std::unique_ptr<CellCursor> cursor = open_row_cursor(*view, row, {}, stats);
  if (cursor == nullptr) return kOldestTimestamp;
  int64_t newest = kOldestTimestamp;
  OwnedCell key;
  first_of_row(key, row);
  for (const CellView* cell = cursor->seek(key.view()); cell != nullptr && cell->row() == row;
       cell = cursor->skip_to(key.view())) {
    newest = std::max(newest, cell->timestamp);
    last_of_column(key, row, store.family(), cell->qualifier());
  }
  CELLAR_TRY(cursor->status());
  return newest;
}

}  // namespace

void StampBook::note(const Store& store, std::string_view row, std::string_view qualifier, int64_t timestamp,
                     CellType type) {
  CELLAR_ASSERT(timestamp != kNow);
  Row& noted = rows_[{&store, row}];
  noted.newest = std::max(noted.newest, timestamp);
  if (covers_family(type)) noted.newest_family_marker = std::max(noted.newest_family_marker, timestamp);
  int64_t& column = noted.columns.try_emplace(qualifier, kOldestTimestamp).first->second;
  column = std::max(column, timestamp);
}

int64_t StampBook::newest(const Store& store, std::string_view row, std::string_view qualifier,
                          CellType type) const {
  const auto noted = rows_.find({&store, row});
  if (noted == rows_.end()) return kOldestTimestamp;
  if (covers_family(type)) return noted->second.newest;
  const auto column = noted->second.columns.find(qualifier);
  const int64_t own = column == noted->second.columns.end() ? kOldestTimestamp : column->second;
  return std::max(own, noted->second.newest_family_marker);
}

Result<int64_t> rising_stamp(const Store& store, std::string_view row, std::string_view qualifier,
                             CellType type, int64_t now_ms, int64_t written) {
  if (type != CellType::kPut && type != CellType::kDeleteColumn && type != CellType::kDeleteFamily)
    return now_ms;
  CELLAR_TRY(check_row(row));  // before a key is made of it
  CELLAR_ASSERT(now_ms != kNow && written != kNow);
  CELLAR_TRY_ASSIGN(const int64_t stored, type == CellType::kDeleteFamily
                                              ? stored_in_family(store, row)
                                              : stored_in_column(store, row, qualifier));
  const int64_t newest = std::max(stored, written);
  if (type != CellType::kPut || newest == kOldestTimestamp) return std::max(now_ms, newest);
  if (newest >= kLatestTimestamp - 1)
    return Status::invalid_argument(
               fmt::format(
                   "row {}, column {}:{} has the highest possible timestamp: no later version is possible",
                   escaped(row), store.family(), escaped(qualifier)))
        .hinting("delete that version, then compact all files of the family");
  return std::max(now_ms, newest + 1);
}

}  // namespace cellar
