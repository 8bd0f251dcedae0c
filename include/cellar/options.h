// EngineOptions, TableOptions, FamilyOptions and WriteOptions: every option with its default, unit and
// effect, and when to change it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cellar/environment.h"
#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

// Durability: the failures that an acknowledged write survives. The names are those of HBase's Durability.
enum class Durability : uint8_t {
  kSkipWal,   // not logged: lost if the process ends before the next flush
  kAsyncWal,  // logged without waiting: handed to the operating system within the flush interval
  kSyncWal,   // handed to the operating system before the acknowledgement: survives the end of the process,
              // kill -9 included
  kFsyncWal,  // on the medium before the acknowledgement: survives a power failure
};
// Returns "skip_wal", "async_wal", "sync_wal" or "fsync_wal".
std::string_view durability_name(Durability durability);

// HBase's KEEP_DELETED_CELLS.
enum class KeepDeleted : uint8_t { kFalse, kTrue, kTtl };
// Which puts a delete marker hides.
enum class MarkerOrder : uint8_t {
  kTimestamp,  // HBase's default: puts with its timestamp or an older one, also those that are written later
  kSequence,   // HBase's NEW_VERSION_BEHAVIOR: of those, only puts that were written before it
};

// The timestamp of a cell that is written without one.
enum class Stamps : uint8_t {
  kClock,   // HBase's rule: the clock's time of the write. Two writes in one millisecond are one version. A
            // write after the clock stepped back is older than the writes before it
  kRising,  // at least the clock's time, and later than every earlier cell of the column
            // (docs/decisions/rising-stamps.md)
};

constexpr int64_t kForever = 2147483647;  // seconds; HBase's HConstants.FOREVER

// Texts that a family or table stores for its owner or for HBase. Cellar keeps and shows them, and does not
// act on them. The tools show keys by KEY_FIELDS of a table: KeySchema::kTableAttribute.
using CarriedTexts = std::map<std::string, std::string>;

// FamilyOptions: the options of one column family. Field names are the keys of the command line. set_option()
// accepts HBase's spellings too: VERSIONS, TTL, BLOOMFILTER, ….
struct FamilyOptions {
  std::string name =
      {};  // 1 to 127 bytes without control characters, ':', '/' and '\', not beginning with '.'
  uint32_t max_versions = 1;  // versions of a column, 1 to 2^31 - 1; flushes and compactions drop more
  uint32_t min_versions = 0;  // versions that are kept although ttl_s is over
  int64_t ttl_s = kForever;   // seconds; expired cells disappear from reads at once, from disk when rewritten
  KeepDeleted keep_deleted_cells = KeepDeleted::kFalse;  // true: reads of the past see what was deleted later
  MarkerOrder delete_order =
      MarkerOrder::kTimestamp;     // sequence: a delete hides only what was written before it
  Stamps stamps = Stamps::kClock;  // rising: a put without a timestamp is always a version of its own and the
                                   // newest of its column, whatever the clock does; it reads the column first
  int64_t time_to_purge_deletes_ms = 0;  // delete markers younger than this stay on disk; raw scans see them
  uint32_t block_bytes =
      16384;  // 1 KiB to 16 MiB; larger: better scans and compression; smaller: cheaper gets
  std::string encoding = "none";  // how cells lie in a block; "row_index_v1": cheaper gets from wide blocks;
                                  // "fast_diff", "diff", "prefix": smaller blocks, in the cache too
  bool compress_tags = true;  // "fast_diff", "diff" and "prefix" store a tag that a block repeats only once
  std::string compression =
      "snappy";  // "none", "gz" (half the size, a fifth of the speed), "zstd(level=3)", …; `cellar version`
                 // lists the codecs of a build
  std::string compression_compact = "same";  // of files that compactions write; "same": as compression
  std::string compression_compact_major =
      "same";  // of compactions of all files; "same": as compression_compact
  std::string compression_compact_minor = "same";  // of other compactions; "same": as compression_compact
  std::string bloom = "row";  // "none" if every get finds its row; "rowcol" if gets name few of many columns;
      // "rowprefix_fixed_length(prefix_length=8)" if scans are of rows that share 8 bytes
  uint32_t bloom_bits_percent_error = 1;  // false positives of the Bloom filter in percent, 1 to 50
  std::string bloom_allocation =
      "uniform";  // "monkey": small, young sorted runs get more bits a row and the largest run fewer, in the
                  // same memory; gets of absent rows then read fewer files in vain
  std::string bloom_hash = "murmur";  // HBase's hbase.hash.type; readers accept any
  std::string compaction =
      "exploring";          // a compaction policy: "exploring(ratio=1.2, files_min=3, files_max=10)"
  uint32_t files_stop = 0;  // number of sorted runs at which writers wait for a compaction; 0: the engine's.
                            // Writers slow down at a smaller number, in the engine's proportion
  int64_t major_compaction_interval_ms = -1;  // -1: the engine's; 0: only on request
  bool in_memory = false;                     // its blocks leave the cache last
  bool cache_blocks = true;                   // false: reads of this family do not fill the cache
  // These three read a new file back once, through the cache, before it becomes visible. Other blocks may be
  // evicted for it. If the file cannot be read back, the flush or compaction fails, and its inputs stay.
  bool cache_data_on_write =
      false;  // a file that a flush writes is in the cache, as far as it fits, when reads begin; the data of
              // a compaction is not; cache_blocks does not matter
  bool cache_index_on_write =
      false;  // the whole index of a file that a flush or compaction writes is in memory when reads begin
  bool cache_blooms_on_write =
      false;  // the Bloom filters of a file that a flush or compaction writes are in memory when reads begin
  bool prefetch_on_open =
      false;  // store files are read into the cache in the background after they are opened, until it is
              // full; no block is evicted for them; without effect if cache_blocks is false
  CarriedTexts metadata =
      {};  // notes of the owner, and HBase's attributes (REPLICATION_SCOPE, IS_MOB, …) that
           // Cellar does not act on; at most 1 MiB in all
  CarriedTexts configuration = {};  // keys of HBase's configuration that are not options of Cellar

  bool operator==(const FamilyOptions&) const = default;
};

// Sets one field by its name here or in HBase. Errors: kInvalidArgument for an invalid value, or for an
// unknown name, with the nearest one as the hint; kNotSupported for HBase's ENCRYPTION.
//
// "metadata.KEY" and "configuration.KEY" set one text, in UTF-8. An empty value removes it. A KEY that names
// an option in HBase sets that option. For example, configuration.hbase.hstore.blockingStoreFiles sets
// files_stop, and configuration.hbase.hstore.compaction.min sets files_min in the text of `compaction`.
// HBase's attributes that Cellar does not act on are checked as in HBase and kept in `metadata`. Attributes
// with HBase's default are removed from there.
Status set_option(FamilyOptions& family, std::string_view key, std::string_view value);
// Returns kInvalidArgument with all faults in one message, or ok.
Status validate(const FamilyOptions& family);
// Returns "max_versions=3,ttl_s=86400": the options that differ from the defaults, or all options.
std::string to_text(const FamilyOptions& family, bool all = false);
// Returns HBase's name of an option, "VERSIONS" for "max_versions", or an empty text if HBase has no such
// option. A name with a point is a key of HBase's configuration: "hbase.hstore.blockingStoreFiles".
std::string hbase_option_name(std::string_view option);
// Returns name and value of every field except `name`, in order, then of each text ("metadata.owner").
// set_option() accepts them.
std::vector<std::pair<std::string, std::string>> option_list(const FamilyOptions& family);

struct TableOptions {
  std::vector<FamilyOptions> families = {};   // at least one; names differ
  std::optional<Durability> durability = {};  // of writes without one; not set: the engine's
  bool read_only = false;          // writes and ingests fail with kReadOnly; the table can still be altered
  bool compaction_enabled = true;  // false: only compact() compacts; files_slow and files_stop have no effect
  uint64_t memtable_bytes = 0;     // a family's memtable is flushed at this size; 0: the engine's
  CarriedTexts metadata = {};      // as of a family: OWNER, KEY_FIELDS, MAX_FILESIZE, COPROCESSOR$1, …
  CarriedTexts configuration = {};  // as of a family

  bool operator==(const TableOptions&) const = default;
};
Status validate(const TableOptions& table);
// The same for the options of a table, without its families. Names are those of the fields or HBase's:
// DURABILITY, READONLY, COMPACTION_ENABLED, MEMSTORE_FLUSHSIZE.
Status set_option(TableOptions& table, std::string_view key, std::string_view value);
std::string to_text(const TableOptions& table, bool all = false);
std::string hbase_table_option_name(std::string_view option);
std::vector<std::pair<std::string, std::string>> option_list(const TableOptions& table);

// TableChange: what Engine::alter_table changes, atomically.
struct TableChange {
  std::vector<FamilyOptions> set_families = {};   // with all their options; a new name adds a family
  std::vector<std::string> remove_families = {};  // with all their cells
  // Members with a value are set.
  std::optional<Durability> durability = {};
  bool default_durability = false;  // takes the table's durability away: the engine's counts again
  std::optional<bool> read_only = {};
  std::optional<bool> compaction_enabled = {};
  std::optional<uint64_t> memtable_bytes = {};
  std::optional<CarriedTexts> metadata = {};  // replaces all of it
  std::optional<CarriedTexts> configuration = {};
};

constexpr uint64_t kCellBytesHardMax = 127u << 20;  // what a store file can hold

// At its peak, a store takes memory for its memtables, its cache, its log and its compactions:
// - All memtables take at most memtable_bytes_total. The memtables of one busy family take at most
//   memtables_frozen_max + 1 times memtable_bytes.
// - Memtables that an open scanner, a snapshot or a returned row still uses after their flush count, too.
//   They leave at least an eighth to writers. Writers wait for the readers when those hold twice the total.
// - The cache takes at most cache_bytes and a few megabytes, with the free memory between its blocks. After
//   sizes of blocks changed, it may take more until the free memory is used again: at most twice as much.
// - The log maps two segments of log_segment_bytes each.
// - Each compaction that runs takes a few megabytes.
// EngineStatus tells what each part takes. A transaction also keeps its own writes in memory.
struct EngineOptions {
  bool create_if_missing =
      false;  // creates a store in a directory without one; else open() fails with kNotFound
  bool error_if_exists = false;  // open() fails with kInvalidArgument if there is a store
  bool read_only = false;  // takes no lock and writes nothing, so that another process may write the store;
                           // all writes fail with kReadOnly
  Durability durability = Durability::kSyncWal;  // of writes if neither they nor their table have one
  uint64_t cache_bytes = 64u << 20;              // blocks, indexes and filters of all tables
  std::string cache_policy = "clock";            // how blocks are chosen that leave the cache: docs/caches.md
  uint32_t cache_shards = 0;                     // 0: by cache_bytes
  bool cache_rows = true;  // a full cache also keeps single rows of blocks that are read for one row;
                           // not with block_trace
  bool map_files = false;  // maps store files: blocks without a codec (compression=none) are read where they
                           // lie in the system's page cache, others need no read call. A device that fails
                           // can then end the process: docs/decisions/mapped-files.md
  std::string block_trace = "";    // a file that is made for a record of each use of the cache, which `cellar
                                   // simulate cache` reads; it must not exist. Empty: no record
  std::string memtable = "blink";  // the sorted structure in memory: docs/memtables.md
  uint64_t memtable_bytes =
      64u << 20;  // a family's memtable is flushed at this size; larger: fewer and larger files
  uint64_t memtable_bytes_total = 512u
                                  << 20;   // of all memtables, frozen ones included: the largest is flushed
                                           // before this is reached; then writers wait
  uint32_t memtables_frozen_max = 3;       // memtables of a family that wait for a flush; then writers wait
  uint64_t log_segment_bytes = 32u << 20;  // of a log segment, which takes them from the disk a few megabytes
                                           // ahead of the writer; at least 64 KiB
  uint32_t files_slow = 12;                // number of sorted runs of a family at which writers slow down
  uint32_t files_stop =
      16;  // number at which they wait for a compaction (HBase's blockingStoreFiles). They do
           // not wait if the policy picks none, or if the last compaction failed
  int64_t stall_ms_max = 90000;  // longest wait of a writer; then kBusy (HBase's blockingWaitTime)
  int64_t row_lock_wait_ms =
      30000;  // longest wait for another write of the row; then kBusy (HBase's hbase.rowlock.wait.duration)
  bool automatic_flush = true;  // false: only flush() flushes; writers get kBusy when memory is full
  bool automatic_compaction =
      true;  // false: only compact() compacts; files_slow and files_stop have no effect
  int64_t major_compaction_interval_s = 0;  // 0: only on request; HBase's default is 7 days
  uint32_t major_compaction_jitter_percent =
      0;  // each family's interval is up to so much shorter or longer, so that not all are due at once
          // (HBase's hbase.hregion.majorcompaction.jitter, 0.5 there)
  bool compaction_for_scans =
      true;  // when scans have examined so many deleted cells in vain that a compaction of the files there
             // costs no more, these are compacted, whatever the policy is; false: only the policy decides
  bool drop_expired_files = true;  // files whose cells have all expired leave without being read (HBase's
      // hbase.store.delete.expired.storefile); false: only compactions remove expired cells
  uint32_t open_files_max = 512;  // store files held open at a time; a read opens others again. A read_only
                                  // engine holds all of them open
  int background_threads = 2;     // of the engine's own executor: one for flushes, the rest for compactions
  uint32_t compaction_parts_max =
      0;  // most ranges of rows into which a large compaction is cut (RocksDB's max_subcompactions); 0: as
          // many as threads for compactions; 1: none is cut. Threads for compactions that are free rewrite
          // ranges at the same time. So automatic compactions need at least 3 background_threads to gain.
          // Policies that ask for a single file, such as exploring, get one range
  uint64_t compaction_part_bytes =
      16u
      << 20;  // least bytes of input of such a range, about; a range also has twice the bytes that the policy
              // gives its files
  uint64_t cell_bytes_max =
      10u << 20;  // a larger cell fails with kLimit: key, value, tags and length fields count, as in HBase's
                  // hbase.server.keyvalue.maxsize; 0: the limit of a store file, 127 MiB
  uint64_t row_bytes_max =
      1u
      << 30;  // a read of a row with more bytes in a family fails with kLimit, unless it reads rows in parts;
              // 0: no limit (HBase's hbase.table.max.rowsize)
  int64_t timestamp_slop_ms =
      INT64_MAX;  // a put with a timestamp further ahead of the clock is refused; INT64_MAX: none is (HBase's
                  // hbase.hregion.keyvalue.timestamp.slop.millisecs)
  uint64_t batch_bytes_max = 63u << 20;  // a larger batch fails with kLimit
  int64_t ttl_clock_guard_s =
      30 *
      86400;  // seconds; guards expired cells against a wrong clock. Flushes and compactions erase expired
              // cells for good, so they do not trust a clock that leaps ahead: they use the new time only
              // after one hour. After the store was closed, a leap up to this long is trusted at once, and a
              // longer one after the same hour. Reads always use the clock. 0: the clock is always trusted
  bool verify_new_files = false;  // read every new store file back before it becomes visible
  bool tolerate_torn_log =
      false;  // treat damage at the end of the log as a torn write, and lose what follows it
  std::vector<std::string> without_files =
      {};  // names of store files that are left out although the manifest names them: reads see what is left
           // of a damaged store. Only together with read_only; `cellar repair` leaves files out for good
  std::string operation_trace = {};  // a file that receives a record of each operation from open() on, see
                                     // Engine::start_trace(); empty: none. An existing file is kept, and the
                                     // name gets a number (trace.2)
  std::string operation_trace_options =
      {};               // "keys=hashed, sample=100, bytes_max=1g"; empty: keys as they are, all rows, 1 GiB
  bool metrics = true;  // Engine::metrics() counts and measures operations, which costs a cached get less
                        // than 2 %; false: it tells sizes and totals only
  std::string metrics_file =
      {};  // a file that is rewritten with the metrics, for the textfile collector of node_exporter; not in a
           // store's directory, not with read_only. Empty: none. docs/metrics.md describes it
  int64_t metrics_interval_s = 10;  // seconds between two writes of metrics_file, at least 1
  std::string totals_series = {};  // a file that receives a line of JSON after each flush and compaction, for
                                   // `cellar plot`: what was put and written so far, files and runs. It must
                                   // not exist. Empty: none
  Environment environment = {};
};
Status validate(const EngineOptions& engine);
// The same for the options of an engine. The environment has no text.
Status set_option(EngineOptions& engine, std::string_view key, std::string_view value);
std::string to_text(const EngineOptions& engine, bool all = false);
std::vector<std::pair<std::string, std::string>> option_list(const EngineOptions& engine);

struct WriteOptions {
  std::optional<Durability> durability = {};  // not set: the table's, else the engine's
  std::optional<Stamps> stamps = {};          // of all cells of the write; not set: as each family has it
};

}  // namespace cellar
