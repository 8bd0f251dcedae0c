// Run: one group of workloads on one engine, in a process of its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bench/driver/meter.h"
#include "bench/driver/peer.h"
#include "bench/workload/data.h"
#include "bench/workload/histogram.h"
#include "bench/workload/workload.h"

namespace cellar::bench {

constexpr uint64_t kLargeCache = 1u << 30;  // holds all data
constexpr uint64_t kMediumCache = 32u << 20;
constexpr uint64_t kSmallCache = 8u << 20;  // holds nearly none

// Tells `perf record --control fifo:PATH` to record measured stretches only. Before any child is made.
void control_perf(const std::string& fifo);

// Sample: one measurement.
class Sample {
 public:
  // The measured stretch; may be interrupted and taken up again.
  void start();
  void stop();

  uint64_t ops = 0;
  Histogram times;  // of single operations
  Tally tally;      // what was read, to be compared between engines

  // A stretch of a long workload, for what it does over time.
  struct Window {
    double seconds = 0;
    uint64_t ops = 0;
    double longest_ms = 0;    // of a single operation
    uint64_t disk_bytes = 0;  // at its end
  };
  std::vector<Window> windows;
  uint64_t bytes_live = 0;  // on disk before the first window: of rows that were written once

  // Only of workloads that check what they read: for amplifications.
  struct Bytes {
    uint64_t put = 0;                        // of cells
    uint64_t returned = 0;                   // of cells
    uint64_t live = 0;                       // of cells, at the end
    uint64_t to_files = 0;                   // until all was flushed and no compaction was due
    std::optional<uint64_t> from_files = 0;  // during the stretch; not set: nobody can count them
    std::string counted_by;
  };
  std::optional<Bytes> bytes;
  std::string about;        // mix, skew and sizes
  double call_seconds = 0;  // in calls, the mean of the threads; 0: rates count the whole stretch
  bool by_time = false;     // ended by the clock: engines did different numbers of operations
  // Called when the background work of the stretch is done, before the sample is reported.
  std::function<void(Sample&)> after;

  const Cost& cost() const { return cost_; }
  bool running() const { return meter_.has_value(); }

 private:
  std::optional<Meter> meter_;
  Cost cost_;
};

enum class Step : uint8_t {
  kNeeded,  // later steps of the group stand on what it does: it is also run when only they are wanted
  kAlone,   // run only when wanted
};

// The state of one thread of a workload.
struct Worker {
  uint64_t index = 0;
  Session& session;
  Histogram& times;
  Tally& tally;
};

// Puts of one cell f:q0.
class OneCell {
 public:
  // A row to put; valid until the next call.
  RowIn row(uint64_t index, uint64_t version) {
    cell_ = {kFamily, kQualifier, values_.of(index, version)};
    return {key_.present(index).view(), {&cell_, 1}};
  }

 private:
  RowKey key_;
  ValueMaker values_;
  CellIn cell_;
};

// How much work a run does; options of the command line set it.
struct Amounts {
  uint64_t n = 2000000;     // rows
  uint64_t overwrites = 4;  // of each row, on average, by workloads that last
  WorkloadChanges changes = {};
};

class Run {
 public:
  using Emit = std::function<void(const std::string& workload, const std::string& unit, const Sample& sample,
                                  double settle_seconds)>;
  Run(Peer& peer, const Amounts& amounts, std::string path, std::set<std::string> wanted, Emit emit);

  Peer& peer() { return peer_; }
  uint64_t n() const { return amounts_.n; }
  uint64_t overwrites() const { return amounts_.overwrites; }
  const WorkloadChanges& changes() const { return amounts_.changes; }
  const std::string& path() const { return path_; }

  // Returns true if a requested workload has not run yet.
  bool more() const { return !wanted_.empty(); }
  // Returns true if this workload is requested.
  bool wants(std::string_view workload) const { return wanted_.contains(std::string(workload)); }

  // An empty store; what was open is gone.
  void fresh(std::vector<std::string> families, uint64_t cache_bytes = kLargeCache);
  // The same store with another cache, empty at first.
  void reopen(uint64_t cache_bytes);
  // Removes what is open.
  void remove();
  StoreOptions& options() { return options_; }

  // Runs a workload if it is wanted, or needed by what is. The body prepares, calls Sample::start(), works;
  // what it leaves running is stopped. Background work it caused is waited for, and timed apart.
  void step(const std::string& workload, Step kind, const std::string& unit,
            const std::function<void(Sample&)>& body);

  // `threads` workers at once, measured from their common start to the end of the last one.
  void work(Sample& sample, uint64_t threads, const std::function<void(Worker&)>& body);

  // Loads `rows` rows, which `Cells` makes, in key order without a log, in large batches, and flushes. For
  // groups that need a store but do not measure its loading. Version 0; `timestamp` as in Session::put.
  template <class Cells = OneCell>
  void load(uint64_t rows, int64_t timestamp = kClock);
  // Reads everything once, unmeasured, so that the cache is warm.
  void warm();

 private:
  Peer& peer_;
  const Amounts amounts_;
  std::string path_;
  std::set<std::string> wanted_;
  Emit emit_;
  StoreOptions options_;
};

template <class Cells>
void Run::load(uint64_t rows, int64_t timestamp) {
  constexpr uint64_t kBatch = 1000;
  const std::unique_ptr<Session> session = peer_.session();
  std::vector<Cells> cells(std::min(rows, kBatch));
  std::vector<RowIn> batch;
  for (uint64_t i = 0; i < rows; ++i) {
    batch.push_back(cells[batch.size()].row(i, 0));
    if (batch.size() < cells.size() && i + 1 < rows) continue;
    session->put_rows(batch, Keep::kNothing, timestamp);
    batch.clear();
  }
  peer_.flush();
  peer_.settle();
}

}  // namespace cellar::bench
