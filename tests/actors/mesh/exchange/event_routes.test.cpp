// Whom a host takes events and entries of groups from, and where they go.

#include "actors/mesh/exchange/event_routes.hpp"

#include "config/defaults.hpp"
#include "messages/bounded_codec.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"

#include <deque>
#include <optional>
#include <string>
#include <vector>

using namespace troupe;

namespace {

/// Node 1 of three; `job` runs a process on each of the nodes 0 and 1.
struct fixture {
  job_locations places;
  connected_tools tools{"dvm", 1};
  std::vector<host_question> sent;
  std::vector<deliver_event> given;
  host_calls calls;
  event_routes uut;

  fixture()
    : calls({1, 1}, effects(), places, [](auto, const auto&) {}),
      uut({1, 1}, calls, places, tools, means()) {
    auto map = job_map{};
    map.nspace = "job";
    map.shares = {{0, "n0", {{0, 0, {}}}}, {1, "n1", {{1, 0, {}}}}};
    places.add(map);
    for (const uint32_t rank : {0, 2}) {
      auto what = member_changed{};
      what.rank = rank;
      what.incarnation = 1;
      what.state = node_state::live;
      calls.change_member(what);
    }
  }

  mesh_calls::effects effects() {
    auto out = mesh_calls::effects{};
    out.now = [] { return mesh_calls::time{0}; };
    out.send = [this](send_to_member x) {
      if (auto* call = std::get_if<host_call>(&x.what))
        sent.push_back(call->what);
    };
    out.execute = [](const mesh_calls::member&, host_question&,
                     const mesh_calls::answerer& reply) {
      reply(refusal(make_error(status::not_found)));
    };
    return out;
  }

  event_routes::effects means() {
    auto out = event_routes::effects{};
    out.give = [this](deliver_event what, const event_routes::action& then) {
      given.push_back(std::move(what));
      then();
    };
    out.carry_out = [](const group_entry_ordered&,
                       const event_routes::action& then) { then(); };
    out.call_later = [](auto, const auto&) {};
    return out;
  }

  /// Why what a node submits is refused at once; `success` if it is not.
  status submit(uint32_t from, ordered_content content) {
    auto what = submit_event{};
    what.what = std::move(content);
    auto result = status::success;
    uut.take({from, 1}, std::move(what), [&](const host_reply& x) {
      if (const auto* failure = std::get_if<mesh_failure>(&x))
        result = failure->code;
    });
    return result;
  }
};

deliver_event event_of(const proc_id& source) {
  auto result = deliver_event{};
  result.what.source = source;
  return result;
}

group_entry departure_of(const proc_id& proc) {
  auto result = group_entry{};
  auto what = group_departure{};
  what.proc = proc;
  result.what = what;
  return result;
}

} // namespace

CAF_TEST(X41 a node speaks for its own processes) {
  fixture x;
  struct row {
    uint32_t from;
    proc_id source;
    bool is_allowed;
  };
  for (const auto& y :
       {row{0, {"job", 0}, true}, row{0, {"job", 1}, false},
        row{2, {"job", 0}, false}, row{1, {"job", 0}, true},
        row{2, {"tool", 0}, true}, row{0, {}, true}, row{2, {}, false}}) {
    const auto why = x.uut.check_speaker(y.from, y.source);
    CAF_CHECK_EQUAL(!why, y.is_allowed);
    const auto of_event = x.submit(y.from, event_of(y.source));
    CAF_CHECK_EQUAL(of_event != status::no_permissions, y.is_allowed);
    const auto of_entry = x.submit(y.from, departure_of(y.source));
    CAF_CHECK_EQUAL(of_entry != status::no_permissions, y.is_allowed);
  }
}

CAF_TEST(X41 calls that are brought are those of nodes that have called) {
  fixture x;
  const auto submit = [&](std::vector<group_caller> callers,
                          std::vector<event_origin> origins) {
    auto what = submit_event{"\x1f"
                             "7.1.grp",
                             1,
                             group_entry{},
                             {0, 1},
                             true};
    auto& entry = std::get<group_entry>(what.what);
    entry.group = {"grp", 7, 1};
    auto calls = group_calls{};
    calls.callers = std::move(callers);
    entry.what = std::move(calls);
    what.origins = std::move(origins);
    auto result = status::success;
    x.uut.take({0, 1}, std::move(what), [&](const host_reply& y) {
      if (const auto* failure = std::get_if<mesh_failure>(&y))
        result = failure->code;
    });
    return result;
  };
  const auto refused = status::no_permissions;
  CAF_CHECK(submit({{{"job", 0}, {}, {}}}, {}) != refused);
  CAF_CHECK(submit({{{"job", 0}, {}, {}, 2}}, {}) == refused);
  CAF_CHECK(submit({{{"job", 0}, {}, {}, 2}}, {{0, 0, 1, 1}}) == refused);
  CAF_CHECK(submit({{{"job", 0}, {}, {}, 2}}, {{0, 0, 1, 2}}) != refused);
  CAF_CHECK(submit({{{"job", 1}, {}, {}}}, {{0, 0, 1, 1}, {1, 0, 1, 1}})
            != refused);
  // More than there may be.
  CAF_CHECK(submit({{{"tool", 0}, {}, {}, UINT32_MAX}}, {}) == refused);
}

CAF_TEST(X41 X44 processes in a row are looked at once for each node) {
  fixture x;
  const auto count_for = [&](group_caller caller) {
    auto what = submit_event{};
    auto calls = group_calls{};
    calls.callers.push_back(std::move(caller));
    auto entry = group_entry{};
    entry.what = std::move(calls);
    what.what = std::move(entry);
    const auto bytes = encode(what);
    CAF_CHECK(bytes.size() < 64);
    const auto read = decode<submit_event>(bytes);
    CAF_REQUIRE(read);
    auto result = 0;
    const auto is_good =
      speaks_for_its_own(*read, 0, x.places, [&](const auto&, const proc_id&) {
        ++result;
        return true;
      });
    return is_good ? result : -1;
  };
  constexpr auto most = static_cast<uint32_t>(defaults::group_participants);
  CAF_CHECK_EQUAL(count_for({{"job", 0}, {}, {}, 2}), 2);
  CAF_CHECK_EQUAL(count_for({{"job", 0}, {}, {}, most}), 3);
  CAF_CHECK_EQUAL(count_for({{"tool", 5}, {}, {}, most}), 1);
  CAF_CHECK_EQUAL(count_for({{"tool", 5}, {}, {}, most + 1}), -1);
}

CAF_TEST(processes are found by their jobs and tools by their connections) {
  fixture x;
  auto tool = requester{};
  tool.role = peer_role::tool_with_identity;
  tool.proc = {"tool", 0};
  x.tools.identify(tool);
  auto found = std::optional<proc_places>{};
  const auto locate = [&](std::vector<proc_id> procs) {
    found.reset();
    auto why = status::success;
    x.uut.locate(std::move(procs), [&](caf::expected<proc_places> y) {
      if (y)
        found = std::move(*y);
      else
        why = status_of(y.error());
    });
    return why;
  };
  CAF_CHECK(locate({{"job", rank_wildcard}, {"tool", 0}}) == status::success);
  CAF_REQUIRE(found);
  CAF_REQUIRE_EQUAL(found->procs.size(), 3u);
  CAF_CHECK(found->procs[0].node == 0u);
  CAF_CHECK(found->procs[1].node == 1u);
  CAF_CHECK(found->procs[2].node == 1u);
  CAF_CHECK(locate({{"job", 2}}) == status::not_found);
  // A node that is lost runs nothing any more.
  x.places.node_lost(0);
  CAF_CHECK(locate({{"job", 0}}) == status::success);
  CAF_REQUIRE(found);
  CAF_CHECK(!found->procs[0].node);
}

CAF_TEST(control hears of an event before its process is answered) {
  fixture x;
  auto who = requester{};
  who.proc = {"job", 1};
  auto request = notify_request{};
  request.code = status::jctrl_checkpoint_complete;
  request.range = data_range::local;
  auto is_answered = false;
  x.uut.notify(who, request,
               [&](const caf::expected<ack>&) { is_answered = true; });
  CAF_CHECK_EQUAL(x.given.size(), 1u);
  CAF_CHECK_EQUAL(x.sent.size(), 1u);
  CAF_CHECK(!is_answered);
}
