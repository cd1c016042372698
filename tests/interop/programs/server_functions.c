/* A resource manager in C that uses what servers have, with two clients of its
 * own program on this node of a job of four. Its module has the 224 bytes of
 * release 4, and what comes after them cannot be read.
 *
 *   server_functions CLIENT      CLIENT: this program, built for any libpmix
 *   CLIENT client                what the server starts
 */

#define PMIX_PLAIN_SERVER_INIT
#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define NSPACE "managed"
#define MODULE_SIZE 224

static int failures = 0;

static void expect(bool fine, const char* what) {
  if (!fine) {
    fprintf(stderr, "%d: not so: %s\n", (int)getpid(), what);
    ++failures;
  }
}

/* -- waiting for callbacks ------------------------------------------------- */

struct wait {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int calls; /* guarded by mutex */
  pmix_status_t status;
  char bytes[64];
  size_t size;
};

static void wait_init(struct wait* x) {
  memset(x, 0, sizeof *x);
  pthread_mutex_init(&x->mutex, NULL);
  pthread_cond_init(&x->changed, NULL);
}

static void called(struct wait* x, pmix_status_t status) {
  pthread_mutex_lock(&x->mutex);
  ++x->calls;
  x->status = status;
  pthread_cond_broadcast(&x->changed);
  pthread_mutex_unlock(&x->mutex);
}

static pmix_status_t wait_for(struct wait* x) {
  pthread_mutex_lock(&x->mutex);
  while (x->calls == 0)
    pthread_cond_wait(&x->changed, &x->mutex);
  pthread_mutex_unlock(&x->mutex);
  return x->status;
}

static void on_op(pmix_status_t status, void* data) {
  called(data, status);
}

static void on_infos(pmix_status_t status, pmix_info_t* info, size_t ninfo,
                     void* data, pmix_release_cbfunc_t release, void* what) {
  struct wait* x = data;
  x->size = info != NULL ? ninfo : 0;
  if (release != NULL)
    release(what);
  called(x, status);
}

/* The size of the topology of a node. */
static void on_inventory(pmix_status_t status, pmix_info_t* info, size_t ninfo,
                         void* data, pmix_release_cbfunc_t release,
                         void* what) {
  struct wait* x = data;
  x->size = 0;
  if (ninfo == 1 && PMIX_CHECK_KEY(&info[0], PMIX_NODE_INFO_ARRAY)
      && info[0].value.type == PMIX_DATA_ARRAY) {
    const pmix_data_array_t* node = info[0].value.data.darray;
    const pmix_info_t* infos = node->array;
    for (size_t i = 0; i < node->size; ++i)
      if (PMIX_CHECK_KEY(&infos[i], PMIX_HWLOC_XML_V2))
        x->size = strlen(infos[i].value.data.string);
  }
  if (release != NULL)
    release(what);
  called(x, status);
}

static void on_setup(pmix_status_t status, pmix_info_t info[], size_t ninfo,
                     void* data, pmix_op_cbfunc_t done, void* what) {
  (void)info, (void)ninfo;
  if (done != NULL)
    done(PMIX_SUCCESS, what);
  called(data, status);
}

static void on_modex(pmix_status_t status, char* bytes, size_t size,
                     void* data) {
  struct wait* x = data;
  x->size = bytes != NULL ? size : 0;
  called(x, status);
}

/* -- the client ------------------------------------------------------------ */

static struct wait set_defined;

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t* source,
                     pmix_info_t info[], size_t ninfo, pmix_info_t* results,
                     size_t nresults, pmix_event_notification_cbfunc_fn_t done,
                     void* data) {
  (void)id, (void)source, (void)results, (void)nresults;
  for (size_t i = 0; i < ninfo; ++i)
    if (strcmp(info[i].key, PMIX_PSET_NAME) == 0)
      strncpy(set_defined.bytes, info[i].value.data.string,
              sizeof set_defined.bytes - 1);
  done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
  called(&set_defined, status);
}

static bool has_text(const pmix_proc_t* proc, const char* key,
                     const char* text) {
  pmix_value_t* value = NULL;
  if (PMIx_Get(proc, key, NULL, 0, &value) != PMIX_SUCCESS)
    return false;
  const bool fine =
    value->type == PMIX_STRING && strcmp(value->data.string, text) == 0;
  if (!fine && value->type == PMIX_STRING)
    fprintf(stderr, "%s is %s\n", key, value->data.string);
  PMIX_VALUE_RELEASE(value);
  return fine;
}

static int client(void) {
  pmix_proc_t me, all, other;
  pmix_value_t value, *got = NULL;
  pmix_info_t collect;
  pmix_status_t set = PMIX_PROCESS_SET_DEFINE, code;
  char text[32];
  wait_init(&set_defined);
  expect(PMIx_Init(&me, NULL, 0) == PMIX_SUCCESS, "init");
  PMIx_Register_event_handler(&set, 1, NULL, 0, on_event, NULL, NULL);
  PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
  PMIX_LOAD_PROCID(&other, me.nspace, 1 - me.rank);
  expect(PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &got) == PMIX_SUCCESS
           && got->data.uint32 == 4,
         "the size of the job comes from the maps");
  expect(has_text(&all, PMIX_LOCAL_PEERS, "0,1"), "local peers");
  expect(has_text(&all, "site.name", "here"), "what the host registered");
  expect(getenv("SITE_VARIABLE") != NULL
           && strcmp(getenv("SITE_VARIABLE"), "set") == 0,
         "local support sets variables");
  snprintf(text, sizeof text, "value of %u", me.rank);
  PMIX_VALUE_LOAD(&value, text, PMIX_STRING);
  expect(PMIx_Put(PMIX_GLOBAL, "my.key", &value) == PMIX_SUCCESS, "put");
  expect(PMIx_Commit() == PMIX_SUCCESS, "commit");
  PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, NULL, PMIX_BOOL);
  expect(PMIx_Fence(NULL, 0, &collect, 1) == PMIX_SUCCESS,
         "a fence with another node");
  snprintf(text, sizeof text, "value of %u", other.rank);
  expect(has_text(&other, "my.key", text), "the neighbour's value");
  PMIX_LOAD_PROCID(&other, me.nspace, 3);
  code = PMIx_Get(&other, "my.key", NULL, 0, &got);
  expect(code == PMIX_ERR_NOT_FOUND || code == PMIX_ERR_UNREACH,
         "the host does not find a remote value");
  expect(PMIx_Publish(&collect, 1) == PMIX_ERR_NOT_SUPPORTED,
         "an entry that the host does not have");
#if PMIX_VERSION_MAJOR >= 4
  {
    pmix_byte_object_t credential = {NULL, 0};
    expect(PMIx_Get_credential(NULL, 0, &credential) == PMIX_SUCCESS
             && credential.size == 6
             && memcmp(credential.bytes, "secret", 6) == 0,
           "the host's credential");
  }
#endif
  expect(wait_for(&set_defined) == PMIX_PROCESS_SET_DEFINE
           && strcmp(set_defined.bytes, "both") == 0,
         "the event of a process set");
  expect(PMIx_Finalize(NULL, 0) == PMIX_SUCCESS, "finalize");
  return failures;
}

/* -- the host -------------------------------------------------------------- */

static int fences = 0;
static int object;

static pmix_status_t connected(const pmix_proc_t* proc, void* given,
                               pmix_op_cbfunc_t done, void* data) {
  (void)proc, (void)done, (void)data;
  expect(given == &object, "the host's object");
  return PMIX_SUCCESS; /* And never calls back, as Slurm's. */
}

struct fence {
  pmix_modex_cbfunc_t done;
  void* data;
  char* bytes;
  size_t size;
};

static void release_fence(void* data) {
  struct fence* x = data;
  free(x->bytes);
  free(x);
}

static void* end_fence(void* data) {
  struct fence* x = data;
  pmix_modex_cbfunc_t done = x->done;
  void* what = x->data;
  usleep(20000);
  done(PMIX_SUCCESS, x->bytes, x->size, what, release_fence, x);
  done(PMIX_ERROR, NULL, 0, what, NULL, NULL); /* Again, and otherwise. */
  return NULL;
}

static pmix_status_t fence(const pmix_proc_t procs[], size_t nprocs,
                           const pmix_info_t info[], size_t ninfo, char* bytes,
                           size_t size, pmix_modex_cbfunc_t done, void* data) {
  pthread_t thread;
  struct fence* x = malloc(sizeof *x);
  ++fences;
  expect(nprocs == 1 && procs[0].rank == PMIX_RANK_WILDCARD, "the members");
  expect(ninfo > 0 && info != NULL, "the directives");
  expect(bytes != NULL && size > 0, "what the members have posted");
  x->done = done;
  x->data = data;
  x->bytes = bytes; /* They are ours now. */
  x->size = size;
  pthread_create(&thread, NULL, end_fence, x);
  pthread_detach(thread);
  return PMIX_SUCCESS;
}

static pmix_status_t modex(const pmix_proc_t* proc, const pmix_info_t info[],
                           size_t ninfo, pmix_modex_cbfunc_t done, void* data) {
  (void)info, (void)ninfo, (void)done, (void)data;
  expect(proc->rank == 3, "whose data is asked for");
  return PMIX_ERR_NOT_FOUND;
}

static pmix_status_t credential(const pmix_proc_t* proc,
                                const pmix_info_t info[], size_t ninfo,
                                pmix_credential_cbfunc_t done, void* data) {
  char text[] = "secret";
  pmix_byte_object_t bytes = {text, 6};
  (void)proc, (void)info, (void)ninfo;
  done(PMIX_SUCCESS, &bytes, NULL, 0, data);
  return PMIX_ERROR; /* Both, as CraneSched does. */
}

/* A module of release 4, right before memory that cannot be read. */
static pmix_server_module_t* module_at_the_edge(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pmix_server_module_t host;
  if (memory == MAP_FAILED || mprotect(memory + page, page, PROT_NONE) != 0)
    exit(2);
  memset(&host, 0, sizeof host);
  host.client_connected = connected;
  host.fence_nb = fence;
  host.direct_modex = modex;
  host.get_credential = credential;
  memcpy(memory + page - MODULE_SIZE, &host, MODULE_SIZE);
  return (pmix_server_module_t*)(memory + page - MODULE_SIZE);
}

static void register_job(void) {
  char *nodes, *procs, hostname[256], names[300];
  struct wait done;
  pmix_nspace_t nspace = NSPACE;
  pmix_info_t info[2], site, envar;
  pmix_envar_t change = {"SITE_VARIABLE", "set", ':'};
  gethostname(hostname, sizeof hostname);
  snprintf(names, sizeof names, "%s,elsewhere", hostname);
  expect(PMIx_generate_regex(names, &nodes) == PMIX_SUCCESS, "regex");
  expect(PMIx_generate_ppn("0,1;2,3", &procs) == PMIX_SUCCESS, "ppn");
  PMIX_INFO_LOAD(&site, "site.name", "here", PMIX_STRING);
  wait_init(&done);
  expect(PMIx_server_register_resources(&site, 1, on_op, &done) == PMIX_SUCCESS
           && wait_for(&done) == PMIX_SUCCESS,
         "register resources");
  PMIX_INFO_LOAD(&info[0], PMIX_NODE_MAP, nodes, PMIX_STRING);
  PMIX_INFO_LOAD(&info[1], PMIX_PROC_MAP, procs, PMIX_STRING);
  wait_init(&done);
  expect(PMIx_server_register_nspace(nspace, 2, info, 2, on_op, &done)
             == PMIX_SUCCESS
           && wait_for(&done) == PMIX_SUCCESS,
         "register the job");
  wait_init(&done);
  expect(PMIx_server_setup_application(nspace, NULL, 0, on_setup, &done)
             == PMIX_SUCCESS
           && wait_for(&done) == PMIX_SUCCESS,
         "set up the application");
  PMIX_INFO_LOAD(&envar, PMIX_SET_ENVAR, &change, PMIX_ENVAR);
  wait_init(&done);
  expect(PMIx_server_setup_local_support(nspace, &envar, 1, on_op, &done)
             == PMIX_SUCCESS
           && wait_for(&done) == PMIX_SUCCESS,
         "set up local support");
  free(nodes);
  free(procs);
}

/* As Slurm does: the environment is made in the forked child. */
static void start(char* program, pmix_rank_t rank) {
  pmix_proc_t proc;
  struct wait done;
  PMIX_LOAD_PROCID(&proc, NSPACE, rank);
  wait_init(&done);
  expect(PMIx_server_register_client(&proc, getuid(), getgid(), &object, on_op,
                                     &done)
             == PMIX_SUCCESS
           && wait_for(&done) == PMIX_SUCCESS,
         "register a client");
  if (fork() == 0) {
    char** env = NULL;
    char* args[] = {program, "client", NULL};
    if (PMIx_server_setup_fork(&proc, &env) == PMIX_SUCCESS)
      execve(program, args, env);
    _exit(3);
  }
}

static void use_functions(void) {
  struct wait done;
  pmix_proc_t proc, both[2];
  pmix_info_t info;
  char name[] = "both";
  PMIX_LOAD_PROCID(&proc, NSPACE, 0);
  wait_init(&done);
  expect(PMIx_server_dmodex_request(&proc, on_modex, &done) == PMIX_SUCCESS
           && wait_for(&done) == PMIX_SUCCESS && done.size > 0,
         "data of a client for another node");
  PMIX_LOAD_PROCID(&both[0], NSPACE, 0);
  PMIX_LOAD_PROCID(&both[1], NSPACE, 1);
  expect(PMIx_server_define_process_set(both, 2, name) == PMIX_SUCCESS,
         "define a set");
  expect(PMIx_server_define_process_set(both, 2, NULL) == PMIX_ERR_BAD_PARAM,
         "a set has a name");
  wait_init(&done);
  expect(PMIx_server_collect_inventory(NULL, 0, on_inventory, &done)
             == PMIX_SUCCESS
           && wait_for(&done) == PMIX_SUCCESS && done.size > 100,
         "collect the inventory, with the topology of the node");
  PMIX_INFO_LOAD(&info, "rack", "7", PMIX_STRING);
  wait_init(&done);
  expect(PMIx_server_deliver_inventory(&info, 1, NULL, 0, on_op, &done)
             == PMIX_SUCCESS
           && wait_for(&done) == PMIX_SUCCESS,
         "deliver an inventory");
}

/* What a query says that functions of the host act upon: names, in a row. */
static void told_of(const char* function, char* names, size_t size) {
  pmix_query_t query;
  pmix_info_t* infos = NULL;
  size_t n = 0;
  pmix_status_t code;
  PMIX_QUERY_CONSTRUCT(&query);
  PMIX_ARGV_APPEND(code, query.keys, PMIX_QUERY_ATTRIBUTE_SUPPORT);
  PMIX_QUERY_QUALIFIERS_CREATE(&query, 1);
  PMIX_INFO_LOAD(&query.qualifiers[0], PMIX_HOST_ATTRIBUTES, function,
                 PMIX_STRING);
  names[0] = '\0';
  code = PMIx_Query_info(&query, 1, &infos, &n);
  expect(code == PMIX_SUCCESS && n == 1
           && infos[0].value.type == PMIX_DATA_ARRAY,
         "a query of what the host supports");
  if (code == PMIX_SUCCESS && n == 1
      && infos[0].value.type == PMIX_DATA_ARRAY) {
    const pmix_data_array_t* functions = infos[0].value.data.darray;
    for (size_t i = 0; i < functions->size; ++i) {
      const pmix_info_t* x = (const pmix_info_t*)functions->array + i;
      const pmix_data_array_t* found = x->value.data.darray;
      for (size_t j = 0; j < found->size; ++j) {
        const size_t used = strlen(names);
        snprintf(names + used, size - used, "%s:%s ", x->key,
                 ((const pmix_regattr_t*)found->array)[j].name);
      }
    }
  }
  if (infos != NULL)
    PMIX_INFO_FREE(infos, n);
  PMIX_QUERY_DESTRUCT(&query);
}

static void register_attributes(void) {
  char fence[] = "fence_nb", spawn[] = "spawn";
  char collect[] = "PMIX_COLLECT_DATA", algorithm[] = "PMIX_COLLECTIVE_ALGO",
       wdir[] = "PMIX_WDIR";
  char* of_fence[] = {collect, algorithm, NULL};
  char* of_spawn[] = {wdir, NULL};
  char names[256];
  expect(PMIx_Register_attributes(fence, of_fence) == PMIX_SUCCESS,
         "attributes of fences");
  expect(PMIx_Register_attributes(fence, of_spawn)
           == PMIX_ERR_REPEAT_ATTR_REGISTRATION,
         "attributes of a function once");
  expect(PMIx_Register_attributes(spawn, of_spawn) == PMIX_SUCCESS,
         "attributes of spawns");
  told_of("fence_nb", names, sizeof names);
  expect(
    strcmp(names, "fence_nb:PMIX_COLLECT_DATA fence_nb:PMIX_COLLECTIVE_ALGO ")
      == 0,
    "what was registered is told");
  told_of("all", names, sizeof names);
  expect(strstr(names, "spawn:PMIX_WDIR ") != NULL
           && strstr(names, "fence_nb:PMIX_COLLECT_DATA ") != NULL
           && strstr(names, "PMIx_Get") == NULL,
         "of the host, its own functions are told");
}

static void bad_arguments(void) {
  pmix_proc_t nobody, wild;
  char*** none = NULL;
  pmix_nspace_t nspace = NSPACE, unknown = "unknown", empty = "";
  struct wait done;
  PMIX_LOAD_PROCID(&nobody, "", 0);
  PMIX_LOAD_PROCID(&wild, NSPACE, PMIX_RANK_WILDCARD);
  expect(PMIx_server_register_nspace(empty, 0, NULL, 0, NULL, NULL)
           == PMIX_ERR_BAD_PARAM,
         "an empty namespace");
  expect(PMIx_server_register_nspace(nspace, 0, NULL, 3, NULL, NULL)
           == PMIX_ERR_BAD_PARAM,
         "infos without an array");
  expect(PMIx_server_register_client(NULL, 0, 0, NULL, NULL, NULL)
           == PMIX_ERR_BAD_PARAM,
         "no client");
  expect(PMIx_server_register_client(&nobody, 0, 0, NULL, NULL, NULL)
           == PMIX_ERR_BAD_PARAM,
         "a client without a namespace");
  expect(PMIx_server_register_client(&wild, 0, 0, NULL, NULL, NULL)
           == PMIX_ERR_BAD_PARAM,
         "all clients");
  expect(PMIx_server_setup_fork(&wild, none) == PMIX_ERR_BAD_PARAM,
         "no environment");
  expect(PMIx_server_dmodex_request(&wild, NULL, NULL) == PMIX_ERR_BAD_PARAM,
         "nobody who takes the data");
  expect(PMIx_server_IOF_deliver(NULL, PMIX_FWD_STDOUT_CHANNEL, NULL, NULL, 0,
                                 NULL, NULL)
           == PMIX_ERR_BAD_PARAM,
         "output of nobody");
  wait_init(&done);
  PMIx_server_deregister_nspace(unknown, on_op, &done);
  expect(wait_for(&done) == PMIX_ERR_NOT_FOUND, "an unknown namespace");
  PMIx_server_deregister_nspace(NULL, NULL, NULL);
  PMIx_server_deregister_client(NULL, NULL, NULL);
}

int main(int argc, char** argv) {
  pmix_nspace_t nspace = NSPACE;
  struct wait done;
  int status;
  if (argc == 2 && strcmp(argv[1], "client") == 0)
    return client();
  if (argc != 2)
    return 2;
  expect(PMIx_server_init(module_at_the_edge(), NULL, 0) == PMIX_SUCCESS,
         "init of a server");
  register_job();
  start(argv[1], 0);
  start(argv[1], 1);
  use_functions();
  register_attributes();
  bad_arguments();
  while (wait(&status) > 0)
    expect(status == 0, "a client has ended well");
  expect(fences == 1, "one fence went to the host");
  wait_init(&done);
  PMIx_server_deregister_nspace(nspace, on_op, &done);
  expect(wait_for(&done) == PMIX_SUCCESS, "deregister the job");
  expect(PMIx_server_finalize() == PMIX_SUCCESS, "finalize");
  expect(PMIx_server_finalize() == PMIX_ERR_INIT, "finalize again");
  expect(PMIx_server_register_nspace(nspace, 0, NULL, 0, NULL, NULL)
           == PMIX_ERR_INIT,
         "a call after the end");
  printf("server functions: %d failures\n", failures);
  return failures;
}
