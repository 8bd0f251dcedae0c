// Certificates of P-256, which OpenSSL makes in less than a millisecond.
#ifdef CELLAR_WITH_TLS

#include "tests/hbase_both/certificates.h"

#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/random.h"
#include "cellar/environment.h"

namespace cellar::testing {
namespace {

struct FreesBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using Bio = std::unique_ptr<BIO, FreesBio>;

std::string content_of(const Bio& bio) {
  const char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<size_t>(size)};
}

void extend(X509* certificate, int kind, const std::string& value) {
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
  EXPECT_NE(extension, nullptr) << value;
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

}  // namespace

Identity::Identity(const CertificateText& text, const Identity* by)
    : key_(EVP_EC_gen("P-256")), certificate_(X509_new()) {
  X509* const made = certificate_.get();
  X509_set_version(made, X509_VERSION_3);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(made), system_random() >> 1);
  X509_gmtime_adj(X509_getm_notBefore(made), text.valid_from_s);
  X509_gmtime_adj(X509_getm_notAfter(made), text.valid_until_s);
  X509_NAME* const name = X509_get_subject_name(made);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(text.name.c_str()), -1, -1, 0);
  X509_set_issuer_name(made, X509_get_subject_name(by == nullptr ? made : by->certificate_.get()));
  X509_set_pubkey(made, key_.get());
  extend(made, NID_basic_constraints, by == nullptr ? "critical,CA:TRUE" : "CA:FALSE");
  if (!text.hosts.empty()) extend(made, NID_subject_alt_name, text.hosts);
  EXPECT_GT(X509_sign(made, by == nullptr ? key_.get() : by->key_.get(), EVP_sha256()), 0);
}

Identity Identity::issuer(const std::string& name) { return {{.name = name, .hosts = ""}, nullptr}; }
Identity Identity::issue(const CertificateText& text) const { return {text, this}; }

std::string Identity::certificate() const {
  const Bio bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), certificate_.get());
  return content_of(bio);
}

std::string Identity::key() const {
  const Bio bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey(bio.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return content_of(bio);
}

std::string Identity::key(const std::string& password) const {
  const Bio bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PKCS8PrivateKey(bio.get(), key_.get(), EVP_aes_128_cbc(), password.data(),
                                static_cast<int>(password.size()), nullptr, nullptr);
  return content_of(bio);
}

}  // namespace cellar::testing

#endif  // CELLAR_WITH_TLS
