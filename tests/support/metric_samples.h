// Samples in texts of metrics, whatever the identity of the store is.
#pragma once

#include <sstream>
#include <string>
#include <string_view>

namespace cellar::testing {

// Returns whether `text` has the sample of a store. `labels` follow the label "store": "operation=\"put\"".
inline bool has_sample(const std::string& text, const std::string& name, const std::string& labels,
                       const std::string& value) {
  const std::string beginning = name + "{store=\"";
  const std::string end = (labels.empty() ? "" : "," + labels) + "} " + value;
  constexpr size_t kIdentityDigits = 32;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.size() == beginning.size() + kIdentityDigits + 1 + end.size() && line.starts_with(beginning) &&
        line.ends_with(end))
      return true;
  return false;
}

}  // namespace cellar::testing
