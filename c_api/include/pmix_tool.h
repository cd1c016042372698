/* The functions of PMIx for tools. Source: PMIx Standard v5, "Tools". */

#ifndef TROUPE_PMIX_TOOL_H
#define TROUPE_PMIX_TOOL_H

#include <pmix.h>
#include <pmix_server.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Takes output of `source`; an empty payload says that no more will come. */
typedef void (*pmix_iof_cbfunc_t)(size_t iofhdlr, pmix_iof_channel_t channel,
                                  pmix_proc_t* source,
                                  pmix_byte_object_t* payload,
                                  pmix_info_t info[], size_t ninfo);

/* -- functions of tools ---------------------------------------------------- */

/* Connects to a server, which `info` may name; `proc`, if any, gets who we
 * are. */
PMIX_EXPORT pmix_status_t PMIx_tool_init(pmix_proc_t* proc, pmix_info_t info[],
                                         size_t ninfo);

PMIX_EXPORT pmix_status_t PMIx_tool_finalize(void);

PMIX_EXPORT bool PMIx_tool_is_connected(void);

/* Connects to another server and makes it the one that is asked. `myproc`
 * and `server`, if any, get who we are there, and who it is. */
PMIX_EXPORT pmix_status_t PMIx_tool_attach_to_server(pmix_proc_t* myproc,
                                                     pmix_proc_t* server,
                                                     pmix_info_t info[],
                                                     size_t ninfo);

PMIX_EXPORT pmix_status_t PMIx_tool_disconnect(const pmix_proc_t* server);

/* All servers we are connected to, the one that is asked first. The caller
 * frees the array. */
PMIX_EXPORT pmix_status_t PMIx_tool_get_servers(pmix_proc_t* servers[],
                                                size_t* nservers);

/* Chooses which server is asked. */
PMIX_EXPORT pmix_status_t PMIx_tool_set_server(const pmix_proc_t* server,
                                               pmix_info_t info[],
                                               size_t ninfo);

/* Lets the tool serve processes that it starts. */
PMIX_EXPORT pmix_status_t
PMIx_tool_set_server_module(pmix_server_module_t* module);

/* -- forwarded input and output -------------------------------------------- */

/* Asks for output of processes. Without `regcbfunc` it waits and returns the
 * handler's number, or an error below zero. */
PMIX_EXPORT pmix_status_t PMIx_IOF_pull(
  const pmix_proc_t procs[], size_t nprocs, const pmix_info_t directives[],
  size_t ndirs, pmix_iof_channel_t channel, pmix_iof_cbfunc_t cbfunc,
  pmix_hdlr_reg_cbfunc_t regcbfunc, void* regcbdata);

PMIX_EXPORT pmix_status_t PMIx_IOF_deregister(size_t iofhdlr,
                                              const pmix_info_t directives[],
                                              size_t ndirs,
                                              pmix_op_cbfunc_t cbfunc,
                                              void* cbdata);

/* Sends input to processes; `bo` NULL or empty: no more will come. */
PMIX_EXPORT pmix_status_t PMIx_IOF_push(const pmix_proc_t targets[],
                                        size_t ntargets, pmix_byte_object_t* bo,
                                        const pmix_info_t directives[],
                                        size_t ndirs, pmix_op_cbfunc_t cbfunc,
                                        void* cbdata);

#ifdef __cplusplus
}
#endif

#endif
