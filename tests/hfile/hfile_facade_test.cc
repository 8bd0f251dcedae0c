// Goal: a program reads one HFile without an engine: facts, ranges, columns, times, meta blocks,
// verification. Method: files written here, read through cellar/hfile.h alone.
#include "cellar/hfile.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/hfile/fixture_files.h"
#include "tests/hfile_support/writer_support.h"

namespace cellar::testing {
namespace {

std::string sample_file() {
  std::vector<Cell> cells;
  for (const char* row : {"a", "b", "c", "d"}) {
    for (const char* qualifier : {"x", "y"}) {
      for (const int64_t timestamp : {300, 200, 100}) {
        cells.emplace_back(row, "f", qualifier, timestamp, CellType::kPut, "v");
      }
    }
  }
  HFileWriterOptions options;
  options.block_bytes = 100;
  options.bloom = "row";
  options.compression = "gz";
  return write_cells(options, cells, {{"mine", "yes"}}).bytes;
}

class OneFile : public ::testing::Test {
 protected:
  std::string bytes_ = sample_file();
  HFile file_ = HFile::open(std::make_unique<ViewFile>(bytes_), "sample").value();

  std::string walk(const KeyRange& rows, const ColumnMap& columns = {}, int64_t time_from = 0,
                   std::optional<int64_t> time_until = {}) {
    std::string seen;
    HFileCells cells = file_.cells(rows, columns, time_from, time_until);
    while (const CellView* cell = cells.next()) {
      seen +=
          std::string(cell->row()) + std::string(cell->qualifier()) + std::to_string(cell->timestamp) + " ";
    }
    EXPECT_TRUE(cells.status().ok());
    EXPECT_EQ(cells.next(), nullptr);
    return seen;
  }
};

TEST_F(OneFile, SaysWhatItIs) {
  const HFileFacts& facts = file_.facts();
  EXPECT_EQ(facts.name, "sample");
  EXPECT_EQ(facts.version, "3.3");
  EXPECT_EQ(facts.compression, "GZ");
  EXPECT_EQ(facts.encoding, "NONE");
  EXPECT_EQ(facts.bloom, "ROW");
  EXPECT_EQ(facts.cells, 24u);
  EXPECT_EQ(facts.first_row, "a");
  EXPECT_EQ(facts.last_row, "d");
  EXPECT_EQ(facts.timestamp_min, 100);
  EXPECT_EQ(facts.timestamp_max, 300);
  EXPECT_EQ(facts.file_bytes, bytes_.size());
  EXPECT_NE(
      std::find(facts.info.begin(), facts.info.end(), std::pair<std::string, std::string>("mine", "yes")),
      facts.info.end());
  EXPECT_FALSE(file_.may_contain_row("e"));
  EXPECT_TRUE(file_.may_contain_row("b"));
}

TEST_F(OneFile, WalksARange) {
  EXPECT_EQ(walk({"b", "c"}), "bx300 bx200 bx100 by300 by200 by100 ");
  EXPECT_EQ(walk({"aa", "b"}), "");
  EXPECT_EQ(walk({"d", ""}, {{"f", {"y"}}}), "dy300 dy200 dy100 ");
  EXPECT_EQ(walk({"d", ""}, {{"f", {}}}, 200, 300), "dx200 dy200 ");
  EXPECT_EQ(walk({}, {{"g", {}}}), "");
  EXPECT_EQ(walk({}, {}, 300), "ax300 ay300 bx300 by300 cx300 cy300 dx300 dy300 ");
}

TEST_F(OneFile, IsVerified) {
  EXPECT_TRUE(HFile::verify(std::make_unique<ViewFile>(bytes_), HFileCheckLevel::kDeep).sound);
  bytes_[bytes_.find("IDXROOT2") + 40] ^= 1;
  const HFileCheck check = HFile::verify(std::make_unique<ViewFile>(bytes_));
  EXPECT_FALSE(check.sound);
  ASSERT_FALSE(check.problems.empty());
  EXPECT_EQ(check.problems[0].code, "V-OPEN");
  EXPECT_TRUE(check.problems[0].error);
  const HFileCheck nothing = HFile::verify(std::make_unique<ViewFile>("no file at all"));
  EXPECT_FALSE(nothing.sound);
  EXPECT_FALSE(nothing.status.ok());
}

TEST(Files, GiveTheirMetaBlocks) {
  const std::string bytes = read_test_file(project_fixture("hbase-writer", "metablocks").hfile);
  const HFile file = HFile::open(std::make_unique<ViewFile>(bytes), "metablocks").value();
  const std::string document = facts_of(project_fixture("hbase-writer", "metablocks")).document;
  const std::string name = json_value(document, "name", "meta_blocks");
  const Result<std::string> content = file.meta_block(name);
  ASSERT_TRUE(content.ok()) << content.status().to_text();
  EXPECT_EQ(std::to_string(content->size()), json_value(document, "size", "meta_blocks"));
  EXPECT_TRUE(file.meta_block("no such block").status().is(Code::kNotFound));
}

}  // namespace
}  // namespace cellar::testing
