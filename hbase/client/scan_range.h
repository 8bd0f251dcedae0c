// ScanRange: the ends of a scan in its direction, with prefix and ranges resolved.
#pragma once

#include <string>

#include "cellar/query.h"
#include "cellar/status.h"

namespace cellar::hbase {

struct ScanRange {
  std::string start;  // empty: from the first row; reversed: from the last
  std::string stop;   // empty: to the end
  bool start_inclusive = true;
  bool stop_inclusive = false;
  bool empty = false;  // no row can be in it
};

// kInvalidArgument if the ends contradict each other, kLimit for a row that is too long.
Result<ScanRange> scan_range_of(const Scan& scan);

}  // namespace cellar::hbase
