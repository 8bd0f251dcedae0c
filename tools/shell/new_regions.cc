// NewRegions: attributes of HBase's shell, turned into rows.
#include "tools/shell/new_regions.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/schema/names.h"
#include "tools/frame/operands.h"
#include "tools/store/region_splits.h"
#include "tools/store/row_splits.h"

namespace cellar {
namespace {

constexpr std::string_view kAttributes[] = {"SPLITS", "SPLITS_FILE", "NUMREGIONS", "SPLITALGO"};

}  // namespace

bool NewRegions::take(std::string_view name, const ShellValue& value) {
  const auto* const known = std::ranges::find(kAttributes, name);
  if (known == std::end(kAttributes)) return false;
  given_.emplace_back(*known, &value);
  return true;
}

const ShellValue* NewRegions::find(std::string_view name) const {
  const auto found = std::ranges::find(given_, name, &std::pair<std::string_view, const ShellValue*>::first);
  return found == given_.end() ? nullptr : found->second;
}

// The order of the statement decides which attribute is the one too many.
Status NewRegions::check_together(ShellCall& call) const {
  std::string_view way;
  for (size_t i = 0; i < given_.size(); ++i) {
    const auto& [name, value] = given_[i];
    if (find(name) != value) return call.fault(*value, fmt::format("{} is given twice", name));
    const std::string_view names = name == "SPLITALGO" ? "NUMREGIONS" : name;
    if (!way.empty() && way != names)
      return call.fault(*value, fmt::format("{} names the regions, and so does {}", given_[0].first, name),
                        "leave one of them out");
    way = names;
  }
  return {};
}

// HBase reads \xHH in them as a byte, also in '…'.
Result<std::vector<std::string>> NewRegions::listed(ShellCall& call, const ShellValue& list) const {
  CELLAR_TRY_ASSIGN(std::vector<std::string> rows, call.texts_of(list));
  for (std::string& row : rows) {
    Result<std::string> bytes = parse_bytes(row);
    if (!bytes.ok()) return call.at(list, bytes.status());
    row = std::move(bytes).value();
  }
  CELLAR_TRY(call.at(list, check_splits(rows)));
  return rows;
}

Result<std::vector<std::string>> NewRegions::of_equal_ranges(ShellCall& call) const {
  const ShellValue* const number = find("NUMREGIONS");
  const ShellValue* const algorithm = find("SPLITALGO");
  if (number == nullptr || algorithm == nullptr)
    return call.fault(*given_.front().second,
                      fmt::format("{} is missing", number == nullptr ? "NUMREGIONS" : "SPLITALGO"),
                      "both are needed: NUMREGIONS => 16, SPLITALGO => 'HexStringSplit'");
  CELLAR_TRY_ASSIGN(const int64_t regions, call.number_of(*number, 2));
  CELLAR_TRY_ASSIGN(const std::string name, call.text_of(*algorithm));
  const Result<SplitBy> by = parse_split_by(name);
  if (!by.ok()) return call.at(*algorithm, by.status());
  Result<std::vector<std::string>> rows = region_splits(static_cast<uint64_t>(regions), *by);
  if (!rows.ok()) return call.at(*number, rows.status());
  return rows;
}

Result<std::vector<std::string>> NewRegions::rows(ShellCall& call) const {
  if (given_.empty()) return std::vector<std::string>();
  CELLAR_TRY(check_together(call));
  if (const ShellValue* const list = find("SPLITS")) return listed(call, *list);
  const ShellValue* const file = find("SPLITS_FILE");
  if (file == nullptr) return of_equal_ranges(call);
  CELLAR_TRY_ASSIGN(const std::string path, call.text_of(*file));
  if (path.empty()) return call.fault(*file, "the path of the file is empty");
  const Result<RowSplits> splits = RowSplits::read(path);
  if (!splits.ok()) return call.at(*file, splits.status());
  return splits->rows();
}

}  // namespace cellar
