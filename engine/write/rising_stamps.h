// Rising stamps: timestamps of unstamped cells that are later than everything written to their column before.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "cellar/cell.h"
#include "cellar/status.h"
#include "engine/store/store.h"

namespace cellar {

// StampBook: the newest timestamps of the cells of one write, in the order in which they are added. Rows and
// qualifiers are borrowed. One thread at a time.
class StampBook {
 public:
  void clear() {
    if (!rows_.empty()) rows_.clear();
  }
  void note(const Store& store, std::string_view row, std::string_view qualifier, int64_t timestamp,
            CellType type);
  // Returns the newest timestamp of the cells that a marker of this type covers. For a put, these are its
  // column and the markers of its family. Returns kOldestTimestamp without such cells.
  int64_t newest(const Store& store, std::string_view row, std::string_view qualifier, CellType type) const;

 private:
  struct Row {
    int64_t newest = kOldestTimestamp;
    int64_t newest_family_marker = kOldestTimestamp;
    std::map<std::string_view, int64_t> columns;
  };
  std::map<std::pair<const Store*, std::string_view>, Row> rows_;
};

// Returns the timestamp of an unstamped cell. A put gets max(now_ms, newest + 1), so that it is a version of
// its own and the newest of its column. A marker of a column or family gets max(now_ms, newest), so that it
// covers everything written before it. Other cells get now_ms. The newest timestamp is that of all cells that
// the store holds there, hidden ones and markers included. It is `written` if that is newer: the newest in
// the write so far, as StampBook::newest() returns it.
//
// Nobody else may write to the row until the cell is visible. The caller holds the row's lock exclusively, or
// is refused if another write comes between. Errors: kInvalidArgument if no timestamp follows the newest, or
// for an empty row; kLimit for a row that is too long.
Result<int64_t> rising_stamp(const Store& store, std::string_view row, std::string_view qualifier,
                             CellType type, int64_t now_ms, int64_t written);

}  // namespace cellar
