// RunSampler: the store of a run and its counters over time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "bench/workload/counted_files.h"
#include "cellar/engine.h"
#include "tools/experiment/run_record.h"

namespace cellar {

// Any thread may call add(); the rest is for one thread while no other one calls add().
class RunSampler {
 public:
  // All outlive the sampler. The counters of the engine and of `files` begin with the run.
  RunSampler(Engine& engine, Table& table, const bench::CountedFiles& files)
      : engine_(engine), table_(table), files_(files) {}

  // Begins a phase. It takes a sample each time that so many operations are done, or if `seconds` is above 0,
  // that so much time has passed.
  void begin(bool loading, uint64_t operations, double seconds);
  void add(uint64_t operations, uint64_t bytes_put);
  // Takes a sample now, as the last one of the phase. Its operations ended after so many seconds.
  void end(double seconds);
  // The state now; its counters are exact when the engine rests.
  RunSample sample() const;

  // Returns the samples in the order of their time.
  std::vector<RunSample> take();
  uint64_t operations() const { return operations_.load(); }
  double seconds() const;

 private:
  void keep(uint64_t operations, double seconds);

  Engine& engine_;
  Table& table_;
  const bench::CountedFiles& files_;
  bool loading_ = false;
  uint64_t each_operations_ = 0;
  double each_seconds_ = 0;
  std::chrono::steady_clock::time_point begun_;
  std::atomic<uint64_t> operations_{0};
  std::atomic<uint64_t> bytes_put_{0};
  std::atomic<uint64_t> steps_{0};  // of each_seconds_ that have a sample
  Mutex mutex_;
  std::vector<RunSample> samples_ CELLAR_GUARDED_BY(mutex_);
};

}  // namespace cellar
