// TableRead: checks a query, and resolves prefixes for the direction of the read.
#include "engine/read/table_read.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"
#include "cellar/plugin.h"
#include "engine/values/scan_ends.h"

namespace cellar {
namespace {

// Sets `range` to the ends of a scan. The range borrows from `scan` and `successor`, which becomes the end of
// the prefix.
Status take_range(const Scan& scan, std::string& successor, RowRange& range) {
  ScanEnds ends;
  CELLAR_TRY(resolve_ends(scan, successor, ends));
  range = {.start = ends.start,
           .stop = ends.stop,
           .start_inclusive = ends.start_inclusive,
           .stop_inclusive = ends.stop_inclusive,
           .reversed = scan.reversed()};
  CELLAR_ASSERT(range.start.size() <= kRowBytesMax && range.stop.size() <= kRowBytesMax);
  return {};
}

// Returns the range in the direction of a read.
RowRange directed(const KeyRange& range, bool reversed) {
  if (!reversed) return {.start = range.start, .stop = range.stop};
  return {.start = range.stop,
          .stop = range.start,
          .start_inclusive = range.stop.empty(),
          .stop_inclusive = !range.start.empty(),
          .reversed = true};
}

// Cuts off what `part` has outside of the bounds of `all`.
void cut_off(RowRange& part, const RowRange& all) {
  CELLAR_ASSERT(part.reversed == all.reversed);
  if (!all.start.empty() && (part.start.empty() || all.before_start(part.start))) {
    part.start = all.start;
    part.start_inclusive = all.start_inclusive;
  } else if (part.start == all.start) {
    part.start_inclusive = part.start_inclusive && all.start_inclusive;
  }
  if (!all.stop.empty() && (part.stop.empty() || all.past_stop(part.stop))) {
    part.stop = all.stop;
    part.stop_inclusive = all.stop_inclusive;
  } else if (part.stop == all.stop) {
    part.stop_inclusive = part.stop_inclusive && all.stop_inclusive;
  }
}

// Returns whether a key can lie between the bounds.
bool has_room(const RowRange& part) {
  if (part.start.empty() || part.stop.empty()) return true;
  if (part.start == part.stop) return part.start_inclusive && part.stop_inclusive;
  return !part.before_start(part.stop);
}

}  // namespace

std::vector<size_t> by_rows(std::span<const Get> gets) {
  std::vector<size_t> order(gets.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t at) -> const std::string& { return gets[at].row(); });
  CELLAR_DCHECK(order.empty() || gets[order.front()].row() <= gets[order.back()].row());
  return order;
}

Status check_row(std::string_view row) {
  if (row.empty()) return Status::invalid_argument("the row is empty: a row has 1 to 32,767 bytes");
  if (row.size() > kRowBytesMax)
    return Status::limit(fmt::format("the row has {} bytes: a row has 1 to 32,767", row.size()));
  return {};
}

Status check_versions_and_times(uint32_t versions, int64_t time_from, int64_t time_until) {
  if (versions == 0) return Status::invalid_argument("versions must be at least 1");
  if (time_from < 0 || time_until < time_from)
    return Status::invalid_argument(fmt::format("invalid time range [{}, {})", time_from, time_until));
  return {};
}

void ScanRead::keep_bounds(const RowRange& range) {
  read.range = range;
  const size_t bytes = range.start.size() + range.stop.size();
  if (bytes > kFewBytes) many_.resize(bytes);
  char* const start = bytes > kFewBytes ? many_.data() : few_;
  char* const stop = start + range.start.size();
  if (!range.start.empty()) std::memcpy(start, range.start.data(), range.start.size());
  if (!range.stop.empty()) std::memcpy(stop, range.stop.data(), range.stop.size());
  read.range.start = {start, range.start.size()};
  read.range.stop = {stop, range.stop.size()};
  CELLAR_DCHECK(read.range.single_row() == range.single_row());
}

// Sets the parts of the read, from the ranges of the scan and the bounds of the read.
Status ScanRead::keep_parts(const Scan& scan) {
  CELLAR_ASSERT(scan.has_ranges() && parts_ == nullptr);
  CELLAR_TRY(check_ranges(scan));
  parts_ = std::make_unique<Parts>(Parts{scan.ranges(), {}});
  std::vector<RowRange>& parts = parts_->of_read;
  for (const KeyRange& each : parts_->ranges) {
    RowRange part = directed(each, scan.reversed());
    cut_off(part, read.range);
    if (has_room(part)) parts.push_back(part);
  }
  if (scan.reversed()) std::ranges::reverse(parts);
  read.nothing = parts.empty();
  if (parts.empty()) return {};
  read.range = parts.front();
  read.range.stop = parts.back().stop;
  read.range.stop_inclusive = parts.back().stop_inclusive;
  if (parts.size() > 1) read.range.parts = &parts;
  return {};
}

Status ScanRead::resolve(const Scan& scan, Clock& clock) {
  if (scan.raw())
    for (const auto& [family, qualifiers] : scan.columns())
      if (!qualifiers.empty())
        return Status::invalid_argument("a raw scan cannot choose columns")
            .hinting("choose families, or scan without raw");
  constexpr uint64_t kManyRows = 1000;
  std::string successor;
  RowRange range;
  CELLAR_TRY(take_range(scan, successor, range));
  keep_bounds(range);
  if (scan.has_ranges()) CELLAR_TRY(keep_parts(scan));
  read.raw = scan.raw();
  read.stats = scan.stats() != nullptr ? scan.stats() : &own_stats_;
  CELLAR_ASSERT(read.filter == nullptr && !filter_);  // a scan is resolved once
  read.sequential = !read.range.single_row() && (scan.limit() == 0 || scan.limit() > kManyRows);
  read.budget = {.rows = scan.limit(),
                 .cells_per_part = scan.batch(),
                 .bytes_per_part = scan.max_result_bytes(),
                 .page = page_of(scan)};
  pace_ = ScanPace(scan.cursor_after_cells(), scan.cursor_after_ms(), clock);
  if (pace_.is_limited()) read.budget.pace = &pace_;
  if (scan.filter() != nullptr) {
    filter_ = std::make_unique<ReadFilter>(*scan.filter(), scan.reversed(), scan.raw());
    read.filter = filter_.get();
    if (scan.batch() != 0 && filter_->needs_whole_row())
      return Status::invalid_argument("the filter decides about whole rows, which cannot be read in parts")
          .hinting("leave out Scan::batch, or the filter: " + scan.filter()->to_text());
    if (filter_->needs_whole_row()) read.budget.bytes_per_part = 0;
  }
  return {};
}

void add_filter(const Get& get, std::optional<ReadFilter>& filter, TableRead& read) {
  if (get.filter() == nullptr) return;
  CELLAR_ASSERT(!filter && read.filter == nullptr);
  filter.emplace(*get.filter(), false, false);
  read.filter = &*filter;
  read.budget.cells_per_part = 0;  // drop_row() may depend on any cell
}

}  // namespace cellar
