// A configuration as text: sections and lines of options.
#include "tools/store/config_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"

namespace cellar {
namespace {

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// ConfigReader: takes one line after the other. One thread.
class ConfigReader {
 public:
  Status take(std::string_view line) {
    line = without_blanks(line);
    if (line.empty() || line.front() == '#') return {};
    if (line.front() == '[') return begin_section(line);
    const size_t equals = line.find('=');
    if (equals == line.npos)
      return Status::invalid_argument(fmt::format("\"{}\" is neither an option nor a section", escaped(line)))
          .hinting("write name = value, [engine], [table NAME] or [family TABLE:NAME]");
    const std::string_view name = without_blanks(line.substr(0, equals));
    const std::string_view value = without_blanks(line.substr(equals + 1));
    if (family_.has_value()) return set_option(family(), name, value);
    if (!table_.empty()) return set_option(configuration_.tables[table_], name, value);
    return set_option(configuration_.engine, name, value);
  }
  Configuration end() && { return std::move(configuration_); }

 private:
  Status begin_section(std::string_view line) {
    const Status invalid = Status::invalid_argument(fmt::format("invalid section {}", escaped(line)))
                               .hinting("write [engine], [table NAME] or [family TABLE:NAME]");
    if (line.back() != ']') return invalid;
    line = without_blanks(line.substr(1, line.size() - 2));
    table_.clear();
    family_.reset();
    if (line == "engine") return {};
    const size_t blank = line.find_first_of(" \t");
    if (blank == line.npos) return invalid;
    const std::string_view kind = line.substr(0, blank);
    const std::string_view name = without_blanks(line.substr(blank));
    if (kind == "table") {
      table_ = name;
      static_cast<void>(configuration_.tables[table_]);
      return {};
    }
    const size_t colon = name.find(':');
    if (kind != "family" || colon == 0 || colon == name.npos || colon + 1 == name.size()) return invalid;
    table_ = name.substr(0, colon);
    return begin_family(std::string(name.substr(colon + 1)));
  }

  Status begin_family(std::string name) {
    std::vector<FamilyOptions>& families = configuration_.tables[table_].families;
    if (std::ranges::find(families, name, &FamilyOptions::name) != families.end())
      return Status::invalid_argument(
          fmt::format("family {}:{} has two sections", escaped(table_), escaped(name)));
    family_ = families.size();
    families.push_back({.name = std::move(name)});
    return {};
  }
  FamilyOptions& family() { return configuration_.tables[table_].families[*family_]; }

  Configuration configuration_;
  std::string table_;             // of the section; empty: the engine's
  std::optional<size_t> family_;  // its place in the table
};

}  // namespace

Result<Configuration> parse_configuration(std::string_view text) {
  ConfigReader reader;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (const Status taken = reader.take(text.substr(0, end)); !taken.ok())
      return taken.with_context(fmt::format("line {}", number));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::move(reader).end();
}

}  // namespace cellar
