#pragma once

// A listener on a loop of its own thread, a server that answers by script, and
// peers with plain blocking sockets. Nothing sleeps: what a test waits for is
// looked at on the loop again and again, up to a limit.

#include "adapters/local/listener.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/loop_system.hpp"
#include "adapters/sockets/tcp_socket.hpp"
#include "adapters/wire/frame.hpp"
#include "adapters/wire/handshake.hpp"
#include "adapters/wire/replies.hpp"
#include "adapters/wire/requests.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"

#include <caf/all.hpp>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

// Other folders have a `world` of their own in the same binary.
namespace troupe::fixtures {
inline namespace sockets {

using namespace std::chrono_literals;

/// How long anything may take before a test fails.
constexpr auto patience = 45s;

/// The user that runs the tests.
inline uint32_t me() {
  return ::geteuid();
}

// -- peers -------------------------------------------------------------------

/// A greeting of a 4.2.2 client that says it is `uid`.
inline wire::hello greeting(uint32_t uid = me()) {
  wire::hello result;
  result.security = "native";
  result.credential = wire::native_credential({uid, 0});
  result.proc = proc_id{"job", 0};
  result.version = "4.2.2";
  result.store = "hash";
  return result;
}

inline std::string bytes_of(const wire::hello& x) {
  std::string result;
  if (wire::encode_hello(x, result))
    CAF_FAIL("cannot encode the greeting");
  return result;
}

inline const wire::dialect& dialect() {
  static const auto result = wire::dialect_of(greeting());
  return result;
}

inline std::string bytes_of(uint32_t tag, const wire::request& x) {
  std::string payload;
  std::string result;
  if (wire::encode_request(x, dialect(), payload)
      || wire::append_frame(result, tag, payload))
    CAF_FAIL("cannot encode the request");
  return result;
}

/// The other end of a connection: blocking, and given up after `patience`.
class peer {
public:
  explicit peer(uint16_t port)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(port);
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval limit{std::chrono::seconds{patience}.count(), 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    is_connected_ =
      ::connect(fd_.get(), reinterpret_cast<sockaddr*>(&where), sizeof(where))
      == 0;
    set_no_delay(fd_.get());
  }

  bool is_connected() const {
    return is_connected_;
  }

  int fd() const {
    return fd_.get();
  }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto done =
        ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (done <= 0)
        return false;
      bytes.remove_prefix(static_cast<size_t>(done));
    }
    return true;
  }

  /// @returns fewer than `size` bytes if the server closes or `patience` is
  ///          over.
  std::string receive(size_t size) {
    std::string result(size, '\0');
    size_t have = 0;
    while (have < size) {
      const auto got = ::recv(fd_.get(), result.data() + have, size - have, 0);
      if (got <= 0)
        break;
      have += static_cast<size_t>(got);
    }
    result.resize(have);
    return result;
  }

  /// Waits for the server to close.
  /// @returns whether it did, without sending anything before.
  bool is_closed() {
    char c;
    const auto got = ::recv(fd_.get(), &c, 1, 0);
    return got == 0 || (got < 0 && errno == ECONNRESET);
  }

  /// Waits for the server to close, whatever it sends before.
  bool is_closed_at_last() {
    std::string rest(65536, '\0');
    ssize_t got = 0;
    while ((got = ::recv(fd_.get(), rest.data(), rest.size(), 0)) > 0)
      continue;
    return got == 0 || errno == ECONNRESET;
  }

  /// @returns header and payload of the next frame; tag 99 if there is none.
  std::pair<uint32_t, std::string> frame() {
    const auto head = receive(wire::frame_header_size);
    if (head.size() < wire::frame_header_size)
      return {99, {}};
    const auto header = wire::decode_header(head, wire::byte_order::network);
    return {header.tag, receive(header.length)};
  }

  /// Sends a request and waits for its reply.
  std::optional<wire::reply> ask(uint32_t tag, const wire::request& x) {
    send(bytes_of(tag, x));
    const auto [got, payload] = frame();
    if (got != tag)
      return std::nullopt;
    auto result = wire::decode_reply(wire::command_of(x), payload, dialect());
    return result ? std::optional{*result} : std::nullopt;
  }

  void close() {
    fd_.reset();
  }

private:
  unique_fd fd_;
  bool is_connected_ = false;
};

/// Runs `f` in a child process of another user; `f` may make system calls only.
/// @returns what `f` returns, or -1.
template <class F>
int as_user(uint32_t uid, F f) {
  const auto child = ::fork();
  if (child == 0) {
    if (::setresgid(uid, uid, uid) != 0 || ::setresuid(uid, uid, uid) != 0)
      ::_exit(99);
    ::_exit(f());
  }
  int state = 0;
  if (child < 0 || ::waitpid(child, &state, 0) != child || !WIFEXITED(state))
    return -1;
  return WEXITSTATUS(state);
}

// -- the server --------------------------------------------------------------

/// What the server does, and what it heard. For the thread of the loop.
struct script {
  using accept_promise = caf::response_promise;

  /// Why connections are refused, if so.
  status refusal = status::success;

  /// Connections are answered by the test.
  bool holds_connects = false;

  /// Gets and fences are answered by the test, or not at all.
  bool holds_requests = false;

  /// Bytes of an answer to a query.
  size_t answer_size = 0;

  std::vector<connect_request> connects;
  std::vector<accept_promise> held_connects;
  std::vector<caf::response_promise> held_requests;
  std::vector<connection_lost> lost;
  std::vector<io_push_request> pushes;
  std::vector<deregister_events_request> deregistered;
  std::vector<std::string> log;
  size_t heartbeats = 0;

  /// Events that the kernel has taken, of the connection that said so last.
  uint64_t taken = 0;
  size_t requests = 0;

  /// The sessions and connections, in the order of acceptance.
  std::vector<caf::actor> sessions;
  std::vector<connection_actor> connections;

  void clear() {
    held_connects.clear();
    held_requests.clear();
    sessions.clear();
    connections.clear();
  }
};

/// An actor that understands what a SERVER gets from connections.
caf::actor spawn_scripted_server(caf::actor_system& sys, script* play);

// -- all together ------------------------------------------------------------

class world {
public:
  explicit world(listener_options options = {});

  ~world();

  /// Runs `f` on the thread of the loop and gives its result.
  template <class F>
  auto on_loop(F f) {
    auto result = std::make_shared<std::promise<decltype(f())>>();
    sys.loop().post([&f, result] { result->set_value(f()); });
    return result->get_future().get();
  }

  /// Lets the loop go on until `f` holds there.
  /// @returns whether it does in time.
  template <class F>
  bool eventually(F f) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < end)
      if (on_loop(f))
        return true;
    return false;
  }

  /// Whether a line of the log holds `text`.
  bool logged(const std::string& text) {
    return eventually([&] {
      for (const auto& line : play.log)
        if (line.find(text) != std::string::npos)
          return true;
      return false;
    });
  }

  uint16_t port() {
    return on_loop([&] { return door->uris().front().port; });
  }

  local_statistics statistics() {
    return on_loop([&] { return door->statistics(); });
  }

  /// A peer that is being served.
  std::unique_ptr<peer> served();

  script play; // Actors refer to it until the end.
  loop_system sys;
  caf::actor server;
  std::unique_ptr<listener> door;

private:
  std::thread thread_;
};

} // namespace sockets
} // namespace troupe::fixtures
