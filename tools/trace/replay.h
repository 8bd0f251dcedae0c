// Replay: carries out the operations of a plan on targets, one thread each, and measures them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/trace/replay_plan.h"
#include "tools/trace/replay_target.h"

namespace cellar {

// ReplayClock: nanoseconds that never step back, and waiting. Any thread.
class ReplayClock {
 public:
  virtual ~ReplayClock() = default;
  virtual int64_t now_ns() = 0;
  virtual void wait_until(int64_t ns) = 0;
};
// Returns the clock of the machine. It lives forever.
ReplayClock& machine_replay_clock();

struct ReplayOptions {
  double speed = 0;      // 1: as recorded, 2: twice as fast; 0: as fast as possible
  uint32_t threads = 0;  // 0: as recorded, at most kReplayThreadsMax
  uint64_t seed = 1;     // of the values
  double noise = 0.5;    // share of a value that does not compress
  std::function<bool()> stopping = [] { return false; };
};
constexpr uint32_t kReplayThreadsMax = 256;

// ReplayKind: measurements of one kind of operation. Times are nanoseconds, ascending.
struct ReplayKind {
  uint64_t failed = 0;
  Status first_failure;
  std::vector<uint64_t> replayed;
  std::vector<uint64_t> recorded;
};

struct ReplayReport {
  std::map<TraceKind, ReplayKind> kinds;
  uint64_t operations = 0;
  uint32_t threads = 0;
  double seconds = 0;
  double recorded_seconds = 0;  // from the first start to the last end
  int64_t recorded_end_ns = 0;  // the last end
  ReplayFound found;
  ReplayFound recorded;   // what the same operations found when they were recorded
  int64_t latest_ns = 0;  // the longest that an operation began after its time; 0 without a speed
  bool stopped = false;   // ReplayOptions::stopping
};

// The time at this rank in a hundred (nearest rank); 0 for no times.
uint64_t time_at(const std::vector<uint64_t>& ascending, double percent);

// Replays the plan. With a number of threads, the operations of a row stay on one thread, in their order. A
// failure of an operation is counted. Error: a record that does not parse.
Result<ReplayReport> replay(const ReplayPlan& plan,
                            const std::function<std::unique_ptr<ReplayTarget>()>& make_target,
                            const ReplayOptions& options, ReplayClock& clock);

}  // namespace cellar
