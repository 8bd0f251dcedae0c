// share_param(): a parameter of a cache policy that is a part of the cache, such as 25%.
#pragma once

#include <cstdint>
#include <string_view>

#include "cellar/plugin.h"

namespace cellar {

// Returns the share that `key` gives, as a number from 0 to 1: "25%" and "0.25" are the same. The value must
// be from `least` to `most`; params.finish() reports others.
double share_param(const PluginParams& params, std::string_view key, double otherwise, double least = 0,
                   double most = 1);

// Returns the whole bytes of a share, rounded down.
inline uint64_t share_of(double share, uint64_t bytes) {
  return static_cast<uint64_t>(share * static_cast<double>(bytes));
}

}  // namespace cellar
