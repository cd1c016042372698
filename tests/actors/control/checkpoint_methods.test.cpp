// What processes declare of themselves, and how they are asked for a
// checkpoint.

#include "actors/control/checkpoint_round.hpp"
#include "actors/control/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/site_hook.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

using methods = std::vector<checkpoint_method>;

checkpoint_method by_signal(int32_t x) {
  return {std::nullopt, x};
}

checkpoint_method by_event(status x) {
  return {x, std::nullopt};
}

proc_id proc(uint32_t rank) {
  return {"job@1", rank};
}

control_directives declaring(methods xs) {
  auto result = control_directives{};
  result.methods = std::move(xs);
  return result;
}

control_directives preemptible(bool x) {
  auto result = control_directives{};
  result.preemptible = x;
  return result;
}

struct fixture {
  checkpoint_methods uut{4};

  status declare(uint32_t rank, const control_directives& what) {
    return status_of(uut.declare(proc(rank), what));
  }

  /// The plan in words: `signal 12: job@1:0; event -106: job@1:1`.
  std::string plan(uint32_t size, const methods& wanted = {},
                   bool has_hook = false) {
    auto procs = std::vector<proc_id>{};
    for (uint32_t rank = 0; rank < size; ++rank)
      procs.push_back(proc(rank));
    const auto x = checkpoint_round::make_plan(procs, wanted, uut, has_hook);
    if (!x)
      return to_string(status_of(x.error())) + " " + reason_of(x.error());
    auto result = std::string{};
    const auto add = [&](const std::string& how,
                         const std::vector<proc_id>& those) {
      if (!those.empty())
        result += (result.empty() ? "" : "; ") + how + " "
                  + list_of_procs({those.begin(), those.end()});
    };
    for (const auto& [signal, those] : x->by_signal)
      add("signal " + std::to_string(signal), those);
    for (const auto& [code, those] : x->by_event)
      add("event " + to_string(code), those);
    add("hook", x->by_hook);
    return result;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(checkpoint_methods_tests, fixture)

CAF_TEST(J30 methods are kept in their order until the process ends) {
  declare(0, declaring({by_signal(12), by_event(status::jctrl_checkpoint)}));
  CAF_REQUIRE(uut.find(proc(0)) != nullptr);
  CAF_CHECK(*uut.find(proc(0))
            == (methods{by_signal(12), by_event(status::jctrl_checkpoint)}));
  CAF_CHECK(uut.find(proc(1)) == nullptr);
  uut.proc_ended(proc(0));
  CAF_CHECK(uut.find(proc(0)) == nullptr);
  CAF_CHECK_EQUAL(uut.size(), 0u);
}

CAF_TEST(J30 who declares again replaces what it said) {
  declare(0, declaring({by_signal(12)}));
  declare(0, declaring({by_event(status::jctrl_checkpoint)}));
  CAF_CHECK(*uut.find(proc(0)) == methods{by_event(status::jctrl_checkpoint)});
  declare(0, preemptible(true));
  CAF_CHECK(uut.find(proc(0)) != nullptr);
  declare(0, declaring({}));
  CAF_CHECK(uut.find(proc(0)) == nullptr);
}

CAF_TEST(J18 a job says that it can be preempted and takes it back) {
  CAF_CHECK(!uut.is_preemptible("job@1"));
  declare(2, preemptible(true));
  CAF_CHECK(uut.is_preemptible("job@1"));
  CAF_CHECK(!uut.is_preemptible("job@10"));
  uut.proc_ended(proc(2));
  CAF_CHECK(uut.is_preemptible("job@1"));
  declare(1, preemptible(false));
  CAF_CHECK(!uut.is_preemptible("job@1"));
  declare(1, preemptible(true));
  uut.job_ended("job@1");
  CAF_CHECK_EQUAL(uut.size(), 0u);
}

CAF_TEST(J30 J18 what a process has declared can be asked for) {
  declare(0, declaring({by_signal(12), by_event(static_cast<status>(-3001))}));
  declare(0, preemptible(true));
  const auto infos = uut.describe(proc(0));
  CAF_CHECK(flag(infos, attr::job_ctrl_preemptible));
  const auto* those = find(infos, attr::job_ctrl_checkpoint_method);
  CAF_REQUIRE(those != nullptr);
  const auto list = infos_of(*those);
  CAF_REQUIRE_EQUAL(list.size(), 2u);
  CAF_CHECK_EQUAL(list[0].key, attr::job_ctrl_checkpoint_signal);
  CAF_CHECK_EQUAL(list[0].val.number<int32_t>(), 12);
  CAF_CHECK_EQUAL(list[1].key, attr::job_ctrl_checkpoint_event);
  CAF_CHECK_EQUAL(list[1].val.number<int32_t>(), -3001);
  CAF_CHECK(find(uut.describe(proc(1)), attr::job_ctrl_checkpoint_method)
            == nullptr);
}

CAF_TEST(J30 declarations are bounded) {
  for (uint32_t rank = 0; rank < 4; ++rank)
    CAF_CHECK_EQUAL(declare(rank, declaring({by_signal(10)})), status::success);
  CAF_CHECK_EQUAL(declare(4, declaring({by_signal(10)})),
                  status::out_of_resource);
  CAF_CHECK_EQUAL(declare(3, declaring({by_signal(12)})), status::success);
  CAF_CHECK_EQUAL(
    declare(0, declaring(methods(defaults::checkpoint_methods_per_process + 1,
                                 by_signal(10)))),
    status::out_of_resource);
  CAF_CHECK(*uut.find(proc(0)) == methods{by_signal(10)});
}

CAF_TEST(J13 a signal that no process can catch is no method) {
  for (const auto x : {9, 19}) {
    CAF_CHECK_EQUAL(declare(0, declaring({by_signal(x)})), status::bad_param);
    CAF_CHECK_EQUAL(plan(1, {by_signal(x)}).substr(0, 18),
                    "PMIX_ERR_BAD_PARAM");
  }
}

CAF_TEST(J31 each process is asked by its first method) {
  declare(0, declaring({by_signal(12), by_event(status::jctrl_checkpoint)}));
  declare(1, declaring({by_event(status::jctrl_checkpoint), by_signal(12)}));
  declare(2, declaring({by_event(static_cast<status>(-3001))}));
  CAF_CHECK_EQUAL(plan(3), "signal 12 job@1: rank 0; event -3001 job@1: rank "
                           "2; event PMIX_JCTRL_CHECKPOINT job@1: rank 1");
}

CAF_TEST(J31 a method that is not supported is passed over) {
  declare(0, declaring({{}, by_signal(12)}));
  CAF_CHECK_EQUAL(plan(1), "signal 12 job@1: rank 0");
}

CAF_TEST(J12 J13 the method of a request goes before those declared) {
  declare(0, declaring({by_signal(12)}));
  CAF_CHECK_EQUAL(plan(3, {by_event(status::jctrl_checkpoint), by_signal(10)}),
                  "event PMIX_JCTRL_CHECKPOINT job@1: ranks 0-2");
  CAF_CHECK_EQUAL(plan(2, {by_signal(10)}), "signal 10 job@1: ranks 0-1");
}

CAF_TEST(J32 without a method nobody is asked and those are named) {
  declare(1, declaring({by_signal(12)}));
  CAF_CHECK_EQUAL(
    plan(6), "PMIX_ERR_NOT_SUPPORTED job@1: ranks 0, 2-5 registered no "
             "checkpoint method that is supported; name an event or a signal "
             "in the request");
  declare(0, declaring({{}}));
  CAF_CHECK_EQUAL(plan(1).substr(0, 42),
                  "PMIX_ERR_NOT_SUPPORTED job@1: rank 0 regis");
}

CAF_TEST(J11 the hook of the site saves who has no method) {
  declare(1, declaring({by_signal(12)}));
  CAF_CHECK_EQUAL(plan(3, {}, true),
                  "signal 12 job@1: rank 1; hook job@1: ranks 0, 2");
}

CAF_TEST(J11 nobody to save is an error) {
  CAF_CHECK_EQUAL(plan(0).substr(0, 18), "PMIX_ERR_BAD_PARAM");
}

CAF_TEST(J27 only those who were asked count and once each) {
  auto round = checkpoint_round{"checkpoint c1", {proc(0), proc(1)}};
  CAF_CHECK(!round.complete(proc(2)));
  CAF_CHECK(!round.complete({"job@2", 0}));
  CAF_CHECK(round.complete(proc(0)));
  CAF_CHECK(!round.complete(proc(0)));
  CAF_CHECK(!round.is_over());
  CAF_CHECK(round.complete(proc(1)));
  CAF_CHECK(round.is_over());
  const auto x = round.result();
  CAF_CHECK_EQUAL(x.code, status::success);
  CAF_CHECK_EQUAL(x.reached, 2u);
  CAF_CHECK(x.reason.empty());
}

CAF_TEST(J14 J25 who is missing and who failed is named with partial results) {
  auto round =
    checkpoint_round{"checkpoint c1", {proc(0), proc(1), proc(2), proc(3)}};
  round.complete(proc(0));
  CAF_CHECK(round.fail(proc(2), "ended before the checkpoint was complete"));
  CAF_CHECK(!round.fail(proc(0), "ended before the checkpoint was complete"));
  const auto x = round.result();
  CAF_CHECK_EQUAL(x.code, status::timeout);
  CAF_CHECK_EQUAL(x.reason,
                  "checkpoint c1: job@1: rank 2 ended before the checkpoint "
                  "was complete; job@1: ranks 1, 3 did not complete in time");
  CAF_CHECK(x.missing == (std::vector<proc_id>{proc(1), proc(3)}));
  CAF_CHECK_EQUAL(x.reached, 1u);
  const auto* saved = find(x.infos, checkpoint_saved_key);
  CAF_REQUIRE(saved != nullptr);
  CAF_CHECK(procs_of(*saved) == std::vector<proc_id>{proc(0)});
  const auto* failed = find(x.infos, checkpoint_failed_key);
  CAF_REQUIRE(failed != nullptr);
  CAF_CHECK(procs_of(*failed) == std::vector<proc_id>{proc(2)});
  round.complete(proc(1));
  round.complete(proc(3));
  CAF_CHECK_EQUAL(round.result().code, status::error);
}

CAF_TEST(J14 a list of ranks stays readable) {
  auto odd = std::set<proc_id>{};
  for (uint32_t rank = 1; rank < 1000; rank += 2)
    odd.insert(proc(rank));
  const auto text = list_of_procs(odd);
  CAF_CHECK(text.size() < 300);
  CAF_CHECK_EQUAL(text.substr(text.size() - 5), ", ...");
  CAF_CHECK_EQUAL(list_of_procs({{"a", 0}, {"b", 1}, {"b", 2}}),
                  "a: rank 0; b: ranks 1-2");
}

CAF_TEST_FIXTURE_SCOPE_END()
