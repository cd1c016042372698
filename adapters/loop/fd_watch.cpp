#include "adapters/loop/fd_watch.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/unique_fd.hpp"

#include <event2/event.h>
#include <sys/epoll.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace troupe {

namespace {

/// Some devices, `/dev/null` for one, cannot be waited for; terminals can.
bool is_refused(int device) {
  const auto probe = unique_fd{epoll_create1(EPOLL_CLOEXEC)};
  auto nothing = epoll_event{};
  return probe && epoll_ctl(probe.get(), EPOLL_CTL_ADD, device, &nothing) != 0
         && errno == EPERM;
}

/// Says what `epoll` would say, without libevent's complaint on stderr.
bool can_be_watched(int fd) {
  struct stat st {};
  if (fstat(fd, &st) != 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
    return false;
  return !S_ISCHR(st.st_mode) || !is_refused(fd);
}

} // namespace

fd_watch::fd_watch(event_loop& loop, int fd, callback on_readable,
                   callback on_writable) {
  if (!can_be_watched(fd))
    return;
  if (on_readable)
    read_.emplace(loop.base(), fd, short{EV_READ | EV_PERSIST},
                  std::move(on_readable));
  if (on_writable)
    write_.emplace(loop.base(), fd, short{EV_WRITE | EV_PERSIST},
                   std::move(on_writable));
}

// Most calls change nothing, and libevent would take its lock to find out.

bool fd_watch::enable_read() noexcept {
  if (!reads_)
    reads_ = read_ && read_->add();
  return reads_;
}

void fd_watch::disable_read() noexcept {
  if (std::exchange(reads_, false))
    read_->remove();
}

bool fd_watch::enable_write() noexcept {
  if (!writes_)
    writes_ = write_ && write_->add();
  return writes_;
}

void fd_watch::disable_write() noexcept {
  if (std::exchange(writes_, false))
    write_->remove();
}

} // namespace troupe
