// Differences between two HFiles outside their cells: trailer and file info.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hfile/check/describe.h"

namespace cellar {

// A fact that both files have with different values, or one alone has.
struct MetaDifference {
  std::string name;              // "trailer.codec", "info.MAX_SEQ_ID_KEY"
  std::optional<std::string> a;  // as text
  std::optional<std::string> b;
};

// In the order of the names of each part.
std::vector<MetaDifference> diff_meta(const HFileDescription& a, const HFileDescription& b);

}  // namespace cellar
