// Goal: a walk shows its judge every cell that is not decided, in its place, and no other but family-wide
// markers. Method: the judge does what the cells' values say; which cells it was shown is compared with text
// (tests/data/cell/walk.txt), forward and reversed, over poisoned sources.
#include "cell/walk.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cell/reverse_row_cursor.h"
#include "tests/cell_support/cursor_contract.h"
#include "tests/cell_support/poison_cursor.h"
#include "tests/cell_support/vector_cursor.h"
#include "tests/support/data_driven.h"

namespace cellar::testing {
namespace {

// A cell's value: "i" include; then c, r or s<qualifier>: next column, next row, seek to that column.
class ObedientJudge {
 public:
  Verdict judge(const CellView& cell, Place place) {
    constexpr std::string_view kPlaces[] = {"row   ", "column", "      "};
    shown_ += fmt::format("{} {}\n", kPlaces[static_cast<size_t>(place)], print_cell(cell));
    std::string_view order = cell.value_bytes();
    const bool include = order.starts_with('i');
    if (include) order.remove_prefix(1);
    if (order.empty()) return {include, Step::kNextCell};
    if (order[0] == 'c') return {include, Step::kNextColumn};
    if (order[0] == 'r') return {include, Step::kNextRow};
    first_of_column(target_, cell.row(), cell.family(), order.substr(1));
    return {include, Step::kSeek};
  }
  const CellView& target() const { return target_.view(); }
  std::string take_shown() { return std::exchange(shown_, {}); }
  void note(const std::string& line) { shown_ += line + "\n"; }

 private:
  std::string shown_;
  OwnedCell target_;
};

std::unique_ptr<CellCursor> cursor_over(const Cells& cells, bool reversed) {
  auto cursor = poison(vector_cursor(cells));
  return reversed ? make_reverse_row_cursor(std::move(cursor)) : std::move(cursor);
}

// "walk [reversed] [leave=<n>]": leaves each row after n included cells.
std::string walked(const Case& c, const Cells& cells) {
  const bool reversed = c.has("reversed");
  const uint64_t leave = c.count("leave", UINT64_MAX);
  const auto cursor = cursor_over(cells, reversed);
  ObedientJudge judge;
  Walk<ObedientJudge> walk(*cursor, judge);
  OwnedCell from;
  first_of_row(from, reversed ? "\xff" : "");
  walk.position(from.view());
  while (walk.settle() != nullptr) {
    walk.enter_row();
    EXPECT_TRUE(walk.in_row());
    for (uint64_t included = 0; walk.in_row(); ++included) {
      if (included == leave) {
        judge.note("       leave");
        walk.leave_row();
        break;
      }
      const CellView* cell = walk.next_in_row();
      if (cell == nullptr) break;
      judge.note("       returned");
    }
    EXPECT_FALSE(walk.in_row());
  }
  EXPECT_TRUE(walk.status().ok());
  return judge.take_shown();
}

TEST(Walk, ShowsWhatIsNotDecided) {
  Cells cells;
  run_cases("cell/walk.txt", [&](const Case& c) -> std::string {
    if (c.command == "cells") {
      cells = sorted(parse_cells(c.input));
      return "";
    }
    return c.command == "walk" ? walked(c, cells) : unknown(c);
  });
}

// A decided row is left when somebody asks for the next one, not before.
TEST(Walk, LeavesADecidedRowOnlyWhenAsked) {
  const Cells cells = parse_cells("a/f:x/1=ir\na/f:y/1\nb/f:x/1=i\n");
  const auto cursor = failing_after(cells, 1, Status::io_error("disk"));
  ObedientJudge judge;
  Walk<ObedientJudge> walk(*cursor, judge);
  OwnedCell from;
  first_of_row(from, {});
  walk.position(from.view());
  walk.enter_row();
  EXPECT_NE(walk.next_in_row(), nullptr);
  EXPECT_EQ(walk.next_in_row(), nullptr);
  EXPECT_EQ(walk.next_in_row(), nullptr);
  EXPECT_TRUE(walk.status().ok());
  EXPECT_EQ(walk.settle(), nullptr);
  EXPECT_EQ(walk.status().message(), "disk");
}

TEST(Walk, EndsWhereItsCursorFails) {
  Cells cells;
  for (int i = 0; i < 30; ++i)
    cells.push_back(parse_cell(fmt::format("a/f:x/{}={}", 100 - i, i == 0 ? "ic" : "i")));
  for (int moves = 1; moves < 4; ++moves) {
    const auto cursor = failing_after(cells, moves, Status::io_error("disk"));
    ObedientJudge judge;
    Walk<ObedientJudge> walk(*cursor, judge);
    OwnedCell from;
    first_of_row(from, {});
    walk.position(from.view());
    walk.enter_row();
    EXPECT_NE(walk.next_in_row(), nullptr);
    EXPECT_EQ(walk.next_in_row(), nullptr);
    EXPECT_FALSE(walk.in_row());
    EXPECT_EQ(walk.settle(), nullptr);
    EXPECT_EQ(walk.status().message(), "disk");
  }
}

// The verdicts of random cells, and a walk that compares every cell with every rule by itself.
TEST(Walk, SkipsExactlyWhatIsDecided) {
  const uint64_t seed = test_seed(8);
  for (uint64_t round = 0; round < scaled(2000); ++round) {
    Random random(seed + round);
    SCOPED_TRACE("CELLAR_SEED=" + std::to_string(seed + round));
    Cells cells = random_cells(random, random.below(60), {.equal_cells = false});
    constexpr std::string_view kOrders[] = {"", "i", "i", "c", "ic", "c", "r", "ir", "sq", "isz"};
    for (Cell& cell : cells) cell.value = kOrders[random.below(std::size(kOrders))];
    std::string expected;
    std::string_view order;
    const Cell* before = nullptr;
    for (const Cell& cell : cells) {
      const bool new_row = before == nullptr || before->row != cell.row;
      const bool new_column = new_row || before->qualifier != cell.qualifier;
      const bool marker = covers_family(cell.type);
      if (new_row) order = {};
      const bool decided = order.starts_with('r') || (order.starts_with('c') && !new_column) ||
                           (order.starts_with('s') && cell.qualifier < order.substr(1));
      if (order.starts_with('c') && new_column) order = {};
      before = &cell;
      if (decided && (!marker || order.starts_with('r'))) continue;
      expected += print_cell(cell) + "\n";
      std::string_view own = cell.value;
      if (own.starts_with('i')) own.remove_prefix(1);
      // A marker that was only overheard undoes nothing; another verdict of its own holds.
      if (!decided || !own.empty()) order = own;
    }
    const auto cursor = cursor_over(cells, false);
    ObedientJudge judge;
    Walk<ObedientJudge> walk(*cursor, judge);
    OwnedCell from;
    first_of_row(from, {});
    walk.position(from.view());
    while (walk.settle() != nullptr) {
      walk.enter_row();
      while (walk.next_in_row() != nullptr) {
      }
    }
    std::string shown;
    for (const std::string& line : split_lines(judge.take_shown())) shown += line.substr(7) + "\n";
    ASSERT_EQ(shown, expected) << print_cells(cells);
  }
}

}  // namespace
}  // namespace cellar::testing
