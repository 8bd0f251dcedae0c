// Workload: runs a course of a store's life, for stopping or failing it at every operation, and checks what
// is found afterwards.
//
// Each write puts cells of its own, so that what is found tells exactly which writes are there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cellar/cellar.h"
#include "tests/sim/courses.h"
#include "tests/support/crash_file_system.h"

namespace cellar::testing {

enum class Fate : uint8_t {
  kNotTried,
  kFailed,   // refused or unknown: it may be there, whole
  kVisible,  // acknowledged without the log
  kKilled,   // acknowledged: there after the end of the process
  kDurable,  // there after power loss
};

struct TriedWrite {
  uint64_t id = 0;
  uint64_t deletes = 0;                 // the write whose row this one deletes, 0 for none
  bool unlogged = false;                // in no order with the others after a crash
  std::vector<std::string> cells = {};  // "table/family/row"
  Fate fate = Fate::kNotTried;
};

// How an engine took writes again after a fault was over.
enum class Resumed : uint8_t { kNotAsked, kByItself, kByResume, kNot };

struct Outcome {
  bool made = false;         // tables t and u exist, durably
  uint32_t versions = 1000;  // of family b, as altered; 0: unknown
  bool added = false;        // family z exists
  // Each of these is true if the thing exists, false if it does not, and nothing while that is unknown.
  std::optional<bool> extra = {};           // table x
  std::optional<bool> altered = {};         // the alteration of table x
  std::optional<bool> rows = {};            // the row of table x
  std::optional<bool> snapshot = {};        // snapshot s, of table x
  std::optional<bool> kept = {};            // the row in the snapshot
  std::optional<bool> kept_altered = {};    // the alteration in the snapshot
  std::optional<bool> clone = {};           // table y, a clone of the snapshot
  std::optional<bool> cloned = {};          // the row of table y
  std::optional<bool> cloned_altered = {};  // the alteration in table y
  std::optional<bool> copied = {};          // a checkpoint of the store
  std::optional<bool> feed = {};            // the feed of all tables
  std::optional<bool> small_feed = {};      // the feed with a limit
  bool small_feed_refused = false;          // reading that feed was refused, because it had lost its log
  uint64_t flushes = 0;                     // that the engine had done by the end, since it was opened
  uint64_t parts = 1;                       // most parts of a compaction of the last course
  Resumed resumed = Resumed::kNotAsked;
  std::vector<TriedWrite> writes;    // in commit order
  std::optional<std::string> wrong;  // a wrong answer while it ran
};

// The state before a course begins: a medium, all of it durable, and the writes to it.
struct Prepared {
  std::unique_ptr<CrashFileSystem> medium;
  Outcome outcome;

  // A medium of its own for one run of the course, operations counted from 1.
  std::unique_ptr<CrashFileSystem> copy() const {
    return medium->crash_image({.mode = CrashMode::kProcessKilled});
  }
};
Prepared prepare(const NamedCourse& course);

struct WorkloadOptions {
  bool go_on_after_failure = false;
  // Set: called at the end, before the engine is closed; then the engine must take writes again.
  std::function<void()> heal = {};
  uint64_t seed = 1;
};
// Runs the course over these files, in the directory "store", until its end or the first failure.
Outcome run_course(FileSystem& files, const NamedCourse& course, const Outcome& before,
                   const WorkloadOptions& options = {});

enum class Expected : uint8_t {
  kAnyFailed,  // acknowledged writes, and any of the failed ones
  kPrefix,     // the first writes up to one of them, not fewer than those of `least`
};
struct CheckOptions {
  Expected expected = Expected::kPrefix;
  Fate least = Fate::kDurable;  // writes with this fate or better must be there
  bool goes_on = true;          // also write, close and open it again
};
// Opens the store, compares, looks for orphans. Returns the fault, or nothing.
std::optional<std::string> check_store(FileSystem& files, const Outcome& outcome,
                                       const CheckOptions& options);

// Does the same, for going on with the store in another course. Afterwards `outcome` states for each write
// whether it is there for good (kDurable) or never (kNotTried). All other fields hold what was found.
std::optional<std::string> settle_store(FileSystem& files, Outcome& outcome, Fate least);

// Opens the store and closes it; errors do not matter.
void open_and_close(FileSystem& files);

}  // namespace cellar::testing
