// Goal: reads find the same in sorted runs as in the same files that are all runs of their own. They look at
// fewer files. Method: random files of random rows, with every kind of read in both views. Files, cursors and
// entries of explanations are counted. A file in the middle of a run is damaged.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "base/random.h"
#include "cellar/filter.h"
#include "engine/read/range_estimate.h"
#include "engine/read/read_set.h"
#include "tests/cell_support/cursor_contract.h"
#include "tests/engine/run_views.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

// With fewer rounds, luck decides if anything happens.
uint64_t rounds_of(uint64_t whole) { return std::max<uint64_t>(12, scaled(whole)); }

using SourceOutcome = ReadExplanation::Outcome;
using Texts = std::vector<std::string>;

FamilyOptions family_with(const std::string& bloom) {
  FamilyOptions family;
  family.name = "f";
  family.max_versions = 3;
  family.bloom = bloom;
  family.block_bytes = 1024;
  return family;
}

std::string row_number(uint64_t number) {
  const std::string digits = std::to_string(number);
  return "r" + std::string(3 - digits.size(), '0') + digits;
}

// Random cells of random rows below `rows`, in order. Their sequences are above `sequence`.
Cells draw_run(Random& random, uint64_t rows, uint64_t sequence) {
  constexpr CellType kMarkers[] = {CellType::kDelete, CellType::kDeleteColumn, CellType::kDeleteFamily,
                                   CellType::kDeleteFamilyVersion};
  const bool with_markers = random.one_in(2);
  Cells cells;
  for (uint64_t i = 5 + random.below(60); i > 0; --i) {
    const CellType type = with_markers && random.one_in(8) ? kMarkers[random.below(4)] : CellType::kPut;
    const std::string qualifier =
        covers_family(type) ? "" : std::string(1, static_cast<char>('p' + random.below(4)));
    cells.emplace_back(
        row_number(random.below(rows)), "f", qualifier, 1 + static_cast<int64_t>(random.below(40)), type,
        type == CellType::kPut ? std::string(300, static_cast<char>('a' + random.below(26))) : "");
    cells.back().sequence = ++sequence;
  }
  return sorted(std::move(cells));
}

// Cuts the cells into files at borders of rows.
std::vector<Cells> cut(const Cells& cells, Random& random) {
  std::vector<Cells> files(1);
  const uint64_t one_in = 1 + random.below(6);
  for (const Cell& cell : cells) {
    if (!files.back().empty() && files.back().back().row != cell.row && random.one_in(one_in))
      files.emplace_back();
    files.back().push_back(cell);
  }
  if (random.one_in(4))  // a file without cells
    files.insert(files.begin() + static_cast<std::ptrdiff_t>(random.below(files.size() + 1)), Cells());
  return files;
}

std::unique_ptr<RunViews> draw_views(Random& random, const std::string& bloom, uint64_t rows) {
  auto views = std::make_unique<RunViews>(family_with(bloom));
  const uint64_t runs = 1 + random.below(4);
  for (uint64_t run = 0; run < runs; ++run) views->add_run(cut(draw_run(random, rows, 1000 * run), random));
  return views;
}

FilterPtr draw_filter(Random& random, uint64_t rows) {
  const auto range = [&] {
    const uint64_t from = random.below(rows), to = random.below(rows);
    return KeyRange{row_number(std::min(from, to)), row_number(std::max(from, to) + 1)};
  };
  switch (random.below(4)) {
    case 0:
      return multi_row_range_filter({range(), range()}).value();  // leaps from range to range
    case 1:
      return fuzzy_row_filter({{"r?" + std::to_string(random.below(10)) + "?", std::string("\0\1\0\1", 4)}})
          .value();
    case 2:
      return qualifier_filter(CompareOp::kGreaterOrEqual, binary("q"));
    default:
      return column_range_filter("q", true, "r", true);
  }
}

Scan draw_scan(Random& random, uint64_t rows) {
  Scan scan;
  const bool reversed = random.one_in(2);
  scan.reversed(reversed);
  uint64_t from = random.below(rows + 2), to = random.below(rows + 2);
  if (reversed != (from > to)) std::swap(from, to);
  if (random.one_in(2)) scan.start(row_number(from), random.one_in(2));
  if (random.one_in(2)) scan.stop(row_number(to), random.one_in(2));
  if (random.one_in(2)) scan.all_versions();
  if (random.one_in(4)) scan.time_range(10, 30);
  if (random.one_in(5)) scan.limit(1 + random.below(4));
  if (random.one_in(5)) return scan.raw(true);
  if (random.one_in(4)) scan.column("f", "q").column("f", "r");
  if (random.one_in(3)) scan.filter(draw_filter(random, rows));
  return scan;
}

TEST(SortedRuns, ReadsFindWhatTheyFindInSingleFiles) {
  constexpr uint64_t kDrawn = 60;
  Random random(test_seed(21));
  uint64_t found = 0, several = 0;
  for (uint64_t round = 0; round < rounds_of(120); ++round) {
    const char* const blooms[] = {"none", "row", "rowcol", "rowprefix_fixed_length(prefix_length=3)"};
    const auto views = draw_views(random, blooms[random.below(4)], kDrawn);
    const std::shared_ptr<const StoreView> runs = views->view(RunViews::Files::kInRuns);
    const std::shared_ptr<const StoreView> alone = views->view(RunViews::Files::kAlone);
    several += runs->runs.size() < alone->runs.size() ? 1 : 0;
    for (int i = 0; i < 60; ++i) {
      const Scan scan = draw_scan(random, kDrawn);
      const Texts expected = scan_view(alone, scan);
      ASSERT_EQ(scan_view(runs, scan), expected) << "round " << round << ", scan " << i;
      found += expected.size();
      Get get(row_number(random.below(kDrawn)));
      if (random.one_in(2)) get.column("f", "q");
      if (random.one_in(2)) get.all_versions();
      ASSERT_EQ(get_from_view(runs, get), get_from_view(alone, get)) << get.row();
    }
  }
  EXPECT_GT(found, rounds_of(120) * 60);
  EXPECT_GT(several, rounds_of(120) / 2);
}

TEST(SortedRuns, TheEntriesOfAnExplanationAddUp) {
  constexpr uint64_t kDrawn = 60;
  Random random(test_seed(22));
  for (uint64_t round = 0; round < rounds_of(60); ++round) {
    const auto views = draw_views(random, random.one_in(2) ? "none" : "row", kDrawn);
    const std::shared_ptr<const StoreView> view = views->view(RunViews::Files::kInRuns);
    for (int i = 0; i < 30; ++i) {
      Scan scan = draw_scan(random, kDrawn);
      ReadStats plain;
      const Texts expected = scan_view(view, scan.stats(&plain));
      ReadExplanation explanation;
      ReadStats stats;
      ASSERT_EQ(scan_view(view, scan.stats(&stats).explain(&explanation)), expected);
      // The same is counted with an explanation and without.
      for (ReadStats* each : {&stats, &plain}) {
        each->blocks_from_cache += std::exchange(each->blocks_from_disk, 0);
        each->bytes_from_disk = 0;
        // An explained scan goes backward row by row, not in spans. It looks up a block more often.
        if (scan.reversed()) each->blocks_from_cache = each->data_blocks = 0;
      }
      ASSERT_EQ(to_text(stats), to_text(plain));
      ASSERT_EQ(stats.bloom_checks, plain.bloom_checks);
      ASSERT_EQ(explanation.sources.size(), views->files());
      uint64_t met = 0, reached = 0, outside = 0;
      for (const ReadExplanation::Source& source : explanation.sources) {
        met += source.cells_met;
        reached += source.outcome != SourceOutcome::kNotReached ? 1 : 0;
        outside += source.outcome == SourceOutcome::kOutsideKeys ? 1 : 0;
        ASSERT_LE(source.cells_taken, source.cells_met);
        ASSERT_TRUE(source.outcome == SourceOutcome::kRead || source.cells_met == 0)
            << outcome_name(source.outcome);
        ASSERT_EQ(source.cost.files_considered, source.outcome == SourceOutcome::kNotReached ? 0u : 1u);
      }
      ASSERT_GE(met, stats.cells_returned);
      ASSERT_EQ(reached, stats.files_considered);
      ASSERT_EQ(outside, stats.files_skipped_range);
    }
  }
}

// Four runs of 50 files, whose rows lie two apart. Each run has all rows, in files of two rows.
class FourRuns : public ::testing::Test {
 protected:
  static constexpr uint64_t kRuns = 4, kFiles = 50, kRowsOfRun = 100;

  void make(const std::string& bloom) {
    views_ = std::make_unique<RunViews>(family_with(bloom));
    for (uint64_t run = 0; run < kRuns; ++run) {
      std::vector<Cells> files(kFiles);
      for (uint64_t i = 0; i < kRowsOfRun; ++i) {
        files[i / 2].emplace_back(row_number(2 * i), "f", "q", static_cast<int64_t>(10 * run + 1),
                                  CellType::kPut, "v");
        files[i / 2].back().sequence = 1000 * run + i + 1;
      }
      views_->add_run(files);
    }
  }
  std::shared_ptr<const StoreView> view() const { return views_->view(RunViews::Files::kInRuns); }
  static uint64_t opened(const ReadStats& stats) {
    return stats.files_considered - stats.files_skipped_range - stats.files_skipped_time -
           stats.files_skipped_ttl - stats.files_skipped_bloom;
  }

  std::unique_ptr<RunViews> views_;
};

TEST_F(FourRuns, AGetOpensOneFileOfEachRun) {
  make("none");
  const auto view = this->view();
  ASSERT_EQ(view->runs.size(), kRuns);
  for (uint64_t i = 0; i < 2 * kRowsOfRun; ++i) {
    ReadStats stats;
    ReadExplanation explanation;
    const Texts found = get_from_view(view, Get(row_number(i)).all_versions().stats(&stats));
    ASSERT_EQ(found.size(), i % 2 == 0 ? 3u : 0u) << "the family keeps three versions";
    ASSERT_EQ(stats.files_considered, kRuns * kFiles);
    ASSERT_EQ(opened(stats), i % 4 != 3 ? kRuns : 0)
        << row_number(i) << ": every fourth row is between files";
    ASSERT_EQ(stats.blocks_from_disk + stats.blocks_from_cache, opened(stats)) << row_number(i);
    static_cast<void>(get_from_view(view, Get(row_number(i)).explain(&explanation)));
    ASSERT_EQ(explanation.sources.size(), kRuns * kFiles);
  }
}

TEST_F(FourRuns, AGetAsksOneFilterOfEachRun) {
  make("row");
  const auto view = this->view();
  ReadStats stats;
  EXPECT_EQ(get_from_view(view, Get(row_number(41)).stats(&stats)).size(), 0u);
  EXPECT_EQ(stats.bloom_checks, kRuns);
  EXPECT_EQ(stats.files_skipped_bloom, kRuns);
  EXPECT_EQ(opened(stats), 0u);
}

TEST_F(FourRuns, AScanOpensTheFilesOneAfterTheOther) {
  make("none");
  for (const bool reversed : {false, true}) {
    ReadStats stats;
    ReadExplanation explanation;
    {
      const auto view = this->view();
      Scan scan;
      scan.reversed(reversed).stats(&stats).explain(&explanation);
      ViewScan rows(view, scan);
      uint64_t read = 0;
      for (auto row = rows.next(); !row.empty(); row = rows.next(), ++read) {
        // The file of the row, and perhaps the next one of each run.
        const auto reached = static_cast<uint64_t>(
            std::ranges::count(explanation.sources, SourceOutcome::kRead, &ReadExplanation::Source::outcome));
        ASSERT_GE(reached, kRuns * (read / 2 + 1)) << "at row " << read;
        ASSERT_LE(reached, kRuns * (read / 2 + 2)) << "at row " << read;
      }
      EXPECT_EQ(read, kRowsOfRun);
      EXPECT_OK(rows.status());
    }
    EXPECT_EQ(opened(stats), kRuns * kFiles);
    EXPECT_EQ(stats.files_considered, kRuns * kFiles);
    EXPECT_EQ(stats.blocks_from_disk, kRuns * kFiles) << "each has one block";
    for (const ReadExplanation::Source& source : explanation.sources) {
      EXPECT_EQ(source.outcome, SourceOutcome::kRead);
      EXPECT_EQ(source.cost.files_considered, 1u);
    }
  }
}

TEST_F(FourRuns, AScanOfARangeOpensItsFiles) {
  make("none");
  const auto view = this->view();
  for (const bool reversed : {false, true}) {
    ReadStats stats;
    Scan scan;
    scan.reversed(reversed).stats(&stats);
    // Rows 40 to 51 lie in three files of each run; the bounds are rows of two others, or between files.
    scan.start(row_number(reversed ? 52 : 38), false).stop(row_number(reversed ? 39 : 52), false);
    EXPECT_EQ(scan_view(view, scan).size(), 6u);
    EXPECT_EQ(opened(stats), 3 * kRuns);
    EXPECT_EQ(stats.files_considered, kFiles * kRuns);
  }
}

TEST_F(FourRuns, AScanThatEndsEarlySaysWhichFilesItDidNotReach) {
  make("none");
  const auto view = this->view();
  ReadStats stats;
  ReadExplanation explanation;
  Scan scan;
  scan.start(row_number(100)).limit(3).stats(&stats).explain(&explanation);
  EXPECT_EQ(scan_view(view, scan).size(), 3u);
  EXPECT_EQ(opened(stats), 2 * kRuns);
  EXPECT_EQ(stats.files_skipped_range, 25 * kRuns);
  ASSERT_EQ(explanation.sources.size(), kFiles * kRuns);
  for (size_t i = 0; i < explanation.sources.size(); ++i) {
    const ReadExplanation::Source& source = explanation.sources[i];
    const size_t in_run = i % kFiles;  // the youngest run first, its files by their rows
    EXPECT_EQ(source.name, "file" + std::to_string((kRuns - 1 - i / kFiles) * kFiles + in_run));
    EXPECT_EQ(source.outcome, in_run < 25   ? SourceOutcome::kOutsideKeys
                              : in_run < 27 ? SourceOutcome::kRead
                                            : SourceOutcome::kNotReached);
  }
  EXPECT_NE(to_text(explanation).find("not reached"), std::string::npos);
}

TEST_F(FourRuns, FilesThatCannotMatchStayClosed) {
  make("none");
  const auto view = this->view();
  ReadStats stats;
  Scan scan;
  scan.time_range(11, 12).stats(&stats);  // the time of one run
  EXPECT_EQ(scan_view(view, scan).size(), kRowsOfRun);
  EXPECT_EQ(stats.files_skipped_time, 3 * kFiles);
  EXPECT_EQ(opened(stats), kFiles);
  make("rowprefix_fixed_length(prefix_length=4)");
  stats = {};
  // The row is in a file's range. The filter of prefixes knows that it is not there.
  EXPECT_EQ(scan_view(this->view(), Scan().prefix(row_number(41)).stats(&stats)).size(), 0u);
  EXPECT_EQ(stats.files_skipped_bloom, kRuns);
  EXPECT_EQ(opened(stats), 0u);
}

TEST(SortedRuns, ABadFileEndsAScan) {
  for (const bool reversed : {false, true}) {
    RunViews views(family_with("none"));
    std::vector<Cells> files;
    for (uint64_t i = 0; i < 10; ++i)
      files.push_back({Cell(row_number(2 * i), "f", "q", 5, CellType::kPut, std::string(30, 'v')),
                       Cell(row_number(2 * i + 1), "f", "q", 5, CellType::kPut, std::string(30, 'v'))});
    views.add_run(files);
    views.damage(6);
    const auto view = views.view(RunViews::Files::kInRuns);
    ViewScan rows(view, Scan().reversed(reversed));
    uint64_t read = 0;
    while (!rows.next().empty()) ++read;
    EXPECT_TRUE(rows.status().is(Code::kCorruption)) << rows.status().to_text();
    EXPECT_NE(rows.status().to_text().find("file6"), std::string::npos) << rows.status().to_text();
    EXPECT_LE(read, reversed ? 6u : 12u);
    EXPECT_GE(read, reversed ? 5u : 11u);
    EXPECT_TRUE(rows.next().empty()) << "the error is sticky";
    EXPECT_TRUE(rows.status().is(Code::kCorruption));
    // Reads that do not come to the file are not concerned.
    EXPECT_EQ(scan_view(view, Scan().stop(row_number(12))).size(), 12u);
    EXPECT_EQ(scan_view(view, Scan().start(row_number(14))).size(), 6u);
  }
}

TEST(SortedRuns, NeighboursWithANumberFormARun) {
  RunViews views(family_with("none"));
  const auto file = [](const std::string& row, CellType type = CellType::kPut) {
    return Cells{Cell(row, "f", "", 5, type, "")};
  };
  views.add_run({file("a"), file("b", CellType::kDeleteFamily), file("c")});
  views.add_run({file("b"), {}, file("c"), file("d")});
  const auto runs = views.view(RunViews::Files::kInRuns);
  ASSERT_EQ(runs->runs.size(), 4u) << "a file without cells is a run of its own";
  const std::pair<size_t, size_t> expected[] = {{0, 3}, {3, 4}, {4, 5}, {5, 7}};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(runs->runs[i].begin, expected[i].first);
    EXPECT_EQ(runs->runs[i].end, expected[i].second);
  }
  ASSERT_EQ(runs->rows.size(), 7u);
  EXPECT_EQ(runs->rows[1].first, "b");
  EXPECT_EQ(runs->rows[6].last, "d");
  EXPECT_EQ(runs->rows[0].next_marked, 1u);
  EXPECT_EQ(runs->rows[1].next_marked, 1u);
  EXPECT_EQ(runs->rows[2].next_marked, 3u) << "after the run";
  const auto alone = views.view(RunViews::Files::kAlone);
  EXPECT_EQ(alone->runs.size(), 7u);
  EXPECT_TRUE(alone->rows.empty());
}

TEST(SortedRuns, FilesWithinBoundsAreThoseThatMayHoldTheirRows) {
  // Rows that differ in their first eight bytes, and rows of two kinds, each of which differs in later bytes.
  const auto short_row = [](uint64_t i) { return row_number(i); };
  const auto long_row = [](uint64_t i) {
    return std::string(i < 50 ? "a" : "b") + "aaaaaaaaaaa" + row_number(i);
  };
  Random random(test_seed(23));
  for (const std::function<std::string(uint64_t)>& row :
       {std::function(+short_row), std::function(+long_row)}) {
    RunViews views(family_with("none"));
    std::vector<Cells> files;
    for (uint64_t i = 0; i < 9; ++i)  // rows 10-12, 20-22, …
      files.push_back({Cell(row(10 * i + 10), "f", "q", 5, CellType::kPut, "v"),
                       Cell(row(10 * i + 12), "f", "q", 5, CellType::kPut, "v")});
    views.add_run(files);
    const auto view = views.view(RunViews::Files::kInRuns);
    for (int i = 0; i < 5000; ++i) {
      const std::string low = random.one_in(8) ? "" : row(random.below(110));
      const std::string high = random.one_in(8) ? "" : row(random.below(110));
      const RowBounds bounds{low, high, random.one_in(2), random.one_in(2)};
      const FileRange found = files_within(*view, view->runs[0], bounds);
      for (size_t file = 0; file < files.size(); ++file) {
        const std::string &first = files[file][0].row, &last = files[file][1].row;
        const bool above_low = bounds.low_inclusive ? last >= low : last > low;
        const bool below_high = high.empty() || (bounds.high_inclusive ? first <= high : first < high);
        const bool expected = (low.empty() || above_low) && below_high;
        ASSERT_EQ(file >= found.begin && file < found.end, expected)
            << low << " " << bounds.low_inclusive << " to " << high << " " << bounds.high_inclusive;
      }
    }
  }
}

// A transaction finds the same changed rows, whatever the files are.
TEST(SortedRuns, ChangedRowsAreFound) {
  constexpr uint64_t kDrawn = 60;
  Random random(test_seed(24));
  uint64_t changed = 0;
  for (uint64_t round = 0; round < rounds_of(100); ++round) {
    const auto views = draw_views(random, random.one_in(2) ? "none" : "row", kDrawn);
    const std::shared_ptr<const StoreView> runs = views->view(RunViews::Files::kInRuns);
    const std::shared_ptr<const StoreView> alone = views->view(RunViews::Files::kAlone);
    for (int i = 0; i < 20; ++i) {
      ReadSet rows;
      std::set<std::string> wanted;
      for (uint64_t left = random.below(4); left > 0; --left) {
        wanted.insert(row_number(random.below(kDrawn)));
        rows.add_row(*wanted.rbegin());
      }
      if (random.one_in(2)) {
        const auto range = rows.add_range();
        range->passed = true;
        range->reversed = random.one_in(2);
        range->start = row_number(random.below(kDrawn));
        range->stop = row_number(random.below(kDrawn));
        if ((range->start > range->stop) != range->reversed) std::swap(range->start, range->stop);
      }
      const uint64_t since = 1000 * random.below(4) + random.below(60);
      const auto found = rows.changed_row(*runs, since);
      ASSERT_TRUE(found.ok());
      ASSERT_EQ(found->has_value(), rows.changed_row(*alone, since)->has_value()) << round << " " << i;
      if (!*found) continue;
      ++changed;
      ASSERT_TRUE(rows.contains(**found));
      ASSERT_FALSE(
          scan_view(runs, Scan().start(**found).stop(**found, true).raw(true).all_versions()).empty());
    }
  }
  EXPECT_GT(changed, rounds_of(100));
}

TEST(SortedRuns, ChangedRowsAreFoundInMemory) {
  StoreView view;
  const auto memtable_with = [](const std::string& row, uint64_t sequence) {
    const MemtableRef made(make_memtable("blink").value().release());
    Cell cell(row, "f", "q", 5, CellType::kPut, "v");
    cell.sequence = sequence;
    made->insert(owned(cell).view());
    return made;
  };
  view.active = memtable_with("a", 30);
  view.frozen = {memtable_with("b", 20), memtable_with("c", 10)};
  const auto is_changed = [&](const std::string& row, uint64_t since) {
    ReadSet rows;
    rows.add_row(row);
    return rows.changed_row(view, since).value().has_value();
  };
  for (const auto& [row, sequence] : {std::pair{"a", 30u}, std::pair{"b", 20u}, std::pair{"c", 10u}}) {
    EXPECT_TRUE(is_changed(row, sequence - 1)) << row;
    EXPECT_FALSE(is_changed(row, sequence)) << row;
  }
  EXPECT_FALSE(is_changed("d", 0));
}

// Two runs with the same rows. The rows of the files of a run add up; those of two runs may be the same.
TEST(SortedRuns, EstimatesKnowThatFilesOfARunShareNoRows) {
  RunViews views(family_with("row"));
  for (uint64_t run = 0; run < 2; ++run) {
    std::vector<Cells> files(20);
    for (uint64_t i = 0; i < 800; ++i) {
      files[i / 40].emplace_back(row_number(i), "f", "q", static_cast<int64_t>(run + 1), CellType::kPut,
                                 std::string(20, 'v'));
      files[i / 40].back().sequence = 1000 * run + i + 1;
    }
    views.add_run(files);
  }
  const Views runs = {views.view(RunViews::Files::kInRuns)};
  const Views alone = {views.view(RunViews::Files::kAlone)};
  const RangeEstimate whole = estimate_range({}, runs).value();
  EXPECT_EQ(whole.files, 40u);
  EXPECT_EQ(whole.cells.low, 1600u);
  EXPECT_EQ(whole.rows.low, 800u);
  EXPECT_EQ(whole.rows.high, 1600u);
  EXPECT_EQ(estimate_range({}, alone)->rows.low, 40u);
  for (const uint64_t from : {0u, 35u, 400u, 799u}) {
    const EstimateRequest request{row_number(from), row_number(from + 90), {}};
    const RangeEstimate part = estimate_range(request, runs).value();
    const RangeEstimate expected = estimate_range(request, alone).value();
    EXPECT_EQ(part.files, expected.files);
    EXPECT_EQ(part.cells.low, expected.cells.low);
    EXPECT_EQ(part.bytes.high, expected.bytes.high);
    const uint64_t rows = std::min<uint64_t>(90, 800 - from);
    EXPECT_LE(part.rows.low, rows);
    EXPECT_GE(part.rows.high, rows);
    EXPECT_GE(part.rows.low, expected.rows.low);
  }
  const RangeSplits splits = split_range({}, runs, 4).value();
  ASSERT_EQ(splits.rows.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_GE(splits.rows[i], row_number(200 * i + 140));
    EXPECT_LE(splits.rows[i], row_number(200 * i + 260));
  }
  EXPECT_LT(splits.error, split_range({}, alone, 4)->error);
}

}  // namespace
}  // namespace cellar::testing
