// Samples are taken by the thread whose operation is due.
#include "tools/experiment/run_sampler.h"

#include <algorithm>
#include <set>
#include <utility>

namespace cellar {

void RunSampler::begin(bool loading, uint64_t operations, double seconds) {
  loading_ = loading;
  each_operations_ = seconds > 0 ? 0 : std::max<uint64_t>(operations, 1);
  each_seconds_ = seconds;
  steps_ = 0;
  begun_ = std::chrono::steady_clock::now();
}

double RunSampler::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
}

void RunSampler::add(uint64_t operations, uint64_t bytes_put) {
  bytes_put_.fetch_add(bytes_put, std::memory_order_relaxed);
  const uint64_t before = operations_.fetch_add(operations);
  const uint64_t now = before + operations;
  if (each_operations_ != 0) {
    if (now / each_operations_ != before / each_operations_) keep(now, seconds());
    return;
  }
  const auto step = static_cast<uint64_t>(seconds() / each_seconds_);
  uint64_t last = steps_.load();
  if (step > last && steps_.compare_exchange_strong(last, step))
    keep(now, static_cast<double>(step) * each_seconds_);
}

void RunSampler::end(double seconds) {
  RunSample last = sample();
  last.seconds = seconds;
  MutexLock lock(mutex_);
  const bool same_moment =
      !samples_.empty() && samples_.back().loading == loading_ &&
      (samples_.back().operations == last.operations || samples_.back().seconds >= seconds);
  if (same_moment) samples_.pop_back();  // it was taken before the store came to rest
  samples_.push_back(last);
}

void RunSampler::keep(uint64_t operations, double seconds) {
  RunSample now = sample();
  now.operations = operations;
  now.seconds = seconds;
  MutexLock lock(mutex_);
  samples_.push_back(now);
}

RunSample RunSampler::sample() const {
  const EngineStatus status = engine_.status();
  RunSample now{.loading = loading_, .operations = operations_.load(), .seconds = seconds()};
  now.bytes_on_disk = status.store_bytes;
  now.files = status.store_files;
  now.bytes_put = bytes_put_.load();
  now.bytes_written = files_.bytes().written;
  now.bytes_flushed = status.bytes_flushed;
  now.bytes_compacted = status.bytes_compacted;
  now.stalls = status.stalls;
  now.stall_micros = status.stall_micros;
  for (const FamilyInfo& family : table_.info().families) {
    std::set<uint64_t> runs;
    for (const StoreFileInfo& file : family.files)
      if (file.run == 0 || runs.insert(file.run).second) ++now.sorted_runs;
  }
  return now;
}

std::vector<RunSample> RunSampler::take() {
  MutexLock lock(mutex_);
  std::ranges::stable_sort(samples_, [](const RunSample& a, const RunSample& b) {
    return std::pair(!a.loading, a.operations) < std::pair(!b.loading, b.operations);
  });
  return std::move(samples_);
}

}  // namespace cellar
