// BlockHeader: what the header of a block says.
#pragma once

#include <cstdint>
#include <optional>

#include "hfile/format/format.h"
#include "hfile/format/trailer.h"

namespace cellar {

// The fields of a block's header, checked against the room of the block.
struct BlockHeader {
  BlockKind kind = BlockKind::kData;
  bool known_kind = true;  // false: a well-formed block with a magic of later versions
  uint32_t header_bytes = 0;
  uint32_t body_bytes = 0;      // as stored
  uint32_t payload_bytes = 0;   // decompressed
  uint32_t checksum_bytes = 0;  // all checksums after the body
  uint32_t bytes_per_checksum = 0;
  std::optional<ChecksumType> checksum;  // none in v2.0 files
  int64_t previous_offset =
      -1;  // of the block of the same kind before; foreign files get it wrong, nothing relies on it

  uint64_t disk_bytes() const { return uint64_t{header_bytes} + body_bytes + checksum_bytes; }
};

}  // namespace cellar
