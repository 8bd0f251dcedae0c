// Names: which bytes, and where.
#include "engine/schema/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "cellar/cell.h"
#include "cellar/plugin.h"

namespace cellar {
namespace {

constexpr size_t kNameBytesMax = 255;
constexpr std::string_view kLimits = "1 to 255 bytes, not beginning with '.' or '-'";

bool is_name(std::string_view name, bool namespaces) {
  const auto allowed = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || (namespaces && c == ':');
  };
  return !name.empty() && name.size() <= kNameBytesMax && std::ranges::all_of(name, allowed) &&
         name.front() != '.' && name.front() != '-';
}

Status no_name(std::string_view what, std::string_view name) {
  return Status::invalid_argument(fmt::format("invalid {} name \"{}\"", what, escaped(name)));
}

}  // namespace

Status check_name(std::string_view what, std::string_view name) {
  if (is_name(name, false)) return {};
  return no_name(what, name).hinting(fmt::format("letters, digits, '_', '-', '.'; {}", kLimits));
}

Status check_table_name(std::string_view name) {
  if (is_name(name, true) && name.front() != ':' && name.back() != ':' && std::ranges::count(name, ':') <= 1)
    return {};
  return no_name("table", name)
      .hinting(fmt::format("letters, digits, '_', '-', '.' and one ':' after a namespace; {}", kLimits));
}

Status check_splits(std::vector<std::string> splits) {
  std::ranges::sort(splits);
  if (!splits.empty() && splits.front().empty())
    return Status::invalid_argument("a row at which a region begins is empty")
        .hinting("leave it out: the first region begins there");
  const auto twice = std::ranges::adjacent_find(splits);
  if (twice != splits.end())
    return Status::invalid_argument(fmt::format("two regions would begin at row \"{}\"", escaped(*twice)));
  for (const std::string& row : splits)
    if (row.size() > kRowBytesMax)
      return Status::invalid_argument(
          fmt::format("a row at which a region begins has {} bytes, more than {}", row.size(), kRowBytesMax));
  return {};
}

Status unknown_family(std::string_view table, std::string_view family,
                      const std::vector<std::string>& families) {
  std::string all;
  for (const std::string& name : families) all += (all.empty() ? "" : ", ") + name;
  const std::string nearest = nearest_name(family, families);
  return Status::invalid_argument(fmt::format("table {} has no family \"{}\"", table, escaped(family)))
      .hinting(nearest.empty() ? "its families: " + all : "did you mean " + nearest + "?");
}

}  // namespace cellar
