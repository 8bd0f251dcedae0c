// Goal: `cellar trace` records what commands do, describes it, and a replay does the same again. Method: the
// real program, and the replay's parts with a clock that stands still until they wait.
#include <gtest/gtest.h>

#include <cmath>

#include "base/memory_file_system.h"
#include "base/plugins.h"
#include "cellar/cellar.h"
#include "tests/tools/schema_check.h"
#include "tests/tools/tool_runner.h"
#include "tools/trace/cellar_target.h"
#include "tools/trace/replay.h"
#include "tools/trace/trace_summary.h"

namespace cellar::testing {
namespace {

using Json = nlohmann::json;

class TraceCommand : public ToolTest {
 protected:
  void SetUp() override {
    ToolTest::SetUp();
    make_shop();
  }
};

TEST_F(TraceCommand, WhatACommandDoesIsRecordedAndDescribed) {
  const ToolResult got = run({"trace", "record", "t.trace", "--", "get", "shop", "orders", "user42"});
  EXPECT_EQ(got.exit, 0) << got.err;
  EXPECT_EQ(got.out, out_of({"get", "shop", "orders", "user42"}));
  const Json info = json_of({"trace", "info", "t.trace"});
  EXPECT_EQ(info["end"], "stopped");
  EXPECT_EQ(info["tables"][0]["table"], "orders");
  EXPECT_EQ(info["tables"][0]["reads"], 1);
  EXPECT_EQ(info["top"][0]["row"], "user42");
  EXPECT_EQ(info["kinds"][0]["kind"], "get");
  out_of({"trace", "record", "p.trace", "--", "put", "shop", "orders", "new", "d:q", "12345"});
  const Json put = json_of({"trace", "info", "p.trace"});
  EXPECT_EQ(put["value_bytes"]["sum"], 5);
  EXPECT_EQ(put["tables"][0]["families"][0]["columns_written"], 1);
}

TEST_F(TraceCommand, HashedTracesHaveNoNames) {
  out_of({"trace", "record", "t.trace", "--keys", "hashed", "--", "get", "shop", "orders", "user42"});
  const std::string text = out_of({"trace", "info", "t.trace"});
  EXPECT_EQ(text.find("user42"), std::string::npos) << text;
  EXPECT_NE(text.find("keys hashed"), std::string::npos) << text;
  EXPECT_EQ(read_file("t.trace").find("user42"), std::string::npos);
}

TEST_F(TraceCommand, AReplayReadsTheSameRows) {
  out_of({"trace", "record", "t.trace", "--", "scan", "shop", "orders"});
  const Json same = json_of({"trace", "replay", "t.trace", "shop"});
  EXPECT_GT(same["rows_read"], 0);
  EXPECT_EQ(same["rows_read"], same["recorded_rows_read"]);
  EXPECT_EQ(same["cells_read"], same["recorded_cells_read"]);
  EXPECT_EQ(same["bytes_read"], same["recorded_bytes_read"]);
  const Json empty = json_of({"trace", "replay", "t.trace", "fresh"});
  EXPECT_EQ(empty["rows_read"], 0);
  out_of({"trace", "record", "g.trace", "--", "get", "shop", "orders", "user42", "d:name"});
  const Json loaded = json_of({"trace", "replay", "g.trace", "other", "--load"});
  EXPECT_EQ(loaded["rows_read"], loaded["recorded_rows_read"]);
  EXPECT_EQ(loaded["operations"], 1);
}

TEST_F(TraceCommand, RefusesWhatMakesNoSense) {
  EXPECT_EQ(run({"trace", "look", "t.trace"}).exit, 2);
  EXPECT_EQ(run({"trace", "info", "missing.trace"}).exit, 3);
  EXPECT_EQ(run({"trace", "record", "t.trace"}).exit, 2);
  EXPECT_EQ(run({"trace", "record", "t.trace", "--", "version"}).exit, 2) << "opens no store";
  EXPECT_EQ(run({"trace", "record", "t.trace", "--", "trace", "info", "x"}).exit, 2);
  EXPECT_EQ(run({"trace", "record", "nowhere/t.trace", "--", "list", "shop"}).exit, 3);
  EXPECT_EQ(run({"trace", "record", "t.trace", "--sample", "0", "--", "list", "shop"}).exit, 2);
  EXPECT_EQ(run({"trace", "info", "t.trace", "--speed", "2x"}).exit, 2);
  out_of({"trace", "record", "t.trace", "--", "list", "shop"});
  EXPECT_EQ(run({"trace", "record", "t.trace", "--", "list", "shop"}).exit, 2) << "the file exists";
  for (const char* speed : {"fast", "2", "0x", "-1x", "x"})
    EXPECT_EQ(run({"trace", "replay", "t.trace", "copy", "--speed", speed}).exit, 2) << speed;
  for (const char* threads : {"0", "257", "many"})
    EXPECT_EQ(run({"trace", "replay", "t.trace", "copy", "--threads", threads}).exit, 2) << threads;
  EXPECT_EQ(run({"trace", "replay", "t.trace"}).exit, 2);
  write_file("foreign.trace", "no trace at all, but long enough to have a header of its own size");
  const ToolResult foreign = run({"trace", "info", "foreign.trace"});
  EXPECT_NE(foreign.exit, 0);
  EXPECT_NE(foreign.err.find("not a trace"), std::string::npos) << foreign.err;
}

TEST_F(TraceCommand, ATornTraceIsReadAndTold) {
  out_of({"trace", "record", "t.trace", "--", "get", "shop", "orders", "user42"});
  const std::string whole = read_file("t.trace");
  write_file("torn.trace", whole.substr(0, whole.size() - 10));
  const std::string text = out_of({"trace", "info", "torn.trace"});
  EXPECT_NE(text.find("the recording was not stopped"), std::string::npos) << text;
  EXPECT_NE(text.find("of a torn end"), std::string::npos) << text;
  EXPECT_EQ(json_of({"trace", "info", "torn.trace"})["operations"], 1);
  std::string damaged = whole;
  damaged[80] = static_cast<char>(damaged[80] ^ 1);
  write_file("damaged.trace", damaged);
  EXPECT_NE(run({"trace", "info", "damaged.trace"}).exit, 0);
}

// ---- The parts

// Time moves when the replay waits, and by 10 µs whenever it is asked for.
class VirtualClock final : public ReplayClock {
 public:
  int64_t now_ns() override { return now_ += 10'000; }
  void wait_until(int64_t ns) override {
    waits.push_back(ns);
    now_ = std::max(now_, ns);
  }
  std::vector<int64_t> waits;

 private:
  int64_t now_ = 1'000'000'000;
};

class TraceReplay : public ::testing::Test {
 protected:
  void SetUp() override {
    register_hfile_plugins();
    ASSERT_TRUE(files_->open_directory("traces", true).ok());
    options_.create_if_missing = true;
    options_.environment.files = files_.get();
    engine_ = open("store");
    auto made = engine_->create_table("t", {.families = {rising()}});
    ASSERT_TRUE(made.ok());
    table_ = *made;
  }
  void TearDown() override { table_.reset(); }
  std::unique_ptr<Engine> open(const std::string& path) {
    auto engine = Engine::open(path, options_);
    EXPECT_TRUE(engine.ok()) << engine.status().to_text();
    return std::move(engine).value();
  }
  // Each write is later than the one before, however fast they come.
  static FamilyOptions rising() {
    FamilyOptions family;
    family.name = "d";
    family.stamps = Stamps::kRising;
    return family;
  }
  std::unique_ptr<Engine> open_other() {
    auto other = open("other");
    EXPECT_TRUE(other->create_table("t", {.families = {rising()}}).ok());
    return other;
  }
  ReplayPlan plan() {
    EXPECT_TRUE(engine_->stop_trace().ok());
    auto loaded = ReplayPlan::load(*files_, "traces/t", 0);
    EXPECT_TRUE(loaded.ok()) << loaded.status().to_text();
    return std::move(loaded).value();
  }
  ReplayReport run(const ReplayPlan& plan, Engine& engine, const ReplayOptions& options, ReplayClock& clock) {
    const auto tables = open_replay_tables(engine, plan, [](const std::string&) {});
    EXPECT_TRUE(tables.ok()) << tables.status().to_text();
    const auto report = replay(
        plan, [&] { return make_cellar_target(engine, *tables); }, options, clock);
    EXPECT_TRUE(report.ok()) << report.status().to_text();
    for (const auto& [kind, measured] : report->kinds)
      EXPECT_EQ(measured.failed, 0u) << trace_kind_name(kind) << measured.first_failure.to_text();
    return *report;
  }

  std::unique_ptr<FileSystem> files_ = make_memory_file_system();
  EngineOptions options_;
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<Table> table_;
};

// All operations, replayed on an empty store, leave rows with the same keys, columns and sizes.
TEST_F(TraceReplay, LeavesTheSameCells) {
  ASSERT_TRUE(engine_->start_trace("traces/t").ok());
  for (int i = 0; i < 200; ++i) {
    const std::string row = "row" + std::to_string(i % 50);
    ASSERT_TRUE(
        table_->put(Put(row).add("d", "q", std::string(1 + i % 7, 'x')).add("d", "n", plain_int64(i))).ok());
    ASSERT_TRUE(table_->increment(Increment(row).add("d", "n", 3)).ok());
    ASSERT_TRUE(table_->append(Append(row).add("d", "log", "ab")).ok());
    ASSERT_TRUE(table_->get(Get(row)).ok());
    ASSERT_TRUE(i % 10 != 0 || table_->erase(Delete(row).column("d", "log")).ok());
    ASSERT_TRUE(i % 17 != 0 || table_->erase(Delete("row" + std::to_string((i + 1) % 50))).ok());
  }
  Batch batch;
  batch.put(table_, Put("b1").add("d", "q", "12")).put(table_, Put("b2").add("d", "q", "123"));
  ASSERT_TRUE(engine_->write(batch).ok());
  const std::vector<Action> actions = {Put("c1").add("d", "q", "1"), Get("b1"),
                                       Increment("c2").add("d", "n", 1)};
  ASSERT_EQ(table_->batch(actions).size(), 3u);
  {
    const auto transaction = engine_->begin();
    ASSERT_TRUE((*transaction)->put(table_, Put("x").add("d", "q", "1234")).ok());
    ASSERT_TRUE((*transaction)->commit().ok());
  }
  ASSERT_TRUE(table_->count().ok());
  ASSERT_TRUE(table_->flush().ok());
  const ReplayPlan loaded = plan();
  const auto other = open_other();
  for (const uint32_t threads : {0u, 1u}) {
    const ReplayReport report = run(loaded, *other, {.threads = threads}, machine_replay_clock());
    EXPECT_EQ(report.operations, loaded.items().size());
    EXPECT_EQ(report.found.rows, report.recorded.rows);
    EXPECT_EQ(report.found.cells, report.recorded.cells);
    EXPECT_EQ(report.threads, 1u);
    // Rows, columns and sizes of both stores.
    const auto shape = [](Table& table) {
      std::vector<std::string> cells;
      const auto scanner = table.scan(Scan());
      for (const RowView row : **scanner)
        for (const CellView& cell : row)
          cells.push_back(std::string(cell.row()) + "/" + std::string(cell.qualifier()) + "=" +
                          std::to_string(cell.value_size));
      return cells;
    };
    const auto table = other->open_table("t");
    EXPECT_EQ(shape(**table), shape(*table_));
    ASSERT_TRUE(other->truncate_table("t").ok());
  }
}

TEST_F(TraceReplay, KeepsTheRecordedSpeed) {
  class Steps final : public Clock {
   public:
    int64_t wall_ms() override { return 1'700'000'000'000 + us / 1000; }
    int64_t steady_us() override { return us; }
    int64_t us = 0;
  } steps;
  options_.environment.clock = &steps;
  table_.reset();
  engine_.reset();
  engine_ = open("store");
  table_ = *engine_->open_table("t");
  ASSERT_TRUE(engine_->start_trace("traces/t").ok());
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(table_->put(Put("row" + std::to_string(i)).add("d", "q", "1")).ok());
    steps.us += 50'000;
  }
  const ReplayPlan loaded = plan();
  const auto other = open("other");
  for (const double speed : {1.0, 2.0}) {
    VirtualClock clock;
    const ReplayReport report = run(loaded, *other, {.speed = speed}, clock);
    EXPECT_EQ(report.operations, 5u);
    EXPECT_NEAR(report.recorded_seconds, 0.2, 1e-6);
    EXPECT_NEAR(report.seconds, 0.2 / speed, 0.001);
    EXPECT_LT(report.latest_ns, 100'000);
    ASSERT_EQ(clock.waits.size(), 4u);
    EXPECT_NEAR(static_cast<double>(clock.waits[3] - clock.waits[0]), 150e6 / speed, 1e5);
  }
  VirtualClock clock;
  run(loaded, *other, {}, clock);
  EXPECT_TRUE(clock.waits.empty());
  table_.reset();
  engine_.reset();  // before its clock
}

// A trace of one thread may be replayed by several: the operations of a row stay in order.
TEST_F(TraceReplay, SeveralThreadsKeepTheOrderOfEachRow) {
  ASSERT_TRUE(engine_->start_trace("traces/t").ok());
  for (int i = 0; i < 400; ++i) {
    const std::string row = "row" + std::to_string(i % 20);
    ASSERT_TRUE(table_->append(Append(row).add("d", "log", "ab")).ok());
    ASSERT_TRUE(i % 100 != 99 || table_->erase(Delete(row)).ok());
  }
  const ReplayPlan loaded = plan();
  const auto other = open_other();
  const ReplayReport report = run(loaded, *other, {.threads = 4}, machine_replay_clock());
  EXPECT_EQ(report.threads, 4u);
  EXPECT_EQ(report.operations, 404u);
  const auto table = other->open_table("t");
  for (int i = 0; i < 20; ++i) {
    const auto mine = table_->get_row(Get("row" + std::to_string(i)));
    const auto theirs = (*table)->get_row(Get("row" + std::to_string(i)));
    EXPECT_EQ(mine->cells.size(), theirs->cells.size()) << i;
    ASSERT_LE(mine->cells.size(), 1u);
    for (size_t cell = 0; cell < std::min(mine->cells.size(), theirs->cells.size()); ++cell)
      EXPECT_EQ(mine->cells[cell].value.size(), theirs->cells[cell].value.size()) << i;
  }
}

TEST_F(TraceReplay, LoadsTheRowsThatWereFound) {
  ASSERT_TRUE(table_->put(Put("old").add("d", "q", std::string(500, 'x'))).ok());
  ASSERT_TRUE(engine_->start_trace("traces/t").ok());
  ASSERT_TRUE(table_->get(Get("old")).ok());
  ASSERT_TRUE(table_->get(Get("missing")).ok());
  ASSERT_TRUE(table_->put(Put("new").add("d", "q", "1")).ok());
  ASSERT_TRUE(table_->get(Get("new")).ok());
  ASSERT_TRUE(table_->put(Put("failed").add("missing", "q", "1")).is(Code::kInvalidArgument));
  const ReplayPlan loaded = plan();
  EXPECT_EQ(loaded.failed(), 1u);
  const auto puts = loaded.rows_to_load();
  ASSERT_TRUE(puts.ok());
  ASSERT_EQ(puts->size(), 1u);
  const TraceEntry& entry = puts->front().entries.front();
  EXPECT_EQ(entry.row.bytes, "old");
  EXPECT_NEAR(static_cast<double>(entry.columns.front().value_bytes), 500, 4);
}

TEST(TraceSummaryTest, FindsTheExponentOfAZipfDistribution) {
  for (const double exponent : {0.0, 0.6, 1.0, 1.4}) {
    RowPopularity popularity;
    for (int rank = 1; rank <= 100; ++rank) {
      const auto times = static_cast<int>(10000 * std::pow(rank, -exponent) + 0.5);
      for (int i = 0; i < times; ++i) popularity.add("t", "row" + std::to_string(rank));
    }
    EXPECT_NEAR(popularity.zipf_exponent(), exponent, 0.05);
    EXPECT_TRUE(exponent == 0 || popularity.top(1).at(0).row == "row1") << exponent;
  }
}

TEST(TraceSummaryTest, RatesKeepTheirSumWhileStretchesDouble) {
  RateOverTime rate;
  uint64_t added = 0;
  for (int64_t at = 0; at < 100'000'000'000; at += 37'000'000, ++added) rate.add(at);
  uint64_t sum = 0;
  for (const uint64_t each : rate.counts()) sum += each;
  EXPECT_EQ(sum, added);
  EXPECT_LE(rate.counts().size(), RateOverTime::kStretchesMax);
  EXPECT_EQ(rate.stretch_ns() % 1'000'000, 0);
}

}  // namespace
}  // namespace cellar::testing
