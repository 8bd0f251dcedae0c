// Tls: the certificates and rules with which an end of HBase's RPC speaks TLS. HBase has it since 2.6: the
// handshake comes first, and the usual bytes follow (HBASE-26666).
#pragma once

#include <memory>
#include <string>

#include "cellar/status.h"

namespace cellar::hbase {

// TlsFiles: paths of PEM files. A certificate and its key are named together, or not at all.
struct TlsFiles {
  std::string ca = {};           // certificates of the issuers that are trusted
  std::string certificate = {};  // the own one, and after it those of its issuers, if any
  std::string key = {};          // of the own certificate, without a password
};

// TlsContext: the objects of OpenSSL and asio that a Tls holds. Only hbase/net knows it.
struct TlsContext;

// Immutable. Any thread may read it; the connections of one Tls belong to one thread. TLS 1.2 and 1.3.
class Tls {
 public:
  // A client's. Without `ca` it trusts the issuers that the system trusts. `verify_host`: the certificate of
  // a server must be for the host of the connection. Reads the files. Errors name the file: kNotFound if it
  // is missing; kInvalidArgument if it is no PEM or has a password. Also kInvalidArgument if the key is of
  // another certificate, and kNotSupported in a build without TLS.
  static Result<std::shared_ptr<Tls>> of_client(const TlsFiles& files, bool verify_host);
  // A server's. It needs a certificate. With `ca` each client must show a certificate of one of these
  // issuers. Errors: the same.
  static Result<std::shared_ptr<Tls>> of_server(const TlsFiles& files);

  explicit Tls(std::unique_ptr<TlsContext> context);
  ~Tls();
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  TlsContext& context() { return *context_; }

 private:
  std::unique_ptr<TlsContext> context_;
};

}  // namespace cellar::hbase
