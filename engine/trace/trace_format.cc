// The format of a trace: headers as bytes, names of kinds, the keyed hash.
#include "engine/trace/trace_format.h"

#include <fmt/format.h>

#include <bit>

#include "base/assert.h"
#include "base/checksum.h"
#include "base/coding.h"

namespace cellar {
namespace {

constexpr std::string_view kMagic = "CELTRACE";
constexpr uint32_t kVersion = 1;
constexpr uint32_t kChunkMagic = 0x4b4e4843;  // "CHNK"
constexpr uint32_t kHashedBit = 1;
constexpr uint32_t kCompressedBit = 1;
constexpr std::array<std::string_view, kTraceKindMax + 1> kNames = {
    "",      "get",   "exists",    "get_many", "exists_many", "scan",
    "put",   "erase", "increment", "append",   "mutate",      "check_and_mutate",
    "write", "batch", "commit",    "flush",    "compact",     "major_compact"};

}  // namespace

std::string_view trace_kind_name(TraceKind kind) {
  CELLAR_ASSERT(static_cast<uint8_t>(kind) >= 1 && static_cast<uint8_t>(kind) <= kTraceKindMax);
  return kNames[static_cast<uint8_t>(kind)];
}

bool reads_only(TraceKind kind) { return kind <= TraceKind::kScan; }

bool writes_rows(TraceKind kind) { return kind >= TraceKind::kPut && kind <= TraceKind::kCommit; }

std::string encode(const TraceHeader& header) {
  std::string bytes(kMagic);
  append_le32(bytes, kVersion);
  append_le32(bytes, header.hashed ? kHashedBit : 0);
  append_le64(bytes, static_cast<uint64_t>(header.wall_ms));
  append_le64(bytes, header.ticks);
  append_le64(bytes, header.steady_ns);
  append_le32(bytes, header.sample);
  append_le32(bytes, crc32c(bytes));
  CELLAR_ASSERT(bytes.size() == kTraceHeaderBytes);
  return bytes;
}

Result<TraceHeader> decode_trace_header(std::string_view bytes) {
  if (bytes.substr(0, kMagic.size()) != kMagic.substr(0, bytes.size()))
    return Status::corruption("is not a trace: it does not begin with CELTRACE");
  if (bytes.size() < kTraceHeaderBytes)
    return Status::corruption(fmt::format("has {} bytes, too few for the header of a trace", bytes.size()));
  const uint32_t version = load_le32(bytes.data() + 8);
  if (version != kVersion)
    return Status::not_supported(
        fmt::format("is a trace of version {}; this build reads version {}", version, kVersion));
  if (crc32c(bytes.substr(0, kTraceHeaderBytes - 4)) != load_le32(bytes.data() + kTraceHeaderBytes - 4))
    return Status::corruption("the checksum of the header differs");
  TraceHeader header;
  header.hashed = (load_le32(bytes.data() + 12) & kHashedBit) != 0;
  header.wall_ms = static_cast<int64_t>(load_le64(bytes.data() + 16));
  header.ticks = load_le64(bytes.data() + 24);
  header.steady_ns = load_le64(bytes.data() + 32);
  header.sample = load_le32(bytes.data() + 40);
  if (header.sample == 0) return Status::corruption("the header samples one row in 0");
  return header;
}

std::string encode(const TraceChunkHeader& header, std::string_view stored) {
  CELLAR_ASSERT(header.stored_bytes == stored.size() && header.plain_bytes <= kTracePlainBytesMax);
  std::string bytes;
  append_le32(bytes, kChunkMagic);
  append_le32(bytes, static_cast<uint32_t>(header.kind) | (header.compressed ? kCompressedBit << 16 : 0));
  append_le32(bytes, header.stored_bytes);
  append_le32(bytes, header.plain_bytes);
  append_le32(bytes, header.thread);
  append_le32(bytes, header.records);
  append_le64(bytes, header.base_ticks);
  append_le64(bytes, header.ticks);
  append_le64(bytes, header.steady_ns);
  append_le64(bytes, header.lost);
  append_le32(bytes, crc32c(bytes));
  append_le32(bytes, chunk_crc(bytes, stored));
  CELLAR_ASSERT(bytes.size() == kTraceChunkHeaderBytes);
  return bytes;
}

uint32_t chunk_crc(std::string_view header_bytes, std::string_view stored) {
  CELLAR_ASSERT(header_bytes.size() >= kTraceChunkHeaderBytes - 4);
  return crc32c(stored, crc32c(header_bytes.substr(0, kTraceChunkHeaderBytes - 4)));
}

bool decode(std::string_view bytes, TraceChunkHeader& header, uint32_t& crc) {
  CELLAR_ASSERT(bytes.size() == kTraceChunkHeaderBytes);
  constexpr size_t kCrcAt = kTraceChunkHeaderBytes - 8;
  if (load_le32(bytes.data()) != kChunkMagic) return false;
  if (load_le32(bytes.data() + kCrcAt) != crc32c(bytes.substr(0, kCrcAt))) return false;
  const uint32_t kind = load_le32(bytes.data() + 4);
  header.kind = static_cast<TraceChunkKind>(kind & 0xffff);
  header.compressed = (kind >> 16 & kCompressedBit) != 0;
  header.stored_bytes = load_le32(bytes.data() + 8);
  header.plain_bytes = load_le32(bytes.data() + 12);
  header.thread = load_le32(bytes.data() + 16);
  header.records = load_le32(bytes.data() + 20);
  header.base_ticks = load_le64(bytes.data() + 24);
  header.ticks = load_le64(bytes.data() + 32);
  header.steady_ns = load_le64(bytes.data() + 40);
  header.lost = load_le64(bytes.data() + 48);
  crc = load_le32(bytes.data() + 60);
  return (header.kind == TraceChunkKind::kRecords || header.kind == TraceChunkKind::kEnd) &&
         header.plain_bytes <= kTracePlainBytesMax &&
         (header.compressed || header.stored_bytes == header.plain_bytes);
}

uint64_t TraceHash::operator()(std::string_view bytes) const {
  uint64_t v0 = key_[0] ^ 0x736f6d6570736575;
  uint64_t v1 = key_[1] ^ 0x646f72616e646f6d;
  uint64_t v2 = key_[0] ^ 0x6c7967656e657261;
  uint64_t v3 = key_[1] ^ 0x7465646279746573;
  const auto round = [&] {
    v0 += v1, v1 = std::rotl(v1, 13) ^ v0, v0 = std::rotl(v0, 32);
    v2 += v3, v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3, v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1, v1 = std::rotl(v1, 17) ^ v2, v2 = std::rotl(v2, 32);
  };
  const auto take = [&](uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  };
  uint64_t last = static_cast<uint64_t>(bytes.size()) << 56;
  while (bytes.size() >= 8) {
    take(load_le64(bytes.data()));
    bytes.remove_prefix(8);
  }
  CELLAR_DCHECK(bytes.size() < 8);
  for (size_t i = 0; i < bytes.size(); ++i)
    last |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  take(last);
  v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) round();
  return v0 ^ v1 ^ v2 ^ v3;
}

}  // namespace cellar
