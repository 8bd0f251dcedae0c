// The ends of a scan, by the rules of Table::scan.
#include "hbase/client/scan_range.h"

#include <fmt/core.h>

#include "base/bytes.h"
#include "engine/values/scan_ends.h"

namespace cellar::hbase {
namespace {

// HBase takes a scan whose ends are the same row for a get, even if it excludes the row: such a scan is not
// sent.
Status check_order(ScanRange& range, bool reversed) {
  if (range.start.empty() || range.stop.empty()) return {};
  const int order = reversed ? range.stop.compare(range.start) : range.start.compare(range.stop);
  if (order > 0)
    return Status::invalid_argument(fmt::format("the scan starts at {}, {} its stop {}", escaped(range.start),
                                                reversed ? "before" : "after", escaped(range.stop)))
        .hinting(reversed ? "a reversed scan starts at its upper end" : "");
  range.empty = order == 0 && !(range.start_inclusive && range.stop_inclusive);
  return {};
}

}  // namespace

Result<ScanRange> scan_range_of(const Scan& scan) {
  std::string successor;
  ScanEnds ends;
  CELLAR_TRY(resolve_ends(scan, successor, ends));
  ScanRange range{std::string(ends.start), std::string(ends.stop), ends.start_inclusive, ends.stop_inclusive,
                  false};
  if (scan.has_ranges()) {
    CELLAR_TRY(check_ranges(scan));
    range.empty = scan.ranges().empty();
    if (range.empty) return range;
  }
  const Status ordered = check_order(range, scan.reversed());
  if (!ordered.ok() && !scan.has_ranges()) return ordered;
  range.empty = range.empty || !ordered.ok();  // its ends cut all ranges off
  return range;
}

}  // namespace cellar::hbase
