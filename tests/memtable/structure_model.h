// StructureModel<S>: a sorted structure S of records next to a plain list, and the moves that must agree.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "cell/cell_codec.h"
#include "cell/cell_key.h"
#include "cell/cell_order.h"
#include "memtable/cell_record.h"

namespace cellar::testing {

template <class S>
class StructureModel {
 public:
  void insert(const CellView& cell) {
    const CellRecord* record = make_record(arena_, cell);
    structure_.insert(cell, record);
    // Among equal cells the one inserted last comes first.
    records_.insert(first_at(cell), record);
  }
  void insert_row(std::string_view row, int64_t timestamp = 1) {
    cell_.assign(row, "f", "q", timestamp, CellType::kPut, records_.size() + 1, "v");
    insert(cell_.view());
  }

  // All cells, from the first to the last.
  void check_walk() const {
    typename S::Place place;
    OwnedCell first;
    first_of_row(first, "");
    const CellRecord* found = place.seek(structure_, first.view());
    for (const CellRecord* wanted : records_) {
      ASSERT_EQ(found, wanted);
      found = place.next();
    }
    EXPECT_EQ(found, nullptr);
    EXPECT_EQ(place.next(), nullptr);
  }

  // The first cell at or after the target and the last one before it, each with up to `steps` cells after it.
  void check_target(const CellView& target, size_t steps = 3) const {
    const auto at = first_at(target);
    typename S::Place place;
    check_from(place, place.seek(structure_, target), at, steps);
    const void* near = &arena_;
    ASSERT_EQ(structure_.find(target, near), at == records_.end() ? nullptr : *at);
    const CellRecord* before = place.seek_before(structure_, target);
    check_from(place, before, at == records_.begin() ? records_.end() : at - 1, steps);
  }
  // The targets of the row, and every cell that there is.
  void check_row(std::string_view row) const {
    OwnedCell target;
    first_of_row(target, row);
    check_target(target.view());
    last_of_row(target, row);
    check_target(target.view());
    first_of_column(target, row, "f", "q");
    check_target(target.view());
    last_of_column(target, row, "f", "q");
    check_target(target.view());
  }
  void check_all() const {
    check_walk();
    for (const CellRecord* each : records_) {
      check_target(each->view());
      check_row(each->view().row());
      if (::testing::Test::HasFatalFailure()) return;
    }
  }

  const S& structure() const { return structure_; }
  size_t size() const { return records_.size(); }

 private:
  using Records = std::vector<const CellRecord*>;

  typename Records::const_iterator first_at(const CellView& target) const {
    return std::partition_point(records_.begin(), records_.end(), [&](const CellRecord* each) {
      return compare_cells(each->view(), target) < 0;
    });
  }
  void check_from(typename S::Place& place, const CellRecord* found, typename Records::const_iterator wanted,
                  size_t steps) const {
    for (; wanted != records_.end(); ++wanted, found = place.next()) {
      ASSERT_EQ(found, *wanted);
      ASSERT_EQ(place.record(), found);
      if (steps-- == 0) return;
    }
    ASSERT_EQ(found, nullptr);
  }

  Arena arena_;
  S structure_;
  Records records_;
  OwnedCell cell_;
};

}  // namespace cellar::testing
