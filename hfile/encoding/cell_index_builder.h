// CellIndexBuilder<Decoder>: walks a cached block once and makes the index that later searches use. Not hot:
// it runs once for each block that is searched a second time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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
    if (offsets_.empty() || position >= offsets_.back() + block_.index_stride_bytes())
      offsets_.push_back(static_cast<uint32_t>(position));
  }

  // The walk over a plain block that was walked before. Returns the number of cells.
  size_t walk_known() {
    constexpr size_t kCells = 32;
    CellView cells[kCells];
    size_t count = 0;
    walker_.fetch_here();
    while (const size_t taken = walker_.next_known(cells, kCells, walker_.size())) {
      for (size_t i = 0; i < taken; ++i) take_offset(static_cast<size_t>(cells[i].key - walker_.base()) - 8);
      count += taken;
    }
    return count;
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
    bool uniform = first.key_size <= kTextKeyBytesMax;
    for (const uint32_t offset : offsets_) {
      const CellView key = plain_key_at(keys + offset);
      uniform = uniform && key.row_size == first.row_size && key.family() == first.family();
    }
    if (uniform) {
      entries.row_bytes = first.row_size;
      entries.family = first.family();
    }
    const auto text_of = [&](uint32_t offset) {
      const CellView key = plain_key_at(keys + offset);
      return uniform ? SearchText{key.row(), key.qualifier()} : SearchText{key.row()};
    };
    const auto bytes_of = [](const SearchText& text) { return std::string(text.row).append(text.rest); };
    const std::string first_bytes = bytes_of(text_of(0));
    entries.prefix = std::string_view(first_bytes)
                         .substr(0, common_prefix(first_bytes, bytes_of(text_of(offsets_.back()))));
    std::vector<uint64_t> words;
    words.reserve(offsets_.size());
    for (const uint32_t offset : offsets_) words.push_back(text_word(text_of(offset), entries.prefix.size()));
    entries.words = words;
    return block_.publish(entries);
  }

  const FileParts& parts_;
  const Block& block_;
  Decoder walker_;
  std::vector<uint32_t> offsets_;
  std::string notes_;
  bool is_walked_ = false;
  bool is_bad_ = false;
};

}  // namespace cellar
