// RowBatchBuilder: fills a RowBatch: adds cells to the row under construction, ends it or drops it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/assert.h"
#include "base/pin.h"
#include "cellar/row_batch.h"

namespace cellar {

// A borrowed view of one batch, which must outlive it and holds all state. Cheap to create. One thread at a
// time.
class RowBatchBuilder {
 public:
  explicit RowBatchBuilder(RowBatch& batch) : batch_(batch) {}

  // Adds a cell to the row under construction. A pin on `held` keeps its bytes; bytes in scratch are copied.
  // Null: the cell needs no pin.
  void add(const CellView& cell, const Pinnable* held) {
    CELLAR_DCHECK(batch_.cursor_.empty());  // a cursor ends the batch
    CellView& kept = batch_.cells_.emplace_back(cell);
    if (cell.key_in_scratch) copy_key(kept);
    if (held != nullptr && (batch_.pins_.empty() || batch_.pins_.back() != held)) add_pin(held);
  }
  // Keeps the bytes of cells that were added without a holder.
  void hold(Pin held);
  // Adds cells, all of which `held` keeps, as add() adds one.
  void add_cells(std::span<const CellView> cells, const Pinnable* held);
  // add() out of line, which keeps the callers' own code small and fast.
  void add_chosen(const CellView& cell, const Pinnable* held);
  // Adds a cell whose value does not lie in what `held` keeps.
  void add_changed(const CellView& cell, const Pinnable* held);
  // Notes where a row or part begins that drop_open_row() may discard. Call it before the first cell.
  void begin_row() {
    CELLAR_DCHECK(cells_in_open_row(batch_) == 0);
    batch_.open_pins_ = batch_.pins_.size();
    batch_.open_copies_ = batch_.copies_.size();
    batch_.open_copy_at_ = batch_.copy_at_;
    batch_.open_copy_end_ = batch_.copy_end_;
  }
  void end_row(bool more_cells_in_row) {
    CELLAR_DCHECK(batch_.ends_.empty() || batch_.ends_.back() / 2 == batch_.open_);
    batch_.open_ = batch_.cells_.size();
    batch_.ends_.push_back(2 * batch_.open_ + (more_cells_in_row ? 1 : 0));
  }
  // These add whole rows, while no row is under construction. First call note_row() for each row, with the
  // number of cells up to its end. Then call add_rows() with the cells of all these rows. No key may be in
  // scratch.
  void note_row(size_t cells_to_its_end) {
    CELLAR_DCHECK(cells_in_open_row(batch_) == 0 && cells_to_its_end > 0);
    batch_.ends_.push_back(2 * (batch_.open_ + cells_to_its_end));
  }
  void add_rows(std::span<const CellView> cells, const Pinnable* held) {
    CELLAR_ASSERT(batch_.ends_.back() == 2 * (batch_.cells_.size() + cells.size()));
    batch_.cells_.insert(batch_.cells_.end(), cells.begin(), cells.end());
    batch_.open_ = batch_.cells_.size();
    if (held != nullptr && (batch_.pins_.empty() || batch_.pins_.back() != held)) add_pin(held);
  }
  // Adds rows of one cell each, as note_row() and add_rows() do.
  void add_single_cells(std::span<const CellView> cells, const Pinnable* held) {
    const size_t rows = batch_.ends_.size();
    batch_.ends_.resize(rows + cells.size());
    uint64_t* const ends = batch_.ends_.data() + rows;
    const size_t open = batch_.open_;
    for (size_t i = 0; i < cells.size(); ++i) ends[i] = 2 * (open + i + 1);
    add_rows(cells, held);
  }
  std::span<const CellView> open_row() const { return std::span(batch_.cells_).subspan(batch_.open_); }
  // Replaces the cells of the row under construction, and copies those that are new.
  void replace_open_row(std::span<const CellView> cells);
  // Sorts the cells of the row under construction by family.
  void sort_open_row();
  // Discards the row under construction, with its pins and copies, back to begin_row().
  void drop_open_row();
  // Leaves out the cells of the row after an error. The batch keeps what they pin, which its other rows may
  // use, until clear().
  void leave_out_open_row();
  // Adds a cursor as the last row. Call only while no row is under construction.
  void add_cursor(std::string_view row);
  bool ends_with_cursor() const { return !batch_.cursor_.empty(); }
  // Returns the number of cells in the row under construction.
  static size_t cells_in_open_row(const RowBatch& batch) { return batch.cells_.size() - batch.open_; }
  // Makes room for so many rows of one cell.
  void reserve_rows(size_t rows) {
    batch_.cells_.reserve(rows);
    batch_.ends_.reserve(rows);
  }
  // Adds a row of another batch, with that batch's pins.
  void add_row(const RowBatch& from, size_t at);
  // Gives an empty batch the memory of a batch that this thread used before, if there is some.
  void take_kept_memory();
  // Keeps the memory of an empty batch for this thread's next one. A thread keeps that of at most four
  // batches, of at most 256 cells each.
  void keep_memory();
  // Removes all rows but keeps the newest pin, because the next row of a scan most often needs it again.
  void restart();
  // Removes all rows, and leaves the pins to the caller.
  void clear_rows();

 private:
  char* copy_room(size_t bytes);
  bool holds(const Pinnable* held) const;
  void add_pin(const Pinnable* held);
  void copy_key(CellView& cell);
  void copy_value(CellView& cell);

  RowBatch& batch_;
};

}  // namespace cellar
