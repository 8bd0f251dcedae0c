// Goal: after a crash at any operation, the manifest is the state before or after the edit under way.
// Creation and rolls are all or nothing. Method: creation, edits and rolls with a crash at each operation in
// every mode. The same runs with each sync swallowed.
#include <gtest/gtest.h>

#include <cstdio>
#include <optional>
#include <sstream>

#include "engine/manifest/manifest.h"
#include "tests/engine/manifest_support.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/manual_clock.h"
#include "tests/support/step_executor.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {

namespace {

struct Outcome {
  bool created = false;  // create() returned ok
  ManifestState done;    // acknowledged
  ManifestState tried;   // what the call under way would have made
};

Outcome work(FileSystem& files, uint64_t seed) {
  Outcome outcome;
  ManualClock clock;
  StepExecutor executor(seed, clock);
  auto root = files.open_directory("store", true);
  if (!root.ok()) return outcome;
  outcome.tried.identity = kTestIdentity;
  outcome.tried.edit = 1;
  outcome.done = outcome.tried;
  const ManifestOptions options{.roll_bytes = 700};
  auto made = Manifest::create(**root, executor, outcome.tried, options);
  if (!made.ok()) return outcome;
  outcome.created = true;
  EditMaker maker(seed);
  for (int i = 0; i < 16; ++i) {
    if (i % 6 == 5) {  // a reopen: the next edit begins a generation
      made = Manifest::load(**root, executor, options);
      if (!made.ok()) return outcome;
      EXPECT_EQ((*made)->state(), outcome.done);
    }
    outcome.tried = outcome.done;
    if (i % 7 == 6) {
      ++outcome.tried.edit;
      outcome.tried.last_sequence += 1000;
      if (!(*made)->switch_to(outcome.tried).ok()) return outcome;
    } else {
      const ManifestEdit edit = maker.next(outcome.done);
      EXPECT_TRUE(apply(outcome.tried, edit).ok());
      ++outcome.tried.edit;
      if (!(*made)->commit(edit).ok()) return outcome;
    }
    outcome.done = outcome.tried;
    EXPECT_EQ((*made)->state(), outcome.done);
  }
  return outcome;
}

std::optional<std::string> fault_of(FileSystem& files, const Outcome& outcome) {
  ManualClock clock;
  StepExecutor executor(1, clock);
  auto root = must_open(files, "store");
  auto loaded = Manifest::load(*root, executor);
  if (!loaded.ok()) {
    if (outcome.created || !loaded.status().is(Code::kNotFound))
      return "does not load: " + loaded.status().to_text();
    // An interrupted creation: it can be done again.
    ManifestState state;
    state.identity = kTestIdentity;
    loaded = Manifest::create(*root, executor, state);
    if (!loaded.ok()) return "cannot be created again: " + loaded.status().to_text();
  }
  const ManifestState state = (*loaded)->state();
  if (!outcome.created) return std::nullopt;
  if (state != outcome.done && state != outcome.tried) {
    return "edit " + std::to_string(state.edit) + " of " + std::to_string(outcome.done.edit) +
           " acknowledged ones";
  }
  // It goes on, and what was made of it stays.
  ManifestEdit edit;
  edit.last_sequence = state.last_sequence + 5;
  for (int i = 0; i < 2; ++i) {
    const Result<uint64_t> number = (*loaded)->commit(edit);
    if (!number.ok()) return "no further edit: " + number.status().to_text();
  }
  auto again = Manifest::load(*root, executor, {.read_only = true});
  if (!again.ok() || (*again)->state().edit != state.edit + 2) return "lost after going on";
  return std::nullopt;
}

TEST(ManifestCrash, AtEveryOperationInEveryMode) {
  uint64_t points = 0, images = 0;
  for (uint64_t seed = 1; seed <= scaled(5); ++seed) {
    uint64_t last = UINT64_MAX;
    for (uint64_t k = 1; k <= last; ++k, ++points) {
      CrashFileSystem crash;
      crash.stop_at(k, (k * 53) % 200);
      const Outcome outcome = work(crash, seed);
      if (!crash.crashed()) last = crash.operations();
      for (const CrashMode mode : all_crash_modes()) {
        for (uint64_t image_seed = 1; image_seed <= 4; ++image_seed, ++images) {
          const auto wrong = fault_of(*crash.image(mode, k * 10 + image_seed), outcome);
          ASSERT_FALSE(wrong) << "seed " << seed << ", stopped at " << crash.operation_text(k) << ", "
                              << crash_mode_name(mode) << " " << k * 10 + image_seed << ": " << *wrong << "\n"
                              << crash.operation_texts();
        }
      }
    }
  }
  count(points, "crash points of the manifest alone");
  count(images, "crash images of the manifest alone");
}

// Every length at which the append under way may have ended.
TEST(ManifestCrash, WithAnyPartOfTheLastRecord) {
  uint64_t images = 0;
  for (uint64_t k = 1;; ++k) {
    CrashFileSystem crash;
    crash.stop_at(k, UINT64_MAX);
    const Outcome outcome = work(crash, 2);
    for (uint64_t bytes = 0; bytes <= crash.last_append_bytes(); ++bytes, ++images) {
      const auto wrong =
          fault_of(*crash.image({.mode = CrashMode::kKeepAll, .last_append_bytes = bytes}), outcome);
      // Bytes that were synced before the crash cannot be missing; only an append under way may be cut.
      if (crash.operation_text(k).find("append") == std::string::npos) break;
      ASSERT_FALSE(wrong) << crash.operation_text(k) << " cut to " << bytes << ": " << *wrong;
    }
    if (!crash.crashed()) break;
  }
  count(images, "crash images of the manifest alone");
}

bool noticed(uint64_t workload, FileOperations on, uint64_t nth) {
  for (uint64_t k = 1;; ++k) {
    CrashFileSystem crash;
    FaultFileSystem fault(crash);
    fault.swallow(on, "*", nth);
    crash.stop_at(k);
    const Outcome outcome = work(fault, workload);
    if (fault.struck() == 0) continue;
    for (const CrashMode mode :
         {CrashMode::kLoseUnsynced, CrashMode::kRandomUnsynced, CrashMode::kRandomEntries}) {
      for (uint64_t seed = 1; seed <= 12; ++seed) {
        if (fault_of(*crash.image(mode, seed), outcome)) return true;
      }
    }
    if (!crash.crashed()) return false;
  }
}

TEST(ManifestCrashProof, EverySyncMatters) {
  const FileOperations syncs = {FileOperation::kSync, FileOperation::kDirectorySync};
  std::vector<std::string> all;
  {
    CrashFileSystem crash;
    FaultFileSystem fault(crash);
    work(fault, 1);
    std::istringstream text(fault.log(syncs));
    for (std::string line; std::getline(text, line);) all.push_back(line);
  }
  uint64_t left_out = 0;
  for (uint64_t nth = 1; nth <= all.size(); nth += sweep_step(), ++left_out) {
    EXPECT_TRUE(noticed(1, syncs, nth))
        << "call " << nth << ", \"" << all[nth - 1] << "\", can be left out and no crash shows it";
  }
  count(left_out, "syncs of the manifest, each missed by some crash");
}

}  // namespace
}  // namespace cellar::testing
