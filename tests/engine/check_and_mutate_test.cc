// Goal: a check and what follows it are one, and the check's answer is HBase's in every combination. Method:
// a table of operators, expected and stored values; then each kind of change; then threads.
#include <array>
#include <atomic>
#include <thread>

#include "base/coding.h"
#include "base/random.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

class CheckAndMutateTest : public EngineFixture {
 protected:
  void SetUp() override {
    open();
    clock_.set_wall_ms(1000);
    table_ = make_table("t", {family("f", 5), family("g")});
  }
  void TearDown() override { table_.reset(); }

  void put(std::string_view value, int64_t timestamp = kNow) {
    EXPECT_OK(table_->put(Put("r").add_at("f", "q", timestamp, value)));
  }
  ActionResult done(const CheckAndMutate& check) {
    const auto result = table_->check_and_mutate(check);
    EXPECT_OK(result.status());
    return result.ok() ? *result : ActionResult();
  }
  Texts row() { return get(*table_, Get("r")); }
  static void expect_refused(const Status& status, std::string_view text) {
    EXPECT_TRUE(status.is(Code::kInvalidArgument)) << status.to_text();
    EXPECT_NE(status.to_text().find(text), std::string::npos) << status.to_text();
  }

  std::shared_ptr<Table> table_;
};

constexpr std::array kCompares = {CompareOp::kLess,     CompareOp::kLessOrEqual,    CompareOp::kEqual,
                                  CompareOp::kNotEqual, CompareOp::kGreaterOrEqual, CompareOp::kGreater};

// A line: what is stored ("-": nothing), what is expected, and which of the operators <, <=, =, !=, >=, >
// hold in the form expected OP stored.
struct Line {
  const char* stored;
  const char* expected;
  const char* holds;
};
constexpr std::array kLines = {
    Line{"m", "a", "yynynn"},  Line{"m", "m", "nyynyn"},  Line{"m", "z", "nnnyyy"},
    Line{"m", "ma", "nnnyyy"}, Line{"ma", "m", "yynynn"}, Line{"m", "\xff", "nnnyyy"},
    Line{"-", "m", "nnnnnn"},  // nothing stored: no match, != included
    Line{"-", "", "yyynyy"},   // nothing expected, nothing there: all but !=
    Line{"m", "", "nnnynn"},   // nothing expected, something there: only !=
    Line{"", "", "yyynyy"},    // an empty value is as good as none
    Line{"", "m", "nnnyyy"},
};

TEST_F(CheckAndMutateTest, OperatorsCompareTheExpectedValueWithTheStored) {
  for (const Line& line : kLines) {
    for (size_t i = 0; i < kCompares.size(); ++i) {
      SCOPED_TRACE(std::string("stored ") + line.stored + ", expected " + line.expected + ", operator " +
                   std::to_string(i));
      EXPECT_OK(table_->erase(Delete("r")));
      clock_.advance_ms(10);
      if (std::string_view(line.stored) != "-") put(line.stored);
      const bool success = done(CheckAndMutate("r")
                                    .if_matches("f", "q", kCompares[i], line.expected)
                                    .then(Put("r").add("g", "done", "x")))
                               .matched;
      EXPECT_EQ(success, line.holds[i] == 'y');
      EXPECT_EQ(table_->exists(Get("r").column("g", "done")).value(), success);
    }
  }
}

TEST_F(CheckAndMutateTest, TheReadableFormIsTheOtherDirection) {
  put("5");
  const auto stored = [&](CompareOp compare, std::string_view value) {
    return done(CheckAndMutate("r").if_stored("f", "q", compare, value).then(Put("r").add("g", "x", "")))
        .matched;
  };
  EXPECT_TRUE(stored(CompareOp::kGreater, "4")) << "5 > 4";
  EXPECT_FALSE(stored(CompareOp::kGreater, "5"));
  EXPECT_TRUE(stored(CompareOp::kGreaterOrEqual, "5"));
  EXPECT_FALSE(stored(CompareOp::kLess, "4"));
  EXPECT_TRUE(stored(CompareOp::kLess, "6"));
  EXPECT_TRUE(stored(CompareOp::kLessOrEqual, "5"));
  EXPECT_TRUE(stored(CompareOp::kEqual, "5"));
  EXPECT_TRUE(stored(CompareOp::kNotEqual, "6"));
}

TEST_F(CheckAndMutateTest, TheNewestVisibleVersionCounts) {
  put("old", 10);
  put("new", 20);
  const auto is = [&](std::string_view value, int64_t from = 0, int64_t until = kLatestTimestamp) {
    return done(CheckAndMutate("r")
                    .if_equals("f", "q", value)
                    .time_range(from, until)
                    .then(Put("r").add("g", "x", "")))
        .matched;
  };
  EXPECT_TRUE(is("new"));
  EXPECT_FALSE(is("old"));
  EXPECT_TRUE(is("old", 0, 20));
  EXPECT_FALSE(is("new", 0, 20));
  EXPECT_OK(table_->erase(Delete("r").version("f", "q", 20)));
  EXPECT_TRUE(is("old"));
  EXPECT_OK(table_->erase(Delete("r").column("f", "q")));
  EXPECT_FALSE(is("old"));
  EXPECT_TRUE(done(CheckAndMutate("r").if_not_exists("f", "q").then(Put("r").add("g", "x", ""))).matched);
}

TEST_F(CheckAndMutateTest, PutsAreNotOlderThanWhatWasChecked) {
  put("future", 5000);
  EXPECT_TRUE(
      done(CheckAndMutate("r").if_equals("f", "q", "future").then(Put("r").add("f", "q", "next"))).matched);
  EXPECT_EQ(row(), (Texts{"r/f:q/5000/Put=next"}));
  EXPECT_TRUE(
      done(CheckAndMutate("r")
               .if_equals("f", "q", "next")
               .then(RowMutations("r").add(Put("r").add("f", "q", "third").add_at("f", "p", 3, "own"))))
          .matched);
  EXPECT_EQ(row(), (Texts{"r/f:p/3/Put=own", "r/f:q/5000/Put=third"}));
  EXPECT_TRUE(
      done(CheckAndMutate("r").if_equals("f", "p", "own").then(Put("r").add("f", "p", "now"))).matched);
  EXPECT_EQ(get(*table_, Get("r").column("f", "p")), (Texts{"r/f:p/1000/Put=now"}));
  // A delete takes the time of the write, as ever: the newer value stays.
  EXPECT_TRUE(
      done(CheckAndMutate("r").if_equals("f", "q", "third").then(Delete("r").column("f", "q"))).matched);
  EXPECT_EQ(get(*table_, Get("r").column("f", "q")), (Texts{"r/f:q/5000/Put=third"}));
}

TEST_F(CheckAndMutateTest, EveryKindOfChange) {
  put("v");
  const auto if_v = [] { return CheckAndMutate("r").if_equals("f", "q", "v"); };
  const auto incremented = done(if_v().then(Increment("r").add("g", "n", 5)));
  EXPECT_TRUE(incremented.matched);
  std::string five;
  append_be64(five, 5);
  EXPECT_EQ(incremented.row.row, "r");
  EXPECT_EQ(incremented.row.value("g", "n"), five);
  const auto appended = done(if_v().then(Append("r").add("g", "log", "line")));
  EXPECT_EQ(appended.row.value("g", "log"), "line");
  const auto mutated = done(if_v().then(RowMutations("r")
                                            .add(Append("r").add("g", "log", "+"))
                                            .add(Delete("r").column("g", "n"))
                                            .add(Put("r").add("f", "p", "x"))));
  EXPECT_EQ(mutated.row.cells.size(), 1u);
  EXPECT_EQ(mutated.row.value("g", "log"), "line+");
  EXPECT_EQ(get(*table_, Get("r").family("g")).size(), 1u);
  clock_.advance_ms(1);
  EXPECT_TRUE(done(if_v().then(Delete("r"))).matched);
  EXPECT_FALSE(done(if_v().then(Delete("r"))).matched);
  const auto failed = done(if_v().then(Increment("r").add("g", "n", 5)));
  EXPECT_FALSE(failed.matched);
  EXPECT_TRUE(failed.row.cells.empty());
}

TEST_F(CheckAndMutateTest, AFilterMayBeTheCondition) {
  const int64_t later = clock_.wall_ms() + 50;
  EXPECT_OK(table_->put(Put("r").add_at("f", "q", later, "v").add_at("g", "stock", 7, "5")));
  const auto if_passes = [](const char* text) {
    const Result<FilterPtr> filter = parse_filter(text);
    EXPECT_TRUE(filter.ok()) << text;
    return CheckAndMutate("r").if_passes(*filter);
  };
  const char* both =
      "SingleColumnValueFilter('f', 'q', =, 'binary:v', true, true) AND "
      "SingleColumnValueFilter('g', 'stock', >=, 'binary:4', true, true)";
  // The new cell is not older than the first one that passed.
  EXPECT_TRUE(done(if_passes(both).then(Put("r").add("f", "q", "w"))).matched);
  const std::string time = std::to_string(later);
  EXPECT_EQ(row(), (Texts{"r/f:q/" + time + "/Put=w", "r/g:stock/7/Put=5"}));
  EXPECT_FALSE(done(if_passes(both).then(Delete("r"))).matched);
  EXPECT_FALSE(done(if_passes("ValueFilter(=, 'binary:5')").time_range(0, 7).then(Delete("r"))).matched);
  EXPECT_TRUE(
      done(if_passes("ValueFilter(=, 'binary:5')").time_range(0, 8).then(Put("r").add_at("g", "n", 9, "")))
          .matched);
  EXPECT_EQ(row().size(), 3u);
  // The last condition named counts.
  EXPECT_TRUE(
      done(if_passes("ValueFilter(=, 'binary:no')").if_equals("g", "stock", "5").then(Delete("r"))).matched);
}

// A read may leave out families that cannot decide whether the row passes. A condition looks at all of them,
// as HBase's does. Here SKIP finds the cell of g, which does not pass.
TEST_F(CheckAndMutateTest, AFilterAsConditionSeesEveryFamily) {
  EXPECT_OK(table_->put(Put("r").add("f", "q", "v").add("g", "n", "5")));
  const Result<FilterPtr> filter = parse_filter("SKIP ColumnValueFilter('f', 'q', =, 'binary:v')");
  ASSERT_TRUE(filter.ok());
  EXPECT_FALSE(get(*table_, Get("r").filter(*filter)).empty());
  EXPECT_FALSE(done(CheckAndMutate("r").if_passes(*filter).then(Delete("r"))).matched);
}

TEST_F(CheckAndMutateTest, WhatDoesNotHoldWritesNothing) {
  put("v");
  const uint64_t before = engine_->status().last_sequence;
  EXPECT_FALSE(done(CheckAndMutate("r").if_equals("f", "q", "w").then(Delete("r"))).matched);
  EXPECT_EQ(engine_->status().last_sequence, before);
}

TEST_F(CheckAndMutateTest, RequestsWithoutSenseAreRefused) {
  const Put good = Put("r").add("f", "q", "v");
  const auto refused = [&](const CheckAndMutate& check, std::string_view text) {
    expect_refused(table_->check_and_mutate(check).status(), text);
  };
  refused(CheckAndMutate("r").then(good), "the check of row \"r\" has no condition");
  refused(CheckAndMutate("r").if_not_exists("f", "q"), "the check of row \"r\" has no change");
  refused(CheckAndMutate("other").if_not_exists("f", "q").then(good),
          "the put is for row r, the check for row other");
  refused(CheckAndMutate("other").if_not_exists("f", "q").then(RowMutations("r").add(good)),
          "the check for row other");
  refused(CheckAndMutate("r").if_not_exists("f", "q").then(RowMutations("r").add(Delete("x"))),
          "the delete is for row x");
  refused(CheckAndMutate("r").if_not_exists("h", "q").then(good), "no family \"h\"");
  refused(CheckAndMutate("r").if_not_exists("f", "q").then(Put("r").add("h", "q", "")), "no family \"h\"");
  refused(CheckAndMutate("r").if_not_exists("f", "q").time_range(3, 2).then(good), "time range");
  EXPECT_EQ(row(), Texts{});
}

// Threads that append to, and take turns at, few rows: every success is one step of its row, and nothing
// else.
TEST_F(CheckAndMutateTest, StepsOfManyThreadsAreExact) {
  open({.memtable_bytes = 64 << 10});
  table_ = make_table("t", {family("f"), family("g")});
  constexpr int kThreads = 8, kCheckedRows = 3;
  const auto times = static_cast<int>(std::max<uint64_t>(300, scaled(2000)));
  std::array<std::atomic<int>, kCheckedRows> steps{}, appended{};
  const auto number = [](int value) {
    std::string bytes;
    append_be64(bytes, static_cast<uint64_t>(value));
    return bytes;
  };
  const auto work = [&](int thread) {
    Random random(static_cast<uint64_t>(thread) + 1);
    for (int i = 0; i < times; ++i) {
      const auto at = random.below(kCheckedRows);
      const std::string row = "r" + std::to_string(at);
      if (random.one_in(2)) {
        ASSERT_TRUE(table_->append(Append(row).add("g", "log", "ab")).ok());
        appended[at].fetch_add(1);
        continue;
      }
      const auto now = table_->get(Get(row).column("f", "step")).value().counter("f", "step");
      CheckAndMutate check(row);
      if (now) {
        check.if_equals("f", "step", number(static_cast<int>(*now)));
      } else {
        check.if_not_exists("f", "step");
      }
      RowMutations next(row);
      next.add(Put(row).add("f", "step", number(static_cast<int>(now.value_or(0)) + 1)));
      next.add(Increment(row).add("f", "count", 1));
      const auto result = table_->check_and_mutate(check.then(next));
      ASSERT_TRUE(result.ok()) << result.status().to_text();
      if (!result->matched) continue;
      ASSERT_EQ(result->row.value("f", "count"), number(static_cast<int>(now.value_or(0)) + 1));
      steps[at].fetch_add(1);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  for (size_t at = 0; at < kCheckedRows; ++at) {
    const RowBatch found = table_->get(Get("r" + std::to_string(at))).value();
    EXPECT_GT(steps[at].load(), 0);
    EXPECT_EQ(found.row().counter("f", "step"), steps[at].load());
    EXPECT_EQ(found.row().counter("f", "count"), steps[at].load());
    std::string log;
    for (int i = 0; i < appended[at].load(); ++i) log += "ab";
    EXPECT_EQ(found.row().value("g", "log"), log);
  }
  count(static_cast<uint64_t>(kThreads) * static_cast<uint64_t>(times),
        "appends and checks of 8 threads, each exact");
}

}  // namespace
}  // namespace cellar::testing
