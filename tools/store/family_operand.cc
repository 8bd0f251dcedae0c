// Parsing of families with options.
#include "tools/store/family_operand.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tools/store/schema_text.h"

namespace cellar {

std::string_view family_name(std::string_view text) { return text.substr(0, text.find(':')); }

Status parse_family(std::string_view text, FamilyOptions& family) {
  family.name = family_name(text);
  if (family.name.size() == text.size()) return {};
  std::vector<Status> faults;
  std::string_view rest = text.substr(family.name.size() + 1);
  while (!rest.empty()) {
    size_t end = 0;
    int depth = 0;
    for (; end < rest.size() && (rest[end] != ',' || depth > 0); ++end) {
      depth += rest[end] == '(' ? 1 : rest[end] == ')' ? -1 : 0;
    }
    if (depth > 0) {
      faults.push_back(Status::invalid_argument(fmt::format("\"{}\" has a ( without )", rest))
                           .with_context("family " + family.name));
      break;
    }
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t equals = part.find('=');
    const Status set =
        equals == std::string_view::npos
            ? Status::invalid_argument(fmt::format("\"{}\" is not OPTION=VALUE", escaped(part)))
            : set_option(family, part.substr(0, equals), part.substr(equals + 1));
    if (!set.ok()) faults.push_back(set.with_context("family " + family.name));
  }
  return all_faults(faults);
}

}  // namespace cellar
