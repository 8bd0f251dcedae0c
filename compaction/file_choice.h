// FileChoice: which file of a level goes down. The data movement choices of leveled compaction.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cellar/plugin.h"
#include "compaction/levels.h"

namespace cellar {

// FileChoice: one way to choose, by its name. A pure function of the files. Any thread; const.
//
// - least_overlap: the file that shares rows with the fewest bytes of the next level, in proportion to its
//   size. RocksDB's kMinOverlappingRatio.
// - least_overlap_grandparent: the same with the level after the next. Among equals, least_overlap decides.
// - round_robin: the file after those that went down last.
// - oldest: the file whose newest write is the oldest. RocksDB's kOldestLargestSeqFirst.
// - oldest_write: the file whose oldest write is the oldest. RocksDB's kOldestSmallestSeqFirst.
// - coldest: the file that no get or scan has read for the longest time; among equals as oldest.
// - tombstones: the file with most markers in proportion to its cells; among equals as least_overlap.
// - tombstone_age: the file with the oldest marker; among equals as least_overlap.
// - whole: all files.
class FileChoice {
 public:
  // Reads the parameter `pick`; PluginParams::finish() reports another name.
  explicit FileChoice(const PluginParams& params);

  // Returns the files that go down, which are neighbours. `files` are those of a level, at least one;
  // `below` and `grandparents` are those of the next two levels. Files that are busy, or share rows with a
  // busy file of the next level, are not chosen. Returns nothing if there is no other file. `trace` receives
  // the reason.
  FilePointers chosen(Files files, Files below, Files grandparents, std::vector<std::string>* trace) const;

 private:
  // Returns two figures. The file with the lowest first one goes down, among equals that with the lowest
  // second one.
  std::pair<double, double> cost_of(const StoreFileInfo& file, Files below, Files grandparents) const;

  std::string name_;
};

}  // namespace cellar
