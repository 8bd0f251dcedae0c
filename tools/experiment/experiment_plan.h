// ExperimentPlan: the runs of an experiment, in the order in which they happen.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cellar/options.h"
#include "tools/experiment/experiment_text.h"

namespace cellar {

// A choice of one value for each dimension.
struct ExperimentConfiguration {
  std::string label;                                         // the values of the dimensions that vary
  std::vector<std::pair<std::string, std::string>> options;  // all dimensions, by name
  EngineOptions engine;
  FamilyOptions family;
};

// One run. The identity decides whether a result that is there is its result. It consists of the options that
// differ from their defaults, the fields of the workload, the round and the seed. A new dimension whose only
// value is the default therefore changes no identity.
struct ExperimentRun {
  size_t configuration = 0;  // indexes into the plan
  size_t workload = 0;
  uint64_t round = 0;  // from 0
  uint64_t seed = 0;   // the same for all runs of a round, so that they do the same work
  std::string identity;
};

struct ExperimentPlan {
  std::vector<ExperimentConfiguration> configurations;
  std::vector<ExperimentWorkload> workloads;
  std::vector<std::string> varying;  // names of the dimensions that have several values
  std::vector<ExperimentRun> runs;
};

// Every round has all combinations of configurations and workloads, in an order that follows from seed and
// round. So a machine that becomes slower does not favour a configuration. Error: kLimit if there are too
// many runs.
Result<ExperimentPlan> plan_experiment(const ExperimentText& text);

// Returns the value for people: "8 MiB" of an option in bytes.
std::string shown_option(const std::string& name, const std::string& value);

}  // namespace cellar
