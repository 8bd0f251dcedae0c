// Goal: rows of one cell, which a rewrite takes several at a time, are judged and written as any others.
// Method: random rows, most of one cell. The source gives them in spans, and again cell by cell. The files
// must be equal byte for byte, and so must the counts of dropped cells.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "compaction/rewrite.h"
#include "tests/cell_support/cell_text.h"
#include "tests/compaction/rewrite_cases.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

RewriteCase case_of_small_rows(Random& random) {
  RewriteCase made = random_case(random);
  made.cells = random_cells(random, 1 + random.below(200), 1);
  if (random.one_in(2)) {  // rows of more cells among them
    const Cells more = random_cells(random, 1 + random.below(100), 3);
    made.cells.insert(made.cells.end(), more.begin(), more.end());
    made.cells = sorted(std::move(made.cells));
  }
  if (random.one_in(3)) made.rules.family.min_versions = 1;
  if (random.one_in(3)) made.snapshots = {random.below(100)};
  made.rules.read_point = 100 + random.below(100);
  if (random.one_in(2)) made.zero_sequences_up_to = random.below(150);
  if (random.one_in(2)) made.bloom = random.one_in(2) ? "row" : "rowprefix_fixed_length(prefix_length=3)";
  for (uint64_t at = random.below(90); random.one_in(2) && at < 400; at += 1 + random.below(90))
    made.file_starts.push_back(row_number(at));
  return made;
}

TEST(RewriteRows, OfOneCellAreJudgedAndWrittenAsAnyOthers) {
  const uint64_t seed = from_environment("CELLAR_SEED", 1);
  size_t longest_span = 0;
  uint64_t expired = 0;
  uint64_t files = 0;
  for (uint64_t i = 0; i < std::max<uint64_t>(200, scaled(5000)); ++i) {
    SCOPED_TRACE(fmt::format("seed {}", seed + i));
    Random random(seed + i);
    const RewriteCase made = case_of_small_rows(random);
    const Rewritten together = rewrite_range(made, {}, {}, Spans::kOfManyCells);
    const Rewritten single = rewrite_range(made, {}, {}, Spans::kOfOneCell);
    ASSERT_EQ(single.longest_span, 0u);
    ASSERT_EQ(together.result.cells_in, made.cells.size());
    ASSERT_EQ(together.result.dropped, single.result.dropped);
    ASSERT_EQ(together.result.newest_dropped_marker, single.result.newest_dropped_marker);
    ASSERT_EQ(together.files, single.files);
    ASSERT_TRUE(together.bytes == single.bytes);
    ASSERT_TRUE(std::ranges::equal(together.result.files, single.result.files, {}, &RewrittenFile::kept_hash,
                                   &RewrittenFile::kept_hash));
    longest_span = std::max(longest_span, together.longest_span);
    expired += together.result.dropped[static_cast<size_t>(Drop::kExpired)];
    files = std::max<uint64_t>(files, together.files.size());
  }
  EXPECT_GT(longest_span, 3u);
  EXPECT_GT(expired, 1000u);
  EXPECT_GT(files, 5u);
}

// A checkpoint comes after each 256 KiB of cells, however many rows are written at a time.
TEST(RewriteRows, OfOneCellPassCheckpoints) {
  std::string lines;
  const std::string value(20'000, 'v');
  for (uint64_t i = 0; i < 100; ++i) lines += fmt::format("{}/f:q/1#1={}\n", row_number(i), value);
  const RewriteCase made{.cells = parse_cells(lines)};
  const Rewritten together = rewrite_range(made, {}, {});
  EXPECT_EQ(together.checkpoints, 7u);  // two million bytes
  EXPECT_GT(together.longest_span, 3u);
}

}  // namespace
}  // namespace cellar::testing
