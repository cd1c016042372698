// Connections before they are served: who may come in, how long they have, and
// how many there may be.

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "tests/adapters/local/world.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <ctime>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

/// Opens a connection in a child process of another user, which sends `bytes`
/// and waits for the end.
/// @returns whether the server closed without sending anything.
bool is_refused_as(uint32_t uid, uint16_t port, const std::string& bytes) {
  return as_user(
           uid,
           [&] {
             const auto fd = ::socket(AF_INET, SOCK_STREAM, 0);
             sockaddr_in where{};
             where.sin_family = AF_INET;
             where.sin_port = htons(port);
             where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
             const timeval limit{20, 0};
             ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
             if (::connect(fd, reinterpret_cast<sockaddr*>(&where),
                           sizeof(where))
                   != 0
                 || ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0)
               return 2;
             char c;
             const auto got = ::recv(fd, &c, 1, 0);
             return got == 0 || (got < 0 && errno == ECONNRESET) ? 0 : 1;
           })
         == 0;
}

constexpr uint32_t nobody = 65534;

/// A connection of another user, of a child process: greets when it is told to.
class stranger {
public:
  stranger(uint32_t uid, uint16_t port, const std::string& bytes) {
    CAF_REQUIRE_EQUAL(
      ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_), 0);
    child_ = ::fork();
    if (child_ != 0) {
      ::close(ends_[1]);
      wait();
      return;
    }
    // System calls only: other threads may have had locks.
    ::close(ends_[0]);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(port);
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::setresgid(uid, uid, uid) != 0 || ::setresuid(uid, uid, uid) != 0)
      ::_exit(1);
    const auto fd = ::socket(AF_INET, SOCK_STREAM, 0);
    char c = 0;
    if (::connect(fd, reinterpret_cast<sockaddr*>(&where), sizeof(where)) != 0
        || ::send(ends_[1], &c, 1, MSG_NOSIGNAL) != 1
        || ::recv(ends_[1], &c, 1, 0) != 1
        || ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0
        || ::send(ends_[1], &c, 1, MSG_NOSIGNAL) != 1)
      ::_exit(2);
    ::_exit(::recv(ends_[1], &c, 1, 0) == 0 ? 0 : 3);
  }

  ~stranger() {
    ::close(ends_[0]);
    ::waitpid(child_, nullptr, 0);
  }

  stranger(const stranger&) = delete;

  stranger& operator=(const stranger&) = delete;

  /// Has its greeting sent.
  void greet() {
    const char c = 0;
    CAF_REQUIRE_EQUAL(::send(ends_[0], &c, 1, MSG_NOSIGNAL), 1);
    wait();
  }

private:
  void wait() {
    char c = 0;
    CAF_REQUIRE_EQUAL(::recv(ends_[0], &c, 1, 0), 1);
  }

  int ends_[2] = {-1, -1};
  pid_t child_ = -1;
};

std::chrono::nanoseconds cpu_time() {
  timespec x{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &x);
  return std::chrono::seconds{x.tv_sec} + std::chrono::nanoseconds{x.tv_nsec};
}

} // namespace

// -- addresses ---------------------------------------------------------------

CAF_TEST(a listener says where it is) {
  listener_options options;
  options.addresses = {"127.0.0.1", "::1"};
  world uut{options};
  const auto uris = uut.on_loop([&] { return uut.door->uris(); });
  CAF_REQUIRE_EQUAL(uris.size(), 2u);
  CAF_CHECK(to_string(uris[0]).rfind("server.0;tcp4://127.0.0.1:", 0) == 0);
  CAF_CHECK(to_string(uris[1]).rfind("server.0;tcp6://", 0) == 0);
  CAF_CHECK(uris[0].port != 0);
  CAF_CHECK(uris[1].is_ipv6);
}

CAF_TEST(a peer may come over IPv6) {
  listener_options options;
  options.addresses = {"::1"};
  world uut{options};
  sockaddr_in6 where{};
  where.sin6_family = AF_INET6;
  where.sin6_port = htons(uut.port());
  where.sin6_addr = in6addr_loopback;
  const auto fd = unique_fd{::socket(AF_INET6, SOCK_STREAM, 0)};
  CAF_REQUIRE_EQUAL(
    ::connect(fd.get(), reinterpret_cast<sockaddr*>(&where), sizeof(where)), 0);
  const auto bytes = bytes_of(greeting());
  ::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  char reply[8];
  CAF_CHECK_EQUAL(::recv(fd.get(), reply, sizeof(reply), MSG_WAITALL), 8);
}

CAF_TEST(F8.5 a listener stays on loopback) {
  loop_system sys;
  for (const auto* address : {"0.0.0.0", "10.0.0.1", "::", "localhost", ""}) {
    listener_options options;
    options.addresses = {address};
    const auto x = listener::start(sys, {}, options);
    CAF_REQUIRE(!x);
    CAF_CHECK(status_of(x.error()) == status::bad_param);
  }
}

CAF_TEST(a port that is taken is an error) {
  world uut;
  loop_system sys;
  listener_options options;
  options.port = uut.port();
  const auto x = listener::start(sys, {}, options);
  CAF_REQUIRE(!x);
  CAF_CHECK(status_of(x.error()) == status::in_errno);
}

CAF_TEST(a listener that stopped takes nobody and keeps those it has) {
  world uut;
  const auto client = uut.served();
  peer silent{uut.port()};
  CAF_REQUIRE(
    uut.eventually([&] { return uut.door->statistics().accepted == 2; }));
  const auto port = uut.port();
  uut.on_loop([&] {
    uut.door->stop_accepting();
    return 0;
  });
  CAF_CHECK(silent.is_closed());
  CAF_CHECK(!peer{port}.is_connected());
  CAF_CHECK(client->ask(101, commit_request{}));
}

// -- who ---------------------------------------------------------------------

CAF_TEST(X3 the right words from the wrong user are refused) {
  world uut;
  if (me() != 0) {
    CAF_MESSAGE("needs root to become another user");
    return;
  }
  const auto port = uut.port();
  CAF_CHECK(is_refused_as(nobody, port, bytes_of(greeting(0))));
  CAF_CHECK(uut.logged("user 65534, 127.0.0.1"));
  CAF_CHECK(uut.logged("has the credential of user 0 and is 65534"));
  CAF_CHECK(uut.on_loop([&] { return uut.play.connects.empty(); }));
  // With its own credential it reaches the server, which decides.
  CAF_CHECK(!is_refused_as(nobody, port, bytes_of(greeting(nobody))));
  CAF_CHECK_EQUAL(
    uut.on_loop([&] { return uut.play.connects.front().actual.uid; }), nobody);
}

CAF_TEST(MND-A15 greetings of several users are read in turns) {
  if (me() != 0) {
    CAF_MESSAGE("needs root to become another user");
    return;
  }
  constexpr size_t storm = 12;
  listener_options options;
  options.limits.header_time = patience;
  options.limits.greeting_time = patience;
  world uut{options};
  std::vector<std::unique_ptr<peer>> peers;
  for (size_t i = 0; i < storm; ++i)
    peers.push_back(std::make_unique<peer>(uut.port()));
  stranger other{nobody, uut.port(), bytes_of(greeting(nobody))};
  CAF_REQUIRE(uut.eventually(
    [&] { return uut.door->statistics().accepted == storm + 1; }));
  // All of them are there when the loop looks next; the other user's is last.
  uut.on_loop([&] {
    for (auto& x : peers)
      x->send(bytes_of(greeting()));
    other.greet();
    return 0;
  });
  CAF_REQUIRE(
    uut.eventually([&] { return uut.play.connects.size() == storm + 1; }));
  const auto place = uut.on_loop([&] {
    const auto& all = uut.play.connects;
    return std::find_if(
             all.begin(), all.end(),
             [](const connect_request& x) { return x.actual.uid == nobody; })
           - all.begin();
  });
  CAF_CHECK_LESS_OR_EQUAL(place, 1);
}

CAF_TEST(X3 a user that a tool claims beside its credential must be right) {
  world uut;
  peer tool{uut.port()};
  auto x = greeting();
  x.role = peer_role::tool_with_identity;
  x.claimed = credentials{me() + 1, 0};
  tool.send(bytes_of(x));
  CAF_CHECK(tool.is_closed());
  CAF_CHECK(uut.on_loop([&] { return uut.play.connects.empty(); }));
}

CAF_TEST(X3 a peer that closes at once is not taken for root) {
  world uut;
  if (me() != 0) {
    CAF_MESSAGE("needs root to become another user");
    return;
  }
  const auto port = uut.port();
  const auto bytes = bytes_of(greeting(0));
  // The loop is busy until the peer has gone: the kernel then says that nobody
  // owns its socket, in other words root.
  std::promise<void> gone;
  uut.sys.loop().post([&] { gone.get_future().wait(); });
  const auto sent = as_user(nobody, [&] {
    const auto fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(port);
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd, reinterpret_cast<sockaddr*>(&where), sizeof(where)) != 0)
      return 1;
    return ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0 ? 0 : 1;
  });
  gone.set_value();
  CAF_CHECK_EQUAL(sent, 0);
  CAF_CHECK(uut.logged("does not say whose socket this is"));
  CAF_CHECK(uut.on_loop([&] { return uut.play.connects.empty(); }));
}

CAF_TEST(X4 a peer cannot choose a weaker mechanism) {
  world uut;
  for (const auto* mechanism : {"none", "munge", "dummy_handshake"}) {
    peer client{uut.port()};
    auto x = greeting();
    x.security = mechanism;
    if (x.security == "none")
      x.credential.clear();
    client.send(bytes_of(x));
    CAF_CHECK(client.is_closed());
  }
  CAF_CHECK(uut.logged("'none' where 'native' is demanded"));
  CAF_CHECK(uut.on_loop([&] { return uut.play.connects.empty(); }));
}

CAF_TEST(X4 a native credential is needed) {
  world uut;
  for (const auto* credential : {"", "1234567", "123456789"}) {
    peer client{uut.port()};
    auto x = greeting();
    x.credential = credential;
    client.send(bytes_of(x));
    CAF_CHECK(client.is_closed());
  }
  CAF_CHECK(uut.logged("has no credential"));
}

CAF_TEST(X4 where munge is demanded nothing else will do) {
  listener_options options;
  options.security.mechanism = security_mechanism::munge;
  options.security.munge_socket = "/nonexistent/munge.socket";
  world uut{options};
  peer client{uut.port()};
  client.send(bytes_of(greeting()));
  CAF_CHECK(client.is_closed());
  CAF_CHECK(uut.logged("'native' where 'munge' is demanded"));
}

// -- the greeting ------------------------------------------------------------

CAF_TEST(X16 a greeting may come byte by byte) {
  world uut;
  peer client{uut.port()};
  for (const auto c : bytes_of(greeting()))
    client.send({&c, 1});
  CAF_CHECK_EQUAL(client.receive(8).size(), 8u);
}

CAF_TEST(X13 a greeting that is too long is refused at its header) {
  world uut;
  for (const auto length : {131073u, 0xffffffffu, 0u}) {
    peer client{uut.port()};
    const auto bytes = wire::encode_header({-1, wire::tag_hello, length},
                                           wire::byte_order::host);
    client.send({bytes.data(), bytes.size()});
    CAF_CHECK(client.is_closed());
  }
  CAF_CHECK_EQUAL(uut.statistics().refused, 3u);
}

CAF_TEST(X36 what is no greeting is refused) {
  world uut;
  peer client{uut.port()};
  client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CAF_CHECK(client.is_closed());
}

CAF_TEST(X2 LIM2 a peer that says nothing is closed after the time for a header) {
  listener_options options;
  options.limits.header_time = 200ms;
  options.limits.greeting_time = 500ms;
  world uut{options};
  const auto begin = std::chrono::steady_clock::now();
  peer silent{uut.port()};
  CAF_CHECK(silent.is_closed());
  const auto took = std::chrono::steady_clock::now() - begin;
  CAF_CHECK(took >= 200ms);
  CAF_CHECK(took < 450ms || took > 5s); // The machine may be slow, we are not.
  CAF_CHECK(uut.logged("no header within 200 ms (L2)"));
}

CAF_TEST(X2 a peer that is slow is closed after the time for a greeting) {
  listener_options options;
  options.limits.header_time = 200ms;
  options.limits.greeting_time = 500ms;
  world uut{options};
  const auto begin = std::chrono::steady_clock::now();
  peer slow{uut.port()};
  slow.send(bytes_of(greeting()).substr(0, 40));
  CAF_CHECK(slow.is_closed());
  CAF_CHECK(std::chrono::steady_clock::now() - begin >= 500ms);
  CAF_CHECK(uut.logged("within 500 ms (L2)"));
}

CAF_TEST(LIM2 a longer time for greetings is one for their headers as well) {
  const auto header_of = [](std::chrono::milliseconds x) {
    auto limits = local_limits{};
    limits.set_greeting_time(x);
    CAF_CHECK(limits.greeting_time == x);
    return limits.header_time;
  };
  CAF_CHECK(header_of(30s) == 30s);
  CAF_CHECK(header_of(5s) == 2s);
  CAF_CHECK(header_of(4s) == 2s);
  CAF_CHECK(header_of(1s) == 500ms);
}

CAF_TEST(X2 LIM2 a peer that is silent has the whole time if headers have it) {
  listener_options options;
  options.limits.header_time = 400ms;
  options.limits.greeting_time = 400ms;
  world uut{options};
  const auto begin = std::chrono::steady_clock::now();
  peer silent{uut.port()};
  peer slow{uut.port()};
  slow.send(bytes_of(greeting()).substr(0, 40));
  CAF_CHECK(silent.is_closed());
  CAF_CHECK(slow.is_closed());
  CAF_CHECK(std::chrono::steady_clock::now() - begin >= 400ms);
  CAF_CHECK(uut.logged("no header within 400 ms (L2)"));
  CAF_CHECK(uut.logged("not identified within 400 ms (L2)"));
}

// -- limits ------------------------------------------------------------------

CAF_TEST(LIM1 X1 silent connections beyond the limit are closed at once) {
  listener_options options;
  options.awaited = [](uint32_t) { return size_t{2}; };
  world uut{options};
  std::vector<std::unique_ptr<peer>> silent;
  for (auto i = 0; i < 1000; ++i)
    silent.push_back(std::make_unique<peer>(uut.port()));
  CAF_REQUIRE(
    uut.eventually([&] { return uut.door->statistics().accepted == 1000; }));
  CAF_CHECK_EQUAL(uut.statistics().refused, 980u);
  CAF_CHECK(uut.logged("limit of 20 connections without a handshake (L1)"));
  CAF_CHECK(silent.front()->is_closed());
  // Who speaks gets in: the oldest of those that do not makes room.
  CAF_CHECK(uut.served() != nullptr);
}

CAF_TEST(LIM1 X1 another user is not hurt) {
  listener_options options;
  options.awaited = [](uint32_t) { return size_t{0}; };
  options.limits.half_open = 4;
  world uut{options};
  if (me() != 0) {
    CAF_MESSAGE("needs root to become another user");
    return;
  }
  std::vector<std::unique_ptr<peer>> silent;
  for (auto i = 0; i < 5; ++i)
    silent.push_back(std::make_unique<peer>(uut.port()));
  CAF_CHECK(silent.front()->is_closed());
  CAF_CHECK(!is_refused_as(nobody, uut.port(), bytes_of(greeting(nobody))));
}

CAF_TEST(X1 256 clients that connect at once all get in) {
  listener_options options;
  options.awaited = [](uint32_t) { return size_t{256}; };
  options.registered = [] { return size_t{256}; };
  world uut{options};
  const auto port = uut.port();
  std::vector<std::unique_ptr<peer>> clients;
  for (auto i = 0; i < 256; ++i)
    clients.push_back(std::make_unique<peer>(port));
  for (const auto& x : clients)
    x->send(bytes_of(greeting()));
  for (const auto& x : clients)
    CAF_REQUIRE_EQUAL(x->receive(8).size(), 8u);
  CAF_CHECK_EQUAL(uut.statistics().connected, 256u);
}

CAF_TEST(LIM13 there are not many more connections than registered processes) {
  listener_options options;
  options.registered = [] { return size_t{8}; };
  world uut{options};
  std::vector<std::unique_ptr<peer>> clients;
  for (auto i = 0; i < 72; ++i)
    clients.push_back(uut.served());
  peer surplus{uut.port()};
  CAF_CHECK(surplus.is_closed());
  CAF_CHECK(uut.logged("limit of 72 connections (L13)"));
  clients.pop_back();
  CAF_REQUIRE(
    uut.eventually([&] { return uut.door->statistics().connected == 71; }));
  CAF_CHECK(uut.served() != nullptr);
}

CAF_TEST(LIM20 X33 accepting pauses when descriptors run short) {
  world uut;
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  // Our peers use descriptors as well.
  const auto limit = rlimit{200, before.rlim_max};
  const auto port = uut.port();
  ::setrlimit(RLIMIT_NOFILE, &limit);
  std::vector<std::unique_ptr<peer>> clients;
  CAF_REQUIRE(uut.eventually([&] {
    if (uut.door->statistics().accept_pauses > 0)
      return true;
    // One that has not been taken may use the last descriptor itself.
    if (uut.door->statistics().accepted == clients.size())
      clients.push_back(std::make_unique<peer>(port));
    return false;
  }));
  CAF_CHECK(uut.logged("(L20)"));
  CAF_CHECK(clients.back()->is_connected()); // The reserve is there.
  // Nothing spins while it waits.
  const auto idle = cpu_time();
  const auto end = std::chrono::steady_clock::now() + 1s;
  std::promise<void> passed;
  uut.sys.loop().post([&] {
    uut.sys.pool().post([end] { std::this_thread::sleep_until(end); },
                        [&] { passed.set_value(); });
  });
  passed.get_future().wait();
  CAF_CHECK(cpu_time() - idle < 100ms);
  // Descriptors that come back are used.
  peer late{port};
  late.send(bytes_of(greeting()));
  clients.clear();
  CAF_CHECK_EQUAL(late.receive(8).size(), 8u);
  ::setrlimit(RLIMIT_NOFILE, &before);
}
