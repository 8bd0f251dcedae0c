// Goal: what HBase could not read, or would read wrongly, is refused; an error stays; a broken disk is
// reported.
#include <gtest/gtest.h>

#include "hfile/codec/codecs.h"
#include "hfile/write/hfile_writer.h"
#include "tests/hfile_support/writer_support.h"

namespace cellar::testing {
namespace {

Cell cell(std::string row, std::string qualifier, int64_t timestamp, CellType type = CellType::kPut) {
  return {std::move(row), "f", std::move(qualifier), timestamp, type, "v"};
}

// Returns the writer's answer to the last of these cells; it must take the ones before.
Status last_answer(const HFileWriterOptions& options, const std::vector<Cell>& cells) {
  StringFile file;
  Result<std::unique_ptr<HFileWriter>> writer = HFileWriter::create(file, options);
  EXPECT_TRUE(writer.ok()) << writer.status().to_text();
  for (size_t i = 0; i + 1 < cells.size(); ++i) EXPECT_EQ(add_cell(**writer, cells[i]).to_text(), "ok");
  Status status = add_cell(**writer, cells.back());
  if (!status.ok()) {  // the writer is dead
    EXPECT_EQ(add_cell(**writer, cell("zzz", "q", 1)).to_text(), status.to_text());
    EXPECT_EQ((*writer)->set_info("a", "b").to_text(), status.to_text());
    EXPECT_EQ((*writer)->add_meta_block("a", "b").to_text(), status.to_text());
    EXPECT_EQ((*writer)->finish().status().to_text(), status.to_text());
  }
  return status;
}

TEST(HFileWriterErrors, OrderIsKept) {
  const Cell middle = cell("m", "m", 5, CellType::kDelete);
  for (const Cell& earlier : {cell("l", "z", 1), cell("m", "l", 1), cell("m", "m", 6),
                              cell("m", "m", 5, CellType::kDeleteColumn), cell("", "m", 5)}) {
    EXPECT_EQ(last_answer({}, {middle, earlier}).code(), Code::kInvalidArgument) << earlier.row;
  }
  for (const Cell& later :
       {cell("n", "a", 9), cell("m", "n", 9), cell("m", "m", 4), cell("m", "m", 5), middle}) {
    EXPECT_TRUE(last_answer({}, {middle, later}).ok());
  }
  const Status status = last_answer({}, {cell("row2", "q", 1), cell("row1", "q", 1)});
  EXPECT_NE(status.message().find("row1"), std::string_view::npos) << status.to_text();
  EXPECT_NE(status.message().find("row2"), std::string_view::npos) << status.to_text();
}

TEST(HFileWriterErrors, OneFamilyPerFile) {
  for (const char* row : {"a", "b"}) {
    Cell other = cell(row, "q", 1);
    other.family = "g";
    EXPECT_EQ(last_answer({}, {cell("a", "q", 1), other}).code(), Code::kInvalidArgument);
    other.family = "";
    EXPECT_EQ(last_answer({}, {cell("a", "q", 1), other}).code(), Code::kInvalidArgument);
  }
}

TEST(HFileWriterErrors, LimitsOfACell) {
  HFileWriterOptions tags;
  tags.tags = true;
  tags.mvcc = true;
  Cell good = cell("r", "q", 1);
  good.row = std::string(kRowBytesMax, 'r');
  good.family = std::string(kFamilyBytesMax, 'f');
  append_tag(good.tags, 65, std::string(kTagsBytesMax - 3, 't'));
  good.sequence = static_cast<uint64_t>(INT64_MAX);
  EXPECT_TRUE(last_answer(tags, {good}).ok());

  Cell bad = good;
  bad.row += 'r';
  EXPECT_FALSE(last_answer(tags, {bad}).ok());
  bad = good;
  bad.family += 'f';
  EXPECT_FALSE(last_answer(tags, {bad}).ok());
  bad = good;
  bad.tags += std::string("\0\1x", 3);
  EXPECT_FALSE(last_answer(tags, {bad}).ok());
  bad = good;
  bad.sequence += 1;
  EXPECT_EQ(last_answer(tags, {bad}).code(), Code::kInvalidArgument);
  bad = good;
  bad.timestamp = -1;
  EXPECT_EQ(last_answer(tags, {bad}).code(), Code::kInvalidArgument);
  bad = good;
  bad.qualifier = std::string(70000, 'q');
  EXPECT_EQ(last_answer(tags, {bad}).code(), Code::kLimit);
  for (const CellType type : {CellType::kMinimum, CellType::kMaximum, static_cast<CellType>(5)}) {
    EXPECT_EQ(last_answer({}, {cell("r", "", 1, type)}).code(), Code::kInvalidArgument);
  }
  EXPECT_EQ(last_answer({}, {good}).code(), Code::kInvalidArgument) << "tags in a file without tags";
  for (const char* malformed : {"\0", "\0\0", "\0\2A"}) {
    bad = cell("r", "q", 1);
    bad.tags = std::string(malformed, malformed[1] == '\0' ? 2 : 3);
    EXPECT_EQ(last_answer(tags, {bad}).code(), Code::kInvalidArgument);
  }
}

TEST(HFileWriterErrors, LargeCells) {
  HFileWriterOptions options;
  options.cell_bytes_max = 1000;
  Cell large = cell("r", "q", 1);
  large.value = std::string(1000 - 15, 'v');  // with 15 bytes of key
  EXPECT_TRUE(last_answer(options, {large}).ok());
  large.value += 'v';
  EXPECT_EQ(last_answer(options, {large}).code(), Code::kLimit);
}

TEST(HFileWriterErrors, TooMuchOfOneKey) {
  StringFile file;
  const std::unique_ptr<HFileWriter> writer = HFileWriter::create(file, {}).value();
  Cell large = cell("r", "q", 1);
  large.value = std::string(9 << 20, 'v');
  size_t taken = 0;
  Status status;
  while (taken < 20 && (status = add_cell(*writer, large)).ok()) ++taken;
  EXPECT_EQ(status.code(), Code::kLimit);
  EXPECT_EQ(taken, 7u);  // 64 MiB is what readers take as a single block
}

TEST(HFileWriterErrors, Options) {
  const auto refused = [](auto&& change) {
    HFileWriterOptions options;
    change(options);
    StringFile file;
    const auto writer = HFileWriter::create(file, options);
    return writer.ok() ? Code::kOk : writer.status().code();
  };
  using Options = HFileWriterOptions;
  EXPECT_EQ(refused([](Options&) {}), Code::kOk);
  EXPECT_EQ(refused([](Options& o) { o.compression = "snapy"; }), Code::kInvalidArgument);
  if (!compressor_by_name("LZO").ok()) {
    EXPECT_EQ(refused([](Options& o) { o.compression = "LZO"; }), Code::kNotSupported);
  }
  EXPECT_EQ(refused([](Options& o) { o.compression = "zstd(level=99)"; }), Code::kInvalidArgument);
  EXPECT_NE(refused([](Options& o) { o.encoding = "prefix_tree"; }), Code::kOk);
  EXPECT_EQ(refused([](Options& o) { o.bloom = "rows"; }), Code::kInvalidArgument);
  EXPECT_EQ(refused([](Options& o) { o.bloom = "rowprefix_fixed_length"; }), Code::kInvalidArgument);
  EXPECT_EQ(refused([](Options& o) { o.block_bytes = 0; }), Code::kInvalidArgument);
  EXPECT_EQ(refused([](Options& o) { o.block_bytes = UINT32_MAX; }), Code::kInvalidArgument);
  EXPECT_EQ(refused([](Options& o) { o.bytes_per_checksum = 32; }), Code::kInvalidArgument);
  EXPECT_EQ(refused([](Options& o) { o.index_entries_min = 0; }), Code::kInvalidArgument);
  EXPECT_EQ(refused([](Options& o) { o.index_chunk_bytes = 0; }), Code::kInvalidArgument);
  EXPECT_EQ(refused([](Options& o) { o.cell_bytes_max = 0; }), Code::kInvalidArgument);
  EXPECT_EQ(refused([](Options& o) { o.checksum = static_cast<ChecksumType>(3); }), Code::kInvalidArgument);
  EXPECT_EQ(refused([](Options& o) { o.comparator = std::string(5000, 'c'); }), Code::kInvalidArgument);
  EXPECT_EQ(refused([](Options& o) { o.comparator = "org.apache.hadoop.hbase.KeyValue$MetaComparator"; }),
            Code::kNotSupported);
  for (const float rate : {0.0f, 1.0f, -1.0f, 2.0f, 1e-30f}) {
    EXPECT_EQ(refused([&](Options& o) { o.bloom = "row", o.bloom_error_rate = rate; }),
              Code::kInvalidArgument);
  }
  EXPECT_EQ(refused([](Options& o) { o.bloom = "row", o.bloom_chunk_bytes = 0; }), Code::kInvalidArgument);
  EXPECT_EQ(refused([](Options& o) { o.bloom = "row", o.bloom_chunk_bytes = 5u << 20; }),
            Code::kInvalidArgument);
  EXPECT_EQ(refused([](Options& o) { o.bloom = "row", o.bloom_fold_max = 21; }), Code::kInvalidArgument);
  EXPECT_EQ(refused([](Options& o) { o.bloom = "row", o.bloom_chunk_bytes = 1, o.bloom_fold_max = 0; }),
            Code::kInvalidArgument);
  StringFile used;
  ASSERT_TRUE(used.append("x").ok());
  EXPECT_EQ(HFileWriter::create(used, {}).status().code(), Code::kInvalidArgument);
}

TEST(HFileWriterErrors, ReservedFactsAndDoubleMetaBlocks) {
  for (const char* key : {"", "hfile.LASTKEY", "hfile.anything", "KEY_VALUE_VERSION", "MAX_MEMSTORE_TS_KEY",
                          "DATA_BLOCK_ENCODING", "BLOOM_FILTER_TYPE", "LAST_BLOOM_KEY"}) {
    StringFile file;
    EXPECT_EQ(HFileWriter::create(file, {}).value()->set_info(key, "x").code(), Code::kInvalidArgument)
        << key;
  }
  StringFile file;
  const std::unique_ptr<HFileWriter> writer = HFileWriter::create(file, {}).value();
  ASSERT_TRUE(writer->add_meta_block("a", "1").ok());
  EXPECT_EQ(writer->add_meta_block("a", "2").code(), Code::kInvalidArgument);
  EXPECT_FALSE(writer->finish().ok());
}

TEST(HFileWriterErrors, NothingAfterTheEnd) {
  StringFile file;
  const std::unique_ptr<HFileWriter> writer = HFileWriter::create(file, {}).value();
  ASSERT_TRUE(writer->finish().ok());
  const std::string bytes = file.bytes();
  EXPECT_FALSE(add_cell(*writer, cell("r", "q", 1)).ok());
  EXPECT_FALSE(writer->set_info("a", "b").ok());
  EXPECT_FALSE(writer->finish().ok());
  EXPECT_EQ(file.bytes(), bytes);
}

// Every append of a file fails once; the error comes out of add() or finish() and stays.
TEST(HFileWriterErrors, AFailingFile) {
  Random random(3);
  const std::vector<Cell> cells = draw_cells(random, {.rows = 500, .cells = 3000, .value_bytes_max = 800});
  HFileWriterOptions options;
  options.block_bytes = 4096;
  options.bloom = "row";
  const uint64_t file_bytes = write_cells(options, cells).bytes.size();
  ASSERT_GT(file_bytes, 1u << 20);
  for (uint64_t room = 0; room < file_bytes; room += file_bytes / 10) {
    StringFile file(room);
    const std::unique_ptr<HFileWriter> writer = HFileWriter::create(file, options).value();
    Status status;
    for (size_t i = 0; i < cells.size() && status.ok(); ++i) status = add_cell(*writer, cells[i]);
    const Result<HFileSummary> summary = writer->finish();
    ASSERT_FALSE(summary.ok()) << room;
    EXPECT_EQ(summary.status().code(), Code::kIoError);
    EXPECT_EQ(writer->finish().status().code(), Code::kIoError);
    EXPECT_LE(file.size(), room);
  }
}

}  // namespace
}  // namespace cellar::testing
