// The loop of a copy, and that of its comparison.
#include "tools/transfer/table_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/hash.h"
#include "cell/cell_codec.h"
#include "cellar/environment.h"
#include "tools/query/table_rows.h"

namespace cellar {
namespace {

constexpr uint64_t kPartBytes = 1u << 20;  // of a row that is read at a time

uint64_t bytes_of(const CellView& cell) { return uint64_t{cell.key_size} + cell.value_size + cell.tags_size; }

// Reads whole rows of any size in parts, without the cells that a newer one of equal coordinates replaces.
class CellWalk {
 public:
  static Result<CellWalk> begin(Table& table, const Scan& scan) {
    CellWalk walk;
    CELLAR_TRY_ASSIGN(walk.scanner_, paced_scan(table, scan));
    return walk;
  }

  // Moves to the next part of a row, or to a pause without cells. Returns false at the end and after errors.
  bool next() {
    if (interrupted() || !scanner_->next()) return false;
    part_ = scanner_->row();
    new_row_ = !part_.is_cursor() && part_.row() != row_;
    if (new_row_) row_ = part_.row();
    return true;
  }
  const RowView& part() const { return part_; }
  bool begins_row() const { return new_row_; }
  const std::string& row() const { return row_; }
  // A cell that was written again follows the newest one of the same coordinates.
  bool is_repeated(const CellView& cell) {
    if (cell.key_bytes() == last_key_) return true;
    last_key_ = cell.key_bytes();
    return false;
  }
  Status status() const { return scanner_->status(); }

 private:
  std::unique_ptr<Scanner> scanner_;
  RowView part_;
  std::string row_;
  std::string last_key_;
  bool new_row_ = false;
};

Status check_time(const CellView& cell) {
  if (cell.timestamp != kLatestTimestamp) return {};
  return Status::not_supported(
      fmt::format("row {} has a cell of {}:{} without a time, which a write would "
                  "replace by its own",
                  escaped(cell.row()), escaped(cell.family()), escaped(cell.qualifier())));
}

// The counts of a range that is under way, which count only when it is complete.
struct RangeCounts {
  uint64_t rows = 0;
  uint64_t cells = 0;
  uint64_t bytes = 0;
  uint64_t tags_left_out = 0;
};

void go_on(CopyProgress& progress, const RangeCounts& counts, std::string next) {
  progress.rows += counts.rows;
  progress.cells += counts.cells;
  progress.bytes += counts.bytes;
  progress.tags_left_out += counts.tags_left_out;
  progress.done = next.empty();
  progress.next = std::move(next);
}

// The delete markers of a row, which are written after the row's other cells. A major compaction of the other
// table drops markers. Cells that are written after their marker was dropped would show.
class HeldMarkers {
 public:
  void hold(const CellView& cell) {
    bytes_ += bytes_of(cell);
    if (bytes_ <= kPartBytes) {
      cells_.emplace_back().assign(cell);
    } else {
      cells_.clear();  // the row is read again for them
    }
  }

  // Writes the markers of this row, which has ended, and holds none then. `scan` found them.
  Status write(Table& from, Scan scan, const std::string& row, CopySink& sink) {
    if (std::exchange(bytes_, 0) > kPartBytes) {
      CELLAR_TRY_ASSIGN(CellWalk walk, CellWalk::begin(from, scan.start(row).stop(row, true).stats(nullptr)));
      while (walk.next()) {
        for (const CellView& cell : walk.part())
          if (cell.type() != CellType::kPut && !walk.is_repeated(cell)) CELLAR_TRY(sink.add(cell));
      }
      return walk.status();
    }
    for (const OwnedCell& cell : cells_) CELLAR_TRY(sink.add(cell.view()));
    cells_.clear();
    return {};
  }

 private:
  std::vector<OwnedCell> cells_;
  uint64_t bytes_ = 0;
};

}  // namespace

Status copy_cells(Session& session, Table& from, const CopyPlan& plan, CopySink& sink, CopyProgress& progress,
                  const std::function<Status()>& save) {
  Scan scan = plan.scan;
  if (!progress.next.empty()) scan.start(progress.next);
  uint64_t tags_before = sink.tags_left_out();
  scan.fill_cache(false).max_result_bytes(kPartBytes);
  ScanProgress shown(session, "copy " + from.name(), from, scan);
  CELLAR_TRY_ASSIGN(CellWalk walk, CellWalk::begin(from, scan));
  RangeCounts counts;
  std::string last = progress.last;  // the row that is complete
  const auto end_range = [&](std::string next) -> Status {
    CELLAR_TRY(sink.finish());
    counts.tags_left_out = sink.tags_left_out() - tags_before;
    tags_before = sink.tags_left_out();
    go_on(progress, counts, std::move(next));
    progress.last = last;
    counts = {};
    return save();
  };
  HeldMarkers markers;
  const auto stopped = [&] {
    return interrupted_status(fmt::format("{} of {} copied", counted(progress.rows, "row"), from.name()));
  };
  while (walk.next()) {
    if (walk.begins_row()) {
      CELLAR_TRY(markers.write(from, scan, last, sink));
      if (interrupted()) return stopped();
      if (counts.bytes >= plan.portion_bytes) CELLAR_TRY(end_range(walk.row()));
      ++counts.rows;
      last = walk.row();
    }
    for (const CellView& cell : walk.part()) {
      if (walk.is_repeated(cell)) continue;
      CELLAR_TRY(check_time(cell));
      if (cell.type() == CellType::kPut || sink.takes_markers_in_order()) {
        CELLAR_TRY(sink.add(cell));
      } else {
        markers.hold(cell);
      }
      ++counts.cells;
      counts.bytes += bytes_of(cell);
    }
    const uint64_t cells = progress.cells + counts.cells;
    walk.part().is_cursor() ? shown.show(cells) : shown.step(cells);
  }
  CELLAR_TRY(walk.status());
  if (interrupted()) return stopped();
  CELLAR_TRY(markers.write(from, scan, last, sink));
  if (interrupted()) return stopped();
  return end_range({});
}

namespace {

// Folds a cell into the hash of those before it.
uint64_t hash_of(const CellView& cell, uint64_t before, bool with_tags) {
  const std::array<uint64_t, 4> parts = {before, hash64(cell.key_bytes()), hash64(cell.value_bytes()),
                                         with_tags ? hash64(cell.tags_bytes()) : 0};
  return hash64({reinterpret_cast<const char*>(parts.data()), sizeof(parts)});
}

// Leaves out cells that expire within a while, which the second table might not have any more when it is
// read. Families that keep expired versions are compared as they are.
void leave_out_expiring(const TableOptions& options, int64_t now_ms, Scan& scan) {
  for (const FamilyOptions& family : options.families) {
    if (family.ttl_s >= kForever || family.min_versions > 0) continue;
    const int64_t ttl_ms = family.ttl_s * 1000;
    const int64_t while_ms = std::min<int64_t>(ttl_ms / 10, 600'000);
    const int64_t from = std::clamp<int64_t>(now_ms - ttl_ms + while_ms, scan.time_from(),
                                             std::max(scan.time_from(), scan.time_until() - 1));
    scan.family_time_range(family.name, from, scan.time_until());
  }
}

// Compares two tables range by range. The first table decides where a range ends.
class Comparer {
 public:
  Comparer(Session& session, Table& from, Table& to, const CopyPlan& plan)
      : from_(from), to_(to), plan_(plan), scan_(plan.scan), options_(from.info().options) {
    scan_.raw(false).fill_cache(false).max_result_bytes(kPartBytes);
    shown_.emplace(session, "verify " + from.name(), from, scan_);
  }

  Result<CopyComparison> run() {
    CopyComparison all;
    std::string start;
    std::string next;
    do {
      CELLAR_TRY_ASSIGN(RangeDifference range, read_both(start, next));
      for (int again = 0; again < 2 && range.from != range.to; ++again) {
        CELLAR_TRY_ASSIGN(range, read_both(start, next));
      }
      start = next;
      ++all.ranges;
      all.rows += range.from.rows;
      all.cells += range.from.cells;
      if (range.from == range.to) continue;
      CELLAR_TRY_ASSIGN(const bool alike, are_equal_when_compacted(range));
      if (alike) continue;
      if (range.to.cells > range.from.cells) ++all.surplus;
      constexpr size_t kDifferencesMax = 1000;
      if (++all.different <= kDifferencesMax) all.differences.push_back(std::move(range));
    } while (!start.empty());
    return all;
  }

 private:
  // `start` is empty for the first range. Sets `next` to the start of the next range, and empties it
  // after the last range.
  Result<RangeDifference> read_both(const std::string& start, std::string& next) {
    Scan scan = scan_;
    leave_out_expiring(options_, system_clock().wall_ms(), scan);
    if (!start.empty()) scan.start(start);
    RangeDifference range;
    next.clear();
    CELLAR_TRY_ASSIGN(range.from, digest_of(from_, scan, &next));
    if (!next.empty()) scan.stop(next);
    scan.stats(nullptr);  // progress is that of the first table
    CELLAR_TRY_ASSIGN(range.to, digest_of(to_, scan, nullptr));
    range.start = scan.start();
    range.start_inclusive = scan.start_inclusive();
    range.stop = scan.stop();
    range.stop_inclusive = scan.stop_inclusive();
    return range;
  }

  // A time range may exclude the newest versions. An older one then shows, although the family keeps only the
  // newest, until a compaction drops it.
  Result<bool> are_equal_when_compacted(const RangeDifference& range) {
    if (!plan_.strict_versions || scan_.time_until() == Scan().time_until()) return false;
    Scan scan = scan_;
    leave_out_expiring(options_, system_clock().wall_ms(), scan);
    scan.start(range.start, range.start_inclusive).stop(range.stop, range.stop_inclusive);
    scan.strict_versions(true).stats(nullptr);
    CELLAR_TRY_ASSIGN(const RangeDigest from, digest_of(from_, scan, nullptr));
    CELLAR_TRY_ASSIGN(const RangeDigest to, digest_of(to_, scan, nullptr));
    return from == to;
  }

  Result<RangeDigest> digest_of(Table& table, const Scan& scan, std::string* stop) {
    CELLAR_TRY_ASSIGN(CellWalk walk, CellWalk::begin(table, scan));
    RangeDigest digest;
    uint64_t bytes = 0;
    while (walk.next()) {
      if (walk.begins_row()) {
        if (stop != nullptr && bytes >= plan_.range_bytes) {
          *stop = walk.row();
          break;
        }
        ++digest.rows;
      }
      for (const CellView& cell : walk.part()) {
        if (walk.is_repeated(cell)) continue;
        digest.hash = hash_of(cell, digest.hash, plan_.compare_tags);
        ++digest.cells;
        bytes += bytes_of(cell);
      }
      if (stop == nullptr) continue;
      read_ += walk.part().cells().size();
      walk.part().is_cursor() ? shown_->show(read_) : shown_->step(read_);
    }
    CELLAR_TRY(walk.status());
    if (interrupted()) return interrupted_status("the tables were not compared to the end");
    return digest;
  }

  Table& from_;
  Table& to_;
  const CopyPlan& plan_;
  Scan scan_;
  const TableOptions options_;
  std::optional<ScanProgress> shown_;
  uint64_t read_ = 0;  // cells of the first table
};

}  // namespace

Result<CopyComparison> compare_tables(Session& session, Table& from, Table& to, const CopyPlan& plan) {
  return Comparer(session, from, to, plan).run();
}

}  // namespace cellar
