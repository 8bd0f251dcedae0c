// Goal: whenever a store's machine or process stops, its acknowledged writes are there afterwards, whole and
// in order, and the store goes on. The same holds when it stops again while it recovers. Method: each course
// is stopped at each of its file operations. Images of the medium are made in every crash mode, and the last
// append is cut at many places. Each image is opened, compared, written to and opened again.
// CELLAR_TEST_SCALE above 1 cuts appends at every byte, and stops every recovery.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/workload.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

constexpr uint64_t kShards = 2;

struct Tally {
  uint64_t points = 0;
  uint64_t images = 0;
};

// Where an append of this many bytes is cut: every 16th byte and the last but one; longer ones at 16 places.
// Above scale 1: everywhere.
std::vector<uint64_t> cuts_of(uint64_t bytes) {
  std::vector<uint64_t> cuts;
  uint64_t step = bytes <= 512 ? 16 : bytes / 16;
  if (test_scale() < 1) step = bytes / 2;
  if (test_scale() > 1) step = bytes <= 8192 ? 1 : 61;
  for (uint64_t cut = 1; cut < bytes; cut += std::max<uint64_t>(step, 1)) cuts.push_back(cut);
  if (bytes > 2 && cuts.back() != bytes - 1) cuts.push_back(bytes - 1);
  return cuts;
}

class CrashSweep : public ::testing::TestWithParam<std::tuple<size_t, uint64_t>> {
 protected:
  const NamedCourse& course() const { return all_courses()[std::get<0>(GetParam())]; }
  uint64_t shard() const { return std::get<1>(GetParam()); }

  // The course, stopped at its k-th operation.
  Outcome run_until(CrashFileSystem& crash, uint64_t k) const {
    crash.stop_at(k, k * 37 % 90);
    Outcome outcome = run_course(crash, course(), prepared_.outcome);
    if (!crash.crashed()) crash.crash();
    return outcome;
  }

  uint64_t operations_of_course() const {
    const auto files = prepared_.copy();
    const Outcome outcome = run_course(*files, course(), prepared_.outcome);
    EXPECT_FALSE(outcome.wrong) << *outcome.wrong;
    for (const TriedWrite& write : outcome.writes) {
      const bool killed = write.unlogged && write.id <= prepared_.outcome.writes.size();
      EXPECT_TRUE(killed || write.fate >= Fate::kVisible) << "write " << write.id;
    }
    return files->operations();
  }

  void check_image(const CrashFileSystem& crash, const Outcome& outcome, uint64_t k,
                   const ImageOptions& options, bool goes_on) {
    const auto image = crash.image(options);
    const Fate least = options.mode == CrashMode::kProcessKilled ? Fate::kKilled : Fate::kDurable;
    ++tally_.images;
    const auto wrong = check_store(*image, outcome, {Expected::kPrefix, least, goes_on});
    ASSERT_FALSE(wrong) << course().name << " stopped at " << crash.operation_text(k) << ", "
                        << crash_mode_name(options.mode) << " seed " << options.seed << " cut "
                        << (options.last_append_bytes ? std::to_string(*options.last_append_bytes) : "none")
                        << ": " << *wrong << "\n"
                        << crash.operation_texts();
  }

  void check_point(const CrashFileSystem& crash, const Outcome& outcome, uint64_t k) {
    const bool short_run = test_scale() < 1;
    for (const CrashMode mode : all_crash_modes()) {
      if (short_run && (k + static_cast<uint64_t>(mode)) % 4 != 0) continue;
      const bool random = mode != CrashMode::kLoseUnsynced && mode != CrashMode::kKeepAll;
      for (uint64_t seed = 0; seed < (random && !short_run ? 2 : 1); ++seed) {
        check_image(crash, outcome, k, {.mode = mode, .seed = k + 1000 * seed}, seed == 0);
        if (HasFatalFailure()) return;
      }
    }
    if (crash.operation_text(k).find(": append ") == std::string::npos) return;
    for (const uint64_t cut : cuts_of(crash.last_append_bytes())) {
      for (const CrashMode mode : {CrashMode::kProcessKilled, CrashMode::kKeepAll}) {
        check_image(crash, outcome, k, {.mode = mode, .seed = k, .last_append_bytes = cut}, cut == 1);
        if (HasFatalFailure()) return;
      }
    }
  }

  // The machine stops again at each operation of a recovery, in a short run at every fifth. The bytes that
  // the first crash left are durable by then.
  void check_recovery(const CrashFileSystem& crash, const Outcome& outcome, uint64_t k, CrashMode first) {
    const uint64_t step = test_scale() < kDailyScale ? 5 : 1;
    for (uint64_t again = 1;; again += step, ++tally_.points) {
      const auto recovering = crash.crash_image({.mode = first, .seed = k});
      recovering->stop_at(again, again * 53 % 90);
      open_and_close(*recovering);
      if (!recovering->crashed()) return;
      const Fate least = first == CrashMode::kProcessKilled ? Fate::kKilled : Fate::kDurable;
      const CrashMode random = again % 2 == 0 ? CrashMode::kRandomUnsynced : CrashMode::kPrefix;
      for (const CrashMode mode : {CrashMode::kLoseUnsynced, CrashMode::kProcessKilled, random}) {
        const auto image = recovering->image(mode, again);
        const auto wrong = check_store(*image, outcome, {Expected::kPrefix, least, again % 8 == 0});
        ASSERT_FALSE(wrong) << course().name << " stopped at " << crash.operation_text(k) << ", "
                            << crash_mode_name(first) << ", then at " << again << ", "
                            << crash_mode_name(mode) << ": " << *wrong << "\n"
                            << recovering->operation_texts();
        ++tally_.images;
      }
    }
  }

  const Prepared prepared_ = prepare(course());
  Tally tally_;
};
INSTANTIATE_TEST_SUITE_P(Courses, CrashSweep,
                         ::testing::Combine(::testing::Range(size_t{0}, all_courses().size()),
                                            ::testing::Range(uint64_t{0}, kShards)),
                         [](const auto& param) {
                           return std::string(all_courses()[std::get<0>(param.param)].name) + "_" +
                                  std::to_string(std::get<1>(param.param));
                         });

const NamedCourse& course_named(std::string_view name) {
  return *std::ranges::find(all_courses(), name, &NamedCourse::name);
}

TEST(CrashSweepCourses, TheSmallFeedLosesItsLogInTheCourse) {
  const NamedCourse& course = course_named("SmallFeed");
  const Prepared prepared = prepare(course);
  EXPECT_TRUE(run_course(*prepared.copy(), course, prepared.outcome).small_feed_refused);
}

TEST(CrashSweepCourses, LevelsAreCompactedInParts) {
  const NamedCourse& course = course_named("LevelsInParts");
  const Prepared prepared = prepare(course);
  EXPECT_EQ(run_course(*prepared.copy(), course, prepared.outcome).parts, 3u);
}

TEST(CrashSweepCourses, TheScatteredLogIsGatheredInTheCourse) {
  const Prepared prepared = prepare(course_named("ScatteredLog"));
  const auto segments = [&] {
    return prepared.medium->open_directory("store/wal", false).value()->list().value().size();
  };
  EXPECT_EQ(segments(), kScatteredSegments);
  open_and_close(*prepared.medium);
  EXPECT_LT(segments(), 4u) << "opening it does not gather the log";
}

// How many flushes the engine begins by itself in the first `steps` steps of a course.
uint64_t flushes_in(const NamedCourse& course, size_t steps) {
  NamedCourse beginning = course;
  beginning.course.resize(steps);
  const Prepared prepared = prepare(course);
  return run_course(*prepared.copy(), beginning, prepared.outcome).flushes;
}

// No memtable is full by then: the limit of all memtables is reached.
TEST(CrashSweepCourses, TheMemoryRunsShortInTheAutomaticCourse) {
  const NamedCourse& course = course_named("Automatic");
  const auto wait = std::ranges::find(course.course, CourseStep::Kind::kWait, &CourseStep::kind);
  const auto steps = static_cast<size_t>(wait - course.course.begin());
  EXPECT_EQ(flushes_in(course, steps - 2), 0u);
  EXPECT_EQ(flushes_in(course, steps + 1), 1u) << "of the largest memtable";
}

TEST_P(CrashSweep, AtEveryOperationInEveryMode) {
  const uint64_t last = operations_of_course();
  // A short run looks at each point in a quarter of the modes.
  const uint64_t step = std::max<uint64_t>(1, sweep_step() / 4);
  for (uint64_t k = 1 + shard(); k <= last + 1; k += kShards * step, ++tally_.points) {
    const auto crash = prepared_.copy();
    const Outcome outcome = run_until(*crash, k);
    check_point(*crash, outcome, std::min(k, crash->operations()));
    if (HasFatalFailure()) break;
  }
  count(tally_.points, "crash points");
  count(tally_.images, "crash images opened and compared");
}

TEST_P(CrashSweep, AgainInTheRecovery) {
  const uint64_t last = operations_of_course();
  const uint64_t step = test_scale() > 1 ? 1 : 17 * std::max<uint64_t>(1, 3 * sweep_step() / 4);
  for (uint64_t k = last - shard() * step / kShards; k > 0 && k <= last; k -= step) {
    const auto crash = prepared_.copy();
    const Outcome outcome = run_until(*crash, k);
    check_recovery(*crash, outcome, k, all_crash_modes()[k / step % all_crash_modes().size()]);
    if (HasFatalFailure()) break;
  }
  count(tally_.points, "crash points in recoveries");
  count(tally_.images, "crash images opened and compared");
}

}  // namespace
}  // namespace cellar::testing
