// KeyChooser: which row an operation is about: all rows alike, popular ones, or the newest ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
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

// Zipf: ranks 0 … count - 1, rank k with a probability proportional to (k + 1) ^ -theta, exactly. It uses
// Hörmann and Derflinger's rejection-inversion (ACM TOMACS 6(3), 1996). Construction and a draw take constant
// time, so `count` may grow. YCSB's generator approximates the same law. For its scattered variant it takes
// the normalization of 10^10 items, whatever their number is. Any thread may draw with its own Random.
class Zipf {
 public:
  // `count` and `theta` are above 0.
  explicit Zipf(uint64_t count, double theta = 0.99);
  uint64_t operator()(Random& random) const;
  uint64_t count() const { return count_; }

 private:
  double area(double x) const;          // the integral of t ^ -theta from 1 to x
  double inverse_area(double y) const;  // the x with area(x) = y

  uint64_t count_;
  double theta_;
  double low_;  // the bounds of the areas that are drawn
  double high_;
  double accepted_;  // a rank this close to its point needs no second look
};

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
