// Calls of regions: reads, changes, lists, conditions, nonces.
#include <gmock/gmock.h>

#include <string>
#include <thread>
#include <vector>

#include "cellar/hfile_builder.h"
#include "hbase/wire/filter.pb.h"
#include "tests/hbase_serve/serve_fixture.h"
#include "tests/support/scratch_directory.h"

namespace cellar::testing {
namespace {

using hbase::wire::WireMutation;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CallsTest : public ServeFixture {
 protected:
  void SetUp() override {
    ServeFixture::SetUp();
    ASSERT_EQ(create("t").exception, "");
  }

  // An increment of f:n whose amount stands in the message.
  Answered increment(int64_t amount, uint64_t nonce) {
    hbase::wire::MutateRequest request;
    name_region("t", "row", *request.mutable_region());
    request.set_nonce_group(1);
    WireMutation& mutation = *request.mutable_mutation();
    mutation.set_row("row");
    mutation.set_type(WireMutation::INCREMENT);
    mutation.set_nonce(nonce);
    WireMutation::FamilyValues& values = *mutation.add_families();
    values.set_family("f");
    WireMutation::QualifierValue& value = *values.add_values();
    value.set_qualifier("n");
    value.set_value(plain_int64(amount));
    return client("Mutate", request);
  }

  // A put of f:q if f:q has the value.
  bool put_if(const std::string& expected, const std::string& value) {
    hbase::wire::MutateRequest request;
    name_region("t", "row", *request.mutable_region());
    WireMutation& mutation = *request.mutable_mutation();
    mutation.set_row("row");
    mutation.set_type(WireMutation::PUT);
    mutation.set_associated_cell_count(1);
    hbase::wire::Condition& condition = *request.mutable_condition();
    condition.set_row("row");
    condition.set_family("f");
    condition.set_qualifier("q");
    condition.set_compare(hbase::wire::EQUAL);
    hbase::wire::BytesComparator comparator;
    comparator.mutable_compared()->set_value(expected);
    condition.mutable_comparator()->set_class_name("org.apache.hadoop.hbase.filter.BinaryComparator");
    condition.mutable_comparator()->set_message(comparator.SerializeAsString());
    std::string block;
    hbase::wire::append_cell(block, "row", "f", "q", kNow, CellType::kPut, value);
    return client("Mutate", request, block).as<hbase::wire::MutateResponse>().processed();
  }
};

TEST_F(CallsTest, AGetFindsWhatAPutWrote) {
  EXPECT_TRUE(put("t", "row", "value").as<hbase::wire::MutateResponse>().processed());
  const Answered found = get("t", "row");
  EXPECT_EQ(found.as<hbase::wire::GetResponse>().result().associated_cell_count(), 1);
  EXPECT_THAT(found.cells(), ElementsAre("row/f:q=value"));
  EXPECT_THAT(get("t", "none").cells(), ElementsAre());
}

TEST_F(CallsTest, AClientWithoutCellBlocksGetsCellsInTheMessage) {
  put("t", "row", "value");
  hbase::wire::GetRequest request;
  name_region("t", "row", *request.mutable_region());
  request.mutable_get()->set_row("row");
  const Answered found = call(hbase::wire::kClientService, "Get", request, {}, false);
  const auto response = found.as<hbase::wire::GetResponse>();
  ASSERT_EQ(response.result().cells_size(), 1);
  EXPECT_EQ(response.result().cells(0).value(), "value");
  EXPECT_EQ(found.cell_block, "");
}

TEST_F(CallsTest, ErrorsHaveTheClassesOfHBase) {
  hbase::wire::GetRequest request;
  name_region("t", "row", *request.mutable_region());
  request.mutable_get()->set_row("row");
  request.mutable_get()->add_columns()->set_family("x");
  const Answered family = client("Get", request);
  EXPECT_EQ(family.exception, hbase::serve::java::kNoSuchFamily);
  EXPECT_TRUE(family.do_not_retry);
  EXPECT_THAT(family.text, HasSubstr("has no family \"x\""));

  request.mutable_region()->set_value("t,,99.0123456789abcdef0123456789abcdef.");
  const Answered region = client("Get", request);
  EXPECT_EQ(region.exception, hbase::serve::java::kNotServingRegion);
  EXPECT_FALSE(region.do_not_retry);
  EXPECT_EQ(client("ReplicateWALEntry", request).exception, hbase::serve::java::kDoNotRetry);
  EXPECT_THAT(client("ReplicateWALEntry", request).text, HasSubstr("ReplicateWALEntry"));
}

TEST_F(CallsTest, AnIncrementThatIsAskedForAgainIsMadeOnce) {
  const auto sum = [](const Answered& answer) { return answer.cells(); };
  EXPECT_THAT(sum(increment(5, 77)), ElementsAre("row/f:n=" + plain_int64(5)));
  EXPECT_THAT(sum(increment(5, 77)), ElementsAre("row/f:n=" + plain_int64(5)));
  EXPECT_THAT(sum(increment(5, 78)), ElementsAre("row/f:n=" + plain_int64(10)));
  EXPECT_THAT(sum(increment(5, 0)), ElementsAre("row/f:n=" + plain_int64(15)));
  EXPECT_THAT(sum(increment(5, 0)), ElementsAre("row/f:n=" + plain_int64(20)));
}

TEST_F(CallsTest, AConditionDecides) {
  put("t", "row", "1");
  EXPECT_TRUE(put_if("1", "2"));
  EXPECT_FALSE(put_if("1", "3"));
  EXPECT_THAT(get("t", "row").cells(), ElementsAre("row/f:q=2"));
}

TEST_F(CallsTest, EachActionOfAListHasItsOwnAnswer) {
  put("t", "a", "1");
  hbase::wire::MultiRequest request;
  hbase::wire::RegionAction& actions = *request.add_region_actions();
  name_region("t", "", *actions.mutable_region());
  std::string block;
  const auto add_put = [&](const std::string& row, const std::string& family) {
    hbase::wire::WireAction& action = *actions.add_actions();
    action.set_index(static_cast<uint32_t>(actions.actions_size() - 1));
    action.mutable_mutation()->set_row(row);
    action.mutable_mutation()->set_type(WireMutation::PUT);
    action.mutable_mutation()->set_associated_cell_count(1);
    hbase::wire::append_cell(block, row, family, "q", kNow, CellType::kPut, "2");
  };
  add_put("b", "f");
  add_put("c", "none");
  hbase::wire::WireAction& get_a = *actions.add_actions();
  get_a.set_index(2);
  get_a.mutable_get()->set_row("a");
  hbase::wire::WireAction& exists = *actions.add_actions();
  exists.set_index(3);
  exists.mutable_get()->set_row("b");
  exists.mutable_get()->set_existence_only(true);
  // A region that is not there does not hold up the others, and its cells are passed over.
  hbase::wire::RegionAction gone = actions;
  gone.mutable_region()->set_value("t,,99.0123456789abcdef0123456789abcdef.");
  *request.add_region_actions() = gone;
  block += block;

  const Answered answer = client("Multi", request, block);
  const auto response = answer.as<hbase::wire::MultiResponse>();
  ASSERT_EQ(response.region_results_size(), 2);
  const auto& results = response.region_results(0).results();
  ASSERT_EQ(results.size(), 4);
  EXPECT_FALSE(results[0].has_exception());
  EXPECT_EQ(results[1].exception().name(), hbase::serve::java::kNoSuchFamily);
  EXPECT_EQ(results[2].result().associated_cell_count(), 1);
  EXPECT_TRUE(results[3].result().exists());
  EXPECT_THAT(answer.cells(), ElementsAre("a/f:q=1"));
  EXPECT_EQ(response.region_results(1).exception().name(), hbase::serve::java::kNotServingRegion);
}

TEST_F(CallsTest, AnAtomicListIsMadeAsAWholeOrNotAtAll) {
  hbase::wire::MultiRequest request;
  hbase::wire::RegionAction& actions = *request.add_region_actions();
  name_region("t", "", *actions.mutable_region());
  actions.set_atomic(true);
  std::string block;
  for (const std::string family : {"f", "none"}) {
    WireMutation& mutation = *actions.add_actions()->mutable_mutation();
    mutation.set_row("row");
    mutation.set_type(WireMutation::PUT);
    mutation.set_associated_cell_count(1);
    hbase::wire::append_cell(block, "row", family, "q", kNow, CellType::kPut, "1");
  }
  const auto refused = client("Multi", request, block).as<hbase::wire::MultiResponse>();
  EXPECT_EQ(refused.region_results(0).exception().name(), hbase::serve::java::kNoSuchFamily);
  EXPECT_THAT(get("t", "row").cells(), ElementsAre());

  actions.mutable_actions()->RemoveLast();
  block.clear();
  hbase::wire::append_cell(block, "row", "f", "q", kNow, CellType::kPut, "1");
  const auto made = client("Multi", request, block).as<hbase::wire::MultiResponse>();
  EXPECT_TRUE(made.region_results(0).processed());
  EXPECT_THAT(get("t", "row").cells(), ElementsAre("row/f:q=1"));
}

TEST_F(CallsTest, DeletesOfAllKinds) {
  const auto erase = [&](CellType type, int64_t timestamp) {
    hbase::wire::MutateRequest request;
    name_region("t", "row", *request.mutable_region());
    request.mutable_mutation()->set_type(WireMutation::DELETE);
    request.mutable_mutation()->set_row("row");
    request.mutable_mutation()->set_associated_cell_count(1);
    std::string block;
    const bool of_family = type == CellType::kDeleteFamily || type == CellType::kDeleteFamilyVersion;
    hbase::wire::append_cell(block, "row", "f", of_family ? "" : "q", timestamp, type, "");
    return client("Mutate", request, block).exception;
  };
  for (const char* value : {"1", "2", "3"}) {
    put("t", "row", value);
    clock_.add_ms(10);
  }
  EXPECT_EQ(erase(CellType::kDelete, kNow), "");  // the newest
  EXPECT_THAT(get("t", "row").cells(), ElementsAre("row/f:q=2"));
  EXPECT_EQ(erase(CellType::kDelete, 1'700'000'000'010), "");
  EXPECT_THAT(get("t", "row").cells(), ElementsAre("row/f:q=1"));
  EXPECT_EQ(erase(CellType::kDeleteColumn, kNow), "");
  EXPECT_THAT(get("t", "row").cells(), ElementsAre());
  clock_.add_ms(10);
  put("t", "row", "4");
  EXPECT_EQ(erase(CellType::kDeleteFamily, kNow), "");
  EXPECT_THAT(get("t", "row").cells(), ElementsAre());
}

TEST_F(CallsTest, AListEndsWhereItsAnswerIsFull) {
  close();
  limits_.answer_bytes = 10'000;
  limits_.actions = 100;
  open();
  put("t", "row", std::string(1000, 'v'));
  hbase::wire::MultiRequest request;
  hbase::wire::RegionAction& actions = *request.add_region_actions();
  name_region("t", "", *actions.mutable_region());
  for (uint32_t index = 0; index < 99; ++index) {
    actions.add_actions()->set_index(index);
    actions.mutable_actions(static_cast<int>(index))->mutable_get()->set_row("row");
  }
  const auto response = client("Multi", request).as<hbase::wire::MultiResponse>();
  const hbase::wire::RegionActionResult& result = response.region_results(0);
  ASSERT_EQ(result.results_size(), 99);
  EXPECT_TRUE(result.results(0).has_result());
  EXPECT_TRUE(result.results(31).has_result());
  EXPECT_EQ(result.results(32).exception().name(), hbase::serve::java::kMultiTooLarge);
  EXPECT_EQ(result.results(98).exception().name(), hbase::serve::java::kMultiTooLarge);
  actions.add_actions()->mutable_get()->set_row("row");
  EXPECT_EQ(client("Multi", request).exception, hbase::serve::java::kRequestTooBig);
}

TEST_F(CallsTest, ACallThatItsClientGaveUpIsNotMade) {
  hbase::wire::MutateRequest request;
  name_region("t", "row", *request.mutable_region());
  request.mutable_mutation()->set_row("row");
  request.mutable_mutation()->set_type(WireMutation::PUT);
  request.mutable_mutation()->set_associated_cell_count(1);
  std::string block;
  hbase::wire::append_cell(block, "row", "f", "q", kNow, CellType::kPut, "old");
  hbase::wire::RequestHeader header;
  header.set_call_id(7);
  header.set_method_name("Mutate");
  header.set_timeout_ms(1000);
  std::string frame;
  hbase::wire::append_request(frame, header, &request, block);
  frame.erase(0, hbase::wire::kFrameLengthBytes);
  const int64_t now_us = system_clock().steady_us();
  const auto late = dispatcher_->answer({"ClientService", true}, frame, now_us - 1'000'001);
  ASSERT_TRUE(late.ok()) << late.status();
  EXPECT_EQ(answered(*late).exception, hbase::serve::java::kCallDropped);
  EXPECT_FALSE(answered(*late).do_not_retry);
  EXPECT_TRUE(get("t", "row").cells().empty());
  EXPECT_TRUE(dispatcher_->answer({"ClientService", true}, frame, now_us).ok());
  EXPECT_EQ(get("t", "row").cells().size(), 1u);
}

TEST_F(CallsTest, ACompactionIsAnsweredAtOnceAndMade) {
  ASSERT_EQ(create("split", {"m"}).exception, "");
  for (const char* value : {"1", "2"}) {
    put("split", "a", value);
    ASSERT_TRUE(engine_->open_table("split").value()->flush().ok());
  }
  hbase::wire::CompactRegionRequest request;
  request.set_major(true);
  hbase::wire::GetRegionInfoRequest ask;
  for (const char* row : {"a", "z"}) {
    name_region("split", row, *request.mutable_region());
    EXPECT_EQ(call(hbase::wire::kAdminService, "CompactRegion", request).exception, "");
  }
  name_region("split", "a", *ask.mutable_region());
  ask.set_compaction_state(true);
  const int64_t begin_us = system_clock().steady_us();
  const auto state = [&] {
    return call(hbase::wire::kAdminService, "GetRegionInfo", ask)
        .as<hbase::wire::GetRegionInfoResponse>()
        .compaction_state();
  };
  while (state() != hbase::wire::GetRegionInfoResponse::NONE &&
         system_clock().steady_us() - begin_us < 30'000'000)
    std::this_thread::yield();
  EXPECT_EQ(state(), hbase::wire::GetRegionInfoResponse::NONE);
  EXPECT_EQ(get("split", "a").cells().size(), 1u);
  request.set_family("none");
  EXPECT_EQ(call(hbase::wire::kAdminService, "CompactRegion", request).exception,
            hbase::serve::java::kNoSuchFamily);
}

TEST_F(CallsTest, FilesOfBulkLoadsAreThoseThatTheServerAdmits) {
  ASSERT_EQ(create("split", {"m"}).exception, "");
  hbase::wire::BulkLoadRequest request;
  name_region("split", "z", *request.mutable_region());
  request.add_paths()->set_family("f");
  request.mutable_paths(0)->set_path("file:///loads/f/file");
  EXPECT_THAT(client("BulkLoadHFile", request).text, HasSubstr("this server takes no bulk loads"));

  // A file with rows of the first region alone.
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/file";
  HFileBuilder builder = HFileBuilder::create(posix_file_system(), path, {}).value();
  Cell cell;
  cell.row = "a";
  cell.family = "f";
  cell.timestamp = 7;
  ASSERT_TRUE(builder.add(cell).ok());
  ASSERT_TRUE(builder.finish().ok());
  std::vector<std::string> asked;
  limits_.admit_load = [&](const std::string& name) -> Result<std::string> {
    asked.push_back(name);
    if (name != "/loads/f/file") return Status::read_only("not this one");
    return path;
  };
  close();
  open();
  name_region("split", "z", *request.mutable_region());
  EXPECT_FALSE(client("BulkLoadHFile", request).as<hbase::wire::BulkLoadResponse>().loaded());
  for (const char* const name : {"file:/loads/f/file", "/loads/f/file", "file:///loads/f/file"}) {
    request.mutable_paths(0)->set_path(name);
    EXPECT_FALSE(client("BulkLoadHFile", request).as<hbase::wire::BulkLoadResponse>().loaded()) << name;
  }
  EXPECT_THAT(asked, ::testing::Each("/loads/f/file"));
  for (const char* const name :
       {"hdfs://nn/loads/f/file", "file://host/loads/f/file", "loads/f/file", "//loads/f/file", ""}) {
    request.mutable_paths(0)->set_path(name);
    EXPECT_THAT(client("BulkLoadHFile", request).text, HasSubstr("on another file system")) << name;
  }
  request.mutable_paths(0)->set_path("/etc/passwd");
  EXPECT_THAT(client("BulkLoadHFile", request).text, HasSubstr("not this one"));
}

TEST(NonceTableTest, AnswersAreBoundedAndNumbersStay) {
  hbase::serve::NonceTable table(3, 2000);
  ActionResult answer;
  answer.row.cells.emplace_back("r", "f", "q", 1, CellType::kPut, std::string(1000, 'v'));
  for (uint64_t number = 1; number <= 2; ++number) {
    const auto begun = table.begin({1, number});
    ASSERT_TRUE(begun.ok() && !*begun);
    EXPECT_TRUE(table.begin({1, number}).status().is(Code::kBusy));
    table.finish({1, number}, answer);
  }
  EXPECT_TRUE(table.begin({1, 1}).status().is(Code::kDurabilityUnknown));
  const auto kept = table.begin({1, 2});
  ASSERT_TRUE(kept.ok() && *kept);
  EXPECT_EQ((*kept)->row.cells.size(), 1u);
  for (uint64_t number = 3; number <= 4; ++number) {
    ASSERT_TRUE(table.begin({1, number}).ok());
    table.finish({1, number}, {});
  }
  const auto forgotten = table.begin({1, 1});  // the fourth number took its place
  EXPECT_TRUE(forgotten.ok() && !*forgotten);
}

}  // namespace
}  // namespace cellar::testing
