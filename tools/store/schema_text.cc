// Schemas as text, in the spelling of HBase's shell.
#include "tools/store/schema_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/bytes.h"
#include "engine/schema/option_fields.h"
#include "engine/schema/option_text.h"
#include "tools/frame/output.h"
#include "tools/store/hbase_attributes.h"

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
  for (const char c : text)  // # begins Ruby's #{…}
    result += c == '"' ? "\\x22" : c == '#' ? "\\x23" : std::string(1, c);
  return result + "\"";
}

std::string braces(std::string_view name, const CarriedTexts& texts) {
  std::string inside;
  for (const auto& [key, value] : texts)
    inside += fmt::format("{}{} => {}", inside.empty() ? "" : ", ", quoted(key), quoted(value));
  return fmt::format("{} => {{{}}}", name, inside);
}

// HBase's attributes among what is carried, then the rest.
void add_carried(std::vector<std::string>& pairs, AttributeOf of, const CarriedTexts& metadata,
                 const CarriedTexts& configuration) {
  CarriedTexts notes;
  for (const auto& [key, value] : metadata) {
    if (find_carried_attribute(of, key) != nullptr) {
      pairs.push_back(
          fmt::format("{} => {}", key.find('$') != std::string::npos ? quoted(key) : key, quoted(value)));
    } else {
      notes.emplace(key, value);
    }
  }
  if (!notes.empty()) pairs.push_back(braces("METADATA", notes));
  if (!configuration.empty()) pairs.push_back(braces("CONFIGURATION", configuration));
}

bool is_carried(std::string_view option) {
  return option.starts_with("metadata.") || option.starts_with("configuration.");
}

// Attributes of HBase are always written. Keys of its configuration are written in CONFIGURATION, parameters
// of a filter and of its own compaction policy included.
std::string family_text(const FamilyOptions& family) {
  const auto defaults = option_list(FamilyOptions());
  std::vector<std::string> pairs = {"NAME => " + quoted(family.name)};
  for (const auto& option : option_list(family)) {
    const auto& [name, value] = option;
    const std::string hbase_name = hbase_option_name(name);
    const bool usual = std::ranges::find(defaults, option) != defaults.end();
    if (is_carried(name) || hbase_name.find('.') != std::string::npos || value == kSameCompression) continue;
    if (hbase_name.empty() && (usual || plugin_in(value) == "exploring")) continue;
    const bool prefixes = name == "bloom" && plugin_in(value) == "rowprefix_fixed_length";
    pairs.push_back(fmt::format("{} => {}", family_attribute(name),
                                quoted(shown_value(name, prefixes ? "rowprefix_fixed_length" : value))));
  }
  add_carried(pairs, AttributeOf::kFamily, family.metadata, hbase_configuration(family));
  return fmt::format("{{{}}}", fmt::join(pairs, ", "));
}

// Options, in HBase's spelling, that differ and that a store file has from when it was written.
std::vector<std::string> options_of_files(const FamilyOptions& before, const FamilyOptions& after) {
  constexpr std::array<std::string_view, 11> kOfFiles = {"block_bytes",
                                                         "encoding",
                                                         "compress_tags",
                                                         "compression",
                                                         "compression_compact",
                                                         "compression_compact_major",
                                                         "compression_compact_minor",
                                                         "bloom",
                                                         "bloom_bits_percent_error",
                                                         "bloom_allocation",
                                                         "bloom_hash"};
  const auto old = option_list(before);
  std::vector<std::string> names;
  for (const auto& option : option_list(after))
    if (std::ranges::find(old, option) == old.end() &&
        std::ranges::find(kOfFiles, option.first) != kOfFiles.end())
      names.push_back(family_attribute(option.first));
  return names;
}

}  // namespace

std::string family_attribute(std::string_view option) {
  const std::string name = hbase_option_name(option);
  return name.empty() || name.find('.') != std::string::npos ? upper_ascii(option) : name;
}

std::vector<std::string> family_attributes() {
  std::vector<std::string> names;
  for (const auto& [option, value] : option_list(FamilyOptions())) names.push_back(family_attribute(option));
  for (const CarriedAttribute& each : carried_attributes())
    if (each.of == AttributeOf::kFamily && !each.name.starts_with("ENCRYPTION"))
      names.emplace_back(each.name);
  return names;
}

std::string create_arguments(const std::string& name, const TableOptions& table) {
  const auto defaults = option_list(TableOptions());
  std::vector<std::string> pairs;
  for (const auto& option : option_list(table))
    if (!is_carried(option.first) && std::ranges::find(defaults, option) == defaults.end())
      pairs.push_back(fmt::format("{} => {}", hbase_table_option_name(option.first),
                                  quoted(shown_value("", option.second))));
  add_carried(pairs, AttributeOf::kTable, table.metadata, table.configuration);
  std::string text = quoted(name);
  if (!pairs.empty()) text += fmt::format(", {{TABLE_ATTRIBUTES => {{{}}}}}", fmt::join(pairs, ", "));
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
  if (after.durability != before.durability) {
    change.durability = after.durability;
    change.default_durability = !after.durability;
  }
  if (after.read_only != before.read_only) change.read_only = after.read_only;
  if (after.compaction_enabled != before.compaction_enabled)
    change.compaction_enabled = after.compaction_enabled;
  if (after.memtable_bytes != before.memtable_bytes) change.memtable_bytes = after.memtable_bytes;
  if (after.metadata != before.metadata) change.metadata = after.metadata;
  if (after.configuration != before.configuration) change.configuration = after.configuration;
  return change;
}

namespace {

template <class Options>
void tell_carried_of(Session& session, AttributeOf of, const Options& before, const Options& after) {
  const auto is_new = [](const CarriedTexts& old, const auto& each) {
    const auto found = old.find(each.first);
    return found == old.end() || found->second != each.second;
  };
  for (const auto& each : after.metadata)
    if (const std::string note = carried_note(of, each.first, each.second);
        !note.empty() && is_new(before.metadata, each))
      session.talk(note);
  for (const auto& each : after.configuration)
    if (is_new(before.configuration, each)) session.talk(configuration_note(each.first));
}

}  // namespace

void tell_carried(Session& session, const TableOptions& before, const TableOptions& after) {
  tell_carried_of(session, AttributeOf::kTable, before, after);
  for (const FamilyOptions& family : after.families) {
    const FamilyOptions* const known = find_family(before, family.name);
    tell_carried_of(session, AttributeOf::kFamily, known != nullptr ? *known : FamilyOptions(), family);
  }
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
      faults.push_back(
          Status::invalid_argument(fmt::format("--set: \"{}\" is not OPTION=VALUE", escaped(text))));
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
