// The ends of a scan, by the rules of Table::scan.
#include "hbase/client/scan_range.h"

#include "engine/values/scan_ends.h"

namespace cellar::hbase {
namespace {

// Returns true if no row is between the ends. HBase takes a scan whose ends are the same row for a get, even
// if it excludes the row. So such a scan is not sent.
bool has_no_rows(const ScanRange& range, bool reversed) {
  if (range.start.empty() || range.stop.empty()) return false;
  const int order = reversed ? range.stop.compare(range.start) : range.start.compare(range.stop);
  return order > 0 || (order == 0 && !(range.start_inclusive && range.stop_inclusive));
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
  range.empty = has_no_rows(range, scan.reversed());
  return range;
}

}  // namespace cellar::hbase
