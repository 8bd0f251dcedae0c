// Groups: which workloads there are, and in which order.
#include "bench/driver/groups.h"

namespace cellar::bench {

namespace {

Group group_of(const Workload& workload) {
  if (workload.name == "bulk_then_read")
    return {"bulk",
            {"bulk_load", workload.name},
            [workload](Run& run) { run_bulk(run, run.changes().apply(workload)); },
            true,
            true};
  const bool usual = workload.name != "mix";  // by default it repeats others
  return {workload.name,
          {workload.name},
          [workload](Run& run) { run_workload(run, run.changes().apply(workload)); },
          usual,
          true};
}

// YCSB's A by two threads, whatever --threads says.
void run_a_by_two(Run& run) {
  Workload workload = run.changes().apply(find_workload("ycsb_a").value());
  workload.name = "ycsb_a_t2";
  workload.threads = 2;
  run_workload(run, workload);
}

std::vector<Group> make_groups() {
  std::vector<Group> all = {
      {"fill", {"fill_seq", "fill_seq_nowal", "fill_batch1000", "fill_random_t2"}, run_fill},
      {"main",
       {"fill_random",
        "overwrite",
        "get_hit_lsm",
        "full_scan_lsm",
        "compact_major",
        "get_hit_cached",
        "get_hit_cached_t2",
        "get_row_cached",
        "get_missing",
        "full_scan_cached",
        "scan10",
        "scan100",
        "scan_prefix100",
        "scan_filter1pct",
        "reverse_scan",
        "get_hit_pagecache",
        "full_scan_pagecache",
        "get_zipf_smallcache",
        "get_cold",
        "full_scan_cold"},
       run_main},
      {"together", {"read_while_writing"}, run_together},
      {"timerange", {"scan_timerange"}, run_time_range},
      {"wide", {"wide_load", "wide_get_one", "wide_get_row", "wide_full_scan"}, run_wide},
      {"fam3", {"fam3_load", "fam3_scan_one", "fam3_scan_all"}, run_three_families},
      {"counters", {"incr_hot_rmw", "incr_hot_rmw_t2", "incr_100k_rmw", "incr_100k_rmw_t2"}, run_counters},
      {"tombstones", {"delete_90pct", "scan_tombstones", "scan10_tombstones"}, run_tombstones},
      {"ttl", {"ttl_compact"}, run_time_to_live},
      {"sync", {"put_sync_t1", "put_sync_t4", "put_sync_t16"}, run_point_sync},
      {"replay", {"wal_replay"}, run_replay},
      {"sustained", {"overwrite_sustained"}, run_sustained},
      {"growth",
       {"growth_load", "growth_open", "growth_get", "growth_get_hot", "growth_scan10_hot", "growth_put"},
       run_growth,
       false},
  };
  for (const Workload& workload : known_workloads()) all.push_back(group_of(workload));
  all.push_back({"ycsb_a_t2", {"ycsb_a_t2"}, run_a_by_two, true, true});
  return all;
}

}  // namespace

const std::vector<Group>& groups() {
  static const std::vector<Group> all = make_groups();
  return all;
}

}  // namespace cellar::bench
