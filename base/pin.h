// Pinnable and Pin: keep the bytes a view points into alive, by an intrusive count.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace cellar {

// Pinnable: something that holds bytes and is destroyed when the last pin lets go. Starts with no pins;
// make_pin() the first one. Any thread may pin what it already holds a pin on.
class Pinnable {
 public:
  Pinnable() = default;
  Pinnable(const Pinnable&) = delete;
  Pinnable& operator=(const Pinnable&) = delete;

  void add_pins(int64_t count) const { pins_.fetch_add(count, std::memory_order_relaxed); }
  void drop_pins(int64_t count) const {
    if (pins_.fetch_sub(count, std::memory_order_acq_rel) == count) const_cast<Pinnable*>(this)->unpinned();
  }

 protected:
  virtual ~Pinnable() = default;
  // The last pin is gone. Default: delete this.
  virtual void unpinned() { delete this; }

 private:
  mutable std::atomic<int64_t> pins_{0};
};

// Pin: one share in a Pinnable, or none. Copying pins again. One thread at a time, like any value.
class Pin {
 public:
  Pin() = default;
  explicit Pin(const Pinnable* held) : held_(held) {
    if (held_ != nullptr) held_->add_pins(1);
  }
  Pin(const Pin& other) : Pin(other.held_) {}
  Pin(Pin&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  Pin& operator=(Pin other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~Pin() { reset(); }

  // Takes over a pin that was already counted.
  static Pin adopt(const Pinnable* held) {
    Pin pin;
    pin.held_ = held;
    return pin;
  }

  void reset() {
    if (const Pinnable* held = std::exchange(held_, nullptr)) held->drop_pins(1);
  }
  const Pinnable* get() const { return held_; }
  explicit operator bool() const { return held_ != nullptr; }

 private:
  const Pinnable* held_ = nullptr;
};

}  // namespace cellar
