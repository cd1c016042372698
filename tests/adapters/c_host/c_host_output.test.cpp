// Output that a host delivers: who gets it, from which byte on, and when the
// host hears that nobody wants it any more.

#include "actors/io/io_desk.hpp"
#include "adapters/c_host/c_host.hpp"
#include "adapters/c_values/convert.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/fixtures/io_sinks.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

constexpr auto out = io_channels::stdout_;
const auto a0 = proc_id{"a", 0};
const auto tool = asks({"tool", 0}, 7);

/// What the host has been asked, and what it says.
struct play {
  pmix_status_t returns = PMIX_OPERATION_SUCCEEDED;
  size_t pulls = 0;
  size_t stops = 0;
  std::vector<proc_id> procs;
  pmix_iof_channel_t channels = 0;
};

play host;

pmix_status_t on_pull(const pmix_proc_t procs[], size_t nprocs,
                      const pmix_info_t info[], size_t ninfo,
                      pmix_iof_channel_t channels, pmix_op_cbfunc_t, void*) {
  auto is_stop = false;
  for (size_t i = 0; i < ninfo; ++i)
    is_stop = is_stop || std::string_view{info[i].key} == PMIX_IOF_STOP;
  (is_stop ? host.stops : host.pulls) += 1;
  host.channels = channels;
  host.procs.clear();
  for (size_t i = 0; i < nprocs; ++i)
    host.procs.push_back(c_api::to_proc(procs[i]));
  return host.returns;
}

pmix_status_t on_spawn(const pmix_proc_t*, const pmix_info_t[], size_t,
                       const pmix_app_t[], size_t, pmix_spawn_cbfunc_t f,
                       void* cbdata) {
  char nspace[] = "a";
  f(PMIX_SUCCESS, nspace, cbdata);
  return PMIX_SUCCESS;
}

struct fixture : deterministic {
  io_desk_actor desk = spawn_io_desk(sys, {});
  c_host_actor uut;
  std::vector<output_sink_actor> sinks;
  std::vector<sink_ledger_ptr> ledgers;
  std::vector<uint64_t> handlers;

  fixture() {
    host = {};
    auto settings = c_host_settings{};
    settings.module.iof_pull = on_pull;
    settings.module.spawn = on_spawn;
    settings.desk = desk;
    settings.make_sink = [this](const requester&, uint64_t handler,
                                const std::vector<info>&) {
      handlers.push_back(handler);
      ledgers.push_back(std::make_shared<sink_ledger>());
      sinks.push_back(sys.spawn(fake_sink, ledgers.back()));
      return sinks.back();
    };
    uut = spawn_c_host(sys, std::move(settings));
  }

  static io_pull_request pull(std::optional<uint64_t> handler = 3,
                              std::vector<info> directives = {}) {
    auto result = io_pull_request{};
    result.procs = {{"a", rank_wildcard}};
    result.channels = out;
    result.handler = handler;
    result.directives = std::move(directives);
    return result;
  }

  uint64_t begin(io_pull_request what, const requester& who = tool) {
    return request<io_pull_result>(uut, who, std::move(what)).subscription;
  }

  void deliver(const std::string& bytes) {
    request<ack>(desk, process_output{a0, out, bytes, 0});
  }

  size_t wanted() {
    auto result = size_t{0};
    for (const auto& x : request<io_list>(desk, list_io{}).streams)
      result += x.sinks.size();
    return result;
  }

  ~fixture() override {
    end(uut);
    end(desk);
    for (const auto& x : sinks)
      end(x);
    sinks.clear();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(c_host_output_tests, fixture)

CAF_TEST(I8 C4.10 what a host delivers is kept for the first who asks) {
  deliver("before ");
  begin(pull());
  CAF_CHECK_EQUAL(host.pulls, 1u);
  CAF_CHECK_EQUAL(host.procs, (std::vector<proc_id>{{"a", rank_wildcard}}));
  CAF_CHECK_EQUAL(host.channels, PMIX_FWD_STDOUT_CHANNEL);
  deliver("after");
  CAF_CHECK_EQUAL(ledgers.at(0)->text(a0), "before after");
}

CAF_TEST(C4.10 who gives no number has the one of the subscription) {
  CAF_CHECK_EQUAL(begin(pull(std::nullopt)), handlers.at(0));
  CAF_CHECK_NOT_EQUAL(begin(pull(9)), 0u);
  CAF_CHECK_EQUAL(handlers.at(1), 9u);
}

CAF_TEST(I11 I17 C4.10 the host hears when a subscription ends) {
  const auto id = begin(pull());
  auto stop = io_deregister_request{};
  stop.subscription = id;
  CAF_CHECK(status_of(refusal<ack>(uut, asks({"thief", 0}, 9), stop))
            == status::not_found);
  request<ack>(uut, tool, stop);
  CAF_CHECK_EQUAL(host.stops, 1u);
  CAF_CHECK_EQUAL(host.procs, (std::vector<proc_id>{{"a", rank_wildcard}}));
  deliver("x");
  CAF_CHECK(ledgers.at(0)->fragments.empty());
  CAF_CHECK(status_of(refusal<ack>(uut, tool, stop)) == status::not_found);
  // Also when it has gone with its job.
  stop.subscription = begin(pull());
  request<ack>(desk, io_job_over{"a"});
  request<ack>(uut, tool, stop);
  CAF_CHECK_EQUAL(host.stops, 2u);
}

CAF_TEST(I17 C4.10 who is gone wants no more) {
  deliver("x");
  begin(pull());
  begin(pull(), asks({"other", 0}, 8));
  CAF_CHECK_EQUAL(wanted(), 2u);
  request<ack>(uut, client_finalized{tool});
  CAF_CHECK_EQUAL(wanted(), 1u);
  caf::anon_send(uut, client_lost{asks({"other", 0}, 8)});
  consume_messages();
  CAF_CHECK_EQUAL(wanted(), 0u);
}

CAF_TEST(I15 I17 who spawns a job gets its output from the first byte on(200)) {
  deliver("early ");
  auto order = spawn_request{};
  order.apps.emplace_back();
  order.apps.back().cmd = "a.out";
  request<spawn_result>(uut, tool, order);
  // A process has to ask for it, and a tool may refuse.
  CAF_CHECK(sinks.empty());
  auto prun = tool;
  prun.role = peer_role::tool_with_identity;
  request<spawn_result>(uut, prun, order);
  CAF_REQUIRE_EQUAL(sinks.size(), 1u);
  deliver("late");
  CAF_CHECK_EQUAL(ledgers.at(0)->text(a0), "early late");
  CAF_CHECK_EQUAL(handlers.at(0), 0u);
  order.job_infos = {with(attr::fwd_stdout, value::boolean(false)),
                     with(attr::fwd_stderr, value::boolean(false)),
                     with(attr::fwd_stddiag, value::boolean(false))};
  request<spawn_result>(uut, prun, order);
  CAF_CHECK_EQUAL(sinks.size(), 1u);
  order.job_infos = {with(attr::fwd_stdout)};
  request<spawn_result>(uut, tool, order);
  CAF_CHECK_EQUAL(sinks.size(), 2u);
  CAF_CHECK_EQUAL(host.pulls, 0u);
}

CAF_TEST(I18 C4.10 the host refuses and so do wrong directives) {
  host.returns = PMIX_ERR_NO_PERMISSIONS;
  CAF_CHECK(status_of(refusal<io_pull_result>(uut, tool, pull()))
            == status::no_permissions);
  CAF_CHECK(sinks.empty());
  host = {};
  const auto both =
    std::vector<info>{with(attr::iof_drop_oldest), with(attr::iof_drop_newest)};
  CAF_CHECK(status_of(refusal<io_pull_result>(uut, tool, pull(3, both)))
            == status::bad_param);
  CAF_CHECK_EQUAL(host.pulls, 0u);
}

CAF_TEST(I18 C4.10 drop policies and cache sizes hold for each who asks) {
  auto size = with(attr::iof_cache_size, value::uint32(4));
  begin(pull(1, {with(attr::iof_drop_oldest), size}));
  begin(pull(2, {with(attr::iof_drop_newest), size}));
  for (const auto& x : ledgers)
    x->is_slow = true;
  deliver("0123");
  deliver("4567");
  deliver("89ab");
  for (auto i = 0; i < 9; ++i) {
    for (const auto& x : ledgers)
      x->answer();
    consume_messages();
  }
  // The first four are on their way; then there is room for four more.
  CAF_CHECK_EQUAL(ledgers.at(0)->text(a0), "012389ab");
  CAF_CHECK_EQUAL(ledgers.at(1)->text(a0), "01234567");
}

CAF_TEST_FIXTURE_SCOPE_END()
