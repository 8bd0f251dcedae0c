// Schemas as text, in the spelling of HBase's shell.
#include "tools/schema_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

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

// Options, in HBase's spelling, that differ and that a store file has from when it was written.
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

const FamilyOptions* find_family(const TableOptions& table, const std::string& name) {
  const auto found = std::ranges::find(table.families, name, &FamilyOptions::name);
  return found == table.families.end() ? nullptr : &*found;
}

TableChange change_of(const TableOptions& before, const TableOptions& after,
                      std::vector<std::string> removed) {
  TableChange change{.set_families = after.families, .remove_families = std::move(removed)};
  if (after.durability != before.durability) change.durability = after.durability;
  if (after.read_only != before.read_only) change.read_only = after.read_only;
  if (after.compaction_enabled != before.compaction_enabled)
    change.compaction_enabled = after.compaction_enabled;
  if (after.memtable_bytes != before.memtable_bytes) change.memtable_bytes = after.memtable_bytes;
  return change;
}

void tell_families(Session& session, const std::string& table, const TableOptions& before,
                   const TableChange& change) {
  for (const FamilyOptions& family : change.set_families) {
    const FamilyOptions* const known = find_family(before, family.name);
    session.talk(fmt::format("{} family {} of table {}", known != nullptr ? "changed" : "added",
                             escaped(family.name), escaped(table)));
    if (known == nullptr) continue;
    if (const auto options = options_of_files(*known, family); !options.empty())
      session.talk(fmt::format("note   {} of family {} applies to files at their next compaction",
                               fmt::join(options, ", "), escaped(family.name)));
  }
  for (const std::string& family : change.remove_families)
    session.talk(fmt::format("removed family {} of table {}", escaped(family), escaped(table)));
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
