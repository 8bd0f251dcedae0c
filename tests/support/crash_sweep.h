// The sweep that crash tests share. A workload is stopped at its operations, one after the other. The
// remaining files are checked in each mode of a crash.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "tests/support/crash_file_system.h"

namespace cellar::testing {

// With fewer places, the event that a test looks for may lie between two of them. Examples are the end of a
// step, and a write that is there after a crash.
constexpr uint64_t kLeastPlaces = 60;

// Calls work(files) with a crash at about `places` of its `operations` (kLeastPlaces at least), evenly
// spread. Then calls check(image, outcome) with the result of work, for each mode, until a test fails.
// Returns the number of crashes.
template <class Work, class Check>
uint64_t sweep_crashes(uint64_t operations, uint64_t places, const Work& work, const Check& check) {
  const uint64_t step = std::max<uint64_t>(1, operations / std::max(kLeastPlaces, places));
  uint64_t crashes = 0;
  for (uint64_t at = 1; at <= operations; at += step) {
    CrashFileSystem files;
    files.stop_at(at);
    const auto outcome = work(files);
    for (const CrashMode mode : all_crash_modes()) {
      SCOPED_TRACE("operation " + files.operation_text(std::min(at, files.operations())) + ", " +
                   std::string(crash_mode_name(mode)));
      const auto image = files.image(mode, at);
      check(*image, outcome);
      ++crashes;
      if (::testing::Test::HasFailure()) return crashes;
    }
  }
  return crashes;
}

}  // namespace cellar::testing
