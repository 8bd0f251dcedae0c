// IdleWatch: a timer of the background work, for compactions that become due while nobody writes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "cellar/environment.h"

namespace cellar {

// Any thread. A look begins what is due, and says when the next look is needed. The first look comes some
// time after the last note(). After that, the watch wakes up only when something is due. It has no thread of
// its own, and needs an executor with a timer (Executor::submit_later).
class IdleWatch {
 public:
  // Returns the microseconds until the next look; nothing if no look is needed before the next note().
  using Look = std::function<std::optional<int64_t>()>;

  // Borrows all until stop() has returned. The event is signalled when a look ends. `look` runs in a job. Two
  // looks never run at the same time.
  IdleWatch(Clock& clock, Executor& executor, Event& changed, Look look);
  // stop() must have been called, unless no look can run any more.
  ~IdleWatch();
  IdleWatch(const IdleWatch&) = delete;
  IdleWatch& operator=(const IdleWatch&) = delete;

  // The files of a store have changed, or a compaction has ended. Cheap.
  void note();
  // Something may be due now. Looks begin a second apart at least.
  void hurry();
  // Returns when no look runs, and none will. Called without locks.
  void stop();

  static constexpr int64_t kSettleUs = 60'000'000;  // from a note() to the look at what it means
  static constexpr int64_t kApartUs = 1'000'000;    // from the beginning of a look to a hurried one

 private:
  struct State;
  // Returns false if the executor has no timer.
  static bool arm(const std::shared_ptr<State>& state, int64_t delay_us);
  static void run(const std::shared_ptr<State>& state, int64_t due_us);
  static std::optional<int64_t> next_delay_us(State& state, std::optional<int64_t>& look_us);

  const std::shared_ptr<State> state_;  // shared with jobs that are not due yet; they may outlive the engine
};

}  // namespace cellar
