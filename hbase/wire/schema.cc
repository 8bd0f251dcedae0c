// Schemas, in the spelling of HBase's descriptors.
#include "hbase/wire/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "cellar/key_schema.h"
#include "engine/schema/option_fields.h"
#include "engine/schema/option_text.h"
#include "hbase/proto/hbase.pb.h"

namespace cellar::hbase::wire {
namespace {

constexpr std::string_view kDefaultNamespace = "default";
constexpr std::string_view kOwnPrefix = "CELLAR.";  // of attributes that HBase has no name for

template <class Message>
void add_attribute(Message& to, std::string_view name, std::string_view value) {
  BytesBytesPair& pair = *to.add_attributes();
  pair.set_first(std::string(name));
  pair.set_second(std::string(value));
}

template <class Message>
void add_texts(Message& to, const CarriedTexts& metadata, const CarriedTexts& configuration) {
  for (const auto& [key, value] : metadata) add_attribute(to, key, value);
  for (const auto& [key, value] : configuration) {
    NameStringPair& pair = *to.add_configuration();
    pair.set_name(key);
    pair.set_value(value);
  }
}

bool is_carried(std::string_view option) {
  return option.starts_with("metadata.") || option.starts_with("configuration.");
}

// Returns a value as HBase's descriptor spells it: a codec without its parameters, words in capitals.
std::string hbase_value(std::string_view option, const std::string& value) {
  if (option == "delete_order") return value == "sequence" ? "true" : "false";
  if (value == "true" || value == "false") return value;
  if (int64_t seconds = 0; option == "ttl_s" && parse_seconds(value, seconds)) return std::to_string(seconds);
  return upper_ascii(plugin_in(value));
}

// Sets an attribute that Cellar wrote for itself. One with parameters counts if the attribute in HBase's
// spelling still names the same plug-in.
Status set_own(FamilyOptions& family, const std::string& option, const std::string& value) {
  const std::string hbase_name = hbase_option_name(option);
  if (!hbase_name.empty() && hbase_name.find('.') == std::string::npos)
    for (const auto& [name, current] : option_list(family))
      if (name == option && plugin_in(current) != plugin_in(value)) return {};
  return set_option(family, option, value);
}

// Sets an attribute or key. HBase accepts some that Cellar refuses: keys of families in a table, the
// encryption of a family, and any text for KEY_FIELDS. They are carried as they are, so that tables of a
// cluster can be described.
template <class Options>
Status set_or_carry(Options& options, CarriedTexts& carried, std::string_view place, const std::string& name,
                    const std::string& value) {
  constexpr bool kIsTable = std::is_same_v<Options, TableOptions>;
  const Status set = set_option(options, fmt::format("{}.{}", place, name), value);
  const bool carries = kIsTable ? is_family_key(name) || same_but_for_case(name, KeySchema::kTableAttribute)
                                : name.starts_with("ENCRYPTION");
  if (set.ok() || !carries) return set;
  carried[name] = value;
  return {};
}

// Sets all attributes and keys of a message, those in HBase's spelling first.
template <class Options, class Message, class SetOwn>
Status read_options(Options& options, const Message& from, const SetOwn& set_own_option) {
  for (const BytesBytesPair& pair : from.attributes())
    if (!pair.first().starts_with(kOwnPrefix))
      CELLAR_TRY(set_or_carry(options, options.metadata, "metadata", pair.first(), pair.second()));
  for (const NameStringPair& pair : from.configuration())
    CELLAR_TRY(set_or_carry(options, options.configuration, "configuration", pair.name(), pair.value()));
  for (const BytesBytesPair& pair : from.attributes())
    if (pair.first().starts_with(kOwnPrefix))
      CELLAR_TRY(set_own_option(options, pair.first().substr(kOwnPrefix.size()), pair.second()));
  return {};
}

// Moves a text of a table to those families that do not have it themselves.
void move_to_families(CarriedTexts& texts, TableSchema& schema) {
  for (auto at = texts.begin(); at != texts.end();) {
    if (!is_family_key(at->first)) {
      ++at;
      continue;
    }
    for (ColumnFamilySchema& family : *schema.mutable_column_families()) {
      const bool has = std::ranges::any_of(
          family.configuration(), [&](const NameStringPair& own) { return own.name() == at->first; });
      if (has) continue;
      NameStringPair& pair = *family.add_configuration();
      pair.set_name(at->first);
      pair.set_value(at->second);
    }
    at = texts.erase(at);
  }
}

}  // namespace

void to_wire_name(std::string_view table, TableName& to) {
  const size_t colon = table.find(':');
  const bool has_namespace = colon != table.npos;
  to.set_namespace_(std::string(has_namespace ? table.substr(0, colon) : kDefaultNamespace));
  to.set_qualifier(std::string(has_namespace ? table.substr(colon + 1) : table));
}

Result<std::string> from_wire_name(const TableName& from) {
  if (from.qualifier().empty()) return Status::invalid_argument("the name of a table is empty");
  if (from.namespace_().empty() || from.namespace_() == kDefaultNamespace) return from.qualifier();
  return from.namespace_() + ":" + from.qualifier();
}

void to_wire_family(const FamilyOptions& family, ColumnFamilySchema& to) {
  to.set_name(family.name);
  const auto defaults = option_list(FamilyOptions());
  for (const auto& option : option_list(family)) {
    const auto& [name, value] = option;
    if (is_carried(name)) continue;
    const std::string hbase_name = hbase_option_name(name);
    const bool is_key = hbase_name.find('.') != std::string::npos;
    const bool usual = std::ranges::find(defaults, option) != defaults.end();
    if (!hbase_name.empty() && !is_key && value != kSameCompression)
      add_attribute(to, hbase_name, hbase_value(name, value));
    const bool parameters = plugin_in(value) != value;
    if (!usual && (hbase_name.empty() || parameters))
      add_attribute(to, std::string(kOwnPrefix) + name, value);
  }
  add_texts(to, family.metadata, hbase_configuration(family));
}

void to_wire_schema(std::string_view table, const TableOptions& options, TableSchema& to) {
  to_wire_name(table, *to.mutable_table_name());
  const auto defaults = option_list(TableOptions());
  for (const auto& option : option_list(options)) {
    if (is_carried(option.first) || std::ranges::find(defaults, option) != defaults.end()) continue;
    add_attribute(to, hbase_table_option_name(option.first), hbase_value(option.first, option.second));
  }
  add_texts(to, options.metadata, options.configuration);
  for (const FamilyOptions& family : options.families) to_wire_family(family, *to.add_column_families());
}

Result<FamilyOptions> from_wire_family(const ColumnFamilySchema& from) {
  FamilyOptions family;
  family.name = from.name();
  const Status read = read_options(family, from, set_own);
  if (!read.ok()) return read.with_context(fmt::format("family \"{}\"", escaped(from.name())));
  return family;
}

Result<TableOptions> from_wire_schema(const TableSchema& from) {
  TableOptions options;
  CELLAR_TRY(read_options(options, from,
                          [](TableOptions& table, const std::string& option, const std::string& value) {
                            return set_option(table, option, value);
                          }));
  for (const ColumnFamilySchema& each : from.column_families()) {
    CELLAR_TRY_ASSIGN(FamilyOptions family, from_wire_family(each));
    options.families.push_back(std::move(family));
  }
  return options;
}

Result<std::vector<FamilyOptions>> inheriting_families(const TableSchema& from, TableOptions& table) {
  TableSchema inherited = from;
  move_to_families(table.metadata, inherited);
  move_to_families(table.configuration, inherited);
  std::vector<FamilyOptions> families;
  for (const ColumnFamilySchema& each : inherited.column_families()) {
    CELLAR_TRY_ASSIGN(FamilyOptions family, from_wire_family(each));
    families.push_back(std::move(family));
  }
  return families;
}

}  // namespace cellar::hbase::wire
