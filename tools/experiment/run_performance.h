// perform_run: one run of an experiment on a fresh store.
#pragma once

#include <functional>
#include <string>

#include "tools/experiment/experiment_plan.h"
#include "tools/experiment/run_record.h"

namespace cellar {

// Makes a store in the new directory `path`, loads and runs the workload, checks what the store holds, and
// returns the measurements. The store stays there, closed. `progress` hears the share of the work that is
// done, from this thread. Errors: kAborted after an interrupt; kCorruption if the store answered wrongly;
// those of the engine.
Result<RunRecord> perform_run(const ExperimentPlan& plan, const ExperimentRun& run, const std::string& path,
                              const std::function<void(double)>& progress);

// Returns the model name of the processor; empty if the system does not tell.
std::string processor_name();

}  // namespace cellar
