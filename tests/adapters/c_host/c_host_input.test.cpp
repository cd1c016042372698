// Input on its way to the host: what it takes, refuses, or wants no more of.

#include "adapters/c_host/c_host.hpp"
#include "adapters/c_values/convert.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/fixtures/deterministic.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

const auto tool = asks({"tool", 0}, 7);

/// What the host has been given, and what it says.
struct play {
  pmix_status_t answers = PMIX_SUCCESS;
  std::vector<std::string> pushed;
};

play host;

pmix_status_t on_push(const pmix_proc_t*, const pmix_proc_t[], size_t,
                      const pmix_info_t[], size_t, const pmix_byte_object_t* bo,
                      pmix_op_cbfunc_t f, void* cbdata) {
  host.pushed.push_back(c_api::to_bytes(bo));
  f(host.answers, cbdata);
  return PMIX_SUCCESS;
}

struct fixture : deterministic {
  std::shared_ptr<input_gate> gate = std::make_shared<input_gate>();
  c_host_actor uut;

  fixture() {
    host = {};
    auto settings = c_host_settings{};
    settings.module.push_stdin = on_push;
    settings.gate = gate;
    uut = spawn_c_host(sys, std::move(settings));
  }

  auto push(std::optional<std::string> bytes) {
    auto reply = self->request(uut, caf::infinite, tool,
                               io_push_request{{{"a", 0}}, {}, bytes});
    consume_messages();
    return reply;
  }

  bool is_answered() {
    consume_messages();
    return !self->mailbox().empty();
  }

  ~fixture() override {
    end(uut);
  }
};

template <class Reply>
status outcome(Reply& x) {
  auto result = status::success;
  x.receive([](ack) {}, [&](caf::error& err) { result = status_of(err); });
  return result;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(c_host_input_tests, fixture)

CAF_TEST(I18 a host that wants no more holds the answer until it does) {
  // Edge case 202.
  host.answers = PMIX_ERR_IOF_XOFF;
  auto first = push("a");
  CAF_CHECK(!is_answered());
  host.answers = PMIX_SUCCESS;
  auto second = push("b");
  CAF_CHECK(!is_answered());
  gate->set({"other", rank_wildcard}, false);
  CAF_CHECK(!is_answered());
  gate->set(tool.proc, false);
  CAF_REQUIRE(is_answered());
  CAF_CHECK_EQUAL(outcome(first), status::success);
  CAF_CHECK_EQUAL(outcome(second), status::success);
  auto third = push(std::nullopt);
  CAF_REQUIRE(is_answered());
  CAF_CHECK_EQUAL(outcome(third), status::success);
  CAF_CHECK(host.pushed == (std::vector<std::string>{"a", "b", ""}));
}

CAF_TEST(I18 a host may stop those that push before they do) {
  gate->set({"", rank_wildcard}, true);
  auto reply = push("a");
  CAF_CHECK(!is_answered());
  gate->set({"", rank_wildcard}, false);
  CAF_REQUIRE(is_answered());
  CAF_CHECK_EQUAL(outcome(reply), status::success);
}

CAF_TEST(I9 what the host refuses is refused at once) {
  gate->set({"", rank_wildcard}, true);
  host.answers = PMIX_ERR_UNREACH;
  auto reply = push("a");
  CAF_REQUIRE(is_answered());
  CAF_CHECK_EQUAL(outcome(reply), status::unreach);
}

CAF_TEST_FIXTURE_SCOPE_END()
