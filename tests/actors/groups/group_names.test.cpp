// Who is meant where a group is named, and what queries say of groups.

#include "actors/groups/group_names.hpp"

#include "actors/groups/group_report.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

#include <algorithm>
#include <map>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

using proc_list = std::vector<proc_id>;

const auto a2 = proc_id{"a", 2};
const auto b0 = proc_id{"b", 0};
const auto a0 = proc_id{"a", 0};

const auto all_of_g = proc_id{"g", rank_wildcard};

/// Knows `g` with the members a:2, b:0, a:0, in this order, and one more; has
/// left `old`.
group_names make_names() {
  auto result = group_names{};
  result.learn({"g", std::make_shared<const proc_list>(proc_list{a2, b0, a0})});
  result.learn({"h", std::make_shared<const proc_list>(proc_list{b0})});
  result.learn({"old", nullptr});
  return result;
}

info procs_info(std::string_view key, proc_list xs) {
  return with(key, value::procs(std::move(xs)));
}

/// The request with members in the place of groups; fails if it is refused.
template <class Request>
Request spelt_out(Request x) {
  if (const auto why = spell_out(make_names(), x))
    CAF_FAIL(reason_of(why));
  return x;
}

/// Why the request is refused, which must be with `code`.
template <class Request>
std::string refusal(Request x, status code) {
  const auto why = spell_out(make_names(), x);
  CAF_CHECK_EQUAL(status_of(why), code);
  return why ? reason_of(why) : std::string{};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

// -- lists of processes ------------------------------------------------------

CAF_TEST(G7 G8 G4 a group stands for its members in the order of their ranks) {
  struct {
    proc_list named;
    proc_list meant;
  } cases[] = {
    {{all_of_g}, {a2, b0, a0}},
    {{{"g", 0}}, {a2}},
    {{{"g", 1}}, {b0}},
    {{{"g", 2}}, {a0}},
    {{{"g", 2}, {"g", 0}}, {a0, a2}},
    {{{"x", 7}, {"g", 1}, {"x", 8}}, {{"x", 7}, b0, {"x", 8}}},
    {{{"x", 7}, {"x", 8}}, {{"x", 7}, {"x", 8}}},
    {{{"h", 0}, {"g", 0}}, {b0, a2}},
    {{}, {}},
    // Who is named twice because of a group is named once.
    {{all_of_g, a2, b0}, {a2, b0, a0}},
    {{a0, all_of_g}, {a0, a2, b0}},
    {{all_of_g, {"h", rank_wildcard}}, {a2, b0, a0}},
    // What the process wrote itself stays: that is for others to judge.
    {{{"x", 7}, {"x", 7}}, {{"x", 7}, {"x", 7}}},
    {{{"x", rank_wildcard}}, {{"x", rank_wildcard}}},
    {{{"x", rank_undef}}, {{"x", rank_undef}}},
  };
  for (const auto& x : cases) {
    CAF_CHECK(spelt_out(fence_request{x.named, {}}).procs == x.meant);
    CAF_CHECK(spelt_out(connect_procs_request{x.named, {}, {}}).procs
              == x.meant);
    CAF_CHECK(spelt_out(disconnect_procs_request{x.named, {}}).procs
              == x.meant);
    CAF_CHECK(spelt_out(job_control_request{x.named, {}}).targets == x.meant);
    CAF_CHECK(spelt_out(abort_request{1, {}, x.named}).procs == x.meant);
    CAF_CHECK(
      spelt_out(io_pull_request{x.named, {}, io_channels::none, {}}).procs
      == x.meant);
    CAF_CHECK(spelt_out(io_push_request{x.named, {}, {}}).targets == x.meant);
    CAF_CHECK(spelt_out(group_construct_request{"new", x.named, {}}).procs
              == x.meant);
    CAF_CHECK(spelt_out(group_destruct_request{"g", x.named, {}}).procs
              == x.meant);
  }
  CAF_CHECK(!spelt_out(group_destruct_request{"g", {}, {}}).procs);
}

CAF_TEST(G7 a rank that a group has not is refused by name) {
  const auto why = refusal(fence_request{{{"g", 3}}, {}}, status::bad_param);
  CAF_CHECK(has(why, "group g"));
  CAF_CHECK(has(why, "rank 3"));
  CAF_CHECK(has(why, "3 members"));
  // The same everywhere, and also after one that is right.
  refusal(fence_request{{all_of_g, {"h", 1}}, {}}, status::bad_param);
  refusal(get_request{{"g", 3}, {}, "key"}, status::bad_param);
  refusal(fence_request{{{"g", rank_undef}}, {}}, status::bad_param);
  refusal(fence_request{{{"g", rank_local_node}}, {}}, status::bad_param);
  refusal(
    notify_request{{}, {}, {procs_info(attr::event_custom_range, {{"g", 9}})}},
    status::bad_param);
  refusal(
    notify_request{
      {}, {}, {with(attr::event_affected_proc, value::of_proc({"g", 9}))}},
    status::bad_param);
}

CAF_TEST(G45 G52 a group that is not complete or that was left cannot be named) {
  const auto old = proc_id{"old", rank_wildcard};
  CAF_CHECK(has(refusal(fence_request{{old}, {}}, status::invalid_namespace),
                "group old"));
  refusal(fence_request{{a0, old}, {}}, status::invalid_namespace);
  refusal(get_request{{"old", 0}, {}, "key"}, status::invalid_namespace);
  refusal(notify_request{{}, {}, {procs_info(attr::event_custom_range, {old})}},
          status::invalid_namespace);
  refusal(
    notify_request{
      {}, {}, {with(attr::event_affected_proc, value::of_proc(old))}},
    status::invalid_namespace);
  refusal(
    query_request{{{{"key"}, {with(attr::nspace, value::string("old"))}}}},
    status::invalid_namespace);
  // Made anew, it can be named again.
  auto names = make_names();
  names.learn({"old", std::make_shared<const proc_list>(proc_list{b0})});
  auto x = fence_request{{old}, {}};
  CAF_CHECK(!spell_out(names, x));
  CAF_CHECK(x.procs == proc_list{b0});
  // What was left long ago is a name like any other again.
  for (size_t i = 0; i < group_names::most_former; ++i) {
    names.learn({"left" + std::to_string(i), nullptr});
    CAF_CHECK(!names.empty());
  }
  names.learn({"g", nullptr});
  x.procs = {{"left0", 0}};
  CAF_CHECK(!spell_out(names, x));
  CAF_CHECK((x.procs == proc_list{{"left0", 0}}));
}

CAF_TEST(G7 a process that knows no group pays nothing) {
  const auto names = group_names{};
  CAF_CHECK(names.empty());
  CAF_CHECK(names.find("g") == nullptr);
  auto left = group_names{};
  left.learn({"g", nullptr});
  CAF_CHECK(!left.empty());
}

CAF_TEST(X27 G7 one request does not become more than a group may be) {
  // The same again and again is meant once.
  const auto often = proc_list(10000, all_of_g);
  CAF_CHECK(
    (spelt_out(fence_request{often, {}}).procs == proc_list{a2, b0, a0}));
  // Each of many lists is a list of its own: all together are bounded.
  auto names = make_names();
  const auto half = defaults::group_participants / 2;
  auto many = proc_list{};
  for (uint32_t i = 0; i < half; ++i)
    many.push_back({"n", i});
  names.learn({"big", std::make_shared<const proc_list>(std::move(many))});
  const auto all = proc_id{"big", rank_wildcard};
  for (const auto& [count, is_fine] :
       {std::pair{2, true}, std::pair{3, false}}) {
    auto x = notify_request{};
    for (int i = 0; i < count; ++i)
      x.infos.push_back(with(attr::event_custom_range, value::of_proc(all)));
    const auto why = spell_out(names, x);
    CAF_CHECK_EQUAL(!why, is_fine);
    if (why)
      CAF_CHECK_EQUAL(status_of(why), status::bad_param);
  }
  auto x = fence_request{{{"big", 7}, all, {"g", 0}}, {}};
  CAF_CHECK(!spell_out(names, x));
  CAF_CHECK_EQUAL(x.procs.size(), half + 1);
}

// -- one process -------------------------------------------------------------

CAF_TEST(G7 one process is named by its group rank) {
  CAF_CHECK(spelt_out(get_request{{"g", 1}, {}, "key"}).target == b0);
  CAF_CHECK(spelt_out(get_request{{"x", 1}, {}, "key"}).target
            == (proc_id{"x", 1}));
  CAF_CHECK(spelt_out(refresh_cache_request{{"g", 2}}).target == a0);
  // Not all at once.
  const auto why = refusal(get_request{all_of_g, {}, "key"}, status::bad_param);
  CAF_CHECK(has(why, "group g"));
  CAF_CHECK(has(why, "rank of a member"));
  refusal(refresh_cache_request{all_of_g}, status::bad_param);
}

// -- directives --------------------------------------------------------------

CAF_TEST(G7 groups are spelt out in the directives of every request) {
  const auto custom =
    procs_info(attr::event_custom_range, {all_of_g, {"x", 1}});
  const auto meant =
    procs_info(attr::event_custom_range, {a2, b0, a0, {"x", 1}});
  const auto list = std::vector<info>{custom};
  const auto good = [&](const std::vector<info>& xs) {
    CAF_REQUIRE_EQUAL(xs.size(), 1u);
    CAF_CHECK(xs.front() == meant);
  };
  good(spelt_out(fence_request{{}, list}).directives);
  good(spelt_out(get_request{a0, list, {}}).directives);
  good(spelt_out(publish_request{0, list}).infos);
  good(spelt_out(lookup_request{0, {}, list}).directives);
  good(spelt_out(unpublish_request{0, {}, list}).directives);
  good(spelt_out(connect_procs_request{{}, list, {}}).directives);
  good(spelt_out(disconnect_procs_request{{}, list}).directives);
  good(spelt_out(register_events_request{{}, list}).directives);
  good(spelt_out(notify_request{{}, {}, list}).infos);
  good(spelt_out(query_request{{{{"key"}, list}}}).queries[0].qualifiers);
  good(spelt_out(log_request{0, {}, list}).directives);
  good(spelt_out(job_control_request{{}, list}).directives);
  good(spelt_out(monitor_request{with("a"), {}, list}).directives);
  good(spelt_out(allocation_request{0, list}).infos);
  good(spelt_out(group_construct_request{"n", {}, list}).directives);
  good(spelt_out(group_destruct_request{"n", {}, list}).directives);
  good(spelt_out(io_pull_request{{}, list, {}, {}}).directives);
  good(spelt_out(io_push_request{{}, list, {}}).directives);
  auto program = app{};
  program.infos = list;
  const auto spawn = spelt_out(spawn_request{list, {program}});
  good(spawn.job_infos);
  good(spawn.apps.front().infos);
}

CAF_TEST(G7 values of reserved keys name groups and those of the application do not) {
  struct {
    info given;
    info meant;
  } cases[] = {
    {with(attr::event_affected_proc, value::of_proc({"g", 1})),
     with(attr::event_affected_proc, value::of_proc(b0))},
    // One that is several is told as several.
    {with(attr::event_affected_proc, value::of_proc(all_of_g)),
     procs_info(attr::event_affected_procs, {a2, b0, a0})},
    {procs_info(attr::event_affected_procs, {{"g", 0}, {"g", 2}}),
     procs_info(attr::event_affected_procs, {a2, a0})},
    // A single process where an array is meant.
    {with(attr::event_custom_range, value::of_proc(all_of_g)),
     procs_info(attr::event_custom_range, {a2, b0, a0})},
    {procs_info(attr::monitor_target_procs, {all_of_g}),
     procs_info(attr::monitor_target_procs, {a2, b0, a0})},
    {procs_info(attr::group_add_members, {{"g", 1}}),
     procs_info(attr::group_add_members, {b0})},
    {with(attr::procid, value::of_proc({"g", 0})),
     with(attr::procid, value::of_proc(a2))},
    // Arrays of infos inside.
    {with(attr::monitor_proc_resource_usage,
          value::infos({procs_info(attr::monitor_target_procs, {{"g", 2}})})),
     with(attr::monitor_proc_resource_usage,
          value::infos({procs_info(attr::monitor_target_procs, {a0})}))},
    // Nobody is named.
    {with(attr::timeout, value::integer(3)),
     with(attr::timeout, value::integer(3))},
    {procs_info(attr::event_custom_range, {}),
     procs_info(attr::event_custom_range, {})},
    {procs_info(attr::event_custom_range, {{"x", 1}}),
     procs_info(attr::event_custom_range, {{"x", 1}})},
    // Not ours to change.
    {with("app.partner", value::of_proc({"g", 1})),
     with("app.partner", value::of_proc({"g", 1}))},
    {procs_info("app.partners", {all_of_g}),
     procs_info("app.partners", {all_of_g})},
    {with(attr::group_info,
          value::infos({with(attr::procid, value::of_proc({"g", 0}))})),
     with(attr::group_info,
          value::infos({with(attr::procid, value::of_proc({"g", 0}))}))},
  };
  for (const auto& x : cases) {
    const auto y = spelt_out(notify_request{{}, {}, {with("first"), x.given}});
    CAF_CHECK(y.infos.at(1) == x.meant);
    CAF_CHECK(spelt_out(monitor_request{x.given, {}, {}}).monitor == x.meant);
  }
  // Where one is meant, one must be named.
  refusal(
    notify_request{{}, {}, {with(attr::procid, value::of_proc(all_of_g))}},
    status::bad_param);
}

CAF_TEST(G7 a qualifier names a member by group and rank) {
  const auto ask = [](std::vector<info> qualifiers) {
    return query_request{{{{"key"}, {}}, {{"other"}, std::move(qualifiers)}}};
  };
  const auto x = spelt_out(ask({with(attr::nspace, value::string("g")),
                                with(attr::rank, value::rank(2))}));
  CAF_CHECK(x.queries[1].qualifiers
            == (std::vector<info>{with(attr::nspace, value::string("a")),
                                  with(attr::rank, value::rank(0))}));
  const auto other = ask({with(attr::nspace, value::string("x"))});
  CAF_CHECK(spelt_out(other).queries[1].qualifiers
            == other.queries[1].qualifiers);
  CAF_CHECK(has(
    refusal(ask({with(attr::nspace, value::string("g"))}), status::bad_param),
    "group g"));
  refusal(ask({with(attr::nspace, value::string("g")),
               with(attr::rank, value::rank(3))}),
          status::bad_param);
}

// -- where members run -------------------------------------------------------

CAF_TEST(G7 the members of a group are found on their nodes) {
  // `a` runs on n1 and n2, `b` on n2 and n3.
  const auto everybody = std::map<std::string, proc_list>{
    {"n1", {a0, {"a", 1}}}, {"n2", {a2, {"b", 1}}}, {"n3", {b0}}};
  auto ask = group_places::questions{};
  auto asked = size_t{0};
  ask.peers_on = [&](resolve_peers_request what, auto then) {
    ++asked;
    auto result = proc_list{};
    for (const auto& proc : everybody.at(what.node.value_or("n1")))
      if (proc.nspace == what.nspace)
        result.push_back(proc);
    then(result);
  };
  ask.nodes_of = [&](resolve_nodes_request what, auto then) {
    ++asked;
    then(what.nspace == "a" ? "n1,n2" : "n2,n3");
  };
  const auto uut =
    std::make_shared<group_places>(proc_list{{"a", 1}, b0, a0}, ask);
  const auto peers = [&](std::optional<std::string> node) {
    auto result = proc_list{{"nobody", 0}};
    uut->find_peers(node, [&](proc_list found) { result = found; });
    return result;
  };
  CAF_CHECK((peers("n1") == proc_list{{"a", 1}, a0}));
  CAF_CHECK((peers(std::nullopt) == proc_list{{"a", 1}, a0}));
  CAF_CHECK(peers("n2").empty());
  CAF_CHECK(peers("n3") == proc_list{b0});
  auto nodes = std::string{};
  asked = 0;
  uut->find_nodes([&](std::string found) { nodes = found; });
  CAF_CHECK_EQUAL(nodes, "n1,n3");
  CAF_CHECK_EQUAL(asked, 8u);
}

// -- what queries say --------------------------------------------------------

namespace {

group_status make_status(std::string id, group_phase phase, proc_list members,
                         uint64_t generation = 1, uint64_t entries = 1) {
  auto result = group_status{};
  result.group = {std::move(id), 1, generation};
  result.phase = phase;
  result.members = std::move(members);
  result.entries = entries;
  return result;
}

const auto of_job_a = asks({"a", 0});

requester make_tool() {
  auto result = asks({"tool", 0});
  result.role = peer_role::tool_needs_identity;
  return result;
}

} // namespace

CAF_TEST(G7 queries tell of groups that are complete) {
  const auto all = std::vector<group_status>{
    make_status("c", group_phase::complete, {a0, b0}),
    make_status("d", group_phase::destructing, {a0}),
    make_status("e", group_phase::constructing, {a0}),
    make_status("f", group_phase::over, {a0}),
    make_status("far", group_phase::complete, {b0}),
  };
  const auto named = [](const char* id) {
    return std::vector<info>{with(attr::group_id, value::string(id))};
  };
  const auto ask = [&](std::string_view key, std::vector<info> qualifiers = {},
                       const requester& who = of_job_a) {
    return group_answer(key, qualifiers, who, all);
  };
  const auto names = [](std::vector<std::string> xs) {
    auto result = std::vector<value>{};
    for (auto& x : xs)
      result.push_back(value::string(std::move(x)));
    return value::array(data_type::string, std::move(result));
  };
  CAF_CHECK(*ask(attr::query_num_groups) == value::size(2));
  CAF_CHECK(*ask(attr::query_num_groups, {}, make_tool()) == value::size(3));
  CAF_CHECK(*ask(attr::query_group_names) == names({"c", "d"}));
  CAF_CHECK(*ask(attr::query_group_names, {}, make_tool())
            == names({"c", "d", "far"}));
  CAF_CHECK(*ask(attr::query_group_membership, named("c"))
            == value::procs({a0, b0}));
  CAF_CHECK(!ask(attr::query_group_membership));
  CAF_CHECK(!ask(attr::query_group_membership, named("e")));
  CAF_CHECK(!ask(attr::query_group_membership, named("far")));
  CAF_CHECK(ask(attr::query_group_membership, named("far"), make_tool()));
  CAF_CHECK(!ask("pmix.other"));
  // Ours tells of all that are not over.
  CAF_CHECK_EQUAL(infos_of(*ask(group_list_key)).size(), 3u);
  CAF_CHECK_EQUAL(infos_of(*ask(group_list_key, {}, make_tool())).size(), 4u);
  const auto one = infos_of(*ask(group_list_key, named("e")));
  CAF_REQUIRE_EQUAL(one.size(), 1u);
  CAF_CHECK_EQUAL(text(infos_of(one[0].val), "phase").value_or(""),
                  "constructing");
}

CAF_TEST(G9 of groups with the same name the own one is meant) {
  const auto all = std::vector<group_status>{
    make_status("g", group_phase::complete, {{"a", 1}, b0}, 1),
    make_status("g", group_phase::complete, {{"a", 0}}, 2),
    make_status("g", group_phase::complete, {{"a", 2}}, 3),
  };
  const auto members = [&](const requester& who) {
    return procs_of(*group_answer(attr::query_group_membership,
                                  {with(attr::group_id, value::string("g"))},
                                  who, all));
  };
  CAF_CHECK(members(of_job_a) == proc_list{a0});
  CAF_CHECK((members(asks({"a", 1})) == proc_list{{"a", 1}, b0}));
  CAF_CHECK(members(make_tool()) == proc_list{a2});
}

CAF_TEST(G3 what several nodes say of a group counts once) {
  const auto all = without_repeats({
    make_status("g", group_phase::constructing, {a0}, 1, 3),
    make_status("g", group_phase::complete, {a0}, 1, 4),
    make_status("g", group_phase::constructing, {a0}, 1, 2),
    make_status("g", group_phase::constructing, {a0}, 2, 1),
  });
  CAF_REQUIRE_EQUAL(all.size(), 2u);
  CAF_CHECK_EQUAL(all[0].entries, 4u);
  CAF_CHECK(all[0].phase == group_phase::complete);
  CAF_CHECK_EQUAL(all[1].group.generation, 2u);
}
