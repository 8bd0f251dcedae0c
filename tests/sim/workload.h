// Workload: a fixed course of a store's life, for stopping or failing it at every operation, and the check of
// what is found afterwards.
//
// Each write puts cells of its own, so that what is found tells exactly which writes are there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cellar/cellar.h"

namespace cellar::testing {

enum class Fate : uint8_t {
  kNotTried,
  kFailed,   // refused or unknown: it may be there, whole
  kVisible,  // acknowledged without the log
  kKilled,   // acknowledged: there after the end of the process
  kDurable,  // there after power loss
};

struct TriedWrite {
  uint64_t id = 0;
  uint64_t deletes = 0;                 // the write whose row this one deletes, 0 for none
  bool unlogged = false;                // in no order with the others after a crash
  std::vector<std::string> cells = {};  // "table/family/row"
  Fate fate = Fate::kNotTried;
};

struct Outcome {
  bool made = false;                 // the tables are there, durably
  bool altered = false;              // and the new options of a family
  std::optional<bool> extra = {};    // the table x is there, is not; unknown between
  std::vector<TriedWrite> writes;    // in commit order
  std::optional<std::string> wrong;  // a wrong answer while it ran
};

struct WorkloadOptions {
  bool go_on_after_failure = false;
  uint64_t seed = 1;
};
// Runs it over these files, in the directory "store", until its end or the first failure.
Outcome run_workload(FileSystem& files, const WorkloadOptions& options);

enum class Expected : uint8_t {
  kAnyFailed,  // acknowledged writes, and any of the failed ones
  kPrefix,     // the first writes up to one of them, not fewer than those of `least`
};
struct CheckOptions {
  Expected expected = Expected::kPrefix;
  Fate least = Fate::kDurable;  // writes with this fate or better must be there
};
// Opens the store, compares, looks for orphans, writes, closes and opens it again. What is wrong, or nothing.
std::optional<std::string> check_store(FileSystem& files, const Outcome& outcome,
                                       const CheckOptions& options);

// Opens the store and closes it; errors do not matter.
void open_and_close(FileSystem& files);

// CELLAR_TEST_SCALE, or 1.
double test_scale();

}  // namespace cellar::testing
