// RowBatchBuilder: collects cells and the pins that keep them.
#include "engine/values/row_batch_builder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "base/assert.h"
#include "base/pin.h"
#include "base/recycled.h"

namespace cellar {
namespace {

constexpr size_t kCopyBlockBytes = 4096;

// Kept: the memory of batches that a thread used. None of it holds a pin.
struct Kept {
  struct Memory {
    std::vector<CellView> cells;
    std::vector<uint64_t> ends;
    std::vector<const Pinnable*> pins;
  };
  static constexpr size_t kCellsMax = 256;
  static constexpr size_t kRoom = kKeepsMemory ? 4 : 0;

  std::array<Memory, 4> memory;
  size_t count = 0;
  bool ended = false;  // the thread ends

  ~Kept() {
    ended = true;
    count = 0;
  }
};

Kept& kept_by_thread() {
  thread_local Kept kept;
  return kept;
}

}  // namespace

void RowBatchBuilder::take_kept_memory() {
  CELLAR_ASSERT(batch_.cells_.empty() && batch_.pins_.empty() && batch_.ends_.empty());
  Kept& kept = kept_by_thread();
  if (kept.count == 0) return;
  Kept::Memory& memory = kept.memory[--kept.count];
  batch_.cells_.swap(memory.cells);
  batch_.ends_.swap(memory.ends);
  batch_.pins_.swap(memory.pins);
}

void RowBatchBuilder::keep_memory() {
  CELLAR_ASSERT(batch_.cells_.empty() && batch_.pins_.empty() && batch_.ends_.empty());
  Kept& kept = kept_by_thread();
  if (kept.count >= Kept::kRoom || kept.ended) return;
  const auto is_small = [](const auto& memory) { return memory.capacity() <= Kept::kCellsMax; };
  if (!is_small(batch_.cells_) || !is_small(batch_.ends_) || !is_small(batch_.pins_)) return;
  Kept::Memory& memory = kept.memory[kept.count++];
  batch_.cells_.swap(memory.cells);
  batch_.ends_.swap(memory.ends);
  batch_.pins_.swap(memory.pins);
}

void RowBatchBuilder::restart() {
  if (batch_.pins_.size() > 1) {
    for (size_t i = 0; i + 1 < batch_.pins_.size(); ++i) batch_.pins_[i]->drop_pins(1);
    batch_.pins_.front() = batch_.pins_.back();
    batch_.pins_.resize(1);
  }
  clear_rows();
}

void RowBatchBuilder::clear_rows() {
  batch_.cells_.clear();
  batch_.ends_.clear();
  batch_.cursor_ = {};
  if (batch_.copies_.size() > 1) batch_.copies_.resize(1);
  batch_.open_ = batch_.copy_at_ = batch_.open_copy_at_ = 0;
  batch_.open_copies_ = batch_.copies_.empty() ? 0 : 1;
  batch_.copy_end_ = batch_.open_copy_end_ = batch_.open_copies_ * kCopyBlockBytes;
  batch_.open_pins_ = batch_.pins_.size();  // begin_row() is for reads that may drop a row among others
  CELLAR_ASSERT(batch_.open_pins_ <= 1);
}

// Room that lives until clear(): pieces of blocks, of which the first is kept for the next read.
char* RowBatchBuilder::copy_room(size_t bytes) {
  CELLAR_DCHECK(batch_.copy_at_ <= batch_.copy_end_);
  if (batch_.copies_.empty() || batch_.copy_end_ - batch_.copy_at_ < bytes) {
    const size_t block = std::max(bytes, kCopyBlockBytes);
    batch_.copies_.push_back(std::make_unique<char[]>(block));
    if (batch_.copies_.size() == 1 && block != kCopyBlockBytes) {
      // The first block has the fixed size, so that clear() knows it.
      batch_.copies_.insert(batch_.copies_.begin(), std::make_unique<char[]>(kCopyBlockBytes));
    }
    batch_.copy_at_ = 0;
    batch_.copy_end_ = block;
  }
  char* room = batch_.copies_.back().get() + batch_.copy_at_;
  CELLAR_DCHECK(batch_.copy_at_ + bytes <= batch_.copy_end_);
  batch_.copy_at_ += bytes;
  return room;
}

void RowBatchBuilder::copy_key(CellView& cell) {
  CELLAR_DCHECK(cell.key_size >= 12u + cell.row_size + cell.family_size);
  char* room = copy_room(size_t{cell.key_size} + cell.tags_size);
  std::memcpy(room, cell.key, cell.key_size);
  cell.key = room;
  if (cell.tags_size > 0) std::memcpy(room + cell.key_size, cell.tags, cell.tags_size);
  cell.tags = room + cell.key_size;
  cell.key_in_scratch = false;
}

void RowBatchBuilder::copy_value(CellView& cell) {
  CELLAR_DCHECK(cell.value != nullptr || cell.value_size == 0);
  char* room = copy_room(cell.value_size);
  if (cell.value_size > 0) std::memcpy(room, cell.value, cell.value_size);
  cell.value = room;
}

void RowBatchBuilder::add_cells(std::span<const CellView> cells, const Pinnable* held) {
  CELLAR_DCHECK(batch_.cursor_.empty() && !cells.empty());
  const size_t before = batch_.cells_.size();
  batch_.cells_.insert(batch_.cells_.end(), cells.begin(), cells.end());
  for (CellView& kept : std::span(batch_.cells_).subspan(before))
    if (kept.key_in_scratch) copy_key(kept);
  if (held != nullptr && (batch_.pins_.empty() || batch_.pins_.back() != held)) add_pin(held);
}

void RowBatchBuilder::add_changed(const CellView& cell, const Pinnable* held) {
  CellView copied = cell;
  copy_key(copied);
  copy_value(copied);
  add(copied, held);
}

void RowBatchBuilder::replace_open_row(std::span<const CellView> cells) {
  CELLAR_ASSERT(batch_.open_ <= batch_.cells_.size());
  const std::vector<CellView> before(batch_.cells_.begin() + static_cast<std::ptrdiff_t>(batch_.open_),
                                     batch_.cells_.end());
  batch_.cells_.resize(batch_.open_);
  size_t at = 0;  // what was left in its order is found without looking twice
  for (const CellView& cell : cells) {
    const auto same = [&](const CellView& each) { return each.key == cell.key && each.value == cell.value; };
    const auto from = before.begin() + static_cast<std::ptrdiff_t>(at);
    auto found = std::find_if(from, before.end(), same);
    if (found == before.end()) found = std::find_if(before.begin(), before.end(), same);
    batch_.cells_.push_back(cell);
    if (found != before.end()) {
      at = static_cast<size_t>(found - before.begin());
    } else {
      copy_key(batch_.cells_.back());
      copy_value(batch_.cells_.back());
    }
  }
  CELLAR_ASSERT(batch_.cells_.size() - batch_.open_ == cells.size());  // the row is these cells
}

void RowBatchBuilder::sort_open_row() {
  CELLAR_ASSERT(batch_.open_ <= batch_.cells_.size());
  std::stable_sort(batch_.cells_.begin() + static_cast<std::ptrdiff_t>(batch_.open_), batch_.cells_.end(),
                   [](const CellView& a, const CellView& b) { return a.family() < b.family(); });
}

// Releases the pins and copies of the row: a filter may drop millions of rows between two that pass.
void RowBatchBuilder::add_chosen(const CellView& cell, const Pinnable* held) { add(cell, held); }

void RowBatchBuilder::drop_open_row() {
  CELLAR_ASSERT(batch_.open_ <= batch_.cells_.size());
  CELLAR_ASSERT(batch_.ends_.empty() || batch_.ends_.back() / 2 == batch_.open_);
  batch_.cells_.resize(batch_.open_);
  CELLAR_ASSERT(batch_.open_copies_ <= batch_.copies_.size());
  for (size_t i = batch_.open_pins_; i < batch_.pins_.size(); ++i) batch_.pins_[i]->drop_pins(1);
  batch_.pins_.resize(std::min(batch_.pins_.size(), batch_.open_pins_));
  batch_.copies_.resize(std::min(batch_.copies_.size(), batch_.open_copies_));
  batch_.copy_at_ = batch_.open_copy_at_;
  batch_.copy_end_ = batch_.open_copy_end_;
}

void RowBatchBuilder::leave_out_open_row() {
  CELLAR_ASSERT(batch_.open_ <= batch_.cells_.size());
  batch_.cells_.resize(batch_.open_);
}

// Cells of two families alternate between two blocks: looks a few pins back before counting again.
bool RowBatchBuilder::holds(const Pinnable* held) const {
  const size_t look = std::min<size_t>(batch_.pins_.size(), 4);
  const auto from = batch_.pins_.end() - static_cast<std::ptrdiff_t>(look);
  return std::find(from, batch_.pins_.end(), held) != batch_.pins_.end();
}

void RowBatchBuilder::add_pin(const Pinnable* held) {
  CELLAR_DCHECK(held != nullptr);
  if (holds(held)) return;
  held->add_pins(1);
  batch_.pins_.push_back(held);
}

void RowBatchBuilder::hold(Pin held) {
  if (!held || holds(held.get())) return;
  batch_.pins_.push_back(held.get());
  held.release();
}

void RowBatchBuilder::add_row(const RowBatch& from, size_t at) {
  CELLAR_ASSERT(at < from.size() && cells_in_open_row(batch_) == 0);
  const RowView row = from[at];
  if (row.is_cursor()) return add_cursor(row.row());
  for (const Pinnable* held : from.pins_) add_pin(held);
  for (const CellView& cell : row) {
    if (from.copies_.empty()) {
      add(cell, nullptr);
    } else {
      add_changed(cell, nullptr);  // its bytes may be copies of that batch
    }
  }
  end_row(row.more_cells_in_row());
}

void RowBatchBuilder::add_cursor(std::string_view row) {
  // The batch holds the cursor as a row without cells.
  CELLAR_ASSERT(batch_.open_ == batch_.cells_.size() && batch_.cursor_.empty());
  char* room = copy_room(row.size());
  std::memcpy(room, row.data(), row.size());
  batch_.cursor_ = {room, row.size()};
  end_row(false);
}

}  // namespace cellar
