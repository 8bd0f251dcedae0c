// Engine: one directory of tables.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cellar/batch.h"
#include "cellar/checkpoint.h"
#include "cellar/events.h"
#include "cellar/feed.h"
#include "cellar/observer.h"
#include "cellar/table.h"
#include "cellar/transaction.h"

namespace CELLAR_PUBLIC cellar {

// Snapshot: all tables as of one instant, between two writes. While it lives, what it sees is kept on disk,
// and does not change, but for cells whose time to live ends.
// Any thread; must be destroyed before its engine is closed.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  // The number of the last write it sees.
  virtual uint64_t sequence() const = 0;
};

// Trouble: a fault that the engine tries again by itself, or that it works around. Listed from its first
// failure until it is over; docs/resumption.md says what each fault stops and what ends it.
struct Trouble {
  std::string what;          // "flush of t:f", "compaction of t:f", "damaged file 0a…", "log", "writers"
  Status status;             // of the last try
  int64_t since_ms = 0;      // the clock at the first failure
  uint64_t tries = 0;        // failures so far
  bool writes_wait = false;  // writes wait for its end, or are refused until then
};

struct EngineStatus {
  std::string path;
  std::string identity;  // 32 hex digits, given at creation
  bool read_only = false;
  // Ok; or why writes are refused or wait; or else the status of a trouble.
  Status health;
  std::vector<Trouble> troubles;  // in the order of their names
  uint64_t last_sequence = 0;     // newest visible write
  uint64_t snapshots = 0;
  uint64_t log_segments = 0;
  uint64_t log_bytes = 0;  // appended to segments that still matter
  uint64_t memtable_bytes = 0;
  uint64_t store_bytes = 0;
  uint64_t store_files = 0;
  uint64_t cache_capacity_bytes = 0;
  uint64_t cache_used_bytes = 0;
  uint64_t cache_hits = 0;
  uint64_t cache_misses = 0;
  uint64_t flushes = 0;
  uint64_t compactions = 0;
  uint64_t bytes_flushed = 0;
  uint64_t bytes_compacted = 0;
  uint64_t stalls = 0;
  int64_t stall_micros = 0;
};

// Any thread may call any function, close() excepted: it must be the last.
class Engine {
 public:
  // Opens the store in directory `path`. kNotFound when there is none and create_if_missing is off, kLocked
  // when somebody has it open, kCorruption with place when what is there is damaged (nothing is written
  // then), kInvalidArgument.
  static Result<std::unique_ptr<Engine>> open(const std::string& path, const EngineOptions& options = {});
  // Closes, ignoring errors: call close() to hear of them.
  virtual ~Engine() = default;

  // kInvalidArgument when it exists or the options are unfit. Durable when it returns.
  virtual Result<std::shared_ptr<Table>> create_table(const std::string& name,
                                                      const TableOptions& options) = 0;
  // kNotFound with the nearest name as hint.
  virtual Result<std::shared_ptr<Table>> open_table(const std::string& name) = 0;
  // Opens it, or creates it with these options; existing options stay as they are.
  virtual Result<std::shared_ptr<Table>> open_or_create_table(const std::string& name,
                                                              const TableOptions& options) = 0;
  // Names, sorted.
  virtual std::vector<std::string> list_tables() = 0;
  // The table is gone when this returns; its files go when the last reader is done.
  virtual Status drop_table(const std::string& name) = 0;
  // Empties the table at one instant: its families and their options stay. Snapshots go on seeing what was in
  // it; a write that was under way may fail with kConflict, and nothing of it is kept then.
  virtual Status truncate_table(const std::string& name) = 0;
  // Adds, changes and removes families and sets options of the table: all of it or nothing, also through a
  // crash; durable when it returns. Reads and rewrites that begin afterwards go by the new options; a
  // scanner that is open reads a removed family to its end, and its files go with the last such reader, but
  // reads that begin afterwards do not find it, those of snapshots included. A family that is added again is
  // empty. A write under way to what is removed fails with kConflict. kInvalidArgument names all that is
  // wrong with the change, kNotFound a table or a family that is not there, with the nearest name as hint.
  virtual Status alter_table(const std::string& name, const TableChange& change) = 0;
  // alter_table() of this one family: sets its options, or adds it.
  virtual Status alter_family(const std::string& table, const FamilyOptions& family) = 0;

  // From now on `observer` sees each write to the table, see Observer; writes that are under way may be seen
  // or not. For as long as the engine is open: a store does not remember its observers, so register them
  // after opening it, before the first write. `name`, unique for the table, stands in errors. kNotFound:
  // there is no such table.
  virtual Status add_observer(const std::string& table, const std::string& name,
                              std::shared_ptr<Observer> observer) = 0;

  // All of the batch or nothing, at one instant, for readers and for crashes.
  virtual Status write(const Batch& batch, const WriteOptions& options = {}) = 0;
  virtual Result<std::shared_ptr<const Snapshot>> snapshot() = 0;

  // Named snapshots: tables as of one instant, between two writes, kept until they are dropped, whatever
  // happens to the tables and to the engine. Store files are shared; what is in memory is written once more,
  // while everybody goes on writing. No table named: all of them. Durable when it returns. kInvalidArgument
  // for a name that is none or taken, kNotFound for an unknown table. It is a store in snapshots/<name>,
  // which opens read_only alone (else kReadOnly); so does a copy of it.
  virtual Result<NamedSnapshotInfo> create_snapshot(const std::string& name,
                                                    const std::vector<std::string>& tables = {}) = 0;
  // In order of their names. One that cannot be read says why.
  virtual Result<std::vector<NamedSnapshotInfo>> list_snapshots() = 0;
  // kNotFound; kLocked while somebody has it open. The space of files that nothing else names becomes free.
  virtual Status drop_snapshot(const std::string& name) = 0;
  // The snapshot as an engine of its own, for reading, with this one's options and a cache of its own. It may
  // outlive this engine, but not the environment.
  virtual Result<std::unique_ptr<Engine>> open_snapshot(const std::string& name) = 0;
  // Gives these tables (none named: all of the snapshot) the content, families and options that the snapshot
  // has of them, all at one instant; those that were dropped since are there again. What they hold now is
  // gone, but for snapshots. Handles of the tables stay good; a write that was under way may fail with
  // kConflict, a transaction that began before does. kNotFound for a table that the snapshot does not have.
  virtual Status restore_snapshot(const std::string& name, const std::vector<std::string>& tables = {}) = 0;
  // Makes a new table of one in the snapshot. kInvalidArgument when `table` exists.
  virtual Result<std::shared_ptr<Table>> clone_snapshot(const std::string& name, const std::string& from,
                                                        const std::string& table) = 0;
  // All tables as of one instant as a store at `path`, which is absent or an empty directory (its parent is
  // there). Also of an engine that only reads. On failure what was begun is removed.
  virtual Result<CheckpointInfo> checkpoint(const std::string& path) = 0;

  // A transaction over all tables, reading as of now.
  virtual Result<std::unique_ptr<Transaction>> begin(const TransactionOptions& options = {}) = 0;
  // Begins a transaction, calls `work` with it, and commits; while that, or `work`, is answered by kConflict
  // it begins anew, with a pause in between that grows, up to RunOptions::attempts_max times. `work` may run
  // several times: what it does beside the transaction must bear that. Any other failure of `work` is the
  // answer, and nothing is written then; as it is when `work` has called rollback() and returned ok.
  virtual Status run_transaction(const RunOptions& options,
                                 const std::function<Status(Transaction&)>& work) = 0;

  // A feed of what is written from now on; see cellar/feed.h. Durable when it returns. kInvalidArgument when
  // there is one of that name or the options are unfit, kNotFound for a table or family that is not there.
  virtual Status create_feed(const std::string& name, const FeedOptions& options = {}) = 0;
  // In the order of their creation.
  virtual std::vector<FeedInfo> list_feeds() = 0;
  // What only it needed of the log goes.
  virtual Status drop_feed(const std::string& name) = 0;
  // A reader of the writes behind sequence `from`, or behind what was acknowledged; not before that.
  // kInvalidArgument outside of what there is, kLimit when the feed was cut off.
  virtual Result<std::unique_ptr<FeedReader>> read_feed(const std::string& name,
                                                        std::optional<uint64_t> from = {}) = 0;

  // Flushes all tables.
  virtual Status flush() = 0;
  // Takes up writing again after a failure that refuses writes, and tries now what waits to be tried again.
  // Call it when the cause is mended: after a failed sync nobody but you knows whether the medium can be
  // trusted. Writes what is in memory to files, so that every acknowledged write is kept; a write that was
  // answered by kDurabilityUnknown is gone afterwards. Ok if writes are taken, also if they were all the
  // time. Else the error, and everything is as before. kReadOnly for a failure that only opening the store
  // again ends.
  virtual Status resume() = 0;
  // Waits until no flush, compaction or prefetch is running or due.
  virtual Status wait_for_background() = 0;

  virtual EngineStatus status() = 0;
  virtual const RecoveryReport& recovery_report() const = 0;

  // Finishes what runs, closes the log cleanly and releases the directory. Scanners and snapshots must be
  // gone. What is in memory stays in the log. Later calls return the same status.
  virtual Status close() = 0;
};

}  // namespace cellar
