// Link: TLS by asio and OpenSSL, and what their errors mean for the people at both ends.
#include "hbase/net/link.h"

#include <fmt/format.h>

#include <asio/error.hpp>
#include <vector>

#include "base/assert.h"
#include "base/bytes.h"

#ifdef CELLAR_WITH_TLS

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <asio/buffer.hpp>
#include <asio/ip/address.hpp>
#include <asio/post.hpp>
#include <asio/ssl/error.hpp>
#include <ctime>

#include "hbase/net/tls_context.h"

#endif  // CELLAR_WITH_TLS

namespace cellar::hbase {

bool looks_like_tls(std::string_view bytes) {
  CELLAR_ASSERT(bytes.size() >= 2);
  constexpr char kAlert = 21;
  constexpr char kHandshake = 22;
  return (bytes[0] == kHandshake || bytes[0] == kAlert) && bytes[1] == 3;
}

#ifdef CELLAR_WITH_TLS

namespace {

TlsFailure final_failure(std::string message, std::string_view hint = {}) {
  return {.status = Status::io_error(std::move(message)).hinting(hint), .is_final = true};
}

std::string text_of(const ASN1_TIME* time) {
  std::tm parts = {};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return "an unknown time";
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string text_of(const X509_NAME* name) {
  char text[256] = {};
  X509_NAME_oneline(name, text, sizeof(text));
  return escaped(text);
}

std::string text_of(const ASN1_OCTET_STRING& address) {
  const unsigned char* const bytes = ASN1_STRING_get0_data(&address);
  const auto size = static_cast<size_t>(ASN1_STRING_length(&address));
  if (size == asio::ip::address_v4::bytes_type().size()) {
    asio::ip::address_v4::bytes_type v4;
    std::copy_n(bytes, size, v4.begin());
    return asio::ip::address_v4(v4).to_string();
  }
  asio::ip::address_v6::bytes_type v6 = {};
  std::copy_n(bytes, std::min(size, v6.size()), v6.begin());
  return asio::ip::address_v6(v6).to_string();
}

// Returns the first hosts that a certificate is for, or its subject if it names none.
std::string hosts_of(const X509* certificate) {
  constexpr int kMost = 8;
  auto* const names =
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  std::vector<std::string> hosts;
  for (int i = 0; i < std::min(sk_GENERAL_NAME_num(names), kMost); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names, i);
    if (name->type == GEN_DNS)
      hosts.push_back(escaped({reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                               static_cast<size_t>(ASN1_STRING_length(name->d.dNSName))}));
    if (name->type == GEN_IPADD) hosts.push_back(text_of(*name->d.iPAddress));
  }
  GENERAL_NAMES_free(names);
  return hosts.empty() ? text_of(X509_get_subject_name(certificate))
                       : fmt::format("{}", fmt::join(hosts, ", "));
}

int reason_of(const std::error_code& error) {
  return ERR_GET_REASON(static_cast<unsigned long>(error.value()));
}

bool is_address(const std::string& host) {
  asio::error_code error;
  asio::ip::make_address(host, error);
  return !error;
}

// Says why the certificate of the other end is refused. `host`: that it should be for, or empty.
TlsFailure distrust(X509_STORE_CTX* store, const std::string& host) {
  const int error = X509_STORE_CTX_get_error(store);
  const X509* const certificate = X509_STORE_CTX_get_current_cert(store);
  if (certificate == nullptr)
    return final_failure(fmt::format("its certificate is refused: {}", X509_verify_cert_error_string(error)));
  // One of an issuer may be the reason, too.
  const std::string which =
      X509_STORE_CTX_get_error_depth(store) == 0
          ? "its certificate"
          : fmt::format("the certificate of its issuer {}", text_of(X509_get_subject_name(certificate)));
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return final_failure(fmt::format("{} expired at {}", which, text_of(X509_get0_notAfter(certificate))),
                           "give it a new certificate; the clock of this machine may be wrong, too");
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return final_failure(
          fmt::format("{} is not valid before {}", which, text_of(X509_get0_notBefore(certificate))),
          "look at the clocks of both machines");
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return final_failure(
          fmt::format("{} is for {}, and not for {}", which, hosts_of(certificate), escaped(host)),
          "name the server as its certificate does; tls_verify_host=false takes a certificate for any host");
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return final_failure(
          fmt::format("{} is not trusted: {} issued it", which, text_of(X509_get_issuer_name(certificate))),
          "tls_ca=FILE names the certificates of issuers to trust");
    default:
      return final_failure(fmt::format("{} is refused: {}", which, X509_verify_cert_error_string(error)));
  }
}

// Says what an alert of the other end, or an error of OpenSSL here, means. `shows`: this end has a
// certificate.
std::optional<TlsFailure> meaning_of(int reason, bool shows, const char* text) {
  constexpr std::string_view kNameOne = "tls_cert=FILE and tls_key=FILE name a certificate";
  switch (reason) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_UNEXPECTED_MESSAGE:
    case SSL_R_UNKNOWN_PROTOCOL:
      return final_failure("it does not speak TLS", "without tls=true the client speaks plain text, too");
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_NO_PROTOCOLS_AVAILABLE:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
      return final_failure("it speaks no version of TLS that is accepted here: 1.2 and 1.3");
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
      return final_failure("it shows no certificate, and one is required");
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return final_failure("it requires a certificate of the other end", kNameOne);
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
      if (!shows) return final_failure("it requires a certificate of the other end", kNameOne);
      return final_failure(fmt::format("it refuses the certificate of this end: {}", text),
                           "does it trust the issuer, and is the certificate valid?");
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
      return final_failure("it refuses the handshake of TLS: it may require a certificate or other ciphers",
                           shows ? std::string_view() : kNameOne);
    default:
      return std::nullopt;
  }
}

}  // namespace

void Link::begin_tls(Tls& tls, const std::string& host) {
  CELLAR_ASSERT(!tls_);
  TlsContext& context = tls.context();
  tls_.emplace(socket_, context.ssl);
  has_certificate_ = context.has_certificate;
  asio::error_code ignored;
  tls_->set_verify_callback(
      [this, host](bool trusted, asio::ssl::verify_context& found) {
        if (!trusted) distrust_ = distrust(found.native_handle(), host);
        return trusted;
      },
      ignored);
}

void Link::connect_tls(Tls& tls, const std::string& host, Done done) {
  begin_tls(tls, host);
  SSL* const ssl = tls_->native_handle();
  const bool address = is_address(host);
  if (tls.context().verify_host) {
    X509_VERIFY_PARAM* const rules = SSL_get0_param(ssl);
    const bool set = address ? X509_VERIFY_PARAM_set1_ip_asc(rules, host.c_str()) == 1
                             : X509_VERIFY_PARAM_set1_host(rules, host.c_str(), host.size()) == 1;
    if (!set)
      return asio::post(socket_.get_executor(), [host, done = std::move(done)] {
        done(final_failure(fmt::format("\"{}\" is no name that a certificate can be for", escaped(host))));
      });
  }
  if (!address) SSL_set_tlsext_host_name(ssl, host.c_str());
  tls_->async_handshake(asio::ssl::stream_base::client,
                        [this, done = std::move(done)](const std::error_code& error) {
                          done(error ? std::optional(handshake_failure(error)) : std::nullopt);
                        });
}

void Link::accept_tls(Tls& tls, std::string first, Done done) {
  begin_tls(tls, {});
  first_ = std::move(first);
  tls_->async_handshake(asio::ssl::stream_base::server, asio::buffer(first_),
                        [this, done = std::move(done)](const std::error_code& error, size_t) {
                          done(error ? std::optional(handshake_failure(error)) : std::nullopt);
                        });
}

std::optional<TlsFailure> Link::failure_of(const std::error_code& error) const {
  if (!tls_ || error.category() != asio::error::get_ssl_category() || reason_of(error) < SSL_AD_REASON_OFFSET)
    return std::nullopt;  // no alert: bytes were damaged on the way, for example
  return meaning_of(reason_of(error), has_certificate_, error.message().c_str());
}

TlsFailure Link::handshake_failure(const std::error_code& error) const {
  if (distrust_) return *distrust_;
  if (error.category() == asio::error::get_ssl_category())
    return meaning_of(reason_of(error), has_certificate_, error.message().c_str())
        .value_or(final_failure("the handshake of TLS fails: " + error.message()));
  return {.status = Status::io_error("the connection ended in the handshake of TLS: " + error.message())
                        .hinting("does it speak TLS at this port?")};
}

#else

void Link::connect_tls(Tls&, const std::string&, Done) { CELLAR_ASSERT(false); }
void Link::accept_tls(Tls&, std::string, Done) { CELLAR_ASSERT(false); }
std::optional<TlsFailure> Link::failure_of(const std::error_code&) const { return std::nullopt; }

#endif  // CELLAR_WITH_TLS

}  // namespace cellar::hbase
