// StepExecutor: an Executor whose interleaving is a number. Real threads, one baton: exactly one of them runs
// at a time.
//
//   ManualClock clock;
//   StepExecutor executor(seed, clock);  // this thread is "main" and holds the baton
//   Environment world{.files = &files, .clock = &clock, .executor = &executor};
//
//   executor.run_beside("reader", [&] { … });  // one more thread in the foreground
//   … use the engine …
//
//   executor.settle();  // the others run until they can run no further without time passing
//   EXPECT_EQ(…) << executor.schedule();  // the order of the steps
//
// The baton may change hands in checkpoint(), Event::wait(), submit() (unless a Mutex is held), at the end of
// a job, and in the functions below. The seed draws the next holder among all threads that can run. The first
// job queued at a priority is one of them while fewer than Options::high or low jobs of that priority are
// running. The same seed and the same program give the same interleaving. Code between two such places runs
// undisturbed, so locks of any kind are never contended.
//
// Time is the ManualClock's. It stands still while any thread can run. When no thread can, it jumps to the
// earliest timeout waited for. Without a timeout the program can never go on. The process then ends with a
// listing of the threads and the places where they wait. It also ends so when a thread that does not take
// part waits, when one waits holding a Mutex, and after Options::steps_max.
//
// It does not test the memory order of code: every handing over synchronises. The thread executor under TSan
// does that.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "cellar/environment.h"
#include "tests/support/manual_clock.h"

namespace cellar::testing {

class StepExecutor final : public Executor {
 public:
  struct Options {
    uint64_t seed = 1;
    int high = 2;  // jobs of this priority under way at one time
    int low = 2;
    uint64_t steps_max =
        5'000'000;  // changes of hands until the process ends: something goes round in circles
  };

  StepExecutor(uint64_t seed, ManualClock& clock);
  StepExecutor(const Options& options, ManualClock& clock);
  // By the thread that constructed it. Runs finish() first.
  ~StepExecutor() override;

  // Any thread that takes part: the constructing one, those of run_beside(), and jobs.
  void submit(JobPriority priority, std::function<void()> job) override;
  // A job that is due counts as submitted. settle() and finish() do not wait for one that is not.
  void submit_later(JobPriority priority, int64_t delay_us, std::function<void()> job) override;
  void checkpoint() override;
  std::unique_ptr<Event> make_event() override;

  // Starts a thread that takes part and runs `body`.
  void run_beside(std::string name, std::function<void()> body);
  // Lets the others run until none of them can without time passing.
  void settle();
  // Lets the others run, and time pass, until all threads of run_beside() have ended.
  void join_beside();
  // Lets the others run, and time pass, until all have ended and no job is left.
  void finish();
  // Waits until this much time has passed; everything else goes on meanwhile.
  void pause_us(int64_t us);

  // Changes of hands so far, and the last `count` of them as lines "step time who reason".
  uint64_t steps() const;
  std::string schedule(uint64_t count = 1000) const;
  // Who there is and what each waits for.
  std::string listing() const;

 private:
  friend class StepEvent;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cellar::testing
