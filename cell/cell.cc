// Cells: names of types, tags, and the JSON form of cell streams.
#include "cellar/cell.h"
#include "base/assert.h"

#include <array>
#include <charconv>
#include <utility>

#include "base/bytes.h"
#include "base/coding.h"

namespace cellar {
namespace {

constexpr std::array kTypeNames = {
    std::pair{CellType::kPut, std::string_view("Put")},
    std::pair{CellType::kDelete, std::string_view("Delete")},
    std::pair{CellType::kDeleteFamilyVersion, std::string_view("DeleteFamilyVersion")},
    std::pair{CellType::kDeleteColumn, std::string_view("DeleteColumn")},
    std::pair{CellType::kDeleteFamily, std::string_view("DeleteFamily")},
};

// Printable bytes stay; every other byte becomes \xHH, which in JSON reads \\xHH. Quotes are escaped by a
// backslash.
void append_json_bytes(std::string& to, std::string_view bytes) {
  constexpr char kHex[] = "0123456789ABCDEF";
  to.push_back('"');
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte > 0x7e || c == '\\') {
      const char text[] = {'\\', '\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
      to.append(text, sizeof text);
    } else {
      if (c == '"') to.push_back('\\');
      to.push_back(c);
    }
  }
  to.push_back('"');
}

template <class Number>
void append_number(std::string& to, Number number) {
  char text[24];
  const auto [end, error] = std::to_chars(text, text + sizeof text, number);
  CELLAR_ASSERT(error == std::errc());  // the buffer holds every 64-bit number
  to.append(text, end);
}

void append_json_tags(std::string& to, std::string_view tags) {
  to += ",\"tags\":[";
  bool first = true;
  while (tags.size() >= 3) {
    const size_t size = load_be16(tags.data());
    if (size < 1 || size + 2 > tags.size()) break;
    if (!std::exchange(first, false)) to.push_back(',');
    to.push_back('[');
    append_number(to, static_cast<unsigned>(static_cast<unsigned char>(tags[2])));
    to.push_back(',');
    append_json_bytes(to, tags.substr(3, size - 1));
    to.push_back(']');
    tags.remove_prefix(size + 2);
  }
  to.push_back(']');
}

}  // namespace

std::string_view type_name(CellType type) {
  if (type == CellType::kMinimum) return "Minimum";
  if (type == CellType::kMaximum) return "Maximum";
  for (const auto& [each, name] : kTypeNames)
    if (each == type) return name;
  return "Unknown";
}

bool parse_type(std::string_view name, CellType& type) {
  for (const auto& [each, text] : kTypeNames) {
    if (text != name) continue;
    type = each;
    return true;
  }
  return false;
}

void append_json(std::string& to, const CellView& cell, bool mvcc, bool tags, bool value) {
  to += "{\"row\":";
  append_json_bytes(to, cell.row());
  to += ",\"family\":";
  append_json_bytes(to, cell.family());
  to += ",\"qualifier\":";
  append_json_bytes(to, cell.qualifier());
  to += ",\"ts\":";
  append_number(to, cell.timestamp);
  to += ",\"type\":\"";
  to += type_name(cell.type());
  to.push_back('"');
  if (value) {
    to += ",\"value\":";
    append_json_bytes(to, cell.value_bytes());
  }
  if (mvcc) {
    to += ",\"mvcc\":";
    append_number(to, cell.sequence);
  }
  if (tags) append_json_tags(to, cell.tags_bytes());
  to.push_back('}');
}

void append_tag(std::string& tags, uint8_t type, std::string_view value) {
  CELLAR_ASSERT(value.size() < UINT16_MAX);
  append_be16(tags, static_cast<uint16_t>(value.size() + 1));
  tags.push_back(static_cast<char>(type));
  tags.append(value);
}

bool find_tag(std::string_view tags, uint8_t type, std::string_view& value) {
  while (tags.size() >= 3) {
    const size_t size = load_be16(tags.data());
    if (size < 1 || size + 2 > tags.size()) return false;
    if (static_cast<uint8_t>(tags[2]) == type) {
      value = tags.substr(3, size - 1);
      return true;
    }
    tags.remove_prefix(size + 2);
  }
  return false;
}

}  // namespace cellar
