// A daemon that is started gets its key where nobody else can read it.

#include "runtime/daemon_start.hpp"

#include "messages/status.hpp"
#include "tests/test.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

using namespace troupe;

namespace {

template <class T>
T need(caf::expected<T> x) {
  if (!x)
    CAF_FAIL(reason_of(x.error()));
  return std::move(*x);
}

node_key a_key() {
  const auto issuer = need(key_issuer::make("daemons"));
  return need(issuer.issue(1, "node1"));
}

/// Waits for the end of a daemon. @returns its exit status.
int status_at_end(pid_t pid) {
  auto ending = 0;
  CAF_REQUIRE_EQUAL(::waitpid(pid, &ending, 0), pid);
  return WIFEXITED(ending) ? WEXITSTATUS(ending) : -1;
}

} // namespace

CAF_TEST(C12.11 a daemon reads its whole key up to the end of its input) {
  const auto key = a_key();
  const auto size = std::to_string(key.bytes().size());
  const auto script = "test $(wc -c) -eq " + size + " || exit 7";
  const auto pid = need(start_daemon({"sh", "-c", script}, key));
  CAF_CHECK_EQUAL(status_at_end(pid), 0);
  // The key of another is another.
  CAF_CHECK(a_key().bytes() != key.bytes());
}

CAF_TEST(C12.11 a daemon leads a process group of its own) {
  const auto pid = need(start_daemon({"sh", "-c", "read line"}, a_key()));
  CAF_CHECK_EQUAL(::getpgid(pid), pid);
  status_at_end(pid);
}

CAF_TEST(C12.11 signals are to a daemon what they are by default) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGTERM);
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &one, &before);
  const auto pid =
    need(start_daemon({"sh", "-c", "kill -TERM $$; exit 0"}, a_key()));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  CAF_CHECK_EQUAL(status_at_end(pid), -1);
}

CAF_TEST(C12.11 a command that is not there is refused with its name) {
  const auto outcome = start_daemon({"/there/is/none"}, a_key());
  CAF_REQUIRE(!outcome);
  CAF_CHECK_EQUAL(status_of(outcome.error()), status::job_exe_not_found);
  CAF_CHECK(reason_of(outcome.error()).find("/there/is/none")
            != std::string::npos);
  CAF_CHECK_EQUAL(status_of(start_daemon({}, a_key()).error()),
                  status::bad_param);
}
