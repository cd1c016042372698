/* What one PMIx library packs, another one unpacks. Compiled with Debian's
 * headers and run with its library or with ours:
 *
 *   crossing pack          prints `name type bytes` for values of all types
 *   crossing unpack        reads such lines and says what the values are
 *   crossing texts         prints what the printers and generators make
 */

#include "crossing_unpack.h"

#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* OpenPMIx packs nothing before it is initialized. */
static void prepare(void) {
  pmix_proc_t self;
  pmix_info_t info[1];
  bool yes = true;
  if (strncmp(PMIx_Get_version(), "OpenPMIx", 8) != 0)
    return;
  PMIX_INFO_LOAD(&info[0], PMIX_TOOL_DO_NOT_CONNECT, &yes, PMIX_BOOL);
  if (PMIx_tool_init(&self, info, 1) != PMIX_SUCCESS) {
    fprintf(stderr, "the other library cannot be initialized\n");
    exit(1);
  }
}

/* -- packing --------------------------------------------------------------- */

static void pack(const char* name, void* from, int32_t n,
                 pmix_data_type_t type) {
  pmix_data_buffer_t buffer;
  size_t i;
  PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
  require(PMIx_Data_pack(NULL, &buffer, from, n, type), name);
  printf("%s %d ", name, type);
  for (i = 0; i < buffer.bytes_used; ++i)
    printf("%02x", (unsigned char)buffer.base_ptr[i]);
  printf("\n");
  PMIX_DATA_BUFFER_DESTRUCT(&buffer);
}

static void pack_value(const char* name, const void* data,
                       pmix_data_type_t type) {
  pmix_value_t value;
  pmix_info_t info;
  char longer[64];
  PMIX_VALUE_CONSTRUCT(&value);
  require(PMIx_Value_load(&value, data, type), name);
  snprintf(longer, sizeof(longer), "value-%s", name);
  pack(longer, &value, 1, PMIX_VALUE);
  PMIX_VALUE_DESTRUCT(&value);
  PMIX_INFO_CONSTRUCT(&info);
  require(PMIx_Info_load(&info, "some.key", data, type), name);
  PMIX_INFO_REQUIRED(&info);
  snprintf(longer, sizeof(longer), "info-%s", name);
  pack(longer, &info, 1, PMIX_INFO);
  PMIX_INFO_DESTRUCT(&info);
}

static void pack_all(void) {
  bool yes = true;
  uint8_t bytes[] = {0, 127, 255};
  char* texts[] = {"red", "", "a longer text with spaces"};
  size_t sizes[] = {0, 127, 128, SIZE_MAX};
  pid_t pid = 4711;
  int ints[] = {0, -1, 1, INT32_MIN, INT32_MAX};
  int64_t longs[] = {0, -1, INT64_MIN, INT64_MAX, 1LL << 55};
  uint64_t ulongs[] = {0, 1ULL << 55, 1ULL << 56, UINT64_MAX};
  int16_t shorts[] = {-300, 300};
  uint32_t ranks[] = {0, PMIX_RANK_WILDCARD, PMIX_RANK_UNDEF};
  float real = 2.5;
  double reals[] = {0, -2.25, 1e10, 0.000001};
  struct timeval interval = {5, 7};
  time_t when = 1700000000;
  pmix_status_t status = PMIX_ERR_TIMEOUT;
  pmix_proc_t procs[2];
  pmix_byte_object_t object = {"\1\0\2", 3};
  pmix_envar_t envar = {"PATH", "/bin", ':'};
  uint32_t axes[] = {1, 2, 70000};
  pmix_coord_t coord = {PMIX_COORD_PHYSICAL_VIEW, axes, 3};
  pmix_proc_info_t about;
  pmix_data_array_t array;
  pmix_info_t* infos;
  pmix_query_t* query;
  pmix_app_t* app;
  pmix_pdata_t pdata;
  pmix_regattr_t regattr;
  pmix_geometry_t geometry = {3, "uuid", "ib0", &coord, 1};
  pmix_device_distance_t distance = {"uuid", "ib0", PMIX_DEVTYPE_NETWORK, 1, 9};
  pmix_endpoint_t endpoint = {"uuid", "ib0", {"\7", 1}};
  pmix_data_buffer_t nested;

  pack("bool", &yes, 1, PMIX_BOOL);
  pack("byte", bytes, 3, PMIX_BYTE);
  pack("uint8", bytes, 3, PMIX_UINT8);
  pack("int8", bytes, 3, PMIX_INT8);
  pack("string", texts, 3, PMIX_STRING);
  pack("size", sizes, 4, PMIX_SIZE);
  pack("pid", &pid, 1, PMIX_PID);
  pack("int", ints, 5, PMIX_INT);
  pack("int32", ints, 5, PMIX_INT32);
  pack("uint", ints, 5, PMIX_UINT);
  pack("uint32", ints, 5, PMIX_UINT32);
  pack("int64", longs, 5, PMIX_INT64);
  pack("uint64", ulongs, 4, PMIX_UINT64);
  pack("int16", shorts, 2, PMIX_INT16);
  pack("uint16", shorts, 2, PMIX_UINT16);
  pack("rank", ranks, 3, PMIX_PROC_RANK);
  pack("float", &real, 1, PMIX_FLOAT);
  pack("double", reals, 4, PMIX_DOUBLE);
  pack("timeval", &interval, 1, PMIX_TIMEVAL);
  pack("time", &when, 1, PMIX_TIME);
  pack("status", &status, 1, PMIX_STATUS);
  PMIX_LOAD_PROCID(&procs[0], "job", 3);
  PMIX_LOAD_PROCID(&procs[1], "other", PMIX_RANK_WILDCARD);
  pack("proc", procs, 2, PMIX_PROC);
  pack("byte-object", &object, 1, PMIX_BYTE_OBJECT);
  pack("envar", &envar, 1, PMIX_ENVAR);
  pack("coord", &coord, 1, PMIX_COORD);
  pack("geometry", &geometry, 1, PMIX_GEOMETRY);
  pack("distance", &distance, 1, PMIX_DEVICE_DIST);
  pack("endpoint", &endpoint, 1, PMIX_ENDPOINT);
  PMIX_PROC_INFO_CONSTRUCT(&about);
  about.proc = procs[0];
  about.hostname = "node1";
  about.pid = 12;
  about.state = PMIX_PROC_STATE_RUNNING;
  pack("proc-info", &about, 1, PMIX_PROC_INFO);

  PMIX_INFO_CREATE(infos, 2);
  PMIX_INFO_LOAD(&infos[0], PMIX_TIMEOUT, &ints[2], PMIX_INT);
  PMIX_INFO_LOAD(&infos[1], "text", "hello", PMIX_STRING);
  array.type = PMIX_INFO;
  array.size = 2;
  array.array = infos;
  pack("array", &array, 1, PMIX_DATA_ARRAY);
  PMIX_QUERY_CREATE(query, 1);
  PMIX_ARGV_APPEND(status, query->keys, PMIX_QUERY_NAMESPACES);
  query->qualifiers = infos;
  query->nqual = 2;
  pack("query", query, 1, PMIX_QUERY);
  query->qualifiers = NULL;
  query->nqual = 0;
  PMIX_QUERY_FREE(query, 1);
  PMIX_APP_CREATE(app, 1);
  app->cmd = strdup("hello");
  PMIX_ARGV_APPEND(status, app->argv, "hello");
  PMIX_ARGV_APPEND(status, app->argv, "-x");
  PMIX_ARGV_APPEND(status, app->env, "A=1");
  app->maxprocs = 4;
  app->info = infos;
  app->ninfo = 2;
  pack("app", app, 1, PMIX_APP);
  app->info = NULL;
  app->ninfo = 0;
  PMIX_APP_FREE(app, 1);
  PMIX_PDATA_CONSTRUCT(&pdata);
  pdata.proc = procs[0];
  PMIX_LOAD_KEY(pdata.key, "published");
  require(PMIx_Value_load(&pdata.value, "data", PMIX_STRING), "pdata");
  pack("pdata", &pdata, 1, PMIX_PDATA);
  PMIX_PDATA_DESTRUCT(&pdata);
  PMIX_REGATTR_CONSTRUCT(&regattr);
  regattr.name = strdup("PMIX_TIMEOUT");
  PMIX_LOAD_KEY(regattr.string, PMIX_TIMEOUT);
  regattr.type = PMIX_INT;
  PMIX_ARGV_APPEND(status, regattr.description, "seconds");
  pack("regattr", &regattr, 1, PMIX_REGATTR);
  PMIX_REGATTR_DESTRUCT(&regattr);
  PMIX_DATA_BUFFER_CONSTRUCT(&nested);
  require(PMIx_Data_pack(NULL, &nested, texts, 3, PMIX_STRING), "nested");
  pack("buffer", &nested, 1, PMIX_DATA_BUFFER);

  pack_value("bool", &yes, PMIX_BOOL);
  pack_value("string", "red", PMIX_STRING);
  pack_value("size", &sizes[2], PMIX_SIZE);
  pack_value("pid", &pid, PMIX_PID);
  pack_value("uint32", &ranks[1], PMIX_UINT32);
  pack_value("double", &reals[1], PMIX_DOUBLE);
  pack_value("timeval", &interval, PMIX_TIMEVAL);
  pack_value("proc", &procs[0], PMIX_PROC);
  pack_value("rank", &ranks[2], PMIX_PROC_RANK);
  pack_value("byte-object", &object, PMIX_BYTE_OBJECT);
  pack_value("envar", &envar, PMIX_ENVAR);
  pack_value("array", &array, PMIX_DATA_ARRAY);
  pack_value("coord", &coord, PMIX_COORD);
  PMIX_DATA_BUFFER_DESTRUCT(&nested);
  PMIX_INFO_FREE(infos, 2);
}

/* -- texts ----------------------------------------------------------------- */

static void texts(void) {
  static const char* nodes[] = {"n01,n02,n03,n07,login", "a,b,c", "node1",
                                "n1,n2,n3,x09,x10"};
  static const char* ranks[] = {"0,1,2,3;4,5,6,7;8", "0;1;2", "0,2,4;1,3,5"};
  pmix_cpuset_t cpuset;
  pmix_locality_t locality;
  char* text;
  int i;
  for (i = 0; i < 256; ++i)
    printf("%d: %s, %s, %s, %s, %s, %s, %s\n", i,
           PMIx_Proc_state_string((pmix_proc_state_t)i),
           PMIx_Job_state_string((pmix_job_state_t)i),
           PMIx_Scope_string((pmix_scope_t)i),
           PMIx_Persistence_string((pmix_persistence_t)i),
           PMIx_Data_range_string((pmix_data_range_t)i),
           PMIx_Link_state_string((pmix_link_state_t)i),
           PMIx_IOF_channel_string((pmix_iof_channel_t)i));
  for (i = 0; i < 5; ++i)
    printf("%s\n", PMIx_Alloc_directive_string((pmix_alloc_directive_t)i));
  for (i = 1; i < 58; ++i)
    if (i != 29 && i != 44) /* Types of other releases. */
      printf("%s\n", PMIx_Data_type_string((pmix_data_type_t)i));
  for (i = 0; i < 16; ++i) {
    text = PMIx_Info_directives_string((pmix_info_directives_t)i);
    printf("%s\n", text);
    free(text);
  }
  for (i = 0; i < 7; ++i)
    printf("%s\n", PMIx_Value_comparison_string((pmix_value_cmp_t)i));
  for (i = 0; i < 6; ++i)
    printf("%s\n", PMIx_Device_type_string(1ULL << i));
  printf("%s %s\n", PMIx_Get_attribute_string("PMIX_JOB_SIZE"),
         PMIx_Get_attribute_name("pmix.job.size"));
  for (i = 0; i < 4; ++i) {
    require(PMIx_generate_regex(nodes[i], &text), nodes[i]);
    printf("%s\n", text);
    free(text);
  }
  for (i = 0; i < 3; ++i) {
    require(PMIx_generate_ppn(ranks[i], &text), ranks[i]);
    printf("%s\n", text);
    free(text);
  }
  PMIX_CPUSET_CONSTRUCT(&cpuset);
  {
    char from[] = "hwloc:0-1,4";
    require(PMIx_Parse_cpuset_string(from, &cpuset), "cpuset");
  }
  require(PMIx_server_generate_cpuset_string(&cpuset, &text), "cpuset");
  printf("%s\n", text);
  free(text);
  (void)PMIx_Get_relative_locality("hwloc:SK0:L30:CR0:HT0-1:NM0",
                                   "hwloc:SK0:L30:CR1:HT2-3:NM0", &locality);
  printf("%x\n", locality);
}

int main(int argc, char** argv) {
  prepare();
  if (argc == 2 && strcmp(argv[1], "pack") == 0)
    pack_all();
  else if (argc == 2 && strcmp(argv[1], "unpack") == 0)
    unpack_all();
  else if (argc == 2 && strcmp(argv[1], "texts") == 0)
    texts();
  else
    return 2;
  fflush(stdout);
  _Exit(0); /* The other library would wait for a server. */
}
