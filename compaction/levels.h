// Levels: what the policies with levels share. Runs by level, ranges of rows, and how far a size reaches.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compaction/sorted_runs.h"

namespace cellar {

using Files = std::span<const StoreFileInfo>;
using FilePointers = std::vector<const StoreFileInfo*>;

constexpr uint32_t kLevelsMax = 40;

// Rows: the rows from the first to the last of some files. Points into the files.
struct Rows {
  std::string_view first;
  std::string_view last;

  // Returns the range of the files, which are at least one.
  static Rows of(const FilePointers& files);
  static Rows of(const StoreFileInfo& file) { return {file.first_row, file.last_row}; }

  bool meet(const StoreFileInfo& file) const { return file.first_row <= last && file.last_row >= first; }
};

// Returns the files as pointers, in their order.
FilePointers pointers_to(Files files);
// Returns how many bytes are in the files that share rows with `rows`.
uint64_t bytes_that_meet(const Rows& rows, Files files);
// Returns how many bytes all files of a shape have.
uint64_t bytes_of(Files files);
// Returns the size of the files that a policy writes: its parameter, or a memtable if that is 0.
uint64_t file_bytes_of(uint64_t parameter, const StoreShape& shape);

// Levels: the levels of a shape whose levels are single runs. Level 0 has the runs of flushes, each deeper
// level at most one run. One thread; points into the shape's files.
struct Levels {
  std::vector<SortedRun> young;          // level 0, the oldest first
  std::vector<const SortedRun*> deep;    // deep[i] is level i + 1, or null
  std::vector<SortedRun> all;            // owns the runs of `deep`
  const SortedRun* misplaced = nullptr;  // an older run whose level is not deeper than that of the next one

  explicit Levels(Files files);
  Levels(const Levels&) = delete;
  Levels& operator=(const Levels&) = delete;

  // Return the run of a level from 1 on, or null; and its files.
  const SortedRun* run_of(uint32_t level) const;
  Files files_of(uint32_t level) const;
};

}  // namespace cellar
