// Goal: a merged walk yields each source's cells once, in order, the newest first among equals.
// Method: sources and expected walks are text (tests/data/cell/merging_cursor.txt); then the contract that
// every cursor must keep, over sources that are poisoned; then failures.
#include "cell/merging_cursor.h"

#include <gtest/gtest.h>

#include "cell/cell_key.h"
#include "tests/cell_support/cursor_contract.h"
#include "tests/cell_support/poison_cursor.h"
#include "tests/cell_support/vector_cursor.h"
#include "tests/support/data_driven.h"

namespace cellar::testing {
namespace {

std::unique_ptr<CellCursor> merge(const std::vector<Cells>& sources) {
  std::vector<MergeSource> merge;
  for (const Cells& source : sources)
    merge.push_back({poison(vector_cursor(source)), static_cast<uint32_t>(sources.size() - merge.size())});
  return make_merging_cursor(std::move(merge));
}

// Each cell to a random source. Equal cells in their order, the first to the youngest (the last of the
// sources).
std::vector<Cells> deal(const Cells& cells, size_t sources, Random& random) {
  std::vector<Cells> dealt(sources);
  size_t to = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    const bool equal = i > 0 && compare(cells[i - 1], cells[i]) == 0;
    to = equal ? random.below(to + 1) : random.below(sources);
    dealt[to].push_back(cells[i]);
  }
  return dealt;
}

std::string walk(CellCursor& cursor, const Case& c) {
  std::string text;
  for (const std::string& line : c.lines()) {
    const size_t space = line.find(' ');
    const std::string move = line.substr(0, space);
    OwnedCell target;
    if (space != std::string::npos) {
      const std::string key = line.substr(space + 1);
      if (key.find('/') == std::string::npos) {
        first_of_row(target, key);
      } else {
        target = owned(parse_cell(key));
      }
    }
    const CellView* cell = move == "seek"      ? cursor.seek(target.view())
                           : move == "skip_to" ? cursor.skip_to(target.view())
                                               : cursor.next();
    text += cell == nullptr ? "end\n" : print_cell(*cell) + "\n";
  }
  return text;
}

TEST(MergingCursor, WalksAsWritten) {
  std::vector<Cells> sources;
  std::unique_ptr<CellCursor> cursor;
  run_cases("cell/merging_cursor.txt", [&](const Case& c) -> std::string {
    if (c.command == "sources") {
      sources.clear();
      return "";
    }
    if (c.command == "source") {
      sources.push_back(parse_cells(c.input));
      return "";
    }
    if (c.command != "walk") return unknown(c);
    cursor = merge(sources);
    return walk(*cursor, c);
  });
}

TEST(MergingCursor, KeepsTheCursorContract) {
  check_cursor_contract(
      [](const Cells& cells, Random& random) { return merge(deal(cells, 1 + random.below(9), random)); },
      test_seed(1), {.seek_before = false});
}

TEST(MergingCursor, ReportsAFailingSourceAndStaysFailed) {
  std::vector<MergeSource> sources;
  sources.push_back({vector_cursor(parse_cells("a/f:x/1=v")), 0});
  sources.push_back({failing(Status::io_error("disk")), 1});
  const std::unique_ptr<CellCursor> cursor = make_merging_cursor(std::move(sources));
  EXPECT_EQ(drain(*cursor), Cells{});
  EXPECT_EQ(cursor->status().message(), "disk");
  OwnedCell first;
  first_of_row(first, {});
  EXPECT_EQ(cursor->seek(first.view()), nullptr);
  EXPECT_EQ(cursor->next(), nullptr);
  EXPECT_EQ(cursor->status().message(), "disk");
}

// Whichever move of whichever source fails, the merge ends there and says so, and what came before was right.
TEST(MergingCursor, FailsWhereASourceFails) {
  const Cells left = parse_cells("a/f:x/1=1\nc/f:x/1=3\ne/f:x/1=5\n");
  const Cells right = parse_cells("b/f:x/1=2\nd/f:x/1=4\nf/f:x/1=6\n");
  for (int moves = 0; moves < 5; ++moves) {
    std::vector<MergeSource> sources;
    sources.push_back({failing_after(left, moves, Status::corruption("block")), 0});
    sources.push_back({vector_cursor(right), 1});
    const std::unique_ptr<CellCursor> cursor = make_merging_cursor(std::move(sources));
    const Cells seen = drain(*cursor);
    if (moves < 4) {
      EXPECT_TRUE(cursor->status().is(Code::kCorruption)) << moves;
      EXPECT_LE(seen.size(), static_cast<size_t>(moves) * 2) << moves;
    } else {
      EXPECT_TRUE(cursor->status().ok());
      EXPECT_EQ(seen.size(), 6U);
    }
    for (size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i].value, std::to_string(i + 1));
  }
}

TEST(MergingCursor, OneSourceIsReturnedItself) {
  std::unique_ptr<CellCursor> only = vector_cursor({});
  const CellCursor* address = only.get();
  std::vector<MergeSource> sources;
  sources.push_back({std::move(only), 0});
  EXPECT_EQ(make_merging_cursor(std::move(sources)).get(), address);
}

TEST(MergingCursor, NoSourceIsAnEmptyRun) {
  const std::unique_ptr<CellCursor> cursor = make_merging_cursor({});
  EXPECT_EQ(drain(*cursor), Cells{});
  EXPECT_TRUE(cursor->status().ok());
}

}  // namespace
}  // namespace cellar::testing
