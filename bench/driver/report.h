// Report: results as JSON lines, whether engines agree, and the table at the end.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/driver/run.h"

namespace cellar::bench {

// Who did what.
struct Title {
  std::string peer = {};
  std::string version = {};
  std::string options = {};  // of the engine, that were set
  std::string workload = {};
  std::string unit = {};
  uint64_t round = 0;
};

// One line of JSON without its end.
std::string result_line(const Title& title, const Sample& sample, double settle_seconds, uint64_t disk_bytes,
                        uint64_t run_bytes);

// The fields of a line that the table and the comparison need.
struct Measurement {
  std::string peer;
  std::string workload;
  std::string unit;
  uint64_t round = 0;
  uint64_t ops = 0;
  double rate = 0;
  Tally read;
  bool by_time = false;  // numbers of operations differ
  std::map<std::string, double> figures =
      {};  // p50_us, p99_us, p999_us and the amplifications, as far as they exist
};
Measurement parse_result(const std::string& line);

// One sentence for each workload whose engines, or rounds, did not read the same. Results that ended by the
// clock are left out: their cells were checked while they were read.
std::vector<std::string> disagreements(const std::vector<Measurement>& results);

// Workload by workload: the median rate of each peer, and the median over rounds of the ratio of the first
// peer to each other one.
std::string table_of(const std::vector<Measurement>& results, const std::vector<std::string>& peers);

// The workloads whose bytes were counted, a line for each engine: rate, times of calls, and amplifications,
// as medians over the rounds. Empty if no result has amplifications.
std::string amplifications_of(const std::vector<Measurement>& results, const std::vector<std::string>& peers);

}  // namespace cellar::bench
