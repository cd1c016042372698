#include "adapters/sockets/netlink.hpp"

#include "adapters/sockets/system_error.hpp"
#include "messages/status.hpp"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace troupe {

namespace {

/// The kernel makes no message of these kinds longer than a page or two.
constexpr size_t buffer_size = size_t{64} << 10;

constexpr size_t aligned(size_t size) {
  return (size + 3) / 4 * 4;
}

} // namespace

caf::expected<netlink_socket> netlink_socket::open(uint32_t groups) {
  netlink_socket result;
  result.fd_ = unique_fd{::socket(
    AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE)};
  sockaddr_nl self{};
  self.nl_family = AF_NETLINK;
  self.nl_groups = groups;
  if (!result.fd_
      || ::bind(result.fd_.get(), reinterpret_cast<sockaddr*>(&self),
                sizeof(self))
           != 0)
    return system_error("open a netlink socket");
  // Not cleared: most servers hear nothing, and never write it.
  result.buffer_.reset(new char[buffer_size]);
  return result;
}

caf::error netlink_socket::ask(uint16_t kind, uint16_t flags,
                               std::string_view content, const on_message& f) {
  nlmsghdr head{};
  head.nlmsg_len = static_cast<uint32_t>(sizeof(head) + content.size());
  head.nlmsg_type = kind;
  head.nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | flags);
  head.nlmsg_seq = ++sequence_;
  std::string request{reinterpret_cast<const char*>(&head), sizeof(head)};
  request.append(content);
  if (::send(fd_.get(), request.data(), request.size(), 0) < 0)
    return system_error("ask the kernel for its networks");
  for (;;) {
    auto is_over = read_answer(f);
    if (!is_over)
      return std::move(is_over.error());
    if (*is_over)
      return caf::none;
  }
}

caf::expected<bool> netlink_socket::read_answer(const on_message& f) {
  const auto got = ::recv(fd_.get(), buffer_.get(), buffer_size, 0);
  if (got < 0 && errno == EINTR)
    return false;
  if (got < 0)
    return system_error("hear of the kernel's networks");
  auto rest = std::string_view{buffer_.get(), static_cast<size_t>(got)};
  while (rest.size() >= sizeof(nlmsghdr)) {
    nlmsghdr head;
    std::memcpy(&head, rest.data(), sizeof(head));
    if (head.nlmsg_len < sizeof(head) || head.nlmsg_len > rest.size())
      break;
    const auto content =
      rest.substr(sizeof(head), head.nlmsg_len - sizeof(head));
    rest.remove_prefix(std::min(rest.size(), aligned(head.nlmsg_len)));
    if (head.nlmsg_seq != sequence_)
      continue; // Of an earlier question.
    if (head.nlmsg_type == NLMSG_DONE)
      return true;
    if (head.nlmsg_type == NLMSG_ERROR) {
      nlmsgerr why{};
      std::memcpy(&why, content.data(), std::min(sizeof(why), content.size()));
      if (why.error == 0)
        return true;
      return system_error("ask the kernel for its networks", -why.error);
    }
    f(head.nlmsg_type, content);
    if ((head.nlmsg_flags & NLM_F_MULTI) == 0)
      return true;
  }
  return false;
}

caf::expected<std::optional<std::string_view>> netlink_socket::hear() {
  for (;;) {
    sockaddr_nl from{};
    socklen_t size = sizeof(from);
    const auto got = ::recvfrom(fd_.get(), buffer_.get(), buffer_size, 0,
                                reinterpret_cast<sockaddr*>(&from), &size);
    if (got < 0 && errno == ENOBUFS)
      return make_error(status::out_of_resource,
                        "the kernel has dropped what it would have told");
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return std::optional<std::string_view>{};
    // Processes may write to our socket, too.
    if (size == sizeof(from) && from.nl_pid == 0)
      return std::optional{
        std::string_view{buffer_.get(), static_cast<size_t>(got)}};
  }
}

bool netlink_socket::drain() {
  auto result = false;
  for (;;) {
    const auto got = ::recv(fd_.get(), buffer_.get(), buffer_size, 0);
    if (got > 0 || (got < 0 && (errno == ENOBUFS || errno == EINTR)))
      result = true;
    else
      return result;
  }
}

void for_each_message(std::string_view datagram,
                      const netlink_socket::on_message& f) {
  while (datagram.size() >= sizeof(nlmsghdr)) {
    nlmsghdr head;
    std::memcpy(&head, datagram.data(), sizeof(head));
    if (head.nlmsg_len < sizeof(head) || head.nlmsg_len > datagram.size())
      return;
    f(head.nlmsg_type,
      datagram.substr(sizeof(head), head.nlmsg_len - sizeof(head)));
    datagram.remove_prefix(std::min(datagram.size(), aligned(head.nlmsg_len)));
  }
}

void for_each_attribute(
  std::string_view attributes,
  const std::function<void(uint16_t, std::string_view)>& f) {
  while (attributes.size() >= sizeof(rtattr)) {
    rtattr head;
    std::memcpy(&head, attributes.data(), sizeof(head));
    if (head.rta_len < sizeof(head) || head.rta_len > attributes.size())
      return;
    f(head.rta_type & NLA_TYPE_MASK,
      attributes.substr(sizeof(head), head.rta_len - sizeof(head)));
    attributes.remove_prefix(
      std::min(attributes.size(), aligned(head.rta_len)));
  }
}

// -- links -------------------------------------------------------------------

std::optional<link_change> link_change_in(uint16_t kind,
                                          std::string_view content) {
  ifinfomsg fixed{};
  std::string_view attributes;
  if ((kind != RTM_NEWLINK && kind != RTM_DELLINK)
      || !read_fixed(content, fixed, attributes))
    return std::nullopt;
  link_change result;
  result.index = fixed.ifi_index;
  result.is_gone = kind == RTM_DELLINK;
  result.is_running = !result.is_gone && (fixed.ifi_flags & IFF_UP) != 0
                      && (fixed.ifi_flags & IFF_RUNNING) != 0;
  result.is_loopback = (fixed.ifi_flags & IFF_LOOPBACK) != 0;
  for_each_attribute(attributes, [&](uint16_t x, std::string_view value) {
    if (x == IFLA_IFNAME)
      result.name =
        value.substr(0, std::min<size_t>(value.find('\0'), IFNAMSIZ - 1));
  });
  // The kernel allows nearly every character in a name.
  const auto is_odd = [](char x) { return x <= ' ' || x > '~'; };
  std::replace_if(result.name.begin(), result.name.end(), is_odd, '?');
  // Of bridges the kernel tells in messages of another family, too, where a
  // port that leaves looks like a link that is gone.
  if (result.name.empty() || fixed.ifi_family != AF_UNSPEC)
    return std::nullopt;
  return result;
}

std::vector<link_change> link_changes_in(std::string_view datagram) {
  auto result = std::vector<link_change>{};
  for_each_message(datagram, [&](uint16_t kind, std::string_view content) {
    if (auto x = link_change_in(kind, content))
      result.push_back(std::move(*x));
  });
  return result;
}

} // namespace troupe
