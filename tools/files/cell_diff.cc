// The walk of two runs.
#include "tools/files/cell_diff.h"

#include "cell/cell_codec.h"
#include "cell/cell_key.h"
#include "cell/cell_order.h"

namespace cellar {
namespace {

class TwoRuns {
 public:
  TwoRuns(CellCursor& a, CellCursor& b, const CellDiffOptions& options, CellDiffTotals& totals)
      : cursor_a_(a), cursor_b_(b), options_(options), totals_(totals) {}

  Status begin() {
    OwnedCell first;
    first_of_row(first, {});
    a_ = cursor_a_.seek(first.view());
    b_ = cursor_b_.seek(first.view());
    return status();
  }

  bool at_end() const { return a_ == nullptr && b_ == nullptr; }

  // Counts the cells at the current place and returns them in `found`. True if they differ.
  bool compare(CellDifference& found) const {
    const std::strong_ordering order = order_here();
    found = {};
    if (order <= 0) found.a = a_;
    if (order >= 0) found.b = b_;
    totals_.cells_a += found.a != nullptr ? 1 : 0;
    totals_.cells_b += found.b != nullptr ? 1 : 0;
    if (order < 0) totals_.only_a += 1;
    if (order > 0) totals_.only_b += 1;
    if (order != 0) return true;
    found.value = options_.values && a_->value_bytes() != b_->value_bytes();
    found.tags = options_.tags && a_->tags_bytes() != b_->tags_bytes();
    found.mvcc = options_.mvcc && a_->sequence != b_->sequence;
    const bool differs = found.value || found.tags || found.mvcc;
    (differs ? totals_.changed : totals_.same) += 1;
    return differs;
  }

  // On from what compare() found.
  Status step(const CellDifference& found) {
    if (found.a != nullptr) a_ = cursor_a_.next();
    if (found.b != nullptr) b_ = cursor_b_.next();
    return status();
  }

 private:
  std::strong_ordering order_here() const {
    if (a_ == nullptr) return std::strong_ordering::greater;
    if (b_ == nullptr) return std::strong_ordering::less;
    return options_.meta_order ? compare_meta_keys(*a_, *b_) : compare_keys(*a_, *b_);
  }

  Status status() const {
    if (a_ == nullptr) CELLAR_TRY(cursor_a_.status());
    return b_ == nullptr ? cursor_b_.status() : Status();
  }

  CellCursor& cursor_a_;
  CellCursor& cursor_b_;
  const CellDiffOptions& options_;
  CellDiffTotals& totals_;
  const CellView* a_ = nullptr;
  const CellView* b_ = nullptr;
};

}  // namespace

Status diff_cells(CellCursor& a, CellCursor& b, const CellDiffOptions& options,
                  const std::function<void(const CellDifference&)>& each, const std::function<bool()>& go_on,
                  CellDiffTotals& totals) {
  TwoRuns runs(a, b, options, totals);
  CELLAR_TRY(runs.begin());
  CellDifference found;
  while (!runs.at_end() && go_on()) {
    if (runs.compare(found)) each(found);
    CELLAR_TRY(runs.step(found));
  }
  return {};
}

}  // namespace cellar
