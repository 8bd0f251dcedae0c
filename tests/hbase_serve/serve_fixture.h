// A served store in memory, and calls to it as the frames that a client sends.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/coding.h"
#include "base/memory_file_system.h"
#include "cellar/engine.h"
#include "cellar/manual_clock.h"
#include "hbase/proto/hbase.pb.h"
#include "hbase/serve/dispatcher.h"
#include "hbase/wire/cell_blocks.h"
#include "hbase/wire/client.pb.h"
#include "hbase/wire/frames.h"
#include "hbase/wire/master.pb.h"
#include "hbase/wire/rpc.pb.h"
#include "hbase/wire/schema.h"

namespace cellar::testing {

// Answered: a message and cells that a client gets, or an exception.
struct Answered {
  std::string exception;  // the class, or empty
  std::string text;       // of the exception
  bool do_not_retry = false;
  std::string message;
  std::string cell_block;

  // Returns the cells as "row/family:qualifier=value".
  std::vector<std::string> cells() const {
    std::vector<std::string> all;
    hbase::wire::CellBlockReader reader(cell_block);
    while (!reader.at_end()) {
      CellView cell;
      EXPECT_TRUE(reader.next(cell).ok());
      all.push_back(std::string(cell.row()) + "/" + std::string(cell.family()) + ":" +
                    std::string(cell.qualifier()) + "=" + std::string(cell.value_bytes()));
    }
    return all;
  }
  template <class Message>
  Message as() const {
    Message read;
    EXPECT_TRUE(exception.empty()) << exception << ": " << text;
    EXPECT_TRUE(hbase::wire::parse_message(read, message).ok());
    return read;
  }
};

class ServeFixture : public ::testing::Test {
 protected:
  void SetUp() override { open(); }
  void TearDown() override { close(); }

  void open() {
    EngineOptions options;
    options.create_if_missing = true;
    options.environment.files = files_.get();
    options.environment.clock = &clock_;
    auto engine = Engine::open("store", options);
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = std::move(engine).value();
    auto catalog = hbase::serve::Catalog::open(*engine_);
    ASSERT_TRUE(catalog.ok()) << catalog.status();
    catalog_ = std::move(catalog).value();
    ASSERT_TRUE(catalog_->begin("localhost", 16000).ok());
    dispatcher_ = std::make_unique<hbase::serve::Dispatcher>(*catalog_, limits_);
  }
  void close() {
    if (dispatcher_ == nullptr) return;
    dispatcher_->scanners().close_all();
    dispatcher_.reset();
    EXPECT_TRUE(catalog_->close().ok());
    catalog_.reset();
    EXPECT_TRUE(engine_->close().ok());
    engine_.reset();
  }

  // Returns the frame of a request, without its length.
  static std::string frame_of(std::string_view method, const google::protobuf::MessageLite& request,
                              std::string_view cell_block = {}) {
    hbase::wire::RequestHeader header;
    header.set_call_id(7);
    header.set_method_name(std::string(method));
    std::string frame;
    hbase::wire::append_request(frame, header, &request, cell_block);
    return frame.substr(hbase::wire::kFrameLengthBytes);
  }

  static Answered answered(std::string_view frame) {
    Answered answer;
    hbase::wire::ResponseHeader header;
    const auto parts = hbase::wire::parse_response(frame.substr(hbase::wire::kFrameLengthBytes), header);
    EXPECT_TRUE(parts.ok()) << parts.status();
    if (!parts.ok()) return answer;
    answer.exception = header.exception().class_name();
    answer.text = header.exception().stack_trace();
    answer.do_not_retry = header.exception().do_not_retry();
    answer.message = parts.value().message;
    answer.cell_block = parts.value().cell_block;
    return answer;
  }

  Answered call(std::string_view service, std::string_view method,
                const google::protobuf::MessageLite& request, std::string_view cell_block = {},
                bool cell_blocks = true) {
    const auto frame = dispatcher_->answer({std::string(service), cell_blocks},
                                           frame_of(method, request, cell_block), system_clock().steady_us());
    EXPECT_TRUE(frame.ok()) << frame.status();
    return frame.ok() ? answered(*frame) : Answered();
  }
  Answered client(std::string_view method, const google::protobuf::MessageLite& request,
                  std::string_view cells = {}) {
    return call(hbase::wire::kClientService, method, request, cells);
  }
  Answered master(std::string_view method, const google::protobuf::MessageLite& request) {
    return call(hbase::wire::kMasterService, method, request);
  }

  Answered create(const std::string& name, const std::vector<std::string>& splits = {}) {
    TableOptions options;
    options.families.push_back({.name = "f", .max_versions = 3});
    hbase::wire::CreateTableRequest request;
    hbase::wire::to_wire_schema(name, options, *request.mutable_table_schema());
    for (const std::string& each : splits) request.add_split_keys(each);
    return master("CreateTable", request);
  }
  Answered statement(std::string_view method, const std::string& table) {
    hbase::wire::TableRequest request;
    hbase::wire::to_wire_name(table, *request.mutable_table_name());
    return master(method, request);
  }

  // Names the region of a table that has the row.
  void name_region(const std::string& table, std::string_view row, hbase::wire::RegionSpecifier& to) {
    hbase::serve::Call none("", {}, 0, true);
    const auto found = catalog_->table(none, table);
    ASSERT_TRUE(found.ok()) << found.status();
    to.set_type(hbase::wire::RegionSpecifier::NAME);
    for (const hbase::serve::ServedRegion& each : (*found)->regions)
      if (each.start <= row) to.set_value(each.name);
  }

  // Puts f:q = value, the cell in a cell block as HBase's clients have it.
  Answered put(const std::string& table, const std::string& row, const std::string& value) {
    hbase::wire::MutateRequest request;
    name_region(table, row, *request.mutable_region());
    request.mutable_mutation()->set_row(row);
    request.mutable_mutation()->set_type(hbase::wire::WireMutation::PUT);
    request.mutable_mutation()->set_associated_cell_count(1);
    std::string block;
    hbase::wire::append_cell(block, row, "f", "q", kNow, CellType::kPut, value);
    return client("Mutate", request, block);
  }
  Answered get(const std::string& table, const std::string& row) {
    hbase::wire::GetRequest request;
    name_region(table, row, *request.mutable_region());
    request.mutable_get()->set_row(row);
    return client("Get", request);
  }

  std::unique_ptr<FileSystem> files_ = make_memory_file_system();
  ManualClock clock_{1'700'000'000'000};
  hbase::serve::ServiceLimits limits_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<hbase::serve::Catalog> catalog_;
  std::unique_ptr<hbase::serve::Dispatcher> dispatcher_;
};

}  // namespace cellar::testing
