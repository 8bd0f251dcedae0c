// Block: construction, and the cell index that is published once.
#include "hfile/block.h"

#include <algorithm>
#include <new>

#include "hfile/row_words.h"

namespace cellar {

CellIndex::CellIndex(const Entries& entries)
    : entries_(static_cast<uint32_t>(entries.offsets.size())),
      words_(static_cast<uint32_t>(entries.words.size())),
      last_word_(entries.words.empty() ? 0 : entries.words.back()),
      entries_per_word_(0),
      row_prefix_bytes_(static_cast<uint16_t>(entries.row_prefix.size())),
      dense_(entries.dense) {
  if (words_ > 1 && entries.words.back() > entries.words.front())
    entries_per_word_ =
        static_cast<float>(words_ - 1) / static_cast<float>(entries.words.back() - entries.words.front());
}

const CellIndex* CellIndex::make(void* memory, const Entries& entries) {
  const auto put = [](char* at, const auto& bytes, size_t count) {
    if (count > 0) std::memcpy(at, bytes.data(), count);
  };
  CellIndex* const index = new (memory) CellIndex(entries);
  char* at = static_cast<char*>(memory) + sizeof(CellIndex);
  put(at, entries.row_prefix, entries.row_prefix.size());
  at += prefix_room(entries.row_prefix.size());
  put(at, entries.words, entries.words.size_bytes());
  put(at + entries.words.size_bytes(), entries.offsets, entries.offsets.size_bytes());
  return index;
}

void CellIndex::prefetch_near(std::string_view row, std::string_view payload) const {
  if (entries_per_word_ == 0 || row.size() < row_prefix_bytes_) return;
  const uint64_t* const words = words_begin();
  const uint64_t word = row_word(row, row_prefix_bytes_);
  const float part = word < *words ? 0 : static_cast<float>(word - *words) * entries_per_word_;
  const size_t at = part < static_cast<float>(entries_) ? static_cast<size_t>(part) : entries_ - 1;
  __builtin_prefetch(words + at);
  __builtin_prefetch(offsets_begin() + at * sizeof(uint32_t));
  const char* const cell = payload.data() + payload.size() * at / entries_;
  for (int line = 0; line < 3; ++line) __builtin_prefetch(cell + line * 64);
}

Block::Made Block::allocate(size_t buffer_bytes, bool has_priority) {
  // Charged whether an index comes or not: a cached block's weight never changes.
  const size_t index_room = (buffer_bytes / 10 + 64) / 8 * 8;
  const size_t bytes = sizeof(Block) + index_room + buffer_bytes;
  return Made(new (::operator new(bytes)) Block(bytes, has_priority, static_cast<uint32_t>(index_room)));
}

Block* Block::finish(Made block, size_t payload_at, size_t payload_bytes, BlockKind kind, uint64_t offset) {
  block->payload_ = {block->buffer() + payload_at, payload_bytes};
  block->kind_ = kind;
  block->offset_ = offset;
  return block.release();
}

Block::~Block() {
  const CellIndex* const index = cell_index_.load(std::memory_order_relaxed);
  if (index != nullptr && index != index_memory()) ::operator delete(const_cast<CellIndex*>(index));
}

const CellIndex* Block::publish(const CellIndex::Entries& entries) const {
  if (index_claimed_.exchange(true, std::memory_order_relaxed)) return cell_index();
  const size_t bytes = entries.bytes();  // more than the room only where rows share a long prefix
  void* const memory = bytes <= index_room_ ? index_memory() : ::operator new(bytes);
  const CellIndex* const index = CellIndex::make(memory, entries);
  cell_index_.store(index, std::memory_order_release);
  return index;
}

}  // namespace cellar
