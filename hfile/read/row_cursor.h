// RowCursor: the cursor of a read of one row in one file, which looks for the row in the block cache first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/recycled.h"
#include "cell/cell_order.h"
#include "cell/cursor.h"
#include "hfile/block/row_keeper.h"

namespace cellar {

// RowCursor: gives the cells of one row from its slice. If the cache has no slice, it is the cursor of the
// file, and its first search may make the slice. A caller that searches for cells of other rows may then not
// find them. One thread at a time; holds the slice.
class RowCursor final : public RunCursor, public Recycled<RowCursor> {
 public:
  // Looks for the slice. Borrows the cache and the row.
  RowCursor(BlockCache& cache, const SliceKey& key) : keeper_(cache, key) {
    if (Pin slice = cache.find_row(key)) begin(std::move(slice));
  }

  // Returns the slice that was found; null if the cache has none.
  const RowSlice* slice() const { return static_cast<const RowSlice*>(slice_.get()); }
  // Without a slice: the object that the file's cursor asks, and that cursor.
  RowKeeper& keeper() { return keeper_; }
  void read_file(std::unique_ptr<RunCursor> file) {
    CELLAR_ASSERT(file != nullptr && !slice_);
    file_ = std::move(file);
  }

  const CellView* seek(const CellView& target) override {
    if (!slice_) {
      const CellView* const cell = file_->seek(target);
      if (!keeper_.slice()) return cell;
      begin(keeper_.slice());
    }
    return show(first_at(0, target));
  }
  const CellView* next() override {
    if (!slice_) return file_->next();
    return show(at_ + 1);
  }
  // All other cells of the row are one span.
  std::span<const CellView> next_span() override {
    if (!slice_) return file_->next_span();
    if (at_ + 1 >= cells_.size()) return show(cells_.size()), std::span<const CellView>();
    const std::span<const CellView> span = cells_.subspan(at_ + 1);
    at_ = cells_.size() - 1;
    return span;
  }
  const CellView* skip_to(const CellView& target) override {
    if (!slice_) return file_->skip_to(target);
    return show(first_at(at_ + 1, target));
  }
  const CellView* seek_before(const CellView& target) override {
    if (!slice_) return file_->seek_before(target);
    const size_t after = first_at(0, target);
    return show(after > 0 ? after - 1 : cells_.size());
  }

  Status status() const override { return slice_ ? Status() : file_->status(); }
  const Pinnable* pinned() const override { return slice_ ? slice_.get() : file_->pinned(); }
  const Pinnable* take_cell() override { return slice_ ? slice_.get() : file_->take_cell(); }
  Pin take_last_cell() override { return slice_ ? slice_ : file_->take_last_cell(); }
  void print(TextPrinter& out) const override {
    if (!slice_) return file_->print(out);
    out.line("cached row, cell " + std::to_string(at_) + " of " + std::to_string(cells_.size()));
  }

 private:
  void begin(Pin slice) {
    slice_ = std::move(slice);
    cells_ = this->slice()->cells();
    at_ = cells_.size();
  }
  const CellView* show(size_t at) {
    at_ = std::min(at, cells_.size());
    return at_ < cells_.size() ? &cells_[at_] : nullptr;
  }
  // Returns the place of the first cell at or after the target, from a place on.
  size_t first_at(size_t from, const CellView& target) const {
    const auto begin = cells_.begin() + static_cast<std::ptrdiff_t>(std::min(from, cells_.size()));
    const auto found = std::partition_point(
        begin, cells_.end(), [&](const CellView& cell) { return compare_cells(cell, target) < 0; });
    return static_cast<size_t>(found - cells_.begin());
  }

  RowKeeper keeper_;
  Pin slice_;
  std::span<const CellView> cells_;  // of the slice
  size_t at_ = 0;
  std::unique_ptr<RunCursor> file_;  // null if the slice was found at once
};

}  // namespace cellar
