// OperationMeter: counts the operations of an engine, and measures some of them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "cellar/environment.h"
#include "cellar/metrics.h"
#include "engine/store/latency_histogram.h"

namespace cellar {

// In the order of Metrics::operations.
enum class Metered : uint8_t {
  kGet,
  kExists,
  kGetMany,
  kScanOpen,
  kScanBatch,
  kPut,
  kDelete,
  kIncrement,
  kAppend,
  kMutate,
  kCheck,
  kBatch,
  kCommit,
  kFlush,
  kCompaction,
  kLogSync,
};
inline constexpr size_t kMeteredKinds = 16;
// Returns the name in Metrics::operations: "get_many".
std::string_view metered_name(Metered what);

// Stopwatch: nanoseconds by the processor's counter where it is steady, else by the clock's microseconds. The
// counter serves once two periods of the clock, each of 0.1 to 1 s, have found the same rate to a thousandth.
// So neither a thread that was interrupted nor a machine that slept falsifies the rate. Any thread.
class Stopwatch {
 public:
  // `real_clock`: the processor's counter may take the place of the clock.
  Stopwatch(Clock& clock, bool real_clock);

  struct Start {
    uint64_t at;
    double nanos_per_tick;  // 0: `at` is the clock's time in microseconds
  };
  Start start();
  uint64_t nanos_since(const Start& start) const;

 private:
  // The counter and the clock at the same moment; `us` is -1 if the thread was interrupted between them.
  struct Mark {
    uint64_t ticks = 0;
    int64_t us = -1;
  };
  Mark mark();
  double find_rate();
  double end_period(const Mark& now);

  Clock& clock_;
  const bool has_ticks_;
  std::atomic<double> rate_{0};       // nanoseconds for each tick; 0 until it is known
  std::atomic<bool> finding_{false};  // a thread uses what follows
  Mark begun_;                        // of the period
  double rate_before_ = 0;            // of the period before; 0: none
};

// Counts in stripes, so that counting seldom moves a cache line between processors. Twelve threads have a
// stripe of their own, in which they count without a locked instruction. Further threads share four stripes.
// A stripe is allocated when its first thread counts. One short operation in 16 is measured. Any thread.
class OperationMeter {
 public:
  OperationMeter(Clock& clock, bool real_clock) : stopwatch_(clock, real_clock) {}
  ~OperationMeter();
  OperationMeter(const OperationMeter&) = delete;
  OperationMeter& operator=(const OperationMeter&) = delete;

  // Counts an operation that begins. Returns whether it may be measured: claim() decides.
  [[gnu::always_inline]] bool count(Metered what) {
    Stripe& stripe = stripe_of_thread();
    const auto i = static_cast<size_t>(what);
    return add_one(stripe.counts[i]) >= stripe.due[i].load(std::memory_order_relaxed);
  }
  // Returns whether the caller measures its operation, after count() was true. A single one of several
  // threads of a stripe does. The next operation that is measured is chosen at once, so that a slow one
  // causes no others to be measured meanwhile.
  bool claim(Metered what);
  Stopwatch::Start start() { return stopwatch_.start(); }
  // Ends a measured operation.
  void end(Metered what, const Stopwatch::Start& start);
  // Counts work that took so long, whatever operation it is part of.
  void note(Metered what, uint64_t nanos);
  void note_since(Metered what, const Stopwatch::Start& start) { note(what, stopwatch_.nanos_since(start)); }

  // Returns the sum of all stripes, in the order of Metered.
  std::vector<LatencyMetrics> read() const;

 private:
  friend class MeteredScope;
  static constexpr size_t kStripes = 16;
  static constexpr size_t kOwnStripes = 12;  // each of which one thread has, until it ends
  static constexpr uint64_t kSampled = 16;   // one operation in so many is measured
  struct alignas(64) Stripe {
    std::array<std::atomic<uint64_t>, kMeteredKinds> counts = {};
    std::array<std::atomic<uint64_t>, kMeteredKinds> due = {};  // the count at which one is measured again
    std::array<LatencyHistogram, kMeteredKinds> times;
    uint64_t seed = 0;  // of the gaps
  };

  // Operations that are so short that two looks at the clock would matter.
  static bool is_sampled(Metered what) { return what <= Metered::kDelete && what != Metered::kGetMany; }
  Stripe& stripe_of_thread() {
    Stripe* const stripe = stripes_[thread_.stripe].load(std::memory_order_acquire);
    return stripe != nullptr ? *stripe : make_stripe();
  }
  Stripe& make_stripe();
  static uint32_t choose_stripe();
  static uint32_t choose_shared_stripe();
  // Adds one to a counter of the thread's stripe. Returns what it was before.
  static uint64_t add_one(std::atomic<uint64_t>& count) {
    if (thread_.stripe >= kOwnStripes) return count.fetch_add(1, std::memory_order_relaxed);
    const uint64_t before = count.load(std::memory_order_relaxed);
    count.store(before + 1, std::memory_order_relaxed);
    return before;
  }

  // All meters have the same stripe for a thread. Until it is chosen it is the last one, which no meter has.
  struct ThreadState {
    uint32_t stripe;
    const OperationMeter* inside;  // the meter of the MeteredScope that the thread is in; null: it is in none
  };
  static constinit inline thread_local ThreadState thread_ = {kStripes, nullptr};
  Stopwatch stopwatch_;
  std::array<std::atomic<Stripe*>, kStripes + 1> stripes_ = {};
};

// MeteredScope: an operation from the beginning of the scope to its end. Operations of the same engine that
// it calls on the same thread are parts of it, and are not counted. It is inlined: a cached get takes less
// than a microsecond.
class MeteredScope {
 public:
  // Counts it. `meter` may be null: then nothing is counted.
  [[gnu::always_inline]] MeteredScope(OperationMeter* meter, Metered what) : what_(what) {
    if (meter == nullptr || OperationMeter::thread_.inside == meter) return;
    outside_ = OperationMeter::thread_.inside;
    OperationMeter::thread_.inside = meter;
    meter_ = meter;
    if (meter->count(what)) [[unlikely]]
      begin();
  }
  [[gnu::always_inline]] ~MeteredScope() {
    if (meter_ == nullptr) return;
    OperationMeter::thread_.inside = outside_;
    if (measured_) [[unlikely]]
      meter_->end(what_, start_);
  }
  MeteredScope(const MeteredScope&) = delete;
  MeteredScope& operator=(const MeteredScope&) = delete;

 private:
  void begin();

  OperationMeter* meter_ = nullptr;          // null: the operation is not counted
  const OperationMeter* outside_ = nullptr;  // of an operation of another engine that this one is part of
  const Metered what_;
  bool measured_ = false;
  Stopwatch::Start start_;  // only if it is measured
};

// Returns count, quantiles and buckets of several histograms together.
LatencyMetrics latency_metrics(std::string_view name, uint64_t count,
                               const std::vector<const LatencyHistogram*>& times);

}  // namespace cellar
