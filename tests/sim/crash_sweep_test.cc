// Goal: whenever a store's machine or process stops, what it acknowledged is there afterwards, whole, in
// order, and the store goes on.
// Method: a fixed workload stopped at each of its file operations; images of the medium in every crash mode,
// with the last append cut at several places; each image opened, compared, written to and opened again.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "tests/sim/workload.h"
#include "tests/support/crash_file_system.h"

namespace cellar::testing {
namespace {

constexpr uint64_t kShards = 4;

struct Tally {
  uint64_t points = 0;
  uint64_t images = 0;
};

void check_image(const CrashFileSystem& crash, const Outcome& outcome, uint64_t k,
                 const ImageOptions& options, Tally& tally) {
  const auto image = crash.image(options);
  const CheckOptions check{
      .expected = Expected::kPrefix,
      .least = options.mode == CrashMode::kProcessKilled ? Fate::kKilled : Fate::kDurable};
  ++tally.images;
  const auto wrong = check_store(*image, outcome, check);
  ASSERT_FALSE(wrong) << "stopped at " << crash.operation_text(k) << ", " << crash_mode_name(options.mode)
                      << " seed " << options.seed << " cut "
                      << (options.last_append_bytes ? std::to_string(*options.last_append_bytes) : "none")
                      << ": " << *wrong << "\n"
                      << crash.operation_texts();
}

void check_point(const CrashFileSystem& crash, const Outcome& outcome, uint64_t k, Tally& tally) {
  const bool short_run = test_scale() < 1;
  for (const CrashMode mode : all_crash_modes()) {
    if (short_run && (k + static_cast<uint64_t>(mode)) % 4 != 0) continue;
    check_image(crash, outcome, k, {.mode = mode, .seed = k}, tally);
    if (::testing::Test::HasFatalFailure()) return;
  }
  if (crash.operation_text(k).find(": append ") == std::string::npos) return;
  const uint64_t bytes = crash.last_append_bytes();
  for (const uint64_t cut : {uint64_t{1}, bytes / 2, bytes - 1}) {
    if (cut >= bytes || (short_run && (k + cut) % 4 != 0)) continue;
    for (const CrashMode mode : {CrashMode::kProcessKilled, CrashMode::kKeepAll}) {
      check_image(crash, outcome, k, {.mode = mode, .seed = k, .last_append_bytes = cut}, tally);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

uint64_t operations_of_workload() {
  CrashFileSystem files;
  const Outcome outcome = run_workload(files, {});
  EXPECT_FALSE(outcome.wrong) << *outcome.wrong;
  EXPECT_TRUE(
      std::ranges::all_of(outcome.writes, [](const auto& write) { return write.fate >= Fate::kVisible; }));
  return files.operations();
}

class CrashSweep : public ::testing::TestWithParam<uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Shards, CrashSweep, ::testing::Range(uint64_t{0}, kShards));

TEST_P(CrashSweep, AtEveryOperationInEveryMode) {
  const uint64_t last = operations_of_workload();
  Tally tally;
  for (uint64_t k = 1 + GetParam(); k <= last + 1; k += kShards, ++tally.points) {
    CrashFileSystem crash;
    crash.stop_at(k, k * 37 % 90);
    const Outcome outcome = run_workload(crash, {});
    if (!crash.crashed()) crash.crash();
    check_point(crash, outcome, std::min(k, crash.operations()), tally);
    if (HasFatalFailure()) break;
  }
  std::cout << tally.points << " of " << last << " crash points, " << tally.images << " images" << std::endl;
}

// The machine stops again while the store recovers. What the first crash left is durable by then.
TEST_P(CrashSweep, AgainInTheRecovery) {
  const uint64_t last = operations_of_workload();
  const uint64_t step = kShards * (test_scale() < 1 ? 53 : 17);
  Tally tally;
  for (uint64_t k = last - GetParam() % last; k > 5 && k <= last; k -= std::min(k, step)) {
    CrashFileSystem crash;
    crash.stop_at(k, k * 37 % 90);
    const Outcome outcome = run_workload(crash, {});
    const CrashMode first = all_crash_modes()[(k / kShards) % all_crash_modes().size()];
    for (uint64_t again = 1;; ++again, ++tally.points) {
      const auto recovering = crash.crash_image({.mode = first, .seed = k});
      recovering->stop_at(again, again * 53 % 90);
      open_and_close(*recovering);
      if (!recovering->crashed()) break;
      const Fate least = first == CrashMode::kProcessKilled ? Fate::kKilled : Fate::kDurable;
      const CrashMode random = again % 2 == 0 ? CrashMode::kRandomUnsynced : CrashMode::kPrefix;
      for (const CrashMode mode : {CrashMode::kLoseUnsynced, CrashMode::kProcessKilled, random}) {
        const auto image = recovering->image(mode, again);
        const auto wrong = check_store(*image, outcome, {Expected::kPrefix, least});
        ASSERT_FALSE(wrong) << "stopped at " << crash.operation_text(k) << ", " << crash_mode_name(first)
                            << ", then at " << again << ", " << crash_mode_name(mode) << ": " << *wrong
                            << "\n"
                            << recovering->operation_texts();
        ++tally.images;
      }
    }
  }
  std::cout << tally.points << " crash points in recoveries, " << tally.images << " images" << std::endl;
}

}  // namespace
}  // namespace cellar::testing
