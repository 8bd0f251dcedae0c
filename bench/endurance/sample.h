// Samples: what the process and its store take up at a moment, as a line of JSON.
#pragma once

#include <string>

#include "bench/endurance/run.h"

namespace cellar::bench::endurance {

// Sampler: describes a run since the sample before. One thread.
class Sampler {
 public:
  // The run outlives the sampler.
  explicit Sampler(Run& run);

  // Returns the sample of this moment: {"kind": "sample", …}. docs/endurance.md explains the members.
  std::string sample();
  // Returns the line with the totals at the end of the run: {"kind": "end", …}.
  std::string end(double reopen_seconds);

 private:
  Run& run_;
  int64_t begin_ns_ = 0, last_ns_ = 0;
  Times::Each whole_{};  // all times of the run
};

// Returns the line with the circumstances: {"kind": "context", …}.
std::string context_line(const RunPlan& plan);

}  // namespace cellar::bench::endurance
