// Certificates for tests of TLS, made when the test runs: none of them expires in the repository.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <cstdint>
#include <memory>
#include <string>

namespace cellar::testing {

struct FreesOpenSsl {
  void operator()(X509* object) const { X509_free(object); }
  void operator()(EVP_PKEY* object) const { EVP_PKEY_free(object); }
};

// CertificateText: the words of a certificate. Times are seconds from now.
struct CertificateText {
  std::string name = "test";                         // its subject
  std::string hosts = "DNS:localhost,IP:127.0.0.1";  // "DNS:…,IP:…"; empty: none are named
  int64_t valid_from_s = -3600;
  int64_t valid_until_s = 3600;
};

// Identity: a certificate with its key. One thread.
class Identity {
 public:
  // Issues itself, and may issue others.
  static Identity issuer(const std::string& name);
  Identity issue(const CertificateText& text) const;

  std::string certificate() const;  // PEM
  std::string key() const;          // PEM
  std::string key(const std::string& password) const;

 private:
  Identity(const CertificateText& text, const Identity* by);

  std::unique_ptr<EVP_PKEY, FreesOpenSsl> key_;
  std::unique_ptr<X509, FreesOpenSsl> certificate_;
};

}  // namespace cellar::testing
