// TableScanner: takes the smallest row among the families and lets each walk fill it.
#include "engine/read/table_scanner.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "engine/values/row_batch_builder.h"

namespace cellar {
namespace {

constexpr uint32_t kRowsPerCheckpoint = 256;

uint64_t bytes_of(const CellView& cell) { return uint64_t{cell.key_size} + cell.value_size + cell.tags_size; }

}  // namespace

RowReader::RowReader(StoreReaders families, const RowRange& range, const ScanBudget& budget, ReadStats* stats,
                     Executor* executor, ReadFilter* filter)
    : range_(range.parts != nullptr ? range.parts->front() : range),
      parts_(range.parts),
      budget_(budget),
      stats_(stats),
      executor_(executor),
      filter_(filter),
      in_parts_(budget.in_parts()),
      choosy_(filter != nullptr || !budget.page.are_open()) {
  CELLAR_ASSERT(stats != nullptr);
  is_plain_ = families.size() == 1 && !choosy_ && !in_parts_ && budget.pace == nullptr;
  filters_only_ = false;
  CELLAR_DCHECK(filter != nullptr ||
                std::ranges::none_of(families, [](const auto& each) { return each->on_demand(); }));
  if (!budget.page.are_open()) page_.emplace(budget.page);
  if (filter == nullptr) {
    families_ = std::move(families);
    return;
  }
  for (auto& family : families) (family->on_demand() ? rest_ : families_).push_back(std::move(family));
  filters_only_ = families_.size() == 1 && rest_.empty() && !page_ && !in_parts_ && budget.pace == nullptr &&
                  !range.single_row() && families_.front()->walk().judge().wants_all_columns();
}

// Returns whether the read has failed. Everything that the read returns waits for the answer: between two
// answers, a family that failed looks like one that is over. A family that stands on a cell has not failed.
bool RowReader::failed() {
  if (!status_.ok()) return true;
  for (const StoreReaders* readers : {&families_, &rest_}) {
    for (const auto& family : *readers) {
      if (!family->walk().is_over()) continue;
      if (Status status = family->status(); !status.ok()) {
        status_ = status.with_context("family " + family->view().config->options.name);
        return true;
      }
    }
  }
  return false;
}

// Returns the first part after the current one that does not end before `row`, or null.
const RowRange* RowReader::later_part(std::string_view row) const {
  if (parts_ == nullptr) return nullptr;
  CELLAR_DCHECK(part_ < parts_->size());
  const auto at =
      std::partition_point(parts_->begin() + static_cast<std::ptrdiff_t>(part_) + 1, parts_->end(),
                           [&](const RowRange& part) { return part.past_stop(row); });
  return at == parts_->end() ? nullptr : &*at;
}

// Goes on in the next part that can have rows. `row` is the next row of the families, after the current part.
// Returns false if it is after all parts.
bool RowReader::enter_later_part(std::string_view row) {
  CELLAR_DCHECK(!in_row_ && range_.past_stop(row));
  const RowRange* const later = later_part(row);
  if (later == nullptr) return false;
  const bool is_ahead = later->before_start(row);
  part_ = static_cast<size_t>(later - parts_->data());
  range_ = *later;
  if (!is_ahead) return true;
  using Rows = Walk<ReadJudge>::Rows;
  for (const auto& family : families_)
    if (family->at() != nullptr)
      family->walk().hop_to_row(range_.start, range_.reversed ? Rows::kBackward : Rows::kForward);
  return true;
}

// All families are opened again at the next row of the read, if their memtables were flushed. They
// find the same cells there. A filter that is done may have ended inside a row, and nothing is read any more.
bool RowReader::move_to_files() {
  if (in_row_ || pending_ != nullptr || (filter_ != nullptr && filter_->done()) || failed()) return false;
  const std::optional<std::string_view> row = first_row();
  if (!row || failed()) return false;  // at the end nothing is read any more
  count_examined();
  const RowRange& last = parts_ != nullptr ? parts_->back() : range_;
  auto start = std::make_unique<std::string>(*row);
  const RowRange rest{.start = *start,
                      .stop = last.stop,
                      .stop_inclusive = last.stop_inclusive,
                      .reversed = range_.reversed,
                      .parts = parts_};
  examined_ = 0;
  bool any = false;
  for (auto& family : families_) {
    std::unique_ptr<StoreReader> moved = family->may_move() ? family->moved(rest) : nullptr;
    any = any || moved != nullptr;
    if (moved != nullptr) family = std::move(moved);
    examined_ += family->walk().examined();
  }
  for (const auto& family : rest_) examined_ += family->walk().examined();
  if (any) resumed_at_.push_back(std::move(start));
  return any;
}

// Lets other work of the executor run, from time to time.
inline void RowReader::pass_checkpoint() {
  if (++since_checkpoint_ < kRowsPerCheckpoint || executor_ == nullptr) return;
  since_checkpoint_ = 0;
  executor_->checkpoint();
}

// Moves to the next row among the families. Returns false if the range has no further row.
bool RowReader::choose_row() {
  CELLAR_DCHECK(!in_row_ && pending_ == nullptr);
  family_ = 0;
  if (page_) page_->begin();
  if (families_.size() == 1) return in_row_ = choose_row_of_one(*families_.front());
  while (true) {
    const CellView* best = nullptr;
    for (const auto& family : families_) {
      const CellView* at = family->at();
      if (at == nullptr) continue;
      if (best == nullptr || (range_.reversed ? at->row() > best->row() : at->row() < best->row())) best = at;
    }
    if (best == nullptr) return false;
    if (range_.past_stop(best->row())) {
      if (!enter_later_part(best->row())) return false;
      pass_checkpoint();
      continue;
    }
    row_.assign(best->row());
    if (!range_.is_excluded_start(row_)) break;
    for (const auto& family : families_) {
      if (family->at() == nullptr || family->at()->row() != row_) continue;
      family->walk().enter_row();
      family->walk().leave_row();
    }
  }
  for (const auto& family : families_)
    if (family->at() != nullptr && family->at()->row() == row_) family->walk().enter_row();
  in_row_ = true;
  return true;
}

// Moves to the first cell of the next row of the only family, which needs no comparison. Returns false if the
// range has no further row.
inline bool RowReader::find_row_of_one(StoreReader& family) {
  while (const CellView* at = family.at()) {
    CELLAR_DCHECK(!family.walk().in_row());
    const std::string_view row = at->row();
    if (range_.past_stop(row)) {
      if (!enter_later_part(row)) return false;
      pass_checkpoint();
      continue;
    }
    if (!range_.is_excluded_start(row)) return true;
    family.walk().enter_row();
    family.walk().leave_row();
  }
  return false;
}

bool RowReader::choose_row_of_one(StoreReader& family) {
  if (!find_row_of_one(family)) return false;
  if (!rest_.empty()) row_.assign(family.at()->row());
  family.walk().enter_row();
  return true;
}

// Returns the first row of the families, in the range or after it; nothing at the end.
std::optional<std::string_view> RowReader::first_row() const {
  CELLAR_DCHECK(!in_row_);
  std::optional<std::string_view> best;
  for (const auto& family : families_) {
    const CellView* at = family->at();
    if (at != nullptr && (!best || (range_.reversed ? at->row() > *best : at->row() < *best)))
      best = at->row();
  }
  return best;
}

// Returns the key of the next row, or that at which the next part begins; nothing at the end.
std::optional<std::string_view> RowReader::peek_row() {
  const std::optional<std::string_view> row = first_row();
  if (!row || !range_.past_stop(*row)) return row;
  const RowRange* const later = later_part(*row);
  if (later == nullptr) return std::nullopt;
  return later->before_start(*row) ? later->start : row;
}

// Goes on in the next part if the current one has no further row. Returns whether it does. So a cursor may
// come between two parts that have no rows.
bool RowReader::leave_gap() {
  CELLAR_DCHECK(budget_.pace != nullptr);
  if (parts_ == nullptr) return false;
  const std::optional<std::string_view> row = first_row();
  if (!row || !range_.past_stop(*row) || !enter_later_part(*row)) return false;
  budget_.pace->begin_row();
  return true;
}

// Adds a cursor for the next row if one is due. Call between rows. At the end of the scan no cursor is
// returned.
bool RowReader::add_cursor_if_due(RowBatch& out) {
  CELLAR_DCHECK(!in_row_ && budget_.pace != nullptr && RowBatchBuilder::cells_in_open_row(out) == 0);
  count_examined();
  if (!budget_.pace->is_over() || failed()) return false;
  const std::optional<std::string_view> row = peek_row();
  if (row) RowBatchBuilder(out).add_cursor(*row);
  return row.has_value();
}

// Goes to the next row whose key passes the filter, unless a cursor is due.
RowReader::Entered RowReader::enter_next_row(RowBatch& out) {
  CELLAR_DCHECK(budget_.rows == 0 || rows_ <= budget_.rows);
  while (true) {
    if (budget_.rows != 0 && rows_ == budget_.rows) return Entered::kEnd;
    if (filter_ != nullptr && filter_->done()) return Entered::kEnd;
    if (budget_.pace != nullptr && add_cursor_if_due(out)) return Entered::kCursor;
    pass_checkpoint();
    if (budget_.pace != nullptr && leave_gap()) continue;
    if (!choose_row()) return Entered::kEnd;
    if (budget_.pace != nullptr) budget_.pace->begin_row();
    ++stats_->rows_scanned;
    if (filter_ == nullptr) return Entered::kRow;
    const auto first =
        std::ranges::find_if(families_, [](const auto& each) { return each->walk().in_row(); });
    CELLAR_DCHECK(first != families_.end());  // one of them has the row
    if (!filter_->drops_row(*(*first)->at())) return Entered::kRow;
    ++stats_->rows_filtered;
    for (const auto& family : families_) family->walk().leave_row();
    in_row_ = false;
  }
}

// Returns the next cell of the row to be returned; null if the family has no more cells.
inline const CellView* RowReader::next_cell(StoreReader& family) {
  if (!choosy_) return family.walk().next_in_row();
  return page_ ? next_chosen<true>(family) : next_chosen<false>(family);
}

// Returns the next cell of the row that passes the filter and belongs to the page.
template <bool kPaged>
inline const CellView* RowReader::next_chosen(StoreReader& family) {
  CELLAR_DCHECK(choosy_ && kPaged == page_.has_value());
  while ((kPaged && filter_ == nullptr) || !filter_->done()) {
    const CellView* cell = family.walk().next_in_row();
    if (cell == nullptr) break;
    if (kPaged && page_->is_behind(*cell)) {
      family.walk().leave_row();
      break;
    }
    if (kPaged && filter_ == nullptr) {
      if (is_on_page(*cell, family)) return cell;
      continue;
    }
    shown_ = *cell;
    if (!filter_->takes(family, shown_)) {
      family.note_filtered();
      continue;
    }
    if (kPaged && !is_on_page(shown_, family)) continue;
    changed_ = shown_.value != cell->value;
    return &shown_;
  }
  return nullptr;
}

// Counts a cell that passed all other tests; returns whether it belongs to the page. Sends the walk past
// cells that cannot.
bool RowReader::is_on_page(const CellView& cell, StoreReader& family) {
  CELLAR_DCHECK(page_.has_value());
  const bool taken = page_->takes(cell);
  if (page_->is_full() && (!page_->counts_columns() || family.returns_one_version())) {
    family.walk().go_on(Step::kNextRow);
  } else if (!taken && page_->counts_columns()) {
    family.walk().go_on(Step::kNextColumn);
  }
  return taken;
}

// Counts the bytes of a cell of the row. Returns false if the row has too many of them.
inline bool RowReader::count_bytes(const CellView& cell, const StoreReader& family) {
  row_bytes_ += cell.key_size + cell.value_size;
  if (budget_.row_bytes_max == 0 || row_bytes_ <= budget_.row_bytes_max) [[likely]]
    return true;
  status_ = row_over_limit(cell, budget_.row_bytes_max, family.view());
  return false;
}

bool RowReader::add(const CellView& cell, StoreReader& family, RowBatch& out) {
  CELLAR_DCHECK(!changed_ || &cell == &shown_);
  if (!count_bytes(cell, family)) return false;
  if (changed_) {
    RowBatchBuilder(out).add_changed(cell, family.walk().take_cell());
  } else {
    RowBatchBuilder(out).add(cell, family.walk().take_cell());
  }
  return true;
}

// Returns whether the part has no room for the cell. A part takes at least one cell.
bool RowReader::is_part_full(const CellView& cell, const RowBatch& out) {
  CELLAR_DCHECK(in_parts_);
  const size_t cells = RowBatchBuilder::cells_in_open_row(out);
  if (budget_.cells_per_part != 0 && cells >= budget_.cells_per_part) return true;
  part_bytes_ += bytes_of(cell);
  return budget_.bytes_per_part != 0 && cells > 0 && part_bytes_ > budget_.bytes_per_part;
}

// Adds the family's cells of the row. Returns true if the part is full and the row continues.
bool RowReader::collect_family(StoreReader& family, RowBatch& out) {
  CELLAR_DCHECK(pending_ == nullptr || in_parts_);
  while (const CellView* cell = pending_ != nullptr ? std::exchange(pending_, nullptr) : next_cell(family)) {
    if (in_parts_ && is_part_full(*cell, out)) {
      pending_ = cell;
      return true;
    }
    if (!add(*cell, family, out)) return false;
  }
  return false;
}

// Adds the cells of the row until the row or the part's budget ends. Returns true if the part is full and
// the row continues.
bool RowReader::collect(RowBatch& out) {
  CELLAR_DCHECK(in_row_ && family_ <= families_.size());
  part_bytes_ = 0;
  for (; family_ < families_.size(); ++family_) {
    StoreReader& family = *families_[family_];
    row_bytes_ = 0;
    if (!family.walk().in_row()) continue;
    if (collect_family(family, out)) return true;
    if (page_) page_->begin();
    if (!status_.ok()) return false;
  }
  return false;
}

// Returns whether the filter keeps the row. If it does, adds the row's cells from the families in rest_.
bool RowReader::decide(RowBatch& out) {
  CELLAR_DCHECK(filter_ != nullptr && !in_row_ && pending_ == nullptr);
  if (!filter_->keeps_row(out)) {
    RowBatchBuilder(out).drop_open_row();
    return false;
  }
  for (const auto& family : rest_) {
    family->to_row(row_);
    const CellView* at = family->at();
    if (at == nullptr || at->row() != row_) continue;
    family->walk().enter_row();
    if (page_) page_->begin();
    row_bytes_ = 0;
    collect_family(*family, out);
    family->walk().leave_row();
  }
  if (!rest_.empty()) RowBatchBuilder(out).sort_open_row();
  return true;
}

void RowReader::count_examined() {
  uint64_t examined = 0;
  for (const auto& family : families_) examined += family->walk().examined();
  for (const auto& family : rest_) examined += family->walk().examined();
  CELLAR_DCHECK(examined >= examined_);
  stats_->cells_examined += examined - examined_;
  if (budget_.pace != nullptr) budget_.pace->count_cells(examined - examined_);
  examined_ = examined;
}

bool RowReader::next_row(RowBatch& out) {
  if (!status_.ok()) return false;
  if (budget_.pace != nullptr) budget_.pace->go();
  while (true) {
    if (filters_only_ && filter_plain_rows(out)) return true;
    if (!status_.ok()) {
      count_examined();
      return false;
    }
    const Entered entered = in_row_ ? Entered::kRow : enter_next_row(out);
    if (entered != Entered::kRow) {
      count_examined();
      if (entered == Entered::kCursor) {
        budget_.pace->rest();
        return true;
      }
      static_cast<void>(failed());  // status() says why
      return false;
    }
    if (filter_ != nullptr) RowBatchBuilder(out).begin_row();
    const bool part_full = collect(out);
    if (!part_full) in_row_ = false;
    const bool kept = part_full || filter_ == nullptr || decide(out);
    if (failed()) {
      RowBatchBuilder(out).leave_out_open_row();
      return false;
    }
    count_examined();
    const size_t cells = kept ? RowBatchBuilder::cells_in_open_row(out) : 0;
    if (cells == 0) {
      ++stats_->rows_filtered;
      continue;
    }
    stats_->cells_returned += cells;
    if (!part_full) {
      ++rows_;
      ++stats_->rows_returned;
    }
    CELLAR_DCHECK(part_full == in_row_ && part_full == (pending_ != nullptr));
    RowBatchBuilder(out).end_row(part_full);
    if (budget_.pace != nullptr) budget_.pace->rest();
    return true;
  }
}

// Asks the filter about a row of the walk's span and moves past it. Adds the row if the filter keeps it.
// Returns false if it does not, or if the row has too many bytes.
bool RowReader::filter_plain_row(StoreReader& family, std::span<const CellView> row, RowBatch& out) {
  CELLAR_DCHECK(filters_only_ && !row.empty());
  Walk<ReadJudge>& walk = family.walk();
  RowBatchBuilder to(out);
  to.begin_row();
  row_bytes_ = 0;
  const Pinnable* const held = walk.take_cell();
  const size_t decided = filter_->takes_plain_row(row, [&](const CellView& shown, const CellView& stored) {
    if (!count_bytes(shown, family)) return false;
    shown.value != stored.value ? to.add_changed(shown, held) : to.add_chosen(shown, held);
    return true;
  });
  decided == 0 ? walk.pass_plain_row(row) : walk.leave_plain_row(row, decided);
  if (!status_.ok()) {
    to.leave_out_open_row();
    return false;
  }
  const bool had_cells = RowBatchBuilder::cells_in_open_row(out) > 0;
  const bool keeps = filter_->keeps_row(out);
  const bool has_cells = RowBatchBuilder::cells_in_open_row(out) > 0;
  const bool kept = keeps && has_cells;
  if (!kept && (had_cells || has_cells)) to.drop_open_row();
  using Rows = Walk<ReadJudge>::Rows;
  if (const std::string* const next = filter_->hinted_row(); next != nullptr)
    walk.seek_row(*next, range_.reversed ? Rows::kBackward : Rows::kForward);
  return kept;
}

// Reads the next rows that lie in the walk's span, until the filter keeps one. Returns whether it did. If
// not, the next row needs enter_next_row().
bool RowReader::filter_plain_rows(RowBatch& out) {
  CELLAR_DCHECK(filters_only_ && !in_row_);
  StoreReader& family = *families_.front();
  while (status_.ok() && (budget_.rows == 0 || rows_ < budget_.rows) && !filter_->done()) {
    if (!find_row_of_one(family)) break;
    if (!family.walk().holds_row()) break;
    const std::span<const CellView> row = family.walk().plain_row();
    if (row.empty()) break;
    pass_checkpoint();
    ++stats_->rows_scanned;
    const bool dropped = filter_->drops_row(row.front());
    if (dropped) family.walk().leave_plain_row(row, 1);
    if (dropped || !filter_plain_row(family, row, out)) {
      ++stats_->rows_filtered;
      continue;
    }
    count_examined();
    stats_->cells_returned += RowBatchBuilder::cells_in_open_row(out);
    ++rows_;
    ++stats_->rows_returned;
    RowBatchBuilder(out).end_row(false);
    return true;
  }
  return false;
}

// Adds rows of one cell, as they lie in the walk's span, up to `ahead`. Returns their number.
inline size_t RowReader::add_single_cells(Walk<ReadJudge>& walk, uint64_t row_bytes_max, RowBatchBuilder& to,
                                          const Ahead& ahead) {
  CELLAR_DCHECK(ahead.rows > 0);
  const size_t rows_max = std::min<uint64_t>(ahead.rows, std::max<uint64_t>(ahead.cells, 1));
  const uint64_t bytes_max = std::max<uint64_t>(ahead.bytes, 1);
  size_t rows = 0;
  row_bytes_ = 0;
  while (rows < rows_max && row_bytes_ < bytes_max) {
    const auto [cells, bytes] =
        walk.take_single_cells(rows_max - rows, bytes_max - row_bytes_, row_bytes_max);
    if (cells.empty()) break;
    to.add_single_cells(cells, walk.take_cell());
    rows += cells.size();
    row_bytes_ += bytes;
  }
  return rows;
}

// Adds rows of the family as they lie in the walk's span, up to `ahead`. Returns their number. If it is 0,
// the next row needs add_plain_row(). Call after find_row_of_one() found that row.
inline size_t RowReader::add_plain_rows(StoreReader& family, RowBatchBuilder& to, const Ahead& ahead) {
  using Taken = Walk<ReadJudge>::Taken;
  CELLAR_DCHECK(ahead.rows > 0);
  Walk<ReadJudge>& walk = family.walk();
  if (!walk.judge().wants_all_columns() || !walk.holds_row()) return 0;
  const bool meets_stop = range_.past_stop(walk.last_of_span().row());
  const uint64_t row_bytes_max = budget_.row_bytes_max == 0 ? UINT64_MAX : budget_.row_bytes_max;
  if (!meets_stop) {
    const size_t rows = add_single_cells(walk, row_bytes_max, to, ahead);
    if (rows > 0) return count_rows(rows, rows);
  }
  size_t rows = 0;
  uint64_t cells = 0;
  uint64_t bytes = 0;
  const std::span<const CellView> taken = walk.take_plain_rows([&](std::span<const CellView> row) {
    uint64_t row_bytes = 0;
    uint64_t row_cells = 0;
    for (const CellView& cell : row) {
      if (cell.key_in_scratch) return Taken::kNo;  // add_plain_row() copies it
      row_bytes += cell.key_size + cell.value_size;
      ++row_cells;  // a division of places would take longer
    }
    if (row_bytes > row_bytes_max) return Taken::kNo;  // add_plain_row() refuses it
    if (meets_stop && rows > 0 && range_.past_stop(row.front().row())) return Taken::kNo;
    ++rows;
    cells += row_cells;
    bytes += row_bytes;
    to.note_row(cells);
    return rows < ahead.rows && cells < ahead.cells && bytes < ahead.bytes ? Taken::kMayGoOn : Taken::kLast;
  });
  row_bytes_ = bytes;
  if (rows == 0) return 0;
  to.add_rows(taken, walk.take_cell());
  return count_rows(rows, cells);
}

// Counts rows that were returned. Returns their number.
inline size_t RowReader::count_rows(size_t rows, uint64_t cells) {
  CELLAR_DCHECK(rows > 0 && cells >= rows);
  rows_ += rows;
  since_checkpoint_ += static_cast<uint32_t>(rows) - 1;  // pass_checkpoint() counts one
  stats_->rows_scanned += rows;
  stats_->rows_returned += rows;
  stats_->cells_returned += cells;
  return rows;
}

// Returns the next row of the family if only the names of columns choose among its cells; else nothing.
inline std::span<const CellView> RowReader::wanted_row(StoreReader& family) {
  Walk<ReadJudge>& walk = family.walk();
  CELLAR_DCHECK(!walk.in_row());
  if (!walk.judge().wants_some_columns() || !walk.holds_row()) return {};
  return walk.plain_row();
}

// Adds the next row of the family. Returns false if the row has too many bytes.
bool RowReader::add_plain_row(StoreReader& family, RowBatchBuilder& to) {
  Walk<ReadJudge>& walk = family.walk();
  CELLAR_DCHECK(!walk.in_row());
  row_bytes_ = 0;
  ++stats_->rows_scanned;
  if (const std::span<const CellView> row = wanted_row(family); !row.empty()) {
    const Pinnable* const held = walk.take_cell();
    bool fits = true;
    const size_t decided = walk.judge().for_each_wanted(row, [&](const CellView& cell) {
      fits = fits && count_bytes(cell, family);
      to.add_chosen(cell, held);
    });
    decided == 0 ? walk.pass_plain_row(row) : walk.leave_plain_row(row, decided);
    if (!fits) return false;
  } else {
    walk.enter_row();
    while (const CellView* cell = walk.next_in_row()) {
      if (!count_bytes(*cell, family)) return false;
      to.add(*cell, walk.take_cell());
    }
    if (walk.is_over() && failed()) return false;
  }
  const size_t cells = to.open_row().size();
  if (cells == 0) {
    ++stats_->rows_filtered;
    return true;
  }
  to.end_row(false);
  ++rows_;
  ++stats_->rows_returned;
  stats_->cells_returned += cells;
  return true;
}

// Reads several rows in one loop, with the walk, judge and batch of next_row(). It asks only for what a plain
// read needs.
bool RowReader::next_plain(RowBatch& out, const Ahead& ahead) {
  CELLAR_DCHECK(is_plain_ && ahead.rows > 0);
  StoreReader& family = *families_.front();
  const Walk<ReadJudge>& walk = family.walk();
  RowBatchBuilder to(out);
  const size_t before = out.size();
  const uint64_t rows_max = budget_.rows == 0 ? UINT64_MAX : budget_.rows;
  const uint64_t examined_max = walk.examined() + std::min(ahead.cells, UINT64_MAX - walk.examined());
  uint64_t bytes = 0;
  while (status_.ok() && rows_ < rows_max) {
    pass_checkpoint();
    if (!find_row_of_one(family)) break;
    const size_t rows_left = std::min<uint64_t>(ahead.rows - (out.size() - before), rows_max - rows_);
    const uint64_t cells_left = examined_max - std::min(examined_max, walk.examined());
    const Ahead left{rows_left, cells_left, ahead.bytes - std::min(ahead.bytes, bytes)};
    if (add_plain_rows(family, to, left) == 0 && !add_plain_row(family, to)) break;
    bytes += row_bytes_;
    const size_t rows = out.size() - before;
    if (rows >= ahead.rows || (rows > 0 && (walk.examined() >= examined_max || bytes >= ahead.bytes))) break;
  }
  if (walk.is_over()) static_cast<void>(failed());  // else the walk stands on a cell
  if (!status_.ok()) to.leave_out_open_row();
  stats_->cells_examined += walk.examined() - examined_;
  examined_ = walk.examined();
  return out.size() > before;
}

TableScanner::TableScanner() { RowBatchBuilder(batch_).take_kept_memory(); }

void TableScanner::begin(StoreReaders&& families, const RowRange& range, const ScanBudget& budget,
                         const Reads& reads, size_t rows_ahead) {
  CELLAR_ASSERT(!reader_ && rows_ahead > 0);
  reader_.emplace(std::move(families), range, budget, reads.stats, reads.executor, reads.filter);
  meter_ = reads.meter;
  rows_ahead_ = rows_ahead;
  rows_now_ = rows_ahead <= kRowsAtOnce ? rows_ahead : kRowsAtFirst;
}

void TableScanner::end() {
  reader_.reset();
  batch_.clear();
  rows_ = at_ = 0;
  RowBatchBuilder(batch_).keep_memory();
}

Status TableScanner::status() const {
  CELLAR_ASSERT(reader_.has_value());
  if (reader_->status().ok() || at_ < rows_) return {};
  return reader_->status().with_context("table " + table_name());
}

bool TableScanner::next_batch(RowBatch& batch, size_t rows) {
  const MeteredScope metered(meter_, Metered::kScanBatch);
  batch.clear();
  while (batch.size() < rows && at_ + 1 < rows_) RowBatchBuilder(batch).add_row(batch_, ++at_);
  if (batch.size() < rows) {
    at_ = rows_;  // the scanner stands on no row any more
    if (reader_->leave_flushed()) {
      batch_.clear();
      rows_ = at_ = 0;
    }
  }
  while (batch.size() < rows && !RowBatchBuilder(batch).ends_with_cursor() &&
         reader_->next_rows(batch, {.rows = rows - batch.size()})) {
  }
  return !batch.empty();
}

bool TableScanner::read_ahead() {
  CELLAR_DCHECK(reader_.has_value());
  if (reader_->has_all_rows()) {
    rows_ = at_ = 0;
    return false;
  }
  const MeteredScope metered(meter_, Metered::kScanBatch);
  RowBatchBuilder(batch_).restart();
  if (reader_->leave_flushed()) batch_.clear();
  RowBatchBuilder(batch_).reserve_rows(rows_now_);
  at_ = 0;
  const RowReader::Ahead ahead{rows_now_, kCellsAhead, kBytesAhead};
  rows_now_ = std::min(2 * rows_now_, rows_ahead_);
  const bool found = reader_->next_rows(batch_, ahead);
  rows_ = batch_.size();
  return found;
}

}  // namespace cellar
