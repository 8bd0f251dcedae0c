// Goal: the API serves a new user. Rows own their bytes, ranges and times for keys work, and scans of a range
// go in both directions. A close tells which objects are still open.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "cellar/hfile.h"
#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

static_assert(std::ranges::input_range<Scanner>);
static_assert(std::ranges::forward_range<const RowBatch>);
static_assert(std::ranges::range<const Row>);

class Api : public EngineFixture {
 protected:
  void SetUp() override {
    open();
    table_ = make_table("t", {family("f", 3), family("g")});
    clock_.advance_ms(1000);
  }
  void put(std::string_view row, std::string_view value) {
    EXPECT_OK(table_->put(Put(row).add("f", "q", value)));
  }
  std::string rows(const Scan& scan) {
    std::string text;
    const auto scanner = table_->scan(scan);
    EXPECT_OK(scanner.status());
    if (!scanner.ok()) return "?";
    for (const RowView row : **scanner) text += std::string(row.row()) + " ";
    EXPECT_OK((*scanner)->status());
    return text;
  }

  std::shared_ptr<Table> table_;
};

TEST_F(Api, ARowOwnsItsBytes) {
  put("r", "v");
  Row row = table_->get_row(Get("r")).value();
  EXPECT_OK(table_->put(Put("r").add("f", "q", "newer")));
  EXPECT_OK(table_->flush());
  EXPECT_EQ(row.value("f", "q"), "v");
  EXPECT_EQ(row.value("f", "x"), std::nullopt);
  row = table_->get_row(Get("none")).value();
  EXPECT_TRUE(row.empty());
  EXPECT_EQ(row.row, "none");
  EXPECT_TRUE(table_->get_row(Get("r").family("ff")).status().is(Code::kInvalidArgument));
  EXPECT_TRUE(table_->get_row(Get("")).status().is(Code::kInvalidArgument));
}

TEST_F(Api, AReadRefusesAMistypedFamily) {
  put("r", "v");
  const Status refused = table_->get(Get("r").column("ff", "q")).status();
  EXPECT_TRUE(refused.is(Code::kInvalidArgument)) << refused.to_text();
  EXPECT_NE(refused.hint().find("f"), std::string_view::npos) << refused.to_text();
  EXPECT_FALSE(table_->scan(Scan().family("ff")).ok());
  EXPECT_FALSE(table_->exists(Get("r").family("ff")).ok());
}

TEST_F(Api, CountersOfRowsAndBatches) {
  EXPECT_OK(table_->put(Put("r").add("f", "n", plain_int64(-7)).add("f", "text", "seven")));
  const RowBatch batch = table_->get(Get("r")).value();
  EXPECT_EQ(batch.counter("f", "n"), -7);
  EXPECT_EQ(batch.counter("f", "text"), std::nullopt);
  EXPECT_EQ(batch.row().counter("f", "n"), -7);
  EXPECT_EQ(table_->get_row(Get("r")).value().counter("f", "n"), -7);
  EXPECT_EQ(table_->increment(Increment("r").add("f", "n", 10)).value(), std::vector<int64_t>{3});
}

TEST_F(Api, RowsHaveAText) {
  EXPECT_OK(
      table_->put(Put("r\x01").add_at("f", "q", 5, "v").add_at("g", "x", 7, std::string_view("\0", 1))));
  EXPECT_OK(table_->erase(Delete("r\x01").version("f", "old", 3)));
  const RowBatch batch = table_->get(Get("r\x01")).value();
  EXPECT_EQ(to_text(batch.row()), "r\\x01 {f:q @5 = v, g:x @7 = \\x00}");
  std::ostringstream shown;
  shown << batch.row() << '|' << batch.row().to_row() << '|' << Status::busy("wait") << '|' << Status();
  EXPECT_EQ(shown.str(),
            "r\\x01 {f:q @5 = v, g:x @7 = \\x00}|r\\x01 {f:q @5 = v, g:x @7 = \\x00}|busy: wait|ok");
  const auto scanner = table_->scan(Scan().raw(true).batch(2)).value();
  ASSERT_TRUE(scanner->next());
  EXPECT_EQ(to_text(scanner->row()), "r\\x01 {f:old @3 Delete, f:q @5 = v, …}");
  EXPECT_EQ(to_text(RowView::cursor("k")), "cursor at k");
  EXPECT_EQ(to_text(Row{"empty", {}}), "empty {}");
}

TEST_F(Api, AScannerIsARange) {
  for (const char* row : {"a", "b", "c", "d"}) put(row, row);
  const auto scanner = table_->scan(Scan()).value();
  const auto found = std::ranges::find_if(*scanner, [](const RowView& row) { return row.row() == "c"; });
  EXPECT_EQ((*found).row(), "c");
  RowBatch batch;
  const auto again = table_->scan(Scan()).value();
  EXPECT_TRUE(again->next_batch(batch, 3));
  EXPECT_EQ(std::ranges::count_if(batch, [](const RowView& row) { return row.row() > "a"; }), 2);
  const auto none = table_->scan(Scan().start("x")).value();
  EXPECT_EQ(std::ranges::distance(*none), 0);
  EXPECT_OK(none->status());
}

// clang before 16 rejects the views of libstdc++ 12, whatever the range.
#if !defined(__clang__) || __clang_major__ >= 16
TEST_F(Api, ScannersAndBatchesHaveViews) {
  for (const char* row : {"a", "b", "c", "d"}) put(row, row);
  const auto scanner = table_->scan(Scan()).value();
  std::string text;
  for (const std::string& each :
       *scanner | std::views::transform([](const RowView& row) { return std::string(row.row()); }) |
           std::views::filter([](const std::string& row) { return row != "b"; }) | std::views::take(2))
    text += each;
  EXPECT_EQ(text, "ac");
  RowBatch batch;
  const auto again = table_->scan(Scan()).value();
  EXPECT_TRUE(again->next_batch(batch, 3));
  text.clear();
  for (const RowView row : batch | std::views::drop(1)) text += row.row();
  EXPECT_EQ(text, "bc");
}
#endif

TEST_F(Api, ARangeOfKeysIsReadInBothDirections) {
  for (const char* row : {"a", "aa", "ab", "b", "\xff", "\xff\xff"}) put(row, row);
  EXPECT_EQ(rows(Scan(keys_with_prefix("a"))), "a aa ab ");
  EXPECT_EQ(rows(Scan(keys_with_prefix("a")).reversed(true)), "ab aa a ");
  EXPECT_EQ(rows(Scan(keys_with_prefix("a")).reversed(true).limit(1)), "ab ");
  EXPECT_EQ(rows(Scan(keys_with_prefix("a")).reversed(true).start("aa")), "aa a ") << "one end is replaced";
  EXPECT_EQ(rows(Scan(keys_with_prefix("a")).reversed(true).stop("aa", true)), "ab aa ");
  EXPECT_EQ(rows(Scan(keys_with_prefix("\xff")).reversed(true)), "\xff\xff \xff ")
      << "no row follows the prefix";
  EXPECT_EQ(rows(Scan(KeyRange{"aa", "b"}).reversed(true)), "ab aa ");
  EXPECT_EQ(rows(Scan(KeyRange{"", "ab"}).reversed(true)), "aa a ");
  EXPECT_EQ(rows(Scan(KeyRange{}).reversed(true).limit(2)), "\xff\xff \xff ");
  // Explicit ends keep HBase's meaning: a reversed scan starts at its upper end.
  EXPECT_EQ(rows(Scan().start("ab").stop("a").reversed(true)), "ab aa ");
  const RowBatch before = table_->row_at_or_before("az", Scan(keys_with_prefix("a"))).value();
  EXPECT_EQ(before.row().row(), "ab");
}

TEST_F(Api, CloseTellsWhatIsOpenAndWorksLater) {
  put("r", "v");
  auto snapshot = engine_->snapshot().value();
  auto scanner = table_->scan(Scan()).value();
  auto transaction = engine_->begin().value();
  Status refused = engine_->close();
  EXPECT_TRUE(refused.is(Code::kBusy)) << refused.to_text();
  EXPECT_NE(refused.message().find("2 snapshots or transactions and 1 scanners"), std::string_view::npos)
      << refused.to_text();
  EXPECT_EQ(engine_->status().scanners, 1u);
  EXPECT_TRUE(scanner->next());
  EXPECT_EQ(scanner->row().value("f", "q"), "v");
  put("r2", "the engine is still open");
  scanner.reset();
  transaction.reset();
  refused = engine_->close();
  EXPECT_TRUE(refused.is(Code::kBusy)) << refused.to_text();
  snapshot.reset();
  EXPECT_OK(engine_->close());
  EXPECT_OK(engine_->close());
  EXPECT_TRUE(table_->get(Get("r")).status().is(Code::kAborted));
}

TEST_F(Api, UniqueTimesRise) {
  clock_.set_wall_ms(5'000);
  EXPECT_EQ(engine_->unique_time_us().value(), 5'000'000);
  EXPECT_EQ(engine_->unique_time_us().value(), 5'000'001);
  clock_.set_wall_ms(5'001);
  EXPECT_EQ(engine_->unique_time_us().value(), 5'001'000);
  clock_.set_wall_ms(1'000);  // the clock steps back
  EXPECT_EQ(engine_->unique_time_us().value(), 5'001'001);
  open();  // after a clean close
  EXPECT_EQ(engine_->unique_time_us().value(), 5'001'002);
  clock_.set_wall_ms(3'600'000);
  EXPECT_EQ(engine_->unique_time_us().value(), 3'600'000'000);
  std::set<std::string> keys;
  for (int i = 0; i < 1000; ++i) keys.insert(reversed_time(engine_->unique_time_us().value()));
  EXPECT_EQ(keys.size(), 1000u);
}

TEST_F(Api, UniqueTimesAreUniqueAmongThreads) {
  constexpr int kThreads = 4;
  constexpr int kEach = 2000;
  std::vector<std::vector<int64_t>> times(kThreads);
  std::vector<std::thread> threads;
  for (std::vector<int64_t>& mine : times)
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) mine.push_back(engine_->unique_time_us().value());
    });
  for (std::thread& each : threads) each.join();
  std::set<int64_t> all;
  for (const std::vector<int64_t>& each : times) {
    EXPECT_TRUE(std::ranges::is_sorted(each));
    all.insert(each.begin(), each.end());
  }
  EXPECT_EQ(all.size(), size_t{kThreads} * kEach);
}

TEST_F(Api, AReadOnlyEngineHasNoUniqueTimes) {
  EXPECT_OK(engine_->unique_time_us().status());
  table_.reset();
  open({.read_only = true});
  EXPECT_TRUE(engine_->unique_time_us().status().is(Code::kReadOnly));
}

// HBase's rule, which Table::erase and README describe, and the option that changes it.
TEST_F(Api, PutErasePutWithinAMillisecond) {
  for (const MarkerOrder order : {MarkerOrder::kTimestamp, MarkerOrder::kSequence}) {
    FamilyOptions options = family("f");
    options.delete_order = order;
    const auto table = make_table(order == MarkerOrder::kTimestamp ? "by_time" : "by_sequence", {options});
    EXPECT_OK(table->put(Put("r").add("f", "q", "1")));
    EXPECT_OK(table->erase(Delete("r")));
    EXPECT_OK(table->put(Put("r").add("f", "q", "2")));
    EXPECT_EQ(value_of(*table, Get("r"), "f", "q"), order == MarkerOrder::kTimestamp ? "-" : "2");
  }
}

TEST_F(Api, TransactionsReadManyAndCheck) {
  put("a", "1");
  put("b", "2");
  const auto transaction = engine_->begin().value();
  EXPECT_OK(transaction->put(table_, Put("c").add("f", "q", "own")));
  const auto many =
      transaction->get_many(table_, std::vector<Get>{Get("b"), Get("none"), Get("c"), Get("a")}).value();
  ASSERT_EQ(many.size(), 4u);
  EXPECT_EQ(many[0].value("f", "q"), "2");
  EXPECT_TRUE(many[1].empty());
  EXPECT_EQ(many[2].value("f", "q"), "own");
  EXPECT_EQ(many[3].value("f", "q"), "1");
  EXPECT_EQ(transaction->exists(table_, Get("c")).value(), true);
  EXPECT_EQ(transaction->exists(table_, Get("none")).value(), false);
  EXPECT_EQ(transaction->get_row(table_, Get("a")).value().cells.size(), 1u);

  const auto check = [&](const CheckAndMutate& asked) {
    return transaction->check_and_mutate(table_, asked);
  };
  const CheckAndMutate if_own = CheckAndMutate("c").if_equals("f", "q", "own");
  EXPECT_TRUE(check(CheckAndMutate(if_own).then(Put("c").add("f", "q", "next"))).value().matched);
  EXPECT_FALSE(check(CheckAndMutate(if_own).then(Delete("c"))).value().matched) << "it sees its own change";
  const Result<ActionResult> appended =
      check(CheckAndMutate("c").if_equals("f", "q", "next").then(Append("c").add("f", "q", "+")));
  ASSERT_TRUE(appended.ok()) << appended.status().to_text();
  EXPECT_EQ(appended->row.value("f", "q"), "next+");
  const Result<ActionResult> counted =
      check(CheckAndMutate("n").if_not_exists("f", "n").then(Increment("n").add("f", "n", 4)));
  ASSERT_TRUE(counted.ok()) << counted.status().to_text();
  EXPECT_EQ(counted->row.counter("f", "n"), 4);
  EXPECT_TRUE(check(CheckAndMutate("c").if_equals("f", "q", "next+").then(Delete("c"))).value().matched);
  EXPECT_TRUE(
      check(CheckAndMutate("c").if_not_exists("f", "q").then(Put("x"))).status().is(Code::kInvalidArgument));
  EXPECT_TRUE(check(CheckAndMutate("c")).status().is(Code::kInvalidArgument));
  EXPECT_TRUE(check(CheckAndMutate("c").if_not_exists("f", "q").then(
                        RowMutations("c").add(Put("c").add("f", "q", "v"))))
                  .status()
                  .is(Code::kNotSupported));
  EXPECT_EQ(value_of(*table_, Get("n"), "f", "n"), "-") << "nothing is written before the commit";
  EXPECT_OK(transaction->commit());
  EXPECT_EQ(table_->get_row(Get("n")).value().counter("f", "n"), 4);
  EXPECT_EQ(value_of(*table_, Get("c"), "f", "q"), "-");
}

TEST_F(Api, ACheckThatFailedCountsAsARead) {
  put("a", "1");
  const auto transaction = engine_->begin().value();
  const CheckAndMutate check = CheckAndMutate("a").if_equals("f", "q", "9").then(Delete("a"));
  EXPECT_FALSE(transaction->check_and_mutate(table_, check).value().matched);
  EXPECT_OK(transaction->put(table_, Put("b").add("f", "q", "v")));
  put("a", "9");
  EXPECT_TRUE(transaction->commit().is(Code::kConflict));
}

TEST_F(Api, AlterTakesTheDurabilityAway) {
  EXPECT_OK(engine_->alter_table("t", {.durability = Durability::kFsyncWal}));
  EXPECT_EQ(table_->info().options.durability, Durability::kFsyncWal);
  EXPECT_TRUE(engine_->alter_table("t", {.durability = Durability::kSkipWal, .default_durability = true})
                  .is(Code::kInvalidArgument));
  EXPECT_OK(engine_->alter_table("t", {.default_durability = true}));
  EXPECT_EQ(table_->info().options.durability, std::nullopt);
}

Result<std::map<int, int>> map_of(int key, int value) { return std::map<int, int>{{key, value}}; }
Result<std::pair<int, int>> pair_of(bool ok) {
  if (!ok) return Status::limit("no pair");
  return std::pair(1, 2);
}

TEST(Try, TakesResultsAndCommas) {
  const auto work = [](bool ok) -> Status {
    CELLAR_TRY(map_of(1, 2));
    CELLAR_TRY(pair_of(ok));
    CELLAR_TRY(Status());
    CELLAR_TRY_ASSIGN((const std::map<int, int> map), map_of(3, 4));
    CELLAR_TRY_ASSIGN((const auto [first, second]), pair_of(ok));
    CELLAR_TRY_ASSIGN(const auto other, std::pair<Result<int>, int>(5, 6).first);
    int assigned = 0;
    CELLAR_TRY_ASSIGN(assigned, Result<int>(7));
    return map.at(3) == 4 && first == 1 && second == 2 && other == 5 && assigned == 7
               ? Status()
               : Status::corruption("wrong values");
  };
  EXPECT_OK(work(true));
  EXPECT_TRUE(work(false).is(Code::kLimit));
}

TEST(Mutations, TellWhatTheyWrite) {
  Put put("r");
  EXPECT_TRUE(put.empty());
  put.add("f", "a", "1").add_at("f", "b", 7, "2").ttl_ms(5);
  EXPECT_EQ(put.size(), 2u);
  ASSERT_EQ(put.cells().size(), 2u);
  EXPECT_EQ(put.cells()[0].timestamp, kNow);
  EXPECT_EQ(put.cells()[1].timestamp, 7);
  EXPECT_EQ(put.cells()[1].value, "2");
  EXPECT_FALSE(put.cells()[1].tags.empty());
  const Delete erase = Delete("r").column("f", "a", 3);
  EXPECT_EQ(erase.cells().front().type, CellType::kDeleteColumn);
  const Increment increment = Increment("r").add("f", "n", -2);
  EXPECT_EQ(increment.cells().front().value, plain_int64(-2));
  Put copy = put;
  copy.add("f", "c", "3");
  EXPECT_EQ(put.size(), 2u);
  EXPECT_EQ(copy.size(), 3u);
  const Put moved = std::move(copy);
  EXPECT_EQ(moved.row(), "r");
  EXPECT_EQ(moved.size(), 3u);
}

TEST_F(Api, TheFilesOfAFamilyAreAListOfPaths) {
  put("a", "1");
  EXPECT_OK(table_->flush());
  put("b", "2");
  EXPECT_OK(table_->flush());
  size_t cells = 0;
  for (const StoreFileInfo& each : table_->files("f").value()) {
    cells += each.cells;
    const auto file = HFile::open(*files_, "store/" + each.path);
    EXPECT_OK(file.status());
    EXPECT_TRUE(each.path.ends_with("/f/" + each.name)) << each.path;
  }
  EXPECT_EQ(cells, 2u);
  EXPECT_EQ(table_->files("g")->size(), 0u);
  EXPECT_EQ(table_->files("none").status().to_text(), "invalid_argument: table t has no family \"none\"");
}

TEST_F(Api, OneColumnIsIncrementedAndRead) {
  EXPECT_EQ(table_->increment_one("r", "f", "n").value(), 1);
  EXPECT_EQ(table_->increment_one("r", "f", "n", 41).value(), 42);
  EXPECT_EQ(table_->increment_one("r", "f", "n", -43).value(), -1);
  const RowBatch sum = table_->get(Get("r").column("f", "n")).value();
  EXPECT_EQ(sum.row().begin()->counter(), -1);
  put("r", "text");
  EXPECT_TRUE(table_->increment_one("r", "f", "q").status().is(Code::kInvalidArgument));
  const RowBatch batch = table_->get(Get("r").column("f", "q")).value();
  EXPECT_EQ(batch.row().begin()->counter(), std::nullopt);
  EXPECT_TRUE(table_->increment_one("r", "none", "n").status().is(Code::kInvalidArgument));
}

TEST_F(Api, AReadChoosesFamiliesTogether) {
  EXPECT_OK(table_->put(Put("r").add("f", "q", "1").add("g", "q", "2")));
  EXPECT_EQ(get(*table_, Get("r").families({"g", "f"})).size(), 2u);
  EXPECT_EQ(get(*table_, Get("r").families({"g"})).size(), 1u);
  EXPECT_EQ(get(*table_, Get("r").families({})).size(), 2u) << "none is all";
  EXPECT_FALSE(table_->get(Get("r").families({"f", "none"})).ok());
}

TEST_F(Api, AQueryKeepsItsColumnsInOrder) {
  using Names = std::vector<std::string>;
  Get one("r");
  for (const char* name : {"m", "c", "x", "m", "", "c", "n"}) one.column("f", name);
  EXPECT_TRUE(one.chooses_one_family());
  EXPECT_EQ(one.columns(), (ColumnMap{{"f", {"", "c", "m", "n", "x"}}}));
  Get copy = one;
  copy.column("e", "q").column("f", "d");
  EXPECT_FALSE(copy.chooses_one_family());
  EXPECT_EQ(copy.columns(), (ColumnMap{{"e", {"q"}}, {"f", {"", "c", "d", "m", "n", "x"}}}));
  EXPECT_EQ(one.columns().at("f").size(), 5u) << "a copy is independent";
  EXPECT_EQ(copy.family("f").columns().at("f"), Names()) << "the whole family";

  one.family("f");
  EXPECT_TRUE(one.chooses_one_family());
  EXPECT_EQ(one.columns(), (ColumnMap{{"f", {}}}));
  EXPECT_EQ(one.column("f", "q").columns(), (ColumnMap{{"f", {"q"}}})) << "restricts the family, as in HBase";
  EXPECT_EQ(one.family("e").columns(), (ColumnMap{{"e", {}}, {"f", {"q"}}}));
  EXPECT_FALSE(Get("r").chooses_one_family());
}

TEST_F(Api, AGetTakesTheRowOfATemporaryString) {
  std::string row(40, 'r');
  const char* const bytes = row.data();
  EXPECT_EQ(Get(row).row(), row);
  EXPECT_NE(Get(row).row().data(), bytes) << "a copy of a string that the caller keeps";
  const Get get(std::move(row));
  EXPECT_EQ(get.row(), std::string(40, 'r'));
  EXPECT_EQ(get.row().data(), bytes);
}

TEST_F(Api, AManualClockMovesTimesToLive) {
  cellar::ManualClock clock(1'000'000);
  EngineOptions options;
  options.create_if_missing = true;
  options.environment.files = files_.get();
  options.environment.clock = &clock;
  const auto engine = Engine::open("other", options).value();
  FamilyOptions lives = family("f");
  lives.ttl_s = 10;
  const auto table = engine->create_table("t", {.families = {lives}}).value();
  EXPECT_OK(table->put(Put("r").add("f", "q", "1")));
  EXPECT_EQ(table->get_row(Get("r")).value().cells.at(0).timestamp, 1'000'000);
  clock.add_ms(9'000);
  EXPECT_TRUE(*table->exists(Get("r")));
  clock.add_ms(2'000);
  EXPECT_FALSE(*table->exists(Get("r")));
  clock.set_ms(1'000'000);
  EXPECT_EQ(clock.wall_ms(), 1'000'000);
  const int64_t before = clock.steady_us();
  EXPECT_GE(clock.steady_us(), before);
}

}  // namespace
}  // namespace cellar::testing
