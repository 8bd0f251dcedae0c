// Rows at equal distances.
#include "tools/store/region_splits.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "cellar/plugin.h"
#include "tools/frame/output.h"

namespace cellar {
namespace {

struct SplitName {
  std::string_view name;
  std::string_view hbase_name;
  SplitBy by;
};
constexpr SplitName kSplitNames[] = {
    {"hex", "HexStringSplit", SplitBy::kHex},
    {"uniform", "UniformSplit", SplitBy::kUniform},
    {"decimal", "DecimalStringSplit", SplitBy::kDecimal},
};

// Returns the number of keys divided by the number of regions.
uint64_t keys_of_region(uint64_t regions, SplitBy by) {
  constexpr uint64_t kHexKeys = uint64_t{1} << 32;
  constexpr uint64_t kDecimalKeys = 100'000'000;
  if (by == SplitBy::kHex) return kHexKeys / regions;
  if (by == SplitBy::kDecimal) return kDecimalKeys / regions;
  const uint64_t quotient = UINT64_MAX / regions;  // there are 2^64 keys, one more
  return UINT64_MAX % regions == regions - 1 ? quotient + 1 : quotient;
}

std::string row_of(uint64_t key, SplitBy by) {
  if (by == SplitBy::kHex) return fmt::format("{:08x}", key);
  if (by == SplitBy::kDecimal) return fmt::format("{:08}", key);
  std::string row;
  for (int shift = 56; shift >= 0; shift -= 8) row += static_cast<char>(key >> shift);
  return row;
}

}  // namespace

Result<SplitBy> parse_split_by(std::string_view name) {
  std::vector<std::string> names;
  for (const SplitName& each : kSplitNames) {
    if (name == each.name || name == each.hbase_name) return each.by;
    names.emplace_back(each.name);
    names.emplace_back(each.hbase_name);
  }
  const std::string nearest = nearest_name(name, names);
  return Status::invalid_argument(fmt::format("unknown split algorithm \"{}\"", escaped(name)))
      .hinting(nearest.empty()
                   ? "hex, uniform or decimal; HBase's names are HexStringSplit, UniformSplit and "
                     "DecimalStringSplit"
                   : fmt::format("did you mean {}?", nearest));
}

Result<std::vector<std::string>> region_splits(uint64_t regions, SplitBy by) {
  if (regions < 2 || regions > kRegionsMax)
    return Status::invalid_argument(
        fmt::format("the number of regions is {}, and must be from 2 to {}", regions, kRegionsMax));
  const uint64_t keys = keys_of_region(regions, by);
  std::vector<std::string> rows;
  rows.reserve(regions - 1);
  for (uint64_t i = 1; i < regions; ++i) rows.push_back(row_of(keys * i, by));
  return rows;
}

std::string regions_text(const std::vector<std::string>& splits) {
  return splits.empty() ? "" : fmt::format(" and {}", counted(splits.size() + 1, "region"));
}

}  // namespace cellar
