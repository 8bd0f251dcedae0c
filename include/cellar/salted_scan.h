// SaltedScan: the rows of a salted table in the order of their keys, as if there were no salt.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "cellar/query.h"
#include "cellar/scanner.h"
#include "cellar/table.h"

namespace CELLAR_PUBLIC cellar {

// SaltedScan: scans rows that salted() of cellar/keys.h made: a byte of salt, then the key. One thread at a
// time. It must be destroyed before its engine is closed.
//
//   CELLAR_TRY_ASSIGN(SaltedScan scan, SaltedScan::create(*table, Scan().start("a").stop("c"), 16));
//   while (scan.next()) use(scan.key(), scan.row());
//   CELLAR_TRY(scan.status());
class SaltedScan {
 public:
  // Bounds, prefix, direction and limit of `scan` apply to keys without their salt. Its filter sees rows
  // without it. All else is as of Table::scan. Opens one scanner for each salt, 1 to 256, all as of one
  // instant. kInvalidArgument, also for a filter that must see all rows in their order
  // (Filter::depends_on_other_rows), such as PageFilter; kCorruption, kIoError.
  static Result<SaltedScan> create(Table& table, const Scan& scan, uint32_t salts);

  // Moves to the next row, part of a row or cursor. Returns false at the end or after an error. A cursor of
  // one salt comes in its place among the rows: a SaltedScan that starts at its key() goes on there.
  bool next();
  // Returns the row key without the salt, valid until the next move.
  std::string_view key() const { return key_of(at_); }
  // Returns the row as it is stored: its key begins with the salt.
  RowView row() const { return scanners_[at_]->row(); }
  const Status& status() const { return status_; }

 private:
  SaltedScan() = default;
  std::string_view key_of(size_t scanner) const { return scanners_[scanner]->row().row().substr(1); }
  bool before(size_t a, size_t b) const;
  void push(size_t scanner);
  size_t pop();

  std::vector<std::unique_ptr<Scanner>> scanners_;
  std::vector<size_t> heap_;  // of scanners that stand on a row
  bool reversed_ = false;
  bool started_ = false;
  bool standing_ = false;
  uint64_t rows_left_ = 0;  // 0 at first: no limit
  bool limited_ = false;
  size_t at_ = 0;
  Status status_;
};

}  // namespace cellar
