// Three ways to make identifiers that are unique over threads, processes and restarts.
//
// Table ids, family n. Row "counter", n:next and n:blocks: counters. Row "workers", n:started: a counter.
// Rows "worker" + number, n:mark: the greatest time that this worker's identifiers may have.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "examples/application.h"

namespace example {

// Returns 1, 2, 3, …: each is one write.
class Counter {
 public:
  explicit Counter(std::shared_ptr<Table> ids) : ids_(std::move(ids)) {}
  Result<int64_t> next() {
    CELLAR_TRY_ASSIGN(const auto sums, ids_->increment(Increment("counter").add("n", "next", 1)));
    return sums.front();
  }

 private:
  std::shared_ptr<Table> ids_;
};

// Leases blocks of a counter: one write for each kBlock identifiers. A process that ends loses the rest of
// its block. Any thread.
class LeasedBlocks {
 public:
  static constexpr int64_t kBlock = 1000;

  explicit LeasedBlocks(std::shared_ptr<Table> ids) : ids_(std::move(ids)) {}
  Result<int64_t> next() {
    const std::scoped_lock lock(mutex_);
    if (next_ == end_) {
      CELLAR_TRY_ASSIGN(const auto sums, ids_->increment(Increment("counter").add("n", "blocks", kBlock)));
      end_ = sums.front() + 1;
      next_ = end_ - kBlock;
    }
    return next_++;
  }

 private:
  std::shared_ptr<Table> ids_;
  std::mutex mutex_;
  int64_t next_ = 0, end_ = 0;
};

// Makes identifiers of 41 bits of milliseconds, 10 bits of the worker, 12 bits of a sequence, as Twitter's
// Snowflake does. They need one write a second. Identifiers of different milliseconds sort by time. Any
// thread.
class TimeOrdered {
 public:
  static constexpr int64_t kEpoch = 1'577'836'800'000;  // the year 2020; 41 bits last until 2089
  static constexpr int64_t kWorkers = 1024;
  static constexpr int64_t kPerMillisecond = 4096;

  // Takes the next worker number, so that each start has another one. After 1,024 starts a number comes
  // again: its mark tells which times are taken. The clock may have stepped back meanwhile.
  static Result<std::unique_ptr<TimeOrdered>> start(std::shared_ptr<Table> ids, Clock& clock) {
    CELLAR_TRY_ASSIGN(const auto started, ids->increment(Increment("workers").add("n", "started", 1)));
    auto generator = std::make_unique<TimeOrdered>(std::move(ids), clock, started.front() % kWorkers);
    CELLAR_TRY_ASSIGN(const Row worker, generator->ids_->get_row(Get(generator->row())));
    generator->mark_ = worker.counter("n", "mark").value_or(0);
    generator->time_ = generator->mark_ + 1;  // the times up to the mark may be taken
    return generator;
  }
  TimeOrdered(std::shared_ptr<Table> ids, Clock& clock, int64_t worker)
      : ids_(std::move(ids)), clock_(clock), worker_(worker) {}

  Result<int64_t> next() {
    const std::scoped_lock lock(mutex_);
    const int64_t now = clock_.wall_ms() - kEpoch;
    if (now > time_) {
      time_ = now;
      sequence_ = 0;
    } else if (++sequence_ >= kPerMillisecond) {  // or the clock stepped back: go on from the last time
      ++time_;
      sequence_ = 0;
    }
    if (time_ < 0 || time_ >> 41 != 0)
      return Status::invalid_argument("the clock is outside of the years 2020 to 2089");
    if (time_ > mark_) {  // a later life with this number begins after the mark
      CELLAR_TRY(ids_->put(Put(row()).add("n", "mark", plain_int64(time_ + 1000))));
      mark_ = time_ + 1000;
    }
    return time_ << 22 | worker_ << 12 | sequence_;
  }
  int64_t worker() const { return worker_; }
  static int64_t time_of(int64_t id) { return (id >> 22) + kEpoch; }

 private:
  std::string row() const { return "worker" + std::to_string(worker_); }

  std::shared_ptr<Table> ids_;
  Clock& clock_;
  const int64_t worker_;
  std::mutex mutex_;
  int64_t time_ = 0, sequence_ = 0, mark_ = 0;
};

// A clock that is moved by hand, to see what the generators do when it stands still or steps back.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(int64_t now) : now_(now) {}
  int64_t wall_ms() override { return now_; }
  int64_t steady_us() override { return system_clock().steady_us(); }
  void add(int64_t ms) { now_ += ms; }

 private:
  std::atomic<int64_t> now_;
};

}  // namespace example
