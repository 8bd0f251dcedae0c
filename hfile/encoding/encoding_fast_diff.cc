// Encoding FAST_DIFF: a key without its common part with the key before it, a timestamp without its common
// leading bytes. Sizes, types and values are stored only where they change.
//
//   block  :=  frame of delta_cells.h | cells
//   cell   :=  flags | sizes | key | value | tags and MVCC
//
//   sizes  :=  varint key size | varint value size | varint bytes shared with the key before
//
//   key    :=  rest of row and qualifier (first cell: the whole key) | rest of the timestamp | type
#include <bit>

#include "hfile/encoding/delta_cells.h"
#include "hfile/encoding/encoding.h"

namespace cellar {
namespace {

// Flags; the first cell has none.
constexpr uint8_t kTimeBytesShared = 0x07;  // leading bytes of the timestamp
constexpr uint8_t kSameKeySize = 0x08;
constexpr uint8_t kSameValueSize = 0x10;
constexpr uint8_t kSameType = 0x20;
constexpr uint8_t kSameValue = 0x40;

class FastDiffEncoder final : public DeltaEncoder {
 public:
  using DeltaEncoder::DeltaEncoder;

 private:
  void encode(const CellView& cell, const CellView* before) override {
    if (before == nullptr) {
      bytes() += '\0';
      append_varint(bytes(), cell.key_size);
      append_varint(bytes(), cell.value_size);
      append_varint(bytes(), 0);
      bytes().append(cell.key, cell.key_size);
      append_value(cell);
      return;
    }
    const size_t time_shared = time_bytes_shared(before->timestamp, cell.timestamp);
    auto flags = static_cast<uint8_t>(time_shared);
    if (before->key_size == cell.key_size) flags |= kSameKeySize;
    if (before->cell_type == cell.cell_type) flags |= kSameType;
    if (before->value_size == cell.value_size) {
      flags |= kSameValueSize;
      if (std::string_view(bytes()).substr(value_at_, cell.value_size) == cell.value_bytes())
        flags |= kSameValue;
    }
    const uint32_t common = common_coordinates(*before, cell);
    bytes() += static_cast<char>(flags);
    if ((flags & kSameKeySize) == 0) append_varint(bytes(), cell.key_size);
    if ((flags & kSameValueSize) == 0) append_varint(bytes(), cell.value_size);
    append_varint(bytes(), common);
    append_coordinates(cell, before, common);
    bytes().append(cell.key + cell.key_size - kKeyTailBytes + time_shared, 8 - time_shared);
    if ((flags & kSameType) == 0) bytes() += static_cast<char>(cell.cell_type);
    if ((flags & kSameValue) == 0) append_value(cell);
  }

  void append_value(const CellView& cell) {
    value_at_ = bytes().size();
    bytes().append(cell.value_bytes());
  }

  static size_t time_bytes_shared(int64_t a, int64_t b) {
    const uint64_t differing = static_cast<uint64_t>(a) ^ static_cast<uint64_t>(b);
    return std::min<size_t>(static_cast<size_t>(std::countl_zero(differing)) / 8, kTimeBytesShared);
  }

  size_t value_at_ = 0;  // in bytes(): the value of the cell before
};

class FastDiffDecoder : public DeltaCells {
 public:
  using DeltaCells::DeltaCells;
  static constexpr uint16_t kId = 4;
  static constexpr std::string_view kName = "FAST_DIFF";

  const char* open(std::string_view payload) {
    if (!has_frame(payload, kId)) return "block is not of encoding FAST_DIFF";
    open_at(payload, kDeltaFrameBytes);
    return nullptr;
  }

  DecodeStep next(Slot& cell) {
    const char* at = this->at();
    if (left(at) == 0) return DecodeStep::kEnd;
    const auto flags = static_cast<uint8_t>(*at++);
    if (before() == nullptr) return first(at, flags, cell);
    const CellView& before = *this->before();
    uint32_t key_size = before.key_size;
    uint32_t value_size = before.value_size;
    uint32_t common = 0;
    if ((flags & kSameKeySize) == 0 && !take_size(at, key_size)) return DecodeStep::kBad;
    if ((flags & kSameValueSize) == 0 && !take_size(at, value_size)) return DecodeStep::kBad;
    if (!take_size(at, common)) return DecodeStep::kBad;
    const std::string_view family(before.key + 2 + before.row_size, size_t{1} + before.family_size);
    if (!take_coordinates(at, cell, key_size, common, family)) return DecodeStep::kBad;
    char* const tail = cell.key_room(key_size) + key_size - kKeyTailBytes;
    store_be64(tail, static_cast<uint64_t>(before.timestamp));
    const size_t time_shared = flags & kTimeBytesShared;
    if (!take_key_bytes(at, tail + time_shared, 8 - time_shared)) return DecodeStep::kBad;
    if ((flags & kSameType) != 0) {
      tail[8] = static_cast<char>(before.cell_type);
    } else if (!take_key_bytes(at, tail + 8, 1)) {
      return DecodeStep::kBad;
    }
    if ((flags & kSameValue) == 0) return finish(at, cell, key_size, value_size);
    if (value_size != before.value_size) return bad("value repeated in another size");
    return finish(at, cell, key_size, value_size, before.value);
  }

 private:
  DecodeStep first(const char* at, uint8_t flags, Slot& cell) {
    uint32_t key_size = 0;
    uint32_t value_size = 0;
    uint32_t common = 0;
    if (!take_size(at, key_size) || !take_size(at, value_size) || !take_size(at, common))
      return DecodeStep::kBad;
    if (flags != 0 || common != 0) return bad("first cell of a block refers to one before it");
    if (key_size > kKeyBytesMax) return bad("key too long");
    if (!take_key_bytes(at, cell.key_room(key_size), key_size)) return DecodeStep::kBad;
    return finish(at, cell, key_size, value_size);
  }
};

using FastDiffEncoding = DeltaEncoding<FastDiffEncoder, FastDiffDecoder>;

}  // namespace
CELLAR_PLUGIN(BlockEncoding, hfile_encoding_encoding_fast_diff, "fast_diff", FastDiffEncoding)
}  // namespace cellar
