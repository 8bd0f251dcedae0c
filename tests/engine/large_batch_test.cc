// Goal: of several cells with equal coordinates in one batch the last one stays, whatever the batch's size. A
// batch that was cleared is like a new one.
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "base/random.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

class LargeBatches : public EngineFixture {
 protected:
  void SetUp() override {
    open();
    clock_.set_wall_ms(1000);
    table_ = make_table("t", {family("f", 1000), family("g", 1000)});
  }
  void TearDown() override { table_.reset(); }

  std::shared_ptr<Table> table_;
};

// Rows, families, qualifiers and timestamps are drawn from few, or ascend as in a load.
TEST_F(LargeBatches, OfEqualCoordinatesTheLastStays) {
  Random random(3);
  std::map<std::tuple<std::string, std::string, std::string, int64_t>, std::string> expected;
  Batch batch;
  for (uint64_t round = 0; round < scaled(200); ++round) {
    batch.clear();
    const uint64_t cells = 1 + random.below(round % 2 == 0 ? 30 : 600);
    const uint64_t few = 1 + random.below(round % 3 == 0 ? 300 : 20);
    const bool ascends = random.one_in(4);
    const uint64_t repeats = 1 + random.below(3);  // equal cells next to each other, where rows ascend
    for (uint64_t i = 0; i < cells; ++i) {
      const std::string row = "row" + std::to_string(100'000 + (ascends ? i / repeats : random.below(few)));
      const std::string qualifier = ascends ? "q" : std::to_string(random.below(few));
      const std::string family = !ascends && random.one_in(3) ? "g" : "f";
      const auto timestamp = static_cast<int64_t>(1 + (ascends ? 0 : random.below(2)));
      const std::string value = std::to_string(round) + "/" + std::to_string(i);
      batch.put(table_, Put(row).add_at(family, qualifier, timestamp, value));
      expected[{row, family, qualifier, -timestamp}] = value;
    }
    ASSERT_EQ(batch.mutations(), cells);
    EXPECT_OK(engine_->write(batch));
  }
  Texts texts;
  for (const auto& [key, value] : expected) {
    const auto& [row, family, qualifier, newest_first] = key;
    texts.push_back(row + "/" + family + ":" + qualifier + "/" + std::to_string(-newest_first) +
                    "/Put=" + value);
  }
  EXPECT_EQ(scan(*table_, Scan().all_versions()), texts);
}

// Equal cells lie next to each other in rows that ascend.
TEST_F(LargeBatches, OfEqualCoordinatesOneIsStored) {
  Batch batch;
  Texts texts;
  for (int row = 10; row < 40; ++row) {
    batch.put(table_, Put("r" + std::to_string(row)).add_at("f", "q", 5, "first"));
    batch.put(table_, Put("r" + std::to_string(row)).add_at("f", "q", 5, "last"));
    texts.push_back("r" + std::to_string(row) + "/f:q/5/Put=last");
  }
  EXPECT_OK(engine_->write(batch));
  EXPECT_EQ(scan(*table_, Scan().raw(true).all_versions()), texts);
}

// Each place of the batch holds changes of all kinds in turn, long and short ones.
TEST_F(LargeBatches, AClearedBatchHoldsNothingOfTheOneBefore) {
  Batch batch;
  batch.put(table_, Put("a").add("f", "long", std::string(1000, 'x')).add("f", "second", "y").ttl_ms(50'000));
  batch.erase(table_, Delete("b").family("f"));
  batch.increment(table_, Increment("c").add("f", "n", 5));
  batch.append(table_, Append("d").add("f", "s", "tail"));
  EXPECT_OK(engine_->write(batch));
  batch.clear();
  EXPECT_EQ(batch.mutations(), 0U);
  EXPECT_EQ(batch.bytes(), 0U);
  EXPECT_OK(engine_->write(batch));
  batch.increment(table_, Increment("e").add("f", "n", 7));
  batch.put(table_, Put("f").add("f", "q", "v"));
  batch.put(table_, Put("h").add("f", "q", "w"));
  EXPECT_EQ(batch.mutations(), 3U);
  EXPECT_OK(engine_->write(batch));
  EXPECT_EQ(get(*table_, Get("f")), (Texts{"f/f:q/1000/Put=v"}));
  EXPECT_EQ(get(*table_, Get("h")), (Texts{"h/f:q/1000/Put=w"}));
  EXPECT_EQ(get(*table_, Get("d")), (Texts{"d/f:s/1000/Put=tail"})) << "the append was not repeated";
  batch.clear();
  batch.put(table_, Put("i").add("f", "q", "short"));
  EXPECT_OK(engine_->write(batch));
  EXPECT_EQ(get(*table_, Get("i")), (Texts{"i/f:q/1000/Put=short"}));
  clock_.set_wall_ms(100'000);
  EXPECT_EQ(get(*table_, Get("i")).size(), 1U) << "the time to live of an earlier put does not hold";
  EXPECT_EQ(get(*table_, Get("a")).size(), 0U);
}

// The memory of a batch is bounded, and a batch that was cleared keeps no table alive.
TEST_F(LargeBatches, AClearedBatchLetsGoOfItsTable) {
  Batch batch;
  auto other = make_table("u", {family("f")});
  const auto before = table_.use_count();
  const auto before_of_other = other.use_count();
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 100; ++i)
      batch.put(i % 3 == 0 ? other : table_, Put("r" + std::to_string(i)).add("f", "q", "v"));
    EXPECT_EQ(table_.use_count(), before + 1) << "once, however many entries name it";
    EXPECT_EQ(other.use_count(), before_of_other + 1);
    batch.clear();
    EXPECT_EQ(table_.use_count(), before);
    EXPECT_EQ(other.use_count(), before_of_other);
  }
  batch.put(std::shared_ptr<Table>(other), Put("r").add("f", "q", "held by the batch alone"));
  const std::weak_ptr<Table> held = std::exchange(other, nullptr);
  EXPECT_FALSE(held.expired());
  EXPECT_OK(engine_->write(batch));
  for (int round = 0; round < 20; ++round) {
    batch.clear();
    batch.put(table_, Put("large").add("f", "q", std::string(1 << 20, static_cast<char>('a' + round))));
    EXPECT_OK(engine_->write(batch));
  }
  EXPECT_EQ(get(*table_, Get("large")).size(), 1U);
}

}  // namespace
}  // namespace cellar::testing
