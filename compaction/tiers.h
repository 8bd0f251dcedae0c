// Tiers: what the policies share whose levels hold several runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compaction/levels.h"

namespace cellar {

using Runs = std::span<const SortedRun>;

// Tier: the runs of a level. They are neighbours in age, the oldest first.
struct Tier {
  uint32_t level = 0;
  Runs runs;
};

// Tiers: the runs of a shape by level. One thread; points into the shape's files.
//
// Runs that are merged must be neighbours in age. So a run that is older than one of a deeper level counts as
// one of that level. Other policies, and levels by size, leave such runs.
class Tiers {
 public:
  // `level_of` returns the level that a run has by itself.
  Tiers(const StoreShape& shape, const std::function<uint32_t(const SortedRun&)>& level_of);
  Tiers(const Tiers&) = delete;
  Tiers& operator=(const Tiers&) = delete;

  Runs runs() const { return runs_; }                                 // the oldest first
  const std::vector<Tier>& youngest_first() const { return tiers_; }  // levels that have runs, ascending
  // Returns true if writers would have to wait.
  bool stuck() const { return stuck_; }

 private:
  std::vector<SortedRun> runs_;
  std::vector<Tier> tiers_;
  bool stuck_;
};

// Returns the longest part of the runs in which none is busy. Among equals, the oldest.
Runs idle_part(Runs runs);
// Returns the two youngest neighbours of which none is busy, or nothing.
Runs youngest_pair(Runs runs);
// Returns the bytes of the runs that are more than `most`, the youngest ones.
uint64_t bytes_beyond(Runs runs, uint64_t most);

// Returns the level below `level`.
uint32_t next_level(uint32_t level);
// Returns the first level from 1 on of which a run may hold `bytes`. A run of level 0 holds `flush_bytes`,
// and one of each other level `fanout` times as much as one of the level above.
uint32_t level_that_holds(double bytes, uint64_t flush_bytes, double fanout);

// Return a plan. The runs are neighbours in age, at least one, and not busy.
//
// merge_of: they become a new run of `level`.
CompactionPlan merge_of(Runs runs, uint32_t level, uint64_t file_bytes, std::string why);
// merge_into: the younger runs go into `oldest`, which has a level. They take only those of its files with
// them that lie between their first and last row. A single run for which it has no such files moves.
CompactionPlan merge_into(const SortedRun& oldest, Runs younger, uint64_t file_bytes, std::string why);
// join_apart: if no two of them share rows, nothing needs to be rewritten. A run moves into the oldest one.
// If that is of level 0, it moves to `level` first. Returns nothing if they share rows.
std::optional<CompactionPlan> join_apart(Runs runs, uint32_t level);

}  // namespace cellar
