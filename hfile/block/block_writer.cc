// BlockWriter: builds each block at the end of one buffer, in place, and hands the buffer on when it is
// large.
#include "hfile/block/block_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/checksum.h"
#include "base/coding.h"

namespace cellar {
namespace {

// Large enough that a write call costs little compared with compressing as many bytes.
constexpr size_t kBufferBytes = 256 << 10;

// Blocks that the previous-block offset joins: encoded data blocks count as data blocks.
BlockKind chain_of(BlockKind kind) { return kind == BlockKind::kEncodedData ? BlockKind::kData : kind; }

uint32_t sum_of(ChecksumType type, std::string_view bytes) {
  switch (type) {
    case ChecksumType::kNull:
      return 0;  // the space is kept all the same
    case ChecksumType::kCrc32:
      return crc32(bytes);
    case ChecksumType::kCrc32c:
      return crc32c(bytes);
  }
  return 0;
}

}  // namespace

BlockWriter::BlockWriter(WritableFile& file, const Compressor& compressor, ChecksumType checksum,
                         uint32_t bytes_per_checksum)
    : file_(file), compressor_(compressor), checksum_(checksum), bytes_per_checksum_(bytes_per_checksum) {
  CELLAR_ASSERT(bytes_per_checksum >= kBlockHeaderBytes);
  last_offsets_.fill(-1);
  buffer_.reserve(kBufferBytes + kBufferBytes / 2);
}

Result<BlockPlace> BlockWriter::write(BlockKind kind, std::string_view payload) {
  CELLAR_ASSERT(payload.size() <= INT32_MAX);
  const size_t start = buffer_.size();
  buffer_.resize(start + kBlockHeaderBytes);
  CELLAR_TRY(compressor_.compress(payload, buffer_));
  const size_t body = buffer_.size() - start - kBlockHeaderBytes;
  const size_t summed = kBlockHeaderBytes + body;
  const size_t sums = (summed + bytes_per_checksum_ - 1) / bytes_per_checksum_;
  if (summed + 4 * sums > kBlockDiskBytesMax) {
    return Status::limit(fmt::format("a block of {} bytes is too large for a file", summed));
  }
  int64_t& last_offset = last_offsets_[static_cast<size_t>(chain_of(kind))];
  const std::string_view magic = kBlockMagics[static_cast<size_t>(kind)];
  char* header = buffer_.data() + start;
  std::copy(magic.begin(), magic.end(), header);
  store_be32(header + 8, static_cast<uint32_t>(body + 4 * sums));
  store_be32(header + 12, static_cast<uint32_t>(payload.size()));
  store_be64(header + 16, static_cast<uint64_t>(last_offset));
  header[24] = static_cast<char>(checksum_);
  store_be32(header + 25, bytes_per_checksum_);
  store_be32(header + 29, static_cast<uint32_t>(summed));
  append_checksums(start);

  const BlockPlace place{offset_, static_cast<uint32_t>(summed + 4 * sums)};
  CELLAR_ASSERT(buffer_.size() - start == place.disk_bytes);
  if (keeps_sums_) {
    const std::string_view disk = std::string_view(buffer_).substr(start);
    last_block_sum_ = block_sum(offset_, disk, checksum_ == ChecksumType::kNull ? 0 : 4 * sums);
    block_sums_.add(place.disk_bytes, last_block_sum_);
  }
  last_offset = static_cast<int64_t>(offset_);
  offset_ += place.disk_bytes;
  uncompressed_bytes_ += kBlockHeaderBytes + payload.size();
  if (buffer_.size() >= kBufferBytes) CELLAR_TRY(flush());
  return place;
}

// Header and body lie from `start` to the end of the buffer.
void BlockWriter::append_checksums(size_t start) {
  const size_t end = buffer_.size();
  for (size_t at = start; at < end; at += bytes_per_checksum_) {
    const size_t bytes = std::min<size_t>(bytes_per_checksum_, end - at);
    append_be32(buffer_, sum_of(checksum_, std::string_view(buffer_).substr(at, bytes)));
  }
}

Result<std::vector<BlockSumsPage>> BlockWriter::finish_block_sums() {
  const BlockSumsWriter sums = std::move(block_sums_);
  block_sums_ = {};
  CELLAR_TRY_ASSIGN(const std::vector<BlockSumsWriter::Page> pages, sums.pages());
  std::vector<BlockSumsPage> written;
  for (const BlockSumsWriter::Page& page : pages) {
    CELLAR_TRY_ASSIGN(const BlockPlace place, write(BlockKind::kMeta, page.payload));
    written.push_back(
        {.covered_bytes = page.covered_bytes, .disk_bytes = place.disk_bytes, .sum = last_block_sum_});
  }
  keeps_sums_ = false;
  return written;
}

void BlockWriter::append(std::string_view bytes) {
  buffer_.append(bytes);
  offset_ += bytes.size();
}

Status BlockWriter::flush() {
  if (buffer_.empty()) return {};
  if (summing_) sum_ = crc32c(buffer_, sum_);
  CELLAR_TRY(file_.append(buffer_));
  buffer_.clear();
  return {};
}

Status BlockWriter::begin_sum() {
  CELLAR_TRY(flush());
  summing_ = true;
  return {};
}

}  // namespace cellar
