#include "adapters/lane/secure_context.hpp"

#include "adapters/lane/certificates.hpp"
#include "messages/status.hpp"

#include <charconv>
#include <string>
#include <string_view>

namespace troupe {

namespace {

/// Longest list of certificates to take from a peer; ours take 600 bytes.
constexpr long max_certificates_size = 4096;

/// Takes down who the certificate says the peer is, or why that is not right.
bool take_identity(peer_check& check, const X509* certificate) {
  auto found = identity_of(certificate);
  if (!found)
    check.refusal = reason_of(found.error());
  else if (found->dvm != check.dvm)
    check.refusal = "is " + to_string(*found) + " of another DVM";
  else if (check.expected && *check.expected != *found)
    check.refusal =
      "is " + to_string(*found) + " instead of " + to_string(*check.expected);
  if (!check.refusal.empty())
    return false;
  check.found = std::move(*found);
  return true;
}

/// Whether OpenSSL, which goes by the wall clock alone, found a certificate out of
/// its time that is not.
bool is_only_the_clock(X509_STORE_CTX* store) {
  const auto code = X509_STORE_CTX_get_error(store);
  const auto* x = X509_STORE_CTX_get_current_cert(store);
  return (code == X509_V_ERR_CERT_HAS_EXPIRED
          || code == X509_V_ERR_CERT_NOT_YET_VALID)
         && x != nullptr && certificate_clock::of_process().accepts(x);
}

/// Looks at each certificate after OpenSSL did; depth 0 is the peer's own.
int check_certificate(int is_good, X509_STORE_CTX* store) {
  auto* tls = static_cast<SSL*>(
    X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* check = static_cast<peer_check*>(SSL_get_app_data(tls));
  if (check == nullptr)
    return 0;
  if (is_good != 1 && is_only_the_clock(store)) {
    X509_STORE_CTX_set_error(store, X509_V_OK);
    return 1; // We are asked once more when all else is good.
  }
  if (is_good != 1) {
    check->refusal =
      X509_verify_cert_error_string(X509_STORE_CTX_get_error(store));
    return 0;
  }
  if (X509_STORE_CTX_get_error_depth(store) > 0)
    return 1;
  if (!take_identity(*check, X509_STORE_CTX_get_current_cert(store))) {
    X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
    return 0;
  }
  return 1;
}

/// Looks at a peer's certificate instead of OpenSSL: it has to be the pinned
/// one. That the peer has its key, TLS makes sure of.
int check_pinned(X509_STORE_CTX* store, void* context) {
  const auto& peers = *static_cast<const secure_context*>(context)->peers();
  auto* tls = static_cast<SSL*>(
    X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* check = static_cast<peer_check*>(SSL_get_app_data(tls));
  const auto* certificate = X509_STORE_CTX_get0_cert(store);
  X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
  if (check == nullptr || certificate == nullptr)
    return 0;
  auto claimed = peer_check{check->dvm, check->expected, {}, {}};
  if (!take_identity(claimed, certificate)) {
    check->refusal = std::move(claimed.refusal);
    return 0;
  }
  const auto* pinned = peers.find(claimed.found->rank);
  if (pinned == nullptr || X509_cmp(pinned, certificate) != 0)
    check->refusal = "claims to be " + to_string(*claimed.found)
                     + " with a certificate that nobody announced";
  else if (!certificate_clock::of_process().accepts(certificate))
    check->refusal =
      to_string(*claimed.found) + " has a certificate that is not valid now";
  if (!check->refusal.empty())
    return 0;
  check->found = std::move(claimed.found);
  check->found->user.reset(); // It says so itself.
  X509_STORE_CTX_set_error(store, X509_V_OK);
  return 1;
}

/// Whether the certificate is ours to use: signed by the authority and valid.
caf::error check_own(SSL_CTX* context, X509* certificate) {
  auto* store = X509_STORE_CTX_new();
  if (store == nullptr)
    return openssl_error("check the node's certificate");
  auto result = caf::error{};
  if (X509_STORE_CTX_init(store, SSL_CTX_get_cert_store(context), certificate,
                          nullptr)
      != 1)
    result = openssl_error("check the node's certificate");
  else if (X509_verify_cert(store) != 1)
    result = make_error(
      status::invalid_cred,
      std::string{"the node's own certificate: "}
        + X509_verify_cert_error_string(X509_STORE_CTX_get_error(store)));
  X509_STORE_CTX_free(store);
  take_openssl_error();
  return result;
}

bool configure(SSL_CTX* x) {
  SSL_CTX_set_options(x, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION
                           | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_session_cache_mode(x, SSL_SESS_CACHE_OFF);
  // Queues hand over what the kernel takes; buffers go while a lane is idle.
  SSL_CTX_set_mode(x, SSL_MODE_ENABLE_PARTIAL_WRITE
                        | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
                        | SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
  SSL_CTX_set_read_ahead(x, 1);
  SSL_CTX_set_max_cert_list(x, max_certificates_size);
  SSL_CTX_set_security_level(x, 2);
  SSL_CTX_set_verify(x, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                     check_certificate);
  // The authority signs each certificate itself.
  SSL_CTX_set_verify_depth(x, 0);
  return SSL_CTX_set_min_proto_version(x, TLS1_3_VERSION) == 1
         && SSL_CTX_set_max_proto_version(x, TLS1_3_VERSION) == 1
         && SSL_CTX_set_num_tickets(x, 0) == 1
         && SSL_CTX_set_max_early_data(x, 0) == 1
         && SSL_CTX_set_recv_max_early_data(x, 0) == 1
         && SSL_CTX_set_ciphersuites(
              x, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384")
              == 1
         && SSL_CTX_set1_groups_list(x, "P-256") == 1
         && SSL_CTX_set1_sigalgs_list(x, "ECDSA+SHA256") == 1;
}

} // namespace

caf::expected<std::shared_ptr<secure_context>>
secure_context::build(const node_credentials& mine) {
  if (!mine.authority || !mine.certificate || !mine.key)
    return make_error(status::invalid_cred,
                      "a node without credentials has no lanes");
  auto self = identity_of(mine.certificate.get());
  if (!self)
    return std::move(self.error());
  certificate_clock::of_process(); // Starts now.
  auto result = std::shared_ptr<secure_context>(new secure_context);
  result->self_ = std::move(*self);
  result->context_.reset(SSL_CTX_new(TLS_method()));
  auto* x = result->context_.get();
  if (x == nullptr || !configure(x)
      || X509_STORE_add_cert(SSL_CTX_get_cert_store(x), mine.authority.get())
           != 1
      || SSL_CTX_use_certificate(x, mine.certificate.get()) != 1
      || SSL_CTX_use_PrivateKey(x, mine.key.get()) != 1
      || SSL_CTX_check_private_key(x) != 1)
    return openssl_error("set up TLS");
  if (auto err = check_own(x, mine.certificate.get()))
    return err;
  return result;
}

caf::expected<std::shared_ptr<const secure_context>>
secure_context::make(const node_credentials& mine) {
  auto result = build(mine);
  if (!result)
    return std::move(result.error());
  return std::move(*result);
}

caf::expected<std::shared_ptr<const secure_context>>
secure_context::make(const node_credentials& mine,
                     std::shared_ptr<const pinned_certificates> peers) {
  if (!peers)
    return make_error(status::invalid_cred, "no certificates are pinned");
  auto result = build(mine);
  if (!result)
    return std::move(result.error());
  auto* context = result->get();
  context->peers_ = std::move(peers);
  SSL_CTX_set_cert_verify_callback(context->context_.get(), check_pinned,
                                   context);
  return std::move(*result);
}

caf::expected<std::shared_ptr<const secure_context>>
secure_context::make_insecure(node_identity self) {
  auto checked = parse_node_identity(to_string(self));
  if (!checked)
    return std::move(checked.error());
  const auto result = std::shared_ptr<secure_context>{new secure_context};
  result->self_ = std::move(self);
  result->is_insecure_ = true;
  return std::shared_ptr<const secure_context>{result};
}

openssl_ptr<SSL> secure_context::new_connection() const {
  if (is_insecure_)
    return nullptr;
  return openssl_ptr<SSL>{SSL_new(context_.get())};
}

void set_peer_check(SSL* tls, peer_check* check) {
  SSL_set_app_data(tls, check);
}

namespace {

std::string_view view_of(const ASN1_STRING* x) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(x)),
          static_cast<size_t>(ASN1_STRING_length(x))};
}

/// Reads the user that a subject names, if it does.
/// @returns whether it names one at most, and in the one form.
bool take_user(const X509_NAME& subject, std::optional<uint32_t>& out) {
  const auto at = X509_NAME_get_index_by_NID(&subject, NID_userId, -1);
  if (at < 0)
    return true;
  const auto text =
    view_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(&subject, at)));
  auto user = uint32_t{0};
  std::from_chars(text.data(), text.data() + text.size(), user);
  out = user;
  return text == std::to_string(user)
         && X509_NAME_get_index_by_NID(&subject, NID_userId, at) < 0;
}

} // namespace

caf::expected<node_identity> identity_of(const X509* certificate) {
  const auto refusal =
    make_error(status::invalid_cred, "has no identity of a node");
  const auto names = openssl_ptr<GENERAL_NAMES>{static_cast<GENERAL_NAMES*>(
    X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr))};
  if (!names || sk_GENERAL_NAME_num(names.get()) != 1)
    return refusal;
  const auto* name = sk_GENERAL_NAME_value(names.get(), 0);
  if (name->type != GEN_URI)
    return refusal;
  const auto* text = name->d.uniformResourceIdentifier;
  auto result = parse_node_identity(view_of(text));
  if (!result || !take_user(*X509_get_subject_name(certificate), result->user))
    return refusal;
  return result;
}

} // namespace troupe
