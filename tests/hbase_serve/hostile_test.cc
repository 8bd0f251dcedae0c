// Bytes that no well-behaved client sends: the server answers or refuses each of them, and goes on.
#include <gmock/gmock.h>

#include "base/random.h"
#include "tests/hbase_serve/serve_fixture.h"

namespace cellar::testing {
namespace {

class HostileTest : public ServeFixture {};

TEST_F(HostileTest, FlippedAndCutRequestsAreAnsweredOrRefused) {
  limits_.admit_load = [](const std::string& path) -> Result<std::string> { return path; };
  close();
  open();
  ASSERT_EQ(create("t").exception, "");
  put("t", "row", "1");
  std::vector<std::pair<std::string, std::string>> good;  // of a service
  hbase::wire::GetRequest get_request;
  name_region("t", "", *get_request.mutable_region());
  get_request.mutable_get()->set_row("row");
  get_request.mutable_get()->mutable_filter()->set_class_name("org.apache.hadoop.hbase.filter.PrefixFilter");
  get_request.mutable_get()->mutable_filter()->set_message("\x0a\x01r");
  good.emplace_back(hbase::wire::kClientService, frame_of("Get", get_request));
  hbase::wire::ScanRequest scan;
  name_region("t", "", *scan.mutable_region());
  scan.mutable_scan()->set_batch_size(2);
  scan.set_number_of_rows(5);
  good.emplace_back(hbase::wire::kClientService, frame_of("Scan", scan));
  hbase::wire::MultiRequest multi;
  hbase::wire::RegionAction& actions = *multi.add_region_actions();
  name_region("t", "", *actions.mutable_region());
  std::string block;
  for (const char* row : {"a", "b"}) {
    hbase::wire::WireMutation& mutation = *actions.add_actions()->mutable_mutation();
    mutation.set_row(row);
    mutation.set_type(hbase::wire::WireMutation::PUT);
    mutation.set_associated_cell_count(1);
    hbase::wire::append_cell(block, row, "f", "q", kNow, CellType::kPut, "v");
  }
  good.emplace_back(hbase::wire::kClientService, frame_of("Multi", multi, block));
  hbase::wire::CreateTableRequest create_request;
  hbase::wire::to_wire_schema("x", {.families = {{.name = "f"}}}, *create_request.mutable_table_schema());
  good.emplace_back(hbase::wire::kMasterService, frame_of("CreateTable", create_request));
  hbase::wire::BulkLoadRequest load;
  name_region("t", "", *load.mutable_region());
  load.add_paths()->set_family("f");
  load.mutable_paths(0)->set_path("file:///nowhere/f/file");
  good.emplace_back(hbase::wire::kClientService, frame_of("BulkLoadHFile", load));

  Random random(4711);
  size_t answered_well = 0;
  for (int round = 0; round < 4000; ++round) {
    const auto& [service, frame] = good[random.below(good.size())];
    std::string bytes = frame;
    if (random.below(3) == 0) bytes.resize(random.below(bytes.size()));
    for (uint64_t flips = random.below(4); flips > 0 && !bytes.empty(); --flips)
      bytes[random.below(bytes.size())] ^= static_cast<char>(1u << random.below(8));
    const auto answer = dispatcher_->answer({service, true}, bytes, system_clock().steady_us());
    if (!answer.ok()) {
      EXPECT_TRUE(answer.status().is(Code::kCorruption)) << answer.status();
      continue;
    }
    if (answered(*answer).exception.empty()) ++answered_well;
  }
  EXPECT_GT(answered_well, 100u);  // some flips change a value alone
  EXPECT_THAT(get("t", "row").cells(), ::testing::ElementsAre("row/f:q=1"));
}

TEST_F(HostileTest, FiltersInFiltersHaveABottom) {
  ASSERT_EQ(create("t").exception, "");
  hbase::wire::GetRequest request;
  name_region("t", "", *request.mutable_region());
  request.mutable_get()->set_row("row");
  hbase::wire::WireFilter filter;
  filter.set_class_name("org.apache.hadoop.hbase.filter.FirstKeyOnlyFilter");
  for (int depth = 0; depth < 1000; ++depth) {
    hbase::wire::WireFilter outer;
    outer.set_class_name("org.apache.hadoop.hbase.filter.SkipFilter");
    hbase::wire::FilterOfFilter inner;
    *inner.mutable_filter() = filter;
    outer.set_message(inner.SerializeAsString());
    filter = outer;
  }
  *request.mutable_get()->mutable_filter() = filter;
  const Answered answer = client("Get", request);
  EXPECT_EQ(answer.exception, hbase::serve::java::kDoNotRetry);
  EXPECT_THAT(answer.text, ::testing::HasSubstr("nested more than"));
}

TEST_F(HostileTest, CellsThatTheMessageCountsAndTheBlockLacks) {
  ASSERT_EQ(create("t").exception, "");
  hbase::wire::MutateRequest request;
  name_region("t", "", *request.mutable_region());
  request.mutable_mutation()->set_row("row");
  request.mutable_mutation()->set_type(hbase::wire::WireMutation::PUT);
  for (const int32_t count : {1, 1000, INT32_MAX, -1}) {
    request.mutable_mutation()->set_associated_cell_count(count);
    EXPECT_EQ(client("Mutate", request).exception, hbase::serve::java::kDoNotRetry) << count;
  }
}

TEST_F(HostileTest, HeadersOfConnections) {
  std::string refusal;
  hbase::wire::ConnectionHeader header;
  header.set_service_name("ClientService");
  EXPECT_TRUE(dispatcher_->connect(header.SerializeAsString(), refusal).ok());
  header.set_cell_block_codec("a.Codec");
  EXPECT_FALSE(dispatcher_->connect(header.SerializeAsString(), refusal).ok());
  EXPECT_EQ(answered(refusal).exception, hbase::serve::java::kUnsupportedCodec);
  header.set_cell_block_codec(std::string(hbase::wire::kKeyValueCodec));
  header.set_cell_block_compressor("org.apache.hadoop.io.compress.GzipCodec");
  EXPECT_FALSE(dispatcher_->connect(header.SerializeAsString(), refusal).ok());
  EXPECT_EQ(answered(refusal).exception, hbase::serve::java::kUnsupportedCompression);
  header.clear_cell_block_compressor();
  header.set_service_name("NoService");
  EXPECT_FALSE(dispatcher_->connect(header.SerializeAsString(), refusal).ok());
  EXPECT_EQ(answered(refusal).exception, hbase::serve::java::kUnknownService);
  EXPECT_FALSE(dispatcher_->connect("\xff\xff\xff", refusal).ok());
  EXPECT_EQ(answered(refusal).exception, hbase::serve::java::kFatalConnection);
}

}  // namespace
}  // namespace cellar::testing
