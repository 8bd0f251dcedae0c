// Goal: a built file appears whole or not at all, and HBase would load it.
// Method: files in memory; every operation of a build fails once; what was built is read by HFile.
#include "cellar/hfile_builder.h"

#include <gtest/gtest.h>

#include "base/memory_file_system.h"
#include "cellar/hfile.h"
#include "tests/hfile_support/writer_support.h"
#include "tests/support/fault_file_system.h"

namespace cellar::testing {
namespace {

class HFileBuilderTest : public ::testing::Test {
 protected:
  HFileBuilderTest() { EXPECT_TRUE(files_->open_directory("family", true).ok()); }

  std::vector<std::string> names() {
    std::vector<std::string> all;
    const auto entries = files_->open_directory("family", false).value()->list();
    for (const DirectoryEntry& entry : entries.value()) all.push_back(entry.name);
    return all;
  }

  std::unique_ptr<FileSystem> files_ = make_memory_file_system();
};

using Names = std::vector<std::string>;
const std::string kName = "00112233445566778899aabbccddeeff";

std::vector<Cell> some_cells() {
  return {{"a", "f", "", 9, CellType::kDeleteFamily, ""},
          {"a", "f", "q", 8, CellType::kPut, "1"},
          {"b", "f", "q", 8, CellType::kPut, "2"}};
}

// Builds a file of these cells; the first failure.
Status build(FileSystem& files, const std::string& path, const HFileBuilderOptions& options,
             const std::vector<Cell>& cells) {
  CELLAR_TRY_ASSIGN(HFileBuilder builder, HFileBuilder::create(files, path, options));
  for (const Cell& cell : cells) CELLAR_TRY(builder.add(cell));
  CELLAR_TRY(builder.add_meta_block("note", "hello"));
  return builder.finish().status();
}

TEST_F(HFileBuilderTest, OptionsReachTheFile) {
  std::vector<Cell> cells = some_cells();
  for (int i = 100; i < 400; ++i)
    cells.emplace_back("row" + std::to_string(i), "f", "q", 8, CellType::kPut, "value");
  const auto built_with = [&](const HFileBuilderOptions& options) {
    const Status built = build(*files_, "family/" + kName, options, cells);
    EXPECT_TRUE(built.ok()) << built.to_text();
    std::string bytes;
    const auto file = files_->open_file("family/" + kName).value();
    bytes.resize(file->size());
    EXPECT_TRUE(file->read(0, bytes.size(), bytes.data()).ok());
    return bytes;
  };
  HFileBuilderOptions options;
  options.replace = true;
  const std::string plain = built_with(options);
  std::vector<HFileBuilderOptions> others(8, options);
  others[0].checksum = "crc32";
  others[1].checksum = "null";
  others[2].bytes_per_checksum = 64;
  others[3].bloom_chunk_bytes = 64;
  others[4].delete_family_bloom = false;
  others[5].trailer_sums = false;
  others[6].bloom_error_rate = 0.5;
  others[7].separators = "0.94";
  others[7].block_bytes = 1;
  for (size_t i = 0; i < others.size(); ++i) EXPECT_NE(built_with(others[i]), plain) << i;

  HFileBuilderOptions wrong = options;
  wrong.separators = "3.0";
  EXPECT_EQ(build(*files_, "family/" + kName, wrong, {}).to_text(),
            "invalid_argument: separators: invalid value \"3.0\"; valid are 0.94, 1.0, 2.5");
  wrong = options;
  wrong.checksum = "md5";
  EXPECT_EQ(build(*files_, "family/" + kName, wrong, {}).to_text(),
            "invalid_argument: checksum: invalid value \"md5\"; valid are null, crc32, crc32c");
}

TEST_F(HFileBuilderTest, BuildsWhatHFileReads) {
  HFileBuilderOptions options;
  options.compression = "snappy";
  options.created_ms = 1700000000000;
  HFileBuilder builder = HFileBuilder::create(*files_, "family/" + kName, options).value();
  std::vector<Cell> cells = some_cells();
  cells[1].sequence = 77;  // a bulk load forgets it
  for (const Cell& cell : cells) ASSERT_TRUE(builder.add(cell).ok());
  EXPECT_EQ(names(), Names{"_" + kName + ".partial"});
  const HFileFacts built = builder.finish().value();
  EXPECT_EQ(names(), Names{kName});
  EXPECT_EQ(built.cells, 3u);
  EXPECT_EQ(built.rows, 2u);
  EXPECT_EQ(built.first_row, "a");
  EXPECT_EQ(built.last_row, "b");
  EXPECT_EQ(built.file_bytes, builder.bytes());

  const HFile file = HFile::open(*files_, "family/" + kName).value();
  EXPECT_EQ(file.facts().compression, "SNAPPY");
  EXPECT_TRUE(file.may_contain_row("a"));
  HFileCells read = file.cells();
  for (Cell expected : cells) {
    const CellView* cell = read.next();
    ASSERT_NE(cell, nullptr);
    expected.sequence = 0;
    EXPECT_EQ(Cell(*cell), expected);
  }
  EXPECT_EQ(read.next(), nullptr);
  std::vector<std::string> keys;
  for (const auto& [key, value] : file.facts().info) keys.push_back(key);
  for (const char* key :
       {"BULKLOAD_TIMESTAMP", "BULKLOAD_SOURCE_TASK", "MAJOR_COMPACTION_KEY", "EXCLUDE_FROM_MINOR_COMPACTION",
        "KEY_VALUE_VERSION", "MAX_MEMSTORE_TS_KEY", "TIMERANGE"}) {
    EXPECT_EQ(std::count(keys.begin(), keys.end(), key), 1) << key;
  }
}

TEST_F(HFileBuilderTest, CopiesViewsWithTheirSequences) {
  std::vector<Cell> cells = some_cells();
  cells[0].sequence = 300;
  append_tag(cells[2].tags, 65, "t");
  HFileBuilderOptions options;
  options.mvcc = options.tags = true;
  options.bulk_load = false;
  ASSERT_TRUE(build(*files_, "family/one", options, cells).ok());
  HFileBuilder copy = HFileBuilder::create(*files_, "family/two", options).value();
  const HFile one = HFile::open(*files_, "family/one").value();
  HFileCells source = one.cells();
  while (const CellView* cell = source.next()) ASSERT_TRUE(copy.add_view(*cell).ok());
  ASSERT_TRUE(copy.finish().ok());
  const HFile two = HFile::open(*files_, "family/two").value();
  HFileCells copied = two.cells();
  for (const Cell& cell : cells) EXPECT_EQ(Cell(*copied.next()), cell);
  EXPECT_EQ(one.meta_block("note").value(), "hello");
}

TEST_F(HFileBuilderTest, LeavesNothingBehind) {
  {
    HFileBuilder builder = HFileBuilder::create(*files_, "family/x", {}).value();
    ASSERT_TRUE(builder.add(some_cells()[1]).ok());
  }
  EXPECT_EQ(names(), Names{});
  {
    HFileBuilder builder = HFileBuilder::create(*files_, "family/x", {}).value();
    ASSERT_TRUE(builder.add(some_cells()[1]).ok());
    const Status status = builder.add(some_cells()[0]);
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_EQ(builder.finish().status().to_text(), status.to_text());
  }
  EXPECT_EQ(names(), Names{});
}

TEST_F(HFileBuilderTest, KeepsWhatIsThereUnlessToldOtherwise) {
  ASSERT_TRUE(build(*files_, "family/x", {}, some_cells()).ok());
  EXPECT_EQ(HFileBuilder::create(*files_, "family/x", {}).status().code(), Code::kInvalidArgument);
  HFileBuilderOptions options;
  options.replace = true;
  ASSERT_TRUE(build(*files_, "family/x", options, {}).ok());
  EXPECT_EQ(HFile::open(*files_, "family/x").value().facts().cells, 0u);
}

TEST_F(HFileBuilderTest, RefusesWhatCannotBe) {
  for (const char* path : {"", "family/", "family/..", "family/x/y", "absent/x"}) {
    EXPECT_FALSE(HFileBuilder::create(*files_, path, {}).ok()) << path;
  }
  HFileBuilderOptions options;
  options.mvcc = true;
  EXPECT_EQ(HFileBuilder::create(*files_, "family/x", options).status().code(), Code::kInvalidArgument);
  options.mvcc = false;
  options.compression = "zip";
  EXPECT_EQ(HFileBuilder::create(*files_, "family/x", options).status().code(), Code::kInvalidArgument);
  Cell large{std::string(40000, 'r'), "f", "q", 1, CellType::kPut, ""};
  EXPECT_EQ(build(*files_, "family/x", {}, {large}).code(), Code::kLimit);
  EXPECT_EQ(names(), Names{});
}

// Each operation of a build fails once: the name then holds the whole old file or the whole new one.
TEST_F(HFileBuilderTest, EveryOperationFailsOnce) {
  FaultFileSystem faulty(*files_);
  HFileBuilderOptions options;
  options.replace = true;
  ASSERT_TRUE(build(faulty, "family/x", options, some_cells()).ok());
  const std::vector<Cell> other = {{"z", "f", "q", 8, CellType::kPut, "new"}};
  size_t failures = 0;
  for (uint64_t nth = 1; nth < 100; ++nth) {
    ASSERT_TRUE(build(*files_, "family/x", options, some_cells()).ok());
    faulty.clear();
    faulty.inject({.on = kAllWrites, .nth = nth});
    const Status status = build(faulty, "family/x", options, other);
    const uint64_t cells = HFile::open(*files_, "family/x").value().facts().cells;
    if (status.ok() && cells == 1) break;
    ++failures;
    EXPECT_FALSE(status.ok());
    EXPECT_TRUE(cells == 1 || cells == 3) << nth;
  }
  EXPECT_GE(failures, 5u);  // open, remove, create, append, sync, close, rename, sync of the directory
  EXPECT_LT(failures, 50u);
}

}  // namespace
}  // namespace cellar::testing
