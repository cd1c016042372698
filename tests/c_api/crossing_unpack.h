/* The other half of crossing.c: unpacks values and says what they are. */

#ifndef TROUPE_TEST_CROSSING_UNPACK_H
#define TROUPE_TEST_CROSSING_UNPACK_H

#include <inttypes.h>
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(pmix_status_t status, const char* what) {
  if (status == PMIX_SUCCESS)
    return;
  fprintf(stderr, "%s: %d\n", what, status);
  exit(1);
}

static void describe_value(const pmix_value_t* x);

static void describe_infos(const pmix_info_t* xs, size_t n) {
  size_t i;
  for (i = 0; i < n; ++i) {
    printf(" %s/%u:", xs[i].key, xs[i].flags);
    describe_value(&xs[i].value);
  }
}

static void describe_texts(char** xs) {
  for (; xs != NULL && *xs != NULL; ++xs)
    printf(" '%s'", *xs);
}

static void describe_bytes(const char* xs, size_t n) {
  size_t i;
  for (i = 0; i < n; ++i)
    printf(" %02x", (unsigned char)xs[i]);
}

static void describe_value(const pmix_value_t* x) {
  printf(" (%d)", x->type);
  switch (x->type) {
    case PMIX_BOOL:
      printf(" %d", x->data.flag);
      break;
    case PMIX_STRING:
      printf(" '%s'", x->data.string);
      break;
    case PMIX_INT:
      printf(" %d", x->data.integer);
      break;
    case PMIX_SIZE:
      printf(" %zu", x->data.size);
      break;
    case PMIX_PID:
      printf(" %d", (int)x->data.pid);
      break;
    case PMIX_UINT32:
    case PMIX_PROC_RANK:
      printf(" %u", x->data.uint32);
      break;
    case PMIX_DOUBLE:
      printf(" %f", x->data.dval);
      break;
    case PMIX_TIMEVAL:
      printf(" %ld.%ld", (long)x->data.tv.tv_sec, (long)x->data.tv.tv_usec);
      break;
    case PMIX_PROC:
      printf(" %s:%u", x->data.proc->nspace, x->data.proc->rank);
      break;
    case PMIX_BYTE_OBJECT:
      describe_bytes(x->data.bo.bytes, x->data.bo.size);
      break;
    case PMIX_ENVAR:
      printf(" %s=%s %c", x->data.envar.envar, x->data.envar.value,
             x->data.envar.separator);
      break;
    case PMIX_COORD:
      printf(" %d %zu %u", x->data.coord->view, x->data.coord->dims,
             x->data.coord->coord[2]);
      break;
    case PMIX_DATA_ARRAY:
      printf(" [%d]", x->data.darray->type);
      describe_infos((const pmix_info_t*)x->data.darray->array,
                     x->data.darray->size);
      break;
    case PMIX_DATA_BUFFER:
      describe_bytes(x->data.dbuf->base_ptr, x->data.dbuf->bytes_used);
      break;
    default:
      printf(" ?");
  }
}

/* Where unpacked values go: large enough for eight of any type. */
static union {
  bool flags[8];
  uint8_t bytes[8];
  uint16_t shorts[8];
  uint32_t ints[8];
  uint64_t longs[8];
  char* texts[8];
  float reals[8];
  double doubles[8];
  struct timeval intervals[8];
  pmix_proc_t procs[8];
  pmix_byte_object_t objects[8];
  pmix_envar_t envars[8];
  pmix_coord_t coords[8];
  pmix_geometry_t geometries[8];
  pmix_device_distance_t distances[8];
  pmix_endpoint_t endpoints[8];
  pmix_proc_info_t about[8];
  pmix_data_array_t arrays[8];
  pmix_query_t queries[8];
  pmix_app_t apps[8];
  pmix_pdata_t pdatas[8];
  pmix_regattr_t regattrs[8];
  pmix_data_buffer_t buffers[8];
  pmix_value_t values[8];
  pmix_info_t infos[8];
} there;

static void describe(pmix_data_type_t type, int32_t i) {
  switch (type) {
    case PMIX_BOOL:
      printf(" %d", there.flags[i]);
      break;
    case PMIX_BYTE:
    case PMIX_UINT8:
    case PMIX_INT8:
      printf(" %u", there.bytes[i]);
      break;
    case PMIX_INT16:
    case PMIX_UINT16:
      printf(" %u", there.shorts[i]);
      break;
    case PMIX_STRING:
      printf(" '%s'", there.texts[i]);
      break;
    case PMIX_SIZE:
    case PMIX_INT64:
    case PMIX_UINT64:
    case PMIX_TIME:
      printf(" %" PRIu64, there.longs[i]);
      break;
    case PMIX_FLOAT:
      printf(" %f", there.reals[i]);
      break;
    case PMIX_DOUBLE:
      printf(" %f", there.doubles[i]);
      break;
    case PMIX_TIMEVAL:
      printf(" %ld.%ld", (long)there.intervals[i].tv_sec,
             (long)there.intervals[i].tv_usec);
      break;
    case PMIX_PROC:
      printf(" %s:%u", there.procs[i].nspace, there.procs[i].rank);
      break;
    case PMIX_BYTE_OBJECT:
      describe_bytes(there.objects[i].bytes, there.objects[i].size);
      break;
    case PMIX_ENVAR:
      printf(" %s=%s %c", there.envars[i].envar, there.envars[i].value,
             there.envars[i].separator);
      break;
    case PMIX_COORD:
      printf(" %d %zu %u", there.coords[i].view, there.coords[i].dims,
             there.coords[i].coord[2]);
      break;
    case PMIX_GEOMETRY:
      printf(" %zu %s %s %zu %u", there.geometries[i].fabric,
             there.geometries[i].uuid, there.geometries[i].osname,
             there.geometries[i].ncoords,
             there.geometries[i].coordinates[0].coord[1]);
      break;
    case PMIX_DEVICE_DIST:
      printf(" %s %s %" PRIu64 " %d %d", there.distances[i].uuid,
             there.distances[i].osname, there.distances[i].type,
             there.distances[i].mindist, there.distances[i].maxdist);
      break;
    case PMIX_ENDPOINT:
      printf(" %s %s", there.endpoints[i].uuid, there.endpoints[i].osname);
      describe_bytes(there.endpoints[i].endpt.bytes,
                     there.endpoints[i].endpt.size);
      break;
    case PMIX_PROC_INFO:
      printf(" %s:%u %s %d %d %d", there.about[i].proc.nspace,
             there.about[i].proc.rank, there.about[i].hostname,
             there.about[i].executable_name == NULL, (int)there.about[i].pid,
             there.about[i].state);
      break;
    case PMIX_DATA_ARRAY:
      describe_infos((const pmix_info_t*)there.arrays[i].array,
                     there.arrays[i].size);
      break;
    case PMIX_QUERY:
      describe_texts(there.queries[i].keys);
      describe_infos(there.queries[i].qualifiers, there.queries[i].nqual);
      break;
    case PMIX_APP:
      printf(" %s %d %d", there.apps[i].cmd, there.apps[i].maxprocs,
             there.apps[i].cwd == NULL);
      describe_texts(there.apps[i].argv);
      describe_texts(there.apps[i].env);
      describe_infos(there.apps[i].info, there.apps[i].ninfo);
      break;
    case PMIX_PDATA:
      printf(" %s:%u %s", there.pdatas[i].proc.nspace,
             there.pdatas[i].proc.rank, there.pdatas[i].key);
      describe_value(&there.pdatas[i].value);
      break;
    case PMIX_REGATTR:
      printf(" %s %s", there.regattrs[i].name, there.regattrs[i].string);
      describe_texts(there.regattrs[i].description);
      break;
    case PMIX_DATA_BUFFER:
      describe_bytes(there.buffers[i].base_ptr, there.buffers[i].bytes_used);
      break;
    case PMIX_VALUE:
      describe_value(&there.values[i]);
      break;
    case PMIX_INFO:
      describe_infos(&there.infos[i], 1);
      break;
    default:
      printf(" %u", there.ints[i]);
  }
}

static void unpack_all(void) {
  static char line[65536], name[64], hex[65536];
  int type;
  while (fgets(line, sizeof(line), stdin) != NULL) {
    pmix_data_buffer_t buffer;
    pmix_byte_object_t payload;
    int32_t n = 8, i;
    unsigned byte;
    if (sscanf(line, "%63s %d %65535s", name, &type, hex) != 3)
      exit(1);
    payload.size = strlen(hex) / 2;
    payload.bytes = (char*)malloc(payload.size);
    for (i = 0; i < (int32_t)payload.size; ++i) {
      sscanf(hex + 2 * i, "%2x", &byte);
      payload.bytes[i] = (char)byte;
    }
    PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
    require(PMIx_Data_load(&buffer, &payload), name);
    memset(&there, 0, sizeof(there));
    require(PMIx_Data_unpack(NULL, &buffer, &there, &n, (pmix_data_type_t)type),
            name);
    printf("%s %d:", name, n);
    for (i = 0; i < n; ++i)
      describe((pmix_data_type_t)type, i);
    printf("\n");
    PMIX_DATA_BUFFER_DESTRUCT(&buffer);
  }
}

#endif
