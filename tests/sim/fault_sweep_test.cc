// Goal: when a file operation fails, no answer is wrong, nothing hangs or dies, and no acknowledged write is
// missing after the store is opened again, on the same machine or after power loss.
// Method: a fixed workload with its k-th operation failing, for every k, once and from there on, with several
// errors; then healed, opened, compared, written to and opened again.
#include <gtest/gtest.h>

#include <iostream>

#include "tests/sim/workload.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/fault_file_system.h"

namespace cellar::testing {
namespace {

constexpr uint64_t kShards = 4;

struct FaultCase {
  const char* name;
  FileOperations on;
  Code code;
  bool sticky;
};
const FaultCase kCases[] = {
    {"WriteFailsOnce", kAllWrites, Code::kIoError, false},
    {"WritesFail", kAllWrites, Code::kIoError, true},
    {"NoSpaceOnce", kAllWrites, Code::kNoSpace, false},
    {"NoSpace", kAllWrites, Code::kNoSpace, true},
    {"ReadFailsOnce", kAllReads, Code::kIoError, false},
    {"SyncsFail", {FileOperation::kSync, FileOperation::kDirectorySync}, Code::kIoError, true},
};

class FaultSweep : public ::testing::TestWithParam<std::tuple<size_t, uint64_t>> {};
INSTANTIATE_TEST_SUITE_P(All, FaultSweep,
                         ::testing::Combine(::testing::Range(size_t{0}, std::size(kCases)),
                                            ::testing::Range(uint64_t{0}, kShards)),
                         [](const auto& param) {
                           return std::string(kCases[std::get<0>(param.param)].name) + "_" +
                                  std::to_string(std::get<1>(param.param));
                         });

TEST_P(FaultSweep, AtEveryOperation) {
  const FaultCase& fault_case = kCases[std::get<0>(GetParam())];
  uint64_t step = kShards;
  if (test_scale() < 1) step *= 4;
  uint64_t points = 0;
  for (uint64_t k = 1 + std::get<1>(GetParam());; k += step, ++points) {
    CrashFileSystem medium;
    FaultFileSystem files(medium);
    files.inject({.on = fault_case.on, .nth = k, .sticky = fault_case.sticky, .code = fault_case.code});
    const Outcome outcome = run_workload(files, {.go_on_after_failure = true, .seed = k});
    if (files.struck() == 0) break;
    const auto lost_power = medium.image(CrashMode::kLoseUnsynced, k);
    const auto wrong_later = check_store(*lost_power, outcome, {Expected::kAnyFailed, Fate::kDurable});
    ASSERT_FALSE(wrong_later) << "call " << k << ", after power loss: " << *wrong_later << "\n"
                              << files.log();
    files.clear();
    const auto wrong = check_store(medium, outcome, {Expected::kAnyFailed, Fate::kKilled});
    ASSERT_FALSE(wrong) << "call " << k << ": " << *wrong << "\n" << files.log();
  }
  std::cout << points << " points" << std::endl;
}

}  // namespace
}  // namespace cellar::testing
