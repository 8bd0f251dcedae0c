// WriteThrottle: first slower, then not at all.
#include "engine/write/write_throttle.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"

namespace cellar {
namespace {

constexpr int64_t kHeldLookUs = 10'000;  // between two looks at the memory that readers hold

}  // namespace

std::string WriteThrottle::obstacle(std::span<Store* const> stores, StallCause& cause) const {
  cause = StallCause::kMemory;
  if (memory_.is_overheld(memory_total()))
    return fmt::format(
        "open scanners, snapshots or batches of rows hold {} of flushed memtables "
        "(memtable_bytes_total={})",
        human_bytes(static_cast<uint64_t>(memory_.held_bytes())), memory_total());
  if (memory_.bytes() >= memory_limit())
    return fmt::format("memory for unflushed writes is used up (memtable_bytes_total={})", memory_total());
  for (const Store* store : stores) {
    cause = StallCause::kFlush;
    if (store->frozen_count() >= world_.options.memtables_frozen_max)
      return fmt::format("{} memtables of {}:{} wait for their flush", store->frozen_count(),
                         store->table_name(), store->family());
    cause = StallCause::kCompaction;
    if (compacts_by_itself(*store) && store->run_count() >= store->files_stop(world_.options))
      return fmt::format("{}:{} has {} sorted runs and waits for a compaction", store->table_name(),
                         store->family(), store->run_count());
  }
  return {};
}

// One wait, which an event may cut short: what is left of it is waited before the next write.
void WriteThrottle::slow_down(std::span<Store* const> stores) {
  const uint64_t seen = activity_.changed.count();
  const int64_t now_us = world_.clock.steady_us();
  int64_t wait_us = 0;
  for (Store* store : stores) wait_us = std::max(wait_us, store->pace().wait_us(now_us));
  if (wait_us == 0) return;
  CELLAR_ASSERT(wait_us >= WritePace::kWaitUsMin && wait_us <= WritePace::kWaitUsMax);
  activity_.changed.wait(seen, wait_us);
  if (world_.meter != nullptr) world_.meter->note_stall(StallCause::kPace, world_.clock.steady_us() - now_us);
  // By a clock that stands still no wait would ever end.
  if (world_.clock.steady_us() == now_us)
    for (Store* store : stores) store->pace().forget();
}

// If a flush fails, writing more slowly would not help: the error then names the cause.
Status WriteThrottle::gave_up(const std::string& reason) const {
  const std::string message = "the write waited too long: " + reason;
  if (!world_.options.automatic_flush)
    return Status::busy(message).hinting("call flush(): automatic_flush is off");
  for (const Trouble& trouble : health_.troubles()) {
    if (trouble.what.starts_with("flush of "))
      return Status::busy(
                 fmt::format("{}; the {} fails: {}", message, trouble.what, trouble.status.message()))
          .at(trouble.status.place())
          .hinting("mend the cause: the flush is tried again by itself");
  }
  if (memory_.is_overheld(memory_total()))
    return Status::busy(message).hinting("close scanners and snapshots that are not used, or advance them");
  return Status::busy(message).hinting("write more slowly, or give flushes and compactions more room");
}

Status WriteThrottle::wait(std::span<Store* const> stores) {
  StallCause cause = StallCause::kMemory;
  std::string reason = obstacle(stores, cause);
  if (reason.empty()) {
    slow_down(stores);
    return {};
  }
  const int64_t begun_us = world_.clock.steady_us();
  CELLAR_ASSERT(mutexes_held() == 0);
  counters_.stalls.fetch_add(1);
  health_.wait_begins(reason, world_.clock.wall_ms());
  world_.events.on_stall_begin(reason);
  Status status;
  while (true) {
    const uint64_t seen = activity_.changed.count();
    if (health_.failed()) {
      status = health_.check();
      break;
    }
    StallCause now = cause;
    const std::string still = obstacle(stores, now);
    if (still.empty()) break;
    reason = still;
    cause = now;
    const int64_t left_us = world_.options.stall_ms_max * 1000 - (world_.clock.steady_us() - begun_us);
    if (left_us <= 0 || activity_.closing.load() || !world_.options.automatic_flush) {
      status = gave_up(reason);
      break;
    }
    // The end of a scanner signals nothing: it may be the last owner of the engine's parts.
    const bool held = memory_.held_bytes() > 0;
    activity_.changed.wait(seen, held ? std::min(left_us, kHeldLookUs) : left_us);
  }
  health_.wait_ends();
  const int64_t micros = world_.clock.steady_us() - begun_us;
  counters_.stall_micros.fetch_add(micros);
  if (world_.meter != nullptr) world_.meter->note_stall(cause, micros);
  world_.events.on_stall_end(reason, micros);
  return status;
}

}  // namespace cellar
