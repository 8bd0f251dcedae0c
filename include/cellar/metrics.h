// Metrics: what an engine has done, how long that took, and what its store consists of.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cellar/engine.h"
#include "cellar/table.h"

namespace CELLAR_PUBLIC cellar {

// LatencyMetrics: how often something happened, and how long it took, since the engine was opened. Times are
// in seconds.
struct LatencyMetrics {
  std::string name;       // see Metrics::operations and Metrics::stalls
  uint64_t count = 0;     // exact, failures included
  uint64_t measured = 0;  // of them, those whose time was taken
  double sum = 0;         // of the times taken
  // Quantiles of the times taken, at most 3.2 % too small or too large up to 39 hours; 0 without times. `max`
  // is exact.
  double p50 = 0;
  double p99 = 0;
  double p999 = 0;
  double max = 0;
  // How many times were at most latency_bounds()[i]. The last bound is the largest: later times are only in
  // `measured`. A time next to a bound may be counted on the other side of it.
  std::vector<uint64_t> buckets;
};

// Returns the bounds of LatencyMetrics::buckets in seconds, ascending from a microsecond to 100 s. They live
// forever.
std::span<const double> latency_bounds();

// Metrics: Engine::metrics() returns them. A value: it does not change afterwards.
//
// Counters count since the engine was opened. FamilyInfo counts since the family was created. Counts are
// exact once the threads that count have returned from their calls.
struct Metrics {
  EngineStatus status;            // sizes, health, flushes, compactions, the cache
  std::vector<TableInfo> tables;  // in the order of their names

  // All that follows is empty or 0 if EngineOptions::metrics is off.
  //
  // Calls of the engine, in a fixed order:
  // - "get" (get, get_into, get_row), "exists", "get_many" (exists_many too)
  // - "scan_open", "scan_batch" (a piece of a scan: up to 32 rows, or a call of next_batch)
  // - "put", "delete", "increment", "append", "mutate", "check"
  // - "batch" (Engine::write, Table::batch), "commit"
  // Then work of the engine: "flush", "compaction", "log_sync".
  //
  // Calls that such a call makes itself are parts of it, and are not counted: a put of Table::batch, the read
  // of an increment. The clock is read for one in 16 of the short calls, chosen at random: get, exists,
  // scan_open, scan_batch, put and delete. Their `max` is the maximum of this sample. Other calls and all
  // work are always measured.
  double seconds = 0;  // since the engine was opened
  std::vector<LatencyMetrics> operations;
  // Times that a writer waited: "memory" (memtable_bytes_total), "flush" (memtables_frozen_max), "compaction"
  // (files_stop), and "pace" (it was slowed down before one of these).
  std::vector<LatencyMetrics> stalls;

  // Bytes that went through the file system, by kind: "log", "store_files", "manifest" and "other". Flushes,
  // compactions, reads, recovery and checks of files are all in them.
  std::map<std::string, uint64_t> bytes_written;
  std::map<std::string, uint64_t> bytes_read;
  uint64_t bytes_compacted_from = 0;  // of the files that compactions read

  // How often each kind of event came: "flush", "flush_failed", "compaction", "compaction_failed",
  // "files_moved", "files_dropped", "ingest", "log_rolled", "log_removed", "feed_lost", "recovery",
  // "background_error".
  std::map<std::string, uint64_t> event_counts;
  // The newest of them, at most 100, oldest first: the clock in milliseconds since the epoch, and a sentence.
  std::vector<std::pair<int64_t, std::string>> events;

  // Returns what was put, flushed and compacted over what was put, since the families were created. 0 if
  // nothing was put. FamilyInfo::write_amplification() is that of one family.
  double write_amplification() const;
  // Returns the greatest number of sorted runs and memtables in a family: a get without a Bloom filter reads
  // so many.
  double read_amplification() const;
  // Returns the bytes of all store files over those of each family's largest sorted run. 1 if all files are
  // compacted; 0 without files.
  double space_amplification() const;
};

// Returns how many sorted runs the files of a family form.
uint64_t sorted_runs(const FamilyInfo& family);

// Returns the metrics as a single JSON object without a line end (schema cellar.metrics/1). `of_engine`: with
// what was counted since the engine was opened; false: only what the store itself consists of.
std::string to_json(const Metrics& metrics, bool of_engine = true);
// Returns the same as text in OpenMetrics 1.0, which Prometheus reads. Names begin with "cellar_", and stay
// the same in later versions. docs/metrics.md lists them. The label "store" is the store's identity, so that
// the texts of several stores have no sample in common.
std::string to_openmetrics(const Metrics& metrics, bool of_engine = true);
// Returns the same in Prometheus' older text format 0.0.4, which the textfile collector reads.
std::string to_prometheus(const Metrics& metrics, bool of_engine = true);

}  // namespace cellar
