// A server of HTTP on the loop, and clients with plain sockets.

#include "adapters/metrics/scrape_server.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/sockets/tcp_socket.hpp"
#include "tests/adapters/local/world.hpp"

#include <poll.h>

#include <memory>
#include <vector>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

struct fixture {
  event_loop loop;
  uint16_t port = 0;
  std::unique_ptr<scrape_server> uut;

  /// What was asked, and who has not been answered.
  std::vector<scrape_request> asked;
  std::vector<scrape_server::responder> owed;
  bool is_slow = false;

  void start(const scrape_server::bounds& limits = {}) {
    auto door = listen_on_loopback("127.0.0.1", 0, 64);
    CAF_REQUIRE(door);
    port = local_address(door->get()).port;
    auto doors = std::vector<unique_fd>{};
    doors.push_back(std::move(*door));
    uut = std::make_unique<scrape_server>(
      loop, std::move(doors), limits,
      [this](const scrape_request& x, scrape_server::responder reply) {
        asked.push_back(x);
        if (is_slow)
          owed.push_back(std::move(reply));
        else
          reply(scrape_text(200, "this is " + x.path));
      });
  }

  /// Lets the loop go on until `f` holds.
  template <class F>
  bool eventually(F f) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < end) {
      loop.run_once();
      if (f())
        return true;
    }
    return false;
  }

  static bool is_readable(const peer& x) {
    auto state = pollfd{x.fd(), POLLIN, 0};
    return ::poll(&state, 1, 0) > 0;
  }

  /// All that the server sends until it closes.
  std::string answer(peer& x) {
    auto result = std::string{};
    for (;;) {
      if (!eventually([&] { return is_readable(x); }))
        CAF_FAIL("no answer");
      const auto more = x.receive(1);
      if (more.empty())
        return result;
      result += more;
    }
  }

  std::string ask(const std::string& head) {
    auto client = peer{port};
    CAF_REQUIRE(client.send(head));
    return answer(client);
  }
};

std::string first_line(const std::string& text) {
  return text.substr(0, text.find("\r\n"));
}

std::string body_of(const std::string& text) {
  const auto at = text.find("\r\n\r\n");
  return at == std::string::npos ? "" : text.substr(at + 4);
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(scrape_server_tests, fixture)

CAF_TEST(a request is answered and the connection closed) {
  start();
  const auto got = ask("GET /a?b HTTP/1.1\r\nHost: n1\r\nAccept: x\r\n\r\n");
  CAF_CHECK_EQUAL(first_line(got), "HTTP/1.1 200 OK");
  CAF_CHECK_EQUAL(body_of(got), "this is /a\n");
  CAF_CHECK(got.find("\r\nContent-Length: 11\r\n") != std::string::npos);
  CAF_CHECK(got.find("\r\nConnection: close\r\n") != std::string::npos);
  CAF_REQUIRE_EQUAL(asked.size(), 1u);
  CAF_CHECK_EQUAL(asked[0].accept, "x");
  CAF_CHECK(eventually([&] { return uut->connections() == 0; }));
}

CAF_TEST(a request may come byte by byte and its answer late) {
  start();
  is_slow = true;
  auto client = peer{port};
  for (const auto x : std::string{"GET /late HTTP/1.1\r\n\r\n"}) {
    CAF_REQUIRE(owed.empty());
    CAF_REQUIRE(client.send({&x, 1}));
    loop.run_once();
  }
  CAF_REQUIRE(eventually([&] { return !owed.empty(); }));
  CAF_CHECK(!is_readable(client));
  owed[0](scrape_text(200, "first"));
  owed[0](scrape_text(200, "second"));
  CAF_CHECK_EQUAL(body_of(answer(client)), "first\n");
}

CAF_TEST(who asks for the head gets no body) {
  start();
  const auto got = ask("HEAD /a HTTP/1.1\r\n\r\n");
  CAF_CHECK_EQUAL(first_line(got), "HTTP/1.1 200 OK");
  CAF_CHECK(got.find("\r\nContent-Length: 11\r\n") != std::string::npos);
  CAF_CHECK_EQUAL(body_of(got), "");
}

CAF_TEST(OBS-3 what is not understood is refused and asks nobody) {
  start();
  CAF_CHECK_EQUAL(first_line(ask("POST / HTTP/1.1\r\n\r\n")),
                  "HTTP/1.1 405 Method Not Allowed");
  CAF_CHECK_EQUAL(first_line(ask("nonsense\r\n\r\n")),
                  "HTTP/1.1 400 Bad Request");
  CAF_CHECK_EQUAL(
    first_line(ask("GET / HTTP/1.1\r\nContent-Length: 9\r\n\r\n")),
    "HTTP/1.1 400 Bad Request");
  CAF_CHECK_EQUAL(
    first_line(ask("GET / HTTP/1.1\r\nX: " + std::string(8192, 'x'))),
    "HTTP/1.1 431 Request Header Fields Too Large");
  CAF_CHECK(asked.empty());
}

CAF_TEST(OBS-3 of too many connections the oldest makes room) {
  auto limits = scrape_server::bounds{};
  limits.connections = 3;
  start(limits);
  auto silent = std::vector<std::unique_ptr<peer>>{};
  for (auto i = 0; i < 10; ++i) {
    silent.push_back(std::make_unique<peer>(port));
    CAF_REQUIRE(silent.back()->is_connected());
  }
  CAF_CHECK_EQUAL(body_of(ask("GET /b HTTP/1.1\r\n\r\n")), "this is /b\n");
  CAF_CHECK(uut->connections() <= limits.connections);
  CAF_CHECK(eventually([&] { return is_readable(*silent.front()); }));
  CAF_CHECK(silent.front()->is_closed());
}

CAF_TEST(OBS-3 who is being answered makes no room for those who say nothing) {
  auto limits = scrape_server::bounds{};
  limits.connections = 3;
  start(limits);
  is_slow = true;
  auto client = peer{port};
  CAF_REQUIRE(client.send("GET /c HTTP/1.1\r\n\r\n"));
  CAF_REQUIRE(eventually([&] { return owed.size() == 1; }));
  auto silent = std::vector<std::unique_ptr<peer>>{};
  for (auto i = 0; i < 10; ++i)
    silent.push_back(std::make_unique<peer>(port));
  // All but two of them have come and gone.
  for (auto i = 0; i < 8; ++i) {
    CAF_REQUIRE(eventually([&] { return is_readable(*silent[i]); }));
    CAF_CHECK(silent[i]->is_closed());
  }
  owed[0](scrape_text(200, "all the same"));
  CAF_CHECK_EQUAL(body_of(answer(client)), "all the same\n");
}

CAF_TEST(OBS-3 who takes too long is cut off) {
  auto limits = scrape_server::bounds{};
  limits.patience = std::chrono::milliseconds{50};
  start(limits);
  auto client = peer{port};
  CAF_REQUIRE(client.send("GET /"));
  CAF_REQUIRE(eventually([&] { return is_readable(client); }));
  CAF_CHECK(client.is_closed());
  CAF_CHECK_EQUAL(uut->connections(), 0u);
}

CAF_TEST(an answer that comes after all is over does nothing) {
  start();
  is_slow = true;
  auto client = std::make_unique<peer>(port);
  CAF_REQUIRE(client->send("GET / HTTP/1.1\r\n\r\n"));
  CAF_REQUIRE(eventually([&] { return owed.size() == 1; }));
  client.reset();
  CAF_CHECK(eventually([&] { return uut->connections() == 0; }));
  owed[0](scrape_text(200, "nobody hears it"));
  auto other = peer{port};
  CAF_REQUIRE(other.send("GET / HTTP/1.1\r\n\r\n"));
  CAF_REQUIRE(eventually([&] { return owed.size() == 2; }));
  uut.reset();
  owed[1](scrape_text(200, "nor this"));
  CAF_CHECK(other.is_closed());
}

CAF_TEST_FIXTURE_SCOPE_END()
