// The additions that engines with flat keys need to serve the data model: locks of rows, a clock, the ends of
// a scan, counters.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "bench/driver/flat_key.h"
#include "bench/driver/peer.h"

namespace cellar::bench {

// The row locks of a store, for read-modify-write. Any thread may use them.
class RowLocks {
 public:
  Mutex& of(std::string_view row) { return locks_[std::hash<std::string_view>()(row) % locks_.size()]; }

 private:
  std::array<Mutex, 256> locks_;
};

inline int64_t clock_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// The keys a scan reads: lower ≤ key < upper; empty where it is open.
struct ScanEnds {
  std::string lower;
  std::string upper;

  explicit ScanEnds(const ScanIn& in) {
    if (!in.prefix.empty()) {
      append_part(lower, in.prefix);
      lower.resize(lower.size() - 2);
      upper = behind_prefix(lower);
    } else if (!in.start.empty()) {
      append_part(in.reversed ? upper : lower, in.start);
      if (in.reversed) upper.back() = '\1';  // after all cells of the row
    }
  }
};

// A counter as HBase stores it: 8 bytes, the highest first. 0 until it was loaded.
class CounterBytes {
 public:
  void load(std::string_view stored) {
    if (stored.size() != sizeof word_) give_up("a counter is not 8 bytes long");
    std::memcpy(&word_, stored.data(), sizeof word_);
  }
  int64_t add(int64_t amount) {
    const int64_t sum = static_cast<int64_t>(__builtin_bswap64(word_)) + amount;
    word_ = __builtin_bswap64(static_cast<uint64_t>(sum));
    return sum;
  }
  std::string_view bytes() const { return {reinterpret_cast<const char*>(&word_), sizeof word_}; }

 private:
  uint64_t word_ = 0;
};

}  // namespace cellar::bench
