// Where the regions of a cluster's new table begin: rows at equal distances, as in HBase's RegionSplitter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/status.h"

namespace cellar {

// The keys that are cut into equal ranges. kHex: 8 hexadecimal digits. kUniform: 8 bytes. kDecimal: 8 digits.
enum class SplitBy : uint8_t { kHex, kUniform, kDecimal };

// A larger number is taken for a typing error.
inline constexpr uint64_t kRegionsMax = 100'000;

// Takes hex, uniform and decimal, and HBase's HexStringSplit, UniformSplit and DecimalStringSplit.
// kInvalidArgument hints at the nearest of them.
Result<SplitBy> parse_split_by(std::string_view name);

// Returns the first rows of all regions but the first, ascending. The last region has what the division
// leaves. kInvalidArgument unless `regions` is from 2 to kRegionsMax.
Result<std::vector<std::string>> region_splits(uint64_t regions, SplitBy by);

// Returns " and 3 regions" for 2 rows, for the message that a table was created. Returns "" for no row.
std::string regions_text(const std::vector<std::string>& splits);

}  // namespace cellar
