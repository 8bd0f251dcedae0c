// Block: construction, and the cell index that is published once.
#include "hfile/block.h"

namespace cellar {

std::unique_ptr<const CellIndex> CellIndex::make(std::string_view row_prefix, std::span<const uint64_t> words,
                                                 std::span<const uint32_t> offsets, bool dense) {
  const size_t prefix_room = (row_prefix.size() + 7) / 8 * 8;
  void* const memory =
      ::operator new(sizeof(CellIndex) + prefix_room + words.size_bytes() + offsets.size_bytes());
  CellIndex* const index =
      new (memory) CellIndex(static_cast<uint32_t>(offsets.size()), static_cast<uint32_t>(words.size()),
                             static_cast<uint16_t>(row_prefix.size()), dense);
  if (!words.empty()) index->last_word_ = words.back();
  char* at = reinterpret_cast<char*>(index + 1);
  if (!row_prefix.empty()) std::memcpy(at, row_prefix.data(), row_prefix.size());
  at += prefix_room;
  if (!words.empty()) std::memcpy(at, words.data(), words.size_bytes());
  at += words.size_bytes();
  if (!offsets.empty()) std::memcpy(at, offsets.data(), offsets.size_bytes());
  return std::unique_ptr<const CellIndex>(index);
}

Block* Block::make(std::unique_ptr<char[]> buffer, size_t buffer_bytes, size_t payload_at,
                   size_t payload_bytes, BlockKind kind, uint64_t offset, bool has_priority) {
  // The charge covers the cell index that may come: a cached block's weight never changes.
  const bool data = kind == BlockKind::kData || kind == BlockKind::kEncodedData;
  const uint64_t charge = sizeof(Block) + buffer_bytes + (data ? buffer_bytes / 10 + 64 : 0);
  Block* block = new Block(charge, has_priority);
  block->payload_ = {buffer.get() + payload_at, payload_bytes};
  block->buffer_ = std::move(buffer);
  block->kind_ = kind;
  block->offset_ = offset;
  return block;
}

Block::~Block() { delete cell_index_.load(std::memory_order_relaxed); }

const CellIndex* Block::publish(std::unique_ptr<const CellIndex> index) const {
  const CellIndex* expected = nullptr;
  if (!cell_index_.compare_exchange_strong(expected, index.get(), std::memory_order_acq_rel)) return expected;
  return index.release();
}

}  // namespace cellar
