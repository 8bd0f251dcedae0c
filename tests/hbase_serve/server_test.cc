// The server's sockets: handshakes, limits, clients that are slow or never speak, many at a time, its end.
#include "hbase/serve/server.h"

#include <gmock/gmock.h>

#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "hbase/wire/registry.pb.h"
#include "tests/hbase_serve/serve_fixture.h"

namespace cellar::testing {
namespace {

using asio::ip::tcp;
using hbase::serve::Server;
using hbase::serve::ServerOptions;

// Client: a connection that sends and receives bytes.
class Client {
 public:
  explicit Client(uint16_t port) : socket_(io_) {
    asio::error_code error;
    socket_.connect(tcp::endpoint(asio::ip::make_address("127.0.0.1"), port), error);
    EXPECT_FALSE(error) << error.message();
  }
  void send(std::string_view bytes) {
    asio::error_code ignored;  // the server may have closed the connection
    asio::write(socket_, asio::buffer(bytes.data(), bytes.size()), ignored);
  }
  // Returns a frame with its length, or nothing if the server closed the connection.
  std::optional<std::string> receive() {
    std::string frame(hbase::wire::kFrameLengthBytes, '\0');
    asio::error_code error;
    asio::read(socket_, asio::buffer(frame), error);
    if (error) return std::nullopt;
    const uint32_t bytes = load_be32(frame.data());
    frame.resize(frame.size() + bytes);
    asio::read(socket_, asio::buffer(frame.data() + hbase::wire::kFrameLengthBytes, bytes), error);
    return error ? std::nullopt : std::optional(frame);
  }
  void shake_hands(std::string_view service) {
    hbase::wire::ConnectionHeader header;
    header.set_service_name(std::string(service));
    header.set_cell_block_codec(std::string(hbase::wire::kKeyValueCodec));
    send(hbase::wire::connection_start(header));
  }

 private:
  asio::io_context io_;
  tcp::socket socket_;
};

class ServerTest : public ServeFixture {
 protected:
  void SetUp() override {
    EngineOptions options;
    options.create_if_missing = true;
    options.environment.files = files_.get();
    auto engine = Engine::open("store", options);
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = std::move(engine).value();
    options_.port = 0;
  }
  void TearDown() override {
    stop();
    EXPECT_TRUE(engine_->close().ok());  // nothing that reads the store is left
  }
  void start() {
    auto server = Server::start(*engine_, options_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = std::move(server).value();
    thread_ = std::thread([this] { ended_ = server_->run([this] { return stop_.load(); }); });
  }
  void stop() {
    if (!thread_.joinable()) return;
    stop_ = true;
    thread_.join();
    EXPECT_TRUE(ended_.ok()) << ended_;
    server_.reset();
  }
  // Returns a request with its length.
  static std::string request(std::string_view method, const google::protobuf::MessageLite& message) {
    const std::string frame = frame_of(method, message);
    std::string bytes;
    append_be32(bytes, static_cast<uint32_t>(frame.size()));
    return bytes + frame;
  }
  // Asks for the cluster, and returns its id.
  std::string cluster_of(Client& client) {
    client.send(request("GetClusterId", hbase::wire::GetClusterIdRequest()));
    const std::optional<std::string> frame = client.receive();
    if (!frame) return "closed";
    return answered(*frame).as<hbase::wire::GetClusterIdResponse>().cluster_id();
  }

  ServerOptions options_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
  std::atomic<bool> stop_ = false;
  Status ended_;
};

TEST_F(ServerTest, AClientShakesHandsAndAsks) {
  start();
  Client client(server_->port());
  client.send("Regist");  // as HBase 2.6 begins
  const std::optional<std::string> before = client.receive();
  ASSERT_TRUE(before);
  const std::string cluster = answered(*before).as<hbase::wire::GetClusterIdResponse>().cluster_id();
  EXPECT_EQ(cluster.size(), 36u);
  client.shake_hands("ClientMetaService");
  EXPECT_EQ(cluster_of(client), cluster);
  EXPECT_EQ(cluster_of(client), cluster);
}

TEST_F(ServerTest, BytesOfAnotherProtocolAreRefused) {
  start();
  Client web(server_->port());
  web.send("GET / HTTP/1.1\r\n\r\n");
  const std::optional<std::string> refusal = web.receive();
  ASSERT_TRUE(refusal);
  EXPECT_EQ(answered(*refusal).exception, hbase::serve::java::kFatalConnection);
  EXPECT_FALSE(web.receive());

  Client huge(server_->port());
  huge.shake_hands("ClientMetaService");
  huge.send(std::string_view("\x7f\xff\xff\xff", 4));
  EXPECT_FALSE(huge.receive());
  Client negative(server_->port());
  negative.shake_hands("ClientMetaService");
  negative.send(std::string_view("\xff\xff\xff\xff", 4));
  EXPECT_FALSE(negative.receive());
  Client broken(server_->port());
  broken.shake_hands("ClientMetaService");
  broken.send(std::string_view("\0\0\0\3\xff\xff\xff", 7));
  EXPECT_FALSE(broken.receive());

  Client good(server_->port());
  good.shake_hands("ClientMetaService");
  EXPECT_EQ(cluster_of(good).size(), 36u);
}

TEST_F(ServerTest, ClientsThatNeverSpeakHoldNobodyUp) {
  options_.connections = 4;
  options_.handshake_ms = 300;
  options_.stall_ms = 300;
  start();
  Client silent(server_->port());
  Client half(server_->port());
  half.send("HBa");
  Client stalled(server_->port());
  stalled.shake_hands("ClientMetaService");
  stalled.send(std::string_view("\0\0\1\0half of a request", 21));
  Client good(server_->port());
  good.shake_hands("ClientMetaService");
  EXPECT_EQ(cluster_of(good).size(), 36u);
  Client fifth(server_->port());
  EXPECT_FALSE(fifth.receive());  // one too many: closed at once
  EXPECT_FALSE(silent.receive());
  EXPECT_FALSE(half.receive());
  EXPECT_FALSE(stalled.receive());
  EXPECT_EQ(cluster_of(good).size(), 36u);  // an idle connection is no stalled one
}

TEST_F(ServerTest, ASecondServerCannotHaveThePort) {
  start();
  ServerOptions again = options_;
  again.port = server_->port();
  const auto second = Server::start(*engine_, again);
  ASSERT_FALSE(second.ok());
  EXPECT_TRUE(second.status().is(Code::kIoError)) << second.status();
  again.bind = "nowhere";
  EXPECT_TRUE(Server::start(*engine_, again).status().is(Code::kInvalidArgument));
}

TEST_F(ServerTest, LengthsThatAreStatedAloneKeepNobodyOut) {
  options_.server_bytes = 4u << 20;
  options_.stall_ms = 300;
  start();
  std::vector<std::unique_ptr<Client>> quiet;
  for (int each = 0; each < 4; ++each) {
    quiet.push_back(std::make_unique<Client>(server_->port()));
    quiet.back()->shake_hands("ClientService");
    quiet.back()->send(std::string_view("\0\x20\0\0", 4));  // 2 MiB follow, or not
  }
  Client good(server_->port());
  good.shake_hands("ClientMetaService");
  EXPECT_EQ(cluster_of(good).size(), 36u);
  for (const auto& each : quiet) EXPECT_FALSE(each->receive());  // closed, although no byte of it came
}

TEST_F(ServerTest, ManyClientsWriteAndReadAtATime) {
  TableOptions table;
  table.families.push_back({.name = "f"});
  ASSERT_TRUE(engine_->create_table("t", table).ok());
  start();
  constexpr int kThreads = 4;
  constexpr int kRows = 200;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&] {
      Client client(server_->port());
      client.shake_hands("ClientService");
      hbase::wire::MutateRequest put;
      put.mutable_region()->set_type(hbase::wire::RegionSpecifier::NAME);
      const uint64_t id = engine_->open_table("t").value()->info().id;
      const std::string begin = "t,," + std::to_string(id);
      put.mutable_region()->set_value(begin + "." + md5_hex(begin) + ".");
      put.mutable_mutation()->set_type(hbase::wire::WireMutation::INCREMENT);
      put.mutable_mutation()->set_row("row");
      auto& family = *put.mutable_mutation()->add_families();
      family.set_family("f");
      auto& value = *family.add_values();
      value.set_qualifier("n");
      value.set_value(plain_int64(1));
      // All requests first, then all answers: the server must not wait for a reader.
      for (int row = 0; row < kRows; ++row) client.send(request("Mutate", put));
      for (int row = 0; row < kRows; ++row) {
        const std::optional<std::string> frame = client.receive();
        ASSERT_TRUE(frame);
        EXPECT_EQ(answered(*frame).exception, "") << answered(*frame).text;
      }
    });
  for (std::thread& each : threads) each.join();
  const auto row = engine_->open_table("t").value()->get_row(Get("row"));
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row.value().counter("f", "n"), kThreads * kRows);
}

TEST_F(ServerTest, TheEndWaitsForNoIdleClientAndClosesScanners) {
  TableOptions table;
  table.families.push_back({.name = "f"});
  const auto created = engine_->create_table("t", table);
  ASSERT_TRUE(created.ok());
  for (int row = 0; row < 10; ++row)
    ASSERT_TRUE(created.value()->put(Put("row" + std::to_string(row)).add("f", "q", "v")).ok());
  start();
  Client client(server_->port());
  client.shake_hands("ClientService");
  hbase::wire::ScanRequest scan;
  scan.mutable_region()->set_type(hbase::wire::RegionSpecifier::NAME);
  const std::string begin = "t,," + std::to_string(created.value()->info().id);
  scan.mutable_region()->set_value(begin + "." + md5_hex(begin) + ".");
  scan.mutable_scan();
  scan.set_number_of_rows(1);
  client.send(request("Scan", scan));
  const std::optional<std::string> opened = client.receive();
  ASSERT_TRUE(opened);
  EXPECT_TRUE(answered(*opened).as<hbase::wire::ScanResponse>().more_results_in_region());
  stop();
  EXPECT_FALSE(client.receive());
  EXPECT_EQ(engine_->status().scanners, 0u);
}

}  // namespace
}  // namespace cellar::testing
