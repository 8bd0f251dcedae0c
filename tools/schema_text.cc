// Schemas as text, in the spelling of HBase's shell.
#include "tools/schema_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "tools/output.h"

namespace cellar {
namespace {

std::string shown_value(std::string_view option, const std::string& value) {
  if (option == "delete_order") return value == "sequence" ? "true" : "false";
  if (option == "compaction" || value == "true" || value == "false") return value;
  return upper_ascii(value);
}

// In the shell's quotes; bytes that need an escape stand in those in which it is one.
std::string quoted(const std::string& name) {
  const std::string text = escaped(name);
  if (text == name && name.find('\'') == std::string::npos) return "'" + name + "'";
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? "\\x22" : std::string(1, c);
  return result + "\"";
}

std::string family_text(const FamilyOptions& family) {
  std::string text = fmt::format("{{NAME => {}", quoted(family.name));
  for (const auto& [name, value] : option_list(family))
    text += fmt::format(", {} => '{}'", family_attribute(name), shown_value(name, value));
  return text + "}";
}

}  // namespace

std::string family_attribute(std::string_view option) {
  const std::string name = hbase_option_name(option);
  return name.empty() || name.find('.') != std::string::npos ? upper_ascii(option) : name;
}

std::string create_arguments(const std::string& name, const TableOptions& table) {
  const auto defaults = option_list(TableOptions());
  std::string attributes;
  for (const auto& option : option_list(table)) {
    if (std::ranges::find(defaults, option) != defaults.end()) continue;
    attributes += fmt::format("{}{} => '{}'", attributes.empty() ? "" : ", ",
                              hbase_table_option_name(option.first), shown_value("", option.second));
  }
  std::string text = quoted(name);
  if (!attributes.empty()) text += fmt::format(", {{TABLE_ATTRIBUTES => {{{}}}}}", attributes);
  for (const FamilyOptions& family : table.families) text += ",\n" + family_text(family);
  return text + "\n";
}

std::vector<std::string> options_of_files(const FamilyOptions& before, const FamilyOptions& after) {
  constexpr std::array<std::string_view, 7> kOfFiles = {"block_bytes", "encoding", "compress_tags",
                                                        "compression", "bloom",    "bloom_bits_percent_error",
                                                        "bloom_hash"};
  const auto old = option_list(before);
  const auto fresh = option_list(after);
  std::vector<std::string> names;
  for (size_t i = 0; i < fresh.size(); ++i)
    if (fresh[i] != old[i] && std::ranges::find(kOfFiles, fresh[i].first) != kOfFiles.end())
      names.push_back(family_attribute(fresh[i].first));
  return names;
}

std::string note_of_files(const std::string& family, const std::vector<std::string>& options) {
  if (options.empty()) return {};
  return fmt::format("note   {} of family {} applies to files at their next compaction",
                     fmt::join(options, ", "), escaped(family));
}

Status set_table_options(TableOptions& table, const std::vector<std::string>& texts) {
  std::vector<Status> faults;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) {
      faults.push_back(Status::invalid_argument(fmt::format("\"{}\" is not option=value", text)));
    } else {
      faults.push_back(set_option(table, text.substr(0, equals), text.substr(equals + 1)));
    }
  }
  return all_faults(faults);
}

Status all_faults(const std::vector<Status>& statuses) {
  std::string text;
  std::string hint;
  const Status* first = nullptr;
  for (const Status& status : statuses) {
    if (status.ok()) continue;
    if (first == nullptr) first = &status;
    if (hint.empty()) hint = status.hint();
    text += (text.empty() ? "" : "; ") + std::string(status.message());
  }
  if (first == nullptr) return {};
  return Status::with_code(first->code(), text).hinting(hint);
}

}  // namespace cellar
