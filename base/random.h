// Random: a small seeded generator (xoshiro256**). It and Environment::seed are the only sources of
// randomness.
#pragma once

#include <cstdint>

namespace cellar {

// One thread at a time. The same seed gives the same numbers on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) {
    for (uint64_t& word : state_) {  // splitmix64, so that any seed, including 0, gives a good state
      seed += 0x9e3779b97f4a7c15;
      uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
      z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
      word = z ^ (z >> 31);
    }
  }

  uint64_t next() {
    const uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // Returns a number from 0 to limit - 1; limit is at least 1.
  uint64_t below(uint64_t limit) {
    return static_cast<uint64_t>((static_cast<Product>(next()) * limit) >> 64);
  }
  bool one_in(uint64_t n) { return below(n) == 0; }
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  // NOLINTNEXTLINE(modernize-use-using): an alias cannot carry __extension__
  __extension__ typedef unsigned __int128 Product;
  static uint64_t rotate(uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }
  uint64_t state_[4];
};

}  // namespace cellar
