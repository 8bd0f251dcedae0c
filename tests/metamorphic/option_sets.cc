// OptionSets.
#include "tests/metamorphic/option_sets.h"

#include <fmt/format.h>

#include <utility>

#include "base/plugins.h"
#include "cellar/bloom_type.h"
#include "cellar/cache_policy.h"
#include "cellar/compaction_policy.h"
#include "cellar/compressor.h"
#include "hfile/encoding/encoding.h"
#include "memtable/memtable.h"

namespace cellar::testing {
namespace {

using Kind = Operation::Kind;

class Sets {
 public:
  using EngineChange = std::function<void(EngineOptions&)>;
  using FamilyChange = std::function<void(FamilyOptions&)>;

  std::vector<OptionSet> take() && { return std::move(sets_); }

  void engine(const std::string& name, const EngineChange& change) {
    sets_.push_back({name, true, [change](Plan& plan) { change(plan.engine); }});
  }
  void family(const std::string& name, const FamilyChange& change, bool same_answers = true) {
    sets_.push_back({name, same_answers, [change](Plan& plan) { change_families(plan, change); }});
  }
  // Adds the set if this build can write such a family.
  void possible_family(const std::string& name, const FamilyChange& change) {
    FamilyOptions tried;
    tried.name = "f";
    change(tried);
    if (validate(tried).ok()) family(name, change);
  }
  // One set for each of the texts that a family may have there. The default's is made to differ from what all
  // families have by something else.
  void each_of(const std::string& option, std::string FamilyOptions::*field,
               const std::vector<std::string>& texts, const std::string& beside = {},
               const FamilyChange& change_beside = {}) {
    for (const std::string& text : texts) {
      const bool is_default = text == FamilyOptions().*field;
      possible_family(option + " " + text + (is_default ? ", " + beside : ""), [=](FamilyOptions& each) {
        each.*field = text;
        if (is_default) change_beside(each);
      });
    }
  }
  // The engine flushes by itself, and compacts as well where that is not taken back.
  void automatic(const std::string& name, const EngineChange& change, const FamilyChange& of_families = {}) {
    sets_.push_back({name, true, [=](Plan& plan) {
                       plan.work = Work::kAutomatic;
                       plan.engine.automatic_flush = plan.engine.automatic_compaction = true;
                       change(plan.engine);
                       if (of_families) change_families(plan, of_families);
                     }});
  }
  // As they are: what it does to the plan is more than options.
  void add(OptionSet set) { sets_.push_back(std::move(set)); }

 private:
  static void change_families(Plan& plan, const FamilyChange& change) {
    for (TableOptions& table : plan.tables)
      for (FamilyOptions& each : table.families) change(each);
  }

  std::vector<OptionSet> sets_;
};

void add_plugins(Sets& sets) {
  sets.each_of("encoding", &FamilyOptions::encoding, encoding_names(), "blocks of 2 KiB",
               [](FamilyOptions& family) { family.block_bytes = 2048; });
  std::vector<std::string> codecs = Registry<Compressor>::instance().names();
  codecs.emplace_back("zstd(level=1, framing=hbase)");
  sets.each_of("compression", &FamilyOptions::compression, codecs, "encoding row_index_v1, blocks of 4 KiB",
               [](FamilyOptions& family) {
                 family.encoding = "row_index_v1";
                 family.block_bytes = 4096;
               });
  std::vector<std::string> blooms = {"none"};
  for (const std::string& name : Registry<BloomType>::instance().names())
    for (const char* parameter : {"", "(prefix_length=1)", "(prefix_length=3)"})
      blooms.push_back(name + parameter);
  sets.each_of("bloom", &FamilyOptions::bloom, blooms, "blocks not cached", [](FamilyOptions& family) {
    family.cache_blocks = false;
    family.cache_blooms_on_write = true;
  });
  sets.each_of("bloom hash", &FamilyOptions::bloom_hash, {"murmur", "murmur3", "jenkins"}, "bloom rowcol",
               [](FamilyOptions& family) {
                 family.bloom = "rowcol";
                 family.bloom_bits_percent_error = 20;
               });
  sets.each_of("bloom allocation", &FamilyOptions::bloom_allocation, {"uniform", "monkey"}, "bloom error 5 %",
               [](FamilyOptions& family) { family.bloom_bits_percent_error = 5; });
  std::vector<std::string> policies;
  for (const std::string& name : Registry<CompactionPolicy>::instance().names())
    for (const char* parameter : {"", "(files_min=2, files_max=2)", "(ratio=5, files_min=2, files_max=3)",
                                  "(fanout=2, base_bytes=2k, file_bytes=100, runs_min=1)"})
      policies.push_back(name + parameter);
  sets.each_of("compaction", &FamilyOptions::compaction, policies, "which writes none",
               [](FamilyOptions& family) { family.compression_compact = "none"; });
  for (const std::string& name : Registry<Memtable>::instance().names())
    sets.engine(fmt::format("memtable {} of 8 KiB", name), [name](EngineOptions& engine) {
      engine.memtable = name;
      engine.memtable_bytes = 8192;
    });
  for (const std::string& name : Registry<CachePolicy>::instance().names())
    for (const uint64_t bytes : {0u, 1200u, 20000u})
      sets.engine(fmt::format("cache {} of {} bytes", name, bytes), [name, bytes](EngineOptions& engine) {
        engine.cache_policy = name;
        engine.cache_bytes = bytes;
      });
  for (const uint64_t bytes : {0u, 8000u, 1u << 20})
    sets.engine(fmt::format("cache of {} bytes, mapped files", bytes), [bytes](EngineOptions& engine) {
      engine.cache_bytes = bytes;
      engine.map_files = true;
    });
  sets.engine("cache of 8,000 bytes without rows", [](EngineOptions& engine) {
    engine.cache_bytes = 8000;
    engine.cache_rows = false;
  });
}

// Adds options of the files that flushes and compactions of some or all files write.
void add_rewrites(Sets& sets) {
  sets.possible_family("compactions write gz",
                       [](FamilyOptions& family) { family.compression_compact = "gz"; });
  sets.possible_family("major compactions write gz",
                       [](FamilyOptions& family) { family.compression_compact_major = "gz"; });
  sets.possible_family("minor compactions write none, from files of gz", [](FamilyOptions& family) {
    family.compression = "gz";
    family.encoding = "diff";
    family.compression_compact_minor = "none";
    family.compaction = "exploring(files_min=2, files_max=2)";
  });
  sets.family("delete markers kept for 5 s",
              [](FamilyOptions& family) { family.time_to_purge_deletes_ms = 5000; });
  sets.automatic(
      "automatic work, each rewrite with its codec",
      [](EngineOptions& engine) { engine.memtable_bytes = 4096; },
      [](FamilyOptions& family) {
        family.compression = "none";
        family.compression_compact_major = "gz";
        family.compression_compact_minor = "snappy";
        family.compaction = "exploring(files_min=2, files_max=3)";
      });
  sets.automatic(
      "automatic work, families compacted whole every 2 s",
      [](EngineOptions& engine) { engine.memtable_bytes = 4096; },
      [](FamilyOptions& family) { family.major_compaction_interval_ms = 2000; });
  sets.automatic("automatic work, all compacted whole every 3 s", [](EngineOptions& engine) {
    engine.memtable_bytes = 4096;
    engine.major_compaction_interval_s = 3;
  });
}

// Flushed by the engine when they are full. Elsewhere it flushes on request only, so that what a plan finds
// in memory is the same under many sets.
void add_memtables(Sets& sets) {
  for (const uint64_t kib : {4u, 6u, 1024u})
    sets.automatic(fmt::format("memtables of {} KiB", kib), [kib](EngineOptions& engine) {
      engine.automatic_compaction = false;
      engine.memtable_bytes = kib << 10;
    });
}

void add_limits(Sets& sets) {
  sets.engine("log segments of 1 MiB", [](EngineOptions& engine) { engine.log_segment_bytes = 1 << 20; });
  sets.engine("one open file", [](EngineOptions& engine) { engine.open_files_max = 1; });
  sets.engine("three open files", [](EngineOptions& engine) { engine.open_files_max = 3; });
  sets.engine("new files verified", [](EngineOptions& engine) { engine.verify_new_files = true; });
  sets.add({"compactions in parts", true, [](Plan& plan) {
              plan.engine.compaction_parts_max = 4;
              plan.engine.compaction_part_bytes = 1;
              for (TableOptions& table : plan.tables)
                for (FamilyOptions& each : table.families) {
                  each.block_bytes = 1024;
                  each.compaction = "leveled(fanout=2, base_bytes=2k, file_bytes=100, runs_min=1)";
                }
            }});
  sets.engine("durability fsync_wal",
              [](EngineOptions& engine) { engine.durability = Durability::kFsyncWal; });
  // No family of a row has so much, all that a scan returns may have more.
  sets.engine("rows of at most 32 KiB", [](EngineOptions& engine) { engine.row_bytes_max = 32 << 10; });
  sets.family("blocks of 1 KiB", [](FamilyOptions& family) { family.block_bytes = 1024; });
  sets.family("blocks of 1 MiB", [](FamilyOptions& family) { family.block_bytes = 1 << 20; });
  sets.family("Bloom filters that err half the time",
              [](FamilyOptions& family) { family.bloom_bits_percent_error = 50; });
  sets.family("blocks not cached", [](FamilyOptions& family) { family.cache_blocks = false; });
  sets.family("new files cached", [](FamilyOptions& family) {
    family.cache_data_on_write = true;
    family.cache_index_on_write = true;
    family.cache_blooms_on_write = true;
  });
  sets.family("files prefetched", [](FamilyOptions& family) { family.prefetch_on_open = true; });
  sets.family("in memory", [](FamilyOptions& family) { family.in_memory = true; });
  sets.family("tags not compressed", [](FamilyOptions& family) {
    family.compress_tags = false;
    family.encoding = "fast_diff";
  });
  sets.engine("all at its least", [](EngineOptions& engine) {
    engine.memtable_bytes = 4096;
    engine.log_segment_bytes = 64 << 10;
    engine.cache_bytes = 0;
    engine.open_files_max = 1;
    engine.verify_new_files = true;
  });
  sets.automatic("automatic work", [](EngineOptions&) {});
  sets.automatic("automatic work, memtables of 4 KiB", [](EngineOptions& engine) {
    engine.memtable_bytes = 4096;
    engine.memtables_frozen_max = 1;
  });
  sets.automatic("automatic work, one open file, no cache", [](EngineOptions& engine) {
    engine.memtable_bytes = 4096;
    engine.open_files_max = 1;
    engine.cache_bytes = 0;
  });
}

// Adds options that refuse writes. Lists of actions stay out: refusals decide which of their actions are done
// in a single write.
void add_refusals(Sets& sets) {
  sets.add({"puts at most half a second ahead", false, [](Plan& plan) {
              plan.engine.timestamp_slop_ms = 500;
              for (Operation& each : plan.operations)
                if (each.kind == Kind::kActionList) each.kind = Kind::kFlush;
            }});
}

// Which cells a read shows: compared with the model alone.
void add_rules(Sets& sets) {
  const auto rules = [&](const std::string& name, const std::function<void(FamilyOptions&)>& change) {
    sets.family(name, change, false);
  };
  for (const KeepDeleted keep : {KeepDeleted::kFalse, KeepDeleted::kTrue, KeepDeleted::kTtl})
    for (const MarkerOrder order : {MarkerOrder::kTimestamp, MarkerOrder::kSequence})
      for (const uint32_t versions : {1u, 3u})
        rules(fmt::format("keep_deleted_cells {}, delete_order {}, {} versions", static_cast<int>(keep),
                          static_cast<int>(order), versions),
              [=](FamilyOptions& family) {
                family.keep_deleted_cells = keep;
                family.delete_order = order;
                family.max_versions = versions;
              });
  rules("delete markers kept for 5 s, delete_order 0", [](FamilyOptions& family) {
    family.time_to_purge_deletes_ms = 5000;
    family.delete_order = MarkerOrder::kTimestamp;
    family.max_versions = 3;
  });
  rules("rising stamps", [](FamilyOptions& family) {
    family.stamps = Stamps::kRising;
    family.max_versions = 3;
  });
  rules("TTL of 3 s", [](FamilyOptions& family) { family.ttl_s = 3; });
  rules("TTL of 3 s, deleted cells kept for it", [](FamilyOptions& family) {
    family.ttl_s = 3;
    family.keep_deleted_cells = KeepDeleted::kTtl;
  });
  rules("TTL of 3 s, 2 versions of 3 kept", [](FamilyOptions& family) {
    family.ttl_s = 3;
    family.max_versions = 3;
    family.min_versions = 2;
  });
  rules("TTL of 3 s, deleted cells and one version kept", [](FamilyOptions& family) {
    family.ttl_s = 3;
    family.min_versions = 1;
    family.keep_deleted_cells = KeepDeleted::kTrue;
  });
}

}  // namespace

const std::vector<OptionSet>& option_sets() {
  static const std::vector<OptionSet> kSets = [] {
    register_memtable_plugins();
    register_cache_plugins();
    register_bloom_plugins();
    register_hfile_plugins();
    register_compaction_plugins();
    Sets sets;
    sets.engine("defaults", [](EngineOptions&) {});
    add_limits(sets);
    add_memtables(sets);
    add_plugins(sets);
    add_rewrites(sets);
    add_refusals(sets);
    add_rules(sets);
    return std::move(sets).take();
  }();
  return kSets;
}

namespace {

// In the time of a plan.
void never_expire(std::optional<int64_t>& ttl_ms) {
  if (ttl_ms) *ttl_ms *= 1'000'000;
}

}  // namespace

void fix_answers(Plan& plan) {
  plan.keeps_history = true;
  plan.power_cuts = false;
  const EngineOptions drawn = std::exchange(plan.engine, {});
  plan.engine.memtable_bytes = 16 << 10;
  plan.engine.log_segment_bytes = drawn.log_segment_bytes;
  plan.engine.automatic_flush = plan.engine.automatic_compaction = false;
  plan.engine.ttl_clock_guard_s = 0;
  plan.engine.files_slow = plan.engine.files_stop = 1'000'000;  // waiting for a compaction takes time
  plan.work = Work::kManual;
  for (TableOptions& table : plan.tables) {
    table.durability.reset();
    for (FamilyOptions& family : table.families) {
      const std::string name = std::exchange(family, {}).name;
      family.name = name;
      family.max_versions = 1'000'000;
      family.delete_order = MarkerOrder::kSequence;
    }
  }
  for (Operation& each : plan.operations) {
    each.unlogged = each.scan.raw = false;
    if (each.kind == Kind::kAlter || each.kind == Kind::kRecode) each.kind = Kind::kFlush;
    if (each.kind == Kind::kNameSnapshot) each.major = true;  // so that it can be restored, everywhere
    // A cell that expires shows what was written before it at its own time, unless a compaction dropped that.
    for (RowChange& row : each.rows) {
      never_expire(row.put_ttl_ms);
      for (ModelChange& change : row.changes) never_expire(change.ttl_ms);
    }
  }
}

}  // namespace cellar::testing
