// CheckingCursor: compares every cell with the one before it, which the two-step rule keeps alive.
#include "tests/cell_support/checking_cursor.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/assert.h"
#include "cell/cell_codec.h"
#include "cell/cell_order.h"

namespace cellar::testing {
namespace {

class CheckingCursor final : public RunCursor {
 public:
  explicit CheckingCursor(std::unique_ptr<CellCursor> checked) : checked_(std::move(checked)) {
    CELLAR_ASSERT(checked_ != nullptr);
  }

  const CellView* seek(const CellView& target) override {
    if (!order_.ok()) return nullptr;
    return stand_at_or_after(target, checked_->seek(target));
  }

  const CellView* next() override {
    if (current_ == nullptr) return nullptr;
    const CellView* before = current_;
    return stand_at_or_after(*before, checked_->next());
  }

  const CellView* skip_to(const CellView& target) override {
    if (current_ == nullptr) return nullptr;
    const CellView* before = current_;
    current_ = checked_->skip_to(target);
    if (current_ != nullptr && compare_cells(*current_, *before) < 0) return fail(*before, "comes after");
    return stand_at_or_after(target, current_);
  }

  const CellView* seek_before(const CellView& target) override {
    if (!order_.ok()) return nullptr;
    current_ = dynamic_cast<RunCursor&>(*checked_).seek_before(target);
    if (current_ != nullptr && compare_cells(*current_, target) >= 0)
      return fail(target, "was given as before");
    return current_;
  }

  Status status() const override { return order_.ok() ? checked_->status() : order_; }
  const Pinnable* pinned() const override { return checked_->pinned(); }
  void print(TextPrinter& out) const override {
    out.line("checked for order");
    out.indent();
    checked_->print(out);
    out.outdent();
  }

 private:
  const CellView* stand_at_or_after(const CellView& bound, const CellView* cell) {
    current_ = cell;
    if (cell != nullptr && compare_cells(*cell, bound) < 0) return fail(bound, "comes after");
    return current_;
  }

  // Records that current_ is out of order. The bound of a walk is a stored cell; the bound of a seek is
  // its target.
  const CellView* fail(const CellView& bound, std::string_view where) {
    CELLAR_ASSERT(current_ != nullptr && order_.ok());  // after the first failure no move is made
    order_ = Status::corruption(fmt::format("cells out of order: {}#{} {} {}#{}", key_text(*current_),
                                            current_->sequence, where, key_text(bound), bound.sequence));
    return current_ = nullptr;
  }

  std::unique_ptr<CellCursor> checked_;
  const CellView* current_ = nullptr;  // belongs to checked_
  Status order_;
};

}  // namespace

std::unique_ptr<RunCursor> make_checking_cursor(std::unique_ptr<CellCursor> checked) {
  return std::make_unique<CheckingCursor>(std::move(checked));
}

}  // namespace cellar::testing
