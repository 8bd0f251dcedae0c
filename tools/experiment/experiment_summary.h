// ExperimentSummary: the results of an experiment by workload and configuration, with medians over the
// repetitions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/experiment/experiment_plan.h"
#include "tools/experiment/run_record.h"

namespace cellar {

// The median of a figure over the repetitions, with the least and the greatest value.
struct Spread {
  double median = 0;
  double least = 0;
  double most = 0;
};

// A figure of a record; not set if the run has none, such as the read amplification of a run without reads.
using Figure = std::function<std::optional<double>(const RunRecord&)>;

// Returns nothing if no record has the figure.
std::optional<Spread> spread_of(const std::vector<const RunRecord*>& records, const Figure& figure);

// A figure over time.
struct RunCourse {
  std::vector<double> at;  // operations, or seconds if the workload has a time; ascending
  std::vector<double> values;
};
// The value at a sample. `before` is the sample before it, and `begin` the one at which its phase began. The
// loading begins with zeros.
using SampleFigure = std::function<std::optional<double>(const RunSample& sample, const RunSample& before,
                                                         const RunSample& begin)>;

class ExperimentSummary {
 public:
  // Both outlive the summary. Records whose identity is not in the plan are left out.
  ExperimentSummary(const ExperimentPlan& plan, const std::vector<RunRecord>& records);

  const ExperimentPlan& plan() const { return plan_; }
  // The results of a configuration in a workload, in the order of their rounds. Indexes are those of the
  // plan.
  const std::vector<const RunRecord*>& records(size_t workload, size_t configuration) const {
    return groups_[workload * plan_.configurations.size() + configuration];
  }
  // Returns the medians of a figure over time, over the repetitions.
  RunCourse course(size_t workload, size_t configuration, const SampleFigure& figure) const;
  // Returns the calls that some run of the workload made, in the order of their names in StoreCall.
  std::vector<std::string> calls(size_t workload) const;

  // For each run of the plan, its record; null: it has not happened.
  const std::vector<const RunRecord*>& by_run() const { return by_run_; }
  uint64_t done() const { return done_; }
  uint64_t foreign() const { return foreign_; }  // records of runs that are not in the plan
  // The different versions and machines of the records that are in the plan.
  std::vector<std::string> versions() const;
  std::vector<std::string> machines() const;

 private:
  std::vector<std::string> different(const std::function<std::string(const RunRecord&)>& text) const;

  const ExperimentPlan& plan_;
  std::vector<std::vector<const RunRecord*>> groups_;
  std::vector<const RunRecord*> by_run_;
  uint64_t done_ = 0;
  uint64_t foreign_ = 0;
};

// Returns the latency of a call at "p50", "p95", "p99", "p99.9" or "max", in microseconds.
Figure latency_figure(std::string call, std::string quantile);

}  // namespace cellar
