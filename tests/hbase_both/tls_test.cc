// TLS between Cellar's client of HBase and a store that Cellar serves. Tests which certificates are trusted,
// the words for those that are not, and connections that stop or break.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/memory_file_system.h"
#include "cellar/cellar.h"
#include "hbase/client/cluster_engine.h"
#include "hbase/serve/server.h"

#ifdef CELLAR_WITH_TLS

#include <algorithm>
#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/random.h"
#include "tests/hbase_both/breaking_proxy.h"
#include "tests/hbase_both/certificates.h"
#include "tests/hbase_both/running_server.h"
#include "tests/support/scratch_directory.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

using asio::ip::tcp;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Keeps the lines that the server writes for its operator.
class Heard final : public Logger {
 public:
  void log(LogLevel, std::string_view, std::string_view text) override {
    const MutexLock lock(mutex_);
    texts_ += std::string(text) + "\n";
  }
  std::string texts() {
    const MutexLock lock(mutex_);
    return texts_;
  }

 private:
  Mutex mutex_;
  std::string texts_;
};

// Peer: a connection of bytes.
class Peer {
 public:
  explicit Peer(uint16_t port) : socket_(io_) {
    asio::error_code error;
    socket_.connect({asio::ip::address_v4::loopback(), port}, error);
    EXPECT_FALSE(error) << error.message();
  }
  void send(std::string_view bytes) {
    asio::error_code ignored;  // the server may have closed the connection
    asio::write(socket_, asio::buffer(bytes.data(), bytes.size()), ignored);
  }
  // Returns all bytes until the other end closes the connection.
  std::string receive_all() {
    std::string bytes;
    asio::error_code ended;
    asio::read(socket_, asio::dynamic_buffer(bytes), ended);
    return bytes;
  }

 private:
  asio::io_context io_;
  tcp::socket socket_;
};

class TlsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.port = 0;
    options_.log = &heard_;
    EngineOptions options;
    options.create_if_missing = true;
    options.environment.files = files_.get();
    auto engine = Engine::open("store", options);
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = std::move(engine).value();
    auto table = engine_->create_table("t", {.families = {{.name = "f"}}});
    ASSERT_TRUE(table.ok()) << table.status();
    issuer_file_ = write("issuer.pem", issuer_.certificate());
  }
  void TearDown() override {
    stop();
    EXPECT_TRUE(engine_->close().ok());
  }

  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(scratch_ / name) << content;
    return scratch_ / name;
  }
  // Writes one file with the certificate and its key.
  std::string write(const std::string& name, const Identity& identity) const {
    return write(name, identity.certificate() + identity.key());
  }

  void serve() {
    server_ = RunningServer::start(*engine_, options_);
    ASSERT_NE(server_, nullptr);
  }
  // Serves with this certificate. `asks`: clients must show one.
  void serve_tls(const CertificateText& text = {}, bool asks = false) {
    const std::string file = write("server.pem", issuer_.issue(text));
    options_.tls = hbase::TlsFiles{.ca = asks ? issuer_file_ : "", .certificate = file, .key = file};
    ASSERT_NO_FATAL_FAILURE(serve());
  }
  void stop() { server_.reset(); }

  std::string name(const std::string& options, const std::string& host = "127.0.0.1") const {
    return "hbase://" + host + ":" + std::to_string(server_->port()) + "?timeout_ms=30000" + options;
  }
  std::string trusting() const { return "&tls=true&tls_ca=" + issuer_file_; }
  std::string showing(const std::string& file) const {
    return trusting() + "&tls_cert=" + file + "&tls_key=" + file;
  }
  // Opens a cluster, and writes and reads a row.
  static Status use(const std::string& name) {
    CELLAR_TRY_ASSIGN(const auto cluster, hbase::open_cluster(name, {}));
    CELLAR_TRY_ASSIGN(const auto table, cluster->open_table("t"));
    CELLAR_TRY(table->put(Put("row").add("f", "q", "value")));
    CELLAR_TRY_ASSIGN(const Row row, table->get_row(Get("row")));
    EXPECT_EQ(row.value("f", "q"), "value");
    return cluster->close();
  }
  // Expects an error that comes long before the time of an operation is up.
  static void expect_refusal(const std::string& name, const std::string& message, const std::string& hint) {
    const int64_t begin_us = system_clock().steady_us();
    const Status status = use(name);
    EXPECT_LT(system_clock().steady_us() - begin_us, 4'000'000) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
    EXPECT_THAT(std::string(status.hint()), HasSubstr(hint)) << status;
  }
  // The server writes its line when it hears of the end of the handshake.
  void expect_log(const std::string& text) {
    for (int i = 0; i < 500 && heard_.texts().find(text) == std::string::npos; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_THAT(heard_.texts(), HasSubstr(text));
  }

  const ScratchDirectory scratch_;
  const Identity issuer_ = Identity::issuer("issuer");
  const Identity stranger_ = Identity::issuer("stranger");
  std::string issuer_file_;
  const std::unique_ptr<FileSystem> files_ = make_memory_file_system();
  std::unique_ptr<Engine> engine_;
  Heard heard_;
  hbase::serve::ServerOptions options_;
  std::unique_ptr<RunningServer> server_;
};

TEST_F(TlsTest, ATrustedServerIsSpokenTo) {
  ASSERT_NO_FATAL_FAILURE(serve_tls());
  EXPECT_EQ(use(name(trusting())).to_text(), "ok");
  EXPECT_EQ(use(name(trusting(), "localhost")).to_text(), "ok");
  EXPECT_EQ(heard_.texts(), "");
}

TEST_F(TlsTest, LongValuesAndManyThreadsPass) {
  ASSERT_NO_FATAL_FAILURE(serve_tls());
  const auto cluster = hbase::open_cluster(name(trusting()), {});
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  const auto table = (*cluster)->open_table("t");
  ASSERT_TRUE(table.ok()) << table.status();
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      Random random(static_cast<uint64_t>(t));
      for (int i = 0; i < 4; ++i) {
        std::string value(3'000'000 + static_cast<size_t>(t), '\0');  // of many records of TLS
        std::ranges::generate(value, [&] { return static_cast<char>(random.next()); });
        const std::string row = "long" + std::to_string(t);
        ASSERT_TRUE((*table)->put(Put(row).add("f", "q", value)).ok());
        const auto found = (*table)->get_row(Get(row));
        ASSERT_TRUE(found.ok()) << found.status();
        EXPECT_TRUE(found->value("f", "q") == value);
      }
    });
  for (std::thread& each : threads) each.join();
}

TEST_F(TlsTest, AnUnknownIssuerIsNotTrusted) {
  ASSERT_NO_FATAL_FAILURE(serve_tls());
  const std::string other = write("other.pem", stranger_.certificate());
  expect_refusal(name("&tls=true&tls_ca=" + other), "its certificate is not trusted: /CN=issuer issued it",
                 "tls_ca=");
  // Nor do the system's issuers know it.
  expect_refusal(name("&tls=true"), "its certificate is not trusted", "tls_ca=");
  expect_log("client 127.0.0.1 is refused: it refuses the certificate of this end");
  EXPECT_EQ(use(name(trusting())).to_text(), "ok");
}

TEST_F(TlsTest, ACertificateThatIsNamedItselfIsTrusted) {
  ASSERT_NO_FATAL_FAILURE(serve_tls());
  EXPECT_EQ(use(name("&tls=true&tls_ca=" + options_.tls->certificate)).to_text(), "ok");
}

TEST_F(TlsTest, ACertificateIsForItsHosts) {
  ASSERT_NO_FATAL_FAILURE(serve_tls({.hosts = "DNS:a.example,DNS:*.b.example,IP:10.0.0.1"}));
  const std::string names = "its certificate is for a.example, *.b.example, 10.0.0.1, and not for ";
  expect_refusal(name(trusting()), names + "127.0.0.1", "tls_verify_host=false");
  expect_refusal(name(trusting(), "localhost"), names + "localhost", "tls_verify_host=false");
  EXPECT_EQ(use(name(trusting() + "&tls_verify_host=false")).to_text(), "ok");
  // The issuer must be known all the same.
  const std::string other = write("other.pem", stranger_.certificate());
  expect_refusal(name("&tls=true&tls_verify_host=false&tls_ca=" + other), "is not trusted", "tls_ca=");
}

TEST_F(TlsTest, ACertificateHasItsTime) {
  ASSERT_NO_FATAL_FAILURE(serve_tls({.valid_from_s = -7200, .valid_until_s = -60}));
  expect_refusal(name(trusting()), "its certificate expired at 20", "new certificate");
  expect_refusal(name(trusting() + "&tls_verify_host=false"), "its certificate expired at 20",
                 "new certificate");
}

TEST_F(TlsTest, ACertificateOfTheFutureIsRefused) {
  ASSERT_NO_FATAL_FAILURE(serve_tls({.valid_from_s = 3600, .valid_until_s = 7200}));
  expect_refusal(name(trusting()), "its certificate is not valid before 20", "clocks");
}

TEST_F(TlsTest, ClientsShowACertificateIfTheServerAsks) {
  ASSERT_NO_FATAL_FAILURE(serve_tls({}, true));
  expect_refusal(name(trusting()), "it requires a certificate of the other end", "tls_cert=");
  expect_log("it shows no certificate, and one is required");
  const std::string stranger = write("stranger.pem", stranger_.issue({}));
  expect_refusal(name(showing(stranger)), "it refuses the certificate of this end", "trust");
  expect_log("its certificate is not trusted: /CN=stranger issued it");
  const std::string old = write("old.pem", issuer_.issue({.valid_from_s = -7200, .valid_until_s = -60}));
  expect_refusal(name(showing(old)), "it refuses the certificate of this end", "valid");
  expect_log("its certificate expired at 20");
  EXPECT_EQ(use(name(showing(write("client.pem", issuer_.issue({.name = "ada", .hosts = ""}))))).to_text(),
            "ok");
}

TEST_F(TlsTest, PlainTextIsRefusedWithTheReason) {
  ASSERT_NO_FATAL_FAILURE(serve_tls());
  expect_refusal(name(""), "this server speaks TLS alone", "");
  expect_log("client 127.0.0.1 is refused: it speaks plain text, and this server speaks TLS");
  Peer registry(server_->port());
  registry.send("Regist");  // as HBase's own client begins
  EXPECT_THAT(registry.receive_all(),
              AllOf(HasSubstr("FatalConnectionException"), HasSubstr("hbase.client.netty")));
}

TEST_F(TlsTest, APlainServerIsRecognised) {
  ASSERT_NO_FATAL_FAILURE(serve());
  expect_refusal(name(trusting()), "it does not speak TLS", "without tls=true");
  EXPECT_EQ(use(name("")).to_text(), "ok");
}

// Accepts connections and does the same with each: sends bytes, and then ends it or not.
class OtherServer {
 public:
  OtherServer(std::string says, bool ends) : says_(std::move(says)), ends_(ends) {
    thread_ = std::thread([this] {
      accept();
      io_.run();
    });
  }
  ~OtherServer() {
    io_.stop();
    thread_.join();
  }
  std::string name(const std::string& options) {
    return "hbase://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()) + "?" + options;
  }

 private:
  void accept() {
    acceptor_.async_accept([this](const asio::error_code& error, tcp::socket socket) {
      if (error) return;
      asio::error_code ignored;
      asio::write(socket, asio::buffer(says_), ignored);
      if (!ends_) kept_.push_back(std::move(socket));
      accept();
    });
  }

  const std::string says_;
  const bool ends_;
  asio::io_context io_;
  tcp::acceptor acceptor_{io_, {asio::ip::address_v4::loopback(), 0}};
  std::vector<tcp::socket> kept_;
  std::thread thread_;
};

TEST(TlsClientAlone, AServerOfTlsIsRecognisedByItsAlert) {
  OtherServer server(std::string("\x15\x03\x03\x00\x02\x02\x46", 7), false);
  const Status status = hbase::open_cluster(server.name("timeout_ms=5000"), {}).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("it speaks TLS, and this client does not"));
  EXPECT_THAT(std::string(status.hint()), HasSubstr("tls=true"));
}

TEST(TlsClientAlone, AConnectionThatEndsWithoutAWordMayWantTls) {
  OtherServer server("", true);
  const Status status = hbase::open_cluster(server.name("timeout_ms=300"), {}).status();
  EXPECT_THAT(std::string(status.hint()), HasSubstr("if the server needs TLS, add tls=true")) << status;
}

TEST(TlsClientAlone, TheDeadlineHoldsInTheHandshake) {
  for (const char* const says : {"", "\x16\x03\x03"}) {  // nothing, or the beginning of a record
    OtherServer server(says, false);
    const int64_t begin_us = system_clock().steady_us();
    const Status status = hbase::open_cluster(server.name("timeout_ms=500&tls=true"), {}).status();
    EXPECT_LT(system_clock().steady_us() - begin_us, 10'000'000);
    EXPECT_TRUE(status.is(Code::kBusy)) << status;
    EXPECT_THAT(std::string(status.hint()), HasSubstr("does it speak TLS at this port?"));
  }
}

TEST(TlsClientAlone, TheEndOfAHandshakeThatBreaksIsTold) {
  OtherServer server("", true);
  const Status status = hbase::open_cluster(server.name("timeout_ms=300&tls=true"), {}).status();
  EXPECT_TRUE(status.is(Code::kIoError)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("ended in the handshake of TLS"));
}

TEST_F(TlsTest, SlowHandshakesHoldNobodyUp) {
  options_.handshake_ms = 1000;
  ASSERT_NO_FATAL_FAILURE(serve_tls());
  std::vector<std::unique_ptr<Peer>> slow;
  for (const std::string_view begin :
       {std::string_view(), std::string_view("\x16"), std::string_view("\x16\x03\x01"),
        std::string_view("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11)}) {
    slow.push_back(std::make_unique<Peer>(server_->port()));
    slow.back()->send(begin);
  }
  const int64_t begin_us = system_clock().steady_us();
  EXPECT_EQ(use(name(trusting())).to_text(), "ok");
  EXPECT_LT(system_clock().steady_us() - begin_us, 900'000);  // before the slow ones end
  for (const auto& each : slow) EXPECT_EQ(each->receive_all(), "");
}

TEST_F(TlsTest, BytesThatBeginAsTlsEndTheirConnectionAlone) {
  options_.handshake_ms = 1000;
  ASSERT_NO_FATAL_FAILURE(serve_tls());
  Random random(9);
  for (uint64_t i = 0; i < scaled(500); ++i) {
    Peer peer(server_->port());
    std::string bytes = "\x16\x03\x01";
    const uint64_t size = random.below(300);
    for (uint64_t at = 0; at < size; ++at) bytes += static_cast<char>(random.next());
    peer.send(bytes);
  }
  EXPECT_EQ(use(name(trusting())).to_text(), "ok");
}

// Each thread counts: nothing is lost and nothing is done twice while connections are cut within messages.
TEST_F(TlsTest, CutConnectionsAreMadeAnew) {
  options_.host = BreakingProxy::kHost;
  ASSERT_NO_FATAL_FAILURE(serve_tls({.hosts = std::string("IP:") + BreakingProxy::kHost}));
  BreakingProxy proxy(server_->port(), 81, 40);
  ASSERT_TRUE(proxy.is_listening()) << "Linux has all of 127.0.0.0/8, but not " << BreakingProxy::kHost;
  const std::string long_name =
      "hbase://" + std::string(BreakingProxy::kHost) + ":" + std::to_string(server_->port()) + "?user=ada";
  const auto cluster = hbase::open_cluster(long_name + trusting(), {});
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  const auto table = (*cluster)->open_table("t");
  ASSERT_TRUE(table.ok()) << table.status();
  const auto rounds = static_cast<int64_t>(std::max<uint64_t>(scaled(300), 100));
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      const std::string row = "row" + std::to_string(t);
      const std::string value(20'000, 'v');
      for (int64_t i = 1; i <= rounds; ++i) {
        const auto sum = (*table)->increment_one(row, "f", "n", 1);
        ASSERT_TRUE(sum.ok()) << sum.status();
        EXPECT_EQ(*sum, i);
        ASSERT_TRUE((*table)->put(Put(row).add("f", "long", value)).ok());
      }
    });
  for (std::thread& each : threads) each.join();
  EXPECT_GT(proxy.cuts(), 5u);
}

TEST_F(TlsTest, TheEndWaitsForNoClient) {
  ASSERT_NO_FATAL_FAILURE(serve_tls());
  Peer silent(server_->port());
  const auto cluster = hbase::open_cluster(name(trusting()), {});
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  const int64_t begin_us = system_clock().steady_us();
  stop();
  EXPECT_LT(system_clock().steady_us() - begin_us, 5'000'000);
}

TEST_F(TlsTest, WhatIsWrongWithAFileIsSaid) {
  ASSERT_NO_FATAL_FAILURE(serve_tls());
  const Identity ada = issuer_.issue({.name = "ada"});
  const std::string ada_file = write("ada.crt", ada.certificate());
  const std::string key = write("ada.key", ada.key());
  const std::string other_key = write("other.key", stranger_.key());
  const std::string locked = write("locked.key", ada.key("secret"));
  const std::string words = write("words.pem", "no certificate\n");
  std::string cut = ada.certificate();
  cut.erase(cut.size() / 2, 8);
  const std::string damaged = write("damaged.pem", cut);
  const auto refused = [&](const std::string& options, Code code, const std::string& text) {
    const Status status = use(name(options));
    EXPECT_TRUE(status.is(code)) << options << ": " << status;
    EXPECT_THAT(status.to_text(), HasSubstr(text)) << options;
  };
  const auto own = [&](const std::string& certificate, const std::string& of) {
    return trusting() + "&tls_cert=" + certificate + "&tls_key=" + of;
  };
  refused("&tls=true&tls_ca=" + (scratch_ / "absent.pem"), Code::kNotFound, "absent.pem");
  refused("&tls=true&tls_ca=" + words, Code::kInvalidArgument, "no certificate in the form of PEM");
  refused("&tls=true&tls_ca=" + damaged, Code::kInvalidArgument, "a certificate in it cannot be read");
  refused("&tls=true&tls_ca=" + key, Code::kInvalidArgument, "no certificate in the form of PEM");
  refused(own(scratch_ / "absent.crt", key), Code::kNotFound, "absent.crt");
  refused(own(ada_file, scratch_ / "absent.key"), Code::kNotFound, "absent.key");
  refused(own(ada_file, ada_file), Code::kInvalidArgument, "no private key in the form of PEM");
  refused(own(ada_file, other_key), Code::kInvalidArgument, "does not match certificate");
  refused(own(ada_file, locked), Code::kInvalidArgument, "it has a password");
  EXPECT_EQ(use(name(own(ada_file, key))).to_text(), "ok");
  // The server says the same of its own.
  hbase::serve::ServerOptions wrong;
  wrong.port = 0;
  wrong.tls = hbase::TlsFiles{.certificate = ada_file, .key = other_key};
  const Status status = hbase::serve::Server::start(*engine_, wrong).status();
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("does not match"), Not(HasSubstr("tls_"))));
}

}  // namespace
}  // namespace cellar::testing

#else

namespace cellar::testing {
namespace {

TEST(TlsClientAlone, ABuildWithoutTlsSaysSo) {
  const Status client = hbase::open_cluster("hbase://127.0.0.1:1?tls=true", {}).status();
  EXPECT_TRUE(client.is(Code::kNotSupported)) << client;
  EXPECT_THAT(std::string(client.hint()), ::testing::HasSubstr("libssl-dev"));
  const std::unique_ptr<FileSystem> files = make_memory_file_system();
  EngineOptions options;
  options.create_if_missing = true;
  options.environment.files = files.get();
  const auto engine = Engine::open("store", options);
  ASSERT_TRUE(engine.ok()) << engine.status();
  hbase::serve::ServerOptions server;
  server.port = 0;
  server.tls = hbase::TlsFiles{.certificate = "a.pem", .key = "a.pem"};
  EXPECT_TRUE(hbase::serve::Server::start(**engine, server).status().is(Code::kNotSupported));
}

}  // namespace
}  // namespace cellar::testing

#endif  // CELLAR_WITH_TLS
