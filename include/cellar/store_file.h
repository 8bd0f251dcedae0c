// StoreFileInfo: what a table and a compaction policy are told about a store file.
#pragma once

#include <cstdint>
#include <string>

#include "cellar/visibility.h"

namespace CELLAR_PUBLIC cellar {

// StoreFileInfo: one store file, which is an HFile.
struct StoreFileInfo {
  uint64_t id = 0;   // unique in the store
  std::string name;  // below tables/<table id>/<family>/
  // Relative to the folder of the store: "tables/3/f/0a…". HFile::open reads the file. Empty for a file that
  // a simulation made up.
  std::string path;
  uint64_t bytes = 0;
  uint64_t cells = 0;
  uint64_t deletes = 0;  // delete markers among the cells
  std::string first_row;
  std::string last_row;
  uint64_t sequence_min = 0;  // 0 if a compaction has removed the sequences of its oldest cells
  uint64_t sequence_max = 0;
  int64_t time_min = 0;  // timestamps of its cells, milliseconds since the epoch
  int64_t time_max = 0;
  int64_t earliest_put = 0;  // smallest timestamp of a put; INT64_MAX without puts
  // Smallest timestamp of a delete marker; INT64_MAX without markers, or if the file does not record it.
  int64_t earliest_delete = INT64_MAX;
  int64_t created_ms = 0;  // by the engine's clock
  // The state of the store in which a get or scan last read the file, or in which the file was new. A later
  // state has a greater number; 0: neither since the store was opened.
  uint64_t last_read = 0;
  uint64_t run = 0;    // the sorted run that it belongs to; 0: a run of its own
  uint32_t level = 0;  // label of the run, see CompactionPlan::level
  bool major = false;  // result of a compaction of all files that share rows with it
  bool exclude_from_minor = false;
  // Input of a running compaction, or set aside because it is damaged.
  bool busy = false;
};

}  // namespace cellar
