// RandomRun: reads of other forms than get and scan, compared with the same rules.
#include <fmt/format.h>

#include <algorithm>

#include "tests/metamorphic/random_run.h"
#include "tests/metamorphic/requests.h"

namespace cellar::testing {
namespace {

// The rows of these parts.
uint64_t rows_in(const std::vector<Part>& parts) {
  return static_cast<uint64_t>(std::ranges::count(parts, false, &Part::more));
}

// Compares the totals of an explanation with the counts of the read. Returns the fault, or an empty text.
std::string sums_of(const ReadExplanation& explanation, const ReadStats& stats, uint64_t returned) {
  uint64_t taken = 0;
  for (const ReadExplanation::Source& source : explanation.sources) {
    taken += source.cells_taken;
    if (source.cells_taken > source.cells_met) return "a source gave more cells than it has met";
  }
  const ReadExplanation::PassedOver& over = explanation.passed_over;
  const uint64_t passed = over.newer + over.other_column + over.expired + over.cell_expired + over.markers +
                          over.hidden + over.outside_times + over.overwritten + over.over_versions +
                          over.filtered + over.rest_of_decided;
  if (taken == returned && taken + passed == stats.cells_examined) return {};
  return fmt::format("explained: {} taken of {} returned, {} passed over of {} examined\n{}", taken, returned,
                     passed, stats.cells_examined, to_text(explanation));
}

uint64_t cells_in(const std::vector<Part>& parts) {
  uint64_t cells = 0;
  for (const Part& part : parts) cells += part.cells.size();
  return cells;
}

}  // namespace

void RandomRun::expect_parts(const char* what, const std::vector<Part>& found,
                             const std::vector<Part>& expected) {
  note(plan_.keeps_history ? to_text(found) : "");
  if (found != expected) fail(fmt::format("{}:\n{}expected:\n{}", what, to_text(found), to_text(expected)));
}

std::vector<Part> RandomRun::parts_of_scan(Table& table, const Scan& scan) {
  std::vector<Part> found;
  const auto scanner = table.scan(scan);
  expect_ok(scanner.status(), "scan");
  if (!scanner.ok()) return found;
  for (const RowView row : **scanner)
    if (!row.is_cursor()) found.push_back(part_of(row));
  expect_ok((*scanner)->status(), "scan");
  return found;
}

void RandomRun::other_read(const Operation& operation) {
  switch (operation.kind) {
    case Kind::kGetInto:
    case Kind::kFilteredGet:
    case Kind::kExplainedGet:
      return get_otherwise(operation);
    case Kind::kRowAtOrAfter:
    case Kind::kRowAtOrBefore:
      return nearest_row(operation);
    case Kind::kCountRows:
      return count_rows(operation);
    case Kind::kEstimate:
      return estimate(operation);
    case Kind::kSplitPoints:
      return split_points(operation);
    case Kind::kScanOnward:
      return scan_onward(operation);
    default:
      return scan_otherwise(operation);
  }
}

void RandomRun::get_otherwise(const Operation& operation) {
  Get get(operation.row);
  choose(operation.scan, get);
  std::shared_ptr<const Snapshot> snapshot;
  ModelScan model = as_read(operation, snapshot);
  model.raw = false;
  if (snapshot != nullptr) get.snapshot(snapshot);
  if (operation.kind == Kind::kFilteredGet) {
    get.filter(filter_of(operation.filter)).load_families_on_demand(operation.on_demand);
    model.passes = passes_of(operation.filter);
    model.row_passes = row_passes_of(operation.filter);
  }
  ReadExplanation explanation;
  ReadStats stats;
  if (operation.kind == Kind::kExplainedGet) get.explain(&explanation).stats(&stats);
  const std::vector<Part> expected = mirrors_[operation.table].get(operation.row, model, now_ms());
  Table& table = *tables_[operation.table];
  RowBatch batch;
  if (operation.kind == Kind::kGetInto) expect_ok(table.get_into(Get("a"), batch), "get into");
  expect_ok(table.get_into(get, batch), "get into");
  std::vector<Part> found;
  for (const RowView row : batch) found.push_back(part_of(row));
  expect_parts("get", found, expected);
  if (operation.kind != Kind::kExplainedGet || failure_) return;
  if (const std::string wrong = sums_of(explanation, stats, cells_in(found)); !wrong.empty()) fail(wrong);
}

void RandomRun::scan_otherwise(const Operation& operation) {
  std::shared_ptr<const Snapshot> snapshot;
  ModelScan model = as_read(operation, snapshot);
  Scan scan = scan_of(operation);
  if (snapshot != nullptr) scan.snapshot(snapshot);
  if (operation.kind == Kind::kFilteredScan) {
    // Families cannot be left for later where rows come backwards.
    scan.filter(filter_of(operation.filter))
        .load_families_on_demand(operation.on_demand && !operation.scan.reversed);
    model.passes = passes_of(operation.filter);
    model.row_passes = row_passes_of(operation.filter);
    if (operation.filter.kind == ModelFilter::Kind::kPage)
      model.rows_max = std::min(model.rows_max - 1, operation.filter.rows - 1) + 1;  // 0: no limit
  }
  ReadExplanation explanation;
  ReadStats stats;
  if (operation.kind == Kind::kExplainedScan) scan.explain(&explanation).stats(&stats);
  const std::vector<Part> expected = mirrors_[operation.table].scan(model, operation.prefix, now_ms());
  const std::vector<Part> found = parts_of_scan(*tables_[operation.table], scan);
  expect_parts("scan", found, expected);
  if (operation.kind != Kind::kExplainedScan || failure_) return;
  if (const std::string wrong = sums_of(explanation, stats, cells_in(found)); !wrong.empty()) fail(wrong);
}

void RandomRun::nearest_row(const Operation& operation) {
  std::shared_ptr<const Snapshot> snapshot;
  ModelScan model = as_read(operation, snapshot);
  model.start = operation.row;
  model.stop.clear();
  model.start_inclusive = true;
  model.reversed = operation.kind == Kind::kRowAtOrBefore;
  model.rows_max = 1;
  model.cells_per_part = model.bytes_per_part = 0;
  Scan asked;
  choose(operation.scan, asked);
  asked.raw(model.raw);
  if (snapshot != nullptr) asked.snapshot(snapshot);
  const std::vector<Part> expected = mirrors_[operation.table].scan(model, "", now_ms());
  Table& table = *tables_[operation.table];
  const auto batch = model.reversed ? table.row_at_or_before(operation.row, asked)
                                    : table.row_at_or_after(operation.row, asked);
  if (!batch.ok()) return fail("nearest row: " + batch.status().to_text());
  std::vector<Part> found;
  for (const RowView row : *batch) found.push_back(part_of(row));
  expect_parts("nearest row", found, expected);
}

// Reads pages of a few rows. Each page except the first starts after the last row of the one before.
void RandomRun::scan_onward(const Operation& operation) {
  std::shared_ptr<const Snapshot> snapshot;
  ModelScan model = as_read(operation, snapshot);
  model.rows_max = 0;
  const std::vector<Part> expected = mirrors_[operation.table].scan(model, operation.prefix, now_ms());
  Scan scan = scan_of(operation);
  if (snapshot != nullptr) scan.snapshot(snapshot);
  const uint64_t rows = 1 + operation.which;
  scan.limit(rows).cursor_after_cells(0);
  std::vector<Part> found;
  while (!failure_) {
    const std::vector<Part> page = parts_of_scan(*tables_[operation.table], scan);
    found.insert(found.end(), page.begin(), page.end());
    if (rows_in(page) > rows) fail("a scan returned more rows than its limit");
    if (rows_in(page) < rows) break;
    scan.start(page.back().cells.front().row, false);
  }
  expect_parts("scan onward", found, expected);
}

void RandomRun::count_rows(const Operation& operation) {
  Operation counted = operation;
  ModelScan& wanted = counted.scan;
  wanted.raw = wanted.family_counts_cells = false;
  wanted.versions = 1;
  wanted.family_max = wanted.family_offset = wanted.cells_per_part = wanted.bytes_per_part = 0;
  std::shared_ptr<const Snapshot> snapshot;
  const ModelScan model = as_read(counted, snapshot);
  Scan scan = scan_of(counted);
  scan.filter(all_of({first_key_only_filter(), key_only_filter()}));
  if (snapshot != nullptr) scan.snapshot(snapshot);
  const uint64_t expected = rows_in(mirrors_[counted.table].scan(model, counted.prefix, now_ms()));
  const uint64_t found = rows_in(parts_of_scan(*tables_[counted.table], scan));
  note(fmt::format("{} rows", found));
  if (found != expected) fail(fmt::format("{} rows counted, expected {}", found, expected));
}

KeyRange RandomRun::range_of(const Operation& operation) const {
  KeyRange request;
  request.start = operation.scan.start;
  request.stop = operation.scan.stop;
  if (!request.stop.empty() && request.stop < request.start) std::swap(request.start, request.stop);
  return request;
}

std::vector<std::string> RandomRun::families_of(const Operation& operation) {
  std::vector<std::string> families;
  for (const auto& [family, columns] : operation.scan.columns) families.push_back(family);
  return families;
}

void RandomRun::estimate(const Operation& operation) {
  executor_.settle();  // what a flush has written and not yet let go of would count twice
  KeyRange request = range_of(operation);
  const std::vector<std::string> families = families_of(operation);
  Table& table = *tables_[operation.table];
  const auto in_order = [&](const EstimatedFigure& each, const char* what) {
    if (each.low > each.estimate || each.estimate > each.high)
      fail(fmt::format("estimate of {}: {} to {}, likely {}", what, each.low, each.high, each.estimate));
  };
  const auto part = table.estimate(request, families);
  request.start.clear();
  request.stop.clear();
  const auto whole = table.estimate(request, families);
  expect_ok(part.status(), "estimate");
  expect_ok(whole.status(), "estimate");
  if (failure_) return;
  for (const RangeEstimate& each : {*part, *whole}) {
    in_order(each.bytes, "bytes");
    in_order(each.cells, "cells");
    in_order(each.rows, "rows");
  }
  uint64_t stored = 0;
  for (const auto& [name, family] : mirrors_[operation.table].families()) {
    if (!operation.scan.columns.empty() && !operation.scan.columns.contains(name)) continue;
    stored += family.memory.size();
    for (const MirrorFamily::Run& run : family.runs) stored += run.cells.size();
  }
  if (whole->cells.low != stored || whole->cells.high != stored)
    fail(fmt::format("estimate of {} to {} cells, {} are stored", whole->cells.low, whole->cells.high,
                     stored));
  if (part->bytes.low > whole->bytes.high) fail("a part has more bytes than the whole");
}

void RandomRun::split_points(const Operation& operation) {
  const KeyRange request = range_of(operation);
  const size_t parts = 1 + operation.which;
  const auto splits = tables_[operation.table]->split_points(parts, request, families_of(operation));
  if (!splits.ok()) return fail("split points: " + splits.status().to_text());
  std::string before = request.start;
  if (splits->rows.size() >= parts) fail("more parts than asked for");
  for (const std::string& row : splits->rows) {
    if (row <= before || (!request.stop.empty() && row >= request.stop))
      fail("split points are not in order, or out of the range");
    before = row;
  }
}

}  // namespace cellar::testing
