// TlsContext: what OpenSSL and asio hold of a Tls. Builds with TLS only.
#pragma once

#include <asio/ssl/context.hpp>

namespace cellar::hbase {

struct TlsContext {
  explicit TlsContext(asio::ssl::context::method method) : ssl(method) {}

  asio::ssl::context ssl;
  bool verify_host = false;      // of a client
  bool has_certificate = false;  // of its own
};

}  // namespace cellar::hbase
