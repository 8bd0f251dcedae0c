// Zipf: random ranks whose frequency falls as a power of the rank.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/assert.h"
#include "base/random.h"

namespace cellar {

// Rejection-inversion: W. Hörmann, G. Derflinger, "Rejection-inversion to generate variates from monotone
// discrete distributions", 1996. The cost of a rank does not depend on how many there are. Any thread, with
// a generator of its own.
class Zipf {
 public:
  // Ranks from 0 to count - 1. Rank r has a frequency in proportion to (r + 1) to the power of -theta.
  // `count` and `theta` are above 0. Takes constant time, so the count may change.
  Zipf(uint64_t count, double theta)
      : count_(static_cast<double>(count)),
        theta_(theta),
        area_first_(area(1.5) - 1),
        area_last_(area(count_ + 0.5)),
        near_(2 - inverse(area(2.5) - height(2))) {
    CELLAR_ASSERT(count > 0 && theta > 0);
  }

  uint64_t operator()(Random& random) const {
    while (true) {
      const double at = area_last_ + random.unit() * (area_first_ - area_last_);
      const double x = inverse(at);
      const double rank = std::min(count_, std::max(1.0, std::floor(x + 0.5)));
      if (rank - x <= near_ || at >= area(rank + 0.5) - height(rank)) return static_cast<uint64_t>(rank) - 1;
    }
  }

  uint64_t count() const { return static_cast<uint64_t>(count_); }

 private:
  double height(double x) const { return std::exp(-theta_ * std::log(x)); }
  // The area below height() from 1 to x, and its inverse. Both stay exact where theta is near 1.
  double area(double x) const {
    const double log = std::log(x);
    return ratio_of_exp((1 - theta_) * log) * log;
  }
  double inverse(double at) const {
    const double t = std::max(-1.0, at * (1 - theta_));
    return std::exp(ratio_of_log(t) * at);
  }
  static double ratio_of_exp(double x) { return std::abs(x) > 1e-8 ? std::expm1(x) / x : 1 + x / 2; }
  static double ratio_of_log(double x) { return std::abs(x) > 1e-8 ? std::log1p(x) / x : 1 - x / 2; }

  double count_;
  double theta_;
  double area_first_;
  double area_last_;
  double near_;  // a rank this close to its point needs no second look
};

}  // namespace cellar
