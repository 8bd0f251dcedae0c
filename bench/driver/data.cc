// Data of the workloads: made from seeds alone.
#include "bench/driver/data.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace cellar::bench {
namespace {

constexpr double kTheta = 0.99;
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

Zipf::Zipf(uint64_t count) : count_(static_cast<double>(count)), zeta_(0) {
  for (uint64_t i = 1; i <= count; ++i) zeta_ += std::pow(1.0 / static_cast<double>(i), kTheta);
  const double zeta_of_two = 1.0 + std::pow(0.5, kTheta);
  eta_ = (1.0 - std::pow(2.0 / count_, 1.0 - kTheta)) / (1.0 - zeta_of_two / zeta_);
}

uint64_t Zipf::operator()(Random& random) const {
  const double u = random.unit();
  if (u * zeta_ < 1.0) return 0;
  if (u * zeta_ < 1.0 + std::pow(0.5, kTheta)) return 1;
  const double rank = count_ * std::pow(eta_ * u - eta_ + 1.0, 1.0 / (1.0 - kTheta));
  return rank >= count_ ? static_cast<uint64_t>(count_) - 1 : static_cast<uint64_t>(rank);
}

std::vector<uint32_t> scattered_zipf(uint64_t count, uint64_t draws, uint64_t seed) {
  const Zipf zipf(count);
  const Permutation scatter(count, 99);
  Random random(seed);
  std::vector<uint32_t> rows(draws);
  for (uint32_t& row : rows) row = static_cast<uint32_t>(scatter(zipf(random)));
  return rows;
}

}  // namespace cellar::bench
