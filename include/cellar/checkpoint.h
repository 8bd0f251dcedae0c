// Named snapshots and checkpoints: tables as of one instant, kept as stores of their own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

// A checkpoint is a whole store: whatever opens one opens it, to read or, but for named snapshots, to go on
// writing, and it does not change when the store it was made from does. It shares the store's files by hard
// links where the file system has them and copies them elsewhere; what was in memory is written to files of
// its own. A named snapshot is a checkpoint that lies inside its store, at snapshots/<name>.
struct CheckpointInfo {
  std::string path;
  uint64_t sequence = 0;   // of the last write that it holds
  int64_t created_ms = 0;  // by the store's clock
  std::vector<std::string> tables;
  uint64_t files = 0;
  uint64_t bytes = 0;         // of all files
  uint64_t bytes_shared = 0;  // of them by links, when it was made; 0 in a list
};

struct NamedSnapshotInfo {
  std::string name;
  CheckpointInfo checkpoint;
  Status status;  // ok, or why it cannot be read: then nothing else is known of it
};

}  // namespace cellar
