// Groups: the workloads, by the store they share.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/driver/run.h"

namespace cellar::bench {

struct Group {
  std::string name;
  std::vector<std::string> workloads;  // in the order they run
  void (*run)(Run& run);
};

// In the order they run.
const std::vector<Group>& groups();

void run_fill(Run& run);
void run_point_sync(Run& run);
void run_replay(Run& run);
void run_sustained(Run& run);
void run_main(Run& run);
void run_ycsb(Run& run);
void run_together(Run& run);
void run_time_range(Run& run);
void run_wide(Run& run);
void run_three_families(Run& run);
void run_counters(Run& run);
void run_tombstones(Run& run);
void run_time_to_live(Run& run);

}  // namespace cellar::bench
