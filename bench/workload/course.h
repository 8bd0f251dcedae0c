// Course: a workload on its way: what the store must hold at any moment, and the clients that change and
// check it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "bench/workload/histogram.h"
#include "bench/workload/session.h"
#include "bench/workload/workload.h"
#include "cellar/status.h"

namespace cellar::bench {

constexpr uint64_t kTimestampBytes = 8;

// Returns the bytes of the cells: row, family, qualifier, timestamp and value of each. All amplifications are
// multiples of such bytes, the same for every engine.
uint64_t bytes_of_cells(const Tally& tally);

// Work: what one client did. The times are those of the calls of the session alone. Choosing and checking are
// not timed.
struct Work {
  uint64_t ops = 0;
  Histogram times;
  double seconds = 0;      // in calls
  Tally read;              // cells that depend on the workload alone: engines must agree on them
  Tally read_meanwhile;    // cells of scans that met writes of other threads
  uint64_t bytes_put = 0;  // of cells, delete markers included
};

// Client: one thread of a workload. Its thread alone may use it, and its session.
class Client {
 public:
  virtual ~Client() = default;
  // Does the next operation and compares what it read with what was written. Error: kCorruption if the store
  // answered wrongly; kLimit if the workload has no room for a further row.
  virtual Status step() = 0;
  // Steps until so many operations are done, or if `seconds` is above 0, until they have passed. Returns the
  // first error.
  Status run(uint64_t ops, double seconds);
  const Work& work() const { return work_; }

 protected:
  // Calls `call` and keeps its time.
  template <class Call>
  void time(Call&& call) {
    const auto begun = std::chrono::steady_clock::now();
    call();
    const auto taken = std::chrono::steady_clock::now() - begun;
    work_.times.add(
        static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(taken).count()));
    work_.seconds += std::chrono::duration<double>(taken).count();
    ++work_.ops;
  }

  Work work_;
};

// Course: the state of one run of a workload. Every thread has its own rows, which it alone writes and reads;
// scans meet the rows of all threads. Each answer is therefore known before, whatever the engine's speed.
class Course {
 public:
  // Error: kInvalidArgument if the shape has no such operation.
  static Status fits(const Workload& workload);
  // `rows` are loaded, rounded up to a multiple of the threads. Errors: those of fits().
  static Result<std::unique_ptr<Course>> make(const Workload& workload, uint64_t rows);
  virtual ~Course() = default;

  const Workload& workload() const { return workload_; }
  // Writes the first rows in order, without a log, in batches. Gives the times of the batches. Call it once,
  // before the first client.
  Work load(Session& session);
  // The seconds after which cells expire; 0: never. Cells expire from the load on; set it after a flush.
  virtual int64_t time_to_live() const { return 0; }
  // Makes the client of a thread, 0 to threads - 1, once for each. The session and this course outlive it.
  virtual std::unique_ptr<Client> client(Session& session, uint64_t thread) = 0;
  // Reads all rows and compares them with those that the store must hold. No client may run. `live` counts
  // them. Error: kCorruption.
  Status check(Session& session, Tally& live) const;

 protected:
  explicit Course(const Workload& workload) : workload_(workload) {}
  virtual uint64_t loaded() const = 0;
  // The row, in its first version; valid until the next call with the same `slot`, 0 to kBatchRows - 1.
  virtual RowIn load_row(uint64_t index, uint64_t slot, int64_t& timestamp) = 0;
  virtual void load_done() {}  // frees what load_row() needed
  // Rows, cells and sum of all that is alive.
  virtual Tally expected() const = 0;

  static constexpr uint64_t kBatchRows = 1000;
  const Workload workload_;
};

std::unique_ptr<Course> make_row_course(const Workload& workload, uint64_t rows);
std::unique_ptr<Course> make_series_course(const Workload& workload, uint64_t rows);

}  // namespace cellar::bench
