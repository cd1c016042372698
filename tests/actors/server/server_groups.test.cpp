// Groups of a node: who may make them, what their trackers answer, tell the
// sessions and enter into logs, and how they end. Edge cases of the
// requirements, section 4.7.

#include "actors/groups/group_keys.hpp"
#include "actors/groups/group_tracker.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/node.hpp"
#include "tests/test.hpp"

#include <malloc.h>

#include <algorithm>
#include <map>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

using procs = std::vector<proc_id>;
using made = pending<group_construct_result>;

const auto optional = with(attr::group_optional, value::boolean(true));
const auto notifies =
  with(attr::group_notify_termination, value::boolean(true));

info timeout(int32_t seconds) {
  return with(attr::timeout, value::integer(seconds));
}

procs ranks(std::initializer_list<uint32_t> xs) {
  auto result = procs{};
  for (const auto x : xs)
    result.push_back({"job", x});
  return result;
}

const auto all = procs{{"job", rank_wildcard}};

struct fixture : deterministic {
  std::unique_ptr<node> it;
  std::vector<peer_ptr> peers;
  peer_ptr stranger;
  size_t running_when_quiet = 0;

  fixture() {
    start(false);
  }

  void start(bool spans_nodes) {
    it = std::make_unique<node>(*this, spans_nodes);
    it->add_job("job", 3);
    it->add_job("other", 1);
    consume_messages();
    peers.clear();
    for (uint32_t rank = 0; rank < 3; ++rank)
      peers.push_back(it->connect("job", rank));
    stranger = it->connect("other", 0);
    consume_messages();
    running_when_quiet = sys.registry().running();
  }

  made construct(const peer_ptr& who, procs named, const std::string& id = "g",
                 std::vector<info> directives = {}) {
    auto result = it->ask<group_construct_result>(
      who,
      group_construct_request{id, std::move(named), std::move(directives)});
    consume_messages();
    return result;
  }

  pending<ack> destruct(const peer_ptr& who, const std::string& id = "g",
                        std::vector<info> directives = {}) {
    auto result =
      it->ask<ack>(who, group_destruct_request{id, {}, std::move(directives)});
    consume_messages();
    return result;
  }

  pending<ack> leave(const peer_ptr& who, const std::string& id = "g") {
    auto result = it->ask<ack>(who, group_leave_request{id, {}});
    consume_messages();
    return result;
  }

  /// A get that names rank `rank` of a group.
  status may_name(const peer_ptr& who, const std::string& id, uint32_t rank) {
    const auto result = it->get(who, {id, rank}, std::string{attr::job_size},
                                {with(attr::immediate)});
    consume_messages();
    return result->code;
  }

  void listen(const peer_ptr& who, status code) {
    it->ask<ack>(who, register_events_request{{code}, {}});
    consume_messages();
  }

  static std::vector<status> told(const peer_ptr& who) {
    auto result = std::vector<status>{};
    for (const auto& x : who->wire->events)
      result.push_back(x.code);
    return result;
  }

  void end_process(uint32_t rank) {
    it->end_process({"job", rank});
    consume_messages();
  }

  group_list listed() {
    return request<group_list>(it->server, list_groups{});
  }

  /// All three are members.
  std::vector<made> make(std::vector<info> directives = {}) {
    auto result = std::vector<made>{};
    for (const auto& peer : peers)
      result.push_back(construct(peer, all, "g", directives));
    for (const auto& x : result)
      CAF_REQUIRE_EQUAL(x->code, status::success);
    return result;
  }

  /// Whether there are groups, and none has a tracker.
  bool is_at_rest() {
    return sys.registry().running() <= running_when_quiet
           && !listed().groups.empty();
  }

  /// Whether no tracker is left.
  bool is_quiet() {
    return listed().groups.empty()
           && sys.registry().running() <= running_when_quiet;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(server_groups_tests, fixture)

// -- who may ------------------------------------------------------------------

CAF_TEST(G61 the caller has to be in the group edge 122) {
  const auto x = construct(stranger, all);
  CAF_CHECK_EQUAL(x->code, status::not_a_member);
  CAF_CHECK(is_quiet());
}

CAF_TEST(G9 no group has the name of a namespace edge 127) {
  CAF_CHECK_EQUAL(construct(peers[0], all, "other")->code, status::bad_param);
  CAF_CHECK_EQUAL(construct(peers[0], all, "job")->code, status::bad_param);
}

CAF_TEST(G15 the name of a group has 1 to 255 bytes edge 127) {
  CAF_CHECK_EQUAL(construct(peers[0], all, "")->code, status::bad_param);
  CAF_CHECK_EQUAL(construct(peers[0], all, std::string(256, 'x'))->code,
                  status::bad_param);
  const auto longest = std::string(255, 'x');
  const auto x = construct(peers[0], ranks({0}), longest);
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(construct(peers[1], ranks({1}), "ünïcode")->code,
                  status::success);
}

CAF_TEST(G13 a group names processes that there are) {
  CAF_CHECK_EQUAL(construct(peers[0], {{"job", 0}, {"none", 0}})->code,
                  status::invalid_namespace);
  CAF_CHECK_EQUAL(construct(peers[0], ranks({0, 7}))->code, status::bad_param);
}

CAF_TEST(LIM17 a namespace has so many groups) {
  for (size_t i = 0; i < defaults::groups_per_namespace; ++i)
    CAF_REQUIRE_EQUAL(
      construct(peers[0], ranks({0}), "g" + std::to_string(i))->code,
      status::success);
  CAF_CHECK_EQUAL(construct(peers[0], ranks({0}), "more")->code,
                  status::out_of_resource);
  // What another namespace may have is not touched.
  CAF_CHECK_EQUAL(construct(stranger, {{"other", 0}}, "more")->code,
                  status::success);
  destruct(peers[0], "g0");
  CAF_CHECK_EQUAL(construct(peers[0], ranks({0}), "more")->code,
                  status::success);
}

CAF_TEST(LIM17 a site may set how many groups a namespace has) {
  const std::function<void(server_options&)> adjust = [](server_options& x) {
    x.groups_per_namespace = 2;
  };
  node small{*this, adjust};
  small.add_job("job", 1);
  consume_messages();
  const auto who = small.connect("job", 0);
  consume_messages();
  const auto code = [&](const std::string& id) {
    const auto x = small.ask<group_construct_result>(
      who, group_construct_request{id, ranks({0}), {}});
    consume_messages();
    return x->code;
  };
  CAF_CHECK_EQUAL(code("a"), status::success);
  CAF_CHECK_EQUAL(code("b"), status::success);
  CAF_CHECK_EQUAL(code("c"), status::out_of_resource);
}

// -- construction -------------------------------------------------------------

CAF_TEST(G13 a group of one edge 121) {
  const auto x = construct(peers[1], ranks({1}));
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(x->value.members, ranks({1}));
  CAF_CHECK_EQUAL(destruct(peers[1])->code, status::success);
  CAF_CHECK(is_quiet());
}

CAF_TEST(G13 all are answered when all have called edge 121) {
  const auto x = construct(peers[0], all);
  const auto y = construct(peers[2], ranks({2, 1, 0}));
  CAF_CHECK(x->is_pending());
  CAF_CHECK(y->is_pending());
  const auto z = construct(peers[1], ranks({0, 1, 2}));
  for (const auto& each : {x, y, z}) {
    CAF_REQUIRE_EQUAL(each->code, status::success);
    CAF_CHECK_EQUAL(each->value.members, ranks({0, 1, 2}));
  }
}

CAF_TEST(G13 a group of two namespaces edge 121) {
  const auto both = procs{{"other", 0}, {"job", 2}};
  const auto x = construct(stranger, both);
  const auto y = construct(peers[2], both);
  CAF_CHECK_EQUAL(x->value.members, both);
  CAF_CHECK_EQUAL(y->value.members, both);
  CAF_CHECK_EQUAL(destruct(stranger)->code, status::operation_in_progress);
  CAF_CHECK_EQUAL(destruct(peers[2])->code, status::success);
  CAF_CHECK(is_quiet());
}

CAF_TEST(G16 groups of the same processes at once edge 126) {
  const auto x = construct(peers[0], ranks({0, 1}), "a");
  const auto y = construct(peers[1], ranks({0, 1}), "b");
  CAF_CHECK(x->is_pending());
  construct(peers[0], ranks({0, 1}), "b");
  CAF_CHECK_EQUAL(y->code, status::success);
  CAF_CHECK(x->is_pending());
  construct(peers[1], ranks({0, 1}), "a");
  CAF_CHECK_EQUAL(x->code, status::success);
}

CAF_TEST(G16 disjoint processes may use the same name) {
  const auto x = construct(peers[0], ranks({0, 1}));
  const auto y = construct(peers[2], ranks({2}));
  CAF_CHECK_EQUAL(y->code, status::success);
  CAF_CHECK(x->is_pending());
  CAF_CHECK_EQUAL(construct(peers[1], ranks({0, 1}))->code, status::success);
}

CAF_TEST(124 the same name for other processes is an error at all) {
  const auto x = construct(peers[0], ranks({0, 1}));
  const auto y = construct(peers[1], ranks({1, 2}));
  CAF_CHECK_EQUAL(x->code, status::exists);
  CAF_CHECK_EQUAL(y->code, status::exists);
  const auto z = construct(peers[2], ranks({1, 2}));
  CAF_CHECK_EQUAL(z->code, status::exists);
  // Rank 1 never calls the first one, and ends.
  end_process(1);
  CAF_CHECK(listed().groups.empty());
}

CAF_TEST(124 who waits for members of another group is told) {
  construct(peers[0], ranks({0, 1}));
  CAF_CHECK_EQUAL(construct(peers[1], ranks({0, 1}))->code, status::success);
  const auto x = construct(peers[2], all);
  CAF_CHECK(x->is_pending());
  elapse(defaults::group_decision + 1ms);
  CAF_CHECK_EQUAL(x->code, status::exists);
  CAF_CHECK_EQUAL(destruct(peers[0])->code, status::operation_in_progress);
  CAF_CHECK_EQUAL(destruct(peers[1])->code, status::success);
}

CAF_TEST(128 a name is free when the group has ended) {
  make();
  CAF_CHECK_EQUAL(construct(peers[0], all)->code, status::exists);
  const auto x = destruct(peers[0]);
  CAF_CHECK_EQUAL(construct(peers[0], all)->code, status::exists);
  destruct(peers[1]);
  destruct(peers[2]);
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK(is_quiet());
  make();
}

CAF_TEST(G60 context ids are unique and not 0 edge 133) {
  const auto wants = with(attr::group_assign_context_id, value::boolean(true));
  const auto x = construct(peers[0], ranks({0}), "a", {wants});
  const auto y = construct(peers[0], ranks({0}), "b", {wants});
  destruct(peers[0], "a");
  const auto z = construct(peers[0], ranks({0}), "a", {wants});
  auto ids = std::vector<uint64_t>{};
  for (const auto& each : {x, y, z})
    ids.push_back(each->value.context_id.value_or(0));
  std::sort(ids.begin(), ids.end());
  CAF_CHECK(ids.front() != 0);
  CAF_CHECK(std::adjacent_find(ids.begin(), ids.end()) == ids.end());
}

CAF_TEST(G60 what members give is found with the context id edge 133) {
  const auto wants = with(attr::group_assign_context_id, value::boolean(true));
  const auto given =
    with(attr::group_info,
         value::infos({with(attr::procid, value::of_proc({"job", 0})),
                       with(attr::group_local_cid, value::size(5))}));
  const auto x = construct(peers[0], ranks({0, 1}), "g", {wants, given});
  construct(peers[1], ranks({0, 1}));
  CAF_REQUIRE(x->value.context_id);
  auto id = with(attr::group_context_id, value::size(*x->value.context_id));
  id.flags = info_qualifier;
  const auto found =
    it->get(peers[1], {"job", 0}, std::string{attr::group_local_cid}, {id});
  consume_messages();
  CAF_CHECK_EQUAL(found->code, status::success);
  CAF_REQUIRE_EQUAL(x->value.infos.size(), 1u);
  // Also when the group is over: Open MPI ends it first.
  destruct(peers[0]);
  CAF_CHECK_EQUAL(destruct(peers[1])->code, status::success);
  CAF_CHECK(is_quiet());
  const auto later =
    it->get(peers[1], {"job", 0}, std::string{attr::group_local_cid},
            {id, with(attr::optional, value::boolean(true))});
  consume_messages();
  CAF_CHECK_EQUAL(later->code, status::success);
}

// -- time ---------------------------------------------------------------------

CAF_TEST(G20 the first time-out ends it for all edge 138) {
  const auto x = construct(peers[0], all, "g", {timeout(9)});
  const auto y = construct(peers[1], all, "g", {timeout(3)});
  elapse(2900ms);
  CAF_CHECK(x->is_pending());
  elapse(200ms);
  CAF_CHECK_EQUAL(x->code, status::timeout);
  CAF_CHECK_EQUAL(y->code, status::timeout);
  // The third hears of it when it calls, and then all may begin anew.
  const auto again = construct(peers[0], all);
  CAF_CHECK_EQUAL(construct(peers[2], all)->code, status::timeout);
  CAF_CHECK(again->is_pending());
  construct(peers[1], all);
  CAF_CHECK_EQUAL(construct(peers[2], all)->code, status::success);
  CAF_CHECK_EQUAL(again->code, status::success);
}

CAF_TEST(G18 a time-out completes what is optional edge 140) {
  const auto x = construct(peers[0], all, "g", {optional, timeout(1)});
  elapse(1100ms);
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(x->value.outcome, status::partial_success);
  CAF_CHECK_EQUAL(x->value.members, ranks({0}));
  CAF_CHECK_EQUAL(construct(peers[1], all)->code, status::timeout);
}

CAF_TEST(138 without a time-out it waits) {
  const auto x = construct(peers[0], all);
  elapse(1h);
  CAF_CHECK(x->is_pending());
}

CAF_TEST(MND-A8 a group of nobody is refused when nobody is left to lead) {
  const auto x = construct(peers[0], {});
  const auto y = construct(peers[1], {});
  const auto z = construct(stranger, {});
  CAF_CHECK(x->is_pending());
  const auto last = construct(peers[2], {});
  CAF_CHECK_EQUAL(last->code, status::bad_param);
  for (const auto& other : {x, y, z})
    CAF_CHECK_EQUAL(other->code, status::bad_param);
  // Once more: nothing of it is left.
  const auto again = construct(peers[0], {});
  CAF_CHECK(again->is_pending());
}

CAF_TEST(MND-A8 who waits for a leader does not wait for ever) {
  const auto x = construct(peers[0], {});
  elapse(50s);
  CAF_CHECK(x->is_pending());
  elapse(11s);
  CAF_CHECK_EQUAL(x->code, status::timeout);
}

CAF_TEST(MND-A8 who has a leader waits for the others) {
  const auto two = with(attr::group_bootstrap, value::size(2));
  const auto x = construct(peers[0], {});
  const auto lead = construct(peers[1], ranks({1}), "g", {two});
  elapse(1h);
  CAF_CHECK(x->is_pending());
  CAF_CHECK(lead->is_pending());
  const auto third = construct(peers[2], {});
  CAF_CHECK(third->is_pending());
  const auto other = construct(stranger, {{"other", 0}}, "g", {two});
  for (const auto& each : {x, lead, third, other})
    CAF_CHECK_EQUAL(each->code, status::success);
}

CAF_TEST(G56 the end has a time-out edge 170) {
  make();
  const auto x = destruct(peers[0], "g", {timeout(2)});
  elapse(2100ms);
  CAF_CHECK_EQUAL(x->code, status::timeout);
  CAF_CHECK_EQUAL(destruct(peers[1])->code, status::timeout);
  CAF_CHECK_EQUAL(destruct(peers[2])->code, status::timeout);
  CAF_CHECK(is_quiet());
}

// -- deaths -------------------------------------------------------------------

CAF_TEST(G31 a death without flags aborts edge 134) {
  const auto x = construct(peers[0], all);
  end_process(2);
  // Nobody listens, so nobody decides otherwise.
  CAF_CHECK_EQUAL(x->code, status::group_construct_abort);
  CAF_CHECK_EQUAL(construct(peers[1], all)->code,
                  status::group_construct_abort);
  CAF_CHECK(listed().groups.empty());
}

CAF_TEST(G21 who listens is asked and the time for it is bounded edge 144) {
  listen(peers[0], status::group_invite_failed);
  const auto x = construct(peers[0], all);
  end_process(2);
  CAF_CHECK(x->is_pending());
  CAF_CHECK_EQUAL(told(peers[0]),
                  std::vector<status>{status::group_invite_failed});
  elapse(defaults::group_decision + 1ms);
  CAF_CHECK_EQUAL(x->code, status::group_construct_abort);
}

CAF_TEST(G23 a verdict makes the group smaller edge 150) {
  listen(peers[0], status::group_invite_failed);
  const auto x = construct(peers[0], all);
  const auto y = construct(peers[1], all);
  end_process(2);
  const auto& asked = peers[0]->wire->events.front();
  const auto round = number<uint64_t>(asked.infos, group_keys::round);
  CAF_REQUIRE(round);
  const auto z = it->ask<ack>(
    peers[0],
    notify_request{status::group_verdict,
                   data_range::local,
                   {with(attr::group_id, value::string("g")),
                    with(group_keys::round, value::uint64(*round)),
                    with(group_keys::status, value::integer(0)), optional}});
  consume_messages();
  CAF_CHECK_EQUAL(z->code, status::success);
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(y->value.members, ranks({0, 1}));
}

CAF_TEST(134 who had ended before anybody called is left out) {
  const auto tolerant = with(attr::group_ft_collective, value::boolean(true));
  end_process(2);
  const auto x = construct(peers[0], all, "g", {tolerant});
  construct(peers[1], all, "g", {tolerant});
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(x->value.members, ranks({0, 1}));
}

CAF_TEST(G58 a death between is told once and the end succeeds edge 141) {
  make({notifies});
  listen(peers[0], status::group_member_failed);
  listen(peers[1], status::group_member_failed);
  end_process(2);
  CAF_CHECK_EQUAL(told(peers[0]),
                  std::vector<status>{status::group_member_failed});
  CAF_CHECK_EQUAL(told(peers[1]),
                  std::vector<status>{status::group_member_failed});
  destruct(peers[0]);
  CAF_CHECK_EQUAL(destruct(peers[1])->code, status::success);
  CAF_CHECK(listed().groups.empty());
}

CAF_TEST(G57 a death between is an error of the end edge 142) {
  make();
  end_process(2);
  CAF_CHECK_EQUAL(destruct(peers[0])->code, status::lost_connection);
  CAF_CHECK_EQUAL(destruct(peers[1])->code, status::lost_connection);
  CAF_CHECK(listed().groups.empty());
}

CAF_TEST(GRP-5 all members end without a word) {
  make();
  for (const auto rank : {0, 1, 2})
    end_process(rank);
  CAF_CHECK(listed().groups.empty());
}

CAF_TEST(GRP-5 a job goes with its groups) {
  make();
  const auto x = construct(peers[0], ranks({0, 1}), "h");
  it->tell<ack>(deregister_nspace{"job"});
  consume_messages();
  CAF_CHECK(listed().groups.empty());
}

// -- members ------------------------------------------------------------------

CAF_TEST(G7 members may name the group until they leave edge 167) {
  make();
  CAF_CHECK(may_name(peers[0], "g", 1) != status::invalid_namespace);
  CAF_CHECK_EQUAL(leave(peers[1])->code, status::success);
  CAF_CHECK(leave(peers[1])->code != status::success);
  CAF_CHECK(destruct(peers[1])->code != status::success);
  const auto x = it->fence(peers[0], {{"g", rank_wildcard}});
  const auto y = it->fence(peers[2], {{"g", rank_wildcard}});
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(y->code, status::success);
  const auto z = it->fence(peers[1], {{"g", rank_wildcard}});
  consume_messages();
  CAF_CHECK(z->code != status::success);
}

CAF_TEST(G52 the others hear who has left edge 167) {
  make();
  for (const auto& peer : peers)
    listen(peer, status::group_left);
  leave(peers[1]);
  CAF_CHECK_EQUAL(told(peers[0]), std::vector<status>{status::group_left});
  CAF_CHECK_EQUAL(told(peers[2]), std::vector<status>{status::group_left});
  CAF_CHECK(told(peers[1]).empty());
  CAF_CHECK_EQUAL(peers[0]->wire->events.front().source, (proc_id{"job", 1}));
}

CAF_TEST(G25 nobody leaves a construction edge 152) {
  const auto x = construct(peers[0], all);
  CAF_CHECK(leave(peers[0])->code != status::success);
  CAF_CHECK(x->is_pending());
}

CAF_TEST(G55 ending what is no group is an error edge 170) {
  CAF_CHECK_EQUAL(destruct(peers[0])->code, status::not_found);
  construct(peers[0], all);
  CAF_CHECK_EQUAL(destruct(peers[0])->code, status::not_found);
  CAF_CHECK_EQUAL(destruct(stranger)->code, status::not_found);
}

CAF_TEST(G55 ending twice is an error edge 170) {
  make();
  destruct(peers[0]);
  CAF_CHECK_EQUAL(destruct(peers[0])->code, status::exists);
}

CAF_TEST(G19 groups can be listed) {
  construct(peers[0], all, "a");
  construct(peers[1], ranks({1}), "b");
  const auto x = listed();
  CAF_REQUIRE_EQUAL(x.groups.size(), 2u);
  CAF_CHECK_EQUAL(x.groups[0].missing, ranks({1, 2}));
  CAF_CHECK(x.groups[0].phase == group_phase::constructing);
  CAF_CHECK_EQUAL(x.groups[1].members, ranks({1}));
}

CAF_TEST(174 many groups one after the other) {
  for (auto i = 0; i < 1000; ++i) {
    CAF_REQUIRE_EQUAL(construct(peers[0], ranks({0}))->code, status::success);
    CAF_REQUIRE_EQUAL(destruct(peers[0])->code, status::success);
  }
  CAF_CHECK(is_quiet());
}

// -- rest ---------------------------------------------------------------------

CAF_TEST(LIM17 a group at rest has no tracker and is listed all the same) {
  const auto wants = with(attr::group_assign_context_id, value::boolean(true));
  const auto x = construct(peers[0], all, "g", {wants});
  construct(peers[1], all);
  CAF_CHECK(!is_at_rest());
  construct(peers[2], all);
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK(is_at_rest());
  for (auto i = 0; i < 2; ++i) {
    const auto found = listed();
    CAF_REQUIRE_EQUAL(found.groups.size(), 1u);
    const auto& how = found.groups[0];
    CAF_CHECK_EQUAL(how.group.id, "g");
    CAF_CHECK(how.phase == group_phase::complete);
    CAF_CHECK_EQUAL(how.members, ranks({0, 1, 2}));
    CAF_CHECK_EQUAL(how.context_id, x->value.context_id);
    CAF_CHECK_EQUAL(how.entries, 3u);
    CAF_CHECK(how.missing.empty());
  }
  CAF_CHECK(is_at_rest());
}

CAF_TEST(G52 LIM17 a group rests again when somebody has left) {
  make();
  listen(peers[0], status::group_left);
  CAF_CHECK(is_at_rest());
  CAF_CHECK_EQUAL(leave(peers[1])->code, status::success);
  CAF_CHECK(is_at_rest());
  CAF_CHECK_EQUAL(told(peers[0]), std::vector<status>{status::group_left});
  CAF_CHECK_EQUAL(listed().groups.at(0).members, ranks({0, 2}));
  // What is refused does not change anything.
  CAF_CHECK_EQUAL(leave(peers[1])->code, status::not_found);
  CAF_CHECK_EQUAL(construct(peers[0], all)->code, status::exists);
  CAF_CHECK(is_at_rest());
  CAF_CHECK_EQUAL(construct(peers[1], ranks({1}))->code, status::success);
  CAF_CHECK(is_at_rest());
  const auto x = destruct(peers[0]);
  CAF_CHECK(!is_at_rest());
  CAF_CHECK_EQUAL(destruct(peers[2])->code, status::success);
  CAF_CHECK_EQUAL(x->code, status::success);
  destruct(peers[1]);
  CAF_CHECK(is_quiet());
}

CAF_TEST(G58 LIM17 a group rests again when somebody has ended) {
  make({notifies});
  listen(peers[0], status::group_member_failed);
  end_process(1);
  CAF_CHECK(is_at_rest());
  end_process(2);
  CAF_CHECK(is_at_rest());
  CAF_CHECK_EQUAL(told(peers[0]),
                  (std::vector<status>{status::group_member_failed,
                                       status::group_member_failed}));
  CAF_CHECK_EQUAL(listed().groups.at(0).members, ranks({0}));
  CAF_CHECK_EQUAL(destruct(peers[0])->code, status::success);
  CAF_CHECK(is_quiet());
}

CAF_TEST(G57 LIM17 a group at rest knows who has ended in silence) {
  make();
  end_process(2);
  CAF_CHECK(is_at_rest());
  CAF_CHECK_EQUAL(destruct(peers[0])->code, status::lost_connection);
  CAF_CHECK_EQUAL(destruct(peers[1])->code, status::lost_connection);
  CAF_CHECK(is_quiet());
}

CAF_TEST(G18 LIM17 whoever comes late finds a group at rest) {
  const auto x = construct(peers[0], all, "g", {optional, timeout(1)});
  elapse(1100ms);
  CAF_REQUIRE_EQUAL(x->value.outcome, status::partial_success);
  CAF_CHECK(is_at_rest());
  CAF_CHECK_EQUAL(construct(peers[1], all)->code, status::timeout);
  CAF_CHECK(is_at_rest());
  CAF_CHECK_EQUAL(construct(peers[2], all)->code, status::timeout);
  CAF_CHECK_EQUAL(listed().groups.at(0).members, ranks({0}));
  CAF_CHECK_EQUAL(destruct(peers[0])->code, status::success);
  CAF_CHECK(is_quiet());
}

CAF_TEST(G36 LIM17 events of an invitation find a group at rest) {
  const auto about = [](status code, procs range) {
    return notify_request{
      code,
      data_range::custom,
      {with(attr::group_id, value::string("g")),
       with(attr::event_custom_range, value::procs(std::move(range)))}};
  };
  it->ask<ack>(peers[0], about(status::group_invited, ranks({0, 1, 2})));
  consume_messages();
  it->ask<ack>(peers[1], about(status::group_invite_accepted, ranks({0})));
  consume_messages();
  CAF_CHECK(!is_at_rest());
  const auto made = it->ask<ack>(
    peers[0], about(status::group_construct_complete, ranks({0, 1, 2})));
  consume_messages();
  CAF_REQUIRE_EQUAL(made->code, status::success);
  CAF_CHECK(is_at_rest());
  CAF_CHECK_EQUAL(listed().groups.at(0).members, ranks({0, 1}));
  const auto notify = [&](const peer_ptr& who, status code) {
    const auto result = it->ask<ack>(who, about(code, ranks({0, 1, 2})));
    consume_messages();
    return result->code;
  };
  // Who has accepted is in, and the leader has no say in it any more.
  CAF_CHECK_EQUAL(notify(peers[1], status::group_invite_accepted),
                  status::success);
  CAF_CHECK_EQUAL(notify(peers[1], status::group_invite_declined),
                  status::success);
  CAF_CHECK_EQUAL(notify(peers[0], status::group_construct_abort),
                  status::exists);
  CAF_CHECK_EQUAL(notify(peers[0], status::group_construct_complete),
                  status::exists);
  CAF_CHECK(is_at_rest());
  CAF_CHECK_EQUAL(listed().groups.at(0).members, ranks({0, 1}));
  destruct(peers[0]);
  CAF_CHECK_EQUAL(destruct(peers[1])->code, status::success);
  CAF_CHECK(is_quiet());
}

CAF_TEST(LIM17 a call that crosses the rest of its group is answered) {
  // It comes at each step between the last call of the construction and the end of
  // the tracker.
  for (auto steps = 0; steps < 24; ++steps) {
    start(false);
    construct(peers[0], ranks({0, 1}));
    const auto last = it->ask<group_construct_result>(
      peers[1], group_construct_request{"g", ranks({0, 1}), {}});
    for (auto i = 0; i < steps; ++i)
      sched.try_run_once();
    const auto early =
      it->ask<ack>(peers[0], group_destruct_request{"g", {}, {}});
    consume_messages();
    CAF_CHECK_EQUAL(last->code, status::success);
    CAF_MESSAGE("after " << steps << " messages: " << to_string(early->code));
    const auto is_too_early = early->code == status::not_found;
    CAF_CHECK(is_too_early || early->is_pending());
    if (is_too_early)
      destruct(peers[0]);
    CAF_CHECK_EQUAL(destruct(peers[1])->code, status::success);
    CAF_CHECK(is_quiet());
  }
}

CAF_TEST(LIM17 whoever has the tracker of a group keeps it) {
  make();
  const auto key = listed().groups.at(0).group;
  const auto tracker =
    request<group_tracker_actor>(it->server, find_group{key});
  consume_messages();
  CAF_CHECK(!is_at_rest());
  for (auto i = 0; i < 2; ++i) {
    const auto how = request<group_status>(tracker, get_group_status{});
    consume_messages();
    CAF_CHECK_EQUAL(how.members, ranks({0, 1, 2}));
  }
  for (const auto& peer : peers)
    destruct(peer);
  CAF_CHECK(listed().groups.empty());
}

CAF_TEST(LIM17 a group of four takes at most 1536 bytes at rest) {
  // As launchers name jobs; one may have so many groups.
  const auto jobs = std::vector<std::string>{"troupe-node0001-12345@1",
                                             "troupe-node0001-12345@2"};
  auto members = std::map<std::string, std::vector<peer_ptr>>{};
  for (const auto& job : jobs) {
    it->add_job(job, 4);
    consume_messages();
    for (uint32_t rank = 0; rank < 4; ++rank)
      members[job].push_back(it->connect(job, rank));
    consume_messages();
  }
  running_when_quiet = sys.registry().running();
  const auto make_more = [&](const std::string& prefix, size_t count) {
    for (const auto& job : jobs)
      for (size_t i = 0; i < count; ++i) {
        auto last = made{};
        for (const auto& peer : members[job])
          last =
            construct(peer, {{job, rank_wildcard}}, prefix + std::to_string(i));
        CAF_REQUIRE_EQUAL(last->code, status::success);
      }
  };
  make_more("first.", 20);
  const auto before = mallinfo2().uordblks;
  constexpr auto count = size_t{1000};
  make_more("bench.", count);
  const auto used = mallinfo2().uordblks - before;
  CAF_CHECK(is_at_rest());
  CAF_CHECK_EQUAL(listed().groups.size(), 2 * (count + 20));
  if (used == 0)
    return; // Another allocator, such as that of a sanitizer.
  CAF_MESSAGE(used / (2 * count) << " bytes each");
  CAF_CHECK_GREATER(used, 2 * count * 300);
  CAF_CHECK_LESS_OR_EQUAL(used, 2 * count * 1536);
}

// -- invitations --------------------------------------------------------------

CAF_TEST(G35 an invitation makes a group that its answers find) {
  listen(peers[1], status::group_invited);
  listen(peers[0], status::group_invite_accepted);
  const auto x = it->ask<ack>(
    peers[0], notify_request{
                status::group_invited,
                data_range::custom,
                {with(attr::group_id, value::string("g")),
                 with(attr::event_custom_range, value::procs(ranks({0, 1})))}});
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_REQUIRE_EQUAL(told(peers[1]), std::vector<status>{status::group_invited});
  CAF_REQUIRE_EQUAL(listed().groups.size(), 1u);
  CAF_CHECK(listed().groups[0].phase == group_phase::inviting);
  // Answers of older clients name their inviter only.
  it->ask<ack>(peers[1], notify_request{status::group_invite_accepted,
                                        data_range::custom,
                                        {with(attr::event_custom_range,
                                              value::procs(ranks({0})))}});
  consume_messages();
  CAF_REQUIRE_EQUAL(told(peers[0]),
                    std::vector<status>{status::group_invite_accepted});
  CAF_CHECK_EQUAL(text(peers[0]->wire->events[0].infos, attr::group_id),
                  std::optional<std::string>{"g"});
}

CAF_TEST(G46 G49 what a leader says is of what it leads) {
  // It has been asked to join another group of that name before, and has not.
  const auto waits = construct(peers[1], ranks({0, 1}));
  const auto about = [](status code) {
    return notify_request{
      code,
      data_range::custom,
      {with(attr::group_id, value::string("g")),
       with(attr::event_custom_range, value::procs(ranks({0, 2})))}};
  };
  it->ask<ack>(peers[0], about(status::group_invited));
  consume_messages();
  CAF_REQUIRE_EQUAL(listed().groups.size(), 2u);
  // No event has told it the number of its invitation yet.
  const auto aborts =
    it->ask<ack>(peers[0], about(status::group_construct_abort));
  consume_messages();
  CAF_CHECK_EQUAL(aborts->code, status::success);
  CAF_REQUIRE_EQUAL(listed().groups.size(), 1u);
  CAF_CHECK(listed().groups[0].phase == group_phase::constructing);
  CAF_CHECK(waits->is_pending());
}

CAF_TEST(G36 an answer that crosses the end is told that it is too late) {
  // It comes at each step between the abort and the end of the tracker.
  for (const auto code :
       {status::group_invite_accepted, status::group_invite_declined})
    for (auto steps = 0; steps < 24; ++steps) {
      start(false);
      const auto about = [](status what, std::vector<uint32_t> whom) {
        auto range = procs{};
        for (const auto rank : whom)
          range.push_back({"job", rank});
        return notify_request{
          what,
          data_range::custom,
          {with(attr::group_id, value::string("g")),
           with(attr::event_custom_range, value::procs(std::move(range)))}};
      };
      it->ask<ack>(peers[0], about(status::group_invited, {0, 1, 2}));
      consume_messages();
      it->ask<ack>(peers[0], about(status::group_construct_abort, {0, 1, 2}));
      for (auto i = 0; i < steps; ++i)
        sched.try_run_once();
      const auto late = it->ask<ack>(peers[2], about(code, {0}));
      consume_messages();
      CAF_MESSAGE("after " << steps << " messages: " << to_string(late->code));
      CAF_CHECK(late->code != status::unreach);
      CAF_CHECK(late->code != status::error);
    }
}

CAF_TEST(G45 an event that is about no group is for others) {
  const auto y = fixtures::ask<ack>(
    sys, it->server, asks({"job", 0}),
    notify_request{status::group_invite_declined, data_range::custom, {}});
  consume_messages();
  CAF_CHECK_EQUAL(y->code, status::not_found);
}

// -- over several nodes -------------------------------------------------------

CAF_TEST(G3 participants of several nodes have a log) {
  start(true);
  it->host_play->locate = [](const locate_procs& x) {
    auto result = proc_places{{}, 3};
    CAF_CHECK_EQUAL(x.procs, all);
    for (const auto& proc : ranks({0, 1, 2}))
      result.procs.push_back({proc, proc.rank == 2 ? 5u : 3u});
    return result;
  };
  const auto x = construct(peers[0], all, "g");
  auto& entries = it->host_play->entries;
  CAF_CHECK(entries.empty());
  // Not all of this node have called: it says who has in a moment.
  elapse(defaults::group_watch + 1ms);
  CAF_REQUIRE_EQUAL(entries.size(), 1u);
  CAF_CHECK_EQUAL(entries[0].hosts, (std::vector<uint32_t>{3, 5}));
  CAF_CHECK(entries[0].may_wait);
  CAF_CHECK_EQUAL(entries[0].entry.participants, all);
  CAF_CHECK(entries[0].entry.context_id != 0);
  construct(peers[1], all, "g");
  construct(peers[2], all, "g");
  elapse(defaults::group_watch + 1ms);
  const auto sent = entries;
  for (const auto& each : sent) {
    it->tell<ack>(group_entry_ordered{each.entry, each.hosts});
    consume_messages();
  }
  CAF_CHECK_EQUAL(x->code, status::success);
  // The lost node is reported by the lowest that lives.
  entries.clear();
  self->send(it->server, host_node_lost{5});
  consume_messages();
  CAF_REQUIRE_EQUAL(entries.size(), 1u);
  const auto* ended = std::get_if<group_procs_ended>(&entries[0].entry.what);
  CAF_REQUIRE(ended != nullptr);
  CAF_CHECK_EQUAL(ended->procs.at(0).proc, (proc_id{"job", 2}));
}

CAF_TEST(A38 a host that conducts groups is asked when all have called) {
  // Rank 1 runs elsewhere.
  auto infos = std::vector<info>{with(attr::job_size, value::uint32(2))};
  it->tell<ack>(register_nspace{"far", {our_uid, our_uid}, {0}, infos, false});
  consume_messages();
  const auto peer = it->connect("far", 0);
  consume_messages();
  it->host_play->group_result.infos = {
    with(attr::group_context_id, value::size(77))};
  const auto x = construct(peer, {{"far", rank_wildcard}});
  CAF_REQUIRE_EQUAL(it->host_play->groups.size(), 1u);
  CAF_CHECK_EQUAL(it->host_play->groups[0].id, "g");
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(x->value.context_id, std::optional<uint64_t>{77});
  CAF_CHECK_EQUAL(x->value.members.size(), 2u);
  CAF_CHECK_EQUAL(destruct(peer)->code, status::success);
  CAF_CHECK_EQUAL(it->host_play->groups.size(), 2u);
}

CAF_TEST_FIXTURE_SCOPE_END()
