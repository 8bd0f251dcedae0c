// Goal: the tracker of sequence-ordered deletes tells the same fates as plain lists of all markers and puts.
// Its work for a cell does not grow with the cells before it. Method: random rows, from two cells to far more
// markers than the tracker keeps in an array. The steps of long rows of several shapes are counted.
#include "cell/sequence_tracker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "base/random.h"
#include "tests/cell/plain_sequence_tracker.h"
#include "tests/cell_support/cell_text.h"
#include "tests/cell_support/cursor_contract.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

using Fate = SequenceTracker::Fate;

// Shape: of which cells a random row consists.
struct Shape {
  uint64_t cells = 1;
  uint64_t columns = 1;
  uint64_t timestamps = 1;
  uint64_t sequences = 1;
  uint64_t markers_in_ten = 5;
  uint64_t marker_kinds = 15;  // a bit for each of the four kinds
  uint64_t limit = 1;
  bool with_oldest = false;  // True if some cells have the oldest of all timestamps
};

Shape random_shape(Random& random) {
  Shape shape;
  shape.cells = 1 + random.below(random.one_in(20) ? 400 : 30);
  shape.columns = 1 + random.below(4);
  shape.timestamps = 1 + random.below(random.one_in(2) ? 5 : shape.cells * 2);
  shape.sequences = random.one_in(4) ? UINT64_MAX - 2 : 1 + random.below(shape.cells * 3);
  shape.markers_in_ten = random.below(11);
  shape.marker_kinds = 1 + random.below(15);
  shape.limit = random.one_in(10) ? UINT32_MAX : 1 + random.below(random.one_in(3) ? 40 : 4);
  shape.with_oldest = random.one_in(10);
  return shape;
}

Cells random_row(Random& random, const Shape& shape) {
  constexpr CellType kMarkers[] = {CellType::kDelete, CellType::kDeleteFamilyVersion, CellType::kDeleteColumn,
                                   CellType::kDeleteFamily};
  Cells row;
  for (uint64_t i = 0; i < shape.cells; ++i) {
    CellType type = CellType::kPut;
    if (random.below(10) < shape.markers_in_ten) {
      size_t kind = random.below(4);
      while ((shape.marker_kinds >> kind & 1) == 0) kind = (kind + 1) % 4;
      type = kMarkers[kind];
    }
    const uint64_t column = covers_family(type) ? 0 : random.below(shape.columns);
    Cell cell("r", "f", std::string(column, 'q'), static_cast<int64_t>(random.below(shape.timestamps)), type,
              "");
    if (shape.with_oldest && random.one_in(3)) cell.timestamp = kOldestTimestamp;
    cell.sequence = 1 + random.below(shape.sequences);
    row.push_back(cell);
  }
  return sorted(row);
}

// Returns the fates of the puts of a row, one letter each.
template <class Tracker>
std::string fates(Tracker& tracker, const Cells& row, uint32_t limit) {
  std::string letters;
  const Cell* before = nullptr;
  tracker.enter_row();
  for (const Cell& cell : row) {
    if (before != nullptr && before->qualifier != cell.qualifier) tracker.enter_column();
    before = &cell;
    const OwnedCell bytes = owned(cell);
    if (is_delete(cell.type)) {
      tracker.add(bytes.view());
    } else {
      letters += "vhol"[static_cast<size_t>(tracker.put(bytes.view(), limit))];
    }
  }
  return letters;
}

TEST(SequenceTrackerModel, TellsTheFatesThatPlainListsTell) {
  const uint64_t seed = test_seed(1);
  uint64_t long_rows = 0;
  uint64_t letters[128] = {};
  SequenceTracker tracker;  // one for all rows, so that a row that it does not forget is found
  for (uint64_t i = 0; i < scaled(20000); ++i) {
    Random random(seed + i);
    const Shape shape = random_shape(random);
    const Cells row = random_row(random, shape);
    PlainSequenceTracker plain;
    const auto limit = static_cast<uint32_t>(shape.limit);
    const std::string expected = fates(plain, row, limit);
    ASSERT_EQ(fates(tracker, row, limit), expected)
        << "CELLAR_SEED=" << seed + i << ", limit " << limit << "\n"
        << print_cells(row);
    long_rows += row.size() > 100 ? 1 : 0;
    for (const char letter : expected) ++letters[static_cast<size_t>(letter)];
  }
  EXPECT_GT(long_rows, 0U);
  for (const char letter : {'v', 'h', 'o', 'l'})
    EXPECT_GT(letters[static_cast<size_t>(letter)], 0U) << letter;
}

TEST(SequenceTrackerModel, HidesAtTheOldestTimestampOnly) {
  SequenceTracker tracker;
  EXPECT_EQ(fates(tracker,
                  parse_cells("r/f:/oldest/delete_family#5\n"
                              "r/f:q/1/put#2\n"
                              "r/f:q/oldest/delete_column#4\n"
                              "r/f:q/oldest/put#4\n"
                              "r/f:q/oldest/put#3\n"),
                  9),
            "vho");
}

// Returns the steps per cell for a row of `cells` cells, which `cell_at` makes.
double steps_per_cell(uint64_t cells, uint32_t limit, const std::function<Cell(uint64_t)>& cell_at) {
  Cells row;
  for (uint64_t i = 0; i < cells; ++i) row.push_back(cell_at(i));
  SequenceTracker tracker;
  fates(tracker, sorted(row), limit);
  return static_cast<double>(tracker.steps()) / static_cast<double>(cells);
}

// A row of 32 times as many cells may take a little longer for each cell, as a logarithm does.
TEST(SequenceTrackerSteps, GrowAsALogarithm) {
  struct Pattern {
    const char* name;
    CellType marker;
    uint64_t columns;  // 0: each put has a column
    bool moves;        // True if timestamps rise with the writes
    bool falls;        // True if they fall
  };
  const Pattern patterns[] = {
      {"family markers", CellType::kDeleteFamily, 1, true, false},
      {"family markers, timestamps fall", CellType::kDeleteFamily, 1, true, true},
      {"family markers over many columns", CellType::kDeleteFamily, 0, true, false},
      {"column markers", CellType::kDeleteColumn, 1, true, false},
      {"column markers, timestamps fall", CellType::kDeleteColumn, 1, true, true},
      {"column markers, one timestamp", CellType::kDeleteColumn, 1, false, false},
      {"version markers", CellType::kDelete, 1, true, false},
      {"version markers, one timestamp", CellType::kDelete, 1, false, false},
      {"family-version markers", CellType::kDeleteFamilyVersion, 1, true, false},
      {"family-version markers over many columns", CellType::kDeleteFamilyVersion, 0, true, false},
  };
  for (const Pattern& pattern : patterns) {
    for (const uint32_t limit : {1U, 3U, 1000000U}) {
      const auto work = [&](uint64_t cells) {
        return steps_per_cell(cells, limit, [&](uint64_t i) {
          const CellType type = i % 2 == 0 ? CellType::kPut : pattern.marker;
          const std::string qualifier = pattern.columns == 0 ? "q" + std::to_string(i) : "q";
          const uint64_t time = pattern.moves ? (pattern.falls ? cells - i : i) : 0;
          Cell cell("r", "f", covers_family(type) ? "" : qualifier, static_cast<int64_t>(time / 2), type, "");
          cell.sequence = i + 1;
          return cell;
        });
      };
      const double few = work(256);
      const double many = work(8192);
      EXPECT_LE(many, 2 * few + 20) << pattern.name << ", limit " << limit;
      EXPECT_LE(many, 150) << pattern.name << ", limit " << limit;
      EXPECT_GT(many, 0.4) << pattern.name << ", limit " << limit;
    }
  }
}

// Puts without markers, and one marker in many columns, cost a step or two, whatever the limit is.
TEST(SequenceTrackerSteps, FewMarkersCostFewSteps) {
  const auto put_at = [](uint64_t i) {
    Cell cell("r", "f", "q", static_cast<int64_t>(i), CellType::kPut, "");
    cell.sequence = i + 1;
    return cell;
  };
  for (const uint32_t limit : {1U, 3U, 100U, UINT32_MAX})
    EXPECT_LE(steps_per_cell(10000, limit, put_at), 1.0);
  const auto one_marker = [&](uint64_t i) {
    Cell cell = put_at(i);
    cell.qualifier = i == 0 ? "" : std::to_string(i);
    if (i == 0) cell.type = CellType::kDeleteFamily;
    return cell;
  };
  EXPECT_LE(steps_per_cell(10000, 1, one_marker), 3.0);
}

}  // namespace
}  // namespace cellar::testing
