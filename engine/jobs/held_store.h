// HeldStore: files of a store that another process may write, opened before any of them is read.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "engine/jobs/store_work.h"
#include "engine/log/log_files.h"

namespace cellar {

// A reader meets the manifest first, and reads the files that it names afterwards. The writer removes files
// meanwhile: segments of the log with each flush, store files with each compaction. Files that are open stay
// readable. So a reader opens all of them at once, which takes a few microseconds a file. With the rest it
// need not be faster than the writer. One thread at a time.
class HeldStore {
 public:
  // Opens the log from the start that the manifest names. Opens the store files that it names, but those of
  // `known`, which may be null. A store file that cannot be opened is left out: its reader
  // will say why. Called once. Errors: as LogFiles::hold().
  Status hold(const StoreWork& work, const ManifestState& state, const ManifestState* known);

  // Returns the log; null if the store has none.
  LogFiles* log() { return log_ ? &*log_ : nullptr; }
  // Gives the store file away; null if it is not held.
  std::unique_ptr<ReadableFile> take(const StoredFile& file);

 private:
  // `known` is the family as it was before, or null.
  void hold_family(const StoreWork& work, const TableRecord& table, const FamilyRecord& family,
                   const FamilyRecord* known);

  std::unique_ptr<Directory> wal_;
  std::optional<LogFiles> log_;
  std::unordered_map<std::string, std::unique_ptr<ReadableFile>> files_;  // by to_text(StoredFile)
};

}  // namespace cellar
