// Checks of a configuration: each compares two options.
#include "tools/store/config_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "cellar/plugin.h"

namespace cellar {
namespace {

// ConfigChecks: gathers findings about one place after the other. One thread.
class ConfigChecks {
 public:
  explicit ConfigChecks(const Configuration& configuration)
      : engine_(configuration.engine), configuration_(configuration) {}

  std::vector<ConfigFinding> run() {
    where_ = "engine";
    invalid(validate(engine_));
    check_engine();
    for (const auto& [name, table] : configuration_.tables) {
      where_ = "table " + escaped(name);
      check_table(table);
      for (const FamilyOptions& family : table.families) {
        where_ = "family " + escaped(name) + ":" + escaped(family.name);
        invalid(validate(family));
        check_family(table, family);
        check_compaction(table, family);
      }
    }
    return std::move(findings_);
  }

 private:
  void contradiction(bool holds, std::string text, std::string hint) {
    if (holds) findings_.push_back({where_, true, std::move(text), std::move(hint)});
  }
  void advice(bool holds, std::string text, std::string hint) {
    if (holds) findings_.push_back({where_, false, std::move(text), std::move(hint)});
  }
  void invalid(const Status& status) {
    contradiction(!status.ok(), std::string(status.message()), std::string(status.hint()));
  }

  void check_engine() {
    const EngineOptions usual;
    const uint64_t cell = engine_.cell_bytes_max == 0 ? kCellBytesHardMax : engine_.cell_bytes_max;
    contradiction(
        cell > engine_.batch_bytes_max,
        fmt::format("cell_bytes_max ({}) is larger than batch_bytes_max ({}): such a cell fits into "
                    "no batch",
                    human_bytes(cell), human_bytes(engine_.batch_bytes_max)),
        "raise batch_bytes_max, or lower cell_bytes_max");
    contradiction(engine_.row_bytes_max != 0 && engine_.row_bytes_max < cell,
                  fmt::format("row_bytes_max ({}) is smaller than cell_bytes_max ({}): a cell can be written "
                              "that no whole row can be read with",
                              human_bytes(engine_.row_bytes_max), human_bytes(cell)),
                  "raise row_bytes_max, or lower cell_bytes_max");
    contradiction(!engine_.automatic_compaction && engine_.major_compaction_interval_s != 0,
                  "major_compaction_interval_s has no effect: automatic_compaction is off",
                  "leave one of the two out");
    contradiction(!engine_.metrics && !engine_.metrics_file.empty(),
                  "metrics_file gets no latencies and no counters: metrics is off", "set metrics=true");
    contradiction(engine_.read_only && engine_.create_if_missing,
                  "create_if_missing has no effect: a read_only engine writes nothing", "leave one out");
    contradiction(engine_.read_only && !engine_.metrics_file.empty(),
                  "a read_only engine refuses metrics_file: the file is that of the engine that writes",
                  "leave one out");
    contradiction(engine_.operation_trace.empty() && !engine_.operation_trace_options.empty(),
                  "operation_trace_options has no effect: operation_trace names no file",
                  "set operation_trace");
    contradiction(engine_.metrics_file.empty() && engine_.metrics_interval_s != usual.metrics_interval_s,
                  "metrics_interval_s has no effect: metrics_file names no file", "set metrics_file");
    const auto threads = static_cast<uint64_t>(std::max(1, engine_.background_threads - 1));
    advice(engine_.compaction_parts_max > threads,
           fmt::format(
               "compaction_parts_max is {}, but background_threads leaves {} for compactions: parts wait "
               "for each other",
               engine_.compaction_parts_max, threads),
           fmt::format("background_threads={}, or compaction_parts_max=0", engine_.compaction_parts_max + 1));
    advice(!engine_.automatic_flush,
           "automatic_flush is off: writers get kBusy once memtables take memtable_bytes_total",
           "call Engine::flush() often enough");
    size_t families = 0;
    for (const auto& [name, table] : configuration_.tables) families += table.families.size();
    const uint64_t wanted = families * engine_.memtable_bytes;
    advice(families > 1 && wanted > engine_.memtable_bytes_total,
           fmt::format("{} families would fill {} of memtables, memtable_bytes_total is {}: they are flushed "
                       "earlier, into smaller files",
                       families, human_bytes(wanted), human_bytes(engine_.memtable_bytes_total)),
           fmt::format("memtable_bytes_total={}, or a smaller memtable_bytes", wanted));
  }

  void check_table(const TableOptions& table) {
    contradiction(table.memtable_bytes > engine_.memtable_bytes_total,
                  fmt::format("memtable_bytes ({}) is larger than the engine's memtable_bytes_total ({})",
                              human_bytes(table.memtable_bytes), human_bytes(engine_.memtable_bytes_total)),
                  "raise memtable_bytes_total, or lower memtable_bytes");
    advice(table.durability == Durability::kSkipWal,
           "durability is skip_wal: writes are lost that no flush has written to files",
           "durability=sync_wal");
  }

  void check_family(const TableOptions& table, const FamilyOptions& family) {
    const FamilyOptions usual;
    const bool forever = family.ttl_s >= kForever;
    contradiction(forever && family.min_versions > 0,
                  "min_versions has no effect: ttl_s is forever, so no version expires",
                  "set ttl_s, or min_versions=0");
    contradiction(forever && family.keep_deleted_cells == KeepDeleted::kTtl,
                  "keep_deleted_cells=ttl keeps deleted cells for ever: ttl_s is forever",
                  "set ttl_s, or keep_deleted_cells=true to say so");
    contradiction(!family.cache_blocks && family.in_memory, "in_memory has no effect: cache_blocks is off",
                  "set cache_blocks=true");
    contradiction(!family.cache_blocks && family.prefetch_on_open,
                  "prefetch_on_open has no effect: cache_blocks is off", "set cache_blocks=true");
    contradiction(engine_.cache_bytes == 0 && (family.in_memory || family.prefetch_on_open),
                  "in_memory and prefetch_on_open have no effect: the engine's cache_bytes is 0",
                  "set cache_bytes");
    const bool no_bloom = family.bloom == "none";
    contradiction(no_bloom && family.bloom_bits_percent_error != usual.bloom_bits_percent_error,
                  "bloom_bits_percent_error has no effect without a Bloom filter", "set bloom=row");
    contradiction(no_bloom && family.bloom_allocation != usual.bloom_allocation,
                  "bloom_allocation has no effect without a Bloom filter", "set bloom=row");
    contradiction(engine_.cache_bytes != 0 && family.block_bytes > engine_.cache_bytes / 4,
                  fmt::format("block_bytes ({}) is more than a quarter of the engine's cache_bytes ({})",
                              human_bytes(family.block_bytes), human_bytes(engine_.cache_bytes)),
                  "smaller blocks, or a larger cache");
    const uint64_t memtable = table.memtable_bytes != 0 ? table.memtable_bytes : engine_.memtable_bytes;
    contradiction(family.block_bytes > memtable,
                  fmt::format("block_bytes ({}) is larger than memtable_bytes ({}): each flush writes a "
                              "single block",
                              human_bytes(family.block_bytes), human_bytes(memtable)),
                  "smaller blocks, or a larger memtable");
  }

  void check_compaction(const TableOptions& table, const FamilyOptions& family) {
    const Result<PluginParams> policy = PluginParams::parse(family.compaction);
    if (!policy.ok()) return;  // validate() has complained
    const bool compacts = engine_.automatic_compaction && table.compaction_enabled;
    contradiction(!compacts && family.major_compaction_interval_ms > 0,
                  "major_compaction_interval_ms has no effect: compactions run only on request",
                  "set automatic_compaction and compaction_enabled, or the interval to 0");
    const uint32_t stop = family.files_stop != 0 ? family.files_stop : engine_.files_stop;
    const bool selects = policy->name() == "exploring" || policy->name() == "ratio";
    const uint64_t least = policy->count("files_min", selects ? 3 : 0);
    contradiction(compacts && least > stop,
                  fmt::format("compaction begins at {} files (files_min), and files_stop is {}: writers slow "
                              "down, and no compaction relieves them",
                              least, stop),
                  "lower files_min, or raise files_stop");
    contradiction(policy->name() == "fifo" && family.ttl_s >= kForever && policy->bytes("bytes_max", 0) == 0,
                  "compaction=fifo drops files that have expired, and ttl_s is forever", "set ttl_s");
    contradiction(
        policy->name() == "fifo" && family.max_versions > 1,
        fmt::format("compaction=fifo merges no files, so max_versions={} removes no version from disk",
                    family.max_versions),
        "another policy, such as date_tiered");
    advice(policy->name() == "none" && compacts,
           "compaction=none: files become ever more, and a get may look into all of them",
           "compact on request, or choose a policy");
  }

  const EngineOptions& engine_;
  const Configuration& configuration_;
  std::string where_;
  std::vector<ConfigFinding> findings_;
};

}  // namespace

std::vector<ConfigFinding> check_configuration(const Configuration& configuration) {
  return ConfigChecks(configuration).run();
}

}  // namespace cellar
