// StoreFileWriter: writes store files: creates, checks, syncs and opens each before the manifest names it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cell/merging_cursor.h"
#include "compaction/rewrite.h"
#include "engine/store/activity.h"
#include "engine/store/disk.h"
#include "engine/store/expiry_clock.h"
#include "engine/store/mvcc.h"
#include "engine/store/store.h"
#include "engine/store/store_files.h"
#include "engine/store/world.h"

namespace cellar {

// Store files that are written, synced and open, but not yet named by the manifest.
struct NewFiles {
  RewriteResult rewrite;
  Store::Rewritten rewritten;  // how the store's view is to change; has the files

  const std::vector<std::shared_ptr<StoreFile>>& files() const { return rewritten.outputs; }
  // Returns the files as changes of an edit.
  std::vector<ManifestEdit::FileChange> changes(const Store& store) const;
  uint64_t bytes() const;
  uint64_t cells() const;
};

// The sources and the options of new store files.
struct NewFileRequest {
  Store* store = nullptr;
  std::shared_ptr<Directory> directory = {};  // null: the store's own, which write() takes
  bool elsewhere = false;                     // the directory is of another store
  std::shared_ptr<const FamilyConfig> config;
  RewriteJob job;  // its file options are made here from the config
  bool tags = false;
  bool mvcc = true;
  FileOrigin origin = FileOrigin::kFlush;
  uint64_t sequence_max = 0;  // newest of the inputs: the age of the file among the store's
  uint64_t rewritten_at = 0;
  bool knew_snapshots = false;
  uint64_t run = 0;    // the run that the files join; 0: a new one
  uint32_t level = 0;  // of the run
  uint64_t cells_in = 0;
  std::span<const std::shared_ptr<StoreFile>> inputs = {};  // borrowed; they leave the store

  // Judges the cells by the rules of the config, as of these read points. `outside` must have been read after
  // the read points. No snapshot that was open then sees a cell that `outside` gains later.
  void judge_at(const OpenReadPoints& points, const Outside& outside, int64_t now_ms);
};

// Borrows its parts. Any thread; each call writes one file, or the files of one run.
class StoreFileWriter {
 public:
  StoreFileWriter(const World& world, const Activity& activity, Disk& disk, StoreFiles& files,
                  ExpiryClock& expiry)
      : world_(world), activity_(activity), disk_(disk), files_(files), expiry_(expiry) {}

  // Creates, writes, checks, syncs and opens store files, as many as the job's limits ask for. Makes their
  // names durable. On failure they are removed again. A failed sync of the store's own directory makes
  // the engine read-only. kNotFound if the store was dropped.
  Result<NewFiles> write(NewFileRequest& request);

  // Writes the frozen memtables, newest first, into a single new file.
  Result<NewFiles> write_memtables(Store& store, std::span<const MemtableRef> newest_first,
                                   const OpenReadPoints& points);

  // The same for memtables that took the log's records by turns, before the store is open. A second thread
  // compresses, because nobody else writes.
  Result<NewFiles> write_replayed(Store& store, std::span<const MemtableRef> memtables,
                                  const OpenReadPoints& points);

  // Writes what the memtables of the view hold up to `sequence` as a new file in `directory`. The store stays
  // as it is. Others may write to the memtables meanwhile.
  Result<NewFiles> write_memtables_as_of(Store& store, const StoreView& view, uint64_t sequence,
                                         std::shared_ptr<Directory> directory);

 private:
  class Output;
  Result<NewFiles> write_all(Store& store, std::span<const MemtableRef> memtables,
                             const OpenReadPoints& points, Executor* executor);
  Result<std::shared_ptr<StoreFile>> open_and_check(const NewFileRequest& request, const std::string& name,
                                                    const RewrittenFile& written, uint64_t run);
  Status open_all(const NewFileRequest& request, const std::vector<std::string>& names, NewFiles& made);
  Status sync_names(const NewFileRequest& request, uint64_t failures);
  Status warm(const NewFileRequest& request, const StoreFile& file);
  Result<NewFiles> write_merged(NewFileRequest& request, std::vector<MergeSource> sources,
                                const OpenReadPoints& points, const Outside& outside, int64_t expiry_ms);

  const World& world_;
  const Activity& activity_;
  Disk& disk_;
  StoreFiles& files_;
  ExpiryClock& expiry_;
};

}  // namespace cellar
