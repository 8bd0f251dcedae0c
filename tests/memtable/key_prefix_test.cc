// Goal: a prefix never claims an order that the cells do not have, whatever the shape, for search keys too.
// Method: random cells and shapes of all kinds, pair by pair.
#include "memtable/key_prefix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "cell/cell_key.h"
#include "tests/memtable/key_shapes.h"

namespace cellar::testing {
namespace {

// Stored cells in order, and keys to search them by.
struct Sample {
  std::vector<OwnedCell> cells;
  std::vector<OwnedCell> all;
};

Sample make_sample(KeyShape shape, uint64_t seed) {
  Sample sample;
  for (uint64_t i = 0; i < 60; ++i) {
    OwnedCell cell;
    make_cell(shape, seed, i, i, cell);
    sample.cells.push_back(cell);
    sample.all.push_back(cell);
    const OwnedCell of = cell;
    const CellView& view = of.view();
    first_of_row(cell, view.row());
    sample.all.push_back(cell);
    last_of_row(cell, view.row());
    sample.all.push_back(cell);
    first_of_column(cell, view.row(), view.family(), view.qualifier());
    sample.all.push_back(cell);
    last_of_column(cell, view.row(), view.family(), view.qualifier());
    sample.all.push_back(cell);
  }
  std::sort(sample.cells.begin(), sample.cells.end(),
            [](const OwnedCell& a, const OwnedCell& b) { return compare_cells(a.view(), b.view()) < 0; });
  return sample;
}

PrefixShape random_shape(const Sample& sample, Random& random) {
  PrefixShape shape;
  const CellView& a = sample.cells[random.below(sample.cells.size())].view();
  const CellView& b = sample.cells[random.below(sample.cells.size())].view();
  const bool in_order = compare_cells(a, b) <= 0;
  switch (random.below(3)) {
    case 0:
      return open_shape_between(in_order ? a : b, in_order ? b : a);
    case 1:
      return shape_between(in_order ? a : b, in_order ? b : a);
    default:
      shape.part = static_cast<PrefixPart>(random.below(4));
      shape.skip = static_cast<uint16_t>(random.below(shape.part == PrefixPart::kTimestamp ? 5 : 30));
      return shape;
  }
}

TEST(KeyPrefix, NeverClaimsAWrongOrder) {
  for (const KeyShape keys : kAllShapes) {
    Random random(static_cast<uint64_t>(keys));
    const Sample sample = make_sample(keys, 3);
    for (int round = 0; round < 60; ++round) {
      const PrefixShape shape = random_shape(sample, random);
      const CellView& reference = sample.cells[random.below(sample.cells.size())].view();
      for (int pair = 0; pair < 300; ++pair) {
        const CellView& a = sample.all[random.below(sample.all.size())].view();
        const CellView& b = sample.all[random.below(sample.all.size())].view();
        if (checked_prefix_of(shape, a, reference) < checked_prefix_of(shape, b, reference)) {
          const bool before = compare_cells(a, b) < 0;
          ASSERT_TRUE(before) << key_text(a) << " and " << key_text(b) << ", part "
                              << static_cast<int>(shape.part) << ", skip " << shape.skip << ", reference "
                              << key_text(reference);
        }
      }
    }
  }
}

TEST(KeyPrefix, NeedsNoCheckBetweenItsBounds) {
  for (const KeyShape keys : kAllShapes) {
    Random random(static_cast<uint64_t>(keys));
    const Sample sample = make_sample(keys, 4);
    for (int round = 0; round < 300; ++round) {
      size_t low = random.below(sample.cells.size());
      size_t high = random.below(sample.cells.size());
      if (low > high) std::swap(low, high);
      const PrefixShape shape = shape_between(sample.cells[low].view(), sample.cells[high].view());
      EXPECT_FALSE(shape.checked);
      for (const OwnedCell& each : sample.all) {
        const CellView& cell = each.view();
        const bool after_low = compare_cells(cell, sample.cells[low].view()) >= 0;
        const bool before_high = compare_cells(cell, sample.cells[high].view()) <= 0;
        if (!after_low || !before_high) continue;
        const CellView& reference = sample.cells[low + random.below(high - low + 1)].view();
        ASSERT_EQ(prefix_of(shape, cell), checked_prefix_of(shape, cell, reference)) << key_text(cell);
      }
    }
  }
}

TEST(KeyPrefix, TakesTheBytesWhereKeysDiffer) {
  OwnedCell low;
  OwnedCell high;
  low.assign("user0001", "f", "q", 1, CellType::kPut, 1);
  high.assign("user0002xyz", "f", "q", 1, CellType::kPut, 1);
  const PrefixShape rows = shape_between(low.view(), high.view());
  EXPECT_EQ(rows.part, PrefixPart::kRow);
  EXPECT_EQ(rows.skip, 7);
  EXPECT_EQ(prefix_of(rows, low.view()), 0x31000000u);
  EXPECT_EQ(prefix_of(rows, high.view()), 0x3278797au);

  high.assign("user0001", "f", "qualifier", 1, CellType::kPut, 1);
  const PrefixShape columns = shape_between(low.view(), high.view());
  EXPECT_EQ(columns.part, PrefixPart::kQualifier);
  EXPECT_EQ(columns.skip, 1);
  EXPECT_EQ(prefix_of(columns, low.view()), 0u);
  EXPECT_EQ(prefix_of(columns, high.view()), 0x75616c69u);

  low.assign("user0001", "f", "q", 0x1234567890, CellType::kPut, 1);
  high.assign("user0001", "f", "q", 0x1234560000, CellType::kPut, 1);
  const PrefixShape times = shape_between(low.view(), high.view());
  EXPECT_EQ(times.part, PrefixPart::kTimestamp);
  EXPECT_EQ(times.skip, 4);
  EXPECT_LT(prefix_of(times, low.view()), prefix_of(times, high.view()));
}

}  // namespace
}  // namespace cellar::testing
