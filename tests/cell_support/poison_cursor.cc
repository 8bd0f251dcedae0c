// PoisonCursor.
#include "tests/cell_support/poison_cursor.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cell/cell_codec.h"

namespace cellar::testing {
namespace {

// The bytes of the cells that one move handed out. Scribbled over and freed when the last pin goes.
class Copies final : public Pinnable {
 public:
  explicit Copies(std::span<const CellView> cells) : cells_(cells.size()) {
    for (size_t i = 0; i < cells.size(); ++i) cells_[i].assign(cells[i]);
  }
  std::vector<CellView> views() const {
    std::vector<CellView> views;
    for (const OwnedCell& cell : cells_) {
      views.push_back(cell.view());
      views.back().key_in_scratch = false;
    }
    return views;
  }

 protected:
  void unpinned() override {
    for (const OwnedCell& cell : cells_) {
      const CellView& view = cell.view();
      const size_t bytes = view.key_size + view.value_size + view.tags_size;
      std::memset(const_cast<char*>(view.key), 0xdb, bytes);
    }
    delete this;
  }

 private:
  std::vector<OwnedCell> cells_;
};

class PoisonCursor final : public RunCursor {
 public:
  explicit PoisonCursor(std::unique_ptr<CellCursor> cursor) : cursor_(std::move(cursor)) {}

  const CellView* seek(const CellView& target) override { return show(cursor_->seek(target)); }
  const CellView* next() override { return show(cursor_->next()); }
  std::span<const CellView> next_span() override { return show(cursor_->next_span()); }
  const CellView* skip_to(const CellView& target) override { return show(cursor_->skip_to(target)); }
  const CellView* seek_before(const CellView& target) override { return show(run().seek_before(target)); }
  std::span<const CellView> span_before(const CellView& target) override {
    return show(run().span_before(target));
  }
  Status status() const override { return cursor_->status(); }
  const Pinnable* pinned() const override { return slots_[slot_].bytes.get(); }
  void print(TextPrinter& out) const override { cursor_->print(out); }

 private:
  struct Slot {
    Pin bytes;
    std::string scribbled;
    std::vector<CellView> views;
  };

  RunCursor& run() { return dynamic_cast<RunCursor&>(*cursor_); }

  const CellView* show(const CellView* cell) {
    const auto span = show(cell != nullptr ? std::span(cell, 1) : std::span<const CellView>());
    return span.empty() ? nullptr : span.data();
  }
  // Three slots: the current cells, those before, and those before that, which from now on are poison.
  std::span<const CellView> show(std::span<const CellView> cells) {
    Slot& stale = slots_[(slot_ + 2) % 3];
    for (CellView& view : stale.views) {
      stale.scribbled.resize(
          std::max<size_t>(stale.scribbled.size(), view.key_size + view.value_size + view.tags_size), '\xdb');
    }
    for (CellView& view : stale.views) view.key = view.value = view.tags = stale.scribbled.data();
    stale.bytes.reset();
    slot_ = (slot_ + 1) % 3;
    Slot& current = slots_[slot_];
    if (cells.empty()) {
      current = {};
      return {};
    }
    const Copies* copies = new Copies(cells);
    current.bytes = Pin(copies);
    current.views = copies->views();
    return current.views;
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
