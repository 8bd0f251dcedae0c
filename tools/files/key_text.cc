// Flat keys as text.
#include "tools/files/key_text.h"

#include <fmt/format.h>

#include <utility>

#include "base/bytes.h"
#include "base/text_width.h"
#include "cell/cell_codec.h"
#include "cell/cell_key.h"
#include "tools/frame/output.h"

namespace cellar {

std::pair<std::string, std::string> key_parts(std::string_view flat_key) {
  CellView cell;
  if (!parse_flat_key(flat_key.data(), flat_key.size(), cell)) return {readable(flat_key), ""};
  return {readable(cell.row()),
          fmt::format("{}:{}  @{}  {}", readable(cell.family()), readable(cell.qualifier()),
                      time_text(cell.timestamp), type_name(cell.type()))};
}

std::string flat_key_text(std::string_view flat_key) {
  if (flat_key.empty()) return "";
  CellView cell;
  if (!parse_flat_key(flat_key.data(), flat_key.size(), cell)) return escaped(flat_key);
  return fmt::format("{}  {}:{}  @{}  {}", escaped(cell.row()), escaped(cell.family()),
                     escaped(cell.qualifier()), time_text(cell.timestamp), type_name(cell.type()));
}

std::string short_key_text(std::string_view flat_key) {
  auto [row, rest] = key_parts(flat_key);
  constexpr size_t kRowShown = 65;
  cut_to_columns(row, kRowShown);
  return rest.empty() ? row : row + "  " + rest;
}

}  // namespace cellar
