#pragma once

#include "c_api/library_core.hpp"
#include "c_api/server_calls.hpp"

#include <pmix_server.h>

#include <cstddef>

// libpmix.so.2 in two halves. Most processes are clients, and start often: what
// they load has no server, no mesh and nothing that only these need. The
// server's half, `libtroupe_server.so`, stands in the directory of libpmix.so.2,
// which loads it for the first function of servers that is called. They come
// from one build, and share the objects behind `library`; what stands in both
// are functions without memory.
//
// Tests link the objects of both, without any of this.

namespace troupe::c_api {

/// Every function of the C API that the server's half defines: result, name,
/// parameters, arguments.
#define TROUPE_FOR_EACH_SERVER_FUNCTION(X)                                     \
  X(pmix_status_t, PMIx_server_init_sized,                                     \
    (pmix_server_module_t * module, size_t size, pmix_info_t infos[],          \
     size_t ninfo),                                                            \
    (module, size, infos, ninfo))                                              \
  X(pmix_status_t, PMIx_server_init,                                           \
    (pmix_server_module_t * module, pmix_info_t infos[], size_t ninfo),        \
    (module, infos, ninfo))                                                    \
  X(pmix_status_t, PMIx_server_finalize, (void), ())                           \
  X(pmix_status_t, PMIx_server_register_nspace,                                \
    (const pmix_nspace_t nspace, int nlocalprocs, pmix_info_t infos[],         \
     size_t ninfo, pmix_op_cbfunc_t f, void* data),                            \
    (nspace, nlocalprocs, infos, ninfo, f, data))                              \
  X(void, PMIx_server_deregister_nspace,                                       \
    (const pmix_nspace_t nspace, pmix_op_cbfunc_t f, void* data),              \
    (nspace, f, data))                                                         \
  X(pmix_status_t, PMIx_server_register_client,                                \
    (const pmix_proc_t* proc, uid_t uid, gid_t gid, void* object,              \
     pmix_op_cbfunc_t f, void* data),                                          \
    (proc, uid, gid, object, f, data))                                         \
  X(void, PMIx_server_deregister_client,                                       \
    (const pmix_proc_t* proc, pmix_op_cbfunc_t f, void* data),                 \
    (proc, f, data))                                                           \
  X(pmix_status_t, PMIx_server_setup_fork,                                     \
    (const pmix_proc_t* proc, char*** env), (proc, env))                       \
  X(pmix_status_t, PMIx_server_dmodex_request,                                 \
    (const pmix_proc_t* proc, pmix_dmodex_response_fn_t f, void* data),        \
    (proc, f, data))                                                           \
  X(pmix_status_t, PMIx_server_setup_application,                              \
    (const pmix_nspace_t nspace, pmix_info_t infos[], size_t ninfo,            \
     pmix_setup_application_cbfunc_t f, void* data),                           \
    (nspace, infos, ninfo, f, data))                                           \
  X(pmix_status_t, PMIx_server_setup_local_support,                            \
    (const pmix_nspace_t nspace, pmix_info_t infos[], size_t ninfo,            \
     pmix_op_cbfunc_t f, void* data),                                          \
    (nspace, infos, ninfo, f, data))                                           \
  X(pmix_status_t, PMIx_server_IOF_deliver,                                    \
    (const pmix_proc_t* source, pmix_iof_channel_t channel,                    \
     const pmix_byte_object_t* bytes, const pmix_info_t infos[], size_t ninfo, \
     pmix_op_cbfunc_t f, void* data),                                          \
    (source, channel, bytes, infos, ninfo, f, data))                           \
  X(pmix_status_t, PMIx_server_IOF_flow_control,                               \
    (const pmix_proc_t* source, pmix_iof_channel_t channel, bool xoff,         \
     const pmix_info_t infos[], size_t ninfo, pmix_op_cbfunc_t f, void* data), \
    (source, channel, xoff, infos, ninfo, f, data))                            \
  X(pmix_status_t, PMIx_server_collect_inventory,                              \
    (pmix_info_t infos[], size_t ninfo, pmix_info_cbfunc_t f, void* data),     \
    (infos, ninfo, f, data))                                                   \
  X(pmix_status_t, PMIx_server_deliver_inventory,                              \
    (pmix_info_t infos[], size_t ninfo, pmix_info_t directives[],              \
     size_t ndirs, pmix_op_cbfunc_t f, void* data),                            \
    (infos, ninfo, directives, ndirs, f, data))                                \
  X(pmix_status_t, PMIx_server_register_resources,                             \
    (pmix_info_t infos[], size_t ninfo, pmix_op_cbfunc_t f, void* data),       \
    (infos, ninfo, f, data))                                                   \
  X(pmix_status_t, PMIx_server_deregister_resources,                           \
    (pmix_info_t infos[], size_t ninfo, pmix_op_cbfunc_t f, void* data),       \
    (infos, ninfo, f, data))                                                   \
  X(pmix_status_t, PMIx_server_define_process_set,                             \
    (const pmix_proc_t* members, size_t nmembers, const char* name),           \
    (members, nmembers, name))                                                 \
  X(pmix_status_t, PMIx_server_delete_process_set, (char* name), (name))       \
  X(pmix_status_t, PMIx_server_collect_job_info,                               \
    (pmix_proc_t * procs, size_t nprocs, pmix_data_buffer_t * buffer),         \
    (procs, nprocs, buffer))                                                   \
  X(pmix_status_t, PMIx_Register_attributes, (char* function, char* attrs[]),  \
    (function, attrs))

/// The functions of the server's half.
struct server_half {
#define TROUPE_MEMBER(result, name, parameters, arguments)                     \
  decltype(&::name) name;
  TROUPE_FOR_EACH_SERVER_FUNCTION(TROUPE_MEMBER)
#undef TROUPE_MEMBER

  // Those of server_calls.hpp.
  decltype(&c_api::become_server) become_server;
  decltype(&c_api::cease_server) cease_server;
  decltype(&c_api::raise_from_host) raise_from_host;
  decltype(&c_api::ask_session) ask_session;
};

/// What the server's half needs of the client's.
struct client_half {
  /// Of which build it is: both read the same headers.
  const char* version;
  size_t layout;

  library* lib;

  // The reserve of the process: adapters/loop/memory_reserve.hpp.
  void (*keep_memory_reserve)(size_t bytes) noexcept;
  bool (*is_memory_short)() noexcept;
  void (*refill_memory_reserve)() noexcept;
};

/// What changes when the shared objects do.
inline constexpr size_t shared_layout = sizeof(library_core) * 0x10000
                                        + sizeof(process_store) * 0x100
                                        + sizeof(server_half);

/// The one function that the server's half exports.
/// @returns null if it is of another build.
using open_server_half = const server_half*(const client_half& x) noexcept;
inline constexpr auto open_server_half_name = "troupe_open_server_half";
inline constexpr auto server_half_name = "libtroupe_server.so";

} // namespace troupe::c_api
