// Goal: a file whose index is out of order is refused with an error that says so. No read follows such an
// index, and no estimate counts by it. Method: a file without checksums has an index of two levels. Keys and
// offsets of the index are overwritten in place.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/coding.h"
#include "cell/cell_key.h"
#include "hfile/format/format.h"
#include "hfile/read/file_span.h"
#include "hfile/read/hfile_reader.h"
#include "tests/hfile_support/writer_support.h"

namespace cellar::testing {
namespace {

// Where the parts of a leaf of the index stand in the file.
struct Leaf {
  std::vector<size_t> entries;  // u64 offset of a data block, u32 bytes of it, key
  std::vector<std::string> rows;
};

std::string row_of(int i) { return "row" + std::to_string(10'000 + i); }

class IndexOrder : public ::testing::Test {
 protected:
  static constexpr int kCells = 200;    // each in a block of its own
  static constexpr size_t kKeyAt = 12;  // in an entry

  IndexOrder() {
    HFileWriterOptions options;
    options.checksum = ChecksumType::kNull;
    options.block_bytes = 1;
    options.index_chunk_bytes = 512;
    std::vector<Cell> cells;
    for (int i = 0; i < kCells; ++i) cells.emplace_back(row_of(i), "f", "q", 1000, CellType::kPut, "value");
    bytes_ = write_cells(options, cells).bytes;
    for (const RawBlock& block : walk_blocks(bytes_, 2)) {
      if (block.magic != "IDXLEAF2") continue;
      const size_t begin = block.offset + kBlockHeaderBytes;
      const uint32_t count = load_be32(bytes_.data() + begin);
      const size_t body = begin + 4 + (count + 1) * 4;
      Leaf& leaf = leaves_.emplace_back();
      for (uint32_t i = 0; i < count; ++i) {
        leaf.entries.push_back(body + load_be32(bytes_.data() + begin + 4 + i * 4));
        leaf.rows.push_back(bytes_.substr(leaf.entries.back() + kKeyAt + 2, row_of(0).size()));
      }
    }
  }

  void set_entry(size_t at, uint64_t offset, uint32_t disk_bytes) {
    store_be64(bytes_.data() + at, offset);
    store_be32(bytes_.data() + at + 8, disk_bytes);
  }
  // The last leaf names the first bytes of the file.
  void point_the_last_leaf_to_the_beginning() {
    uint64_t offset = 0;
    for (const size_t at : leaves_.back().entries) set_entry(at, offset++, 1);
  }

  std::shared_ptr<HFileReader> open() const {
    auto reader = HFileReader::open(std::make_unique<ViewFile>(bytes_), {.name = "file"});
    EXPECT_TRUE(reader.ok()) << reader.status().to_text();
    return reader.ok() ? *reader : nullptr;
  }
  // The status of a walk over all cells.
  Status walk() const {
    const std::shared_ptr<HFileReader> reader = open();
    const std::unique_ptr<RunCursor> cursor = reader->cursor({});
    OwnedCell first;
    first_of_row(first, {});
    const CellView* cell = cursor->seek(first.view());
    while (cell != nullptr) cell = cursor->next();
    return cursor->status();
  }
  static void expect_corruption(const Status& status, std::string_view what) {
    EXPECT_TRUE(status.is(Code::kCorruption)) << status.to_text();
    EXPECT_NE(status.message().find(what), std::string_view::npos) << status.to_text();
    EXPECT_TRUE(status.place().starts_with("file: offset ")) << status.to_text();
  }

  std::string bytes_;
  std::vector<Leaf> leaves_;
};

TEST_F(IndexOrder, TheFileIsSoundBefore) {
  ASSERT_GE(leaves_.size(), 3u);
  ASSERT_GE(leaves_.front().rows.size(), 4u);
  EXPECT_EQ(leaves_.front().rows.front(), row_of(0));
  EXPECT_EQ(leaves_.back().rows.back(), row_of(kCells - 1));
  EXPECT_TRUE(walk().ok());
  const Result<FileSpan> span = file_span(*open(), row_of(20), row_of(150), nullptr);
  ASSERT_TRUE(span.ok()) << span.status().to_text();
  EXPECT_LT(span->inner_bytes + span->edge_bytes, span->data_bytes);
}

TEST_F(IndexOrder, KeysOfALeafThatDescendAreRefused) {
  const std::vector<size_t>& entries = leaves_[1].entries;
  const size_t key_bytes = entries[2] - entries[1] - kKeyAt;
  std::swap_ranges(bytes_.begin() + static_cast<ptrdiff_t>(entries[1] + kKeyAt),
                   bytes_.begin() + static_cast<ptrdiff_t>(entries[1] + kKeyAt + key_bytes),
                   bytes_.begin() + static_cast<ptrdiff_t>(entries[2] + kKeyAt));
  expect_corruption(walk(), "key 2 is less than the key before it");
  expect_corruption(file_span(*open(), leaves_[1].rows[1], "", nullptr).status(), "key 2 is less than");
}

TEST_F(IndexOrder, BlocksThatOverlapAreRefused) {
  const std::vector<size_t>& entries = leaves_[1].entries;
  set_entry(entries[2], load_be64(bytes_.data() + entries[1]), 1);
  expect_corruption(walk(), "overlaps the one before");
}

// Each leaf by itself is in order. An estimate of bytes would be nearly 2^64.
TEST_F(IndexOrder, ARangeWhoseEndLiesBeforeItsBeginIsRefused) {
  point_the_last_leaf_to_the_beginning();
  const Result<FileSpan> span = file_span(*open(), leaves_[1].rows[2], leaves_.back().rows[1], nullptr);
  expect_corruption(span.status(), "index: its blocks are out of order");
  EXPECT_FALSE(walk().ok());
}

TEST_F(IndexOrder, AFirstBlockAfterTheLastIsRefused) {
  point_the_last_leaf_to_the_beginning();
  const std::vector<size_t>& entries = leaves_.front().entries;
  const uint64_t second = load_be64(bytes_.data() + entries[1]);
  ASSERT_GT(second, leaves_.back().entries.size() + 1);
  set_entry(entries[0], second - 1, 1);
  for (const char* start : {"", "row10020"})
    expect_corruption(file_span(*open(), start, "", nullptr).status(),
                      "index: the first block lies after the last");
  expect_corruption(file_samples(*open(), "", "", 10, nullptr).status(), "lies after the last");
}

}  // namespace
}  // namespace cellar::testing
