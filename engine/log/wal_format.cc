// Encoding and decoding of file headers, records and the cells inside them.
#include "engine/log/wal_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "base/checksum.h"
#include "base/coding.h"

namespace cellar {

namespace {

constexpr uint64_t kLogMagic = 0x4c5772616c6c6543;       // "CellarWL"
constexpr uint64_t kManifestMagic = 0x464d72616c6c6543;  // "CellarMF"
constexpr uint64_t kWeylStep = 0x9e3779b97f4a7c15;

uint64_t mix(uint64_t z) {  // splitmix64's finisher
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

bool parse_hex64(std::string_view digits, uint64_t& value) {
  value = 0;
  for (const char c : digits) {
    if (hex_value(c) < 0) return false;
    value = value << 4 | static_cast<uint64_t>(hex_value(c));
  }
  return digits.size() == 16;
}

// The clear header without hcrc: 44 bytes.
void store_header(const RecordHeader& header, char* to) {
  store_le32(to + 4, header.bcrc);
  store_le32(to + 8, header.len);
  to[12] = static_cast<char>(header.type);
  to[13] = static_cast<char>(header.flags);
  to[14] = to[15] = 0;
  store_le64(to + 16, header.lsn);
  store_le64(to + 24, header.sequence);
  store_le32(to + 32, header.count);
  store_le32(to + 36, header.edit);
  store_le64(to + 40, header.synced);
}

// Returns true if the word at +8 (len, type, flags, zero) can be a header's. Sorts out nearly all other words
// before a CRC.
bool plausible(FileKind kind, uint64_t word) {
  const auto len = static_cast<uint32_t>(word);
  const auto type = static_cast<uint8_t>(word >> 32);
  const auto flags = static_cast<uint8_t>(word >> 40);
  if (word >> 48 != 0 || flags > kFlagEarlierDurable) return false;
  if (kind == FileKind::kManifest) {
    return type == static_cast<uint8_t>(RecordType::kEdit) && len <= kManifestPayloadBytesMax;
  }
  switch (static_cast<RecordType>(type)) {
    case RecordType::kData:
      return len >= kLogTimeBytes && len <= kLogPayloadBytesMax;
    case RecordType::kPrev:
      return len == kPrevPayloadBytes;
    case RecordType::kClose:
      return len == kClosePayloadBytes;
    default:
      return false;
  }
}

[[maybe_unused]] bool reads_back(const RecordCodec& codec, const RecordHeader& header, uint64_t offset,
                                 const char* stored) {
  RecordHeader back;
  return codec.decode_header(stored, offset, back) && back.lsn == header.lsn && back.len == header.len &&
         back.bcrc == header.bcrc;
}

}  // namespace

std::string Identity::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

bool parse_identity(std::string_view hex, Identity& identity) {
  return hex.size() == 32 && parse_hex64(hex.substr(0, 16), identity.high) &&
         parse_hex64(hex.substr(16), identity.low);
}

Identity boot_identity_of(std::string_view text) {
  if (text.empty()) return {};
  return {mix(crc32c(text)) | 1, mix(crc32c(text, 1) + text.size())};
}

uint32_t encode_file_header(const FileHeader& header, char* to) {
  CELLAR_ASSERT(header.id < kCountMax && header.first_lsn < kCountMax && header.first_sequence < kCountMax);
  CELLAR_ASSERT(header.kind == FileKind::kLog || !header.boot.is_set());
  std::memset(to, 0, kFileHeaderBytes);
  store_le64(to, header.kind == FileKind::kLog ? kLogMagic : kManifestMagic);
  store_le32(to + 8, header.kind == FileKind::kLog ? kLogVersion : kManifestVersion);
  store_le64(to + 16, header.identity.high);
  store_le64(to + 24, header.identity.low);
  store_le64(to + 32, header.id);
  store_le64(to + 40, header.first_lsn);
  store_le64(to + 48, header.first_sequence);
  store_le64(to + 56, header.boot.high);
  store_le64(to + 64, header.boot.low);
  const uint32_t crc = crc32c({to, kFileHeaderBytes - 4});
  store_le32(to + kFileHeaderBytes - 4, crc);
  return crc;
}

Status decode_file_header(FileKind kind, const char* from, FileHeader& header, uint32_t& crc) {
  const bool is_log = kind == FileKind::kLog;
  if (load_le64(from) != (is_log ? kLogMagic : kManifestMagic)) {
    return Status::corruption(is_log ? "not a log segment: wrong magic" : "not a manifest: wrong magic");
  }
  crc = load_le32(from + kFileHeaderBytes - 4);
  if (crc32c({from, kFileHeaderBytes - 4}) != crc)
    return Status::corruption("wrong checksum of the file header");
  const uint32_t version = load_le32(from + 8);
  if (version > (is_log ? kLogVersion : kManifestVersion)) {
    return Status::not_supported(fmt::format("{} of version {}, which a newer version of Cellar wrote",
                                             is_log ? "log segment" : "manifest", version));
  }
  const bool has_boot = is_log && version >= 2;
  const size_t used = has_boot ? 72 : 56;
  if (version == 0 || load_le32(from + 12) != 0 || !all_zero({from + used, kFileHeaderBytes - 4 - used})) {
    return Status::corruption("invalid fields in the file header");
  }
  header.kind = kind;
  header.identity = {load_le64(from + 16), load_le64(from + 24)};
  header.id = load_le64(from + 32);
  header.first_lsn = load_le64(from + 40);
  header.first_sequence = load_le64(from + 48);
  if (std::max({header.id, header.first_lsn, header.first_sequence}) >= kCountMax)
    return Status::corruption("invalid numbers in the file header");
  header.boot = has_boot ? Identity{load_le64(from + 56), load_le64(from + 64)} : Identity{};
  return Status();
}

RecordCodec::RecordCodec(FileKind kind, const Identity& identity, uint64_t id) : kind_(kind) {
  key_ = mix(identity.high ^ mix(identity.low ^ mix(id + static_cast<uint64_t>(kind))));
  char raw[24];
  store_le64(raw, identity.high);
  store_le64(raw + 8, identity.low);
  store_le64(raw + 16, id);
  seed_ = crc32c({raw, sizeof raw}, kind == FileKind::kLog ? 0 : 1);
}

// One add, one or, one xor per word, in vectors of two words: compilers make none of a plain loop at -O2. The
// or keeps the key from ever being zero.
void RecordCodec::whiten(char* to, const char* from, size_t words, uint64_t offset) const {
  CELLAR_DCHECK(offset % 8 == 0);
  typedef uint64_t Pair __attribute__((vector_size(16)));
  constexpr Pair kOne = {1, 1};
  constexpr Pair kStep = {2 * kWeylStep, 2 * kWeylStep};
  const uint64_t first = key_ + (offset / 8) * kWeylStep;
  Pair key = {first, first + kWeylStep};
  size_t i = 0;
  for (; i + 2 <= words; i += 2, key += kStep) {
    Pair pair;
    std::memcpy(&pair, from + 8 * i, 16);
    pair ^= key | kOne;
    std::memcpy(to + 8 * i, &pair, 16);
  }
  if (i < words) store_le64(to + 8 * i, load_le64(from + 8 * i) ^ (key[0] | 1));
}

void RecordCodec::encode(RecordHeader& header, std::string_view payload, uint64_t offset, uint32_t& chain,
                         char* to) const {
  CELLAR_ASSERT(header.lsn < kCountMax && header.sequence < kCountMax && header.synced <= offset);
  CELLAR_DCHECK(offset % 8 == 0);
  header.len = static_cast<uint32_t>(payload.size());
  header.bcrc = crc32c(payload, chain);
  const size_t whole = payload.size() / 8;
  if (const size_t rest = payload.size() % 8; rest != 0) {
    char last[8] = {};
    std::memcpy(last, payload.data() + 8 * whole, rest);
    header.bcrc = crc32c({last + rest, 8 - rest}, header.bcrc);
    whiten(to + kRecordHeaderBytes + 8 * whole, last, 1, offset + kRecordHeaderBytes + 8 * whole);
  }
  whiten(to + kRecordHeaderBytes, payload.data(), whole, offset + kRecordHeaderBytes);
  chain = header.bcrc;

  char clear[kRecordHeaderBytes];
  store_le32(clear, 0);
  store_header(header, clear);
  const uint32_t hcrc = crc32c({clear + 4, kRecordHeaderBytes - 4}, seed_);
  whiten(to, clear, kRecordHeaderBytes / 8, offset);
  store_le32(to, hcrc);
  CELLAR_DCHECK(reads_back(*this, header, offset, to));
}

bool RecordCodec::decode_header(const char* from, uint64_t offset, RecordHeader& header) const {
  const uint64_t second_key = (key_ + (offset / 8 + 1) * kWeylStep) | 1;
  if (!plausible(kind_, load_le64(from + 8) ^ second_key)) return false;
  char clear[kRecordHeaderBytes];
  whiten(clear, from, kRecordHeaderBytes / 8, offset);
  if (crc32c({clear + 4, kRecordHeaderBytes - 4}, seed_) != load_le32(from)) return false;
  header.bcrc = load_le32(clear + 4);
  header.len = load_le32(clear + 8);
  header.type = static_cast<RecordType>(clear[12]);
  header.flags = static_cast<uint8_t>(clear[13]);
  header.lsn = load_le64(clear + 16);
  header.sequence = load_le64(clear + 24);
  header.count = load_le32(clear + 32);
  header.edit = load_le32(clear + 36);
  header.synced = load_le64(clear + 40);
  return header.synced <= offset && header.lsn < kCountMax && header.sequence < kCountMax;
}

bool RecordCodec::decode_payload(const RecordHeader& header, uint64_t offset, uint32_t chain,
                                 char* payload) const {
  CELLAR_DCHECK(header.len <= std::max(kLogPayloadBytesMax, kManifestPayloadBytesMax));
  const size_t bytes = padded(header.len);
  whiten(payload, payload, bytes / 8, offset);
  return crc32c({payload, bytes}, chain) == header.bcrc &&
         all_zero({payload + header.len, bytes - header.len});
}

bool has_zero_word(std::string_view bytes) {
  CELLAR_DCHECK(bytes.size() % 8 == 0);
  for (size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    if (load_le64(bytes.data() + i) == 0) return true;
  }
  return false;
}

bool all_zero(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == 0; });
}

void encode_prev(const PrevFacts& facts, char* to) {
  CELLAR_ASSERT(facts.segment > 0 && facts.bytes >= kFileHeaderBytes && facts.bytes % 8 == 0);
  store_le64(to, facts.segment);
  store_le64(to + 8, facts.bytes);
  store_le64(to + 16, facts.lsn);
  store_le32(to + 24, facts.chain);
  store_le32(to + 28, 0);
}

bool decode_prev(std::string_view payload, PrevFacts& facts) {
  if (payload.size() != kPrevPayloadBytes || load_le32(payload.data() + 28) != 0) return false;
  facts.segment = load_le64(payload.data());
  facts.bytes = load_le64(payload.data() + 8);
  facts.lsn = load_le64(payload.data() + 16);
  facts.chain = load_le32(payload.data() + 24);
  return true;
}

char* RecordBuilder::add(uint32_t family_id, size_t key_bytes, std::string_view value,
                         std::string_view tags) {
  CELLAR_ASSERT(key_bytes >= 12 && tags.size() <= UINT16_MAX);
  CELLAR_ASSERT(key_bytes <= UINT32_MAX && value.size() <= UINT32_MAX);
  const size_t bytes = kLogCellHeaderBytes + key_bytes + value.size() + tags.size();
  if (capacity_ - used_ < bytes || capacity_ == 0) grow(bytes);
  char* const header = buffer_.get() + used_;
  store_le32(header, family_id);
  store_le32(header + 4, static_cast<uint32_t>(key_bytes));
  store_le32(header + 8, static_cast<uint32_t>(value.size()));
  store_le32(header + 12,
             static_cast<uint32_t>(tags.size()));  // the upper half stays zero: tags are at most 65,535
  char* const key = header + kLogCellHeaderBytes;
  char* const after_key = key + key_bytes;
  if (!value.empty()) std::memcpy(after_key, value.data(), value.size());
  if (!tags.empty()) std::memcpy(after_key + value.size(), tags.data(), tags.size());
  used_ += bytes;
  CELLAR_DCHECK(used_ <= capacity_);
  ++count_;
  return key;
}

std::string_view RecordBuilder::finish(int64_t written_ms) {
  CELLAR_ASSERT(used_ >= kLogTimeBytes && (count_ > 0) == (used_ > kLogTimeBytes));
  if (capacity_ == 0) grow(0);
  store_le64(buffer_.get(), static_cast<uint64_t>(written_ms));
  return {buffer_.get(), used_};
}

void RecordBuilder::grow(size_t bytes) {
  const size_t wanted = std::max<size_t>({used_ + bytes, 2 * capacity_, 4096});
  CELLAR_ASSERT(wanted > capacity_);
  std::unique_ptr<char[]> larger(new char[wanted]);  // not make_unique, which would clear it
  if (buffer_ != nullptr) std::memcpy(larger.get(), buffer_.get(), used_);
  buffer_ = std::move(larger);
  capacity_ = wanted;
}

void RecordBuilder::shrink(size_t bytes_max) {
  if (capacity_ <= bytes_max) return;
  buffer_.reset();
  capacity_ = 0;
  begin();
}

LogCells::LogCells(std::string_view payload, uint32_t count, uint64_t sequence)
    : payload_(payload), at_(kLogTimeBytes), left_(count), sequence_(sequence) {
  if (payload.size() < kLogTimeBytes) {
    left_ = 0;
    fail("too short");
  }
}

bool LogCells::fail(std::string_view what) {
  CELLAR_ASSERT(status_.ok());  // no cell is looked at after the first failure
  status_ = Status::corruption(fmt::format("log record: {} at byte {} of its payload", what, at_));
  left_ = 0;
  return false;
}

bool LogCells::next(LogCell& out) {
  CELLAR_DCHECK(at_ <= payload_.size() || left_ == 0);
  if (left_ == 0) {
    if (status_.ok() && at_ != payload_.size()) return fail("trailing bytes after the last cell");
    return false;
  }
  if (payload_.size() - at_ < kLogCellHeaderBytes) return fail("a cell's header does not fit");
  const char* from = payload_.data() + at_;
  const uint64_t key_size = load_le32(from + 4);
  const uint64_t value_size = load_le32(from + 8);
  const uint64_t tags_size = load_le32(from + 12);
  if (tags_size > 0xffff) return fail("invalid size of tags");
  if (key_size + value_size + tags_size > payload_.size() - at_ - kLogCellHeaderBytes)
    return fail("a cell does not fit");
  const char* key = from + kLogCellHeaderBytes;
  if (key_size < 12) return fail("a key is too short");
  const size_t row_size = load_be16(key);
  if (row_size > kRowBytesMax || 12 + row_size > key_size) return fail("a row does not fit its key");
  const size_t family_size = static_cast<uint8_t>(key[2 + row_size]);
  if (12 + row_size + family_size > key_size) return fail("a family does not fit its key");
  const auto type = static_cast<CellType>(key[key_size - 1]);
  if (!is_stored_type(type)) return fail("unknown type of a cell");

  out.family_id = load_le32(from);
  CellView& cell = out.cell;
  cell = CellView();
  cell.key = key;
  cell.value = key + key_size;
  cell.tags = cell.value + value_size;
  cell.sequence = sequence_;
  cell.timestamp = static_cast<int64_t>(load_be64(key + key_size - 9));
  cell.key_size = static_cast<uint32_t>(key_size);
  cell.value_size = static_cast<uint32_t>(value_size);
  cell.row_size = static_cast<uint16_t>(row_size);
  cell.tags_size = static_cast<uint16_t>(tags_size);
  cell.family_size = static_cast<uint8_t>(family_size);
  cell.cell_type = type;
  at_ += kLogCellHeaderBytes + key_size + value_size + tags_size;
  CELLAR_DCHECK(at_ <= payload_.size() && cell.tags + cell.tags_size == payload_.data() + at_);
  --left_;
  return true;
}

}  // namespace cellar
