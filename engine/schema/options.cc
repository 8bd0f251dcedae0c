// Options: what is wrong with them, all of it at once.
#include "cellar/options.h"
#include "base/assert.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/plugins.h"
#include "base/utf8.h"
#include "bloom/bloom_types.h"
#include "cellar/cache_policy.h"
#include "cellar/compaction_policy.h"
#include "cellar/plugin.h"
#include "engine/schema/carried_attributes.h"
#include "engine/schema/option_fields.h"
#include "hfile/codec/codecs.h"
#include "hfile/encoding/encoding.h"
#include "memtable/memtable.h"

namespace cellar {
namespace {

Status check_family_name(const std::string& name) {
  if (name.empty() || name.size() > 127)
    return Status::invalid_argument("a family's name has 1 to 127 bytes");
  for (const char c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == ':' || c == '/' || c == '\\')
      return Status::invalid_argument("family name \"" + escaped(name) +
                                      "\" holds a control character, ':', '/' or '\\'");
  if (name.front() == '.')
    return Status::invalid_argument("family name \"" + escaped(name) + "\" begins with '.'");
  if (name == "recovered.edits")
    return Status::invalid_argument("family name \"recovered.edits\" is reserved");
  return {};
}

// Joins faults, so that one look shows all of them.
struct Faults {
  std::string text;
  std::string hint;  // the first one that a fault has
  void add(const Status& status) {
    if (status.ok()) return;
    text += (text.empty() ? "" : "; ") + std::string(status.message());
    if (hint.empty()) hint = status.hint();
  }
  void add_if(bool bad, std::string_view message) {
    CELLAR_ASSERT(!message.empty());
    if (bad) text += (text.empty() ? "" : "; ") + std::string(message);
  }
  void add_unless_one_of(std::string_view option, const std::string& value,
                         const std::vector<std::string>& names) {
    if (std::ranges::find(names, value) != names.end()) return;
    add(Status::invalid_argument(fmt::format("{} \"{}\" cannot be written by this build ({})", option,
                                             escaped(value), fmt::join(names, ", ")))
            .hinting(nearest_hint(lower_ascii(value), names)));
  }
  template <class Options>
  void add_carried(AttributeOf of, const Options& options);
  Status status() const { return text.empty() ? Status() : Status::invalid_argument(text).hinting(hint); }
};

constexpr size_t kCarriedBytesMax = 1 << 20;

template <class Options>
void Faults::add_carried(AttributeOf of, const Options& options) {
  size_t bytes = 0;
  const auto add_text = [&](std::string_view kind, const std::string& key, const std::string& value,
                            const std::string& option) {
    bytes += key.size() + value.size();
    add_if(key.empty(), fmt::format("a key in {} is empty", kind));
    add_if(value.empty(), fmt::format("{} {} has no value", kind, escaped(key)));
    add_if(!is_utf8(key) || !is_utf8(value), fmt::format("{} {} is not UTF-8", kind, escaped(key)));
    add_if(!option.empty(), fmt::format("{} {} is {}", kind, escaped(key), option));
  };
  for (const auto& [key, value] : options.metadata) {
    add_text("metadata", key, value, option_of_metadata(options, key));
    const CarriedAttribute* const carried = find_carried_attribute(of, key);
    if (carried == nullptr) continue;
    add(carried->check(key, value));
    add_if(key != upper_ascii(key), fmt::format("metadata {} is written {}", key, upper_ascii(key)));
    add_if(asks_for_usual(*carried, value),
           fmt::format("metadata {}: {} is HBase's default, which is not kept", key, value));
  }
  for (const auto& [key, value] : options.configuration)
    add_text("configuration", key, value, option_of_configuration(options, key));
  add_if(bytes > kCarriedBytesMax, "metadata and configuration have more than 1 MiB");
}

// "same" is valid, like every compression that can be written.
Status check_compression(std::string_view option, const std::string& compression) {
  if (compression == kSameCompression) return {};
  return make_compressor(compression).status().with_context(option);
}

}  // namespace

Status validate(const FamilyOptions& family) {
  Faults faults;
  faults.add(check_family_name(family.name));
  faults.add_if(family.max_versions < 1, "max_versions must be at least 1");
  faults.add_if(family.max_versions > kVersionsMax || family.min_versions > kVersionsMax,
                "max_versions and min_versions are at most 2147483647");
  faults.add_if(family.min_versions > family.max_versions, "min_versions must be at most max_versions");
  faults.add_if(family.ttl_s < 1, "ttl_s must be at least 1");
  faults.add_if(family.block_bytes < kBlockBytesMin || family.block_bytes > kBlockBytesMax,
                "block_bytes must be 1 KiB to 16 MiB");
  faults.add_if(family.bloom_bits_percent_error < 1 || family.bloom_bits_percent_error > 50,
                "bloom_bits_percent_error must be 1 to 50");
  faults.add_unless_one_of("encoding", encoding_name(family.encoding), encoding_names());
  faults.add(make_compressor(family.compression).status());
  faults.add(check_compression("compression_compact", family.compression_compact));
  faults.add(check_compression("compression_compact_major", family.compression_compact_major));
  faults.add(check_compression("compression_compact_minor", family.compression_compact_minor));
  faults.add(make_bloom_type(family.bloom).status());
  faults.add_if(family.bloom_allocation != "uniform" && family.bloom_allocation != "monkey",
                "bloom_allocation must be uniform or monkey");
  faults.add(bloom_hash_by_name(family.bloom_hash).status());
  register_compaction_plugins();  // options may be looked at before any engine is opened
  if (auto policy = Registry<CompactionPolicy>::instance().make(family.compaction); !policy.ok())
    faults.add(policy.status().with_context("compaction"));
  faults.add_if(family.files_stop == 1, "files_stop must be at least 2, or 0: the engine's");
  faults.add_if(family.major_compaction_interval_ms < -1, "major_compaction_interval_ms must be at least -1");
  faults.add_carried(AttributeOf::kFamily, family);
  Status status = faults.status();
  return status.ok() ? status : status.with_context("family \"" + escaped(family.name) + "\"");
}

Status validate(const TableOptions& table) {
  Faults faults;
  faults.add_if(table.families.empty(), "a table needs at least one family");
  for (size_t i = 0; i < table.families.size(); ++i) {
    faults.add(validate(table.families[i]));
    for (size_t k = 0; k < i; ++k)
      faults.add_if(table.families[k].name == table.families[i].name,
                    "family \"" + escaped(table.families[i].name) + "\" is named twice");
  }
  faults.add_if(table.memtable_bytes != 0 && table.memtable_bytes < static_cast<uint64_t>(kMemtableBytesMin),
                "memtable_bytes of a table must be 0 or at least 4 KiB");
  faults.add_carried(AttributeOf::kTable, table);
  return faults.status();
}

Status validate(const EngineOptions& engine) {
  Faults faults;
  faults.add_if(engine.memtable_bytes < static_cast<uint64_t>(kMemtableBytesMin),
                "memtable_bytes must be at least 4 KiB");
  faults.add_if(engine.memtable_bytes_total < engine.memtable_bytes,
                "memtable_bytes_total must be at least memtable_bytes");
  faults.add_if(engine.memtables_frozen_max < 1, "memtables_frozen_max must be at least 1");
  faults.add_if(engine.log_segment_bytes < (64u << 10) || engine.log_segment_bytes > (uint64_t{4} << 30),
                "log_segment_bytes must be 64 KiB to 4 GiB");
  faults.add_if(engine.files_stop < 2 || engine.files_slow > engine.files_stop,
                "files_slow must be at most files_stop, which must be at least 2");
  constexpr int64_t kWaitMsMax = INT64_MAX / 1000;  // the waits are counted in microseconds
  faults.add_if(engine.stall_ms_max < 0 || engine.stall_ms_max > kWaitMsMax,
                "stall_ms_max must be 0 to 9223372036854775");
  faults.add_if(engine.row_lock_wait_ms < 0 || engine.row_lock_wait_ms > kWaitMsMax,
                "row_lock_wait_ms must be 0 to 9223372036854775");
  faults.add_if(engine.background_threads < 2, "background_threads must be at least 2");
  faults.add_if(engine.compaction_parts_max > 1000, "compaction_parts_max must be at most 1000");
  faults.add_if(engine.cell_bytes_max > kCellBytesHardMax, "cell_bytes_max must be at most 127 MiB");
  faults.add_if(engine.timestamp_slop_ms < 0, "timestamp_slop_ms must be at least 0");
  faults.add_if(engine.ttl_clock_guard_s < 0 || engine.ttl_clock_guard_s > INT64_MAX / 1000,
                "ttl_clock_guard_s must be 0 to 2^63 / 1000");
  faults.add_if(engine.batch_bytes_max < 1 || engine.batch_bytes_max > (63u << 20),
                "batch_bytes_max must be 1 to 63 MiB");
  faults.add_if(engine.open_files_max < 1, "open_files_max must be at least 1");
  faults.add_if(engine.major_compaction_interval_s < 0, "major_compaction_interval_s must be at least 0");
  faults.add_if(engine.major_compaction_jitter_percent > 100,
                "major_compaction_jitter_percent must be 0 to 100");
  faults.add_if(engine.major_compaction_interval_s > INT64_MAX / 1000,
                "major_compaction_interval_s must be at most 2^63 / 1000");
  faults.add_if(engine.metrics_interval_s < 1 || engine.metrics_interval_s > 86400 * 365,
                "metrics_interval_s must be 1 to 31536000");
  faults.add_if(!engine.without_files.empty() && !engine.read_only,
                "without_files must be empty unless the store is opened for reading only");
  register_memtable_plugins();
  register_cache_plugins();
  faults.add(Registry<Memtable>::instance().make(engine.memtable).status().with_context("memtable"));
  faults.add(
      Registry<CachePolicy>::instance().make(engine.cache_policy).status().with_context("cache_policy"));
  return faults.status();
}

}  // namespace cellar
