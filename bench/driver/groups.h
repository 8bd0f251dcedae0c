// Groups: the workloads, by the store they share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/driver/run.h"

namespace cellar::bench {

struct Group {
  std::string name;
  std::vector<std::string> workloads;  // in the order they run
  std::function<void(Run& run)> run;
  bool usual = true;     // runs without being named
  bool checked = false;  // of bench/workload: takes a mix, a skew and the other options of workloads
};

// In the order they run.
const std::vector<Group>& groups();

void run_fill(Run& run);
void run_point_sync(Run& run);
void run_replay(Run& run);
void run_sustained(Run& run);
void run_main(Run& run);
void run_growth(Run& run);
void run_together(Run& run);
void run_time_range(Run& run);
void run_wide(Run& run);
void run_three_families(Run& run);
void run_counters(Run& run);
void run_tombstones(Run& run);
void run_time_to_live(Run& run);
// Loads rows, then runs a workload of bench/workload, checks what the store holds and counts bytes.
void run_workload(Run& run, const Workload& workload);
// The same with the load as a workload of its own, "bulk_load".
void run_bulk(Run& run, const Workload& workload);

}  // namespace cellar::bench
