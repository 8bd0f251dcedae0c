// Goal: rows come backward and the cells in them forward, whatever moves are made and whatever stands below.
// Method: the contract of cursors in its reversed form, over merges of poisoned sources; then failures.
#include "cell/reverse_row_cursor.h"

#include <gtest/gtest.h>

#include "cell/cell_key.h"
#include "cell/merging_cursor.h"
#include "tests/cell_support/cursor_contract.h"
#include "tests/cell_support/poison_cursor.h"
#include "tests/cell_support/vector_cursor.h"

namespace cellar::testing {
namespace {

TEST(ReverseRowCursor, KeepsTheCursorContract) {
  check_cursor_contract(
      [](const Cells& cells, Random&) { return make_reverse_row_cursor(poison(vector_cursor(cells))); },
      test_seed(2), {.reversed = true, .seek_before = false});
}

TEST(ReverseRowCursor, KeepsItOverAMerge) {
  const auto merged = [](const Cells& cells, Random& random) -> std::unique_ptr<CellCursor> {
    std::vector<Cells> dealt(1 + random.below(5));
    for (const Cell& cell : cells) dealt[random.below(dealt.size())].push_back(cell);
    std::vector<MergeSource> sources;
    for (const Cells& source : dealt)
      sources.push_back(
          {make_reverse_row_cursor(poison(vector_cursor(source))), static_cast<uint32_t>(sources.size())});
    return make_backward_merging_cursor(std::move(sources));
  };
  check_cursor_contract(merged, test_seed(3), {.equal_cells = false, .reversed = true, .seek_before = false});
}

TEST(ReverseRowCursor, FailsWhereItsSourceFails) {
  const Cells cells = parse_cells("a/f:x/1=1\na/f:y/1=2\nb/f:x/1=3\nb/f:y/1=4\n");
  for (int moves = 0; moves < 12; ++moves) {
    const std::unique_ptr<CellCursor> cursor =
        make_reverse_row_cursor(failing_after(cells, moves, Status::io_error("disk")));
    OwnedCell from;
    first_of_row(from, "z");
    const Cells seen = drain_from(*cursor, from.view());
    if (cursor->status().ok()) {
      EXPECT_EQ(print_cells(seen), "b/f:x/1/put=3\nb/f:y/1/put=4\na/f:x/1/put=1\na/f:y/1/put=2\n");
      EXPECT_GT(moves, 6);
    } else {
      EXPECT_EQ(cursor->next(), nullptr);
      EXPECT_EQ(cursor->seek(from.view()), nullptr);
    }
  }
}

}  // namespace
}  // namespace cellar::testing
