// Hazards: the objects that threads use at the moment without a reference to them.
//
// These are hazard pointers (M. Michael, "Hazard Pointers: Safe Memory Reclamation for Lock-Free Objects",
// 2004). A reader writes down the object that it is about to use, and then looks whether the object is still
// the current one. The writer that replaces the object keeps the old one until no slot holds it. The
// reader touches only memory of its own thread, while a reference count is a line that all readers change.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/assert.h"

namespace cellar {

// HazardSlot: where one read of this thread writes down its object. A thread has few slots, so reads hold
// them for a short time. One thread.
class HazardSlot {
 public:
  static constexpr size_t kPerThread = 8;

  HazardSlot() = default;
  HazardSlot(const HazardSlot&) = delete;
  HazardSlot& operator=(const HazardSlot&) = delete;
  ~HazardSlot() { give_back(); }

  // Takes a free slot of the thread. Returns false if the thread has no free slot.
  bool take() {
    CELLAR_DCHECK(held_ == nullptr);
    if (mine_ == nullptr && !join()) [[unlikely]]
      return false;
    if (mine_->free == 0) [[unlikely]]
      return false;
    held_ = &mine_->held[static_cast<size_t>(std::countr_zero(mine_->free))];
    mine_->free &= mine_->free - 1;
    return true;
  }
  bool is_taken() const { return held_ != nullptr; }
  // Writes down the object that `current` points to, and returns it. The object is safe until give_back(), if
  // the writer that replaces it first changes `current` and then asks any_holds().
  template <class T>
  const T* protect(const std::atomic<const T*>& current) {
    const T* object = current.load(std::memory_order_acquire);
    while (true) {
      held_->store(object, std::memory_order_seq_cst);
      const T* const again = current.load(std::memory_order_seq_cst);
      if (again == object) return object;
      object = again;
    }
  }
  // Forgets the object, and gives the slot back to the thread. No effect without a slot.
  void give_back() {
    if (held_ == nullptr) return;
    CELLAR_DCHECK(mine_ != nullptr);  // the thread that took it
    held_->store(nullptr, std::memory_order_seq_cst);
    mine_->free |= 1u << (held_ - mine_->held.data());
    held_ = nullptr;
  }

  // Returns whether a slot of any thread holds the object.
  static bool any_holds(const void* object);

 private:
  // The slots of one thread. Records form a list that only grows. A thread that ends leaves its record to the
  // next one.
  struct alignas(64) Record {
    std::array<std::atomic<const void*>, kPerThread> held{};
    uint32_t free = (1u << kPerThread) - 1;  // its thread's: bits of the slots that are not taken
    std::atomic<bool> owned{true};
    Record* next = nullptr;  // fixed once the record is in the list
  };
  struct Owner;

  static Record* find_record();
  // Gives this thread a record. Returns false if the thread is ending.
  static bool join();

  static constinit inline std::atomic<Record*> all_{nullptr};
  // They have no constructor, so that no access asks whether they are built.
  static constinit inline thread_local Record* mine_ = nullptr;
  static constinit inline thread_local bool thread_ends_ = false;

  std::atomic<const void*>* held_ = nullptr;
};

}  // namespace cellar
