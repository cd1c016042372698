#include "adapters/process/input_reader.hpp"

#include "adapters/loop/thread_pool.hpp"
#include "adapters/process/descriptors.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace troupe {

namespace {

/// How long to leave alone a terminal that belongs to another process group, or
/// a pool that is full.
constexpr auto pause_length = std::chrono::milliseconds{200};

/// Keeps the kernel from stopping us for reading the terminal in the
/// background; the read fails instead.
class blocked_sigttin {
public:
  blocked_sigttin() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTTIN);
    pthread_sigmask(SIG_BLOCK, &set, &previous_);
  }

  blocked_sigttin(const blocked_sigttin&) = delete;

  blocked_sigttin& operator=(const blocked_sigttin&) = delete;

  ~blocked_sigttin() {
    pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
  }

private:
  sigset_t previous_;
};

/// Whether nothing can be read from it: what batch systems give.
/// Source: Linux, Documentation/admin-guide/devices.txt.
bool is_null_device(const struct stat& x) {
  return S_ISCHR(x.st_mode) && x.st_rdev == makedev(1, 3);
}

/// @returns whether the terminal belongs to another process group just now.
bool in_background(int fd) {
  const auto foreground = tcgetpgrp(fd);
  return foreground > 0 && foreground != getpgrp();
}

} // namespace

input_reader::input_reader(event_loop& loop, thread_pool& pool, int fd,
                           size_t window, receiver deliver)
  : loop_(loop), pool_(pool), window_(window), deliver_(std::move(deliver)),
    again_(loop, [this] { next(); }), at_end_(loop, [this] { give({}); }) {
  open(fd);
}

void input_reader::open(int fd) {
  struct stat info {};
  // Its end needs no thread that reads.
  if (fstat(fd, &info) != 0 || is_null_device(info))
    return;
  auto ours = unique_fd{};
  const auto is_character_device = S_ISCHR(info.st_mode);
  if (S_ISFIFO(info.st_mode) || is_character_device)
    ours = reopen(fd, O_RDONLY);
  if (!ours)
    ours.reset(fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!ours)
    return;
  kind_ = S_ISSOCK(info.st_mode) ? kind::socket : kind::polled;
  is_terminal_ = isatty(fd) != 0;
  fd_ = std::make_shared<unique_fd>(std::move(ours));
  watch_.emplace(loop_, fd_->get(), [this] { on_readable(); });
  if (!watch_->enable_read()) {
    // Neither a regular file nor a simple device can be waited for.
    watch_.reset();
    kind_ = kind::file;
    fd_->reset(fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    return;
  }
  watch_->disable_read();
}

void input_reader::next() {
  switch (kind_) {
    case kind::invalid:
      at_end_.start(std::chrono::nanoseconds::zero());
      break;
    case kind::polled:
    case kind::socket:
      watch_->enable_read();
      break;
    case kind::file:
      read_file();
  }
}

void input_reader::pause() {
  again_.start(pause_length);
}

void input_reader::give(std::string bytes) {
  if (watch_)
    watch_->disable_read();
  deliver_(std::move(bytes));
}

ssize_t input_reader::read_now(std::string& buffer) const {
  if (kind_ == kind::socket)
    return recv(fd_->get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  // Without a file description of our own somebody else may have been faster.
  auto ready = pollfd{fd_->get(), POLLIN, 0};
  if (poll(&ready, 1, 0) == 0) {
    errno = EAGAIN;
    return -1;
  }
  return read(fd_->get(), buffer.data(), buffer.size());
}

void input_reader::on_readable() {
  if (is_terminal_ && in_background(fd_->get())) {
    watch_->disable_read();
    pause();
    return;
  }
  std::string bytes(window_, '\0');
  ssize_t n = 0;
  {
    const blocked_sigttin guard;
    n = read_now(bytes);
  }
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (n < 0 && is_terminal_ && in_background(fd_->get()))
    return; // Just lost it; the next call waits.
  bytes.resize(n > 0 ? static_cast<size_t>(n) : 0);
  bytes.shrink_to_fit();
  give(std::move(bytes));
}

void input_reader::read_file() {
  const auto result = std::make_shared<std::string>();
  // The descriptor is kept open by the work, which may outlive us; the other
  // way round, the answer must not reach us when we are gone.
  const auto work = [fd = fd_, result, size = window_] {
    result->resize(size);
    ssize_t n = 0;
    do {
      n = read(fd->get(), result->data(), size);
    } while (n < 0 && errno == EINTR);
    result->resize(n > 0 ? static_cast<size_t>(n) : 0);
  };
  const auto done = [this, result, alive = std::weak_ptr<bool>{alive_}] {
    if (!alive.expired())
      give(std::move(*result));
  };
  if (!pool_.post(work, done))
    pause();
}

} // namespace troupe
