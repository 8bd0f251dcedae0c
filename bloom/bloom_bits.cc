// BloomBits: HBase's formulas for the size of a chunk, its bits, and how a sparse chunk is folded.
#include "bloom/bloom_bits.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/assert.h"

namespace cellar {

namespace {

// Eight bytes at a time: of a file with few rows, this is most of the work of its filter.
void or_into(char* to, const char* from, uint32_t count) {
  uint32_t i = 0;
  for (; i + 8 <= count; i += 8) {
    uint64_t a = 0, b = 0;
    std::memcpy(&a, to + i, 8);
    std::memcpy(&b, from + i, 8);
    a |= b;
    std::memcpy(to + i, &a, 8);
  }
  for (; i < count; ++i) to[i] = static_cast<char>(to[i] | from[i]);
}

}  // namespace

BloomShape bloom_shape(uint32_t bytes, float error_rate, uint32_t fold_max) {
  CELLAR_ASSERT(error_rate > 0 && error_rate < 1 && fold_max <= 20 && bytes <= 1u << 28);
  const uint32_t step = 1u << fold_max;
  BloomShape shape;
  shape.bytes = (bytes + step - 1) / step * step;
  // Doubles computed from a float, in this order: another one may round to a neighbouring capacity.
  const double bits = 8.0 * shape.bytes;
  const double log_error = std::log(static_cast<double>(error_rate));
  const double log_two = std::log(2.0);
  const double ideal_keys = std::floor(bits * (log_two * log_two / -log_error));
  if (ideal_keys < 1) return shape;
  const double hashes = std::ceil(log_two * std::floor(bits / ideal_keys));
  shape.hashes = static_cast<uint32_t>(hashes);
  shape.keys_max = static_cast<uint32_t>(-bits / hashes * std::log(1 - std::exp(log_error / hashes)));
  return shape;
}

bool bloom_may_contain(std::string_view bits, uint32_t hash_count, BloomHashes hashes) {
  const uint32_t count = static_cast<uint32_t>(bits.size() * 8);
  const auto has = [&](uint32_t position) {
    return (static_cast<uint8_t>(bits[position >> 3]) >> (position & 7) & 1) != 0;
  };
  // The bits lie anywhere in the chunk: ask for all cache lines at once instead of waiting for one after the
  // other.
  constexpr uint32_t kTogether = 8;
  uint32_t positions[kTogether];
  for (uint32_t i = 0; i < hash_count; i += kTogether) {
    const uint32_t these = std::min(kTogether, hash_count - i);
    for (uint32_t j = 0; j < these; ++j) {
      positions[j] = bloom_position(hashes, i + j, count);
      __builtin_prefetch(bits.data() + (positions[j] >> 3));
    }
    for (uint32_t j = 0; j < these; ++j)
      if (!has(positions[j])) return false;
  }
  return true;
}

BloomBits::BloomBits(const BloomShape& shape) : shape_(shape), bytes_(shape.bytes, '\0') {
  CELLAR_ASSERT(shape.keys_max > 0 && shape.hashes > 0 && shape.bytes > 0);
}

void BloomBits::add(BloomHashes hashes) {
  const uint32_t count = shape_.bytes * 8;
  for (uint32_t i = 0; i < shape_.hashes; ++i) {
    const uint32_t position = bloom_position(hashes, i, count);
    char& byte = bytes_[position >> 3];
    byte = static_cast<char>(byte | 1 << (position & 7));
  }
  ++keys_;
}

void BloomBits::fold() {
  uint32_t bytes = shape_.bytes;
  uint32_t keys_max = shape_.keys_max;
  while (keys_ > 0 && bytes % 2 == 0 && keys_max > 2 * static_cast<uint64_t>(keys_)) {
    bytes /= 2;
    keys_max /= 2;
    or_into(bytes_.data(), bytes_.data() + bytes, bytes);
  }
  bytes_.resize(bytes);
  shape_.bytes = bytes;
  shape_.keys_max = keys_max;
}

}  // namespace cellar
