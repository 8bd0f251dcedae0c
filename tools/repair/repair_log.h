// The part of a repair that is about the log: where it is cut, and what is lost with the rest.
#pragma once

#include <vector>

#include "tools/repair/repair_files.h"
#include "tools/repair/repair_plan.h"
#include "tools/repair/store_survey.h"

namespace cellar {

// Decides which segments stay, and sets the facts of the log in plan.state. Lets the log write the cells of
// lost files again, as far as it reaches back. Marks feeds lost that would miss writes. Errors: see
// plan_repair.h.
Status plan_log(Directory& root, const StoreSurvey& survey, const std::vector<LostFile>& lost_files,
                RepairPlan& plan);

}  // namespace cellar
