// Cellar's client of HBase on a store that Cellar serves. The same random requests go to it and to a local
// store, and the answers must be equal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/memory_file_system.h"
#include "cellar/cellar.h"
#include "hbase/client/cluster_engine.h"
#include "hbase/client/rpc_client.h"
#include "hbase/wire/frames.h"
#include "hbase/wire/master.pb.h"
#include "hbase/wire/schema.h"
#include "tests/cluster/compare_tables.h"
#include "tests/cluster/draw_requests.h"
#include "tests/hbase_both/breaking_proxy.h"
#include "tests/hbase_both/running_server.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

namespace wire = hbase::wire;
using interop::CompareTables;
using interop::DrawRequests;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kTable = "compared";

class ClientOnServer : public ::testing::Test {
 protected:
  // `host`: what the server says that it is reached at.
  void serve(const std::string& host) {
    served_ = open_store(*served_files_);
    local_ = open_store(*local_files_);
    hbase::serve::ServerOptions options;
    options.port = 0;
    options.host = host;
    server_ = RunningServer::start(*served_, options);
    ASSERT_NE(server_, nullptr);
  }

  void TearDown() override {
    EXPECT_TRUE(cluster_ == nullptr || cluster_->close().ok());
    proxy_.reset();
    server_.reset();
  }

  static std::unique_ptr<Engine> open_store(FileSystem& files) {
    EngineOptions options;
    options.create_if_missing = true;
    options.environment.files = &files;
    auto engine = Engine::open("store", options);
    EXPECT_TRUE(engine.ok()) << engine.status();
    return engine.ok() ? std::move(*engine) : nullptr;
  }

  // Creates the table with regions, as an administrator of HBase does.
  void create_table(const std::string& host, const std::vector<std::string>& splits) {
    auto rpc = hbase::RpcClient::create({.user = "ada", .clock = &system_clock()});
    ASSERT_TRUE(rpc.ok()) << rpc.status();
    wire::CreateTableRequest request;
    wire::to_wire_schema(kTable, DrawRequests::table(), *request.mutable_table_schema());
    for (const std::string& each : splits) request.add_split_keys(each);
    wire::ProcedureResponse response;
    const hbase::CallOutcome outcome = (*rpc)->call({.server = {host, server_->port()},
                                                     .service = wire::kMasterService,
                                                     .method = "CreateTable",
                                                     .request = &request,
                                                     .response = &response},
                                                    system_clock().steady_us() + 30'000'000);
    ASSERT_TRUE(outcome.ok()) << outcome.error->status;
    auto here = local_->create_table(kTable, DrawRequests::table());
    ASSERT_TRUE(here.ok()) << here.status();
    here_ = *here;
  }

  void connect(const std::string& host) {
    auto cluster = hbase::open_cluster("hbase://" + host + ":" + std::to_string(server_->port()), {});
    ASSERT_TRUE(cluster.ok()) << cluster.status();
    cluster_ = std::move(cluster).value();
    auto there = cluster_->open_table(kTable);
    ASSERT_TRUE(there.ok()) << there.status();
    there_ = *there;
  }

  void start(const std::vector<std::string>& splits) {
    ASSERT_NO_FATAL_FAILURE(serve("127.0.0.1"));
    ASSERT_NO_FATAL_FAILURE(create_table("127.0.0.1", splits));
    ASSERT_NO_FATAL_FAILURE(connect("127.0.0.1"));
  }

  void start_behind_proxy(uint64_t seed) {
    ASSERT_NO_FATAL_FAILURE(serve(BreakingProxy::kHost));
    ASSERT_NO_FATAL_FAILURE(create_table("127.0.0.1", {"r20", "r40"}));
    proxy_ = std::make_unique<BreakingProxy>(server_->port(), seed, 100);
    ASSERT_TRUE(proxy_->is_listening()) << "Linux has all of 127.0.0.0/8, but not " << BreakingProxy::kHost;
    ASSERT_NO_FATAL_FAILURE(connect(BreakingProxy::kHost));
  }

  void compare(const DrawRequests& draw, uint64_t requests) {
    CompareTables both(*there_, *here_, draw,
                       [](const std::string& difference) { ADD_FAILURE() << difference; });
    const auto flushed = [](const Status& status) { EXPECT_TRUE(status.ok()) << status; };
    for (uint64_t i = 0; i < requests && both.differences() < 5; ++i) {
      both.step();
      if (i % 700 == 600) flushed(there_->flush());
      if (i % 700 == 650) flushed(here_->flush());
      if (i % 3000 == 2900) flushed(there_->major_compact());
    }
    if (requests < 200) return;  // some kinds are rare
    EXPECT_EQ(both.counts().size(), draw.only_repeatable() ? 10u : 12u);
  }

  const std::unique_ptr<FileSystem> served_files_ = make_memory_file_system();
  const std::unique_ptr<FileSystem> local_files_ = make_memory_file_system();
  std::unique_ptr<Engine> served_;
  std::unique_ptr<Engine> local_;
  std::unique_ptr<RunningServer> server_;
  std::unique_ptr<BreakingProxy> proxy_;
  std::unique_ptr<Engine> cluster_;
  std::shared_ptr<Table> there_;
  std::shared_ptr<Table> here_;
};

TEST_F(ClientOnServer, AnswersAsAStoreInOneRegion) {
  ASSERT_NO_FATAL_FAILURE(start({}));
  compare(DrawRequests(71).with_all_filters(true), scaled(5000));
}

TEST_F(ClientOnServer, AnswersAsAStoreInSeveralRegions) {
  ASSERT_NO_FATAL_FAILURE(start({"r10", "r25", "r26", "r50"}));
  compare(DrawRequests(72).with_all_filters(true), scaled(5000));
}

TEST_F(ClientOnServer, AnswersAsAStoreWhileConnectionsBreak) {
  ASSERT_NO_FATAL_FAILURE(start_behind_proxy(73));
  const uint64_t requests = std::max<uint64_t>(scaled(3000), 300);  // fewer meet no cut
  compare(DrawRequests(74).with_all_filters(true).with_only_repeatable(true), requests);
  EXPECT_GT(proxy_->cuts(), requests / 150);
}

// Each thread reads what it has written, and a counter that all of them increment misses nothing.
TEST_F(ClientOnServer, ThreadsShareAClientWhileConnectionsBreak) {
  ASSERT_NO_FATAL_FAILURE(start_behind_proxy(75));
  constexpr int kThreads = 4;
  const auto rows = static_cast<int>(scaled(200));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < rows; ++i) {
        const std::string row = "r" + std::to_string(10 + i % 50) + "-" + std::to_string(t);
        const std::string value = std::to_string(i);
        ASSERT_TRUE(there_->put(Put(row).add("f", "q", value)).ok());
        const Result<Row> found = there_->get_row(Get(row));
        ASSERT_TRUE(found.ok()) << found.status();
        EXPECT_EQ(found->value("f", "q"), value);
        const auto sum = there_->increment_one("r30", "n", "all", 1);
        ASSERT_TRUE(sum.ok()) << sum.status();
      }
    });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(there_->increment_one("r30", "n", "all", 0).value(), int64_t{kThreads} * rows);
}

TEST_F(ClientOnServer, ABatchOfOneRowIsWritten) {
  ASSERT_NO_FATAL_FAILURE(start({"r20"}));
  Batch batch;
  batch.put(there_, Put("r10").add("f", "a", "1").add("g", "b", "2"));
  batch.increment(there_, Increment("r10").add("n", "x", 5));
  const Status one = cluster_->write(batch);
  EXPECT_TRUE(one.ok()) << one;
  const Result<Row> row = there_->get_row(Get("r10"));
  ASSERT_TRUE(row.ok()) << row.status();
  EXPECT_EQ(row->value("g", "b"), "2");
  EXPECT_EQ(row->counter("n", "x"), 5);
  batch.put(there_, Put("r11").add("f", "a", "1"));
  const Status two = cluster_->write(batch);
  EXPECT_TRUE(two.is(Code::kNotSupported)) << two;
  EXPECT_THAT(two.hint(), HasSubstr("Table::batch"));
  EXPECT_EQ(there_->increment_one("r10", "n", "x", 0).value(), 5);  // nothing of it was done
  Batch foreign;
  foreign.put(here_, Put("r10").add("f", "a", "1"));
  EXPECT_TRUE(cluster_->write(foreign).is(Code::kInvalidArgument));
}

// In three regions, so that a group lies in two of them.
TEST_F(ClientOnServer, AggregatesAndSchemasOfKeysAsInAStore) {
  ASSERT_NO_FATAL_FAILURE(start({"r25", "r40"}));
  for (int row = 10; row < 60; ++row) {
    const Put put =
        Put("r" + std::to_string(row)).add("n", "x", plain_int64(row)).add("n", "y", plain_int64(1));
    for (Table* const table : {there_.get(), here_.get()}) ASSERT_TRUE(table->put(put).ok());
  }
  const auto groups_of = [](Table& table) {
    std::string text;
    const auto add = [&](const Aggregate<int64_t>& found) {
      text += found.group + "=" + std::to_string(found.sum) + "/" + std::to_string(found.values) + "/" +
              std::to_string(found.rows) + " ";
      return Status();
    };
    const auto group_of = [](std::string_view row) { return std::min<size_t>(row.size(), 2); };
    const Scan scan = Scan().start("r15").family("n");
    EXPECT_TRUE(aggregate_groups<int64_t>(table, scan, group_of, add).ok());
    return text;
  };
  EXPECT_EQ(groups_of(*there_), groups_of(*here_));
  EXPECT_THAT(groups_of(*there_), HasSubstr("r4=455/20/10 "));
  EXPECT_EQ(aggregate<int64_t>(*there_).value().sum, aggregate<int64_t>(*here_).value().sum);

  TableChange change{.metadata = CarriedTexts{{"KEY_FIELDS", "user text, when int64 desc ms"}}};
  const Status altered = cluster_->alter_table(kTable, change);
  ASSERT_TRUE(altered.ok()) << altered;
  EXPECT_EQ(there_->info().options.metadata, *change.metadata);
  change.metadata->at("KEY_FIELDS") = "user txt";
  EXPECT_TRUE(cluster_->alter_table(kTable, change).is(Code::kInvalidArgument));
}

}  // namespace
}  // namespace cellar::testing
