// Filter: hints and texts that all filters share.
#include "filter/parts.h"

#include <fmt/format.h>

#include <tuple>

namespace cellar {
namespace {

// The coordinates of a key, in an order that compares as keys do: newest first, higher types first.
auto coordinates(std::string_view row, std::string_view family, std::string_view qualifier, int64_t timestamp,
                 CellType type) {
  return std::tuple(row, family, qualifier,
                    static_cast<uint64_t>(INT64_MAX) - static_cast<uint64_t>(timestamp),
                    255 - static_cast<int>(type));
}
auto coordinates(const Cell& cell) {
  return coordinates(cell.row, cell.family, cell.qualifier, cell.timestamp, cell.type);
}

}  // namespace

Filter::~Filter() = default;
Comparator::~Comparator() = default;

Cell row_hint(std::string_view row) {
  return {std::string(row), "", "", kLatestTimestamp, CellType::kMaximum, ""};
}

Cell column_hint(const CellView& in_row, std::string_view qualifier) {
  return {std::string(in_row.row()), std::string(in_row.family()), std::string(qualifier),
          kLatestTimestamp,          CellType::kMaximum,           ""};
}

Cell version_hint(const CellView& in_column, int64_t timestamp) {
  return {std::string(in_column.row()),
          std::string(in_column.family()),
          std::string(in_column.qualifier()),
          timestamp,
          CellType::kMaximum,
          ""};
}

std::strong_ordering compare_hints(const Cell& a, const Cell& b) { return coordinates(a) <=> coordinates(b); }

std::strong_ordering compare_hint(const CellView& cell, const Cell& hint) {
  return coordinates(cell.row(), cell.family(), cell.qualifier(), cell.timestamp, cell.type()) <=>
         coordinates(hint);
}

std::string quoted(std::string_view bytes) {
  std::string text = "'";
  for (const char byte : bytes) text.append(byte == '\'' ? 2 : 1, byte);
  return text + "'";
}

std::string call_text(std::string_view name, std::initializer_list<std::string> arguments) {
  std::string text = std::string(name) + "(";
  for (const std::string& argument : arguments) text += (text.back() == '(' ? "" : ", ") + argument;
  return text + ")";
}

std::string test_text(std::string_view name, CompareOp op, const Comparator& comparator) {
  return call_text(name, {std::string(op_text(op)), quoted(comparator.to_text())});
}

}  // namespace cellar
