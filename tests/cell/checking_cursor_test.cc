// Goal: cells in order pass unchanged; cells out of order end the walk with both keys named.
// Method: the contract of cursors; then sources that break the order on purpose.

#include <gtest/gtest.h>

#include "cell/cell_key.h"
#include "tests/cell_support/checking_cursor.h"
#include "tests/cell_support/cursor_contract.h"
#include "tests/cell_support/poison_cursor.h"
#include "tests/cell_support/vector_cursor.h"

namespace cellar::testing {
namespace {

// Hands out cells as they stand, in order or not.
class Unordered final : public RunCursor {
 public:
  explicit Unordered(const Cells& cells) {
    for (const Cell& cell : cells) cells_.push_back(owned(cell));
  }
  const CellView* seek(const CellView&) override { return stand(0); }
  const CellView* next() override { return stand(at_ + 1); }
  const CellView* seek_before(const CellView&) override { return stand(cells_.size() - 1); }
  Status status() const override { return {}; }
  const Pinnable* pinned() const override { return nullptr; }
  void print(TextPrinter& out) const override { out.line("unordered"); }

 private:
  const CellView* stand(size_t at) {
    at_ = at;
    return at < cells_.size() ? &cells_[at].view() : nullptr;
  }
  std::vector<OwnedCell> cells_;
  size_t at_ = 0;
};

std::unique_ptr<RunCursor> checked(std::string_view cells) {
  return make_checking_cursor(std::make_unique<Unordered>(parse_cells(cells)));
}

TEST(CheckingCursor, KeepsTheCursorContract) {
  check_cursor_contract(
      [](const Cells& cells, Random&) { return make_checking_cursor(poison(vector_cursor(cells))); },
      test_seed(4));
}

TEST(CheckingCursor, NamesBothKeysOfAStepBackward) {
  const auto cursor = checked("a/f:x/5#7=1\na/f:x/6#8=2\na/f:x/4=3\n");
  EXPECT_EQ(print_cells(drain(*cursor)), "a/f:x/5/put#7=1\n");
  EXPECT_TRUE(cursor->status().is(Code::kCorruption));
  EXPECT_EQ(cursor->status().message(), "cells out of order: a/f:x/6/Put#8 comes after a/f:x/5/Put#7");
  EXPECT_EQ(cursor->next(), nullptr);
  OwnedCell first;
  first_of_row(first, {});
  EXPECT_EQ(cursor->seek(first.view()), nullptr);
  EXPECT_EQ(cursor->seek_before(first.view()), nullptr);
}

TEST(CheckingCursor, SequencesAreInOrderToo) {
  const auto cursor = checked("a/f:x/5#7=1\na/f:x/5#8=2\n");
  EXPECT_EQ(drain(*cursor).size(), 1U);
  EXPECT_TRUE(cursor->status().is(Code::kCorruption));
}

TEST(CheckingCursor, RefusesASeekThatLandsBefore) {
  const auto cursor = checked("a/f:x/5\nb/f:x/5\n");
  OwnedCell target;
  first_of_row(target, "b");
  EXPECT_EQ(cursor->seek(target.view()), nullptr);
  EXPECT_TRUE(cursor->status().is(Code::kCorruption));
}

TEST(CheckingCursor, RefusesASeekBeforeThatLandsAfter) {
  const auto cursor = checked("a/f:x/5\nb/f:x/5\n");
  OwnedCell target;
  first_of_row(target, "b");
  EXPECT_EQ(cursor->seek_before(target.view()), nullptr);
  EXPECT_TRUE(cursor->status().is(Code::kCorruption));
}

TEST(CheckingCursor, PassesFailuresOn) {
  const auto cursor = make_checking_cursor(failing(Status::io_error("disk")));
  EXPECT_EQ(drain(*cursor), Cells{});
  EXPECT_EQ(cursor->status().message(), "disk");
}

}  // namespace
}  // namespace cellar::testing
