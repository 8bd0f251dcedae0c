// The bytes of the log and of the manifest: file header, records, the cells inside a record.
//
// A log segment (wal/0000000007.log) and a manifest generation (MANIFEST-000003) are a header of 96 bytes and
// records. The length of a record is a multiple of 8 bytes. All integers are little-endian.
//
//   file header, 96 bytes
//   - +0   8  magic "CellarWL" or "CellarMF"
//   - +8   4  version
//   - +12  4  flags, zero
//   - +16 16  identity of the store
//   - +32  8  segment id or generation
//   - +40  8  lsn of the first record; 0: the PREV record says it
//   - +48  8  sequence before the first record; 0: the PREV record says it
//   - +56 16  identity of the machine's start (of a log, since version 2); zero: unknown
//   - +72 20  zero
//   - +92  4  CRC32C of the above
//
//   record header, 48 bytes
//   - +0   4  hcrc      CRC32C of the other 44 bytes in the clear, seeded with identity and segment id
//   - +4   4  bcrc      CRC32C of payload and padding, seeded with the bcrc before it (the file header's CRC
//                       in the first record): a chain
//   - +8   4  len       bytes of the payload
//   - +12  1  type      DATA, PREV, CLOSE, EDIT
//   - +13  1  flags     1: all earlier segments were durable when this record was built
//   - +14  2  zero
//   - +16  8  lsn       +1 per record, across segments
//   - +24  8  sequence  of the batch; PREV, CLOSE: the last one
//   - +32  4  count     cells
//   - +36  4  edit      newest manifest edit known durable, low 32 bits
//   - +40  8  synced    everything of this file before this offset was durable when the record was built
//
//   payloads
//   - DATA   i64 milliseconds since the epoch when the batch was stamped; then `count` cells. A cell is
//            u32 family id | u32 key bytes | u32 value bytes | u16 tags bytes | u16 0 | key | value | tags
//   - PREV   first record of a segment that continues another. Its payload is
//            u64 id of the other | u64 its size | u64 lsn of this record | u32 last bcrc of the other | u32 0
//   - CLOSE  last record of a segment: u64 id of the segment that follows, 0 when the log was closed properly
//   - EDIT   of a manifest: see manifest.cc
//
// All bytes after hcrc are stored XORed with a key stream of (identity, segment, offset), by words of 8
// bytes. The key is never zero, so zeros of the data never reach the file as zeros. Other data does with
// probability 2^-64 a word, and nobody can aim at it without knowing the identity. A word that reads as zero
// was therefore never written. So a copy cut off by a kill, or a sector that never reached the disk, is told
// from damage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cellar/cell.h"
#include "cellar/status.h"

namespace cellar {

// Identity: 128 random bits given to a store at its creation. A value.
struct Identity {
  uint64_t high = 0;
  uint64_t low = 0;

  std::string hex() const;  // 32 lower-case digits
  bool is_set() const { return (high | low) != 0; }
  bool operator==(const Identity&) const = default;
};
// Returns a text of FileSystem::boot_identity() as a number; zero for an empty text.
Identity boot_identity_of(std::string_view text);
bool parse_identity(std::string_view hex, Identity& identity);

constexpr size_t kFileHeaderBytes = 96;
constexpr size_t kRecordHeaderBytes = 48;
constexpr uint32_t kLogVersion = 2;  // 1 has no identity of the machine's start
constexpr uint32_t kManifestVersion = 1;
constexpr uint32_t kLogPayloadBytesMax = 64u << 20;        // of a DATA record
constexpr uint32_t kManifestPayloadBytesMax = 256u << 20;  // of an EDIT record
constexpr size_t kPrevPayloadBytes = 32;
constexpr size_t kClosePayloadBytes = 8;
constexpr size_t kLogCellHeaderBytes = 16;
constexpr size_t kLogTimeBytes = 8;

// No sequence, number of a record, segment, file or edit comes near it: what says so is damaged or forged.
constexpr uint64_t kCountMax = uint64_t{1} << 62;

enum class RecordType : uint8_t { kData = 1, kPrev = 2, kClose = 3, kEdit = 4 };
constexpr uint8_t kFlagEarlierDurable = 1;

constexpr uint64_t padded(uint64_t bytes) { return (bytes + 7) & ~uint64_t{7}; }
constexpr uint64_t record_bytes(uint64_t payload_bytes) { return kRecordHeaderBytes + padded(payload_bytes); }

enum class FileKind : uint8_t { kLog, kManifest };

struct FileHeader {
  FileKind kind = FileKind::kLog;
  Identity identity;
  uint64_t id = 0;
  uint64_t first_lsn = 0;
  uint64_t first_sequence = 0;
  Identity boot = {};  // of the machine's start at which the file was made; zero: unknown
};
// `to` has room for kFileHeaderBytes. Returns the header's CRC, which seeds the chain of bcrc.
uint32_t encode_file_header(const FileHeader& header, char* to);
// kCorruption when a byte is wrong, kNotSupported when a newer version wrote it. `from` holds
// kFileHeaderBytes.
Status decode_file_header(FileKind kind, const char* from, FileHeader& header, uint32_t& crc);

struct RecordHeader {
  uint32_t bcrc = 0;
  uint32_t len = 0;
  RecordType type = RecordType::kData;
  uint8_t flags = 0;
  uint64_t lsn = 0;
  uint64_t sequence = 0;
  uint32_t count = 0;
  uint32_t edit = 0;
  uint64_t synced = 0;
};

// RecordCodec: bytes of one file's records, to and from the stored form. Immutable, any thread.
class RecordCodec {
 public:
  RecordCodec(FileKind kind, const Identity& identity, uint64_t id);

  // Writes the whole record that begins at `offset` of the file to `to` (room for
  // record_bytes(payload.size())), in the stored form; sets header.len and header.bcrc. `chain` is the bcrc
  // before it, and becomes this record's.
  void encode(RecordHeader& header, std::string_view payload, uint64_t offset, uint32_t& chain,
              char* to) const;

  // The header stored at `offset`, if its hcrc and every bound hold. `from` holds kRecordHeaderBytes.
  bool decode_header(const char* from, uint64_t offset, RecordHeader& header) const;

  // Turns stored payload and padding, which begin at `offset`, into the clear in place; false when the bcrc
  // is wrong.
  bool decode_payload(const RecordHeader& header, uint64_t offset, uint32_t chain, char* payload) const;

 private:
  void whiten(char* to, const char* from, size_t words, uint64_t offset) const;

  FileKind kind_;
  uint64_t key_;
  uint32_t seed_;
};

// Returns true if any aligned word of 8 bytes is zero. The length of `bytes` is a multiple of 8; they are
// aligned as in the file.
bool has_zero_word(std::string_view bytes);
bool all_zero(std::string_view bytes);

struct PrevFacts {
  uint64_t segment = 0;
  uint64_t bytes = 0;
  uint64_t lsn = 0;
  uint32_t chain = 0;
};
void encode_prev(const PrevFacts& facts, char* to);  // room for kPrevPayloadBytes
bool decode_prev(std::string_view payload, PrevFacts& facts);

// RecordBuilder: the payload of one DATA record, in a buffer that is used again and again. One thread at a
// time.
//
//   builder.begin();
//   store_flat_key(builder.add(family_id, key_bytes, value, tags), ...);   // as often as needed
//   wal.append(sequence, builder.count(), builder.finish(now_ms));
class RecordBuilder {
 public:
  void begin() { used_ = kLogTimeBytes, count_ = 0; }
  // Adds a cell, and returns the place of its flat key of `key_bytes`. The caller writes the key there before
  // it calls the builder again. The key carries no sequence: all cells of a record have the record's.
  // Allocates only to grow.
  char* add(uint32_t family_id, size_t key_bytes, std::string_view value, std::string_view tags);
  // The payload, with the time at which the batch was stamped; valid until the next begin() or add.
  std::string_view finish(int64_t written_ms);

  uint32_t count() const { return count_; }
  // Bytes of the payload so far. Refuse batches before they exceed kLogPayloadBytesMax.
  size_t bytes() const { return used_; }
  // Gives back a buffer larger than this, after a rare large batch.
  void shrink(size_t bytes_max);

 private:
  void grow(size_t bytes);

  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0;
  size_t used_ = kLogTimeBytes;
  uint32_t count_ = 0;
};

// LogCell: a cell inside a record's payload; its bytes live as long as the payload.
struct LogCell {
  uint32_t family_id = 0;
  CellView cell;  // with the record's sequence
};

// LogCells: walks the cells of a DATA payload, trusting nothing in it. One thread at a time.
class LogCells {
 public:
  LogCells(std::string_view payload, uint32_t count, uint64_t sequence);

  // False at the end, or when the payload is not well formed: then status() says where.
  bool next(LogCell& cell);
  const Status& status() const { return status_; }

 private:
  bool fail(std::string_view what);

  std::string_view payload_;
  size_t at_ = 0;
  uint32_t left_ = 0;
  uint64_t sequence_ = 0;
  Status status_;
};

}  // namespace cellar
