// Requests: from the plan's words to the API's.
#include "tests/metamorphic/requests.h"

#include <algorithm>

#include "base/coding.h"

namespace cellar::testing {

Put put_of(const RowChange& change) {
  Put put(change.row);
  if (change.put_ttl_ms) put.ttl_ms(*change.put_ttl_ms);
  for (const ModelChange& each : change.changes)
    put.add_at(each.family, each.qualifier, each.timestamp.value_or(kNow), each.value);
  return put;
}

Delete delete_of(const RowChange& change) {
  Delete erase(change.row, change.timestamp.value_or(kNow));
  for (const ModelChange& each : change.changes) {
    switch (each.kind) {
      case ModelChange::Kind::kDeleteVersion:
        erase.version(each.family, each.qualifier, *each.timestamp);
        break;
      case ModelChange::Kind::kDeleteLatest:
        erase.latest_version(each.family, each.qualifier);
        break;
      case ModelChange::Kind::kDeleteColumn:
        erase.column(each.family, each.qualifier, each.timestamp);
        break;
      case ModelChange::Kind::kDeleteFamily:
        erase.family(each.family, each.timestamp);
        break;
      default:
        erase.family_version(each.family, *each.timestamp);
        break;
    }
  }
  return erase;
}

bool reads(const Operation& operation) {
  if (operation.kind == Operation::Kind::kCheckAndMutate) return true;
  for (const RowChange& row : operation.rows)
    for (const ModelChange& each : row.changes)
      if (each.kind == ModelChange::Kind::kIncrement || each.kind == ModelChange::Kind::kAppend ||
          each.kind == ModelChange::Kind::kDeleteLatest)
        return true;
  return false;
}

Increment increment_of(const RowChange& change) {
  Increment increment(change.row);
  if (change.put_ttl_ms) increment.ttl_ms(*change.put_ttl_ms);
  for (const ModelChange& each : change.changes) increment.add(each.family, each.qualifier, each.amount);
  return increment;
}

Append append_of(const RowChange& change) {
  Append append(change.row);
  if (change.put_ttl_ms) append.ttl_ms(*change.put_ttl_ms);
  for (const ModelChange& each : change.changes) append.add(each.family, each.qualifier, each.value);
  return append;
}

RowMutations::Mutation mutation_of(const RowChange& change) {
  if (change.is_delete) return delete_of(change);
  const ModelChange::Kind kind = change.changes.front().kind;
  if (kind == ModelChange::Kind::kIncrement) return increment_of(change);
  if (kind == ModelChange::Kind::kAppend) return append_of(change);
  return put_of(change);
}

RowMutations mutations_of(const std::vector<RowChange>& rows) {
  RowMutations mutations(rows.front().row);
  for (const RowChange& each : rows) mutations.add(mutation_of(each));
  return mutations;
}

bool computes(const RowChange& change) {
  return !change.is_delete && (change.changes.front().kind == ModelChange::Kind::kIncrement ||
                               change.changes.front().kind == ModelChange::Kind::kAppend);
}

std::vector<int64_t> counters_of(const RowChange& change, const std::map<std::string, Cells>& cells) {
  std::vector<int64_t> values;
  for (const ModelChange& each : change.changes) {
    if (each.kind != ModelChange::Kind::kIncrement) continue;
    const auto family = cells.find(each.family);
    if (family == cells.end()) continue;
    const auto cell = std::ranges::find(family->second, each.qualifier, &Cell::qualifier);
    if (cell != family->second.end()) values.push_back(static_cast<int64_t>(load_be64(cell->value.data())));
  }
  return values;
}

void add_written(const Cells& cells, Cells& to) {
  for (const Cell& cell : cells) {
    std::erase_if(to, [&](const Cell& each) { return compare(each, cell) == 0; });
    to.push_back(cell);
  }
}

// "expected OP stored", as the client of HBase describes it.
bool model_holds(const ModelCheck& check, const std::string& expected, const Cell* stored) {
  if (expected.empty()) {
    const bool nothing = stored == nullptr || stored->value.empty();
    return nothing == (check.compare != CompareOp::kNotEqual);
  }
  if (stored == nullptr) return false;
  switch (check.compare) {
    case CompareOp::kLess:
      return expected < stored->value;
    case CompareOp::kLessOrEqual:
      return expected <= stored->value;
    case CompareOp::kEqual:
      return expected == stored->value;
    case CompareOp::kNotEqual:
      return expected != stored->value;
    case CompareOp::kGreaterOrEqual:
      return expected >= stored->value;
    default:
      return expected > stored->value;
  }
}

Scan scan_of(const Operation& operation) {
  Scan scan;
  choose(operation.scan, scan);
  scan.start(operation.scan.start, operation.scan.start_inclusive);
  scan.stop(operation.scan.stop, operation.scan.stop_inclusive);
  scan.prefix(operation.prefix).limit(operation.scan.rows_max).reversed(operation.scan.reversed);
  scan.raw(operation.scan.raw).batch(static_cast<uint32_t>(operation.scan.cells_per_part));
  scan.max_result_bytes(operation.scan.bytes_per_part).cursor_after_cells(operation.cursor_cells);
  return scan;
}

Part part_of(const RowView& row) {
  Part part;
  for (const CellView& view : row.cells()) part.cells.emplace_back(view).sequence = 0;
  part.more = row.more_cells_in_row();
  return part;
}

FilterPtr filter_of(const ModelFilter& filter) {
  switch (filter.kind) {
    case ModelFilter::Kind::kRowPrefix:
      return prefix_filter(filter.bytes);
    case ModelFilter::Kind::kRow:
      return row_filter(filter.compare, binary(filter.bytes));
    case ModelFilter::Kind::kFamily:
      return family_filter(filter.compare, binary(filter.bytes));
    case ModelFilter::Kind::kColumnPrefix:
      return column_prefix_filter(filter.bytes);
    case ModelFilter::Kind::kColumn:
      return qualifier_filter(filter.compare, binary(filter.bytes));
    case ModelFilter::Kind::kValue:
      return value_filter(filter.compare, binary(filter.bytes));
    case ModelFilter::Kind::kRowByColumn:
      return single_column_value_filter(filter.family, filter.qualifier, filter.compare, binary(filter.bytes),
                                        filter.required);
    default:
      return page_filter(filter.rows);
  }
}

namespace {

// Returns true if the stored value OP the filter's bytes holds.
bool is_passed_by(const ModelFilter& filter, const std::string& stored) {
  const int order = stored.compare(filter.bytes);
  switch (filter.compare) {
    case CompareOp::kLess:
      return order < 0;
    case CompareOp::kLessOrEqual:
      return order <= 0;
    case CompareOp::kEqual:
      return order == 0;
    case CompareOp::kNotEqual:
      return order != 0;
    case CompareOp::kGreaterOrEqual:
      return order >= 0;
    default:
      return order > 0;
  }
}

}  // namespace

std::function<bool(const Cells&)> row_passes_of(const ModelFilter& filter) {
  if (filter.kind != ModelFilter::Kind::kRowByColumn) return nullptr;
  return [filter](const Cells& row) {
    const auto newest = std::ranges::find_if(row, [&](const Cell& cell) {
      return cell.family == filter.family && cell.qualifier == filter.qualifier;
    });
    return newest == row.end() ? !filter.required : is_passed_by(filter, newest->value);
  };
}

std::function<bool(const Cell&)> passes_of(const ModelFilter& filter) {
  const auto judged = [filter](const std::string& stored) { return is_passed_by(filter, stored); };
  switch (filter.kind) {
    case ModelFilter::Kind::kRowPrefix:
      return [=](const Cell& cell) { return cell.row.starts_with(filter.bytes); };
    case ModelFilter::Kind::kRow:
      return [=](const Cell& cell) { return judged(cell.row); };
    case ModelFilter::Kind::kFamily:
      return [=](const Cell& cell) { return judged(cell.family); };
    case ModelFilter::Kind::kColumnPrefix:
      return [=](const Cell& cell) { return cell.qualifier.starts_with(filter.bytes); };
    case ModelFilter::Kind::kColumn:
      return [=](const Cell& cell) { return judged(cell.qualifier); };
    case ModelFilter::Kind::kValue:
      return [=](const Cell& cell) { return judged(cell.value); };
    default:  // those of whole rows let every cell pass: versions are counted after them, too
      return [](const Cell&) { return true; };
  }
}

}  // namespace cellar::testing
