// Who on a node wants which output, by number, sink and name.

#include "actors/io/io_subscriptions.hpp"

#include "actors/io/defaults.hpp"
#include "config/defaults.hpp"
#include "messages/status.hpp"
#include "tests/fixtures/io_sinks.hpp"

using namespace troupe;

namespace {

constexpr auto out = io_channels::stdout_;

struct fixture : fixtures::deterministic {
  fixtures::sink_ledger_ptr ledger = std::make_shared<fixtures::sink_ledger>();
  output_sink_actor one =
    caf::actor_cast<output_sink_actor>(sys.spawn(fixtures::fake_sink, ledger));
  output_sink_actor two =
    caf::actor_cast<output_sink_actor>(sys.spawn(fixtures::fake_sink, ledger));
  io_subscriptions uut;

  static io_subscription of(std::vector<proc_id> sources,
                            std::string name = "tool") {
    auto result = io_subscription{};
    result.sources = std::move(sources);
    result.channels = out;
    result.name = std::move(name);
    return result;
  }

  status checked(const io_subscription& how) const {
    const auto why = uut.check(how, one);
    return why ? status_of(why) : status::success;
  }

  ~fixture() {
    caf::anon_send_exit(one, caf::exit_reason::kill);
    caf::anon_send_exit(two, caf::exit_reason::kill);
    consume_messages();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(io_subscriptions_tests, fixture)

CAF_TEST(I2 what cannot be is refused) {
  CAF_CHECK(status_of(uut.check(of({{"a", 0}}), output_sink_actor{}))
            == status::bad_param);
  CAF_CHECK(checked(of({})) == status::bad_param);
  CAF_CHECK(checked(of({{"a", rank_undef}})) == status::bad_param);
  CAF_CHECK(checked(of({{"a", rank_wildcard}})) == status::success);
  auto input = of({{"a", 0}});
  input.channels = io_channels::stdin_;
  CAF_CHECK(checked(input) == status::bad_param);
}

CAF_TEST(I2 whoever has a name has so many subscriptions and no more) {
  const auto most = defaults::io_subscriptions_per_requester;
  for (uint64_t id = 1; id <= most; ++id)
    uut.add(id, of({{"a", 0}}), one);
  CAF_CHECK(checked(of({{"a", 0}})) == status::out_of_resource);
  CAF_CHECK(checked(of({{"a", 0}}, "other")) == status::success);
  CAF_CHECK(checked(of({{"a", 0}}, "")) == status::success);
  uut.remove(1);
  CAF_CHECK(checked(of({{"a", 0}})) == status::success);
}

CAF_TEST(I2 a sink is watched from its first subscription to its last) {
  CAF_CHECK(uut.add(1, of({{"a", 0}}), one));
  CAF_CHECK(!uut.add(2, of({{"b", 0}}), one));
  CAF_CHECK(uut.add(3, of({{"a", 0}}), two));
  CAF_CHECK_EQUAL(uut.of_sink(one.address()), (std::set<uint64_t>{1, 2}));
  CAF_CHECK(!uut.remove(1).was_last);
  CAF_CHECK(!uut.contains(1));
  const auto gone = uut.remove(2);
  CAF_CHECK(gone.was_last);
  CAF_CHECK_EQUAL(gone.sink, one.address());
  CAF_CHECK(uut.of_sink(one.address()).empty());
  CAF_CHECK_EQUAL(uut.patterns().of({{"a", 0}, out}), std::vector<uint64_t>{3});
}

CAF_TEST(I2 the end of a job ends what names nothing else) {
  uut.add(1, of({{"a", 0}}), one);
  uut.add(2, of({{"a", 0}, {"b", 0}}), two);
  const auto free = uut.forget("a");
  CAF_REQUIRE_EQUAL(free.size(), 1u);
  CAF_CHECK_EQUAL(free[0], one.address());
  CAF_CHECK(!uut.contains(1));
  CAF_CHECK_EQUAL(uut.at(2).how.sources, (std::vector<proc_id>{{"b", 0}}));
}

CAF_TEST(I5 windows are bounded and live ones are known) {
  auto how = of({{"a", 0}});
  how.window = UINT64_MAX;
  how.start = io_start::live;
  uut.add(1, how, one);
  CAF_CHECK_EQUAL(uut.at(1).how.window, uint64_t{defaults::io_tails_total});
  uut.add(2, of({{"b", 0}}), one);
  CAF_CHECK_EQUAL(uut.at(2).how.window, uint64_t{defaults::io_window});
  CAF_CHECK(uut.wants_live({{"a", 0}, out}));
  CAF_CHECK(!uut.wants_live({{"b", 0}, out}));
}

CAF_TEST_FIXTURE_SCOPE_END()
