// OrderedMemtable<S>: a Memtable over a sorted structure S of cell records, with its cursor, figures and
// row filter.
//
// S has insert(cell, record, near), find(target, near), bytes(), and a Place with seek, seek_before, next and
// record. It may have aim(cells, near) and is_running(). blink_tree.h is the model. A new structure gets a
// file ordered_<name>.cc that names the structure; then it can be chosen by name.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <string>

#include "base/arena.h"
#include "base/assert.h"
#include "base/fetch_lines.h"
#include "base/recycled.h"
#include "cell/cell_codec.h"
#include "cell/cell_order.h"
#include "cell/cell_room.h"
#include "cellar/plugin.h"
#include "memtable/cell_record.h"
#include "memtable/memtable.h"
#include "memtable/memtable_figures.h"
#include "memtable/row_filter.h"

namespace cellar {

// Keeps the promise of the structure's Place, which meets every cell inserted before its last seek. A new
// cursor therefore sees every cell inserted before it was made. Cells do not move in the arena, so the
// two-step rule costs only a second view. As long as a pin is held, the bytes outlive the cursor as well.
template <class S>
class OrderedCursor final : public RunCursor, public Recycled<OrderedCursor<S>> {
 public:
  OrderedCursor(const Memtable* table, const S* structure) : pin_(table), structure_(*structure) {}

  const CellView* seek(const CellView& target) override { return show(place_.seek(structure_, target)); }
  const CellView* next() override {
    const CellRecord* record = place_.next();
    CELLAR_DCHECK(record == nullptr || compare_cells(views_[now_], record->view()) <= 0);
    return show(record);
  }
  // The first spans are short, for reads of one row.
  std::span<const CellView> next_span() override {
    constexpr uint32_t kSpanCellsMax = 16;
    CellView* const cells = rooms_[room_ ^= 1].of(span_cells_);
    size_t count = 0;
    while (count < span_cells_) {
      const CellRecord* record = place_.next();
      if (record == nullptr) break;
      cells[count++] = record->view();
    }
    span_cells_ = std::min(2 * span_cells_, kSpanCellsMax);
    if (count == 0) return {};
    views_[now_ ^= 1] = cells[count - 1];
    return {cells, count};
  }
  const CellView* seek_before(const CellView& target) override {
    return show(place_.seek_before(structure_, target));
  }

  // Steps a few times, which finds most targets (the next column, the next version); otherwise seeks from
  // the top.
  const CellView* skip_to(const CellView& target) override {
    constexpr int kSteps = 4;
    for (int i = 0; i < kSteps; ++i) {
      const CellRecord* record = place_.next();
      if (record == nullptr || compare_cells(record->view(), target) >= 0) return show(record);
    }
    return show(place_.seek(structure_, target));
  }

  Status status() const override { return {}; }
  const Pinnable* pinned() const override { return pin_.get(); }
  const Pinnable* take_cell() override { return pin_.get(); }
  void print(TextPrinter& out) const override {
    const CellRecord* at = place_.record();
    out.line("memtable cursor at " + (at == nullptr ? std::string("no cell") : key_text(at->view())));
  }

 private:
  // Called once per move: alternates between two views, so that the view of the previous move stays
  // unchanged.
  const CellView* show(const CellRecord* record) {
    if (record == nullptr) return nullptr;
    now_ ^= 1;
    views_[now_] = record->view();
    return &views_[now_];
  }

  Pin pin_;
  const S& structure_;
  typename S::Place place_;
  std::array<CellView, 2> views_;
  size_t now_ = 0;
  CellRoom rooms_[2];  // of the last two spans
  size_t room_ = 0;
  uint32_t span_cells_ = 1;  // of the next span at most
};

template <class S>
class OrderedMemtable final : public Memtable {
 public:
  explicit OrderedMemtable(const PluginParams&) {}

  using Memtable::insert;
  ~OrderedMemtable() override { CELLAR_DCHECK(added_ == 0); }
  void insert(const CellView& cell, const Spot& spot) override {
    const RowFilter::Hashed row = filter_.hashed(cell.row());
    insert(cell, copy_of(cell), row, own(spot));
  }
  void add(const CellView& cell) override {
    if constexpr (!kAims) {
      insert(cell);
    } else if (structure_.is_running()) {
      settle();
      insert(cell);
    } else {
      CELLAR_ASSERT(added_ < kAddedMax);
      rows_[added_] = filter_.hashed(cell.row());
      records_[added_] = copy_of(cell);
      if (++added_ == kAddedMax) settle();
    }
  }
  void settle() override {
    if constexpr (kAims)
      if (added_ > 0) settle_added();
  }

  std::unique_ptr<RunCursor> cursor() const override {
    return std::make_unique<OrderedCursor<S>>(this, &structure_);
  }
  bool find(const CellView& target, CellView& found, Spot& spot) const override {
    const void* near = own(spot);
    const CellRecord* record = structure_.find(target, near);
    spot = {number_, near};
    if (record == nullptr) return false;
    found = record->view();
    CELLAR_DCHECK(compare_cells(found, target) >= 0);
    return true;
  }
  MemtableSummary summary() const override { return figures_.summary(); }
  uint64_t bytes() const override { return figures_.bytes(); }
  bool may_contain_row(std::string_view row) const override { return filter_.may_contain(row); }

 private:
  static constexpr uint64_t kSmallBytes = 128 << 10;  // cells up to this total come from small blocks
  static constexpr size_t kAddedMax = 8;              // searches that go down together
  static constexpr bool kAims =
      requires(const S& s, std::span<const CellView> cells, std::span<const void*> near) {
    s.aim(cells, near);
    s.is_running();
  };

  static uint64_t next_number() {
    static std::atomic<uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  static uint64_t arena_bytes(const CellView& cell) { return (record_bytes(cell) + 7) & ~uint64_t{7}; }
  const CellRecord* copy_of(const CellView& cell) {
    Arena& arena = cell_bytes_ < kSmallBytes ? first_cells_ : cells_;
    const size_t bytes = arena_bytes(cell);
    cell_bytes_ += bytes;
    const CellRecord* const record = make_record(arena, cell);
    fetch_lines_to_write(reinterpret_cast<const char*>(record) + bytes, bytes);
    return record;
  }
  void settle_added() {
    std::array<CellView, kAddedMax> cells;
    std::array<const void*, kAddedMax> near;
    for (size_t i = 0; i < added_; ++i) cells[i] = records_[i]->view();
    structure_.aim({cells.data(), added_}, {near.data(), added_});
    for (size_t i = 0; i < added_; ++i) insert(cells[i], records_[i], rows_[i], near[i]);
    added_ = 0;
  }
  void insert(const CellView& cell, const CellRecord* record, const RowFilter::Hashed& row,
              const void* near) {
    structure_.insert(cell, record, near);
    filter_.add(row);
    inserted_bytes_ += arena_bytes(cell);
    figures_.add(cell, inserted_bytes_ + structure_.bytes() + filter_.bytes());
  }
  const void* own(const Spot& spot) const { return spot.memtable == number_ ? spot.at : nullptr; }

  const uint64_t number_ = next_number();  // never used again, unlike addresses
  Arena first_cells_{16 << 10};
  S structure_;
  RowFilter filter_;
  // Each insert stores here, and two writers take turns: few lines of cache go to and fro.
  alignas(64) Arena cells_{1 << 20};
  uint64_t cell_bytes_ = 0;      // of all copies; inserter only
  uint64_t inserted_bytes_ = 0;  // of those that are inserted
  MemtableFigures figures_;
  // add() took these cells; inserter only.
  std::array<const CellRecord*, kAddedMax> records_;
  std::array<RowFilter::Hashed, kAddedMax> rows_;
  size_t added_ = 0;
};

}  // namespace cellar
