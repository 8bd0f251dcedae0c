// CellIndexBuilder<Decoder>: walks a cached block once and makes the index that later searches use. Not hot:
// it runs once for each block that is searched a second time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "base/bytes.h"
#include "cell/cell_codec.h"
#include "cellar/cell.h"
#include "hfile/block/file_parts.h"
#include "hfile/encoding/plain_cells.h"
#include "hfile/format/row_words.h"

namespace cellar {

// Returns the key of a cell that lies in plain form: two sizes, then the key. The key was checked before.
inline CellView plain_key_at(const char* cell) {
  CellView view;
  parse_flat_key(cell + 8, load_be32(cell), view);
  return view;
}

// LikeKeys: reads words of keys whose rows have one size and whose families are the same. The keys lie in
// plain form, and were checked before. Makes few calls: an index takes a word of each of its cells.
class LikeKeys {
 public:
  explicit LikeKeys(const CellView& first)
      : family_(first.family()),
        row_bytes_(first.row_size),
        family_word_(load_be64(first.key + 2 + row_bytes_)),
        unlike_bits_(family_.size() < kWord ? 8 * (kWord - 1 - family_.size()) : 0) {}

  // Writes to `words` the text_word() of row and qualifier, from `from` on, of the cells that begin at
  // `offsets` of `keys`. Returns false if a row has another size, or a key has another family. The
  // words are then undefined.
  bool read_words(const char* keys, std::span<const uint32_t> offsets, size_t from, uint64_t* words) const {
    if (from + kWord <= row_bytes_)
      return read_each(keys, offsets, words, [from](const LikeKeys& like, const char* cell) {
        return load_be64(like.row_of(cell).data() + from);
      });
    if (from >= row_bytes_ || row_bytes_ < kWord)
      return read_each(keys, offsets, words, [from](const LikeKeys& like, const char* cell) {
        return text_word({like.row_of(cell), like.qualifier_of(cell)}, from);
      });
    // So eight bytes can be read before the end of the row, and from the beginning of the qualifier.
    const size_t left_bits = 8 * (row_bytes_ - from);
    return read_each(keys, offsets, words, [left_bits](const LikeKeys& like, const char* cell) {
      const std::string_view row = like.row_of(cell);
      const std::string_view qualifier = like.qualifier_of(cell);
      uint64_t rest = qualifier.empty() ? 0 : load_be64(qualifier.data());
      if (qualifier.size() < kWord) rest &= ~(UINT64_MAX >> (8 * qualifier.size()));
      return load_be64(row.data() + row.size() - kWord) << (64 - left_bits) | rest >> left_bits;
    });
  }

 private:
  static constexpr size_t kWord = sizeof(uint64_t);
  static constexpr size_t kKeyAt = 8;  // in a cell, after two sizes

  template <class WordOf>
  bool read_each(const char* keys, std::span<const uint32_t> offsets, uint64_t* words,
                 const WordOf& word_of) const {
    const LikeKeys like = *this;  // the compiler keeps a copy in registers: no word is written to it
    for (const uint32_t at : offsets) {
      if (!like.has(keys + at)) return false;
      *words++ = word_of(like, keys + at);
    }
    return true;
  }
  // Returns whether the key of the cell is one of these.
  bool has(const char* cell) const {
    const char* const key = cell + kKeyAt;
    if (load_be16(key) != row_bytes_) return false;
    // The size of the family, the family, and more: ten bytes or more follow a row.
    const uint64_t word = load_be64(key + 2 + row_bytes_);
    if ((word ^ family_word_) >> unlike_bits_ != 0) return false;
    return family_.size() < kWord || family_ == std::string_view(key + 3 + row_bytes_, family_.size());
  }
  std::string_view row_of(const char* cell) const { return {cell + kKeyAt + 2, row_bytes_}; }
  std::string_view qualifier_of(const char* cell) const {
    const size_t at = 2 + size_t{row_bytes_} + 1 + family_.size();
    return {cell + kKeyAt + at, load_be32(cell) - at - 9};  // a timestamp of eight bytes and a type follow
  }

  std::string_view family_;
  uint16_t row_bytes_;
  uint64_t family_word_;
  size_t unlike_bits_;  // of a word after those that must be the same
};

// One thread, used once. Borrows both.
template <class Decoder>
class CellIndexBuilder {
 public:
  CellIndexBuilder(const FileParts& parts, const Block& block)
      : parts_(parts), block_(block), walker_(parts.format, parts.options.sequence_override) {}

  // Walks the block that `decoder` has opened and publishes its index. Calls in_order(before, after) for each
  // pair of neighbours, unless the order of the block is trusted. Returns null where no index is possible,
  // where in_order() is false, and after a malformed cell (see is_bad()).
  template <class InOrder>
  const CellIndex* build(const Decoder& decoder, bool trusted, const InOrder& in_order) {
    if constexpr (!Decoder::kPlain)
      if (!decoder.can_restart()) return nullptr;
    walker_.open(block_.payload());  // as the decoder was
    size_t count = 0;
    if constexpr (Decoder::kPlain) {
      offsets_.reserve(block_.payload().size() / block_.index_stride_bytes() + 1);
      if (trusted) {
        count = walk_known();
        return finish(decoder, count == offsets_.size());
      }
    }
    typename Decoder::Slot cells[2];
    for (int at = 0;; at ^= 1, ++count) {
      const size_t position = walker_.position();
      const DecodeStep step = walker_.next(cells[at]);
      if (step == DecodeStep::kEnd) break;
      is_bad_ = step == DecodeStep::kBad;
      if (is_bad_) return nullptr;
      if (!trusted && count > 0 && !in_order(cells[at ^ 1], cells[at])) return nullptr;
      if constexpr (Decoder::kPlain) {
        take_offset(position);
      } else {
        take_note(position, cells[at]);
      }
    }
    return finish(decoder, Decoder::kPlain && count == offsets_.size());
  }
  // Returns whether the whole block was walked: its order is checked now.
  bool is_walked() const { return is_walked_; }
  // Returns whether the walk met a malformed cell. walker() stands there.
  bool is_bad() const { return is_bad_; }
  const Decoder& walker() const { return walker_; }

 private:
  static constexpr uint32_t kTextKeyBytesMax = 4096;  // of keys whose qualifiers words reach into
  static constexpr size_t kNoteBytes = 32;            // of a note without its key, and of its entry

  const CellIndex* finish(const Decoder& decoder, bool dense) {
    block_.set_in_order();
    is_walked_ = true;
    return publish(decoder, dense);
  }

  void take_offset(size_t position) {
    if (position < next_offset_) return;
    offsets_.push_back(static_cast<uint32_t>(position));
    next_offset_ = position + block_.index_stride_bytes();
  }

  // The walk over a plain block that was walked before. Returns the number of cells.
  size_t walk_known() {
    walker_.fetch_here();
    offsets_.resize(block_.payload().size() / block_.index_stride_bytes() + 1);
    const auto passed = walker_.pass_known(offsets_.data(), block_.index_stride_bytes());
    CELLAR_ASSERT(passed.offsets <= offsets_.size());
    offsets_.resize(passed.offsets);
    return passed.cells;
  }

  // Takes notes as often as their room allows, spread evenly over the block.
  void take_note(size_t position, const CellView& cell) {
    constexpr size_t kPrefixBytes = 64;  // of the texts' common prefix
    constexpr size_t kAroundNotes = sizeof(CellIndex) + CellIndex::kRecordSlackBytes + kPrefixBytes;
    static_assert(kAroundNotes < CellIndex::bytes_max(0));
    const size_t payload_bytes = block_.payload().size();
    const size_t room = block_.index_bytes_max() - kAroundNotes;
    const size_t used = notes_.size() + offsets_.size() * CellIndex::kEntryBytes;
    if (used > room * position / payload_bytes || used + cell.key_size + kNoteBytes > room) return;
    offsets_.push_back(static_cast<uint32_t>(notes_.size()));
    walker_.append_restart(notes_);
  }

  const CellIndex* publish(const Decoder& decoder, bool dense) const {
    CellIndex::Entries entries;
    entries.offsets = offsets_;
    entries.dense = dense;
    entries.records = notes_;
    if (offsets_.empty() || parts_.meta_order) return block_.publish(entries);
    const char* keys = notes_.data();
    if constexpr (Decoder::kPlain) keys = decoder.base();
    const CellView first = plain_key_at(keys);
    const CellView last = plain_key_at(keys + offsets_.back());
    const std::string_view row_prefix = first.row().substr(0, common_prefix(first.row(), last.row()));
    entries.prefix = row_prefix;
    std::string row_and_qualifier;  // of the first cell, if all cells are of its row
    const bool reads_qualifiers = first.key_size <= kTextKeyBytesMax;
    if (reads_qualifiers && row_prefix.size() == first.row_size) {
      row_and_qualifier.append(first.row()).append(first.qualifier());
      entries.prefix = std::string_view(row_and_qualifier)
                           .substr(0, first.row_size + common_prefix(first.qualifier(), last.qualifier()));
    }
    std::vector<uint64_t> words(offsets_.size());
    if (reads_qualifiers && LikeKeys(first).read_words(keys, offsets_, entries.prefix.size(), words.data())) {
      entries.row_bytes = first.row_size;
      entries.family = first.family();
    } else {
      entries.prefix = row_prefix;
      std::ranges::transform(offsets_, words.begin(), [&](uint32_t at) {
        return text_word({plain_key_at(keys + at).row()}, row_prefix.size());
      });
    }
    entries.words = words;
    return block_.publish(entries);
  }

  const FileParts& parts_;
  const Block& block_;
  Decoder walker_;
  std::vector<uint32_t> offsets_;
  size_t next_offset_ = 0;  // no offset is taken before this position
  std::string notes_;
  bool is_walked_ = false;
  bool is_bad_ = false;
};

}  // namespace cellar
