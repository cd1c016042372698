#include "tools/open_door.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>

namespace troupe {

namespace {

/// Connections of nodes that wait to be accepted.
constexpr int backlog = 1024;

/// How long to leave them alone when none can be accepted, in milliseconds.
constexpr auto pause = 100;

unique_fd make_spare() {
  return unique_fd{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
}

} // namespace

open_door::open_door() : port_(open_any_port(backlog)), spare_(make_spare()) {
  stop_.reset(::eventfd(0, EFD_CLOEXEC));
  if (port_.fd && stop_)
    thread_ = std::thread{[this] { run(); }};
}

open_door::~open_door() {
  if (!thread_.joinable())
    return;
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
}

void open_door::run() {
  auto can_accept = true;
  for (;;) {
    // A negative descriptor is passed over.
    pollfd watched[] = {{stop_.get(), POLLIN, 0},
                        {can_accept ? port_.fd.get() : -1, POLLIN, 0}};
    if (::poll(watched, 2, can_accept ? -1 : pause) < 0 && errno != EINTR)
      return;
    if (watched[0].revents != 0)
      return;
    can_accept = watched[1].revents == 0 || let_go();
  }
}

/// Accepts a connection and closes it.
/// @returns false if that cannot be done for now.
bool open_door::let_go() {
  const auto accept = [this] {
    return unique_fd{::accept4(port_.fd.get(), nullptr, nullptr, SOCK_CLOEXEC)};
  };
  if (accept())
    return true;
  const auto lacks_descriptors = errno == EMFILE || errno == ENFILE;
  if (!lacks_descriptors && errno != ENOBUFS && errno != ENOMEM)
    return true; // It was about a connection that broke while it waited.
  if (!lacks_descriptors || !spare_)
    return false;
  spare_.reset();
  const auto is_gone = static_cast<bool>(accept());
  spare_ = make_spare();
  return is_gone;
}

} // namespace troupe
