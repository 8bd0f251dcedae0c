// Aggregates: one pass over a scan, with one group at a time in memory.
#include "cellar/aggregate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <type_traits>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/decimal.h"
#include "cellar/keys.h"

namespace cellar {
namespace {

constexpr uint32_t kCellsAtOnce = 1000;
constexpr uint32_t kToldEveryMs = 100;
constexpr size_t kSumDigitsMax = 1000;

// The kinds of numbers: how a value is read, added and given back.
struct Longs {
  using Value = int64_t;
  static constexpr std::string_view kWhat = "long of 8 bytes";
  static std::optional<int64_t> read(std::string_view bytes) { return int64_of_plain(bytes); }
  static bool less(int64_t a, int64_t b) { return a < b; }
  static double as_double(int64_t value) { return static_cast<double>(value); }
  static int64_t shown(int64_t value) { return value; }

  Status add(int64_t value) {
    if (!__builtin_add_overflow(sum, value, &sum)) return {};
    return Status::invalid_argument("the sum of longs overflows").hinting("aggregate a smaller range");
  }
  int64_t total() const { return sum; }

  int64_t sum = 0;
};

struct Doubles {
  using Value = double;
  static constexpr std::string_view kWhat = "double of 8 bytes";
  static std::optional<double> read(std::string_view bytes) {
    const std::optional<double> value = float64_of_plain(bytes);
    return value && !std::isnan(*value) ? value : std::nullopt;
  }
  static bool less(double a, double b) { return a < b; }
  static double as_double(double value) { return value; }
  static double shown(double value) { return value; }

  // Neumaier's sum: `lost` is what rounding took from the sum.
  Status add(double value) {
    const double next = sum + value;
    if (std::isfinite(next))
      lost += std::abs(sum) >= std::abs(value) ? (sum - next) + value : (value - next) + sum;
    sum = next;
    return {};
  }
  double total() const { return std::isfinite(sum) ? sum + lost : sum; }

  double sum = 0;
  double lost = 0;
};

struct Decimals {
  using Value = Decimal;
  static constexpr std::string_view kWhat = "decimal text";
  static std::optional<Decimal> read(std::string_view text) {
    Result<Decimal> value = parse_decimal(text);
    return value.ok() ? std::optional(*std::move(value)) : std::nullopt;
  }
  static bool less(const Decimal& a, const Decimal& b) { return is_less(a, b); }
  static double as_double(const Decimal& value) { return nearest_double(value); }
  static std::string shown(const Decimal& value) { return decimal_text(value); }

  Status add(const Decimal& value) {
    CELLAR_TRY_ASSIGN(sum, sum_of(sum, value, kSumDigitsMax));
    return {};
  }
  const Decimal& total() const { return sum; }

  Decimal sum;
};

template <class Number>
using KindOf = std::conditional_t<std::is_same_v<Number, int64_t>, Longs,
                                  std::conditional_t<std::is_same_v<Number, double>, Doubles, Decimals>>;

Status at_cell(const Status& status, const CellView& cell) {
  return status.with_context(fmt::format("row \"{}\", column {}:{}", escaped(cell.row()),
                                         escaped(cell.family()), escaped(cell.qualifier())));
}

// The values of a group so far.
template <class Number>
class Group {
 public:
  using Kind = KindOf<Number>;

  explicit Group(std::string_view name) { facts_.group = name; }

  const std::string& name() const { return facts_.group; }
  void end_row() { ++facts_.rows; }

  Status add(const CellView& cell, bool count_bad) {
    const auto value = Kind::read(cell.value_bytes());
    if (!value && count_bad) {
      ++facts_.bad;
      return {};
    }
    if (!value) return at_cell(bad(cell.value_bytes()), cell);
    if (const Status added = sums_.add(*value); !added.ok()) return at_cell(added, cell);
    if (facts_.values == 0 || Kind::less(*value, min_)) min_ = *value;
    if (facts_.values == 0 || Kind::less(max_, *value)) max_ = *value;
    ++facts_.values;
    // Welford's recurrence: no difference of large squares.
    const double number = Kind::as_double(*value);
    const double from_mean = number - mean_;
    mean_ += from_mean / static_cast<double>(facts_.values);
    squares_ += from_mean * (number - mean_);
    return {};
  }

  // Completes the answer, once.
  const Aggregate<Number>& finish() {
    if (facts_.values == 0) return facts_;
    CELLAR_ASSERT(!Kind::less(max_, min_));
    const auto count = static_cast<double>(facts_.values);
    facts_.sum = Kind::shown(sums_.total());
    facts_.min = Kind::shown(min_);
    facts_.max = Kind::shown(max_);
    facts_.average = Kind::as_double(sums_.total()) / count;
    facts_.deviation = std::sqrt(squares_ / count);
    return facts_;
  }

 private:
  static Status bad(std::string_view value) {
    constexpr size_t kShown = 60;
    return Status::invalid_argument(fmt::format("the value \"{}{}\" is no {}",
                                                escaped(value.substr(0, kShown)),
                                                value.size() > kShown ? "…" : "", Kind::kWhat))
        .hinting("AggregateOptions::count_bad counts such values");
  }

  Aggregate<Number> facts_;
  Kind sums_;
  typename Kind::Value min_ = {};
  typename Kind::Value max_ = {};
  double mean_ = 0;
  double squares_ = 0;
};

Result<std::string_view> group_name(const std::function<Result<size_t>(std::string_view)>& group_of,
                                    std::string_view row) {
  CELLAR_ASSERT(!row.empty());
  if (!group_of) return std::string_view();
  Result<size_t> bytes = group_of(row);
  if (bytes.ok() && *bytes > row.size())
    bytes = Status::invalid_argument(fmt::format("a group of {} bytes, and a row of {}", *bytes, row.size()));
  if (!bytes.ok()) return bytes.status().with_context(fmt::format("row \"{}\"", escaped(row)));
  return row.substr(0, *bytes);
}

// Returns the scan in parts. A filter may drop a row at its end: then rows are read whole.
Result<std::unique_ptr<Scanner>> open_scan(Table& table, const Scan& asked, bool told) {
  if (asked.raw()) return Status::invalid_argument("a raw scan has delete markers, which have no value");
  Scan scan = asked;
  scan.batch(asked.filter() != nullptr ? 0 : kCellsAtOnce).max_result_bytes(0);
  scan.cursor_after_cells(0).cursor_after_ms(told ? kToldEveryMs : 0);
  return table.scan(scan);
}

template <class Number>
Status add_row(const RowView& row, const AggregateOptions& options, Group<Number>& group) {
  for (const CellView& cell : row) CELLAR_TRY(group.add(cell, options.count_bad));
  if (!row.more_cells_in_row()) group.end_row();
  return {};
}

}  // namespace

template <class Number>
Status aggregate_groups(Table& table, const Scan& scan,
                        const std::function<Result<size_t>(std::string_view row)>& group_of,
                        const std::function<Status(const Aggregate<Number>&)>& on_group,
                        const AggregateOptions& options) {
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> scanner,
                    open_scan(table, scan, options.on_way != nullptr));
  std::optional<Group<Number>> group;
  RangeCount met;
  while (scanner->next()) {
    const RowView row = scanner->row();
    if (!row.is_cursor()) {
      CELLAR_TRY_ASSIGN(const std::string_view name, group_name(group_of, row.row()));
      if (group && group->name() != name) {
        CELLAR_TRY(on_group(group->finish()));
        group.reset();
      }
      if (!group) group.emplace(name);
      CELLAR_TRY(add_row(row, options, *group));
      met.cells += row.cells().size();
      met.rows += row.more_cells_in_row() ? 0 : 1;
    }
    if (options.on_way && !options.on_way(met))
      return Status::with_code(Code::kAborted, fmt::format("stopped at {} rows", met.rows));
  }
  CELLAR_TRY(scanner->status());
  return group ? on_group(group->finish()) : Status();
}

template <class Number>
Result<Aggregate<Number>> aggregate(Table& table, const Scan& scan, const AggregateOptions& options) {
  Aggregate<Number> all;
  const auto keep = [&](const Aggregate<Number>& found) {
    all = found;
    return Status();
  };
  CELLAR_TRY(aggregate_groups<Number>(table, scan, {}, keep, options));
  CELLAR_ASSERT(all.group.empty());
  return all;
}

// A template is not shown by a shared library because of its namespace, as other functions are.
#define CELLAR_SHOWN __attribute__((visibility("default")))

template CELLAR_SHOWN Result<Aggregate<int64_t>> aggregate(Table&, const Scan&, const AggregateOptions&);
template CELLAR_SHOWN Result<Aggregate<double>> aggregate(Table&, const Scan&, const AggregateOptions&);
template CELLAR_SHOWN Result<Aggregate<std::string>> aggregate(Table&, const Scan&, const AggregateOptions&);

using GroupOf = std::function<Result<size_t>(std::string_view)>;
template <class Number>
using OnGroup = std::function<Status(const Aggregate<Number>&)>;
template CELLAR_SHOWN Status aggregate_groups(Table&, const Scan&, const GroupOf&, const OnGroup<int64_t>&,
                                              const AggregateOptions&);
template CELLAR_SHOWN Status aggregate_groups(Table&, const Scan&, const GroupOf&, const OnGroup<double>&,
                                              const AggregateOptions&);
template CELLAR_SHOWN Status aggregate_groups(Table&, const Scan&, const GroupOf&,
                                              const OnGroup<std::string>&, const AggregateOptions&);

#undef CELLAR_SHOWN

}  // namespace cellar
