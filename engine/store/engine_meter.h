// EngineMeter: all that an engine counts for Engine::metrics(), with the places where it counts.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "cellar/environment.h"
#include "engine/store/event_tap.h"
#include "engine/store/file_meter.h"
#include "engine/store/operation_meter.h"

namespace cellar {

// The causes for which a writer waits, in the order of Metrics::stalls.
enum class StallCause : uint8_t { kMemory, kFlush, kCompaction, kPace };
inline constexpr size_t kStallCauses = 4;

// Borrows what the environment lends. Any thread.
struct EngineMeter {
  // `events` may be null. `real_clock`: the environment has not brought the clock.
  EngineMeter(Clock& clock_of_engine, EventListener* listener, bool real_clock)
      : clock(clock_of_engine),
        begun_us(clock.steady_us()),
        operations(clock, real_clock),
        files(operations),
        events(listener, operations, clock) {}

  void note_stall(StallCause cause, int64_t micros);
  // Returns the stalls so far, in the order of StallCause.
  std::vector<LatencyMetrics> stalls() const;
  double seconds() const;

  Clock& clock;
  const int64_t begun_us;
  OperationMeter operations;
  FileMeter files;
  EventTap events;
  std::array<LatencyHistogram, kStallCauses> stall_times;
};

}  // namespace cellar
