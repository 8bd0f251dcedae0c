// Goal: many requests in one call are answered one by one, gets see one instant, and the nearest row is
// found. Method: mixed lists with good and bad members, over memory and files.
#include <atomic>
#include <set>
#include <thread>

#include "base/coding.h"
#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

class Actions : public EngineFixture {
 protected:
  void SetUp() override {
    open();
    clock_.set_wall_ms(1000);
    table_ = make_table("t", {family("f", 3), family("g")});
  }
  void TearDown() override { table_.reset(); }
  // Returns "value" of f:q of each row, "-" if the row has no such cell.
  static Texts values(const std::vector<RowBatch>& rows) {
    Texts texts;
    for (const RowBatch& row : rows) texts.emplace_back(row.value("f", "q").value_or("-"));
    return texts;
  }
  std::shared_ptr<Table> table_;
};

TEST_F(Actions, EachIsAnsweredOnItsOwn) {
  EXPECT_OK(table_->put(Put("text").add("f", "q", "abc")));
  const std::vector<Action> actions = {
      Put("a").add("f", "q", "1"),
      Put("b").add("nope", "q", "1"),      // no such family
      Put("c").add("f", "q", "3"),         //
      Put("d"),                            // no columns
      Delete("text").column("f", "gone"),  //
      Get("a"),                            // sees what stands before it
      Increment("n").add("f", "n", 4),     //
      Increment("text").add("f", "q", 1),  // not a counter
      Append("a").add("f", "q", "+"),      //
      RowMutations("m").add(Put("m").add("f", "q", "m")).add(Append("m").add("g", "log", "l")),
      RowMutations("m").add(Put("x").add("f", "q", "m")),  // another row
      Get("missing"),
      Get("a").family("nope"),
      Get("a").column("f", "q"),
  };
  const std::vector<Result<ActionResult>> results = table_->batch(actions);
  ASSERT_EQ(results.size(), actions.size());
  std::string failed;
  for (const Result<ActionResult>& each : results) failed += each.status().ok() ? '.' : 'x';
  EXPECT_EQ(failed, ".x.x...x..x.x.");
  for (const size_t at : {1u, 3u, 7u, 10u, 12u})
    EXPECT_TRUE(results[at].status().is(Code::kInvalidArgument)) << results[at].status().to_text();
  EXPECT_EQ(results[5]->row.value("f", "q"), "1");
  std::string four;
  append_be64(four, 4);
  EXPECT_EQ(results[6]->row.value("f", "n"), four);
  EXPECT_EQ(results[8]->row.value("f", "q"), "1+");
  EXPECT_EQ(results[9]->row.value("g", "log"), "l");
  EXPECT_EQ(results[11]->row, (Row{"missing", {}}));
  EXPECT_EQ(results[13]->row.value("f", "q"), "1+");
  EXPECT_EQ(get(*table_, Get("c")), (Texts{"c/f:q/1000/Put=3"}));
  EXPECT_EQ(table_->exists(Get("b")).value(), false);
  EXPECT_TRUE(table_->batch({}).empty());
}

TEST_F(Actions, PutsSideBySideAreOneWriteAndTheLastOfAColumnWins) {
  const uint64_t before = engine_->status().last_sequence;
  std::vector<Action> actions;
  for (int i = 0; i < 100; ++i)
    actions.emplace_back(Put("r" + std::to_string(i % 50)).add("f", "q", std::to_string(i)));
  for (const Result<ActionResult>& each : table_->batch(actions)) EXPECT_OK(each.status());
  EXPECT_EQ(engine_->status().last_sequence, before + 1);
  EXPECT_EQ(get(*table_, Get("r0").all_versions()), (Texts{"r0/f:q/1000/Put=50"}));
  // More than one write may hold.
  actions.clear();
  for (int i = 0; i < 40; ++i)
    actions.emplace_back(Put("big").add("f", std::to_string(i), std::string(100'000, 'x')));
  for (const Result<ActionResult>& each : table_->batch(actions)) EXPECT_OK(each.status());
  EXPECT_EQ(table_->get_row(Get("big")).value().cells.size(), 40u);
  EXPECT_GT(engine_->status().last_sequence, before + 2);
}

TEST_F(Actions, AfterCloseAllOfThemFail) {
  EXPECT_OK(engine_->close());
  const std::vector<Action> actions = {Put("a").add("f", "q", "1"), Put("b").add("f", "q", "1"), Get("a")};
  for (const Result<ActionResult>& each : table_->batch(actions))
    EXPECT_TRUE(each.status().is(Code::kAborted));
  EXPECT_TRUE(table_->get_many(std::vector<Get>{Get("a")}).status().is(Code::kAborted));
}

TEST_F(Actions, ManyGetsAreAnsweredInTheirOrder) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_OK(table_->put(Put("r" + std::to_string(100 + i)).add("f", "q", std::to_string(i))));
    if (i == 40 || i == 70) EXPECT_OK(table_->flush());
  }
  const auto old = engine_->snapshot().value();
  EXPECT_OK(table_->put(Put("r105").add_at("f", "q", 5000, "new")));
  std::vector<Get> gets = {Get("r199"),
                           Get("r100"),
                           Get("none"),
                           Get("r150"),
                           Get("r100"),
                           Get("r105"),
                           Get("r105").snapshot(old)};
  EXPECT_EQ(values(table_->get_many(gets).value()), (Texts{"99", "0", "-", "50", "0", "new", "5"}));
  EXPECT_TRUE(table_->get_many({}).value().empty());
  gets.emplace_back("r1").family("nope");
  EXPECT_TRUE(table_->get_many(gets).status().is(Code::kInvalidArgument));
  const std::vector<Get> empty = {Get("")};
  EXPECT_TRUE(table_->get_many(empty).status().is(Code::kInvalidArgument));
}

TEST_F(Actions, NeighboursShareABlock) {
  FamilyOptions options = family("f");
  options.block_bytes = 1024;
  auto table = make_table("blocks", {options});
  for (int i = 0; i < 400; ++i)
    EXPECT_OK(table->put(Put("r" + std::to_string(1000 + i)).add("f", "q", std::string(50, 'x'))));
  EXPECT_OK(table->flush());
  // A cache of few blocks: what is asked for in the order of rows is read once.
  EXPECT_OK(engine_->close());
  table.reset();
  table_.reset();
  EngineOptions small;
  small.cache_bytes = 5500;
  open(small);
  table = engine_->open_table("blocks").value();
  ReadStats together, alone;
  std::vector<Get> gets;
  for (int i = 0; i < 400; ++i) {
    Get get("r" + std::to_string(1000 + i * 37 % 400));
    EXPECT_EQ(table->get(get.stats(&alone)).value().cells(), 1u);
    gets.push_back(get.stats(&together));
  }
  for (const RowBatch& row : table->get_many(gets).value()) EXPECT_EQ(row.cells(), 1u);
  EXPECT_GT(together.blocks_from_disk, 20u);
  EXPECT_LT(together.blocks_from_disk, alone.blocks_from_disk / 4) << "of 400 gets in no order";
}

TEST_F(Actions, ManyGetsSeeOneInstant) {
  std::atomic<bool> stop{false};
  std::vector<Get> gets;
  for (int i = 0; i < 20; ++i) gets.emplace_back("r" + std::to_string(i));
  const auto write = [&](int value) {
    Batch batch;
    for (const Get& each : gets) batch.put(table_, Put(each.row()).add("f", "q", std::to_string(value)));
    EXPECT_OK(engine_->write(batch));
  };
  write(0);
  std::thread writer([&] {
    for (int i = 1; !stop; ++i) {
      clock_.advance_ms(1);
      write(i);
      if (i % 50 == 0) EXPECT_OK(table_->flush());
      if (i % 200 == 0) EXPECT_OK(table_->major_compact());
    }
  });
  std::set<std::string> seen;
  for (int i = 0; i < 3000; ++i) {
    const Texts found = values(table_->get_many(gets).value());
    ASSERT_EQ(std::set<std::string>(found.begin(), found.end()).size(), 1u);
    seen.insert(found.front());
  }
  stop = true;
  writer.join();
  EXPECT_GT(seen.size(), 1u);
}

TEST_F(Actions, TheNearestRow) {
  for (const char* row : {"b", "d", "f"}) EXPECT_OK(table_->put(Put(row).add("f", "q", row)));
  EXPECT_OK(table_->flush());
  EXPECT_OK(table_->erase(Delete("d")));
  const auto after = [&](std::string_view row, const Scan& asked = {}) {
    const RowBatch found = table_->row_at_or_after(row, asked).value();
    return std::string(found.value("f", "q").value_or("-"));
  };
  const auto before = [&](std::string_view row, const Scan& asked = {}) {
    const RowBatch found = table_->row_at_or_before(row, asked).value();
    return std::string(found.value("f", "q").value_or("-"));
  };
  EXPECT_EQ(after("b"), "b");
  EXPECT_EQ(after("c"), "f") << "the deleted row is none";
  EXPECT_EQ(after("g"), "-");
  EXPECT_EQ(after(""), "b");
  EXPECT_EQ(before("f"), "f");
  EXPECT_EQ(before("e"), "b");
  EXPECT_EQ(before("a"), "-");
  EXPECT_EQ(before(""), "-") << "no row is before the first possible one";
  EXPECT_EQ(after("c", Scan().stop("e")), "-");
  EXPECT_EQ(after("c", Scan().family("g")), "-");
  EXPECT_EQ(after("c", Scan().reversed(true).limit(7)), "f") << "direction and limit are the helper's";
}

}  // namespace
}  // namespace cellar::testing
