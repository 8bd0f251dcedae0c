// Matches HBase's patterns for names by hand, without regular expressions.
#include "tools/hbase/hbase_names.h"

#include <algorithm>

namespace cellar {
namespace {

constexpr std::string_view kSequenceMark = "_SeqId_";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }
// Letters of other alphabets are bytes above 0x7f.
bool is_alphanumeric(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         static_cast<unsigned char>(c) > 0x7f;
}
bool is_space_letter(char c) { return is_alphanumeric(c) || c == '_'; }
bool is_table_letter(char c) { return is_space_letter(c) || c == '-' || c == '.'; }

// Parses "[namespace=]table=region-hfile".
std::optional<HBaseFileName> parse_link(std::string_view name) {
  const size_t equals = name.rfind('=');
  if (equals == std::string_view::npos) return std::nullopt;
  std::string_view table = name.substr(0, equals);
  const std::string_view place = name.substr(equals + 1);
  HBaseFileName::Link link;
  if (const size_t space = table.find('='); space != std::string_view::npos) {
    link.table.space = table.substr(0, space);
    table.remove_prefix(space + 1);
  }
  link.table.name = table;
  const size_t dash = place.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  link.region = place.substr(0, dash);
  const std::string_view hfile = place.substr(dash + 1);
  if (!is_hbase_table_name(link.table) || !is_hbase_region_name(link.region) || !is_hbase_file_name(hfile))
    return std::nullopt;
  return HBaseFileName{std::string(hfile), std::move(link), {}};
}

}  // namespace

bool is_hbase_region_name(std::string_view name) {
  return !name.empty() && name.size() <= 255 && std::ranges::all_of(name, is_hex);
}

bool is_hbase_family_name(std::string_view name) {
  return !name.empty() && name.size() <= 127 && name.front() != '.' && name != "recovered.edits" &&
         std::ranges::none_of(name, [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return byte < 0x20 || byte == 0x7f || c == ':' || c == '\\' || c == '/';
         });
}

bool is_hbase_table_name(const HBaseTableName& table) {
  return !table.space.empty() && table.space.size() <= 255 &&
         std::ranges::all_of(table.space, is_space_letter) && !table.name.empty() &&
         table.name.size() <= 255 && is_space_letter(table.name.front()) &&
         std::ranges::all_of(table.name, is_table_letter);
}

bool is_hbase_file_name(std::string_view name) {
  const size_t digits = std::min(name.find_first_not_of("0123456789abcdef"), name.size());
  const std::string_view rest = name.substr(digits);
  if (digits == 0 || rest.empty() || rest == "_del") return digits > 0;
  return rest.starts_with(kSequenceMark) && rest.size() > kSequenceMark.size() + 1 && rest.ends_with('_') &&
         std::ranges::all_of(rest.substr(kSequenceMark.size(), rest.size() - kSequenceMark.size() - 1),
                             is_digit);
}

std::optional<HBaseFileName> parse_hbase_reference_name(std::string_view name) {
  if (std::optional<HBaseFileName> link = parse_link(name)) return link;
  // The parent's name has no dot; a table's name may have dots.
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || !is_hbase_region_name(name.substr(dot + 1))) return std::nullopt;
  const std::string_view hfile = name.substr(0, dot);
  std::optional<HBaseFileName> half = parse_link(hfile);
  if (!half && is_hbase_file_name(hfile)) half = HBaseFileName{std::string(hfile), {}, {}};
  if (half) half->parent = name.substr(dot + 1);
  return half;
}

}  // namespace cellar
