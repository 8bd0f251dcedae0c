// PoisonCursor.
#include "tests/cell_support/poison_cursor.h"

#include <cstring>
#include <string>
#include <utility>

#include "cell/cell_codec.h"

namespace cellar::testing {
namespace {

// The bytes of one cell that was handed out. Scribbled over and freed when the last pin goes.
class Copy final : public Pinnable {
 public:
  explicit Copy(const CellView& cell) { cell_.assign(cell); }
  const CellView& view() const { return cell_.view(); }

 protected:
  void unpinned() override {
    const CellView& view = cell_.view();
    const size_t bytes = view.key_size + view.value_size + view.tags_size;
    std::memset(const_cast<char*>(view.key), 0xdb, bytes);
    delete this;
  }

 private:
  OwnedCell cell_;
};

class PoisonCursor final : public RunCursor {
 public:
  explicit PoisonCursor(std::unique_ptr<CellCursor> cursor) : cursor_(std::move(cursor)) {}

  const CellView* seek(const CellView& target) override { return show(cursor_->seek(target)); }
  const CellView* next() override { return show(cursor_->next()); }
  const CellView* skip_to(const CellView& target) override { return show(cursor_->skip_to(target)); }
  const CellView* seek_before(const CellView& target) override {
    return show(dynamic_cast<RunCursor&>(*cursor_).seek_before(target));
  }
  Status status() const override { return cursor_->status(); }
  const Pinnable* pinned() const override { return slots_[slot_].bytes.get(); }
  void print(TextPrinter& out) const override { cursor_->print(out); }

 private:
  struct Slot {
    Pin bytes;
    std::string scribbled;
    CellView view;
  };

  // Three slots: the current cell, the one before, and the one before that, which from now on is poison.
  const CellView* show(const CellView* cell) {
    Slot& stale = slots_[(slot_ + 2) % 3];
    stale.scribbled.assign(stale.view.key_size + stale.view.value_size + stale.view.tags_size, '\xdb');
    stale.view.key = stale.view.value = stale.view.tags = stale.scribbled.data();
    stale.bytes.reset();
    slot_ = (slot_ + 1) % 3;
    Slot& current = slots_[slot_];
    if (cell == nullptr) {
      current = {};
      return nullptr;
    }
    const Copy* copy = new Copy(*cell);
    current.bytes = Pin(copy);
    current.view = copy->view();
    current.view.key_in_scratch = false;
    return &current.view;
  }

  std::unique_ptr<CellCursor> cursor_;
  Slot slots_[3];
  size_t slot_ = 0;
};

}  // namespace

std::unique_ptr<RunCursor> poison(std::unique_ptr<CellCursor> cursor) {
  return std::make_unique<PoisonCursor>(std::move(cursor));
}

}  // namespace cellar::testing
