// Scanner: the rows of a scan, one after the other.
#pragma once

#include <cstddef>
#include <iterator>

#include "cellar/row_batch.h"
#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

// Scanner: sees the tables as of one instant, whatever is written, flushed or compacted meanwhile. One thread
// at a time. It must be destroyed before its engine is closed: Engine::close fails with kBusy otherwise.
// HBase: ResultScanner. RocksDB: Iterator.
//
// A Scanner is an input range of C++20, which is read once. A scan that fails ends like one that is complete:
// status() tells them apart.
//
//   for (const RowView row : *scanner) …
//   CELLAR_TRY(scanner->status());
//
//   for (const std::string& key : *scanner | std::views::transform(key_of) | std::views::take(10)) …
class Scanner {
 public:
  virtual ~Scanner() = default;

  // Moves to the next row, part of a row (Scan::batch, Scan::max_result_bytes) or cursor
  // (Scan::cursor_after_cells). Returns false at the end and after an error.
  virtual bool next() = 0;
  // Returns the current row, valid until the next move.
  virtual RowView row() const CELLAR_LIFETIME_BOUND = 0;
  // Returns ok at the regular end. An error is final: kCorruption, kIoError, kLimit (a row has more bytes
  // than EngineOptions::row_bytes_max), kAborted (the engine was closed).
  virtual Status status() const = 0;

  // Replaces the content of `batch` with up to `rows` rows, which then live as long as the batch. Returns
  // false if no rows are left. A cursor is the last row of its batch. The row that row() returned is then
  // invalid.
  virtual bool next_batch(RowBatch& batch, size_t rows) = 0;

  class Iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using difference_type = std::ptrdiff_t;
    using value_type = RowView;

    Iterator() = default;
    explicit Iterator(Scanner* scanner) : scanner_(scanner) { ++*this; }
    RowView operator*() const { return scanner_->row(); }
    Iterator& operator++() {
      if (!scanner_->next()) scanner_ = nullptr;
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return scanner_ == nullptr; }

   private:
    Scanner* scanner_ = nullptr;
  };
  // Moves to the first row. Call it once.
  Iterator begin() CELLAR_LIFETIME_BOUND { return Iterator(this); }
  std::default_sentinel_t end() const { return {}; }
};

}  // namespace cellar
