// WriteThrottle: when writers must wait, how long, and why.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "base/assert.h"
#include "engine/store/activity.h"
#include "engine/store/health.h"
#include "engine/store/memtable_space.h"
#include "engine/store/store.h"
#include "engine/store/world.h"

namespace cellar {

// Any thread. Called before a write takes any lock.
class WriteThrottle {
 public:
  // Borrows all.
  WriteThrottle(const World& world, Activity& activity, Health& health, const MemtableSpace& memory,
                EngineCounters& counters)
      : world_(world), activity_(activity), health_(health), memory_(memory), counters_(counters) {}

  // Returns when there is room for a write to these stores: kBusy after EngineOptions::stall_ms_max, naming
  // what was waited for.
  Status admit(std::span<Store* const> stores) {
    CELLAR_ASSERT(!stores.empty() && mutexes_held() == 0);
    for (Store* store : stores)
      if (pressed(*store)) return wait(stores);
    // wait() knows what writers may have although readers hold memory.
    return memory_.bytes() + memory_.held_bytes() < memory_total() ? Status() : wait(stores);
  }

  // The leader's: the store's memtable has grown by so many bytes.
  void spend(Store& store, uint64_t bytes) {
    WritePace& pace = store.pace();
    double rate = HUGE_VAL;
    if (const double behind = debt(store); behind > 0) rate = pace.rate(behind);
    if (flush_is_behind(store)) rate = std::min(rate, pace.flush_rate(filled(store)));
    CELLAR_ASSERT(rate > 0);
    if (rate != HUGE_VAL) pace.spend(bytes, rate, world_.clock.steady_us());
  }

  // Returns true if a write to these stores must wait, or go slower.
  bool pressed(std::span<Store* const> stores) const {
    return std::ranges::any_of(stores, [&](const Store* store) { return pressed(*store); });
  }

 private:
  int64_t memory_total() const { return static_cast<int64_t>(world_.options.memtable_bytes_total); }
  int64_t memory_limit() const { return memory_.room(memory_total()); }
  bool compacts_by_itself(const Store& store) const {
    // A compaction that fails, or that the policy does not want, makes no room, however long writers wait.
    return world_.options.automatic_compaction && store.compaction_enabled() &&
           store.compactions() == Store::Compactions::kMayHelp;
  }
  bool pressed(const Store& store) const {
    return store.frozen_count() >= world_.options.memtables_frozen_max || flush_is_behind(store) ||
           debt(store) > 0;
  }
  // Returns true if only one more memtable may wait for its flush.
  bool flush_is_behind(const Store& store) const {
    const size_t frozen = store.frozen_count();
    return world_.options.automatic_flush && frozen > 0 && frozen + 1 >= world_.options.memtables_frozen_max;
  }
  // Returns which part of the memtable is filled. Only the write leader calls it.
  double filled(const Store& store) const {
    CELLAR_ASSERT(store.active() != nullptr && store.flush_bytes(world_.options) > 0);
    return static_cast<double>(store.active()->bytes()) /
           static_cast<double>(store.flush_bytes(world_.options));
  }
  // Returns how far the compactions of the store lag, see compaction_debt(), backlog_debt()
  // and policy_debt().
  double debt(const Store& store) const {
    if (!compacts_by_itself(store)) return 0;
    const double by_files = compaction_debt(store.run_count(), store.files_slow(world_.options),
                                            store.files_stop(world_.options));
    const Store::Backlog backlog = store.backlog();
    const uint64_t flush = store.flush_bytes(world_.options);
    return std::max({by_files, backlog_debt(backlog.newer, backlog.inputs, flush),
                     policy_debt(store.debt_bytes(), store.bytes(), flush)});
  }
  // Returns what a writer must wait for, or "". `cause` is set if there is such an obstacle.
  std::string obstacle(std::span<Store* const> stores, StallCause& cause) const;
  // The error of a write that waited too long for this reason.
  Status gave_up(const std::string& reason) const;
  Status wait(std::span<Store* const> stores);
  void slow_down(std::span<Store* const> stores);

  const World& world_;
  Activity& activity_;
  Health& health_;
  const MemtableSpace& memory_;
  EngineCounters& counters_;
};

}  // namespace cellar
