// ReadFilter: hints, versions and whole rows.
#include "engine/read/read_filter.h"
#include "engine/values/row_batch_builder.h"

#include <algorithm>

#include "base/assert.h"

namespace cellar {
namespace {

void assign(OwnedCell& key, const Cell& hint) {
  key.assign(hint.row, hint.family, hint.qualifier, hint.timestamp, hint.type, kLatestSequence);
}

}  // namespace

ReadFilter::ReadFilter(const Filter& prototype, bool reversed, bool raw)
    : filter_(prototype.clone()), reversed_(reversed), raw_(raw) {
  filter_->set_reversed(reversed);
}

bool ReadFilter::drops_row(const CellView& first) {
  versions_ = 0;
  passed_.reset();
  has_passed_column_ = false;
  filter_->reset();
  return filter_->drop_row_key(first);
}

// Returns whether a raw read must not show the cell to the filter. A raw walk shows family-wide markers
// even when it was sent past them.
bool ReadFilter::was_passed_by(const CellView& cell) const {
  CELLAR_DCHECK(raw_);
  if (has_passed_column_ && cell.column() == passed_column_) return true;
  if (!passed_) return false;
  OwnedCell key;
  assign(key, *passed_);
  return compare_keys(cell, key.view()) < 0;
}

bool ReadFilter::takes(StoreReader& reader, CellView& cell) {
  if (raw_ && was_passed_by(cell)) return false;
  Walk<ReadJudge>& walk = reader.walk();
  CELLAR_DCHECK(walk.in_row());
  const FilterCode code = filter_->cell(cell);
  if (code == FilterCode::kSeekHint) follow_hint(reader, cell);
  if (code == FilterCode::kNextRow || code == FilterCode::kIncludeAndNextRow) walk.go_on(Step::kNextRow);
  const bool over = includes(code) && over_versions(reader, cell);
  if (over || code == FilterCode::kNextColumn || code == FilterCode::kIncludeAndNextColumn) {
    walk.go_on(Step::kNextColumn);
    has_passed_column_ = raw_;
    if (raw_) passed_column_ = cell.column();
  }
  if (over || !includes(code)) return false;
  filter_->transform(cell);
  return true;
}

// Counts a cell that passed the filter; returns whether it exceeds the versions that the read asks for.
// The filter saw every version that is kept or, in a raw read, stored. As in HBase, delete markers count
// here, too.
bool ReadFilter::over_versions(const StoreReader& reader, const CellView& cell) {
  if (versions_ == 0 || !same_column(column_.view(), cell)) {
    column_.assign(cell.row(), cell.family(), cell.qualifier(), 0, CellType::kPut, 0);
    versions_ = 0;
  }
  return ++versions_ > reader.versions_returned();
}

void ReadFilter::follow_hint(StoreReader& reader, const CellView& cell) {
  const std::optional<Cell> hint = filter_->seek_hint(cell);
  if (!hint) return;
  const int rows = hint->row.compare(cell.row());
  if (rows == 0) {
    OwnedCell key;
    assign(key, *hint);
    CELLAR_DCHECK(same_row(key.view(), cell));
    if (compare_keys(cell, key.view()) >= 0) return;
    // Among the versions of a column there may be markers, which decide about the cells that the hint
    // leads to.
    const bool in_column = hint->family == cell.family() && hint->qualifier == cell.qualifier();
    if (in_column && !raw_ && reader.may_meet_markers()) return;
    reader.walk().seek_in_row(key.view());
    if (raw_) passed_ = hint;
  } else if (reversed_ ? rows < 0 : rows > 0) {
    using Rows = Walk<ReadJudge>::Rows;
    reader.walk().seek_row(hint->row, reversed_ ? Rows::kBackward : Rows::kForward);
  }
}

// Returns the number of cells of the rest of the row that come before the filter's hint. A hint to another
// row ends the row, and stays in hint_ if that row is ahead. A hint that is not ahead does not count.
size_t ReadFilter::cells_before_hint(const CellView& cell, std::span<const CellView> rest) {
  CELLAR_DCHECK(!raw_ && !hint_);
  std::optional<Cell> hint = filter_->seek_hint(cell);
  if (!hint) return 0;
  const int rows = hint->row.compare(cell.row());
  if (rows != 0) {
    if (reversed_ ? rows < 0 : rows > 0) hint_ = std::move(hint);
    return 0;
  }
  OwnedCell key;
  assign(key, *hint);
  size_t before = 0;
  while (before < rest.size() && compare_keys(rest[before], key.view()) < 0) ++before;
  return before;
}

bool ReadFilter::keeps_row(RowBatch& out) {
  done();
  const bool was_empty = RowBatchBuilder::cells_in_open_row(out) == 0;
  if (!filter_->needs_whole_row()) return !was_empty && !filter_->drop_row();
  cells_.assign(RowBatchBuilder(out).open_row().begin(), RowBatchBuilder(out).open_row().end());
  filter_->edit_row(cells_);
  if (!cells_.empty() && filter_->drop_row()) return false;
  RowBatchBuilder(out).replace_open_row(cells_);
  CELLAR_ASSERT(RowBatchBuilder::cells_in_open_row(out) == cells_.size());
  return !was_empty;
}

}  // namespace cellar
