// WritePace: two sums and a bucket.
#include "engine/store/write_pace.h"

#include <algorithm>

#include "base/assert.h"

namespace cellar {

double compaction_debt(uint64_t files, uint64_t files_slow, uint64_t files_stop) {
  const uint64_t begin = std::max<uint64_t>(2, files_slow / 2);
  if (files < begin) return 0;
  if (files >= files_stop) return 1;
  return static_cast<double>(files - begin + 1) / static_cast<double>(files_stop - begin + 1);
}

double backlog_debt(uint64_t newer, uint64_t inputs, uint64_t flush) {
  if (inputs == 0) return 0;
  const auto flushes = static_cast<double>(flush);
  const double begin = 4 * flushes;
  const double end = 0.2 * static_cast<double>(inputs) + 6 * flushes;
  CELLAR_ASSERT(end > begin);
  return std::clamp((static_cast<double>(newer) - begin) / (end - begin), 0.0, 1.0);
}

double policy_debt(uint64_t debt, uint64_t bytes, uint64_t flush) {
  if (debt == 0) return 0;
  const auto flushes = static_cast<double>(flush);
  const auto rest = static_cast<double>(bytes - std::min(debt, bytes));
  const double begin = 2 * flushes;
  const double end = 3 * flushes + 0.15 * rest;
  if (end <= begin) return 2;  // memtables of no bytes, and nothing but debt
  return std::clamp((static_cast<double>(debt) - begin) / (end - begin), 0.0, 2.0);
}

// One flush of a store runs at a time. Each flush halves the weight of all earlier ones.
void WritePace::flushed(uint64_t bytes, int64_t micros) {
  flushed_bytes_.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  flush_bytes_.store(flush_bytes_.load(std::memory_order_relaxed) / 2 + bytes, std::memory_order_relaxed);
  flush_us_.store(flush_us_.load(std::memory_order_relaxed) / 2 + micros, std::memory_order_relaxed);
}

void WritePace::debt_grew(int64_t bytes) { flushed_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

double WritePace::flush_rate(double filled) const {
  const auto bytes = static_cast<double>(flush_bytes_.load(std::memory_order_relaxed));
  const int64_t micros = flush_us_.load(std::memory_order_relaxed);
  const double rate =
      micros <= 0 || bytes <= 0 ? kUnknownBytesPerSecond : bytes * 1e6 / static_cast<double>(micros);
  CELLAR_ASSERT(rate > 0);
  return rate * (1.2 - std::clamp(filled, 0.0, 1.0));
}

void WritePace::compacted(int64_t micros) {
  if (compaction_us_.fetch_add(micros, std::memory_order_relaxed) + micros < kMemoryUs) return;
  compaction_us_.store(compaction_us_.load(std::memory_order_relaxed) / 2, std::memory_order_relaxed);
  flushed_bytes_.store(flushed_bytes_.load(std::memory_order_relaxed) / 2, std::memory_order_relaxed);
}

double WritePace::sustainable() const {
  const auto bytes = static_cast<double>(flushed_bytes_.load(std::memory_order_relaxed));
  const int64_t micros = compaction_us_.load(std::memory_order_relaxed);
  const bool unknown = micros <= 0 || flush_bytes_.load(std::memory_order_relaxed) == 0;
  if (unknown) return kUnknownBytesPerSecond;
  return std::max(kLeastBytesPerSecond, bytes * 1e6 / static_cast<double>(micros));
}

void WritePace::spend(uint64_t bytes, double bytes_per_second, int64_t now_us) {
  const auto cost = static_cast<int64_t>(static_cast<double>(bytes) * 1e6 / std::max(bytes_per_second, 1.0));
  const int64_t from = std::max(free_at_us_.load(std::memory_order_relaxed), now_us - kBurstUs);
  CELLAR_ASSERT(cost >= 0);
  free_at_us_.store(from + std::min(cost, kWaitUsMax), std::memory_order_relaxed);
}

int64_t WritePace::wait_us(int64_t now_us) const {
  const int64_t wait = free_at_us_.load(std::memory_order_relaxed) - now_us;
  return wait < kWaitUsMin ? 0 : std::min(wait, kWaitUsMax);
}

}  // namespace cellar
