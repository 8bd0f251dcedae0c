// Accepts connections, and watches over them.
#include "hbase/serve/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <asio/ip/host_name.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <chrono>
#include <system_error>
#include <utility>
#include <vector>

#include "hbase/serve/connection.h"

namespace cellar::hbase::serve {
namespace {

using asio::ip::tcp;
constexpr auto kTick = std::chrono::milliseconds(100);
constexpr int kStatementThreads = 4;
constexpr int64_t kFarewellMs = 30000;  // for calls under way when the server ends

class AsioServer final : public Server {
 public:
  AsioServer(Engine& engine, const ServerOptions& options)
      : options_(options), engine_(engine), acceptor_(io_), timer_(io_) {}
  ~AsioServer() override { shut(); }

  // `tls`: null for plain text.
  Status listen(std::shared_ptr<Tls> tls);
  const std::string& host() const override { return host_; }
  uint16_t port() const override { return port_; }
  size_t connections() const override { return open_.load(); }
  Status run(const std::function<bool()>& stop) override;

 private:
  void accept();
  void tick(const std::function<bool()>& stop);
  void shut();
  std::string reachable_host(const asio::ip::address& address) const;

  const ServerOptions options_;
  std::shared_ptr<Tls> tls_;  // outlives the connections
  Engine& engine_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<Dispatcher> dispatcher_;
  ServerLoad load_;  // of the connections, which end before it
  asio::io_context io_;
  tcp::acceptor acceptor_;
  asio::steady_timer timer_;
  std::unique_ptr<Executor> executor_;  // destroyed before what its jobs use
  std::vector<std::shared_ptr<Connection>> connections_;
  std::atomic<size_t> open_ = 0;
  std::string host_;
  uint16_t port_ = 0;
  bool accepting_ = false;
  bool ending_ = false;
  int64_t ending_since_ms_ = 0;
};

std::string AsioServer::reachable_host(const asio::ip::address& address) const {
  if (!options_.host.empty()) return options_.host;
  if (address.is_loopback()) return "localhost";
  if (!address.is_unspecified()) return address.to_string();
  asio::error_code error;
  const std::string name = asio::ip::host_name(error);
  return error || name.empty() ? "localhost" : name;
}

Status AsioServer::listen(std::shared_ptr<Tls> tls) {
  tls_ = std::move(tls);
  asio::error_code error;
  const asio::ip::address address =
      asio::ip::make_address(options_.bind == "localhost" ? "127.0.0.1" : options_.bind, error);
  if (error)
    return Status::invalid_argument(fmt::format("\"{}\" is no address", options_.bind))
        .hinting("use 127.0.0.1, or 0.0.0.0 for all addresses of this machine");
  const tcp::endpoint endpoint(address, options_.port);
  const auto failed = [&](std::string_view what) {
    return Status::io_error(
               fmt::format("cannot {} {}:{}: {}", what, options_.bind, options_.port, error.message()))
        .hinting(
            "another program may use the port: choose one with --port, or --port 0 for any that is free");
  };
  if (acceptor_.open(endpoint.protocol(), error)) return failed("open a socket for");
  acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (acceptor_.bind(endpoint, error)) return failed("listen at");
  if (acceptor_.listen(asio::socket_base::max_listen_connections, error)) return failed("listen at");
  port_ = acceptor_.local_endpoint(error).port();
  if (error) return failed("find the port of");
  host_ = reachable_host(address);
  CELLAR_TRY_ASSIGN(catalog_, Catalog::open(engine_));
  CELLAR_TRY(catalog_->begin(host_, port_));
  dispatcher_ = std::make_unique<Dispatcher>(*catalog_, options_.service);
  executor_ = make_thread_executor(options_.workers, kStatementThreads);
  return {};
}

void AsioServer::accept() {
  accepting_ = true;
  acceptor_.async_accept([this](const asio::error_code& error, tcp::socket socket) {
    if (ending_ || error == asio::error::operation_aborted) return;
    if (error) {  // no more files may be open: the next tick tries again
      accepting_ = false;
      return;
    }
    std::erase_if(connections_, [](const auto& each) { return each->is_closed(); });
    if (connections_.size() < options_.connections) {
      connections_.push_back(std::make_shared<Connection>(io_, std::move(socket), tls_.get(), *dispatcher_,
                                                          *executor_, options_, load_));
      connections_.back()->begin();
    }
    open_ = connections_.size();
    accept();
  });
}

void AsioServer::tick(const std::function<bool()>& stop) {
  const int64_t now_ms = system_clock().steady_us() / 1000;
  if (!ending_ && stop()) {
    ending_ = true;
    ending_since_ms_ = now_ms;
    asio::error_code ignored;
    acceptor_.close(ignored);
    for (const auto& each : connections_) each->finish();
  }
  if (!ending_ && !accepting_) accept();
  for (const auto& each : connections_) each->check(now_ms);
  std::erase_if(connections_, [](const auto& each) { return each->is_closed(); });
  open_ = connections_.size();
  dispatcher_->scanners().close_expired();
  if (ending_ && (connections_.empty() || now_ms - ending_since_ms_ > kFarewellMs)) return io_.stop();
  timer_.expires_after(kTick);
  timer_.async_wait([this, &stop](const asio::error_code& error) {
    if (!error) tick(stop);
  });
}

Status AsioServer::run(const std::function<bool()>& stop) {
  Status served;
  try {
    accept();
    tick(stop);
    io_.run();
  } catch (const std::system_error& error) {
    served = Status::io_error(fmt::format("the server ended: {}", error.what()));
  }
  shut();
  const Status closed = catalog_->close();
  return served.ok() ? closed : served;
}

// Ends the calls that are still under way, and everything that reads the store.
void AsioServer::shut() {
  for (const auto& each : connections_) each->close();
  connections_.clear();
  executor_.reset();
  if (dispatcher_ != nullptr) dispatcher_->scanners().close_all();
}

}  // namespace

Result<std::unique_ptr<Server>> Server::start(Engine& engine, const ServerOptions& options) {
  std::shared_ptr<Tls> tls;
  if (options.tls) {
    CELLAR_TRY_ASSIGN(tls, Tls::of_server(*options.tls));
  }
  try {  // asio has no other way to tell that its first files cannot be opened
    auto server = std::make_unique<AsioServer>(engine, options);
    CELLAR_TRY(server->listen(std::move(tls)));
    return std::unique_ptr<Server>(std::move(server));
  } catch (const std::system_error& error) {
    return Status::io_error(fmt::format("cannot start a server: {}", error.what()))
        .hinting("the process may have too many files open: see ulimit -n");
  }
}

}  // namespace cellar::hbase::serve
