// FlushJob: the recipe of a flush: frozen memtables become one durable store file.
#pragma once

#include <memory>
#include <span>

#include "compaction/rewrite.h"
#include "engine/store/core.h"

namespace cellar {

// A store file that is written, synced and open, but not yet named by the manifest.
struct NewFile {
  std::shared_ptr<StoreFile> file;  // null: nothing was left to write
  FileRecord record;
  RewriteResult rewrite;
  Store::Rewritten rewritten;  // how the store's view is to change
};

// What a new store file is written from and for.
struct NewFileRequest {
  Store* store = nullptr;
  std::shared_ptr<Directory> directory = {};  // null: the store's own
  std::shared_ptr<const FamilyConfig> config;
  RewriteJob job;  // its file options are made here from the config
  bool tags = false;
  bool mvcc = true;
  FileOrigin origin = FileOrigin::kFlush;
  uint64_t sequence_max = 0;  // newest of the inputs: the age of the file among the store's
  uint64_t rewritten_at = 0;
  bool knew_snapshots = false;

  // Judges the cells by the rules of the config, as of these read points. `outside` must have been looked at
  // after the read points were taken: what comes to it later is seen by no snapshot that was open then.
  void judge_at(const OpenReadPoints& points, const Outside& outside, int64_t now_ms);
};

// Creates, writes, checks, syncs and opens a store file, then makes its name durable. On failure the file is
// removed again; a failed sync of the store's own directory makes the engine read-only.
Result<NewFile> write_store_file(EngineCore& core, const NewFileRequest& request);

// The frozen memtables, newest first, as one new file.
Result<NewFile> write_memtables(EngineCore& core, Store& store, std::span<const MemtableRef> newest_first,
                                const OpenReadPoints& points);

// What these memtables, newest first, hold up to `sequence`, as a new file in `directory`: a flush that
// leaves the store as it is. Others may write to the memtables meanwhile.
Result<NewFile> write_memtables_as_of(EngineCore& core, Store& store, const StoreView& view,
                                      uint64_t sequence, std::shared_ptr<Directory> directory);

// Whether the store was dropped or replaced. The manifest knows it first, and refuses edits about the store
// from then on; the store itself is told a little later.
bool is_gone(EngineCore& core, const Store& store);

// Flushes everything frozen in the store; ok also when there is nothing.
Status flush_store(EngineCore& core, Store& store);

}  // namespace cellar
