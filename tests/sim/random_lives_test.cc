// Goal: whatever happens to a store in a life of several stretches, its acknowledged writes are there. Every
// cell was written, and deleted cells stay deleted. After a fault is over, the store takes writes again
// without being opened anew. Method: lives drawn from a seed. They consist of random steps under options so
// small that everything rolls. Each stretch is undisturbed, stopped at a file operation, or met by a fault at
// one, once or until it is healed. The clock steps by minutes to years. Then the process or the machine ends,
// perhaps again during the recovery.
#include <gtest/gtest.h>

#include "base/random.h"
#include "tests/sim/workload.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

using Kind = CourseStep::Kind;
constexpr uint64_t kLifeShards = 4;
constexpr int64_t kMinuteMs = 60'000, kYearMs = int64_t{365} * 86'400'000;

// LifeSteps of one stretch; it begins by opening the store.
class LifeSteps {
 public:
  explicit LifeSteps(Random& random) : random_(random) {}

  std::vector<CourseStep> draw(size_t writes) {
    std::vector<CourseStep> steps = {{.kind = Kind::kOpen}};
    for (uint64_t left = 6 + random_.below(14); left > 0; --left) {
      const uint64_t kind = random_.below(100);
      if (kind < 55) {
        steps.push_back(put());
        ++writes;
      } else if (kind < 60 && writes > 0) {
        steps.push_back({.kind = Kind::kErase, .id = 1 + random_.below(writes)});
        ++writes;
      } else if (kind < 63) {
        const uint64_t way = random_.below(3);
        steps.push_back({.kind = Kind::kIngest,
                         .places = {random_.one_in(2) ? "t/a" : "u/d"},
                         .copy = way == 1,
                         .move = way == 2});
        ++writes;
      } else if (kind < 68) {
        steps.push_back({.kind = Kind::kStepClock, .clock_ms = clock_step()});
      } else if (kind < 74) {
        steps.push_back({.kind = Kind::kClose});
        steps.push_back({.kind = Kind::kOpen});
      } else {
        steps.push_back({.kind = kOthers[random_.below(std::size(kOthers))]});
      }
    }
    return steps;
  }

 private:
  static constexpr Kind kOthers[] = {
      Kind::kFlush,         Kind::kFlushTable,    Kind::kFlush,         Kind::kCompact,
      Kind::kCompactMajor,  Kind::kAlter,         Kind::kAddFamily,     Kind::kMakeTable,
      Kind::kFlushTableX,   Kind::kDropTable,     Kind::kTruncateTable, Kind::kSnapshot,
      Kind::kCloneTable,    Kind::kRestoreTable,  Kind::kDropSnapshot,  Kind::kMakeFeed,
      Kind::kReadFeed,      Kind::kDropFeed,      Kind::kAlterTable,    Kind::kMakeSmallFeed,
      Kind::kReadSmallFeed, Kind::kDropSmallFeed, Kind::kWait,          Kind::kAskWhatIsRefused};

  CourseStep put() {
    static const std::vector<std::vector<std::string>> kPlaces = {
        {"t/a"}, {"t/b"}, {"t/c"}, {"u/d"}, {"t/a", "t/b"}, {"t/c", "u/d"}, {"t/a", "t/b", "t/c", "u/d"}};
    CourseStep step{.kind = Kind::kPut, .places = kPlaces[random_.below(kPlaces.size())]};
    // Sometimes half a segment of the log, to have it roll.
    step.bytes = random_.one_in(5) ? 30'000 : 1 + random_.below(2'000);
    step.durability = std::vector{Durability::kAsyncWal, Durability::kSyncWal, Durability::kSyncWal,
                                  Durability::kFsyncWal, Durability::kSkipWal}[random_.below(5)];
    return step;
  }
  int64_t clock_step() {
    const int64_t most = random_.one_in(2) ? 60 * kMinuteMs : 10 * kYearMs;
    const auto step = static_cast<int64_t>(random_.below(static_cast<uint64_t>(most)));
    return random_.one_in(2) ? step : -step;
  }

  Random& random_;
};

// Each policy with limits so small that a life meets them. Empty: that of the families of a workload.
const char* policy_of(uint64_t seed) {
  static constexpr const char* kPolicies[] = {
      "",
      "leveled(fanout=2, base_bytes=4k, file_bytes=1k, runs_min=2)",
      "tiered(runs=2, file_bytes=1k)",
      "leveled(fanout=2, base_bytes=2k, file_bytes=1k, runs_min=1, targets=fixed, pick=round_robin)",
      "lazy_leveled(runs=2, file_bytes=1k)",
      "leveled(fanout=2, base_bytes=2k, file_bytes=1k, pick=coldest, tombstones=0.2, tombstone_age=2s)",
      "unified(scaling=L2, base_bytes=1k, file_bytes=1k)",
      "stripe(stripes=2, split_bytes=2k, level0_files_min=2, files_min=2)",
      "tiered(runs=3, file_bytes=2k, space_max=50)",
      "ratio(files_min=2, files_max=3, tombstones=0.1)",
      "date_tiered(window=1s, incoming_files_min=2)",
      "fifo"};
  return kPolicies[seed % std::size(kPolicies)];
}

struct LifeTally {
  uint64_t lives = 0, kills = 0, power_cuts = 0, in_recoveries = 0, faults = 0, by_itself = 0, by_resume = 0,
           writes = 0;
};

class Life {
 public:
  Life(uint64_t seed, LifeTally& tally) : compaction_(policy_of(seed)), random_(seed), tally_(tally) {}

  std::optional<std::string> run() {
    ++tally_.lives;
    for (uint64_t left = 2 + random_.below(4); left > 0; --left)
      if (auto wrong = stretch()) return wrong;
    tally_.writes += known_.writes.size();
    return check_store(*medium_, known_, {Expected::kAnyFailed, Fate::kDurable});
  }

 private:
  std::optional<std::string> stretch() {
    NamedCourse course{"random", {}, LifeSteps(random_).draw(known_.writes.size())};
    course.memtable_bytes = uint64_t{4096} << random_.below(4);
    course.automatic = true;
    course.verify_new_files = random_.one_in(4);
    course.compaction = compaction_;
    if (random_.one_in(2)) course.parts = 3;
    FaultFileSystem files(*medium_);
    WorkloadOptions options{.go_on_after_failure = true, .seed = random_.next()};
    const uint64_t disturbance = random_.below(5);
    if (disturbance < 2) {
      const uint64_t k = medium_->operations() + 1 + random_.below(250);
      medium_->stop_at(k, random_.below(90));
    } else if (disturbance < 4) {
      inject(files, disturbance == 3);
      options.heal = [&files] { files.clear(); };
    }
    Outcome outcome = run_course(files, course, known_, options);
    if (outcome.wrong) return *outcome.wrong + "\n" + files.log();
    tally_.faults += files.struck() != 0 ? 1 : 0;
    if (files.struck() != 0 && outcome.resumed == Resumed::kByItself) ++tally_.by_itself;
    if (outcome.resumed == Resumed::kByResume) ++tally_.by_resume;
    known_ = std::move(outcome);
    return end(files);
  }

  void inject(FaultFileSystem& files, bool sticky) {
    static const FileOperations kOn[] = {kAllWrites,
                                         kAllReads,
                                         {FileOperation::kSync, FileOperation::kDirectorySync},
                                         {FileOperation::kCreate, FileOperation::kAppend},
                                         FileOperation::kAppend};
    static const Code kCodes[] = {Code::kIoError, Code::kNoSpace};
    files.inject({.on = kOn[random_.below(std::size(kOn))],
                  .nth = 1 + random_.below(300),
                  .sticky = sticky,
                  .code = kCodes[random_.below(2)]});
  }

  // The process ends, or the machine, perhaps once more during the recovery.
  std::optional<std::string> end(const FaultFileSystem& files) {
    Fate least = Fate::kKilled;
    CrashMode mode = CrashMode::kProcessKilled;
    if (random_.one_in(2)) {
      mode = power_loss_modes()[random_.below(power_loss_modes().size())];
      least = Fate::kDurable;
    }
    ++(mode == CrashMode::kProcessKilled ? tally_.kills : tally_.power_cuts);
    auto left = medium_->crash_image({.mode = mode, .seed = random_.next()});
    if (random_.one_in(3)) {
      left->stop_at(1 + random_.below(60), random_.below(90));
      open_and_close(*left);
      tally_.in_recoveries += left->crashed() ? 1 : 0;  // or it was over before
      left->crash();
      left = left->crash_image({.mode = mode, .seed = random_.next()});
    }
    medium_ = std::move(left);
    if (auto wrong = settle_store(*medium_, known_, least))
      return std::string(crash_mode_name(mode)) + ": " + *wrong + "\n" + files.log();
    known_.resumed = Resumed::kNotAsked;
    return std::nullopt;
  }

  const std::string compaction_;
  Random random_;
  LifeTally& tally_;
  std::unique_ptr<CrashFileSystem> medium_ = std::make_unique<CrashFileSystem>();
  Outcome known_;
};

class RandomLives : public ::testing::TestWithParam<uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Shards, RandomLives, ::testing::Range(uint64_t{0}, kLifeShards));

TEST_P(RandomLives, LoseNothingAndGoOn) {
  const uint64_t one = from_environment("CELLAR_SEED", 0);
  const uint64_t lives = one != 0 ? 1 : scaled(from_environment("CELLAR_LIVES", 5000)) / kLifeShards;
  const uint64_t first = one != 0 ? one : from_environment("CELLAR_FIRST_SEED", 1) + GetParam() * 1'000'000;
  LifeTally tally;
  for (uint64_t seed = first; seed < first + lives; ++seed) {
    const auto wrong = Life(seed, tally).run();
    ASSERT_FALSE(wrong) << "repeat: CELLAR_SEED=" << seed
                        << " cellar_tests_sim --gtest_filter=*RandomLives*/0\n"
                        << *wrong;
  }
  count(tally.lives, "random lives of a store");
  count(tally.kills, "ends of the process in random lives");
  count(tally.power_cuts, "power cuts in random lives");
  count(tally.in_recoveries, "crashes in recoveries of random lives");
  count(tally.faults, "faults in random lives");
  count(tally.by_itself, "of them after which writes were taken again at once");
  count(tally.by_resume, "of them after which writes were taken again by resume()");
  count(tally.writes, "writes in random lives");
}

}  // namespace
}  // namespace cellar::testing
