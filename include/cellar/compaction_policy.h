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

// StoreShape: one family's files, oldest first, and what else a policy may consider. The time is part of it,
// so that the same shape always gives the same plan.
struct StoreShape {
  std::span<const StoreFileInfo> files;
  int64_t now_ms = 0;
  int64_t ttl_ms = INT64_MAX;
  uint32_t min_versions = 0;
  uint64_t flush_bytes = 0;  // size at which memtables are flushed
  uint32_t files_stop = 16;  // number of files at which writers wait
};

struct CompactionPlan {
  std::vector<uint64_t> inputs = {};  // ids, contiguous in age, oldest first
  std::string why = {};               // a phrase for people
};

// Any thread; const.
class CompactionPolicy {
 public:
  virtual ~CompactionPolicy() = default;
  // Returns the next compaction, or nothing. `trace`, if not null, receives lines that explain the choice.
  virtual std::optional<CompactionPlan> pick(const StoreShape& shape,
                                             std::vector<std::string>* trace) const = 0;
};

}  // namespace cellar
