// Courses: stretches of a store's life, each about one thing, as lists of steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cellar/ingest.h"
#include "cellar/options.h"

namespace cellar::testing {

struct CourseStep {
  enum class Kind : uint8_t {
    kOpen,  // and make the tables t (families a, b, c) and u (family d)
    kClose,
    kPut,            // one cell at each of `places`, and one in a row that many puts share
    kErase,          // the row of an earlier write
    kFlush,          // all tables
    kFlushTable,     // table t
    kCompact,        // table t, what the policy picks
    kCompactMajor,   // table t
    kAlter,          // family b of t
    kAddFamily,      // family z of t
    kMakeTable,      // table x, with families e and f
    kAlterTable,     // table x: family e, f removed, g added, options of the table, in one change
    kFlushTableX,    // with a row in it
    kDropTable,      // table x
    kTruncateTable,  // table x
    kSnapshot,       // of all tables, named s
    kRestoreTable,   // table x, from s
    kCloneTable,     // table x of s, as table y
    kDropSnapshot,   // s
    kCheckpoint,     // of all tables, into a directory of its own
    kStepClock,      // the wall clock, by clock_ms
    kWait,           // for flushes and compactions
    kAskWhatIsRefused,
    kMakeFeed,  // of all tables
    kReadFeed,  // to its end, which is acknowledged
    kDropFeed,
    kMakeSmallFeed,  // of a part of table t and of table u, with a limit that two segments of log reach
    kReadSmallFeed,  // as the other one; refused once the feed is lost
    kDropSmallFeed,
    kIngest,                // one foreign file for each of `places`, with the cells of a put
    kLoseEmptyDirectories,  // of a closed store, as by being copied by something that leaves them out
  };
  Kind kind = Kind::kOpen;
  Durability durability = Durability::kSyncWal;
  std::vector<std::string> places = {};  // "table/family"
  size_t bytes = 10;                     // of each value
  bool copy = false;                     // of an ingest, as in IngestRequest
  bool move = false;
  uint64_t id = 0;  // of the write that is erased, counted from 1
  int64_t clock_ms = 0;
};

struct NamedCourse {
  const char* name;
  std::vector<CourseStep>
      before;  // done once, undisturbed; then the process is killed unless the store is closed
  std::vector<CourseStep> course;       // stopped or disturbed at each of its file operations
  uint64_t memtable_bytes = 64u << 20;  // during the course
  bool automatic = false;  // flushes and compactions by themselves, and limits that are soon reached
  bool verify_new_files = false;
  std::string compaction = {};  // policy of the families of t and u; empty: exploring
  uint32_t parts = 1;           // of a compaction, however small it is
};
// The number of log segments with which the course "ScatteredLog" begins: one more than recovery leaves
// alone.
inline constexpr int kScatteredSegments = 33;

// All of them; "Life" is the longest and begins with nothing.
const std::vector<NamedCourse>& all_courses();

}  // namespace cellar::testing
