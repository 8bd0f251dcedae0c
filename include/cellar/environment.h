// Environment: the files, clock, threads, log and randomness that an engine uses. Nothing else in Cellar
// accesses them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "cellar/events.h"
#include "cellar/file_system.h"

namespace CELLAR_PUBLIC cellar {

// Clock: any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  // Returns milliseconds since the epoch, for timestamps and times to live. It may step back.
  virtual int64_t wall_ms() = 0;
  // Returns microseconds of a clock that never steps back, for waiting and rates.
  virtual int64_t steady_us() = 0;
};

// Returns the machine's clock. It lives forever.
Clock& system_clock();

// Event: a counter that only grows, and a way to wait for its next step. An Executor makes it, and outlives
// it. Any thread. Its destructor waits for signal() to return. To wait for a condition, read seen = count(),
// test the condition, then call wait(seen). Then no signal between the test and the wait is lost.
class Event {
 public:
  virtual ~Event() = default;
  virtual uint64_t count() const = 0;
  // Adds one and wakes all waiting threads.
  virtual void signal() = 0;
  // Returns once count() > seen, or after timeout_us microseconds; negative: no limit. Call it without locks.
  virtual void wait(uint64_t seen, int64_t timeout_us) = 0;
};

enum class JobPriority : uint8_t { kHigh, kLow };  // flushes and log segments; compactions

// Executor: runs background jobs. A job calls checkpoint() between pieces of bounded work. Jobs of one
// priority start in the order of submit(). Any thread may submit. The engine waits only through Events.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual void submit(JobPriority priority, std::function<void()> job) = 0;
  // Submits the job after `delay_us` microseconds (0 or more). The engine retries and compacts by it. A job
  // that is not due when the executor ends is dropped. May be called with locks held.
  virtual void submit_later(JobPriority priority, int64_t delay_us, std::function<void()> job) = 0;
  // Jobs and long foreground work call it, without locks. A place where the executor may let another thread
  // run.
  virtual void checkpoint() = 0;
  virtual std::unique_ptr<Event> make_event() = 0;
};

enum class LogLevel : uint8_t { kDebug, kInfo, kWarning, kError };

// Logger: receives sentences for operators. Any thread. Called without engine locks. It must not throw or
// call the engine.
class Logger {
 public:
  virtual ~Logger() = default;
  virtual void log(LogLevel level, std::string_view component, std::string_view text) = 0;
};

// Environment: borrowed objects, which must outlive everything that was opened with them.
struct Environment {
  FileSystem* files = nullptr;   // null: the real one
  Clock* clock = nullptr;        // null: the real one
  Executor* executor = nullptr;  // null: threads of the engine's own, see EngineOptions::background_threads
  EventListener* events = nullptr;  // null: no listener
  Logger* log = nullptr;            // null: no log
  uint64_t seed = 0;                // 0: from the operating system
};

// Returns an executor with `high` + `low` threads of its own, each at least 1. Its destructor runs all
// submitted jobs, then joins the threads.
std::unique_ptr<Executor> make_thread_executor(int high, int low);

// Returns a Logger that writes lines of at least `level` to standard error.
std::unique_ptr<Logger> make_stderr_logger(LogLevel level);

// Returns a number from the operating system's entropy source, for seeds and identities.
uint64_t system_random();

}  // namespace cellar
