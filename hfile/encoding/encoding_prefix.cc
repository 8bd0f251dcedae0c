// Encoding PREFIX: what a key shares with the key before it is left out.
//
//   block  :=  frame of delta_cells.h | cells
//   cell   :=  sizes | rest of the key | value | tags and MVCC
//
//   sizes  :=  varint bytes of the key's rest | varint value size | varint bytes shared with the key before
#include "hfile/encoding/delta_cells.h"
#include "hfile/encoding/encoding.h"

namespace cellar {
namespace {

class PrefixEncoder final : public DeltaEncoder {
 public:
  using DeltaEncoder::DeltaEncoder;

 private:
  void encode(const CellView& cell, const CellView* before) override {
    const uint32_t common = before == nullptr ? 0 : common_bytes(*before, cell);
    append_varint(bytes(), cell.key_size - common);
    append_varint(bytes(), cell.value_size);
    append_varint(bytes(), common);
    bytes().append(cell.key + common, cell.key_size - common);
    bytes().append(cell.value_bytes());
  }

  // Goes on into timestamp and type where the columns are the same.
  static uint32_t common_bytes(const CellView& before, const CellView& cell) {
    const uint32_t coordinates = common_coordinates(before, cell);
    if (before.key_size != cell.key_size || coordinates + kKeyTailBytes != cell.key_size) return coordinates;
    const std::string_view tail = cell.key_bytes().substr(coordinates);
    return coordinates + static_cast<uint32_t>(common_prefix(before.key_bytes().substr(coordinates), tail));
  }
};

class PrefixDecoder : public DeltaCells {
 public:
  using DeltaCells::DeltaCells;
  static constexpr uint16_t kId = 2;
  static constexpr std::string_view kName = "PREFIX";

  const char* open(std::string_view payload) {
    if (!has_frame(payload, kId)) return "block is not of encoding PREFIX";
    open_at(payload, kDeltaFrameBytes);
    return nullptr;
  }

  DecodeStep next(Slot& cell) {
    const char* at = this->at();
    if (left(at) == 0) return DecodeStep::kEnd;
    uint32_t rest = 0;
    uint32_t value_size = 0;
    uint32_t common = 0;
    if (!take_size(at, rest) || !take_size(at, value_size) || !take_size(at, common)) return DecodeStep::kBad;
    if (common > (before() == nullptr ? 0 : before()->key_size))
      return bad("common prefix runs past the key");
    const uint64_t key_size = uint64_t{common} + rest;
    if (key_size > kKeyBytesMax) return bad("key too long");
    char* const key = cell.key_room(key_size);
    if (before() != nullptr) copy_with_slack(key, before()->key, common);
    if (!take_key_bytes(at, key + common, rest)) return DecodeStep::kBad;
    return finish(at, cell, static_cast<uint32_t>(key_size), value_size);
  }
};

using PrefixEncoding = DeltaEncoding<PrefixEncoder, PrefixDecoder>;

}  // namespace
CELLAR_PLUGIN(BlockEncoding, hfile_encoding_encoding_prefix, "prefix", PrefixEncoding)
}  // namespace cellar
