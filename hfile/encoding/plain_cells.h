// PlainCells: decodes cells that lie one after the other in HBase's plain form; NONE and ROW_INDEX_V1 share
// it.
//
//   u32 key size | u32 value size | key | value | u16 tags size, tags (if the file has tags) | MVCC (if the
//   file has it)
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/assert.h"
#include "base/coding.h"
#include "base/fetch_lines.h"
#include "cell/cell_codec.h"
#include "hfile/encoding/encoding.h"

namespace cellar {

enum class DecodeStep : uint8_t { kCell, kEnd, kBad };

// Appends a cell in the form above.
void append_plain_cell(std::string& to, const CellView& cell, const CellFormat& format);
// Bytes that append_plain_cell adds.
size_t plain_cell_bytes(const CellView& cell, const CellFormat& format);

// Returns the fault of a parsed key that no store can hold, or null.
inline const char* key_fault(const CellView& cell) {
  if (cell.row_size == 0 || cell.row_size > kRowBytesMax) return "row without bytes or too long";
  if (cell.family_size > kFamilyBytesMax) return "family too long";
  if (cell.timestamp < 0) return "negative timestamp";
  if (!is_stored_type(cell.cell_type)) return "unknown type";
  return nullptr;
}

// As take_mvcc(), for a number near the end of a block, and for malformed ones.
[[gnu::noinline]] inline bool take_rare_mvcc(const char*& at, const char* end, uint64_t& sequence) {
  ByteReader in({at, static_cast<size_t>(end - at)});
  int64_t value = 0;
  if (!in.take_hadoop_vint(value) || value < 0) return false;
  sequence = static_cast<uint64_t>(value);
  at = in.at();
  return true;
}
// Reads the MVCC number at `at` and moves `at` after it; false if it is malformed.
[[gnu::always_inline]] inline bool take_mvcc(const char*& at, const char* end, uint64_t& sequence) {
  if (at < end && static_cast<int8_t>(*at) >= 0) {
    sequence = static_cast<uint8_t>(*at++);
    return true;
  }
  // The larger sizes, if 8 bytes can be read after them.
  const auto size = static_cast<size_t>(at < end ? -112 - static_cast<int8_t>(*at) : 0);
  if (size < 1 || size > 8 || end - at < 9 || (size == 8 && static_cast<int8_t>(at[1]) < 0))
    return take_rare_mvcc(at, end, sequence);
  sequence = load_be64(at + 1) >> (64 - 8 * size);
  at += 1 + size;
  return true;
}

// One thread at a time. Cells point into the bytes given to open().
class PlainCells {
 public:
  using Slot = CellView;
  static constexpr bool kPlain = true;
  static constexpr bool kSaysPlainBytes = false;

  PlainCells(const CellFormat& format, std::optional<uint64_t> sequence)
      : tags_(format.tags),
        mvcc_(format.mvcc),
        overridden_(sequence.has_value()),
        sequence_(sequence.value_or(0)) {}

  void open(const char* begin, const char* end) {
    begin_ = at_ = begin;
    end_ = end;
  }
  // The bytes after which the next cell begins go on up to `end`.
  void extend(const char* end) { end_ = end; }
  // Where the next cell begins; any position given out earlier may be returned to.
  size_t position() const { return static_cast<size_t>(at_ - begin_); }
  void move_to(size_t position) { at_ = begin_ + position; }
  void rewind() { at_ = begin_; }
  size_t size() const { return static_cast<size_t>(end_ - begin_); }
  const char* base() const { return begin_; }

  // Decodes the next cell of untrusted bytes.
  DecodeStep next(CellView& cell) { return take_untrusted<true>(at_, cell); }

  // Decodes up to `cells_max` cells of untrusted bytes, as next() does. Stops before a faulty cell, and
  // before one of which follows(cell before, cell) is not true. `before` is the cell before the first one.
  // Returns the number of cells.
  template <class Follows>
  size_t next_checked(CellView* cells, size_t cells_max, const CellView& before, const Follows& follows) {
    return tags_ || overridden_ ? next_checked_of<true>(cells, cells_max, before, follows)
                                : next_checked_of<false>(cells, cells_max, before, follows);
  }

  // Decodes up to `cells_max` cells that begin before position `until`. next() has decoded every cell of the
  // block before. Returns the number of cells.
  size_t next_known(CellView* cells, size_t cells_max, size_t until) {
    return tags_ || overridden_ ? next_known_of<true>(cells, cells_max, until)
                                : next_known_of<false>(cells, cells_max, until);
  }

  struct Passed {
    size_t cells = 0;
    size_t offsets = 0;
  };
  // Passes over all cells from here on, which next() has decoded before. Writes the position of the first one
  // to `offsets`, and that of each one that begins `stride_bytes` or more after the last one written.
  Passed pass_known(uint32_t* offsets, size_t stride_bytes) {
    const char* at = at_;
    const char* const base = begin_;
    const char* const end = end_;
    const bool tags = tags_;
    const bool mvcc = mvcc_;
    Passed passed;
    for (size_t next = 0; at < end; ++passed.cells) {
      const char* const begin = at;
      fetch(begin + kAheadBytes);
      if (const auto position = static_cast<size_t>(begin - base); position >= next) {
        offsets[passed.offsets++] = static_cast<uint32_t>(position);
        next = position + stride_bytes;
      }
      at += 8 + size_t{load_be32(begin)} + load_be32(begin + 4);
      if (tags) at += 2 + load_be16(at);
      if (mvcc) at += hadoop_vint_bytes_at(at);
      if (at - begin > kLineBytes) fetch(begin + kAheadBytes + kLineBytes);
    }
    CELLAR_DCHECK(at == end);
    at_ = at;
    return passed;
  }

  // Fetches the bytes from here on that next_known() would fetch too late, for a walk forward.
  void fetch_here() const {
    const ptrdiff_t bytes = std::min(end_ - at_, kAheadBytes);
    fetch_lines(at_, static_cast<size_t>((bytes + kLineBytes - 1) / kLineBytes));
  }
  // Fetches up to `bytes` before a position into the processor's cache, for a walk backward.
  void fetch_before(size_t position, size_t bytes) const {
    constexpr size_t kBytesMax = 8192;
    const char* const end = begin_ + position;
    bytes = std::min({bytes, position, kBytesMax});
    for (size_t back = kLineBytes; back <= bytes; back += kLineBytes) fetch(end - back);
  }

  // Returns the reason of the last kBad.
  const char* fault() const { return fault_; }

 protected:
  DecodeStep bad(const char* fault) {
    fault_ = fault;
    return DecodeStep::kBad;
  }

 private:
  // Decodes the cell at `position`, and moves that after it. Every size is compared with what is left before
  // it is used. kMore: cells may have tags, or get their sequence from elsewhere.
  template <bool kMore>
  [[gnu::always_inline]] DecodeStep take_untrusted(const char*& position, CellView& cell) {
    const char* at = position;
    const auto left = static_cast<size_t>(end_ - at);
    if (left < 8 + 12) return left == 0 ? DecodeStep::kEnd : bad("cell cut off");
    const uint32_t key_size = load_be32(at);
    const uint32_t value_size = load_be32(at + 4);
    if (uint64_t{key_size} + value_size > left - 8) return bad("key and value longer than the block");
    if (!parse_flat_key(at + 8, key_size, cell)) return bad("sizes inside the key do not add up");
    if (const char* fault = key_fault(cell); fault != nullptr) return bad(fault);
    cell.key_in_scratch = false;
    cell.value = at + 8 + key_size;
    cell.value_size = value_size;
    at = cell.value + value_size;
    cell.tags = nullptr;
    cell.tags_size = 0;
    if (kMore && tags_ && !take_tags(at, cell)) return DecodeStep::kBad;
    uint64_t sequence = 0;
    if (mvcc_ && !take_mvcc(at, end_, sequence)) return bad("malformed MVCC");
    cell.sequence = kMore && overridden_ ? sequence_ : sequence;
    position = at;
    return DecodeStep::kCell;
  }

  template <bool kMore, class Follows>
  size_t next_checked_of(CellView* cells, size_t cells_max, const CellView& first, const Follows& follows) {
    CELLAR_DCHECK(kMore || (!tags_ && !overridden_));
    const CellView* before = &first;
    const char* at = at_;
    size_t count = 0;
    for (; count < cells_max; before = &cells[count++]) {
      const char* const begin = at;
      if (take_untrusted<kMore>(at, cells[count]) == DecodeStep::kCell && follows(*before, cells[count]))
        continue;
      at = begin;
      break;
    }
    at_ = at;
    return count;
  }

  // next_known() of a block whose cells may have tags or get their sequence from elsewhere, or neither.
  template <bool kMore>
  size_t next_known_of(CellView* cells, size_t cells_max, size_t until) {
    CELLAR_DCHECK(until <= size());
    const char* at = at_;
    const char* const end = begin_ + until;
    const char* const cells_end = end_;
    const bool tags = kMore && tags_;
    const bool mvcc = mvcc_;
    const bool overridden = kMore && overridden_;
    size_t count = 0;
    for (; count < cells_max && at < end; ++count) {
      CellView& cell = cells[count];
      const char* const begin = at;
      fetch(begin + kAheadBytes);
      parse_known_key(at + 8, load_be32(at), cell);
      cell.key_in_scratch = false;
      cell.value = cell.key + cell.key_size;
      cell.value_size = load_be32(at + 4);
      at = cell.value + cell.value_size;
      cell.tags = nullptr;
      cell.tags_size = 0;
      if (tags) {
        cell.tags_size = load_be16(at);
        cell.tags = at + 2;
        at += 2 + cell.tags_size;
      }
      cell.sequence = 0;
      if (mvcc) take_mvcc(at, cells_end, cell.sequence);
      if (overridden) cell.sequence = sequence_;
      if (at - begin > kLineBytes) fetch(begin + kAheadBytes + kLineBytes);
      CELLAR_DCHECK(at <= cells_end && key_fault(cell) == nullptr);
    }
    at_ = at;
    return count;
  }

  // Each cell says where the next one begins, so the processor cannot fetch it in advance. Bytes are fetched
  // when the cell so far before them is decoded. Scans of 100 rows in memory take 0.76 of the time, long ones
  // 0.9. A distance of 512 slows long scans, and 2048 is no better.
  static constexpr ptrdiff_t kAheadBytes = 1536;
  static constexpr ptrdiff_t kLineBytes = 64;
  static void fetch(const char* at) { __builtin_prefetch(at); }
  static void parse_known_key(const char* key, uint32_t key_size, CellView& cell) {
    cell.key = key;
    cell.key_size = key_size;
    cell.row_size = load_be16(key);
    cell.family_size = static_cast<uint8_t>(key[2 + cell.row_size]);
    cell.timestamp = static_cast<int64_t>(load_be64(key + key_size - 9));
    cell.cell_type = static_cast<CellType>(static_cast<uint8_t>(key[key_size - 1]));
  }
  bool take_tags(const char*& at, CellView& cell) {
    const auto left = static_cast<size_t>(end_ - at);
    if (left < 2 || load_be16(at) > left - 2) return bad("tags longer than the block") == DecodeStep::kCell;
    cell.tags_size = load_be16(at);
    cell.tags = at + 2;
    at += 2 + cell.tags_size;
    if (cell.tags_size == 0 || tags_well_formed(cell.tags_bytes())) return true;
    return bad("malformed tags") == DecodeStep::kCell;
  }
  const char* begin_ = nullptr;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  const char* fault_ = "";
  bool tags_;
  bool mvcc_;
  bool overridden_;
  uint64_t sequence_;
};

}  // namespace cellar
