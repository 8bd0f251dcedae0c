// StoreSurvey: the parts of a store as they are on the disk, whatever is damaged: CURRENT, the manifests,
// the log. Which state of the store is the newest that can be read.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/repair/log_look.h"
#include "tools/repair/manifest_look.h"
#include "tools/repair/repair_plan.h"

namespace cellar {

struct StoreSurvey {
  Status current_status = {};
  std::optional<Current> current = {};
  std::vector<GenerationLook> generations = {};  // ascending
  Identity identity = {};
  ManifestState base = {};  // the newest state that can be read; empty: no manifest can be read
  uint64_t base_generation = 0;
  // Edits after `base` may be lost: store files and segments of the log may be newer than it.
  bool edits_lost = false;
  bool has_wal = false;
  std::vector<SegmentLook> segments = {};                // ascending; all that are there
  std::map<uint32_t, std::string> families_in_log = {};  // names of families, by their numbers
  uint64_t newest_edit_seen = 0;                         // by the log, CURRENT and the manifests
  uint64_t newest_sequence_seen = 0;
  uint64_t newest_record_seen = 0;

  const SegmentLook* segment(uint64_t id) const;
};

// Looks at the store in `root`. Adds what is damaged in CURRENT and the manifests, and what is not a file,
// to `plan`. Errors: see plan_repair.h.
Result<StoreSurvey> survey_store(Directory& root, const std::string& path, RepairPlan& plan);

}  // namespace cellar
