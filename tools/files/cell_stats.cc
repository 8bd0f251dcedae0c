// Counting cells, rows and columns while they pass.
#include "tools/files/cell_stats.h"

#include <algorithm>

#include "base/bytes.h"
#include "cell/cell_order.h"
#include "tools/frame/output.h"

namespace cellar {
namespace {

constexpr int64_t kHourMs = 3600000;
constexpr int64_t kDayMs = 24 * kHourMs;
constexpr size_t kGroupKeyBytesMax = 16u << 20;

int64_t floor_to(int64_t time, int64_t unit) {
  const int64_t rest = time % unit;
  const int64_t down = rest < 0 ? rest + unit : rest;
  return time < INT64_MIN + down ? time : time - down;
}

// Keeps the `most` largest, the earlier one first among equals.
template <class T>
void keep_largest(std::vector<T>& kept, size_t most, const T& item, uint64_t T::*size) {
  if (kept.size() >= most && (most == 0 || item.*size <= kept.back().*size)) return;
  const auto place = std::ranges::upper_bound(kept, item.*size, std::ranges::greater(), size);
  kept.insert(place, item);
  if (kept.size() > most) kept.pop_back();
}

}  // namespace

CellStats::CellStats(const CellStatsOptions& options)
    : options_(options),
      key_bytes_(Coarsening::kRelative, options.values_max),
      value_bytes_(Coarsening::kRelative, options.values_max),
      row_bytes_(Coarsening::kRelative, options.values_max),
      row_cells_(Coarsening::kRelative, options.values_max),
      columns_(Coarsening::kRelative, options.values_max),
      versions_(Coarsening::kRelative, options.values_max),
      times_(Coarsening::kAbsolute, options.values_max) {}

void CellStats::begin_file(const std::string& path) {
  files_.emplace_back();
  files_.back().path = path;
}

void CellStats::add(const CellView& cell) {
  const bool row_goes_on = in_row_ && same_row(cell, current_.view());
  if (!row_goes_on || !same_column(cell, current_.view())) {
    end_column();
    if (!row_goes_on) {
      end_row();
      in_row_ = true;
      row_.row = cell.row();
    }
    current_.assign_key(cell.key_bytes(), 0);
  }
  const uint64_t bytes = uint64_t{cell.key_size} + cell.value_size + cell.tags_size;
  CellTotals& file = files_.back();
  file.cells += 1;
  file.bytes += bytes;
  file.key_bytes += cell.key_size;
  file.value_bytes += cell.value_size;
  const auto type = std::ranges::find(kStoredTypes, cell.type());
  if (type != std::end(kStoredTypes)) file.types[static_cast<size_t>(type - std::begin(kStoredTypes))] += 1;
  key_bytes_.add(cell.key_size);
  value_bytes_.add(cell.value_size);
  if (cell.timestamp == kLatestTimestamp) {
    ++at_latest_;
  } else {
    times_.add(cell.timestamp);
  }
  row_.bytes += bytes;
  row_.cells += 1;
  column_versions_ += is_delete(cell.type()) ? 0 : 1;
  if (options_.by != GroupBy::kNothing) count_group(cell, bytes);
}

void CellStats::end_column() {
  if (column_versions_ == 0) return;
  versions_.add(static_cast<int64_t>(column_versions_));
  ++row_columns_;
  files_.back().columns += 1;
  const bool large = most_versions_.size() < options_.top ||
                     (options_.top > 0 && column_versions_ > most_versions_.back().versions);
  if (large) {
    const CellView& cell = current_.view();
    keep_largest(most_versions_, options_.top,
                 VersionedColumn{std::string(cell.row()), std::string(cell.family()),
                                 std::string(cell.qualifier()), files_.size() - 1, column_versions_},
                 &VersionedColumn::versions);
  }
  column_versions_ = 0;
}

void CellStats::end_row() {
  if (!in_row_) return;
  row_bytes_.add(static_cast<int64_t>(row_.bytes));
  row_cells_.add(static_cast<int64_t>(row_.cells));
  columns_.add(static_cast<int64_t>(row_columns_));
  row_.file = files_.size() - 1;
  keep_largest(largest_rows_, options_.top, row_, &LargeRow::bytes);
  files_.back().rows += 1;
  row_ = LargeRow();
  row_columns_ = 0;
  in_row_ = false;
}

void CellStats::end_file() {
  end_column();
  end_row();
}

CellTotals CellStats::total() const {
  CellTotals all;
  for (const CellTotals& file : files_) {
    all.cells += file.cells;
    all.rows += file.rows;
    all.columns += file.columns;
    all.bytes += file.bytes;
    all.key_bytes += file.key_bytes;
    all.value_bytes += file.value_bytes;
    for (size_t i = 0; i < all.types.size(); ++i) all.types[i] += file.types[i];
  }
  return all;
}

void CellStats::count_group(const CellView& cell, uint64_t bytes) {
  const bool timed = options_.by == GroupBy::kHour || options_.by == GroupBy::kDay;
  GroupTotals& group = timed ? time_group(cell.timestamp) : named_group(cell);
  group.cells += 1;
  group.bytes += bytes;
}

GroupTotals& CellStats::named_group(const CellView& cell) {
  std::string_view key = cell.family();
  if (options_.by == GroupBy::kRowPrefix) key = cell.row().substr(0, options_.prefix_bytes);
  if (options_.by == GroupBy::kQualifier) {
    scratch_.assign(1, static_cast<char>(cell.family_size)).append(cell.family()).append(cell.qualifier());
    key = scratch_;
  }
  const auto found = named_.find(key);
  if (found != named_.end()) return found->second;
  if (named_.size() >= options_.groups_max || group_key_bytes_ + key.size() > kGroupKeyBytesMax)
    return left_out_;
  group_key_bytes_ += key.size();
  GroupTotals& made = named_[std::string(key)];
  made.name = options_.by == GroupBy::kQualifier ? escaped(cell.family()) + ":" + escaped(cell.qualifier())
                                                 : escaped(key);
  return made;
}

GroupTotals& CellStats::time_group(int64_t timestamp) {
  const bool hours = options_.by == GroupBy::kHour;
  const int64_t begin =
      timestamp == kLatestTimestamp ? timestamp : floor_to(timestamp, hours ? kHourMs : kDayMs);
  const auto found = timed_.find(begin);
  if (found != timed_.end()) return found->second;
  if (timed_.size() >= options_.groups_max) return left_out_;
  GroupTotals& made = timed_[begin];
  made.name = time_text(begin);
  // "2026-11-20T18:00:00.000Z" to "2026-11-20T18" or "2026-11-20"
  if (made.name.size() == 24) made.name.resize(hours ? 13 : 10);
  return made;
}

std::vector<GroupTotals> CellStats::groups() const {
  std::vector<GroupTotals> all;
  for (const auto& [key, group] : named_) all.push_back(group);
  for (const auto& [begin, group] : timed_) all.push_back(group);
  return all;
}

}  // namespace cellar
