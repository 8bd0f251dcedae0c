// Goal: the result of verification does not depend on the number of threads. Method: every fixture, sound or
// damaged, and files of many pieces with damage of each kind in many places. The whole report with one, two
// and four threads is compared as text.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "base/coding.h"
#include "base/random.h"
#include "cellar/environment.h"
#include "hfile/check/jobs_in_order.h"
#include "hfile/check/verify.h"
#include "tests/hfile/fixture_files.h"
#include "tests/hfile_support/writer_support.h"
#include "tests/support/byte_files.h"

namespace cellar::testing {
namespace {

std::string text_of(const VerifyReport& report) {
  std::string text = fmt::format(
      "verdict {} status {} left out {} blocks {} data {} readable {} cells {} of {} rows {} levels {} {} "
      "{}\n",
      static_cast<int>(report.verdict), report.status.to_text(), report.findings_left_out, report.blocks,
      report.data_blocks, report.data_blocks_readable, report.cells, report.cells_expected, report.rows,
      report.index_levels, report.codec, report.encoding);
  for (const VerifyFinding& each : report.findings) {
    text += fmt::format("{} {} {} offset {} bytes {} kind {} data {} risk {} {} {}\n", each.code,
                        static_cast<int>(each.severity), each.text, each.offset.value_or(0),
                        each.disk_bytes.value_or(0), each.block_kind, each.data_ordinal.value_or(0),
                        each.rows_at_risk, each.risk_first_row, each.risk_end_row.value_or("-"));
  }
  return text;
}

class VerifyJobs : public ::testing::Test {
 protected:
  std::string verified(std::string_view bytes, VerifyLevel level, Executor* executor) {
    return text_of(
        verify(std::make_unique<ViewFile>(bytes), {.name = "f", .level = level, .executor = executor}));
  }

  // One thread, two, four; the last two with the test's own.
  void expect_same(std::string_view bytes, const std::string& what) {
    for (const VerifyLevel level : {VerifyLevel::kBlocks, VerifyLevel::kCells, VerifyLevel::kDeep}) {
      const std::string alone = verified(bytes, level, nullptr);
      EXPECT_EQ(alone, verified(bytes, level, two_.get())) << what;
      EXPECT_EQ(alone, verified(bytes, level, four_.get())) << what;
    }
    ++files_;
  }

  std::unique_ptr<Executor> two_ = make_thread_executor(1, 1);
  std::unique_ptr<Executor> four_ = make_thread_executor(3, 1);
  int files_ = 0;
};

// Many pieces: some 6 MiB, of values that no codec shrinks.
std::string large_file(const std::string& compression, const std::string& encoding) {
  HFileWriterOptions options;
  options.compression = compression;
  options.encoding = encoding;
  options.block_bytes = 16 << 10;
  Random random(7);
  std::vector<Cell> cells;
  for (int row = 0; row < 6000; ++row) {
    std::string value(1000, '\0');
    for (size_t i = 0; i + 8 <= value.size(); i += 8) store_le64(value.data() + i, random.next());
    cells.emplace_back(fmt::format("row{:07}", row / 3), "f", fmt::format("q{}", row % 3), 1000,
                       row % 50 == 0 ? CellType::kDeleteColumn : CellType::kPut, std::move(value));
  }
  return write_cells(options, cells).bytes;
}

TEST_F(VerifyJobs, EveryFixtureIsSaidTheSameOf) {
  for (const FixtureFile& file : all_fixtures()) expect_same(read_test_file(file.hfile), file.label());
  EXPECT_GE(files_, 40);
}

TEST_F(VerifyJobs, LargeFilesAreCutIntoPieces) {
  for (const char* encoding : {"none", "fast_diff"}) {
    const std::string bytes = large_file("snappy", encoding);
    EXPECT_GT(bytes.size(), 5u << 20);
    expect_same(bytes, encoding);
    const std::string report = verified(bytes, VerifyLevel::kDeep, four_.get());
    EXPECT_NE(report.find("cells 6000 of 6000 rows 2000"), std::string::npos) << report;
  }
}

TEST_F(VerifyJobs, DamageInManyPlacesIsSaidInOrder) {
  const std::string sound = large_file("none", "none");
  Random random(11);
  for (int round = 0; round < 12; ++round) {
    std::string bytes = sound;
    const int places = 1 << round % 9;  // up to 256: more than a report lists of one code
    for (int i = 0; i < places; ++i) {
      char& victim = bytes[random.below(bytes.size())];
      victim = static_cast<char>(victim ^ (1 << random.below(8)));
    }
    expect_same(bytes, fmt::format("round {}", round));
  }
}

// Blocks whose sums are right and whose cells are not: two neighbours change places, within a piece and
// across the seams between pieces.
TEST_F(VerifyJobs, OrderIsCheckedAcrossSeams) {
  HFileWriterOptions options;
  options.compression = "none";
  options.encoding = "none";
  options.block_bytes = 1 << 10;
  std::vector<Cell> cells;
  for (int row = 0; row < 3000; ++row)
    cells.emplace_back(fmt::format("row{:07}", row), "f", "q", 5, CellType::kPut, std::string(1100, 'v'));
  const std::string sound = write_cells(options, cells).bytes;
  const VerifyReport whole = verify(std::make_unique<ViewFile>(sound), {.name = "f"});
  ASSERT_EQ(whole.data_blocks, 3000u) << "a cell a block, all of one size";
  const size_t block = load_be32(sound.data() + 8) + 33;
  uint64_t seams = 0;
  for (size_t first = 1; first + 2 < 3000; first += 97) {
    std::string bytes = sound;
    std::swap_ranges(bytes.begin() + static_cast<ptrdiff_t>(first * block),
                     bytes.begin() + static_cast<ptrdiff_t>((first + 1) * block),
                     bytes.begin() + static_cast<ptrdiff_t>((first + 1) * block));
    const std::string alone = verified(bytes, VerifyLevel::kCells, nullptr);
    EXPECT_NE(alone.find("V-ORDER"), std::string::npos) << first;
    EXPECT_EQ(alone, verified(bytes, VerifyLevel::kCells, four_.get())) << first;
    ++seams;
  }
  EXPECT_EQ(seams, 31u);
}

TEST_F(VerifyJobs, ItEndsWhenItIsTold) {
  const std::string bytes = large_file("none", "none");
  int calls = 0;
  VerifyOptions options;
  options.executor = four_.get();
  options.progress = [&](uint64_t, uint64_t) { return ++calls < 2; };
  const VerifyReport report = verify(std::make_unique<ViewFile>(bytes), options);
  EXPECT_TRUE(report.status.is(Code::kAborted));
  EXPECT_LT(report.cells, 6000u);
}

// ---- The queue of the pieces ----

class Piece final : public JobsInOrder::Piece {
 public:
  Piece(int number, std::atomic<int>& ran, std::vector<int>& taken)
      : number_(number), ran_(ran), taken_(taken) {}
  uint64_t bytes() const override { return 100; }
  void run() override { ++ran_; }
  void take() override { taken_.push_back(number_); }

 private:
  int number_;
  std::atomic<int>& ran_;
  std::vector<int>& taken_;
};

TEST_F(VerifyJobs, PiecesAreTakenInOrderAndFewAtATime) {
  for (Executor* executor : {static_cast<Executor*>(nullptr), two_.get(), four_.get()}) {
    std::atomic<int> ran{0};
    std::vector<int> taken;
    JobsInOrder jobs(executor, 250);
    for (int i = 0; i < 500; ++i) {
      jobs.add(std::make_unique<Piece>(i, ran, taken));
      EXPECT_GE(static_cast<int>(taken.size()) + 2, i + 1) << "two fit";
    }
    jobs.finish();
    EXPECT_EQ(ran, 500);
    ASSERT_EQ(taken.size(), 500u);
    for (int i = 0; i < 500; ++i) EXPECT_EQ(taken[static_cast<size_t>(i)], i);
  }
}

TEST_F(VerifyJobs, PiecesThatNobodyTakesAreDropped) {
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> ran{0};
    std::vector<int> taken;
    {
      JobsInOrder jobs(four_.get(), 100000);
      for (int i = 0; i < 20; ++i) jobs.add(std::make_unique<Piece>(i, ran, taken));
    }
    EXPECT_LE(ran, 20);
    EXPECT_TRUE(taken.empty());
  }
}

}  // namespace
}  // namespace cellar::testing
