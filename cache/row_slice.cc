// RowSliceBuilder: the bytes of the cells follow one another, so their sizes lead to each of them.
#include "cache/row_slice.h"

#include <cstring>

namespace cellar {
namespace {

size_t object_bytes(size_t cells, size_t bytes) {
  return sizeof(RowSlice) + cells * sizeof(CellView) + bytes;
}

}  // namespace

void RowSliceBuilder::begin(uint64_t bytes_max) {
  cells_.clear();
  bytes_.clear();
  bytes_max_ = bytes_max;
}

bool RowSliceBuilder::add(const CellView& cell) {
  CELLAR_DCHECK(cells_.empty() || cells_.front().row_size == cell.row_size);  // all cells are of one row
  const size_t bytes = size_t{cell.key_size} + cell.value_size + cell.tags_size;
  const size_t whole = object_bytes(cells_.size() + 1, bytes_.size() + bytes);
  if (BlockHeap::charge_of(whole) > bytes_max_) return false;
  bytes_.append(cell.key, cell.key_size);
  bytes_.append(cell.value, cell.value_size);
  if (cell.tags_size != 0) bytes_.append(cell.tags, cell.tags_size);
  cells_.push_back(cell);
  return true;
}

RowSlice* RowSliceBuilder::finish(const SliceKey& key, bool has_priority) {
  CELLAR_ASSERT(!cells_.empty() && key.file_id != 0);
  const size_t bytes = object_bytes(cells_.size(), bytes_.size());
  void* const memory = BlockHeap::shared().take(bytes);
  auto* const slice = new (memory) RowSlice(key, BlockHeap::charge_of(bytes), has_priority);
  auto* const views = reinterpret_cast<CellView*>(static_cast<char*>(memory) + sizeof(RowSlice));
  char* at = reinterpret_cast<char*>(views + cells_.size());
  std::memcpy(at, bytes_.data(), bytes_.size());
  for (size_t i = 0; i < cells_.size(); ++i) {
    CellView* const view = new (views + i) CellView(cells_[i]);
    view->key_in_scratch = false;
    view->key = at;
    view->value = view->key + view->key_size;
    view->tags = view->value + view->value_size;
    at += size_t{view->key_size} + view->value_size + view->tags_size;
    slice->family_markers_ = slice->family_markers_ || covers_family(view->cell_type);
  }
  slice->cells_ = static_cast<uint32_t>(cells_.size());
  CELLAR_ASSERT(slice->is_of(key));
  return slice;
}

}  // namespace cellar
