// Parsing of --group-by.
#include "tools/query/row_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "cellar/cell.h"
#include "cellar/plugin.h"
#include "tools/frame/operands.h"

namespace cellar {
namespace {

constexpr std::string_view kForms = "bytes:N, fields:N, until:BYTES, or a field of the table's KEY_FIELDS";

Result<size_t> parse_number(std::string_view text) {
  const Result<uint64_t> number = parse_count(text);
  if (number.ok() && *number >= 1 && *number <= kRowBytesMax) return static_cast<size_t>(*number);
  return Status::invalid_argument(
      fmt::format("\"{}\" is not a number from 1 to {}", escaped(text), kRowBytesMax));
}

// Rows without the separator are groups of their own, so that a group is a prefix of no other one.
size_t bytes_until(std::string_view row, std::string_view separator) {
  const size_t at = row.find(separator);
  return at == row.npos ? row.size() : at + separator.size();
}

Status unknown_groups(std::string_view text, std::vector<std::string> known) {
  const std::string_view word = text.substr(0, text.find(':'));
  known.insert(known.end(), {"bytes", "fields", "until"});
  const std::string nearest = nearest_name(word, known);
  return Status::invalid_argument(fmt::format("\"{}\" names no part of a row", escaped(text)))
      .hinting(nearest.empty() || nearest == word ? std::string(kForms)
                                                  : fmt::format("did you mean {}?", nearest));
}

}  // namespace

Result<RowGroups> RowGroups::parse(std::string_view text, const std::optional<KeySchema>& schema) {
  const size_t colon = text.find(':');
  const std::string_view form = colon == text.npos ? std::string_view() : text.substr(0, colon);
  const std::string_view rest = text.substr(form.empty() ? 0 : colon + 1);
  if (form == "bytes") return of_bytes(rest);
  if (form == "until") return of_separator(rest);
  const std::vector<std::string> names = schema ? schema->names() : std::vector<std::string>();
  size_t fields = static_cast<size_t>(std::ranges::find(names, text) - names.begin()) + 1;
  if (form == "fields") {
    CELLAR_TRY_ASSIGN(fields, parse_number(rest));
    if (schema && fields > names.size())
      return Status::invalid_argument(fmt::format("a key of the table has {} fields", names.size()))
          .hinting("the fields are: " + schema->to_text());
  } else if (fields > names.size()) {
    return unknown_groups(text, names);
  }
  if (!schema) {
    RowGroups groups([fields](std::string_view row) { return key_fields_bytes(row, fields); });
    groups.of_plain_fields_ = true;
    return groups;
  }
  return RowGroups(
      [keys = *schema, fields](std::string_view row) { return keys.bytes_of_first(row, fields); });
}

Result<RowGroups> RowGroups::of_bytes(std::string_view number) {
  CELLAR_TRY_ASSIGN(const size_t bytes, parse_number(number));
  return RowGroups([bytes](std::string_view row) { return std::min(row.size(), bytes); });
}

Result<RowGroups> RowGroups::of_separator(std::string_view text) {
  CELLAR_TRY_ASSIGN(const std::string separator, parse_bytes(text));
  if (separator.empty()) return Status::invalid_argument("the separator is empty").hinting("write until:/");
  return RowGroups([separator](std::string_view row) { return bytes_until(row, separator); });
}

}  // namespace cellar
