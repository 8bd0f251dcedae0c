// Texts of statuses, and checks on them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cellar/status.h"

namespace cellar::testing {

// Returns true if two neighbouring phrases of the message are equal, as in "manifest: manifest: disk full".
// Two layers then named the same part.
inline bool names_a_part_twice(const Status& status) {
  std::string_view rest = status.message();
  std::string_view before;
  for (size_t colon; (colon = rest.find(": ")) != std::string_view::npos; rest.remove_prefix(colon + 2)) {
    const std::string_view phrase = rest.substr(0, colon);
    if (!before.empty() && phrase == before) return true;
    before = phrase;
  }
  return !before.empty() && rest == before;
}

// Returns "5 bytes", as the operations of test file systems name them.
inline std::string byte_count(uint64_t bytes) { return std::to_string(bytes) + " bytes"; }

}  // namespace cellar::testing
