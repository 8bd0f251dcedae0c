// Goal: after a crash at any operation, the log gives back a prefix that holds all synced records, whole.
// Method: one workload with syncs, rolls and releases. A crash at each of its operations, in every mode and
// several seeds. The same runs with each sync swallowed in turn, which some crash must notice.
#include <gtest/gtest.h>

#include <cstdio>
#include <optional>
#include <set>
#include <sstream>

#include "base/random.h"
#include "engine/log/directory.h"
#include "engine/log/wal_writer.h"
#include "tests/engine/wal_support.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/manual_clock.h"
#include "tests/support/step_executor.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {

namespace {

// The facts that the log's writer knows when the machine stops. They are as in a manifest that is always
// durable.
struct LogOutcome {
  LogFacts facts{.identity = kTestIdentity};
  uint64_t attempted = 0;  // newest record that may be there
  uint64_t appended = 0;   // newest that append() acknowledged
  uint64_t synced = 0;     // newest that sync() acknowledged
  uint64_t flushed = 0;    // up to here nobody needs the log
};

struct Plan {
  uint64_t seed = 1;
  uint64_t records = 60;
  uint64_t sync_one_in = 4;
  bool release = true;
  bool close = true;
  bool busy = false;  // the executor never helps: each segment is made when it is needed, not before
};

LogOutcome work(FileSystem& files, const Plan& plan) {
  LogOutcome outcome;
  ManualClock clock;
  StepExecutor executor(plan.seed, clock);
  LazyExecutor lazy(executor);
  auto root = files.open_directory("store", true);
  if (!root.ok() || !(*root)->directory("wal", true).ok() || !(*root)->sync().ok()) return outcome;
  auto made = Wal::create(**root, plan.busy ? static_cast<Executor&>(lazy) : executor,
                          {.identity = kTestIdentity, .segment_bytes = 4096});
  if (!made.ok()) return outcome;
  Wal& wal = **made;
  Random random(plan.seed);
  for (uint64_t i = 1; i <= plan.records; ++i) {
    outcome.attempted = i;
    if (!wal.append(i, 1, payload_of(i, random.below(700))).ok()) return outcome;
    outcome.appended = i;
    if (random.one_in(plan.sync_one_in)) {
      if (!wal.sync().ok()) return outcome;
      outcome.synced = i;
    }
    if (plan.release && i % 20 == 0) {
      if (!wal.sync().ok()) return outcome;
      outcome.synced = i;
      outcome.flushed = i - 7;
      outcome.facts.synced = wal.synced();
      outcome.facts.first_segment = wal.needed_from(outcome.flushed);
      if (!wal.release_before(outcome.facts.first_segment).ok()) return outcome;
    }
    if (random.one_in(8)) executor.settle();
  }
  if (!plan.close) return outcome;
  const Result<LogPosition> end = wal.close_cleanly();
  if (!end.ok()) return outcome;
  outcome.synced = outcome.appended;
  outcome.facts.clean_close = *end;
  return outcome;
}

// Returns the fault of the state that a crash left, or nothing.
std::optional<std::string> fault_of(FileSystem& files, const LogOutcome& outcome, bool killed) {
  auto root = must_open(files, "store");
  Result<std::unique_ptr<Directory>> wal = root->directory("wal", false);
  ReadBack back;
  if (wal.ok()) {
    back = read_back(**wal, outcome.facts);
    if (!back.status.ok()) return back.status.to_text();
  }
  const uint64_t last = back.sequences.empty() ? outcome.flushed : back.sequences.back();
  const uint64_t first = back.sequences.empty() ? last + 1 : back.sequences.front();
  std::ostringstream text;
  text << "records " << first << "…" << last << ", synced " << outcome.synced << ", appended "
       << outcome.appended;
  if (!is_run(back.sequences, first, last)) return "a hole: " + text.str();
  if (first > outcome.flushed + 1) return "the beginning is missing: " + text.str();
  if (std::max(last, outcome.flushed) < (killed ? outcome.appended : outcome.synced))
    return "lost: " + text.str();
  if (last > outcome.attempted) return "from nowhere: " + text.str();
  if (outcome.facts.clean_close.segment != 0 && !back.summary.clean) return "not clean: " + text.str();
  if (!wal.ok()) return std::nullopt;

  // A recovery that does not get as far as the manifest changes nothing; one that does goes on.
  ManualClock clock;
  StepExecutor executor(1, clock);
  WalOptions options{.identity = kTestIdentity, .segment_bytes = 4096};
  options.first_segment = back.summary.next_segment;
  options.first_lsn = back.summary.end.lsn;
  options.last_sequence = last;
  auto made = Wal::create(*root, executor, options);
  if (!made.ok()) return "no new log: " + made.status().to_text();
  executor.settle();
  const ReadBack again = read_back(**wal, outcome.facts);
  if (!again.status.ok() || again.sequences != back.sequences)
    return "changed by a recovery: " + again.status.to_text();
  for (uint64_t i = last + 1; i <= last + 12; ++i) {
    if (!(*made)->append(i, 1, payload_of(i, 600)).ok()) return "the new log does not append";
  }
  LogFacts facts{.identity = kTestIdentity, .first_segment = options.first_segment};
  facts.clean_close = (*made)->close_cleanly().value_or({});
  const ReadBack anew = read_back(**wal, facts);
  if (!anew.status.ok() || !is_run(anew.sequences, last + 1, last + 12))
    return "the new log: " + anew.status.to_text();
  return std::nullopt;
}

class PlainFiles {
 public:
  // Lets the first creation of a segment find that mapping is not supported.
  static void apply(FaultFileSystem& fault) {
    fault.inject({.on = FileOperation::kCreate, .name = "*.log", .nth = 1, .code = Code::kNotSupported});
  }
};

class WalCrash : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(MappedAndPlain, WalCrash, ::testing::Bool(),
                         [](const auto& param) { return param.param ? "Mapped" : "Plain"; });

TEST_P(WalCrash, AtEveryOperationInEveryMode) {
  uint64_t images = 0, operations = 0;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const Plan plan{.seed = seed, .release = seed % 2 == 1};
    uint64_t last = UINT64_MAX;
    for (uint64_t k = 1; k <= last; k += sweep_step()) {
      CrashFileSystem crash;
      FaultFileSystem fault(crash);
      if (!GetParam()) PlainFiles::apply(fault);
      crash.stop_at(k, (k * 37) % 90);
      const LogOutcome outcome = work(fault, plan);
      if (!crash.crashed()) last = crash.operations();
      for (const CrashMode mode : all_crash_modes()) {
        for (uint64_t image_seed = 1; image_seed <= 3; ++image_seed) {
          const auto image = crash.image(mode, k * 10 + image_seed);
          const auto wrong = fault_of(*image, outcome, mode == CrashMode::kProcessKilled);
          ASSERT_FALSE(wrong) << "seed " << seed << ", stopped at " << crash.operation_text(k) << ", "
                              << crash_mode_name(mode) << " " << k * 10 + image_seed << ": " << *wrong << "\n"
                              << crash.operation_texts();
          ++images;
          if (mode == CrashMode::kLoseUnsynced || mode == CrashMode::kKeepAll)
            break;  // the seed changes nothing
        }
      }
      ++operations;
    }
  }
  count(operations, "crash points of the log alone");
  count(images, "crash images of the log alone");
}

// Which calls an undisturbed run makes, one line each.
std::vector<std::string> calls_of(const Plan& plan, FileOperations on) {
  CrashFileSystem crash;
  FaultFileSystem fault(crash);
  work(fault, plan);
  std::vector<std::string> lines;
  std::istringstream text(fault.log(on));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// Returns true if some crash shows that the k-th call of `on` was swallowed.
bool noticed(const Plan& plan, FileOperations on, uint64_t nth) {
  constexpr std::pair<CrashMode, uint64_t> kImages[] = {{CrashMode::kLoseUnsynced, 1},
                                                        {CrashMode::kRandomUnsynced, 1},
                                                        {CrashMode::kRandomUnsynced, 2},
                                                        {CrashMode::kRandomEntries, 1}};
  for (uint64_t k = 1;; ++k) {
    CrashFileSystem crash;
    FaultFileSystem fault(crash);
    fault.swallow(on, "*", nth);
    crash.stop_at(k);
    const LogOutcome outcome = work(fault, plan);
    if (fault.struck() == 0) continue;  // not yet that far
    for (const auto& [mode, seed] : kImages) {
      if (fault_of(*crash.image(mode, seed), outcome, false)) return true;
    }
    if (!crash.crashed()) return false;
  }
}

// Each sync of the log matters to some crash. The executor is too busy to prepare segments ahead: otherwise
// the sync of one segment's name also covers the name before it.
TEST(WalCrashProof, EverySyncMatters) {
  const Plan plan{.seed = 3, .records = 45, .sync_one_in = 2, .release = false, .busy = true};
  const FileOperations syncs = {FileOperation::kSync, FileOperation::kDirectorySync};
  const std::vector<std::string> all = calls_of(plan, syncs);
  uint64_t needed = 0;
  for (uint64_t nth = 1; nth <= all.size(); ++nth) {
    const bool matters = noticed(plan, syncs, nth);
    EXPECT_TRUE(matters) << "call " << nth << ", \"" << all[nth - 1]
                         << "\", can be left out and no crash shows it";
    needed += matters ? 1 : 0;
  }
  std::printf("%zu syncs, %llu of them missed by some crash\n", all.size(),
              static_cast<unsigned long long>(needed));
  EXPECT_GT(needed, 15u);
}

}  // namespace
}  // namespace cellar::testing
