#include "adapters/lane/authority.hpp"

#include "config/defaults.hpp"
#include "messages/status.hpp"

#include <openssl/ec.h>
#include <openssl/rand.h>

#include <array>
#include <utility>

namespace troupe {

namespace {

/// A random number that is positive as a signed one.
bool set_serial_number(X509* x) {
  uint64_t number = 0;
  return RAND_bytes(reinterpret_cast<unsigned char*>(&number), sizeof(number))
           == 1
         && ASN1_INTEGER_set_uint64(X509_get_serialNumber(x), number >> 1) == 1;
}

/// People read this name; programs read the identity in the extensions.
bool set_common_name(X509_NAME* x, const std::string& text) {
  // The longest that the format allows.
  const auto shown = text.substr(0, 64);
  return X509_NAME_add_entry_by_txt(
           x, "CN", MBSTRING_ASC,
           reinterpret_cast<const unsigned char*>(shown.c_str()), -1, -1, 0)
         == 1;
}

bool add_extension(X509* x, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, x, nullptr, nullptr, 0);
  const auto extension = openssl_ptr<X509_EXTENSION>{
    X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str())};
  return extension && X509_add_ext(x, extension.get(), -1) == 1;
}

/// A certificate without extensions and signature.
openssl_ptr<X509> blank(const std::string& subject, EVP_PKEY* key,
                        const certificate_times& times) {
  auto result = openssl_ptr<X509>{X509_new()};
  auto* x = result.get();
  if (result && X509_set_version(x, X509_VERSION_3) == 1 && set_serial_number(x)
      && X509_gmtime_adj(X509_getm_notBefore(x), times.from.count()) != nullptr
      && X509_gmtime_adj(X509_getm_notAfter(x), times.until.count()) != nullptr
      && set_common_name(X509_get_subject_name(x), subject)
      && X509_set_pubkey(x, key) == 1)
    return result;
  return nullptr;
}

/// @pre The extension for the key's name has been added to `issuer`.
bool sign(X509* x, X509* issuer, EVP_PKEY* key) {
  return X509_set_issuer_name(x, X509_get_subject_name(issuer)) == 1
         && add_extension(x, issuer, NID_authority_key_identifier,
                          "keyid:always")
         && X509_sign(x, key, EVP_sha256()) > 0;
}

openssl_ptr<EVP_PKEY> make_key() {
  return openssl_ptr<EVP_PKEY>{EVP_EC_gen("P-256")};
}

} // namespace

certificate_times::certificate_times()
  : from(-defaults::certificate_backdate),
    until(defaults::certificate_lifetime) {
  // nop
}

caf::expected<authority> authority::make(std::string dvm,
                                         certificate_times times) {
  if (!parse_node_identity(to_string({dvm, 0, "node"})))
    return make_error(status::bad_param, "not a name for a DVM: " + dvm);
  authority result;
  result.dvm_ = std::move(dvm);
  result.key_ = make_key();
  if (!result.key_)
    return openssl_error("make the authority's key");
  result.certificate_ =
    blank("authority of " + result.dvm_, result.key_.get(), times);
  auto* x = result.certificate_.get();
  if (x == nullptr
      || !add_extension(x, x, NID_basic_constraints,
                        "critical,CA:TRUE,pathlen:0")
      || !add_extension(x, x, NID_key_usage, "critical,keyCertSign")
      || !add_extension(x, x, NID_subject_key_identifier, "hash")
      || !sign(x, x, result.key_.get()))
    return openssl_error("make the authority's certificate");
  return result;
}

caf::expected<node_credentials>
authority::issue(uint32_t rank, const std::string& name,
                 certificate_times times) const {
  const auto identity = to_string({dvm_, rank, name});
  if (!parse_node_identity(identity))
    return make_error(status::bad_param, "not a name for a node: " + name);
  node_credentials result;
  result.key = make_key();
  if (!result.key)
    return openssl_error("make a key for " + name);
  X509_up_ref(certificate_.get());
  result.authority.reset(certificate_.get());
  result.certificate = blank(name, result.key.get(), times);
  auto* x = result.certificate.get();
  auto* issuer = certificate_.get();
  if (x == nullptr
      || !add_extension(x, issuer, NID_basic_constraints, "critical,CA:FALSE")
      || !add_extension(x, issuer, NID_key_usage, "critical,digitalSignature")
      || !add_extension(x, issuer, NID_ext_key_usage, "clientAuth,serverAuth")
      || !add_extension(x, issuer, NID_subject_key_identifier, "hash")
      || !add_extension(x, issuer, NID_subject_alt_name, "URI:" + identity)
      || !sign(x, issuer, key_.get()))
    return openssl_error("make a certificate for " + name);
  return result;
}

} // namespace troupe
