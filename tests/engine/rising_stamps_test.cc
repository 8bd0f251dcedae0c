// Goal: in a family with stamps=rising, each unstamped put is a version of its own and the newest of its
// column. Each unstamped delete covers all earlier writes. Both hold for every way of writing and whatever
// the clock does. Method: a clock that stands still and steps, each rule by itself; and threads that write
// one column.
#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "base/coding.h"
#include "tests/engine/observer_fixture.h"

namespace cellar::testing {
namespace {

constexpr int64_t kDayMs = 86'400'000;
constexpr int64_t kNow0 = 1'700'000'000'000;
constexpr int64_t kHighest = kLatestTimestamp - 1;
const WriteOptions kRisingWrite{.stamps = Stamps::kRising};

class RisingStampsTest : public EngineFixture {
 protected:
  void SetUp() override {
    open();
    table_ = make_table("t", {rising("f"), rising("g"), family("c", 1000)});
  }
  void TearDown() override { table_.reset(); }

  static FamilyOptions rising(const std::string& name) {
    FamilyOptions options = family(name, 1'000'000);
    options.stamps = Stamps::kRising;
    return options;
  }
  static Put put_of(std::string_view value, std::string_view qualifier = "q") {
    return std::move(Put("r").add("f", qualifier, value));
  }
  void put(std::string_view value, std::string_view qualifier = "q") {
    EXPECT_OK(table_->put(put_of(value, qualifier)));
  }
  // "3@1002 2@1001": the visible versions of a column, the newest first, times less kNow0.
  std::string versions(std::string_view qualifier = "q", std::string_view family = "f",
                       std::string_view row = "r") {
    const auto found = table_->get(Get(row).column(family, qualifier).all_versions());
    EXPECT_OK(found.status());
    std::string text;
    if (!found.ok() || found->empty()) return "none";
    for (const CellView& cell : found->row().cells())
      text += (text.empty() ? "" : " ") + std::string(cell.value_bytes()) + "@" +
              std::to_string(cell.timestamp - kNow0);
    return text;
  }
  std::string newest(std::string_view qualifier = "q") {
    const std::string all = versions(qualifier);
    return all.substr(0, all.find('@'));
  }
  void reopen() {
    table_.reset();
    open();
    auto opened = engine_->open_table("t");
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    table_ = std::move(opened).value();
  }
  static void expect_refused(const Status& status) {
    EXPECT_TRUE(status.is(Code::kInvalidArgument)) << status.to_text();
    EXPECT_NE(status.to_text().find("the highest possible timestamp"), std::string::npos) << status.to_text();
  }

  std::shared_ptr<Table> table_;
};

// ---- puts ----

TEST_F(RisingStampsTest, TwoPutsInOneMillisecondAreTwoVersions) {
  put("a");
  put("b");
  EXPECT_EQ(versions(), "b@1 a@0");
  for (const char* value : {"a", "b"}) EXPECT_OK(table_->put(Put("r").add("c", "q", value)));
  EXPECT_EQ(versions("q", "c"), "b@0") << "the default is the clock";
  clock_.advance_ms(10);
  put("c");
  put("d", "other");
  EXPECT_EQ(versions(), "c@10 b@1 a@0") << "never behind the clock";
  EXPECT_EQ(versions("other"), "d@10") << "columns do not bear on one another";
}

TEST_F(RisingStampsTest, AWriteMayAskForThemAndDecline) {
  for (const char* value : {"a", "b"}) EXPECT_OK(table_->put(Put("r").add("c", "q", value), kRisingWrite));
  EXPECT_EQ(versions("q", "c"), "b@1 a@0");
  const WriteOptions by_clock{.stamps = Stamps::kClock};
  for (const char* value : {"a", "b"}) EXPECT_OK(table_->put(put_of(value), by_clock));
  EXPECT_EQ(versions(), "b@0");
  Batch batch;
  batch.put(table_, Put("s").add("c", "q", "a")).put(table_, Put("s").add("c", "q", "b"));
  EXPECT_OK(engine_->write(batch, kRisingWrite));
  EXPECT_EQ(versions("q", "c", "s"), "b@1 a@0");
}

TEST_F(RisingStampsTest, AGivenTimeStays) {
  EXPECT_OK(table_->put(Put("r").add_at("f", "q", kNow0 - 5, "old").add("f", "q", "new")));
  EXPECT_OK(table_->put(Put("r").add_at("f", "q", kNow0 + 50, "ahead").add("f", "q", "after")));
  EXPECT_EQ(versions(), "after@51 ahead@50 new@0 old@-5");
}

TEST_F(RisingStampsTest, StepsOfTheClockHideAndReplaceNothing) {
  int written = 0;
  for (const int64_t step : {60'000L, -120'000L, 3600'000L, -2 * kDayMs, 400 * kDayMs, -900 * kDayMs,
                             12 * 365 * kDayMs, -20 * 365 * kDayMs, 0L}) {
    clock_.set_wall_ms(clock_.wall_ms() + step);
    for (int i = 0; i < 3; ++i) {
      put(std::to_string(++written));
      EXPECT_EQ(newest(), std::to_string(written)) << "after a step of " << step;
    }
    EXPECT_OK(table_->flush());
  }
  const auto found = table_->get(Get("r").column("f", "q").all_versions());
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->row().cells().size(), static_cast<size_t>(written));
  for (const CellView& cell : found->row().cells())
    EXPECT_EQ(cell.value_bytes(), std::to_string(written--)) << "in the order of writing";
}

TEST_F(RisingStampsTest, AWrongClockHarmsTheColumnsThatWereWrittenMeanwhile) {
  clock_.set_wall_ms(kNow0 + 3650 * kDayMs);
  put("wrong");
  clock_.set_wall_ms(kNow0);
  put("right");
  put("other", "other");
  EXPECT_EQ(newest(), "right");
  EXPECT_EQ(versions("other"), "other@0");
  reopen();
  put("later");
  put("other2", "other");
  EXPECT_EQ(newest(), "later");
  EXPECT_EQ(versions("other"), "other2@1 other@0");
}

TEST_F(RisingStampsTest, TheyHoldInFilesOfEveryKindAndAfterReopening) {
  for (const char* bloom : {"none", "row", "rowcol"}) {
    FamilyOptions options = rising("f");
    options.bloom = bloom;
    EXPECT_OK(engine_->alter_family("t", options));
    for (int i = 0; i < 4; ++i) {
      put(std::to_string(i), bloom);
      put(std::to_string(i), "");
      EXPECT_OK(table_->flush());
      if (i == 1) reopen();
      if (i == 2) EXPECT_OK(table_->major_compact());
    }
    EXPECT_EQ(versions(bloom), "3@3 2@2 1@1 0@0") << bloom;
  }
}

TEST_F(RisingStampsTest, WhatIsHiddenCountsToo) {
  EXPECT_OK(table_->put(Put("r").add_at("f", "q", kNow0 + 100, "deleted")));
  EXPECT_OK(table_->erase(Delete("r").version("f", "q", kNow0 + 100)));
  put("a");
  EXPECT_EQ(versions(), "a@101");
  EXPECT_OK(table_->erase(Delete("r").column("f", "q", kNow0 + 200)));
  put("b");
  EXPECT_EQ(versions(), "b@201");
  EXPECT_OK(table_->put(Put("r").add_at("f", "", kNow0 + 900, "empty")));
  EXPECT_OK(table_->erase(Delete("r").family("f", kNow0 + 300)));
  EXPECT_OK(table_->erase(Delete("r").family_version("f", kNow0 + 302)));
  EXPECT_OK(table_->flush());
  put("c");
  EXPECT_EQ(versions(), "c@303");
  EXPECT_OK(table_->put(Put("r").add("g", "q", "other family")));
  EXPECT_EQ(versions("q", "g"), "other family@0");
}

TEST_F(RisingStampsTest, NothingFollowsTheHighestTimestamp) {
  EXPECT_OK(table_->put(Put("r").add_at("f", "q", kHighest, "8 bytes.")));
  expect_refused(table_->put(put_of("x")));
  expect_refused(table_->put(Put("r").add("f", "fine", "x").add("f", "q", "x")));
  EXPECT_EQ(versions("fine"), "none") << "all or nothing";
  expect_refused(table_->increment(Increment("r").add("f", "q", 1)).status());
  expect_refused(table_->append(Append("r").add("f", "q", "x")).status());
  auto transaction = engine_->begin();
  ASSERT_TRUE(transaction.ok());
  expect_refused((*transaction)->put(table_, put_of("x")));
  (*transaction)->rollback();  // else its snapshot keeps the marker from the compaction
  EXPECT_OK(table_->erase(Delete("r").column("f", "q")));
  EXPECT_EQ(versions(), "none");
  expect_refused(table_->put(put_of("x")));
  EXPECT_OK(table_->flush());
  EXPECT_OK(table_->major_compact());
  put("again");
  EXPECT_EQ(versions(), "again@0");
}

TEST_F(RisingStampsTest, RowsThatCannotBeAreRefusedAsElsewhere) {
  EXPECT_TRUE(table_->put(Put("").add("f", "q", "x")).is(Code::kInvalidArgument));
  for (const size_t size : {32'768U, 70'000U}) {
    const std::string row(size, 'r');
    EXPECT_TRUE(table_->put(Put(row).add("f", "q", "x")).is(Code::kLimit));
    EXPECT_TRUE(table_->erase(Delete(row).column("f", "q")).is(Code::kLimit));
    EXPECT_TRUE(table_->erase(Delete(row)).is(Code::kLimit));
  }
}

TEST_F(RisingStampsTest, TheyLookLikeTimeToTheTimeToLive) {
  FamilyOptions options = rising("f");
  options.ttl_s = 10;
  EXPECT_OK(engine_->alter_family("t", options));
  for (const char* value : {"a", "b", "c"}) put(value);
  EXPECT_OK(table_->put(Put("r").add("f", "short", "x").ttl_ms(50)));
  clock_.advance_ms(51);
  EXPECT_EQ(versions("short"), "none");
  clock_.advance_ms(9'950);
  EXPECT_EQ(versions(), "c@2 b@1");
  clock_.advance_ms(2);
  EXPECT_EQ(versions(), "none");
}

// ---- deletes ----

TEST_F(RisingStampsTest, DeletesCoverWhatWasWrittenBefore) {
  clock_.set_wall_ms(kNow0 + 1000);
  for (const char* qualifier : {"q", "p", "o"}) put("ahead", qualifier);
  EXPECT_OK(table_->put(Put("r").add("g", "q", "ahead")));
  clock_.set_wall_ms(kNow0);
  EXPECT_OK(table_->erase(Delete("r").column("f", "q")));
  EXPECT_EQ(versions(), "none");
  EXPECT_EQ(versions("p"), "ahead@1000");
  put("after");
  EXPECT_EQ(versions(), "after@1001") << "a put after a delete shows";
  EXPECT_OK(table_->erase(Delete("r").family("f")));
  EXPECT_EQ(versions() + versions("p") + versions("o"), "nonenonenone");
  EXPECT_EQ(versions("q", "g"), "ahead@1000");
  put("again", "p");
  EXPECT_EQ(versions("p"), "again@1002") << "later than the marker, which has the time of f:q";
  EXPECT_OK(table_->flush());
  EXPECT_OK(table_->erase(Delete("r")));
  EXPECT_EQ(versions("p") + versions("q", "g"), "nonenone");
  const Texts raw = scan(*table_, Scan().raw(true).all_versions().family("g"));
  EXPECT_EQ(raw.front(), "r/g:/" + std::to_string(kNow0 + 1000) + "/DeleteFamily=");
}

TEST_F(RisingStampsTest, ADeleteOfTheLatestVersionHidesThatOne) {
  for (const char* value : {"a", "b", "c"}) put(value);
  EXPECT_OK(table_->erase(Delete("r").latest_version("f", "q").latest_version("f", "q")));
  EXPECT_EQ(versions(), "a@0");
  put("d");
  EXPECT_EQ(versions(), "d@3 a@0");
}

// ---- batches, row mutations, checks, counters ----

TEST_F(RisingStampsTest, PutsOfABatchAreVersionsInTheirOrder) {
  Batch batch;
  for (const char* value : {"a", "b", "c"}) batch.put(table_, put_of(value));
  batch.put(table_, Put("r").add("f", "q", "d").add("f", "q", "e").add("f", "p", "x"));
  EXPECT_OK(engine_->write(batch));
  EXPECT_EQ(versions(), "e@4 d@3 c@2 b@1 a@0");
  EXPECT_EQ(versions("p"), "x@0");
  batch.clear();
  batch.put(table_, put_of("f")).erase(table_, Delete("r").column("f", "q")).put(table_, put_of("g"));
  EXPECT_OK(engine_->write(batch));
  EXPECT_EQ(versions(), "g@6") << "the delete covers what comes before it in the batch, and nothing after";
  batch.clear();
  batch.put(table_, put_of("h")).erase(table_, Delete("r")).put(table_, put_of("i", "p"));
  EXPECT_OK(engine_->write(batch));
  EXPECT_EQ(versions(), "none");
  EXPECT_EQ(versions("p"), "i@8");
}

TEST_F(RisingStampsTest, ListsOfActionsAndRowMutationsToo) {
  const std::vector<Action> actions = {put_of("a"), put_of("b"), Delete("r").column("f", "q"), put_of("c"),
                                       put_of("d")};
  for (const Result<ActionResult>& result : table_->batch(actions)) EXPECT_OK(result.status());
  EXPECT_EQ(versions(), "d@3 c@2");
  RowMutations mutations("r");
  mutations.add(put_of("e")).add(Delete("r").family("f")).add(put_of("f")).add(put_of("g"));
  EXPECT_OK(table_->mutate(mutations).status());
  EXPECT_EQ(versions(), "g@6 f@5");
}

TEST_F(RisingStampsTest, ChecksToo) {
  clock_.set_wall_ms(kNow0 + 1000);
  put("a");
  clock_.set_wall_ms(kNow0);
  for (const auto& [expected, value] : {std::pair("a", "b"), std::pair("b", "c"), std::pair("b", "no")})
    EXPECT_OK(table_->check_and_mutate(CheckAndMutate("r").if_equals("f", "q", expected).then(put_of(value)))
                  .status());
  EXPECT_EQ(versions(), "c@1002 b@1001 a@1000");
  EXPECT_OK(
      table_
          ->check_and_mutate(CheckAndMutate("r").if_equals("f", "q", "c").then(Delete("r").column("f", "q")))
          .status());
  EXPECT_EQ(versions(), "none");
}

TEST_F(RisingStampsTest, CountersAndAppendsFollowWhatIsHidden) {
  clock_.set_wall_ms(kNow0 + 1000);
  EXPECT_OK(table_->append(Append("r").add("f", "q", "a")).status());
  EXPECT_OK(table_->increment(Increment("r").add("f", "n", 5)).status());
  EXPECT_OK(table_->erase(Delete("r").family("f")));
  clock_.set_wall_ms(kNow0);
  const auto row = table_->append(Append("r").add("f", "q", "b"));
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->cells.front().timestamp, kNow0 + 1001) << "the answer has the time that was written";
  EXPECT_EQ(versions(), "b@1001");
  const auto sums = table_->increment(Increment("r").add("f", "n", 7));
  ASSERT_TRUE(sums.ok());
  EXPECT_EQ(sums->front(), 7);
  const auto again = table_->increment(Increment("r").add("f", "n", 1));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->front(), 8);
  EXPECT_OK(table_->increment(Increment("r").timestamp(kNow0 - 9).add("f", "m", 1)).status());
  const auto counter = table_->get(Get("r").column("f", "m").all_versions());
  ASSERT_TRUE(counter.ok());
  EXPECT_TRUE(counter->empty()) << "a time that is given stays, under the delete of the family";
}

// ---- transactions, observers ----

TEST_F(RisingStampsTest, TransactionsSeeAndWriteThem) {
  clock_.set_wall_ms(kNow0 + 1000);
  put("ahead");
  clock_.set_wall_ms(kNow0);
  auto begun = engine_->begin();
  ASSERT_TRUE(begun.ok());
  Transaction& transaction = **begun;
  const auto seen = [&](std::string_view qualifier) {
    const auto found = transaction.get(table_, Get("r").column("f", qualifier));
    EXPECT_OK(found.status());
    return found.ok() ? std::string(found->value("f", qualifier).value_or("-")) : "?";
  };
  EXPECT_OK(transaction.put(table_, put_of("a")));
  EXPECT_EQ(seen("q"), "a") << "what it puts is the newest for itself, too";
  EXPECT_OK(transaction.put(table_, put_of("b")));
  EXPECT_OK(transaction.put(table_, put_of("c")));
  EXPECT_EQ(seen("q"), "c");
  EXPECT_OK(transaction.erase(table_, Delete("r").latest_version("f", "q")));
  EXPECT_EQ(seen("q"), "b");
  EXPECT_OK(transaction.put(table_, put_of("x", "p")));
  EXPECT_OK(transaction.erase(table_, Delete("r").column("f", "p")));
  EXPECT_EQ(seen("p"), "-");
  EXPECT_OK(transaction.put(table_, put_of("y", "p")));
  EXPECT_OK(transaction.increment(table_, Increment("r").add("f", "n", 2)).status());
  EXPECT_OK(transaction.increment(table_, Increment("r").add("f", "n", 3)).status());
  clock_.set_wall_ms(kNow0 + 500);
  EXPECT_OK(transaction.commit());
  EXPECT_EQ(versions(), "b@1002 a@1001 ahead@1000");
  EXPECT_EQ(versions("p"), "y@501") << "the time of the commit, and after the delete";
  const auto counter = table_->get(Get("r").column("f", "n").all_versions());
  ASSERT_TRUE(counter.ok());
  EXPECT_EQ(counter->row().cells().size(), 2U);
  EXPECT_EQ(load_be64(counter->row().cells()[0].value), 5U);
}

TEST_F(RisingStampsTest, ATransactionMayAskForThem) {
  auto begun = engine_->begin({.stamps = Stamps::kRising});
  ASSERT_TRUE(begun.ok());
  for (const char* value : {"a", "b"})
    EXPECT_OK((*begun)->put(table_, std::move(Put("r").add("c", "q", value))));
  EXPECT_OK((*begun)->commit());
  EXPECT_EQ(versions("q", "c"), "b@1 a@0");
}

TEST_F(RisingStampsTest, AdditionsOfObserversToo) {
  auto log = make_table("log", {rising("f")});
  const auto add = std::make_shared<CallingObserver>([&](const RowView&, ObserverContext& context) -> Status {
    CELLAR_TRY(context.put(log, Put("r").add("f", "q", "first")));
    return context.put(log, Put("r").add("f", "q", "second"));
  });
  EXPECT_OK(engine_->add_observer("t", "adds", add));
  clock_.set_wall_ms(kNow0 + 1000);
  put("a");
  clock_.set_wall_ms(kNow0);
  put("b");
  put("c");
  EXPECT_EQ(versions(), "c@1002 b@1001 a@1000");
  table_ = log;
  EXPECT_EQ(versions(), "second@1005 first@1004 second@1003 first@1002 second@1001 first@1000");
}

// ---- threads ----

TEST_F(RisingStampsTest, EveryPutOfManyThreadsIsAVersion) {
  constexpr int kThreads = 8;
  constexpr int kPuts = 250;
  std::atomic<int> failures{0};
  const auto write = [&](int thread) {
    for (int i = 0; i < kPuts; ++i) {
      const Put each = put_of(std::to_string(thread * kPuts + i));
      Status status;
      if (thread % 4 == 0) {
        status = table_->put(each);
      } else if (thread % 4 == 1) {
        Batch batch;
        batch.put(table_, each);
        status = engine_->write(batch);
      } else if (thread % 4 == 2) {
        status = table_->mutate(RowMutations("r").add(each)).status();
      } else {
        const TransactionOptions patient{.attempts_max = 1'000'000, .pause_us = 10, .pause_us_max = 200};
        status = engine_->run_transaction(
            [&](Transaction& transaction) { return transaction.put(table_, each); }, patient);
      }
      if (!status.ok()) ++failures;
      if (i % 50 == 0) clock_.set_wall_ms(clock_.wall_ms() + (thread % 2 == 0 ? -7'000 : 5'000));
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(write, i);
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(failures, 0);
  const auto count = [&] {
    const auto found = table_->get(Get("r").column("f", "q").all_versions());
    std::set<std::string> values;
    if (found.ok() && !found->empty())
      for (const CellView& cell : found->row().cells()) values.emplace(cell.value_bytes());
    return values.size();
  };
  EXPECT_EQ(count(), static_cast<size_t>(kThreads * kPuts));
  reopen();
  EXPECT_EQ(count(), static_cast<size_t>(kThreads * kPuts));
}

}  // namespace
}  // namespace cellar::testing
