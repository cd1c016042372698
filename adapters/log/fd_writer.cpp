#include "adapters/log/fd_writer.hpp"

#include "adapters/loop/fd_watch.hpp"
#include "adapters/process/descriptors.hpp"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>

namespace troupe {

namespace {

/// What is written at a time before others that wait for the loop have their
/// turn.
constexpr size_t bytes_per_pass = size_t{64} << 10;

enum class kind {
  /// A file description of our own, non-blocking.
  own,

  /// A description that others use too: written when it says that it has room,
  /// and no more than what then goes in one piece.
  shared,

  socket,

  /// Always ready.
  file,
};

struct chunk {
  std::string bytes;
  size_t written = 0;
  fd_writer::callback on_done;
};

} // namespace

struct fd_writer::state {
  unique_fd fd;
  kind how = kind::own;
  bool is_terminal = false;
  bool has_failed = false;
  bool is_abandoned = false;
  bool is_writing = false;
  int error = 0;
  failure_callback on_failed;
  callback before_writing;
  std::optional<fd_watch> watch;
  std::deque<chunk> waiting;
  size_t held_bytes = 0;

  void open(int inherited);
  ssize_t write_some(const chunk& x) const;
  void write_waiting();
  void fail(int why);
};

void fd_writer::state::open(int inherited) {
  struct stat info {};
  if (fstat(inherited, &info) != 0) {
    error = errno;
    return;
  }
  is_terminal = isatty(inherited) != 0;
  if (S_ISSOCK(info.st_mode))
    how = kind::socket;
  else if (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode))
    fd = reopen(inherited, O_WRONLY);
  if (fd)
    return;
  if (how != kind::socket)
    how = S_ISREG(info.st_mode) ? kind::file : kind::shared;
  fd.reset(fcntl(inherited, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!fd)
    error = errno;
}

ssize_t fd_writer::state::write_some(const chunk& x) const {
  const auto* data = x.bytes.data() + x.written;
  const auto size = x.bytes.size() - x.written;
  switch (how) {
    case kind::socket:
      return send(fd.get(), data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    case kind::shared: {
      auto ready = pollfd{fd.get(), POLLOUT, 0};
      if (poll(&ready, 1, 0) == 0) {
        errno = EAGAIN;
        return -1;
      }
      return ::write(fd.get(), data, std::min<size_t>(size, PIPE_BUF));
    }
    default:
      return ::write(fd.get(), data, size);
  }
}

void fd_writer::state::write_waiting() {
  if (is_writing)
    return; // Called back from below.
  is_writing = true;
  size_t done = 0;
  while (!waiting.empty() && !is_abandoned) {
    if (done >= bytes_per_pass && watch) {
      watch->enable_write();
      is_writing = false;
      return;
    }
    auto& x = waiting.front();
    if (x.written < x.bytes.size()) {
      const auto n = write_some(x);
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        watch->enable_write();
        is_writing = false;
        return;
      }
      if (n < 0) {
        const auto why = errno;
        is_writing = false;
        fail(why);
        return;
      }
      x.written += static_cast<size_t>(n);
      held_bytes -= static_cast<size_t>(n);
      done += static_cast<size_t>(n);
      continue;
    }
    const auto on_done = std::move(x.on_done);
    waiting.pop_front();
    if (on_done)
      on_done();
  }
  is_writing = false;
  if (watch)
    watch->disable_write();
}

void fd_writer::state::fail(int why) {
  has_failed = true;
  error = why;
  held_bytes = 0;
  watch.reset();
  const auto report = std::exchange(on_failed, {});
  const auto discarded = std::exchange(waiting, {});
  if (report)
    report(std::strerror(why));
  for (const auto& x : discarded)
    if (x.on_done && !is_abandoned)
      x.on_done();
}

fd_writer::fd_writer(event_loop& loop, int fd, failure_callback on_failed)
  : state_(std::make_shared<state>()) {
  state_->on_failed = std::move(on_failed);
  state_->open(fd);
  if (!state_->fd)
    return;
  // The callback keeps the state while it runs, whatever it leads to.
  state_->watch.emplace(loop, state_->fd.get(), fd_watch::callback{},
                        [weak = std::weak_ptr<state>{state_}] {
                          if (const auto self = weak.lock())
                            self->write_waiting();
                        });
  if (!state_->watch->enable_write()) {
    state_->watch.reset();
    state_->how = kind::file;
    return;
  }
  state_->watch->disable_write();
}

fd_writer::~fd_writer() {
  state_->is_abandoned = true;
  state_->watch.reset();
}

void fd_writer::write(std::string bytes, callback on_done) {
  const auto self = state_;
  if (!self->fd && !self->has_failed)
    self->fail(self->error);
  if (self->has_failed) {
    if (on_done)
      on_done();
    return;
  }
  if (self->before_writing && !bytes.empty()) {
    // It may write here itself, and is not called then.
    auto f = std::exchange(self->before_writing, {});
    f();
    self->before_writing = std::move(f);
  }
  self->held_bytes += bytes.size();
  self->waiting.push_back({std::move(bytes), 0, std::move(on_done)});
  if (!self->watch || !self->watch->writes())
    self->write_waiting();
}

void fd_writer::before_writing(callback f) {
  state_->before_writing = std::move(f);
}

size_t fd_writer::held_bytes() const noexcept {
  return state_->held_bytes;
}

bool fd_writer::has_failed() const noexcept {
  return state_->has_failed;
}

int fd_writer::error() const noexcept {
  return state_->has_failed ? state_->error : 0;
}

bool fd_writer::is_terminal() const noexcept {
  return state_->is_terminal;
}

} // namespace troupe
