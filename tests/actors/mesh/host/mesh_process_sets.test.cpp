// Process sets: named when a job starts or by a request, known on all nodes.

#include "actors/jobs/process_sets.hpp"
#include "config/defaults.hpp"
#include "tests/fixtures/exchange.hpp"

#include <algorithm>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

struct fixture : exchange {
  /// A job of two programs, which name these sets.
  /// @param each The processes of each.
  pending<spawn_result> spawn(const std::string& first,
                              const std::string& second = {},
                              int32_t each = 2) {
    auto request = job_host::program(each);
    request.apps.push_back(request.apps.front());
    const auto name_of = [&](size_t app, const std::string& name) {
      if (!name.empty())
        request.apps[app].infos.push_back(
          with(attr::pset_name, value::string(name)));
    };
    name_of(0, first);
    name_of(1, second);
    auto result = mesh.spawn(std::move(request));
    consume_messages();
    return result;
  }

  peer_ptr join(const std::string& name, uint32_t rank, uint32_t node) {
    nodes[{name, rank}] = node;
    return ranks[{name, rank}] = mesh.connect(node, name, rank);
  }

  std::vector<info> query(const proc_id& who, std::string_view key,
                          const std::string& set = {}) {
    auto wanted = troupe::query{};
    wanted.keys.emplace_back(key);
    if (!set.empty())
      wanted.qualifiers.push_back(with(attr::pset_name, value::string(set)));
    return ask<info_result>(who, query_request{{wanted}})->value.infos;
  }

  std::string names(const proc_id& who) {
    return text(query(who, attr::query_pset_names), attr::query_pset_names)
      .value_or("none");
  }

  void end_job(std::vector<proc_id> all) {
    for (const auto& x : all)
      mesh[nodes.at(x)].launcher->end(x.rank);
    consume_messages();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(mesh_process_sets_tests, fixture)

CAF_TEST(G2 a set keeps its members until all their jobs are over) {
  auto uut = process_sets{};
  CAF_CHECK(!uut.define({"s", {{"a", 0}, {"b", 1}}}));
  CAF_CHECK(!uut.define({"s", {{"a", 0}, {"b", 1}}}));
  CAF_CHECK_EQUAL(status_of(uut.define({"s", {{"a", 0}}})), status::exists);
  CAF_CHECK_EQUAL(uut.all().size(), 1u);
  CAF_CHECK(uut.job_over("a").empty());
  CAF_CHECK(uut.job_over("a").empty());
  CAF_REQUIRE(uut.find("s") != nullptr);
  CAF_CHECK_EQUAL(uut.find("s")->size(), 2u);
  CAF_CHECK((uut.job_over("b") == std::vector<std::string>{"s"}));
  CAF_CHECK(uut.find("s") == nullptr);
}

CAF_TEST(LIM17 names and numbers of sets are bounded) {
  auto uut = process_sets{};
  const auto code = [&](const std::string& name, procs members) {
    return status_of(uut.define({name, std::move(members)}));
  };
  CAF_CHECK_EQUAL(code("", {{"a", 0}}), status::bad_param);
  CAF_CHECK_EQUAL(code(std::string(256, 'x'), {{"a", 0}}), status::bad_param);
  CAF_CHECK_EQUAL(code("a,b", {{"a", 0}}), status::bad_param);
  CAF_CHECK_EQUAL(code("s", {}), status::bad_param);
  for (size_t i = 0; i < defaults::process_sets; ++i)
    CAF_CHECK(!uut.define({std::to_string(i), {{"a", 0}}}));
  CAF_CHECK_EQUAL(code("more", {{"a", 0}}), status::out_of_resource);
}

CAF_TEST(F4.27 sets of a job are known on all nodes when it runs) {
  CAF_REQUIRE_EQUAL(spawn("ocean", "ice")->code, status::success);
  const auto near = join(nspace, 0, 0);
  const auto far = join(nspace, 3, 1);
  CAF_CHECK_EQUAL(names({nspace, 0}), "ice,ocean");
  CAF_CHECK_EQUAL(names({nspace, 3}), "ice,ocean");
  const auto members = query({nspace, 3}, attr::query_pset_membership, "ocean");
  CAF_REQUIRE_EQUAL(members.size(), 1u);
  CAF_CHECK((procs_of(members.front().val) == procs{{nspace, 0}, {nspace, 1}}));
  CAF_CHECK(query({nspace, 3}, attr::query_pset_membership, "land").empty());
  const auto number = query({nspace, 0}, attr::query_num_psets);
  CAF_CHECK(troupe::number<uint64_t>(number, attr::query_num_psets) == 2u);
  const auto x = get({nspace, 0}, {nspace, 2}, attr::pset_names);
  CAF_REQUIRE_EQUAL(x->code, status::success);
  const auto& entry = x->value.blocks.front().entries.front();
  CAF_CHECK_EQUAL(entry.key, attr::pset_names);
  const auto* sets = entry.val.array();
  CAF_REQUIRE(sets != nullptr);
  CAF_REQUIRE_EQUAL(sets->elements.size(), 1u);
  CAF_CHECK(*sets->elements.front().text() == "ice");
}

CAF_TEST(F4.27 programs with one name are one set) {
  CAF_REQUIRE_EQUAL(spawn("both", "both")->code, status::success);
  join(nspace, 0, 0);
  const auto members = query({nspace, 0}, attr::query_pset_membership, "both");
  CAF_REQUIRE_EQUAL(members.size(), 1u);
  CAF_CHECK_EQUAL(procs_of(members.front().val).size(), 4u);
}

CAF_TEST(F4.27 a job whose set has the name of another is not started) {
  CAF_REQUIRE_EQUAL(spawn("ocean", {}, 1)->code, status::success);
  const auto x = spawn("ocean", {}, 1);
  CAF_CHECK_EQUAL(x->code, status::exists);
  CAF_CHECK(x->reason.find("ocean") != std::string::npos);
  CAF_CHECK_EQUAL(spawn("server@7", {}, 1)->code, status::bad_param);
  CAF_CHECK_EQUAL(spawn("a,b", {}, 1)->code, status::bad_param);
}

CAF_TEST(C4.10 members hear when their set is defined and when it is deleted) {
  spawn("ocean");
  const auto member = join(nspace, 3, 1);
  ask<ack>({nspace, 3},
           register_events_request{
             {status::process_set_define, status::process_set_delete}, {}});
  CAF_REQUIRE_EQUAL(member->wire->events.size(), 1u);
  CAF_CHECK(text(member->wire->events[0].infos, attr::pset_name) == "ocean");
  // A second job, in whose time the set of the first goes.
  CAF_REQUIRE_EQUAL(spawn({}, {}, 1)->code, status::success);
  const auto other_member = join(other, 0, 2);
  ask<ack>({other, 0},
           register_events_request{{status::process_set_delete}, {}});
  nodes[{nspace, 1}] = 0;
  nodes[{nspace, 2}] = 1;
  nodes[{nspace, 0}] = 0;
  end_job({{nspace, 0}, {nspace, 1}});
  CAF_CHECK_EQUAL(names({other, 0}), "ocean");
  end_job({{nspace, 2}, {nspace, 3}});
  CAF_REQUIRE_EQUAL(other_member->wire->events.size(), 1u);
  CAF_CHECK_EQUAL(other_member->wire->events[0].code,
                  status::process_set_delete);
  CAF_CHECK_EQUAL(names({other, 0}), "");
  // The name is free.
  CAF_CHECK_EQUAL(spawn("ocean")->code, status::success);
}

CAF_TEST(F4.27 a node that comes back gets to know all sets) {
  spawn("ocean");
  CAF_CHECK_EQUAL(asked<define_process_set>(), 2u);
  mesh.lose(2);
  CAF_CHECK_EQUAL(asked<define_process_set>(), 2u);
  mesh.rejoin(2);
  consume_messages();
  CAF_CHECK_EQUAL(asked<define_process_set>(), 3u);
}

CAF_TEST_FIXTURE_SCOPE_END()
