// Report: results as JSON lines, whether engines agree, and the table at the end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/driver/run.h"

namespace cellar::bench {

// One line of JSON without its end.
std::string result_line(const std::string& peer, const std::string& version, const std::string& workload,
                        const std::string& unit, uint64_t round, const Sample& sample, double settle_seconds,
                        uint64_t disk_bytes, uint64_t run_bytes);

// The fields of a line that the table and the comparison need.
struct Result {
  std::string peer;
  std::string workload;
  std::string unit;
  uint64_t round = 0;
  uint64_t ops = 0;
  double rate = 0;
  Tally read;
};
Result parse_result(const std::string& line);

// One sentence for each workload whose engines, or rounds, did not read the same.
std::vector<std::string> disagreements(const std::vector<Result>& results);

// Workload by workload: the median rate of each peer, and the median over rounds of the ratio of the first
// peer to each other one.
std::string table_of(const std::vector<Result>& results, const std::vector<std::string>& peers);

}  // namespace cellar::bench
