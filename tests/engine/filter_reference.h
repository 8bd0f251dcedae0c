// FilterReference: what a filtered read returns, worked out without seeks over all that an unfiltered one
// returns.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "cellar/cellar.h"

namespace cellar::testing {

// A filter, and for those that judge each cell by itself the same as a predicate.
struct RandomFilter {
  FilterPtr filter;
  std::function<bool(const CellView&)> passes;  // empty: it remembers, counts, edits or ends the read
};
RandomFilter random_filter(Random& random, int depth);

struct ReferenceRead {
  bool reversed = false;
  bool raw = false;
  bool on_demand = true;
  uint32_t versions = 1;  // as the read returns; `rows` holds what the filter is shown
  uint64_t limit = 0;
};

// `rows` in the order of the read. Obeys every code by passing over cells one by one.
std::vector<Row> filtered(const std::vector<Row>& rows, const Filter& filter, const ReferenceRead& read);
// The same by a predicate.
std::vector<Row> filtered(const std::vector<Row>& rows, const std::function<bool(const CellView&)>& passes,
                          const ReferenceRead& read);

}  // namespace cellar::testing
