// Goal: what is at a cap is taken, what is above it is refused with the cap's name or number.
// Method: the smallest bytes that claim each size, and the size itself where nothing less shows it.
#include "hfile/format/caps.h"

#include <gtest/gtest.h>

#include "base/checksum.h"
#include "base/coding.h"
#include "cell/cell_codec.h"
#include "hfile/block/block_writer.h"
#include "hfile/block/bloom_reader.h"
#include "hfile/block/index_reader.h"
#include "hfile/block/memory_meter.h"
#include "hfile/codec/codecs.h"
#include "hfile/encoding/plain_cells.h"
#include "hfile/format/trailer.h"
#include "tests/hfile_support/writer_support.h"

namespace cellar::testing {
namespace {

// The header of a block that takes `disk_bytes` and holds `payload_bytes`, as far as it says.
Result<BlockHeader> header_of(uint64_t disk_bytes, uint64_t payload_bytes,
                              uint64_t payload_bytes_max = kBlockPayloadBytesMax) {
  constexpr uint32_t kSummedAtOnce = 1u << 30;  // one sum
  std::string bytes("DATABLK*");
  append_be32(bytes, static_cast<uint32_t>(disk_bytes - kBlockHeaderBytes));
  append_be32(bytes, static_cast<uint32_t>(payload_bytes));
  append_be64(bytes, UINT64_MAX);
  bytes += '\2';
  append_be32(bytes, kSummedAtOnce);
  append_be32(bytes, static_cast<uint32_t>(disk_bytes - 4));
  const ViewFile file(bytes);
  Trailer trailer;
  trailer.codec = 1;  // GZ: its bodies may have any size
  const BlockReader reader(&file, trailer, compressor_by_id(1).value(),
                           {.name = "test", .payload_bytes_max = payload_bytes_max});
  return reader.read_header(0, uint64_t{1} << 40);
}

TEST(Caps, OfBlocks) {
  EXPECT_TRUE(header_of(1000, kBlockPayloadBytesMax).ok());
  EXPECT_NE(header_of(1000, kBlockPayloadBytesMax + 1).status().message().find("the limit of 67108864"),
            std::string::npos);
  EXPECT_TRUE(header_of(1000, 5000, 5000).ok());
  EXPECT_FALSE(header_of(1000, 5001, 5000).ok());
  constexpr uint64_t kMuch = uint64_t{1} << 30;  // so that the cap of what is on disk is the smaller one
  EXPECT_TRUE(header_of(kBlockDiskBytesMax, 1000, kMuch).ok());
  EXPECT_NE(header_of(kBlockDiskBytesMax + 1, 1000, kMuch).status().message().find("the limit of 268435456"),
            std::string::npos);
}

TEST(Caps, OfTheIndex) {
  for (const uint32_t levels : {kIndexDepthMax, kIndexDepthMax + 1}) {
    Trailer trailer;
    trailer.load_on_open_offset = 100;
    trailer.file_info_offset = 300;
    trailer.data_index_levels = levels;
    const std::string bytes = std::string(400, '\0') + encode_trailer(trailer);
    const Result<Trailer> read = read_trailer(ViewFile(bytes));
    EXPECT_EQ(read.ok(), levels == kIndexDepthMax) << read.status().to_text();
  }
  // A root without entries, followed by bytes.
  const IndexPlace root = {.offset = 1000, .children_are_data = true, .root_form = true};
  const auto parse = [&](size_t bytes) { return IndexNode::parse(std::string(bytes, '\0'), root).status(); };
  EXPECT_EQ(parse(kIndexBlockBytesMax).message(),
            "index: 33554432 trailing bytes after the 0 entries of the root");
  EXPECT_EQ(parse(kIndexBlockBytesMax + 1).code(), Code::kLimit);
}

std::string bloom_meta(uint32_t hashes, size_t name_bytes, const BlockPlace* chunk) {
  std::string bytes;
  append_be32(bytes, 3);
  append_be64(bytes, 1);  // bytes
  append_be32(bytes, hashes);
  append_be32(bytes, 1);  // Murmur
  append_be64(bytes, 1);  // keys
  append_be64(bytes, 1);
  append_be32(bytes, chunk == nullptr ? 0 : 1);
  append_hadoop_vint(bytes, static_cast<int64_t>(name_bytes));
  bytes.append(name_bytes, 'n');
  if (chunk != nullptr) {
    append_be64(bytes, chunk->offset);
    append_be32(bytes, static_cast<uint32_t>(chunk->disk_bytes));
    append_hadoop_vint(bytes, 1);
    bytes += 'a';
  }
  return bytes;
}

TEST(Caps, OfFilters) {
  MemoryMeter meter(nullptr, 0);
  const auto parse = [&](uint32_t hashes, size_t name_bytes) {
    return BloomReader::parse(bloom_meta(hashes, name_bytes, nullptr), nullptr, &meter, 0, false).status();
  };
  EXPECT_TRUE(parse(kBloomHashesMax, kComparatorBytesMax).ok());
  EXPECT_EQ(parse(kBloomHashesMax + 1, 0).code(), Code::kNotSupported);
  EXPECT_EQ(parse(1, kComparatorBytesMax + 1).code(), Code::kCorruption);

  for (const size_t chunk_bytes : {size_t{kBloomChunkBytesMax}, size_t{kBloomChunkBytesMax} + 1}) {
    StringFile out;
    BlockWriter writer(out, *compressor_by_name("none").value(), ChecksumType::kCrc32c, kBytesPerChecksum);
    const BlockPlace place = writer.write(BlockKind::kBloomChunk, std::string(chunk_bytes, '\0')).value();
    ASSERT_TRUE(writer.flush().ok());
    const ViewFile file(out.bytes());
    const BlockReader blocks(&file, Trailer(), compressor_by_id(2).value(), {.name = "test"});
    const auto bloom =
        BloomReader::parse(bloom_meta(7, 0, &place), &blocks, &meter, out.bytes().size(), false).value();
    const Result<std::string_view> chunk = bloom->chunk(0, nullptr);
    EXPECT_EQ(chunk.ok(), chunk_bytes == kBloomChunkBytesMax) << chunk.status().to_text();
    // No bit is set: a chunk that can be asked denies, and one that cannot does not.
    EXPECT_EQ(bloom->may_contain("b", nullptr), chunk_bytes != kBloomChunkBytesMax);
  }
}

TEST(Caps, OfCells) {
  const auto readable = [](size_t row_bytes, size_t family_bytes) {
    std::string key;
    append_be16(key, static_cast<uint16_t>(row_bytes));
    key.append(row_bytes, 'r');
    key += static_cast<char>(family_bytes);
    key.append(family_bytes, 'f');
    append_be64(key, 5);
    key += static_cast<char>(CellType::kPut);
    std::string bytes;
    append_be32(bytes, static_cast<uint32_t>(key.size()));
    append_be32(bytes, 0);
    bytes += key;
    PlainCells cells({}, std::nullopt);
    cells.open(bytes.data(), bytes.data() + bytes.size());
    CellView cell;
    return cells.next(cell) == DecodeStep::kCell;
  };
  EXPECT_TRUE(readable(kRowBytesMax, kFamilyBytesMax));
  EXPECT_FALSE(readable(kRowBytesMax + 1, 1));
  EXPECT_FALSE(readable(1, kFamilyBytesMax + 1));
  EXPECT_FALSE(readable(0, 1));
}

TEST(Caps, OfWhatAnOpenFileHolds) {
  for (const uint64_t file_bytes : {uint64_t{0}, uint64_t{4000}}) {
    MemoryMeter meter(nullptr, file_bytes);
    EXPECT_FALSE(meter.charge(kOpenFileBytesMax + file_bytes / 4 + 1));
    EXPECT_TRUE(meter.charge(kOpenFileBytesMax + file_bytes / 4));
    EXPECT_FALSE(meter.charge(1));
    EXPECT_EQ(meter.refusal("x").code(), Code::kLimit);
  }
}

}  // namespace
}  // namespace cellar::testing
