// Goal: memtable cursors keep the contract of every cursor.
// Method: the shared suite, over cells inserted in an order at random, one by one or many at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cell/cell_codec.h"
#include "cell/cell_order.h"
#include "memtable/memtable.h"
#include "tests/cell_support/cursor_contract.h"
#include "tests/memtable/structures.h"

namespace cellar::testing {
namespace {

OwnedCell owned(const Cell& cell) {
  OwnedCell copy;
  copy.assign(cell.row, cell.family, cell.qualifier, cell.timestamp, cell.type, cell.sequence, cell.value,
              cell.tags);
  return copy;
}

// An order of inserting that leaves the cells as they are in `cells`: any order, but equal ones from last to
// first.
std::vector<OwnedCell> insertion_order(const Cells& cells, Random& random) {
  std::vector<size_t> order(cells.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  std::vector<OwnedCell> all;
  for (const Cell& cell : cells) all.push_back(owned(cell));
  // The places that a run of equal cells got, given to them backward.
  std::vector<size_t> place_of(order.size());
  for (size_t i = 0; i < order.size(); ++i) place_of[order[i]] = i;
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && compare_cells(all[begin].view(), all[end].view()) == 0) ++end;
    std::sort(place_of.begin() + static_cast<std::ptrdiff_t>(begin),
              place_of.begin() + static_cast<std::ptrdiff_t>(end), std::greater<>());
  }
  std::vector<OwnedCell> arranged(all.size());
  for (size_t i = 0; i < all.size(); ++i) arranged[place_of[i]] = all[i];
  return arranged;
}

class MemtableCursor : public ::testing::TestWithParam<std::string> {};

TEST_P(MemtableCursor, KeepsTheContract) {
  const auto make = [](const Cells& cells, Random& random) {
    Memtable* table = make_memtable(GetParam()).value().release();
    const Pin pin(table);
    const std::vector<OwnedCell> order = insertion_order(cells, random);
    for (const OwnedCell& cell : order) table->insert(cell.view());
    return table->cursor();
  };
  check_cursor_contract(make, test_seed(31));
}

INSTANTIATE_TEST_SUITE_P(Structures, MemtableCursor, ::testing::ValuesIn(memtable_names()));

}  // namespace
}  // namespace cellar::testing
