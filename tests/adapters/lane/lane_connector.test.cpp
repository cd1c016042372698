#include "adapters/lane/lane_connector.hpp"

#include "tests/adapters/lane/nodes.hpp"

#include <sys/socket.h>

#include <list>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

struct fixture {
  using outcome = std::optional<caf::expected<secure_channel>>;

  /// Begins to dial node 2.
  std::unique_ptr<lane_connector> begin(const network_end& from,
                                        const std::string& to, uint16_t port) {
    result.reset();
    return std::make_unique<lane_connector>(
      loop, *one, lane_path{from, to, port}, node(2), limits,
      [this](caf::expected<secure_channel> x) {
        result = std::move(x);
        if (on_result)
          on_result();
      });
  }

  /// Dials node 2 in vain.
  caf::error error_of(const network_end& from, const std::string& to,
                      uint16_t port) {
    const auto uut = begin(from, to, port);
    CAF_CHECK(!result); // Never from the constructor.
    if (!run_until(loop, [&] { return result.has_value(); }))
      CAF_FAIL("waited in vain");
    if (*result)
      CAF_FAIL("there is a lane");
    CAF_MESSAGE(reason_of(result->error()));
    return result->error();
  }

  unique_fd listening(int backlog = 10) {
    return value_of(listen_on({"127.0.0.1", {}}, 0, backlog));
  }

  authority issuer = value_of(authority::make("dvm"));
  context_ptr one = context_of(issuer, 1);
  lane_limits limits;
  event_loop loop;
  outcome result;
  std::function<void()> on_result;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(lane_connector_tests, fixture)

CAF_TEST(L4 what cannot be dialled says why) {
  const auto idle = descriptors();
  const network_end here{"127.0.0.1", {}};
  auto closed = uint16_t{0};
  {
    const auto socket = listening();
    closed = local_address(socket.get()).port;
  }
  CAF_CHECK(status_of(error_of(here, "127.0.0.1", closed)) == status::in_errno);
  // From an address that is not ours: the network has gone.
  const auto gone = error_of({"192.0.2.1", {}}, "127.0.0.1", 1);
  CAF_CHECK(status_of(gone) == status::in_errno);
  CAF_CHECK(reason_of(gone).find("192.0.2.1") != std::string::npos);
  CAF_CHECK(status_of(error_of(here, "n2", 1)) == status::bad_param);
  CAF_CHECK(status_of(error_of(here, "::1", 1)) == status::bad_param);
  CAF_CHECK(status_of(error_of({"", {}}, "::1", 1)) == status::bad_param);
  CAF_CHECK(error_of({"127.0.0.1", "nowhere0"}, "127.0.0.1", 1));
  result.reset();
  CAF_CHECK_EQUAL(descriptors(), idle);
}

CAF_TEST(O17 L8 an address that swallows everything costs bounded time) {
  const auto socket = listening(0);
  const auto port = local_address(socket.get()).port;
  // Fill what the kernel holds for it; from then on it answers nobody.
  std::list<unique_fd> crowd;
  for (auto i = 0; i < 4; ++i)
    crowd.push_back(
      value_of(begin_connect({"127.0.0.1", {}}, "127.0.0.1", port)));
  limits.connect_time = 200ms;
  const auto begin = std::chrono::steady_clock::now();
  const auto err = error_of({"127.0.0.1", {}}, "127.0.0.1", port);
  CAF_CHECK(status_of(err) == status::timeout);
  CAF_CHECK(reason_of(err).find("200 ms") != std::string::npos);
  CAF_CHECK(std::chrono::steady_clock::now() - begin >= 200ms);
}

CAF_TEST(O17 L4 a peer that never answers or hangs up costs bounded time) {
  const auto socket = listening();
  const auto port = local_address(socket.get()).port;
  limits.handshake_time = 300ms;
  CAF_CHECK(status_of(error_of({"127.0.0.1", {}}, "127.0.0.1", port))
            == status::timeout);
  auto taken = accept_from(socket.get());
  const auto uut = begin({"127.0.0.1", {}}, "127.0.0.1", port);
  limits.handshake_time = 1h;
  CAF_REQUIRE(run_until(loop, [&] {
    if (auto next = accept_from(socket.get()))
      next.reset();
    return result.has_value();
  }));
  CAF_CHECK(!*result);
  CAF_MESSAGE(reason_of(result->error()));
}

CAF_TEST(X36 LIM2 a server of something else is refused) {
  for (const auto* answer :
       {"220 mail ready\r\n", "\x16\x03\x03\xff\xff", "\x15\x03\x03\x00"}) {
    const auto socket = listening();
    const auto port = local_address(socket.get()).port;
    limits.handshake_time = 500ms;
    const auto uut = begin({"127.0.0.1", {}}, "127.0.0.1", port);
    unique_fd other;
    CAF_REQUIRE(run_until(loop, [&] {
      if (!other && (other = accept_from(socket.get())))
        ::send(other.get(), answer, strlen(answer), MSG_NOSIGNAL);
      return result.has_value();
    }));
    CAF_CHECK(!*result);
    CAF_MESSAGE(reason_of(result->error()));
  }
}

CAF_TEST(O17 L4 a connector may end at any time and by its own callback) {
  const auto socket = listening();
  const auto port = local_address(socket.get()).port;
  const auto idle = descriptors();
  const network_end here{"127.0.0.1", {}};
  begin(here, "127.0.0.1", port).reset();
  // While it shakes hands.
  auto uut = begin(here, "127.0.0.1", port);
  auto passes = 0;
  CAF_REQUIRE(run_until(loop, [&] { return ++passes > 20; }));
  uut.reset();
  CAF_CHECK(!result);
  // In its own callback, at either stage.
  on_result = [&] { uut.reset(); };
  uut = begin({"192.0.2.1", {}}, "127.0.0.1", port);
  CAF_CHECK(run_until(loop, [&] { return !uut; }));
  limits.handshake_time = 1ms;
  uut = begin(here, "127.0.0.1", port);
  CAF_CHECK(run_until(loop, [&] { return !uut; }));
  result.reset();
  CAF_CHECK_EQUAL(descriptors(), idle);
}

CAF_TEST_FIXTURE_SCOPE_END()
