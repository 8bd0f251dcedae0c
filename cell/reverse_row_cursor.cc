// ReverseRowCursor: takes the rows before the current one from a span of the run, where the run gives one.
// Elsewhere it steps to the previous row through seek_before, then walks that row forward.
#include "cell/reverse_row_cursor.h"

#include <span>
#include <string>
#include <vector>

#include "base/assert.h"
#include "cell/cell_key.h"
#include "cell/cell_order.h"

namespace cellar {
namespace {

class ReverseRowCursor final : public CellCursor {
 public:
  explicit ReverseRowCursor(std::unique_ptr<RunCursor> forward) : forward_(std::move(forward)) {
    CELLAR_ASSERT(forward_ != nullptr);
  }

  const CellView* seek(const CellView& target) override {
    last_of_row(key_, target.row());
    return row_of(forward_->seek_before(key_.view()));
  }

  const CellView* next() override {
    if (current_ == nullptr) return nullptr;
    if (rows_ == nullptr) return in_row_or_before(forward_->next());
    return current_ != &rows_->cells.back() ? ++current_ : row_before();
  }

  std::span<const CellView> next_span() override {
    const CellView* const first = next();
    if (first == nullptr) return {};
    if (rows_ != nullptr) current_ = &rows_->cells.back();
    return {first, current_ + 1};
  }

  const CellView* skip_to(const CellView& target) override {
    if (current_ == nullptr) return nullptr;
    const bool leaves_row = target.row() != current_->row() || ends_row(target);
    if (rows_ != nullptr) return skip_in_rows(target, leaves_row);
    return leaves_row ? row_before() : in_row_or_before(forward_->skip_to(target));
  }

  Status status() const override { return forward_->status(); }
  const Pinnable* pinned() const override { return rows_ != nullptr ? rows_->pin.get() : forward_->pinned(); }
  const Pinnable* take_cell() override { return rows_ != nullptr ? rows_->pin.get() : forward_->take_cell(); }
  void print(TextPrinter& out) const override {
    out.line("rows backward");
    out.indent();
    forward_->print(out);
    out.outdent();
  }

 private:
  // Rows: whole rows of a span, in the order of this cursor, and the pin that keeps their bytes.
  struct Rows {
    std::vector<CellView> cells;
    Pin pin;
  };

  // Slot: a cell that is shown alone. It stays as it is, whatever the forward cursor does.
  struct Slot {
    CellView cell;
    Pin pin;
    std::string copy;  // of bytes in scratch
  };

  // Stores the cell, at which the forward cursor stands, in one of two slots.
  const CellView* show(const CellView* cell) {
    rows_ = nullptr;
    slot_ ^= 1;
    if (cell == nullptr) return current_ = nullptr;
    Slot& slot = slots_[slot_];
    slot.cell = *cell;
    slot.pin = forward_->pin();
    if (cell->key_in_scratch) {
      slot.copy.assign(cell->key_bytes()).append(cell->tags_bytes());
      slot.cell.key = slot.copy.data();
      slot.cell.tags = slot.copy.data() + cell->key_size;
    }
    return current_ = &slot.cell;
  }

  const CellView* in_row_or_before(const CellView* cell) {
    // The forward cursor moved once; this one has not yet.
    CELLAR_DCHECK(rows_ == nullptr && current_ == &slots_[slot_].cell);
    if (cell != nullptr && cell->row() == row_) return show(cell);
    if (cell == nullptr && !forward_->status().ok()) return show(nullptr);
    return row_before();
  }

  const CellView* row_before() {
    CELLAR_DCHECK(current_ != nullptr);
    first_of_row(key_, row_);
    if (take_rows_before()) return current_;
    return row_of(forward_->seek_before(key_.view()));
  }

  // Takes the rows before key_ that the run gives in one piece. The first row of a span may begin before the
  // span, so it is left out. Returns false if no row is left.
  bool take_rows_before() {
    const std::span<const CellView> cells = forward_->span_before(key_.view());
    Rows& rows = spans_[span_ ^ 1];  // those of the cell before stay
    rows.cells.clear();
    size_t end = cells.size();
    for (size_t begin = end; end > 0; end = begin) {
      for (begin = end - 1; begin > 0 && same_row(cells[begin - 1], cells[begin]);) --begin;
      if (begin == 0) break;
      for (size_t i = begin; i < end; ++i) rows.cells.push_back(cells[i]);
    }
    if (rows.cells.empty()) return false;
    rows.pin = Pin(forward_->pinned());
    span_ ^= 1;
    rows_ = &rows;
    current_ = rows.cells.data();
    row_.assign(rows.cells.back().row());
    return true;
  }

  const CellView* skip_in_rows(const CellView& target, bool leaves_row) {
    const CellView* const last = &rows_->cells.back();
    const CellView& from = *current_;
    do {
      if (current_ == last) return row_before();
      ++current_;
    } while (same_row(*current_, from) && (leaves_row || compare_cells(*current_, target) < 0));
    return current_;
  }

  // Goes to the first cell of the row of `cell`, which is the last cell of the row to show.
  const CellView* row_of(const CellView* cell) {
    if (cell == nullptr) return show(nullptr);
    row_.assign(cell->row());
    first_of_row(key_, row_);
    CELLAR_DCHECK(compare_cells(key_.view(), *cell) <= 0);
    return show(forward_->seek(key_.view()));
  }

  std::unique_ptr<RunCursor> forward_;
  std::string row_;
  OwnedCell key_;
  Slot slots_[2];
  int slot_ = 0;
  const CellView* current_ = nullptr;  // in a slot, or in *rows_
  Rows spans_[2];
  int span_ = 0;
  const Rows* rows_ = nullptr;  // null: the forward cursor stands on the current cell
};

}  // namespace

std::unique_ptr<CellCursor> make_reverse_row_cursor(std::unique_ptr<RunCursor> forward) {
  return std::make_unique<ReverseRowCursor>(std::move(forward));
}

}  // namespace cellar
