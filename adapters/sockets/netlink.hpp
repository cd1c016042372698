#pragma once

#include "adapters/loop/unique_fd.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct nlmsghdr; // the kernel's

namespace troupe {

/// A socket to the kernel's routing tables. Source: rtnetlink(7).
class netlink_socket {
public:
  /// Gets the kind of a message and what follows its header.
  using on_message =
    std::function<void(uint16_t kind, std::string_view content)>;

  /// @param groups What to hear of, a bit each (`RTMGRP_LINK` ...).
  static caf::expected<netlink_socket> open(uint32_t groups = 0);

  /// Sends a request and gives all of the answer.
  /// @param content The fixed part and its attributes, padded to 4 bytes.
  caf::error ask(uint16_t kind, uint16_t flags, std::string_view content,
                 const on_message& f);

  /// Reads one datagram of what the kernel has told.
  /// @returns nothing if there is none; `out_of_resource` if the kernel has had
  ///          to drop some. Valid until the next call.
  caf::expected<std::optional<std::string_view>> hear();

  /// Reads and drops what the kernel has told.
  /// @returns whether anything was there, or was lost.
  bool drain();

  int fd() const noexcept {
    return fd_.get();
  }

private:
  /// Reads one datagram. @returns whether the answer is complete.
  caf::expected<bool> read_answer(const on_message& f);

  unique_fd fd_;
  uint32_t sequence_ = 0;
  std::unique_ptr<char[]> buffer_;
};

/// Calls `f` for each message of a datagram; stops at the first that does not
/// fit.
void for_each_message(std::string_view datagram,
                      const netlink_socket::on_message& f);

/// Calls `f(kind, value)` for each attribute of a message; stops at the first
/// that does not fit.
void for_each_attribute(
  std::string_view attributes,
  const std::function<void(uint16_t, std::string_view)>& f);

/// Reads the fixed part of a message.
/// @returns whether it is long enough; then `attributes` is what follows.
template <class T>
bool read_fixed(std::string_view content, T& out,
                std::string_view& attributes) {
  constexpr auto aligned = (sizeof(T) + 3) / 4 * 4;
  if (content.size() < sizeof(T))
    return false;
  std::memcpy(&out, content.data(), sizeof(T));
  attributes = content.substr(std::min(aligned, content.size()));
  return true;
}

/// A network link as the kernel told of it.
struct link_change {
  int index = 0;
  std::string name;

  /// Whether it can carry data. False, too, for one that is gone.
  bool is_running = false;
  bool is_loopback = false;
  bool is_gone = false;
};

/// Reads a message of the kernel.
/// @returns nothing if it does not tell of a link.
/// Source: rtnetlink(7), RTM_NEWLINK and RTM_DELLINK.
std::optional<link_change> link_change_in(uint16_t kind,
                                          std::string_view content);

/// Reads the datagrams of a routing socket. Anything else than links in them is
/// passed over, and what does not fit ends it.
std::vector<link_change> link_changes_in(std::string_view datagram);

} // namespace troupe
