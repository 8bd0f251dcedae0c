// CompactionPolicy: chooses the store files to merge next. A pure function of the store's shape. A plug-in.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cellar/plugin.h"
#include "cellar/store_file.h"

namespace CELLAR_PUBLIC cellar {

// StoreShape: one family's files, and what else a policy may consider. The time is part of it, so that the
// same shape always gives the same plan.
//
// The files form sorted runs: one or more files whose ranges of rows are disjoint. A flush adds a run of one
// file. For any row, runs are ordered by age.
struct StoreShape {
  std::span<const StoreFileInfo> files;  // the oldest run first; the files of a run ascending by rows
  int64_t now_ms = 0;
  int64_t ttl_ms = INT64_MAX;
  uint32_t min_versions = 0;
  uint64_t flush_bytes = 0;  // size at which memtables are flushed
  uint32_t files_stop = 16;  // number of runs at which writers wait
};

// SortedRun: the files of a shape that have the same run.
struct SortedRun {
  uint64_t id = 0;
  uint32_t level = 0;
  std::span<const StoreFileInfo> files;  // of the shape
  uint64_t bytes = 0;
  bool busy = false;  // a file of it is busy
};

// Returns the runs of a shape's files, the oldest first. The files must outlive the result.
std::vector<SortedRun> runs_of(std::span<const StoreFileInfo> files);

// CompactionOutput: where a compaction puts its output. The default is one file that is a run of its own and
// takes the place of the oldest input.
struct CompactionOutput {
  // The run that the files join. It must have the same level, at least 1, and no other rows between the first
  // and the last row of the inputs. 0: a new run, just older than what is left of the run of the oldest input.
  uint64_t run = 0;
  uint32_t level = 0;       // a label that the engine keeps for policies; 0 in flushes
  uint64_t file_bytes = 0;  // the output continues in a new file at this size; 0: one file
  std::vector<std::string> file_starts = {};  // ascending rows, each of which begins a new file
};

struct CompactionPlan {
  std::vector<uint64_t> inputs = {};  // ids of files
  std::string why = {};               // a phrase for people
  CompactionOutput output = {};
  // The inputs, of one run, go to the output's run as they are: nothing is read or written.
  bool move = false;
};

// Any thread; const.
class CompactionPolicy {
 public:
  virtual ~CompactionPolicy() = default;
  // Returns the next compaction, or nothing. `trace`, if not null, receives lines that explain the choice.
  //
  // The engine refuses a plan that would change the age of cells: no input may pass a file that shares rows
  // with it, on its way to the output's run, unless that file is an input too. Neighbours in age may always be
  // merged.
  virtual std::optional<CompactionPlan> pick(const StoreShape& shape,
                                             std::vector<std::string>* trace) const = 0;
  // Returns where a compaction of all files puts its output. `run` is not used: the run is a new one.
  virtual CompactionOutput major_output(const StoreShape& shape) const {
    static_cast<void>(shape);
    return {};
  }
};

}  // namespace cellar
