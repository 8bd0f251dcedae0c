// Goal: limits of cells, rows and times are kept, and errors name the value over the limit. Options of reads
// and views of rows answer as HBase's do. Method: small limits over a manual clock, one test for each rule.
#include "base/coding.h"
#include "cellar/keys.h"
#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

class Limits : public EngineFixture {
 protected:
  void start(EngineOptions options = {}) {
    open(std::move(options));
    clock_.set_wall_ms(1000);
    table_ = make_table("t", {family("f", 5), family("g", 5)});
  }
  void TearDown() override { table_.reset(); }
  void put(std::string_view row, std::string_view column, int64_t timestamp, std::string_view value = "v") {
    EXPECT_OK(table_->put(Put(row).add_at("f", column, timestamp, value)));
  }
  static void expect_refused(const Status& status, Code code, std::initializer_list<std::string_view> texts) {
    EXPECT_EQ(status.code(), code) << status.to_text();
    for (const std::string_view text : texts)
      EXPECT_NE(status.to_text().find(text), std::string::npos) << text << " in: " << status.to_text();
  }
  static std::string counter(int64_t value) {
    std::string bytes;
    append_be64(bytes, static_cast<uint64_t>(value));
    return bytes;
  }
  std::shared_ptr<Table> table_;
};

// ---- writes ----

TEST_F(Limits, ATimeToLiveIsAMillisecondOrMore) {
  start();
  for (const int64_t ttl : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
    const Put put = Put("row1").add("f", "q", "v").ttl_ms(ttl);
    Batch batch;
    batch.put(table_, put);
    const auto transaction = engine_->begin().value();
    for (const Status& status :
         {table_->put(put), engine_->write(batch), transaction->put(table_, put),
          table_->append(Append("row1").add("f", "q", "v").ttl_ms(ttl)).status(),
          table_->increment(Increment("row1").add("f", "n", 1).ttl_ms(ttl)).status(),
          table_->mutate(RowMutations("row1").add(put)).status(),
          table_->check_and_mutate(CheckAndMutate("row1").if_not_exists("f", "q").then(put)).status()})
      expect_refused(status, Code::kInvalidArgument, {"row1", "time to live of " + std::to_string(ttl)});
  }
  EXPECT_EQ(scan(*table_, Scan().raw(true)), Texts{});
  EXPECT_OK(table_->put(Put("row1").add("f", "q", "v").ttl_ms(1)));
  EXPECT_EQ(get(*table_, Get("row1")).size(), 1U);
  clock_.advance_ms(2);
  EXPECT_EQ(get(*table_, Get("row1")), Texts{});
}

TEST_F(Limits, CountersThatAreNoneNameTheirRow) {
  start();
  put("row1", "q", 1, "abc");
  put("row1", "n", 1, counter(INT64_MAX));
  expect_refused(table_->increment(Increment("row1").add("f", "q", 1)).status(), Code::kInvalidArgument,
                 {"row row1, column f:q is not a counter"});
  expect_refused(table_->increment(Increment("row1").add("f", "n", 1)).status(), Code::kInvalidArgument,
                 {"row row1, column f:n would overflow"});
}

TEST_F(Limits, ACellIsMeasuredAsHBaseSendsIt) {
  // Key: 12 bytes and row, family, qualifier; 4 each for the lengths of cell, key and value.
  constexpr size_t kAround = 12 + 3 + 12;
  EngineOptions options;
  options.cell_bytes_max = 100;
  start(options);
  EXPECT_OK(table_->put(Put("r").add("f", "q", std::string(100 - kAround, 'x'))));
  expect_refused(table_->put(Put("r").add("f", "q", std::string(101 - kAround, 'x'))), Code::kLimit,
                 {"row r, column f:q", "101 bytes", "the limit is 100"});
  // A tag: 2 for the length of all, 2 for its own, 1 for its type, 8 for the time.
  EXPECT_OK(table_->put(Put("r").add("f", "q", std::string(87 - kAround, 'x')).ttl_ms(5)));
  expect_refused(table_->put(Put("r").add("f", "q", std::string(88 - kAround, 'x')).ttl_ms(5)), Code::kLimit,
                 {"101 bytes"});
}

TEST_F(Limits, WithoutALimitOfCellsTheBatchLimits) {
  EngineOptions options;
  options.cell_bytes_max = 0;
  start(options);
  EXPECT_OK(table_->put(Put("r").add("f", "q", std::string(20u << 20, 'x'))));
  EXPECT_OK(table_->flush());
  EXPECT_EQ(value_of(*table_, Get("r"), "f", "q").size(), 20u << 20);
}

TEST_F(Limits, APutTooFarAheadOfTheClockIsRefused) {
  EngineOptions options;
  options.timestamp_slop_ms = 500;
  start(options);
  put("r", "q", 1500);
  put("r", "q", 1);
  EXPECT_OK(table_->put(Put("r").add("f", "now", "v")));
  const Put ahead = Put("row1").add("f", "now", "v").add_at("f", "q", 1501, "v");
  Batch batch;
  batch.put(table_, ahead);
  for (const Status& status :
       {table_->put(ahead), engine_->write(batch), table_->mutate(RowMutations("row1").add(ahead)).status(),
        table_->check_and_mutate(CheckAndMutate("row1").if_not_exists("f", "q").then(ahead)).status()})
    expect_refused(status, Code::kInvalidArgument, {"row1", "f:q", "1501", "501 ms", "timestamp_slop_ms"});
  expect_refused(table_->put(Put("row1").add_at("f", "q", INT64_MAX - 1, "v")), Code::kInvalidArgument,
                 {"row1"});
  EXPECT_EQ(get(*table_, Get("row1")), Texts{});
  // Deletes, increments and appends are not looked at.
  EXPECT_OK(table_->erase(Delete("row1").column("f", "q", 9000)));
  EXPECT_OK(table_->increment(Increment("row1").add("f", "n", 1).timestamp(9000)).status());
  clock_.advance_ms(1);
  EXPECT_OK(table_->put(ahead));
}

TEST_F(Limits, AnyTimeIsTakenUnlessTheOptionSaysOtherwise) {
  start();
  put("r", "q", INT64_MAX - 1);
  EXPECT_EQ(get(*table_, Get("r")).size(), 1U);
}

TEST(EngineOptionsFaults, AreAllNamedAtOnce) {
  EngineOptions options;
  options.memtable = "tree";
  options.cache_policy = "random";
  options.ttl_clock_guard_s = -1;
  options.timestamp_slop_ms = -1;
  options.memtables_frozen_max = 0;
  const Status status = validate(options);
  EXPECT_TRUE(status.is(Code::kInvalidArgument));
  for (const char* text :
       {"\"tree\"", "\"random\"", "ttl_clock_guard_s", "timestamp_slop_ms", "memtables_frozen_max"})
    EXPECT_NE(status.to_text().find(text), std::string::npos) << status.to_text();
  EXPECT_OK(validate(EngineOptions()));
}

// ---- reads ----

TEST_F(Limits, ARowOverTheLimitIsReadInPartsOnly) {
  EngineOptions options;
  options.row_bytes_max = 1000;
  start(options);
  put("small", "q", 1);
  for (const char* qualifier : {"a", "b", "c"}) put("wide", qualifier, 1, std::string(400, 'x'));
  // The limit is about one family: this row is within it.
  EXPECT_OK(
      table_->put(Put("two").add("f", "q", std::string(900, 'x')).add("g", "q", std::string(900, 'x'))));
  EXPECT_EQ(get(*table_, Get("two")).size(), 2U);
  expect_refused(table_->get(Get("wide")).status(), Code::kLimit,
                 {"table t", "row wide", "1000 bytes", "family f", "row_bytes_max", "Scan::batch"});
  EXPECT_TRUE(table_->exists(Get("wide")).value());
  EXPECT_EQ(get(*table_, Get("wide").column("f", "b")).size(), 1U);
  for (const bool reversed : {false, true}) {
    const auto scanner = table_->scan(Scan().reversed(reversed)).value();
    std::string rows;
    while (scanner->next()) rows += std::string(scanner->row().row()) + " ";
    EXPECT_EQ(rows, reversed ? "" : "small two ");
    expect_refused(scanner->status(), Code::kLimit, {"table t", "row wide", "family f"});
    EXPECT_EQ(scan(*table_, Scan().reversed(reversed).batch(2)).size(), 6U);
    EXPECT_EQ(scan(*table_, Scan().reversed(reversed).max_result_bytes(500)).size(), 6U);
  }
}

TEST_F(Limits, WholeRowFiltersTakeASizeLimitBetweenRows) {
  start();
  for (const char* row : {"a", "b"})
    for (const char* qualifier : {"1", "2", "3"}) put(row, qualifier, 1, "vvvv");
  const auto rows = [&](const FilterPtr& filter) {
    std::string text;
    const auto scanner = table_->scan(Scan().filter(filter).max_result_bytes(20)).value();
    for (const RowView row : *scanner)
      text += std::string(row.row()) + std::to_string(row.cells().size()) +
              (row.more_cells_in_row() ? "+ " : " ");
    EXPECT_OK(scanner->status());
    return text;
  };
  EXPECT_EQ(rows(nullptr), "a1+ a1+ a1 b1+ b1+ b1 ");
  EXPECT_EQ(rows(page_filter(1)), "a3 ");
  EXPECT_EQ(rows(single_column_value_filter("f", "2", CompareOp::kEqual, binary("vvvv"))), "a3 b3 ");
}

TEST_F(Limits, ATimestampIsExactlyThatVersion) {
  start();
  for (const int64_t at : {1, 2, 3}) put("r", "q", at);
  EXPECT_EQ(get(*table_, Get("r").timestamp(2)), (Texts{"r/f:q/2/Put=v"}));
  EXPECT_EQ(scan(*table_, Scan().timestamp(3)), (Texts{"r/f:q/3/Put=v"}));
  EXPECT_EQ(get(*table_, Get("r").timestamp(4)), Texts{});
  put("r", "q", INT64_MAX - 1);
  EXPECT_EQ(get(*table_, Get("r").timestamp(INT64_MAX - 1)).size(), 1U);
  EXPECT_EQ(get(*table_, Get("r").timestamp(INT64_MAX)), Texts{});
  expect_refused(table_->get(Get("r").timestamp(-1)).status(), Code::kInvalidArgument, {"time range"});
}

TEST_F(Limits, AFamilysTimeRangeStandsInPlaceOfTheReads) {
  start();
  for (const int64_t at : {1, 2, 3}) {
    put("r", "q", at);
    EXPECT_OK(table_->put(Put("r").add_at("g", "q", at, "v")));
  }
  EXPECT_OK(table_->flush());
  EXPECT_EQ(get(*table_, Get("r").time_range(0, 2).family_time_range("g", 2, 3)),
            (Texts{"r/f:q/1/Put=v", "r/g:q/2/Put=v"}));
  EXPECT_EQ(scan(*table_, Scan().family_time_range("g", 0, 1)), (Texts{"r/f:q/3/Put=v"}));
  EXPECT_EQ(get(*table_, Get("r").family("f").family_time_range("g", 2, 3)), (Texts{"r/f:q/3/Put=v"}))
      << "it does not choose the family";
  EXPECT_EQ(get(*table_, Get("r").family_time_range("g", 0, 1).family_time_range("g", 0, 2)),
            (Texts{"r/f:q/3/Put=v", "r/g:q/1/Put=v"}))
      << "the last one counts";
  expect_refused(table_->get(Get("r").family_time_range("gg", 0, 1)).status(), Code::kInvalidArgument,
                 {"no family", "gg"});
  expect_refused(table_->scan(Scan().family_time_range("g", 2, 1)).status(), Code::kInvalidArgument,
                 {"family g", "time range"});
}

TEST_F(Limits, RowsLookedAtAndFilteredAreCounted) {
  start();
  for (const char* row : {"a", "b", "c", "d", "e"}) put(row, "q", 1, row);
  EXPECT_OK(table_->erase(Delete("e")));
  const auto counted = [&](const FilterPtr& filter) {
    ReadStats stats;
    scan(*table_, Scan().filter(filter).stats(&stats));
    EXPECT_EQ(stats.rows_returned + stats.rows_filtered, stats.rows_scanned);
    return std::pair(stats.rows_scanned, stats.rows_filtered);
  };
  EXPECT_EQ(counted(nullptr), std::pair(uint64_t{5}, uint64_t{1})) << "of e there is nothing to see";
  EXPECT_EQ(counted(row_filter(CompareOp::kLess, binary("c"))), std::pair(uint64_t{5}, uint64_t{3}));
  EXPECT_EQ(counted(value_filter(CompareOp::kEqual, binary("c"))), std::pair(uint64_t{5}, uint64_t{4}));
  EXPECT_EQ(counted(single_column_value_filter("f", "q", CompareOp::kEqual, binary("d"))),
            std::pair(uint64_t{5}, uint64_t{4}));
  EXPECT_EQ(counted(page_filter(2)), std::pair(uint64_t{2}, uint64_t{0}));
}

TEST_F(Limits, NoHintPassesAMarkerOfTheColumn) {
  start();
  for (const int64_t at : {1, 2, 5}) put("r", "q", at);
  EXPECT_OK(table_->erase(Delete("r").column("f", "q", 3)));
  const auto of_two = [&](bool seeks) {
    return get(*table_, Get("r").all_versions().filter(seeks ? seeking_timestamps_filter({2})
                                                             : timestamps_filter({2})));
  };
  EXPECT_EQ(of_two(false), Texts{});
  EXPECT_EQ(of_two(true), Texts{});
  EXPECT_OK(table_->flush());
  put("r", "q", 4);
  EXPECT_EQ(of_two(true), Texts{});
  EXPECT_OK(table_->major_compact());
  put("r", "q", 2);
  EXPECT_EQ(of_two(true), (Texts{"r/f:q/2/Put=v"}));
}

TEST_F(Limits, WhereThereAreNoMarkersHintsOfVersionsAreFollowed) {
  start();
  const auto many = make_table("many", {family("f", 100)});
  for (int64_t at = 1; at <= 100; ++at) EXPECT_OK(many->put(Put("r").add_at("f", "q", at, "v")));
  ReadStats stats;
  const Get get_one = Get("r").filter(seeking_timestamps_filter({7})).stats(&stats);
  for (int round = 0; round < 2; ++round) {
    stats = {};
    EXPECT_EQ(get(*many, get_one), (Texts{"r/f:q/7/Put=v"}));
    EXPECT_LE(stats.cells_examined, 15U);
    EXPECT_OK(many->flush());
  }
}

TEST_F(Limits, StrictlyADeletedVersionIsOneOfThoseKept) {
  start();
  const auto one = make_table("one", {family("f")});
  const auto write = [&](int64_t at, const char* value) {
    EXPECT_OK(one->put(Put("r").add_at("f", "q", at, value)));
  };
  for (const bool flushed : {false, true}) {
    write(10, "old");
    write(20, "new");
    if (flushed) {
      EXPECT_OK(one->flush());
    }
    EXPECT_OK(one->erase(Delete("r").version("f", "q", 20)));
    EXPECT_EQ(get(*one, Get("r")), flushed ? Texts{} : Texts{"r/f:q/10/Put=old"}) << "as in HBase";
    EXPECT_EQ(get(*one, Get("r").strict_versions(true)), Texts{});
    EXPECT_EQ(get(*one, Get("r").column("f", "q").strict_versions(true)), Texts{});
    EXPECT_EQ(scan(*one, Scan().reversed(true).strict_versions(true)), Texts{});
    EXPECT_OK(one->erase(Delete("r")));
    clock_.advance_ms(1000);
    EXPECT_OK(one->major_compact());
  }
  // Five versions are kept, and one of them is deleted. Four are left, and the sixth does not appear.
  for (const int64_t at : {1, 2, 3, 4, 5, 6}) put("r", "q", at);
  EXPECT_OK(table_->erase(Delete("r").version("f", "q", 4)));
  EXPECT_EQ(get(*table_, Get("r").all_versions()).size(), 5U);
  EXPECT_EQ(get(*table_, Get("r").all_versions().strict_versions(true)),
            (Texts{"r/f:q/6/Put=v", "r/f:q/5/Put=v", "r/f:q/3/Put=v", "r/f:q/2/Put=v"}));
}

// ---- lists, counts, views ----

TEST_F(Limits, ExistsOfAListIsAsOfOneInstant) {
  start();
  put("a", "q", 1);
  put("c", "q", 1);
  put("d", "q", 1);
  EXPECT_OK(table_->erase(Delete("c")));
  const std::vector<Get> gets = {Get("d"), Get("c"), Get("b"), Get("a"), Get("a").column("f", "other")};
  EXPECT_EQ(table_->exists_many(gets).value(), (std::vector<bool>{true, false, false, true, false}));
  EXPECT_TRUE(table_->exists_many({})->empty());
  const std::vector<Get> bad = {Get("a"), Get("a").family("nope")};
  EXPECT_TRUE(table_->exists_many(bad).status().is(Code::kInvalidArgument));
}

TEST_F(Limits, AListMayHoldConditions) {
  start();
  put("a", "q", 1, "1");
  const std::vector<Action> actions = {
      CheckAndMutate("a").if_equals("f", "q", "1").then(Put("a").add("f", "q", "2")),
      CheckAndMutate("a").if_equals("f", "q", "1").then(Put("a").add("f", "q", "3")),
      CheckAndMutate("a").if_equals("f", "q", "2").then(Append("a").add("f", "q", "+")),
      CheckAndMutate("a").if_equals("f", "q", "2"),  // no change
      Get("a"),
  };
  const auto results = table_->batch(actions);
  std::string said;
  for (const Result<ActionResult>& each : results) said += !each.ok() ? 'x' : each->matched ? 'y' : 'n';
  EXPECT_EQ(said, "ynyxy");
  EXPECT_EQ(results[2]->row.value("f", "q"), "2+");
  EXPECT_EQ(results[4]->row.value("f", "q"), "2+");
}

TEST_F(Limits, IncrementsReturnTheirCellsIfWanted) {
  start();
  for (const bool wanted : {true, false}) {
    const Increment one = Increment("r").add("f", "n", 1).return_cells(wanted);
    EXPECT_EQ(table_->mutate(RowMutations("r").add(one)).value().cells.size(), wanted ? 1U : 0U);
    EXPECT_EQ(table_->batch(std::vector<Action>{one})[0]->row.cells.size(), wanted ? 1U : 0U);
    const auto checked = table_->check_and_mutate(CheckAndMutate("r").if_not_exists("f", "x").then(one));
    EXPECT_EQ(checked->row.cells.size(), wanted ? 1U : 0U);
  }
  EXPECT_EQ(table_->increment(Increment("r").add("f", "n", 1).return_cells(false)).value(),
            (std::vector<int64_t>{7}));
}

TEST_F(Limits, RowsAndCellsAreCountedExactly) {
  start();
  for (int cell = 0; cell < 2500; ++cell) put("wide", std::to_string(cell), 1);
  put("b", "q", 1);
  put("c", "q", 1);
  EXPECT_OK(table_->erase(Delete("c")));
  EXPECT_EQ(table_->count().value(), (RangeCount{2, 2501}));
  EXPECT_EQ(table_->count(Scan().stop("w")).value(), (RangeCount{1, 1}));
  EXPECT_EQ(table_->count(Scan().limit(1)).value(), (RangeCount{1, 1}));
  EXPECT_EQ(table_->count(Scan().filter(page_filter(1)).reversed(true)).value(), (RangeCount{1, 2500}));
  EXPECT_EQ(table_->count(Scan(keys_with_prefix("w"))).value(), (RangeCount{1, 2500}));
  EXPECT_TRUE(table_->count(Scan().family("nope")).status().is(Code::kInvalidArgument));
  const Status stopped =
      table_->count({}, [](const RangeCount& so_far) { return so_far.cells < 1500; }).status();
  EXPECT_TRUE(stopped.is(Code::kAborted)) << stopped.to_text();
}

TEST_F(Limits, BatchesCountAndAppend) {
  start();
  const auto other = make_table("other", {family("f")});
  put("r", "text", 1, "ab");
  const auto batch_of = [&](int64_t amount) {
    Batch batch;
    batch.put(table_, Put("r").add("f", "q", "v"));
    batch.increment(table_, Increment("r").add("f", "n", amount).add("f", "n", 1));
    batch.append(table_, Append("r").add("f", "text", "cd"));
    batch.increment(other, Increment("r").add("f", "n", 10));
    return batch;
  };
  const uint64_t before = engine_->status().last_sequence;
  EXPECT_OK(engine_->write(batch_of(4)));
  EXPECT_EQ(engine_->status().last_sequence, before + 1);
  EXPECT_OK(engine_->write(batch_of(1)));
  const auto row = table_->get(Get("r")).value();
  EXPECT_EQ(row.value("f", "n"), counter(7));
  EXPECT_EQ(row.value("f", "text"), "abcdcd");
  EXPECT_EQ(value_of(*other, Get("r"), "f", "n"), counter(20));

  Batch twice;
  twice.increment(table_, Increment("r").add("f", "n", 1)).increment(table_, Increment("r").add("f", "n", 1));
  expect_refused(engine_->write(twice), Code::kInvalidArgument, {"row r, column f:n", "two"});
  Batch bad = batch_of(1);
  bad.increment(table_, Increment("r").add("f", "q", 1));
  expect_refused(engine_->write(bad), Code::kInvalidArgument, {"row r, column f:q is not a counter"});
  Batch nowhere;
  nowhere.append(table_, Append("r").add("nope", "q", "v"));
  expect_refused(engine_->write(nowhere), Code::kInvalidArgument, {"nope"});
  Batch empty;
  empty.increment(table_, Increment("r"));
  expect_refused(engine_->write(empty), Code::kInvalidArgument, {"no columns"});
  EXPECT_EQ(value_of(*table_, Get("r"), "f", "n"), counter(7)) << "nothing was written";
}

TEST_F(Limits, AColumnsVersionsAreAView) {
  start();
  for (const int64_t at : {1, 2, 3}) put("r", "q", at, std::to_string(at));
  put("r", "a", 9);
  const auto found = table_->get(Get("r").all_versions()).value();
  const Row owned = found.row().to_row();
  std::string values;
  for (const CellView& cell : found.row().versions("f", "q")) values += cell.value_bytes();
  for (const Cell& cell : owned.versions("f", "q")) values += cell.value;
  EXPECT_EQ(values, "321321");
  EXPECT_EQ(found.row().versions("f", "a").size(), 1U);
  EXPECT_TRUE(found.row().versions("f", "b").empty());
  EXPECT_TRUE(found.row().versions("g", "q").empty());
  EXPECT_TRUE(owned.versions("g", "q").empty());
}

// The limit is one of new cells: a program with a smaller one opens, flushes and compacts what is there.
TEST_F(Limits, ASmallerLimitOfCellsDoesNotRefuseStoredOnes) {
  const std::string large(20 << 20, 'x');
  EngineOptions options;
  options.cell_bytes_max = 32 << 20;
  options.automatic_compaction = false;
  open(options);
  auto table = make_table("t", {family("f")});
  EXPECT_OK(table->put(Put("flushed").add("f", "q", large)));
  EXPECT_OK(table->flush());
  EXPECT_OK(table->put(Put("logged").add("f", "q", large)));
  table.reset();
  options.cell_bytes_max = 1000;
  open(options);
  table = make_table("t", {family("f")});
  EXPECT_TRUE(table->put(Put("new").add("f", "q", large)).is(Code::kLimit));
  EXPECT_OK(table->put(Put("new").add("f", "q", "small")));
  EXPECT_OK(table->flush());
  EXPECT_OK(table->major_compact());
  EXPECT_EQ(table->info().families[0].files.size(), 1u);
  for (const char* row : {"flushed", "logged"}) EXPECT_EQ(value_of(*table, Get(row), "f", "q"), large) << row;
}

}  // namespace
}  // namespace cellar::testing
