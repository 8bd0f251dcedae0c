// TraceSummary: figures of a trace: kinds, rates, sizes, popular rows, latencies.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/trace/trace_reader.h"
#include "tools/frame/distribution.h"

namespace cellar {

// Counts of equal stretches of time. The stretches double when there would be too many.
class RateOverTime {
 public:
  static constexpr size_t kStretchesMax = 24;
  void add(int64_t start_ns);
  int64_t stretch_ns() const { return stretch_ns_; }
  const std::vector<uint64_t>& counts() const { return counts_; }

 private:
  int64_t stretch_ns_ = 1'000'000;
  std::vector<uint64_t> counts_;
};

// RowPopularity: how often each row was asked for. Memory is bounded: after kRowsMax different rows, further
// rows are counted together.
class RowPopularity {
 public:
  static constexpr size_t kRowsMax = 1'000'000;
  static constexpr size_t kFittedMax = 10'000;
  void add(const std::string& table, const std::string& row);
  uint64_t accesses() const { return accesses_; }
  uint64_t rows() const { return counts_.size(); }
  uint64_t accesses_of_others() const { return others_; }
  // The most frequent rows: table, row and count.
  struct Top {
    std::string table;
    std::string row;
    uint64_t count = 0;
  };
  std::vector<Top> top(size_t count) const;
  // The exponent of the Zipf distribution that fits the most frequent rows best (maximum likelihood, at most
  // kFittedMax ranks); 0 for fewer than ten rows.
  double zipf_exponent() const;

 private:
  struct Hash {
    size_t operator()(const std::pair<std::string, std::string>& key) const {
      return std::hash<std::string>()(key.first) * 31 + std::hash<std::string>()(key.second);
    }
  };
  std::unordered_map<std::pair<std::string, std::string>, uint64_t, Hash> counts_;
  uint64_t accesses_ = 0;
  uint64_t others_ = 0;
};

struct TraceKindSummary {
  uint64_t operations = 0;
  uint64_t failed = 0;
  uint64_t in_transactions = 0;
  uint64_t entries = 0;
  uint64_t rows = 0;  // returned
  uint64_t cells = 0;
  uint64_t bytes = 0;
  Distribution nanoseconds;
};

// TraceFamilySummary: figures of a family of a table.
struct TraceFamilySummary {
  uint64_t columns_read = 0;  // families that were read whole count once
  uint64_t columns_written = 0;
  uint64_t bytes_written = 0;  // of values
};

struct TraceTableSummary {
  uint64_t reads = 0;   // rows that were asked for, and scans
  uint64_t writes = 0;  // mutations
};

// One thread. Memory does not grow with the length of the trace.
class TraceSummary {
 public:
  void add(const TraceOperation& operation);

  uint64_t operations = 0;
  int64_t first_ns = 0;
  int64_t last_ns = 0;
  std::map<TraceKind, TraceKindSummary> kinds;
  std::map<std::string, TraceTableSummary> tables;
  std::map<std::pair<std::string, std::string>, TraceFamilySummary> families;
  std::map<uint32_t, uint64_t> threads;  // operations of each
  RateOverTime rate;
  RowPopularity popularity;
  Distribution row_bytes;    // sizes of rows that were asked for or changed
  Distribution value_bytes;  // sizes of values that were written

 private:
  void add_entry(const TraceEntry& entry);
  void add_scan(const TraceScan& scan);
};

}  // namespace cellar
