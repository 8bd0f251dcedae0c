// FamilyPage: which part of a family's cells of one row a read returns: the first so many after an offset.
#pragma once

#include <cstdint>
#include <string>

#include "cellar/cell.h"
#include "cellar/query.h"

namespace cellar {

struct PageBounds {
  uint32_t offset = 0;
  uint32_t limit = 0;  // 0: no end
  CountBy by = CountBy::kColumns;

  bool are_open() const { return offset == 0 && limit == 0; }
};

// Counts what passed all else, in the order it is returned. One thread at a time.
class FamilyPage {
 public:
  explicit FamilyPage(PageBounds bounds)
      : by_(bounds.by),
        offset_(bounds.offset),
        end_(bounds.limit == 0 ? UINT64_MAX : uint64_t{bounds.offset} + bounds.limit) {}

  bool counts_columns() const { return by_ == CountBy::kColumns; }

  // The next cell is the first of a family in a row.
  void begin() { count_ = 0; }
  // Whether nothing from this cell on can belong to the page, whatever a filter says of it.
  bool is_behind(const CellView& cell) const {
    return count_ == end_ && (!counts_columns() || cell.qualifier() != column_);
  }
  // Counts the cell; whether it belongs to the page.
  bool takes(const CellView& cell) {
    if (!counts_columns()) {
      ++count_;
    } else if (count_ == 0 || cell.qualifier() != column_) {
      ++count_;
      column_ = cell.qualifier();  // the cell itself is gone two moves later
    }
    return count_ > offset_;
  }
  // Whether the last cell or column that belongs to the page has been counted.
  bool is_full() const { return count_ == end_; }

 private:
  CountBy by_;
  uint64_t offset_;
  uint64_t end_;
  uint64_t count_ = 0;
  std::string column_;  // counted last
};

}  // namespace cellar
