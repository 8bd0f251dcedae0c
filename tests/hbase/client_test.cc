// The client of clusters against a small server that fails on demand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include "cellar/cellar.h"
#include "hbase/client/call_outcome.h"
#include "hbase/client/cluster.h"
#include "hbase/client/cluster_engine.h"
#include "hbase/client/rpc_client.h"
#include "hbase/wire/frames.h"
#include "hbase/wire/registry.pb.h"
#include "hbase/wire/rpc.pb.h"
#include "tests/hbase/fake_cluster.h"

namespace cellar {
namespace {

using testing::FakeCluster;
using Fault = FakeCluster::Fault;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ClusterClient : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<Engine>> engine = hbase::open_cluster(server_.name(), {});
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = std::move(engine).value();
    Result<std::shared_ptr<Table>> table = engine_->open_table("t");
    ASSERT_TRUE(table.ok()) << table.status();
    table_ = *table;
  }

  std::vector<std::string> scanned(const Scan& scan) {
    auto scanner = table_->scan(scan);
    EXPECT_TRUE(scanner.ok()) << scanner.status();
    std::vector<std::string> rows;
    for (const RowView row : **scanner) rows.emplace_back(row.row());
    EXPECT_TRUE((*scanner)->status().ok()) << (*scanner)->status();
    return rows;
  }

  FakeCluster server_;
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<Table> table_;
};

TEST_F(ClusterClient, EngineOpenDecidesByTheName) {
  hbase::register_cluster_engine();
  const auto engine = Engine::open(server_.name());
  ASSERT_TRUE(engine.ok()) << engine.status();
  EXPECT_EQ((*engine)->status().identity, "0123456789abcdef0123456789abcdef");
  EXPECT_THAT((*engine)->list_tables(), ElementsAre("t"));
  const auto absent = (*engine)->open_table("tt");
  EXPECT_TRUE(absent.status().is(Code::kNotFound)) << absent.status();
  EXPECT_THAT(absent.status().hint(), HasSubstr("did you mean t?"));
}

TEST_F(ClusterClient, PutsAndGets) {
  ASSERT_TRUE(table_->put(Put("apple").add("f", "q", "1")).ok());
  ASSERT_TRUE(table_->put(Put("pear").add("f", "q", "2")).ok());  // in the other region
  const auto row = table_->get_row(Get("pear"));
  ASSERT_TRUE(row.ok()) << row.status();
  EXPECT_EQ(row->value("f", "q"), "2");
  EXPECT_TRUE(*table_->exists(Get("apple")));
  EXPECT_FALSE(*table_->exists(Get("apples")));
  EXPECT_EQ(server_.calls("Meta"), 2);  // a region is looked up once
}

TEST_F(ClusterClient, ScansCrossRegionsInBothDirections) {
  server_.set_rows({{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}, {"m", "5"}, {"n", "6"}, {"z", "7"}});
  EXPECT_THAT(scanned(Scan()), ElementsAre("a", "b", "c", "d", "m", "n", "z"));
  EXPECT_THAT(scanned(Scan().reversed(true)), ElementsAre("z", "n", "m", "d", "c", "b", "a"));
  EXPECT_THAT(scanned(Scan().start("c", false).stop("n", true)), ElementsAre("d", "m", "n"));
  EXPECT_THAT(scanned(Scan().start("m").stop("b").reversed(true)), ElementsAre("m", "d", "c"));
  EXPECT_THAT(scanned(Scan().start("m", false).reversed(true)), ElementsAre("d", "c", "b", "a"));
  EXPECT_THAT(scanned(Scan().start("b").limit(4)), ElementsAre("b", "c", "d", "m"));
  EXPECT_THAT(scanned(Scan().start("c").stop("c")), ElementsAre());
  EXPECT_THAT(scanned(Scan().start("c").stop("c", true)), ElementsAre("c"));
}

TEST_F(ClusterClient, AScanGoesOnAfterEveryKindOfFault) {
  std::map<std::string, std::string> rows;
  std::vector<std::string> expected;
  for (char c = 'a'; c <= 'z'; ++c) rows[std::string(1, c)] = "v", expected.emplace_back(1, c);
  server_.set_rows(rows);
  const std::string package = "org.apache.hadoop.hbase.";
  for (const std::string& name :
       {std::string("NotServingRegionException"), std::string("UnknownScannerException"),
        std::string("RegionTooBusyException"), std::string("CallQueueTooBigException"),
        std::string("exceptions.OutOfOrderScannerNextException"),
        std::string("exceptions.ScannerResetException"),
        std::string("regionserver.RegionServerAbortedException"),
        std::string("exceptions.RegionOpeningException"), std::string("ipc.ServerNotRunningYetException")}) {
    auto scanner = table_->scan(Scan());
    ASSERT_TRUE(scanner.ok());
    std::vector<std::string> found;
    for (int i = 0; i < 5 && (*scanner)->next(); ++i) found.emplace_back((*scanner)->row().row());
    server_.fail("Scan", Fault::kException, package + name);
    while ((*scanner)->next()) found.emplace_back((*scanner)->row().row());
    EXPECT_TRUE((*scanner)->status().ok()) << name << ": " << (*scanner)->status();
    EXPECT_EQ(found, expected) << name;
  }
  for (const Fault fault : {Fault::kDropBefore, Fault::kDropAfter, Fault::kGarbage}) {
    server_.fail("Scan", fault);
    EXPECT_EQ(scanned(Scan()), expected);
  }
}

TEST_F(ClusterClient, ARegionThatSplitsDuringAScanLosesNoRow) {
  std::map<std::string, std::string> rows;
  std::vector<std::string> expected;
  for (char c = 'a'; c <= 'z'; ++c) rows[std::string(1, c)] = "v", expected.emplace_back(1, c);
  server_.set_rows(rows);
  auto scanner = table_->scan(Scan());
  ASSERT_TRUE(scanner.ok());
  std::vector<std::string> found;
  for (int i = 0; i < 4 && (*scanner)->next(); ++i) found.emplace_back((*scanner)->row().row());
  server_.set_regions({{"", "c", 3}, {"c", "g", 4}, {"g", "p", 5}, {"p", "", 6}});
  while ((*scanner)->next()) found.emplace_back((*scanner)->row().row());
  EXPECT_TRUE((*scanner)->status().ok()) << (*scanner)->status();
  EXPECT_EQ(found, expected);
  EXPECT_EQ(scanned(Scan().reversed(true)).size(), expected.size());
}

TEST_F(ClusterClient, ALimitCountsRowsThatMayGoOn) {
  server_.set_rows({{"a", "1"}, {"b", "2"}, {"c", "3"}, {"n", "4"}});
  server_.set_partial(true);
  for (const size_t rows : {size_t{1}, size_t{2}, size_t{10}}) {
    server_.set_rows_of_fetch(rows);
    ReadStats stats;
    EXPECT_THAT(scanned(Scan().batch(1).limit(1)), ElementsAre("a"));
    EXPECT_THAT(scanned(Scan().batch(2).limit(3).stats(&stats)), ElementsAre("a", "b", "c"));
    EXPECT_EQ(stats.rows_returned, 3u);
    EXPECT_THAT(scanned(Scan().max_result_bytes(1).limit(2)), ElementsAre("a", "b"));
    EXPECT_THAT(scanned(Scan().batch(1)), ElementsAre("a", "b", "c", "n"));
  }
}

TEST_F(ClusterClient, ACursorIsBetweenRows) {
  server_.set_rows({{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}});
  server_.set_partial(true);
  server_.set_rows_of_fetch(1);
  auto scanner = table_->scan(Scan().batch(1).cursor_after_ms(1));
  ASSERT_TRUE(scanner.ok()) << scanner.status();
  std::vector<std::string> found;
  const auto take = [&] {
    ASSERT_TRUE((*scanner)->next()) << (*scanner)->status();
    const RowView row = (*scanner)->row();
    EXPECT_FALSE(row.more_cells_in_row());
    found.push_back((row.is_cursor() ? "at " : "") + std::string(row.row()));
  };
  take();
  server_.fail("Scan", Fault::kHeartbeat, "b");  // b was fetched, and may go on
  take();
  server_.fail("Scan", Fault::kHeartbeat, "d");
  take();
  take();
  take();
  EXPECT_FALSE((*scanner)->next());
  EXPECT_THAT(found, ElementsAre("a", "b", "c", "at d", "d"));
}

TEST_F(ClusterClient, AScanWithCursorsThatWasDroppedHarmsNoOtherCall) {
  server_.set_rows({{"a", "1"}});
  ASSERT_TRUE(table_->get(Get("a")).ok());
  const int connections = server_.calls("Connection");
  server_.fail("Scan", Fault::kSilence);
  const int64_t before = system_clock().steady_us();
  EXPECT_THAT(scanned(Scan().cursor_after_ms(10)), ElementsAre("a"));
  EXPECT_LT(system_clock().steady_us() - before, 4'000'000);
  EXPECT_EQ(server_.calls("Connection"), connections);
}

TEST_F(ClusterClient, ARegionWithoutAServerHoldsUpNoOther) {
  server_.set_regions({{"", "m", 3}, {"m", "", 4, false}});
  const auto engine = hbase::open_cluster(server_.name("timeout_ms=500"), {});
  ASSERT_TRUE(engine.ok()) << engine.status();
  const auto table = (*engine)->open_table("t");
  ASSERT_TRUE(table.ok());
  std::vector<Action> actions = {Put("z").add("f", "q", "1"), Put("a").add("f", "q", "1")};
  for (int i = 0; i < 100; ++i) actions.emplace_back(Get("x" + std::to_string(i)));
  const auto results = (*table)->batch(actions);
  EXPECT_TRUE(results[0].status().is(Code::kBusy)) << results[0].status();
  EXPECT_TRUE(results[1].ok()) << results[1].status();
  EXPECT_EQ(server_.rows()["a"], "1");
  EXPECT_EQ(server_.calls("Multi"), 1);
  EXPECT_LT(server_.calls("Meta"), 20);  // a look for each region and round, not for each action
  std::thread other([&] {
    while (server_.calls("Multi") == 1) std::this_thread::yield();
    server_.set_regions({{"", "m", 3}, {"m", "", 4}});
  });
  for (const Result<ActionResult>& each : table_->batch(actions)) EXPECT_TRUE(each.ok()) << each.status();
  other.join();
}

TEST_F(ClusterClient, AnIncrementIsNotDoneTwice) {
  ASSERT_TRUE(table_->increment_one("c", "f", "q", 5).ok());
  server_.fail("Mutate", Fault::kDropAfter);  // it was done, and nobody told the client
  const auto sum = table_->increment_one("c", "f", "q", 5);
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_EQ(*sum, 10);
  EXPECT_EQ(server_.calls("Mutate"), 3);
}

TEST_F(ClusterClient, AnUnknownOutcomeIsReported) {
  server_.fail("Mutate", Fault::kDropAfter);
  const auto checked =
      table_->check_and_mutate(CheckAndMutate("c").if_not_exists("f", "q").then(Put("c").add("f", "q", "1")));
  EXPECT_TRUE(checked.status().is(Code::kDurabilityUnknown)) << checked.status();
  EXPECT_EQ(server_.calls("Mutate"), 1);
}

TEST_F(ClusterClient, AChangeThatMayHaveBeenMadeIsNotReportedAsNotMade) {
  // The first attempt was made, and its answer was lost; all later attempts are refused.
  const std::string refused = "org.apache.hadoop.hbase.RegionTooBusyException";
  const auto engine = hbase::open_cluster(server_.name("timeout_ms=300"), {});
  ASSERT_TRUE(engine.ok()) << engine.status();
  const auto table = (*engine)->open_table("t");
  ASSERT_TRUE(table.ok());
  ASSERT_TRUE((*table)->put(Put("a").add("f", "q", "0")).ok());
  const auto lose = [&](const std::string& method) {
    server_.fail(method, Fault::kDropAfter);
    server_.fail(method, Fault::kException, refused, 100);
  };
  lose("Mutate");
  const auto sum = (*table)->increment_one("c", "f", "q", 5);
  EXPECT_TRUE(sum.status().is(Code::kDurabilityUnknown)) << sum.status();
  server_.clear_faults();
  lose("Mutate");
  const Status put = (*table)->put(Put("a").add("f", "q", "1"));
  EXPECT_TRUE(put.is(Code::kDurabilityUnknown)) << put;
  EXPECT_THAT(put.hint(), HasSubstr("read the row"));
  server_.clear_faults();
  lose("Multi");
  const std::vector<Action> actions = {Put("b").add("f", "q", "1"), Get("d")};
  const auto results = (*table)->batch(actions);
  EXPECT_TRUE(results[0].status().is(Code::kDurabilityUnknown)) << results[0].status();
  EXPECT_TRUE(results[1].status().is(Code::kBusy)) << results[1].status();
  EXPECT_EQ(server_.rows()["b"], "1");
  server_.clear_faults();
  // A final refusal after a lost answer says nothing of the first attempt either.
  server_.fail("Mutate", Fault::kDropAfter);
  server_.fail("Mutate", Fault::kException,
               "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException");
  const Status last = (*table)->put(Put("a").add("f", "q", "2"));
  EXPECT_TRUE(last.is(Code::kDurabilityUnknown)) << last;
  // A change that was only refused was not made, and a read has nothing to be unsure of.
  server_.fail("Mutate", Fault::kException, refused, 100);
  const Status busy = (*table)->put(Put("a").add("f", "q", "3"));
  EXPECT_TRUE(busy.is(Code::kBusy)) << busy;
  server_.clear_faults();
  server_.fail("Get", Fault::kDropAfter, {}, 100);
  EXPECT_TRUE((*table)->get(Get("a")).status().is(Code::kIoError));
}

TEST_F(ClusterClient, AnExceptionThatProvesNothingIsAnUnknownOutcome) {
  const auto check = CheckAndMutate("c").if_not_exists("f", "q").then(Put("c").add("f", "q", "1"));
  for (const char* const name :
       {"java.io.IOException", "org.apache.hadoop.hbase.exceptions.TimeoutIOException",
        "com.example.PostHookException"}) {
    const int before = server_.calls("Mutate");
    server_.fail("Mutate", Fault::kHalfDone, name);
    const auto checked = table_->check_and_mutate(check);
    EXPECT_TRUE(checked.status().is(Code::kDurabilityUnknown)) << name << ": " << checked.status();
    EXPECT_EQ(server_.calls("Mutate"), before + 1) << name;
  }
  const auto sums = RowMutations("s").add(Increment("s").add("f", "q", 1));
  server_.fail("Multi", Fault::kHalfDone, "java.io.IOException");
  EXPECT_TRUE(table_->mutate(sums).status().is(Code::kDurabilityUnknown));
  EXPECT_EQ(server_.calls("Multi"), 1);
  // A server that refuses a call before it begins is asked again.
  for (const char* const name :
       {"NotServingRegionException", "RegionTooBusyException", "CallQueueTooBigException",
        "CallDroppedException", "exceptions.RegionOpeningException", "ipc.ServerNotRunningYetException",
        "quotas.RpcThrottlingException"}) {
    server_.fail("Mutate", Fault::kException, std::string("org.apache.hadoop.hbase.") + name);
    const auto checked = table_->check_and_mutate(check);
    EXPECT_TRUE(checked.ok()) << name << ": " << checked.status();
  }
}

TEST_F(ClusterClient, AServerWhoseProgramFailsIsTriedAFewTimes) {
  server_.fail("Get", Fault::kException, "java.lang.NullPointerException", 100);
  const int64_t before = system_clock().steady_us();
  const auto row = table_->get(Get("a"));
  EXPECT_TRUE(row.status().is(Code::kIoError)) << row.status();
  EXPECT_THAT(row.status().to_text(), HasSubstr("NullPointerException"));
  EXPECT_EQ(server_.calls("Get"), static_cast<int>(hbase::kDoubtfulAttempts));
  EXPECT_LT(system_clock().steady_us() - before, 4'000'000);
  server_.clear_faults();
  server_.fail("Get", Fault::kException, "java.lang.NullPointerException", 2);  // one that passes
  EXPECT_TRUE(table_->get(Get("a")).ok());
}

TEST_F(ClusterClient, AnUnknownRefusalOfAnActionEnds) {
  server_.fail("Action", Fault::kException, "com.example.RefusedException", 100);
  const std::vector<Action> actions = {Put("a").add("f", "q", "1")};
  const auto results = table_->batch(actions);
  EXPECT_TRUE(results[0].status().is(Code::kDurabilityUnknown)) << results[0].status();
  EXPECT_EQ(server_.calls("Multi"), static_cast<int>(hbase::kDoubtfulAttempts));
}

TEST(CallError, TheCauseOfAnExceptionTells) {
  const auto error_of = [](const std::string& name, const std::string& trace) {
    hbase::wire::ExceptionResponse exception;
    exception.set_class_name(name);
    exception.set_stack_trace(trace);
    return hbase::error_of(exception);
  };
  const std::string io = "java.io.IOException";
  EXPECT_TRUE(
      error_of(io, io + ": x\n\tat a.b\nCaused by: java.lang.NullPointerException: x\n\tat c").doubtful);
  EXPECT_FALSE(
      error_of(io, io + ": x\n\tat a.b\nCaused by: java.lang.InterruptedException\n\tat c").doubtful);
  EXPECT_FALSE(error_of(io, io + ": x\n\tat a.b\nCaused by: java.net.SocketException: x").doubtful);
  EXPECT_FALSE(error_of(io, io + ": it broke").doubtful);
  EXPECT_EQ(error_of(io, io + ": it broke").remedy, hbase::Remedy::kWait);
}

TEST_F(ClusterClient, AnInvalidTimeRangeIsNotSent) {
  const auto get = table_->get(Get("a").time_range(5, 3));
  EXPECT_TRUE(get.status().is(Code::kInvalidArgument)) << get.status();
  const auto check = table_->check_and_mutate(
      CheckAndMutate("a").if_not_exists("f", "q").time_range(5, 3).then(Put("a").add("f", "q", "1")));
  EXPECT_TRUE(check.status().is(Code::kInvalidArgument)) << check.status();
  EXPECT_EQ(server_.calls("Get") + server_.calls("Mutate"), 0);
}

TEST_F(ClusterClient, AListIsTriedAgainInParts) {
  std::vector<Action> actions;
  for (char c = 'a'; c <= 'z'; ++c)
    actions.emplace_back(Put(std::string(1, c)).add("f", "q", std::string(1, c)));
  server_.set_regions({{"", "k", 7}, {"k", "", 8}});
  server_.fail("Action", Fault::kException, "org.apache.hadoop.hbase.RegionTooBusyException", 4);
  server_.fail("Multi", Fault::kDropBefore);
  for (const Result<ActionResult>& each : table_->batch(actions)) EXPECT_TRUE(each.ok()) << each.status();
  EXPECT_EQ(server_.rows().size(), 26u);
  server_.fail("Action", Fault::kException,
               "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException", 1);
  size_t failed = 0;
  for (const Result<ActionResult>& each : table_->batch(actions)) failed += each.ok() ? 0 : 1;
  EXPECT_EQ(failed, 1u);
  std::vector<Get> gets;
  for (char c = 'z'; c >= 'a'; --c) gets.emplace_back(std::string(1, c));
  gets.emplace_back("nothing");
  const auto batches = table_->get_many(gets);
  ASSERT_TRUE(batches.ok()) << batches.status();
  EXPECT_EQ((*batches)[0].value("f", "q"), "z");
  EXPECT_EQ((*batches)[25].value("f", "q"), "a");
  EXPECT_TRUE((*batches)[26].empty());
}

TEST_F(ClusterClient, ActionsOnOneRowKeepTheirOrder) {
  const std::vector<Action> actions = {
      Put("k").add("f", "q", "1"), Get("k"), Put("k").add("f", "q", "2"), Get("k"), Delete("k"), Get("k")};
  const auto results = table_->batch(actions);
  EXPECT_EQ(results[1]->row.value("f", "q"), "1");
  EXPECT_EQ(results[3]->row.value("f", "q"), "2");
  EXPECT_TRUE(results[5]->row.empty());
}

TEST_F(ClusterClient, AMovedRegionIsFollowed) {
  FakeCluster other;
  other.set_rows({{"a", "there"}});
  server_.move_to("Get", other.port());
  const auto row = table_->get_row(Get("a"));
  ASSERT_TRUE(row.ok()) << row.status();
  EXPECT_EQ(row->value("f", "q"), "there");
}

TEST_F(ClusterClient, FinalExceptionsAreNotTriedAgain) {
  server_.fail("Get", Fault::kException, "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException");
  const auto row = table_->get(Get("a").family("ff"));
  EXPECT_TRUE(row.status().is(Code::kInvalidArgument)) << row.status();
  EXPECT_THAT(row.status().hint(), HasSubstr("f"));
  EXPECT_EQ(server_.calls("Get"), 1);
}

TEST_F(ClusterClient, DamagedAnswersAreReported) {
  server_.set_rows({{"a", std::string(100, 'x')}});
  server_.fail("Get", Fault::kCutCells);
  const auto row = table_->get(Get("a"));
  EXPECT_TRUE(row.status().is(Code::kCorruption)) << row.status();
}

TEST_F(ClusterClient, TheTimeOfAnOperationIsBounded) {
  const auto engine = hbase::open_cluster(server_.name("timeout_ms=300&user=ada"), {});
  ASSERT_TRUE(engine.ok()) << engine.status();
  const auto table = (*engine)->open_table("t");
  ASSERT_TRUE(table.ok());
  server_.fail("Get", Fault::kSilence, {}, 100);
  const int64_t before = system_clock().steady_us();
  const auto row = (*table)->get(Get("a"));
  EXPECT_FALSE(row.ok());
  EXPECT_LT(system_clock().steady_us() - before, 5'000'000);
}

TEST_F(ClusterClient, ClosingEndsCallsOfOtherThreads) {
  server_.fail("Get", Fault::kSilence, {}, 100);
  Status status;
  std::thread other([&] { status = table_->get(Get("a")).status(); });
  while (server_.calls("Get") == 0) std::this_thread::yield();
  EXPECT_TRUE(engine_->close().ok());
  other.join();
  EXPECT_TRUE(status.is(Code::kAborted)) << status;
  EXPECT_TRUE(table_->put(Put("a").add("f", "q", "1")).is(Code::kAborted));
}

TEST_F(ClusterClient, ManyThreadsShareAConnection) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        const std::string row = std::string(1, static_cast<char>('a' + i % 26)) + std::to_string(t);
        EXPECT_TRUE(table_->put(Put(row).add("f", "q", row)).ok());
        const Result<Row> found = table_->get_row(Get(row));
        ASSERT_TRUE(found.ok()) << found.status();
        EXPECT_EQ(found->value("f", "q"), row);
      }
    });
  for (std::thread& each : threads) each.join();
}

TEST_F(ClusterClient, WhatAClusterDoesNotHaveIsRefused) {
  Batch two_rows;
  two_rows.put(table_, Put("a").add("f", "q", "1")).put(table_, Put("b").add("f", "q", "1"));
  EXPECT_TRUE(engine_->write(two_rows).is(Code::kNotSupported));
  EXPECT_TRUE(engine_->snapshot().status().is(Code::kNotSupported));
  EXPECT_TRUE(engine_->begin().status().is(Code::kNotSupported));
  EXPECT_TRUE(engine_->checkpoint("x").status().is(Code::kNotSupported));
  EXPECT_TRUE(engine_->named_snapshots().list().status().is(Code::kNotSupported));
  EXPECT_TRUE(table_->estimate().status().is(Code::kNotSupported));
  EXPECT_TRUE(table_->scan(Scan().cursor_after_cells(5)).status().is(Code::kNotSupported));
  EXPECT_TRUE(table_->get(Get("a").strict_versions(true)).status().is(Code::kNotSupported));
  EXPECT_TRUE(table_->get(Get("")).status().is(Code::kInvalidArgument));
}

// Ends the process with 0 if calls fail, and do not end it, while the system gives no threads.
void call_without_threads() {
  auto client = hbase::RpcClient::create({.user = "ada", .clock = &system_clock()});
  if (!client.ok()) std::_Exit(1);
  rlimit limit = {};
  // A limit of processes does not hold for root.
  if (::geteuid() == 0 && ::setuid(65534) != 0) std::_Exit(2);
  if (::getrlimit(RLIMIT_NPROC, &limit) != 0) std::_Exit(3);
  const rlim_t before = std::exchange(limit.rlim_cur, 0);
  if (::setrlimit(RLIMIT_NPROC, &limit) != 0) std::_Exit(4);
  const auto call = [&client] {
    const hbase::wire::GetClusterIdRequest request;
    hbase::wire::GetClusterIdResponse response;
    const hbase::CallOutcome outcome = (*client)->call({.server = {"127.0.0.1", 1},
                                                        .service = hbase::wire::kRegistryService,
                                                        .method = "GetClusterId",
                                                        .request = &request,
                                                        .response = &response},
                                                       system_clock().steady_us() + 5'000'000);
    return outcome.ok() ? std::string() : outcome.error->status.to_text();
  };
  if (call().find("cannot be served") == std::string::npos) std::_Exit(5);
  limit.rlim_cur = before;
  if (::setrlimit(RLIMIT_NPROC, &limit) != 0) std::_Exit(6);
  for (int i = 0; i < 200; ++i) {  // it goes on when there are threads again
    if (call().find("does not accept a connection") != std::string::npos) std::_Exit(0);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::_Exit(7);
}

TEST(ClusterClientAloneDeathTest, AProcessWithoutThreadsGetsErrors) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(call_without_threads(), ::testing::ExitedWithCode(0), "");
}

TEST(ClusterClientAlone, NobodyAnswers) {
  std::string name;
  {
    FakeCluster gone;
    name = gone.name("timeout_ms=300");
  }
  const auto engine = hbase::open_cluster(name, {});
  EXPECT_FALSE(engine.ok());
  EXPECT_THAT(engine.status().to_text(), HasSubstr("127.0.0.1"));
  EXPECT_THAT(engine.status().hint(), HasSubstr("do HBase's masters run at these addresses?"));
}

// An operation is tried for two minutes. An open in which no master ever answered ends long before that.
TEST(ClusterClientAlone, TheFirstAnswerHasATimeOfItsOwn) {
  Result<hbase::ClusterName> name = Status::not_found("");
  {
    FakeCluster gone;
    name = hbase::parse_cluster_name(gone.name(""));
  }
  ASSERT_TRUE(name.ok()) << name.status();
  EXPECT_EQ(name->timeout_ms, 120'000);
  EXPECT_EQ(name->first_answer_ms, 15'000);
  name->first_answer_ms = 200;
  const int64_t begin_us = system_clock().steady_us();
  EXPECT_FALSE(hbase::Cluster::open(*name, {}).ok());
  EXPECT_LT(system_clock().steady_us() - begin_us, 60'000'000);
}

}  // namespace
}  // namespace cellar
