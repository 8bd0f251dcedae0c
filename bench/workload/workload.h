// Workload: what a benchmark does to a store, as data. It has a mix of operations, a choice of rows, sizes of
// values, and an amount of work. Texts set each part.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/workload/key_chooser.h"
#include "cellar/status.h"

namespace cellar::bench {

enum class Operation : uint8_t {
  kRead,    // one column of a row
  kUpdate,  // writes a column of an existing row
  kRmw,     // reads a column and writes it
  kInsert,  // a new row after all others
  kScan,    // a number of rows from a row on
  kDelete,  // a row
};
constexpr size_t kOperations = 6;
// Returns "read", "update", "rmw", "insert", "scan" or "delete".
std::string_view operation_name(Operation operation);

// Mix: how many of a hundred operations are of which kind.
class Mix {
 public:
  Mix() = default;
  // Takes "read=95,update=5": each operation at most once, whole numbers, 100 in all. Error:
  // kInvalidArgument.
  static Result<Mix> parse(std::string_view text);

  // Returns the operations that occur, in the order of Operation.
  std::string to_text() const;
  uint32_t percent(Operation operation) const { return percents_[static_cast<size_t>(operation)]; }
  bool has(Operation operation) const { return percent(operation) != 0; }
  bool writes() const { return percent(Operation::kRead) + percent(Operation::kScan) != 100; }
  Operation draw(Random& random) const;
  bool operator==(const Mix&) const = default;

 private:
  std::array<uint32_t, kOperations> percents_ = {100};
};

// Lengths: a number between two others, all alike.
struct Lengths {
  uint64_t least = 0;
  uint64_t most = 0;

  // Takes "100", "fixed:100" or "uniform:50-150"; the numbers are from 1 to `limit`. `what` names the option
  // in errors: kInvalidArgument.
  static Result<Lengths> parse(std::string_view text, uint64_t limit, std::string_view what);
  std::string to_text() const;
  // Returns a length that depends on `hash` alone.
  uint64_t of(uint64_t hash) const { return least + hash % (most - least + 1); }
  bool operator==(const Lengths&) const = default;
};

constexpr uint64_t kValueBytesMax = 1u << 20;
constexpr uint64_t kScanLengthMax = 1000000;

enum class Shape : uint8_t {
  kRows,        // rows user000000000000, user000000000002, … of one column
  kTimeSeries,  // rows of a series and a time, the newest of a series first
};

struct Workload {
  std::string name = {};
  std::string about = {};  // one sentence
  Mix mix = {};
  Skew skew = {};
  Lengths value_bytes = {100, 100};
  Lengths scan_length = {1, 100};  // rows
  Shape shape = Shape::kRows;
  double ops_per_row = 0.25;  // operations if neither `ops` nor `seconds` is set, per loaded row
  uint64_t ops = 0;           // 0: by ops_per_row
  double seconds = 0;         // above 0: for so long, instead of a number of operations
  uint64_t threads = 1;
  uint64_t seed = 1;

  // Returns "mix=read=100 skew=uniform value_bytes=fixed:100 …" with all that may be changed.
  std::string to_text() const;
  // Returns the operations of all threads for so many loaded rows, the same number for each thread.
  uint64_t total_ops(uint64_t rows) const;
};

// WorkloadChanges: what the options of a run change in every workload. Members with a value are set.
struct WorkloadChanges {
  std::optional<Mix> mix = {};
  std::optional<Skew> skew = {};
  std::optional<Lengths> value_bytes = {};
  std::optional<Lengths> scan_length = {};
  std::optional<uint64_t> ops = {};
  std::optional<double> seconds = {};
  std::optional<uint64_t> threads = {};
  std::optional<uint64_t> seed = {};

  bool any() const;
  Workload apply(Workload workload) const;
};

// Returns YCSB's A to F and the workloads of this project, in the order in which they are listed.
const std::vector<Workload>& known_workloads();
// Error: kNotFound, with the nearest name as its hint.
Result<Workload> find_workload(std::string_view name);

}  // namespace cellar::bench
