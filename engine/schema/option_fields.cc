// The options of families and tables one by one: their names, HBase's, and how they are read and written.
#include "engine/schema/option_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/units.h"
#include "cellar/plugin.h"
#include "engine/schema/carried_attributes.h"
#include "engine/schema/option_field.h"
#include "engine/schema/option_text.h"
#include "hfile/encoding/encoding.h"

namespace cellar {
namespace {

using FamilyField = Field<FamilyOptions>;
using TableField = Field<TableOptions>;

Status set_keep_deleted(FamilyOptions& f, std::string_view key, std::string_view text) {
  const std::string value = lower_ascii(text);
  if (value == "false")
    f.keep_deleted_cells = KeepDeleted::kFalse;
  else if (value == "true")
    f.keep_deleted_cells = KeepDeleted::kTrue;
  else if (value == "ttl")
    f.keep_deleted_cells = KeepDeleted::kTtl;
  else
    return unfit(key, text, "false, true or ttl");
  return {};
}

Status set_delete_order(FamilyOptions& f, std::string_view key, std::string_view text) {
  const std::string value = lower_ascii(text);
  if (value == "timestamp" || (key != "delete_order" && value == "false"))
    f.delete_order = MarkerOrder::kTimestamp;
  else if (value == "sequence" || (key != "delete_order" && value == "true"))
    f.delete_order = MarkerOrder::kSequence;
  else
    return unfit(key, text, "timestamp or sequence");
  return {};
}

Status set_stamps(FamilyOptions& f, std::string_view key, std::string_view text) {
  const std::string value = lower_ascii(text);
  if (value != "clock" && value != "rising") return unfit(key, text, "clock or rising");
  f.stamps = value == "rising" ? Stamps::kRising : Stamps::kClock;
  return {};
}

Status set_ttl(FamilyOptions& f, std::string_view key, std::string_view text) {
  int64_t seconds = 0;
  if (!parse_seconds(text, seconds) || seconds < 1 || seconds > kForever)
    return unfit(key, text, "a number of seconds up to 2147483647, or like 7d or 1 DAY 2 HOURS, or forever");
  f.ttl_s = seconds;
  return {};
}

std::string keep_deleted_text(const FamilyOptions& f) {
  if (f.keep_deleted_cells == KeepDeleted::kTtl) return "ttl";
  return flag_text(f.keep_deleted_cells == KeepDeleted::kTrue);
}

Status set_block_bytes(FamilyOptions& f, std::string_view key, std::string_view text) {
  int64_t bytes = 0;
  if (!parse_bytes_in_words(text, bytes) || bytes < kBlockBytesMin || bytes > kBlockBytesMax)
    return unfit(key, text, fmt::format("a number from {} to {}", kBlockBytesMin, kBlockBytesMax));
  f.block_bytes = static_cast<uint32_t>(bytes);
  return {};
}

// Keys of HBase's configuration that are parameters of a plug-in here, if that is the one.
struct ParameterKey {
  std::string_view key;
  std::string FamilyOptions::*field;
  std::string_view plugin;
  std::string_view parameter;
};

constexpr ParameterKey kParameterKeys[] = {
    {"RowPrefixBloomFilter.prefix_length", &FamilyOptions::bloom, "rowprefix_fixed_length", "prefix_length"},
    {"hbase.hstore.compaction.ratio", &FamilyOptions::compaction, "exploring", "ratio"},
    {"hbase.hstore.compaction.min", &FamilyOptions::compaction, "exploring", "files_min"},
    {"hbase.hstore.compaction.max", &FamilyOptions::compaction, "exploring", "files_max"},
    {"hbase.hstore.compaction.min.size", &FamilyOptions::compaction, "exploring", "bytes_min"},
    {"hbase.hstore.compaction.max.size", &FamilyOptions::compaction, "exploring", "bytes_max"},
};

bool applies(const FamilyOptions& family, const ParameterKey& each) {
  return plugin_in(family.*each.field) == each.plugin;
}

// Moves configured keys into the plug-in's text as parameters, unless the text already has them.
void take_parameters(FamilyOptions& family) {
  for (const ParameterKey& each : kParameterKeys) {
    const auto kept = family.configuration.find(std::string(each.key));
    if (kept == family.configuration.end() || !applies(family, each)) continue;
    std::string& text = family.*each.field;
    if (parameter_in(text, each.parameter).empty()) text = with_parameter(text, each.parameter, kept->second);
    family.configuration.erase(kept);
  }
}

const std::array kFamilyFields = {
    number_field<&FamilyOptions::max_versions, 1, kVersionsMax>("max_versions", "VERSIONS", "3"),
    number_field<&FamilyOptions::min_versions, 0, kVersionsMax>("min_versions", "MIN_VERSIONS", "1"),
    FamilyField{"ttl_s", "TTL", "86400", set_ttl,
                [](const FamilyOptions& f) {
                  return f.ttl_s == kForever ? std::string("forever") : std::to_string(f.ttl_s);
                }},
    FamilyField{"keep_deleted_cells", "KEEP_DELETED_CELLS", "ttl", set_keep_deleted, keep_deleted_text},
    FamilyField{"delete_order", "NEW_VERSION_BEHAVIOR", "sequence", set_delete_order,
                [](const FamilyOptions& f) {
                  return std::string(f.delete_order == MarkerOrder::kSequence ? "sequence" : "timestamp");
                }},
    FamilyField{
        "stamps", "", "rising", set_stamps,
        [](const FamilyOptions& f) { return std::string(f.stamps == Stamps::kRising ? "rising" : "clock"); }},
    number_field<&FamilyOptions::time_to_purge_deletes_ms, 0, kForever * 1000>(
        "time_to_purge_deletes_ms", "hbase.hstore.time.to.purge.deletes", "3600000"),
    FamilyField{"block_bytes", "BLOCKSIZE", "64k", set_block_bytes,
                [](const FamilyOptions& f) { return std::to_string(f.block_bytes); }},
    FamilyField{
        "encoding", "DATA_BLOCK_ENCODING", "fast_diff",
        [](FamilyOptions& f, auto, auto v) { return f.encoding = encoding_name(lower_ascii(v)), Status(); },
        [](const FamilyOptions& f) { return f.encoding; }},
    flag_field<&FamilyOptions::compress_tags>("compress_tags", "COMPRESS_TAGS", "false"),
    name_field<&FamilyOptions::compression>("compression", "COMPRESSION", "gz"),
    name_field<&FamilyOptions::compression_compact>("compression_compact", "COMPRESSION_COMPACT", "none"),
    name_field<&FamilyOptions::compression_compact_major>("compression_compact_major",
                                                          "COMPRESSION_COMPACT_MAJOR", "gz"),
    name_field<&FamilyOptions::compression_compact_minor>("compression_compact_minor",
                                                          "COMPRESSION_COMPACT_MINOR", "none"),
    FamilyField{
        "bloom", "BLOOMFILTER", "rowcol",
        [](FamilyOptions& f, auto, auto v) { return f.bloom = lower_ascii(v), take_parameters(f), Status(); },
        [](const FamilyOptions& f) { return f.bloom; }},
    number_field<&FamilyOptions::bloom_bits_percent_error, 1, 50>("bloom_bits_percent_error", "", "5"),
    name_field<&FamilyOptions::bloom_allocation>("bloom_allocation", "", "monkey"),
    name_field<&FamilyOptions::bloom_hash>("bloom_hash", "", "jenkins"),
    FamilyField{"compaction", "", "exploring(ratio=1.4, files_min=4)",
                [](FamilyOptions& f, auto, auto v) { return f.compaction = v, take_parameters(f), Status(); },
                [](const FamilyOptions& f) { return f.compaction; }},
    number_field<&FamilyOptions::files_stop, 0, INT32_MAX>("files_stop", "hbase.hstore.blockingStoreFiles",
                                                           "40"),
    number_field<&FamilyOptions::major_compaction_interval_ms, -1, INT64_MAX>(
        "major_compaction_interval_ms", "hbase.hregion.majorcompaction", "604800000"),
    flag_field<&FamilyOptions::in_memory>("in_memory", "IN_MEMORY", "true"),
    flag_field<&FamilyOptions::cache_blocks>("cache_blocks", "BLOCKCACHE", "false"),
    flag_field<&FamilyOptions::cache_data_on_write>("cache_data_on_write", "CACHE_DATA_ON_WRITE", "true"),
    flag_field<&FamilyOptions::cache_index_on_write>("cache_index_on_write", "CACHE_INDEX_ON_WRITE", "true"),
    flag_field<&FamilyOptions::cache_blooms_on_write>("cache_blooms_on_write", "CACHE_BLOOMS_ON_WRITE",
                                                      "true"),
    flag_field<&FamilyOptions::prefetch_on_open>("prefetch_on_open", "PREFETCH_BLOCKS_ON_OPEN", "true"),
};

Status set_durability(TableOptions& table, std::string_view key, std::string_view text) {
  const std::string value = lower_ascii(text);
  if (value == "default" || value == "use_default") {
    table.durability.reset();
    return {};
  }
  for (const Durability each :
       {Durability::kSkipWal, Durability::kAsyncWal, Durability::kSyncWal, Durability::kFsyncWal})
    if (durability_name(each) == value) {
      table.durability = each;
      return {};
    }
  return unfit(key, text, "default, skip_wal, async_wal, sync_wal or fsync_wal");
}

Status set_memtable_bytes(TableOptions& table, std::string_view key, std::string_view text) {
  int64_t bytes = 0;
  if (!parse_bytes_in_words(text, bytes) || (bytes != 0 && bytes < kMemtableBytesMin))
    return unfit(key, text, fmt::format("0, or a number from {}", kMemtableBytesMin));
  table.memtable_bytes = static_cast<uint64_t>(bytes);
  return {};
}

const std::array kTableFields = {
    TableField{"durability", "DURABILITY", "fsync_wal", set_durability,
               [](const TableOptions& t) {
                 return std::string(t.durability ? durability_name(*t.durability) : "default");
               }},
    flag_field<&TableOptions::read_only>("read_only", "READONLY", "true"),
    flag_field<&TableOptions::compaction_enabled>("compaction_enabled", "COMPACTION_ENABLED", "false"),
    TableField{"memtable_bytes", "MEMSTORE_FLUSHSIZE", "128m", set_memtable_bytes,
               [](const TableOptions& t) { return std::to_string(t.memtable_bytes); }},
};

template <class Options>
constexpr AttributeOf kOf =
    std::is_same_v<Options, FamilyOptions> ? AttributeOf::kFamily : AttributeOf::kTable;

const auto& fields_of(const FamilyOptions&) { return kFamilyFields; }
const auto& fields_of(const TableOptions&) { return kTableFields; }

bool is_key(std::string_view hbase_name) { return hbase_name.find('.') != std::string_view::npos; }

template <class Options, class Fits>
const Field<Options>* find_field(const Options& options, const Fits& fits) {
  const auto& fields = fields_of(options);
  const auto found = std::ranges::find_if(fields, fits);
  return found == fields.end() ? nullptr : &*found;
}

template <class Options>
const Field<Options>* field_of_attribute(const Options& options, std::string_view name) {
  return find_field(options, [&](const Field<Options>& field) {
    return !is_key(field.hbase_name) && same_but_for_case(field.hbase_name, name) && !name.empty();
  });
}

template <class Options>
const Field<Options>* field_of_key(const Options& options, std::string_view key) {
  return find_field(options, [&](const Field<Options>& field) {
    return is_key(field.hbase_name) && same_but_for_case(field.hbase_name, key);
  });
}

template <class Options>
Status set_field(const Field<Options>& field, Options& options, std::string_view value) {
  return field.set(options, field.hbase_name, value);
}

void set_text(CarriedTexts& texts, std::string_view key, std::string_view value) {
  if (value.empty())
    texts.erase(std::string(key));
  else
    texts.insert_or_assign(std::string(key), std::string(value));
}

Status set_carried(const CarriedAttribute& attribute, CarriedTexts& metadata, std::string_view name,
                   std::string_view value) {
  const std::string known = upper_ascii(name);
  if (!value.empty()) CELLAR_TRY(attribute.check(known, value));
  set_text(metadata, known, asks_for_usual(attribute, value) ? "" : value);
  return {};
}

const ParameterKey* parameter_key(std::string_view key) {
  for (const ParameterKey& each : kParameterKeys)
    if (same_but_for_case(each.key, key)) return &each;
  return nullptr;
}

// A parameter of the plug-in that the family has, or kept for when it gets it.
Status set_parameter(FamilyOptions& family, const ParameterKey& key, std::string_view value) {
  if (value.find_first_of(",()=") != std::string_view::npos)
    return Status::invalid_argument(
        fmt::format("option {}: \"{}\" holds ',', '=', '(' or ')'", key.key, escaped(value)));
  if (!applies(family, key)) {
    set_text(family.configuration, key.key, value);
  } else {
    std::string& text = family.*key.field;
    text = with_parameter(text, key.parameter, value);
  }
  return {};
}

Status refuse_of_families(const FamilyOptions&, std::string_view) { return {}; }

Status refuse_of_families(const TableOptions& table, std::string_view key) {
  const std::string option = option_of_configuration(table, key);
  if (option.empty()) return {};
  return Status::invalid_argument(fmt::format("configuration {} is {}", escaped(key), option))
      .hinting("set it in the families");
}

template <class Options>
Status set_configuration(Options& options, std::string_view key, std::string_view value) {
  CELLAR_TRY(refuse_of_families(options, key));
  if (const auto* field = field_of_key(options, key); field != nullptr)
    return set_field(*field, options, value.empty() ? field->get(Options()) : value);
  if constexpr (std::is_same_v<Options, FamilyOptions>)
    if (const ParameterKey* parameter = parameter_key(key); parameter != nullptr)
      return set_parameter(options, *parameter, value);
  set_text(options.configuration, key, value);
  return {};
}

template <class Options>
Status set_metadata(Options& options, std::string_view key, std::string_view value) {
  if (const CarriedAttribute* carried = find_carried_attribute(kOf<Options>, key); carried != nullptr)
    return set_carried(*carried, options.metadata, key, value);
  if (const auto* field = field_of_attribute(options, key); field != nullptr)
    return set_field(*field, options, value.empty() ? field->get(Options()) : value);
  if (is_family_key(key)) return set_configuration(options, key, value);  // HBase looks there, too
  set_text(options.metadata, key, value);
  return {};
}

// Among our names, else among HBase's attributes.
template <class Options>
std::string nearest_of(const std::string& wanted, const std::vector<std::string>& known,
                       const Options& options) {
  if (std::string nearest = nearest_name(wanted, known); !nearest.empty()) return nearest;
  std::vector<std::string> attributes;
  for (const auto& field : fields_of(options))
    if (!field.hbase_name.empty()) attributes.emplace_back(field.hbase_name);
  for (const CarriedAttribute& each : carried_attributes())
    if (each.of == kOf<Options>) attributes.emplace_back(each.name);
  return nearest_name(upper_ascii(wanted), attributes);
}

template <class Options>
Status set_in(std::string_view what, Options& options, std::string_view key, std::string_view value) {
  constexpr std::string_view kMetadata = "metadata.";
  constexpr std::string_view kConfiguration = "configuration.";
  const std::string wanted = lower_ascii(key);
  if (wanted.starts_with(kMetadata)) return set_metadata(options, key.substr(kMetadata.size()), value);
  if (wanted.starts_with(kConfiguration))
    return set_configuration(options, key.substr(kConfiguration.size()), value);
  std::vector<std::string> known;
  for (const auto& field : fields_of(options)) {
    if (wanted == field.name) return field.set(options, field.name, value);
    known.emplace_back(field.name);
  }
  if (const auto* field = field_of_attribute(options, key); field != nullptr)
    return set_field(*field, options, value);
  if (const auto* field = field_of_key(options, key); field != nullptr)
    return set_field(*field, options, value);
  if (const CarriedAttribute* carried = find_carried_attribute(kOf<Options>, key); carried != nullptr)
    return set_carried(*carried, options.metadata, key, value);
  const std::string nearest = nearest_of(wanted, known, options);
  return Status::invalid_argument(fmt::format("unknown {} option \"{}\"", what, escaped(key)))
      .hinting(nearest.empty() ? fmt::format("known: {}", fmt::join(known, ", "))
                               : fmt::format("did you mean {}?", nearest));
}

template <class Options>
std::string hbase_name_in(const Options& options, std::string_view option) {
  const auto* field = find_field(options, [&](const Field<Options>& each) { return each.name == option; });
  return field == nullptr ? std::string() : std::string(field->hbase_name);
}

template <class Options>
std::vector<std::pair<std::string, std::string>> list_in(const Options& options) {
  std::vector<std::pair<std::string, std::string>> list;
  for (const auto& field : fields_of(options)) list.emplace_back(field.name, field.get(options));
  for (const auto& [key, value] : options.metadata) list.emplace_back("metadata." + key, value);
  for (const auto& [key, value] : options.configuration) list.emplace_back("configuration." + key, value);
  return list;
}

template <class Options>
std::string text_in(const Options& options, bool all) {
  const auto defaults = list_in(Options());
  std::string text;
  for (const auto& each : list_in(options))
    if (all || std::ranges::find(defaults, each) == defaults.end())
      text += (text.empty() ? "" : ",") + each.first + "=" + each.second;
  return text;
}

template <class Options>
std::string option_instead(const Options& options, std::string_view key, bool configuration) {
  const auto* field = configuration ? field_of_key(options, key) : field_of_attribute(options, key);
  return field == nullptr ? std::string() : std::string(field->name);
}

template <class Options>
std::string example_in(const Options& options, std::string_view option) {
  const auto* field = find_field(options, [&](const Field<Options>& each) { return each.name == option; });
  return field == nullptr ? std::string() : std::string(field->example);
}

std::string called_option(const std::string& name) { return name.empty() ? name : "the option " + name; }

}  // namespace

std::string option_example(const FamilyOptions& family, std::string_view option) {
  return example_in(family, option);
}
std::string option_example(const TableOptions& table, std::string_view option) {
  return example_in(table, option);
}

std::string option_of_metadata(const FamilyOptions& family, std::string_view key) {
  if (is_family_key(key)) return "a key of the configuration";
  return called_option(option_instead(family, key, false));
}

std::string option_of_metadata(const TableOptions& table, std::string_view key) {
  if (is_family_key(key)) return option_of_configuration(table, key);
  return called_option(option_instead(table, key, false));
}

std::string option_of_configuration(const FamilyOptions& family, std::string_view key) {
  for (const ParameterKey& each : kParameterKeys)
    if (same_but_for_case(each.key, key) && applies(family, each))
      return fmt::format("the parameter {} of {}", each.parameter, each.plugin);
  return called_option(option_instead(family, key, true));
}

std::string option_of_configuration(const TableOptions&, std::string_view key) {
  if (!is_family_key(key)) return {};
  const std::string option = option_instead(FamilyOptions(), key, true);
  return option.empty() ? "a parameter of an option of families" : "the option " + option + " of families";
}

bool is_family_key(std::string_view key) {
  return field_of_key(FamilyOptions(), key) != nullptr || parameter_key(key) != nullptr;
}

bool lacks_parameter(const FamilyOptions& family, std::string_view key) {
  const ParameterKey* const parameter = parameter_key(key);
  return parameter != nullptr && (!applies(family, *parameter) ||
                                  parameter_in(family.*parameter->field, parameter->parameter).empty());
}

CarriedTexts hbase_configuration(const FamilyOptions& family) {
  CarriedTexts texts = family.configuration;
  const FamilyOptions defaults;
  for (const FamilyField& field : kFamilyFields)
    if (is_key(field.hbase_name) && field.get(family) != field.get(defaults))
      texts[std::string(field.hbase_name)] = field.get(family);
  for (const ParameterKey& each : kParameterKeys) {
    if (!applies(family, each)) continue;
    const std::string value = parameter_in(family.*each.field, each.parameter);
    int64_t number = 0;
    if (!value.empty())
      texts[std::string(each.key)] = parse_scaled(value, number) ? std::to_string(number) : value;
  }
  return texts;
}

std::string_view durability_name(Durability durability) {
  switch (durability) {
    case Durability::kSkipWal:
      return "skip_wal";
    case Durability::kAsyncWal:
      return "async_wal";
    case Durability::kSyncWal:
      return "sync_wal";
    case Durability::kFsyncWal:
      return "fsync_wal";
  }
  CELLAR_ASSERT(!"every Durability has a name");
  return "unknown";
}

std::string hbase_option_name(std::string_view option) { return hbase_name_in(FamilyOptions(), option); }

std::string hbase_table_option_name(std::string_view option) { return hbase_name_in(TableOptions(), option); }

Status set_option(FamilyOptions& family, std::string_view key, std::string_view value) {
  return set_in("family", family, key, value);
}

Status set_option(TableOptions& table, std::string_view key, std::string_view value) {
  return set_in("table", table, key, value);
}

std::vector<std::pair<std::string, std::string>> option_list(const FamilyOptions& family) {
  return list_in(family);
}

std::vector<std::pair<std::string, std::string>> option_list(const TableOptions& table) {
  return list_in(table);
}

std::string to_text(const FamilyOptions& family, bool all) { return text_in(family, all); }

std::string to_text(const TableOptions& table, bool all) { return text_in(table, all); }

}  // namespace cellar
