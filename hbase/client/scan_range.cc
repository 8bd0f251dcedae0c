// The ends of a scan, by the rules of Table::scan.
#include "hbase/client/scan_range.h"

#include <fmt/core.h>

#include "base/bytes.h"
#include "cellar/cell.h"

namespace cellar::hbase {
namespace {

Status check_bound(std::string_view row) {
  if (row.size() <= kRowBytesMax) return {};
  return Status::limit("a bound of the scan is longer than a row can be (32,767 bytes)");
}

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
  for (const std::string* row : {&scan.start(), &scan.stop(), &scan.prefix()}) CELLAR_TRY(check_bound(*row));
  ScanRange range{scan.start(), scan.stop(), scan.start_inclusive(), scan.stop_inclusive(), false};
  if (scan.has_ranges()) {
    if (!scan.prefix().empty())
      return Status::invalid_argument("a scan cannot have both ranges and a prefix")
          .hinting("keys_with_prefix() makes a range of a prefix");
    for (const KeyRange& each : scan.ranges())
      if (!each.stop.empty() && each.start > each.stop)
        return Status::invalid_argument(fmt::format("a range of the scan starts at {}, after its stop {}",
                                                    escaped(each.start), escaped(each.stop)));
    range.empty = scan.ranges().empty();
    if (range.empty) return range;
  }
  if (!scan.prefix().empty()) {
    if (!range.stop.empty())
      return Status::invalid_argument("a scan cannot have both a prefix and an end")
          .hinting("leave out Scan::stop or Scan::prefix");
    if (!range.start.empty() && !range.start.starts_with(scan.prefix()))
      return Status::invalid_argument(fmt::format("the scan starts at {}, outside its prefix {}",
                                                  escaped(range.start), escaped(scan.prefix())));
    const std::string successor = prefix_successor(scan.prefix());
    range.stop = scan.reversed() ? scan.prefix() : successor;
    range.stop_inclusive = scan.reversed();
    if (range.start.empty()) {
      range.start = scan.reversed() ? successor : scan.prefix();
      range.start_inclusive = !scan.reversed();
    }
  }
  const Status ordered = check_order(range, scan.reversed());
  if (!ordered.ok() && !scan.has_ranges()) return ordered;
  range.empty = range.empty || !ordered.ok();  // its ends cut all ranges off
  return range;
}

}  // namespace cellar::hbase
