// What people type: bytes with escapes, columns, times, sizes, and how values are shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cellar/filter.h"
#include "cellar/query.h"
#include "cellar/status.h"

namespace cellar {

class Arguments;

// Bytes with \xHH escapes, as they are printed. kInvalidArgument says how to write a backslash.
Result<std::string> parse_bytes(std::string_view text);

struct ColumnOperand {
  std::string family;  // empty (":name") in files of other writers only: no table has such a family
  std::optional<std::string>
      qualifier;  // nothing: the whole family ("d"); empty: the column without a name ("d:")
};
Result<ColumnOperand> parse_column(std::string_view text);
// … where one column is needed.
Result<ColumnOperand> parse_one_column(std::string_view text);

// Milliseconds since the epoch, "now", "now-2h", an ISO date "2026-11-20", or date and time
// "2026-11-20T18:04:11.203Z". kInvalidArgument also for dates and times of day that do not exist.
Result<int64_t> parse_time(std::string_view text);
// "A..B", either side may be missing: [from, until).
Result<std::pair<int64_t, int64_t>> parse_time_range(std::string_view text);
// "500ms", "90s", "15m", "2h", "7d"; a plain number is milliseconds.
Result<int64_t> parse_duration_ms(std::string_view text);
// "65536", "64k", "1m": bytes.
Result<uint64_t> parse_size(std::string_view text);
// The words between commas.
std::vector<std::string> words_of(std::string_view list);
Result<int64_t> parse_integer(std::string_view text);
// A number of things: digits alone, from 0 to 18446744073709551615. Every option that takes a count uses it.
Result<uint64_t> parse_count(std::string_view text);

// Chooses columns, versions, times and filter of a Get or Scan, as the options of those names say.
struct ReadOptions {
  std::vector<std::string> columns;
  std::optional<std::string> versions;  // a number or "all"
  std::optional<std::string> time;
  std::optional<std::string> filter;
  uint64_t limit_per_family = 0;
  uint64_t offset_per_family = 0;
  bool per_cell = false;  // these two count cells
  bool strict_versions = false;
};
// What get and scan alone have: limits per family, strict versions.
void declare_row_options(Arguments& arguments, ReadOptions& options);
template <class Read>
Status apply_read_options(const ReadOptions& options, Read& read);

// Implementation.
Result<uint32_t> parse_versions(std::string_view text);
// parse_filter() of a text in which \xHH stands for a byte; other backslashes stay, for regular expressions.
Result<FilterPtr> parse_filter_option(std::string_view text);

template <class Read>
Status apply_read_options(const ReadOptions& options, Read& read) {
  for (const std::string& text : options.columns) {
    CELLAR_TRY_ASSIGN(const ColumnOperand column, parse_column(text));
    if (column.qualifier) {
      read.column(column.family, *column.qualifier);
    } else {
      read.family(column.family);
    }
  }
  if (options.versions) {
    CELLAR_TRY_ASSIGN(const uint32_t versions, parse_versions(*options.versions));
    read.versions(versions);
  }
  if (options.time) {
    CELLAR_TRY_ASSIGN(const auto range, parse_time_range(*options.time));
    read.time_range(range.first, range.second);
  }
  if (options.filter) {
    CELLAR_TRY_ASSIGN(FilterPtr filter, parse_filter_option(*options.filter));
    read.filter(std::move(filter));
  }
  for (const uint64_t count : {options.limit_per_family, options.offset_per_family})
    if (count > UINT32_MAX)
      return Status::invalid_argument("--limit-per-family and --offset-per-family go up to 4,294,967,295");
  read.max_per_family(static_cast<uint32_t>(options.limit_per_family));
  read.family_offset(static_cast<uint32_t>(options.offset_per_family));
  read.count_per_family(options.per_cell ? CountBy::kCells : CountBy::kColumns);
  read.strict_versions(options.strict_versions);
  return {};
}

// kInvalidArgument: a command has no such action; hints at the nearest of `actions`, or names them.
Status unknown_action(const std::string& action, const std::vector<std::string>& actions);

}  // namespace cellar
