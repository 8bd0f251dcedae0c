// Makes gets and scans of messages.
#include "hbase/wire/from_wire_read.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cellar/filter.h"
#include "hbase/wire/client.pb.h"
#include "hbase/wire/from_wire_filter.h"

namespace cellar::hbase::wire {
namespace {

constexpr size_t kColumnsMax = 20000;  // each is looked for among the others

struct Times {
  int64_t from = 0;
  int64_t until = kLatestTimestamp;
};

Result<Times> times_of(const TimeRange& range) {
  Times times;
  if (range.has_from()) times.from = static_cast<int64_t>(range.from());
  if (range.has_to()) times.until = static_cast<int64_t>(range.to());
  if (times.from < 0 || times.until < times.from)
    return Status::invalid_argument(
        fmt::format("the time range from {} to {} is invalid", times.from, times.until));
  return times;
}

// Sets what WireGet and WireScan have under the same names.
template <class Query, class Message>
Status read_common(Query& query, const Message& from) {
  size_t columns = 0;
  for (const WireColumn& column : from.columns()) {
    columns += 1 + static_cast<size_t>(column.qualifiers_size());
    if (columns > kColumnsMax)
      return Status::limit(fmt::format("a read names more than {} columns", kColumnsMax))
          .hinting("read the family, or use a filter");
    if (column.qualifiers().empty()) query.family(column.family());
    for (const std::string& qualifier : column.qualifiers()) query.column(column.family(), qualifier);
  }
  if (from.has_filter()) {
    CELLAR_TRY_ASSIGN(FilterPtr filter, from_wire_filter(from.filter()));
    query.filter(std::move(filter));
  }
  if (from.has_time_range()) {
    CELLAR_TRY_ASSIGN(const Times times, times_of(from.time_range()));
    query.time_range(times.from, times.until);
  }
  for (const FamilyTimeRange& each : from.family_time_ranges()) {
    CELLAR_TRY_ASSIGN(const Times times, times_of(each.time_range()));
    query.family_time_range(each.family(), times.from, times.until);
  }
  if (from.max_versions() == 0) return Status::invalid_argument("a read of 0 versions reads nothing");
  query.versions(from.max_versions() >= INT32_MAX ? UINT32_MAX : from.max_versions());
  query.fill_cache(from.cache_blocks());
  // HBase counts cells, and returns one of them where 0 are asked for.
  if (from.has_store_limit()) query.max_per_family(std::max<uint32_t>(1, from.store_limit()));
  if (from.has_store_offset()) query.family_offset(from.store_offset());
  query.count_cells_per_family(true);
  if (from.has_load_families_on_demand()) query.load_families_on_demand(from.load_families_on_demand());
  return {};
}

bool has_true(const google::protobuf::RepeatedPtrField<NameBytesPair>& attributes, std::string_view name) {
  for (const NameBytesPair& each : attributes)
    if (each.name() == name) return each.value().size() == 1 && each.value().front() != 0;
  return false;
}

}  // namespace

Result<Get> from_wire_get(const WireGet& from) {
  if (from.closest_row_before())
    return Status::not_supported("HBase 2 has no getClosestRowBefore").hinting("use a reversed scan");
  Get get(from.row());
  CELLAR_TRY(read_common(get, from));
  return get;
}

Result<Scan> from_wire_scan(const WireScan& from) {
  Scan scan;
  CELLAR_TRY(read_common(scan, from));
  // A client without the flag means one row if both ends are equal.
  const bool one_row = !from.start_row().empty() && from.start_row() == from.stop_row();
  const bool include_stop = from.has_include_stop_row() ? from.include_stop_row() : one_row;
  scan.start(from.start_row(), from.include_start_row());
  scan.stop(from.stop_row(), include_stop);
  scan.reversed(from.reversed());
  scan.raw(has_true(from.attributes(), "_raw_"));
  if (from.has_batch_size()) scan.batch(from.batch_size());
  return scan;
}

}  // namespace cellar::hbase::wire
