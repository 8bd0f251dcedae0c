// ExperimentProgress: which run of an experiment is under way, and how long the rest takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/experiment/experiment_plan.h"
#include "tools/experiment/run_record.h"
#include "tools/frame/session.h"

namespace cellar {

// Draws one line at a terminal while a run is under way, and says a line at the end of each. One thread.
class ExperimentProgress {
 public:
  // `done` has for each run of the plan its record, or null. All outlive the object.
  ExperimentProgress(Session& session, const ExperimentPlan& plan, const std::vector<const RunRecord*>& done);

  void begin(size_t run);
  // `share` of the run is done, from 0 to 1. Cheap.
  void show(double share);
  void end(size_t run, const RunRecord& record);

 private:
  std::string place(size_t run) const;
  std::string time_left() const;

  Session& session_;
  const ExperimentPlan& plan_;
  const bool drawn_;
  std::vector<std::optional<double>> seconds_;  // that each run took
  size_t run_ = 0;
  double share_ = 0;
  int64_t begun_us_ = 0;
  int64_t shown_us_ = 0;
};

}  // namespace cellar
