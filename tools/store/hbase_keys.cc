// Keys of HBase's configuration: those of servers, which options of the engine or of a family replace.
#include "tools/store/hbase_keys.h"

namespace cellar {
namespace {

constexpr HBaseKey kKeys[] = {
    {"hfile.block.cache.size", "engine", "cache_bytes", "a share of the heap there, bytes here"},
    {"hfile.block.cache.policy", "engine", "cache_policy", "LRU, TinyLFU or AdaptiveLRU there"},
    {"hbase.hregion.memstore.flush.size", "engine", "memtable_bytes",
     "of all families of a region there, of one family here"},
    {"hbase.regionserver.global.memstore.size", "engine", "memtable_bytes_total",
     "a share of the heap there, bytes here"},
    {"hbase.regionserver.hlog.blocksize", "engine", "log_segment_bytes",
     "a log is rolled at this size times hbase.regionserver.logroll.multiplier there"},
    {"hbase.regionserver.logroll.multiplier", "engine", "log_segment_bytes",
     "a factor of hbase.regionserver.hlog.blocksize there"},
    {"hbase.hstore.blockingStoreFiles", "engine", "files_stop", "files there, sorted runs here"},
    {"hbase.hstore.blockingWaitTime", "engine", "stall_ms_max", ""},
    {"hbase.hregion.majorcompaction", "engine", "major_compaction_interval_s",
     "milliseconds there, seconds here"},
    {"hbase.hstore.flusher.count", "engine", "background_threads", "flushes have one thread here"},
    {"hbase.regionserver.thread.compaction.small", "engine", "background_threads",
     "all threads but one are for compactions here"},
    {"hbase.regionserver.thread.compaction.large", "engine", "background_threads",
     "all threads but one are for compactions here"},
    {"hbase.client.keyvalue.maxsize", "engine", "cell_bytes_max", "the client's own limit there"},
    {"hbase.wal.hsync", "engine", "durability", "true there is fsync_wal here"},
    {"io.storefile.bloom.error.rate", "family", "bloom_bits_percent_error", "a fraction there, percent here"},
    {"hbase.hash.type", "family", "bloom_hash", ""},
    {"hbase.hstore.defaultengine.compactionpolicy.class", "family", "compaction",
     "the class of a policy there, its name here"},
    {"hbase.hstore.engine.class", "family", "compaction", "the class of an engine there, as of stripes"},
    {"hbase.hstore.compaction.min", "family", "compaction", "files_min in exploring and ratio"},
    {"hbase.hstore.compactionThreshold", "family", "compaction", "files_min in exploring and ratio"},
    {"hbase.hstore.compaction.max", "family", "compaction", "files_max in exploring and ratio"},
    {"hbase.hstore.compaction.ratio", "family", "compaction", "ratio in exploring and ratio"},
    {"hbase.hstore.compaction.ratio.offpeak", "family", "compaction", "ratio_offpeak in exploring and ratio"},
    {"hbase.hstore.compaction.min.size", "family", "compaction", "bytes_min in exploring and ratio"},
    {"hbase.hstore.compaction.max.size", "family", "compaction", "bytes_max in exploring and ratio"},
    {"hbase.offpeak.start.hour", "family", "compaction", "offpeak_start in exploring and ratio"},
    {"hbase.offpeak.end.hour", "family", "compaction", "offpeak_end in exploring and ratio"},
    {"hbase.rs.cacheblocksonwrite", "family", "cache_data_on_write", ""},
    {"hfile.block.index.cacheonwrite", "family", "cache_index_on_write", ""},
    {"hfile.block.bloom.cacheonwrite", "family", "cache_blooms_on_write", ""},
    {"hbase.rs.prefetchblocksonopen", "family", "prefetch_on_open", ""},
};

}  // namespace

std::span<const HBaseKey> hbase_keys() { return kKeys; }

}  // namespace cellar
