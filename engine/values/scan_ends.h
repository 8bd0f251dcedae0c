// ScanEnds: the ends of a scan in its direction, by the rules of Table::scan. Stores and clusters share them.
#pragma once

#include <string>
#include <string_view>

#include "cellar/query.h"
#include "cellar/status.h"

namespace cellar {

// Empty ends are open. In a reversed scan `start` is the upper end.
struct ScanEnds {
  std::string_view start;
  std::string_view stop;
  bool start_inclusive = true;
  bool stop_inclusive = false;
};

// Sets `ends` to those of a scan, with the prefix resolved for the direction. They borrow from `scan` and
// from `successor`, which becomes the end of the prefix. Fails with kInvalidArgument if the ends contradict
// the prefix, and with kLimit if an end is longer than a row can be.
Status resolve_ends(const Scan& scan, std::string& successor, ScanEnds& ends);

// Checks the ranges of a scan that has some: kInvalidArgument or kLimit.
Status check_ranges(const Scan& scan);

}  // namespace cellar
