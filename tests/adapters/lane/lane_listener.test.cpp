#include "adapters/lane/lane_listener.hpp"

#include "adapters/lane/lane_connector.hpp"
#include "tests/adapters/lane/nodes.hpp"

#include <netinet/in.h>
#include <openssl/rand.h>
#include <sys/socket.h>

#include <list>
#include <thread>
#include <vector>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

/// Somebody on the network, with a plain socket that does not block.
struct stranger {
  explicit stranger(uint16_t port)
    : socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(port);
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_connected = ::connect(socket.get(), reinterpret_cast<sockaddr*>(&where),
                             sizeof(where))
                   == 0;
  }

  bool send(std::string_view bytes) {
    return ::send(socket.get(), bytes.data(), bytes.size(),
                  MSG_NOSIGNAL | MSG_DONTWAIT)
           == static_cast<ssize_t>(bytes.size());
  }

  bool is_closed() {
    std::string rest(4096, '\0');
    ssize_t got = 0;
    while ((got = ::recv(socket.get(), rest.data(), rest.size(), MSG_DONTWAIT))
           > 0)
      answered += static_cast<size_t>(got);
    return got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
  }

  unique_fd socket;
  bool is_connected = false;
  size_t answered = 0;
};

/// A client of OpenSSL's own making, which blocks on a thread of its own.
struct foreign_client {
  foreign_client(uint16_t port, int version, const node_credentials* mine)
    : thread([=] {
        auto raw = stranger{port};
        const auto context = openssl_ptr<SSL_CTX>{SSL_CTX_new(TLS_method())};
        SSL_CTX_set_min_proto_version(context.get(), version);
        SSL_CTX_set_max_proto_version(context.get(), version);
        SSL_CTX_set_security_level(context.get(), 0);
        if (mine != nullptr) {
          SSL_CTX_use_certificate(context.get(), mine->certificate.get());
          SSL_CTX_use_PrivateKey(context.get(), mine->key.get());
        }
        const auto tls = openssl_ptr<SSL>{SSL_new(context.get())};
        SSL_set_fd(tls.get(), raw.socket.get());
        char c = 0;
        is_served =
          SSL_connect(tls.get()) == 1 && SSL_read(tls.get(), &c, 1) == 1;
      }) {
    // nop
  }

  ~foreign_client() {
    thread.join();
  }

  bool is_served = false;
  std::thread thread;
};

struct fixture {
  fixture() {
    options.networks = {{"127.0.0.1", {}}};
    options.log = [this](severity, const std::string& x) { log.push_back(x); };
    options.on_lane = [this](secure_channel x, size_t network) {
      networks.push_back(network);
      lanes.emplace_back(loop, std::move(x));
    };
  }

  void start() {
    door = value_of(lane_listener::start(loop, two, options));
  }

  uint16_t port(size_t network = 0) {
    return door->addresses()[network].port;
  }

  using outcome = std::optional<caf::expected<secure_channel>>;

  /// Opens a lane from node 1 to node 2.
  outcome dial(network_end from = {"127.0.0.1", {}}, size_t network = 0,
               context_ptr who = nullptr) {
    outcome result;
    const auto& to = door->addresses()[network];
    const auto context = who ? who : one;
    const auto uut = std::make_unique<lane_connector>(
      loop, *context, lane_path{std::move(from), to.address, to.port}, node(2),
      lane_limits{},
      [&](caf::expected<secure_channel> x) { result = std::move(x); });
    if (!run_until(loop, [&] { return result.has_value(); }))
      CAF_FAIL("waited in vain for a lane");
    return result;
  }

  bool wait(std::function<bool()> done) {
    return run_until(loop, std::move(done));
  }

  bool logged(const std::string& text) {
    for (const auto& x : log)
      if (x.find(text) != std::string::npos)
        return true;
    return false;
  }

  /// Whether bytes go both ways between `mine` and the last lane.
  bool works(lane_end& mine, lane_end& other) {
    mine.received.clear();
    other.received.clear();
    mine.socket.send("ping");
    other.socket.send("pong");
    return wait(
      [&] { return mine.received == "pong" && other.received == "ping"; });
  }

  authority issuer = value_of(authority::make("dvm"));
  context_ptr one = context_of(issuer, 1);
  context_ptr two = context_of(issuer, 2);
  lane_listener_options options;
  std::vector<std::string> log;
  std::vector<size_t> networks;
  event_loop loop;
  std::list<lane_end> lanes;
  std::unique_ptr<lane_listener> door;
};

/// The first that a client of TLS says, which gets an answer.
std::string client_hello() {
  const auto context = openssl_ptr<SSL_CTX>{SSL_CTX_new(TLS_method())};
  const auto tls = openssl_ptr<SSL>{SSL_new(context.get())};
  auto* out = BIO_new(BIO_s_mem());
  SSL_set_bio(tls.get(), BIO_new(BIO_s_mem()), out);
  SSL_connect(tls.get());
  std::string result(4096, '\0');
  const auto size =
    BIO_read(out, result.data(), static_cast<int>(result.size()));
  result.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return result;
}

/// The header of a record of TLS.
std::string record(char type, size_t size) {
  return {type, 3, 1, static_cast<char>(size >> 8), static_cast<char>(size)};
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(lane_listener_tests, fixture)

CAF_TEST(O5 O17 L2 lanes come in on each network over IPv4 and IPv6) {
  options.networks = {{"127.0.0.1", {}}, {"127.9.9.9", "lo"}, {"::1", {}}};
  start();
  CAF_REQUIRE_EQUAL(door->addresses().size(), 3U);
  const network_end ends[] = {
    {"127.0.0.1", {}}, {"127.8.8.8", "lo"}, {"::1", {}}};
  for (size_t i = 0; i < 3; ++i) {
    auto channel = dial(ends[i], i);
    if (!*channel)
      CAF_FAIL(reason_of(channel->error()));
    CAF_CHECK_EQUAL(local_address((*channel)->way->fd()).address,
                    ends[i].address);
    CAF_REQUIRE_EQUAL(networks, (std::vector<size_t>{i}));
    networks.clear();
    auto& other = lanes.back();
    CAF_CHECK(other.peer == node(1));
    lane_end mine{loop, std::move(**channel)};
    CAF_CHECK(mine.peer == node(2));
    CAF_CHECK(works(mine, other));
  }
  CAF_CHECK_EQUAL(door->statistics().lanes, 3U);
  CAF_CHECK_EQUAL(door->statistics().refused, 0U);
}

CAF_TEST(L4 an address that cannot be listened on is named) {
  for (const auto* address : {"192.0.2.7", "localhost", "", "1.2.3.4.5"}) {
    options.networks = {{address, {}}};
    const auto uut = lane_listener::start(loop, two, options);
    CAF_REQUIRE(!uut);
    CAF_CHECK(reason_of(uut.error()).find(address) != std::string::npos);
  }
  options.networks = {{"127.0.0.1", "nowhere0"}};
  CAF_CHECK(!lane_listener::start(loop, two, options));
  options.networks.clear();
  CAF_CHECK(!lane_listener::start(loop, two, options));
}

CAF_TEST(X36 garbage and HTTP and absurd records are closed at once) {
  options.limits.handshake_time = 1h;
  start();
  std::string noise(512, '\0');
  RAND_bytes(reinterpret_cast<unsigned char*>(noise.data()), 512);
  noise[0] = '\x55'; // Not by chance the beginning of TLS.
  const std::vector<std::string> attacks = {
    "GET / HTTP/1.1\r\nHost: node\r\n\r\n",
    "SSH-2.0-OpenSSH_9.2\r\n",
    noise,
    std::string(512, '\0'),
    record(0x16, 65535) + std::string(512, 'x'),
    record(0x17, 16) + std::string(16, 'x'),
    record(0x15, 2) + std::string("\2\50", 2),
    // A greeting of 4 GiB: of the longest that its length can say.
    record(0x16, 512) + std::string("\1\xff\xff\xff", 4)
      + std::string(508, 'x'),
  };
  for (const auto& x : attacks) {
    stranger uut{port()};
    CAF_REQUIRE(uut.send(x));
    CAF_CHECK(wait([&] { return uut.is_closed(); }));
    CAF_CHECK(uut.answered <= 64U);
  }
  CAF_CHECK_EQUAL(door->statistics().refused, attacks.size());
  CAF_CHECK(logged("lane from 127.0.0.1:"));
  CAF_CHECK(lanes.empty());
  for (const auto& x : log)
    CAF_MESSAGE(x);
}

CAF_TEST(X36 LIM2 who is silent or slow is closed in time) {
  options.limits.handshake_time = 400ms;
  start();
  const auto begin = std::chrono::steady_clock::now();
  stranger silent{port()};
  stranger slow{port()};
  const auto greeting = record(0x16, 500) + std::string(500, '\1');
  size_t at = 0;
  auto next = begin;
  auto silent_is_closed = false;
  auto slow_is_closed = false;
  CAF_CHECK(wait([&] {
    const auto now = std::chrono::steady_clock::now();
    if (now >= next && at < greeting.size()) {
      slow.send(std::string_view{greeting}.substr(at++, 1));
      next = now + 5ms;
    }
    silent_is_closed = silent_is_closed || silent.is_closed();
    slow_is_closed = slow_is_closed || slow.is_closed();
    return silent_is_closed && slow_is_closed;
  }));
  CAF_CHECK(std::chrono::steady_clock::now() - begin >= 400ms);
  CAF_CHECK(at < greeting.size());
  CAF_CHECK(at > 1U);
  CAF_CHECK_EQUAL(door->statistics().refused, 2U);
  CAF_CHECK(logged("did not prove who it is within 400 ms"));
  // The times of the default keep the promise.
  CAF_CHECK(lane_limits{}.handshake_time <= 5s);
}

CAF_TEST(X36 LIM2 who sends much before it proves anything is closed) {
  options.limits.handshake_time = 1h;
  start();
  stranger uut{port()};
  // The longest greeting that OpenSSL takes, piece by piece.
  auto bytes = std::string{"\1\1\xff\xff", 4};
  auto sent = size_t{0};
  CAF_CHECK(wait([&] {
    bytes.resize(4096, 'x');
    if (sent < 200'000 && uut.send(record(0x16, bytes.size()) + bytes))
      sent += bytes.size();
    bytes.clear();
    return uut.is_closed();
  }));
  CAF_CHECK(logged("sent more than 16384 bytes before it proved who it is"));
}

CAF_TEST(X45 clients without a good certificate are refused) {
  start();
  const auto foreign = value_of(authority::make("dvm"));
  const auto other_dvm = value_of(authority::make("other"));
  const auto not_ours = value_of(foreign.issue(1, "n1"));
  const auto not_this = value_of(other_dvm.issue(1, "n1"));
  const auto old = value_of(issuer.issue(1, "n1", {-2h, -1h}));
  const auto early = value_of(issuer.issue(1, "n1", {1h, 2h}));
  const auto good = value_of(issuer.issue(1, "n1"));
  struct attempt {
    const node_credentials* credentials;
    int version;
    const char* why;
  };
  const attempt attempts[] = {
    {nullptr, TLS1_3_VERSION, "peer did not return a certificate"},
    {&not_ours, TLS1_3_VERSION, "unable to get local issuer certificate"},
    {&not_this, TLS1_3_VERSION, "unable to get local issuer certificate"},
    {&old, TLS1_3_VERSION, "certificate has expired"},
    {&early, TLS1_3_VERSION, "certificate is not yet valid"},
    {&good, TLS1_2_VERSION, "unsupported protocol"},
    {&good, TLS1_1_VERSION, "unsupported protocol"},
  };
  for (const auto& x : attempts) {
    const auto refused = door->statistics().refused;
    log.clear();
    {
      foreign_client uut{port(), x.version, x.credentials};
      CAF_CHECK(
        wait([&] { return door->statistics().refused == refused + 1; }));
    }
    CAF_CHECK(logged(x.why));
    for (const auto& line : log)
      CAF_MESSAGE(line);
  }
  CAF_CHECK(lanes.empty());
  // The same client with what it should have is let in.
  foreign_client uut{port(), TLS1_3_VERSION, &good};
  CAF_CHECK(wait([&] { return lanes.size() == 1; }));
  const auto ours = dial();
  CAF_REQUIRE(*ours);
  CAF_CHECK((*ours)->is_secure);
}

CAF_TEST(X40 the authority itself is no node) {
  start();
  // A certificate that the authority has signed: its own.
  auto mine = value_of(issuer.issue(1, "n1"));
  mine.certificate.reset(X509_dup(mine.authority.get()));
  CAF_CHECK(!secure_context::make(mine));
  foreign_client uut{port(), TLS1_3_VERSION, &mine};
  CAF_CHECK(wait([&] { return door->statistics().refused == 1; }));
}

CAF_TEST(X37 LIM1 LIM25 a thousand silent strangers cost bounded places) {
  options.limits.half_open = 100;
  options.limits.half_open_per_address = 64;
  options.limits.log_lines = 10;
  options.limits.handshake_time = 1500ms;
  start();
  auto first = dial();
  CAF_REQUIRE(*first);
  lane_end member{loop, std::move(**first)};
  auto& served = lanes.back();
  const auto idle = descriptors();
  std::list<stranger> crowd;
  size_t most = 0;
  const auto begin = std::chrono::steady_clock::now();
  CAF_CHECK(wait([&] {
    // The listener rests as long as it has worked, which may be long where
    // others have the processor. Who connects meanwhile waits in the kernel, and
    // beyond its queue would block us, and with us the listener.
    while (crowd.size() < 1000
           && crowd.size() + 1 < door->statistics().accepted + 100)
      crowd.emplace_back(port());
    most = std::max(most, door->statistics().half_open);
    return door->statistics().accepted >= 1001;
  }));
  CAF_CHECK_EQUAL(most, 64U);
  // Lanes stay, and members still come in.
  CAF_CHECK(works(member, served));
  auto second = dial();
  CAF_REQUIRE(*second);
  CAF_CHECK_EQUAL(lanes.size(), 2U);
  CAF_CHECK_EQUAL(member.ends + served.ends, 0U);
  CAF_MESSAGE(log.size() << " lines, "
                         << (std::chrono::steady_clock::now() - begin) / 1ms
                         << " ms");
  const auto seconds = (std::chrono::steady_clock::now() - begin) / 1s + 1;
  CAF_CHECK(log.size() <= static_cast<size_t>(seconds) * 11);
  CAF_CHECK(logged("limit of 64 connections without a handshake (L1)"));
  // The rest goes by itself.
  CAF_CHECK(wait([&] { return door->statistics().half_open == 0; }));
  CAF_CHECK_EQUAL(door->statistics().refused, door->statistics().accepted - 2);
  crowd.clear();
  second.reset();
  lanes.pop_back();
  CAF_CHECK_EQUAL(descriptors(), idle);
}

CAF_TEST(X37 strangers take no place of a member) {
  options.limits.half_open = 4;
  options.limits.half_open_per_address = 4;
  options.limits.handshake_time = 1h;
  options.is_member = [](const std::string& x) { return x == "127.0.0.2"; };
  start();
  std::list<stranger> crowd;
  // They have said something that was read, since it was answered, so that
  // nobody new displaces them.
  const auto hello = client_hello();
  for (auto i = 0; i < 4; ++i)
    CAF_REQUIRE(crowd.emplace_back(port()).send(hello));
  for (auto& x : crowd)
    CAF_REQUIRE(wait([&] { return x.is_closed() || x.answered > 0; }));
  CAF_REQUIRE_EQUAL(door->statistics().half_open, 4U);
  stranger late{port()};
  CAF_CHECK(wait([&] { return late.is_closed(); }));
  auto lane = dial({"127.0.0.2", {}});
  CAF_CHECK(*lane);
  CAF_CHECK_EQUAL(door->statistics().half_open, 4U);
}

CAF_TEST(X37 LIM20 accepting waits while descriptors are few) {
  options.limits.descriptors_in_reserve = 1U << 30;
  options.limits.accept_retry = 10ms;
  start();
  stranger uut{port()};
  CAF_CHECK(uut.is_connected);
  CAF_CHECK(wait([&] { return door->statistics().accept_pauses > 0; }));
  CAF_CHECK_EQUAL(door->statistics().accepted, 0U);
  CAF_CHECK(logged("(L20)"));
}

CAF_TEST(L4 a stranger that leaves in the middle is forgotten) {
  options.limits.handshake_time = 1h;
  start();
  const auto idle = descriptors();
  for (const auto& x : {std::string{}, std::string{"\x16"}, record(0x16, 300),
                        record(0x16, 300) + std::string("\1\0\1\x28", 4)}) {
    const auto refused = door->statistics().refused;
    {
      stranger uut{port()};
      uut.send(x);
      CAF_REQUIRE(wait([&] { return door->statistics().half_open == 1; }));
    }
    CAF_CHECK(wait([&] { return door->statistics().refused == refused + 1; }));
  }
  CAF_CHECK_EQUAL(descriptors(), idle);
}

CAF_TEST(X37 the end of the listener leaves lanes and closes the others) {
  start();
  auto lane = dial();
  CAF_REQUIRE(*lane);
  lane_end member{loop, std::move(**lane)};
  stranger uut{port()};
  CAF_REQUIRE(wait([&] { return door->statistics().half_open == 1; }));
  door.reset();
  CAF_CHECK(wait([&] { return uut.is_closed(); }));
  CAF_CHECK(works(member, lanes.back()));
}

CAF_TEST_FIXTURE_SCOPE_END()
