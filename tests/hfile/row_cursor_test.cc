// Goal: a read of one row gets the same cells from a slice, a cached block and the file. Slices are made of
// whole rows only, and of blocks that are sound.
// Method: random cells in files of all encodings and block sizes. The cache is small. Each read is compared
// with the cells that were written. Other files have chosen rows at the borders of blocks, or damage.
#include "hfile/read/row_cursor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "cell/cell_key.h"
#include "hfile/read/hfile_reader.h"
#include "tests/cell_support/cursor_contract.h"
#include "tests/hfile_support/writer_support.h"
#include "tests/support/byte_files.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

using Texts = std::vector<std::string>;

std::string text_of(const CellView& cell) {
  return key_text(cell) + "#" + std::to_string(cell.sequence) + "=" + std::string(cell.value_bytes()) + "|" +
         std::string(cell.tags_bytes());
}

// A file with a cache that was full once, and is still full of small entries.
class Filler final : public CachedBlock {
 public:
  using CachedBlock::CachedBlock;
};
struct RowFile {
  RowFile() = default;
  explicit RowFile(std::string written) : bytes(std::move(written)) {}
  ~RowFile() { empty(); }
  RowFile(const RowFile&) = delete;
  RowFile& operator=(const RowFile&) = delete;
  void empty() {
    for (size_t i = 0; i < kFillers && cache != nullptr; ++i) cache->erase(fillers[i]);
  }

  static constexpr size_t kFillers = 400;
  std::string bytes;
  std::shared_ptr<BlockCache> cache;
  std::unique_ptr<BlockSlot[]> fillers = std::make_unique<BlockSlot[]>(kFillers);
  std::shared_ptr<HFileReader> reader;
};
void open(RowFile& file, uint64_t cache_bytes, HFileReaderOptions options = {}) {
  file.cache = BlockCache::create(cache_bytes, "clock", 1, nullptr, true).value();
  options.cache = file.cache;
  options.name = "file";
  auto reader = HFileReader::open(std::make_unique<ViewFile>(file.bytes), std::move(options));
  ASSERT_TRUE(reader.ok()) << reader.status().to_text();
  file.reader = *reader;
  EXPECT_FALSE(file.reader->keeps_rows()) << "nothing had to leave";
  for (size_t i = 0; i < RowFile::kFillers; ++i)
    file.cache->insert(file.fillers[i], new Filler(cache_bytes / (RowFile::kFillers / 2)));
  EXPECT_TRUE(file.cache->keeps_rows());
}

// Reads the cells of a row from `from` on, as a get does.
struct RowRead {
  Texts cells;
  bool from_slice = false;  // found at once
  bool pins_slice = false;  // the slice was found or made
  Status status;
};
RowRead read_row(const RowFile& file, const std::string& row, const CellView& from, Random& random,
                 ReadStats* stats = nullptr) {
  RowRead read;
  std::unique_ptr<RowCursor> found = file.reader->find_row(row, stats);
  const RowSlice* const slice = found->slice();
  read.from_slice = slice != nullptr;
  const std::unique_ptr<RunCursor> cursor =
      file.reader->row_cursor(std::move(found), {.holds_file = false, .stats = stats});
  const CellView* cell = cursor->seek(from);
  read.pins_slice = cell != nullptr && dynamic_cast<const RowSlice*>(cursor->pinned()) != nullptr;
  EXPECT_TRUE(!read.from_slice || cell == nullptr || cursor->pinned() == slice);
  while (cell != nullptr && cell->row() == row) {
    read.cells.push_back(text_of(*cell));
    if (random.one_in(4)) {
      const std::span<const CellView> span = cursor->next_span();
      if (span.empty()) break;
      for (const CellView& each : span.first(span.size() - 1))
        if (each.row() == row) read.cells.push_back(text_of(each));
      cell = &span.back();
    } else {
      cell = cursor->next();
    }
  }
  read.status = cursor->status();
  return read;
}

struct RowFileShape {
  std::string name;
  HFileWriterOptions writing;
};
std::vector<RowFileShape> row_file_shapes() {
  std::vector<RowFileShape> all;
  for (const char* encoding : {"none", "row_index", "prefix", "diff", "fast_diff"})
    for (const uint32_t block_bytes : {64u, 4096u, 16384u})
      for (const std::string compression : {"none", "snappy", "gz"}) {
        const bool compressed = compression != "none";
        RowFileShape shape;
        shape.writing.encoding = encoding;
        shape.writing.block_bytes = block_bytes;
        shape.writing.tags = shape.writing.mvcc = true;
        shape.writing.compress_tags = compressed;
        shape.writing.compression = compression;
        shape.writing.index_chunk_bytes = block_bytes == 64 ? 256 : 131072;
        shape.writing.index_entries_min = block_bytes == 64 ? 2 : 16;
        shape.name = std::string(encoding) + "_" + std::to_string(block_bytes) + "_" + compression;
        all.push_back(std::move(shape));
      }
  return all;
}

class RowCursors : public ::testing::TestWithParam<RowFileShape> {};

TEST_P(RowCursors, ReadWhatWasWritten) {
  Random random(7);
  uint64_t made = 0;
  uint64_t found = 0;
  const bool tiny = GetParam().writing.block_bytes == 64;
  const uint64_t cache_bytes = tiny ? 80'000 : 24'000;  // tiny blocks have a large index
  for (uint64_t round = 0; round < scaled(4); ++round) {
    const std::vector<Cell> cells = draw_cells(
        random, {.rows = 50 + random.below(400), .cells = 900, .tags = true, .value_bytes_max = 60});
    std::vector<std::string> keys(cells.size());
    std::vector<CellView> views;
    Texts texts;
    for (size_t i = 0; i < cells.size(); ++i) {
      views.push_back(view_of(cells[i], keys[i]));
      texts.push_back(text_of(views.back()));
    }
    RowFile file(write_cells(GetParam().writing, cells).bytes);
    open(file, cache_bytes);
    ASSERT_NE(file.reader, nullptr);
    ASSERT_TRUE(file.reader->keeps_rows());
    for (int i = 0; i < 1000; ++i) {
      const Cell& cell = cells[random.one_in(3) ? random.below(cells.size()) : 97 * random.below(9)];
      const std::string row = random.one_in(20) ? cell.row + "x" : cell.row;
      OwnedCell from;
      if (random.one_in(2)) {
        first_of_row(from, row);
      } else {
        first_of_column(from, row, cell.family, cell.qualifier);
      }
      Texts expected;
      for (size_t at = 0; at < cells.size(); ++at)
        if (cells[at].row == row && compare_cells(views[at], from.view()) >= 0) expected.push_back(texts[at]);
      ReadStats stats;
      const RowRead read = read_row(file, row, from.view(), random, &stats);
      ASSERT_TRUE(read.status.ok()) << read.status.to_text();
      ASSERT_EQ(read.cells, expected) << row << (read.from_slice ? " from a slice" : "");
      ASSERT_EQ(stats.rows_from_cache, read.from_slice ? 1u : 0u);
      ASSERT_TRUE(!read.from_slice || stats.blocks_from_disk + stats.blocks_from_cache == 0);
      made += read.pins_slice && !read.from_slice ? 1 : 0;
      found += read.from_slice ? 1 : 0;
      const BlockCacheStats used = file.cache->stats();
      ASSERT_LE(used.used_bytes + used.pinned_bytes, cache_bytes);
    }
  }
  if (tiny) {
    EXPECT_EQ(made, 0u) << "a slice would take more than an eighth of its block";
  } else {
    EXPECT_GT(made, 10u);
    EXPECT_GT(found, 20u);
  }
}

INSTANTIATE_TEST_SUITE_P(All, RowCursors, ::testing::ValuesIn(row_file_shapes()),
                         [](const auto& tested) { return tested.param.name; });

// Rows of 100 bytes in blocks of 4 KiB, and a row that begins in one block and ends in another.
class RowBorders : public ::testing::Test {
 protected:
  void write(int rows, HFileReaderOptions options = {}, HFileWriterOptions writing = {}) {
    writing.block_bytes = 4096;
    for (int i = 0; i < rows; ++i)
      for (int column = 0; column < 3; ++column)
        cells_.emplace_back("row" + std::to_string(1000 + i), "f",
                            std::string(1, static_cast<char>('a' + column)), 100, CellType::kPut,
                            std::string(60, 'v'));
    file_.bytes = write_cells(writing, cells_).bytes;
    open(file_, 100'000, std::move(options));
  }
  RowRead read(const RowFile& file, const std::string& row, ReadStats* stats = nullptr) {
    OwnedCell from;
    first_of_row(from, row);
    return read_row(file, row, from.view(), random_, stats);
  }

  Cells cells_;
  RowFile file_;
  Random random_{1};
};

TEST_F(RowBorders, OnlyRowsThatCrossABlockHaveNoSlice) {
  write(200);
  int without = 0;
  for (int i = 0; i < 150; ++i) {  // the last block may be too small for slices
    RowFile fresh(file_.bytes);    // no block of another read is in its cache
    open(fresh, 20'000);
    const std::string row = "row" + std::to_string(1000 + i);
    const RowRead first = read(fresh, row);
    EXPECT_EQ(first.cells.size(), 3u) << row;
    EXPECT_FALSE(first.from_slice);
    without += first.pins_slice ? 0 : 1;
    const RowRead second = read(fresh, row);
    EXPECT_EQ(second.cells, first.cells);
    EXPECT_EQ(second.from_slice, first.pins_slice) << row;
  }
  EXPECT_GT(without, 0) << "some rows cross a border";
  EXPECT_LE(without, 11) << "one at each border";
}

TEST_F(RowBorders, ABlockThatIsReadTwiceIsCached) {
  write(200);
  ReadStats stats;
  for (int i = 5; i < 9; ++i) {
    const RowRead each = read(file_, "row" + std::to_string(1000 + i), &stats);
    EXPECT_EQ(each.cells.size(), 3u);
    EXPECT_EQ(each.pins_slice, i < 7) << "a slice is made of a block that is read from the file";
  }
  EXPECT_EQ(stats.blocks_from_disk, 2u);
  EXPECT_EQ(stats.blocks_from_cache, 2u);
}

TEST_F(RowBorders, ACachedBlockThatIsReadForOneRowGivesItsSlice) {
  write(200);
  for (const int i : {5, 6}) EXPECT_EQ(read(file_, "row" + std::to_string(1000 + i)).cells.size(), 3u);
  EXPECT_FALSE(read(file_, "row1010").pins_slice) << "for the first time";
  EXPECT_FALSE(read(file_, "row1011").pins_slice);
  EXPECT_FALSE(read(file_, "row1010").pins_slice) << "another row came between";
  const RowRead again = read(file_, "row1010");
  EXPECT_TRUE(again.pins_slice);
  EXPECT_FALSE(again.from_slice);
  EXPECT_TRUE(read(file_, "row1010").from_slice);
}

TEST_F(RowBorders, ARoomyCacheTakesTheBlock) {
  write(200);
  file_.empty();
  ReadStats stats;
  for (int i = 5; i < 9; ++i) EXPECT_FALSE(read(file_, "row" + std::to_string(1000 + i), &stats).pins_slice);
  EXPECT_EQ(stats.blocks_from_disk, 1u);
  EXPECT_EQ(file_.cache->stats().rows, 0u);
}

TEST_F(RowBorders, PartsOfFilesKeepNoRows) {
  HFileReaderOptions part;
  part.start_row = "row1010";
  part.stop_row = "row1020";
  write(50, part);
  EXPECT_TRUE(file_.cache->keeps_rows());
  EXPECT_FALSE(file_.reader->keeps_rows());
}

TEST_F(RowBorders, DamageIsFoundAndNotKept) {
  write(200);
  for (size_t at = 40; at < 4000; at += 400) {
    RowFile damaged(file_.bytes);
    damaged.bytes[at] = static_cast<char>(damaged.bytes[at] ^ 1);
    open(damaged, 20'000);
    ASSERT_NE(damaged.reader, nullptr);
    const uint64_t blocks = damaged.cache->stats().blocks;
    for (int i = 0; i < 3; ++i) {
      const RowRead found = read(damaged, "row1003");
      EXPECT_EQ(found.status.code(), Code::kCorruption);
      EXPECT_TRUE(found.cells.empty());
    }
    EXPECT_EQ(damaged.cache->stats().rows, 0u);
    EXPECT_EQ(damaged.cache->stats().blocks, blocks);
  }
}

}  // namespace
}  // namespace cellar::testing
