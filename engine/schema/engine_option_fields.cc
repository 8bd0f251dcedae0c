// The options of an engine one by one: their names, and how they are read and written.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "cellar/plugin.h"
#include "engine/schema/option_field.h"
#include "engine/schema/option_fields.h"

namespace cellar {
namespace {

using EngineField = Field<EngineOptions>;

template <auto kMember>
constexpr EngineField flag(std::string_view name, std::string_view example) {
  return flag_field<kMember>(name, "", example);
}

// validate() knows how many may be.
template <auto kMember>
constexpr EngineField number(std::string_view name, std::string_view example) {
  constexpr bool kWide = sizeof(EngineOptions().*kMember) == sizeof(int64_t);
  return number_field < kMember, 0, kWide ? INT64_MAX : INT32_MAX > (name, "", example);
}

template <auto kMember>
constexpr EngineField text(std::string_view name, std::string_view example) {
  return {name, "", example,
          [](EngineOptions& engine, auto, auto value) { return engine.*kMember = value, Status(); },
          [](const EngineOptions& engine) { return engine.*kMember; }};
}

Status set_durability(EngineOptions& engine, std::string_view key, std::string_view text) {
  for (const Durability each :
       {Durability::kSkipWal, Durability::kAsyncWal, Durability::kSyncWal, Durability::kFsyncWal})
    if (durability_name(each) == lower_ascii(text)) return engine.durability = each, Status();
  return unfit(key, text, "skip_wal, async_wal, sync_wal or fsync_wal");
}

// Names of store files, with blanks between them.
Status set_without_files(EngineOptions& engine, std::string_view key, std::string_view text) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    std::string name(text.substr(begin, end - begin));
    begin = end + 1;
    if (name.empty()) continue;
    const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    if (name.size() != 32 || !std::ranges::all_of(name, is_digit))
      return unfit(key, name, "the name of a store file, 32 hex digits");
    names.push_back(std::move(name));
  }
  engine.without_files = std::move(names);
  return {};
}

const std::array kFields = {
    flag<&EngineOptions::create_if_missing>("create_if_missing", "true"),
    flag<&EngineOptions::error_if_exists>("error_if_exists", "true"),
    flag<&EngineOptions::read_only>("read_only", "true"),
    EngineField{"durability", "", "fsync_wal", set_durability,
                [](const EngineOptions& e) { return std::string(durability_name(e.durability)); }},
    EngineField{"cache_bytes", "", "256m",
                [](EngineOptions& e, auto key, auto text) {
                  return set_number(key, text, 0, INT64_MAX, e.cache_bytes);
                },
                [](const EngineOptions& e) { return std::to_string(e.cache_bytes); }},
    EngineField{
        "cache_policy", "", "s3fifo(small=20%)",
        [](EngineOptions& e, auto, auto text) { return e.cache_policy = lower_ascii(text), Status(); },
        [](const EngineOptions& e) { return e.cache_policy; }},
    EngineField{"cache_shards", "", "4",
                [](EngineOptions& e, auto key, auto text) {
                  return set_number(key, text, 0, INT32_MAX, e.cache_shards);
                },
                [](const EngineOptions& e) { return std::to_string(e.cache_shards); }},
    flag<&EngineOptions::cache_rows>("cache_rows", "false"),
    flag<&EngineOptions::map_files>("map_files", "true"),
    EngineField{"block_trace", "", "blocks.trace",
                [](EngineOptions& e, auto, auto text) { return e.block_trace = text, Status(); },
                [](const EngineOptions& e) { return e.block_trace; }},
    name_field<&EngineOptions::memtable>("memtable", "", "skip_list"),
    number<&EngineOptions::memtable_bytes>("memtable_bytes", "128m"),
    number<&EngineOptions::memtable_bytes_total>("memtable_bytes_total", "1g"),
    number<&EngineOptions::memtables_frozen_max>("memtables_frozen_max", "6"),
    number<&EngineOptions::log_segment_bytes>("log_segment_bytes", "16m"),
    number<&EngineOptions::files_slow>("files_slow", "8"),
    number<&EngineOptions::files_stop>("files_stop", "40"),
    number<&EngineOptions::stall_ms_max>("stall_ms_max", "10000"),
    number<&EngineOptions::row_lock_wait_ms>("row_lock_wait_ms", "5000"),
    flag<&EngineOptions::automatic_flush>("automatic_flush", "false"),
    flag<&EngineOptions::automatic_compaction>("automatic_compaction", "false"),
    number<&EngineOptions::major_compaction_interval_s>("major_compaction_interval_s", "604800"),
    number<&EngineOptions::major_compaction_jitter_percent>("major_compaction_jitter_percent", "50"),
    flag<&EngineOptions::compaction_for_scans>("compaction_for_scans", "false"),
    flag<&EngineOptions::drop_expired_files>("drop_expired_files", "false"),
    number<&EngineOptions::open_files_max>("open_files_max", "4096"),
    number<&EngineOptions::background_threads>("background_threads", "4"),
    number<&EngineOptions::compaction_parts_max>("compaction_parts_max", "4"),
    number<&EngineOptions::compaction_part_bytes>("compaction_part_bytes", "64m"),
    number<&EngineOptions::cell_bytes_max>("cell_bytes_max", "1m"),
    number<&EngineOptions::row_bytes_max>("row_bytes_max", "64m"),
    number<&EngineOptions::timestamp_slop_ms>("timestamp_slop_ms", "60000"),
    number<&EngineOptions::batch_bytes_max>("batch_bytes_max", "8m"),
    number<&EngineOptions::ttl_clock_guard_s>("ttl_clock_guard_s", "0"),
    flag<&EngineOptions::verify_new_files>("verify_new_files", "true"),
    flag<&EngineOptions::tolerate_torn_log>("tolerate_torn_log", "true"),
    EngineField{"without_files", "", "5f0c2e9ab1d84a770000000000000003", set_without_files,
                [](const EngineOptions& e) { return fmt::format("{}", fmt::join(e.without_files, " ")); }},
    text<&EngineOptions::operation_trace>("operation_trace", "traces/shop.trace"),
    text<&EngineOptions::operation_trace_options>("operation_trace_options", "keys=hashed"),
    flag<&EngineOptions::metrics>("metrics", "false"),
    text<&EngineOptions::metrics_file>("metrics_file", "shop.prom"),
    number<&EngineOptions::metrics_interval_s>("metrics_interval_s", "60"),
    text<&EngineOptions::totals_series>("totals_series", "shop.totals.jsonl"),
};

}  // namespace

std::string option_example(const EngineOptions&, std::string_view option) {
  const auto found = std::ranges::find(kFields, option, &EngineField::name);
  return found == kFields.end() ? std::string() : std::string(found->example);
}

Status set_option(EngineOptions& engine, std::string_view key, std::string_view value) {
  const std::string wanted = lower_ascii(key);
  std::vector<std::string> known;
  for (const EngineField& each : kFields) {
    if (wanted == each.name) return each.set(engine, each.name, value);
    known.emplace_back(each.name);
  }
  const std::string nearest = nearest_name(wanted, known);
  return Status::invalid_argument(fmt::format("unknown engine option \"{}\"", escaped(key)))
      .hinting(nearest.empty() ? fmt::format("known: {}", fmt::join(known, ", "))
                               : fmt::format("did you mean {}?", nearest));
}

std::vector<std::pair<std::string, std::string>> option_list(const EngineOptions& engine) {
  std::vector<std::pair<std::string, std::string>> list;
  for (const EngineField& each : kFields) list.emplace_back(each.name, each.get(engine));
  return list;
}

std::string to_text(const EngineOptions& engine, bool all) {
  const EngineOptions defaults;
  std::string text;
  for (const EngineField& each : kFields) {
    const std::string value = each.get(engine);
    if (!all && value == each.get(defaults)) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", each.name, value);
  }
  return text;
}

}  // namespace cellar
