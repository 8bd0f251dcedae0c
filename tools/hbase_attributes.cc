// The list of what HBase has and a store has not.
#include "tools/hbase_attributes.h"

#include <fmt/format.h>

#include "base/bytes.h"

namespace cellar {
namespace {

enum class Kind : uint8_t {
  kOfClusters,  // makes no difference to what is kept and answered
  kMissing,     // would make one
};

struct Attribute {
  std::string_view name;
  std::string_view usual;  // the value that asks for nothing, in capitals; empty: none
  Kind kind;
  std::string_view why;
};

constexpr std::string_view kRegions = "a table of a store is not cut into regions";
constexpr std::string_view kCacheOnRead = "blocks come into the cache when they are read";
constexpr std::string_view kMob = "values lie beside their cells, whatever their size";
constexpr std::string_view kReplicas = "there are no replicas of it";
constexpr std::string_view kOneCodec = "all files of a family are compressed by COMPRESSION";

constexpr Attribute kAttributes[] = {
    {"REPLICATION_SCOPE", "0", Kind::kMissing, "nothing is sent elsewhere; a feed can do that"},
    {"DFS_REPLICATION", "0", Kind::kOfClusters, kReplicas},
    {"STORAGE_POLICY", "", Kind::kOfClusters, "files lie where the store lies"},
    {"ERASURE_CODING_POLICY", "", Kind::kOfClusters, "files lie where the store lies"},
    {"IS_MOB", "FALSE", Kind::kMissing, kMob},
    {"MOB_THRESHOLD", "102400", Kind::kMissing, kMob},
    {"MOB_COMPACT_PARTITION_POLICY", "DAILY", Kind::kMissing, kMob},
    {"EVICT_BLOCKS_ON_CLOSE", "FALSE", Kind::kMissing, "blocks of a file that is closed stay in the cache"},
    {"CACHE_DATA_ON_WRITE", "FALSE", Kind::kMissing, kCacheOnRead},
    {"CACHE_INDEX_ON_WRITE", "FALSE", Kind::kMissing, kCacheOnRead},
    {"CACHE_BLOOMS_ON_WRITE", "FALSE", Kind::kMissing, kCacheOnRead},
    {"PREFETCH_BLOCKS_ON_OPEN", "FALSE", Kind::kMissing, kCacheOnRead},
    {"CACHE_DATA_IN_L1", "FALSE", Kind::kOfClusters, "there is one cache"},
    {"INDEX_BLOCK_ENCODING", "NONE", Kind::kMissing, "indexes are written plain"},
    {"IN_MEMORY_COMPACTION", "NONE", Kind::kMissing, "memtables are not compacted in memory"},
    {"COMPRESSION_COMPACT", "NONE", Kind::kMissing, kOneCodec},
    {"COMPRESSION_COMPACT_MAJOR", "NONE", Kind::kMissing, kOneCodec},
    {"COMPRESSION_COMPACT_MINOR", "NONE", Kind::kMissing, kOneCodec},
    {"SPLITS", "", Kind::kOfClusters, kRegions},
    {"SPLITS_FILE", "", Kind::kOfClusters, kRegions},
    {"NUMREGIONS", "", Kind::kOfClusters, kRegions},
    {"SPLITALGO", "", Kind::kOfClusters, kRegions},
    {"SPLIT_ENABLED", "", Kind::kOfClusters, kRegions},
    {"MERGE_ENABLED", "", Kind::kOfClusters, kRegions},
    {"MAX_FILESIZE", "", Kind::kOfClusters, kRegions},
    {"SPLIT_POLICY", "", Kind::kOfClusters, kRegions},
    {"NORMALIZATION_ENABLED", "FALSE", Kind::kOfClusters, kRegions},
    {"NORMALIZER_TARGET_REGION_COUNT", "-1", Kind::kOfClusters, kRegions},
    {"NORMALIZER_TARGET_REGION_SIZE", "-1", Kind::kOfClusters, kRegions},
    {"NORMALIZER_TARGET_REGION_SIZE_MB", "-1", Kind::kOfClusters, kRegions},
    {"REGION_REPLICATION", "1", Kind::kOfClusters, kReplicas},
    {"REGION_MEMSTORE_REPLICATION", "TRUE", Kind::kOfClusters, kReplicas},
    {"REOPEN_REGIONS", "", Kind::kOfClusters, "it is altered at once"},
    {"PRIORITY", "0", Kind::kOfClusters, "there are no handlers to queue for"},
    {"OWNER", "", Kind::kOfClusters, "a store belongs to who owns its directory"},
    {"IS_META", "FALSE", Kind::kOfClusters, "a store has no meta table"},
    {"IS_ROOT", "FALSE", Kind::kOfClusters, "a store has no root table"},
    {"FLUSH_POLICY", "", Kind::kMissing, "families are flushed one by one, when their memtable is full"},
};

struct Key {
  std::string_view name;   // in small letters
  std::string_view usual;  // in capitals
  std::string_view why;
};

constexpr Key kKeys[] = {
    {"hbase.store.file-tracker.impl", "DEFAULT", "the manifest knows the files"},
    {"hbase.hstore.blockingstorefiles", "", "it is an option of the engine, files_stop"},
    {"hbase.hregion.majorcompaction", "", "it is an option of the engine, major_compaction_interval_s"},
    {"hbase.hstore.compaction.ratio", "", "write COMPACTION => 'exploring(ratio=1.2)'"},
    {"hbase.hstore.compaction.min", "", "write COMPACTION => 'exploring(files_min=3)'"},
    {"hbase.hstore.compaction.max", "", "write COMPACTION => 'exploring(files_max=10)'"},
};

std::string unsupported(std::string_view name, std::string_view why) {
  return fmt::format("note   {} is not supported, ignored: {}", name, why);
}

}  // namespace

AttributeAnswer answer_attribute(std::string_view name, std::string_view value) {
  for (const Attribute& each : kAttributes) {
    if (each.name != name) continue;
    if (!each.usual.empty() && upper_ascii(value) == each.usual) return {.known = true};
    return {.known = true,
            .note = each.kind == Kind::kMissing ? unsupported(name, each.why)
                                                : fmt::format("note   {} has no effect: {}", name, each.why)};
  }
  if (name.starts_with("COPROCESSOR$") || name == "COPROCESSOR")
    return {.known = true, .note = unsupported(name, "a store runs no Java; C++ code can observe writes")};
  return {};
}

AttributeAnswer answer_key(std::string_view key, std::string_view value, bool metadata) {
  const std::string small = lower_ascii(key);
  for (const Key& each : kKeys) {
    if (each.name != small) continue;
    if (!each.usual.empty() && upper_ascii(value) == each.usual) return {.known = true};
    return {.known = true, .note = unsupported(escaped(key), each.why)};
  }
  return {.known = false,
          .note = unsupported(escaped(key), metadata ? "a table keeps no notes of its owner's"
                                                     : "no option of a store is called so")};
}

}  // namespace cellar
