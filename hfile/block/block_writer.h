// BlockWriter: turns payloads into blocks, compressed, with header and checksums, one after the other.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/compressor.h"
#include "cellar/file_system.h"
#include "hfile/block/block_sums.h"
#include "hfile/format/format.h"

namespace cellar {

// Where a block lies, as index entries say it.
struct BlockPlace {
  uint64_t offset = 0;
  uint32_t disk_bytes = 0;  // header, body and checksums
};

// One thread at a time. After a failure the file is unusable; the caller must stop.
class BlockWriter {
 public:
  // All borrowed things outlive the writer; `file` is empty. `bytes_per_checksum` is at least
  // kBlockHeaderBytes.
  BlockWriter(WritableFile& file, const Compressor& compressor, ChecksumType checksum,
              uint32_t bytes_per_checksum);

  // Writes one block of at most 2^31 - 1 bytes. It may stay in the buffer until flush().
  Result<BlockPlace> write(BlockKind kind, std::string_view payload);
  // Adds bytes that are no block: the trailer.
  void append(std::string_view bytes);
  // Hands everything to the file.
  Status flush();

  // Bytes written so far, in the buffer or the file.
  uint64_t offset() const { return offset_; }
  // Headers and payloads of all blocks, in plain form.
  uint64_t uncompressed_bytes() const { return uncompressed_bytes_; }

  // From now on the sum of each block is kept, for finish_block_sums().
  void keep_block_sums() { keeps_sums_ = true; }
  // Writes the pages of sums of all blocks so far and returns what the trailer says of them. Blocks that
  // follow have no sums.
  Result<std::vector<BlockSumsPage>> finish_block_sums();
  // block_sum() of the last block; kept only from keep_block_sums() on.

  // From now on everything written also goes into one running CRC32C, which is complete after flush().
  Status begin_sum();
  uint32_t sum() const { return sum_; }

 private:
  void append_checksums(size_t start);

  WritableFile& file_;
  const Compressor& compressor_;
  const ChecksumType checksum_;
  const uint32_t bytes_per_checksum_;
  std::string buffer_;
  uint64_t offset_ = 0;
  uint64_t uncompressed_bytes_ = 0;
  std::array<int64_t, kBlockKinds> last_offsets_;  // per kind, -1: none yet
  bool keeps_sums_ = false;
  uint32_t last_block_sum_ = 0;
  BlockSumsWriter block_sums_;
  bool summing_ = false;
  uint32_t sum_ = 0;
};

}  // namespace cellar
