// ForwardingCursor: passes all moves on to another cursor; tests change some of them.
#pragma once

#include <memory>
#include <utility>

#include "cell/cursor.h"

namespace cellar::testing {

class ForwardingCursor : public RunCursor {
 public:
  explicit ForwardingCursor(std::unique_ptr<RunCursor> cursor) : cursor_(std::move(cursor)) {}
  const CellView* seek(const CellView& target) override { return cursor_->seek(target); }
  const CellView* next() override { return cursor_->next(); }
  const CellView* skip_to(const CellView& target) override { return cursor_->skip_to(target); }
  const CellView* seek_before(const CellView& target) override { return cursor_->seek_before(target); }
  Status status() const override { return cursor_->status(); }
  const Pinnable* pinned() const override { return cursor_->pinned(); }
  void print(TextPrinter& out) const override { cursor_->print(out); }

 protected:
  void close() { cursor_.reset(); }

 private:
  std::unique_ptr<RunCursor> cursor_;
};

}  // namespace cellar::testing
