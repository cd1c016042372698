#pragma once

#include <caf/error.hpp>

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace troupe {

/// Frees what OpenSSL made; private keys are wiped on the way.
struct openssl_deleter {
  void operator()(EVP_PKEY* x) const noexcept {
    EVP_PKEY_free(x);
  }

  void operator()(X509* x) const noexcept {
    X509_free(x);
  }

  void operator()(X509_EXTENSION* x) const noexcept {
    X509_EXTENSION_free(x);
  }

  void operator()(GENERAL_NAMES* x) const noexcept {
    GENERAL_NAMES_free(x);
  }

  void operator()(BIO_METHOD* x) const noexcept {
    BIO_meth_free(x);
  }

  void operator()(SSL_CTX* x) const noexcept {
    SSL_CTX_free(x);
  }

  void operator()(SSL* x) const noexcept {
    SSL_free(x);
  }
};

template <class T>
using openssl_ptr = std::unique_ptr<T, openssl_deleter>;

/// Why a call of OpenSSL failed; empties its queue of errors.
/// @param what What we wanted to do, such as `make a key`.
caf::error openssl_error(const std::string& what);

/// The text of OpenSSL's first queued error; empties the queue.
std::string take_openssl_error();

} // namespace troupe
