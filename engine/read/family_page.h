// FamilyPage: the page of a family that a read returns for each row: a number of cells or columns after
// an offset.
#pragma once

#include <cstdint>
#include <string>

#include "base/assert.h"
#include "cellar/cell.h"

namespace cellar {

struct PageBounds {
  uint32_t offset = 0;
  uint32_t limit = 0;          // 0: no limit
  bool counts_columns = true;  // else each cell

  bool are_open() const { return offset == 0 && limit == 0; }
};

// FamilyPage: counts the cells that passed all other tests, in the order in which they are returned. One
// thread at a time.
class FamilyPage {
 public:
  explicit FamilyPage(PageBounds bounds)
      : counts_columns_(bounds.counts_columns),
        offset_(bounds.offset),
        end_(bounds.limit == 0 ? UINT64_MAX : uint64_t{bounds.offset} + bounds.limit) {
    CELLAR_ASSERT(end_ > offset_);
  }

  bool counts_columns() const { return counts_columns_; }

  // Begins a family in a row: the next cell is its first.
  void begin() { count_ = 0; }
  // Returns whether neither this cell nor any later one can belong to the page, whatever a filter
  // decides.
  bool is_behind(const CellView& cell) const {
    return count_ == end_ && (!counts_columns() || cell.qualifier() != column_);
  }
  // Counts the cell. Returns whether it belongs to the page.
  bool takes(const CellView& cell) {
    CELLAR_DCHECK(!is_behind(cell));
    if (!counts_columns()) {
      ++count_;
    } else if (count_ == 0 || cell.qualifier() != column_) {
      ++count_;
      column_ = cell.qualifier();  // copied, because the cell is invalid two moves later
    }
    CELLAR_DCHECK(count_ > 0 && count_ <= end_);
    return count_ > offset_;
  }
  // Returns whether the last cell or column of the page has been counted.
  bool is_full() const { return count_ == end_; }

 private:
  bool counts_columns_;
  uint64_t offset_;
  uint64_t end_;
  uint64_t count_ = 0;
  std::string column_;  // the last counted column
};

}  // namespace cellar
