// EngineMeter: stalls by their cause.
#include "engine/store/engine_meter.h"

#include <algorithm>

#include "base/assert.h"

namespace cellar {

void EngineMeter::note_stall(StallCause cause, int64_t micros) {
  const auto i = static_cast<size_t>(cause);
  CELLAR_ASSERT(i < kStallCauses);
  stall_times[i].add(static_cast<uint64_t>(std::max<int64_t>(0, micros)) * 1000);
}

std::vector<LatencyMetrics> EngineMeter::stalls() const {
  constexpr std::array<std::string_view, kStallCauses> kNames = {"memory", "flush", "compaction", "pace"};
  std::vector<LatencyMetrics> all;
  for (size_t i = 0; i < kStallCauses; ++i) all.push_back(latency_metrics(kNames[i], 0, {&stall_times[i]}));
  CELLAR_ASSERT(all.size() == kStallCauses);
  return all;
}

double EngineMeter::seconds() const {
  return static_cast<double>(std::max<int64_t>(0, clock.steady_us() - begun_us)) / 1e6;
}

}  // namespace cellar
