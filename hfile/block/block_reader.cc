// BlockReader: bounds first, then checksum and place, then decompression into exactly the declared size, then
// use.
#include "hfile/block/block_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/coding.h"

namespace cellar {

namespace {

std::optional<BlockKind> kind_of(std::string_view magic) {
  for (size_t i = 0; i < kBlockKinds; ++i) {
    if (magic == kBlockMagics[i]) return static_cast<BlockKind>(i);
  }
  return std::nullopt;
}

constexpr uint32_t kNoCodec = 2;

}  // namespace

// Makes room for `wanted` bytes, and moves those that stay from one place of the buffer to another.
void ReadAhead::keep(size_t from, size_t bytes, size_t to, size_t wanted) {
  CELLAR_ASSERT(from + bytes <= filled_ && to + bytes <= wanted);
  if (wanted > capacity_) {
    std::unique_ptr<char[]> larger = std::make_unique_for_overwrite<char[]>(wanted);
    if (bytes > 0) std::memcpy(larger.get() + to, buffer_.get() + from, bytes);
    buffer_ = std::move(larger);
    capacity_ = wanted;
  } else if (bytes > 0) {
    std::memmove(buffer_.get() + to, buffer_.get() + from, bytes);
  }
}

Result<std::string_view> ReadAhead::get(const ReadableFile& file, uint64_t offset, size_t bytes,
                                        uint64_t limit) {
  if (has(offset, bytes)) return std::string_view(buffer_.get() + (offset - start_), bytes);
  size_t kept = 0;  // the beginning of the wanted block may be the end of the window
  if (offset >= start_ && offset - start_ < filled_) {
    kept = filled_ - static_cast<size_t>(offset - start_);
    widen();
  } else if (offset == start_ + filled_) {
    widen();
  }
  const uint64_t room = limit - offset;
  const size_t wanted = std::max(bytes, static_cast<size_t>(std::min<uint64_t>(window_bytes_, room)));
  keep(filled_ - kept, kept, 0, wanted);
  start_ = offset;
  filled_ = kept;
  CELLAR_TRY(file.read(offset + kept, wanted - kept, buffer_.get() + kept));
  filled_ = wanted;
  if (offset + wanted < limit)
    file.will_need(offset + wanted, std::min<uint64_t>(window_bytes_, limit - offset - wanted));
  return std::string_view(buffer_.get(), bytes);
}

Result<std::string_view> ReadAhead::get_backward(const ReadableFile& file, uint64_t offset, size_t bytes) {
  if (has(offset, bytes)) return std::string_view(buffer_.get() + (offset - start_), bytes);
  const uint64_t end = offset + bytes;
  size_t kept = 0;  // the end of the wanted block may be the beginning of the window
  if (end >= start_ && end - start_ <= filled_ && filled_ > 0) {
    kept = static_cast<size_t>(end - start_);
    widen();
  }
  const size_t wanted = std::max(bytes, static_cast<size_t>(std::min<uint64_t>(window_bytes_, end)));
  keep(0, kept, wanted - kept, wanted);
  filled_ = 0;  // until the read has succeeded
  start_ = end - wanted;
  CELLAR_TRY(file.read(start_, wanted - kept, buffer_.get()));
  filled_ = wanted;
  if (start_ > 0) {
    const uint64_t next = std::min<uint64_t>(window_bytes_, start_);
    file.will_need(start_ - next, next);
  }
  return std::string_view(buffer_.get() + (wanted - bytes), bytes);
}

void ReadAhead::announce(const ReadableFile& file, uint64_t offset, uint64_t bytes, uint64_t limit) {
  const uint64_t end = std::min(offset + bytes, limit);
  const bool goes_on = offset >= announced_begin_ && offset <= announced_end_;
  // The next window is announced in the middle of the one before, so that the device is not idle.
  const uint64_t wanted = std::min(end + window_bytes_ / 2, limit);
  if (goes_on && wanted <= announced_end_) return;
  if (goes_on) widen();
  const uint64_t begin = goes_on ? announced_end_ : offset;
  announced_begin_ = offset;
  announced_end_ = std::min(std::max(end, begin + window_bytes_), limit);
  file.will_need(begin, announced_end_ - begin);
}

void ReadAhead::announce_backward(const ReadableFile& file, uint64_t offset, uint64_t bytes) {
  const uint64_t end = offset + bytes;
  const bool goes_on = end >= announced_begin_ && end <= announced_end_;
  const uint64_t wanted = offset - std::min<uint64_t>(offset, window_bytes_ / 2);
  if (goes_on && wanted >= announced_begin_) return;
  if (goes_on) widen();
  const uint64_t last = goes_on ? announced_begin_ : end;
  announced_begin_ = std::min(offset, last - std::min<uint64_t>(last, window_bytes_));
  announced_end_ = end;
  file.will_need(announced_begin_, last - announced_begin_);
}

BlockReader::BlockReader(const ReadableFile* file, const Trailer& trailer, const Compressor* codec,
                         Options options)
    : file_(file),
      codec_(codec),
      plain_(trailer.codec == kNoCodec),
      steps_(stepwise_codec(codec)),
      header_bytes_(trailer.block_header_bytes()),
      options_(std::move(options)) {
  if (!trailer.block_sums.empty())
    sums_ = std::make_unique<BlockSums>(trailer.block_sums, trailer.load_on_open_offset);
}

std::string BlockReader::place(uint64_t offset) const {
  return fmt::format("{}: offset {}", options_.name, offset);
}

Status BlockReader::corruption(uint64_t offset, std::string message) const {
  return Status::corruption(std::move(message)).at(place(offset));
}

uint64_t BlockReader::disk_bytes_max() const {
  // A body may be a little larger than its payload, and carries its sums; nothing else makes a block grow.
  return std::min(kBlockDiskBytesMax,
                  options_.payload_bytes_max + options_.payload_bytes_max / 4 + (64u << 10));
}

Result<BlockHeader> BlockReader::parse_header(std::string_view bytes, uint64_t offset, uint64_t limit) const {
  if (bytes.size() < header_bytes_ || limit < offset || limit - offset < header_bytes_) {
    return corruption(offset, "too few bytes for a block header");
  }
  BlockHeader header;
  header.header_bytes = static_cast<uint32_t>(header_bytes_);
  const std::optional<BlockKind> kind = kind_of(bytes.substr(0, 8));
  header.known_kind = kind.has_value();
  if (kind) header.kind = *kind;
  const uint32_t stored = load_be32(bytes.data() + 8);  // body and sums
  header.payload_bytes = load_be32(bytes.data() + 12);
  header.previous_offset = static_cast<int64_t>(load_be64(bytes.data() + 16));
  if (stored > limit - offset - header_bytes_) {
    return corruption(offset, fmt::format("block of {} bytes where {} are left",
                                          uint64_t{stored} + header_bytes_, limit - offset));
  }
  if (header_bytes_ == kBlockHeaderBytesV20) {
    header.body_bytes = stored;
    CELLAR_TRY(check_sizes(header, offset));
    return header;
  }
  const uint8_t type = static_cast<uint8_t>(bytes[24]);
  header.bytes_per_checksum = load_be32(bytes.data() + 25);
  const uint64_t summed = load_be32(bytes.data() + 29);  // header and body
  if (type > static_cast<uint8_t>(ChecksumType::kCrc32c)) {
    return corruption(offset, fmt::format("unknown checksum type {}", type));
  }
  header.checksum = static_cast<ChecksumType>(type);
  if (summed < header_bytes_ || summed > uint64_t{stored} + header_bytes_) {
    return corruption(
        offset, fmt::format("{} summed bytes in a block of {}", summed, uint64_t{stored} + header_bytes_));
  }
  header.body_bytes = static_cast<uint32_t>(summed - header_bytes_);
  header.checksum_bytes = stored - header.body_bytes;
  CELLAR_TRY(check_sizes(header, offset));
  return header;
}

Status BlockReader::check_sizes(const BlockHeader& header, uint64_t offset) const {
  if (header.checksum) {
    if (header.bytes_per_checksum == 0) return corruption(offset, "a checksum over no bytes");
    const uint64_t summed = uint64_t{header.header_bytes} + header.body_bytes;
    const uint64_t sums = (summed + header.bytes_per_checksum - 1) / header.bytes_per_checksum;
    if (sums * 4 != header.checksum_bytes) {
      return corruption(offset, fmt::format("{} bytes of checksums where {} are expected",
                                            header.checksum_bytes, sums * 4));
    }
    if (agreed_ && *agreed_ != *header.checksum) {
      return corruption(offset, "checksum type differs from that of the other blocks");
    }
    if (options_.require_crc32c && *header.checksum != ChecksumType::kCrc32c) {
      return corruption(offset, "checksum type is not CRC32C");
    }
  }
  if (header.payload_bytes > options_.payload_bytes_max) {
    return corruption(offset, fmt::format("payload of {} bytes, more than the limit of {}",
                                          header.payload_bytes, options_.payload_bytes_max))
        .hinting("a file that is trusted can be read with a higher limit (cellar help limits)");
  }
  if (header.disk_bytes() > disk_bytes_max()) {
    return corruption(offset, fmt::format("block of {} bytes, more than the limit of {}", header.disk_bytes(),
                                          disk_bytes_max()));
  }
  if (plain_ && header.body_bytes != header.payload_bytes) {
    return corruption(offset, fmt::format("uncompressed body of {} bytes for a payload of {}",
                                          header.body_bytes, header.payload_bytes));
  }
  return {};
}

Result<BlockHeader> BlockReader::read_header(uint64_t offset, uint64_t limit) const {
  if (limit < offset || limit - offset < header_bytes_)
    return corruption(offset, "too few bytes for a block header");
  char bytes[kBlockHeaderBytes];
  CELLAR_TRY(file_->read(offset, header_bytes_, bytes).at(place(offset)));
  return parse_header({bytes, header_bytes_}, offset, limit);
}

Status BlockReader::check_sums(std::string_view disk, const BlockHeader& header, uint64_t offset,
                               ChecksumFault* fault) const {
  if (!header.checksum || *header.checksum == ChecksumType::kNull) return {};
  const bool castagnoli = *header.checksum == ChecksumType::kCrc32c;
  const std::string_view summed = disk.substr(0, size_t{header.header_bytes} + header.body_bytes);
  const char* stored = disk.data() + summed.size();
  for (size_t at = 0, chunk = 0; at < summed.size(); at += header.bytes_per_checksum, ++chunk, stored += 4) {
    const std::string_view piece = summed.substr(at, header.bytes_per_checksum);
    const uint32_t computed = castagnoli ? crc32c(piece) : crc32(piece);
    const uint32_t expected = load_be32(stored);
    if (computed == expected) continue;
    if (fault != nullptr) *fault = {.chunk = chunk, .stored = expected, .computed = computed};
    return corruption(offset, fmt::format("{} stored {:08x}, computed {:08x}",
                                          castagnoli ? "CRC32C" : "CRC32", expected, computed));
  }
  return {};
}

Status BlockReader::check_place(std::string_view disk, const BlockHeader& header, uint64_t offset) const {
  if (sums_ == nullptr) return {};
  const Result<BlockSums::Written> written = sums_->at(offset, *this);
  if (!written.ok()) return options_.pass_without_sums ? Status() : written.status();
  if (!written->covered) return {};
  const bool summed = header.checksum && *header.checksum != ChecksumType::kNull;
  const uint32_t sum = block_sum(offset, disk, summed ? header.checksum_bytes : 0);
  if (written->begins && written->sum == sum) return {};
  return corruption(offset, "the block is not the one that was written at this offset");
}

Result<Block*> BlockReader::decompress(std::string_view disk, const BlockHeader& header,
                                       uint64_t offset) const {
  if (codec_ == nullptr) return Status::not_supported("the file's codec is not built in").at(place(offset));
  const std::string_view body = disk.substr(header.header_bytes, header.body_bytes);
  Block::Made block = Block::allocate(header.payload_bytes, options_.in_memory);
  const Status decompressed = codec_->decompress(body, header.payload_bytes, block->buffer());
  if (!decompressed.ok()) [[unlikely]]
    return decompressed.at(place(offset));  // making the text of a place takes time
  return Block::finish(std::move(block), 0, header.payload_bytes, header.kind);
}

Result<BlockHeader> BlockReader::check_header(std::string_view disk, uint64_t offset, uint64_t limit) const {
  CELLAR_TRY_ASSIGN(const BlockHeader header, parse_header(disk, offset, limit));
  if (!header.known_kind) return corruption(offset, "unknown block magic");
  if (header.disk_bytes() != disk.size()) {
    return corruption(
        offset, fmt::format("block of {} bytes where the index says {}", header.disk_bytes(), disk.size()));
  }
  return header;
}

Result<BlockHeader> BlockReader::check(std::string_view disk, uint64_t offset, uint64_t limit) const {
  CELLAR_TRY_ASSIGN(const BlockHeader header, check_header(disk, offset, limit));
  CELLAR_TRY(check_sums(disk, header, offset, nullptr));
  CELLAR_TRY(check_place(disk, header, offset));
  return header;
}

Result<Block*> BlockReader::unpack(std::string_view disk, uint64_t offset, uint64_t limit) const {
  CELLAR_TRY_ASSIGN(const BlockHeader header, check(disk, offset, limit));
  return decode(disk, header, offset);
}

Result<Block*> BlockReader::decode(std::string_view disk, const BlockHeader& header, uint64_t offset) const {
  if (!plain_) return decompress(disk, header, offset);
  Block::Made block = Block::allocate(header.payload_bytes, options_.in_memory);
  std::memcpy(block->buffer(), disk.data() + header.header_bytes, header.payload_bytes);
  return Block::finish(std::move(block), 0, header.payload_bytes, header.kind);
}

Result<BlockHeader> BlockReader::check_once(std::string_view disk, uint64_t offset, uint64_t limit) const {
  if (mapping_ == nullptr) return check(disk, offset, limit);
  if (checked_->has(offset, disk.size())) return check_header(disk, offset, limit);
  CELLAR_TRY_ASSIGN(const BlockHeader header, check(disk, offset, limit));
  checked_->add(offset, disk.size());
  return header;
}

// The first read of a block goes through the file, where a fault of the medium is an error and no signal. The
// page cache then holds the same bytes for the mapping.
Result<StoredBlock> BlockReader::read_stored(uint64_t offset, size_t bytes, uint64_t limit) const {
  StoredBlock stored;
  if (mapping_ != nullptr && checked_->has(offset, bytes)) {
    stored.disk = {mapping_.get() + offset, bytes};
  } else {
    stored.copy.emplace(bytes);
    if (const Status read = file_->read(offset, bytes, stored.copy->data()); !read.ok()) [[unlikely]]
      return read.at(place(offset));
    stored.disk = {stored.copy->data(), bytes};
  }
  CELLAR_TRY_ASSIGN(stored.header, check_once(stored.disk, offset, limit));
  return stored;
}

Result<Block*> BlockReader::lend_or_decode(std::string_view disk, const BlockHeader& header,
                                           uint64_t offset) const {
  if (!lends_blocks()) return decode(disk, header, offset);
  return Block::borrow(mapping_, {mapping_.get() + offset + header.header_bytes, header.payload_bytes},
                       header.kind, options_.in_memory);
}

Result<std::string_view> BlockReader::read_window(uint64_t offset, size_t bytes, uint64_t limit,
                                                  ReadAhead& ahead, Direction direction) const {
  Result<std::string_view> read = direction == Direction::kForward
                                      ? ahead.get(*file_, offset, bytes, limit)
                                      : ahead.get_backward(*file_, offset, bytes);
  if (!read.ok()) return read.status().at(place(offset));
  return read;
}

Result<size_t> BlockReader::begin_read(uint64_t offset, uint64_t disk_bytes, uint64_t limit,
                                       ReadStats* stats) const {
  if (limit < offset || disk_bytes > limit - offset)
    return corruption(offset, "block beyond the end of its section");
  if (disk_bytes > disk_bytes_max()) {
    return corruption(
        offset, fmt::format("block of {} bytes, more than the limit of {}", disk_bytes, disk_bytes_max()));
  }
  if (disk_bytes == 0) {
    CELLAR_TRY_ASSIGN(const BlockHeader header, read_header(offset, limit));
    disk_bytes = header.disk_bytes();
  }
  if (disk_bytes < header_bytes_) return corruption(offset, "too few bytes for a block header");
  if (stats != nullptr) {
    stats->blocks_from_disk += 1;
    stats->bytes_from_disk += disk_bytes;
  }
  return static_cast<size_t>(disk_bytes);
}

Result<Block*> BlockReader::read(uint64_t offset, uint64_t disk_bytes, uint64_t limit, ReadAhead* ahead,
                                 ReadStats* stats, Direction direction) const {
  CELLAR_TRY_ASSIGN(const size_t bytes, begin_read(offset, disk_bytes, limit, stats));
  if (bytes > ReadAhead::kWindowBytesMax) ahead = nullptr;  // larger ones would be copied for nothing
  if (ahead != nullptr) {
    // So do reads of a long walk in a mapped file: many blocks then come in one read.
    CELLAR_TRY_ASSIGN(const std::string_view disk, read_window(offset, bytes, limit, *ahead, direction));
    CELLAR_TRY_ASSIGN(const BlockHeader header, check_once(disk, offset, limit));
    return lend_or_decode(disk, header, offset);
  }
  if (!plain_ || lends_blocks()) {
    CELLAR_TRY_ASSIGN(const StoredBlock stored, read_stored(offset, bytes, limit));
    return lend_or_decode(stored.disk, stored.header, offset);
  }
  Block::Made block = Block::allocate(bytes, options_.in_memory);  // the payload stays where it is read
  if (const Status read = file_->read(offset, bytes, block->buffer()); !read.ok()) [[unlikely]]
    return read.at(place(offset));
  CELLAR_TRY_ASSIGN(const BlockHeader header, check({block->buffer(), bytes}, offset, limit));
  return Block::finish(std::move(block), header.header_bytes, header.payload_bytes, header.kind);
}

Result<BlockInSteps> BlockReader::read_in_steps(uint64_t offset, uint64_t disk_bytes, uint64_t limit,
                                                ReadStats* stats) const {
  CELLAR_ASSERT(works_in_steps());
  CELLAR_TRY_ASSIGN(const size_t bytes, begin_read(offset, disk_bytes, limit, stats));
  CELLAR_TRY_ASSIGN(StoredBlock stored, read_stored(offset, bytes, limit));
  const BlockHeader& header = stored.header;
  Block::Made room = Block::allocate(header.payload_bytes, options_.in_memory);
  Block::Made block(Block::finish(std::move(room), 0, header.payload_bytes, header.kind));
  return BlockInSteps(std::move(stored), std::move(block), *steps_);
}

}  // namespace cellar
