// Hazards: how threads come by their records.
#include "base/hazards.h"

namespace cellar {

// The end of a thread gives its record back.
struct HazardSlot::Owner {
  ~Owner() {
    CELLAR_ASSERT(mine_->free == (1u << kPerThread) - 1);  // reads have ended
    mine_->owned.store(false, std::memory_order_release);
    mine_ = nullptr;
    thread_ends_ = true;
  }
};

// Returns a record that no thread owns.
HazardSlot::Record* HazardSlot::find_record() {
  for (Record* each = all_.load(std::memory_order_acquire); each != nullptr; each = each->next)
    if (!each->owned.load(std::memory_order_relaxed) &&
        !each->owned.exchange(true, std::memory_order_acquire))
      return each;
  auto* const made = new Record();
  made->next = all_.load(std::memory_order_relaxed);
  while (!all_.compare_exchange_weak(made->next, made, std::memory_order_seq_cst)) {
  }
  return made;
}

bool HazardSlot::join() {
  if (thread_ends_) return false;
  mine_ = find_record();
  thread_local const Owner owner;
  return true;
}

bool HazardSlot::any_holds(const void* object) {
  CELLAR_ASSERT(object != nullptr);
  for (const Record* each = all_.load(std::memory_order_seq_cst); each != nullptr; each = each->next)
    for (const auto& held : each->held)
      if (held.load(std::memory_order_seq_cst) == object) return true;
  return false;
}

}  // namespace cellar
