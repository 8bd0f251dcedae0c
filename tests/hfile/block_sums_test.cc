// Goal: each block of a file that Cellar wrote is known by its place, however many blocks there are, and
// whatever reads them. Method: files of thousands of small blocks, so that their sums fill several pages.
// Blocks are moved, pages are damaged, and pages get other content than the trailer says.
#include "hfile/block/block_sums.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cache/block_cache.h"
#include "cell/cell_key.h"
#include "hfile/block/block_writer.h"
#include "hfile/block/file_parts.h"
#include "hfile/check/salvage.h"
#include "hfile/check/verify.h"
#include "hfile/codec/codecs.h"
#include "hfile/read/hfile_reader.h"
#include "tests/hfile_support/writer_support.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

std::vector<Cell> numbered_cells(size_t count, const std::string& value) {
  std::vector<Cell> cells;
  for (size_t i = 0; i < count; ++i)
    cells.emplace_back(fmt::format("row{:06}", i), "f", "q", 1000, CellType::kPut, value);
  return cells;
}

// Every cell in a block of its own.
HFileWriterOptions small_blocks() {
  HFileWriterOptions options;
  options.block_bytes = 1;
  options.index_chunk_bytes = 4096;
  options.bloom = "row";
  options.bloom_chunk_bytes = 1024;
  options.trailer_sums = true;
  return options;
}

std::shared_ptr<HFileReader> open(std::string_view bytes) {
  return HFileReader::open(std::make_unique<ViewFile>(bytes), {.name = "file"}).value();
}

// How many cells can be read before the end or an error.
uint64_t cells_read(const HFileReader& file, Status& status) {
  const std::unique_ptr<CellCursor> cursor = file.cursor({.fill_cache = false});
  OwnedCell first;
  first_of_row(first, {});
  uint64_t cells = 0;
  for (const CellView* cell = cursor->seek(first.view()); cell != nullptr; cell = cursor->next()) ++cells;
  status = cursor->status();
  return cells;
}

struct BlockAt {
  uint64_t offset = 0;
  BlockHeader header;
};

std::vector<BlockAt> blocks_of(const HFileReader& file) {
  std::vector<BlockAt> blocks;
  const uint64_t end = file.trailer().load_on_open_offset;
  for (uint64_t at = 0; at < end; at += blocks.back().header.disk_bytes())
    blocks.push_back({at, file.parts().blocks->read_header(at, end).value()});
  return blocks;
}

TEST(BlockSums, ManyBlocksFillSeveralPages) {
  constexpr size_t kCells = 10'000;
  const WrittenFile written = write_cells(small_blocks(), numbered_cells(kCells, "value"));
  const std::shared_ptr<BlockCache> cache = BlockCache::create(8u << 20, "clock", 1).value();
  const std::shared_ptr<HFileReader> file =
      HFileReader::open(std::make_unique<ViewFile>(written.bytes), {.cache = cache, .name = "file"}).value();
  EXPECT_GE(file->trailer().block_sums.size(), 3u);
  const uint64_t before = cache->stats().pinned_bytes;
  OwnedCell target;
  first_of_row(target, "row005000");
  const std::unique_ptr<CellCursor> cursor = file->cursor({.fill_cache = false});
  ASSERT_NE(cursor->seek(target.view()), nullptr);
  EXPECT_GT(cache->stats().pinned_bytes, before + 4096 * 12) << "a page is charged";
  Status status;
  EXPECT_EQ(cells_read(*file, status), kCells);
  EXPECT_TRUE(status.ok()) << status.to_text();
  const VerifyReport report =
      verify(std::make_unique<ViewFile>(written.bytes), {.level = VerifyLevel::kDeep});
  EXPECT_EQ(report.findings.size(), 0u);
}

TEST(BlockSums, OtherWritersFilesHaveNone) {
  HFileWriterOptions options = small_blocks();
  options.trailer_sums = false;
  const WrittenFile written = write_cells(options, numbered_cells(100, "value"));
  EXPECT_TRUE(open(written.bytes)->trailer().block_sums.empty());
  EXPECT_EQ(written.bytes.find("METABLKc"), std::string::npos);
}

TEST(BlockSums, ABlockInAnotherPlaceOfItsFileIsFound) {
  const WrittenFile written = write_cells(small_blocks(), numbered_cells(6000, "value"));
  const std::vector<BlockAt> blocks = blocks_of(*open(written.bytes));
  uint64_t moved = 0;
  for (size_t i = 0; i + 41 < blocks.size(); i += 41) {
    const BlockAt& to = blocks[i];
    const BlockAt& from = blocks[i + 41];
    if (from.header.disk_bytes() != to.header.disk_bytes()) continue;
    std::string damaged = written.bytes;
    damaged.replace(to.offset, to.header.disk_bytes(), written.bytes, from.offset, from.header.disk_bytes());
    const std::shared_ptr<HFileReader> file = open(damaged);
    const auto block = file->parts().blocks->read(to.offset, to.header.disk_bytes(),
                                                  file->trailer().load_on_open_offset, nullptr, nullptr);
    ASSERT_FALSE(block.ok()) << to.offset;
    EXPECT_TRUE(block.status().is(Code::kCorruption));
    EXPECT_EQ(block.status().message(), "the block is not the one that was written at this offset");
    EXPECT_EQ(block.status().place(), "file: offset " + std::to_string(to.offset));
    ++moved;
  }
  EXPECT_GE(moved, 100u);
  count(moved, "blocks in another place of their file, found");
}

TEST(BlockSums, ChecksumsOfEachTypeLeaveNoBlockUnknown) {
  for (const ChecksumType type : {ChecksumType::kNull, ChecksumType::kCrc32, ChecksumType::kCrc32c}) {
    SCOPED_TRACE(static_cast<int>(type));
    HFileWriterOptions options = small_blocks();
    options.checksum = type;
    options.bytes_per_checksum = 64;
    const WrittenFile ours = write_cells(options, numbered_cells(50, "value"));
    const WrittenFile theirs = write_cells(options, numbered_cells(50, "other"));
    ASSERT_EQ(ours.bytes.size(), theirs.bytes.size());
    for (const BlockAt& block : blocks_of(*open(ours.bytes))) {
      std::string damaged = ours.bytes;
      damaged.replace(block.offset, block.header.disk_bytes(), theirs.bytes, block.offset,
                      block.header.disk_bytes());
      if (damaged == ours.bytes) continue;
      const VerifyReport report =
          verify(std::make_unique<ViewFile>(damaged), {.level = VerifyLevel::kBlocks});
      EXPECT_EQ(report.verdict, VerifyVerdict::kUnsound) << block.offset;
    }
  }
}

TEST(BlockSums, SalvageLeavesOutABlockOfAnotherFile) {
  const WrittenFile ours = write_cells(small_blocks(), numbered_cells(200, "value"));
  const WrittenFile theirs = write_cells(small_blocks(), numbered_cells(200, "other"));
  const auto salvaged = [](const std::string& bytes, uint64_t& others) {
    others = 0;
    const SalvageTaker taker = {.begin = [](const SalvageFormat&) { return Status(); },
                                .take =
                                    [&](const CellView& cell) {
                                      others += cell.value_bytes() == "other" ? 1 : 0;
                                      return Status();
                                    }};
    return salvage(std::make_shared<ViewFile>(bytes), "file", taker, kBlockPayloadBytesMax).value();
  };
  const std::vector<BlockAt> blocks = blocks_of(*open(ours.bytes));
  std::string damaged = ours.bytes;
  damaged.replace(blocks[7].offset, blocks[7].header.disk_bytes(), theirs.bytes, blocks[7].offset,
                  blocks[7].header.disk_bytes());
  uint64_t others = 0;
  EXPECT_EQ(salvaged(damaged, others).cells, 199u);
  EXPECT_EQ(others, 0u);
  // The same where the file does not open: its trailer still says where the sums are.
  damaged[open(ours.bytes)->trailer().load_on_open_offset + kBlockHeaderBytes] ^= 1;
  EXPECT_EQ(salvaged(damaged, others).cells, 199u);
  EXPECT_EQ(others, 0u);
  // Without readable sums everything else is saved.
  damaged = ours.bytes;
  damaged[blocks.back().offset + kBlockHeaderBytes] ^= 1;
  EXPECT_EQ(salvaged(damaged, others).cells, 200u);
}

TEST(BlockSums, ADamagedPageIsNamedAndItsBlocksAreNotBelieved) {
  const WrittenFile written = write_cells(small_blocks(), numbered_cells(100, "value"));
  const BlockAt page = blocks_of(*open(written.bytes)).back();
  ASSERT_EQ(page.header.kind, BlockKind::kMeta);
  std::string damaged = written.bytes;
  damaged[page.offset + kBlockHeaderBytes] ^= 1;
  Status status;
  EXPECT_EQ(cells_read(*open(damaged), status), 0u);
  EXPECT_TRUE(status.is(Code::kCorruption));
  EXPECT_EQ(status.place(), "file: offset " + std::to_string(page.offset));
  const VerifyReport report = verify(std::make_unique<ViewFile>(damaged), {.level = VerifyLevel::kBlocks});
  EXPECT_EQ(report.verdict, VerifyVerdict::kUnsound);
  EXPECT_EQ(report.data_blocks_readable, 0u);
}

// A page of this payload at the place of a file's own, with every sum as it should be.
std::string with_page(const WrittenFile& written, const std::string& payload) {
  Trailer trailer = open(written.bytes)->trailer();
  const BlockAt page = blocks_of(*open(written.bytes)).back();
  StringFile made;
  BlockWriter blocks(made, *compressor_by_id(trailer.codec).value(), ChecksumType::kCrc32c,
                     kBytesPerChecksum);
  EXPECT_TRUE(blocks.write(BlockKind::kMeta, payload).ok());
  EXPECT_TRUE(blocks.flush().ok());
  const uint64_t moved = made.bytes().size() - page.header.disk_bytes();
  std::string bytes = written.bytes.substr(0, page.offset) + made.bytes();
  bytes += written.bytes.substr(trailer.load_on_open_offset);
  bytes.resize(bytes.size() - trailer.trailer_bytes());
  trailer.load_on_open_offset += moved;
  trailer.file_info_offset += moved;
  trailer.block_sums[0].disk_bytes = static_cast<uint32_t>(made.bytes().size());
  trailer.block_sums[0].sum = block_sum(page.offset, made.bytes(), 4);
  return bytes + encode_trailer(trailer);
}

TEST(BlockSums, AMalformedPageIsCorruption) {
  const WrittenFile written = write_cells(small_blocks(), numbered_cells(100, "value"));
  const BlockAt page = blocks_of(*open(written.bytes)).back();
  const std::string payload(written.bytes, page.offset + kBlockHeaderBytes, page.header.payload_bytes);
  Status status;
  EXPECT_EQ(cells_read(*open(with_page(written, payload)), status), 100u);
  EXPECT_TRUE(status.ok()) << status.to_text();
  std::string many;
  for (int i = 0; i < 1000; ++i) many += std::string("\0\0\0\0\0", 5);
  for (const std::string& each :
       {std::string(), payload.substr(0, payload.size() - 1), payload.substr(0, payload.size() / 2),
        payload + payload, many, std::string(1000, '\xff')}) {
    EXPECT_EQ(cells_read(*open(with_page(written, each)), status), 0u);
    EXPECT_TRUE(status.is(Code::kCorruption)) << status.to_text();
    EXPECT_NE(status.message().find("are malformed"), std::string_view::npos) << status.to_text();
  }
}

TEST(BlockSums, ATrailerSaysWhereThePagesAre) {
  const WrittenFile written = write_cells(small_blocks(), numbered_cells(100, "value"));
  const Trailer sound = open(written.bytes)->trailer();
  const auto with = [&](const std::function<void(Trailer&)>& change) {
    Trailer trailer = sound;
    change(trailer);
    return written.bytes.substr(0, written.bytes.size() - trailer.trailer_bytes()) + encode_trailer(trailer);
  };
  EXPECT_EQ(read_trailer(ViewFile(with([](Trailer&) {}))).value().block_sums, sound.block_sums);
  for (const auto& change : std::vector<std::function<void(Trailer&)>>{
           [](Trailer& trailer) { trailer.block_sums[0].covered_bytes += 1; },
           [](Trailer& trailer) { trailer.block_sums[0].covered_bytes = UINT64_MAX; },
           [](Trailer& trailer) { trailer.block_sums[0].disk_bytes = 0; },
           [](Trailer& trailer) {
             trailer.block_sums.push_back({1, 1, 0});
           }}) {
    const std::string bytes = with(change);
    const Result<Trailer> read = read_trailer(ViewFile(bytes));
    ASSERT_FALSE(read.ok());
    EXPECT_TRUE(read.status().is(Code::kCorruption));
  }
}

}  // namespace
}  // namespace cellar::testing
