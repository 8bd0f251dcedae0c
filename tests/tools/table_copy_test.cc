// Goal: the loop of a copy loses nothing, wherever it ends and goes on, for both forms of writes. The
// comparison finds what differs. Method: stores in memory, sinks that fail at a chosen call, and reads of
// both tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/memory_file_system.h"
#include "cell/cell_codec.h"
#include "cellar/cellar.h"
#include "tests/support/scratch_directory.h"
#include "tests/support/test_scale.h"
#include "tools/frame/output.h"
#include "tools/transfer/copy_schema.h"
#include "tools/transfer/table_copy.h"

namespace cellar::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A sink that fails at one of its calls, as if the process had ended there. The cells that it held are not
// written.
class BreakingSink final : public CopySink {
 public:
  BreakingSink(std::unique_ptr<CopySink> inner, uint64_t calls) : inner_(std::move(inner)), left_(calls) {}
  Status add(const CellView& cell) override { return broken() ? lost() : inner_->add(cell); }
  Status finish() override { return broken() ? lost() : inner_->finish(); }
  uint64_t tags_left_out() const override { return inner_->tags_left_out(); }

 private:
  bool broken() { return left_ == 0 || --left_ == 0; }
  static Status lost() { return Status::io_error("the other side is gone"); }

  std::unique_ptr<CopySink> inner_;
  uint64_t left_;
};

class TableCopy : public ::testing::Test {
 protected:
  void SetUp() override {
    from_engine_ = open_store(*from_files_);
    to_engine_ = open_store(*to_files_);
    plan_.scan.versions(UINT32_MAX);
    plan_.portion_bytes = 2000;
    plan_.range_bytes = 2000;
    plan_.compare_tags = true;
  }
  void TearDown() override {
    EXPECT_TRUE(from_engine_->close().ok());
    EXPECT_TRUE(to_engine_->close().ok());
    ::close(null_);
  }

  static std::unique_ptr<Engine> open_store(FileSystem& files) {
    EngineOptions options;
    options.create_if_missing = true;
    options.environment.files = &files;
    options.log_segment_bytes = 1u << 20;
    auto engine = Engine::open("store", options);
    EXPECT_TRUE(engine.ok()) << engine.status();
    return std::move(engine).value();
  }

  static TableOptions options() {
    return {.families = {{.name = "d", .max_versions = 5}, {.name = "e", .max_versions = 2}}};
  }

  // Makes both tables. The first one has many versions, times to live, and markers of each type. It also has
  // cells that were written twice, and a row that is longer than many batches.
  void make_tables() {
    from_ = from_engine_->create_table("t", options()).value();
    to_ = to_engine_->create_table("t", options()).value();
    for (int row = 0; row < 40; ++row) {
      const std::string key = "row" + std::to_string(100 + row);
      for (int64_t time = 1; time <= 4; ++time)
        put(Put(key).add_at("d", "name", time, "name " + std::to_string(time)).add_at("e", "", time, "x"));
      if (row % 3 == 0) put(Put(key).ttl_ms(4'000'000'000'000).add_at("d", "short", 7, "lives"));
      if (row % 5 == 0) erase(Delete(key).family("e", 3));
      if (row % 5 == 0) erase(Delete(key).family("e", 1));
      if (row % 7 == 0) erase(Delete(key).version("d", "name", 4).column("d", "short", 7));
      if (row % 11 == 0) erase(Delete(key).family_version("d", 2));
      if (row % 2 == 0) put(Put(key).add_at("d", "name", 3, "written again"));
      if (row == 20) {
        EXPECT_TRUE(from_->flush().ok());
      }
    }
    for (int column = 0; column < 300; ++column)
      put(Put("row200").add_at("d", "column" + std::to_string(1000 + column), 5, std::string(100, 'w')));
  }
  void put(const Put& put) { ASSERT_TRUE(from_->put(put).ok()); }
  void erase(const Delete& erase) { ASSERT_TRUE(from_->erase(erase).ok()); }

  std::unique_ptr<CopySink> sink(bool for_cluster, uint64_t batch_bytes = 500) {
    return for_cluster ? make_cluster_sink(to_, batch_bytes) : make_store_sink(*to_engine_, to_, batch_bytes);
  }

  // Returns the cells that reads show, one a line, with tags.
  static std::string shown(Table& table, bool raw = false) {
    const auto scanner = table.scan(Scan().versions(UINT32_MAX).raw(raw)).value();
    std::string text;
    for (const RowView row : *scanner) {
      for (const CellView& cell : row) {
        append_json(text, cell, false, true);
        text += '\n';
      }
    }
    EXPECT_TRUE(scanner->status().ok()) << scanner->status();
    return text;
  }

  CopyComparison compare() {
    Result<CopyComparison> compared = compare_tables(session_, *from_, *to_, plan_);
    EXPECT_TRUE(compared.ok()) << compared.status();
    return compared.ok() ? *compared : CopyComparison();
  }

  // The delete markers that the table stores, each of them once.
  static std::set<std::string> markers_of(Table& table) {
    std::set<std::string> markers;
    std::istringstream cells(shown(table, true));
    for (std::string line; std::getline(cells, line);)
      if (line.find("Delete") != std::string::npos) markers.insert(line);
    return markers;
  }

  // How a copy is interrupted.
  struct Interruption {
    bool raw = false;
    bool for_cluster = false;
    bool at_save = false;
  };
  static std::vector<Interruption> interruptions_of() {
    std::vector<Interruption> all;
    for (const bool raw : {false, true})
      for (const bool for_cluster : {false, true})
        for (const bool at_save : {false, true}) all.push_back({raw, for_cluster, at_save});
    return all;
  }
  CopyState state(const Interruption& how) const {
    auto opened = CopyState::open(scratch_ / "state", {{"raw", how.raw ? "true" : "false"}});
    EXPECT_TRUE(opened.ok()) << opened.status();
    return std::move(opened).value();
  }
  // Copies until the call fails. Returns false if the copy ended before.
  bool copy_until(const Interruption& how, uint64_t calls) {
    CopyState kept = state(how);
    BreakingSink breaking(sink(how.for_cluster), how.at_save ? UINT64_MAX : calls);
    uint64_t saves = 0;
    const auto save = [&] {
      return how.at_save && ++saves == calls ? Status::io_error("the file is gone") : kept.save();
    };
    return !copy_cells(session_, *from_, plan_, breaking, kept.of("t", "t"), save).ok();
  }
  // Goes on with a copy, and ends it. Returns whether it had not begun at the first row.
  bool go_on(const Interruption& how) {
    CopyState kept = state(how);
    CopyProgress& progress = kept.of("t", "t");
    EXPECT_FALSE(progress.done);
    const bool resumed = !progress.next.empty();
    const auto whole = sink(how.for_cluster);
    const Status copied = copy_cells(session_, *from_, plan_, *whole, progress, [&] { return kept.save(); });
    EXPECT_TRUE(copied.ok()) << copied;
    EXPECT_TRUE(progress.done);
    EXPECT_EQ(progress.rows, 41u);
    EXPECT_EQ(progress.last, "row200");
    return resumed;
  }

  const ScratchDirectory scratch_;
  const std::unique_ptr<FileSystem> from_files_ = make_memory_file_system();
  const std::unique_ptr<FileSystem> to_files_ = make_memory_file_system();
  const int null_ = ::open("/dev/null", O_WRONLY);
  Output out_{null_};
  Session session_{out_};
  CopyPlan plan_;
  std::unique_ptr<Engine> from_engine_;
  std::unique_ptr<Engine> to_engine_;
  std::shared_ptr<Table> from_;
  std::shared_ptr<Table> to_;
};

// Copies are interrupted at each call of the sink, or at each save. The second run goes on with what the file
// tells: a save that failed left the state before it there.
TEST_F(TableCopy, AnInterruptionAtEachCallIsMadeUpFor) {
  make_tables();
  const std::string visible = shown(*from_);
  const std::set<std::string> markers = markers_of(*from_);
  ASSERT_GT(markers.size(), 4u);
  uint64_t interruptions = 0;
  uint64_t resumed = 0;
  for (const Interruption& each : interruptions_of()) {
    plan_.scan.raw(each.raw);
    const uint64_t step = each.at_save ? 1 : sweep_step() * 9;
    for (uint64_t calls = 1;; calls += step) {
      SCOPED_TRACE(fmt::format("raw {}, cluster {}, save {}, call {}", each.raw, each.for_cluster,
                               each.at_save, calls));
      ASSERT_TRUE(to_engine_->truncate_table("t").ok());
      const bool broken = copy_until(each, calls);
      if (broken) {
        ++interruptions;
        resumed += go_on(each) ? 1 : 0;
      }
      EXPECT_EQ(shown(*to_), visible);
      EXPECT_EQ(markers_of(*to_), each.raw ? markers : std::set<std::string>());
      EXPECT_EQ(compare().different, 0u);
      ASSERT_TRUE(state(each).remove().ok());
      if (!broken) break;
    }
  }
  EXPECT_GE(interruptions, 8u);
  if (sweep_step() <= 10) {
    EXPECT_GT(resumed, interruptions / 2);
  }
}

// Two copies with one state would each overwrite what the other one noted.
TEST_F(TableCopy, ASecondCopyWithTheSameStateIsRefused) {
  const std::string path = scratch_ / "state";
  {
    const auto first = CopyState::open(path, {});
    ASSERT_TRUE(first.ok()) << first.status();
    Status second;
    std::thread other([&] { second = CopyState::open(path, {}).status(); });
    other.join();
    EXPECT_TRUE(second.is(Code::kLocked)) << second;
    EXPECT_THAT(std::string(second.message()), HasSubstr("another copy uses " + path));
  }
  const auto later = CopyState::open(path, {});
  EXPECT_TRUE(later.ok()) << later.status();
}

// A cell that does not fit begins the next batch, so that only a single cell makes a longer one.
TEST_F(TableCopy, ABatchKeepsItsLimit) {
  from_ = from_engine_->create_table("t", options()).value();
  to_ = to_engine_->create_table("t", options()).value();
  constexpr size_t kBatchBytes = 1000;
  const auto whole = sink(false, kBatchBytes);
  OwnedCell cell;
  cell.assign("row1", "d", "q", 5, CellType::kPut, 0, std::string(600, 'v'), {});
  ASSERT_TRUE(whole->add(cell.view()).ok());
  cell.assign("row2", "d", "q", 5, CellType::kPut, 0, std::string(600, 'v'), {});
  ASSERT_TRUE(whole->add(cell.view()).ok());
  EXPECT_THAT(shown(*to_), AllOf(HasSubstr("row1"), Not(HasSubstr("row2"))));
  ASSERT_TRUE(whole->finish().ok());
  EXPECT_THAT(shown(*to_), HasSubstr("row2"));
}

// A raw copy also holds what markers hide, so that it goes on behaving as the first table does.
TEST_F(TableCopy, ARawCopyHasTheMarkers) {
  make_tables();
  plan_.scan.raw(true);
  for (const bool for_cluster : {false, true}) {
    ASSERT_TRUE(to_engine_->truncate_table("t").ok());
    CopyProgress progress;
    const auto whole = sink(for_cluster);
    ASSERT_TRUE(copy_cells(session_, *from_, plan_, *whole, progress, [] { return Status(); }).ok());
    EXPECT_EQ(whole->tags_left_out(), 0u);
    const std::string raw = shown(*to_, true);
    for (const char* const type : {"\"Delete\"", "DeleteColumn", "DeleteFamily\"", "DeleteFamilyVersion"})
      EXPECT_THAT(raw, HasSubstr(type));
    // A later put below a marker is hidden in both.
    put(Put("row100").add_at("e", "", 2, "late"));
    ASSERT_TRUE(to_->put(Put("row100").add_at("e", "", 2, "late")).ok());
    EXPECT_EQ(shown(*to_), shown(*from_));
  }
}

// A sink after whose every cell the other table is compacted, so that markers which hide nothing are dropped.
class CompactingSink final : public CopySink {
 public:
  CompactingSink(std::unique_ptr<CopySink> inner, std::shared_ptr<Table> to)
      : inner_(std::move(inner)), to_(std::move(to)) {}
  Status add(const CellView& cell) override {
    CELLAR_TRY(inner_->add(cell));
    CELLAR_TRY(inner_->finish());
    CELLAR_TRY(to_->flush());
    return to_->major_compact();
  }
  Status finish() override { return inner_->finish(); }
  uint64_t tags_left_out() const override { return inner_->tags_left_out(); }

 private:
  const std::unique_ptr<CopySink> inner_;
  const std::shared_ptr<Table> to_;
};

TEST_F(TableCopy, ACompactionDuringARawCopyShowsNothingThatIsHidden) {
  for (const bool for_cluster : {false, true}) {
    const std::string name = for_cluster ? "cluster" : "store";
    from_ = from_engine_->create_table(name, options()).value();
    to_ = to_engine_->create_table(name, options()).value();
    put(Put("a").add_at("d", "name", 1, "old").add_at("d", "name", 2, "new").add_at("e", "", 1, "x"));
    erase(Delete("a").version("d", "name", 2).family("e", 3));
    put(Put("b").add_at("d", "name", 1, "gone").add_at("d", "other", 9, "stays"));
    erase(Delete("b").column("d", "name", 4).family_version("d", 1));
    plan_.scan.raw(true);
    CompactingSink compacting(sink(for_cluster), to_);
    CopyProgress progress;
    ASSERT_TRUE(copy_cells(session_, *from_, plan_, compacting, progress, [] { return Status(); }).ok());
    EXPECT_EQ(shown(*from_), shown(*to_)) << name;
  }
}

// A sink that only looks: how many markers came, and whether a put followed one in its row.
class LookingSink final : public CopySink {
 public:
  Status add(const CellView& cell) override {
    if (cell.row() != row_) in_markers_ = false;
    row_ = cell.row();
    const bool put = cell.type() == CellType::kPut;
    ordered = ordered && !(put && in_markers_);
    in_markers_ = in_markers_ || !put;
    put ? ++puts : ++markers;
    return {};
  }
  Status finish() override { return {}; }
  uint64_t tags_left_out() const override { return 0; }

  uint64_t puts = 0;
  uint64_t markers = 0;
  bool ordered = true;

 private:
  std::string row_;
  bool in_markers_ = false;
};

// The first row has more markers than are held, so it is read twice.
TEST_F(TableCopy, MarkersFollowTheOtherCellsOfTheirRow) {
  from_ = from_engine_->create_table("long", options()).value();
  constexpr int kColumns = 3000;
  for (const std::string row : {"a", "b"}) {
    Put puts(row);
    Delete erased(row);
    const int columns = row == "a" ? kColumns : 3;
    for (int i = 0; i < columns; ++i) {
      const std::string column = std::string(400, 'c') + std::to_string(i);
      puts.add_at("d", column, 5, "x");
      erased.version("d", column, 5);
    }
    put(puts);
    erase(erased);
  }
  plan_.scan.raw(true);
  LookingSink looking;
  CopyProgress progress;
  ASSERT_TRUE(copy_cells(session_, *from_, plan_, looking, progress, [] { return Status(); }).ok());
  EXPECT_EQ(looking.puts, kColumns + 3u);
  EXPECT_EQ(looking.markers, kColumns + 3u);
  EXPECT_TRUE(looking.ordered);
  EXPECT_EQ(progress.cells, 2u * (kColumns + 3u));
}

TEST_F(TableCopy, TagsThatAClusterDoesNotTakeAreCounted) {
  make_tables();
  std::string tags;
  append_tag(tags, 99, "mine");
  Batch batch;
  OwnedCell cell;
  cell.assign("row300", "d", "q", 5, CellType::kPut, 0, "v", tags);
  batch.cell(from_, cell.view());
  ASSERT_TRUE(from_engine_->write(batch).ok());
  for (const bool for_cluster : {false, true}) {
    CopyProgress progress;
    const auto whole = sink(for_cluster);
    ASSERT_TRUE(copy_cells(session_, *from_, plan_, *whole, progress, [] { return Status(); }).ok());
    EXPECT_EQ(progress.tags_left_out, for_cluster ? 1u : 0u) << "over all runs, so in the state";
    EXPECT_EQ(compare().different, for_cluster ? 1u : 0u);
    ASSERT_TRUE(to_engine_->truncate_table("t").ok());
  }
}

TEST_F(TableCopy, TheComparisonNamesTheRangesThatDiffer) {
  make_tables();
  CopyProgress progress;
  ASSERT_TRUE(copy_cells(session_, *from_, plan_, *sink(false), progress, [] { return Status(); }).ok());
  const CopyComparison equal = compare();
  EXPECT_EQ(equal.different, 0u);
  EXPECT_GT(equal.ranges, 2u);
  EXPECT_EQ(equal.rows, 41u);
  ASSERT_TRUE(to_->put(Put("row110").add_at("d", "name", 4, "another")).ok());  // another value
  ASSERT_TRUE(to_->put(Put("row999").add_at("d", "name", 4, "more")).ok());     // another row, at the end
  const CopyComparison two = compare();
  ASSERT_EQ(two.different, 2u);
  ASSERT_EQ(two.differences.size(), 2u);
  EXPECT_LE(two.differences[0].start, "row110");
  EXPECT_GT(two.differences[0].stop, "row110");
  EXPECT_EQ(two.differences[0].from.cells, two.differences[0].to.cells);
  EXPECT_NE(two.differences[0].from.hash, two.differences[0].to.hash);
  EXPECT_EQ(two.differences[1].stop, "");
  EXPECT_EQ(two.differences[1].from.rows + 1, two.differences[1].to.rows);
  // A missing cell in the middle of a long row.
  ASSERT_TRUE(to_->erase(Delete("row999").family("d")).ok());
  ASSERT_TRUE(to_->put(Put("row110").add_at("d", "name", 4, "name 4")).ok());
  ASSERT_TRUE(to_->erase(Delete("row200").column("d", "column1150")).ok());
  EXPECT_EQ(compare().different, 1u);
}

// Cells that are about to expire may be gone when the second table is read: they do not count.
TEST_F(TableCopy, CellsThatAreAboutToExpireAreNotCompared) {
  constexpr int64_t kTtlMs = 10'000'000;
  const TableOptions expiring = {.families = {{.name = "d", .ttl_s = kTtlMs / 1000}}};
  from_ = from_engine_->create_table("t", expiring).value();
  to_ = to_engine_->create_table("t", expiring).value();
  const int64_t now = system_clock().wall_ms();
  put(Put("old").add_at("d", "q", now - kTtlMs + 100'000, "soon gone"));
  put(Put("young").add_at("d", "q", now, "stays"));
  EXPECT_EQ(compare().different, 1u) << "the young row is missing";
  ASSERT_TRUE(to_->put(Put("young").add_at("d", "q", now, "stays")).ok());
  EXPECT_EQ(compare().different, 0u);
}

// Copies of parts of a table may run at the same time.
TEST_F(TableCopy, TwoRangesAreCopiedAtOnce) {
  make_tables();
  const auto copy = [&](const CopyPlan& plan) {
    CopyProgress progress;
    const Status copied = copy_cells(session_, *from_, plan, *make_store_sink(*to_engine_, to_, 500),
                                     progress, [] { return Status(); });
    EXPECT_TRUE(copied.ok()) << copied;
  };
  CopyPlan upper = plan_;
  upper.scan.start("row120");
  CopyPlan lower = plan_;
  lower.scan.stop("row120");
  std::thread other(copy, upper);
  copy(lower);
  other.join();
  EXPECT_EQ(shown(*to_), shown(*from_));
  EXPECT_EQ(compare().different, 0u);
}

TEST_F(TableCopy, AnEmptyTableIsCopied) {
  from_ = from_engine_->create_table("t", options()).value();
  to_ = to_engine_->create_table("t", options()).value();
  CopyProgress progress;
  ASSERT_TRUE(copy_cells(session_, *from_, plan_, *sink(true), progress, [] { return Status(); }).ok());
  EXPECT_TRUE(progress.done);
  EXPECT_EQ(compare().different, 0u);
  EXPECT_EQ(compare().ranges, 1u);
}

TEST(CopySchema, EachDifferenceIsNamed) {
  TableOptions from = {.families = {{.name = "d", .max_versions = 3}, {.name = "e"}}};
  from.metadata["OWNER"] = "ada";
  from.metadata["CELLAR.splits"] = "6d";
  TableOptions to = {.families = {{.name = "d"}, {.name = "f"}}};
  EXPECT_THAT(schema_differences(from, to),
              ::testing::UnorderedElementsAre("metadata.OWNER is ada and not set",
                                              "family d: max_versions is 3 and 1", "family e: it is missing",
                                              "family f: it is only in the table that exists"));
  EXPECT_TRUE(schema_differences(from, from).empty());
  EXPECT_FALSE(options_of_copy(from).metadata.contains("CELLAR.splits"));
}

}  // namespace
}  // namespace cellar::testing
