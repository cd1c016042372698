#include "adapters/lane/authority.hpp"

#include "messages/status.hpp"

#include <openssl/ec.h>
#include <openssl/rand.h>

#include <array>
#include <chrono>
#include <utility>

namespace troupe {

namespace defaults {

/// Certificates of a DVM's nodes are valid for as long, and from this long
/// before they are made, for nodes whose clocks are behind.
inline constexpr auto certificate_lifetime = std::chrono::hours{366 * 24};
inline constexpr auto certificate_backdate = std::chrono::hours{24};

} // namespace defaults

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

bool set_user(X509_NAME* x, uint32_t user) {
  const auto text = std::to_string(user);
  return X509_NAME_add_entry_by_NID(
           x, NID_userId, MBSTRING_ASC,
           reinterpret_cast<const unsigned char*>(text.data()),
           static_cast<int>(text.size()), -1, 0)
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

/// What an authority's certificate is called, before the DVM's name.
constexpr auto subject_begin = std::string_view{"authority of "};

/// What a kept authority begins with; the DVM's name and its credentials as a
/// node that is its own authority follow.
constexpr auto kept_mark = std::string_view{"troupe-authority "};

openssl_ptr<X509> same(const openssl_ptr<X509>& x) {
  X509_up_ref(x.get());
  return openssl_ptr<X509>{x.get()};
}

openssl_ptr<EVP_PKEY> same(const openssl_ptr<EVP_PKEY>& x) {
  EVP_PKEY_up_ref(x.get());
  return openssl_ptr<EVP_PKEY>{x.get()};
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
    return make_error(status::bad_param,
                      "not a name for a DVM: " + dvm
                        + "; use up to 64 letters, digits, '_' and '-'");
  authority result;
  result.dvm_ = std::move(dvm);
  result.key_ = make_key();
  if (!result.key_)
    return openssl_error("make the authority's key");
  result.certificate_ =
    blank(std::string{subject_begin} + result.dvm_, result.key_.get(), times);
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
                 certificate_times times, std::optional<uint32_t> user) const {
  const auto identity = to_string({dvm_, rank, name});
  if (!parse_node_identity(identity))
    return make_error(status::bad_param,
                      "not a name for a node: " + name
                        + "; use letters, digits, '.', '_' and '-'");
  node_credentials result;
  result.key = make_key();
  if (!result.key)
    return openssl_error("make a key for " + name);
  X509_up_ref(certificate_.get());
  result.authority.reset(certificate_.get());
  result.certificate = blank(name, result.key.get(), times);
  auto* x = result.certificate.get();
  auto* issuer = certificate_.get();
  if (x == nullptr || (user && !set_user(X509_get_subject_name(x), *user))
      || !add_extension(x, issuer, NID_basic_constraints, "critical,CA:FALSE")
      || !add_extension(x, issuer, NID_key_usage, "critical,digitalSignature")
      || !add_extension(x, issuer, NID_ext_key_usage, "clientAuth,serverAuth")
      || !add_extension(x, issuer, NID_subject_key_identifier, "hash")
      || !add_extension(x, issuer, NID_subject_alt_name, "URI:" + identity)
      || !sign(x, issuer, key_.get()))
    return openssl_error("make a certificate for " + name);
  return result;
}

caf::expected<secret> authority::encode() const {
  auto whole = node_credentials{};
  whole.authority = same(certificate_);
  whole.certificate = same(certificate_);
  whole.key = same(key_);
  auto bytes = encode_credentials(whole);
  if (!bytes)
    return std::move(bytes.error());
  const auto head = std::string{kept_mark} + dvm_ + "\n";
  auto result = secret{head.size() + bytes->size()};
  std::copy(head.begin(), head.end(), result.data());
  const auto rest = bytes->view();
  std::copy(rest.begin(), rest.end(), result.data() + head.size());
  return result;
}

caf::expected<authority> authority::decode(std::string_view bytes) {
  const auto refusal =
    make_error(status::bad_param,
               "not the authority of a DVM; make one by troupe authority");
  const auto end = bytes.substr(0, 256).find('\n');
  if (end == std::string_view::npos
      || bytes.substr(0, kept_mark.size()) != kept_mark)
    return refusal;
  authority result;
  result.dvm_ =
    std::string{bytes.substr(kept_mark.size(), end - kept_mark.size())};
  auto whole = decode_credentials(bytes.substr(end + 1));
  if (!whole || !parse_node_identity(to_string({result.dvm_, 0, "node"})))
    return refusal;
  result.certificate_ = std::move(whole->certificate);
  result.key_ = std::move(whole->key);
  // A name that was changed in the file vouches for nobody.
  const auto expected =
    (std::string{subject_begin} + result.dvm_).substr(0, 64);
  char name[128];
  if (X509_NAME_get_text_by_NID(
        X509_get_subject_name(result.certificate_.get()), NID_commonName, name,
        sizeof(name))
        < 0
      || name != expected)
    return refusal;
  return result;
}

} // namespace troupe
