// The courses.
#include "tests/sim/courses.h"

#include <algorithm>
#include <iterator>

namespace cellar::testing {
namespace {

using Kind = CourseStep::Kind;
using Steps = std::vector<CourseStep>;

constexpr Durability kSkip = Durability::kSkipWal, kAsync = Durability::kAsyncWal,
                     kSync = Durability::kSyncWal, kFsync = Durability::kFsyncWal;
constexpr size_t kLarge = 30'000;  // bytes; three of them fill a segment of the log

CourseStep put(Durability durability, std::vector<std::string> places, size_t bytes = 10) {
  return {.kind = Kind::kPut, .durability = durability, .places = std::move(places), .bytes = bytes};
}
CourseStep erase(uint64_t id) { return {.kind = Kind::kErase, .id = id}; }
CourseStep ingest(std::vector<std::string> places, bool copy = false, bool move = false) {
  return {.kind = Kind::kIngest, .places = std::move(places), .copy = copy, .move = move};
}
CourseStep step(Kind kind) { return {.kind = kind}; }

const CourseStep kOpen = step(Kind::kOpen), kClose = step(Kind::kClose), kFlush = step(Kind::kFlush),
                 kFlushTable = step(Kind::kFlushTable), kCompact = step(Kind::kCompact),
                 kCompactMajor = step(Kind::kCompactMajor), kAlter = step(Kind::kAlter),
                 kAddFamily = step(Kind::kAddFamily), kMakeTable = step(Kind::kMakeTable),
                 kFlushTableX = step(Kind::kFlushTableX), kDropTable = step(Kind::kDropTable),
                 kLoseEmptyDirectories = step(Kind::kLoseEmptyDirectories),
                 kTruncateTable = step(Kind::kTruncateTable), kSnapshot = step(Kind::kSnapshot),
                 kRestoreTable = step(Kind::kRestoreTable), kCloneTable = step(Kind::kCloneTable),
                 kDropSnapshot = step(Kind::kDropSnapshot), kCheckpoint = step(Kind::kCheckpoint),
                 kMakeFeed = step(Kind::kMakeFeed), kReadFeed = step(Kind::kReadFeed),
                 kDropFeed = step(Kind::kDropFeed), kAlterTable = step(Kind::kAlterTable),
                 kWait = step(Kind::kWait), kAskWhatIsRefused = step(Kind::kAskWhatIsRefused),
                 kMakeSmallFeed = step(Kind::kMakeSmallFeed), kReadSmallFeed = step(Kind::kReadSmallFeed),
                 kDropSmallFeed = step(Kind::kDropSmallFeed);

// Some levels with several files: what is written first goes down without being merged.
Steps leveled() {
  Steps steps = {kOpen};
  for (int i = 0; i < 3; ++i) {
    steps.push_back(put(kSync, {"t/a", "t/b"}, kLarge / 10));
    steps.push_back(put(kSync, {"t/a", "t/b", "t/c"}, kLarge / 10));
    steps.push_back(kFlushTable);
    steps.push_back(kCompact);
  }
  steps.push_back(kClose);
  return steps;
}

Steps life() {
  return {kOpen,
          put(kAsync, {"t/a"}),
          put(kSync, {"t/b", "t/c"}),
          put(kFsync, {"t/a", "t/b", "t/c"}),
          put(kSync, {"t/c"}),
          put(kSync, {"t/a", "u/d"}),
          put(kSkip, {"t/c", "t/b"}),
          put(kFsync, {"u/d", "t/b", "t/c"}),
          kFlush,
          put(kAsync, {"t/b"}, kLarge),
          put(kSync, {"t/c"}, kLarge),
          put(kFsync, {"u/d"}, kLarge),
          put(kSync, {"t/a", "t/b"}, kLarge),
          erase(2),
          kFlush,
          put(kAsync, {"t/a", "t/c"}),
          put(kSync, {"t/b", "u/d"}),
          kCompact,
          kFlush,
          put(kSync, {"t/a"}),
          erase(3),
          kFlushTable,
          kCompactMajor,
          put(kSync, {"t/a", "t/b"}),
          kAlter,
          kMakeTable,
          put(kFsync, {"t/a", "t/c"}),
          kDropTable,
          put(kAsync, {"t/c"}),
          put(kSync, {"t/b"}),
          kClose,
          kOpen,
          put(kSync, {"t/a", "u/d"}),
          put(kFsync, {"t/b", "t/c"}),
          put(kSkip, {"t/c"}),
          put(kSync, {"t/c"}),
          kClose,
          kOpen,
          put(kAsync, {"t/c"})};
}

// A store of three files in each family of t, one of u. The two younger ones are about as long as each other.
Steps three_files() {
  return {kOpen,  put(kSync, {"t/a", "t/b", "t/c", "u/d"}, 12'000),
          kFlush, put(kSync, {"t/a", "t/b", "t/c"}, 1000),
          kFlush, put(kSync, {"t/a", "t/b", "t/c"}, 900),
          kFlush};
}

// Writes, and then so many openings and closings that the next recovery finds the log scattered over more
// small segments than it leaves alone. Each opening adds one.
Steps scattered() {
  Steps steps = {kOpen, put(kSync, {"t/a", "u/d"}), put(kAsync, {"t/b"}), kClose};
  for (int i = 1; i < kScatteredSegments; ++i) {
    steps.push_back(kOpen);
    steps.push_back(kClose);
  }
  return steps;
}

// Four families together reach the limit of all memtables, before one of their memtables is full. Each takes
// some 20 KB in addition to its values. Then table t is flushed by its own writes so often that the cell of
// table u alone holds back the log.
Steps automatic() {
  Steps steps = {kOpen,
                 put(kAsync, {"t/a"}, 15'000),
                 put(kSync, {"t/b"}, 15'000),
                 put(kAsync, {"t/c"}, 15'000),
                 put(kSync, {"u/d"}, 15'000),
                 put(kAsync, {"t/a", "t/b", "t/c", "u/d"}, 2'500),
                 put(kAsync, {"u/d"}),
                 kWait,
                 put(kSync, {"u/d"})};
  for (int i = 0; i < 10; ++i) steps.push_back(put(i % 2 == 0 ? kAsync : kSync, {"t/a"}, 2 * kLarge));
  steps.push_back(kWait);
  return steps;
}

Steps with(Steps steps, const Steps& more) {
  steps.insert(steps.end(), more.begin(), more.end());
  return steps;
}

std::vector<NamedCourse> courses_of_tables_and_feeds() {
  return {
      {"Snapshots",
       with(three_files(), {kMakeTable, kFlushTableX, kClose}),
       {kOpen, put(kSync, {"t/a", "t/b"}), kSnapshot, put(kFsync, {"t/a"}), kTruncateTable, kRestoreTable,
        put(kSync, {"t/c"}), kCloneTable, kDropTable, kRestoreTable, kCheckpoint, kDropSnapshot,
        put(kSync, {"u/d"}), kClose}},
      {"Feeds",
       with(three_files(), {kMakeFeed, kClose}),
       {kOpen, put(kSync, {"t/a"}, kLarge), put(kSync, {"t/b", "u/d"}, kLarge), put(kAsync, {"t/c"}, kLarge),
        kFlush, kReadFeed, put(kFsync, {"t/a"}, kLarge), kFlush, kReadFeed, kDropFeed, kMakeFeed,
        put(kSync, {"t/b"}), kClose, kOpen, kReadFeed, kClose}},
      {"SmallFeed",
       with(three_files(), {kClose}),
       {kOpen, kMakeSmallFeed, put(kSync, {"t/a"}), kFlush, kReadSmallFeed, put(kSync, {"t/a"}, kLarge),
        put(kAsync, {"t/b"}, kLarge), put(kSync, {"u/d"}, kLarge), put(kAsync, {"t/a"}, kLarge),
        put(kSync, {"t/c"}, kLarge), kFlush, kReadSmallFeed, kAskWhatIsRefused, kClose, kOpen, kReadSmallFeed,
        kDropSmallFeed, put(kSync, {"t/a"})}},
      {"Alter",
       with(three_files(), {kMakeTable, kFlushTableX, kClose}),
       {kOpen, kSnapshot, kAlterTable, kAskWhatIsRefused, put(kSync, {"t/a"}), kFlush, kClose, kOpen,
        kCloneTable, kRestoreTable, put(kFsync, {"u/d"}), kAlterTable, kFlush, kClose, kOpen}},
  };
}

// Returns writes and compactions for policies that make runs of several files.
Steps compactions() {
  return {kOpen,
          put(kSync, {"t/a", "t/b"}, kLarge),
          put(kAsync, {"t/a"}),
          erase(2),
          kFlushTable,
          kCompact,
          put(kFsync, {"t/a", "t/c"}),
          kFlushTable,
          kCompact,
          kClose,
          kOpen,
          kCompactMajor};
}

std::vector<NamedCourse> courses_of_files() {
  return {
      {"Life", {}, life()},
      {"Create", {}, {kOpen, put(kSync, {"t/a", "u/d"}), put(kFsync, {"t/b"}), kFlush, kClose}},
      {"LogRolls",
       {kOpen, kClose},
       {kOpen, put(kAsync, {"t/a"}, kLarge), put(kSync, {"t/b"}, kLarge), put(kAsync, {"t/c"}, kLarge),
        put(kSync, {"t/a", "t/b"}, kLarge), put(kFsync, {"u/d"}), put(kAsync, {"t/c", "u/d"}, kLarge),
        put(kSync, {"t/a"}, kLarge), put(kFsync, {"t/b"}, kLarge)}},
      {"Flush",
       {kOpen, put(kAsync, {"t/a", "t/b", "t/c"}), put(kSync, {"t/b", "u/d"}, kLarge)},
       {kOpen, put(kAsync, {"t/a", "t/b", "t/c"}), put(kSkip, {"t/a"}), put(kSync, {"t/c"}), kFlushTable,
        put(kSync, {"t/a"})}},
      {"Compact",
       with(three_files(), {kClose}),
       {kOpen, put(kSync, {"t/a"}), kCompact, put(kFsync, {"t/b"})}},
      {"CompactMajor",
       with(three_files(), {erase(1), kFlushTable, kClose}),
       {kOpen, put(kSync, {"t/a", "t/c"}), erase(2), kFlushTable, kCompactMajor, put(kSync, {"t/a"}),
        kClose}},
      {"Levels", leveled(), compactions(), 64u << 20, false, false,
       "leveled(fanout=2, base_bytes=4k, file_bytes=1k, runs_min=2)"},
      {"LevelsInParts", leveled(), compactions(), 64u << 20, false, false,
       "leveled(fanout=2, base_bytes=4k, file_bytes=1k, runs_min=2)", 3},
      {"Stripes", leveled(), compactions(), 64u << 20, false, false,
       "stripe(stripes=2, split_bytes=2k, level0_files_min=2, files_min=2)"},
      {"ManifestSwitch",
       with(three_files(), {kClose}),
       {kOpen, kClose, kOpen, put(kFsync, {"t/a"}), kFlushTable, put(kAsync, {"t/b"}), kClose, kOpen}},
      {"Recovery",
       {kOpen, put(kAsync, {"t/a"}, kLarge), put(kSync, {"t/b", "t/c"}, kLarge), put(kAsync, {"t/b"}, kLarge),
        erase(1), put(kSync, {"t/a", "u/d"}, kLarge), put(kFsync, {"t/a", "t/b"}, kLarge)},
       {kOpen, put(kSync, {"t/a"}), kClose, kOpen},
       40'000},
      {"Schema",
       with(three_files(), {kClose}),
       {kOpen, kAlter, put(kSync, {"t/b"}), kAddFamily, put(kSync, {"t/z", "t/a"}), kFlushTable, kMakeTable,
        kFlushTableX, put(kFsync, {"t/a"}), kDropTable, put(kSync, {"t/b", "u/d"}), kMakeTable, kClose, kOpen,
        kDropTable}},
      {"Ingest",
       with(three_files(), {kClose}),
       {kOpen, put(kAsync, {"t/c"}), ingest({"t/a", "t/b"}), put(kSync, {"t/a", "t/b"}), ingest({"t/a"}),
        put(kAsync, {"t/b"}), ingest({"u/d"}, true), kCompactMajor, put(kFsync, {"t/a"}),
        ingest({"t/a"}, false, true), kClose}},
      {"ScatteredLog", scattered(), {kOpen, put(kSync, {"t/a", "t/c"}), kClose, kOpen, kClose}},
      {"OpenAndClose",
       {kOpen, put(kSync, {"t/a", "u/d"}), kClose},
       {kOpen, kClose, kOpen, kClose, kOpen, put(kAsync, {"t/a"}), kClose, kOpen}},
      {"Automatic",
       {kOpen, put(kSync, {"t/a", "t/b", "t/c", "u/d"}), kClose},
       automatic(),
       40'000,
       true,
       true},
      {"Copied",
       {kOpen, kClose, kLoseEmptyDirectories},
       {kOpen, put(kSync, {"t/a", "u/d"}), kFlush, put(kSync, {"t/b"}), kFlushTable, kClose}},
  };
}

}  // namespace

const std::vector<NamedCourse>& all_courses() {
  static const std::vector<NamedCourse> kCourses = [] {
    std::vector<NamedCourse> all = courses_of_files();
    std::ranges::move(courses_of_tables_and_feeds(), std::back_inserter(all));
    return all;
  }();
  return kCourses;
}

}  // namespace cellar::testing
