// Goal: rewrites of ranges of rows, one after the other, give the cells of one rewrite of everything, in the
// same order. They drop as many cells. Method: random cells of all types. Borders lie at rows, between rows,
// before the first and after the last one. Spans of several cells cross the borders.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "compaction/rewrite.h"
#include "tests/cell_support/vector_cursor.h"
#include "tests/compaction/rewrite_cases.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

// Rewrites the parts between the borders, and adds up what they came to.
Rewritten rewrite_parts(const RewriteCase& of, const std::vector<std::string>& borders) {
  Rewritten all;
  for (size_t i = 0; i <= borders.size(); ++i) {
    const std::string first = i == 0 ? std::string() : borders[i - 1];
    const std::string end = i == borders.size() ? std::string() : borders[i];
    Rewritten part = rewrite_range(of, first, end);
    all.result.cells_in += part.result.cells_in;
    for (size_t k = 0; k < kDropReasons; ++k) all.result.dropped[k] += part.result.dropped[k];
    all.result.newest_dropped_marker =
        std::max(all.result.newest_dropped_marker, part.result.newest_dropped_marker);
    for (const std::string& file : part.files) {
      EXPECT_NE(file, "none\n");
      all.files.push_back(file);
    }
    all.longest_span = std::max(all.longest_span, part.longest_span);
  }
  return all;
}

// Returns the length of the longest span that the parts read.
size_t expect_same(const RewriteCase& of, const std::vector<std::string>& borders) {
  SCOPED_TRACE(
      fmt::format("{} borders, the first is {}", borders.size(), borders.empty() ? "-" : borders[0]));
  const Rewritten whole = rewrite_range(of, {}, {});
  const Rewritten parts = rewrite_parts(of, borders);
  EXPECT_EQ(whole.result.cells_in, of.cells.size());
  EXPECT_EQ(parts.result.cells_in, of.cells.size());
  EXPECT_EQ(parts.result.dropped, whole.result.dropped);
  EXPECT_EQ(parts.result.newest_dropped_marker, whole.result.newest_dropped_marker);
  EXPECT_EQ(parts.cells(), whole.cells());
  return parts.longest_span;
}

TEST(RewriteParts, GiveWhatOneRewriteGives) {
  const uint64_t seed = from_environment("CELLAR_SEED", 1);
  size_t longest_span = 0;
  for (uint64_t i = 0; i < std::max<uint64_t>(100, scaled(3000)); ++i) {
    SCOPED_TRACE(fmt::format("seed {}", seed + i));
    Random random(seed + i);
    const RewriteCase made = random_case(random);
    std::vector<std::string> borders;
    for (uint64_t at = random.below(20); at < 90; at += 1 + random.below(30))
      borders.push_back(row_number(at));
    longest_span = std::max(longest_span, expect_same(made, borders));
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(longest_span, 3u) << "no span could cross a border";
}

TEST(RewriteParts, EachRowMayBeAPart) {
  Random random(5);
  const RewriteCase made{.cells = random_cells(random, 30, 6)};
  std::vector<std::string> borders;
  for (uint64_t i = 0; i < 62; ++i) borders.push_back(row_number(i));
  expect_same(made, borders);
}

// Borders need not be rows of the store: those of indexes may be shorter.
TEST(RewriteParts, RowsAtABorderBelongToThePartAfterIt) {
  const RewriteCase made{.cells =
                             parse_cells("a/f:q/1=1\nb/f:q/1=2\nb/f:r/1=3\nb\\x00/f:q/1=4\nc/f:q/1=5\n")};
  EXPECT_EQ(rewrite_range(made, {}, "b").cells(),
            print_cells(Cells(made.cells.begin(), made.cells.begin() + 1)));
  EXPECT_EQ(rewrite_range(made, "b", "c").cells(),
            print_cells(Cells(made.cells.begin() + 1, made.cells.begin() + 4)));
  EXPECT_EQ(rewrite_range(made, "c", {}).cells(),
            print_cells(Cells(made.cells.begin() + 4, made.cells.end())));
  EXPECT_EQ(rewrite_range(made, "aa", std::string_view("b\0", 2)).cells(),
            print_cells(Cells(made.cells.begin() + 1, made.cells.begin() + 3)));
}

TEST(RewriteParts, APartWithoutRowsMakesNoFile) {
  const RewriteCase made{.cells = parse_cells("b/f:q/1=1\nd/f:q/1=2\n")};
  for (const auto& [first, end] : {std::pair("", "a"), std::pair("", "b"), std::pair("c", "d"),
                                   std::pair("b\x01", "c"), std::pair("e", "")}) {
    const Rewritten part = rewrite_range(made, first, end);
    EXPECT_EQ(part.result.cells_in, 0u) << first << ".." << end;
    EXPECT_TRUE(part.files.empty()) << first << ".." << end;
  }
  expect_same(made, {"a", "b", "c", "e"});
}

// All cells of a part are dropped: it has none, and the others keep theirs.
TEST(RewriteParts, APartMayEndUpEmpty) {
  RewriteCase made{.cells = parse_cells("a/f:q/9=1\nb/f:/5/delete_family#7\nb/f:q/3#2=2\nc/f:q/9=3\n")};
  made.rules.all_files = true;
  made.rules.now_ms = 20;
  const Rewritten part = rewrite_range(made, "b", "c");
  EXPECT_EQ(part.result.cells_in, 2u);
  EXPECT_TRUE(part.files.empty());
  EXPECT_EQ(part.result.newest_dropped_marker, 5);
  expect_same(made, {"b", "c"});
}

// The cell after the last row of the part is read, to know that the row has ended. No later one is.
TEST(RewriteParts, NothingIsReadFarAfterTheEnd) {
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += fmt::format("{}/f:q/1=v\n", row_number(static_cast<uint64_t>(i)));
  const std::unique_ptr<RunCursor> failing = failing_after(parse_cells(lines), 12, Status::corruption("far"));
  FilesInMemory output;
  RewriteJob job;
  job.source = failing.get();
  job.end_row = "r011";  // of the twelfth cell
  job.file.mvcc = true;
  job.checkpoint = [](uint64_t) { return Status(); };
  const Result<RewriteResult> result = rewrite(job, output);
  ASSERT_TRUE(result.ok()) << result.status().to_text();
  EXPECT_EQ(result->cells_in, 11u);
}

}  // namespace
}  // namespace cellar::testing
