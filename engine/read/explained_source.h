// ExplainedSource: a source of a read that counts its cells for the read's explanation.
#pragma once

#include <memory>
#include <utility>

#include "base/assert.h"
#include "cell/cursor.h"
#include "cellar/explanation.h"

namespace cellar {

// Wraps the cursor of a source; `entry` is borrowed. The merge passes take_cell() to the source that gave the
// cell.
class ExplainedSource final : public RunCursor {
 public:
  ExplainedSource(std::unique_ptr<RunCursor> cursor, ReadExplanation::Source& entry)
      : cursor_(std::move(cursor)), entry_(entry) {
    CELLAR_ASSERT(cursor_ != nullptr);
  }

  const CellView* seek(const CellView& target) override { return count(cursor_->seek(target)); }
  const CellView* next() override { return count(cursor_->next()); }
  const CellView* skip_to(const CellView& target) override { return count(cursor_->skip_to(target)); }
  const CellView* seek_before(const CellView& target) override { return count(cursor_->seek_before(target)); }
  Status status() const override { return cursor_->status(); }
  const Pinnable* pinned() const override { return cursor_->pinned(); }
  const Pinnable* take_cell() override {
    ++entry_.cells_taken;
    return cursor_->take_cell();
  }
  void print(TextPrinter& out) const override { cursor_->print(out); }

 private:
  const CellView* count(const CellView* cell) {
    if (cell != nullptr) ++entry_.cells_met;
    return cell;
  }

  const std::unique_ptr<RunCursor> cursor_;
  ReadExplanation::Source& entry_;
};

}  // namespace cellar
