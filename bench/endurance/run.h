// Run: the store of an endurance run, what it must hold, and what its threads have done so far.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/random.h"
#include "bench/endurance/rows.h"
#include "bench/workload/histogram.h"

namespace cellar::bench::endurance {

struct RunPlan {
  std::string directory;  // of the store; it must not exist
  uint64_t rows = 0;
  uint32_t value_bytes = 1000;
  double seconds = 0;
  double rate = 0;  // operations a second of all writers; 0: as fast as they can
  uint32_t writers = 2;
  uint64_t seed = 1;
  int64_t event_ttl_s = 60;
  EngineOptions engine;
  FamilyOptions family;  // of the rows
};

// The kinds of operations, in the order of kOperationNames.
enum class Operation : uint8_t { kPut, kDelete, kPurge, kEvent, kIncrement, kGet, kScan };
constexpr std::array<std::string_view, 7> kOperationNames = {"put",       "delete", "purge", "event",
                                                             "increment", "get",    "scan"};

// Times: how often operations of each kind were done, and how long they took. Any thread.
class Times {
 public:
  using Each = std::array<Histogram, kOperationNames.size()>;
  void add(Operation operation, uint64_t nanoseconds) {
    const MutexLock lock(mutex_);
    times_[static_cast<size_t>(operation)].add(nanoseconds);
  }
  // Returns what was added since the last call.
  Each take() {
    const MutexLock lock(mutex_);
    return std::exchange(times_, Each{});
  }

 private:
  Mutex mutex_;
  Each times_ CELLAR_GUARDED_BY(mutex_);
};

// The public members belong to the threads of the run, which the comments name.
class Run {
 public:
  static constexpr uint64_t kCounters = 1000;
  static constexpr uint32_t kEventBytes = 200;

  // Creates the store with its tables, empty.
  static Result<std::unique_ptr<Run>> create(const RunPlan& plan);

  // Writes every row once, in order, in batches.
  Status load();
  // Closes the store and opens it again. No other thread may use the run.
  Status reopen();
  Status close();
  // Compares the whole store with what it must hold. No thread may write.
  Status check();

  // Any thread. A thread ends its work when it sees this.
  bool stopped() const { return stopped_.load(std::memory_order_acquire); }
  void stop() { stopped_.store(true, std::memory_order_release); }
  // Any thread: keeps the first error and stops the run.
  void fail(const Status& status);
  Status failure() const;

  const RunPlan plan;
  Rows rows;
  std::unique_ptr<Engine> engine;
  std::shared_ptr<Table> table, events, counters;
  std::vector<std::unique_ptr<Times>> times;   // of each writer
  std::atomic<uint64_t> incremented{0};        // the sum of all acknowledged increments
  std::vector<std::atomic<uint64_t>> waiting;  // events of each writer that have not expired yet
  std::atomic<uint64_t> whole_scans{0};        // of the reader
  std::atomic<uint64_t> rows_scanned{0};       // of the reader

 private:
  explicit Run(const RunPlan& run_plan);
  Status open(bool create);
  Status check_rows();

  std::atomic<bool> stopped_{false};
  mutable Mutex mutex_;
  Status failure_ CELLAR_GUARDED_BY(mutex_);
};

// Reads and changes the rows of one writer, at the rate of the plan, until the run is stopped.
Status write_for_long(Run& run, uint32_t writer);
// Scans the whole table again and again, so slowly that each scan outlives flushes and compactions.
Status scan_for_long(Run& run);

}  // namespace cellar::bench::endurance
