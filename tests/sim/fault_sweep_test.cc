// Goal: when a file operation fails, no answer is wrong, and nothing hangs or dies. No acknowledged write is
// missing after the store is opened again, on the same machine or after power loss. Method: each course runs
// with its k-th operation failing, for every k, once and from there on, with several errors. Then it is
// healed, opened, compared, written to and opened again.
#include <gtest/gtest.h>

#include "tests/sim/workload.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

struct FaultCase {
  const char* name;
  FileOperations on;
  Code code;
  bool sticky;
  std::optional<size_t> short_append = {};
};
const FaultCase kCases[] = {
    {"WriteFailsOnce", kAllWrites, Code::kIoError, false},
    {"WritesFail", kAllWrites, Code::kIoError, true},
    {"NoSpaceOnce", kAllWrites, Code::kNoSpace, false},
    {"NoSpace", kAllWrites, Code::kNoSpace, true},
    {"ReadFailsOnce", kAllReads, Code::kIoError, false},
    {"ReadsFail", kAllReads, Code::kIoError, true},
    {"SyncFailsOnce", {FileOperation::kSync, FileOperation::kDirectorySync}, Code::kIoError, false},
    {"SyncsFail", {FileOperation::kSync, FileOperation::kDirectorySync}, Code::kIoError, true},
    {"AppendIsShortOnce", FileOperation::kAppend, Code::kIoError, false, 7},
    {"AppendsAreShort", FileOperation::kAppend, Code::kNoSpace, true, 40},
};

class FaultSweep : public ::testing::TestWithParam<std::tuple<size_t, size_t>> {
 protected:
  const NamedCourse& course() const { return all_courses()[std::get<0>(GetParam())]; }
  const FaultCase& fault_case() const { return kCases[std::get<1>(GetParam())]; }
};
INSTANTIATE_TEST_SUITE_P(All, FaultSweep,
                         ::testing::Combine(::testing::Range(size_t{0}, all_courses().size()),
                                            ::testing::Range(size_t{0}, std::size(kCases))),
                         [](const auto& param) {
                           return std::string(all_courses()[std::get<0>(param.param)].name) + "_" +
                                  kCases[std::get<1>(param.param)].name;
                         });

TEST_P(FaultSweep, AtEveryOperation) {
  const FaultCase& each = fault_case();
  const Prepared prepared = prepare(course());
  // The long course fails at every third operation; the others, which hold all of its parts, at every one.
  uint64_t step = prepared.outcome.writes.empty() && course().course.size() > 20 ? 3 : 1;
  step = test_scale() > 1 ? 1 : step * sweep_step();
  uint64_t points = 0, by_itself = 0, by_resume = 0;
  for (uint64_t k = 1;; k += step, ++points) {
    const auto medium = prepared.copy();
    FaultFileSystem files(*medium);
    files.inject({.on = each.on,
                  .nth = k,
                  .sticky = each.sticky,
                  .code = each.code,
                  .short_append = each.short_append});
    const Outcome outcome =
        run_course(files, course(), prepared.outcome,
                   {.go_on_after_failure = true, .heal = [&] { files.clear(); }, .seed = k});
    if (files.struck() == 0) break;
    if (outcome.resumed == Resumed::kByItself) ++by_itself;
    if (outcome.resumed == Resumed::kByResume) ++by_resume;
    const auto lost_power = medium->image(CrashMode::kLoseUnsynced, k);
    const auto wrong_later = check_store(*lost_power, outcome, {Expected::kAnyFailed, Fate::kDurable, false});
    ASSERT_FALSE(wrong_later) << course().name << ", call " << k << ", after power loss: " << *wrong_later
                              << "\n"
                              << files.log();
    files.clear();
    const auto wrong = check_store(*medium, outcome, {Expected::kAnyFailed, Fate::kKilled});
    ASSERT_FALSE(wrong) << course().name << ", call " << k << ": " << *wrong << "\n" << files.log();
  }
  count(points, "failing file operations");
  count(by_itself, "faults after which an open engine took writes again by itself");
  count(by_resume, "faults after which an open engine took writes again by resume()");
}

}  // namespace
}  // namespace cellar::testing
