// Goal: the default skip_to, and the test cursors themselves, keep the contract; the poison cursor does
// poison. Method: the contract of cursors on each; a cell kept one move too long.
#include "cell/cursor.h"

#include <gtest/gtest.h>

#include "cell/cell_key.h"
#include "tests/cell_support/cursor_contract.h"
#include "tests/cell_support/forwarding_cursor.h"
#include "tests/cell_support/poison_cursor.h"
#include "tests/cell_support/vector_cursor.h"

namespace cellar::testing {
namespace {

// Has the default skip_to.
class Stepping final : public ForwardingCursor {
 public:
  using ForwardingCursor::ForwardingCursor;
  const CellView* skip_to(const CellView& target) override { return CellCursor::skip_to(target); }
};

TEST(Cursor, DefaultSkipToSteps) {
  check_cursor_contract(
      [](const Cells& cells, Random&) { return std::make_unique<Stepping>(vector_cursor(cells)); },
      test_seed(5));
}

TEST(VectorCursor, KeepsTheCursorContract) {
  check_cursor_contract([](const Cells& cells, Random&) { return vector_cursor(cells); }, test_seed(6));
}

TEST(PoisonCursor, KeepsTheCursorContract) {
  check_cursor_contract([](const Cells& cells, Random&) { return poison(vector_cursor(cells)); },
                        test_seed(7));
}

TEST(PoisonCursor, ScribblesAfterTheSecondMove) {
  const auto cursor = poison(vector_cursor(parse_cells("a/f:x/1=v\nb/f:x/1=v\nc/f:x/1=v\nd/f:x/1=v\n")));
  OwnedCell from;
  first_of_row(from, {});
  const CellView* first = cursor->seek(from.view());
  cursor->next();
  EXPECT_EQ(print_cell(*first), "a/f:x/1/put=v");
  cursor->next();
  EXPECT_EQ(first->key[0], '\xdb');
  EXPECT_EQ(first->value[0], '\xdb');
}

TEST(PoisonCursor, PinnedBytesStay) {
  const auto cursor = poison(vector_cursor(parse_cells("a/f:x/1=v\nb/f:x/1=v\nc/f:x/1=v\nd/f:x/1=v\n")));
  OwnedCell from;
  first_of_row(from, {});
  const CellView first = *cursor->seek(from.view());
  const Pin keep = cursor->pin();
  while (cursor->next() != nullptr) {
  }
  EXPECT_EQ(print_cell(first), "a/f:x/1/put=v");
}

TEST(FailingCursor, FailsForGood) {
  const auto cursor = failing_after(parse_cells("a/f:x/1=v\nb/f:x/1=v\n"), 1, Status::io_error("disk"));
  OwnedCell from;
  first_of_row(from, {});
  EXPECT_NE(cursor->seek(from.view()), nullptr);
  EXPECT_EQ(cursor->next(), nullptr);
  EXPECT_EQ(cursor->status().message(), "disk");
  EXPECT_EQ(cursor->seek(from.view()), nullptr);
}

}  // namespace
}  // namespace cellar::testing
