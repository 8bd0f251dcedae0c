// Engine: one directory of tables.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cellar/batch.h"
#include "cellar/checkpoint.h"
#include "cellar/events.h"
#include "cellar/feed.h"
#include "cellar/observer.h"
#include "cellar/second_table.h"
#include "cellar/table.h"
#include "cellar/transaction.h"

namespace CELLAR_PUBLIC cellar {

struct Metrics;

// Snapshot: all tables as of one instant, between two writes, for reads (Query::snapshot). It lives in memory
// and ends with its last owner. A snapshot on disk is a named snapshot (cellar/checkpoint.h). While it lives,
// the cells that it sees stay on disk and do not change, except that cells expire. RocksDB: Snapshot. HBase:
// a scanner's read point. Any thread. It must be destroyed before its engine is closed: Engine::close fails
// with kBusy otherwise.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  // Returns the sequence number of the last write that it sees.
  virtual uint64_t sequence() const = 0;
};

// Trouble: a fault that the engine retries by itself, or works around. It is listed from its first failure
// until it is over. docs/resumption.md tells what each fault stops and what ends it.
struct Trouble {
  std::string what;          // "flush of t:f", "compaction of t:f", "damaged file 0a…", "log", "writers"
  Status status;             // of the last attempt
  int64_t since_ms = 0;      // the clock at the first failure, milliseconds since the epoch
  uint64_t tries = 0;        // failures so far
  bool writes_wait = false;  // writes wait until it is over, or are refused until then
};

// EngineStatus: figures of the engine at one moment. Counters count since the engine was opened.
struct EngineStatus {
  std::string path;
  std::string identity;  // 32 hex digits, given when the store was created
  bool read_only = false;
  // Ok; or why writes are refused or wait; or the status of a trouble.
  Status health;
  std::vector<Trouble> troubles;  // in the order of their names
  uint64_t last_sequence = 0;     // of the newest visible write
  uint64_t snapshots = 0;         // open ones, those of transactions included
  uint64_t scanners = 0;          // open ones
  uint64_t log_segments = 0;
  uint64_t log_bytes = 0;       // in segments that are still needed
  uint64_t memtable_bytes = 0;  // of memtables that take writes or wait for their flush
  uint64_t store_bytes = 0;
  uint64_t store_files = 0;
  uint64_t cache_capacity_bytes = 0;
  uint64_t cache_used_bytes = 0;
  uint64_t cache_hits = 0;      // blocks found in the cache
  uint64_t cache_misses = 0;    // blocks not found there
  uint64_t cache_rows = 0;      // rows of files in the cache now (EngineOptions::cache_rows)
  uint64_t cache_row_hits = 0;  // rows found there, for which no block was looked for
  uint64_t flushes = 0;
  uint64_t compactions = 0;
  uint64_t bytes_flushed = 0;
  uint64_t bytes_compacted = 0;
  uint64_t files_dropped = 0;     // left the store unread, most of them because all their cells had expired
  uint64_t scan_compactions = 0;  // of compactions: begun for scans that examined many deleted cells
  // Successful Engine::refresh() calls that read only what was new, and those that read all of the log.
  uint64_t refreshes = 0;
  uint64_t refreshes_whole = 0;
  uint64_t stalls = 0;       // times that a writer waited for memory or compactions
  int64_t stall_micros = 0;  // time that writers waited, in microseconds

  // The memory of the engine, part by part. It leaves out blocks that left the cache while a reader uses
  // them, returned rows, and the own writes of transactions. The log writes to mapped segments, which the
  // system caches. The cache includes the free memory between its blocks.
  uint64_t memory_bytes = 0;         // the sum of memtable_bytes, cache_used_bytes and the three parts below
  uint64_t memtable_held_bytes = 0;  // of flushed memtables that scanners, snapshots or rows still use
  uint64_t reader_bytes = 0;         // of open store files, without indexes and filters
  uint64_t job_bytes = 0;            // buffers of the files that flushes and compactions write now
  uint64_t memtable_frozen_bytes = 0;   // part of memtable_bytes: waits for its flush
  uint64_t cache_pinned_bytes = 0;      // part of cache_used_bytes: indexes and filters, which stay
  uint64_t memtable_budget_bytes = 0;   // EngineOptions::memtable_bytes_total
  uint64_t log_preallocated_bytes = 0;  // that the segment in use and the prepared one take on disk; 0 if the
                                        // file system does not preallocate
  // Memory of flushed memtables that waits for the next ones, in all engines of the process. It is not in
  // memory_bytes. An engine keeps the bytes of a single memtable at most, and all engines together 64 MiB.
  // The system gets them back some seconds after the last write, and when the engine is closed.
  uint64_t memtable_spare_bytes = 0;
};

// Engine: any thread may call any function, except close(), which must be the last call. Every function fails
// with kAborted after close(). A function that changes the store fails with kReadOnly if the store was opened
// read-only, or if a failure made it so. It may also fail with kNoSpace and kIoError.
class Engine {
 public:
  // Opens the store in the directory `path`. Writes nothing to a damaged store: kCorruption with the place.
  // Other errors: kNotFound if it has no store and create_if_missing is off; kLocked if it is open already.
  // Also kInvalidArgument if the options are invalid, or if the store exists and error_if_exists is on.
  //
  // One engine at a time may write a store. Any number of engines with EngineOptions::read_only may read it
  // meanwhile, also in other processes. They take no lock and write nothing. Such an engine shows the store
  // as it was at one moment during open(). It shows all writes that were acknowledged before, except those
  // with Durability::kSkipWal and kAsyncWal. refresh() shows later writes. See docs/readers.md.
  static Result<std::unique_ptr<Engine>> open(const std::string& path, const EngineOptions& options = {});
  // Makes an engine that was opened read-only show the store as it is at one moment during the call. It keeps
  // the promises of open(), at the cost of what is new: edits of the manifest, files, and the end
  // of the log. Where that is not enough it reads the log whole, as open() does:
  // EngineStatus::refreshes_whole counts these. RocksDB: TryCatchUpWithPrimary.
  //
  // Table handles show the new state from the next call on. Open scanners and snapshots keep their state, and
  // its files and memory. Other threads may read meanwhile, and each of their reads sees one of both states.
  // Calls wait for each other. kInvalidArgument if the engine writes the store: it is always up to date. A
  // client of a cluster is, too, and returns ok.
  // Also kConflict if another store has taken the place of this one, and the errors of open(). After a
  // failure the engine shows what it did before, and a later call may succeed.
  virtual Status refresh() = 0;
  // Closes the store and ignores errors: call close() to see them. Everything that reads must be destroyed.
  virtual ~Engine() = default;

  // ---- Tables

  // Creates a table. Durable on return. kInvalidArgument if it exists, or if the name or the options are
  // invalid: the message names all faults. `splits` are the rows at which a cluster cuts the new table into
  // regions, in any order. One that is empty or given twice fails with kInvalidArgument. A store has one
  // region whatever they are, so that the same program runs on both.
  virtual Result<std::shared_ptr<Table>> create_table(const std::string& name, const TableOptions& options,
                                                      const std::vector<std::string>& splits = {}) = 0;
  // Returns a table. kNotFound with the nearest name as its hint.
  virtual Result<std::shared_ptr<Table>> open_table(const std::string& name) = 0;
  // Opens the table, or creates it with these options. The options of an existing table stay as they are.
  virtual Result<std::shared_ptr<Table>> open_or_create_table(const std::string& name,
                                                              const TableOptions& options) = 0;
  // Returns the names of all tables, sorted.
  virtual std::vector<std::string> list_tables() = 0;
  // Drops a table. Durable on return. Its files are removed when their last reader is done.
  virtual Status drop_table(const std::string& name) = 0;
  // Removes all rows of a table at one instant. Families and options stay, and snapshots still see the rows.
  // A write that is in progress may fail with kConflict; then nothing of it is kept.
  virtual Status truncate_table(const std::string& name) = 0;
  // Adds, changes and removes families, and sets options of the table, atomically. Durable on return. Reads
  // and rewrites that begin later use the new options. An open scanner reads a removed family to its end;
  // reads that begin later do not find it, also those of snapshots. A family that is added again is empty. A
  // write in progress to a removed family fails with kConflict. Errors: kInvalidArgument with all faults of
  // the change; kNotFound if a table or family does not exist, with the nearest name as the hint.
  virtual Status alter_table(const std::string& name, const TableChange& change) = 0;
  // Sets the options of one family, or adds it: alter_table() with set_families.
  virtual Status alter_family(const std::string& table, const FamilyOptions& family) = 0;

  // Creates a second table (cellar/second_table.h), durable on return. From now on each write to the source
  // writes to it, too. It can be read after build_second_table(). A write to the source that is in progress
  // may fail with kConflict. Errors: kNotFound if the source does not exist. Also kInvalidArgument for an
  // invalid definition, an unknown family or a name that is taken. The source must not be a second table
  // itself. A family that the definition needs must have no time to live, and delete_order=sequence:
  // otherwise its cells come and go without a write.
  //
  // As long as a source has second tables, all that would make them differ fails with kInvalidArgument:
  // - Writes with Durability::kSkipWal.
  // - Cells with a time to live in columns of the definition.
  // - Values that the form of a key's part cannot hold.
  // - Additions by observers, and Table::ingest.
  // - drop_table() of the source.
  // - A restore or a change of options that only one of the tables would follow.
  // A second table is dropped by drop_table(). After truncate_table() of the source both are empty.
  virtual Result<std::shared_ptr<Table>> create_second_table(const std::string& name,
                                                             const SecondTable& second) = 0;
  // Fills a second table with what its source held before, while others write. Calls `on_way` from time to
  // time with the number of the source's rows that are done. If `on_way` returns false, the build fails with
  // kAborted. After a failure or a crash the next call begins anew. Returns at once if the table is built.
  // Error: kInvalidArgument if the table is no second one, or with the row whose values its key cannot hold.
  virtual Status build_second_table(const std::string& name,
                                    const std::function<bool(uint64_t rows)>& on_way = {}) = 0;
  // Compares a second table with its source, cell by cell and as of one instant. It costs a get for each row
  // of both. `on_way` is called as by build_second_table(). Error: kBusy if the table is not built.
  virtual Result<SecondTableCheck> verify_second_table(
      const std::string& name, const std::function<bool(uint64_t rows)>& on_way = {}) = 0;

  // Lets `observer` see each write to the table from now on (cellar/observer.h). Writes that are in progress
  // may be seen or not. A store does not remember observers: register them after each open, before the first
  // write. `name` identifies the observer in errors, and is unique for the table. kNotFound if the table does
  // not exist.
  virtual Status add_observer(const std::string& table, const std::string& name,
                              std::shared_ptr<Observer> observer) = 0;

  // ---- Reads and writes over several tables

  // Applies the batch atomically, for readers and for crashes. Errors: as of Table::put.
  virtual Status write(const Batch& batch, const WriteOptions& options = {}) = 0;
  // Returns a snapshot of all tables as they are now.
  virtual Result<std::shared_ptr<const Snapshot>> snapshot() = 0;
  // Begins a transaction over all tables, which reads as of now.
  virtual Result<std::unique_ptr<Transaction>> begin(const TransactionOptions& options = {}) = 0;
  // Begins a transaction, calls `work` with it, and commits. After kConflict, from `work` or from the commit,
  // it begins again, up to options.attempts_max times, with growing pauses in between. So `work` may run
  // several times: its other effects must be idempotent. Any other failure of `work` is returned, and nothing
  // is written. If `work` calls rollback() and returns ok, nothing is written, and the result is ok.
  // kInvalidArgument if attempts_max is 0.
  virtual Status run_transaction(const std::function<Status(Transaction&)>& work,
                                 const TransactionOptions& options = {}) = 0;
  // Returns a time in microseconds since the epoch that is unique in this store. Every call returns a greater
  // one than all calls before, from all threads, and from before the store was reopened. Use it for keys by
  // time, such as reversed_time(unique_time_us()).
  //
  // It is the engine's clock as long as that moves forward. If the clock steps back, or the calls outrun it,
  // each call returns one more than the call before, until the clock has caught up. After a crash the times
  // may begin up to one minute ahead of the clock. Costs a mutex, and once a minute of use one durable
  // record. kReadOnly.
  virtual Result<int64_t> unique_time_us() = 0;

  // ---- Copies and feeds

  // Returns the named snapshots of the store, which live as long as this engine.
  virtual NamedSnapshots& named_snapshots() CELLAR_LIFETIME_BOUND = 0;
  // Returns the feeds of the store, which live as long as this engine.
  virtual Feeds& feeds() CELLAR_LIFETIME_BOUND = 0;
  // Copies all tables as of one instant to a store at `path`, which must be absent or an empty directory in
  // an existing one. Works on a read-only engine too. After a failure it removes what it made.
  //
  // `base` is an earlier checkpoint of this store, on the disk of `path`. If the store is on another disk,
  // files of `base` are linked, and only new files are copied. Each of the two remains complete if the other
  // one is removed. An empty `base` means none.
  //
  // Error: kInvalidArgument if the directory is not empty, or if `base` is no unchanged copy of this store.
  // Others: kNotFound if `base` is no store, and kLocked if an engine has it open for writing. A copy is
  // unchanged until an engine opens it for writing.
  virtual Result<CheckpointInfo> checkpoint(const std::string& path, const std::string& base = {}) = 0;

  // ---- The engine's work

  // Flushes all tables: writes the memtables to store files, and returns when that is done.
  virtual Status flush() = 0;
  // Accepts writes again after a failure that refuses them, and retries now what waits for its next attempt.
  // Call it after the cause is mended: after a failed sync only you know whether the medium can be trusted.
  // It writes what is in memory to files, so that every acknowledged write is kept. A write that failed with
  // kDurabilityUnknown is lost then. Ok if writes are accepted, also if they were all the time. Otherwise the
  // error, and nothing has changed. kReadOnly if only reopening the store can end the failure.
  virtual Status resume() = 0;
  // Waits until no flush, compaction or prefetch is running or due.
  virtual Status wait_for_background() = 0;

  // Records each read, write, flush and compaction that is asked of this engine, until stop_trace() or
  // close(). The records go to the new file `path` and hold no values. docs/traces.md tells what they hold,
  // and what recording costs. `options` are none, or some of these:
  //  - "keys=hashed": rows and qualifiers are hashes, from which they cannot be recovered.
  //  - "sample=100": one row in 100 is recorded, with all its operations.
  //  - "bytes_max=1g": the recording ends at this size, which is the default.
  // A list has commas in between: "keys=hashed, sample=10".
  //
  // A trace never makes an operation fail or wait. If its file cannot be written, the recording ends, and
  // status() has the trouble "operation trace" until stop_trace(). Errors: kInvalidArgument for an invalid
  // option, an existing file, or a file in the store. Also kBusy if a recording is going on, kNotFound if the
  // directory does not exist, kIoError, kNoSpace.
  virtual Status start_trace(const std::string& path, const std::string& options = {}) = 0;
  // Ends the recording. All of it is durable when this returns ok. Other results tell why it had ended
  // before: kLimit at bytes_max, which leaves a whole trace; kNoSpace, kIoError. kNotFound if nothing was
  // being recorded.
  virtual Status stop_trace() = 0;

  virtual EngineStatus status() = 0;
  // Returns what the engine has done and how long that took (cellar/metrics.h). It walks over all families
  // and their files.
  virtual Metrics metrics() = 0;
  // Returns what open() found and did.
  virtual const RecoveryReport& recovery_report() const CELLAR_LIFETIME_BOUND = 0;

  // Ends all work, closes the log cleanly and releases the directory. Memtables stay in the log: they are not
  // flushed. Later calls return the same status.
  //
  // Snapshots, scanners, transactions and feed readers must be destroyed before, and result batches too. If
  // snapshots, scanners or transactions are open, close() fails with kBusy and tells how many. The engine
  // then stays open and usable: destroy them, and call close() again.
  virtual Status close() = 0;
};

}  // namespace cellar
