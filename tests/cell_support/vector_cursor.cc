// VectorCursor.
#include "tests/cell_support/vector_cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "cell/cell_key.h"
#include "cell/cell_order.h"

namespace cellar::testing {
namespace {

class PinnedCells final : public Pinnable {
 public:
  explicit PinnedCells(const Cells& cells) {
    for (const Cell& cell : cells) {
      cells_.push_back(owned(cell));
      CELLAR_ASSERT(cells_.size() < 2 ||
                    compare_cells(cells_[cells_.size() - 2].view(), cells_.back().view()) <= 0);
    }
  }
  const std::vector<OwnedCell>& cells() const { return cells_; }
  // The same cells, one after the other: spans are parts of them.
  std::span<const CellView> views() {
    if (views_.empty())
      for (const OwnedCell& cell : cells_) views_.push_back(cell.view());
    return views_;
  }

 private:
  std::vector<OwnedCell> cells_;
  std::vector<CellView> views_;
};

class VectorCursor final : public RunCursor {
 public:
  VectorCursor(const Cells& cells, int moves, Status failure)
      : run_(new PinnedCells(cells)), moves_left_(moves), failure_(std::move(failure)) {}

  const CellView* seek(const CellView& target) override { return stand(first_at_or_after(target)); }
  const CellView* next() override { return stand(at_ < size() ? at_ + 1 : at_); }
  const CellView* skip_to(const CellView& target) override {
    return stand(at_ < size() ? std::max(at_, first_at_or_after(target)) : at_);
  }
  const CellView* seek_before(const CellView& target) override {
    const size_t after = first_at_or_after(target);
    return stand(after == 0 ? size() : after - 1);
  }
  // Spans of one to five cells. A cursor that is to fail counts each move, and gives spans of one.
  std::span<const CellView> next_span() override {
    if (!failure_.ok() || at_ >= size()) return RunCursor::next_span();
    const size_t from = at_ + 1;
    const size_t cells = std::min(from % 5 + 1, size() - from);
    if (cells == 0) return RunCursor::next_span();
    at_ += cells;
    return run_of().views().subspan(from, cells);
  }
  std::span<const CellView> span_before(const CellView& target) override {
    const size_t after = first_at_or_after(target);
    if (!failure_.ok() || after % 4 == 0) return {};
    const size_t cells = std::min<size_t>(after, 6);
    at_ = after - 1;
    return run_of().views().subspan(after - cells, cells);
  }
  Status status() const override { return status_; }
  const Pinnable* pinned() const override { return run_.get(); }
  void print(TextPrinter& out) const override { out.line(fmt::format("vector: cell {} of {}", at_, size())); }

 private:
  const PinnedCells& run() const { return *static_cast<const PinnedCells*>(run_.get()); }
  PinnedCells& run_of() { return const_cast<PinnedCells&>(run()); }  // made by this cursor
  size_t size() const { return run().cells().size(); }
  size_t first_at_or_after(const CellView& target) const {
    const auto& cells = run().cells();
    return static_cast<size_t>(
        std::ranges::partition_point(
            cells, [&](const OwnedCell& cell) { return compare_cells(cell.view(), target) < 0; }) -
        cells.begin());
  }
  const CellView* stand(size_t at) {
    if (!status_.ok()) return nullptr;
    if (!failure_.ok() && moves_left_-- == 0) {
      status_ = failure_;
      at = size();
    }
    at_ = at;
    return at < size() ? &run().cells()[at].view() : nullptr;
  }

  Pin run_;
  size_t at_ = 0;
  int moves_left_;
  Status failure_;
  Status status_;
};

}  // namespace

std::unique_ptr<RunCursor> vector_cursor(const Cells& cells) {
  return std::make_unique<VectorCursor>(cells, 0, Status());
}

std::unique_ptr<RunCursor> failing_after(const Cells& cells, int moves, Status status) {
  return std::make_unique<VectorCursor>(cells, moves, std::move(status));
}

std::unique_ptr<RunCursor> failing(Status status) { return failing_after({}, 0, std::move(status)); }

Cells drain(CellCursor& cursor) {
  OwnedCell first;
  first_of_row(first, {});
  return drain_from(cursor, first.view());
}

Cells drain_from(CellCursor& cursor, const CellView& from) {
  Cells cells;
  for (const CellView* cell = cursor.seek(from); cell != nullptr; cell = cursor.next())
    cells.emplace_back(*cell);
  return cells;
}

}  // namespace cellar::testing
