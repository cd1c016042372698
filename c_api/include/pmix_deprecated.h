/* Names that programs written for releases 3.2 to 7.0 of PMIx use and new ones
 * need not: old constants and attributes, and the PMIX_* macros, which call the
 * functions of pmix_common.h. A macro that frees leaves NULL in its argument.
 */

#ifndef TROUPE_PMIX_DEPRECATED_H
#define TROUPE_PMIX_DEPRECATED_H

#include <pmix_common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -- old statuses ---------------------------------------------------------- */

/* clang-format off */
#define PMIX_ERR_SILENT                               (-2)
#define PMIX_ERR_DEBUGGER_RELEASE                     (-3)
#define PMIX_ERR_PROC_ABORTED                         (-7)
#define PMIX_ERR_PROC_ABORTING                        (-9)
#define PMIX_ERR_SERVER_FAILED_REQUEST                (-10)
#define PMIX_EXISTS                                   (-11)
#define PMIX_ERR_HANDSHAKE_FAILED                     (-13)
#define PMIX_ERR_READY_FOR_HANDSHAKE                  (-14)
#define PMIX_ERR_PROC_ENTRY_NOT_FOUND                 (-17)
#define PMIX_ERR_PACK_MISMATCH                        (-22)
#define PMIX_ERR_IN_ERRNO                             (-26)
#define PMIX_ERR_DATA_VALUE_NOT_FOUND                 (-30)
#define PMIX_ERR_INVALID_ARG                          (-33)
#define PMIX_ERR_INVALID_KEY                          (-34)
#define PMIX_ERR_INVALID_KEY_LENGTH                   (-35)
#define PMIX_ERR_INVALID_VAL                          (-36)
#define PMIX_ERR_INVALID_VAL_LENGTH                   (-37)
#define PMIX_ERR_INVALID_LENGTH                       (-38)
#define PMIX_ERR_INVALID_NUM_ARGS                     (-39)
#define PMIX_ERR_INVALID_ARGS                         (-40)
#define PMIX_ERR_INVALID_NUM_PARSED                   (-41)
#define PMIX_ERR_INVALID_KEYVALP                      (-42)
#define PMIX_ERR_INVALID_SIZE                         (-43)
#define PMIX_ERR_INVALID_NAMESPACE                    (-44)
#define PMIX_ERR_SERVER_NOT_AVAIL                     (-45)
#define PMIX_ERR_NOT_IMPLEMENTED                      (-48)
#define PMIX_DEBUG_WAITING_FOR_NOTIFY                 (-58)
#define PMIX_ERR_FATAL                                (-63)
#define PMIX_ERR_VALUE_OUT_OF_BOUNDS                  (-65)
#define PMIX_ERR_FILE_OPEN_FAILURE                    (-67)
#define PMIX_ERR_FILE_READ_FAILURE                    (-68)
#define PMIX_ERR_FILE_WRITE_FAILURE                   (-69)
#define PMIX_ERR_SYS_LIMITS_PIPES                     (-70)
#define PMIX_ERR_SYS_LIMITS_CHILDREN                  (-71)
#define PMIX_ERR_PIPE_SETUP_FAILURE                   (-72)
#define PMIX_ERR_EXE_NOT_ACCESSIBLE                   (-73)
#define PMIX_ERR_JOB_WDIR_NOT_ACCESSIBLE              (-74)
#define PMIX_ERR_SYS_LIMITS_FILES                     (-75)
#define PMIX_ERR_V2X_BASE                             (-100)
#define PMIX_ERR_LOST_CONNECTION_TO_SERVER            (-101)
#define PMIX_ERR_LOST_PEER_CONNECTION                 (-102)
#define PMIX_ERR_LOST_CONNECTION_TO_CLIENT            (-103)
#define PMIX_QUERY_PARTIAL_SUCCESS                    (-104)
#define PMIX_NOTIFY_ALLOC_COMPLETE                    (-105)
#define PMIX_ERR_INVALID_TERMINATION                  (-112)
#define PMIX_ERR_JOB_TERMINATED                       (-145)
#define PMIX_ERR_UPDATE_ENDPOINTS                     (-146)
#define PMIX_GDS_ACTION_COMPLETE                      (-148)
#define PMIX_PROC_HAS_CONNECTED                       (-149)
#define PMIX_CONNECT_REQUESTED                        (-150)
#define PMIX_LAUNCH_DIRECTIVE                         (-154)
#define PMIX_GROUP_CONTEXT_ID_ASSIGNED                (-169)
#define PMIX_ERR_NODE_DOWN                            (-231)
#define PMIX_ERR_NODE_OFFLINE                         (-232)
#define PMIX_ERR_SYS_OTHER                            (-330)
#define PMIX_INTERNAL_ERR_BASE                        (-1330)
#define PMIX_ERR_SYS_BASE  PMIX_EVENT_SYS_BASE

/* As RFC0002, "Client-Based Notifications", spells them. */
#define PMIX_ERR_LOST_SERVER_CONNECTION  PMIX_ERR_LOST_CONNECTION
#define PMIX_ERR_FAILED_COMM  PMIX_ERR_COMM_FAILURE
/* clang-format on */

/* -- old types and states -------------------------------------------------- */

/* clang-format off */
#define PMIX_BUFFER             26
#define PMIX_COMPRESSED_STRING  42
#define PMIX_REGEX              49
#define PMIX_JOB_STATE_PREPPED   1
/* clang-format on */

/* -- old attributes -------------------------------------------------------- */

/* clang-format off */
#define PMIX_ALLOC_NETWORK                        "pmix.alloc.net"             /* PMIX_DATA_ARRAY */
#define PMIX_ALLOC_NETWORK_ENDPTS                 "pmix.alloc.endpts"          /* PMIX_SIZE */
#define PMIX_ALLOC_NETWORK_ENDPTS_NODE            "pmix.alloc.endpts.nd"       /* PMIX_SIZE */
#define PMIX_ALLOC_NETWORK_ID                     "pmix.alloc.netid"           /* PMIX_STRING */
#define PMIX_ALLOC_NETWORK_PLANE                  "pmix.alloc.netplane"        /* PMIX_STRING */
#define PMIX_ALLOC_NETWORK_QOS                    "pmix.alloc.netqos"          /* PMIX_STRING */
#define PMIX_ALLOC_NETWORK_SEC_KEY                "pmix.alloc.nsec"            /* PMIX_BYTE_OBJECT */
#define PMIX_ALLOC_NETWORK_TYPE                   "pmix.alloc.nettype"         /* PMIX_STRING */
#define PMIX_ARCH                                 "pmix.arch"                  /* PMIX_UINT32 */
#define PMIX_BFROPS_MODULE                        "pmix.bfrops.mod"            /* PMIX_STRING */
#define PMIX_COLLECTIVE_ALGO                      "pmix.calgo"                 /* PMIX_STRING */
#define PMIX_COLLECTIVE_ALGO_REQD                 "pmix.calreqd"               /* PMIX_BOOL */
#define PMIX_CRYPTO_KEY                           "pmix.sec.key"               /* PMIX_BYTE_OBJECT */
#define PMIX_DEBUG_APP_DIRECTIVES                 "pmix.dbg.adirs"             /* PMIX_DATA_ARRAY */
#define PMIX_DEBUG_JOB                            "pmix.dbg.job"               /* PMIX_STRING */
#define PMIX_DEBUG_JOB_DIRECTIVES                 "pmix.dbg.jdirs"             /* PMIX_DATA_ARRAY */
#define PMIX_DEBUG_WAIT_FOR_NOTIFY                "pmix.dbg.notify"            /* PMIX_BOOL */
#define PMIX_DSTPATH                              "pmix.dstpath"               /* PMIX_STRING */
#define PMIX_EVENT_BASE                           "pmix.evbase"                /* struct event_base * */
#define PMIX_EVENT_NO_TERMINATION                 "pmix.evnoterm"              /* PMIX_BOOL */
#define PMIX_EVENT_WANT_TERMINATION               "pmix.evterm"                /* PMIX_BOOL */
#define PMIX_GDS_MODULE                           "pmix.gds.mod"               /* PMIX_STRING */
#define PMIX_HWLOC_HOLE_KIND                      "pmix.hwlocholek"            /* PMIX_STRING */
#define PMIX_HWLOC_SHARE_TOPO                     "pmix.hwlocsh"               /* PMIX_BOOL */
#define PMIX_HWLOC_SHMEM_ADDR                     "pmix.hwlocaddr"             /* PMIX_SIZE */
#define PMIX_HWLOC_SHMEM_FILE                     "pmix.hwlocfile"             /* PMIX_STRING */
#define PMIX_HWLOC_SHMEM_SIZE                     "pmix.hwlocsize"             /* PMIX_SIZE */
#define PMIX_HWLOC_XML_V1                         "pmix.hwlocxml1"             /* PMIX_STRING */
#define PMIX_HWLOC_XML_V2                         "pmix.hwlocxml2"             /* PMIX_STRING */
#define PMIX_IOF_STOP                             "pmix.iof.stop"              /* PMIX_BOOL */
#define PMIX_LOCALITY                             "pmix.loc"                   /* PMIX_UINT16 */
#define PMIX_LOCAL_TOPO                           "pmix.ltopo"                 /* PMIX_STRING */
#define PMIX_MAPPER                               "pmix.mapper"                /* PMIX_STRING */
#define PMIX_MAP_BLOB                             "pmix.mblob"                 /* PMIX_BYTE_OBJECT */
#define PMIX_MERGE_STDERR_STDOUT                  "pmix.mergeerrout"           /* PMIX_BOOL */
#define PMIX_NET_TOPO                             "pmix.ntopo"                 /* PMIX_STRING */
#define PMIX_NON_PMI                              "pmix.nonpmi"                /* PMIX_BOOL */
#define PMIX_NOTIFY_LAUNCH                        "pmix.note.lnch"             /* PMIX_BOOL */
#define PMIX_OUTPUT_NOCOPY                        "pmix.nocopy"                /* PMIX_BOOL */
#define PMIX_OUTPUT_TO_DIRECTORY                  "pmix.outdir"                /* PMIX_STRING */
#define PMIX_OUTPUT_TO_FILE                       "pmix.outfile"               /* PMIX_STRING */
#define PMIX_PNET_SETUP_APP                       "pmix.pnet.setapp"           /* PMIX_BYTE_OBJECT */
#define PMIX_PROC_BLOB                            "pmix.pblob"                 /* PMIX_BYTE_OBJECT */
#define PMIX_PROC_DATA                            "pmix.pdata"                 /* PMIX_DATA_ARRAY */
#define PMIX_PROC_URI                             "pmix.puri"                  /* PMIX_STRING */
#define PMIX_RECONNECT_SERVER                     "pmix.cnct.recon"            /* PMIX_BOOL */
#define PMIX_SESSION_PROVISION                    "pmix.ssn.pvn"               /* PMIX_DATA_ARRAY */
#define PMIX_SINGLE_LISTENER                      "pmix.sing.listnr"           /* PMIX_BOOL */
#define PMIX_SOCKET_MODE                          "pmix.sockmode"              /* PMIX_UINT32 */
#define PMIX_TAG_OUTPUT                           "pmix.tagout"                /* PMIX_BOOL */
#define PMIX_TIMESTAMP_OUTPUT                     "pmix.tsout"                 /* PMIX_BOOL */
#define PMIX_TOPOLOGY                             "pmix.topo"                  /* hwloc_topology_t */
#define PMIX_TOPOLOGY_FILE                        "pmix.topo.file"             /* PMIX_STRING */
#define PMIX_TOPOLOGY_SIGNATURE                   "pmix.toposig"               /* PMIX_STRING */
#define PMIX_TOPOLOGY_XML                         "pmix.topo.xml"              /* PMIX_STRING */
#define PMIX_USOCK_DISABLE                        "pmix.usock.disable"         /* PMIX_BOOL */
/* clang-format on */

/* -- functions with a successor -------------------------------------------- */

/* See PMIx_generate_regex2; `input` lists nodes, separated by commas. */
PMIX_EXPORT pmix_status_t PMIx_generate_regex(const char* input, char** regex);

/* As PMIx_generate_regex, for ranks: semicolons separate nodes. */
PMIX_EXPORT pmix_status_t PMIx_generate_ppn(const char* input, char** ppn);

/* See PMIx_tool_attach_to_server. */
PMIX_EXPORT pmix_status_t PMIx_tool_connect_to_server(pmix_proc_t* proc,
                                                      pmix_info_t info[],
                                                      size_t ninfo);

/* -- memory and texts ------------------------------------------------------ */

static inline void* pmix_malloc(size_t n) {
  return malloc(n);
}

static inline void pmix_free(void* m) {
  free(m);
}

static inline void* pmix_calloc(size_t n, size_t m) {
  return calloc(n, m);
}

/* The length of a text, looking at no more than `limit` characters. */
static inline size_t pmix_bounded_length(const char* text, size_t limit) {
  size_t n = 0;
  while (text != NULL && n < limit && text[n] != '\0')
    ++n;
  return n;
}

static inline size_t pmix_keylen(const char* src) {
  return pmix_bounded_length(src, PMIX_MAX_KEYLEN + 1);
}

static inline size_t pmix_nslen(const char* src) {
  return pmix_bounded_length(src, PMIX_MAX_NSLEN + 1);
}

/* Copies up to `len` characters and ends the copy with a zero: `dest` has room
 * for one more. */
static inline void pmix_strncpy(char* dest, const char* src, size_t len) {
  size_t n;
  for (n = 0; n < len && src != NULL && src[n] != '\0'; ++n)
    dest[n] = src[n];
  dest[n] = '\0';
}

#define PMIX_LOAD_KEY(a, b) PMIx_Load_key((a), (b))
#define PMIX_CHECK_KEY(a, b) PMIx_Check_key((a)->key, (b))
#define PMIX_CHECK_RESERVED_KEY(a) PMIx_Check_reserved_key(a)
#define PMIX_LOAD_NSPACE(a, b) PMIx_Load_nspace((a), (b))
#define PMIX_CHECK_NSPACE(a, b) PMIx_Check_nspace((a), (b))
#define PMIX_NSPACE_INVALID(a) PMIx_Nspace_invalid(a)
#define PMIX_LOAD_PROCID(a, b, c) PMIx_Load_procid((a), (b), (c))
#define PMIX_XFER_PROCID(a, b) PMIx_Xfer_procid((a), (b))
#define PMIX_PROCID_XFER(a, b) PMIx_Xfer_procid((a), (b))
#define PMIX_CHECK_PROCID(a, b) PMIx_Check_procid((a), (b))
#define PMIX_CHECK_RANK(a, b) PMIx_Check_rank((a), (b))
#define PMIX_PROCID_INVALID(a) PMIx_Procid_invalid(a)
#define PMIX_MULTICLUSTER_NSPACE_CONSTRUCT(t, c, n)                            \
  PMIx_Multicluster_nspace_construct((t), (c), (n))
#define PMIX_MULTICLUSTER_NSPACE_PARSE(t, c, n)                                \
  PMIx_Multicluster_nspace_parse((t), (c), (n))

/* -- lists of texts -------------------------------------------------------- */

static inline int pmix_argv_count(char** argv) {
  return PMIx_Argv_count(argv);
}

static inline pmix_status_t pmix_argv_append_nosize(char*** argv,
                                                    const char* arg) {
  return PMIx_Argv_append_nosize(argv, arg);
}

static inline pmix_status_t pmix_argv_prepend_nosize(char*** argv,
                                                     const char* arg) {
  return PMIx_Argv_prepend_nosize(argv, arg);
}

static inline pmix_status_t pmix_argv_append_unique_nosize(char*** argv,
                                                           const char* arg) {
  return PMIx_Argv_append_unique_nosize(argv, arg);
}

static inline void pmix_argv_free(char** argv) {
  PMIx_Argv_free(argv);
}

static inline char** pmix_argv_split_inter(const char* text, int delimiter,
                                           bool include_empty) {
  return PMIx_Argv_split_inter(text, delimiter, include_empty);
}

static inline char** pmix_argv_split(const char* text, int delimiter) {
  return PMIx_Argv_split(text, delimiter);
}

static inline char** pmix_argv_split_with_empty(const char* text,
                                                int delimiter) {
  return PMIx_Argv_split_with_empty(text, delimiter);
}

static inline char* pmix_argv_join(char** argv, int delimiter) {
  return PMIx_Argv_join(argv, delimiter);
}

static inline char** pmix_argv_copy(char** argv) {
  return PMIx_Argv_copy(argv);
}

static inline pmix_status_t pmix_setenv(const char* name, const char* value,
                                        bool overwrite, char*** env) {
  return PMIx_Setenv(name, value, overwrite, env);
}

#define PMIX_ARGV_COUNT(r, a) (r) = PMIx_Argv_count(a)
#define PMIX_ARGV_APPEND(r, a, b)                                              \
  (r) = PMIx_Argv_append_nosize((char***)&(a), (b))
#define PMIX_ARGV_PREPEND(r, a, b)                                             \
  (r) = PMIx_Argv_prepend_nosize((char***)&(a), (b))
#define PMIX_ARGV_APPEND_UNIQUE(r, a, b)                                       \
  (r) = PMIx_Argv_append_unique_nosize((a), (b))
#define PMIX_ARGV_FREE(a) PMIX_FREE_WITH(PMIx_Argv_free(a), a)
#define PMIX_ARGV_SPLIT(a, b, c) (a) = PMIx_Argv_split((b), (c))
#define PMIX_ARGV_JOIN(a, b, c) (a) = PMIx_Argv_join((b), (c))
#define PMIX_ARGV_COPY(a, b) (a) = PMIx_Argv_copy(b)
#define PMIX_SETENV(r, a, b, c) (r) = PMIx_Setenv((a), (b), true, (c))

/* Frees what `m` points to and forgets it. */
#define PMIX_FREE_WITH(call, m)                                                \
  do {                                                                         \
    call;                                                                      \
    (m) = NULL;                                                                \
  } while (0)

/* -- values ---------------------------------------------------------------- */

static inline pmix_boolean_t pmix_check_true(const pmix_value_t* value) {
  return PMIx_Value_true(value);
}

#define PMIX_VALUE_CONSTRUCT(m) PMIx_Value_construct(m)
#define PMIX_VALUE_DESTRUCT(m) PMIx_Value_destruct(m)
#define PMIX_VALUE_CREATE(m, n) (m) = PMIx_Value_create(n)
#define PMIX_VALUE_RELEASE(m) PMIX_FREE_WITH(PMIx_Value_free((m), 1), m)
#define PMIX_VALUE_FREE(m, n) PMIX_FREE_WITH(PMIx_Value_free((m), (n)), m)
#define PMIX_CHECK_TRUE(a) (PMIx_Value_true(a) == PMIX_BOOL_TRUE)
#define PMIX_CHECK_BOOL(a) (PMIx_Value_true(a) != PMIX_NON_BOOL)
#define PMIX_VALUE_LOAD(v, d, t) PMIx_Value_load((v), (d), (t))
#define PMIX_VALUE_UNLOAD(r, k, d, s) (r) = PMIx_Value_unload((k), (d), (s))
#define PMIX_VALUE_XFER_DIRECT(r, v, s) (r) = PMIx_Value_xfer((v), (s))

/* Copies a value to *v, which is allocated if it is NULL. */
#define PMIX_VALUE_XFER(r, v, s)                                               \
  do {                                                                         \
    if ((v) == NULL)                                                           \
      (v) = PMIx_Value_create(1);                                              \
    (r) = (v) == NULL ? PMIX_ERR_NOMEM : PMIx_Value_xfer((v), (s));            \
  } while (0)

/* Sets `n` to the number in *m, cast to the C type `t`. */
#define PMIX_VALUE_GET_NUMBER(s, m, n, t)                                      \
  do {                                                                         \
    (s) = PMIX_SUCCESS;                                                        \
    switch ((m)->type) {                                                       \
      PMIX_NUMBER_CASE(PMIX_SIZE, (m)->data.size, n, t)                        \
      PMIX_NUMBER_CASE(PMIX_INT, (m)->data.integer, n, t)                      \
      PMIX_NUMBER_CASE(PMIX_INT8, (m)->data.int8, n, t)                        \
      PMIX_NUMBER_CASE(PMIX_INT16, (m)->data.int16, n, t)                      \
      PMIX_NUMBER_CASE(PMIX_INT32, (m)->data.int32, n, t)                      \
      PMIX_NUMBER_CASE(PMIX_INT64, (m)->data.int64, n, t)                      \
      PMIX_NUMBER_CASE(PMIX_UINT, (m)->data.uint, n, t)                        \
      PMIX_NUMBER_CASE(PMIX_UINT8, (m)->data.uint8, n, t)                      \
      PMIX_NUMBER_CASE(PMIX_UINT16, (m)->data.uint16, n, t)                    \
      PMIX_NUMBER_CASE(PMIX_UINT32, (m)->data.uint32, n, t)                    \
      PMIX_NUMBER_CASE(PMIX_UINT64, (m)->data.uint64, n, t)                    \
      PMIX_NUMBER_CASE(PMIX_FLOAT, (m)->data.fval, n, t)                       \
      PMIX_NUMBER_CASE(PMIX_DOUBLE, (m)->data.dval, n, t)                      \
      PMIX_NUMBER_CASE(PMIX_PID, (m)->data.pid, n, t)                          \
      PMIX_NUMBER_CASE(PMIX_PROC_RANK, (m)->data.rank, n, t)                   \
      PMIX_NUMBER_CASE(PMIX_STATUS, (m)->data.status, n, t)                    \
      default:                                                                 \
        (s) = PMIX_ERR_BAD_PARAM;                                              \
    }                                                                          \
  } while (0)
#define PMIX_NUMBER_CASE(type, member, n, t)                                   \
  case type:                                                                   \
    (n) = (t)(member);                                                         \
    break;

#define PMIX_DATA_ARRAY_INIT(m, t) PMIx_Data_array_init((m), (t))
#define PMIX_DATA_ARRAY_CONSTRUCT(m, n, t)                                     \
  PMIx_Data_array_construct((m), (n), (t))
#define PMIX_DATA_ARRAY_DESTRUCT(m) PMIx_Data_array_destruct(m)
#define PMIX_DATA_ARRAY_CREATE(m, n, t) (m) = PMIx_Data_array_create((n), (t))
#define PMIX_DATA_ARRAY_FREE(m) PMIX_FREE_WITH(PMIx_Data_array_free(m), m)

/* -- infos ----------------------------------------------------------------- */

#define PMIX_INFO_CONSTRUCT(m) PMIx_Info_construct(m)
#define PMIX_INFO_DESTRUCT(m) PMIx_Info_destruct(m)
#define PMIX_INFO_CREATE(m, n) (m) = PMIx_Info_create(n)
#define PMIX_INFO_FREE(m, n) PMIX_FREE_WITH(PMIx_Info_free((m), (n)), m)
#define PMIX_INFO_LOAD(i, k, d, t) (void)PMIx_Info_load((i), (k), (d), (t))
/* How RFC0015 spells it, and its name for all ranks. */
#define PMIX_LOAD_INFO(i, k, d, t) PMIX_INFO_LOAD((i), (k), (d), (t))
#define PMIX_RANK_WILDARD PMIX_RANK_WILDCARD
#define PMIX_INFO_XFER(d, s) (void)PMIx_Info_xfer((d), (s))
#define PMIX_INFO_TRUE(m) (PMIx_Info_true(m) == PMIX_BOOL_TRUE)
#define PMIX_INFO_REQUIRED(m) PMIx_Info_required(m)
#define PMIX_INFO_OPTIONAL(m) PMIx_Info_optional(m)
#define PMIX_INFO_IS_REQUIRED(m) PMIx_Info_is_required(m)
#define PMIX_INFO_IS_OPTIONAL(m) PMIx_Info_is_optional(m)
#define PMIX_INFO_PROCESSED(m) PMIx_Info_processed(m)
#define PMIX_INFO_WAS_PROCESSED(m) PMIx_Info_was_processed(m)
#define PMIX_INFO_SET_END(m) PMIx_Info_set_end(m)
#define PMIX_INFO_IS_END(m) PMIx_Info_is_end(m)
#define PMIX_INFO_SET_QUALIFIER(m) PMIx_Info_qualifier(m)
#define PMIX_INFO_IS_QUALIFIER(m) PMIx_Info_is_qualifier(m)
#define PMIX_INFO_SET_PERSISTENT(m) PMIx_Info_persistent(m)
#define PMIX_INFO_IS_PERSISTENT(m) PMIx_Info_is_persistent(m)

#define PMIX_INFO_LIST_START(p) (p) = PMIx_Info_list_start()
#define PMIX_INFO_LIST_ADD(r, p, a, v, t)                                      \
  (r) = PMIx_Info_list_add((p), (a), (v), (t))
#define PMIX_INFO_LIST_PREPEND(r, p, a, v, t)                                  \
  (r) = PMIx_Info_list_prepend((p), (a), (v), (t))
#define PMIX_INFO_LIST_INSERT(r, p, i) (r) = PMIx_Info_list_insert((p), (i))
#define PMIX_INFO_LIST_XFER(r, p, a) (r) = PMIx_Info_list_xfer((p), (a))
#define PMIX_INFO_LIST_CONVERT(r, p, m) (r) = PMIx_Info_list_convert((p), (m))
#define PMIX_INFO_LIST_RELEASE(p) PMIx_Info_list_release(p)

/* -- processes, published values, applications, queries -------------------- */

#define PMIX_PROC_CREATE(m, n) (m) = PMIx_Proc_create(n)
#define PMIX_PROC_CONSTRUCT(m) PMIx_Proc_construct(m)
#define PMIX_PROC_DESTRUCT(m) PMIx_Proc_destruct(m)
#define PMIX_PROC_FREE(m, n) PMIX_FREE_WITH(PMIx_Proc_free((m), (n)), m)
#define PMIX_PROC_RELEASE(m) PMIX_PROC_FREE(m, 1)
#define PMIX_PROC_LOAD(m, n, r) PMIx_Proc_load((m), (n), (r))

#define PMIX_PROC_INFO_CREATE(m, n) (m) = PMIx_Proc_info_create(n)
#define PMIX_PROC_INFO_CONSTRUCT(m) PMIx_Proc_info_construct(m)
#define PMIX_PROC_INFO_DESTRUCT(m) PMIx_Proc_info_destruct(m)
#define PMIX_PROC_INFO_FREE(m, n)                                              \
  PMIX_FREE_WITH(PMIx_Proc_info_free((m), (n)), m)
#define PMIX_PROC_INFO_RELEASE(m) PMIX_PROC_INFO_FREE(m, 1)

static inline void pmix_pdata_free(pmix_pdata_t* pd, size_t n) {
  PMIx_Pdata_free(pd, n);
}

#define PMIX_PDATA_CONSTRUCT(m) PMIx_Pdata_construct(m)
#define PMIX_PDATA_DESTRUCT(m) PMIx_Pdata_destruct(m)
#define PMIX_PDATA_CREATE(m, n) (m) = PMIx_Pdata_create(n)
#define PMIX_PDATA_FREE(m, n) PMIX_FREE_WITH(PMIx_Pdata_free((m), (n)), m)
#define PMIX_PDATA_RELEASE(m) PMIX_PDATA_FREE(m, 1)
#define PMIX_PDATA_LOAD(m, p, k, v, t) PMIx_Pdata_load((m), (p), (k), (v), (t))
#define PMIX_PDATA_XFER(d, s) PMIx_Pdata_xfer((d), (s))

static inline void pmix_app_free(pmix_app_t* ap, size_t n) {
  PMIx_App_free(ap, n);
}

#define PMIX_APP_CONSTRUCT(m) PMIx_App_construct(m)
#define PMIX_APP_DESTRUCT(m) PMIx_App_destruct(m)
#define PMIX_APP_CREATE(m, n) (m) = PMIx_App_create(n)
#define PMIX_APP_INFO_CREATE(m, n) PMIx_App_info_create((m), (n))
#define PMIX_APP_FREE(m, n) PMIX_FREE_WITH(PMIx_App_free((m), (n)), m)
#define PMIX_APP_RELEASE(m) PMIX_APP_FREE(m, 1)

#define PMIX_QUERY_CONSTRUCT(m) PMIx_Query_construct(m)
#define PMIX_QUERY_DESTRUCT(m) PMIx_Query_destruct(m)
#define PMIX_QUERY_CREATE(m, n) (m) = PMIx_Query_create(n)
#define PMIX_QUERY_QUALIFIERS_CREATE(m, n)                                     \
  PMIx_Query_qualifiers_create((m), (n))
#define PMIX_QUERY_FREE(m, n) PMIX_FREE_WITH(PMIx_Query_free((m), (n)), m)
#define PMIX_QUERY_RELEASE(m) PMIX_FREE_WITH(PMIx_Query_release(m), m)

#define PMIX_REGATTR_CONSTRUCT(a) PMIx_Regattr_construct(a)
#define PMIX_REGATTR_DESTRUCT(a) PMIx_Regattr_destruct(a)
#define PMIX_REGATTR_CREATE(m, n) (m) = PMIx_Regattr_create(n)
#define PMIX_REGATTR_FREE(m, n) PMIX_FREE_WITH(PMIx_Regattr_free((m), (n)), m)
#define PMIX_REGATTR_LOAD(a, n, k, t, v)                                       \
  PMIx_Regattr_load((a), (n), (k), (t), (v))
#define PMIX_REGATTR_XFER(a, b) PMIx_Regattr_xfer((a), (b))

/* -- bytes, buffers, environment ------------------------------------------- */

#define PMIX_BYTE_OBJECT_CONSTRUCT(m) PMIx_Byte_object_construct(m)
#define PMIX_BYTE_OBJECT_DESTRUCT(m) PMIx_Byte_object_destruct(m)
#define PMIX_BYTE_OBJECT_CREATE(m, n) (m) = PMIx_Byte_object_create(n)
#define PMIX_BYTE_OBJECT_FREE(m, n)                                            \
  PMIX_FREE_WITH(PMIx_Byte_object_free((m), (n)), m)
#define PMIX_BYTE_OBJECT_LOAD(b, d, s)                                         \
  do {                                                                         \
    PMIx_Byte_object_load((b), (char*)(d), (s));                               \
    (d) = NULL;                                                                \
    (s) = 0;                                                                   \
  } while (0)

#define PMIX_DATA_BUFFER_CREATE(m) (m) = PMIx_Data_buffer_create()
#define PMIX_DATA_BUFFER_RELEASE(m)                                            \
  PMIX_FREE_WITH(PMIx_Data_buffer_release(m), m)
#define PMIX_DATA_BUFFER_CONSTRUCT(m) PMIx_Data_buffer_construct(m)
#define PMIX_DATA_BUFFER_DESTRUCT(m) PMIx_Data_buffer_destruct(m)
#define PMIX_DATA_BUFFER_LOAD(b, d, s)                                         \
  PMIx_Data_buffer_load((b), (char*)(d), (s))

/* `d` is a pointer to any kind of bytes, `s` any integer. */
#define PMIX_DATA_BUFFER_UNLOAD(b, d, s)                                       \
  do {                                                                         \
    pmix_byte_object_t pmix_unloaded_ = {NULL, 0};                             \
    PMIx_Data_buffer_unload((b), &pmix_unloaded_.bytes, &pmix_unloaded_.size); \
    memcpy(&(d), &pmix_unloaded_.bytes, sizeof(char*));                        \
    (s) = pmix_unloaded_.size;                                                 \
  } while (0)

#define PMIX_ENVAR_CONSTRUCT(m) PMIx_Envar_construct(m)
#define PMIX_ENVAR_DESTRUCT(m) PMIx_Envar_destruct(m)
#define PMIX_ENVAR_CREATE(m, n) (m) = PMIx_Envar_create(n)
#define PMIX_ENVAR_FREE(m, n) PMIX_FREE_WITH(PMIx_Envar_free((m), (n)), m)
#define PMIX_ENVAR_LOAD(m, e, v, s)                                            \
  PMIx_Envar_load((m), (char*)(e), (char*)(v), (s))

/* -- hardware -------------------------------------------------------------- */

#define PMIX_COORD_CONSTRUCT(m) PMIx_Coord_construct(m)
#define PMIX_COORD_DESTRUCT(m) PMIx_Coord_destruct(m)
/* `n` places of `d` dimensions each. */
#define PMIX_COORD_CREATE(m, n, d) (m) = PMIx_Coord_create((d), (n))
#define PMIX_COORD_FREE(m, n) PMIX_FREE_WITH(PMIx_Coord_free((m), (n)), m)

#define PMIX_TOPOLOGY_CONSTRUCT(m) PMIx_Topology_construct(m)
#define PMIX_TOPOLOGY_DESTRUCT(m) PMIx_Topology_destruct(m)
#define PMIX_TOPOLOGY_CREATE(m, n) (m) = PMIx_Topology_create(n)
#define PMIX_TOPOLOGY_FREE(m, n) PMIX_FREE_WITH(PMIx_Topology_free((m), (n)), m)

#define PMIX_CPUSET_CONSTRUCT(m) PMIx_Cpuset_construct(m)
#define PMIX_CPUSET_DESTRUCT(m) PMIx_Cpuset_destruct(m)
#define PMIX_CPUSET_CREATE(m, n) (m) = PMIx_Cpuset_create(n)
#define PMIX_CPUSET_FREE(m, n) PMIX_FREE_WITH(PMIx_Cpuset_free((m), (n)), m)

#define PMIX_GEOMETRY_CONSTRUCT(m) PMIx_Geometry_construct(m)
#define PMIX_GEOMETRY_DESTRUCT(m) PMIx_Geometry_destruct(m)
#define PMIX_GEOMETRY_CREATE(m, n) (m) = PMIx_Geometry_create(n)
#define PMIX_GEOMETRY_FREE(m, n) PMIX_FREE_WITH(PMIx_Geometry_free((m), (n)), m)

#define PMIX_DEVICE_CONSTRUCT(m) PMIx_Device_construct(m)
#define PMIX_DEVICE_DESTRUCT(m) PMIx_Device_destruct(m)
#define PMIX_DEVICE_CREATE(m, n) (m) = PMIx_Device_create(n)
#define PMIX_DEVICE_FREE(m, n) PMIX_FREE_WITH(PMIx_Device_free((m), (n)), m)

#define PMIX_DEVICE_DIST_CONSTRUCT(m) PMIx_Device_distance_construct(m)
#define PMIX_DEVICE_DIST_DESTRUCT(m) PMIx_Device_distance_destruct(m)
#define PMIX_DEVICE_DIST_CREATE(m, n) (m) = PMIx_Device_distance_create(n)
#define PMIX_DEVICE_DIST_FREE(m, n)                                            \
  PMIX_FREE_WITH(PMIx_Device_distance_free((m), (n)), m)

#define PMIX_ENDPOINT_CONSTRUCT(m) PMIx_Endpoint_construct(m)
#define PMIX_ENDPOINT_DESTRUCT(m) PMIx_Endpoint_destruct(m)
#define PMIX_ENDPOINT_CREATE(m, n) (m) = PMIx_Endpoint_create(n)
#define PMIX_ENDPOINT_FREE(m, n) PMIX_FREE_WITH(PMIx_Endpoint_free((m), (n)), m)

#define PMIX_RESOURCE_UNIT_CONSTRUCT(m) PMIx_Resource_unit_construct(m)
#define PMIX_RESOURCE_UNIT_DESTRUCT(m) PMIx_Resource_unit_destruct(m)
#define PMIX_RESOURCE_UNIT_CREATE(m, n) (m) = PMIx_Resource_unit_create(n)
#define PMIX_RESOURCE_UNIT_FREE(m, n)                                          \
  PMIX_FREE_WITH(PMIx_Resource_unit_free((m), (n)), m)

#define PMIX_FABRIC_CONSTRUCT(m) PMIx_Fabric_construct(m)

/* -- usage ----------------------------------------------------------------- */

static inline void pmix_proc_stats_free(pmix_proc_stats_t* ps, size_t n) {
  PMIx_Proc_stats_free(ps, n);
}

static inline void pmix_disk_stats_free(pmix_disk_stats_t* d, size_t n) {
  PMIx_Disk_stats_free(d, n);
}

static inline void pmix_net_stats_free(pmix_net_stats_t* nst, size_t n) {
  PMIx_Net_stats_free(nst, n);
}

static inline void pmix_node_stats_free(pmix_node_stats_t* nd, size_t n) {
  PMIx_Node_stats_free(nd, n);
}

#define PMIX_PROC_STATS_CONSTRUCT(m) PMIx_Proc_stats_construct(m)
#define PMIX_PROC_STATS_DESTRUCT(m) PMIx_Proc_stats_destruct(m)
#define PMIX_PROC_STATS_CREATE(m, n) (m) = PMIx_Proc_stats_create(n)
#define PMIX_PROC_STATS_FREE(m, n)                                             \
  PMIX_FREE_WITH(PMIx_Proc_stats_free((m), (n)), m)
#define PMIX_PROC_STATS_RELEASE(m) PMIX_PROC_STATS_FREE(m, 1)

#define PMIX_DISK_STATS_CONSTRUCT(m) PMIx_Disk_stats_construct(m)
#define PMIX_DISK_STATS_DESTRUCT(m) PMIx_Disk_stats_destruct(m)
#define PMIX_DISK_STATS_CREATE(m, n) (m) = PMIx_Disk_stats_create(n)
#define PMIX_DISK_STATS_FREE(m, n)                                             \
  PMIX_FREE_WITH(PMIx_Disk_stats_free((m), (n)), m)
#define PMIX_DISK_STATS_RELEASE(m) PMIX_DISK_STATS_FREE(m, 1)

#define PMIX_NET_STATS_CONSTRUCT(m) PMIx_Net_stats_construct(m)
#define PMIX_NET_STATS_DESTRUCT(m) PMIx_Net_stats_destruct(m)
#define PMIX_NET_STATS_CREATE(m, n) (m) = PMIx_Net_stats_create(n)
#define PMIX_NET_STATS_FREE(m, n)                                              \
  PMIX_FREE_WITH(PMIx_Net_stats_free((m), (n)), m)
#define PMIX_NET_STATS_RELEASE(m) PMIX_NET_STATS_FREE(m, 1)

#define PMIX_NODE_STATS_CONSTRUCT(m) PMIx_Node_stats_construct(m)
#define PMIX_NODE_STATS_DESTRUCT(m) PMIx_Node_stats_destruct(m)
#define PMIX_NODE_STATS_CREATE(m, n) (m) = PMIx_Node_stats_create(n)
#define PMIX_NODE_STATS_FREE(m, n)                                             \
  PMIX_FREE_WITH(PMIx_Node_stats_free((m), (n)), m)
#define PMIX_NODE_STATS_RELEASE(m) PMIX_NODE_STATS_FREE(m, 1)

#ifdef __cplusplus
}
#endif

#endif
