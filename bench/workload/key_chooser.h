// KeyChooser: which row an operation is about: all rows alike, popular ones, or the newest ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/zipf.h"
#include "bench/workload/data.h"
#include "cellar/status.h"

namespace cellar::bench {

enum class SkewKind : uint8_t {
  kUniform,  // each row has the same probability
  kZipf,     // Zipf's law over the rows that were loaded; popular rows are scattered over the key space
  kLatest,   // Zipf's law over all rows, the newest row first
};

struct Skew {
  SkewKind kind = SkewKind::kZipf;
  double theta = 0.99;  // the exponent of Zipf's law; YCSB's value

  bool operator==(const Skew&) const = default;
};

// Takes "uniform", "zipf", "zipf:0.8", "latest" or "latest:1.1". The exponent is above 0 and at most 10.
// Error: kInvalidArgument.
Result<Skew> parse_skew(std::string_view text);
std::string to_text(const Skew& skew);

// `draws` rows of `count` by YCSB's Zipf law, popular ones scattered over the key space.
std::vector<uint32_t> scattered_zipf(uint64_t count, uint64_t draws, uint64_t seed);

// One thread at a time.
class KeyChooser {
 public:
  // `loaded` is the number of rows at the beginning, above 0.
  KeyChooser(const Skew& skew, uint64_t loaded);
  // Returns a number below `rows`, the number of rows now. It is at least `loaded`.
  uint64_t next(Random& random, uint64_t rows);

 private:
  const Skew skew_;
  Permutation scatter_;
  Zipf zipf_;
};

}  // namespace cellar::bench
