// Data of the workloads: rows, values, orders and choices, the same for every engine and every run.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace cellar::bench {

constexpr std::string_view kFamily = "f";
constexpr std::string_view kQualifier = "q0";

// "user" and twelve digits. Even numbers are rows that exist, odd ones are missing.
class RowKey {
 public:
  RowKey& set(uint64_t number) {
    for (size_t i = sizeof bytes_; i > 4; number /= 10) bytes_[--i] = static_cast<char>('0' + number % 10);
    return *this;
  }
  RowKey& present(uint64_t index) { return set(2 * index); }
  RowKey& missing(uint64_t index) { return set(2 * index + 1); }
  std::string_view view() const { return {bytes_, sizeof bytes_}; }

 private:
  char bytes_[16] = {'u', 's', 'e', 'r'};
};

inline uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93;
  return x ^ (x >> 32);
}

// Values of 100 bytes: half of it noise, half of it one letter, so that compression halves them.
class ValueMaker {
 public:
  static constexpr size_t kBytes = 100;
  // Valid until the next call. One thread at a time.
  std::string_view of(uint64_t row, uint64_t version);

 private:
  char bytes_[kBytes];
};

// Fills `to` with a value that depends on `word` and on its length. About half of it is noise and the rest is
// a single letter, so that compression halves it. Beginning and end differ from those of other words, if
// there is room: from 16 bytes on, a value that is cut off ends differently.
void fill_value(std::span<char> to, uint64_t word);

// One in a hundred values of ValueMaker.
bool one_percent(std::string_view row, std::string_view value);

// A permutation of 0 … count - 1 that looks random: a Feistel network, walked until it lands inside.
class Permutation {
 public:
  Permutation(uint64_t count, uint64_t seed);
  uint64_t operator()(uint64_t index) const;

 private:
  uint64_t count_;
  uint64_t seed_;
  int half_bits_;
};

}  // namespace cellar::bench
