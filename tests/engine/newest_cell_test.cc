// Goal: an increment finds the same current value as a get, wherever the column's cells and markers lie.
// Method: random writes, markers, flushes and jumps of the clock over few columns. Before each increment a
// get tells the value from which it must start. A count shows that both ways of finding it are taken.
// Compactions run only between the two, since one that drops a marker of the future can change what is read.
#include "engine/write/newest_cell.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/coding.h"
#include "base/random.h"
#include "engine/store/table_state.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

class NewestCellTest : public EngineFixture {
 protected:
  void open_table(FamilyOptions options) {
    EngineOptions engine;
    engine.automatic_compaction = false;
    open(engine);
    clock_.set_wall_ms(100'000);
    table_ = make_table("t", {std::move(options)});
  }
  // Returns whether the active memtable alone tells the current cell of the column.
  bool in_memory(std::string_view row, std::string_view qualifier) {
    auto& state = dynamic_cast<TableState&>(*table_);
    NewestCell found;
    return newest_in_memory(*state.families().find("f"), row, qualifier, state.host().mvcc, found);
  }
  void increment(const std::string& row) {
    EXPECT_OK(table_->increment(Increment(row).add("f", "n", 1)).status());
  }

  std::shared_ptr<Table> table_;
};

TEST_F(NewestCellTest, ACounterIsFoundUntilSomethingMayHideIt) {
  open_table(family("f", 3));
  EXPECT_FALSE(in_memory("r", "n")) << "there is no such cell";
  increment("r");
  EXPECT_TRUE(in_memory("r", "n"));
  EXPECT_FALSE(in_memory("r", "m")) << "another column";
  EXPECT_FALSE(in_memory("s", "n")) << "another row";
  EXPECT_OK(table_->flush());
  EXPECT_FALSE(in_memory("r", "n")) << "it is in a file";
  increment("r");
  EXPECT_TRUE(in_memory("r", "n"));
  EXPECT_OK(table_->put(Put("x").add_at("f", "n", 900'000, "late")));
  EXPECT_TRUE(in_memory("r", "n")) << "the late cell is in the same memtable";
  EXPECT_OK(table_->flush());
  increment("r");
  EXPECT_FALSE(in_memory("r", "n")) << "a file has later cells";
}

TEST_F(NewestCellTest, AMarkerHidesACounter) {
  open_table(family("f", 3));
  increment("r");
  EXPECT_OK(table_->erase(Delete("r").column("f", "n")));
  EXPECT_FALSE(in_memory("r", "n"));
  clock_.advance_ms(1);
  increment("r");
  EXPECT_TRUE(in_memory("r", "n"));
  EXPECT_EQ(table_->increment(Increment("r").add("f", "n", 0)).value()[0], 1);
  EXPECT_OK(table_->erase(Delete("s")));
  EXPECT_FALSE(in_memory("r", "n")) << "a marker of the family is in memory";
}

TEST_F(NewestCellTest, AnExpiredCounterIsNotFound) {
  FamilyOptions options = family("f", 3);
  options.ttl_s = 10;
  open_table(options);
  increment("r");
  EXPECT_TRUE(in_memory("r", "n"));
  clock_.advance_ms(10'001);
  EXPECT_FALSE(in_memory("r", "n"));
  EXPECT_OK(table_->increment(Increment("r").add("f", "n", 1).ttl_ms(500)).status());
  EXPECT_TRUE(in_memory("r", "n"));
  clock_.advance_ms(501);
  EXPECT_FALSE(in_memory("r", "n"));
}

TEST_F(NewestCellTest, MarkersInTheOrderOfWritesNeedAGet) {
  FamilyOptions options = family("f", 3);
  options.delete_order = MarkerOrder::kSequence;
  open_table(options);
  increment("r");
  EXPECT_FALSE(in_memory("r", "n"));
}

TEST_F(NewestCellTest, IncrementsStartFromWhatAGetFinds) {
  Random random(20);
  open_table(family("f", 3));
  uint64_t found_in_memory = 0;
  const uint64_t rounds = std::max<uint64_t>(2000, scaled(6000));
  for (uint64_t i = 0; i < rounds; ++i) {
    const std::string row(1, static_cast<char>('a' + random.below(3)));
    const std::string qualifier(1, static_cast<char>('m' + random.below(3)));
    std::string number(8, '\0');
    store_be64(number.data(), random.below(1000));
    const int64_t time = clock_.wall_ms() - 20 + static_cast<int64_t>(random.below(60));
    const uint64_t kind = random.below(100);
    if (kind < 50) {
      Get get(row);
      get.column("f", qualifier);
      const RowBatch before = table_->get(get).value();
      int64_t expected = 1;
      if (before.cells() != 0) expected += static_cast<int64_t>(load_be64(before.row().cells()[0].value));
      found_in_memory += in_memory(row, qualifier) ? 1 : 0;
      ASSERT_EQ(table_->increment(Increment(row).add("f", qualifier, 1)).value()[0], expected)
          << "round " << i;
    } else if (kind < 70) {
      EXPECT_OK(table_->put(Put(row).add_at("f", qualifier, time, number)));
    } else if (kind < 80) {
      EXPECT_OK(table_->erase(Delete(row).column("f", qualifier, time)));
    } else if (kind < 85) {
      EXPECT_OK(table_->erase(Delete(row).latest_version("f", qualifier)));
    } else if (kind < 88) {
      EXPECT_OK(table_->erase(Delete(row)));
    } else if (kind < 92) {
      EXPECT_OK(table_->flush());
      EXPECT_OK(random.one_in(20) ? table_->major_compact() : table_->compact());
    } else {
      clock_.advance_ms(static_cast<int64_t>(random.below(20)));
    }
  }
  EXPECT_GT(found_in_memory, rounds / 50);
}

}  // namespace
}  // namespace cellar::testing
