// Parsing and printing of cells.
#include "tests/cell_support/cell_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/bytes.h"
#include "base/coding.h"
#include "cell/cell_order.h"
#include "tests/support/data_driven.h"

namespace cellar::testing {
namespace {

constexpr std::array kTypes = {
    std::pair{CellType::kPut, std::string_view("put")},
    std::pair{CellType::kDelete, std::string_view("delete")},
    std::pair{CellType::kDeleteFamilyVersion, std::string_view("delete_family_version")},
    std::pair{CellType::kDeleteColumn, std::string_view("delete_column")},
    std::pair{CellType::kDeleteFamily, std::string_view("delete_family")},
    std::pair{CellType::kMinimum, std::string_view("minimum")},
    std::pair{CellType::kMaximum, std::string_view("maximum")},
};

void fail(std::string_view text, std::string_view why) { ADD_FAILURE() << "cell '" << text << "': " << why; }

std::string bytes_of(std::string_view text) {
  Result<std::string> bytes = unescaped(text);
  if (!bytes.ok()) fail(text, bytes.status().message());
  return std::move(bytes).value_or(std::string(text));
}

// Bytes that mean something in the text form are escaped too.
std::string text_of(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    if (std::string_view("/:#=+ ").find(c) != std::string_view::npos) {
      text += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    } else {
      append_escaped(text, std::string_view(&c, 1));
    }
  }
  return text;
}

template <class Number>
Number number_of(std::string_view text, std::string_view whole) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    fail(whole, "not a number: " + std::string(text));
  return number;
}

int64_t timestamp_of(std::string_view text, std::string_view whole) {
  if (text == "latest") return kLatestTimestamp;
  if (text == "oldest") return kOldestTimestamp;
  return number_of<int64_t>(text, whole);
}

// Cuts `text` at the first `mark`. Returns the part before the mark, and leaves the part after it. Without a
// mark, returns the whole text and leaves nothing.
std::string_view take(std::string_view& text, char mark) {
  const size_t at = text.find(mark);
  const std::string_view before = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return before;
}

void add_tag(Cell& cell, std::string_view tag, std::string_view whole) {
  const std::string_view name = take(tag, '=');
  if (name == "ttl") {
    cell.tags += ttl_tag(number_of<int64_t>(tag, whole));
  } else {
    append_tag(cell.tags, number_of<uint8_t>(name, whole), bytes_of(tag));
  }
}

std::string text_of_timestamp(int64_t timestamp) {
  if (timestamp == kLatestTimestamp) return "latest";
  if (timestamp == kOldestTimestamp) return "oldest";
  return std::to_string(timestamp);
}

std::string_view text_of_type(CellType type) {
  for (const auto& [each, name] : kTypes)
    if (each == type) return name;
  return "?";
}

std::string text_of_tags(std::string_view tags) {
  std::string text;
  while (tags.size() >= 3) {
    const size_t size = std::min<size_t>(load_be16(tags.data()), tags.size() - 2);
    const std::string_view value = tags.substr(3, size - 1);
    if (static_cast<uint8_t>(tags[2]) == kTtlTag && value.size() == 8) {
      text += fmt::format(" +ttl={}", static_cast<int64_t>(load_be64(value.data())));
    } else {
      text += fmt::format(" +{}={}", static_cast<uint8_t>(tags[2]), text_of(value));
    }
    tags.remove_prefix(size + 2);
  }
  return text;
}

}  // namespace

std::string ttl_tag(int64_t ttl_ms) {
  std::string value;
  append_be64(value, static_cast<uint64_t>(ttl_ms));
  std::string tag;
  append_tag(tag, kTtlTag, value);
  return tag;
}

Cell parse_cell(std::string_view text) {
  Cell cell;
  std::string_view tags = text;
  std::string_view key_and_value = take(tags, '+');
  if (!key_and_value.empty() && key_and_value.back() == ' ') key_and_value.remove_suffix(1);
  std::string_view value = key_and_value;
  std::string_view sequence = take(value, '=');
  std::string_view key = take(sequence, '#');
  cell.row = bytes_of(take(key, '/'));
  std::string_view column = take(key, '/');
  if (column.find(':') == std::string_view::npos) fail(text, "the column is family:qualifier");
  cell.family = bytes_of(take(column, ':'));
  cell.qualifier = bytes_of(column);
  cell.timestamp = timestamp_of(take(key, '/'), text);
  if (!key.empty()) {
    const auto* type = std::ranges::find(kTypes, key, &std::pair<CellType, std::string_view>::second);
    if (type == kTypes.end()) fail(text, "unknown type");
    if (type != kTypes.end()) cell.type = type->first;
  }
  if (!sequence.empty()) cell.sequence = number_of<uint64_t>(sequence, text);
  cell.value = bytes_of(value);
  while (!tags.empty()) {
    std::string_view tag = take(tags, '+');
    if (!tag.empty() && tag.back() == ' ') tag.remove_suffix(1);
    add_tag(cell, tag, text);
  }
  return cell;
}

Cells parse_cells(std::string_view lines) {
  Cells cells;
  for (const std::string& line : split_lines(lines))
    if (!line.empty()) cells.push_back(parse_cell(line));
  return cells;
}

std::string print_cell(const CellView& cell) {
  std::string text =
      fmt::format("{}/{}:{}/{}/{}", text_of(cell.row()), text_of(cell.family()), text_of(cell.qualifier()),
                  text_of_timestamp(cell.timestamp), text_of_type(cell.type()));
  if (cell.sequence != 0) text += fmt::format("#{}", cell.sequence);
  if (cell.value_size != 0) text += "=" + text_of(cell.value_bytes());
  return text + text_of_tags(cell.tags_bytes());
}

std::string print_cell(const Cell& cell) { return print_cell(owned(cell).view()); }

std::string print_cells(const Cells& cells) {
  if (cells.empty()) return "none\n";
  std::string text;
  for (const Cell& cell : cells) text += print_cell(cell) + "\n";
  return text;
}

OwnedCell owned(const Cell& cell) {
  OwnedCell result;
  result.assign(cell.row, cell.family, cell.qualifier, cell.timestamp, cell.type, cell.sequence, cell.value,
                cell.tags);
  return result;
}

int compare(const Cell& a, const Cell& b) {
  const auto order = compare_cells(owned(a).view(), owned(b).view());
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

Cells sorted(Cells cells) {
  std::ranges::stable_sort(cells, [](const Cell& a, const Cell& b) { return compare(a, b) < 0; });
  return cells;
}

}  // namespace cellar::testing
