// The options of commands that read: columns, versions, times, filter, limits per family.
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
#include "tools/frame/arguments.h"
#include "tools/frame/operands.h"

namespace cellar {

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
// Declares the options that only get and scan have: limits per family, strict versions.
void declare_row_options(Arguments& arguments, ReadOptions& options);
template <class Read>
Status apply_read_options(const ReadOptions& options, Read& read);

// Parses a number of versions, or "all".
Result<uint32_t> parse_versions(std::string_view text);
// parse_filter() of a text in which \xHH stands for a byte; other backslashes stay, for regular expressions.
Result<FilterPtr> parse_filter_option(std::string_view text);

template <class Read>
Status apply_read_options(const ReadOptions& options, Read& read) {
  for (const std::string& text : options.columns) {
    CELLAR_TRY_ASSIGN(const ColumnOperand column, for_argument("COLUMN", parse_column(text)));
    if (column.qualifier) {
      read.column(column.family, *column.qualifier);
    } else {
      read.family(column.family);
    }
  }
  if (options.versions) {
    CELLAR_TRY_ASSIGN(const uint32_t versions, for_argument("--versions", parse_versions(*options.versions)));
    read.versions(versions);
  }
  if (options.time) {
    CELLAR_TRY_ASSIGN(const auto range, for_argument("--time", parse_time_range(*options.time)));
    read.time_range(range.first, range.second);
  }
  if (options.filter) {
    CELLAR_TRY_ASSIGN(FilterPtr filter, for_argument("--filter", parse_filter_option(*options.filter)));
    read.filter(std::move(filter));
  }
  for (const uint64_t count : {options.limit_per_family, options.offset_per_family})
    if (count > UINT32_MAX)
      return Status::invalid_argument("--limit-per-family and --offset-per-family go up to 4,294,967,295");
  read.max_per_family(static_cast<uint32_t>(options.limit_per_family));
  read.family_offset(static_cast<uint32_t>(options.offset_per_family));
  read.count_cells_per_family(options.per_cell);
  read.strict_versions(options.strict_versions);
  return {};
}

}  // namespace cellar
