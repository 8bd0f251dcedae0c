// Parses operands and options that people type: bytes with escapes, columns, times, sizes. Shows values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cellar/status.h"

namespace cellar {

// Returns kInvalidArgument: `text` is not `what` ("a time").
Status invalid_operand(std::string_view text, std::string_view what, std::string_view hint);

// Bytes with \xHH escapes, as they are printed. kInvalidArgument says how to write a backslash.
Result<std::string> parse_bytes(std::string_view text);

struct ColumnOperand {
  std::string family;  // empty (":name") in files of other writers only: no table has such a family
  std::optional<std::string>
      qualifier;  // nothing: the whole family ("d"); empty: the column without a name ("d:")
};
Result<ColumnOperand> parse_column(std::string_view text);
// Parses a column, as parse_column() does. Returns kInvalidArgument if the text names a whole family.
Result<ColumnOperand> parse_one_column(std::string_view text);

// Parses a time that a person typed. Accepts "now", "now-2h", "LATEST", a date "2026-11-20", and a date and
// time "2026-11-20T18:04:11.203Z". Also accepts milliseconds since 1970, with or without "ms". Returns
// kInvalidArgument if the date or time of day does not exist. A number without "ms" is refused if it looks
// like a year, a date or seconds. Examples are 2026, 202611, 20261120, 20261120180411 and 1763748251.
Result<int64_t> parse_time(std::string_view text);
// Parses a time that a program wrote. Accepts the same texts as parse_time(), and takes every plain number as
// milliseconds since 1970.
Result<int64_t> parse_written_time(std::string_view text);
// "A..B", either side may be missing: [from, until).
Result<std::pair<int64_t, int64_t>> parse_time_range(std::string_view text);
// "500ms", "90s", "15m", "2h", "7d"; a plain number is milliseconds.
Result<int64_t> parse_duration_ms(std::string_view text);
// "65536", "64k", "1m", "8MiB", "1 GB": bytes, by powers of 1024.
Result<uint64_t> parse_size(std::string_view text);
// Returns whether the text names a cluster ("hbase://master:16000") and not a path.
bool is_cluster(std::string_view text);
// The words between commas.
std::vector<std::string> words_of(std::string_view list);
// The words between those commas that are not in parentheses: "a(b,c),d" has two.
std::vector<std::string> words_outside_parentheses(std::string_view list);
Result<int64_t> parse_integer(std::string_view text);
// A number of things: digits alone, from 0 to 18446744073709551615. Every option that takes a count uses it.
Result<uint64_t> parse_count(std::string_view text);

// Returns `parsed`; an error gets the name of the argument in front ("--ts: …").
template <class T>
Result<T> for_argument(std::string_view name, Result<T> parsed) {
  if (parsed.ok()) return parsed;
  return parsed.status().with_context(name);
}

// Returns the text as a single word for a POSIX shell. The word is quoted if the text holds other characters
// than plain names do.
std::string shell_word(std::string_view text);

// Returns kInvalidArgument: a command has no such action; hints at the nearest of `actions`, or names them.
Status unknown_action(const std::string& action, const std::vector<std::string>& actions);

}  // namespace cellar
