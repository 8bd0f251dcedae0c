// OperationMeter: stripes of counters, and their sum.
#include "engine/store/operation_meter.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <utility>

#include "platform/ticks.h"

namespace cellar {
namespace {

constexpr std::array<std::string_view, kMeteredKinds> kNames = {
    "get",    "exists", "get_many", "scan_open", "scan_batch", "put",   "delete",     "increment",
    "append", "mutate", "check",    "batch",     "commit",     "flush", "compaction", "log_sync"};

double seconds_of(double nanos) { return nanos / 1e9; }

// Returns the middle of the slot with the time of this rank, never more than `max`.
double quantile(const std::vector<uint64_t>& slots, uint64_t total, double max, double fraction) {
  const auto rank = static_cast<uint64_t>(fraction * static_cast<double>(total));
  uint64_t seen = 0;
  for (size_t i = 0; i < slots.size(); ++i) {
    seen += slots[i];
    if (seen > rank) return std::min(LatencyHistogram::middle(i), max);
  }
  return max;
}

// Spreads the bits of a number: the last step of splitmix64.
uint64_t mixed(uint64_t number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

}  // namespace

std::string_view metered_name(Metered what) {
  CELLAR_ASSERT(static_cast<size_t>(what) < kMeteredKinds);
  return kNames[static_cast<size_t>(what)];
}

Stopwatch::Stopwatch(Clock& clock, bool real_clock)
    : clock_(clock), has_ticks_(real_clock && cpu_ticks_are_steady()) {
  if (has_ticks_) begun_ = mark();
}

Stopwatch::Mark Stopwatch::mark() {
  constexpr uint64_t kNearTicks = 20'000;  // some microseconds
  constexpr int kAttempts = 10;
  CELLAR_ASSERT(has_ticks_);
  for (int i = 0; i < kAttempts; ++i) {
    const uint64_t before = cpu_ticks();
    const int64_t us = clock_.steady_us();
    const uint64_t after = cpu_ticks();
    if (after >= before && after - before < kNearTicks) return {before, us};
  }
  return {};
}

double Stopwatch::find_rate() {
  if (finding_.exchange(true, std::memory_order_acquire)) return 0;
  constexpr int64_t kLeastUs = 100'000;
  double rate = rate_.load(std::memory_order_relaxed);  // another thread may have been faster
  if (rate != 0) {
    finding_.store(false, std::memory_order_release);
    return rate;
  }
  if (begun_.us < 0 || clock_.steady_us() - begun_.us >= kLeastUs)
    if (const Mark now = mark(); now.us >= 0) rate = end_period(now);
  finding_.store(false, std::memory_order_release);
  return rate;
}

// The first rate that is known stays, so that equal times are always equal.
double Stopwatch::end_period(const Mark& now) {
  constexpr int64_t kMostUs = 1'000'000;
  CELLAR_ASSERT(now.us >= 0);
  const Mark begun = std::exchange(begun_, now);
  const int64_t passed_us = now.us - begun.us;
  const double before = std::exchange(rate_before_, 0);
  if (begun.us < 0 || passed_us <= 0 || passed_us > kMostUs || now.ticks <= begun.ticks) return 0;
  const double rate = static_cast<double>(passed_us) * 1000 / static_cast<double>(now.ticks - begun.ticks);
  rate_before_ = rate;
  if (std::abs(rate - before) > before * 0.001) return 0;
  rate_.store(rate, std::memory_order_relaxed);
  return rate;
}

Stopwatch::Start Stopwatch::start() {
  if (has_ticks_) {
    double rate = rate_.load(std::memory_order_relaxed);
    if (rate == 0) rate = find_rate();
    if (rate != 0) return {cpu_ticks(), rate};
  }
  return {static_cast<uint64_t>(clock_.steady_us()), 0};
}

// The counter of another processor may be a little less, and a clock may be set by hand: the time is then 0.
uint64_t Stopwatch::nanos_since(const Start& start) const {
  const uint64_t now = start.nanos_per_tick != 0 ? cpu_ticks() : static_cast<uint64_t>(clock_.steady_us());
  if (now <= start.at) return 0;
  const uint64_t passed = now - start.at;
  return start.nanos_per_tick == 0
             ? passed * 1000
             : static_cast<uint64_t>(static_cast<double>(passed) * start.nanos_per_tick);
}

OperationMeter::~OperationMeter() {
  for (const std::atomic<Stripe*>& each : stripes_) delete each.load(std::memory_order_acquire);
}

uint32_t OperationMeter::choose_shared_stripe() {
  constinit static std::atomic<uint32_t> threads{0};
  return kOwnStripes + threads.fetch_add(1, std::memory_order_relaxed) % (kStripes - kOwnStripes);
}

// Gives the thread a stripe that no running thread has, or a shared one. The next thread that gets the stripe
// sees all counts of the one before.
uint32_t OperationMeter::choose_stripe() {
  constinit static std::atomic<uint32_t> free{(uint32_t{1} << kOwnStripes) - 1};  // a bit for each
  uint32_t before = free.load(std::memory_order_relaxed);
  while (before != 0 &&
         !free.compare_exchange_weak(before, before & (before - 1), std::memory_order_acquire)) {
  }
  if (before == 0) return choose_shared_stripe();
  struct Owner {
    uint32_t stripe;
    ~Owner() {
      thread_.stripe = choose_shared_stripe();  // the thread may count once more
      free.fetch_or(uint32_t{1} << stripe, std::memory_order_release);
    }
  };
  thread_local const Owner owner{static_cast<uint32_t>(std::countr_zero(before))};
  return owner.stripe;
}

OperationMeter::Stripe& OperationMeter::make_stripe() {
  if (thread_.stripe == kStripes) thread_.stripe = choose_stripe();
  CELLAR_ASSERT(thread_.stripe < kStripes);
  std::atomic<Stripe*>& place = stripes_[thread_.stripe];
  if (Stripe* const made = place.load(std::memory_order_acquire); made != nullptr) return *made;
  auto made = std::make_unique<Stripe>();
  made->seed = mixed(cpu_ticks() + thread_.stripe);
  Stripe* there = nullptr;
  if (!place.compare_exchange_strong(there, made.get(), std::memory_order_acq_rel)) return *there;
  return *made.release();
}

void MeteredScope::begin() {
  CELLAR_ASSERT(meter_ != nullptr && !measured_);
  measured_ = meter_->claim(what_);
  if (measured_) start_ = meter_->start();
}

// Random gaps: a caller whose calls have a rhythm is measured at all of its beats.
bool OperationMeter::claim(Metered what) {
  if (!is_sampled(what)) return true;
  Stripe& stripe = stripe_of_thread();
  const auto i = static_cast<size_t>(what);
  const uint64_t count = stripe.counts[i].load(std::memory_order_relaxed);
  uint64_t due = stripe.due[i].load(std::memory_order_relaxed);
  CELLAR_ASSERT(count > 0);
  if (due >= count) return false;  // another thread was faster
  const uint64_t next = count + mixed(count ^ stripe.seed) % (2 * kSampled - 1);
  return stripe.due[i].compare_exchange_strong(due, next, std::memory_order_relaxed);
}

void OperationMeter::end(Metered what, const Stopwatch::Start& start) {
  CELLAR_ASSERT(static_cast<size_t>(what) < kMeteredKinds);
  stripe_of_thread().times[static_cast<size_t>(what)].add(stopwatch_.nanos_since(start));
}

void OperationMeter::note(Metered what, uint64_t nanos) {
  CELLAR_ASSERT(!is_sampled(what));
  Stripe& stripe = stripe_of_thread();
  add_one(stripe.counts[static_cast<size_t>(what)]);
  stripe.times[static_cast<size_t>(what)].add(nanos);
}

std::vector<LatencyMetrics> OperationMeter::read() const {
  std::vector<const Stripe*> stripes;
  for (const std::atomic<Stripe*>& each : stripes_)
    if (const Stripe* const stripe = each.load(std::memory_order_acquire); stripe != nullptr)
      stripes.push_back(stripe);
  std::vector<LatencyMetrics> all;
  for (size_t i = 0; i < kMeteredKinds; ++i) {
    std::vector<const LatencyHistogram*> times;
    uint64_t count = 0;
    for (const Stripe* stripe : stripes) {
      times.push_back(&stripe->times[i]);
      count += stripe->counts[i].load(std::memory_order_relaxed);
    }
    all.push_back(latency_metrics(kNames[i], count, times));
  }
  CELLAR_ASSERT(all.size() == kMeteredKinds);
  return all;
}

LatencyMetrics latency_metrics(std::string_view name, uint64_t count,
                               const std::vector<const LatencyHistogram*>& times) {
  LatencyMetrics metrics;
  metrics.name = name;
  std::vector<uint64_t> slots(LatencyHistogram::kSlots);
  double sum = 0;
  uint64_t max = 0;
  for (const LatencyHistogram* each : times) {
    for (size_t i = 0; i < slots.size(); ++i) slots[i] += each->count(i);
    sum += static_cast<double>(each->sum());
    max = std::max(max, each->max());
  }
  CELLAR_ASSERT(slots.size() == LatencyHistogram::kSlots && sum >= 0);
  const std::span<const double> bounds = latency_bounds();
  metrics.buckets.resize(bounds.size());
  size_t bound = 0;
  for (size_t i = 0; i < slots.size(); ++i) {
    while (bound < bounds.size() && seconds_of(LatencyHistogram::middle(i)) > bounds[bound])
      metrics.buckets[bound++] = metrics.measured;
    metrics.measured += slots[i];
  }
  while (bound < bounds.size()) metrics.buckets[bound++] = metrics.measured;
  // An operation is counted when it begins and measured when it ends.
  metrics.count = std::max(count, metrics.measured);
  metrics.sum = seconds_of(sum);
  metrics.max = seconds_of(static_cast<double>(max));
  if (metrics.measured == 0) return metrics;
  const auto at = [&](double fraction) {
    return seconds_of(quantile(slots, metrics.measured, static_cast<double>(max), fraction));
  };
  metrics.p50 = at(0.5);
  metrics.p99 = at(0.99);
  metrics.p999 = at(0.999);
  return metrics;
}

}  // namespace cellar
