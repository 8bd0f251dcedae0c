// The part of a repair that is about store files. It finds those that can be used, those that are lost, and
// those that a lost edit of the manifest may have named.
#pragma once

#include <cstdint>
#include <string>

#include "hfile/check/verify_report.h"
#include "tools/repair/repair_plan.h"
#include "tools/repair/store_survey.h"

namespace cellar {

// A file that is left out of its family.
struct LostFile {
  uint32_t family_id = 0;
  std::string family;  // "orders/d"
  std::string place;
  FileRecord record;
};

// Checks every store file at this level. Takes missing and damaged files out of plan.state. If edits of the
// manifest may be lost, adds the whole files that no edit names, with new families for those of unknown
// directories. Errors: see plan_repair.h.
Result<std::vector<LostFile>> plan_files(Directory& root, const std::string& path, VerifyLevel level,
                                         const StoreSurvey& survey, RepairPlan& plan);

// Adds families for numbers that only the log knows. Needed if edits of the manifest may be lost.
void add_families_of_log(const StoreSurvey& survey, RepairPlan& plan);

}  // namespace cellar
