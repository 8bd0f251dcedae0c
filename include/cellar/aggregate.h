// aggregate, aggregate_groups: sums, bounds and averages of the values that a scan returns, as a whole or by
// the first part of the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "cellar/query.h"
#include "cellar/status.h"
#include "cellar/table.h"

namespace CELLAR_PUBLIC cellar {

// Aggregate: the sum, the bounds and the average of many values. Number is one of three types.
//
// int64_t: values of eight bytes, such as those of counters and plain_int64(). An overflow of the sum is an
// error. double: values of plain_float64(). NaN is a bad value. The sum compensates for what rounding loses.
// std::string: texts of decimals, such as "-12.50" or "1e3". Sum, min and max are exact.
template <class Number>
struct Aggregate {
  std::string group;    // the first bytes of the rows; empty for all rows
  uint64_t rows = 0;    // with at least one cell
  uint64_t values = 0;  // without bad ones
  uint64_t bad = 0;     // AggregateOptions::count_bad
  // These five are of no meaning while `values` is 0.
  Number sum = {};
  Number min = {};
  Number max = {};
  double average = 0;
  double deviation = 0;  // the standard deviation of these values: the square root of their variance
};

struct AggregateOptions {
  // Values that are no such numbers are counted as bad. Default: the first one is an error that names its row
  // and column.
  bool count_bad = false;
  // Called after each row or part of a row, and every 100 ms while the scan finds nothing. If it returns
  // false, the call fails with kAborted.
  std::function<bool(const RangeCount&)> on_way = {};
};

// Aggregates the values of all cells that the scan returns. Ranges, times, families, columns, versions and
// filter of the scan choose them. It reads them through Table::scan, also from a cluster, and in parts, so
// that a row of any size needs little memory. HBase: AggregationClient; it has no groups.
//
// Errors: those of Table::scan; kInvalidArgument for a bad value, an overflow or a raw scan. Also kLimit for
// a sum of decimals of more than 1,000 digits, and kAborted.
template <class Number>
Result<Aggregate<Number>> aggregate(Table& table, const Scan& scan = {},
                                    const AggregateOptions& options = {});

// Does the same for each group of rows. Rows of one group are neighbours, so that one group at a time is in
// memory. Calls `on_group` when a group is complete, in the order of the scan. Its error ends the call.
//
// `group_of` returns how many of the first bytes of a row are its group. A row that begins with the group of
// another row must be of that group, unless one of the two rows is itself the group.
//
// - the first eight bytes: [](std::string_view row) { return std::min<size_t>(row.size(), 8); }
// - up to a slash: [](std::string_view row) { return std::min(row.find('/'), row.size() - 1) + 1; }
// - two fields of a KeySchema: [&](std::string_view row) { return schema.bytes_of_first(row, 2); }
//
// Its errors, and a size beyond the row, end the call with the row in the message.
template <class Number>
Status aggregate_groups(Table& table, const Scan& scan,
                        const std::function<Result<size_t>(std::string_view row)>& group_of,
                        const std::function<Status(const Aggregate<Number>&)>& on_group,
                        const AggregateOptions& options = {});

}  // namespace cellar
