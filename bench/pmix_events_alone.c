/* Times events of one process for itself, and what it is compared with. It
 * knows pmix.h only; see pmix_events.c.
 *
 *   pmix_events_alone MODE [--out FILE] [--rounds N] [--events N] [--bytes N]
 *
 *   hop       one way over two TCP connections through a process that passes
 *             bytes on; no PMIx
 *   wake      a thread that waits in epoll is woken by another; no PMIx
 *   self      an event for the process itself: one at a time, a burst, from
 *             inside of its handler
 *   chain     an event through ten handlers
 *   register  PMIx_Register_event_handler and its counterpart
 *   handlers  memory of --events handlers
 *
 * Writes a line `NAME FIGURE` per sample to FILE. A process that hangs is ended
 * by SIGALRM. */

#define _GNU_SOURCE

#include "event_calls.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

enum { chain_length = 10 };

/* -- without PMIx ---------------------------------------------------------- */

static int connection(int* other) {
  struct sockaddr_in where = {.sin_family = AF_INET};
  socklen_t size = sizeof(where);
  int on = 1;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr*)&where, size) != 0
      || listen(listener, 1) != 0
      || getsockname(listener, (struct sockaddr*)&where, &size) != 0
      || connect(fd, (struct sockaddr*)&where, size) != 0
      || (*other = accept(listener, NULL, NULL)) < 0)
    check(PMIX_ERR_UNREACH, "a connection to ourselves");
  close(listener);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  setsockopt(*other, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return fd;
}

/* As a server does: waits, reads, writes. */
static void pass_on(int from, int to) {
  char message[256];
  int poll = epoll_create1(0);
  struct epoll_event interest = {.events = EPOLLIN};
  epoll_ctl(poll, EPOLL_CTL_ADD, from, &interest);
  for (;;) {
    epoll_wait(poll, &interest, 1, -1);
    ssize_t got = read(from, message, sizeof(message));
    if (got <= 0 || write(to, message, (size_t)got) != got)
      _exit(0);
  }
}

static int receiver_fd;

static void* receive(void* unused) {
  int64_t sent;
  int poll = epoll_create1(0);
  struct epoll_event interest = {.events = EPOLLIN};
  epoll_ctl(poll, EPOLL_CTL_ADD, receiver_fd, &interest);
  for (;;) {
    char message[256];
    epoll_wait(poll, &interest, 1, -1);
    if (read(receiver_fd, message, sizeof(message)) != sizeof(message))
      return unused;
    memcpy(&sent, message, sizeof(sent));
    record_us("hop", now_ns() - sent);
    hear();
  }
}

static void run_hop(void) {
  int from, to;
  int fd = connection(&from);
  int out = connection(&to);
  receiver_fd = to;
  pid_t child = fork();
  if (child == 0) {
    close(fd);
    close(to);
    pass_on(from, out);
  }
  close(from);
  close(out);
  pthread_t thread;
  pthread_create(&thread, NULL, receive, NULL);
  char message[256] = {0};
  for (int i = 1; i <= rounds; ++i) {
    int64_t begin = now_ns();
    memcpy(message, &begin, sizeof(begin));
    if (write(fd, message, sizeof(message)) != sizeof(message))
      check(PMIX_ERR_UNREACH, "a message");
    await_heard(i);
  }
  shutdown(fd, SHUT_RDWR);
  pthread_join(thread, NULL);
}

static int wake_fd;
static _Atomic int64_t woken_by;

static void* sleeper(void* unused) {
  int poll = epoll_create1(0);
  struct epoll_event interest = {.events = EPOLLIN};
  epoll_ctl(poll, EPOLL_CTL_ADD, wake_fd, &interest);
  for (;;) {
    uint64_t count;
    epoll_wait(poll, &interest, 1, -1);
    if (read(wake_fd, &count, sizeof(count)) != sizeof(count))
      return unused;
    int64_t begin = atomic_load(&woken_by);
    if (begin == 0)
      return unused;
    record_us("wake", now_ns() - begin);
    hear();
  }
}

static void run_wake(void) {
  pthread_t thread;
  wake_fd = eventfd(0, 0);
  pthread_create(&thread, NULL, sleeper, NULL);
  uint64_t one = 1;
  for (int i = 1; i <= rounds + 1; ++i) {
    atomic_store(&woken_by, i <= rounds ? now_ns() : 0);
    if (write(wake_fd, &one, sizeof(one)) != sizeof(one))
      check(PMIX_ERROR, "a wake-up");
    if (i <= rounds)
      await_heard(i);
  }
  pthread_join(thread, NULL);
}

/* -- one process ------------------------------------------------------------
 */

static int64_t heard_ns;

HANDLER(on_self) {
  heard_ns = now_ns();
  complete(done, token, PMIX_EVENT_ACTION_COMPLETE);
  hear();
}

static int left;

/* Raises the next event itself. */
HANDLER(on_inside) {
  heard_ns = now_ns();
  complete(done, token, PMIX_EVENT_ACTION_COMPLETE);
  if (--left > 0)
    notify(pong, PMIX_RANGE_PROC_LOCAL, 0);
  else
    hear();
}

static void run_self(void) {
  add(ping, on_self);
  add(pong, on_inside);
  int count = 0;
  for (int i = -warm_up_rounds; i < rounds; ++i) {
    int64_t begin = now_ns();
    notify(ping, PMIX_RANGE_PROC_LOCAL, 0);
    await_heard(++count);
    if (i >= 0)
      record_us("self", heard_ns - begin);
  }
  for (int i = 0; i < 10; ++i) {
    int64_t begin = now_ns();
    for (int k = 0; k < events; ++k)
      notify(ping, PMIX_RANGE_PROC_LOCAL, 0);
    count += events;
    await_heard(count);
    record_us("self_burst", (heard_ns - begin) / events);
  }
  for (int i = 0; i < 10; ++i) {
    left = events;
    int64_t begin = now_ns();
    notify(pong, PMIX_RANGE_PROC_LOCAL, 0);
    await_heard(++count);
    record_us("self_inside", (heard_ns - begin) / events);
  }
}

static int64_t first_ns;

HANDLER(on_first) {
  first_ns = now_ns();
  complete(done, token, PMIX_EVENT_NO_ACTION_TAKEN);
}

HANDLER(on_middle) {
  complete(done, token, PMIX_EVENT_NO_ACTION_TAKEN);
}

static void run_chain(void) {
  pmix_info_t place;
  bool yes = true;
  pmix_status_t code = ping;
  PMIX_INFO_LOAD(&place, PMIX_EVENT_HDLR_FIRST, &yes, PMIX_BOOL);
  PMIx_Register_event_handler(&code, 1, &place, 1, on_first, NULL, NULL);
  for (int i = 2; i < chain_length; ++i)
    add(ping, on_middle);
  PMIX_INFO_LOAD(&place, PMIX_EVENT_HDLR_LAST, &yes, PMIX_BOOL);
  PMIx_Register_event_handler(&code, 1, &place, 1, on_self, NULL, NULL);
  for (int i = -warm_up_rounds; i < rounds; ++i) {
    int64_t begin = now_ns();
    notify(ping, PMIX_RANGE_PROC_LOCAL, 0);
    await_heard(i + warm_up_rounds + 1);
    if (i < 0)
      continue;
    record_us("chain", heard_ns - begin);
    record_us("chain_alone", heard_ns - first_ns);
  }
}

static void run_register(void) {
  for (int i = 0; i < rounds; ++i) {
    int64_t begin = now_ns();
    size_t id = add(first_free - i, on_self);
    record_us("register", now_ns() - begin);
    begin = now_ns();
    check(PMIx_Deregister_event_handler(id, NULL, NULL), "deregister");
    record_us("deregister", now_ns() - begin);
  }
}

static void run_handlers(void) {
  add(ping, on_self);
  long before = own_status("VmRSS:");
  for (int i = 0; i < events; ++i)
    add(ping, on_self);
  record("handler_bytes",
         (double)(own_status("VmRSS:") - before) * 1024.0 / events);
}

int main(int argc, char** argv) {
  static const struct mode modes[] = {
    {"hop", run_hop},           {"wake", run_wake},
    {"self", run_self},         {"chain", run_chain},
    {"register", run_register}, {"handlers", run_handlers},
  };
  return run_events(argc, argv, modes, sizeof(modes) / sizeof(modes[0]));
}
