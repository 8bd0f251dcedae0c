// Gets and scans as messages.
#include <fmt/core.h>

#include "hbase/wire/client.pb.h"
#include "hbase/wire/to_wire.h"

namespace cellar::hbase::wire {
namespace {

Status refuse(const std::string& what, const std::string& instead) {
  return Status::not_supported("an HBase cluster has no " + what).hinting(instead);
}

// Fields that WireGet and WireScan both have, by the same names.
template <class Asked, class Message>
Status set_query(const Asked& asked, Message& to) {
  if (asked.snapshot() != nullptr) return refuse("snapshots over tables", "read without Query::snapshot");
  if (asked.explain() != nullptr) return refuse("explanations of reads", "read without Query::explain");
  if (asked.strict_versions()) return refuse("strict_versions", "read without Query::strict_versions");
  if (asked.versions() == 0) return Status::invalid_argument("a read of 0 versions: 1 or more");
  const bool pages = asked.max_per_family() != 0 || asked.family_offset() != 0;
  if (pages && !asked.count_cells_per_family() && asked.versions() != 1)
    return refuse("max_per_family that counts columns of several versions",
                  "set Query::count_cells_per_family(true), or read 1 version");
  asked.for_each_family([&](std::string_view family, std::span<const std::string> qualifiers) {
    WireColumn& column = *to.add_columns();
    column.set_family(std::string(family));
    for (const std::string& qualifier : qualifiers) column.add_qualifiers(qualifier);
  });
  to.set_max_versions(std::min<uint32_t>(asked.versions(), INT32_MAX));
  if (asked.max_per_family() != 0) to.set_store_limit(std::min<uint32_t>(asked.max_per_family(), INT32_MAX));
  if (asked.family_offset() != 0) to.set_store_offset(std::min<uint32_t>(asked.family_offset(), INT32_MAX));
  CELLAR_TRY(to_wire_times(asked.time_from(), asked.time_until(), *to.mutable_time_range()));
  for (const auto& [family, times] : asked.family_time_ranges()) {
    FamilyTimeRange& range = *to.add_family_time_ranges();
    range.set_family(family);
    CELLAR_TRY(to_wire_times(times.first, times.second, *range.mutable_time_range()));
  }
  to.set_cache_blocks(asked.fill_cache());
  to.set_load_families_on_demand(asked.load_families_on_demand());
  if (asked.filter() != nullptr) CELLAR_TRY(to_wire_filter(*asked.filter(), *to.mutable_filter()));
  return {};
}

}  // namespace

Status to_wire_times(int64_t from, int64_t until, TimeRange& to) {
  if (from < 0 || until < from)
    return Status::invalid_argument(fmt::format("invalid time range [{}, {})", from, until));
  to.set_from(static_cast<uint64_t>(from));
  to.set_to(static_cast<uint64_t>(until));
  return {};
}

Status to_wire_get(const Get& get, WireGet& to) {
  if (get.row().empty()) return Status::invalid_argument("a get has an empty row");
  if (get.row().size() > kRowBytesMax)
    return Status::limit(
        fmt::format("the row has {} bytes; at most {} are possible", get.row().size(), kRowBytesMax));
  to.set_row(get.row());
  return set_query(get, to);
}

Status to_wire_scan(const Scan& scan, WireScan& to) {
  if (scan.cursor_after_cells() != 0)
    return refuse("cursors after a number of cells", "use Scan::cursor_after_ms");
  if (scan.raw() && !scan.columns().empty()) {
    for (const auto& [family, qualifiers] : scan.columns())
      if (!qualifiers.empty()) return Status::invalid_argument("a raw scan cannot choose columns");
  }
  if (scan.batch() != 0 && scan.filter() != nullptr && scan.filter()->needs_whole_row())
    return Status::invalid_argument("a filter that must see whole rows cannot be used with Scan::batch");
  CELLAR_TRY(set_query(scan, to));
  to.set_reversed(scan.reversed());
  // HBase's servers refuse families on demand in reversed scans. In others they can lose the row after the
  // end of an answer. RegionScannerImpl takes its cells for the rest of the row before.
  to.set_load_families_on_demand(false);
  if (scan.batch() != 0) to.set_batch_size(std::min<uint32_t>(scan.batch(), INT32_MAX));
  if (scan.raw()) {
    NameBytesPair& raw = *to.add_attributes();
    raw.set_name("_raw_");
    raw.set_value("\xff");
  }
  to.set_need_cursor_result(scan.cursor_after_ms() != 0);
  return {};
}

}  // namespace cellar::hbase::wire
