// Simulation: runs a compaction policy over a history of writes without I/O.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cellar/compaction_policy.h"
#include "cellar/status.h"
#include "tools/simulate/simulated_writes.h"

namespace cellar {

// SimulatedDevice: the machine that the store would run on. Rates are bytes per second of one thread,
// except those of the disk.
struct SimulatedDevice {
  bool instant = true;            // flushes and compactions take no time, and nothing below counts
  double write_rate = 400 << 20;  // of the disk
  double read_rate = 800 << 20;   // of the disk
  double merge_rate = 250 << 20;  // input of a compaction, and memtables of a flush
  double put_rate = 200 << 20;    // cells of a writer that never waits
  uint64_t threads = 2;           // compactions at a time
  uint64_t cores = 2;             // shared by the writer, the flush and compactions
};

struct SimulationOptions {
  uint64_t memtable_bytes = 64 << 20;
  uint64_t cells_per_memtable = 256;  // how fine the simulation is
  uint64_t file_overhead = 0;         // bytes of a file without cells
  uint64_t cell_bytes = 0;            // of a simulated cell in a file; 0: as in the memtable
  uint64_t marker_bytes = 0;          // the same of a delete marker; 0: as a cell
  uint64_t bytes_put = 0;             // the history ends after so many bytes of cells
  uint64_t bytes_skipped = 0;         // amplification is counted after so many
  uint32_t versions = 1;
  int64_t ttl_ms = INT64_MAX;
  int64_t begin_ms = 0;  // the clock at the beginning
  uint32_t files_slow = 12;
  uint32_t files_stop = 16;
  uint32_t memtables_frozen_max = 3;
  // The number of gets for each write after bytes_skipped. Policies are told which files the gets read.
  double reads = 0;
  uint64_t samples = 100;  // points of the result's series, evenly over the bytes put
  SimulatedDevice device;
};

// The store at one time of the history.
struct SimulationSample {
  double seconds = 0;  // since the beginning, by the device; instant: by its put_rate
  uint64_t bytes_put = 0;
  double write_amplification = 0;  // of what was put since the sample before
  double space_amplification = 0;
  double runs = 0;  // that a get of a random row has to look at, without Bloom filters
  uint64_t run_count = 0;
  uint64_t files = 0;
  uint64_t debt_bytes = 0;  // CompactionPolicy::debt_bytes()
  double put_rate = 0;      // bytes per second since the sample before; 0: instant
};

// Amplification is defined as everywhere in Cellar:
// - write: bytes written to the log and to store files, over bytes of cells put;
// - space: bytes of store files, over bytes that a store of the live cells alone would have;
// - read, here: sorted runs that a get of one row has to look at.
struct SimulationResult {
  std::vector<SimulationSample> series;
  uint64_t bytes_put = 0;  // all figures from here on are counted after SimulationOptions::bytes_skipped
  uint64_t bytes_flushed = 0;
  uint64_t bytes_compacted = 0;  // written by compactions
  uint64_t bytes_read = 0;       // by compactions
  uint64_t compaction_most = 0;  // bytes that the largest compaction read and wrote
  uint64_t flushes = 0;
  uint64_t compactions = 0;  // that wrote
  uint64_t moves = 0;
  uint64_t drops = 0;
  double write_amplification = 0;
  double space_amplification = 0;  // the mean of the samples
  double space_peak = 0;           // with the output of compactions just before their inputs leave
  double runs_mean = 0;            // the means of the samples
  uint64_t runs_most = 0;
  uint64_t runs_end = 0;
  uint64_t files_end = 0;
  uint64_t debt_most = 0;
  uint64_t deletes = 0;           // rows deleted
  uint64_t markers_end = 0;       // delete markers in the files at the end
  double marker_age_seconds = 0;  // of the oldest of them
  double seconds = 0;
  double stalled_seconds = 0;  // writers could not write
  double longest_stall = 0;
  double slowed_seconds = 0;  // writers were slowed down
};

// Runs the history. `progress` is called from time to time with the bytes put so far. If it returns false,
// the simulation ends with kAborted. Error: kInvalidArgument if a plan of the policy breaks a rule of plans,
// or if its plans come to no end.
Result<SimulationResult> simulate(const CompactionPolicy& policy, SimulatedWrites& writes,
                                  const SimulationOptions& options,
                                  const std::function<bool(uint64_t)>& progress);

}  // namespace cellar
