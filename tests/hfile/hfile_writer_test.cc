// Goal: whatever the options and cells, the file is sound, holds those cells, and every row is in its filter.
// Method: a checker that shares no code with Cellar reads files of many options over drawn cells. It is used
// if it is present outside the project. The printed seed draws the cells again. Sizes and sums are checked
// here in any case.
#include "hfile/write/hfile_writer.h"
#include "hfile/codec/codecs.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "base/checksum.h"
#include "base/coding.h"
#include "hfile/format/trailer.h"
#include "hfile/read/hfile_reader.h"
#include "tests/hfile/golden_cells.h"
#include "tests/hfile_support/writer_support.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

constexpr std::array kEncodings = {"none", "row_index_v1", "prefix", "diff", "fast_diff"};
// The codecs of this build that the outside checker reads, too.
const std::vector<std::string> kCodecs = [] {
  std::vector<std::string> built;
  for (const char* each : {"none", "gz", "snappy", "lz4", "zstd", "zstd(framing=hbase)", "bzip2", "lzma"})
    if (make_compressor(each).ok()) built.emplace_back(each);
  return built;
}();
constexpr std::array kBlooms = {"none", "row", "rowcol", "rowprefix_fixed_length(prefix_length=2)"};

template <class Array>
const auto& pick(Random& random, const Array& choices) {
  return choices[random.below(choices.size())];
}

HFileWriterOptions draw_options(Random& random) {
  HFileWriterOptions options;
  options.encoding = pick(random, kEncodings);
  options.compression = pick(random, kCodecs);
  options.bloom = pick(random, kBlooms);
  options.bloom_hash = static_cast<BloomHash>(random.below(3));
  options.bloom_chunk_bytes = pick(random, std::array<uint32_t, 4>{1, 128, 300, 131072});
  options.bloom_fold_max = static_cast<uint32_t>(4 + random.below(4));
  options.bloom_error_rate = pick(random, std::array{0.01f, 0.001f});
  options.delete_family_bloom = random.one_in(2);
  options.block_bytes = pick(random, std::array<uint32_t, 4>{1, 100, 1000, 65536});
  options.tags = random.one_in(2);
  options.compress_tags = random.one_in(2);
  options.mvcc = random.one_in(2);
  options.index_chunk_bytes = pick(random, std::array<uint32_t, 4>{1, 200, 1000, 131072});
  options.index_entries_min = static_cast<uint32_t>(2 + random.below(15));
  options.checksum = static_cast<ChecksumType>(random.below(3));
  options.bytes_per_checksum = pick(random, std::array<uint32_t, 4>{33, 100, 512, 16384});
  options.separators = static_cast<SeparatorRule>(random.below(3));
  options.store_file_info = !random.one_in(4);
  options.trailer_sums = random.one_in(2);
  return options;
}

std::string describe(const HFileWriterOptions& options) {
  std::string text = options.encoding + " " + options.compression + " bloom " + options.bloom;
  for (const uint64_t number :
       {uint64_t{options.bloom_chunk_bytes}, uint64_t{options.block_bytes},
        uint64_t{options.index_chunk_bytes}, uint64_t{options.index_entries_min},
        uint64_t{options.bytes_per_checksum}, uint64_t{options.tags}, uint64_t{options.compress_tags},
        uint64_t{options.mvcc}, static_cast<uint64_t>(options.checksum)}) {
    text += " " + std::to_string(number);
  }
  return text;
}

uint64_t test_seed() {
  const uint64_t seed = static_cast<uint64_t>(::testing::UnitTest::GetInstance()->random_seed());
  std::printf("seed %llu (--gtest_random_seed repeats it)\n", static_cast<unsigned long long>(seed));
  return seed;
}

// Our reader gives back the cells, first to last, and finds every row in the filter.
void check_read_back(const WrittenFile& file, const std::vector<Cell>& cells,
                     const HFileWriterOptions& options) {
  HFileReaderOptions reading;
  reading.name = "written";
  const auto reader = HFileReader::open(std::make_unique<ViewFile>(file.bytes), reading);
  ASSERT_TRUE(reader.ok()) << reader.status().to_text();
  const std::unique_ptr<CellCursor> cursor = (*reader)->cursor({.sequential = true});
  std::string key;
  Cell first = cells.empty() ? Cell() : cells.front();
  first.timestamp = kLatestTimestamp;
  first.type = CellType::kMaximum;
  first.qualifier = "";
  const CellView* at = cursor->seek(view_of(first, key));
  for (const Cell& cell : cells) {
    ASSERT_NE(at, nullptr) << cursor->status().to_text();
    Cell expected = cell;
    if (!options.mvcc) expected.sequence = 0;
    ASSERT_EQ(Cell(*at), expected);
    EXPECT_TRUE((*reader)->may_contain_row(cell.row, nullptr));
    at = cursor->next();
  }
  EXPECT_EQ(at, nullptr);
  EXPECT_EQ(cursor->status().to_text(), "ok");
  EXPECT_EQ((*reader)->times().has_value(), options.store_file_info);
}

// The summary against the cells, and the running sum against the bytes.
void check_summary(const WrittenFile& file, const std::vector<Cell>& cells) {
  const HFileSummary& sum = file.summary;
  std::set<std::string> rows;
  uint64_t puts = 0, markers = 0, key_bytes = 0, value_bytes = 0;
  for (const Cell& cell : cells) {
    rows.insert(cell.row);
    puts += cell.type == CellType::kPut ? 1 : 0;
    markers += covers_family(cell.type) ? 1 : 0;
    key_bytes += 12 + cell.row.size() + cell.family.size() + cell.qualifier.size();
    value_bytes += cell.value.size();
  }
  EXPECT_EQ(sum.cells, cells.size());
  EXPECT_EQ(sum.rows, rows.size());
  EXPECT_EQ(sum.puts, puts);
  EXPECT_EQ(sum.deletes, cells.size() - puts);
  EXPECT_EQ(sum.family_deletes, markers);
  EXPECT_EQ(sum.key_bytes, key_bytes);
  EXPECT_EQ(sum.value_bytes, value_bytes);
  const Result<Trailer> trailer = read_trailer(ViewFile(file.bytes));
  ASSERT_TRUE(trailer.ok()) << trailer.status().to_text();
  EXPECT_EQ(trailer->entry_count, cells.size());
  EXPECT_EQ(sum.trailer_crc32c, crc32c(std::string_view(file.bytes).substr(trailer->load_on_open_offset)));
  const std::vector<RawBlock> blocks = walk_blocks(file.bytes, trailer->codec);
  uint64_t data_blocks = 0;
  for (const RawBlock& block : blocks) data_blocks += block.magic.starts_with("DATABLK") ? 1 : 0;
  EXPECT_EQ(sum.data_blocks, data_blocks);
}

// The outside checker takes most of the time. Below the whole work it reads a fifth of the files.
uint64_t checked_outside_step() { return test_scale() >= 1 ? 1 : 5; }

TEST(HFileWriter, RandomOptionsAndCells) {
  Random random(test_seed());
  std::vector<FileToCheck> files;
  for (uint64_t i = 0, drawn = std::max<uint64_t>(8, scaled(150)); i < drawn; ++i) {
    const HFileWriterOptions options = draw_options(random);
    CellDraw draw{.rows = 1 + random.below(200), .cells = random.below(800), .tags = options.tags};
    draw.value_bytes_max = pick(random, std::array<size_t, 3>{0, 30, 2000});
    const std::vector<Cell> cells = draw_cells(random, draw);
    SCOPED_TRACE(describe(options));
    const WrittenFile written = write_cells(options, cells);
    ASSERT_FALSE(written.bytes.empty());
    check_summary(written, cells);
    check_read_back(written, cells, options);
    if (i % checked_outside_step() != 0) continue;
    files.push_back({"random" + std::to_string(i), written.bytes, cells, options.mvcc});
  }
  if (!has_outside_checker()) GTEST_SKIP() << "the outside checker is absent; our reader agrees";
  EXPECT_EQ(ask_outside_checker(files), "");
}

TEST(HFileWriter, EveryCombinationOfEncodingCodecFilterAndForm) {
  Random random(1);
  uint64_t combination = 0, read_back = 0;
  std::vector<FileToCheck> files;
  for (const char* encoding : kEncodings) {
    for (const std::string& codec : kCodecs) {
      for (const char* bloom : kBlooms) {
        for (int form = 0; form < 4; ++form) {
          if (combination++ % sweep_step() != 0) continue;
          HFileWriterOptions options;
          options.encoding = encoding;
          options.compression = codec;
          options.bloom = bloom;
          options.tags = form % 2 == 1;
          options.compress_tags = form / 2 == 1;
          options.mvcc = form / 2 == 1;
          options.block_bytes = 2000;
          options.bloom_chunk_bytes = 128;
          const std::vector<Cell> cells = draw_cells(random, {.rows = 300, .tags = options.tags});
          const WrittenFile written = write_cells(options, cells);
          check_summary(written, cells);
          check_read_back(written, cells, options);
          if (read_back++ % checked_outside_step() != 0) continue;
          files.push_back({"combination" + std::to_string(files.size()), written.bytes, cells, options.mvcc});
        }
      }
    }
  }
  if (!has_outside_checker()) GTEST_SKIP() << "the outside checker is absent; our reader agrees";
  EXPECT_EQ(ask_outside_checker(files), "");
}

Cell put(std::string row, std::string value) {
  return {std::move(row), "f", "q", 1, CellType::kPut, std::move(value)};
}

TEST(HFileWriter, NoneOneAndHugeCells) {
  std::vector<std::vector<Cell>> contents = {{}, {put("r", "")}, {put("r", std::string(300000, 'x'))}};
  contents.push_back({put(std::string(kRowBytesMax, 'a'), "v"), put(std::string(kRowBytesMax, 'b'), "v")});
  contents.push_back(
      {put("a", std::string(100000, '\0')), put("b", "small"), put("c", std::string(100000, 'c'))});
  Cell largest = put("r", "v");
  largest.family = std::string(kFamilyBytesMax, 'f');
  largest.qualifier = std::string(60000, 'q');
  append_tag(largest.tags, 65, std::string(kTagsBytesMax - 3, 't'));
  contents.push_back({largest});
  Cell hudi{"r", "", "", kLatestTimestamp, CellType::kPut, "v"};
  contents.push_back({hudi, hudi});
  uint64_t combination = 0, read_back = 0;
  std::vector<FileToCheck> files;
  for (const std::string& codec : kCodecs) {
    for (const char* encoding : kEncodings) {
      for (const std::vector<Cell>& cells : contents) {
        if (combination++ % sweep_step() != 0) continue;
        HFileWriterOptions options;
        options.compression = codec;
        options.encoding = encoding;
        options.tags = true;
        // The checker hashes slowly.
        if (cells.empty() || cells[0].row.size() < 1000) options.bloom = "row";
        const WrittenFile written = write_cells(options, cells);
        check_summary(written, cells);
        check_read_back(written, cells, options);
        if (read_back++ % checked_outside_step() != 0) continue;
        files.push_back({"size" + std::to_string(files.size()), written.bytes, cells, false});
      }
    }
  }
  if (!has_outside_checker()) GTEST_SKIP() << "the outside checker is absent; our reader agrees";
  EXPECT_EQ(ask_outside_checker(files), "");
}

TEST(HFileWriter, SequencesOfEverySize) {
  std::vector<Cell> cells;
  for (int bits = 0; bits < 64; ++bits) {
    for (const uint64_t sequence : {(uint64_t{1} << bits) - 1, uint64_t{1} << bits}) {
      if (sequence > static_cast<uint64_t>(INT64_MAX)) continue;
      Cell cell = put("row" + std::to_string(1000 + cells.size()), "v");
      cell.sequence = sequence;
      cells.push_back(std::move(cell));
    }
  }
  for (const char* encoding : kEncodings) {
    for (const uint32_t block_bytes :
         {1u, 65536u}) {  // a cell at the end of each block, or one after another
      HFileWriterOptions options;
      options.encoding = encoding;
      options.mvcc = true;
      options.block_bytes = block_bytes;
      check_read_back(write_cells(options, cells), cells, options);
    }
  }
}

TEST(HFileWriter, IndexGrowsToManyLevels) {
  Random random(2);
  const std::vector<Cell> cells = draw_cells(random, {.rows = 3000, .cells = 3000});
  std::vector<FileToCheck> files;
  std::set<uint32_t> depths;
  for (const uint32_t chunk_bytes : {100u, 150u, 400u, 1000u, 2000u, 131072u}) {
    HFileWriterOptions options;
    options.block_bytes = 50;
    options.index_chunk_bytes = chunk_bytes;
    options.index_entries_min = 2;
    const WrittenFile written = write_cells(options, cells);
    check_summary(written, cells);
    check_read_back(written, cells, options);
    depths.insert(read_trailer(ViewFile(written.bytes)).value().data_index_levels);
    files.push_back({"levels" + std::to_string(chunk_bytes), written.bytes, cells, false});
  }
  EXPECT_TRUE(depths.contains(1) && depths.contains(2) && depths.contains(3) && *depths.rbegin() >= 5);
  if (!has_outside_checker()) GTEST_SKIP() << "the outside checker is absent; our reader agrees";
  EXPECT_EQ(ask_outside_checker(files), "");
}

// HBase finds the versions of one key in one block only.
TEST(HFileWriter, EqualKeysShareABlock) {
  HFileWriterOptions options;
  options.block_bytes = 100;
  options.mvcc = true;
  std::vector<Cell> cells(50, put("a", "0123456789"));
  for (size_t i = 0; i < cells.size(); ++i) cells[i].sequence = 100 - i;
  cells.push_back(put("b", "v"));
  const WrittenFile written = write_cells(options, cells);
  EXPECT_EQ(written.summary.data_blocks, 2u);
}

TEST(HFileWriter, TimesReachBackWhereAMarkerDoes) {
  const Cell old_put{"a", "f", "q", 500, CellType::kPut, ""};
  const Cell marker{"b", "f", "", 700, CellType::kDeleteFamily, ""};
  const Cell version_marker{"b", "f", "", 700, CellType::kDeleteFamilyVersion, ""};
  EXPECT_EQ(write_cells({}, {old_put, marker}).summary.times, (TimestampRange{0, 700}));
  EXPECT_EQ(write_cells({}, {old_put, version_marker}).summary.times, (TimestampRange{500, 700}));
  EXPECT_EQ(write_cells({}, {old_put, marker}).summary.earliest_put_ts, 500);
  EXPECT_EQ(write_cells({}, {}).summary.times, TimestampRange());
}

// Only files of the engine record it: cell_counts.
TEST(HFileWriter, TheOldestMarkerIsAFactOfTheFile) {
  const Cell old_put{"a", "f", "q", 500, CellType::kPut, ""};
  const Cell marker{"b", "f", "", 700, CellType::kDeleteFamily, ""};
  const Cell older_marker{"c", "f", "q", 600, CellType::kDelete, ""};
  const auto fact = [](const std::vector<Cell>& cells, bool own) {
    HFileWriterOptions options;
    options.cell_counts = own;
    const WrittenFile file = write_cells(options, cells);
    const auto reader = HFileReader::open(std::make_unique<ViewFile>(file.bytes), {}).value();
    return reader->info().i64(info_key::kEarliestDelete).value();
  };
  EXPECT_EQ(fact({old_put, marker, older_marker}, true), std::optional<int64_t>(600));
  EXPECT_EQ(fact({old_put}, true), std::nullopt);
  EXPECT_EQ(fact({old_put, marker}, false), std::nullopt);
}

TEST(HFileWriter, MetaBlocksAndFactsOfTheApplication) {
  StringFile file;
  std::unique_ptr<HFileWriter> writer = HFileWriter::create(file, {}).value();
  ASSERT_TRUE(add_cell(*writer, put("r", "v")).ok());
  ASSERT_TRUE(writer->add_meta_block("zebra", "stripes").ok());
  ASSERT_TRUE(writer->add_meta_block("ant", "").ok());
  ASSERT_TRUE(writer->set_info("MAX_SEQ_ID_KEY", std::string(8, '\1')).ok());
  ASSERT_TRUE(writer->set_info("TIMERANGE", std::string(16, '\2')).ok());  // over ours
  ASSERT_TRUE(writer->finish().ok());
  std::vector<std::string> contents;
  for (const RawBlock& block : walk_blocks(file.bytes(), 2)) {
    if (block.magic == "METABLKc") contents.push_back(block.payload);
    if (block.magic != "FILEINF2") continue;
    const FileInfo info = FileInfo::parse(block.payload).value();
    EXPECT_EQ(*info.find("TIMERANGE"), std::string(16, '\2'));
    EXPECT_EQ(*info.find("MAX_SEQ_ID_KEY"), std::string(8, '\1'));
    EXPECT_EQ(info.i64(info_key::kDeleteFamilyCount).value(), 0);
  }
  EXPECT_EQ(contents, (std::vector<std::string>{"", "stripes"}));
  EXPECT_EQ(read_trailer(ViewFile(file.bytes())).value().meta_index_count, 2u);
  if (!has_outside_checker()) GTEST_SKIP() << "the outside checker is absent; the blocks were checked";
  EXPECT_EQ(ask_outside_checker({{"meta", file.bytes(), {put("r", "v")}, false}}), "");
}

}  // namespace
}  // namespace cellar::testing
