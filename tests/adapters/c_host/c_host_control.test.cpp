// Job control and monitoring as a host in C sees them, and its answers.

#include "adapters/c_host/c_host.hpp"
#include "adapters/c_host/upcall.hpp"
#include "adapters/c_values/convert.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/fixtures/deterministic.hpp"
#include "tests/fixtures/outcome.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

/// What the host of a test returns and has seen.
struct play {
  pmix_status_t returns = PMIX_SUCCESS;
  proc_id requestor;
  std::vector<proc_id> targets;
  bool has_targets = false;
  std::vector<info> monitor;
  std::vector<info> directives;
  pmix_status_t error = PMIX_SUCCESS;
  pmix_group_operation_t operation = PMIX_GROUP_NONE;
  std::string group;
  pmix_info_cbfunc_t reply = nullptr;
  void* cbdata = nullptr;
};

play host;

pmix_status_t on_job_control(const pmix_proc_t* requestor,
                             const pmix_proc_t targets[], size_t ntargets,
                             const pmix_info_t directives[], size_t ndirs,
                             pmix_info_cbfunc_t f, void* cbdata) {
  host.requestor = c_api::to_proc(*requestor);
  host.has_targets = targets != nullptr;
  host.targets = *c_api::to_procs(targets, ntargets);
  host.directives = *c_api::to_infos(directives, ndirs);
  host.reply = f;
  host.cbdata = cbdata;
  return host.returns;
}

pmix_status_t on_monitor(const pmix_proc_t* requestor,
                         const pmix_info_t* monitor, pmix_status_t error,
                         const pmix_info_t directives[], size_t ndirs,
                         pmix_info_cbfunc_t f, void* cbdata) {
  host.requestor = c_api::to_proc(*requestor);
  host.monitor = *c_api::to_infos(monitor, 1);
  host.error = error;
  host.directives = *c_api::to_infos(directives, ndirs);
  host.reply = f;
  host.cbdata = cbdata;
  return host.returns;
}

pmix_status_t on_group(pmix_group_operation_t operation, char id[],
                       const pmix_proc_t procs[], size_t nprocs,
                       const pmix_info_t directives[], size_t ndirs,
                       pmix_info_cbfunc_t f, void* cbdata) {
  host.operation = operation;
  host.group = id;
  host.targets = *c_api::to_procs(procs, nprocs);
  host.directives = *c_api::to_infos(directives, ndirs);
  host.reply = f;
  host.cbdata = cbdata;
  return host.returns;
}

const auto pause_job =
  std::vector<info>{with(attr::job_ctrl_pause, value::boolean(true)),
                    with(attr::job_ctrl_id, value::string("mine"))};

struct fixture : deterministic {
  c_host_settings settings;
  c_host_actor uut;
  const requester who = asks({"job", 3}, 5, 1234);

  fixture() {
    host = play{};
    settings.module.job_control = on_job_control;
    settings.module.monitor = on_monitor;
    settings.module.group = on_group;
  }

  ~fixture() override {
    end(uut);
    uut = nullptr;
    CAF_CHECK_EQUAL(upcalls::size(), 0u);
  }

  template <class Request>
  pending<info_result> call(Request x) {
    if (!uut)
      uut = spawn_c_host(sys, settings);
    auto result = ask<info_result>(sys, uut, who, std::move(x));
    consume_messages();
    return result;
  }

  pending<info_result> conduct(host_group x) {
    if (!uut)
      uut = spawn_c_host(sys, settings);
    auto result = ask<info_result>(sys, uut, std::move(x));
    consume_messages();
    return result;
  }

  void reply(pmix_status_t code, const std::vector<info>& xs = {}) {
    auto array = c_api::to_c_infos(xs);
    host.reply(code, array->data(), array->size(), host.cbdata, nullptr,
               nullptr);
    consume_messages();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(c_host_control_tests, fixture)

CAF_TEST(J22 J23 91 the host gets requestor and targets and who that really is) {
  auto forged = pause_job;
  forged.push_back(with(attr::userid, value::uint32(0)));
  const auto x = call(job_control_request{{{"job", 1}, {"other", 2}}, forged});
  CAF_CHECK_EQUAL(host.requestor, (proc_id{"job", 3}));
  CAF_CHECK((host.targets == std::vector<proc_id>{{"job", 1}, {"other", 2}}));
  CAF_CHECK(flag(host.directives, attr::job_ctrl_pause));
  CAF_CHECK_EQUAL(text(host.directives, attr::job_ctrl_id).value_or(""),
                  "mine");
  CAF_CHECK_EQUAL(number<uint32_t>(host.directives, attr::userid).value_or(0),
                  1234u);
  CAF_CHECK_EQUAL(number<uint32_t>(host.directives, attr::grpid).value_or(0),
                  1234u);
  reply(PMIX_SUCCESS);
  CAF_CHECK_EQUAL(x->code, status::success);
}

CAF_TEST(J2 77 no targets stay none for the host) {
  const auto x = call(job_control_request{{}, pause_job});
  CAF_CHECK(!host.has_targets);
  CAF_CHECK_EQUAL(host.targets.size(), 0u);
  reply(PMIX_SUCCESS);
  CAF_CHECK_EQUAL(x->code, status::success);
}

CAF_TEST(J24 86 an error that is returned is the answer and a callback is late) {
  host.returns = PMIX_ERR_NO_PERMISSIONS;
  const auto x = call(job_control_request{{}, pause_job});
  CAF_CHECK_EQUAL(x->code, status::no_permissions);
  reply(PMIX_SUCCESS);
  CAF_CHECK_EQUAL(x->code, status::no_permissions);
}

CAF_TEST(J4 J25 87 what was accepted may fail and says why) {
  const auto x = call(job_control_request{{}, pause_job});
  CAF_CHECK(x->is_pending());
  reply(PMIX_ERR_NOT_FOUND,
        {with(attr::event_text_message, value::string("rank 1 is gone"))});
  CAF_CHECK_EQUAL(x->code, status::not_found);
  CAF_CHECK_EQUAL(text(x->infos, attr::event_text_message).value_or(""),
                  "rank 1 is gone");
}

CAF_TEST(J4 what a host tells beside success reaches the requester) {
  const auto x = call(job_control_request{{}, pause_job});
  reply(PMIX_SUCCESS, {with("count", value::uint32(7))});
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(number<uint32_t>(x->value.infos, "count").value_or(0), 7u);
}

CAF_TEST(J25 a partial success stays one) {
  const auto x = call(job_control_request{{}, pause_job});
  reply(PMIX_ERR_PARTIAL_SUCCESS, {with("count", value::uint32(7))});
  CAF_CHECK_EQUAL(x->code, status::partial_success);
  CAF_CHECK_EQUAL(number<uint32_t>(x->infos, "count").value_or(0), 7u);
}

CAF_TEST(J14 a host may take for a checkpoint as long as the processes do) {
  const auto name = with(attr::job_ctrl_checkpoint, value::string("one"));
  const auto open = call(job_control_request{{}, {name}});
  const auto bounded = call(
    job_control_request{{}, {name, with(attr::timeout, value::integer(90))}});
  elapse(defaults::host_call + 10s);
  CAF_CHECK(open->is_pending());
  CAF_CHECK(bounded->is_pending());
  elapse(60s);
  CAF_CHECK(open->is_pending());
  CAF_CHECK_EQUAL(bounded->code, status::timeout);
}

CAF_TEST(J24 a host without an entry does not control jobs) {
  settings.module.job_control = nullptr;
  CAF_CHECK_EQUAL(call(job_control_request{{}, pause_job})->code,
                  status::not_supported);
}

CAF_TEST(M5 the host gets monitor and error and directives) {
  const auto x = call(
    monitor_request{with(attr::monitor_heartbeat, value::boolean(true)),
                    status::monitor_heartbeat_alert,
                    {with(attr::monitor_heartbeat_time, value::uint32(5))}});
  CAF_CHECK_EQUAL(host.requestor, (proc_id{"job", 3}));
  CAF_REQUIRE_EQUAL(host.monitor.size(), 1u);
  CAF_CHECK_EQUAL(host.monitor.front().key, attr::monitor_heartbeat);
  CAF_CHECK_EQUAL(host.error, PMIX_MONITOR_HEARTBEAT_ALERT);
  CAF_CHECK_EQUAL(
    number<uint32_t>(host.directives, attr::monitor_heartbeat_time).value_or(0),
    5u);
  CAF_CHECK_EQUAL(number<uint32_t>(host.directives, attr::userid).value_or(0),
                  1234u);
  reply(PMIX_ERR_NOT_SUPPORTED,
        {with(attr::event_text_message, value::string("no beats here"))});
  CAF_CHECK_EQUAL(x->code, status::not_supported);
  CAF_CHECK_EQUAL(text(x->infos, attr::event_text_message).value_or(""),
                  "no beats here");
}

// -- groups -------------------------------------------------------------------

namespace {

host_group group(std::string id, group_operation operation) {
  auto x = host_group{};
  x.operation = operation;
  x.id = std::move(id);
  x.procs = {{"job", rank_wildcard}, {"other", 2}};
  x.directives = {with(attr::group_assign_context_id, value::boolean(true)),
                  with(attr::group_optional, value::boolean(false))};
  return x;
}

} // namespace

CAF_TEST(G32 A38 a host conducts groups and its results come back) {
  const auto x = conduct(group("one", group_operation::construct));
  CAF_CHECK_EQUAL(host.operation, PMIX_GROUP_CONSTRUCT);
  CAF_CHECK_EQUAL(host.group, "one");
  CAF_CHECK((host.targets
             == std::vector<proc_id>{{"job", rank_wildcard}, {"other", 2}}));
  CAF_CHECK(flag(host.directives, attr::group_assign_context_id));
  // A host looks for the key only.
  CAF_CHECK(find(host.directives, attr::group_optional) == nullptr);
  CAF_CHECK(x->is_pending());
  reply(PMIX_SUCCESS, {with(attr::group_context_id, value::size(7)),
                       with(attr::group_membership,
                            value::procs({{"other", 2}, {"job", 0}}))});
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(
    number<uint64_t>(x->value.infos, attr::group_context_id).value_or(0), 7u);
  const auto* members = find(x->value.infos, attr::group_membership);
  CAF_REQUIRE(members != nullptr);
  CAF_CHECK(
    (procs_of(*members) == std::vector<proc_id>{{"other", 2}, {"job", 0}}));
}

CAF_TEST(G32 two groups of the same processes are told apart by their names) {
  const auto one = conduct(group("one", group_operation::construct));
  const auto first = host;
  const auto two = conduct(group("two", group_operation::construct));
  CAF_CHECK_EQUAL(host.group, "two");
  reply(PMIX_SUCCESS, {with(attr::group_context_id, value::size(2))});
  CAF_CHECK_EQUAL(
    number<uint64_t>(two->value.infos, attr::group_context_id).value_or(0), 2u);
  CAF_CHECK(one->is_pending());
  host = first;
  reply(PMIX_SUCCESS, {with(attr::group_context_id, value::size(1))});
  CAF_CHECK_EQUAL(
    number<uint64_t>(one->value.infos, attr::group_context_id).value_or(0), 1u);
  // Its callback may be late, or come twice.
  reply(PMIX_ERROR);
  CAF_CHECK_EQUAL(one->code, status::success);
}

CAF_TEST(G32 A38 a host refuses a group and ends one) {
  host.returns = PMIX_ERR_OUT_OF_RESOURCE;
  CAF_CHECK_EQUAL(conduct(group("one", group_operation::construct))->code,
                  status::out_of_resource);
  host.returns = PMIX_OPERATION_SUCCEEDED;
  CAF_CHECK_EQUAL(conduct(group("one", group_operation::destruct))->code,
                  status::success);
  CAF_CHECK_EQUAL(host.operation, PMIX_GROUP_DESTRUCT);
  host.returns = PMIX_SUCCESS;
  const auto late = conduct(group("two", group_operation::destruct));
  reply(PMIX_ERR_TIMEOUT);
  CAF_CHECK_EQUAL(late->code, status::timeout);
}

CAF_TEST(A38 a host without an entry names the remedy) {
  settings.module.group = nullptr;
  const auto x = conduct(group("one", group_operation::construct));
  CAF_CHECK_EQUAL(x->code, status::not_supported);
  CAF_CHECK(x->reason.find("TROUPE_MESH") != std::string::npos);
}

CAF_TEST_FIXTURE_SCOPE_END()
