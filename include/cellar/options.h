// EngineOptions, TableOptions, FamilyOptions, WriteOptions: every knob, with default, unit, effect and when
// to turn it.
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

// What an acknowledged write survives (HBase's names).
enum class Durability : uint8_t {
  kSkipWal,   // not logged: lost when the process ends before the next flush
  kAsyncWal,  // logged without waiting: handed to the operating system within the flush interval
  kSyncWal,   // handed to the operating system before the acknowledgement: survives the end of the process,
              // also kill -9
  kFsyncWal,  // on the medium before the acknowledgement: survives power loss
};
std::string_view durability_name(Durability durability);  // "skip_wal", …

enum class KeepDeleted : uint8_t { kFalse, kTrue, kTtl };
enum class MarkerOrder : uint8_t {
  kTimestamp,  // HBase's default: a delete hides puts by timestamp, also those written later
  kSequence,   // HBase's NEW_VERSION_BEHAVIOR: only puts written before the delete
};

// Which timestamps cells get that are written without one.
enum class Stamps : uint8_t {
  kClock,   // HBase's: the clock's time of the write. Two writes in one millisecond are one version, and a
            // write after the clock stepped back is older than what was written before
  kRising,  // at least the clock's time, and later than every cell of the column before
            // (docs/decisions/rising-stamps.md)
};

constexpr int64_t kForever = 2147483647;  // seconds; HBase's HConstants.FOREVER

// What a family or table carries for its owner, and for HBase: kept and described, and not acted on.
using CarriedTexts = std::map<std::string, std::string>;

// FamilyOptions: of one column family. Field names are the command line's keys; HBase's spellings (VERSIONS,
// TTL, BLOOMFILTER, …) are accepted by set_option.
struct FamilyOptions {
  std::string name = {};      // 1…127 bytes, no control characters, ':' '/' '\', not beginning with '.'
  uint32_t max_versions = 1;  // 1…2^31 - 1: versions a read may return, more are dropped when rewriting
  uint32_t min_versions = 0;  // kept although expired by ttl_s
  int64_t ttl_s = kForever;   // expired cells vanish from reads at once, from disk at the next rewrite
  KeepDeleted keep_deleted_cells = KeepDeleted::kFalse;  // true: reads of the past see what was deleted since
  MarkerOrder delete_order =
      MarkerOrder::kTimestamp;     // sequence: a delete hides only what was written before it
  Stamps stamps = Stamps::kClock;  // rising: a put without a timestamp is always a version of its own and the
                                   // newest of its column, whatever the clock does; it reads the column first
  int64_t time_to_purge_deletes_ms = 0;  // delete markers younger than this stay on disk: raw scans see them
  uint32_t block_bytes = 16384;  // 1 KiB…16 MiB; bigger: better scans and compression; smaller: cheaper gets
  std::string encoding = "none";  // how cells lie in a block; "row_index_v1": cheaper gets from wide blocks;
                                  // "fast_diff", "diff", "prefix": smaller blocks, in the cache too
  bool compress_tags = true;      // "fast_diff", "diff", "prefix" name a tag their block has by number
  std::string compression =
      "snappy";  // "none", "gz" (half the size, a fifth of the speed), "zstd(level=3)", …; those that need
                 // a library are in a build that had it, see `cellar version`
  std::string compression_compact = "same";        // of files that compactions write; "same": as compression
  std::string compression_compact_major = "same";  // … of all files; "same": as compression_compact
  std::string compression_compact_minor = "same";  // … of some files; "same": as compression_compact
  std::string bloom =
      "row";  // "none" when every get finds something; "rowcol" where gets name few of many columns;
              // "rowprefix_fixed_length(prefix_length=8)" where scans are of rows that share 8 bytes
  uint32_t bloom_bits_percent_error = 1;  // wanted false positives of the Bloom filter, percent, 1…50
  std::string bloom_hash = "murmur";      // HBase's hbase.hash.type; readers take any
  std::string compaction =
      "exploring";          // a compaction policy: "exploring(ratio=1.2, files_min=3, files_max=10)"
  uint32_t files_stop = 0;  // store files from which writers wait for a compaction; 0: the engine's. They
                            // are slowed down from a number in the engine's proportion on
  int64_t major_compaction_interval_ms = -1;  // -1: the engine's; 0: only on request
  bool in_memory = false;                     // its blocks leave the cache last
  bool cache_blocks = true;                   // false: reads of this family do not fill the cache
  // These three have a new file read back once, through the cache, before anybody reads it; others may be
  // evicted for it. What cannot be read back fails the flush or compaction: its inputs still count.
  bool cache_data_on_write =
      false;  // all of a file that a flush writes is in the cache, as far as that can hold it, when reads
              // begin; a compaction's data is not; cache_blocks makes no difference
  bool cache_index_on_write =
      false;  // the whole index of a file that a flush or compaction writes is in memory when reads begin
  bool cache_blooms_on_write =
      false;  // the Bloom filters of a file that a flush or compaction writes are in memory when reads begin
  bool prefetch_on_open =
      false;  // store files are read into the cache in the background once they are open, until it is full:
              // nothing is evicted for them; not where cache_blocks is false
  CarriedTexts metadata = {};  // notes of the owner's, and HBase's attributes (REPLICATION_SCOPE, IS_MOB, …)
                               // that a store does not act on; 1 MiB in all at most
  CarriedTexts configuration = {};  // keys of HBase's configuration that are no option here

  bool operator==(const FamilyOptions&) const = default;
};

// Sets one field by its name or HBase's: kInvalidArgument for an unknown name (nearest one as hint) or an
// unfit value, kNotSupported for HBase's ENCRYPTION.
//
// "metadata.KEY" and "configuration.KEY" set one text, in UTF-8; an empty value removes it. A KEY that is an
// option under that name in HBase sets the option: configuration.hbase.hstore.blockingStoreFiles is
// files_stop, configuration.hbase.hstore.compaction.min is files_min in the text of compaction, which a new
// text replaces. HBase's attributes that a store does not act on are checked as HBase does, and kept in
// `metadata`; those that say what HBase does by default are removed there.
Status set_option(FamilyOptions& family, std::string_view key, std::string_view value);
// All faults in one status, or ok.
Status validate(const FamilyOptions& family);
// "max_versions=3,ttl_s=86400" with only what differs from the defaults, or everything.
std::string to_text(const FamilyOptions& family, bool all = false);
// HBase's name of the option that is called so here, or empty: it has none. "VERSIONS" of "max_versions";
// with a point in it, it is a key of HBase's configuration: "hbase.hstore.blockingStoreFiles".
std::string hbase_option_name(std::string_view option);
// Name and value of every field but the name, in order, then each of its metadata and configuration
// ("metadata.owner"); values as set_option takes them.
std::vector<std::pair<std::string, std::string>> option_list(const FamilyOptions& family);

struct TableOptions {
  std::vector<FamilyOptions> families = {};   // at least one, names differ
  std::optional<Durability> durability = {};  // of writes that do not say; none: the engine's
  bool read_only = false;           // writes and ingests fail with kReadOnly; the table can still be altered
  bool compaction_enabled = true;   // false: only compact() does; files_slow and files_stop are not heeded
  uint64_t memtable_bytes = 0;      // a family's memtable is flushed at this size; 0: the engine's
  CarriedTexts metadata = {};       // as a family's: OWNER, MAX_FILESIZE, COPROCESSOR$1, …
  CarriedTexts configuration = {};  // as a family's

  bool operator==(const TableOptions&) const = default;
};
Status validate(const TableOptions& table);
// These are about everything but the families. Names are ours or HBase's (DURABILITY, READONLY,
// COMPACTION_ENABLED, MEMSTORE_FLUSHSIZE); metadata, configuration and errors as of a family's.
Status set_option(TableOptions& table, std::string_view key, std::string_view value);
std::string to_text(const TableOptions& table, bool all = false);
std::string hbase_table_option_name(std::string_view option);
std::vector<std::pair<std::string, std::string>> option_list(const TableOptions& table);

// TableChange: what Engine::alter_table does to a table, all of it at once.
struct TableChange {
  std::vector<FamilyOptions> set_families = {};   // with all their options; new names are added
  std::vector<std::string> remove_families = {};  // with all that is in them
  // Those that are there are set.
  std::optional<std::optional<Durability>> durability = {};  // to none: the engine's
  std::optional<bool> read_only = {};
  std::optional<bool> compaction_enabled = {};
  std::optional<uint64_t> memtable_bytes = {};
  std::optional<CarriedTexts> metadata = {};  // all of it
  std::optional<CarriedTexts> configuration = {};
};

struct CacheOptions {
  uint64_t capacity_bytes = 64u << 20;  // blocks, indexes and filters of all tables
  std::string policy = "clock";         // or "lru"
  uint32_t shards = 0;                  // 0: by capacity
};

constexpr uint64_t kCellBytesHardMax = 127u << 20;  // what a store file can hold

// At its peak, a store takes memory for its memtables, its cache, its log and its compactions:
// - All memtables take at most memtable_bytes_total. Those of one busy family take at most
//   memtables_frozen_max + 1 times memtable_bytes.
// - The cache takes at most cache.capacity_bytes.
// - The log maps two segments of log_segment_bytes each.
// - Each compaction that runs takes a few megabytes.
// A scanner or a transaction that stays open keeps the memtables of its beginning in memory as well.
struct EngineOptions {
  bool create_if_missing = false;  // a directory without a store gets one; else it is kNotFound
  bool error_if_exists = false;    // a store that is there already is kInvalidArgument
  bool read_only = false;          // opens without writing a byte; all writes fail with kReadOnly
  Durability durability = Durability::kSyncWal;  // of writes, where neither they nor their table say
  CacheOptions cache = {};
  std::string memtable = "blink";  // the sorted structure in memory
  uint64_t memtable_bytes =
      64u << 20;  // a family's memtable is flushed at this size; bigger: fewer, larger files
  uint64_t memtable_bytes_total = 512u << 20;  // all memtables, being flushed or not: the largest is flushed
                                               // before this is reached, writers wait when it is
  uint32_t memtables_frozen_max = 3;           // of a family, waiting for their flush; then writers wait
  uint64_t log_segment_bytes = 64u << 20;      // a log segment is preallocated at this size; at least 64 KiB
  uint32_t files_slow = 12;                    // store files of a family from which writers are slowed down
  uint32_t files_stop = 16;  // … from which they wait for a compaction (HBase's blockingStoreFiles). They
                             // do not wait if the policy wants none, or if the last one failed
  int64_t stall_ms_max = 90000;  // longest wait of a writer; then kBusy (HBase's blockingWaitTime)
  int64_t row_lock_wait_ms =
      30000;  // longest wait for another write of the row; then kBusy (HBase's hbase.rowlock.wait.duration)
  bool automatic_flush = true;  // false: only flush() does; writers then get kBusy when memory is full
  bool automatic_compaction =
      true;  // false: only compact() does; files_slow and files_stop are then not heeded
  int64_t major_compaction_interval_s = 0;  // 0: only on request; HBase's default is 7 days
  uint32_t open_files_max = 512;  // store files held open at a time; others are opened again when read
  int background_threads = 2;     // of the engine's own executor: one for flushes, the rest for compactions
  uint64_t cell_bytes_max =
      10u << 20;  // a larger cell is refused with kLimit: key, value, tags and length fields count, as in
                  // HBase's hbase.server.keyvalue.maxsize; 0: only what a file can hold, 127 MiB
  uint64_t row_bytes_max =
      1u << 30;  // a get or scan of which a row has more bytes in a family fails with kLimit, unless it reads
                 // rows in parts; 0: no limit (HBase's hbase.table.max.rowsize)
  int64_t timestamp_slop_ms =
      INT64_MAX;  // a put dated further ahead of the clock is refused; INT64_MAX: any time is taken (HBase's
                  // hbase.hregion.keyvalue.timestamp.slop.millisecs)
  uint64_t batch_bytes_max = 63u << 20;  // a larger batch is refused with kLimit
  int64_t ttl_clock_guard_s =
      30 * 86400;  // rewrites erase expired cells by the clock as far as it is believed: time while the store
                   // was closed counts at once up to this, any other or longer leap ahead after an hour;
                   // 0: always
  bool verify_new_files = false;   // read every new store file back before it counts
  bool tolerate_torn_log = false;  // treat damage at the end of the log as torn, losing what lies behind it
  Environment environment = {};
};
Status validate(const EngineOptions& engine);

struct WriteOptions {
  std::optional<Durability> durability = {};  // none: the table's, else the engine's
  std::optional<Stamps> stamps = {};          // of all cells of the write; none: each family's
};

}  // namespace cellar
