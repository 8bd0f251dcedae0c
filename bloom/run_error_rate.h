// Error rates of Bloom filters: how much of the memory of a store's Bloom filters each sorted run gets.
#pragma once

#include <cstdint>
#include <span>

namespace cellar {

// Returns the error rate for the filter of a run with `keys` keys. `others` are the keys of the store's
// other runs. The filters of all runs together take the memory that they would take if each had
// `error_rate`. The error rate of a run is in proportion to its keys. A get of an absent row then reads the
// fewest runs in vain. So small, young runs get more bits a key, and the largest run gets fewer.
//
// N. Dayan, M. Athanassoulis, S. Idreos, "Monkey: Optimal Navigable Key-Value Store", SIGMOD 2017, for runs
// of any sizes. The result is from 0.0001 to 0.5. It is `error_rate` if the run is the only one.
// `error_rate` is above 0 and at most 0.5.
double run_error_rate(double error_rate, uint64_t keys, std::span<const uint64_t> others);

}  // namespace cellar
