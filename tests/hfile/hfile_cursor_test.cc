// Goal: a cursor over a file keeps the contract of all cursors, whatever the file's encoding, codec, block
// size and depth of index. It does so with and without a cache, and reads what it must, not more. Method: the
// contract suite over files written for each set of cells; counts of what was read.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/random.h"
#include "cell/cell_key.h"
#include "hfile/read/hfile_reader.h"
#include "tests/cell_support/cursor_contract.h"
#include "tests/hfile_support/writer_support.h"

namespace cellar::testing {
namespace {

struct Shape {
  std::string name;
  HFileWriterOptions writing;
  uint64_t cache_bytes = 0;
  FileCursorOptions reading;
};

std::shared_ptr<HFileReader> open_cells(const Cells& cells, const Shape& shape,
                                        std::shared_ptr<std::atomic<uint64_t>> reads) {
  const WrittenFile written = write_cells(shape.writing, cells);
  HFileReaderOptions options;
  options.name = shape.name;
  options.require_crc32c = true;
  if (shape.cache_bytes > 0) options.cache = BlockCache::create(shape.cache_bytes, "clock", 1).value();
  Result<std::shared_ptr<HFileReader>> reader =
      HFileReader::open(std::make_unique<CountingFile>(written.bytes, std::move(reads)), std::move(options));
  EXPECT_TRUE(reader.ok()) << reader.status().to_text();
  return reader.ok() ? *reader : nullptr;
}

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (const char* encoding : {"none", "row_index", "prefix", "diff", "fast_diff"}) {
    for (const uint32_t block_bytes : {64u, 400u, 65536u}) {
      for (const int cached : {0, 1, 2}) {
        Shape shape;
        shape.writing.encoding = encoding;
        shape.writing.block_bytes = block_bytes;
        shape.writing.tags = shape.writing.mvcc = true;
        shape.writing.compress_tags = block_bytes != 400;
        shape.writing.bloom = "row";
        shape.writing.compression = cached == 1 ? "snappy" : "none";
        shape.writing.index_chunk_bytes = block_bytes == 64 ? 256 : 131072;
        shape.writing.index_entries_min = block_bytes == 64 ? 2 : 16;
        shape.cache_bytes = cached == 0 ? 0 : cached == 1 ? 8 << 20 : 3000;
        shape.reading.sequential = cached == 0 && block_bytes == 400;
        shape.reading.span_cells = cached == 0 ? 0 : cached == 1 ? 3 : 8;
        shape.name = std::string(encoding) + "_" + std::to_string(block_bytes) +
                     (cached == 0   ? "_uncached"
                      : cached == 1 ? "_cached"
                                    : "_evicted");
        all.push_back(std::move(shape));
      }
    }
  }
  return all;
}

class CursorShapes : public ::testing::TestWithParam<Shape> {};

TEST_P(CursorShapes, KeepTheContract) {
  const Shape& shape = GetParam();
  const CursorMaker make = [&](const Cells& cells, Random&) -> std::unique_ptr<RunCursor> {
    const std::shared_ptr<HFileReader> reader =
        open_cells(cells, shape, std::make_shared<std::atomic<uint64_t>>(0));
    return reader == nullptr ? nullptr : reader->cursor(shape.reading);
  };
  ContractLimits limits;
  limits.rounds = 20;
  check_cursor_contract(make, test_seed(20260101), limits);
}

INSTANTIATE_TEST_SUITE_P(All, CursorShapes, ::testing::ValuesIn(shapes()),
                         [](const auto& tested) { return tested.param.name; });

Cells numbered_rows(size_t rows) {
  Cells cells;
  for (size_t i = 0; i < rows; ++i) {
    char row[16];
    snprintf(row, sizeof row, "row%06zu", i * 2);
    cells.emplace_back(row, "f", "q", 1000, CellType::kPut, "value" + std::to_string(i));
  }
  return cells;
}

Shape plain_shape(uint32_t block_bytes) {
  Shape shape;
  shape.name = "plain";
  shape.writing.block_bytes = block_bytes;
  shape.writing.bloom = "row";
  return shape;
}

TEST(HFileReads, AGetReadsOneBlockAndThenNone) {
  Shape shape = plain_shape(1024);
  shape.cache_bytes = 8 << 20;
  const auto reads = std::make_shared<std::atomic<uint64_t>>(0);
  const std::shared_ptr<HFileReader> reader = open_cells(numbered_rows(2000), shape, reads);
  ASSERT_NE(reader, nullptr);
  for (const uint64_t expected : {1u, 0u}) {
    *reads = 0;
    ReadStats stats;
    const std::unique_ptr<RunCursor> cursor = reader->cursor({.stats = &stats});
    OwnedCell target;
    first_of_row(target, "row001000");
    const CellView* cell = cursor->seek(target.view());
    ASSERT_NE(cell, nullptr);
    EXPECT_EQ(cell->row(), "row001000");
    EXPECT_EQ(*reads, expected);
    EXPECT_EQ(stats.blocks_from_disk, expected);
    EXPECT_EQ(stats.blocks_from_cache, 1 - expected);
    EXPECT_EQ(stats.data_blocks, 1u) << "from disk or from the cache";
  }
}

TEST(HFileReads, ASequentialWalkReadsManyBlocksAtOnce) {
  Shape shape = plain_shape(4096);
  shape.reading = {.fill_cache = false, .sequential = true};
  const auto reads = std::make_shared<std::atomic<uint64_t>>(0);
  const std::shared_ptr<HFileReader> reader = open_cells(numbered_rows(20000), shape, reads);
  ASSERT_NE(reader, nullptr);
  ReadStats stats;
  for (const bool sequential : {true, false}) {
    *reads = 0;
    stats = {};
    const std::unique_ptr<RunCursor> cursor = reader->cursor({.sequential = sequential, .stats = &stats});
    OwnedCell target;
    first_of_row(target, "");
    uint64_t cells = 0;
    for (const CellView* cell = cursor->seek(target.view()); cell != nullptr; cell = cursor->next()) ++cells;
    EXPECT_EQ(cells, 20000u);
    EXPECT_GT(stats.blocks_from_disk, 150u);
    EXPECT_LT(*reads, 12u);  // a walk that was not announced is noticed after a few blocks
  }
}

TEST(HFileReads, SkipsOverBlocksByTheIndex) {
  const std::shared_ptr<HFileReader> reader =
      open_cells(numbered_rows(5000), plain_shape(1024), std::make_shared<std::atomic<uint64_t>>(0));
  ASSERT_NE(reader, nullptr);
  ReadStats stats;
  const std::unique_ptr<RunCursor> cursor = reader->cursor({.stats = &stats});
  OwnedCell target;
  first_of_row(target, "row000000");
  ASSERT_NE(cursor->seek(target.view()), nullptr);
  first_of_row(target, "row008001");
  const CellView* cell = cursor->skip_to(target.view());
  ASSERT_NE(cell, nullptr);
  EXPECT_EQ(cell->row(), "row008002");
  EXPECT_EQ(stats.blocks_from_disk, 2u);
}

TEST(HFileReads, TheRangeAndTheFilterSaveReads) {
  const std::shared_ptr<HFileReader> reader =
      open_cells(numbered_rows(5000), plain_shape(1024), std::make_shared<std::atomic<uint64_t>>(0));
  ASSERT_NE(reader, nullptr);
  ReadStats stats;
  EXPECT_FALSE(reader->may_contain_row("a", &stats));
  EXPECT_FALSE(reader->may_contain_row("z", &stats));
  EXPECT_EQ(stats.files_skipped_range, 2u);
  uint64_t wrong = 0;
  char row[16];
  for (int i = 0; i < 5000; ++i) {
    snprintf(row, sizeof row, "row%06d", i * 2);
    ASSERT_TRUE(reader->may_contain_row(row, nullptr));
    snprintf(row, sizeof row, "row%06d", i * 2 + 1);
    wrong += reader->may_contain_row(row, &stats);
  }
  EXPECT_LT(wrong, 200u);
  EXPECT_GT(stats.bloom_checks, 4900u);
  EXPECT_EQ(stats.files_skipped_bloom + stats.files_skipped_range, 2 + 5000 - wrong);
}

TEST(HFileReads, ASequenceOverrideHoldsForEveryCell) {
  Shape shape = plain_shape(1024);
  shape.writing.mvcc = true;
  const WrittenFile written = write_cells(shape.writing, numbered_rows(100));
  HFileReaderOptions options;
  options.sequence_override = 77;
  const std::shared_ptr<HFileReader> reader =
      HFileReader::open(std::make_unique<ViewFile>(written.bytes), std::move(options)).value();
  EXPECT_EQ(reader->max_sequence(), 77u);
  const std::unique_ptr<RunCursor> cursor = reader->cursor({});
  OwnedCell target;
  first_of_row(target, "");
  for (const CellView* cell = cursor->seek(target.view()); cell != nullptr; cell = cursor->next()) {
    ASSERT_EQ(cell->sequence, 77u);
  }
  EXPECT_TRUE(cursor->status().ok());
}

TEST(HFileReads, APinKeepsTheCellWhenCursorAndFileAreGone) {
  Shape shape = plain_shape(512);
  std::shared_ptr<HFileReader> reader =
      open_cells(numbered_rows(300), shape, std::make_shared<std::atomic<uint64_t>>(0));
  std::unique_ptr<RunCursor> cursor = reader->cursor({});
  OwnedCell target;
  first_of_row(target, "row000100");
  const CellView cell = *cursor->seek(target.view());
  const Pin pin = cursor->pin();
  cursor.reset();
  reader.reset();
  EXPECT_EQ(cell.row(), "row000100");
  EXPECT_EQ(cell.value_bytes(), "value50");
}

TEST(HFileReads, OwnFilesMustCarryCrc32c) {
  Shape shape = plain_shape(512);
  shape.writing.checksum = ChecksumType::kCrc32;
  const WrittenFile written = write_cells(shape.writing, numbered_rows(10));
  HFileReaderOptions strict;
  strict.require_crc32c = true;
  EXPECT_TRUE(HFileReader::open(std::make_unique<ViewFile>(written.bytes), {}).ok());
  EXPECT_FALSE(HFileReader::open(std::make_unique<ViewFile>(written.bytes), std::move(strict)).ok());
}

TEST(HFileReads, AFileWithoutCellsIsAnEmptyRun) {
  const std::shared_ptr<HFileReader> reader =
      open_cells({}, plain_shape(512), std::make_shared<std::atomic<uint64_t>>(0));
  ASSERT_NE(reader, nullptr);
  EXPECT_FALSE(reader->may_contain_row("a", nullptr));
  EXPECT_EQ(reader->first_row(), "");
  const std::unique_ptr<RunCursor> cursor = reader->cursor({});
  OwnedCell target;
  first_of_row(target, "");
  EXPECT_EQ(cursor->seek(target.view()), nullptr);
  EXPECT_EQ(cursor->seek_before(target.view()), nullptr);
  EXPECT_TRUE(cursor->status().ok());
}

TEST(HFileReads, ManyThreadsShareOneFile) {
  Shape shape = plain_shape(256);
  shape.cache_bytes = 20000;  // most blocks come and go
  shape.writing.index_chunk_bytes = 512;
  shape.writing.index_entries_min = 4;
  const std::shared_ptr<HFileReader> reader =
      open_cells(numbered_rows(2000), shape, std::make_shared<std::atomic<uint64_t>>(0));
  ASSERT_NE(reader, nullptr);
  ASSERT_GT(reader->trailer().data_index_levels, 2u);
  std::vector<std::thread> threads;
  std::atomic<uint64_t> found{0};
  for (uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      Random random(thread);
      const std::unique_ptr<RunCursor> cursor = reader->cursor({});
      OwnedCell target;
      for (int i = 0; i < 500; ++i) {
        char row[16];
        snprintf(row, sizeof row, "row%06d", static_cast<int>(random.below(2000)) * 2);
        first_of_row(target, row);
        const CellView* cell = cursor->seek(target.view());
        found += cell != nullptr && cell->row() == row && reader->may_contain_row(row, nullptr);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found, 2000u);
}

}  // namespace
}  // namespace cellar::testing
