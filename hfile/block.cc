// Block: construction, and the cell index that is published once.
#include "hfile/block.h"

#include <new>

namespace cellar {

CellIndex::CellIndex(const Entries& entries)
    : entries_(static_cast<uint32_t>(entries.offsets.size())),
      words_(static_cast<uint32_t>(entries.words.size())),
      last_word_(entries.words.empty() ? 0 : entries.words.back()),
      guess_(entries.words),
      row_prefix_bytes_(static_cast<uint16_t>(entries.row_prefix.size())),
      dense_(entries.dense) {}

const CellIndex* CellIndex::make(const Entries& entries) {
  const auto put = [](char* at, const auto& bytes, size_t count) {
    if (count > 0) std::memcpy(at, bytes.data(), count);
  };
  const size_t prefix_bytes = prefix_room(entries.row_prefix.size());
  void* const memory = ::operator new(sizeof(CellIndex) + prefix_bytes + entries.words.size_bytes() +
                                      entries.offsets.size_bytes());
  CellIndex* const index = new (memory) CellIndex(entries);
  char* at = static_cast<char*>(memory) + sizeof(CellIndex);
  put(at, entries.row_prefix, entries.row_prefix.size());
  at += prefix_bytes;
  put(at, entries.words, entries.words.size_bytes());
  put(at + entries.words.size_bytes(), entries.offsets, entries.offsets.size_bytes());
  return index;
}

void CellIndex::prefetch_near(std::string_view row, std::string_view payload) const {
  if (words_ == 0 || row.size() < row_prefix_bytes_) return;
  const uint64_t* const words = words_begin();
  const size_t at = guess_(row_word(row, row_prefix_bytes_), words_);
  __builtin_prefetch(words + at);
  __builtin_prefetch(offsets_begin() + at * sizeof(uint32_t));
  const char* const cell = payload.data() + payload.size() * at / entries_;
  for (int line = 0; line < 3; ++line) __builtin_prefetch(cell + line * 64);
}

Block::Made Block::allocate(size_t buffer_bytes, bool has_priority) {
  const size_t bytes = sizeof(Block) + buffer_bytes;
  // The charge covers the cell index that may come: a cached block's weight never changes.
  const size_t charge = bytes + buffer_bytes / 10 + 96;
  return Made(new (::operator new(bytes)) Block(charge, has_priority));
}

Block* Block::finish(Made block, size_t payload_at, size_t payload_bytes, BlockKind kind, uint64_t offset) {
  block->payload_ = {block->buffer() + payload_at, payload_bytes};
  block->kind_ = kind;
  block->offset_ = offset;
  return block.release();
}

Block::~Block() { delete cell_index_.load(std::memory_order_relaxed); }

const CellIndex* Block::publish(const CellIndex::Entries& entries) const {
  if (index_claimed_.exchange(true, std::memory_order_relaxed)) return cell_index();
  const CellIndex* const index = CellIndex::make(entries);
  cell_index_.store(index, std::memory_order_release);
  return index;
}

}  // namespace cellar
