// ModelTable.
#include "tests/cell_support/model_table.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/coding.h"

namespace cellar::testing {
namespace {

using Kind = ModelChange::Kind;

bool same_column(const ModelChange& a, const ModelChange& b) {
  return a.row == b.row && a.family == b.family && a.qualifier == b.qualifier;
}

CellType type_of(Kind kind) {
  switch (kind) {
    case Kind::kDeleteVersion:
    case Kind::kDeleteLatest:
      return CellType::kDelete;
    case Kind::kDeleteColumn:
      return CellType::kDeleteColumn;
    case Kind::kDeleteFamily:
    case Kind::kDeleteRow:
      return CellType::kDeleteFamily;
    case Kind::kDeleteFamilyVersion:
      return CellType::kDeleteFamilyVersion;
    default:
      return CellType::kPut;
  }
}

}  // namespace

ModelTable::ModelTable(const std::map<std::string, FamilyRules>& families) {
  for (const auto& [name, rules] : families) families_.emplace(name, ModelStore(rules));
}

// The newest visible versions of the change's column.
Cells ModelTable::column(const ModelChange& change, uint32_t versions, int64_t now_ms) const {
  ModelQuery query;
  query.start = change.row;
  query.stop = change.row + '\0';
  query.columns = {change.qualifier};
  query.versions = versions;
  query.now_ms = now_ms;
  return families_.at(change.family).read(query);
}

// An increment's or append's new cell. All changes of the column in the same write add up.
Result<Cell> ModelTable::computed(const std::vector<ModelChange>& changes, size_t i, int64_t now_ms) const {
  const ModelChange& change = changes[i];
  Cell cell(change.row, change.family, change.qualifier, change.timestamp.value_or(now_ms), CellType::kPut,
            "");
  int64_t sum = 0;
  if (const Cells current = column(change, 1, now_ms); !current.empty()) {
    cell.timestamp = std::max(current[0].timestamp + 1, now_ms);
    cell.value = current[0].value;
    cell.tags = current[0].tags;
    if (change.kind == Kind::kIncrement && cell.value.size() != 8)
      return Status::invalid_argument("not a counter: " + print_cell(current[0]));
    if (change.kind == Kind::kIncrement) sum = static_cast<int64_t>(load_be64(cell.value.data()));
  }
  if (change.ttl_ms) cell.tags = ttl_tag(*change.ttl_ms);
  for (const ModelChange& each : changes) {
    if (each.kind != change.kind || !same_column(each, change)) continue;
    cell.value += each.value;
    if (__builtin_add_overflow(sum, each.amount, &sum))
      return Status::invalid_argument("the counter would overflow");
  }
  if (change.kind != Kind::kIncrement) return cell;
  cell.value.clear();
  append_be64(cell.value, static_cast<uint64_t>(sum));
  return cell;
}

Result<std::map<std::string, Cells>> ModelTable::cells_of(const std::vector<ModelChange>& changes,
                                                          int64_t now_ms,
                                                          const ModelStamping& stamping) const {
  std::map<std::string, Cells> cells;
  // An increment or append computes one cell of a column, however often the column is named.
  const auto computed_before = [&](size_t i) -> const Cell* {
    for (size_t k = 0; k < i; ++k)
      if (changes[k].kind == changes[i].kind && same_column(changes[k], changes[i]))
        return &*std::ranges::find(cells.at(changes[i].family), changes[i].qualifier, &Cell::qualifier);
    return nullptr;
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    const ModelChange& change = changes[i];
    Cell cell(change.row, change.family, change.qualifier, change.timestamp.value_or(now_ms),
              type_of(change.kind), change.value);
    if (change.ttl_ms) cell.tags = ttl_tag(*change.ttl_ms);
    if (change.kind == Kind::kDeleteRow) {
      for (const auto& [name, store] : families_) {
        cell.family = name;
        cell.qualifier.clear();
        Cell& marker = cells[name].emplace_back(cell);
        if (stamping) stamping(marker, !change.timestamp);
      }
      continue;
    }
    if (!families_.contains(change.family))
      return Status::invalid_argument("unknown family " + change.family);
    if (covers_family(cell.type)) cell.qualifier.clear();
    if (change.kind == Kind::kDeleteLatest) {
      const auto nth = static_cast<size_t>(std::count_if(
          changes.begin(), changes.begin() + static_cast<ptrdiff_t>(i), [&](const ModelChange& each) {
            return each.kind == Kind::kDeleteLatest && same_column(each, change);
          }));
      const Cells versions = column(change, static_cast<uint32_t>(nth + 1), now_ms);
      cell.timestamp = versions.size() > nth ? versions[nth].timestamp : now_ms;
    }
    const bool computes = change.kind == Kind::kIncrement || change.kind == Kind::kAppend;
    if (computes) {
      CELLAR_TRY_ASSIGN(cell, computed(changes, i, now_ms));
    }
    if (const Cell* before = computes ? computed_before(i) : nullptr) {
      cell.timestamp = before->timestamp;
    } else if (stamping) {
      stamping(cell, !change.timestamp && change.kind != Kind::kDeleteLatest);
    }
    cells[change.family].push_back(std::move(cell));
  }
  return cells;
}

Status ModelTable::apply(const std::vector<ModelChange>& changes, uint64_t sequence, int64_t now_ms) {
  CELLAR_TRY_ASSIGN(const auto cells, cells_of(changes, now_ms));
  for (const auto& [name, written] : cells) families_.at(name).write(written, sequence);
  return {};
}

ModelQuery query_of(const ModelScan& scan, const std::string& family, int64_t now_ms) {
  ModelQuery query;
  if (const auto wanted = scan.columns.find(family); wanted != scan.columns.end())
    query.columns = wanted->second;
  query.versions = scan.passes ? UINT32_MAX : scan.versions;
  query.time_from = scan.time_from;
  query.time_until = scan.time_until;
  if (const auto times = scan.family_times.find(family); times != scan.family_times.end())
    std::tie(query.time_from, query.time_until) = times->second;
  query.strict_versions = scan.strict_versions;
  query.read_point = scan.read_point;
  query.now_ms = now_ms;
  query.raw = scan.raw;
  return query;
}

Cells page_of(const Cells& row, const ModelScan& scan) {
  std::map<std::string, uint64_t> counts;                           // by family
  std::map<std::pair<std::string, std::string>, uint64_t> columns;  // the number of each, from 1
  Cells left;
  for (const Cell& cell : row) {
    uint64_t& count = counts[cell.family];
    uint64_t& column = columns[{cell.family, cell.qualifier}];
    if (scan.family_counts_cells || column == 0) column = ++count;
    if (column <= scan.family_offset) continue;
    if (scan.family_max == 0 || column <= scan.family_offset + scan.family_max) left.push_back(cell);
  }
  return left;
}

Cells filtered(const Cells& cells, const ModelScan& scan) {
  std::map<std::string, uint32_t> versions;  // by column
  Cells left;
  for (const Cell& cell : cells)
    if (scan.passes(cell) && versions[cell.qualifier]++ < scan.versions) left.push_back(cell);
  return left;
}

std::vector<Cells> parts_of(const Cells& row, const ModelScan& scan) {
  std::vector<Cells> parts;
  uint64_t bytes = 0;
  for (const Cell& cell : row) {
    const uint64_t more = 12 + cell.row.size() + cell.family.size() + cell.qualifier.size() +
                          cell.value.size() + cell.tags.size();
    bytes += more;
    if (parts.empty() || (scan.cells_per_part != 0 && parts.back().size() >= scan.cells_per_part) ||
        (scan.bytes_per_part != 0 && bytes > scan.bytes_per_part)) {
      parts.emplace_back();
      bytes = more;
    }
    parts.back().push_back(cell);
  }
  return parts;
}

std::vector<Cells> ModelTable::scan(const ModelScan& scan, int64_t now_ms) const {
  std::map<std::string, Cells> rows;  // cells of a row: families by name, each in its order
  for (const auto& [name, store] : families_) {
    if (!scan.columns.empty() && !scan.columns.contains(name)) continue;
    const Cells seen = store.read(query_of(scan, name, now_ms));
    if (!scan.passes) {
      for (const Cell& cell : seen) rows[cell.row].push_back(cell);
      continue;
    }
    std::map<std::string, Cells> by_row;
    for (const Cell& cell : seen) by_row[cell.row].push_back(cell);
    for (const auto& [row, cells] : by_row)
      for (const Cell& cell : filtered(cells, scan)) rows[row].push_back(cell);
  }
  std::vector<std::pair<std::string, Cells>> ordered(rows.begin(), rows.end());
  if (scan.reversed) std::ranges::reverse(ordered);
  std::vector<Cells> result;
  uint64_t count = 0;
  for (auto& [row, cells] : ordered) {
    const int from_start = row.compare(scan.start) * (scan.reversed ? -1 : 1);
    const int from_stop = row.compare(scan.stop) * (scan.reversed ? -1 : 1);
    if (!scan.start.empty() && (scan.start_inclusive ? from_start < 0 : from_start <= 0)) continue;
    if (!scan.stop.empty() && (scan.stop_inclusive ? from_stop > 0 : from_stop >= 0)) continue;
    const Cells left = page_of(cells, scan);
    if (left.empty() || (scan.row_passes && !scan.row_passes(left))) continue;
    if (scan.rows_max != 0 && count++ == scan.rows_max) break;
    std::ranges::move(parts_of(left, scan), std::back_inserter(result));
  }
  return result;
}

Cells ModelTable::get(const std::string& row, ModelScan scan, int64_t now_ms) const {
  scan.start = scan.stop = row;
  scan.start_inclusive = scan.stop_inclusive = true;
  std::vector<Cells> found = this->scan(scan, now_ms);
  return found.empty() ? Cells{} : std::move(found.front());
}

}  // namespace cellar::testing
