// DiffPrinter: differences while they are found, as lines for people, one JSON document, or JSON Lines.
#pragma once

#include <string>

#include "tools/files/cell_diff.h"
#include "tools/files/meta_diff.h"
#include "tools/frame/output.h"
#include "tools/frame/value_rules.h"

namespace cellar {

// Bounded memory. One thread. All of the metadata comes before the first cell.
class DiffPrinter {
 public:
  // At most `limit` differences are printed, 0: all.
  DiffPrinter(Output& out, Format format, const std::string& a, const std::string& b, uint64_t limit,
              ValueRules rules);

  void add(const MetaDifference& difference);
  void begin_cells();
  void add(const CellDifference& difference);
  void finish(const CellDiffTotals& totals, bool complete);

  uint64_t meta_differences() const { return meta_; }
  uint64_t printed() const { return printed_; }

 private:
  bool room() const { return limit_ == 0 || printed_ < limit_; }
  void add_json(const std::string& object, bool first);

  Output& out_;
  Format format_;
  uint64_t limit_;
  ValueRules rules_;
  uint64_t meta_ = 0;
  uint64_t printed_ = 0;
  uint64_t printed_meta_ = 0;
};

}  // namespace cellar
