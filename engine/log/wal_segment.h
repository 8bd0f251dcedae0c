// WalSegment: a segment of the log that is being written.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

#include "cellar/file_system.h"
#include "engine/log/wal_format.h"

namespace cellar {

constexpr uint64_t kCloseBytes = record_bytes(kClosePayloadBytes);
constexpr uint64_t kPrevBytes = record_bytes(kPrevPayloadBytes);

// A store of one cell is small. The price: after each open a fast writer waits at the first segments, about
// 10 ms in all. Growth by 8 or 16 was not faster: larger segments take longer to prepare.
constexpr uint64_t kFirstSegmentBytes = 64 << 10;
constexpr uint64_t kSegmentGrowth = 4;

// Returns true if a log may be closed in a segment of these bytes, which the next open reads. That is up to a
// 256th of the largest segments. A header and a PREV are small in any case.
constexpr bool is_small(uint64_t bytes, uint64_t largest) {
  return bytes <= std::max<uint64_t>(largest / 256, 512);
}

// Returns the bytes that a segment needs for one record of this payload, with all that surrounds it.
constexpr uint64_t segment_for(uint64_t payload_bytes) {
  return (kFileHeaderBytes + kPrevBytes + record_bytes(payload_bytes) + kCloseBytes + 4095) & ~uint64_t{4095};
}

// WalSegment: a file being written. The leader appends; the holder of the sync turn syncs and closes.
struct WalSegment {
  WalSegment(uint64_t id_, const Identity& identity) : id(id_), codec(FileKind::kLog, identity, id_) {}

  const uint64_t id;
  const RecordCodec codec;
  std::unique_ptr<WritableFile> file;
  uint64_t capacity = 0;
  std::atomic<uint64_t> ready{
      0};              // WritableFile::make_ready() has come so far; raised by the leader and a job
  uint64_t asked = 0;  // the leader's; a job is to come so far
  // Each record changes the following members, which have a line of cache of their own.
  alignas(64) std::atomic<uint64_t> appended{0};  // published after the bytes are in the file
  std::atomic<uint64_t> synced{0};                // durable
  std::atomic<bool> earlier_durable{true};        // all segments before this one are
  std::atomic<uint64_t> last_sequence{0};         // of it and all before
  std::atomic<uint64_t> next_lsn{0};  // published after the bytes of all records below are in the file
  uint32_t chain = 0;                 // the leader's; bcrc of the last record
};

}  // namespace cellar
