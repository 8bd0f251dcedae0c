// BreakingProxy: one thread; each connection is a pair of sockets, and two chains of reads and writes.
#include "tests/hbase_both/breaking_proxy.h"

#include <array>
#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/write.hpp>
#include <atomic>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "base/random.h"

namespace cellar::testing {
namespace {

using asio::ip::tcp;

class Relay : public std::enable_shared_from_this<Relay> {
 public:
  Relay(tcp::socket client, tcp::socket server, Random& random, uint64_t one_in, std::atomic<uint64_t>& cuts)
      : sockets_{std::move(client), std::move(server)}, random_(random), one_in_(one_in), cuts_(cuts) {}

  void begin() {
    pass(0);
    pass(1);
  }

 private:
  void pass(int from) {
    const auto self = shared_from_this();
    sockets_[from].async_read_some(
        asio::buffer(rooms_[from]), [self, from](const std::error_code& error, size_t bytes) {
          if (error) return void(self->close());
          const bool cut = self->random_.one_in(self->one_in_);
          const size_t passed = cut ? static_cast<size_t>(self->random_.below(bytes)) : bytes;
          asio::async_write(self->sockets_[1 - from], asio::buffer(self->rooms_[from], passed),
                            [self, from, cut](const std::error_code& failed, size_t) {
                              if (cut && self->close()) ++self->cuts_;
                              if (failed) self->close();
                              if (!failed && !cut) self->pass(from);
                            });
        });
  }

  // Returns false if it was closed before.
  bool close() {
    if (std::exchange(closed_, true)) return false;
    std::error_code ignored;
    for (tcp::socket& each : sockets_) each.close(ignored);
    return true;
  }

  std::array<tcp::socket, 2> sockets_;
  std::array<std::array<char, 64 << 10>, 2> rooms_ = {};
  Random& random_;  // of the one thread
  const uint64_t one_in_;
  bool closed_ = false;
  std::atomic<uint64_t>& cuts_;
};

}  // namespace

struct BreakingProxy::Impl {
  asio::io_context loop;
  tcp::acceptor acceptor{loop};
  Random random;
  const uint64_t one_in;
  const uint16_t port;
  bool listening = false;
  std::atomic<uint64_t> cuts = 0;
  std::thread thread;

  Impl(uint16_t port_, uint64_t seed, uint64_t one_in_) : random(seed), one_in(one_in_), port(port_) {}

  void accept() {
    acceptor.async_accept([this](const std::error_code& error, tcp::socket client) {
      if (error) return;
      std::error_code failed;
      tcp::socket server(loop);
      server.connect({asio::ip::address_v4::loopback(), port}, failed);
      if (!failed) {
        client.set_option(tcp::no_delay(true), failed);
        server.set_option(tcp::no_delay(true), failed);
        std::make_shared<Relay>(std::move(client), std::move(server), random, one_in, cuts)->begin();
      }
      accept();
    });
  }
};

BreakingProxy::BreakingProxy(uint16_t port, uint64_t seed, uint64_t one_in)
    : impl_(std::make_unique<Impl>(port, seed, one_in)) {
  std::error_code error;
  const tcp::endpoint here(asio::ip::make_address(kHost, error), port);
  if (error || impl_->acceptor.open(here.protocol(), error)) return;
  impl_->acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (impl_->acceptor.bind(here, error) || impl_->acceptor.listen(100, error)) return;
  impl_->listening = true;
  impl_->accept();
  impl_->thread = std::thread([this] { impl_->loop.run(); });
}

BreakingProxy::~BreakingProxy() {
  impl_->loop.stop();
  if (impl_->thread.joinable()) impl_->thread.join();
}

bool BreakingProxy::is_listening() const { return impl_->listening; }
uint64_t BreakingProxy::cuts() const { return impl_->cuts.load(); }

}  // namespace cellar::testing
