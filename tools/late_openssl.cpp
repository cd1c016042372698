// OpenSSL, loaded by the first call of one of its functions: only who talks to other
// nodes calls any. A function that is missing here has it loaded at the start again,
// which a test finds.

#include "base/late_function.hpp"

#include <dlfcn.h>
#include <openssl/opensslv.h>
#include <unistd.h>

#include <cstdio>

static_assert(OPENSSL_VERSION_MAJOR == 3, "libssl.so.3 is OpenSSL 3");

void* troupe_find_late(troupe::late_function* x) noexcept {
  static auto* const loaded = ::dlopen("libssl.so.3", RTLD_NOW | RTLD_LOCAL);
  // In libcrypto.so.3, too, which the other needs.
  auto* found = loaded != nullptr ? ::dlsym(loaded, x->name) : nullptr;
  if (found == nullptr) {
    std::fprintf(stderr, "cannot load OpenSSL: %s; install libssl3\n",
                 ::dlerror());
    ::_exit(127); // As the loader does.
  }
  __atomic_store_n(&x->address, found, __ATOMIC_RELEASE);
  return found;
}

TROUPE_LATE_LOADER

// -- libssl ------------------------------------------------------------------

TROUPE_LATE_FUNCTION(SSL_CTX_check_private_key)
TROUPE_LATE_FUNCTION(SSL_CTX_ctrl)
TROUPE_LATE_FUNCTION(SSL_CTX_free)
TROUPE_LATE_FUNCTION(SSL_CTX_get_cert_store)
TROUPE_LATE_FUNCTION(SSL_CTX_new)
TROUPE_LATE_FUNCTION(SSL_CTX_set_cert_verify_callback)
TROUPE_LATE_FUNCTION(SSL_CTX_set_ciphersuites)
TROUPE_LATE_FUNCTION(SSL_CTX_set_max_early_data)
TROUPE_LATE_FUNCTION(SSL_CTX_set_num_tickets)
TROUPE_LATE_FUNCTION(SSL_CTX_set_options)
TROUPE_LATE_FUNCTION(SSL_CTX_set_recv_max_early_data)
TROUPE_LATE_FUNCTION(SSL_CTX_set_security_level)
TROUPE_LATE_FUNCTION(SSL_CTX_set_verify)
TROUPE_LATE_FUNCTION(SSL_CTX_set_verify_depth)
TROUPE_LATE_FUNCTION(SSL_CTX_use_PrivateKey)
TROUPE_LATE_FUNCTION(SSL_CTX_use_certificate)
TROUPE_LATE_FUNCTION(SSL_do_handshake)
TROUPE_LATE_FUNCTION(SSL_free)
TROUPE_LATE_FUNCTION(SSL_get_error)
TROUPE_LATE_FUNCTION(SSL_get_ex_data)
TROUPE_LATE_FUNCTION(SSL_get_ex_data_X509_STORE_CTX_idx)
TROUPE_LATE_FUNCTION(SSL_get_verify_result)
TROUPE_LATE_FUNCTION(SSL_has_pending)
TROUPE_LATE_FUNCTION(SSL_new)
TROUPE_LATE_FUNCTION(SSL_read)
TROUPE_LATE_FUNCTION(SSL_set_accept_state)
TROUPE_LATE_FUNCTION(SSL_set_bio)
TROUPE_LATE_FUNCTION(SSL_set_connect_state)
TROUPE_LATE_FUNCTION(SSL_set_ex_data)
TROUPE_LATE_FUNCTION(SSL_shutdown)
TROUPE_LATE_FUNCTION(SSL_write)
TROUPE_LATE_FUNCTION(TLS_method)

// -- libcrypto ---------------------------------------------------------------

TROUPE_LATE_FUNCTION(ASN1_INTEGER_set_uint64)
TROUPE_LATE_FUNCTION(ASN1_STRING_get0_data)
TROUPE_LATE_FUNCTION(ASN1_STRING_length)
TROUPE_LATE_FUNCTION(BIO_clear_flags)
TROUPE_LATE_FUNCTION(BIO_get_data)
TROUPE_LATE_FUNCTION(BIO_get_new_index)
TROUPE_LATE_FUNCTION(BIO_meth_free)
TROUPE_LATE_FUNCTION(BIO_meth_new)
TROUPE_LATE_FUNCTION(BIO_meth_set_ctrl)
TROUPE_LATE_FUNCTION(BIO_meth_set_read_ex)
TROUPE_LATE_FUNCTION(BIO_meth_set_write_ex)
TROUPE_LATE_FUNCTION(BIO_new)
TROUPE_LATE_FUNCTION(BIO_set_data)
TROUPE_LATE_FUNCTION(BIO_set_flags)
TROUPE_LATE_FUNCTION(BIO_set_init)
TROUPE_LATE_FUNCTION(CRYPTO_secure_malloc_init)
TROUPE_LATE_FUNCTION(CRYPTO_secure_malloc_initialized)
TROUPE_LATE_FUNCTION(ERR_clear_error)
TROUPE_LATE_FUNCTION(ERR_get_error)
TROUPE_LATE_FUNCTION(ERR_peek_error)
TROUPE_LATE_FUNCTION(ERR_reason_error_string)
TROUPE_LATE_FUNCTION(EVP_PKEY_Q_keygen)
TROUPE_LATE_FUNCTION(EVP_PKEY_free)
TROUPE_LATE_FUNCTION(EVP_PKEY_up_ref)
TROUPE_LATE_FUNCTION(EVP_sha256)
TROUPE_LATE_FUNCTION(GENERAL_NAMES_free)
TROUPE_LATE_FUNCTION(OPENSSL_cleanse)
TROUPE_LATE_FUNCTION(OPENSSL_sk_num)
TROUPE_LATE_FUNCTION(OPENSSL_sk_value)
TROUPE_LATE_FUNCTION(RAND_bytes)
TROUPE_LATE_FUNCTION(X509V3_EXT_conf_nid)
TROUPE_LATE_FUNCTION(X509V3_set_ctx)
TROUPE_LATE_FUNCTION(X509_EXTENSION_free)
TROUPE_LATE_FUNCTION(X509_NAME_ENTRY_get_data)
TROUPE_LATE_FUNCTION(X509_NAME_add_entry_by_NID)
TROUPE_LATE_FUNCTION(X509_NAME_add_entry_by_txt)
TROUPE_LATE_FUNCTION(X509_NAME_get_entry)
TROUPE_LATE_FUNCTION(X509_NAME_get_index_by_NID)
TROUPE_LATE_FUNCTION(X509_NAME_get_text_by_NID)
TROUPE_LATE_FUNCTION(X509_STORE_CTX_free)
TROUPE_LATE_FUNCTION(X509_STORE_CTX_get0_cert)
TROUPE_LATE_FUNCTION(X509_STORE_CTX_get_current_cert)
TROUPE_LATE_FUNCTION(X509_STORE_CTX_get_error)
TROUPE_LATE_FUNCTION(X509_STORE_CTX_get_error_depth)
TROUPE_LATE_FUNCTION(X509_STORE_CTX_get_ex_data)
TROUPE_LATE_FUNCTION(X509_STORE_CTX_init)
TROUPE_LATE_FUNCTION(X509_STORE_CTX_new)
TROUPE_LATE_FUNCTION(X509_STORE_CTX_set_error)
TROUPE_LATE_FUNCTION(X509_STORE_add_cert)
TROUPE_LATE_FUNCTION(X509_add_ext)
TROUPE_LATE_FUNCTION(X509_check_private_key)
TROUPE_LATE_FUNCTION(X509_cmp)
TROUPE_LATE_FUNCTION(X509_cmp_time)
TROUPE_LATE_FUNCTION(X509_free)
TROUPE_LATE_FUNCTION(X509_get0_notAfter)
TROUPE_LATE_FUNCTION(X509_get0_notBefore)
TROUPE_LATE_FUNCTION(X509_get_ext_d2i)
TROUPE_LATE_FUNCTION(X509_get_serialNumber)
TROUPE_LATE_FUNCTION(X509_get_subject_name)
TROUPE_LATE_FUNCTION(X509_getm_notAfter)
TROUPE_LATE_FUNCTION(X509_getm_notBefore)
TROUPE_LATE_FUNCTION(X509_gmtime_adj)
TROUPE_LATE_FUNCTION(X509_new)
TROUPE_LATE_FUNCTION(X509_set_issuer_name)
TROUPE_LATE_FUNCTION(X509_set_pubkey)
TROUPE_LATE_FUNCTION(X509_set_version)
TROUPE_LATE_FUNCTION(X509_sign)
TROUPE_LATE_FUNCTION(X509_up_ref)
TROUPE_LATE_FUNCTION(X509_verify_cert)
TROUPE_LATE_FUNCTION(X509_verify_cert_error_string)
TROUPE_LATE_FUNCTION(d2i_AutoPrivateKey)
TROUPE_LATE_FUNCTION(d2i_X509)
TROUPE_LATE_FUNCTION(i2d_PrivateKey)
TROUPE_LATE_FUNCTION(i2d_X509)
