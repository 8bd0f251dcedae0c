// Goal: a mutation keeps its parts while its memory grows, moves and serves other mutations. Method: a model
// that is a list of cells.
#include "cellar/mutation.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

std::string listed(const std::vector<Cell>& cells) {
  std::string text;
  for (const Cell& cell : cells)
    text += cell.row + '/' + cell.family + '/' + cell.qualifier + '/' + std::to_string(cell.timestamp) + '/' +
            cell.value + '\n';
  return text;
}

std::string draw(Random& random, size_t bytes_max) {
  std::string bytes(random.below(bytes_max + 1), '\0');
  for (char& byte : bytes) byte = static_cast<char>('a' + random.below(26));
  return bytes;
}

// A put, and the cells that it must have.
struct Modelled {
  explicit Modelled(std::string first_row) : row(std::move(first_row)), put(row) {}
  void add(Random& random) {
    const size_t value_bytes_max = random.one_in(20) ? 6000 : 40;
    const Cell cell(row, draw(random, 3), draw(random, 9), static_cast<int64_t>(random.below(1000)),
                    CellType::kPut, draw(random, value_bytes_max));
    put.add_at(cell.family, cell.qualifier, cell.timestamp, cell.value);
    cells.push_back(cell);
  }
  void start(std::string next_row) {
    row = std::move(next_row);
    put.start(row);
    cells.clear();
  }
  void check() const {
    ASSERT_EQ(put.row(), row);
    ASSERT_EQ(put.size(), cells.size());
    ASSERT_EQ(listed(put.cells()), listed(cells));
  }

  std::string row;
  Put put;
  std::vector<Cell> cells;
};

TEST(RowMutation, KeepsItsPartsWhileItsMemoryGrowsAndMoves) {
  for (uint64_t seed = 1; seed <= scaled(200); ++seed) {
    Random random(seed);
    std::vector<Modelled> puts;
    for (int i = 0; i < 4; ++i) puts.emplace_back(draw(random, 300));
    for (int step = 0; step < 200; ++step) {
      Modelled& one = puts[random.below(puts.size())];
      Modelled& other = puts[random.below(puts.size())];
      switch (random.below(8)) {
        case 0:
          one.start(draw(random, random.one_in(9) ? 5000 : 30));
          break;
        case 1:
          one = other;
          break;
        case 2:
          std::swap(one, other);
          break;
        case 3:
          one = Modelled(other);
          break;
        default:
          one.add(random);
      }
      one.check();
      other.check();
    }
  }
}

// A new part may be a copy of another part. The memory of the mutation moves meanwhile.
TEST(RowMutation, TakesPartsOfItself) {
  Put put("a row of the table");
  for (int i = 0; i < 100; ++i) put.add("f", put.row(), put.row());
  for (const Cell& cell : put.cells()) {
    ASSERT_EQ(cell.qualifier, "a row of the table");
    ASSERT_EQ(cell.value, "a row of the table");
  }
  put.start(put.row().substr(2, 3));
  EXPECT_EQ(put.row(), "row");
  EXPECT_TRUE(put.empty());
  const Put& same = put;
  put = same;
  EXPECT_EQ(put.row(), "row");
}

TEST(RowMutation, AFamilyThatIsDeletedReplacesWhatWasAddedForIt) {
  Delete erase("r");
  for (int i = 0; i < 10; ++i)
    erase.column(i % 2 == 0 ? "f" : "g", std::string(1, static_cast<char>('a' + i)), 7);
  erase.family("f", 8);
  EXPECT_EQ(listed(erase.cells()), "r/g/b/7/\nr/g/d/7/\nr/g/f/7/\nr/g/h/7/\nr/g/j/7/\nr/f//8/\n");
}

TEST(RowMutation, AMutationThatWasMovedFromStartsAgain) {
  Put put("r");
  put.add("f", "q", "v");
  const Put taken = std::move(put);
  EXPECT_EQ(listed(taken.cells()), "r/f/q/" + std::to_string(kNow) + "/v\n");
  put.start("s").add("f", "q", "w");  // NOLINT: a moved-from mutation may be started
  EXPECT_EQ(listed(put.cells()), "s/f/q/" + std::to_string(kNow) + "/w\n");
}

}  // namespace
}  // namespace cellar::testing
