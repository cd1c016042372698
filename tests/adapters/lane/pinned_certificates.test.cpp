#include "adapters/lane/certificates.hpp"
#include "adapters/lane/secure_handshake.hpp"
#include "tests/adapters/lane/nodes.hpp"

#include <sys/socket.h>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

/// A node that is its own authority.
struct sovereign {
  explicit sovereign(uint32_t rank, certificate_times times = {},
                     const std::string& dvm = "dvm")
    : issuer(value_of(authority::make(dvm, times))),
      mine(value_of(issuer.issue(rank, "n" + std::to_string(rank), times))),
      certificate(value_of(encode_certificate(mine.certificate.get()))) {
    context = value_of(secure_context::make(mine, known));
  }

  authority issuer;
  node_credentials mine;
  std::string certificate;
  std::shared_ptr<pinned_certificates> known =
    std::make_shared<pinned_certificates>();
  context_ptr context;
};

struct fixture {
  using outcome = std::optional<caf::expected<secure_channel>>;

  /// Whether both let each other in.
  bool shake_hands(const sovereign& dials, const sovereign& listens,
                   uint32_t rank) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0)
      CAF_FAIL("no sockets");
    outcome first;
    outcome second;
    secure_handshake a{
      loop,       *dials.context, unique_fd{ends[0]},
      node(rank), limits,         [&](auto x) { first = std::move(x); }};
    secure_handshake b{loop,
                       *listens.context,
                       unique_fd{ends[1]},
                       secure_handshake::gate{},
                       limits,
                       [&](auto x) { second = std::move(x); }};
    if (!run_until(loop, [&] { return first && second; }))
      CAF_FAIL("waited in vain");
    reason.clear();
    for (auto* x : {&first, &second})
      if (!**x)
        reason += reason_of((*x)->error()) + "; ";
    return *first && *second && (**first).peer == node(rank);
  }

  void know_each_other(sovereign& x, uint32_t x_rank, sovereign& y,
                       uint32_t y_rank) {
    CAF_CHECK(!x.known->add(y_rank, y.certificate));
    CAF_CHECK(!y.known->add(x_rank, x.certificate));
  }

  bool was(const std::string& text) const {
    return reason.find(text) != std::string::npos;
  }

  event_loop loop;
  lane_limits limits;
  std::string reason;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(pinned_certificates_tests, fixture)

CAF_TEST(X40 nodes without a common authority know each other by certificate) {
  auto one = sovereign{1};
  auto two = sovereign{2};
  // Nobody is known yet.
  CAF_CHECK(!shake_hands(one, two, 2));
  CAF_CHECK(was("nobody announced"));
  know_each_other(one, 1, two, 2);
  CAF_CHECK(shake_hands(one, two, 2));
  CAF_CHECK(shake_hands(two, one, 1));
  // Both have to know the other.
  auto three = sovereign{3};
  CAF_CHECK(!three.known->add(1, one.certificate));
  CAF_CHECK(!shake_hands(three, one, 1));
}

CAF_TEST(X40 X45 a certificate of the same name by somebody else is refused) {
  auto one = sovereign{1};
  auto two = sovereign{2};
  know_each_other(one, 1, two, 2);
  auto impostor = sovereign{2};
  CAF_CHECK(!impostor.known->add(1, one.certificate));
  CAF_CHECK(!shake_hands(impostor, one, 1));
  CAF_CHECK(was("nobody announced"));
  CAF_CHECK(!shake_hands(one, impostor, 2));
  CAF_CHECK(was("nobody announced"));
  // The pinned one is of another node than the one dialled.
  CAF_CHECK(!shake_hands(one, two, 3));
  CAF_CHECK(was("instead of"));
}

CAF_TEST(X45 a pinned certificate counts while it is valid) {
  auto one = sovereign{1};
  auto late = value_of(authority::make("dvm"));
  auto known = std::make_shared<pinned_certificates>();
  const auto old = value_of(late.issue(2, "n2", {-7200s, -3600s}));
  const auto bytes = value_of(encode_certificate(old.certificate.get()));
  CAF_CHECK(!one.known->add(2, bytes));
  // It cannot even be one's own.
  CAF_CHECK(!secure_context::make(old, known));
  CAF_CHECK(!secure_context::make(one.mine, nullptr));
}

CAF_TEST(X40 X44 only a certificate of that node can be pinned) {
  auto known = pinned_certificates{};
  const auto two = sovereign{2};
  CAF_CHECK(status_of(known.add(2, "")) == status::bad_param);
  CAF_CHECK(status_of(known.add(2, "certificate")) == status::bad_param);
  CAF_CHECK(status_of(known.add(2, two.certificate + "x"))
            == status::bad_param);
  CAF_CHECK(status_of(known.add(2, std::string(1 << 20, '\x30')))
            == status::bad_param);
  CAF_CHECK(status_of(known.add(1, two.certificate)) == status::bad_param);
  CAF_CHECK_EQUAL(known.size(), 0u);
  CAF_CHECK(!known.add(2, two.certificate));
  CAF_CHECK(!known.add(2, two.certificate));
  const auto other = sovereign{2};
  CAF_CHECK(status_of(known.add(2, other.certificate)) == status::exists);
  CAF_CHECK(X509_cmp(known.find(2), two.mine.certificate.get()) == 0);
  CAF_CHECK(known.find(1) == nullptr);
}

CAF_TEST_FIXTURE_SCOPE_END()
