// Scans through calls: batches, limits, directions, regions, leases, numbers of calls.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "hbase/serve/meta_scanner.h"
#include "hbase/wire/filter.pb.h"
#include "tests/hbase_serve/serve_fixture.h"

namespace cellar::testing {
namespace {

using hbase::wire::ScanRequest;
using hbase::wire::ScanResponse;
using ::testing::ElementsAre;
using ::testing::SizeIs;

class ScansTest : public ServeFixture {
 protected:
  // Ten rows "a" to "j".
  void fill(const std::vector<std::string>& splits = {}) {
    ASSERT_EQ(create("t", splits).exception, "");
    for (char row = 'a'; row <= 'j'; ++row) put("t", std::string(1, row), "v");
  }
  ScanRequest open_request(std::string_view row = "", uint32_t rows = 3) {
    ScanRequest request;
    name_region("t", row, *request.mutable_region());
    request.mutable_scan();
    request.set_number_of_rows(rows);
    return request;
  }
  static ScanRequest next_request(uint64_t id, uint64_t sequence, uint32_t rows = 3) {
    ScanRequest request;
    request.set_scanner_id(id);
    request.set_next_call_seq(sequence);
    request.set_number_of_rows(rows);
    return request;
  }
  // The rows of an answer, one letter each.
  static std::string rows(const Answered& answer) {
    std::string all;
    for (const std::string& cell : answer.cells()) all += cell.substr(0, cell.find('/'));
    return all;
  }
};

TEST_F(ScansTest, RowsComeInCallsUntilTheEnd) {
  fill();
  const Answered first = client("Scan", open_request());
  const auto opened = first.as<ScanResponse>();
  EXPECT_EQ(rows(first), "abc");
  EXPECT_TRUE(opened.more_results_in_region());
  EXPECT_EQ(opened.cells_per_result_size(), 3);
  const Answered second = client("Scan", next_request(opened.scanner_id(), 0, 100));
  EXPECT_EQ(rows(second), "defghij");
  EXPECT_FALSE(second.as<ScanResponse>().more_results_in_region());
  // The scanner was closed at its end; closing it again is no fault, reading on is one.
  EXPECT_EQ(dispatcher_->scanners().open(), 0u);
  ScanRequest close = next_request(opened.scanner_id(), 1);
  close.set_close_scanner(true);
  EXPECT_EQ(client("Scan", close).exception, "");
  EXPECT_EQ(client("Scan", next_request(opened.scanner_id(), 1)).exception,
            hbase::serve::java::kUnknownScanner);
}

TEST_F(ScansTest, ALimitOfRowsEndsTheScan) {
  fill();
  ScanRequest request = open_request("", 100);
  request.set_limit_of_rows(4);
  const Answered answer = client("Scan", request);
  EXPECT_EQ(rows(answer), "abcd");
  EXPECT_FALSE(answer.as<ScanResponse>().more_results());
  EXPECT_EQ(dispatcher_->scanners().open(), 0u);
}

TEST_F(ScansTest, ACallOutOfOrderIsRefusedAndTheScannerStays) {
  fill();
  const uint64_t id = client("Scan", open_request()).as<ScanResponse>().scanner_id();
  EXPECT_EQ(client("Scan", next_request(id, 5)).exception, hbase::serve::java::kOutOfOrder);
  EXPECT_EQ(rows(client("Scan", next_request(id, 0))), "def");
  EXPECT_EQ(client("Scan", next_request(id, 0)).exception, hbase::serve::java::kOutOfOrder);
  ScanRequest renew = next_request(id, 1);
  renew.set_renew(true);
  const Answered renewed = client("Scan", renew);
  EXPECT_EQ(renewed.exception, "");
  EXPECT_EQ(rows(renewed), "");
}

TEST_F(ScansTest, AScanIsCutToItsRegion) {
  fill({"d", "g"});
  EXPECT_EQ(rows(client("Scan", open_request("", 100))), "abc");
  EXPECT_EQ(rows(client("Scan", open_request("d", 100))), "def");
  EXPECT_EQ(rows(client("Scan", open_request("g", 100))), "ghij");
  ScanRequest reversed = open_request("d", 100);
  reversed.mutable_scan()->set_reversed(true);
  EXPECT_EQ(rows(client("Scan", reversed)), "fed");
  reversed.mutable_scan()->set_start_row("e");
  reversed.mutable_scan()->set_include_start_row(false);
  EXPECT_EQ(rows(client("Scan", reversed)), "d");
  ScanRequest both = open_request("d", 100);
  both.mutable_scan()->set_start_row("b");
  both.mutable_scan()->set_stop_row("e");
  both.mutable_scan()->set_include_stop_row(true);
  EXPECT_EQ(rows(client("Scan", both)), "de");
}

TEST_F(ScansTest, ARowLargerThanTheAnswerComesInParts) {
  fill();
  for (int column = 0; column < 10; ++column) {
    hbase::wire::MutateRequest request;
    name_region("t", "big", *request.mutable_region());
    request.mutable_mutation()->set_type(hbase::wire::WireMutation::PUT);
    request.mutable_mutation()->set_associated_cell_count(1);  // without a row: the cell has it
    std::string block;
    hbase::wire::append_cell(block, "big", "f", fmt::format("c{}", column), kNow, CellType::kPut,
                             std::string(1000, 'x'));
    ASSERT_EQ(client("Mutate", request, block).exception, "");
  }
  ScanRequest request = open_request("", 100);
  request.mutable_scan()->set_start_row("big");
  request.mutable_scan()->set_stop_row("big");  // equal ends are one row
  request.mutable_scan()->set_max_result_size(2500);
  request.set_client_handles_partials(true);
  Answered answer = client("Scan", request);
  size_t cells = answer.cells().size();
  EXPECT_GT(cells, 0u);
  EXPECT_LT(cells, 10u);
  auto response = answer.as<ScanResponse>();
  EXPECT_TRUE(response.partial_flag_per_result(response.partial_flag_per_result_size() - 1));
  const uint64_t id = response.scanner_id();
  for (uint64_t sequence = 0; response.more_results_in_region(); ++sequence) {
    answer = client("Scan", next_request(id, sequence, 100));
    response = answer.as<ScanResponse>();
    cells += answer.cells().size();
  }
  EXPECT_EQ(cells, 10u);
}

TEST_F(ScansTest, AScannerThatNobodyUsesIsClosed) {
  close();
  limits_.lease_ms = 0;
  limits_.scanners = 2;
  open();
  fill();
  const uint64_t id = client("Scan", open_request()).as<ScanResponse>().scanner_id();
  EXPECT_EQ(client("Scan", open_request()).exception, "");
  EXPECT_EQ(client("Scan", open_request()).exception, hbase::serve::java::kRegionTooBusy);
  const int64_t begin = system_clock().steady_us();
  while (dispatcher_->scanners().open() > 0 && system_clock().steady_us() - begin < 10'000'000)
    dispatcher_->scanners().close_expired();
  EXPECT_EQ(dispatcher_->scanners().open(), 0u);
  EXPECT_EQ(client("Scan", next_request(id, 0)).exception, hbase::serve::java::kUnknownScanner);
}

TEST_F(ScansTest, ACallThatWorksLongEndsWithTheRowsThatItHas) {
  close();
  limits_.scan_call_ms = 0;
  open();
  fill();
  ScanRequest request = open_request("", 100);
  request.set_client_handles_partials(true);
  request.set_client_handles_heartbeats(true);
  const Answered first = client("Scan", request);
  const auto opened = first.as<ScanResponse>();
  EXPECT_EQ(rows(first), "a");
  EXPECT_TRUE(opened.heartbeat_message());
  EXPECT_TRUE(opened.more_results_in_region());
  const Answered second = client("Scan", next_request(opened.scanner_id(), 0, 100));
  EXPECT_EQ(rows(second), "b");
  EXPECT_TRUE(second.as<ScanResponse>().heartbeat_message());
  // A client that knows no heartbeats waits for all rows.
  request.set_client_handles_heartbeats(false);
  EXPECT_EQ(rows(client("Scan", request)), "abcdefghij");
}

TEST_F(ScansTest, AFilterThatIsDoneEndsTheScanOfAllRegions) {
  fill({"d"});
  hbase::wire::CountFilter page;
  page.set_count(2);
  ScanRequest request = open_request("", 2);
  request.mutable_scan()->mutable_filter()->set_class_name("org.apache.hadoop.hbase.filter.PageFilter");
  request.mutable_scan()->mutable_filter()->set_message(page.SerializeAsString());
  const Answered first = client("Scan", request);
  EXPECT_EQ(rows(first), "ab");
  EXPECT_TRUE(first.as<ScanResponse>().more_results());
  const Answered second = client("Scan", next_request(first.as<ScanResponse>().scanner_id(), 0));
  EXPECT_EQ(rows(second), "");
  EXPECT_FALSE(second.as<ScanResponse>().more_results());
  // With rows in the same answer the next region is read as well, as in HBase.
  request.set_number_of_rows(100);
  EXPECT_TRUE(client("Scan", request).as<ScanResponse>().more_results());
  // The end of a region alone ends nothing.
  request.mutable_scan()->clear_filter();
  request.mutable_scan()->set_start_row("cc");
  EXPECT_TRUE(client("Scan", request).as<ScanResponse>().more_results());
}

TEST_F(ScansTest, AScannerEndsWithItsTable) {
  fill();
  const uint64_t id = client("Scan", open_request()).as<ScanResponse>().scanner_id();
  EXPECT_EQ(statement("DisableTable", "t").exception, "");
  EXPECT_EQ(client("Scan", next_request(id, 0)).exception, hbase::serve::java::kNotServingRegion);
  EXPECT_EQ(dispatcher_->scanners().open(), 0u);
}

TEST_F(ScansTest, MetaHasARowForEachRegion) {
  fill({"d"});
  ScanRequest request;
  request.mutable_region()->set_type(hbase::wire::RegionSpecifier::NAME);
  request.mutable_region()->set_value("hbase:meta,,1");
  request.mutable_scan()->add_columns()->set_family("info");
  request.set_number_of_rows(100);
  const Answered answer = client("Scan", request);
  EXPECT_THAT(answer.as<ScanResponse>().cells_per_result(), SizeIs(2));
  std::vector<std::string> servers;
  for (const std::string& cell : answer.cells())
    if (cell.find("/info:server=") != std::string::npos) servers.push_back(cell.substr(cell.find('=') + 1));
  EXPECT_THAT(servers, ElementsAre("localhost:16000", "localhost:16000"));
  // The row that a client looks for with a reversed scan.
  request.mutable_scan()->set_reversed(true);
  request.mutable_scan()->set_start_row("t,c,99999999999999");
  request.mutable_scan()->set_stop_row("t,,");
  request.mutable_scan()->set_include_stop_row(true);
  request.set_number_of_rows(1);
  request.set_close_scanner(true);
  const Answered region = client("Scan", request);
  ASSERT_FALSE(region.cells().empty());
  EXPECT_TRUE(region.cells().front().starts_with("t,,")) << region.cells().front();
}

TEST_F(ScansTest, RowsOfMetaStandInTheOrderOfTheirRegions) {
  const std::vector<std::string> ordered = {"s,z,9",
                                            "t",
                                            "t,,7",
                                            std::string("t,\0,7", 5),
                                            std::string("t,\0a,b,7", 8),
                                            "t,a,7.x.",
                                            "t,a,9",
                                            "t,a!,7",
                                            "t,b,7",
                                            "t ,,",
                                            "t-x,,7.abc"};
  for (size_t a = 0; a < ordered.size(); ++a)
    for (size_t b = 0; b < ordered.size(); ++b) {
      const int order = hbase::serve::compare_meta_rows(ordered[a], ordered[b]);
      EXPECT_EQ(order < 0, a < b) << ordered[a] << " and " << ordered[b];
      EXPECT_EQ(order == 0, a == b) << ordered[a] << " and " << ordered[b];
    }
  // A client looks for a row of bytes that are less than a comma.
  fill({std::string("\0b", 2), "a"});
  ScanRequest request;
  request.mutable_region()->set_type(hbase::wire::RegionSpecifier::NAME);
  request.mutable_region()->set_value("hbase:meta,,1");
  request.mutable_scan()->add_columns()->set_family("info");
  request.mutable_scan()->set_reversed(true);
  request.mutable_scan()->set_stop_row("t,,");
  request.mutable_scan()->set_include_stop_row(true);
  request.set_number_of_rows(1);
  request.set_close_scanner(true);
  const auto region_of = [&](const std::string& row) {
    request.mutable_scan()->set_start_row("t," + row + ",99999999999999");
    const std::vector<std::string> cells = client("Scan", request).cells();
    return cells.empty() ? "none" : cells.front().substr(0, cells.front().rfind(','));
  };
  EXPECT_EQ(region_of(std::string("\0a", 2)), "t,");
  EXPECT_EQ(region_of(std::string("\0b", 2)), std::string("t,\0b", 4));
  EXPECT_EQ(region_of("Z"), std::string("t,\0b", 4));
  EXPECT_EQ(region_of("a\x01"), "t,a");
}

}  // namespace
}  // namespace cellar::testing
