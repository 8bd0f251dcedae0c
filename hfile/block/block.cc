// Block: construction, and the cell index that is published once.
#include "hfile/block/block.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/assert.h"
#include "base/fetch_lines.h"
#include "cell/cell_order.h"

namespace cellar {
namespace {

// Prefix and family, up to where words may begin.
size_t text_room(const CellIndex::Entries& entries) {
  return (entries.prefix.size() + entries.family.size() + 7) / 8 * 8;
}

// From one offset to the next on average, in units of 1 / 256.
uint32_t entry_bytes(std::span<const uint32_t> offsets) {
  if (offsets.size() < 2) return 0;
  return static_cast<uint32_t>(
      std::min<uint64_t>(256 * uint64_t{offsets.back()} / (offsets.size() - 1), UINT32_MAX));
}

}  // namespace

CellIndex::CellIndex(const Entries& entries)
    : entries_(static_cast<uint32_t>(entries.offsets.size())),
      words_(static_cast<uint32_t>(entries.words.size())),
      last_word_(entries.words.empty() ? 0 : entries.words.back()),
      guess_(entries.words),
      records_bytes_(static_cast<uint32_t>(entries.records.size())),
      entry_bytes_(entry_bytes(entries.offsets)),
      prefix_bytes_(static_cast<uint32_t>(entries.prefix.size())),
      row_bytes_(entries.row_bytes),
      family_bytes_(static_cast<uint8_t>(entries.family.size())),
      dense_(entries.dense) {
  note_family(entries.family);
}

void CellIndex::note_family(std::string_view family) {
  if (family.empty() || family.size() >= sizeof family_word_) return;
  family_word_ = uint64_t{family.size()} << 56 | first_bytes(family.data(), family.size()) >> 8;
  family_word_unused_bits_ = 8 * (sizeof family_word_ - 1 - family.size());
}

size_t CellIndex::bytes(const Entries& entries) {
  return sizeof(CellIndex) + text_room(entries) + entries.words.size_bytes() + entries.offsets.size_bytes() +
         (entries.records.empty() ? 0 : entries.records.size() + kRecordSlackBytes);
}

const CellIndex* CellIndex::make(const Entries& entries) {
  const size_t text_bytes = text_room(entries);
  void* const memory = BlockHeap::shared().take(bytes(entries));
  auto* const index = new (memory) CellIndex(entries);
  char* at = static_cast<char*>(memory) + sizeof(CellIndex);
  const auto put = [](char* to, const auto& bytes, size_t count) {
    if (count > 0) std::memcpy(to, bytes.data(), count);
  };
  put(at, entries.prefix, entries.prefix.size());
  put(at + entries.prefix.size(), entries.family, entries.family.size());
  at += text_bytes;
  put(at, entries.words, entries.words.size_bytes());
  at += entries.words.size_bytes();
  put(at, entries.offsets, entries.offsets.size_bytes());
  put(at + entries.offsets.size_bytes(), entries.records, entries.records.size());
  return index;
}

// Such that texts order as the cells do, or are equal.
SearchText CellIndex::text_of(const CellView& target) const {
  const std::string_view row = target.row();
  if (row_bytes_ == kRowsDiffer || row.size() < row_bytes_) return {row};
  // The key after all cells of the row with which the block begins.
  if (row.size() > row_bytes_) return {row.substr(0, row_bytes_), {}, '\xff'};
  if (prefix_bytes_ + sizeof(uint64_t) <= row_bytes_) return {row};  // the words hold nothing else
  if (ends_row(target)) return {row, {}, '\xff'};
  const int families = target.family().compare(family());
  if (families != 0) return {row, {}, families < 0 ? '\0' : '\xff'};
  return {row, target.qualifier()};
}

int CellIndex::compare_with_prefix(const SearchText& text) const {
  const std::string_view prefix = this->prefix();
  const size_t in_row = std::min<size_t>(prefix.size(), row_bytes_);
  if (in_row == prefix.size() && begins_with(text.row, prefix)) [[likely]]
    return 0;
  const int rows = text.row.substr(0, in_row).compare(prefix.substr(0, in_row));
  if (rows != 0 || in_row == prefix.size()) return rows;
  if (text.fill != '\0') return 1;
  return text.rest.substr(0, prefix.size() - in_row).compare(prefix.substr(in_row));
}

// Returns whether the target is a key like those of all entries, and shares their prefix. `word` is then its
// word. This is the search of most gets, without calls. A key that ends its row has no family.
bool CellIndex::is_alike(const CellView& target, uint64_t& word) const {
  if (target.row_size != row_bytes_ || prefix_bytes_ > row_bytes_) return false;
  if (!begins_with(target.row(), prefix())) return false;
  word = row_word_of(target, prefix_bytes_);
  const size_t left = row_bytes_ - prefix_bytes_;
  if (left >= sizeof word) return true;  // the words hold nothing else
  const uint64_t family_word = load_be64(target.key + 2 + row_bytes_);
  if (family_word_ == 0 || (family_word ^ family_word_) >> family_word_unused_bits_ != 0) return false;
  word |= qualifier_word(target) >> (8 * left);
  return true;
}

WordRange CellIndex::narrow(const CellView& target, const char* cells) const {
  if (words_ == 0) return {0, entries_};
  uint64_t word;
  if (!is_alike(target, word)) {
    const SearchText text = text_of(target);
    const int order = compare_with_prefix(text);
    if (order != 0) return order < 0 ? WordRange{0, 0} : WordRange{words_, words_};
    word = text_word(text, prefix_bytes_);
  }
  const uint64_t* const words = words_begin();
  const size_t at = guess_(word, words_);
  __builtin_prefetch(words + at);
  __builtin_prefetch(offsets_begin() + at * sizeof(uint32_t));
  fetch_lines(reinterpret_cast<uintptr_t>(cells) + at * entry_bytes_ / 256, 3);
  return narrow_by_words({words, words_}, word, last_word_, at);
}

Block::Made Block::allocate(size_t buffer_bytes, bool has_priority) {
  const size_t bytes = sizeof(Block) + buffer_bytes;
  return Made(new (BlockHeap::shared().take(bytes)) Block(BlockHeap::charge_of(bytes), has_priority));
}

Block* Block::finish(Made block, size_t payload_at, size_t payload_bytes, BlockKind kind) {
  block->payload_ = {block->buffer() + payload_at, payload_bytes};
  block->kind_ = kind;
  block->charge_index();
  return block.release();
}

Block* Block::borrow(Lender mapping, std::string_view payload, BlockKind kind, bool has_priority) {
  CELLAR_ASSERT(mapping != nullptr && payload.data() >= mapping.get());
  Made block = allocate(sizeof(Lender), has_priority);
  new (block->buffer()) Lender(std::move(mapping));
  block->borrows_ = true;
  block->payload_ = payload;
  block->kind_ = kind;
  block->charge_index();
  return block.release();
}

// Charged before there is a cell index: a cached block's weight never changes.
void Block::charge_index() {
  if (is_data(kind_)) add_charge(BlockHeap::charge_of(index_bytes_max()));
}

Block::~Block() {
  delete cell_index_.load(std::memory_order_relaxed);
  if (borrows_) std::destroy_at(lender());
}

const CellIndex* Block::publish(const CellIndex::Entries& entries) const {
  if (index_claimed_.exchange(true, std::memory_order_relaxed)) return cell_index();
  const bool fits = CellIndex::bytes(entries) <= index_bytes_max();
  CellIndex::Entries without_words;
  without_words.offsets = entries.offsets;
  without_words.dense = entries.dense;
  without_words.records = entries.records;
  CELLAR_DCHECK(CellIndex::bytes(without_words) <= index_bytes_max());
  const CellIndex* const index = CellIndex::make(fits ? entries : without_words);
  cell_index_.store(index, std::memory_order_release);
  return index;
}

}  // namespace cellar
