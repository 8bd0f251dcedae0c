// WriteThrottle: when writers must wait, how long, and why.
#pragma once

#include <algorithm>
#include <span>
#include <string>

#include "engine/core.h"

namespace cellar {

// Any thread. Called before a write takes any lock.
class WriteThrottle {
 public:
  explicit WriteThrottle(EngineCore& core) : core_(core) {}

  // Returns when there is room for a write to these stores: kBusy after EngineOptions::stall_ms_max, naming
  // what was waited for.
  Status admit(std::span<Store* const> stores) {
    for (Store* store : stores)
      if (pressed(*store)) return wait(stores);
    return core_.memtable_bytes.load(std::memory_order_relaxed) < memory_limit() ? Status() : wait(stores);
  }

  // The leader's: the store's memtable has grown by so many bytes.
  void spend(Store& store, uint64_t bytes) {
    if (const double behind = debt(store); behind > 0)
      store.pace().spend(bytes, store.pace().rate(behind), core_.clock.steady_us());
  }

  // Whether a write to these must wait, or go slower.
  bool pressed(std::span<Store* const> stores) const {
    return std::ranges::any_of(stores, [&](const Store* store) { return pressed(*store); });
  }

 private:
  int64_t memory_limit() const { return static_cast<int64_t>(core_.options.memtable_bytes_total); }
  bool compacts_by_itself(const Store& store) const {
    // A compaction that fails makes no room, however long writers wait for it.
    return core_.options.automatic_compaction && store.compaction_enabled() && !store.compaction_fails();
  }
  bool pressed(const Store& store) const {
    return store.frozen_count() >= core_.options.memtables_frozen_max || debt(store) > 0;
  }
  // Returns how far the compactions of the store are behind, see compaction_debt().
  double debt(const Store& store) const {
    return compacts_by_itself(store) ? compaction_debt(store.file_count(), store.files_slow(core_.options),
                                                       store.files_stop(core_.options))
                                     : 0;
  }
  // What a writer must wait for, or empty.
  std::string obstacle(std::span<Store* const> stores) const;
  Status wait(std::span<Store* const> stores);
  void slow_down(std::span<Store* const> stores);

  EngineCore& core_;
};

}  // namespace cellar
