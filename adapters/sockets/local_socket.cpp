#include "adapters/sockets/local_socket.hpp"

#include "adapters/sockets/system_error.hpp"
#include "messages/status.hpp"

#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>

namespace troupe {

namespace {

constexpr auto name_prefix = std::string_view{"@troupe-lane."};

/// Of a number of 64 bits.
constexpr size_t name_digits = 16;

constexpr auto place_size = name_prefix.size() + name_digits + 1;
constexpr auto name_size = place_size + name_digits;

std::string hex_of_number(uint64_t x) {
  constexpr auto characters = "0123456789abcdef";
  auto result = std::string(name_digits, '0');
  for (auto i = name_digits; i-- > 0; x >>= 4)
    result[i] = characters[x & 15];
  return result;
}

bool is_name(std::string_view x) {
  const auto is_digit = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  };
  if (x.size() != name_size || x.substr(0, name_prefix.size()) != name_prefix
      || x[place_size - 1] != '.')
    return false;
  const auto place = x.substr(name_prefix.size(), name_digits);
  const auto own = x.substr(place_size);
  return std::all_of(place.begin(), place.end(), is_digit)
         && std::all_of(own.begin(), own.end(), is_digit);
}

/// What only who may be reached has in common with us, in 64 bits. Two places
/// that have the same by chance cost attempts in vain, nothing else.
std::optional<uint64_t> find_place() {
  auto text = std::string{};
  std::ifstream in{"/proc/sys/kernel/random/boot_id"};
  struct stat network {};
  if (!std::getline(in, text) || ::stat("/proc/self/ns/net", &network) != 0)
    return std::nullopt;
  // Users of another namespace have other numbers; a kernel may have none.
  struct stat users {};
  if (::stat("/proc/self/ns/user", &users) != 0)
    users.st_ino = 0;
  text += ' ' + std::to_string(network.st_ino) + ' '
          + std::to_string(users.st_ino) + ' ' + std::to_string(::geteuid());
  // FNV-1a.
  auto result = uint64_t{0xcbf29ce484222325};
  for (const auto c : text)
    result = (result ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return result;
}

/// The address of a socket: a name of ours, with what follows it.
struct socket_name {
  sockaddr_un address{};
  socklen_t size = sizeof(sockaddr_un);

  explicit socket_name(std::string_view text) {
    address.sun_family = AF_UNIX;
    const auto length = std::min(text.size(), sizeof(address.sun_path));
    std::copy_n(text.begin(), length, address.sun_path);
    address.sun_path[0] = '\0'; // In the place of the `@`.
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  }

  const sockaddr* get() const noexcept {
    return reinterpret_cast<const sockaddr*>(&address);
  }
};

/// Takes apart what `socket_name` has put together.
tcp_address to_end(const sockaddr_un& x, socklen_t size) {
  auto result = tcp_address{};
  constexpr auto begin = offsetof(sockaddr_un, sun_path);
  if (size <= begin || x.sun_path[0] != '\0')
    return result;
  const auto length = std::min(size - begin, sizeof(x.sun_path));
  auto text = std::string(x.sun_path, length);
  text.front() = '@';
  auto name = std::string_view{text}.substr(0, name_size);
  if (!is_name(name))
    return result;
  result.address = name;
  if (text.size() > name_size + 1 && text[name_size] == ':')
    std::from_chars(text.data() + name_size + 1, text.data() + text.size(),
                    result.port);
  return result;
}

caf::expected<unique_fd> open_socket(const std::string& what) {
  auto result =
    unique_fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!result)
    return system_error(what);
  return result;
}

caf::error not_a_name(const std::string& text) {
  return make_error(status::bad_param, text + " is no name of a local socket");
}

} // namespace

caf::expected<std::string> make_local_name() {
  const auto place = find_place();
  uint64_t own = 0;
  if (!place
      || ::getrandom(&own, sizeof(own), 0) != static_cast<ssize_t>(sizeof(own)))
    return make_error(status::not_supported,
                      "the kernel does not say on which machine we are; see "
                      "whether /proc is mounted");
  return std::string{name_prefix} + hex_of_number(*place) + "."
         + hex_of_number(own);
}

bool is_in_place_of(const std::string& own, const std::string& other) {
  return is_name(own) && is_name(other)
         && own.compare(0, place_size, other, 0, place_size) == 0;
}

caf::expected<unique_fd> listen_on_name(const std::string& name, int backlog) {
  if (!is_name(name))
    return not_a_name(name);
  const auto what = "listen on " + name;
  auto fd = open_socket(what);
  if (!fd)
    return fd;
  const auto where = socket_name{name};
  if (::bind(fd->get(), where.get(), where.size) != 0
      || ::listen(fd->get(), backlog) != 0)
    return system_error(what);
  return fd;
}

caf::expected<unique_fd> connect_to_name(const std::string& from,
                                         const std::string& to) {
  if (!is_name(from))
    return not_a_name(from);
  if (!is_name(to))
    return not_a_name(to);
  // Of this process: names are gone with their sockets.
  static std::atomic<uint16_t> last{0};
  const auto what = "connect to " + to;
  auto fd = open_socket(what);
  if (!fd)
    return fd;
  const auto source = socket_name{from + ":" + std::to_string(++last)};
  const auto target = socket_name{to};
  if (::bind(fd->get(), source.get(), source.size) != 0
      || ::connect(fd->get(), target.get(), target.size) != 0)
    return system_error(what);
  return fd;
}

caf::error check_user_of(int fd) {
  auto who = ucred{};
  auto size = socklen_t{sizeof(who)};
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
    return system_error("ask who is at the other end");
  if (who.uid != ::geteuid())
    return make_error(status::no_permissions,
                      "process " + std::to_string(who.pid)
                        + " at the other end is user " + std::to_string(who.uid)
                        + "'s, not ours; see who has made the socket");
  return caf::none;
}

tcp_address local_name(int fd) {
  auto address = sockaddr_un{};
  auto size = socklen_t{sizeof(address)};
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    size = 0;
  return to_end(address, size);
}

tcp_address remote_name(int fd) {
  auto address = sockaddr_un{};
  auto size = socklen_t{sizeof(address)};
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    size = 0;
  return to_end(address, size);
}

} // namespace troupe
