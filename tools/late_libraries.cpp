// Libraries that few jobs need, each loaded by the first call of one of its functions:
// OpenSSL for other nodes, SQLite for event logs on a disk, hwloc for processes that are
// bound, munge and zlib for those that ask for them. The loader looks up a third of all
// its symbols for these, and takes a millisecond of each start. A function that is
// missing here has its library loaded at the start again, which a test finds.

#include "base/late_function.hpp"

#include <dlfcn.h>
#include <hwloc.h>
#include <openssl/opensslv.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string_view>

static_assert(OPENSSL_VERSION_MAJOR == 3, "libssl.so.3 is OpenSSL 3");
static_assert(HWLOC_API_VERSION >> 16 == 2, "libhwloc.so.15 is hwloc 2");

namespace {

/// A library that stays once it is loaded.
struct late_library {
  const char* name;

  /// That of Debian that has it.
  const char* package;

  int flags;
  std::atomic<void*> handle{nullptr};
};

// With libcrypto.so.3, which it needs.
late_library openssl = {"libssl.so.3", "libssl3", RTLD_NOW | RTLD_LOCAL};
late_library sqlite = {"libsqlite3.so.0", "libsqlite3-0",
                       RTLD_NOW | RTLD_LOCAL};
// Its plugins look for its functions among those of the process.
late_library hwloc = {"libhwloc.so.15", "libhwloc15", RTLD_NOW | RTLD_GLOBAL};
late_library munge = {"libmunge.so.2", "libmunge2", RTLD_NOW | RTLD_LOCAL};
late_library zlib = {"libz.so.1", "zlib1g", RTLD_NOW | RTLD_LOCAL};

/// How often, and how long apart in microseconds, a library is asked for: there
/// may be no memory or descriptor for it just now.
constexpr int attempts = 100;
constexpr unsigned pause = 10'000;

/// Does not return without.
void* load(late_library& x) noexcept {
  auto* result = x.handle.load(std::memory_order_acquire);
  for (auto i = 1; result == nullptr; ++i) {
    result = ::dlopen(x.name, x.flags);
    if (result != nullptr) {
      x.handle.store(result, std::memory_order_release);
    } else if (i < attempts) {
      ::usleep(pause);
    } else {
      std::fprintf(stderr, "cannot load %s: %s; install %s\n", x.name,
                   ::dlerror(), x.package);
      ::_exit(127); // As the loader does.
    }
  }
  return result;
}

late_library& library_of(std::string_view function) noexcept {
  const auto begins = [function](std::string_view x) {
    return function.substr(0, x.size()) == x;
  };
  return begins("sqlite3_")                                           ? sqlite
         : begins("hwloc_")                                           ? hwloc
         : begins("munge_")                                           ? munge
         : begins("compress") || begins("crc32") || begins("inflate") ? zlib
                                                                      : openssl;
}

constexpr auto few_descriptors = rlim_t{256};

/// Whether the program is a daemon or the root of a DVM, which stay.
bool stays(int argc, char** argv) {
  constexpr auto daemon = std::string_view{"trouped"};
  const auto program = std::string_view{argc > 0 ? argv[0] : ""};
  return (program.size() >= daemon.size()
          && program.substr(program.size() - daemon.size()) == daemon)
         || (argc > 1 && std::string_view{argv[1]} == "up");
}

/// Where there may be nothing left to load them with when they are needed, they
/// are loaded at the start. The C library gives a constructor what `main` gets.
/// OpenSSL is needed at the start or never.
__attribute__((constructor)) void load_early(int argc, char** argv) {
  const auto at_most = [](auto which, rlim_t x) {
    auto limit = rlimit{};
    return ::getrlimit(which, &limit) == 0 && limit.rlim_cur <= x;
  };
  if (!stays(argc, argv) && !at_most(RLIMIT_AS, RLIM_INFINITY - 1)
      && !at_most(RLIMIT_DATA, RLIM_INFINITY - 1)
      && !at_most(RLIMIT_NOFILE, few_descriptors))
    return;
  for (auto* x : {&sqlite, &hwloc, &munge, &zlib})
    load(*x);
}

} // namespace

void* troupe_find_late(troupe::late_function* x) noexcept {
  auto* const found = ::dlsym(load(library_of(x->name)), x->name);
  if (found == nullptr) {
    std::fprintf(stderr,
                 "cannot find %s: %s; install the release of that library that "
                 "this program was built with\n",
                 x->name, ::dlerror());
    ::_exit(127);
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

// -- libsqlite3 --------------------------------------------------------------

// Its one variable, which spool_store.cpp sets: the library finds that of the program
// before its own, as it does if the program is linked with it.
extern "C" {
extern __attribute__((visibility("default"))) char* sqlite3_temp_directory;
char* sqlite3_temp_directory = nullptr;
}

TROUPE_LATE_FUNCTION(sqlite3_bind_blob64)
TROUPE_LATE_FUNCTION(sqlite3_bind_int64)
TROUPE_LATE_FUNCTION(sqlite3_clear_bindings)
TROUPE_LATE_FUNCTION(sqlite3_close_v2)
TROUPE_LATE_FUNCTION(sqlite3_column_blob)
TROUPE_LATE_FUNCTION(sqlite3_column_bytes)
TROUPE_LATE_FUNCTION(sqlite3_column_int64)
TROUPE_LATE_FUNCTION(sqlite3_errmsg)
TROUPE_LATE_FUNCTION(sqlite3_exec)
TROUPE_LATE_FUNCTION(sqlite3_extended_errcode)
TROUPE_LATE_FUNCTION(sqlite3_finalize)
TROUPE_LATE_FUNCTION(sqlite3_free)
TROUPE_LATE_FUNCTION(sqlite3_mprintf)
TROUPE_LATE_FUNCTION(sqlite3_open_v2)
TROUPE_LATE_FUNCTION(sqlite3_prepare_v3)
TROUPE_LATE_FUNCTION(sqlite3_reset)
TROUPE_LATE_FUNCTION(sqlite3_step)

// -- libhwloc ----------------------------------------------------------------

TROUPE_LATE_FUNCTION(hwloc_bitmap_first)
TROUPE_LATE_FUNCTION(hwloc_get_nbobjs_by_depth)
TROUPE_LATE_FUNCTION(hwloc_get_obj_by_depth)
TROUPE_LATE_FUNCTION(hwloc_get_type_depth)
TROUPE_LATE_FUNCTION(hwloc_topology_destroy)
TROUPE_LATE_FUNCTION(hwloc_topology_init)
TROUPE_LATE_FUNCTION(hwloc_topology_load)
TROUPE_LATE_FUNCTION(hwloc_topology_set_components)
TROUPE_LATE_FUNCTION(hwloc_topology_set_io_types_filter)
TROUPE_LATE_FUNCTION(hwloc_topology_set_type_filter)

// -- libmunge ----------------------------------------------------------------

TROUPE_LATE_FUNCTION(munge_ctx_create)
TROUPE_LATE_FUNCTION(munge_ctx_destroy)
TROUPE_LATE_FUNCTION(munge_ctx_set)
TROUPE_LATE_FUNCTION(munge_decode)
TROUPE_LATE_FUNCTION(munge_encode)
TROUPE_LATE_FUNCTION(munge_strerror)

// -- libz --------------------------------------------------------------------

TROUPE_LATE_FUNCTION(compress2)
TROUPE_LATE_FUNCTION(compressBound)
TROUPE_LATE_FUNCTION(crc32_z)
TROUPE_LATE_FUNCTION(inflate)
TROUPE_LATE_FUNCTION(inflateEnd)
TROUPE_LATE_FUNCTION(inflateInit_)
