/* The functions of PMIx for all roles: clients, servers and tools.
 *
 * A function `PMIx_X_nb` does what `PMIx_X` does without waiting. It returns
 * PMIX_SUCCESS if the request was taken and `cbfunc` will be called, once;
 * PMIX_OPERATION_SUCCEEDED if it is done already; or an error; in both latter
 * cases `cbfunc` is not called. Arrays that are passed to it stay as they are
 * until then. A function that waits returns PMIX_ERR_WOULD_BLOCK if it is
 * called from a callback. Before PMIx_Init, PMIX_ERR_INIT. Source: PMIx
 * Standard v5. */

#ifndef TROUPE_PMIX_H
#define TROUPE_PMIX_H

#include <pmix_common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -- start and end --------------------------------------------------------- */

/* Connects to the server of this process; `proc`, if any, gets who we are.
 * May be called again; each call needs its PMIx_Finalize. PMIX_ERR_UNREACH
 * if there is no server and none is needed. */
PMIX_EXPORT pmix_status_t PMIx_Init(pmix_proc_t* proc, pmix_info_t info[],
                                    size_t ninfo);

PMIX_EXPORT pmix_status_t PMIx_Finalize(const pmix_info_t info[], size_t ninfo);

/* Not zero between PMIx_Init and the last PMIx_Finalize. */
PMIX_EXPORT int PMIx_Initialized(void);

/* Asks that the processes be ended, or, if there are none, all of the
 * caller's namespace. `status` is the exit status to show, `msg` may be
 * NULL. */
PMIX_EXPORT pmix_status_t PMIx_Abort(int status, const char msg[],
                                     pmix_proc_t procs[], size_t nprocs);

/* Handles what is waiting, for programs that drive the library themselves. */
PMIX_EXPORT void PMIx_Progress(void);

/* Ends the library's own thread. */
PMIX_EXPORT void PMIx_Progress_thread_stop(const pmix_info_t* info,
                                           size_t ninfo);

/* The library's version; static. */
PMIX_EXPORT const char* PMIx_Get_version(void);

/* -- data of processes ----------------------------------------------------- */

/* Keeps a value to be given away by PMIx_Commit. The value is copied. */
PMIX_EXPORT pmix_status_t PMIx_Put(pmix_scope_t scope, const char key[],
                                   pmix_value_t* val);

/* Gives what was put to the server. */
PMIX_EXPORT pmix_status_t PMIx_Commit(void);

/* Waits until all members called it; all ranks of the caller's namespace if
 * there are none. PMIX_COLLECT_DATA brings everybody's data. */
PMIX_EXPORT pmix_status_t PMIx_Fence(const pmix_proc_t procs[], size_t nprocs,
                                     const pmix_info_t info[], size_t ninfo);
PMIX_EXPORT pmix_status_t PMIx_Fence_nb(const pmix_proc_t procs[],
                                        size_t nprocs, const pmix_info_t info[],
                                        size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                        void* cbdata);

/* Finds a value of a process; the caller frees it. An empty namespace, or no
 * process at all, means the caller's own job. PMIX_ERR_NOT_FOUND. */
PMIX_EXPORT pmix_status_t PMIx_Get(const pmix_proc_t* proc, const char key[],
                                   const pmix_info_t info[], size_t ninfo,
                                   pmix_value_t** val);
PMIX_EXPORT pmix_status_t PMIx_Get_nb(const pmix_proc_t* proc, const char key[],
                                      const pmix_info_t info[], size_t ninfo,
                                      pmix_value_cbfunc_t cbfunc, void* cbdata);

/* Keeps a value in this process only, as if `proc` had put it. */
PMIX_EXPORT pmix_status_t PMIx_Store_internal(const pmix_proc_t* proc,
                                              const char key[],
                                              pmix_value_t* val);

/* -- publish and look up --------------------------------------------------- */

/* Lets others look the values up by their keys. PMIX_ERR_DUPLICATE_KEY. */
PMIX_EXPORT pmix_status_t PMIx_Publish(const pmix_info_t info[], size_t ninfo);
PMIX_EXPORT pmix_status_t PMIx_Publish_nb(const pmix_info_t info[],
                                          size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                          void* cbdata);

/* Fills in process and value of each key asked for. PMIX_ERR_PARTIAL_SUCCESS
 * if some are not there. */
PMIX_EXPORT pmix_status_t PMIx_Lookup(pmix_pdata_t data[], size_t ndata,
                                      const pmix_info_t info[], size_t ninfo);

/* `keys` ends with NULL. */
PMIX_EXPORT pmix_status_t PMIx_Lookup_nb(char** keys, const pmix_info_t info[],
                                         size_t ninfo,
                                         pmix_lookup_cbfunc_t cbfunc,
                                         void* cbdata);

/* Takes back what the caller published; all of it if `keys` is NULL. */
PMIX_EXPORT pmix_status_t PMIx_Unpublish(char** keys, const pmix_info_t info[],
                                         size_t ninfo);
PMIX_EXPORT pmix_status_t PMIx_Unpublish_nb(char** keys,
                                            const pmix_info_t info[],
                                            size_t ninfo,
                                            pmix_op_cbfunc_t cbfunc,
                                            void* cbdata);

/* -- starting and joining processes ---------------------------------------- */

/* Starts a job; `nspace`, if any, gets its name. */
PMIX_EXPORT pmix_status_t PMIx_Spawn(const pmix_info_t job_info[], size_t ninfo,
                                     const pmix_app_t apps[], size_t napps,
                                     pmix_nspace_t nspace);
PMIX_EXPORT pmix_status_t PMIx_Spawn_nb(const pmix_info_t job_info[],
                                        size_t ninfo, const pmix_app_t apps[],
                                        size_t napps,
                                        pmix_spawn_cbfunc_t cbfunc,
                                        void* cbdata);

/* Joins the processes: they fail together. All of them call it. */
PMIX_EXPORT pmix_status_t PMIx_Connect(const pmix_proc_t procs[], size_t nprocs,
                                       const pmix_info_t info[], size_t ninfo);
PMIX_EXPORT pmix_status_t PMIx_Connect_nb(const pmix_proc_t procs[],
                                          size_t nprocs,
                                          const pmix_info_t info[],
                                          size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                          void* cbdata);

/* Undoes PMIx_Connect. */
PMIX_EXPORT pmix_status_t PMIx_Disconnect(const pmix_proc_t procs[],
                                          size_t nprocs,
                                          const pmix_info_t info[],
                                          size_t ninfo);
PMIX_EXPORT pmix_status_t PMIx_Disconnect_nb(
  const pmix_proc_t ranges[], size_t nprocs, const pmix_info_t info[],
  size_t ninfo, pmix_op_cbfunc_t cbfunc, void* cbdata);

/* The processes of a namespace on a node; this node if there is no name, all
 * namespaces if there is none. The caller frees the array. */
PMIX_EXPORT pmix_status_t PMIx_Resolve_peers(const char* nodename,
                                             const pmix_nspace_t nspace,
                                             pmix_proc_t** procs,
                                             size_t* nprocs);

/* The nodes of a namespace, separated by commas; the caller frees the text. */
PMIX_EXPORT pmix_status_t PMIx_Resolve_nodes(const pmix_nspace_t nspace,
                                             char** nodelist);

/* -- questions, logs, allocations ------------------------------------------ */

/* Answers queries. PMIX_ERR_PARTIAL_SUCCESS if some have no answer; the
 * caller frees the array. */
PMIX_EXPORT pmix_status_t PMIx_Query_info(pmix_query_t queries[],
                                          size_t nqueries,
                                          pmix_info_t** results,
                                          size_t* nresults);
PMIX_EXPORT pmix_status_t PMIx_Query_info_nb(pmix_query_t queries[],
                                             size_t nqueries,
                                             pmix_info_cbfunc_t cbfunc,
                                             void* cbdata);

/* Writes to the channels that `data` names. */
PMIX_EXPORT pmix_status_t PMIx_Log(const pmix_info_t data[], size_t ndata,
                                   const pmix_info_t directives[],
                                   size_t ndirs);
PMIX_EXPORT pmix_status_t PMIx_Log_nb(const pmix_info_t data[], size_t ndata,
                                      const pmix_info_t directives[],
                                      size_t ndirs, pmix_op_cbfunc_t cbfunc,
                                      void* cbdata);

/* Asks for more, or less, resources. */
PMIX_EXPORT pmix_status_t
PMIx_Allocation_request(pmix_alloc_directive_t directive, pmix_info_t* info,
                        size_t ninfo, pmix_info_t** results, size_t* nresults);
PMIX_EXPORT pmix_status_t PMIx_Allocation_request_nb(
  pmix_alloc_directive_t directive, pmix_info_t* info, size_t ninfo,
  pmix_info_cbfunc_t cbfunc, void* cbdata);

/* Defines or changes a named block of resources. */
PMIX_EXPORT pmix_status_t
PMIx_Resource_block(pmix_resource_block_directive_t directive, char* block,
                    const pmix_resource_unit_t* res, size_t nres,
                    const pmix_info_t* info, size_t ninfo);
PMIX_EXPORT pmix_status_t PMIx_Resource_block_nb(
  pmix_resource_block_directive_t directive, char* block,
  const pmix_resource_unit_t* res, size_t nres, const pmix_info_t* info,
  size_t ninfo, pmix_op_cbfunc_t cbfunc, void* cbdata);

/* Controls a session; calls back, or waits if `cbfunc` is NULL. */
PMIX_EXPORT pmix_status_t PMIx_Session_control(uint32_t sessionID,
                                               const pmix_info_t directives[],
                                               size_t ndirs,
                                               pmix_info_cbfunc_t cbfunc,
                                               void* cbdata);

/* -- control and monitoring ------------------------------------------------ */

/* Controls the processes; all of the caller's namespace if there are none. */
PMIX_EXPORT pmix_status_t PMIx_Job_control(const pmix_proc_t targets[],
                                           size_t ntargets,
                                           const pmix_info_t directives[],
                                           size_t ndirs, pmix_info_t** results,
                                           size_t* nresults);
PMIX_EXPORT pmix_status_t PMIx_Job_control_nb(
  const pmix_proc_t targets[], size_t ntargets, const pmix_info_t directives[],
  size_t ndirs, pmix_info_cbfunc_t cbfunc, void* cbdata);

/* Begins to watch: `error` is the code of the event that tells of trouble. */
PMIX_EXPORT pmix_status_t PMIx_Process_monitor(const pmix_info_t* monitor,
                                               pmix_status_t error,
                                               const pmix_info_t directives[],
                                               size_t ndirs,
                                               pmix_info_t** results,
                                               size_t* nresults);
PMIX_EXPORT pmix_status_t
PMIx_Process_monitor_nb(const pmix_info_t* monitor, pmix_status_t error,
                        const pmix_info_t directives[], size_t ndirs,
                        pmix_info_cbfunc_t cbfunc, void* cbdata);

/* Tells who watches that this process is alive. */
PMIX_EXPORT void PMIx_Heartbeat(void);

/* -- credentials ----------------------------------------------------------- */

/* A credential that says who this process is; the caller frees it. */
PMIX_EXPORT pmix_status_t PMIx_Get_credential(const pmix_info_t info[],
                                              size_t ninfo,
                                              pmix_byte_object_t* credential);
PMIX_EXPORT pmix_status_t
PMIx_Get_credential_nb(const pmix_info_t info[], size_t ninfo,
                       pmix_credential_cbfunc_t cbfunc, void* cbdata);

/* Checks a credential; results say whose it is. */
PMIX_EXPORT pmix_status_t PMIx_Validate_credential(
  const pmix_byte_object_t* cred, const pmix_info_t info[], size_t ninfo,
  pmix_info_t** results, size_t* nresults);
PMIX_EXPORT pmix_status_t PMIx_Validate_credential_nb(
  const pmix_byte_object_t* cred, const pmix_info_t info[], size_t ninfo,
  pmix_validation_cbfunc_t cbfunc, void* cbdata);

/* -- groups ---------------------------------------------------------------- */

/* Forms a group; all members call it. */
PMIX_EXPORT pmix_status_t
PMIx_Group_construct(const char grp[], const pmix_proc_t procs[], size_t nprocs,
                     const pmix_info_t directives[], size_t ndirs,
                     pmix_info_t** results, size_t* nresults);

PMIX_EXPORT pmix_status_t
PMIx_Group_construct_nb(const char grp[], const pmix_proc_t procs[],
                        size_t nprocs, const pmix_info_t info[], size_t ninfo,
                        pmix_info_cbfunc_t cbfunc, void* cbdata);

/* Forms a group of those who accept; only the leader calls it. */
PMIX_EXPORT pmix_status_t PMIx_Group_invite(const char grp[],
                                            const pmix_proc_t procs[],
                                            size_t nprocs,
                                            const pmix_info_t info[],
                                            size_t ninfo, pmix_info_t** results,
                                            size_t* nresult);
PMIX_EXPORT pmix_status_t
PMIx_Group_invite_nb(const char grp[], const pmix_proc_t procs[], size_t nprocs,
                     const pmix_info_t info[], size_t ninfo,
                     pmix_info_cbfunc_t cbfunc, void* cbdata);

/* Answers an invitation of `leader`. */
PMIX_EXPORT pmix_status_t PMIx_Group_join(const char grp[],
                                          const pmix_proc_t* leader,
                                          pmix_group_opt_t opt,
                                          const pmix_info_t info[],
                                          size_t ninfo, pmix_info_t** results,
                                          size_t* nresult);
PMIX_EXPORT pmix_status_t
PMIx_Group_join_nb(const char grp[], const pmix_proc_t* leader,
                   pmix_group_opt_t opt, const pmix_info_t info[], size_t ninfo,
                   pmix_info_cbfunc_t cbfunc, void* cbdata);

/* Leaves a group; the others get an event. */
PMIX_EXPORT pmix_status_t PMIx_Group_leave(const char grp[],
                                           const pmix_info_t info[],
                                           size_t ninfo);
PMIX_EXPORT pmix_status_t PMIx_Group_leave_nb(const char grp[],
                                              const pmix_info_t info[],
                                              size_t ninfo,
                                              pmix_op_cbfunc_t cbfunc,
                                              void* cbdata);

/* Ends a group; all members call it. */
PMIX_EXPORT pmix_status_t PMIx_Group_destruct(const char grp[],
                                              const pmix_info_t info[],
                                              size_t ninfo);

PMIX_EXPORT pmix_status_t PMIx_Group_destruct_nb(const char grp[],
                                                 const pmix_info_t info[],
                                                 size_t ninfo,
                                                 pmix_op_cbfunc_t cbfunc,
                                                 void* cbdata);

/* -- events ---------------------------------------------------------------- */

/* Registers a handler of the codes, or of all codes if there are none.
 * Without `cbfunc` it waits and returns the handler's number, or an error
 * below zero. */
PMIX_EXPORT pmix_status_t PMIx_Register_event_handler(
  pmix_status_t codes[], size_t ncodes, pmix_info_t info[], size_t ninfo,
  pmix_notification_fn_t evhdlr, pmix_hdlr_reg_cbfunc_t cbfunc, void* cbdata);

/* Removes a handler; waits if `cbfunc` is NULL. */
PMIX_EXPORT pmix_status_t PMIx_Deregister_event_handler(size_t evhdlr_ref,
                                                        pmix_op_cbfunc_t cbfunc,
                                                        void* cbdata);

/* Tells those in the range of an event. `source` may be NULL: this process. */
PMIX_EXPORT pmix_status_t
PMIx_Notify_event(pmix_status_t status, const pmix_proc_t* source,
                  pmix_data_range_t range, const pmix_info_t info[],
                  size_t ninfo, pmix_op_cbfunc_t cbfunc, void* cbdata);

/* -- fabric, topology, distances ------------------------------------------- */

PMIX_EXPORT pmix_status_t PMIx_Fabric_register(pmix_fabric_t* fabric,
                                               const pmix_info_t directives[],
                                               size_t ndirs);
PMIX_EXPORT pmix_status_t
PMIx_Fabric_register_nb(pmix_fabric_t* fabric, const pmix_info_t directives[],
                        size_t ndirs, pmix_op_cbfunc_t cbfunc, void* cbdata);

PMIX_EXPORT pmix_status_t PMIx_Fabric_update(pmix_fabric_t* fabric);
PMIX_EXPORT pmix_status_t PMIx_Fabric_update_nb(pmix_fabric_t* fabric,
                                                pmix_op_cbfunc_t cbfunc,
                                                void* cbdata);

PMIX_EXPORT pmix_status_t PMIx_Fabric_deregister(pmix_fabric_t* fabric);
PMIX_EXPORT pmix_status_t PMIx_Fabric_deregister_nb(pmix_fabric_t* fabric,
                                                    pmix_op_cbfunc_t cbfunc,
                                                    void* cbdata);

/* Finds this node's hardware. The topology stays the library's. */
PMIX_EXPORT pmix_status_t PMIx_Load_topology(pmix_topology_t* topo);

/* The processors that the process or thread is bound to. */
PMIX_EXPORT pmix_status_t PMIx_Get_cpuset(pmix_cpuset_t* cpuset,
                                          pmix_bind_envelope_t ref);

/* Reads what PMIx_server_generate_cpuset_string wrote. */
PMIX_EXPORT pmix_status_t PMIx_Parse_cpuset_string(const char* cpuset_string,
                                                   pmix_cpuset_t* cpuset);

/* What do two processes share, by their locality strings? */
PMIX_EXPORT pmix_status_t PMIx_Get_relative_locality(const char* locality1,
                                                     const char* locality2,
                                                     pmix_locality_t* locality);

/* How far are the devices from the processors? The caller frees the array. */
PMIX_EXPORT pmix_status_t PMIx_Compute_distances(
  pmix_topology_t* topo, pmix_cpuset_t* cpuset, pmix_info_t info[],
  size_t ninfo, pmix_device_distance_t* distances[], size_t* ndist);
PMIX_EXPORT pmix_status_t PMIx_Compute_distances_nb(
  pmix_topology_t* topo, pmix_cpuset_t* cpuset, pmix_info_t info[],
  size_t ninfo, pmix_device_dist_cbfunc_t cbfunc, void* cbdata);

/* -- names of things ------------------------------------------------------- */

/* Texts of type `const char*` are static, for any number; the caller frees
 * others. */

/* "PMIX_SUCCESS" and so on. */
PMIX_EXPORT const char* PMIx_Error_string(pmix_status_t status);

/* The number for such a name. */
PMIX_EXPORT pmix_status_t PMIx_Error_code(const char* errname);

PMIX_EXPORT const char* PMIx_Proc_state_string(pmix_proc_state_t state);
PMIX_EXPORT const char* PMIx_Job_state_string(pmix_job_state_t state);
PMIX_EXPORT const char* PMIx_Scope_string(pmix_scope_t scope);
PMIX_EXPORT const char* PMIx_Persistence_string(pmix_persistence_t persist);
PMIX_EXPORT const char* PMIx_Data_range_string(pmix_data_range_t range);
PMIX_EXPORT const char* PMIx_Data_type_string(pmix_data_type_t type);
PMIX_EXPORT const char*
PMIx_Alloc_directive_string(pmix_alloc_directive_t directive);
PMIX_EXPORT const char*
PMIx_Alloc_inheritance_string(pmix_alloc_inheritance_t inheritance);
PMIX_EXPORT const char*
PMIx_Resource_block_directive_string(pmix_resource_block_directive_t directive);
PMIX_EXPORT const char* PMIx_IOF_channel_string(pmix_iof_channel_t channel);
PMIX_EXPORT const char* PMIx_Link_state_string(pmix_link_state_t state);
PMIX_EXPORT const char* PMIx_Device_type_string(pmix_device_type_t type);
PMIX_EXPORT const char* PMIx_Value_comparison_string(pmix_value_cmp_t cmp);
PMIX_EXPORT const char* PMIx_Group_operation_string(pmix_group_operation_t op);

/* "pmix.rank" for "PMIX_RANK"; the name itself if it is unknown. */
PMIX_EXPORT const char* PMIx_Get_attribute_string(const char* attribute);

/* "PMIX_RANK" for "pmix.rank"; the text itself if it is unknown. */
PMIX_EXPORT const char* PMIx_Get_attribute_name(const char* attrstring);

PMIX_EXPORT char*
PMIx_Info_directives_string(pmix_info_directives_t directives);
PMIX_EXPORT char* PMIx_Info_string(const pmix_info_t* info);
PMIX_EXPORT char* PMIx_Value_string(const pmix_value_t* value);
PMIX_EXPORT char* PMIx_App_string(const pmix_app_t* app);
PMIX_EXPORT char* PMIx_Proc_string(const pmix_proc_t* proc);
PMIX_EXPORT char* PMIx_Resource_unit_string(const pmix_resource_unit_t* unit);

/* -- packing --------------------------------------------------------------- */

/* Memory that a value takes, with all it owns. */
PMIX_EXPORT pmix_status_t PMIx_Value_get_size(const pmix_value_t* val,
                                              size_t* size);

PMIX_EXPORT pmix_status_t PMIx_Info_get_size(const pmix_info_t* val,
                                             size_t* size);

/* Packs values for `target`, NULL meaning our server. */
PMIX_EXPORT pmix_status_t PMIx_Data_pack(const pmix_proc_t* target,
                                         pmix_data_buffer_t* buffer, void* src,
                                         int32_t num_vals,
                                         pmix_data_type_t type);

/* Unpacks up to *max_num_values values; there, the number that were there.
 * PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER at the end,
 * PMIX_ERR_UNPACK_INADEQUATE_SPACE if there are more. */
PMIX_EXPORT pmix_status_t PMIx_Data_unpack(const pmix_proc_t* source,
                                           pmix_data_buffer_t* buffer,
                                           void* dest, int32_t* max_num_values,
                                           pmix_data_type_t type);

/* Copies one element of a type; the caller frees it. */
PMIX_EXPORT pmix_status_t PMIx_Data_copy(void** dest, void* src,
                                         pmix_data_type_t type);

/* Writes one element as text, each line after `prefix`; the caller frees it. */
PMIX_EXPORT pmix_status_t PMIx_Data_print(char** output, char* prefix,
                                          void* src, pmix_data_type_t type);

/* Appends what is not yet unpacked in `src`. */
PMIX_EXPORT pmix_status_t PMIx_Data_copy_payload(pmix_data_buffer_t* dest,
                                                 pmix_data_buffer_t* src);

/* Gives away what is not yet unpacked; the buffer is empty then. */
PMIX_EXPORT pmix_status_t PMIx_Data_unload(pmix_data_buffer_t* buffer,
                                           pmix_byte_object_t* payload);

/* Takes over packed bytes. */
PMIX_EXPORT pmix_status_t PMIx_Data_load(pmix_data_buffer_t* buffer,
                                         pmix_byte_object_t* payload);

/* As PMIx_Data_load, with a copy of the bytes. */
PMIX_EXPORT pmix_status_t PMIx_Data_embed(pmix_data_buffer_t* buffer,
                                          const pmix_byte_object_t* payload);

/* Compresses if that is worth it, else returns false; the caller frees the
 * bytes. */
PMIX_EXPORT bool PMIx_Data_compress(const uint8_t* inbytes, size_t size,
                                    uint8_t** outbytes, size_t* nbytes);

PMIX_EXPORT bool PMIx_Data_decompress(const uint8_t* inbytes, size_t size,
                                      uint8_t** outbytes, size_t* nbytes);

#ifdef __cplusplus
}
#endif

#endif
