#pragma once

// A server of a few lines: a thread that accepts connections and does with each
// what the test says, with plain blocking sockets.

#include "adapters/link/link.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/loop_system.hpp"
#include "adapters/sockets/tcp_socket.hpp"
#include "adapters/wire/pushes.hpp"
#include "tests/adapters/local/world.hpp"

#include <fcntl.h>
#include <poll.h>

#include <atomic>

namespace troupe::fixtures {
inline namespace links {

/// One connection, as the server sees it.
class served_peer {
public:
  explicit served_peer(int fd) : fd_(fd) {
    const timeval limit{std::chrono::seconds{patience}.count(), 0};
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto done = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (done <= 0)
        return false;
      bytes.remove_prefix(static_cast<size_t>(done));
    }
    return true;
  }

  std::string receive(size_t size) {
    std::string result(size, '\0');
    size_t have = 0;
    while (have < size) {
      const auto got = ::recv(fd_, result.data() + have, size - have, 0);
      if (got <= 0)
        break;
      have += static_cast<size_t>(got);
    }
    result.resize(have);
    return result;
  }

  /// The client's greeting; an empty version if there is none.
  wire::hello take_greeting() {
    const auto head = receive(wire::frame_header_size);
    if (head.size() < wire::frame_header_size)
      return {};
    const auto header = wire::decode_header(head, wire::byte_order::host);
    auto x = wire::decode_hello(receive(header.length));
    if (!x)
      return {};
    rules = wire::dialect_of(*x);
    return *x;
  }

  /// Reads the greeting and says yes.
  wire::hello welcome() {
    auto x = take_greeting();
    auto bytes = std::string{};
    const auto who = x.proc.value_or(proc_id{"tools", 7});
    wire::encode_connect_reply(connect_accepted{who, {"server", 0}, 5},
                               wire::connect_reply_form_of(x.role, rules.peer),
                               bytes);
    send(bytes);
    return x;
  }

  /// @returns tag and payload of the next request; tag 99 if there is none.
  std::pair<uint32_t, std::string> frame() {
    const auto head = receive(wire::frame_header_size);
    if (head.size() < wire::frame_header_size)
      return {99, {}};
    const auto header = wire::decode_header(head, wire::byte_order::network);
    return {header.tag, receive(header.length)};
  }

  bool send_frame(uint32_t tag, std::string_view payload) {
    auto bytes = std::string{};
    return !wire::append_frame(bytes, tag, payload) && send(bytes);
  }

  bool reply(uint32_t tag, const wire::reply& x) {
    auto payload = std::string{};
    return !wire::encode_reply(x, rules, payload) && send_frame(tag, payload);
  }

  bool reply(uint32_t tag, status code) {
    auto payload = std::string{};
    wire::encode_status(code, rules, payload);
    return send_frame(tag, payload);
  }

  int fd() const {
    return fd_;
  }

  wire::dialect rules;

private:
  int fd_;
};

class scripted_server {
public:
  /// @param play Gets each connection, which closes when it returns.
  explicit scripted_server(std::function<void(served_peer&)> play) {
    auto fd = listen_on_loopback("127.0.0.1", 0, 16);
    if (!fd)
      CAF_FAIL("cannot listen");
    fd_ = std::move(*fd);
    thread_ = std::thread{[this, play = std::move(play)] {
      while (!stopped_) {
        auto ready = pollfd{fd_.get(), POLLIN, 0};
        ::poll(&ready, 1, 20);
        if (auto x = accept_from(fd_.get())) {
          auto peer = served_peer{x.get()};
          play(peer);
        }
      }
    }};
  }

  ~scripted_server() {
    stopped_ = true;
    thread_.join();
  }

  link_settings settings() const {
    auto x = link_settings{};
    x.uri.server = {"server", 0};
    x.uri.address = "127.0.0.1";
    x.uri.port = local_address(fd_.get()).port;
    x.self = proc_id{"job", 3};
    return x;
  }

private:
  unique_fd fd_;
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

/// A loop on a thread of its own, and a link on it.
class client {
public:
  client() : thread_([this] { sys.run(); }) {
    // nop
  }

  template <class F>
  auto on_loop(F f) {
    auto result = std::make_shared<std::promise<decltype(f())>>();
    sys.loop().post([&f, result] { result->set_value(f()); });
    return result->get_future().get();
  }

  ~client() {
    if (uut)
      uut->close();
    on_loop([] { return 0; });
    sys.stop();
    thread_.join();
    uut.reset();
  }

  template <class F>
  bool eventually(F f) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < end)
      if (on_loop(f))
        return true;
    return false;
  }

  /// @returns why there is no connection.
  status connect(const link_settings& x) {
    auto peer = connect_to_server(x);
    if (!peer)
      return status_of(peer.error());
    auto handlers = troupe::link::callbacks{};
    handlers.on_events = [this](const event_batch& y) {
      ++batches;
      for (const auto& z : y.events)
        events.push_back(*z);
    };
    handlers.on_output = [this](io_delivery y, output_receipt receipt) {
      outputs.push_back(std::move(y));
      if (keeps_receipts)
        receipts.push_back(std::move(receipt));
    };
    handlers.on_flow_control = [this](wire::flow_control y) {
      controls.push_back(std::move(y));
    };
    handlers.on_garbled = [this](const caf::error&) { ++garbled; };
    handlers.on_lost = [this](const caf::error&) { ++losses; };
    uut = std::make_shared<troupe::link>(sys.loop(), std::move(*peer),
                                         std::move(handlers));
    on_loop([this] {
      uut->start();
      return 0;
    });
    return status::success;
  }

  // -- of the thread of the loop --
  std::vector<event> events;
  size_t batches = 0;
  std::vector<io_delivery> outputs;
  std::vector<output_receipt> receipts;
  bool keeps_receipts = false;
  std::vector<wire::flow_control> controls;
  size_t losses = 0;
  size_t garbled = 0;

  loop_system sys;
  std::shared_ptr<troupe::link> uut;

private:
  std::thread thread_;
};

} // namespace links
} // namespace troupe::fixtures
