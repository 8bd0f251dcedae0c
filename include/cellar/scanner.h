// Scanner: the rows of a scan, one after the other.
#pragma once

#include "cellar/row_batch.h"
#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

// Sees the tables as they were when it was made, whatever is written, flushed or compacted meanwhile. One
// thread at a time; must be destroyed before its engine is closed.
//
//   for (RowView row : *scanner) …;
//   CELLAR_TRY(scanner->status());
class Scanner {
 public:
  virtual ~Scanner() = default;

  // Moves to the next row, part of a row (Scan::batch, Scan::max_result_bytes) or cursor
  // (Scan::cursor_after_cells); false at the end or after an error.
  virtual bool next() = 0;
  // The row moved to; valid until the next move.
  virtual RowView row() const = 0;
  // Ok at the regular end. An error is final.
  virtual Status status() const = 0;

  // Replaces `batch`'s content with up to `rows` rows, which stay valid with the batch; false when there are
  // none left. A cursor is the last row of its batch. Not to be mixed with a row() still in use.
  virtual bool next_batch(RowBatch& batch, size_t rows) = 0;

  class Iterator {
   public:
    explicit Iterator(Scanner* scanner) : scanner_(scanner) { ++*this; }
    Iterator() = default;
    RowView operator*() const { return scanner_->row(); }
    Iterator& operator++() {
      if (!scanner_->next()) scanner_ = nullptr;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return scanner_ != other.scanner_; }

   private:
    Scanner* scanner_ = nullptr;
  };
  Iterator begin() { return Iterator(this); }
  Iterator end() { return Iterator(); }
};

}  // namespace cellar
