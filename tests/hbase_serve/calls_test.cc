// Calls of regions: reads, changes, lists, conditions, nonces.
#include <gmock/gmock.h>

#include "hbase/wire/filter.pb.h"
#include "tests/hbase_serve/serve_fixture.h"

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
  EXPECT_EQ(client("BulkLoadHFile", request).exception, hbase::serve::java::kDoNotRetry);
  EXPECT_THAT(client("BulkLoadHFile", request).text, HasSubstr("BulkLoadHFile"));
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

}  // namespace
}  // namespace cellar::testing
