// RunRecord: the result of one run, as a line of JSON and back.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cellar/status.h"

namespace cellar {

// The store and its counters at one moment. Counters begin at 0 with the run.
struct RunSample {
  bool loading = false;
  uint64_t operations = 0;  // so far; a loaded row is one
  double seconds = 0;       // since the phase began
  uint64_t bytes_on_disk = 0;
  uint64_t files = 0;
  uint64_t sorted_runs = 0;
  uint64_t bytes_put = 0;      // of cells
  uint64_t bytes_written = 0;  // to files and log
  uint64_t bytes_flushed = 0;
  uint64_t bytes_compacted = 0;
  uint64_t stalls = 0;
  int64_t stall_micros = 0;
};

// How long calls of one kind took, in microseconds.
struct RunLatency {
  std::string call;  // "get", "scan", "put", "delete", "increment", "load_batch"
  uint64_t count = 0;
  double p50 = 0;
  double p95 = 0;
  double p99 = 0;
  double p999 = 0;
  double max = 0;
};

struct RunRecord {
  std::string identity;
  std::string experiment;
  std::string workload;       // its label
  std::string configuration;  // its label
  std::vector<std::pair<std::string, std::string>> options;
  std::vector<std::pair<std::string, std::string>> fields;  // of the workload
  uint64_t round = 0;
  uint64_t seed = 0;
  std::string begun;  // the time, as a text
  std::string version;
  std::string processor;
  uint64_t cores = 0;

  uint64_t operations = 0;    // of the workload, loaded rows left out
  double seconds = 0;         // that they took
  double load_seconds = 0;    // until everything loaded was flushed and compacted
  double settle_seconds = 0;  // after the operations, until everything was flushed and compacted
  double rate = 0;            // operations in a second

  // Not set if the divisor is 0.
  std::optional<double> write_amplification;       // of the operations, until the store was at rest
  std::optional<double> load_write_amplification;  // of loading, until the store was at rest
  std::optional<double> space_amplification;
  std::optional<double> read_amplification;

  uint64_t bytes_put = 0;      // by the operations
  uint64_t bytes_written = 0;  // to files and log, because of them
  uint64_t bytes_flushed = 0;  // this and the following count loading, too
  uint64_t bytes_compacted = 0;
  uint64_t bytes_on_disk = 0;
  uint64_t bytes_live = 0;
  uint64_t bytes_read = 0;      // from files, by the operations of the workload and by compactions meanwhile
  uint64_t bytes_returned = 0;  // of the cells that were read
  uint64_t reads = 0;           // gets and scans
  uint64_t files_read = 0;      // by them, without those that were skipped
  uint64_t blocks_from_cache = 0;
  uint64_t blocks_from_disk = 0;
  uint64_t bytes_from_disk = 0;  // by them, without compactions
  uint64_t flushes = 0;
  uint64_t compactions = 0;
  uint64_t stalls = 0;
  int64_t stall_micros = 0;
  uint64_t files = 0;  // at the end
  uint64_t sorted_runs = 0;
  std::vector<RunLatency> latencies;
  std::vector<RunSample> samples;

  std::optional<double> files_per_read() const;
  std::optional<double> blocks_per_read() const;
};

// Returns amount / of; nothing if `of` is 0.
std::optional<double> ratio(uint64_t amount, uint64_t of);

// Returns the record with its members in a fixed order.
nlohmann::ordered_json to_json(const RunRecord& record);
// Error: kInvalidArgument that names the first member that is missing or has another type.
Result<RunRecord> record_of(const nlohmann::ordered_json& json);

}  // namespace cellar
