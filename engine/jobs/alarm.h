// Alarm: calls a function of the engine when it is due, in a job of the executor.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "cellar/environment.h"

namespace cellar {

// Any thread. It has no thread of its own, and wakes nobody before a call is due. Two calls never run at the
// same time.
class Alarm {
 public:
  // Returns the microseconds until the next call, more than 0. Returns nothing if no call is needed before
  // the next set().
  using Ring = std::function<std::optional<int64_t>()>;

  // Borrows all until stop() has returned. The event is signalled when a call has ended.
  Alarm(Clock& clock, Executor& executor, JobPriority priority, Event& ended, Ring ring);
  // stop() must have been called, unless no call can run any more.
  ~Alarm();
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  // A call comes in `delay_us` microseconds (0 or more) at the latest, after the one that runs. Cheap if an
  // earlier call is due. Called without locks.
  void set(int64_t delay_us);
  // Returns when no call runs, and none will. Called without locks.
  void stop();

 private:
  struct State;
  static void arm(const std::shared_ptr<State>& state, int64_t due_us);
  static void run(const std::shared_ptr<State>& state, int64_t due_us);
  static std::optional<int64_t> next_due_us(State& state, std::optional<int64_t> delay_us);

  const std::shared_ptr<State> state_;  // shared with jobs that are not due yet; they may outlive the engine
};

}  // namespace cellar
