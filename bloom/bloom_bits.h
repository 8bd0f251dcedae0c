// BloomBits: one chunk of HBase's compound Bloom filter: sizing, hash positions, insertion, folding, test.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/hash.h"

namespace cellar {

// The size of a chunk and the keys for which it is made.
struct BloomShape {
  uint32_t bytes = 0;
  uint32_t keys_max = 0;  // 0: no filter of this size and rate is possible
  uint32_t hashes = 0;
};

// HBase's sizing: the size is rounded up so that it can be halved `fold_max` (at most 20) times. `error_rate`
// lies between 0 and 1; `bytes` is at most 2^28.
BloomShape bloom_shape(uint32_t bytes, float error_rate, uint32_t fold_max);

// The two hashes of a key, from which all its bit positions follow; computed once, tested in many filters.
struct BloomHashes {
  uint32_t first = 0;
  uint32_t second = 0;
};
inline BloomHashes bloom_hashes(BloomHash kind, std::string_view key) {
  const uint32_t first = bloom_hash(kind, key, 0);
  return {first, bloom_hash(kind, key, first)};
}

// The bit for the i-th hash among `bits` (1 to 2^31) bits: HBase takes the signed remainder and then its
// absolute value.
inline uint32_t bloom_position(BloomHashes hashes, uint32_t i, uint32_t bits) {
  const uint32_t combined = hashes.first + i * hashes.second;
  const uint32_t absolute = static_cast<int32_t>(combined) < 0 ? 0u - combined : combined;
  return (bits & (bits - 1)) == 0 ? absolute & (bits - 1) : absolute % bits;
}

// False only when the key was not inserted. `bits` is a chunk's payload, 1 byte to 2^28 of them.
bool bloom_may_contain(std::string_view bits, uint32_t hash_count, BloomHashes hashes);

// A chunk being filled. One thread at a time.
class BloomBits {
 public:
  explicit BloomBits(const BloomShape& shape);

  // Inserts a key that was not inserted before (a repeated one only costs capacity).
  void add(BloomHashes hashes);

  // Halves the array while at most half of its capacity is used. No key is lost: every new size divides the
  // old one.
  void fold();

  // Capacity, after folding.
  uint32_t keys_max() const { return shape_.keys_max; }
  const std::string& bytes() const { return bytes_; }

 private:
  BloomShape shape_;
  uint32_t keys_ = 0;
  std::string bytes_;
};

}  // namespace cellar
