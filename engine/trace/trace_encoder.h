// TraceEncoder: writes the body of a record. Values are not written, only their sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "base/assert.h"
#include "base/coding.h"
#include "base/hash.h"
#include "cellar/batch.h"
#include "cellar/check_and_mutate.h"
#include "cellar/query.h"
#include "engine/trace/trace_format.h"

namespace cellar {

// TraceKeys: how keys are written, and which rows. Immutable; any thread.
struct TraceKeys {
  std::optional<TraceHash> hash;  // none: keys are written as they are
  uint32_t sample = 1;

  // Returns whether the operations on this row are recorded.
  bool take(std::string_view row) const { return sample == 1 || hash64(row) % sample == 0; }
};

// TraceResults: what a read returned.
struct TraceResults {
  uint64_t rows = 0;
  uint64_t cells = 0;
  uint64_t bytes = 0;  // of keys, values and tags
  void add(const RowView& row);
};

// One thread at a time. It keeps its memory for the next record.
class TraceEncoder {
 public:
  explicit TraceEncoder(const TraceKeys& keys) : keys_(keys) {}

  void clear() { size_ = 0; }
  std::string_view bytes() const { return {room_.get(), size_}; }
  const TraceKeys& keys() const { return keys_; }

  void byte(uint8_t value) {
    char* to = open(1);
    *to++ = static_cast<char>(value);
    close(to);
  }
  void varint(uint64_t value) { close(put_varint(open(kVarintBytes), value)); }
  // A table or a family, which is never hashed.
  void name(std::string_view bytes) { close(put_text(open(kVarintBytes + bytes.size()), bytes)); }
  // Bytes of this encoder that were kept.
  void raw(std::string_view bytes) { close(put_bytes(open(bytes.size()), bytes)); }
  void get(std::string_view table, const Get& get);
  void scan(std::string_view table, const Scan& scan);
  // A Put, Delete, Increment or Append.
  void mutation(TraceEntryKind kind, std::string_view table, const RowMutation& mutation);
  void cell(std::string_view table, const Cell& cell);
  // All mutations, each as an entry of its own.
  void mutations(std::string_view table, const RowMutations& mutations);
  // The condition, then the change if the condition held.
  void check(std::string_view table, const CheckAndMutate& check, bool matched);
  // Returns the number of entries that check() writes.
  static size_t entries_of(const CheckAndMutate& check, bool matched);
  void results(const TraceResults& results) {
    char* to = open(3 * kVarintBytes);
    to = put_varint(to, results.rows);
    to = put_varint(to, results.cells);
    close(put_varint(to, results.bytes));
  }

  // These write a number at `to` and return the end. They are here for inlining.
  static char* put_varint(char* to, uint64_t value) {
    while (value >= 0x80) {
      *to++ = static_cast<char>(value | 0x80);
      value >>= 7;
    }
    *to++ = static_cast<char>(value);
    return to;
  }
  static char* put_zigzag(char* to, int64_t value) {
    return put_varint(to, (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
  }

 private:
  static constexpr size_t kVarintBytes = 10;
  static constexpr size_t kHashBytes = 8;

  // The bytes of the record are written through a local pointer: a member would be loaded and stored again
  // for each byte.
  char* open(size_t bytes) {
    if (capacity_ - size_ < bytes) [[unlikely]]
      grow(bytes);
    CELLAR_DCHECK(capacity_ - size_ >= bytes);
    return room_.get() + size_;
  }
  void close(const char* end) {
    size_ = static_cast<size_t>(end - room_.get());
    CELLAR_DCHECK(size_ <= capacity_);
  }
  // Names are short: two overlapping words are cheaper than a call.
  static char* put_bytes(char* to, std::string_view bytes) {
    const size_t size = bytes.size();
    const char* const from = bytes.data();
    if (size > 16) {
      std::memcpy(to, from, size);
    } else if (size >= 8) {
      std::memcpy(to, from, 8);
      std::memcpy(to + size - 8, from + size - 8, 8);
    } else if (size >= 4) {
      std::memcpy(to, from, 4);
      std::memcpy(to + size - 4, from + size - 4, 4);
    } else {
      for (size_t i = 0; i < size; ++i) to[i] = from[i];
    }
    return to + size;
  }
  static char* put_text(char* to, std::string_view bytes) {
    return put_bytes(put_varint(to, bytes.size()), bytes);
  }
  // A row or a qualifier: as it is, or its size and its hash.
  char* put_key(char* to, std::string_view bytes) const;
  // The room that put_key() needs at most.
  static size_t room_of(std::string_view key) { return kVarintBytes + kHashBytes + key.size(); }
  static size_t room_of_entry(std::string_view table, std::string_view row) {
    return 1 + kVarintBytes + table.size() + room_of(row);
  }
  // The beginning of an entry.
  char* put_entry(char* to, TraceEntryKind kind, std::string_view table, std::string_view row) const;
  void begin_entry(TraceEntryKind kind, std::string_view table, std::string_view row);
  // Returns the room that put_query() needs at most, and the number of families.
  template <class Q>
  static size_t room_of_query(const Query<Q>& query, size_t& families);
  template <class Q>
  char* put_query(char* to, const Query<Q>& query, size_t families) const;
  void column(std::string_view family, std::string_view qualifier, CellType type, bool latest_version,
              int64_t timestamp, size_t value_bytes);
  void grow(size_t bytes);

  const TraceKeys& keys_;
  std::unique_ptr<char[]> room_ = std::make_unique<char[]>(1024);
  size_t capacity_ = 1024;
  size_t size_ = 0;
};

}  // namespace cellar
