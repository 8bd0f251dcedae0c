// CheckpointInfo and NamedSnapshots: tables as of one instant, kept on disk as stores of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

class Engine;
class Table;

// CheckpointInfo: what is known of a checkpoint or a named snapshot.
//
// A checkpoint is a complete store in a directory of its own. Engine::open opens it to read and to write. It
// does not change when the store does that it was made from. A checkpoint shares the store's files by hard
// links where the file system has them, and copies them elsewhere. The content of the memtables is written to
// new files. RocksDB: Checkpoint.
//
// A named snapshot is a checkpoint inside its store, at snapshots/<name>. It opens only with
// EngineOptions::read_only.
struct CheckpointInfo {
  std::string name;  // of a named snapshot, else empty
  std::string path;
  uint64_t sequence = 0;            // of the last write that it contains
  int64_t created_ms = 0;           // by the store's clock
  std::vector<std::string> tables;  // names, sorted
  uint64_t files = 0;
  uint64_t bytes = 0;         // of all files
  uint64_t bytes_shared = 0;  // of files that were linked when it was made; 0 in a list
  uint64_t files_done = 0;    // of files so far; set for EventListener::on_checkpoint_progress() only
  uint64_t bytes_done = 0;    // of bytes so far, as files_done
  Status status = {};         // if not ok: why it cannot be read. Only the name is then known
};

// NamedSnapshots: the named snapshots of one engine (Engine::named_snapshots). HBase calls them snapshots. A
// Snapshot of cellar/engine.h is something else: it lives in memory and ends with its owner.
//
// A named snapshot keeps tables as of one instant, between two writes, until it is dropped, whatever happens
// to the tables and the engine. It shares store files with the tables. Any thread may call any function. The
// changes are durable when a function returns ok. Every function fails with kNotFound for an unknown
// snapshot, with the nearest name as its hint.
class NamedSnapshots {
 public:
  virtual ~NamedSnapshots() = default;

  // Makes a snapshot of these tables, or of all if none is named. Writers go on meanwhile: the memtables are
  // written to files once more. The name has 1 to 127 bytes, and is used like a file name. Errors:
  // kInvalidArgument if the name is invalid or in use; kNotFound if a table does not exist.
  virtual Result<CheckpointInfo> create(const std::string& name,
                                        const std::vector<std::string>& tables = {}) = 0;
  // Returns all snapshots in the order of their names, also those that cannot be read.
  virtual Result<std::vector<CheckpointInfo>> list() = 0;
  // Removes a snapshot. It frees the space of files that nothing else uses. kLocked while the snapshot is
  // open.
  virtual Status drop(const std::string& name) = 0;
  // Opens the snapshot as an engine of its own, for reading, with this engine's options and a cache of its
  // own. It may outlive this engine, but not the Environment.
  virtual Result<std::unique_ptr<Engine>> open(const std::string& name) = 0;
  // Gives these tables, or all tables of the snapshot, the content, families and options that the snapshot
  // has of them, at one instant. A table that was dropped since exists again. The present content is lost,
  // except in snapshots. Table handles stay valid. A write that is in progress may fail with kConflict, and a
  // transaction that began before does. Error: kNotFound if the snapshot does not have a table.
  virtual Status restore(const std::string& name, const std::vector<std::string>& tables = {}) = 0;
  // Creates the table `table` from the snapshot's table `from`. kInvalidArgument if `table` exists or is an
  // invalid name.
  virtual Result<std::shared_ptr<Table>> clone(const std::string& name, const std::string& from,
                                               const std::string& table) = 0;
};

}  // namespace cellar
