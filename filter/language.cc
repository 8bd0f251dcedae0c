// The filter language: text becomes filters.
#include "filter/language.h"

#include <fmt/format.h>

#include "filter/language_parser.h"

namespace cellar {
namespace {

struct FilterBuilder {
  using Term = FilterPtr;

  static FilterPtr all(const std::vector<FilterPtr>& members) { return all_of(members); }
  static FilterPtr any(const std::vector<FilterPtr>& members) { return any_of(members); }
  static FilterPtr skip(const FilterPtr& filter) { return skip_filter(filter); }
  static FilterPtr while_match(const FilterPtr& filter) { return while_match_filter(filter); }
  static bool knows(const std::string& name) { return known_filters().contains(name); }
  static Result<FilterPtr> make(const std::string& name, const std::vector<FilterArgument>& arguments) {
    return known_filters().find(name)->second(arguments);
  }
};

}  // namespace

Result<FilterPtr> parse_filter(std::string_view text) {
  if (text.size() > kFilterTextBytesMax)
    return Status::invalid_argument(
        fmt::format("filter: the text has {} bytes; the limit is {}", text.size(), kFilterTextBytesMax));
  return filter_grammar::FilterParser<FilterBuilder>(text, {}).parse();
}

void add_filter_name(std::string name, FilterMaker maker) {
  known_filters().insert_or_assign(std::move(name), std::move(maker));
}

std::vector<std::string> filter_names() {
  std::vector<std::string> names;
  for (const auto& [name, maker] : known_filters()) names.push_back(name);
  return names;
}

}  // namespace cellar
