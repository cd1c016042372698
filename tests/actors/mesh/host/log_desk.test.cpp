// What a host tells of its trace and its levels, and whom.

#include "actors/mesh/host/log_desk.hpp"

#include "base/make_info.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace troupe;

namespace {

int64_t moment = 0;

int64_t tick() {
  return ++moment;
}

constexpr uint32_t owner = 1000;

struct fixture {
  job_locations places;
  host_calls calls{{1, 1}, {}, places, {}};
  std::shared_ptr<trace_ring> trace = std::make_shared<trace_ring>(tick, 1, 16);
  std::shared_ptr<log_levels> levels = std::make_shared<log_levels>();
  log_desk uut{{1, "n1", owner, trace, levels}, calls};

  static requester user(uint32_t uid) {
    auto result = requester{};
    result.creds.uid = uid;
    return result;
  }

  static query_request asked(std::string_view key, std::vector<info> how = {}) {
    auto result = query_request{};
    auto& x = result.queries.emplace_back();
    x.keys = {std::string{key}};
    x.qualifiers = std::move(how);
    return result;
  }

  static job_control_request setting(const std::string& words) {
    auto result = job_control_request{};
    result.directives = {make_info(log_levels_key, value::string(words))};
    return result;
  }

  caf::expected<info_result> ask(uint32_t uid, rooted_request what) {
    auto result = std::optional<caf::expected<info_result>>{};
    uut.answer_here(
      ask_root{user(uid), std::move(what)},
      [&](caf::expected<info_result> x) { result.emplace(std::move(x)); });
    CAF_REQUIRE(result);
    return std::move(*result);
  }

  /// What this node says, as the infos of an object.
  std::vector<info> told(std::string_view key, rooted_request what) {
    const auto x = ask(owner, std::move(what));
    CAF_REQUIRE(x);
    const auto* found = find(x->infos, key);
    CAF_REQUIRE(found != nullptr);
    return infos_of(*found);
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(log_desk_tests, fixture)

CAF_TEST(TRC-3 LOG-2 others than the owner are told and set nothing) {
  for (const auto& what : std::vector<rooted_request>{
         asked(trace_key), asked(log_levels_key), setting("debug")}) {
    const auto x = ask(owner + 1, what);
    CAF_REQUIRE(!x);
    CAF_CHECK(status_of(x.error()) == status::no_permissions);
    CAF_CHECK(ask(owner, what));
  }
  CAF_CHECK(ask(0, asked(trace_key)));
  CAF_CHECK(!ask(owner + 1, setting("error")));
  CAF_CHECK(levels->of(log_subject::io) == severity::debug);
}

CAF_TEST(LOG-2 levels are set and told) {
  const auto x = told(log_levels_key, setting("io=debug"));
  CAF_CHECK_EQUAL(text(x, "name").value_or(""), "n1");
  const auto* shown = find(x, "levels");
  CAF_REQUIRE(shown != nullptr);
  const auto all = infos_of(*shown);
  CAF_CHECK_EQUAL(all.size(), log_subject_count);
  CAF_CHECK_EQUAL(text(all, "io").value_or(""), "debug");
  CAF_CHECK_EQUAL(text(all, "jobs").value_or(""), "warning");
  for (const auto& words :
       {std::string{"io=loud"}, "debug," + std::string(2000, 'x'),
        "error" + std::string(1020, ',') + "error"}) {
    const auto bad = ask(owner, setting(words));
    CAF_REQUIRE(!bad);
    CAF_CHECK(status_of(bad.error()) == status::bad_param);
  }
  CAF_CHECK(levels->of(log_subject::io) == severity::debug);
}

CAF_TEST(TRC-1 parts and outcomes of an operation are steps of it) {
  auto part = collective_part{};
  part.id = {collective_kind::fence, {{"job", rank_wildcard}}, 7};
  auto outcome = collective_outcome{};
  outcome.id = part.id;
  outcome.code = status::timeout;
  uut.note_sent(0, part);
  uut.note_received(0, outcome);
  uut.note_sent(2, outcome);
  uut.note_sent(2, list_groups{});
  const auto x =
    told(trace_key,
         asked(trace_key,
               {make_info(trace_name_key, value::string("fence:job#7"))}));
  const auto* steps = find(x, "steps");
  CAF_REQUIRE(steps != nullptr);
  const auto all = infos_of(*steps);
  CAF_REQUIRE_EQUAL(all.size(), 3u);
  const auto second = infos_of(all[1].val);
  CAF_CHECK_EQUAL(text(second, "step").value_or(""), "outcome_received");
  CAF_CHECK_EQUAL(number<uint32_t>(second, "node").value_or(9), 0u);
  CAF_CHECK_EQUAL(text(second, "status").value_or(""), "PMIX_ERR_TIMEOUT");
}

CAF_TEST(TRC-1 of very many steps those in the middle are left out) {
  trace = std::make_shared<trace_ring>(tick, 1);
  auto desk = log_desk{{1, "n1", owner, trace, levels}, calls};
  const auto name = trace->event("job", 1, 0);
  trace->note(name, trace_step::placed, 1);
  trace->note(name, trace_step::logged, 5);
  for (uint32_t rank = 0; rank < 3000; ++rank)
    trace->note_delivery(5, {"job", rank});
  auto found = std::vector<info>{};
  desk.answer_here(
    ask_root{user(owner),
             asked(trace_key, {make_info(trace_name_key,
                                         value::string("event:job#1@0"))})},
    [&](caf::expected<info_result> x) {
      CAF_REQUIRE(x);
      found = infos_of(*find(x->infos, trace_key));
    });
  CAF_CHECK_EQUAL(number<uint64_t>(found, "omitted").value_or(0),
                  3002 - max_traced_steps);
  const auto* steps = find(found, "steps");
  CAF_REQUIRE(steps != nullptr);
  const auto all = infos_of(*steps);
  CAF_REQUIRE_EQUAL(all.size(), max_traced_steps);
  CAF_CHECK_EQUAL(text(infos_of(all.front().val), "step").value_or(""),
                  "placed");
  CAF_CHECK_EQUAL(text(infos_of(all.back().val), "proc").value_or(""),
                  "job:2999");
}

CAF_TEST(TRC-1 the latest are summed up) {
  const auto job = std::vector<proc_id>{{"job", rank_wildcard}};
  for (uint64_t i = 1; i <= 3; ++i) {
    const auto name = trace->collective(collective_kind::fence, job, i);
    trace->note(name, trace_step::gathered, 2);
    trace->note(name, trace_step::answered, 2);
  }
  const auto x =
    told(trace_key,
         asked(trace_key, {make_info(trace_count_key, value::uint32(2))}));
  const auto* found = find(x, "latest");
  CAF_REQUIRE(found != nullptr);
  const auto all = infos_of(*found);
  CAF_REQUIRE_EQUAL(all.size(), 2u);
  CAF_CHECK_EQUAL(text(infos_of(all[0].val), "id").value_or(""), "fence:job#3");
  CAF_CHECK_EQUAL(text(infos_of(all[0].val), "status").value_or(""), "success");
}

CAF_TEST_FIXTURE_SCOPE_END()
