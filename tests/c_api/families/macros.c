/* The macros that programs for releases 3.2 to 7.0 use. */

#include "expect.h"

/* Initializers of every structure; static ones want constants. */
static pmix_proc_t s_proc = PMIX_PROC_STATIC_INIT;
static pmix_byte_object_t s_bytes = PMIX_BYTE_OBJECT_STATIC_INIT;
static pmix_envar_t s_envar = PMIX_ENVAR_STATIC_INIT;
static pmix_data_array_t s_array = PMIX_DATA_ARRAY_STATIC_INIT;
static pmix_data_buffer_t s_buffer = PMIX_DATA_BUFFER_STATIC_INIT;
static pmix_proc_info_t s_proc_info = PMIX_PROC_INFO_STATIC_INIT;
static pmix_cpuset_t s_cpuset = PMIX_CPUSET_STATIC_INIT;
static pmix_topology_t s_topology = PMIX_TOPOLOGY_STATIC_INIT;
static pmix_coord_t s_coord = PMIX_COORD_STATIC_INIT;
static pmix_geometry_t s_geometry = PMIX_GEOMETRY_STATIC_INIT;
static pmix_device_t s_device = PMIX_DEVICE_STATIC_INIT;
static pmix_resource_unit_t s_unit = PMIX_RESOURCE_UNIT_STATIC_INIT;
static pmix_device_distance_t s_distance = PMIX_DEVICE_DIST_STATIC_INIT;
static pmix_endpoint_t s_endpoint = PMIX_ENDPOINT_STATIC_INIT;
static pmix_node_pid_t s_node_pid = PMIX_NODE_PID_STATIC_INIT;
static pmix_regex2_t s_regex = PMIX_REGEX2_STATIC_INIT;
static pmix_proc_stats_t s_proc_stats = PMIX_PROC_STATS_STATIC_INIT;
static pmix_disk_stats_t s_disk_stats = PMIX_DISK_STATS_STATIC_INIT;
static pmix_net_stats_t s_net_stats = PMIX_NET_STATS_STATIC_INIT;
static pmix_node_stats_t s_node_stats = PMIX_NODE_STATS_STATIC_INIT;
static pmix_value_t s_value = PMIX_VALUE_STATIC_INIT;
static pmix_info_t s_info = PMIX_INFO_STATIC_INIT;
static pmix_pdata_t s_pdata = PMIX_LOOKUP_STATIC_INIT;
static pmix_app_t s_app = PMIX_APP_STATIC_INIT;
static pmix_query_t s_query = PMIX_QUERY_STATIC_INIT;
static pmix_regattr_t s_regattr = PMIX_REGATTR_STATIC_INIT;
static pmix_fabric_t s_fabric = PMIX_FABRIC_STATIC_INIT;

static void initializers(void) {
  EXPECT(s_proc.rank == PMIX_RANK_UNDEF
         && s_proc_info.proc.rank == s_proc.rank);
  EXPECT(s_bytes.bytes == NULL && s_envar.value == NULL);
  EXPECT(s_array.array == NULL && s_buffer.base_ptr == NULL);
  EXPECT(s_cpuset.bitmap == NULL && s_topology.topology == NULL);
  EXPECT(s_coord.coord == NULL && s_geometry.coordinates == NULL);
  EXPECT(s_device.type == PMIX_DEVTYPE_UNKNOWN && s_unit.count == 0);
  EXPECT(s_distance.mindist == UINT16_MAX && s_endpoint.endpt.bytes == NULL);
  EXPECT(s_node_pid.nodeid == UINT32_MAX && s_regex.len == 0);
  EXPECT(s_proc_stats.cmd == NULL && s_disk_stats.milliseconds_io == 0);
  EXPECT(s_net_stats.num_recv_errs == 0 && s_node_stats.diskstats == NULL);
  EXPECT(s_value.type == PMIX_UNDEF && s_info.value.data.ptr == NULL);
  EXPECT(s_pdata.key[0] == '\0' && s_app.maxprocs == 0 && s_query.nqual == 0);
  EXPECT(s_regattr.description == NULL && s_fabric.index == SIZE_MAX);
}

static void names(void) {
  pmix_key_t key;
  pmix_nspace_t nspace, cluster, both;
  pmix_proc_t proc, other;
  pmix_info_t info;

  PMIX_LOAD_KEY(key, "pmix.rank");
  EXPECT(PMIX_CHECK_RESERVED_KEY(key));
  PMIX_INFO_CONSTRUCT(&info);
  PMIX_LOAD_KEY(info.key, PMIX_RANK);
  EXPECT(PMIX_CHECK_KEY(&info, PMIX_RANK));
  PMIX_LOAD_NSPACE(nspace, "job");
  PMIX_LOAD_NSPACE(cluster, "cluster");
  EXPECT(PMIX_CHECK_NSPACE(nspace, "job") && !PMIX_NSPACE_INVALID(nspace));
  PMIX_MULTICLUSTER_NSPACE_CONSTRUCT(both, cluster, nspace);
  PMIX_MULTICLUSTER_NSPACE_PARSE(both, cluster, nspace);
  EXPECT_TEXT("job", nspace);
  PMIX_LOAD_PROCID(&proc, nspace, 2);
  PMIX_XFER_PROCID(&other, &proc);
  PMIX_PROCID_XFER(&other, &proc);
  EXPECT(PMIX_CHECK_PROCID(&proc, &other) && !PMIX_PROCID_INVALID(&proc));
  EXPECT(PMIX_CHECK_RANK(2, PMIX_RANK_WILDCARD) && PMIX_RANK_IS_VALID(2));
  EXPECT(PMIX_SYSTEM_EVENT(PMIX_EVENT_NODE_DOWN));
  EXPECT(!PMIX_SYSTEM_EVENT(PMIX_ERR_TIMEOUT));
  EXPECT(pmix_keylen(key) == 9 && pmix_nslen(NULL) == 0);
  pmix_strncpy(key, "abc", 2);
  EXPECT_TEXT("ab", key);
}

static void lists(void) {
  char** list = NULL;
  char** copy = NULL;
  char* joined = NULL;
  int count = 0;
  pmix_status_t rc = PMIX_ERROR;

  PMIX_ARGV_APPEND(rc, list, "b");
  PMIX_ARGV_PREPEND(rc, list, "a");
  PMIX_ARGV_APPEND_UNIQUE(rc, &list, "b");
  PMIX_ARGV_COUNT(count, list);
  EXPECT(rc == PMIX_SUCCESS && count == 2);
  PMIX_ARGV_COPY(copy, list);
  PMIX_ARGV_JOIN(joined, copy, ' ');
  EXPECT_TEXT("a b", joined);
  free(joined);
  PMIX_ARGV_FREE(copy);
  PMIX_ARGV_FREE(list);
  EXPECT(copy == NULL && list == NULL);
  PMIX_ARGV_SPLIT(list, "x:y", ':');
  PMIX_SETENV(rc, "A", "1", &list);
  EXPECT(rc == PMIX_SUCCESS && pmix_argv_count(list) == 3);
  PMIX_ARGV_FREE(list);

  EXPECT_STATUS(PMIX_SUCCESS, pmix_argv_append_nosize(&list, "b"));
  EXPECT_STATUS(PMIX_SUCCESS, pmix_argv_prepend_nosize(&list, "a"));
  EXPECT_STATUS(PMIX_SUCCESS, pmix_argv_append_unique_nosize(&list, "a"));
  EXPECT_STATUS(PMIX_SUCCESS, pmix_setenv("A", "1", true, &list));
  copy = pmix_argv_copy(list);
  joined = pmix_argv_join(copy, ',');
  EXPECT_TEXT("a,b,A=1", joined);
  free(joined);
  pmix_argv_free(copy);
  pmix_argv_free(list);
  list = pmix_argv_split("x,,y", ',');
  EXPECT(pmix_argv_count(list) == 2);
  pmix_argv_free(list);
  list = pmix_argv_split_with_empty("x,,y", ',');
  EXPECT(pmix_argv_count(list) == 3);
  pmix_argv_free(list);
  list = pmix_argv_split_inter("x,,y", ',', false);
  EXPECT(pmix_argv_count(list) == 2);
  pmix_argv_free(list);
}

static void values(void) {
  uint32_t five = 5;
  int number = 0;
  double real = 0;
  void* data = NULL;
  size_t size = 0;
  pmix_status_t rc = PMIX_ERROR;
  pmix_value_t value;
  pmix_value_t* copy = NULL;
  pmix_data_array_t array;
  pmix_data_array_t* made = NULL;

  PMIX_VALUE_CONSTRUCT(&value);
  PMIX_VALUE_LOAD(&value, &five, PMIX_UINT32);
  PMIX_VALUE_GET_NUMBER(rc, &value, number, int);
  EXPECT(rc == PMIX_SUCCESS && number == 5);
  PMIX_VALUE_GET_NUMBER(rc, &value, real, double);
  EXPECT(rc == PMIX_SUCCESS && real > 4.5 && real < 5.5);
  PMIX_VALUE_XFER(rc, copy, &value);
  EXPECT(rc == PMIX_SUCCESS && copy != NULL && copy->data.uint32 == 5);
  PMIX_VALUE_XFER_DIRECT(rc, copy, &value);
  PMIX_VALUE_UNLOAD(rc, copy, &data, &size);
  EXPECT(rc == PMIX_SUCCESS && size == sizeof(five));
  free(data);
  PMIX_VALUE_RELEASE(copy);
  EXPECT(copy == NULL);
  PMIX_VALUE_CREATE(copy, 2);
  PMIX_VALUE_FREE(copy, 2);
  PMIX_VALUE_DESTRUCT(&value);
  PMIX_VALUE_LOAD(&value, "red", PMIX_STRING);
  PMIX_VALUE_GET_NUMBER(rc, &value, number, int);
  EXPECT_STATUS(PMIX_ERR_BAD_PARAM, rc);
  EXPECT(!PMIX_CHECK_BOOL(&value) && !PMIX_CHECK_TRUE(&value));
  EXPECT(pmix_check_true(&value) == PMIX_NON_BOOL);
  PMIX_VALUE_DESTRUCT(&value);

  PMIX_DATA_ARRAY_INIT(&array, PMIX_INFO);
  PMIX_DATA_ARRAY_CONSTRUCT(&array, 2, PMIX_INFO);
  EXPECT(array.size == 2);
  PMIX_DATA_ARRAY_DESTRUCT(&array);
  PMIX_DATA_ARRAY_CREATE(made, 3, PMIX_PROC);
  PMIX_DATA_ARRAY_FREE(made);
  EXPECT(made == NULL);
}

static void infos(void) {
  pmix_status_t rc = PMIX_ERROR;
  void* list = NULL;
  bool yes = true;
  pmix_info_t one;
  pmix_info_t* many = NULL;
  pmix_data_array_t array = PMIX_DATA_ARRAY_STATIC_INIT;

  PMIX_INFO_CREATE(many, 2);
  PMIX_INFO_LOAD(&many[0], PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
  EXPECT(PMIX_INFO_TRUE(&many[0]));
  PMIX_INFO_REQUIRED(&many[0]);
  EXPECT(PMIX_INFO_IS_REQUIRED(&many[0]) && !PMIX_INFO_IS_OPTIONAL(&many[0]));
  PMIX_INFO_OPTIONAL(&many[0]);
  PMIX_INFO_PROCESSED(&many[0]);
  EXPECT(PMIX_INFO_WAS_PROCESSED(&many[0]));
  PMIX_INFO_SET_END(&many[0]);
  EXPECT(PMIX_INFO_IS_END(&many[0]));
  PMIX_INFO_SET_QUALIFIER(&many[0]);
  EXPECT(PMIX_INFO_IS_QUALIFIER(&many[0]));
  PMIX_INFO_SET_PERSISTENT(&many[1]);
  EXPECT(PMIX_INFO_IS_PERSISTENT(&many[1]));
  PMIX_INFO_CONSTRUCT(&one);
  PMIX_INFO_XFER(&one, &many[0]);
  EXPECT(PMIX_CHECK_KEY(&one, PMIX_COLLECT_DATA));
  PMIX_INFO_FREE(many, 2);
  EXPECT(many == NULL);

  PMIX_INFO_LIST_START(list);
  PMIX_INFO_LIST_ADD(rc, list, "b", "red", PMIX_STRING);
  PMIX_INFO_LIST_PREPEND(rc, list, "a", "red", PMIX_STRING);
  PMIX_INFO_LIST_XFER(rc, list, &one);
  PMIX_INFO_LIST_INSERT(rc, list, &one);
  PMIX_INFO_LIST_CONVERT(rc, list, &array);
  EXPECT(rc == PMIX_SUCCESS && array.size == 4);
  PMIX_INFO_LIST_RELEASE(list);
  PMIX_DATA_ARRAY_DESTRUCT(&array);
  PMIX_INFO_DESTRUCT(&one);
}

/* The four macros that most structures have. */
#define LIFE(NAME, type)                                                       \
  do {                                                                         \
    type one_;                                                                 \
    type* many_ = NULL;                                                        \
    PMIX_##NAME##_CONSTRUCT(&one_);                                            \
    PMIX_##NAME##_DESTRUCT(&one_);                                             \
    PMIX_##NAME##_CREATE(many_, 2);                                            \
    EXPECT(many_ != NULL);                                                     \
    PMIX_##NAME##_FREE(many_, 2);                                              \
    EXPECT(many_ == NULL);                                                     \
  } while (0)

#define RELEASE(NAME, type)                                                    \
  do {                                                                         \
    type* one_ = NULL;                                                         \
    PMIX_##NAME##_CREATE(one_, 1);                                             \
    PMIX_##NAME##_RELEASE(one_);                                               \
    EXPECT(one_ == NULL);                                                      \
  } while (0)

static void structures(void) {
  pmix_coord_t place;
  pmix_coord_t* places = NULL;
  pmix_fabric_t fabric;

  LIFE(PROC, pmix_proc_t);
  LIFE(PROC_INFO, pmix_proc_info_t);
  LIFE(PDATA, pmix_pdata_t);
  LIFE(APP, pmix_app_t);
  LIFE(QUERY, pmix_query_t);
  LIFE(REGATTR, pmix_regattr_t);
  LIFE(BYTE_OBJECT, pmix_byte_object_t);
  LIFE(ENVAR, pmix_envar_t);
  LIFE(TOPOLOGY, pmix_topology_t);
  LIFE(CPUSET, pmix_cpuset_t);
  LIFE(GEOMETRY, pmix_geometry_t);
  LIFE(DEVICE, pmix_device_t);
  LIFE(DEVICE_DIST, pmix_device_distance_t);
  LIFE(ENDPOINT, pmix_endpoint_t);
  LIFE(RESOURCE_UNIT, pmix_resource_unit_t);
  LIFE(PROC_STATS, pmix_proc_stats_t);
  LIFE(DISK_STATS, pmix_disk_stats_t);
  LIFE(NET_STATS, pmix_net_stats_t);
  LIFE(NODE_STATS, pmix_node_stats_t);
  RELEASE(PROC, pmix_proc_t);
  RELEASE(PROC_INFO, pmix_proc_info_t);
  RELEASE(PDATA, pmix_pdata_t);
  RELEASE(APP, pmix_app_t);
  RELEASE(QUERY, pmix_query_t);
  RELEASE(PROC_STATS, pmix_proc_stats_t);
  RELEASE(DISK_STATS, pmix_disk_stats_t);
  RELEASE(NET_STATS, pmix_net_stats_t);
  RELEASE(NODE_STATS, pmix_node_stats_t);
  PMIX_COORD_CONSTRUCT(&place);
  PMIX_COORD_DESTRUCT(&place);
  PMIX_COORD_CREATE(places, 2, 3);
  EXPECT(places != NULL && places[1].dims == 3);
  PMIX_COORD_FREE(places, 2);
  PMIX_FABRIC_CONSTRUCT(&fabric);
  EXPECT(fabric.module == NULL);
  pmix_app_free(PMIx_App_create(1), 1);
  pmix_pdata_free(PMIx_Pdata_create(1), 1);
  pmix_proc_stats_free(PMIx_Proc_stats_create(1), 1);
  pmix_disk_stats_free(PMIx_Disk_stats_create(1), 1);
  pmix_net_stats_free(PMIx_Net_stats_create(1), 1);
  pmix_node_stats_free(PMIx_Node_stats_create(1), 1);
}

static void contents(void) {
  char* bytes = (char*)pmix_malloc(4);
  uint8_t* taken = NULL;
  int32_t size = 4;
  pmix_proc_t proc;
  pmix_pdata_t data, copy;
  pmix_app_t app;
  pmix_query_t query;
  pmix_regattr_t attribute, same;
  pmix_envar_t envar;
  pmix_byte_object_t object;
  pmix_data_buffer_t buffer;
  pmix_data_buffer_t* made = NULL;

  PMIX_PROC_LOAD(&proc, "job", 1);
  PMIX_PDATA_CONSTRUCT(&data);
  PMIX_PDATA_CONSTRUCT(&copy);
  PMIX_PDATA_LOAD(&data, &proc, "key", "red", PMIX_STRING);
  PMIX_PDATA_XFER(&copy, &data);
  EXPECT_TEXT("red", copy.value.data.string);
  PMIX_PDATA_DESTRUCT(&data);
  PMIX_PDATA_DESTRUCT(&copy);
  PMIX_APP_CONSTRUCT(&app);
  PMIX_APP_INFO_CREATE(&app, 2);
  EXPECT(app.ninfo == 2);
  PMIX_APP_DESTRUCT(&app);
  PMIX_QUERY_CONSTRUCT(&query);
  PMIX_QUERY_QUALIFIERS_CREATE(&query, 2);
  EXPECT(query.nqual == 2);
  PMIX_QUERY_DESTRUCT(&query);
  PMIX_REGATTR_CONSTRUCT(&attribute);
  PMIX_REGATTR_CONSTRUCT(&same);
  PMIX_REGATTR_LOAD(&attribute, "PMIX_RANK", PMIX_RANK, PMIX_PROC_RANK, "who");
  PMIX_REGATTR_XFER(&same, &attribute);
  EXPECT_TEXT("PMIX_RANK", same.name);
  PMIX_REGATTR_DESTRUCT(&attribute);
  PMIX_REGATTR_DESTRUCT(&same);
  PMIX_ENVAR_CONSTRUCT(&envar);
  PMIX_ENVAR_LOAD(&envar, "PATH", "/bin", ':');
  EXPECT_TEXT("/bin", envar.value);
  PMIX_ENVAR_DESTRUCT(&envar);

  memcpy(bytes, "abc", 4);
  PMIX_BYTE_OBJECT_CONSTRUCT(&object);
  PMIX_BYTE_OBJECT_LOAD(&object, bytes, size);
  EXPECT(bytes == NULL && size == 0 && object.size == 4);
  PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
  PMIX_DATA_BUFFER_LOAD(&buffer, object.bytes, object.size);
  PMIX_DATA_BUFFER_UNLOAD(&buffer, taken, size);
  EXPECT(size == 4 && taken != NULL && memcmp(taken, "abc", 4) == 0);
  pmix_free(taken);
  PMIX_DATA_BUFFER_DESTRUCT(&buffer);
  PMIX_DATA_BUFFER_CREATE(made);
  PMIX_DATA_BUFFER_RELEASE(made);
  EXPECT(made == NULL);
  pmix_free(pmix_calloc(2, 2));
}

int main(void) {
  initializers();
  names();
  lists();
  values();
  infos();
  structures();
  contents();
  return outcome();
}
