// Link: a socket of HBase's RPC, which may speak TLS. asio reads and writes it as it does a socket.
#pragma once

#include <asio/ip/tcp.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#ifdef CELLAR_WITH_TLS
#include <asio/ssl/stream.hpp>
#endif

#include "cellar/status.h"
#include "hbase/net/tls.h"

namespace cellar::hbase {

// Why an end does not speak with the other one. `status` says "its certificate expired at …": a server or
// client is to be named before it.
struct TlsFailure {
  Status status;
  bool is_final = false;  // another attempt would fail, too
};

// One thread at a time: the one that runs the socket's io_context. It must outlive its operations.
class Link {
 public:
  using executor_type = asio::ip::tcp::socket::executor_type;
  // Called by the io_context, with nothing if the handshake succeeded.
  using Done = std::function<void(const std::optional<TlsFailure>& failure)>;

  explicit Link(asio::ip::tcp::socket socket) : socket_(std::move(socket)) {}
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  executor_type get_executor() { return socket_.get_executor(); }
  asio::ip::tcp::socket& socket() { return socket_; }

  // Shakes hands with the server `host`, over the connected socket. `tls` must outlive the link.
  void connect_tls(Tls& tls, const std::string& host, Done done);
  // Shakes hands with a client, of which `first` was read from the socket. `tls` must outlive the link.
  void accept_tls(Tls& tls, std::string first, Done done);
  // Returns what an error of a read or write says of TLS, or nothing. In TLS 1.3 a client hears only after
  // the handshake that its certificate is refused.
  std::optional<TlsFailure> failure_of(const std::error_code& error) const;

  template <class Buffers, class Handler>
  void async_read_some(const Buffers& buffers, Handler&& handler) {
#ifdef CELLAR_WITH_TLS
    if (tls_) return tls_->async_read_some(buffers, std::forward<Handler>(handler));
#endif
    socket_.async_read_some(buffers, std::forward<Handler>(handler));
  }
  template <class Buffers, class Handler>
  void async_write_some(const Buffers& buffers, Handler&& handler) {
#ifdef CELLAR_WITH_TLS
    if (tls_) return tls_->async_write_some(buffers, std::forward<Handler>(handler));
#endif
    socket_.async_write_some(buffers, std::forward<Handler>(handler));
  }

 private:
  asio::ip::tcp::socket socket_;
#ifdef CELLAR_WITH_TLS
  void begin_tls(Tls& tls, const std::string& host);
  // Describes the failure of a handshake.
  TlsFailure handshake_failure(const std::error_code& error) const;

  std::optional<asio::ssl::stream<asio::ip::tcp::socket&>> tls_;
  bool has_certificate_ = false;             // one of its own, to show
  std::string first_;                        // bytes of the client's, until they are taken
  std::optional<TlsFailure> distrust_ = {};  // what is wrong with the other's certificate
#endif
};

// Returns whether the bytes begin as TLS does: a handshake or an alert. Needs 2 of them.
bool looks_like_tls(std::string_view bytes);

}  // namespace cellar::hbase
