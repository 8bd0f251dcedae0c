// Goal: every place of the engine that syncs a file or directory is needed: left out, some crash shows it.
// Method: each course with its n-th sync swallowed is stopped at each operation from there on, until the
// store found is wrong. The target of the sync and the earlier operations on it identify a place: "wal after
// create". One sync may go unnoticed, because the course did not need its durability, or because the next one
// covers it. But no place may go unnoticed. If no single sync is missed, all of the place's in that course
// are left out together.
#include <gtest/gtest.h>

#include <iostream>
#include <map>

#include "tests/sim/workload.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

constexpr FileOperations kSyncs = {FileOperation::kSync, FileOperation::kDirectorySync};
constexpr uint64_t kSeeds = 10;  // of the images with any subset of the unsynced names

// "wal/0000000007.log" as "wal/#.log".
std::string kind_of(const std::string& name) {
  std::string kind;
  for (const char c :
       name.find('/', 7) == std::string::npos ? name : name.substr(0, name.rfind('/') + 1) + "#") {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) kind += c;
    if (digit && !kind.ends_with('#')) kind += '#';
  }
  return kind;
}

std::string parent_of(const std::string& name) {
  const size_t slash = name.rfind('/');
  return slash == std::string::npos ? "." : name.substr(0, slash);
}

// Returns the place of each sync of an undisturbed run.
std::vector<std::string> places_of(const NamedCourse& course, const Prepared& prepared) {
  const auto medium = prepared.copy();
  FaultFileSystem files(*medium);
  std::map<std::string, std::string> last;  // what was done to a file or directory since it was synced
  std::map<std::string, uint64_t> synced;
  std::vector<std::string> places;
  files.before_each([&](const FileCall& call) {
    if (kSyncs.has(call.operation)) {
      const bool directory = call.operation == FileOperation::kDirectorySync;
      const std::string again = !directory && synced[call.name]++ > 0 ? ", again" : "";
      places.push_back(kind_of(call.name) + " after " + std::exchange(last[call.name], "nothing") + again);
    } else if (call.operation == FileOperation::kAppend) {
      last[call.name] = "append";
    } else if (call.operation == FileOperation::kLink) {
      const std::string linked = call.detail.substr(std::string_view("-> ").size());
      last[linked] = "link";
      last[parent_of(linked)] = "link " + kind_of(linked);
    } else if (call.operation == FileOperation::kCreate || call.operation == FileOperation::kUnlink ||
               call.operation == FileOperation::kRename ||
               (call.operation == FileOperation::kDirectory && call.detail == "make" && call.name != ".")) {
      last[parent_of(call.name)] = std::string(operation_name(call.operation)) + " " + kind_of(call.name);
    }
  });
  run_course(files, course, prepared.outcome);
  return places;
}

struct Place {
  uint64_t syncs = 0;
  uint64_t swept = 0;
  uint64_t noticed = 0;
};

class SyncSweep : public ::testing::Test {
 protected:
  void sweep(const NamedCourse& course) {
    course_ = &course;
    prepared_ = prepare(course);
    const std::vector<std::string> places = places_of(course, prepared_);
    for (uint64_t nth = 1; nth <= places.size(); ++nth) {
      Place& place = places_[places[nth - 1]];
      ++place.syncs;
      if (place.noticed > 0 && test_scale() <= 1) continue;  // one is enough to prove the place
      ++place.swept;
      if (noticed({nth})) ++place.noticed;
    }
    std::map<std::string, std::vector<uint64_t>> together;
    for (uint64_t nth = 1; nth <= places.size(); ++nth)
      if (places_[places[nth - 1]].noticed == 0) together[places[nth - 1]].push_back(nth);
    for (const auto& [name, all] : together) {
      ++places_[name].swept;
      if (all.size() > 1 && noticed(all)) ++places_[name].noticed;
    }
  }

  // How many operations an undisturbed run does up to its n-th sync.
  uint64_t operation_of_sync(uint64_t nth) {
    const auto medium = prepared_.copy();
    FaultFileSystem files(*medium);
    uint64_t syncs = 0, operations = 0;
    files.before_each([&](const FileCall& call) {
      if (kSyncs.has(call.operation) && ++syncs == nth) operations = medium->operations();
    });
    run_course(files, *course_, prepared_.outcome);
    return std::max<uint64_t>(operations, 1);
  }

  bool shows(const CrashFileSystem& crash, const Outcome& outcome, CrashMode mode, uint64_t seed) {
    ++images_;
    return check_store(*crash.image(mode, seed), outcome, {Expected::kPrefix, Fate::kDurable, false})
        .has_value();
  }

  // Returns true if some crash shows that these syncs, in ascending order, were left out.
  bool noticed(const std::vector<uint64_t>& left_out) {
    for (uint64_t k = operation_of_sync(left_out.front());; ++k) {
      const auto crash = prepared_.copy();
      FaultFileSystem files(*crash);
      for (const uint64_t nth : left_out) files.swallow(kSyncs, "*", nth);
      crash->stop_at(k);
      const Outcome outcome = run_course(files, *course_, prepared_.outcome);
      if (files.struck() == 0) continue;
      if (shows(*crash, outcome, CrashMode::kLoseUnsynced, 1)) return true;
      for (uint64_t seed = 1; seed <= kSeeds; ++seed)
        if (shows(*crash, outcome, CrashMode::kRandomEntries, seed)) return true;
      if (!crash->crashed()) return false;
    }
  }

  const NamedCourse* course_ = nullptr;
  Prepared prepared_;
  std::map<std::string, Place> places_;
  uint64_t images_ = 0;
};

TEST_F(SyncSweep, NoPlaceCanBeLeftOut) {
  // The short form sweeps one course, in which some places have no crash that would show them.
  const bool all = test_scale() >= kDailyScale;
  for (const NamedCourse& course : all_courses()) {
    // Where jobs run side by side, a sync may be covered by another job's: what happened before it does not
    // tell what it is for. The other courses have the same calls.
    if (course.automatic) continue;
    if (all || course.name == std::string_view("Create")) sweep(course);
  }
  uint64_t syncs = 0, noticed = 0;
  for (const auto& [name, place] : places_) {
    std::cout << "  " << place.noticed << " of " << place.swept << " left out were missed  " << name << "\n";
    EXPECT_TRUE(place.noticed > 0 || !all)
        << "the sync of " << name << " can be left out and no crash shows it";
    syncs += place.syncs;
    noticed += place.noticed;
  }
  EXPECT_GT(noticed, places_.size() / 2);
  if (all) count(places_.size(), "places that sync, each missed by some crash when left out");
  std::cout << places_.size() << " places, " << syncs << " syncs; " << noticed << " missed by some crash; "
            << images_ << " images" << std::endl;
}

}  // namespace
}  // namespace cellar::testing
