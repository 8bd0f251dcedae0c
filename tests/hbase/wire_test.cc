// Frames, cell blocks, filters and names: round trips, and bytes that are cut and changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/coding.h"
#include "base/random.h"
#include "cellar/filter.h"
#include "hbase/client/cluster_name.h"
#include "hbase/client/scan_range.h"
#include "hbase/proto/hbase.pb.h"
#include "hbase/wire/cell_blocks.h"
#include "hbase/wire/client.pb.h"
#include "hbase/wire/frames.h"
#include "hbase/wire/rpc.pb.h"
#include "hbase/wire/to_wire.h"

namespace cellar {
namespace {

namespace wire = hbase::wire;
using ::testing::HasSubstr;

std::string a_block() {
  std::string block;
  wire::append_cell(block, "row", "f", "q", 5, CellType::kPut, "value");
  wire::append_cell(block, "row", "f", "", 4, CellType::kDeleteFamily, "");
  wire::append_cell(block, std::string(300, 'r'), "", "q", 0, CellType::kPut, std::string(1000, 'v'));
  return block;
}

TEST(HBaseWire, CellsComeBackFromABlock) {
  const std::string block = a_block();
  wire::CellBlockReader reader(block);
  CellView cell;
  ASSERT_TRUE(reader.next(cell).ok());
  EXPECT_EQ(Cell(cell), Cell("row", "f", "q", 5, CellType::kPut, "value"));
  std::string again;
  wire::append_cell(again, cell);
  EXPECT_EQ(again, block.substr(0, again.size()));
  ASSERT_TRUE(reader.next(cell).ok());
  EXPECT_EQ(Cell(cell), Cell("row", "f", "", 4, CellType::kDeleteFamily, ""));
  ASSERT_TRUE(reader.next(cell).ok());
  EXPECT_TRUE(reader.at_end());
  EXPECT_TRUE(reader.next(cell).is(Code::kCorruption));
}

// Reads all cells of hostile bytes, and touches every byte that they point to.
size_t read_all(std::string_view block) {
  wire::CellBlockReader reader(block);
  CellView cell;
  size_t sum = 0;
  while (!reader.at_end() && reader.next(cell).ok()) {
    for (const char c : cell.key_bytes()) sum += static_cast<uint8_t>(c);
    for (const char c : cell.value_bytes()) sum += static_cast<uint8_t>(c);
    sum += cell.qualifier().size();
  }
  return sum;
}

TEST(HBaseWire, DamagedCellBlocksAreRefusedOrRead) {
  const std::string block = a_block();
  for (size_t at = 0; at < block.size(); ++at) {
    read_all(std::string(block.substr(0, at)));
    for (const char value : {'\0', '\x7f', '\xff', '\x80'}) {
      std::string damaged = block;
      damaged[at] = value;
      read_all(damaged);
    }
  }
  wire::CellBlockReader cut(std::string_view(block).substr(0, 10));
  CellView cell;
  EXPECT_TRUE(cut.next(cell).is(Code::kCorruption));
}

std::string a_request() {
  wire::RequestHeader header;
  header.set_call_id(7);
  header.set_method_name("Get");
  wire::GetRequest request;
  request.mutable_get()->set_row("row");
  std::string frame;
  wire::append_request(frame, header, &request, a_block());
  return frame;
}

TEST(HBaseWire, FramesComeApart) {
  const std::string frame = a_request();
  const Result<uint32_t> bytes = wire::frame_bytes(frame.data(), 1u << 20);
  ASSERT_TRUE(bytes.ok());
  ASSERT_EQ(*bytes, frame.size() - wire::kFrameLengthBytes);
  wire::RequestHeader header;
  const auto parts = wire::parse_request(std::string_view(frame).substr(wire::kFrameLengthBytes), header);
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_EQ(header.call_id(), 7u);
  wire::GetRequest request;
  ASSERT_TRUE(wire::parse_message(request, parts->message).ok());
  EXPECT_EQ(request.get().row(), "row");
  EXPECT_EQ(parts->cell_block, a_block());
  EXPECT_TRUE(wire::frame_bytes("\xff\xff\xff\xff", 1u << 20).status().is(Code::kLimit));
  EXPECT_TRUE(wire::frame_bytes(frame.data(), 10).status().is(Code::kLimit));
}

TEST(HBaseWire, DamagedFramesAreRefusedOrRead) {
  const std::string frame = a_request().substr(wire::kFrameLengthBytes);
  Random random(20261126);
  size_t refused = 0;
  for (size_t at = 0; at < frame.size(); ++at) {
    wire::RequestHeader header;
    refused += wire::parse_request(frame.substr(0, at), header).ok() ? 0 : 1;
    for (int i = 0; i < 8; ++i) {
      std::string damaged = frame;
      damaged[at] = static_cast<char>(random.below(256));
      wire::RequestHeader changed;
      if (const auto parts = wire::parse_request(damaged, changed); parts.ok()) read_all(parts->cell_block);
      wire::ResponseHeader response;
      if (const auto parts = wire::parse_response(damaged, response); parts.ok()) read_all(parts->cell_block);
    }
  }
  EXPECT_EQ(refused, frame.size());  // a frame that is cut is never taken
}

TEST(HBaseWire, PreamblesAreChecked) {
  wire::ConnectionHeader header;
  header.set_service_name("ClientService");
  const std::string start = wire::connection_start(header);
  EXPECT_TRUE(wire::check_preamble(start.substr(0, wire::kPreambleBytes)).ok());
  EXPECT_EQ(load_be32(start.data() + wire::kPreambleBytes), header.ByteSizeLong());
  EXPECT_TRUE(wire::check_preamble("GET / ").is(Code::kCorruption));
  EXPECT_TRUE(wire::check_preamble(std::string("HBas\0\x51", 6)).is(Code::kNotSupported));
  EXPECT_TRUE(wire::check_preamble(std::string("HBas\x01\x50", 6)).is(Code::kNotSupported));
}

// ---- Filters

wire::WireFilter wire_of(const std::string& text) {
  const Result<FilterPtr> filter = parse_filter(text);
  EXPECT_TRUE(filter.ok()) << filter.status();
  wire::WireFilter to;
  const Status status = wire::to_wire_filter(**filter, to);
  EXPECT_TRUE(status.ok()) << status;
  return to;
}

template <class Message>
Message message_of(const wire::WireFilter& filter, const std::string& name) {
  EXPECT_EQ(filter.class_name(), "org.apache.hadoop.hbase.filter." + name);
  Message message;
  EXPECT_TRUE(message.ParseFromString(filter.message()));
  return message;
}

TEST(HBaseFilters, EachHasItsClassAndItsFields) {
  const auto single = message_of<wire::SingleColumnValueFilter>(
      wire_of("SingleColumnValueFilter('f', 'q', >=, 'binary:it''s', true, false)"),
      "SingleColumnValueFilter");
  EXPECT_EQ(single.qualifier(), "q");
  EXPECT_EQ(single.compare(), wire::GREATER_OR_EQUAL);
  EXPECT_TRUE(single.filter_if_missing());
  EXPECT_FALSE(single.latest_version_only());
  wire::BytesComparator binary;
  ASSERT_TRUE(binary.ParseFromString(single.comparator().message()));
  EXPECT_EQ(binary.compared().value(), "it's");

  const auto page = message_of<wire::CountFilter>(wire_of("PageFilter(10)"), "PageFilter");
  EXPECT_EQ(page.count(), 10);
  const auto fuzzy =
      message_of<wire::FuzzyRowFilter>(wire_of("FuzzyRowFilter('abc', '010')"), "FuzzyRowFilter");
  EXPECT_EQ(fuzzy.keys(0).first(), std::string("a\0c", 3));
  EXPECT_EQ(fuzzy.keys(0).second(), "\xff\x02\xff");
  const auto range = message_of<wire::ColumnRangeFilter>(wire_of("ColumnRangeFilter('', true, 'b', false)"),
                                                         "ColumnRangeFilter");
  EXPECT_FALSE(range.has_min_column());
  EXPECT_EQ(range.max_column(), "b");
  const auto timestamps =
      message_of<wire::TimestampsFilter>(wire_of("TimestampsFilter(5, 3, true)"), "TimestampsFilter");
  EXPECT_EQ(timestamps.timestamps_size(), 2);
  EXPECT_TRUE(timestamps.can_hint());
  const auto dependent = message_of<wire::DependentColumnFilter>(
      wire_of("DependentColumnFilter('f', 'q', true)"), "DependentColumnFilter");
  EXPECT_EQ(dependent.comparison().compare(), wire::NO_OP);
  EXPECT_TRUE(dependent.drop_dependent_column());
}

TEST(HBaseFilters, CombinationsKeepTheirOrder) {
  const auto list = message_of<wire::FilterList>(
      wire_of("SKIP ValueFilter(=, 'long:-5') OR PrefixFilter('a') AND WHILE KeyOnlyFilter()"), "FilterList");
  EXPECT_EQ(list.combination(), wire::FilterList::ONE);
  ASSERT_EQ(list.filters_size(), 2);
  const auto skip = message_of<wire::FilterOfFilter>(list.filters(0), "SkipFilter");
  EXPECT_THAT(skip.filter().class_name(), HasSubstr("ValueFilter"));
  const auto all = message_of<wire::FilterList>(list.filters(1), "FilterList");
  EXPECT_EQ(all.combination(), wire::FilterList::ALL);
  EXPECT_THAT(all.filters(1).class_name(), HasSubstr("WhileMatchFilter"));
}

TEST(HBaseFilters, DecimalsAreWrittenAsJavaDoes) {
  const auto bytes = [](const std::string& number) {
    const auto filter = message_of<wire::ComparingFilter>(
        wire_of("ValueFilter(=, 'bigdecimal:" + number + "')"), "ValueFilter");
    wire::BytesComparator comparator;
    EXPECT_TRUE(comparator.ParseFromString(filter.comparison().comparator().message()));
    return comparator.compared().value();
  };
  EXPECT_EQ(bytes("1.5"), std::string("\0\0\0\1\0\x0f", 6));
  EXPECT_EQ(bytes("-1.5"), std::string("\0\0\0\1\xff\xf1", 6));
  EXPECT_EQ(bytes("0"), std::string("\0\0\0\0\0", 5));
  EXPECT_EQ(bytes("-256"), std::string("\0\0\0\0\xff\xff\0", 7));
}

class OwnFilter final : public Filter {
 public:
  std::unique_ptr<Filter> clone() const override { return std::make_unique<OwnFilter>(*this); }
  std::string to_text() const override { return "rows that I like"; }
  FilterCode cell(const CellView&) override { return FilterCode::kInclude; }
};

TEST(HBaseFilters, AFilterOfTheCallersOwnIsRefused) {
  wire::WireFilter to;
  const Status status = wire::to_wire_filter(OwnFilter(), to);
  EXPECT_TRUE(status.is(Code::kNotSupported)) << status;
}

TEST(HBaseFilters, EveryFilterOfTheLanguageIsKnown) {
  for (const std::string& name : filter_names()) {
    if (name == "FilterList") continue;
    bool made = false;
    for (const char* const arguments :
         {"", "'a'", "1", "=, 'binary:a'", "1, 0", "'f', 'q', =, 'binary:a'", "'a', true, 'b', false",
          "'f', 'q'", "'a', '0'", "'a', true, 'b', false", "'0.5', 1"}) {
      const Result<FilterPtr> filter = parse_filter(name + "(" + arguments + ")");
      if (!filter.ok()) continue;
      made = true;
      wire::WireFilter to;
      const Status status = wire::to_wire_filter(**filter, to);
      EXPECT_TRUE(status.ok()) << name << "(" << arguments << "): " << status;
      EXPECT_THAT(to.class_name(), HasSubstr(name));
    }
    EXPECT_TRUE(made) << name;
  }
}

// ---- Names and ends

TEST(ClusterNames, AreTakenApart) {
  const auto name = hbase::parse_cluster_name("hbase://one:16001,two,[::1]:5?timeout_ms=10&user=ada");
  ASSERT_TRUE(name.ok()) << name.status();
  ASSERT_EQ(name->masters.size(), 3u);
  EXPECT_EQ(name->masters[0], (hbase::ServerAddress{"one", 16001}));
  EXPECT_EQ(name->masters[1], (hbase::ServerAddress{"two", 16000}));
  EXPECT_EQ(name->masters[2], (hbase::ServerAddress{"::1", 5}));
  EXPECT_EQ(name->timeout_ms, 10);
  EXPECT_EQ(name->first_answer_ms, 10);
  EXPECT_EQ(name->user, "ada");
  for (const char* const wrong :
       {"hbase://", "hbase://a:0", "hbase://a:x", "hbase://a:70000", "hbase://a?timeout=1",
        "hbase://a?timeout_ms=0", "hbase://a,,b", "hbase://a?user="})
    EXPECT_TRUE(hbase::parse_cluster_name(wrong).status().is(Code::kInvalidArgument)) << wrong;
}

TEST(ClusterNames, HaveOptionsOfTls) {
  const auto name = hbase::parse_cluster_name(
      "hbase://one?tls=true&tls_ca=/a/ca=1.pem&tls_cert=c.pem&tls_key=k.pem&tls_verify_host=false");
  ASSERT_TRUE(name.ok()) << name.status();
  EXPECT_TRUE(name->tls);
  EXPECT_EQ(name->tls_files.ca, "/a/ca=1.pem");
  EXPECT_EQ(name->tls_files.certificate, "c.pem");
  EXPECT_EQ(name->tls_files.key, "k.pem");
  EXPECT_FALSE(name->tls_verify_host);
  EXPECT_FALSE(hbase::parse_cluster_name("hbase://one?tls=false")->tls);
  for (const char* const wrong : {"tls=yes", "tls", "tls=true&tls_ca=", "tls_ca=a.pem",
                                  "tls=false&tls_ca=a.pem", "tls_verify_host=false", "tls=true&tls_cert=a",
                                  "tls=true&tls_key=a", "tls=true&tls_verify_host=0", "tls_cert=a&tls_key=b"})
    EXPECT_TRUE(
        hbase::parse_cluster_name(std::string("hbase://a?") + wrong).status().is(Code::kInvalidArgument))
        << wrong;
}

TEST(ScanRanges, HaveTheRulesOfStores) {
  const auto of = [](const Scan& scan) { return hbase::scan_range_of(scan); };
  EXPECT_EQ(of(Scan().prefix("ab"))->stop, "ac");
  EXPECT_EQ(of(Scan().prefix("ab").reversed(true))->start, "ac");
  EXPECT_FALSE(of(Scan().prefix("ab").reversed(true))->start_inclusive);
  EXPECT_TRUE(of(Scan().start("a").stop("a"))->empty);
  EXPECT_FALSE(of(Scan().start("a").stop("a", true))->empty);
  EXPECT_TRUE(of(Scan(std::vector<KeyRange>()))->empty);
  EXPECT_TRUE(of(Scan().start("b").stop("a"))->empty);
  EXPECT_TRUE(of(Scan().start("a").stop("b").reversed(true))->empty);
  EXPECT_TRUE(of(Scan().start(std::string(40000, 'a'))).status().is(Code::kLimit));
  EXPECT_TRUE(of(Scan().prefix("a").stop("b")).status().is(Code::kInvalidArgument));
}

}  // namespace
}  // namespace cellar
