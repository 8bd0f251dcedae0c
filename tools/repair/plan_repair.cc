// The plan: the survey, then files, log and the numbers of the new state.
#include "tools/repair/plan_repair.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/log/directory.h"
#include "tools/repair/repair_files.h"
#include "tools/repair/repair_log.h"
#include "tools/repair/store_survey.h"

namespace cellar {
namespace {

// No number may be given out twice, whatever is known of the past.
Status raise_numbers(Directory& root, const StoreSurvey& survey, RepairPlan& plan) {
  ManifestState& state = plan.state;
  state.edit = std::max(state.edit, survey.newest_edit_seen) + 1;
  state.last_sequence = std::max(state.last_sequence, survey.newest_sequence_seen);
  for (const TableRecord& table : state.tables)
    for (const FamilyRecord& family : table.families)
      state.last_sequence = std::max(state.last_sequence, family.flushed_sequence);
  CELLAR_TRY_ASSIGN(const std::vector<StoredFile> stored, list_store_files(root, nullptr));
  for (const StoredFile& file : stored) {
    uint64_t number = 0;
    if (parse_store_file_name(state.identity, file.name, number))
      state.next_file_number = std::max(state.next_file_number, number + 1);
    state.next_table_id = std::max(state.next_table_id, file.table_id + 1);
  }
  return {};
}

// All manifests and CURRENT go into the quarantine if a new state is made from what they say.
void keep_manifests(Directory& root, const StoreSurvey& survey, RepairPlan& plan) {
  if (!survey.edits_lost) return;
  if (survey.current_status.ok() || survey.current_status.is(Code::kCorruption)) {
    const bool moved = std::ranges::find(plan.move, kCurrentName) != plan.move.end();
    if (!moved) plan.keep.emplace_back(kCurrentName);
  }
  const Result<std::vector<uint64_t>> generations = list_generations(root);
  if (!generations.ok()) return;
  for (const uint64_t generation : *generations) {
    const std::string name = manifest_name(generation);
    if (std::ranges::find(plan.move, name) == plan.move.end()) plan.keep.push_back(name);
  }
}

void describe_state(const StoreSurvey& survey, RepairPlan& plan) {
  for (const std::string& name : plan.move)
    plan.steps.insert(plan.steps.begin(), {"move", name, "to the quarantine"});
  const std::string next = manifest_name(plan.newest_generation + 1);
  std::string text = "as before, without what is left out";
  if (survey.edits_lost)
    text =
        survey.base_generation == 0
            ? "no manifest can be read: made from the names of directories, the files and the log"
            : fmt::format("made from edit {} of {}", survey.base.edit, manifest_name(survey.base_generation));
  plan.steps.push_back({"write", next, text});
  plan.steps.push_back({"write", std::string(kCurrentName), "names the new manifest"});
  if (survey.edits_lost)
    plan.notes.emplace_back(
        "Edits of the manifest may be lost. Tables that were dropped may be there again, and changed options "
        "may be the old ones. Files that were replaced may show deleted cells.");
}

}  // namespace

Result<RepairPlan> plan_repair(Directory& root, const std::string& path, VerifyLevel level) {
  RepairPlan plan;
  CELLAR_TRY_ASSIGN(const StoreSurvey survey, survey_store(root, path, plan));
  plan.state = survey.base;
  CELLAR_TRY_ASSIGN(const std::vector<LostFile> lost, plan_files(root, path, level, survey, plan));
  CELLAR_TRY(plan_log(root, survey, lost, plan));
  if (!plan.is_needed()) return plan;
  CELLAR_TRY(raise_numbers(root, survey, plan));
  keep_manifests(root, survey, plan);
  describe_state(survey, plan);
  return plan;
}

}  // namespace cellar
