// HalfCursor: moves targets to the bounds, and shows nothing beyond them.
#include "hfile/read/half_cursor.h"

#include "base/assert.h"
#include "cell/cell_key.h"
#include "cell/cell_order.h"

namespace cellar {
namespace {

class HalfCursor final : public RunCursor {
 public:
  HalfCursor(std::unique_ptr<RunCursor> whole, const std::string& start, const std::string& stop)
      : whole_(std::move(whole)), has_start_(!start.empty()), has_stop_(!stop.empty()) {
    first_of_row(start_, start);
    first_of_row(stop_, stop);
    CELLAR_ASSERT(whole_ != nullptr);
  }

  const CellView* seek(const CellView& target) override {
    const bool before = has_start_ && compare_cells(target, start_.view()) < 0;
    return within(whole_->seek(before ? start_.view() : target));
  }

  const CellView* next() override { return ended_ ? nullptr : within(whole_->next()); }

  const CellView* skip_to(const CellView& target) override {
    return ended_ ? nullptr : within(whole_->skip_to(target));
  }

  const CellView* seek_before(const CellView& target) override {
    const bool behind = has_stop_ && compare_cells(target, stop_.view()) > 0;
    const CellView* cell = whole_->seek_before(behind ? stop_.view() : target);
    ended_ = cell == nullptr || (has_start_ && cell->row() < start_.view().row());
    return ended_ ? nullptr : cell;
  }

  Status status() const override { return whole_->status(); }
  const Pinnable* pinned() const override { return whole_->pinned(); }
  const Pinnable* take_cell() override { return whole_->take_cell(); }
  Pin take_last_cell() override { return whole_->take_last_cell(); }
  void print(TextPrinter& out) const override {
    out.line("half");
    out.indent();
    whole_->print(out);
    out.outdent();
  }

 private:
  const CellView* within(const CellView* cell) {
    ended_ = cell == nullptr || (has_stop_ && cell->row() >= stop_.view().row());
    return ended_ ? nullptr : cell;
  }

  std::unique_ptr<RunCursor> whole_;
  OwnedCell start_;
  OwnedCell stop_;
  bool has_start_;
  bool has_stop_;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<RunCursor> make_half_cursor(std::unique_ptr<RunCursor> whole, const std::string& start,
                                            const std::string& stop) {
  return std::make_unique<HalfCursor>(std::move(whole), start, stop);
}

}  // namespace cellar
