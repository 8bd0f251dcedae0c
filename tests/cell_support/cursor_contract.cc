// The suite of check_cursor_contract.
#include "tests/cell_support/cursor_contract.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>
#include <utility>

#include "cell/cell_key.h"
#include "cell/cell_order.h"

namespace cellar::testing {
namespace {

constexpr size_t kEnd = SIZE_MAX;

// The moves that the cursor should make, on a vector: cells in the order of delivery.
class Expected {
 public:
  Expected(const Cells& cells, bool reversed) : reversed_(reversed) {
    for (const Cell& cell : cells) cells_.push_back(owned(cell));
    if (reversed) reverse_rows();
  }

  size_t seek(const CellView& target) const {
    for (size_t i = 0; i < cells_.size(); ++i) {
      const CellView& cell = cells_[i].view();
      if (reversed_ ? cell.row() <= target.row() : compare_cells(cell, target) >= 0) return i;
    }
    return kEnd;
  }
  // Forward: the first at or after the target, from `at`. Reversed: inside the row of `at`, else the next
  // row.
  size_t skip_to(size_t at, const CellView& target) const {
    const CellView& from = cells_[at].view();
    size_t i = at;
    for (; i < cells_.size(); ++i) {
      const CellView& cell = cells_[i].view();
      if (reversed_ && !same_row(cell, from)) return i;
      if (compare_cells(cell, target) >= 0) return i;
    }
    return kEnd;
  }
  size_t before(const CellView& target) const {
    size_t found = kEnd;
    for (size_t i = 0; i < cells_.size() && compare_cells(cells_[i].view(), target) < 0; ++i) found = i;
    return found;
  }
  size_t next(size_t at) const { return at + 1 < cells_.size() ? at + 1 : kEnd; }
  size_t size() const { return cells_.size(); }
  const CellView& operator[](size_t i) const { return cells_[i].view(); }

 private:
  void reverse_rows() {
    std::vector<OwnedCell> result;
    for (size_t end = cells_.size(); end > 0;) {
      size_t begin = end - 1;
      while (begin > 0 && same_row(cells_[begin - 1].view(), cells_[begin].view())) --begin;
      result.insert(result.end(), cells_.begin() + static_cast<ptrdiff_t>(begin),
                    cells_.begin() + static_cast<ptrdiff_t>(end));
      end = begin;
    }
    cells_ = std::move(result);
  }

  bool reversed_;
  std::vector<OwnedCell> cells_;
};

bool same(const CellView& a, const CellView& b) {
  return a.key_bytes() == b.key_bytes() && a.value_bytes() == b.value_bytes() &&
         a.tags_bytes() == b.tags_bytes() && a.sequence == b.sequence && a.timestamp == b.timestamp &&
         a.type() == b.type() && a.row() == b.row() && a.family() == b.family() &&
         a.qualifier() == b.qualifier();
}

// Runs one cursor and compares it with the expected cells. `log` tells how it got here.
class Run {
 public:
  Run(std::unique_ptr<CellCursor> cursor, const Expected& expected)
      : cursor_(std::move(cursor)), expected_(expected) {}

  void seek(const CellView& target) {
    log_ += "seek " + print_cell(target) + "\n";
    shown(cursor_->seek(target), expected_.seek(target));
  }
  void next() {
    log_ += "next\n";
    shown(cursor_->next(), at_ == kEnd ? kEnd : expected_.next(at_));
  }
  void next_span() {
    log_ += "next_span\n";
    const std::span<const CellView> span = cursor_->next_span();
    if (span.empty()) return shown(nullptr, expected_.next(at_));
    check_span();
    for (size_t i = 0; i < span.size() && !failed_; ++i) shown(&span[i], expected_.next(at_));
    span_ = span;
  }
  // Cells that end before the target, or none.
  void span_before(const CellView& target) {
    log_ += "span_before " + print_cell(target) + "\n";
    const std::span<const CellView> span = dynamic_cast<RunCursor&>(*cursor_).span_before(target);
    if (span.empty()) {  // the cell before need not outlive two moves
      current_ = nullptr;
      span_ = {};
      return seek_before(target);
    }
    check_span();
    const size_t last = expected_.before(target);
    if (last == kEnd || last + 1 < span.size()) return fail(&span.back(), last);
    current_ = nullptr;
    for (size_t i = 0; i < span.size() && !failed_; ++i) shown(&span[i], last + 1 - span.size() + i);
    span_ = span;
  }
  void skip_to(const CellView& target) {
    log_ += "skip_to " + print_cell(target) + "\n";
    shown(cursor_->skip_to(target), expected_.skip_to(at_, target));
  }
  void seek_before(const CellView& target) {
    log_ += "seek_before " + print_cell(target) + "\n";
    shown(dynamic_cast<RunCursor&>(*cursor_).seek_before(target), expected_.before(target));
  }

  // Keeps the current cell by a pin, walks on, and looks at it again.
  void pin() {
    if (at_ == kEnd) return;
    log_ += "pin\n";
    const size_t pinned = at_;
    const Pin keep = cursor_->pin();
    CellView view = *current_;
    const std::string key(view.key_bytes());
    const std::string tags(view.tags_bytes());
    if (view.key_in_scratch) {
      view.key = key.data();
      view.tags = tags.data();
    }
    for (int i = 0; i < 5 && at_ != kEnd; ++i) next();
    if (keep) {  // a cursor over memory that outlives it may have nothing to pin
      EXPECT_TRUE(same(view, expected_[pinned])) << log_;
    }
  }

  // Keeps the cells of a span by a pin, walks on, and looks at them all again.
  void pin_span() {
    if (at_ == kEnd) return;
    next_span();
    if (at_ == kEnd || failed_) return;
    log_ += "pin the span\n";
    const Pin keep = cursor_->pin();
    const size_t first = at_ + 1 - span_.size();
    std::vector<OwnedCell> scratch(span_.size());
    std::vector<CellView> views(span_.begin(), span_.end());
    for (size_t i = 0; i < views.size(); ++i) {
      if (!views[i].key_in_scratch) continue;
      scratch[i].assign(views[i]);
      views[i] = scratch[i].view();
    }
    for (int i = 0; i < 30 && at_ != kEnd && !failed_; ++i) i % 2 == 0 ? next_span() : next();
    for (size_t i = 0; keep && i < views.size(); ++i)
      EXPECT_TRUE(same(views[i], expected_[first + i])) << i << " of the span\n" << log_;
  }

  // Takes the current cell, or the span that ends with it, as the last of a read. Looks at it again after the
  // cursor was sought anew.
  void take_last(const CellView& target) {
    if (at_ == kEnd) return;
    log_ += "take the last\n";
    std::vector<CellView> views(span_.begin(), span_.end());
    if (views.empty()) views.push_back(*current_);
    const size_t first = at_ + 1 - views.size();
    std::vector<OwnedCell> scratch(views.size());
    for (size_t i = 0; i < views.size(); ++i) {
      if (!views[i].key_in_scratch) continue;
      scratch[i].assign(views[i]);
      views[i] = scratch[i].view();
    }
    const Pin keep = cursor_->take_last_cell();
    current_ = nullptr;
    span_ = {};
    seek(target);
    for (size_t i = 0; keep && i < views.size(); ++i)
      EXPECT_TRUE(same(views[i], expected_[first + i])) << i << " of what was taken\n" << log_;
  }

  void print() const {
    TextPrinter out;
    cursor_->print(out);
    EXPECT_NE(out.text(), "") << log_;
  }

  bool at_end() const { return at_ == kEnd; }
  size_t at() const { return at_; }
  const CellView& cell() const { return expected_[at_]; }
  bool failed() const { return failed_; }

 private:
  // All cells of a span must be whole after the move that follows it.
  void check_span() {
    for (size_t i = 0; i < span_.size() && at_ != kEnd; ++i) {
      if (same(span_[i], expected_[at_ + 1 - span_.size() + i])) continue;
      ADD_FAILURE() << "a cell of the span before did not outlive one move:\n" << log_;
      failed_ = true;
    }
    span_ = {};
  }
  void shown(const CellView* cell, size_t expected) {
    check_span();
    EXPECT_TRUE(cursor_->status().ok()) << cursor_->status().to_text() << "\n" << log_;
    if ((cell == nullptr) != (expected == kEnd)) return fail(cell, expected);
    if (cell != nullptr && !same(*cell, expected_[expected])) return fail(cell, expected);
    if (current_ != nullptr && at_ != kEnd && !same(*current_, expected_[at_])) {
      ADD_FAILURE() << "the cell before, " << print_cell(expected_[at_]) << ", did not outlive one move:\n"
                    << log_;
      failed_ = true;
    }
    current_ = cell;
    at_ = expected;
  }
  void fail(const CellView* cell, size_t expected) {
    failed_ = true;
    ADD_FAILURE() << "stands at " << (cell == nullptr ? "the end" : print_cell(*cell)) << " instead of "
                  << (expected == kEnd ? "the end" : print_cell(expected_[expected])) << " after\n"
                  << log_;
  }

  std::unique_ptr<CellCursor> cursor_;
  const Expected& expected_;
  const CellView* current_ = nullptr;
  std::span<const CellView> span_;  // of the last move; ends at at_
  size_t at_ = kEnd;
  bool failed_ = false;
  std::string log_;
};

std::string random_row(Random& random) {
  static const std::string rows[] = {"",  "a",    "ab",   "b",    std::string("b\0", 2),
                                     "c", "row7", "row8", "\xff", "\xff\xff"};
  return rows[random.below(std::size(rows))];
}

std::string random_qualifier(Random& random) {
  static const std::string qualifiers[] = {"", "p", "q", "qq", std::string("q\0", 2), "z", "\xff"};
  return qualifiers[random.below(std::size(qualifiers))];
}

// A key to seek: of a stored cell, just around it, of a row or column, or anything.
void random_target(OwnedCell& target, const Expected& expected, Random& random) {
  if (expected.size() > 0 && random.below(3) != 0) {
    const CellView& cell = expected[random.below(expected.size())];
    switch (random.below(6)) {
      case 0:
        return target.assign(cell);
      case 1:
        return first_of_row(target, cell.row());
      case 2:
        return last_of_row(target, cell.row());
      case 3:
        return first_of_column(target, cell.row(), cell.family(), cell.qualifier());
      case 4:
        return last_of_column(target, cell.row(), cell.family(), cell.qualifier());
      default:
        return target.assign(cell.row(), cell.family(), cell.qualifier(),
                             cell.timestamp + static_cast<int64_t>(random.below(3)) - 1, CellType::kMaximum,
                             kLatestSequence);
    }
  }
  const std::string row = random_row(random);
  const std::string qualifier = random_qualifier(random);
  switch (random.below(4)) {
    case 0:
      return first_of_row(target, row);
    case 1:
      return last_of_row(target, row);
    case 2:
      return last_of_column(target, row, "f", qualifier);
    default:
      return target.assign(row, "f", qualifier, static_cast<int64_t>(random.below(12)), CellType::kPut, 1);
  }
}

void walk_all(Run& run, const Expected& expected, bool reversed) {
  OwnedCell from;
  if (reversed) {
    last_of_row(from, std::string(10, '\xff'));
  } else {
    first_of_row(from, {});
  }
  run.seek(from.view());
  for (size_t i = 0; i <= expected.size() + 2 && !run.failed(); ++i) run.next();
  EXPECT_TRUE(run.at_end());
  if (!run.failed()) run.seek(from.view());
  while (!run.failed() && !run.at_end()) run.next_span();
  if (!run.failed()) run.seek(from.view());  // the end is no error: back to the start
}

void random_walk(Run& run, const Expected& expected, Random& random, const ContractLimits& limits) {
  OwnedCell target;
  random_target(target, expected, random);
  run.seek(target.view());
  for (int i = 0; i < limits.moves && !run.failed(); ++i) {
    random_target(target, expected, random);
    switch (random.below(10)) {
      case 0:
        run.seek(target.view());
        break;
      case 1:
        if (limits.seek_before) run.seek_before(target.view());
        break;
      case 2:
        if (run.at_end()) break;
        if (limits.reversed && target.view().row() != run.cell().row()) last_of_row(target, run.cell().row());
        if (compare_cells(run.cell(), target.view()) < 0) run.skip_to(target.view());
        break;
      case 3:
        random.one_in(2) ? run.pin() : run.pin_span();
        break;
      case 8:
        if (random.one_in(3)) run.take_last(target.view());
        break;
      case 4:
        run.print();
        break;
      case 5:
      case 6:
        if (!run.at_end()) run.next_span();
        break;
      case 7:
        if (limits.seek_before) run.span_before(target.view());
        break;
      default:
        run.next();
    }
  }
}

void check_cells(const CursorMaker& make, const Cells& cells, Random& random, const ContractLimits& limits) {
  if (::testing::Test::HasFailure()) return;
  const Expected expected(cells, limits.reversed);
  {
    Run run(make(cells, random), expected);
    run.print();
    walk_all(run, expected, limits.reversed);
  }
  Run run(make(cells, random), expected);
  random_walk(run, expected, random, limits);
  if (::testing::Test::HasFailure() && cells.size() <= 100)
    ADD_FAILURE() << "the cells were\n" << print_cells(cells);
}

Cells long_row(const ContractLimits& limits) {
  Cells cells;
  for (int i = 0; i < 300; ++i) {
    const std::string qualifier = fmt::format("q{:03}", i / 3);
    cells.emplace_back(i < 290 ? "row7" : "row8", "f", qualifier, 10 - i % 3, CellType::kPut,
                       "v" + std::to_string(i));
    if (limits.sequences) cells.back().sequence = static_cast<uint64_t>(1000 - i);
  }
  return sorted(cells);
}

Cells equal_keys(const ContractLimits& limits) {
  Cells cells;
  for (int i = 0; i < 12; ++i) {
    cells.emplace_back("row7", "f", "q", 5, CellType::kPut, "v" + std::to_string(i));
    if (limits.sequences) cells.back().sequence = static_cast<uint64_t>(limits.equal_cells ? i / 3 : i);
  }
  return sorted(cells);
}

}  // namespace

Cells random_cells(Random& random, size_t count, const ContractLimits& limits) {
  constexpr CellType kTypes[] = {CellType::kPut,
                                 CellType::kPut,
                                 CellType::kPut,
                                 CellType::kDelete,
                                 CellType::kDeleteColumn,
                                 CellType::kDeleteFamily,
                                 CellType::kDeleteFamilyVersion};
  Cells cells;
  for (size_t i = 0; i < count; ++i) {
    std::string row = random_row(random);
    if (row.empty()) row = "row7";
    const CellType type = kTypes[random.below(std::size(kTypes))];
    const std::string qualifier = covers_family(type) ? std::string() : random_qualifier(random);
    Cell cell(row, "f", qualifier, static_cast<int64_t>(random.below(12)), type,
              type == CellType::kPut ? "v" + std::to_string(i) : "");
    if (limits.sequences) cell.sequence = random.below(limits.equal_cells ? 6 : 1000);
    if (limits.tags && random.one_in(5)) cell.tags = ttl_tag(500);
    cells.push_back(std::move(cell));
  }
  cells = sorted(std::move(cells));
  if (!limits.equal_cells) {
    const auto equal = [](const Cell& a, const Cell& b) { return compare(a, b) == 0; };
    cells.erase(std::unique(cells.begin(), cells.end(), equal), cells.end());
  }
  return cells;
}

uint64_t test_seed(uint64_t otherwise) {
  const uint64_t seed = from_environment("CELLAR_SEED", otherwise);
  fmt::print("seed {} (set CELLAR_SEED to choose another)\n", seed);
  return seed;
}

void check_cursor_contract(const CursorMaker& make, uint64_t seed, const ContractLimits& limits) {
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Random random(seed);
  check_cells(make, {}, random, limits);
  Cell one("row7", "f", "q", 5, CellType::kPut, "v");
  check_cells(make, {one}, random, limits);
  if (limits.sequences || limits.equal_cells) check_cells(make, equal_keys(limits), random, limits);
  check_cells(make, long_row(limits), random, limits);
  for (uint64_t i = 0; i < scaled(limits.rounds); ++i)
    check_cells(make, random_cells(random, 1 + random.below(80), limits), random, limits);
}

}  // namespace cellar::testing
