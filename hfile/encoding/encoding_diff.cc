// Encoding DIFF: a key without its common part with the key before it. A timestamp takes as few bytes as it,
// or its difference from the one before, needs. Sizes and types are stored only where they change.
//
//   block  :=  frame of delta_cells.h | u8 family size, family | cells
//   cell   :=  flags | sizes | key | value | tags and MVCC
//
//   sizes  :=  varint key size | varint value size | varint bytes shared with the key before
//
//   key    :=  rest of row and qualifier | timestamp, little-endian | type
#include <bit>

#include "hfile/encoding/delta_cells.h"
#include "hfile/encoding/encoding.h"

namespace cellar {
namespace {

// Flags. The first four speak of the cell before, so the first cell has none of them.
constexpr uint8_t kSameKeySize = 0x01;
constexpr uint8_t kSameValueSize = 0x02;
constexpr uint8_t kSameType = 0x04;
constexpr uint8_t kDifference = 0x08;  // of timestamps: before - x
constexpr uint8_t kOfCellBefore = 0x0f;
constexpr int kTimeBytesShift = 4;  // three bits: bytes of the timestamp - 1
constexpr uint8_t kNegated = 0x80;

class DiffEncoder final : public DeltaEncoder {
 public:
  using DeltaEncoder::DeltaEncoder;

 private:
  struct Time {
    uint64_t magnitude;
    size_t bytes;
    uint8_t flags;
  };

  void encode(const CellView& cell, const CellView* before) override {
    uint8_t flags = 0;
    Time time = time_of(cell.timestamp, 0);
    uint32_t common = 0;
    if (before == nullptr) {
      bytes().append(cell.key + 2 + cell.row_size, size_t{1} + cell.family_size);
    } else {
      if (before->key_size == cell.key_size) flags |= kSameKeySize;
      if (before->value_size == cell.value_size) flags |= kSameValueSize;
      if (before->cell_type == cell.cell_type) flags |= kSameType;
      const auto difference = static_cast<int64_t>(static_cast<uint64_t>(before->timestamp) -
                                                   static_cast<uint64_t>(cell.timestamp));
      const Time shorter = time_of(difference, kDifference);
      if (shorter.bytes < time.bytes) time = shorter;
      common = common_coordinates(*before, cell);
    }
    flags |= time.flags;
    bytes() += static_cast<char>(flags);
    if ((flags & kSameKeySize) == 0) append_varint(bytes(), cell.key_size);
    if ((flags & kSameValueSize) == 0) append_varint(bytes(), cell.value_size);
    append_varint(bytes(), common);
    append_coordinates(cell, before, common);
    char little[8];
    store_le64(little, time.magnitude);
    bytes().append(little, time.bytes);
    if ((flags & kSameType) == 0) bytes() += static_cast<char>(cell.cell_type);
    bytes().append(cell.value_bytes());
  }

  static Time time_of(int64_t value, uint8_t flags) {
    const uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    const size_t bytes = (static_cast<size_t>(std::bit_width(magnitude | 1)) + 7) / 8;
    flags |= static_cast<uint8_t>((bytes - 1) << kTimeBytesShift);
    if (value < 0) flags |= kNegated;
    return {magnitude, bytes, flags};
  }
};

class DiffDecoder : public DeltaCells {
 public:
  using DeltaCells::DeltaCells;
  static constexpr uint16_t kId = 3;
  static constexpr std::string_view kName = "DIFF";

  const char* open(std::string_view payload) {
    if (!has_frame(payload, kId)) return "block is not of encoding DIFF";
    family_ = {};
    if (payload.size() > kDeltaFrameBytes) {
      const size_t family_bytes = 1 + size_t{static_cast<uint8_t>(payload[kDeltaFrameBytes])};
      if (payload.size() < kDeltaFrameBytes + family_bytes) return "family longer than the block";
      family_ = payload.substr(kDeltaFrameBytes, family_bytes);
    }
    open_at(payload, kDeltaFrameBytes + family_.size());
    return nullptr;
  }

  DecodeStep next(Slot& cell) {
    const char* at = this->at();
    if (left(at) == 0) return DecodeStep::kEnd;
    const auto flags = static_cast<uint8_t>(*at++);
    uint32_t key_size = 0;
    uint32_t value_size = 0;
    uint32_t common = 0;
    if (before() != nullptr) {
      key_size = before()->key_size;
      value_size = before()->value_size;
    } else if ((flags & kOfCellBefore) != 0) {
      return bad("first cell of a block refers to one before it");
    }
    if ((flags & kSameKeySize) == 0 && !take_size(at, key_size)) return DecodeStep::kBad;
    if ((flags & kSameValueSize) == 0 && !take_size(at, value_size)) return DecodeStep::kBad;
    if (!take_size(at, common)) return DecodeStep::kBad;
    if (!take_coordinates(at, cell, key_size, common, family_)) return DecodeStep::kBad;
    char* const tail = cell.key_room(key_size) + key_size - kKeyTailBytes;
    if (!take_timestamp(at, flags, tail)) return DecodeStep::kBad;
    if ((flags & kSameType) != 0) {
      tail[8] = static_cast<char>(before()->cell_type);
    } else if (!take_key_bytes(at, tail + 8, 1)) {
      return DecodeStep::kBad;
    }
    return finish(at, cell, key_size, value_size);
  }

 private:
  bool take_timestamp(const char*& at, uint8_t flags, char* to) {
    const size_t bytes = 1 + ((flags >> kTimeBytesShift) & 7U);
    if (bytes > left(at)) return no("timestamp cut off");
    char little[8] = {};
    std::memcpy(little, at, bytes);
    at += bytes;
    uint64_t time = load_le64(little);
    if ((flags & kNegated) != 0) time = 0 - time;
    if ((flags & kDifference) != 0) time = static_cast<uint64_t>(before()->timestamp) - time;
    store_be64(to, time);
    return true;
  }

  std::string_view family_;  // size and bytes, as in a flat key
};

using DiffEncoding = DeltaEncoding<DiffEncoder, DiffDecoder>;

}  // namespace
CELLAR_PLUGIN(BlockEncoding, hfile_encoding_encoding_diff, "diff", DiffEncoding)
}  // namespace cellar
