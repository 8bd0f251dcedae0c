// Environment: the world an engine lives in. Nothing else in Cellar touches files, clocks, threads or
// randomness.
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
  // Milliseconds since the epoch, for cell timestamps and time to live. May step back.
  virtual int64_t wall_ms() = 0;
  // Microseconds of a clock that never steps back, for waiting and rates.
  virtual int64_t steady_us() = 0;
};

// Event: a counter that only grows, with a way to wait for its next step. Made by an Executor, which it must
// not outlive. Any thread. To wait for a condition: read seen = count(), test the condition, then wait(seen);
// so that no signal between the test and the wait is lost.
class Event {
 public:
  virtual ~Event() = default;
  virtual uint64_t count() const = 0;
  // Adds one and wakes all who wait.
  virtual void signal() = 0;
  // Returns once count() > seen, or after timeout_us (negative: no limit). No lock may be held.
  virtual void wait(uint64_t seen, int64_t timeout_us) = 0;
};

enum class JobPriority : uint8_t { kHigh, kLow };  // flushes and log segments; compactions

// Executor: runs background jobs. A job is a straight-line function; it calls checkpoint() between pieces of
// bounded work. Jobs submitted at one priority start in order. Any thread may submit. The engine waits only
// through Events.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual void submit(JobPriority priority, std::function<void()> job) = 0;
  // Called by jobs and by long foreground work: a place where another thread may be let run. No lock may be
  // held.
  virtual void checkpoint() = 0;
  virtual std::unique_ptr<Event> make_event() = 0;
};

enum class LogLevel : uint8_t { kDebug, kInfo, kWarning, kError };

// Logger: sentences for operators. Any thread; called without engine locks; must not throw or call the
// engine.
class Logger {
 public:
  virtual ~Logger() = default;
  virtual void log(LogLevel level, std::string_view component, std::string_view text) = 0;
};

// Environment: borrowed pointers, all of which must outlive what was opened with them.
struct Environment {
  FileSystem* files = nullptr;   // null: the real one
  Clock* clock = nullptr;        // null: the real one
  Executor* executor = nullptr;  // null: threads of the engine's own, see EngineOptions::background_threads
  EventListener* events = nullptr;  // null: nobody listens
  Logger* log = nullptr;            // null: silence
  uint64_t seed = 0;                // 0: from the operating system
};

// The real clock. Lives forever.
Clock& system_clock();

// An executor with `high` + `low` threads of its own (each at least 1); its destructor runs what was
// submitted, then joins.
std::unique_ptr<Executor> make_thread_executor(int high, int low);

// A Logger that writes lines of at least `level` to standard error through spdlog.
std::unique_ptr<Logger> make_stderr_logger(LogLevel level);

// A number from the operating system's entropy source, for seeds and identities.
uint64_t system_random();

}  // namespace cellar
