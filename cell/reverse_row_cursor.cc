// ReverseRowCursor: steps to the previous row through seek_before, then walks that row forward.
#include "cell/reverse_row_cursor.h"

#include <string>

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
    keep_current();
    return row_of(forward_->seek_before(key_.view()));
  }

  const CellView* next() override {
    if (current_ == nullptr) return nullptr;
    return in_row_or_before(forward_->next());
  }

  const CellView* skip_to(const CellView& target) override {
    if (current_ == nullptr) return nullptr;
    if (target.row() != row_ || ends_row(target)) return row_before();
    return in_row_or_before(forward_->skip_to(target));
  }

  Status status() const override { return forward_->status(); }
  const Pinnable* pinned() const override { return forward_->pinned(); }
  const Pinnable* take_cell() override { return forward_->take_cell(); }
  void print(TextPrinter& out) const override {
    out.line("rows backward");
    out.indent();
    forward_->print(out);
    out.outdent();
  }

 private:
  // Stores the cell in one of two slots, so that the previous cell stays valid whatever the forward
  // cursor does.
  const CellView* show(const CellView* cell) {
    slot_ ^= 1;
    if (cell == nullptr) return current_ = nullptr;
    slots_[slot_] = *cell;
    return current_ = &slots_[slot_];
  }

  const CellView* in_row_or_before(const CellView* cell) {
    CELLAR_DCHECK(current_ == &slots_[slot_]);  // the forward cursor moved once; this one has not yet
    if (cell != nullptr && cell->row() == row_) return show(cell);
    if (cell == nullptr && !forward_->status().ok()) return show(nullptr);
    return row_before();
  }

  const CellView* row_before() {
    CELLAR_DCHECK(current_ != nullptr);
    first_of_row(key_, row_);
    keep_current();
    return row_of(forward_->seek_before(key_.view()));
  }

  // Copies the cell shown last, because the forward cursor is about to make two moves for one move of
  // this cursor.
  void keep_current() {
    if (current_ == nullptr) return;
    CellView& shown = slots_[slot_];
    kept_.assign(shown);
    shown = kept_.view();
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
  OwnedCell kept_;
  CellView slots_[2];
  int slot_ = 0;
  const CellView* current_ = nullptr;
};

}  // namespace

std::unique_ptr<CellCursor> make_reverse_row_cursor(std::unique_ptr<RunCursor> forward) {
  return std::make_unique<ReverseRowCursor>(std::move(forward));
}

}  // namespace cellar
