// ScanEnds: resolves a prefix, and checks what a scan names.
#include "engine/values/scan_ends.h"

#include <fmt/format.h>

#include "base/assert.h"
#include "base/bytes.h"

namespace cellar {
namespace {

Status check_end(std::string_view row) {
  if (row.size() <= kRowBytesMax) return {};
  return Status::limit("a bound of the scan is longer than a row can be (32,767 bytes)");
}

}  // namespace

Status resolve_ends(const Scan& scan, std::string& successor, ScanEnds& ends) {
  for (const std::string* row : {&scan.start(), &scan.stop(), &scan.prefix()}) CELLAR_TRY(check_end(*row));
  ends = {scan.start(), scan.stop(), scan.start_inclusive(), scan.stop_inclusive()};
  if (scan.prefix().empty()) return {};
  if (!ends.stop.empty())
    return Status::invalid_argument("a scan cannot have both a prefix and an end")
        .hinting("leave out Scan::stop or Scan::prefix");
  if (!ends.start.empty() && !ends.start.starts_with(scan.prefix()))
    return Status::invalid_argument(fmt::format("the scan starts at {}, outside its prefix {}",
                                                escaped(ends.start), escaped(scan.prefix())));
  successor = prefix_successor(scan.prefix());
  ends.stop = scan.reversed() ? scan.prefix() : successor;
  ends.stop_inclusive = scan.reversed();
  if (!ends.start.empty()) return {};
  ends.start = scan.reversed() ? successor : scan.prefix();
  ends.start_inclusive = !scan.reversed();
  CELLAR_DCHECK(ends.stop.size() <= kRowBytesMax);
  return {};
}

Status check_ranges(const Scan& scan) {
  CELLAR_ASSERT(scan.has_ranges());
  if (!scan.prefix().empty())
    return Status::invalid_argument("a scan cannot have both ranges and a prefix")
        .hinting("keys_with_prefix() makes a range of a prefix");
  for (const KeyRange& each : scan.ranges()) {
    CELLAR_TRY(check_end(each.start));
    CELLAR_TRY(check_end(each.stop));
    if (!each.stop.empty() && each.start > each.stop)
      return Status::invalid_argument(fmt::format("a range of the scan starts at {}, after its stop {}",
                                                  escaped(each.start), escaped(each.stop)));
  }
  return {};
}

}  // namespace cellar
