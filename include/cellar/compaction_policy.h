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
// The files form sorted runs: one or more files with disjoint ranges of rows. A flush adds a run of one file.
// For any row, runs are ordered by age.
struct StoreShape {
  std::span<const StoreFileInfo> files;  // the oldest run first; the files of a run ascending by rows
  int64_t now_ms = 0;
  int64_t ttl_ms = INT64_MAX;
  uint32_t min_versions = 0;
  uint64_t flush_bytes = 0;  // size at which memtables are flushed
  uint32_t files_stop = 16;  // number of runs at which writers wait
  // Cells with older timestamps have expired and may be erased. It follows from the time to live and from the
  // clock that the engine believes (EngineOptions::ttl_clock_guard_s). INT64_MIN: no cell may be erased for
  // its age.
  int64_t erase_before_ms = INT64_MIN;
  int64_t earliest_in_memory = INT64_MAX;  // no put in the memtables is older
};

// Returns the parts of a shape's files that are sorted runs, the oldest first. The parts point into the
// files.
std::vector<std::span<const StoreFileInfo>> runs_of(std::span<const StoreFileInfo> files);

// CompactionPlan: some files, and where the compaction puts its output. The defaults mean one file, which is
// a run of its own and takes the place of the oldest input.
struct CompactionPlan {
  std::vector<uint64_t> inputs = {};  // ids of files
  std::string why = {};               // a phrase for people
  // The run that the output joins: StoreFileInfo::run of its files. Its level must be the plan's, at least
  // 1. Between the first and the last row of the inputs it must have no other files. 0: a new run. It is
  // just older than the files that are left of the oldest input's run.
  uint64_t run = 0;
  uint32_t level = 0;                         // a label that the engine keeps for policies; 0 in flushes
  uint64_t file_bytes = 0;                    // the output continues in a new file at this size; 0: one file
  std::vector<std::string> file_starts = {};  // ascending rows, each of which begins a new file
  // The inputs, which belong to one run, go to the output's run as they are: nothing is read or written.
  bool move = false;
  // The inputs leave the store: nothing is read or written. Such a plan has no output. All cells of the
  // inputs must be older than StoreShape::erase_before_ms.
  bool drop = false;
  // The inputs that are dropped may have live cells, which are lost. For policies that are asked for that.
  bool drop_live = false;
};

// Any thread; const. The engine holds a mutex of the family meanwhile: a policy must not wait, nor call the
// engine.
class CompactionPolicy {
 public:
  virtual ~CompactionPolicy() = default;
  // Returns the next compaction, or nothing. `trace`, if not null, receives lines that explain the choice.
  //
  // The engine refuses a plan that would change the age of cells. On its way to the output's run, no input
  // may pass a file that shares rows with it and is not an input. Neighbours in age may always be merged.
  //
  // The engine drops files that have expired before it asks.
  virtual std::optional<CompactionPlan> pick(const StoreShape& shape,
                                             std::vector<std::string>* trace) const = 0;
  // Returns the bytes of files that lie where compactions do not leave them. Writers slow down when these
  // grow in proportion to the other files. So the store does not grow without bound. Called after each flush
  // and compaction.
  virtual uint64_t debt_bytes(const StoreShape& shape) const {
    static_cast<void>(shape);
    return 0;
  }
  // Returns false if the policy means runs to stay apart, for example because they leave one by one. Then
  // only the policy itself, and major compactions, merge files.
  virtual bool may_be_merged() const { return true; }
  // Returns true if plans may have drop_live. Such a family can neither have second tables nor be of one.
  virtual bool may_drop_live() const { return false; }
  // Returns a plan that says where a compaction of all files puts its output. It has no inputs and no run.
  virtual CompactionPlan major_output(const StoreShape& shape) const {
    static_cast<void>(shape);
    return {};
  }
};

}  // namespace cellar
