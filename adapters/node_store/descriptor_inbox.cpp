#include "adapters/node_store/descriptor_inbox.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>

namespace troupe {

namespace {

/// Descriptors that are sent at once.
constexpr size_t most_descriptors = 4;

/// Names that the kernel draws have five letters.
constexpr size_t longest_name = 32;

/// Who may come before the one that is waited for.
constexpr int most_strangers = 8;

constexpr size_t name_offset = offsetof(sockaddr_un, sun_path);

/// Room for the control message, as the kernel wants it.
struct alignas(cmsghdr) control_buffer {
  char bytes[CMSG_SPACE(most_descriptors * sizeof(int))] = {};
};

unique_fd make_socket() {
  return unique_fd{
    ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
}

/// Who made the other end, or has listened there.
std::optional<uint32_t> user_of(int fd) {
  auto who = ucred{};
  auto size = socklen_t{sizeof(who)};
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
    return std::nullopt;
  return who.uid;
}

std::vector<unique_fd> receive(int fd) {
  auto byte = char{0};
  auto content = iovec{&byte, 1};
  auto control = control_buffer{};
  auto what = msghdr{};
  what.msg_iov = &content;
  what.msg_iovlen = 1;
  what.msg_control = control.bytes;
  what.msg_controllen = sizeof(control.bytes);
  auto result = std::vector<unique_fd>{};
  if (::recvmsg(fd, &what, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
    return result;
  for (auto* x = CMSG_FIRSTHDR(&what); x != nullptr; x = CMSG_NXTHDR(&what, x))
    if (x->cmsg_level == SOL_SOCKET && x->cmsg_type == SCM_RIGHTS)
      for (auto at = CMSG_LEN(0); at + sizeof(int) <= x->cmsg_len;
           at += sizeof(int)) {
        auto one = -1;
        std::memcpy(&one, reinterpret_cast<const char*>(x) + at, sizeof(one));
        result.emplace_back(one);
      }
  return result;
}

} // namespace

descriptor_inbox::descriptor_inbox() : socket_(make_socket()) {
  auto where = sockaddr_un{};
  where.sun_family = AF_UNIX;
  auto size = socklen_t{name_offset};
  const auto fd = socket_.get();
  auto* address = reinterpret_cast<sockaddr*>(&where);
  // Without a path the kernel draws one; it begins with a zero.
  if (!socket_ || ::bind(fd, address, size) != 0
      || ::listen(fd, most_strangers) != 0)
    return;
  size = sizeof(where);
  if (::getsockname(fd, address, &size) == 0 && size > name_offset + 1)
    name_.assign(where.sun_path + 1, size - name_offset - 1);
}

std::vector<unique_fd> descriptor_inbox::take() const {
  for (auto i = 0; i <= most_strangers && !name_.empty(); ++i) {
    const auto from = unique_fd{
      ::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (!from)
      break;
    if (user_of(from.get()) != uint32_t{::geteuid()})
      continue;
    if (auto result = receive(from.get()); !result.empty())
      return result;
  }
  return {};
}

int send_descriptors(const std::string& inbox, uint32_t owner,
                     const std::vector<int>& fds) {
  if (inbox.empty() || inbox.size() > longest_name || fds.empty()
      || fds.size() > most_descriptors)
    return EINVAL;
  auto where = sockaddr_un{};
  where.sun_family = AF_UNIX;
  std::copy(inbox.begin(), inbox.end(), where.sun_path + 1);
  const auto size = static_cast<socklen_t>(name_offset + 1 + inbox.size());
  const auto to = make_socket();
  if (!to
      || ::connect(to.get(), reinterpret_cast<const sockaddr*>(&where), size)
           != 0)
    return errno;
  if (user_of(to.get()) != owner)
    return EPERM;
  auto byte = char{0};
  auto content = iovec{&byte, 1};
  auto control = control_buffer{};
  const auto bytes = fds.size() * sizeof(int);
  auto what = msghdr{};
  what.msg_iov = &content;
  what.msg_iovlen = 1;
  what.msg_control = control.bytes;
  what.msg_controllen = CMSG_SPACE(bytes);
  auto* head = CMSG_FIRSTHDR(&what);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(bytes);
  std::memcpy(CMSG_DATA(head), fds.data(), bytes);
  return ::sendmsg(to.get(), &what, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? errno
                                                                     : 0;
}

} // namespace troupe
