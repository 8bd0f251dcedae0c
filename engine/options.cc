// Options: names, parsing, validation; the same keys on the command line, in the manifest and in HBase's
// schema.
#include "cellar/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/bytes.h"
#include "base/plugins.h"
#include "bloom/bloom_types.h"
#include "cellar/cache_policy.h"
#include "cellar/compaction_policy.h"
#include "cellar/plugin.h"
#include "engine/option_text.h"
#include "hfile/codecs.h"
#include "hfile/encoding.h"
#include "memtable/memtable.h"

namespace cellar {
namespace {

constexpr int64_t kBlockBytesMin = 1024;
constexpr int64_t kBlockBytesMax = 16 << 20;
constexpr int64_t kMemtableBytesMin = 4096;

Status unfit(std::string_view key, std::string_view value, std::string_view expected) {
  return Status::invalid_argument(fmt::format("option {}: \"{}\" is not {}", key, value, expected));
}

bool parse_flag(std::string_view text, bool& flag) {
  const std::string value = lower_ascii(text);
  flag = value == "true";
  return value == "true" || value == "false";
}

template <class Number>
Status set_number(std::string_view key, std::string_view text, int64_t least, int64_t most, Number& field) {
  int64_t value = 0;
  if (!parse_scaled(text, value) || value < least || value > most)
    return unfit(key, text, fmt::format("a number from {} to {}", least, most));
  field = static_cast<Number>(value);
  return {};
}

Status set_flag(std::string_view key, std::string_view text, bool& field) {
  return parse_flag(text, field) ? Status() : unfit(key, text, "true or false");
}

// Of FamilyOptions or TableOptions.
template <class Options>
struct Field {
  std::string_view name;
  std::string_view hbase_name;  // lower-cased for the comparison; empty: HBase has no such option
  Status (*set)(Options&, std::string_view key, std::string_view value);
  std::string (*get)(const Options&);
};
using FamilyField = Field<FamilyOptions>;
using TableField = Field<TableOptions>;

std::string flag_text(bool flag) { return flag ? "true" : "false"; }

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

constexpr int64_t kVersionsMax = INT32_MAX;  // HBase's int

const std::array kFamilyFields = {
    FamilyField{
        "max_versions", "versions",
        [](FamilyOptions& f, auto k, auto v) { return set_number(k, v, 1, kVersionsMax, f.max_versions); },
        [](const FamilyOptions& f) { return std::to_string(f.max_versions); }},
    FamilyField{
        "min_versions", "min_versions",
        [](FamilyOptions& f, auto k, auto v) { return set_number(k, v, 0, kVersionsMax, f.min_versions); },
        [](const FamilyOptions& f) { return std::to_string(f.min_versions); }},
    FamilyField{"ttl_s", "ttl", set_ttl,
                [](const FamilyOptions& f) {
                  return f.ttl_s == kForever ? std::string("forever") : std::to_string(f.ttl_s);
                }},
    FamilyField{"keep_deleted_cells", "keep_deleted_cells", set_keep_deleted, keep_deleted_text},
    FamilyField{"delete_order", "new_version_behavior", set_delete_order,
                [](const FamilyOptions& f) {
                  return std::string(f.delete_order == MarkerOrder::kSequence ? "sequence" : "timestamp");
                }},
    FamilyField{"time_to_purge_deletes_ms", "hbase.hstore.time.to.purge.deletes",
                [](FamilyOptions& f, auto k, auto v) {
                  return set_number(k, v, 0, kForever * 1000, f.time_to_purge_deletes_ms);
                },
                [](const FamilyOptions& f) { return std::to_string(f.time_to_purge_deletes_ms); }},
    FamilyField{"block_bytes", "blocksize", set_block_bytes,
                [](const FamilyOptions& f) { return std::to_string(f.block_bytes); }},
    FamilyField{"encoding", "data_block_encoding",
                [](FamilyOptions& f, auto, auto v) { return f.encoding = lower_ascii(v), Status(); },
                [](const FamilyOptions& f) { return f.encoding; }},
    FamilyField{"compress_tags", "compress_tags",
                [](FamilyOptions& f, auto k, auto v) { return set_flag(k, v, f.compress_tags); },
                [](const FamilyOptions& f) { return flag_text(f.compress_tags); }},
    FamilyField{"compression", "compression",
                [](FamilyOptions& f, auto, auto v) { return f.compression = lower_ascii(v), Status(); },
                [](const FamilyOptions& f) { return f.compression; }},
    FamilyField{"bloom", "bloomfilter",
                [](FamilyOptions& f, auto, auto v) { return f.bloom = lower_ascii(v), Status(); },
                [](const FamilyOptions& f) { return f.bloom; }},
    FamilyField{
        "bloom_bits_percent_error", "",
        [](FamilyOptions& f, auto k, auto v) { return set_number(k, v, 1, 50, f.bloom_bits_percent_error); },
        [](const FamilyOptions& f) { return std::to_string(f.bloom_bits_percent_error); }},
    FamilyField{"bloom_hash", "",
                [](FamilyOptions& f, auto, auto v) { return f.bloom_hash = lower_ascii(v), Status(); },
                [](const FamilyOptions& f) { return f.bloom_hash; }},
    FamilyField{"compaction", "",
                [](FamilyOptions& f, auto, auto v) { return f.compaction = std::string(v), Status(); },
                [](const FamilyOptions& f) { return f.compaction; }},
    FamilyField{"in_memory", "in_memory",
                [](FamilyOptions& f, auto k, auto v) { return set_flag(k, v, f.in_memory); },
                [](const FamilyOptions& f) { return flag_text(f.in_memory); }},
    FamilyField{"cache_blocks", "blockcache",
                [](FamilyOptions& f, auto k, auto v) { return set_flag(k, v, f.cache_blocks); },
                [](const FamilyOptions& f) { return flag_text(f.cache_blocks); }},
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
    TableField{"durability", "durability", set_durability,
               [](const TableOptions& t) {
                 return std::string(t.durability ? durability_name(*t.durability) : "default");
               }},
    TableField{"read_only", "readonly",
               [](TableOptions& t, auto k, auto v) { return set_flag(k, v, t.read_only); },
               [](const TableOptions& t) { return flag_text(t.read_only); }},
    TableField{"compaction_enabled", "compaction_enabled",
               [](TableOptions& t, auto k, auto v) { return set_flag(k, v, t.compaction_enabled); },
               [](const TableOptions& t) { return flag_text(t.compaction_enabled); }},
    TableField{"memtable_bytes", "memstore_flushsize", set_memtable_bytes,
               [](const TableOptions& t) { return std::to_string(t.memtable_bytes); }},
};

template <class Fields>
std::string hbase_name_in(const Fields& fields, std::string_view option) {
  for (const auto& field : fields)
    if (field.name == option) return upper_ascii(field.hbase_name);
  return {};
}

template <class Fields, class Options>
Status set_in(const Fields& fields, std::string_view what, Options& options, std::string_view key,
              std::string_view value) {
  const std::string wanted = lower_ascii(key);
  std::vector<std::string> known;
  for (const auto& field : fields) {
    if (wanted == field.name || (!field.hbase_name.empty() && wanted == field.hbase_name))
      return field.set(options, wanted == field.name ? field.name : field.hbase_name, value);
    known.emplace_back(field.name);
  }
  const std::string nearest = nearest_name(wanted, known);
  return Status::invalid_argument(fmt::format("unknown {} option \"{}\"", what, key))
      .hinting(nearest.empty() ? fmt::format("known: {}", fmt::join(known, ", "))
                               : fmt::format("did you mean {}?", nearest));
}

template <class Fields, class Options>
std::vector<std::pair<std::string, std::string>> list_in(const Fields& fields, const Options& options) {
  std::vector<std::pair<std::string, std::string>> list;
  for (const auto& field : fields) list.emplace_back(field.name, field.get(options));
  return list;
}

template <class Fields, class Options>
std::string text_in(const Fields& fields, const Options& options, bool all) {
  const Options defaults;
  std::string text;
  for (const auto& field : fields) {
    const std::string value = field.get(options);
    if (!all && value == field.get(defaults)) continue;
    text += (text.empty() ? "" : ",") + std::string(field.name) + "=" + value;
  }
  return text;
}

Status check_family_name(const std::string& name) {
  if (name.empty() || name.size() > 127)
    return Status::invalid_argument("a family's name has 1 to 127 bytes");
  for (const char c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == ':' || c == '/' || c == '\\')
      return Status::invalid_argument("family name \"" + name +
                                      "\" holds a control character, ':', '/' or '\\'");
  if (name.front() == '.') return Status::invalid_argument("family name \"" + name + "\" begins with '.'");
  if (name == "recovered.edits")
    return Status::invalid_argument("family name \"recovered.edits\" is reserved");
  return {};
}

// Joins faults, so that one look shows all of them.
struct Faults {
  std::string text;
  void add(const Status& status) {
    if (!status.ok()) text += (text.empty() ? "" : "; ") + std::string(status.message());
  }
  void add_if(bool bad, std::string_view message) {
    if (bad) text += (text.empty() ? "" : "; ") + std::string(message);
  }
  void add_unless_one_of(std::string_view option, const std::string& value,
                         const std::vector<std::string>& names) {
    add_if(
        std::ranges::find(names, value) == names.end(),
        fmt::format("{} \"{}\" cannot be written by this build ({})", option, value, fmt::join(names, ", ")));
  }
  Status status() const { return text.empty() ? Status() : Status::invalid_argument(text); }
};

}  // namespace

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
  return "unknown";
}

std::string hbase_option_name(std::string_view option) { return hbase_name_in(kFamilyFields, option); }

std::string hbase_table_option_name(std::string_view option) { return hbase_name_in(kTableFields, option); }

Status set_option(FamilyOptions& family, std::string_view key, std::string_view value) {
  return set_in(kFamilyFields, "family", family, key, value);
}

Status set_option(TableOptions& table, std::string_view key, std::string_view value) {
  return set_in(kTableFields, "table", table, key, value);
}

Status validate(const FamilyOptions& family) {
  Faults faults;
  faults.add(check_family_name(family.name));
  faults.add_if(family.max_versions < 1, "max_versions is at least 1");
  faults.add_if(family.max_versions > kVersionsMax || family.min_versions > kVersionsMax,
                "max_versions and min_versions are at most 2147483647");
  faults.add_if(family.min_versions > family.max_versions, "min_versions is more than max_versions");
  faults.add_if(family.ttl_s < 1, "ttl_s is at least 1");
  faults.add_if(family.block_bytes < kBlockBytesMin || family.block_bytes > kBlockBytesMax,
                "block_bytes is 1 KiB to 16 MiB");
  faults.add_if(family.bloom_bits_percent_error < 1 || family.bloom_bits_percent_error > 50,
                "bloom_bits_percent_error is 1 to 50");
  faults.add_unless_one_of("encoding", family.encoding, encoding_names());
  faults.add(make_compressor(family.compression).status());
  faults.add(make_bloom_type(family.bloom).status());
  faults.add(bloom_hash_by_name(family.bloom_hash).status());
  register_compaction_plugins();  // options may be looked at before any engine is opened
  if (auto policy = Registry<CompactionPolicy>::instance().make(family.compaction); !policy.ok())
    faults.add(policy.status().with_context("compaction"));
  Status status = faults.status();
  return status.ok() ? status : status.with_context("family \"" + family.name + "\"");
}

std::vector<std::pair<std::string, std::string>> option_list(const FamilyOptions& family) {
  return list_in(kFamilyFields, family);
}

std::vector<std::pair<std::string, std::string>> option_list(const TableOptions& table) {
  return list_in(kTableFields, table);
}

std::string to_text(const FamilyOptions& family, bool all) { return text_in(kFamilyFields, family, all); }

std::string to_text(const TableOptions& table, bool all) { return text_in(kTableFields, table, all); }

Status validate(const TableOptions& table) {
  Faults faults;
  faults.add_if(table.families.empty(), "a table needs at least one family");
  for (size_t i = 0; i < table.families.size(); ++i) {
    faults.add(validate(table.families[i]));
    for (size_t k = 0; k < i; ++k)
      faults.add_if(table.families[k].name == table.families[i].name,
                    "family \"" + table.families[i].name + "\" is named twice");
  }
  faults.add_if(table.memtable_bytes != 0 && table.memtable_bytes < static_cast<uint64_t>(kMemtableBytesMin),
                "memtable_bytes of a table is 0 or at least 4 KiB");
  return faults.status();
}

Status validate(const EngineOptions& engine) {
  Faults faults;
  faults.add_if(engine.memtable_bytes < static_cast<uint64_t>(kMemtableBytesMin),
                "memtable_bytes is at least 4 KiB");
  faults.add_if(engine.memtable_bytes_total < engine.memtable_bytes,
                "memtable_bytes_total is at least memtable_bytes");
  faults.add_if(engine.memtables_frozen_max < 1, "memtables_frozen_max is at least 1");
  faults.add_if(engine.log_segment_bytes < (64u << 10) || engine.log_segment_bytes > (uint64_t{4} << 30),
                "log_segment_bytes is 64 KiB to 4 GiB");
  faults.add_if(engine.files_stop < 2 || engine.files_slow > engine.files_stop,
                "files_slow is at most files_stop, which is at least 2");
  faults.add_if(engine.stall_ms_max < 0, "stall_ms_max is at least 0");
  faults.add_if(engine.row_lock_wait_ms < 0, "row_lock_wait_ms is at least 0");
  faults.add_if(engine.background_threads < 2, "background_threads is at least 2");
  faults.add_if(engine.cell_bytes_max > kCellBytesHardMax, "cell_bytes_max is at most 127 MiB");
  faults.add_if(engine.timestamp_slop_ms < 0, "timestamp_slop_ms is at least 0");
  faults.add_if(engine.ttl_clock_guard_s < 0 || engine.ttl_clock_guard_s > INT64_MAX / 1000,
                "ttl_clock_guard_s is 0 to 2^63 / 1000");
  faults.add_if(engine.batch_bytes_max < 1 || engine.batch_bytes_max > (63u << 20),
                "batch_bytes_max is 1 to 63 MiB");
  faults.add_if(engine.open_files_max < 1, "open_files_max is at least 1");
  faults.add_if(engine.major_compaction_interval_s < 0, "major_compaction_interval_s is at least 0");
  register_memtable_plugins();
  register_cache_plugins();
  faults.add(Registry<Memtable>::instance().make(engine.memtable).status().with_context("memtable"));
  faults.add(
      Registry<CachePolicy>::instance().make(engine.cache.policy).status().with_context("cache.policy"));
  return faults.status();
}

}  // namespace cellar
