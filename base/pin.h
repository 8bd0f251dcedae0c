// Pinnable and Pin: keep the bytes of a view alive by an intrusive reference count.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace cellar {

// Pinnable: an object that holds bytes and is destroyed when its last pin is dropped. It starts with no
// pins; constructing a Pin makes the first one. Any thread that holds a pin may make another.
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
  // Called when the last pin is dropped. By default deletes this object.
  virtual void unpinned() { delete this; }

 private:
  mutable std::atomic<int64_t> pins_{0};
};

// Pin: one reference to a Pinnable, or none. A copy adds a pin. One thread at a time, like any value.
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

  // Returns a Pin that takes over a pin that is already counted.
  static Pin adopt(const Pinnable* held) {
    Pin pin;
    pin.held_ = held;
    return pin;
  }

  void reset() {
    if (const Pinnable* held = std::exchange(held_, nullptr)) held->drop_pins(1);
  }
  // Returns the object, if any, with its pin: the caller drops it.
  const Pinnable* release() { return std::exchange(held_, nullptr); }
  const Pinnable* get() const { return held_; }
  explicit operator bool() const { return held_ != nullptr; }

 private:
  const Pinnable* held_ = nullptr;
};

}  // namespace cellar
