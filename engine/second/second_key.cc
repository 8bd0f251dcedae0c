// SecondKey: words, columns and ranges of bytes; then what must hold for all parts together.
#include "engine/second/second_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/coding.h"

namespace cellar {
namespace {

constexpr std::string_view kSpaces = " \t\n";

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

std::string_view trimmed(std::string_view text) {
  const size_t from = text.find_first_not_of(kSpaces);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kSpaces) - from + 1);
}

std::vector<std::string_view> split(std::string_view text, std::string_view at) {
  std::vector<std::string_view> pieces;
  for (size_t from = 0; from <= text.size();) {
    const size_t end = std::min(text.find_first_of(at, from), text.size());
    pieces.push_back(trimmed(text.substr(from, end - from)));
    from = end + 1;
  }
  return pieces;
}

Status bad_part(std::string_view part, std::string_view fault) {
  return Status::invalid_argument(fmt::format("part \"{}\" of the key: {}", escaped(part), fault));
}

Result<SecondColumn> parse_column(std::string_view text) {
  const size_t colon = text.find(':');
  SecondColumn column{std::string(text.substr(0, colon)), {}, colon == std::string_view::npos};
  if (column.family.empty())
    return Status::invalid_argument(fmt::format("\"{}\" names no family", escaped(text)))
        .hinting("a column is FAMILY:QUALIFIER");
  if (column.whole) return column;
  CELLAR_TRY_ASSIGN(column.qualifier, unescaped(text.substr(colon + 1)));
  return column;
}

bool parse_number(std::string_view text, size_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number <= 32767;
}

// The "[4:12]" of "row[4:12]".
Status read_range(std::string_view text, SecondPart& part) {
  const Status expected =
      Status::invalid_argument("expected row[FROM:UNTIL] or row[FROM:] with numbers up to 32767");
  const size_t colon = text.find(':');
  if (text.size() < 3 || text.front() != '[' || text.back() != ']' || colon == std::string_view::npos)
    return expected;
  const std::string_view until = text.substr(colon + 1, text.size() - colon - 2);
  if (!parse_number(text.substr(1, colon - 1), part.from) ||
      (!until.empty() && !parse_number(until, part.until)))
    return expected;
  if (part.until <= part.from) return Status::invalid_argument("the range of bytes is empty");
  return {};
}

Status read_source(std::string_view text, SecondPart& part) {
  if (text == "row" || text.starts_with("row[")) {
    return text == "row" ? Status() : read_range(text.substr(3), part);
  }
  CELLAR_TRY_ASSIGN(part.column, parse_column(text));
  if (part.column.whole)
    return Status::invalid_argument("no such source of a part")
        .hinting("a part begins with row, row[FROM:UNTIL], FAMILY:QUALIFIER or FAMILY:*");
  part.column.whole = text.substr(text.find(':')) == ":*";
  if (part.column.whole) part.column.qualifier.clear();
  part.source = part.column.whole ? SecondPart::Source::kQualifiers : SecondPart::Source::kValue;
  return {};
}

std::optional<SecondPart::Form> form_named(std::string_view word) {
  using Form = SecondPart::Form;
  constexpr std::pair<std::string_view, Form> kForms[] = {
      {"text", Form::kText}, {"blob", Form::kBlob}, {"int64", Form::kInt64}, {"raw", Form::kRaw}};
  for (const auto& [name, form] : kForms)
    if (name == word) return form;
  return std::nullopt;
}

Status read_words(std::span<const std::string_view> words, SecondPart& part,
                  std::optional<SecondPart::Form>& form) {
  for (const std::string_view word : words) {
    if (word == "desc" || word == "asc") {
      part.order = word == "desc" ? KeyOrder::kDescending : KeyOrder::kAscending;
      continue;
    }
    const auto named = form_named(word);
    if (!named || form)
      return Status::invalid_argument(named ? "two forms" : fmt::format("unknown word \"{}\"", escaped(word)))
          .hinting("a source may be followed by one of text, blob, int64 and raw, and by desc");
    form = named;
  }
  return {};
}

Result<SecondPart> parse_part(std::string_view text, bool last) {
  std::vector<std::string_view> words = split(text, kSpaces);
  std::erase(words, std::string_view());
  if (words.empty()) return Status::invalid_argument("it is empty");
  SecondPart part;
  CELLAR_TRY(read_source(words.front(), part));
  std::optional<SecondPart::Form> form;
  CELLAR_TRY(read_words(std::span(words).subspan(1), part, form));
  const bool of_row = part.source == SecondPart::Source::kRow;
  const bool ascending = part.order == KeyOrder::kAscending;
  const bool plain = ascending && (part.fixed_width() || (of_row && last));
  part.form = form.value_or(plain ? SecondPart::Form::kRaw : SecondPart::Form::kText);
  if (part.form != SecondPart::Form::kRaw) return part;
  if (!ascending)
    return Status::invalid_argument("raw bytes have one order").hinting("write text or blob instead of raw");
  if (!part.fixed_width() && !last)
    return Status::invalid_argument("raw bytes of any number have no end, so nothing can follow")
        .hinting("write text or blob instead of raw");
  return part;
}

// The name of a field: that of the column, as far as names of fields have such characters.
std::string name_of(const SecondPart& part) {
  if (part.source == SecondPart::Source::kQualifiers) return "qualifier";
  if (part.source == SecondPart::Source::kRow)
    return part.from == 0 ? "row" : fmt::format("row_{}", part.from);
  std::string name;
  for (const char c : part.column.qualifier) name += is_word_character(c) ? c : '_';
  return name.empty() || (name.front() >= '0' && name.front() <= '9') || name.front() == '-' ? "_" + name
                                                                                             : name;
}

std::string type_of(const SecondPart& part) {
  const char* const order = part.order == KeyOrder::kDescending ? " desc" : "";
  switch (part.form) {
    case SecondPart::Form::kText:
      return fmt::format("text{}", order);
    case SecondPart::Form::kBlob:
      return fmt::format("blob{}", order);
    case SecondPart::Form::kInt64:
      return fmt::format("int64{}", order);
    case SecondPart::Form::kRaw:
      break;
  }
  return part.fixed_width() ? fmt::format("raw({})", part.until - part.from) : "raw";
}

// Returns true if the parts of the row hold it whole.
bool hold_row(const std::vector<SecondPart>& parts) {
  std::vector<std::pair<size_t, size_t>> ranges;
  for (const SecondPart& part : parts)
    if (part.source == SecondPart::Source::kRow) ranges.emplace_back(part.from, part.until);
  std::ranges::sort(ranges);
  size_t held = 0;
  for (const auto& [from, until] : ranges)
    if (from <= held) held = std::max(held, until);
  return held == std::string::npos;
}

}  // namespace

Result<std::vector<SecondPart>> parse_second_key(std::string_view text) {
  std::vector<SecondPart> parts;
  const std::vector<std::string_view> texts = split(text, ",");
  const auto parse_all = [&](bool row_follows) -> Status {
    parts.clear();
    for (size_t i = 0; i < texts.size(); ++i) {
      auto part = parse_part(texts[i], i + 1 == texts.size() && !row_follows);
      if (!part.ok()) return bad_part(texts[i], part.status().message()).hinting(part.status().hint());
      parts.push_back(std::move(part).value());
    }
    return {};
  };
  CELLAR_TRY(parse_all(false));
  if (!hold_row(parts)) {
    CELLAR_TRY(parse_all(true));  // the last part is not the last any more
    parts.push_back({.form = SecondPart::Form::kRaw});
  }
  const auto many = [](const SecondPart& part) { return part.source == SecondPart::Source::kQualifiers; };
  if (std::ranges::count_if(parts, many) > 1)
    return Status::invalid_argument("two parts of the key are qualifiers of a family; one at most may be");
  CELLAR_ASSERT(!parts.empty() && hold_row(parts));
  return parts;
}

Result<std::vector<SecondColumn>> parse_second_columns(std::string_view text) {
  std::vector<SecondColumn> columns;
  if (trimmed(text).empty()) return columns;
  for (const std::string_view each : split(text, ",")) {
    CELLAR_TRY_ASSIGN(SecondColumn column, parse_column(each));
    columns.push_back(std::move(column));
  }
  return columns;
}

std::string fields_of(const std::vector<SecondPart>& parts) {
  std::string text;
  std::set<std::string> names;
  for (const SecondPart& part : parts) {
    std::string name = name_of(part);
    while (!names.insert(name).second) name += "_";
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, type_of(part));
  }
  return text;
}

Status append_part(const SecondPart& part, std::string_view bytes, KeyBuilder& key) {
  switch (part.form) {
    case SecondPart::Form::kText:
      if (bytes.find('\0') != std::string_view::npos)
        return Status::invalid_argument(
                   fmt::format("\"{}\" has a zero byte, and the form is text", escaped(bytes)))
            .hinting("the form blob takes any bytes");
      key.text(bytes, part.order);
      break;
    case SecondPart::Form::kBlob:
      key.blob(bytes, part.order);
      break;
    case SecondPart::Form::kInt64:
      if (bytes.size() != sizeof(int64_t))
        return Status::invalid_argument(
            fmt::format("\"{}\" has {} bytes, and the form int64 needs 8", escaped(bytes), bytes.size()));
      key.int64(static_cast<int64_t>(load_be64(bytes.data())), part.order);
      break;
    case SecondPart::Form::kRaw:
      key.raw(bytes);
      break;
  }
  return {};
}

Result<std::string_view> bytes_of_row(const SecondPart& part, std::string_view row) {
  CELLAR_ASSERT(part.source == SecondPart::Source::kRow && part.from < part.until);
  if (part.fixed_width() && row.size() < part.until)
    return Status::invalid_argument(fmt::format("the row has {} bytes, and the key takes its bytes {} to {}",
                                                row.size(), part.from, part.until - 1));
  return row.substr(std::min(part.from, row.size()), part.until - part.from);
}

}  // namespace cellar
