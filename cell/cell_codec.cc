// Flat keys: encoding, checking, keeping copies.
#include "cell/cell_codec.h"

#include <fmt/format.h>

#include <cstring>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/coding.h"

namespace cellar {

namespace {

// Longer than any qualifier that a store or an HFile can hold: a block ends at 2 GiB.
constexpr size_t kQualifierBytesSought = size_t{1} << 31;

// Copies the bytes and returns the place after them. Parts of keys are short: no call is made for them.
inline char* put_bytes(char* to, std::string_view bytes) {
  constexpr size_t kWord = sizeof(uint64_t);
  const size_t size = bytes.size();
  if (size >= kWord && size <= 4 * kWord) {
    for (size_t at = 0; at + kWord < size; at += kWord) std::memcpy(to + at, bytes.data() + at, kWord);
    std::memcpy(to + size - kWord, bytes.data() + size - kWord, kWord);
  } else if (size > kWord) {
    std::memcpy(to, bytes.data(), size);
  } else {
    for (size_t at = 0; at < size; ++at) to[at] = bytes[at];
  }
  return to + size;
}

}  // namespace

size_t store_flat_key(char* to, std::string_view row, std::string_view family, std::string_view qualifier,
                      int64_t timestamp, CellType type) {
  char* at = to;
  store_be16(at, static_cast<uint16_t>(row.size()));
  at += 2;
  at = put_bytes(at, row);
  *at++ = static_cast<char>(family.size());
  at = put_bytes(at, family);
  at = put_bytes(at, qualifier);
  store_be64(at, static_cast<uint64_t>(timestamp));
  at += 8;
  *at++ = static_cast<char>(type);
  CELLAR_DCHECK(static_cast<size_t>(at - to) == flat_key_bytes(row.size(), family.size(), qualifier.size()));
  return static_cast<size_t>(at - to);
}

void append_flat_key(std::string& to, std::string_view row, std::string_view family,
                     std::string_view qualifier, int64_t timestamp, CellType type) {
  const size_t before = to.size();
  to.resize(before + flat_key_bytes(row.size(), family.size(), qualifier.size()));
  store_flat_key(to.data() + before, row, family, qualifier, timestamp, type);
}

std::string key_text(const CellView& cell) {
  return fmt::format("{}/{}:{}/{}/{}", escaped(cell.row()), escaped(cell.family()), escaped(cell.qualifier()),
                     cell.timestamp, type_name(cell.type()));
}

bool tags_well_formed(std::string_view tags) {
  while (!tags.empty()) {
    if (tags.size() < 3) return false;
    const size_t size = load_be16(tags.data());
    if (size < 1 || size + 2 > tags.size()) return false;
    tags.remove_prefix(size + 2);
  }
  return true;
}

Status check_cell(const CellView& cell, const CellLimits& limits) {
  const auto refuse = [&](std::string_view why) {
    return Status::invalid_argument(fmt::format("cell {}: {}", key_text(cell), why));
  };
  if (cell.row_size == 0) return refuse("the row is empty");
  if (cell.row_size > kRowBytesMax) return refuse("the row is longer than 32,767 bytes");
  if (cell.family_size == 0 && !limits.empty_family_ok) return refuse("the family is empty");
  if (cell.family_size > kFamilyBytesMax) return refuse("the family is longer than 127 bytes");
  if (!is_stored_type(cell.type())) return refuse("the type cannot be stored");
  if (cell.timestamp < 0) return refuse("the timestamp is negative");
  if (cell.timestamp == kLatestTimestamp && !limits.latest_timestamp_ok)
    return refuse("the timestamp is LATEST");
  if (cell.tags_size > kTagsBytesMax) return refuse("the tags are longer than 32,767 bytes");
  if (!tags_well_formed(cell.tags_bytes())) return refuse("the tags are not well formed");
  if (cell.value_size > limits.value_bytes_max)
    return Status::limit(fmt::format("cell {}: the value has {} bytes, the limit is {}", key_text(cell),
                                     cell.value_size, limits.value_bytes_max));
  return {};
}

OwnedCell::OwnedCell(const OwnedCell& other) { *this = other; }

OwnedCell& OwnedCell::operator=(const OwnedCell& other) {
  if (this == &other) return *this;
  CELLAR_ASSERT((other.view_.key == nullptr) == other.bytes_.empty());
  bytes_ = other.bytes_;
  view_ = other.view_;
  if (view_.key != nullptr) point(view_.key_size, view_.value_size, view_.tags_size);
  return *this;
}

void OwnedCell::point(size_t key_size, size_t value_size, size_t tags_size) {
  CELLAR_ASSERT(key_size + value_size + tags_size == bytes_.size());
  view_.key = bytes_.data();
  view_.key_size = static_cast<uint32_t>(key_size);
  view_.value = bytes_.data() + key_size;
  view_.value_size = static_cast<uint32_t>(value_size);
  view_.tags = view_.value + value_size;
  view_.tags_size = static_cast<uint16_t>(tags_size);
  view_.key_in_scratch = true;
}

void OwnedCell::assign(std::string_view row, std::string_view family, std::string_view qualifier,
                       int64_t timestamp, CellType type, uint64_t sequence, std::string_view value,
                       std::string_view tags) {
  // CellView has 16 and 32 bits for the sizes. No stored cell has parts as long as these limits. A
  // truncated search key therefore sorts like the whole key, and a write refuses a truncated cell for its
  // size.
  row = row.substr(0, kRowBytesMax + 1);
  family = family.substr(0, kFamilyBytesMax + 1);
  qualifier = qualifier.substr(0, kQualifierBytesSought);
  value = value.substr(0, UINT32_MAX);
  tags = tags.substr(0, kTagsBytesMax + 1);
  const size_t key_size = flat_key_bytes(row.size(), family.size(), qualifier.size());
  const size_t size = key_size + value.size() + tags.size();
  if (bytes_.size() != size) bytes_.resize(size);
  store_flat_key(bytes_.data(), row, family, qualifier, timestamp, type);
  if (size != key_size) {
    value.copy(bytes_.data() + key_size, value.size());
    tags.copy(bytes_.data() + key_size + value.size(), tags.size());
  }
  point(key_size, value.size(), tags.size());
  view_.row_size = static_cast<uint16_t>(row.size());
  view_.family_size = static_cast<uint8_t>(family.size());
  view_.timestamp = timestamp;
  view_.cell_type = type;
  view_.sequence = sequence;
}

void OwnedCell::assign_search(std::string_view row, std::string_view family, std::string_view qualifier,
                              int64_t timestamp, CellType type, uint64_t sequence) {
  if (row.size() > kRowBytesMax || family.size() > kFamilyBytesMax ||
      qualifier.size() > kQualifierBytesSought) [[unlikely]]
    return assign(row, family, qualifier, timestamp, type, sequence);
  const size_t size = flat_key_bytes(row.size(), family.size(), qualifier.size());
  if (bytes_.size() != size) bytes_.resize(size);
  store_flat_key(bytes_.data(), row, family, qualifier, timestamp, type);
  view_.key = bytes_.data();
  view_.value = view_.tags = view_.key + size;
  view_.sequence = sequence;
  view_.timestamp = timestamp;
  view_.key_size = static_cast<uint32_t>(size);
  view_.value_size = 0;
  view_.row_size = static_cast<uint16_t>(row.size());
  view_.tags_size = 0;
  view_.family_size = static_cast<uint8_t>(family.size());
  view_.cell_type = type;
  view_.key_in_scratch = true;
  CELLAR_DCHECK(view_.row() == row && view_.qualifier() == qualifier);
}

void OwnedCell::assign(const CellView& cell) {
  CELLAR_DCHECK(cell.key_size >= flat_key_bytes(cell.row_size, cell.family_size, 0));
  bytes_.assign(cell.key_bytes()).append(cell.value_bytes()).append(cell.tags_bytes());
  view_ = cell;
  point(cell.key_size, cell.value_size, cell.tags_size);
}

void OwnedCell::assign_key(std::string_view flat_key, uint64_t sequence) {
  bytes_.assign(flat_key);
  const bool parsed = parse_flat_key(bytes_.data(), bytes_.size(), view_);
  CELLAR_ASSERT(parsed);
  point(flat_key.size(), 0, 0);
  view_.sequence = sequence;
}

}  // namespace cellar
