// Hazards: one record for each thread, in a list that only grows: a thread that ends leaves its record to the
// next one.
#include "base/hazards.h"

#include <array>
#include <bit>
#include <cstdint>

#include "base/assert.h"

namespace cellar {
namespace {

struct alignas(64) Record {
  std::array<std::atomic<const void*>, HazardSlot::kPerThread> held{};
  uint32_t free = (1u << HazardSlot::kPerThread) - 1;  // its thread's: bits of the slots that are not taken
  std::atomic<bool> owned{true};
  Record* next = nullptr;  // fixed once the record is in the list
};

constinit std::atomic<Record*> all_records{nullptr};

// It has no constructor, so that no access asks whether it is built.
constinit thread_local Record* my_record = nullptr;
constinit thread_local bool thread_ends = false;

// Returns a record that no thread owns.
Record* find_record() {
  for (Record* each = all_records.load(std::memory_order_acquire); each != nullptr; each = each->next)
    if (!each->owned.load(std::memory_order_relaxed) &&
        !each->owned.exchange(true, std::memory_order_acquire))
      return each;
  auto* const made = new Record();
  made->next = all_records.load(std::memory_order_relaxed);
  while (!all_records.compare_exchange_weak(made->next, made, std::memory_order_seq_cst)) {
  }
  return made;
}

// The end of a thread gives its record back.
struct Owner {
  ~Owner() {
    CELLAR_ASSERT(my_record->free == (1u << HazardSlot::kPerThread) - 1);  // reads have ended
    my_record->owned.store(false, std::memory_order_release);
    my_record = nullptr;
    thread_ends = true;
  }
};

bool join() {
  if (thread_ends) return false;
  my_record = find_record();
  thread_local const Owner owner;
  return true;
}

}  // namespace

bool HazardSlot::take() {
  CELLAR_DCHECK(held_ == nullptr);
  if (my_record == nullptr) [[unlikely]]
    if (!join()) return false;
  Record& record = *my_record;
  if (record.free == 0) return false;
  held_ = &record.held[static_cast<size_t>(std::countr_zero(record.free))];
  record.free &= record.free - 1;
  return true;
}

void HazardSlot::give_back() {
  if (held_ == nullptr) return;
  CELLAR_DCHECK(my_record != nullptr);  // the thread that took it
  held_->store(nullptr, std::memory_order_seq_cst);
  my_record->free |= 1u << (held_ - my_record->held.data());
  held_ = nullptr;
}

bool HazardSlot::any_holds(const void* object) {
  CELLAR_ASSERT(object != nullptr);
  for (const Record* each = all_records.load(std::memory_order_seq_cst); each != nullptr; each = each->next)
    for (const auto& held : each->held)
      if (held.load(std::memory_order_seq_cst) == object) return true;
  return false;
}

}  // namespace cellar
