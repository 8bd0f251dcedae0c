// Walk: compares neighbouring cells once and asks a judge. Keys of a run are compared only here.
#pragma once

#include <algorithm>
#include <concepts>
#include <span>
#include <utility>

#include "base/assert.h"
#include "cell/cell_key.h"
#include "cell/cell_order.h"
#include "cell/cursor.h"

namespace cellar {

enum class Place : uint8_t { kNewRow, kNewColumn, kSameColumn };  // relative to the cell before

// Returns the place of a stored cell that comes after `before` in a run. Two rows of the same size most
// often differ in their last bytes, and so do two columns.
[[gnu::always_inline]] inline Place place_after(const CellView& before, const CellView& cell) {
  if (!same_sizes(before, cell)) return same_row(before, cell) ? Place::kNewColumn : Place::kNewRow;
  if (rows_differ(before, cell)) return Place::kNewRow;
  return same_column_of_row(before, cell) ? Place::kSameColumn : Place::kNewColumn;
}

enum class Step : uint8_t {
  kNextCell,
  kNextColumn,  // the rest of this column is decided (the judge still sees family-wide markers)
  kNextRow,     // the rest of this row is decided
  kSeek,        // nothing before target() in this row is wanted (except family-wide markers, see Judge)
  kHint,        // like kSeek, but to the key of seek_in_row(); judges do not use it
};

struct Verdict {
  bool include;
  Step then;
};

// A judge sees every cell that is not already decided, in order, with its place. After kSeek, target() is
// the key to go on at; it lies in the current row. A judge may return kNextRow or kSeek only when it has
// seen all family-wide markers that it needs. These markers have the empty qualifier and come first in
// the row.
template <class J>
concept Judge = requires(J judge, const CellView& cell, Place place) {
  { judge.judge(cell, place) } -> std::same_as<Verdict>;
  { judge.target() } -> std::same_as<const CellView&>;
};

// Usage:
//   position(...);
//   while (walk.settle() != nullptr) {
//     walk.enter_row();
//     while (const CellView* cell = walk.next_in_row()) …;
//   }
// One thread at a time. Cells live by the cursor's two-step rule, counted in moves of this walk.
template <Judge J>
class Walk {
 public:
  Walk(CellCursor& cursor, J& judge) : cursor_(cursor), judge_(judge) {}

  // Moves to the first cell at or after `target`, before any judging.
  const CellView* position(const CellView& target) {
    stand_ = Stand::kBetweenRows;
    leap_ = Leap::kNone;
    plain_row_cells_ = 0;
    ++examined_;
    return stand(cursor_.seek(target));
  }

  // Does the same, with the cell that the cursor has found.
  void begin_at(const CellView& found) {
    CELLAR_DCHECK(at_ == nullptr && stand_ == Stand::kBetweenRows);
    ++examined_;
    stand(&found);
  }

  // Returns the cell to be judged next: between rows, the first cell of the next row. Returns null at the
  // end or after an error. The walk leaves a decided row only here, so a get never pays for that move.
  const CellView* settle() {
    if (stand_ == Stand::kLeaving) leave_now();
    return at_;
  }

  // Enters the row of the cell that settle() returned.
  void enter_row() {
    CELLAR_DCHECK(stand_ != Stand::kLeaving && at_ != nullptr);
    stand_ = Stand::kInRow;
    returned_ = false;
    decided_.overheard = false;
    place_ = Place::kNewRow;
  }

  // Returns the next included cell of this row, or null when the row is over. Also returns null when the
  // cursor failed: see status().
  const CellView* next_in_row();

  // Takes the next rows, as long as they lie in the span and the judge shows each of their cells whatever the
  // others are. They have at most one cell of each column, and no marker. Only the last of them may end with
  // older versions of its last column, which the judge passes over. Asks `take` about each row, which it gets
  // as a span of the cells to be shown. The walk is then at the row after those that were taken. Returns the
  // cells to be shown. If they are none, the caller enters the next row. Call after holds_row(), for a read
  // of all columns.
  enum class Taken : uint8_t { kNo, kLast, kMayGoOn };
  template <class Take>
  std::span<const CellView> take_plain_rows(const Take& take) {
    CELLAR_DCHECK(stand_ == Stand::kBetweenRows && at_ != nullptr);
    const CellView* const begin = at_;
    const CellView* const last = span_end_ - 1;
    const CellView* row = begin;
    const CellView* end = begin;  // of the cells to be shown
    for (const CellView* cell = begin; cell != last && judge_.shows_alone(*cell); ++cell) {
      const Place place = place_after(cell[0], cell[1]);
      if (place == Place::kNewColumn) continue;
      const CellView* const next = place == Place::kNewRow ? cell + 1 : row_after_versions(cell);
      if (next == nullptr) break;
      const Taken taken = take(std::span<const CellView>(row, cell + 1));
      if (taken == Taken::kNo) break;
      row = next;
      end = cell + 1;
      if (taken == Taken::kLast || place != Place::kNewRow) break;
    }
    examined_ += static_cast<size_t>(row - begin);
    at_ = row;
    return {begin, end};
  }
  // As take_plain_rows(), for rows of one column each, as most rows of tall tables are. Takes at most
  // `rows_max` of them, and no more once they have `bytes_max` bytes. Takes no row of more than
  // `row_bytes_max` bytes, and none whose key is in scratch. Out of line, so that the loop has all registers.
  struct SingleCells {
    std::span<const CellView> cells;  // each is a row
    uint64_t bytes = 0;               // of their keys and values
  };
  [[gnu::noinline]] SingleCells take_single_cells(size_t rows_max, uint64_t bytes_max,
                                                  uint64_t row_bytes_max) {
    CELLAR_DCHECK(stand_ == Stand::kBetweenRows && at_ != nullptr);
    const CellView* const begin = at_;
    const CellView* const end = begin + std::min(rows_max, static_cast<size_t>(span_end_ - 1 - begin));
    const auto alone = judge_.alone();
    const CellView* cell = begin;
    const CellView* next = nullptr;  // the row after older versions of the last cell
    uint64_t bytes = 0;
    while (cell != end && bytes < bytes_max && next == nullptr) {
      const uint64_t row_bytes = uint64_t{cell->key_size} + cell->value_size;
      if (!alone.shows(*cell) || cell->key_in_scratch || row_bytes > row_bytes_max) break;
      if (!same_sizes(cell[0], cell[1]) || !rows_differ(cell[0], cell[1])) [[unlikely]] {
        const Place place = place_after(cell[0], cell[1]);
        if (place == Place::kNewColumn) break;
        if (place == Place::kSameColumn && (next = row_after_versions(cell)) == nullptr) break;
      }
      bytes += row_bytes;
      ++cell;
    }
    if (next == nullptr) next = cell;
    examined_ += static_cast<size_t>(next - begin);
    at_ = next;
    return {{begin, cell}, bytes};
  }
  // Returns whether the row at which the walk stands ends in the span, or the last cell of the span is
  // enough. Takes in a longer span for that, where the cursor has one. Call after settle() returned a cell.
  template <class IsEnough>
  bool holds_row(const IsEnough& is_enough) {
    CELLAR_DCHECK(at_ != nullptr && at_ < span_end_);
    while (same_row(*at_, span_end_[-1]) && !is_enough(span_end_[-1])) {
      if (long_rows_ == 0 && widen_span()) continue;
      if (long_rows_ > 0) {
        --long_rows_;
      } else if (span_end_ - at_ > kLongRow) {
        long_rows_ = kLongRowsNext;
      }
      return false;
    }
    return true;
  }
  bool holds_row() {
    return holds_row([](const CellView&) { return false; });
  }
  // Returns the next row, if the judge shows each of its cells whatever the others are, as above; else
  // nothing. Without a span that holds the whole row, returns the cells before the last one of the span.
  // Cells of columns that are not wanted are among them. The walk does not move. Call after holds_row().
  std::span<const CellView> plain_row() const {
    CELLAR_DCHECK(at_ != nullptr && at_ < span_end_);
    const CellView* const row_end = end_of_row();
    const CellView* const end = row_end == span_end_ ? row_end - 1 : row_end;
    for (const CellView* cell = at_; cell != end; ++cell) {
      if (!judge_.shows_alone(*cell)) return {};
      if (cell + 1 != row_end && same_column_of_row(cell[0], cell[1])) return {};
    }
    return {at_, end};
  }
  // Moves past the row that plain_row() returned, all of whose cells were looked at.
  void pass_plain_row(std::span<const CellView> row) {
    CELLAR_DCHECK(stand_ == Stand::kBetweenRows && row.data() == at_ && at_ + row.size() < span_end_);
    examined_ += row.size();
    at_ += row.size();
  }
  // Leaves the row that plain_row() returned. Its first cells decided about it. settle() makes the move.
  void leave_plain_row(std::span<const CellView> row, size_t cells) {
    CELLAR_DCHECK(stand_ == Stand::kBetweenRows && row.data() == at_ && at_ + row.size() < span_end_);
    CELLAR_DCHECK(cells > 0 && cells <= row.size());
    examined_ += cells - 1;
    plain_row_cells_ = row.size();
    plain_row_decided_ = cells < row.size();
    stand_ = Stand::kLeaving;
  }
  const J& judge() const { return judge_; }
  // Returns the last cell that the cursor has given. Call after settle() returned a cell.
  const CellView& last_of_span() const {
    CELLAR_DCHECK(at_ != nullptr && at_ < span_end_);
    return span_end_[-1];
  }

  // Leaves the row. settle() makes the move.
  void leave_row();

  // Moves at least as far as `at_least` after the cell returned last. Called from outside the judge, like
  // the two functions below; none of them undoes a step of the judge.
  void go_on(Step at_least) {
    if (decided_.then == Step::kNextCell || at_least == Step::kNextRow) decided_.then = at_least;
  }
  // Goes on at this key of the row.
  void seek_in_row(const CellView& key) {
    if (decided_.then == Step::kNextRow) return;
    hint_.assign(key);
    decided_.then = Step::kHint;
  }
  // Goes on at `row`, or else at the row that follows it in the direction of the cursor.
  enum class Rows : uint8_t { kForward, kBackward };
  void seek_row(std::string_view row, Rows direction) {
    first_of_row(hint_, row);
    decided_.then = Step::kNextRow;
    leap_ = direction == Rows::kBackward ? Leap::kBackward : Leap::kForward;
  }
  // Skips the rows before `row`. Call between rows, with a forward cursor only.
  void skip_to_row(std::string_view row) {
    stand_ = Stand::kBetweenRows;
    leap_ = Leap::kNone;
    plain_row_cells_ = 0;
    if (at_ == nullptr || at_->row() >= row) return;
    first_of_row(hop_, row);
    skip_forward(hop_.view());
  }

  // Goes on at `row`, or else at the row that follows it in the direction of the cursor, unless the walk is
  // there already. Call between rows, after settle(). `row` is not of a cell of the walk.
  void hop_to_row(std::string_view row, Rows direction) {
    CELLAR_DCHECK(stand_ == Stand::kBetweenRows);
    if (direction == Rows::kForward) return skip_to_row(row);
    if (at_ == nullptr || at_->row() <= row) return;
    first_of_row(hop_, row);
    if (stand(cursor_.seek(hop_.view())) != nullptr) ++examined_;
  }

  // Returns whether there is no cell to stand on: the end, an error (see status()), or not positioned yet.
  bool is_over() const { return at_ == nullptr; }
  bool in_row() const { return stand_ == Stand::kInRow; }
  Status status() const { return cursor_.status(); }
  // Returns the object that holds the bytes of the current cell, which goes into the answer of the read.
  // A cursor that counts the cells of an answer gives spans of one cell, and is asked for each.
  const Pinnable* take_cell() { return span_held_ != nullptr ? span_held_ : cursor_.take_cell(); }
  // Does the same for the cells from the current one to the end of its span, and ends the walk. Their bytes
  // live as long as the pin.
  Pin take_last_cells() {
    if (span_held_ != nullptr && span_held_ != cursor_.pinned()) return Pin(span_held_);
    return cursor_.take_last_cell();
  }
  // Returns the number of cells examined so far, included or not.
  uint64_t examined() const { return examined_; }

 private:
  // A jump begins with steps, because most jumps are short. A step inside a block costs a few
  // nanoseconds. A hop copies a key and compares it with every source. Rows and wanted columns are
  // farther away than the next column.
  static constexpr int kStepsInColumn = 4;
  static constexpr int kStepsElsewhere = 1;

  // After a row of so many cells that is not seen in one piece, this is not tried for some rows.
  static constexpr int kLongRow = 32;
  static constexpr uint32_t kLongRowsNext = 8;

  enum class Stand : uint8_t {
    kBetweenRows,  // at_ is the first cell of a row that was not entered, or null
    kInRow,
    kLeaving,  // the row of at_ is decided, but the walk has not yet moved to the next row
  };
  enum class Leap : uint8_t { kNone, kForward, kBackward };  // kBackward: against the order of keys

  // The outcome of the last verdict, or of a later call from outside.
  struct Decided {
    Step then = Step::kNextCell;
    // True if at_ is a family-wide marker in a column already decided: its verdict undoes nothing.
    bool overheard = false;
  };

  // Moves to the next cell of the cursor, most often inside the span. The caller stands on a cell.
  const CellView* forward() {
    if (++at_ == span_end_) [[unlikely]] {
      const std::span<const CellView> span = cursor_.next_span();
      if (span.empty()) return stand(nullptr);
      at_ = span.data();
      span_end_ = at_ + span.size();
      span_held_ = span.size() > 1 ? cursor_.pinned() : nullptr;
    }
    ++examined_;
    return at_;
  }
  // Returns the first cell of the next row, if only versions that the judge passes over lie between it and
  // the shown cell; else null.
  [[gnu::noinline]] const CellView* row_after_versions(const CellView* shown) const {
    const CellView* cell = shown + 1;
    while (judge_.passes_older(*cell)) {
      if (++cell == span_end_) return nullptr;
      const Place place = place_after(cell[-1], *cell);
      if (place != Place::kSameColumn) return place == Place::kNewRow ? cell : nullptr;
    }
    return nullptr;
  }
  // Returns the end of the row at which the walk stands, in the span.
  const CellView* end_of_row() const {
    if (span_end_ - at_ > 1 && !same_row(*at_, at_[1])) return at_ + 1;
    return std::partition_point(at_ + 1, span_end_,
                                [this](const CellView& cell) { return same_row(*at_, cell); });
  }
  // Lets the cursor give the rest of the span again, with later cells.
  bool widen_span() {
    const std::span<const CellView> wider = cursor_.widen_span({at_, span_end_});
    if (wider.empty()) return false;
    CELLAR_DCHECK(wider.size() > static_cast<size_t>(span_end_ - at_));
    at_ = wider.data();
    span_end_ = at_ + wider.size();
    span_held_ = cursor_.pinned();
    return true;
  }
  const CellView* stand(const CellView* cell) {
    span_end_ = cell + (cell != nullptr ? 1 : 0);
    span_held_ = nullptr;
    return at_ = cell;
  }
  void skip_in_row(const CellView& target);
  void skip_forward(const CellView& target);
  template <class IsBefore>
  void skip(const CellView& target, const IsBefore& is_before);

  void advance();
  void meet_in_column();
  void advance_far(int steps);
  void leave_now();
  bool still_decided(bool column_changed) const;
  bool can_hop() const;
  void hop();

  CellCursor& cursor_;
  J& judge_;
  const CellView* at_ = nullptr;
  const CellView* span_end_ = nullptr;   // at_ lies in a span that ends here
  const Pinnable* span_held_ = nullptr;  // holds the bytes of a span of several cells
  Stand stand_ = Stand::kBetweenRows;
  Place place_ = Place::kNewRow;
  Decided decided_;
  bool returned_ = false;    // True if at_ was returned as included: the walk moves before judging
  Leap leap_ = Leap::kNone;  // how the move to the next row goes to hint_
  uint64_t examined_ = 0;
  uint32_t long_rows_ = 0;
  size_t plain_row_cells_ = 0;      // in kLeaving: of a plain row, which lies in the span; 0: of another row
  bool plain_row_decided_ = false;  // True if that row was left before its last cell
  OwnedCell hop_;
  OwnedCell hint_;  // key after kHint; with leap_: the row to go on at
};

template <Judge J>
[[gnu::always_inline]] inline const CellView* Walk<J>::next_in_row() {
  if (returned_) {
    returned_ = false;
    advance();
  }
  while (stand_ == Stand::kInRow) {
    CELLAR_DCHECK(at_ != nullptr && !returned_);
    const Verdict verdict = judge_.judge(*at_, place_);
    if (!decided_.overheard || verdict.then != Step::kNextCell) decided_.then = verdict.then;
    if (verdict.include) {
      returned_ = true;
      return at_;
    }
    advance();
  }
  return nullptr;
}

template <Judge J>
void Walk<J>::leave_row() {
  returned_ = false;
  if (stand_ != Stand::kInRow) return;
  CELLAR_DCHECK(at_ != nullptr);
  stand_ = Stand::kLeaving;
}

// Moves to the next cell that the last verdict has not already decided, or out of the row. Most often that is
// the next cell, of another column or row.
template <Judge J>
[[gnu::always_inline]] inline void Walk<J>::advance() {
  CELLAR_DCHECK(stand_ == Stand::kInRow && at_ != nullptr);
  if (decided_.then > Step::kNextColumn) return advance_far(0);
  const CellView* before = at_;
  const Place place = forward() != nullptr ? place_after(*before, *at_) : Place::kNewRow;
  if (place == Place::kNewRow) {
    stand_ = Stand::kBetweenRows;
  } else if (place == Place::kNewColumn || decided_.then == Step::kNextCell) {
    place_ = place;
    decided_.overheard = false;
  } else {
    meet_in_column();
  }
}

// The walk moved on to a cell of a column that is decided.
template <Judge J>
void Walk<J>::meet_in_column() {
  CELLAR_DCHECK(in_row() && decided_.then == Step::kNextColumn);
  if (still_decided(false)) return advance_far(1);
  place_ = Place::kSameColumn;
  decided_.overheard = true;
}

// Does the same as advance(), after some steps in the same column, in all cases.
template <Judge J>
void Walk<J>::advance_far(int steps) {
  if (decided_.then == Step::kNextRow) return leave_row();
  const int steps_max = decided_.then == Step::kNextColumn ? kStepsInColumn : kStepsElsewhere;
  for (bool column_changed = false;; ++steps) {
    if (steps >= steps_max && can_hop()) return hop();
    const CellView* before = at_;
    if (forward() == nullptr) break;
    const Place place = place_after(*before, *at_);
    if (place == Place::kNewRow) break;
    column_changed = column_changed || place == Place::kNewColumn;
    if (!still_decided(column_changed)) {
      place_ = column_changed ? Place::kNewColumn : Place::kSameColumn;
      decided_.overheard =
          decided_.then != Step::kNextCell && decided_.then != Step::kHint && !column_changed;
      return;
    }
  }
  stand_ = Stand::kBetweenRows;
}

// Returns whether the last verdict already decides the cell at_. Family-wide markers have the empty
// qualifier, and a user's column may have it, too. A judge that is done with that column must still see
// the markers, or older cells of the row would become visible.
template <Judge J>
bool Walk<J>::still_decided(bool column_changed) const {
  switch (decided_.then) {
    case Step::kNextCell:
      return false;
    case Step::kNextColumn:
      return !column_changed && !covers_family(at_->type());
    case Step::kNextRow:
      return true;
    case Step::kSeek:
      return !covers_family(at_->type()) && compare_keys(*at_, judge_.target()) < 0;
    case Step::kHint:
      return !covers_family(at_->type()) && compare_keys(*at_, hint_.view()) < 0;
  }
  return false;
}

template <Judge J>
bool Walk<J>::can_hop() const {
  // Inside the empty column there may be family-wide markers, which the judge must see: step through it.
  return decided_.then != Step::kNextCell && at_->key_size > at_->row_size + at_->family_size + 12U;
}

// Hops past the rest of the column, or to the judge's target. Not called in the empty column, see
// can_hop().
template <Judge J>
void Walk<J>::hop() {
  CELLAR_DCHECK(in_row() && decided_.then != Step::kNextCell && decided_.then != Step::kNextRow);
  bool same_column_wanted = false;
  if (decided_.then == Step::kSeek) {
    hop_.assign(judge_.target());
    CELLAR_DCHECK(same_row(hop_.view(), *at_));  // a judge's target lies in the row
  } else if (decided_.then == Step::kHint) {
    hop_.assign(hint_.view());
    same_column_wanted = at_->column() == hop_.view().column();
  } else {
    last_of_column(hop_, at_->row(), at_->family(), at_->qualifier());
  }
  skip_in_row(hop_.view());
  if (at_ == nullptr || !same_row(hop_.view(), *at_)) {
    stand_ = Stand::kBetweenRows;
    return;
  }
  decided_.overheard = false;
  same_column_wanted = same_column_wanted && at_->column() == hop_.view().column();
  place_ = same_column_wanted ? Place::kSameColumn : Place::kNewColumn;
}

// Moves to the first cell of the next row.
template <Judge J>
void Walk<J>::leave_now() {
  CELLAR_DCHECK(at_ != nullptr && stand_ == Stand::kLeaving);
  stand_ = Stand::kBetweenRows;
  const size_t plain_cells = std::exchange(plain_row_cells_, 0);
  if (const Leap leap = std::exchange(leap_, Leap::kNone); leap != Leap::kNone) {
    if (leap == Leap::kForward) return skip_forward(hint_.view());
    if (stand(cursor_.seek(hint_.view())) != nullptr) ++examined_;
    return;
  }
  if (plain_cells > 0) {
    at_ += plain_cells;
    examined_ += plain_row_decided_ ? 2 : 1;  // as many as the steps below
    return;
  }
  for (int steps = 0; steps < kStepsElsewhere; ++steps) {
    const CellView* before = at_;
    if (forward() == nullptr || !same_row(*before, *at_)) return;
  }
  last_of_row(hop_, at_->row());
  skip_in_row(hop_.view());
}

// Moves to the first cell at or after the target, which lies in the current row. The cursor may go backward
// from row to row: another row is after the target, whatever its key.
template <Judge J>
void Walk<J>::skip_in_row(const CellView& target) {
  skip(target,
       [&](const CellView& cell) { return same_row(cell, target) && compare_keys(cell, target) < 0; });
}

// Moves to the first cell at or after the target, with a forward cursor.
template <Judge J>
void Walk<J>::skip_forward(const CellView& target) {
  skip(target, [&](const CellView& cell) { return compare_cells(cell, target) < 0; });
}

// Skips in the span, and asks the cursor only if the span ends before the target.
template <Judge J>
template <class IsBefore>
void Walk<J>::skip(const CellView& target, const IsBefore& is_before) {
  CELLAR_DCHECK(at_ != nullptr && at_ < span_end_);
  if (at_ + 1 == span_end_ || is_before(span_end_[-1])) {
    stand(cursor_.skip_to(target));
  } else {
    at_ = std::partition_point(at_ + 1, span_end_, is_before);
  }
  if (at_ != nullptr) ++examined_;
}

}  // namespace cellar
