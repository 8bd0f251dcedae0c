// scan_salted: the rows of a salted table in the order of their keys, as if there were no salt.
#pragma once

#include <cstdint>
#include <memory>

#include "cellar/query.h"
#include "cellar/scanner.h"
#include "cellar/table.h"

namespace CELLAR_PUBLIC cellar {

// Scans rows that salted() of cellar/keys.h made: a byte of salt, then the key. unsalted() returns the key.
//
//   CELLAR_TRY_ASSIGN(const auto scanner, scan_salted(*table, Scan().start("a").stop("c"), 16));
//   for (const RowView row : *scanner) use(unsalted(row.row()), row);
//   CELLAR_TRY(scanner->status());
//
// Bounds, ranges, prefix, direction and limit of `scan` apply to keys without their salt. Its filter sees
// rows without it. All else is as of Table::scan. Opens one scanner for each salt, 1 to 256, all as of one
// instant. Errors: kInvalidArgument, kCorruption, kIoError. A filter that must see all rows in their order,
// such as PageFilter, is refused with kInvalidArgument (Filter::depends_on_other_rows).
//
// A cursor of one salt comes in its place among the rows: a salted scan that starts at unsalted(row()) goes
// on there. Scanner::next_batch() copies the rows.
Result<std::unique_ptr<Scanner>> scan_salted(Table& table, const Scan& scan, uint32_t salts);

}  // namespace cellar
