/* A server that goes away in every call. The server is this program itself: it
 * greets, says what the job is, and closes at the next request, or in the
 * middle of its answer. */

#include "client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

static int listener;

/* Requests to answer with success before the connection is closed. */
static volatile int good_requests;

/* Bytes to send of an answer that never gets whole. */
static volatile int rest_bytes;

static bool take(int fd, void* to, size_t n) {
  for (size_t have = 0; have < n;) {
    const ssize_t got = recv(fd, (char*)to + have, n - have, 0);
    if (got <= 0)
      return false;
    have += (size_t)got;
  }
  return true;
}

static bool skip(int fd, uint32_t n) {
  char chunk[256];
  for (; n > 0; n -= n < sizeof chunk ? n : (uint32_t)sizeof chunk)
    if (!take(fd, chunk, n < sizeof chunk ? n : sizeof chunk))
      return false;
  return true;
}

static void answer(int fd, uint32_t tag, const void* payload, uint32_t n) {
  char bytes[256];
  const uint32_t header[4] = {0, htonl(tag), htonl(n), 0};
  memcpy(bytes, header, sizeof header);
  memcpy(bytes + sizeof header, payload, n);
  send(fd, bytes, sizeof header + n, MSG_NOSIGNAL);
}

static void serve_one(int fd) {
  /* The greeting: its header is in the order of the host. */
  uint32_t header[4];
  if (!take(fd, header, sizeof header) || !skip(fd, header[2]))
    return;
  const char yes[8] = {0};
  send(fd, yes, sizeof yes, MSG_NOSIGNAL);
  int left = good_requests;
  for (bool is_first = true;; is_first = false) {
    if (!take(fd, header, sizeof header) || !skip(fd, ntohl(header[2])))
      return;
    const uint32_t tag = ntohl(header[1]);
    if (is_first) {
      answer(fd, tag, "\x02\x0apyns", 7); /* The job, and its name alone. */
    } else if (left-- > 0) {
      answer(fd, tag, "\x02\x00", 2);
    } else {
      const uint32_t begun[4] = {0, htonl(tag), htonl(100), 0};
      send(fd, begun, (size_t)rest_bytes, MSG_NOSIGNAL);
      return;
    }
  }
}

static void* serve(void* ignored UNUSED) {
  for (;;) {
    const int fd = accept(listener, NULL, NULL);
    if (fd < 0)
      return NULL;
    serve_one(fd);
    close(fd);
  }
}

static void start_server(void) {
  struct sockaddr_in where = {.sin_family = AF_INET};
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof where;
  listener = socket(AF_INET, SOCK_STREAM, 0);
  demand(bind(listener, (struct sockaddr*)&where, size) == 0, "bind");
  demand(listen(listener, 8) == 0, "listen");
  getsockname(listener, (struct sockaddr*)&where, &size);
  char uri[64];
  snprintf(uri, sizeof uri, "server.0;tcp4://127.0.0.1:%d",
           ntohs(where.sin_port));
  setenv("PMIX_NAMESPACE", "pyns", 1);
  setenv("PMIX_RANK", "0", 1);
  for (const char* const* x =
         (const char* const[]){"PMIX_SERVER_URI61", "PMIX_SERVER_URI51",
                               "PMIX_SERVER_URI4", "PMIX_SERVER_URI3",
                               "PMIX_SERVER_URI21", "PMIX_SERVER_URI2", NULL};
       *x != NULL; ++x)
    unsetenv(*x);
  setenv("PMIX_SERVER_URI41", uri, 1);
  setenv("PMIX_SECURITY_MODE", "native", 1);
  setenv("PMIX_VERSION", "4.2.2", 1);
  pthread_t thread;
  pthread_create(&thread, NULL, serve, NULL);
}

/* -- the calls ------------------------------------------------------------- */

static struct pending done = PENDING;

static void on_infos(pmix_status_t outcome, pmix_info_t* info UNUSED,
                     size_t n UNUSED, void* data UNUSED,
                     pmix_release_cbfunc_t release, void* to_release) {
  if (release != NULL)
    release(to_release);
  happen(&done, outcome);
}

static void on_value(pmix_status_t outcome, pmix_value_t* value UNUSED,
                     void* data UNUSED) {
  happen(&done, outcome);
}

static void on_spawned(pmix_status_t outcome, char* nspace UNUSED,
                       void* data UNUSED) {
  happen(&done, outcome);
}

static void on_found(pmix_status_t outcome, pmix_pdata_t data[] UNUSED,
                     size_t n UNUSED, void* cbdata UNUSED) {
  happen(&done, outcome);
}

static pmix_proc_t other;
static pmix_value_t* value;
static pmix_info_t* infos;
static size_t n;
static pmix_info_t info;
static pmix_pdata_t pdata;
static pmix_query_t query;
static pmix_app_t app;
static char* keys[] = {"key", NULL};

#define CALLS(X)                                                               \
  X(PMIx_Fence(NULL, 0, NULL, 0))                                              \
  X(PMIx_Get(&other, "key", NULL, 0, &value))                                  \
  X(PMIx_Publish(&info, 1))                                                    \
  X(PMIx_Lookup(&pdata, 1, NULL, 0))                                           \
  X(PMIx_Unpublish(keys, NULL, 0))                                             \
  X(PMIx_Spawn(NULL, 0, &app, 1, NULL))                                        \
  X(PMIx_Connect(&other, 1, NULL, 0))                                          \
  X(PMIx_Disconnect(&other, 1, NULL, 0))                                       \
  X(PMIx_Query_info(&query, 1, &infos, &n))                                    \
  X(PMIx_Log(&info, 1, NULL, 0))                                               \
  X(PMIx_Job_control(&other, 1, &info, 1, &infos, &n))                         \
  X(PMIx_Process_monitor(&info, PMIX_ERR_TIMEOUT, NULL, 0, &infos, &n))        \
  X(PMIx_Allocation_request(PMIX_ALLOC_NEW, &info, 1, &infos, &n))             \
  X(PMIx_Group_construct("g", &me, 1, NULL, 0, &infos, &n))                    \
  X(PMIx_Abort(1, "text", &other, 1))

#define CALLS_NB(X)                                                            \
  X(PMIx_Fence_nb(NULL, 0, NULL, 0, on_done, &done))                           \
  X(PMIx_Get_nb(&other, "key", NULL, 0, on_value, NULL))                       \
  X(PMIx_Publish_nb(&info, 1, on_done, &done))                                 \
  X(PMIx_Lookup_nb(keys, NULL, 0, on_found, NULL))                             \
  X(PMIx_Unpublish_nb(keys, NULL, 0, on_done, &done))                          \
  X(PMIx_Spawn_nb(NULL, 0, &app, 1, on_spawned, NULL))                         \
  X(PMIx_Connect_nb(&other, 1, NULL, 0, on_done, &done))                       \
  X(PMIx_Disconnect_nb(&other, 1, NULL, 0, on_done, &done))                    \
  X(PMIx_Query_info_nb(&query, 1, on_infos, NULL))                             \
  X(PMIx_Log_nb(&info, 1, NULL, 0, on_done, &done))                            \
  X(PMIx_Job_control_nb(&other, 1, &info, 1, on_infos, NULL))                  \
  X(PMIx_Allocation_request_nb(PMIX_ALLOC_NEW, &info, 1, on_infos, NULL))      \
  X(PMIx_Group_construct_nb("g", &me, 1, NULL, 0, on_infos, NULL))

static bool is_loss(pmix_status_t x) {
  return x == PMIX_ERR_LOST_CONNECTION || x == PMIX_ERR_UNREACH;
}

#define TRY(call)                                                              \
  do {                                                                         \
    succeed(PMIx_Init(&me, NULL, 0), "init");                                  \
    const pmix_status_t code = call;                                           \
    if (!is_loss(code))                                                        \
      fail("%s: %s", #call, PMIx_Error_string(code));                          \
    /* And again, now that it is gone. */                                      \
    demand(is_loss(call), #call);                                              \
    succeed(PMIx_Finalize(NULL, 0), "finalize");                               \
  } while (0);

#define TRY_NB(call)                                                           \
  do {                                                                         \
    succeed(PMIx_Init(&me, NULL, 0), "init");                                  \
    done.happened = 0;                                                         \
    pmix_status_t code = call;                                                 \
    if (code == PMIX_SUCCESS) {                                                \
      demand(happens(&done, 1, 20), #call);                                    \
      code = done.outcome;                                                     \
    }                                                                          \
    if (!is_loss(code))                                                        \
      fail("%s: %s", #call, PMIx_Error_string(code));                          \
    succeed(PMIx_Finalize(NULL, 0), "finalize");                               \
    demand(done.happened <= 1, "the callback comes once");                     \
  } while (0);

static void prepare(void) {
  start_server();
  other = proc_in("pyns", 1);
  info = string_info("key", "text");
  PMIX_PDATA_CONSTRUCT(&pdata);
  PMIX_LOAD_KEY(pdata.key, "key");
  PMIX_QUERY_CONSTRUCT(&query);
  query.keys = keys;
  PMIX_APP_CONSTRUCT(&app);
  app.cmd = "true";
}

static void in_calls(void) {
  prepare();
  CALLS(TRY)
  CALLS_NB(TRY_NB)
  rest_bytes = 5; /* Half a header. */
  CALLS(TRY)
  rest_bytes = 16; /* A header without what it announces. */
  CALLS(TRY)
  CALLS_NB(TRY_NB)
}

static size_t losses;
static struct pending lost = PENDING;

static void on_loss(size_t id UNUSED, pmix_status_t status,
                    const pmix_proc_t* source, pmix_info_t* xs UNUSED,
                    size_t nxs UNUSED, pmix_info_t* results UNUSED,
                    size_t nresults UNUSED,
                    pmix_event_notification_cbfunc_fn_t complete, void* data) {
  demand(source != NULL, "there is a source");
  ++losses;
  complete(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
  happen(&lost, status);
}

/* The application hears of the loss, once. */
static void hear(pmix_status_t* codes, size_t ncodes) {
  prepare();
  good_requests = 1; /* The registration. */
  succeed(PMIx_Init(&me, NULL, 0), "init");
  handle(codes, ncodes, on_loss);
  demand(is_loss(PMIx_Fence(NULL, 0, NULL, 0)), "the fence fails");
  demand(happens(&lost, 1, 20), "the handler is called");
  succeed(PMIx_Finalize(NULL, 0), "finalize");
  demand(losses == 1, "once");
  expect(lost.outcome, PMIX_ERR_LOST_CONNECTION, "the code");
}

static void event(void) {
  pmix_status_t code = PMIX_ERR_LOST_CONNECTION;
  hear(&code, 1);
}

/* Also if it names no code: Open MPI ends itself then. */
static void default_event(void) {
  hear(NULL, 0);
}

int main(int argc, char** argv) {
  const struct test_case cases[] = {
    {"in_calls", in_calls}, {"event", event}, {"default_event", default_event}};
  return RUN_CASE(cases);
}
