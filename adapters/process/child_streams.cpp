#include "adapters/process/child_streams.hpp"

#include "adapters/process/terminal.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace troupe {

namespace {

/// The highest number under which a child gets a descriptor from us.
constexpr auto last_descriptor = pmi1_descriptor + 1;

/// The child's end of a pipe or socket, out of the way of the numbers under
/// which the child gets it and the others.
bool keep_clear(unique_fd& x) {
  if (x.get() > last_descriptor)
    return true;
  x.reset(fcntl(x.get(), F_DUPFD_CLOEXEC, last_descriptor + 1));
  return static_cast<bool>(x);
}

/// @param our_end 0 to read from the child, 1 to write to it.
bool open_pipe(pipe_ends& x, int our_end) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0)
    return false;
  x.ours.reset(fds[our_end]);
  x.theirs.reset(fds[1 - our_end]);
  return fcntl(x.ours.get(), F_SETFL, O_NONBLOCK) == 0 && keep_clear(x.theirs);
}

/// A socket; both ends are closed by programs that do not ask for theirs.
bool open_socket(pipe_ends& x) {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
    return false;
  x.ours.reset(fds[0]);
  x.theirs.reset(fds[1]);
  return keep_clear(x.theirs);
}

} // namespace

int stddiag_of(const start_process& request) {
  return request.with_pmi1 ? pmi1_descriptor + 1 : STDERR_FILENO + 1;
}

std::variant<child_streams, launch_failure>
open_streams(const start_process& request) {
  child_streams result;
  auto& x = result;
  if (request.with_pty) {
    auto terminal = open_terminal(request.pty_rows, request.pty_columns);
    if (!terminal)
      return launch_failure{
        status::sys_limits_pipes,
        "cannot open a terminal for " + request.program + ": "
          + std::strerror(errno)
          + "; raise kernel.pty.max, or run it without one"};
    x.terminal = std::move(terminal->path);
    x.out.ours = std::move(terminal->master);
  }
  auto is_open = x.out.ours || open_pipe(x.out, 0);
  if (request.with_pty && request.with_stdin) {
    x.in.ours.reset(
      fcntl(x.out.ours.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    is_open = static_cast<bool>(x.in.ours);
  } else if (request.with_stdin) {
    is_open = is_open && open_pipe(x.in, 1);
  }
  if (!is_open
      || (!request.with_pty && !request.merges_stderr && !open_pipe(x.err, 0))
      || (request.with_stddiag && !open_pipe(x.diag, 0))
      || (request.with_pmi1 && !open_socket(x.pmi1)))
    return launch_failure{status::sys_limits_pipes,
                          "cannot open the pipes of " + request.program + ": "
                            + std::strerror(errno)
                            + "; raise the limit of open files (ulimit -n)"};
  return result;
}

} // namespace troupe
