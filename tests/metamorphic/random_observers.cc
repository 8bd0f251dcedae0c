// RandomRun: an observer of table t0 that adds to t1, and what it comes to in the mirror.
#include <fmt/format.h>

#include <algorithm>

#include "tests/metamorphic/random_run.h"
#include "tests/metamorphic/requests.h"

namespace cellar::testing {
namespace {

constexpr uint32_t kTo = 1;

// Never mind which: some values are not wanted.
bool is_refused(std::string_view value) { return value.starts_with('v') && value.ends_with('7'); }

// Returns the change that is added for one cell to come, in the same row: its value in another family, or a
// marker.
RowChange added_for(const Cell& cell) {
  RowChange change{.table = kTo, .row = cell.row};
  ModelChange& each = change.changes.emplace_back();
  each.row = change.row;
  each.family = "f";
  each.qualifier = cell.qualifier;
  each.timestamp = cell.timestamp;
  change.is_delete = cell.type != CellType::kPut;
  each.kind = change.is_delete ? ModelChange::Kind::kDeleteColumn : ModelChange::Kind::kPut;
  if (!change.is_delete) each.value = cell.value;
  return change;
}

// All cells of a write are counted in one column.
RowChange counted(size_t cells) {
  RowChange change{.table = kTo, .row = "o"};
  ModelChange& each = change.changes.emplace_back();
  each.kind = ModelChange::Kind::kIncrement;
  each.row = change.row;
  each.family = "g";
  each.qualifier = "cells";
  each.amount = static_cast<int64_t>(cells);
  return change;
}

class CopyingObserver final : public Observer {
 public:
  CopyingObserver(Engine& engine, uint64_t& point) : engine_(engine), point_(point) {}

  Status before_write(const RowView& row, ObserverContext& context) override {
    point_ = engine_.status().last_sequence;
    CELLAR_TRY_ASSIGN(const auto to, context.table(table_name(kTo)));
    for (const CellView& view : row) {
      const Cell cell(view);
      if (cell.type == CellType::kPut && is_refused(cell.value))
        return Status::invalid_argument("a value that is not wanted");
      const RowChange added = added_for(cell);
      CELLAR_TRY(added.is_delete ? context.erase(to, delete_of(added)) : context.put(to, put_of(added)));
    }
    const ModelChange count = counted(row.cells().size()).changes.front();
    return context.increment(to, count.row, count.family, count.qualifier, count.amount);
  }

 private:
  Engine& engine_;
  uint64_t& point_;
};

}  // namespace

void RandomRun::add_observer() {
  if (!plan_.observed || engine_->status().read_only) return;
  auto observer = std::make_shared<CopyingObserver>(*engine_, observed_point_);
  expect_ok(engine_->add_observer(table_name(0), "copies", std::move(observer)), "observer");
}

bool RandomRun::is_observed(const std::vector<RowChange>& rows) const {
  return plan_.observed && std::ranges::any_of(rows, [](const RowChange& row) { return row.table == 0; });
}

std::optional<std::vector<RowChange>> RandomRun::added_to(
    const std::vector<RowChange>& rows, const std::vector<std::map<std::string, Cells>>& cells) const {
  std::map<std::string, Cells> observed;  // by row
  for (size_t i = 0; plan_.observed && i < rows.size(); ++i) {
    if (rows[i].table != 0) continue;
    for (const auto& [family, written] : cells[i]) add_written(written, observed[rows[i].row]);
  }
  std::vector<RowChange> added;
  for (const auto& [row, of_row] : observed) {
    for (const Cell& cell : sorted(of_row)) {
      if (cell.type == CellType::kPut && is_refused(cell.value)) return std::nullopt;
      added.push_back(added_for(cell));
    }
  }
  if (!added.empty()) added.push_back(counted(added.size()));
  return added;
}

bool RandomRun::is_refused_by_model(const std::vector<RowChange>& rows) {
  Mirror::Written so_far;
  const auto cells = cells_of_write(rows, so_far);
  if (!cells.ok()) return true;
  const auto added = added_to(rows, *cells);
  return !added || is_dated_ahead(*added);
}

bool RandomRun::is_dated_ahead(const std::vector<RowChange>& rows) {
  const auto is_ahead = [&](const ModelChange& each) {
    return each.kind == ModelChange::Kind::kPut && each.timestamp && *each.timestamp > now_ms() &&
           *each.timestamp - now_ms() > plan_.engine.timestamp_slop_ms;
  };
  return std::ranges::any_of(
      rows, [&](const RowChange& row) { return std::ranges::any_of(row.changes, is_ahead); });
}

}  // namespace cellar::testing
