// SortedRun: a run of a shape's files, with what policies and the check of plans ask of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cellar/compaction_policy.h"

namespace cellar {

struct SortedRun {
  uint64_t id = 0;  // StoreFileInfo::run, or the id of its only file
  uint32_t level = 0;
  std::span<const StoreFileInfo> files;  // of the shape
  uint64_t bytes = 0;
  bool busy = false;  // a file of it is busy
};

// Returns the runs of a shape's files, the oldest first. The files must outlive the result.
std::vector<SortedRun> sorted_runs(std::span<const StoreFileInfo> files);
// Returns true if compactions may choose the run: no file of it is busy, or excluded from minor ones.
bool is_free(const SortedRun& run);
// Returns how many bytes the runs have.
uint64_t bytes_of(std::span<const SortedRun> runs);
// Appends a line to a policy's explanation, which may be null.
void say(std::vector<std::string>* trace, std::string line);

}  // namespace cellar
