#include "adapters/local/peer_credentials.hpp"

#include "adapters/sockets/system_error.hpp"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

namespace troupe {

namespace {

/// The question, as the kernel wants it.
struct diag_request {
  nlmsghdr header;
  inet_diag_req_v2 body;
};

caf::error unknown(const std::string& why) {
  return make_error(status::no_permissions,
                    "the kernel does not say whose socket this is: " + why);
}

/// Writes address and port in the form of socket diagnosis.
bool put(const sockaddr_storage& x, __be16& port, __be32 (&address)[4]) {
  if (x.ss_family == AF_INET) {
    sockaddr_in in;
    std::memcpy(&in, &x, sizeof(in));
    port = in.sin_port;
    address[0] = in.sin_addr.s_addr;
    return true;
  }
  if (x.ss_family == AF_INET6) {
    sockaddr_in6 in;
    std::memcpy(&in, &x, sizeof(in));
    port = in.sin6_port;
    std::memcpy(address, &in.sin6_addr, sizeof(in.sin6_addr));
    return true;
  }
  return false;
}

std::optional<diag_request> make_request(const socket_pair& x, uint32_t seq) {
  diag_request result{};
  result.header.nlmsg_len = sizeof(result);
  result.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  result.header.nlmsg_flags = NLM_F_REQUEST;
  result.header.nlmsg_seq = seq;
  auto& body = result.body;
  body.sdiag_family = static_cast<uint8_t>(x.local.ss_family);
  body.sdiag_protocol = IPPROTO_TCP;
  body.idiag_states = ~0u;
  body.id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
  body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  if (!put(x.local, body.id.idiag_sport, body.id.idiag_src)
      || !put(x.remote, body.id.idiag_dport, body.id.idiag_dst))
    return std::nullopt;
  return result;
}

/// Appends address and port the way `/proc/net/tcp` prints them.
void print(const sockaddr_storage& x, bool as_ipv6, std::string& out) {
  __be16 port = 0;
  __be32 address[4] = {};
  if (!put(x, port, address))
    return;
  std::array<char, 16> text{};
  const auto word = [&](uint32_t w) {
    std::snprintf(text.data(), text.size(), "%08X", w);
    out += text.data();
  };
  if (x.ss_family == AF_INET6) {
    for (const auto w : address)
      word(w);
  } else {
    // An IPv6 socket may speak IPv4.
    if (as_ipv6)
      for (const auto w : {0u, 0u, htonl(0xffff)})
        word(w);
    word(address[0]);
  }
  std::snprintf(text.data(), text.size(), ":%04X", ntohs(port));
  out += text.data();
}

std::string table_key(const socket_pair& x, bool as_ipv6) {
  std::string result;
  print(x.local, as_ipv6, result);
  result += ' ';
  print(x.remote, as_ipv6, result);
  result += " 01 "; // Connected.
  return result;
}

caf::expected<socket_owner> unix_peer(int fd) {
  ucred creds{};
  socklen_t size = sizeof(creds);
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &creds, &size) != 0)
    return system_error("SO_PEERCRED");
  return socket_owner{static_cast<uint32_t>(creds.uid), 0};
}

} // namespace

std::optional<socket_owner> find_owner(const std::string& path,
                                       const socket_pair& x) {
  std::ifstream in{path};
  std::string line;
  if (!std::getline(in, line))
    return std::nullopt;
  // The heading tells the tables apart: addresses of IPv6 are wider.
  const auto as_ipv6 = line.find(" remote_address ") != std::string::npos;
  const auto key = table_key(x, as_ipv6);
  while (std::getline(in, line)) {
    const auto found = line.find(key);
    if (found == std::string::npos)
      continue;
    std::istringstream fields{line.substr(found + key.size())};
    std::string queues, timer, retransmits;
    uint32_t uid = 0;
    uint32_t timeout = 0;
    uint64_t inode = 0;
    fields >> queues >> timer >> retransmits >> uid >> timeout >> inode;
    if (fields && inode != 0)
      return socket_owner{uid, inode};
  }
  return std::nullopt;
}

caf::expected<uint32_t> peer_credentials::uid_of(int fd) {
  const auto owner = owner_of(fd);
  if (!owner)
    return owner.error();
  return owner->uid;
}

caf::expected<socket_owner> peer_credentials::owner_of(int fd) {
  socket_pair peer; // Their end, thus the other way round.
  socklen_t size = sizeof(peer.remote);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&peer.remote), &size) != 0)
    return system_error("getsockname");
  if (peer.remote.ss_family == AF_UNIX)
    return unix_peer(fd);
  size = sizeof(peer.local);
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer.local), &size) != 0)
    return system_error("getpeername");
  auto result = ask_kernel(peer);
  if (result || is_proven_)
    return result;
  for (const auto* path : {"/proc/net/tcp", "/proc/net/tcp6"})
    if (const auto owner = find_owner(path, peer))
      return *owner;
  return result;
}

caf::expected<socket_owner>
peer_credentials::ask_kernel(const socket_pair& peer) {
  if (!netlink_)
    netlink_ = unique_fd{::socket(
      AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG)};
  const auto request = make_request(peer, ++sequence_);
  if (!request)
    return unknown("not a TCP socket");
  // Answered before `send` returns.
  if (::send(netlink_.get(), &*request, sizeof(*request), 0) < 0)
    return unknown("socket diagnosis is not available");
  for (;;) {
    alignas(nlmsghdr) std::array<char, 4096> buffer;
    sockaddr_nl from{};
    socklen_t size = sizeof(from);
    const auto got = ::recvfrom(netlink_.get(), buffer.data(), buffer.size(), 0,
                                reinterpret_cast<sockaddr*>(&from), &size);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < static_cast<ssize_t>(sizeof(nlmsghdr)))
      return unknown("socket diagnosis does not answer");
    nlmsghdr header;
    std::memcpy(&header, buffer.data(), sizeof(header));
    if (from.nl_pid != 0 || header.nlmsg_seq != sequence_)
      continue; // Not from the kernel, or the answer to an older question.
    inet_diag_msg answer;
    if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY
        || static_cast<size_t>(got) < NLMSG_HDRLEN + sizeof(answer))
      return unknown("there is no such socket");
    std::memcpy(&answer, buffer.data() + NLMSG_HDRLEN, sizeof(answer));
    const auto& asked = request->body.id;
    if (answer.id.idiag_sport != asked.idiag_sport
        || answer.id.idiag_dport != asked.idiag_dport)
      return unknown("socket diagnosis answers for another one");
    is_proven_ = true;
    if (answer.idiag_state != TCP_ESTABLISHED || answer.idiag_inode == 0)
      return unknown("it has been closed");
    return socket_owner{answer.idiag_uid, answer.idiag_inode};
  }
}

} // namespace troupe
