// Tls: reads PEM files with OpenSSL. The files come through the FileSystem, so that what is wrong with one of
// them can be told from what OpenSSL makes of it.
#include "hbase/net/tls.h"

#include <fmt/core.h>

#include "base/bytes.h"
#include "cellar/file_system.h"

#ifdef CELLAR_WITH_TLS

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <system_error>
#include <vector>

#include "base/assert.h"
#include "hbase/net/tls_context.h"

namespace cellar::hbase {
namespace {

constexpr uint64_t kFileBytesMax = 16u << 20;

template <auto free>
struct Freed {
  template <class Object>
  void operator()(Object* object) const {
    free(object);
  }
};
using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;

// Returns what OpenSSL says of its last failure, and forgets it.
std::string last_failure() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* const text = ERR_reason_error_string(code);
  return text == nullptr ? "no reason is known" : text;
}

Result<std::string> bytes_of(const std::string& path) {
  CELLAR_TRY_ASSIGN(const std::unique_ptr<ReadableFile> file, posix_file_system().open_file(path));
  if (file->size() > kFileBytesMax)
    return Status::invalid_argument(fmt::format("it has {} bytes, and is no PEM file", file->size()));
  std::string bytes(file->size(), '\0');
  CELLAR_TRY(file->read(0, bytes.size(), bytes.data()));
  return bytes;
}

Status in_file(const Status& status, std::string_view what, const std::string& path) {
  return status.with_context(fmt::format("{} {}", what, escaped(path)));
}

// A password is not asked for: nobody may sit there.
int refuse_password(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

Result<std::vector<Certificate>> parse_certificates(const std::string& bytes) {
  const Bio bio(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
  std::vector<Certificate> found;
  bool asked = false;
  while (X509* const each = PEM_read_bio_X509(bio.get(), nullptr, refuse_password, &asked))
    found.emplace_back(each);
  const bool ended = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string why = last_failure();
  if (!ended) return Status::invalid_argument(fmt::format("a certificate in it cannot be read: {}", why));
  if (found.empty())
    return Status::invalid_argument("it has no certificate in the form of PEM")
        .hinting(
            "a PEM file has lines -----BEGIN CERTIFICATE-----; openssl x509 and keytool -rfc write them");
  return found;
}

Result<std::vector<Certificate>> read_certificates(std::string_view what, const std::string& path) {
  const Result<std::string> bytes = bytes_of(path);
  if (!bytes.ok()) return in_file(bytes.status(), what, path);
  Result<std::vector<Certificate>> found = parse_certificates(*bytes);
  if (!found.ok()) return in_file(found.status(), what, path);
  return found;
}

Result<Key> parse_key(const std::string& bytes) {
  const Bio bio(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
  bool asked = false;
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, refuse_password, &asked));
  if (key != nullptr) return key;
  ERR_clear_error();
  if (asked)
    return Status::invalid_argument("it has a password")
        .hinting("openssl pkey -in KEY -out PLAIN writes the key without one; let only its user read it");
  return Status::invalid_argument("it has no private key in the form of PEM")
      .hinting("a PEM file has a line -----BEGIN PRIVATE KEY-----; openssl pkey writes it");
}

Status use_issuers(SSL_CTX* context, const std::string& path) {
  CELLAR_TRY_ASSIGN(const std::vector<Certificate> issuers, read_certificates("trusted certificates", path));
  for (const Certificate& each : issuers) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), each.get()) != 1 ||
        SSL_CTX_add_client_CA(context, each.get()) != 1)
      return in_file(Status::invalid_argument(last_failure()), "trusted certificates", path);
  }
  return {};
}

// The first certificate of the file is the own one, and those after it lead to an issuer that is trusted.
Status use_certificate(SSL_CTX* context, const TlsFiles& files) {
  CELLAR_TRY_ASSIGN(const std::vector<Certificate> chain,
                    read_certificates("certificate", files.certificate));
  const Result<std::string> bytes = bytes_of(files.key);
  if (!bytes.ok()) return in_file(bytes.status(), "key", files.key);
  const Result<Key> key = parse_key(*bytes);
  if (!key.ok()) return in_file(key.status(), "key", files.key);
  bool used = SSL_CTX_use_certificate(context, chain.front().get()) == 1;
  for (size_t i = 1; i < chain.size() && used; ++i)
    used = SSL_CTX_add1_chain_cert(context, chain[i].get()) == 1;
  if (!used) return in_file(Status::invalid_argument(last_failure()), "certificate", files.certificate);
  if (X509_check_private_key(chain.front().get(), key->get()) != 1) {
    ERR_clear_error();
    return Status::invalid_argument(fmt::format("key {} does not match certificate {}", escaped(files.key),
                                                escaped(files.certificate)))
        .hinting("the first certificate of the file is the one that the key must be of");
  }
  if (SSL_CTX_use_PrivateKey(context, key->get()) != 1)
    return in_file(Status::invalid_argument(last_failure()), "key", files.key);
  return {};
}

Result<std::shared_ptr<Tls>> make(asio::ssl::context::method method, const TlsFiles& files,
                                  bool verify_host) {
  CELLAR_ASSERT(files.certificate.empty() == files.key.empty());
  auto context = std::make_unique<TlsContext>(method);
  SSL_CTX* const ssl = context->ssl.native_handle();
  SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION);
  // Connections stay for hours: nothing is gained by sessions that go on in another one.
  SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(ssl, 0);
  SSL_CTX_set_options(ssl, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // Each certificate that is named is trusted, as in Java, and not only those that issued themselves.
  X509_STORE_set_flags(SSL_CTX_get_cert_store(ssl), X509_V_FLAG_PARTIAL_CHAIN);
  if (!files.ca.empty()) CELLAR_TRY(use_issuers(ssl, files.ca));
  if (!files.certificate.empty()) CELLAR_TRY(use_certificate(ssl, files));
  context->has_certificate = !files.certificate.empty();
  context->verify_host = verify_host;
  return std::make_shared<Tls>(std::move(context));
}

Result<std::shared_ptr<Tls>> try_make(asio::ssl::context::method method, const TlsFiles& files,
                                      bool verify_host) {
  try {
    return make(method, files, verify_host);
  } catch (const std::system_error& error) {  // asio has no other way to tell that OpenSSL fails
    return Status::io_error(std::string("TLS cannot be used: ") + error.what());
  }
}

}  // namespace

Tls::Tls(std::unique_ptr<TlsContext> context) : context_(std::move(context)) {}
Tls::~Tls() = default;

Result<std::shared_ptr<Tls>> Tls::of_client(const TlsFiles& files, bool verify_host) {
  CELLAR_TRY_ASSIGN(std::shared_ptr<Tls> tls, try_make(asio::ssl::context::tls_client, files, verify_host));
  SSL_CTX* const ssl = tls->context().ssl.native_handle();
  if (files.ca.empty() && SSL_CTX_set_default_verify_paths(ssl) != 1)
    return Status::io_error("the certificates that the system trusts cannot be used: " + last_failure());
  SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER, nullptr);
  return tls;
}

Result<std::shared_ptr<Tls>> Tls::of_server(const TlsFiles& files) {
  CELLAR_ASSERT(!files.certificate.empty());
  CELLAR_TRY_ASSIGN(std::shared_ptr<Tls> tls, try_make(asio::ssl::context::tls_server, files, false));
  const bool asks = !files.ca.empty();
  SSL_CTX_set_verify(tls->context().ssl.native_handle(),
                     asks ? SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT : SSL_VERIFY_NONE, nullptr);
  return tls;
}

}  // namespace cellar::hbase

#else

namespace cellar::hbase {
namespace {

Status no_tls() {
  return Status::not_supported("this build has no TLS")
      .hinting("build with libssl-dev (-DCELLAR_WITH_TLS=ON)");
}

}  // namespace

struct TlsContext {};
Tls::Tls(std::unique_ptr<TlsContext> context) : context_(std::move(context)) {}
Tls::~Tls() = default;
Result<std::shared_ptr<Tls>> Tls::of_client(const TlsFiles&, bool) { return no_tls(); }
Result<std::shared_ptr<Tls>> Tls::of_server(const TlsFiles&) { return no_tls(); }

}  // namespace cellar::hbase

#endif  // CELLAR_WITH_TLS
