// Data of the workloads: made from seeds alone.
#include "bench/workload/data.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/random.h"

namespace cellar::bench {
namespace {

constexpr size_t kNoise = 42;  // of a value, after its first word

// Bytes that no compressor makes smaller, for all values to cut their noise from.
const std::string& noise() {
  static const std::string bytes = [] {
    std::string made(1u << 20, '\0');
    Random random(20261121);
    for (size_t i = 0; i < made.size(); i += 8) {
      const uint64_t word = random.next();
      std::memcpy(made.data() + i, &word, sizeof word);
    }
    return made;
  }();
  return bytes;
}

}  // namespace

std::string_view ValueMaker::of(uint64_t row, uint64_t version) {
  const uint64_t word = mix(row * 0x9e3779b97f4a7c15 + version + 1);
  std::memcpy(bytes_, &word, sizeof word);
  std::memcpy(bytes_ + 8, noise().data() + (word >> 44) % (noise().size() - kNoise), kNoise);
  std::memset(bytes_ + 8 + kNoise, static_cast<int>('a' + word % 26), kBytes - 8 - kNoise);
  return {bytes_, kBytes};
}

void fill_value(std::span<char> to, uint64_t word) {
  constexpr size_t kWord = sizeof word;
  const size_t half = to.size() / 2;
  const size_t head = std::min(to.size(), kWord);
  const size_t noisy = half > 2 * kWord ? half - 2 * kWord : 0;
  std::memset(to.data(), static_cast<int>('a' + word % 26), to.size());
  std::memcpy(to.data(), &word, head);
  if (noisy != 0)
    std::memcpy(to.data() + head, noise().data() + (word >> 44) % (noise().size() - noisy), noisy);
  if (to.size() < 2 * kWord) return;
  const uint64_t last = mix(word + to.size());
  std::memcpy(to.data() + to.size() - kWord, &last, kWord);
}

bool one_percent(std::string_view, std::string_view value) {
  uint64_t word = 0;
  std::memcpy(&word, value.data(), sizeof word);
  return word % 100 == 0;
}

Permutation::Permutation(uint64_t count, uint64_t seed) : count_(count), seed_(mix(seed)) {
  half_bits_ = (static_cast<int>(std::bit_width(count)) + 1) / 2;
}

uint64_t Permutation::operator()(uint64_t index) const {
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  do {
    uint64_t left = index >> half_bits_;
    uint64_t right = index & mask;
    for (uint64_t round = 0; round < 4; ++round) {
      const uint64_t next = left ^ (mix(right + seed_ + round) & mask);
      left = right;
      right = next;
    }
    index = (left << half_bits_) | right;
  } while (index >= count_);
  return index;
}

}  // namespace cellar::bench
