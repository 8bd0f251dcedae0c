// Goal: runs are sorted and merged in the order of cells. A vector of cells reads like a sorted list whenever
// it is read. Method: inputs in every kind of order against a sorted list; the number of runs and bytes.
#include "memtable/cell_vector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/memtable/key_shapes.h"
#include "tests/memtable/structure_model.h"

namespace cellar::testing {
namespace {

using Vector = StructureModel<CellVector>;

// ---- Runs ----

class SortedRuns : public ::testing::Test {
 protected:
  const CellRecord* make(KeyShape shape, uint64_t seed, uint64_t i) {
    make_cell(shape, seed, i, i + 1, cell_);
    return make_record(arena_, cell_.view());
  }
  static std::shared_ptr<SortedRun> sorted(const std::vector<const CellRecord*>& records) {
    auto run = std::make_shared<SortedRun>(records.size());
    for (size_t i = 0; i < records.size(); ++i) run->set(i, records[i]);
    run->sort();
    return run;
  }
  // The order of cells; among equal ones the later inserted first.
  static std::vector<const CellRecord*> in_order(std::vector<const CellRecord*> records) {
    std::reverse(records.begin(), records.end());
    std::stable_sort(records.begin(), records.end(), [](const CellRecord* a, const CellRecord* b) {
      return compare_cells(a->view(), b->view()) < 0;
    });
    return records;
  }
  static std::vector<const CellRecord*> records_of(const SortedRun& run) {
    std::vector<const CellRecord*> records;
    for (const SortedRun::Entry& each : run) records.push_back(each.record);
    return records;
  }

  Arena arena_;
  OwnedCell cell_;
};

TEST_F(SortedRuns, SortEveryShape) {
  for (const KeyShape shape : kAllShapes) {
    SCOPED_TRACE(static_cast<int>(shape));
    for (const size_t size : {1u, 2u, 3u, 100u, 128u, 129u, 3000u}) {
      std::vector<const CellRecord*> records;
      for (size_t i = 0; i < size; ++i) records.push_back(make(shape, 2, i));
      EXPECT_EQ(records_of(*sorted(records)), in_order(records)) << size;
      const std::vector<const CellRecord*> ascending = in_order(records);
      EXPECT_EQ(records_of(*sorted(ascending)), in_order(ascending)) << size;
      const std::vector<const CellRecord*> descending(ascending.rbegin(), ascending.rend());
      EXPECT_EQ(records_of(*sorted(descending)), in_order(descending)) << size;
    }
  }
}

// Runs whose rows have different bytes in common, and one that has a single row.
TEST_F(SortedRuns, MergeRunsOfAllShapes) {
  for (const KeyShape one : kAllShapes)
    for (const KeyShape other : kAllShapes) {
      SCOPED_TRACE(::testing::Message() << static_cast<int>(one) << " and " << static_cast<int>(other));
      std::vector<const CellRecord*> older;
      std::vector<const CellRecord*> newer;
      for (size_t i = 0; i < 200; ++i) older.push_back(make(one, 3, i));
      for (size_t i = 0; i < 33; ++i) newer.push_back(make(other, 4, i));
      const std::shared_ptr<const SortedRun> merged = SortedRun::merge(*sorted(older), *sorted(newer));
      std::vector<const CellRecord*> all = older;
      all.insert(all.end(), newer.begin(), newer.end());
      ASSERT_EQ(records_of(*merged), in_order(all));
      for (const CellRecord* each : all) {
        const SortedRun::Entry* found = merged->at_or_after(each->view());
        ASSERT_NE(found, merged->end());
        ASSERT_TRUE(compare_cells(found->record->view(), each->view()) == 0);
        if (found != merged->begin()) {
          ASSERT_TRUE(compare_cells(found[-1].record->view(), each->view()) < 0);
        }
      }
    }
}

TEST_F(SortedRuns, FindTargetsOutsideOfWhatTheRowsShare) {
  std::vector<const CellRecord*> records;
  for (size_t i = 0; i < 50; ++i) records.push_back(make(KeyShape::kUserRows, 1, i));
  const std::shared_ptr<const SortedRun> run = sorted(records);
  OwnedCell target;
  for (const char* row : {"", "u", "usa", "user", "user0"}) {
    first_of_row(target, row);
    EXPECT_EQ(run->at_or_after(target.view()), run->begin()) << row;
    last_of_row(target, row);
    EXPECT_EQ(run->at_or_after(target.view()), run->begin()) << row;
  }
  for (const char* row : {"usf", "v", "user1"}) {
    first_of_row(target, row);
    EXPECT_EQ(run->at_or_after(target.view()), run->end()) << row;
  }
}

// ---- The vector ----

TEST(CellVector, SortsOnceIfItIsReadLate) {
  Vector vector;
  for (uint64_t i = 0; i < 10'000; ++i) vector.insert_row(user_row(i * 7919 % 10'000));
  EXPECT_EQ(vector.structure().count_runs(), 0u);
  vector.check_walk();
  EXPECT_EQ(vector.structure().count_runs(), 1u);
  vector.check_row(user_row(77));
}

// A read after every insert: the runs stay few, and their cells are all there.
TEST(CellVector, KeepsFewRuns) {
  Vector vector;
  OwnedCell target;
  for (uint64_t i = 0; i < 4000; ++i) {
    vector.insert_row(user_row(i * 7919 % 4000));
    first_of_row(target, user_row(i));
    vector.check_target(target.view(), 10);
    // Each run is at least four times as large as the next one.
    size_t runs = 1;
    for (uint64_t cells = i + 1; cells >= 4; cells /= 4) ++runs;
    ASSERT_LE(vector.structure().count_runs(), runs) << i;
    if (HasFatalFailure()) return;
  }
  vector.check_walk();
}

TEST(CellVector, ReadsEveryShapeAtAnyTime) {
  for (const KeyShape shape : kAllShapes) {
    SCOPED_TRACE(static_cast<int>(shape));
    Vector vector;
    Random random(6);
    OwnedCell cell;
    for (uint64_t i = 0; i < 900; ++i) {
      make_cell(shape, 7, i, i + 1, cell);
      vector.insert(cell.view());
      if (random.one_in(40)) vector.check_target(cell.view(), 50);
    }
    vector.check_all();
    if (HasFatalFailure()) return;
  }
}

TEST(CellVector, MeetsEqualCellsFromTheLatestOn) {
  Vector vector;
  OwnedCell cell;
  for (uint64_t i = 0; i < 200; ++i) {
    cell.assign("row", "f", "q", 1, CellType::kPut, i % 3);
    vector.insert(cell.view());
    if (i % 7 == 0) vector.check_all();
    if (HasFatalFailure()) return;
  }
  vector.check_all();
}

// A walk keeps the cells that it began with, while others read and merge.
TEST(CellVector, APlaceKeepsItsRuns) {
  CellVector vector;
  Arena arena;
  OwnedCell cell;
  const auto insert = [&](uint64_t i) {
    cell.assign(user_row(i), "f", "q", 1, CellType::kPut, i + 1);
    vector.insert(cell.view(), make_record(arena, cell.view()));
  };
  for (uint64_t i = 0; i < 100; ++i) insert(2 * i);
  OwnedCell first;
  first_of_row(first, "");
  CellVector::Place place;
  const CellRecord* at = place.seek(vector, first.view());
  for (uint64_t i = 0; i < 100; ++i, at = place.next()) {
    ASSERT_NE(at, nullptr);
    EXPECT_EQ(at->view().row(), user_row(2 * i));
    insert(2 * i + 1);
    const void* near = nullptr;
    EXPECT_EQ(vector.find(cell.view(), near)->view().row(), user_row(2 * i + 1));
  }
  EXPECT_EQ(at, nullptr);
  EXPECT_EQ(place.seek(vector, cell.view())->view().row(), user_row(199));
}

TEST(CellVector, CountsItsBytes) {
  Vector vector;
  EXPECT_EQ(vector.structure().bytes(), 0u);
  vector.insert_row("a");
  constexpr uint64_t kFirstChunk = 16 + 31 * 8;
  EXPECT_EQ(vector.structure().bytes(), kFirstChunk + 16);
  for (int i = 1; i < 31; ++i) vector.insert_row("b");
  EXPECT_EQ(vector.structure().bytes(), kFirstChunk + 31 * 16);
  vector.insert_row("c");
  EXPECT_EQ(vector.structure().bytes(), kFirstChunk + 16 + 63 * 8 + 32 * 16);
  vector.check_all();
  EXPECT_EQ(vector.structure().bytes(), kFirstChunk + 16 + 63 * 8 + 32 * 16) << "reads are paid for";
}

}  // namespace
}  // namespace cellar::testing
