// The resource manager of one node: jobs of jobs, published keys, questions.

#include "actors/mesh/host/mesh_host.hpp"

#include "messages/attributes.hpp"
#include "tests/fixtures/job_host.hpp"
#include "tests/test.hpp"

#include <caf/send.hpp>

#include <csignal>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

info key(std::string name, std::string text) {
  return with(name, value::string(std::move(text)));
}

struct fixture : deterministic {
  job_host local{*this};
  node& uut = local.uut;
  std::vector<peer_ptr> ranks;

  /// One job of three processes, all connected.
  fixture() {
    local.spawn(job_host::program(3));
    consume_messages();
    for (uint32_t rank = 0; rank < 3; ++rank)
      ranks.push_back(uut.connect("server@1", rank));
    consume_messages();
  }

  template <class T, class Request>
  pending<T> ask(const peer_ptr& from, Request x) {
    auto result = uut.ask<T>(from, std::move(x));
    consume_messages();
    return result;
  }

  status publish(const peer_ptr& from, std::vector<info> infos) {
    return ask<ack>(from, publish_request{our_uid, std::move(infos)})->code;
  }

  pending<lookup_result> look_up(const peer_ptr& from,
                                 std::vector<std::string> keys,
                                 std::vector<info> directives = {}) {
    return ask<lookup_result>(
      from, lookup_request{our_uid, std::move(keys), std::move(directives)});
  }

  pending<info_result> query(std::string_view wanted,
                             std::vector<info> qualifiers = {}) {
    troupe::query x;
    x.keys.emplace_back(wanted);
    x.qualifiers = std::move(qualifiers);
    return ask<info_result>(ranks[0], query_request{{std::move(x)}});
  }
};

} // namespace

CAF_TEST(F4.39 a host without a server starts nothing) {
  deterministic world;
  const auto launcher = std::make_shared<launcher_script>();
  const auto host = spawn_mesh_host(
    world.sys, {}, {spawn_launcher(world.sys, launcher), {}, {}, {}});
  const auto x =
    ask<spawn_result>(world.sys, host, asks({"job", 0}), job_host::program(1));
  world.consume_messages();
  CAF_CHECK_EQUAL(x->code, status::init);
  CAF_CHECK(launcher->log.empty());
}

CAF_TEST_FIXTURE_SCOPE(local_host_tests, fixture)

// -- jobs --------------------------------------------------------------------

CAF_TEST(F4.39 every job has a name of its own) {
  const auto x = local.spawn(job_host::program(1));
  const auto y = local.spawn(job_host::program(1));
  consume_messages();
  CAF_CHECK_EQUAL(x->value.nspace, "server@2");
  CAF_CHECK_EQUAL(y->value.nspace, "server@3");
}

CAF_TEST(F4.28 a process starts a job that knows its parent) {
  const auto x = ask<spawn_result>(ranks[1], job_host::program(1));
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(x->value.nspace, "server@2");
  // The observer of the parent hears of the child.
  CAF_REQUIRE_EQUAL(local.observer->mapped.size(), 2u);
  CAF_CHECK_EQUAL(local.observer->mapped[1].nspace, "server@2");
  const auto child = uut.connect("server@2", 0);
  consume_messages();
  CAF_CHECK_EQUAL(child->code, status::success);
  const auto parent = std::string{attr::parent_id};
  const auto found = ask<get_result>(
    child, get_request{{"server@2", rank_wildcard}, {}, parent});
  CAF_REQUIRE_EQUAL(found->code, status::success);
  auto seen = false;
  for (const auto& entry : found->value.blocks.at(0).entries)
    seen =
      seen
      || (entry.key == parent && entry.val == value::of_proc({"server@1", 1}));
  CAF_CHECK(seen);
}

CAF_TEST(F4.28 a spawn that fails is told to the process that asked) {
  auto request = job_host::program(1);
  request.apps[0].cmd = "";
  CAF_CHECK_EQUAL(ask<spawn_result>(ranks[1], request)->code,
                  status::job_no_exe_specified);
  CAF_CHECK_EQUAL(ask<spawn_result>(ranks[1], job_host::program(99))->code,
                  status::job_insufficient_resources);
}

CAF_TEST(F4.28 F4.26 parent and child fence together) {
  ask<spawn_result>(ranks[0], job_host::program(1));
  const auto child = uut.connect("server@2", 0);
  consume_messages();
  const auto both =
    std::vector<proc_id>{{"server@2", rank_wildcard}, {"server@1", 0}};
  const auto x = uut.fence(ranks[0], both);
  const auto y = uut.fence(child, both);
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(y->code, status::success);
}

CAF_TEST(F4.39 a job that is over is forgotten) {
  const auto count = [this] {
    const auto x = local.tell<job_list>(list_jobs{});
    consume_messages();
    return x->value.jobs.size();
  };
  CAF_CHECK_EQUAL(count(), 1u);
  local.spawn(job_host::program(1));
  consume_messages();
  CAF_CHECK_EQUAL(count(), 2u);
  local.launcher->end(0); // The one process of the second job.
  consume_messages();
  CAF_CHECK_EQUAL(count(), 1u);
  const auto none = local.tell<job_list>(list_jobs{"server@2"});
  consume_messages();
  CAF_CHECK(none->value.jobs.empty());
}

CAF_TEST(F4.35 jobs that do not exist cannot be ended or fed) {
  const auto x = local.tell<ack>(end_job{"server@9", "", {}, SIGTERM});
  const auto y = local.tell<io_input_taken>(
    io_input{"server@9", {0}, std::nullopt, "text", true});
  const auto z = ask<ack>(ranks[0], abort_request{1, {}, {{"server@9", 0}}});
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::not_found);
  CAF_CHECK_EQUAL(y->code, status::not_found);
  CAF_CHECK_EQUAL(z->code, status::not_found);
}

// -- tools -------------------------------------------------------------------

CAF_TEST(F4.10 tools get names of their own) {
  const auto x = uut.connect(node::tool_greeting());
  const auto y = uut.connect(node::tool_greeting());
  auto named = node::tool_greeting();
  named.role = peer_role::tool_with_identity;
  named.claimed_proc = proc_id{"my-tool", 0};
  const auto z = uut.connect(named);
  consume_messages();
  CAF_CHECK(x->accepted.proc == (proc_id{"server-tool1", 0}));
  CAF_CHECK(y->accepted.proc == (proc_id{"server-tool2", 0}));
  CAF_CHECK(z->accepted.proc == (proc_id{"my-tool", 0}));
}

CAF_TEST(MND-A9 X12 a tool does not take the name of a job of any node) {
  auto named = node::tool_greeting();
  named.role = peer_role::tool_with_identity;
  for (const auto* name : {"server@1", "server@2", "server@77"}) {
    named.claimed_proc = proc_id{name, 9};
    const auto x = uut.connect(named);
    consume_messages();
    CAF_CHECK_EQUAL(x->code, status::no_permissions);
    CAF_CHECK(x->reason.find("a name of jobs") != std::string::npos);
  }
}

CAF_TEST(MND-A9 a tool gets no name that another one has taken) {
  auto named = node::tool_greeting();
  named.role = peer_role::tool_with_identity;
  named.claimed_proc = proc_id{"server-tool1", 0};
  const auto x = uut.connect(named);
  const auto y = uut.connect(node::tool_greeting());
  consume_messages();
  CAF_CHECK(x->accepted.proc == (proc_id{"server-tool1", 0}));
  CAF_CHECK(y->accepted.proc == (proc_id{"server-tool2", 0}));
}

CAF_TEST(MND-A9 X12 nobody is a process that has not been started) {
  local.launcher->processes.resize(2); // Of three.
  const auto x = uut.connect("server@1", 2);
  const auto y = uut.connect("server@1", 1);
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::no_permissions);
  CAF_CHECK(x->reason.find("server@1:2") != std::string::npos);
  CAF_CHECK_EQUAL(y->code, status::success);
  // One that came before the process is not the process.
  auto early = node::greeting({"server@1", 1});
  early.is_not_started = true;
  const auto z = uut.connect(early);
  consume_messages();
  CAF_CHECK_EQUAL(z->code, status::no_permissions);
}

// -- published keys ----------------------------------------------------------

CAF_TEST(F4.23 what one publishes another finds) {
  CAF_CHECK_EQUAL(publish(ranks[0], {key("k", "v")}), status::success);
  CAF_CHECK_EQUAL(publish(ranks[1], {key("k", "w")}), status::duplicate_key);
  const auto x = look_up(ranks[1], {"k"});
  CAF_REQUIRE_EQUAL(x->value.found.size(), 1u);
  CAF_CHECK(x->value.found[0].proc == (proc_id{"server@1", 0}));
  CAF_CHECK_EQUAL(
    ask<ack>(ranks[0], unpublish_request{our_uid, {"k"}, {}})->code,
    status::success);
  CAF_CHECK_EQUAL(look_up(ranks[1], {"k"})->code, status::not_found);
}

CAF_TEST(F4.25 a lookup without waiting finds what is there) {
  publish(ranks[0], {key("a", "1")});
  CAF_CHECK_EQUAL(look_up(ranks[1], {"a", "b"})->value.found.size(), 1u);
  CAF_CHECK_EQUAL(look_up(ranks[1], {"b"})->code, status::not_found);
  CAF_CHECK_EQUAL(
    look_up(ranks[1], {"b"}, {with(attr::wait, value::boolean(false))})->code,
    status::not_found);
}

CAF_TEST(F4.25 a lookup waits for all keys) {
  for (const auto& all :
       {value::boolean(true), value::integer(0), value::integer(99), value{}}) {
    const auto x = look_up(ranks[1], {"a", "b"}, {with(attr::wait, all)});
    CAF_CHECK(x->is_pending());
    publish(ranks[0], {key("a", "1")});
    CAF_CHECK(x->is_pending());
    publish(ranks[2], {key("b", "2")});
    CAF_REQUIRE_EQUAL(x->code, status::success);
    CAF_CHECK_EQUAL(x->value.found.size(), 2u);
    ask<ack>(ranks[0], unpublish_request{our_uid, {}, {}});
    ask<ack>(ranks[2], unpublish_request{our_uid, {}, {}});
  }
}

CAF_TEST(F4.25 a lookup waits for so many keys) {
  const auto x =
    look_up(ranks[1], {"a", "b", "c"}, {with(attr::wait, value::integer(2))});
  publish(ranks[0], {key("c", "1")});
  CAF_CHECK(x->is_pending());
  publish(ranks[0], {key("a", "2")});
  CAF_CHECK_EQUAL(x->value.found.size(), 2u);
}

CAF_TEST(F4.25 a lookup waits as long as it says) {
  const auto x =
    look_up(ranks[1], {"a"},
            {with(attr::wait), with(attr::timeout, value::integer(5))});
  elapse(4999ms);
  CAF_CHECK(x->is_pending());
  elapse(1ms);
  CAF_CHECK_EQUAL(x->code, status::timeout);
  CAF_CHECK_EQUAL(publish(ranks[0], {key("a", "1")}), status::success);
  const auto y =
    look_up(ranks[1], {"b"},
            {with(attr::wait), with(attr::timeout, value::integer(5))});
  publish(ranks[0], {key("b", "1")});
  CAF_CHECK_EQUAL(y->code, status::success);
  elapse(10s);
  CAF_CHECK_EQUAL(y->code, status::success);
}

CAF_TEST(F4.24 F4.25 one of two that wait reads what is read once) {
  const auto x = look_up(ranks[1], {"a"}, {with(attr::wait)});
  const auto y = look_up(ranks[2], {"a"}, {with(attr::wait)});
  publish(ranks[0], {key("a", "1"), with_persistence(persistence::first_read)});
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK(y->is_pending());
  publish(ranks[0], {key("a", "2")});
  CAF_CHECK_EQUAL(y->code, status::success);
}

CAF_TEST(X35 F4.25 who is gone does not wait any more) {
  const auto x = look_up(ranks[1], {"a"}, {with(attr::wait)});
  uut.lose(ranks[1]);
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::unreach);
  // It does not take what is read once, either.
  publish(ranks[0], {key("a", "1"), with_persistence(persistence::first_read)});
  CAF_CHECK_EQUAL(look_up(ranks[2], {"a"})->code, status::success);
}

CAF_TEST(F4.24 a key goes with the process that published it) {
  publish(ranks[0], {key("a", "1"), with_persistence(persistence::proc)});
  publish(ranks[0], {key("b", "1")});
  uut.lose(ranks[0]);
  consume_messages();
  CAF_CHECK_EQUAL(look_up(ranks[1], {"a"})->code, status::not_found);
  CAF_CHECK_EQUAL(look_up(ranks[1], {"b"})->code, status::success);
}

CAF_TEST(F4.24 a key goes with the job that published it) {
  publish(ranks[0], {key("a", "1")});
  publish(ranks[0], {key("b", "1"), with_persistence(persistence::session)});
  local.spawn(job_host::program(1));
  consume_messages();
  const auto other = uut.connect("server@2", 0);
  consume_messages();
  CAF_CHECK_EQUAL(look_up(other, {"a"})->code, status::success);
  // The second job has taken the place of rank 0 in the script.
  auto first = requester{};
  first.proc = {"server@1", 0};
  caf::anon_send(
    caf::actor_cast<caf::actor>(local.launcher->processes.at(1).owner),
    client_lost{first});
  caf::anon_send(local.launcher->processes.at(1).owner,
                 process_ended{first.proc, 0, 0, false});
  caf::anon_send(local.launcher->processes.at(1).owner,
                 process_drained{{"server@1", 0}});
  local.launcher->end(1);
  local.launcher->end(2);
  consume_messages();
  CAF_CHECK_EQUAL(look_up(other, {"a"})->code, status::not_found);
  CAF_CHECK_EQUAL(look_up(other, {"b"})->code, status::success);
}

// -- questions ---------------------------------------------------------------

CAF_TEST(F4.30 the processes of a job are listed) {
  for (const auto wanted :
       {attr::query_proc_table, attr::query_local_proc_table}) {
    const auto x =
      query(wanted, {with(attr::nspace, value::string("server@1"))});
    CAF_REQUIRE_EQUAL(x->code, status::success);
    const auto* table = x->value.infos.at(0).val.array();
    CAF_REQUIRE(table != nullptr);
    CAF_CHECK(table->element_type == data_type::proc_info);
    CAF_REQUIRE_EQUAL(table->elements.size(), 3u);
    const auto& second = *std::get<box<proc_info>>(table->elements[1].data);
    CAF_CHECK(second.proc == (proc_id{"server@1", 1}));
    CAF_CHECK_EQUAL(second.pid, 1001u);
    CAF_CHECK(second.executable_name == "prog");
  }
}

CAF_TEST(F4.30 the state of a job is told) {
  const auto code = [this] {
    const auto x = query(attr::query_job_status);
    return x->value.infos.at(0).val.number<int32_t>();
  };
  CAF_CHECK(code() == 0);
  local.launcher->end(2, 1);
  consume_messages();
  CAF_CHECK(code() == static_cast<int32_t>(status::job_aborted));
}

CAF_TEST(F4.30 a job that nobody knows has no state) {
  CAF_CHECK_EQUAL(query(attr::query_job_status,
                        {with(attr::nspace, value::string("server@9"))})
                    ->code,
                  status::not_found);
}

CAF_TEST(F4.31 what a spawn may ask for is told) {
  const auto x = query(attr::query_spawn_support);
  CAF_CHECK(x->value.infos.at(0).val.text()->find("PMIX_MAPBY")
            != std::string::npos);
  // By key: debuggers look for these.
  const auto debug = query(attr::query_debug_support);
  CAF_CHECK(debug->value.infos.at(0).val
            == value::string("pmix.debugger,pmix.dbg.dpnd,pmix.dbg.dpproc,"
                             "pmix.dbg.tgt,pmix.dbg.job,pmix.dbg.init,"
                             "pmix.dbg.notify"));
  CAF_CHECK(query(attr::query_available_slots)->value.infos.at(0).val
            == value::uint32(5)); // Three of eight are taken.
}

// -- what is not offered -----------------------------------------------------

CAF_TEST(F4.38 commands of later issues are not supported) {
  const auto& x = ranks[0];
  const auto refused = status::not_supported;
  CAF_CHECK_EQUAL(ask<info_result>(x, monitor_request{})->code, refused);
  CAF_CHECK_EQUAL(ask<info_result>(x, allocation_request{})->code, refused);
  CAF_CHECK_EQUAL(ask<info_result>(x, session_control_request{})->code,
                  refused);
  CAF_CHECK_EQUAL(ask<ack>(x, resource_block_request{})->code, refused);
  CAF_CHECK_EQUAL(ask<get_credential_result>(x, get_credential_request{})->code,
                  refused);
  CAF_CHECK_EQUAL(ask<info_result>(x, validate_credential_request{})->code,
                  refused);
  CAF_CHECK_EQUAL(ask<info_result>(x, fabric_register_request{})->code,
                  refused);
  CAF_CHECK_EQUAL(ask<info_result>(x, fabric_update_request{})->code, refused);
  CAF_CHECK_EQUAL(ask<info_result>(x, job_control_request{})->code, refused);
}

CAF_TEST(F4.22 X28 a process of another node is not found) {
  const auto x = uut.get(ranks[0], {"far", 0}, "k");
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::not_found);
}

CAF_TEST_FIXTURE_SCOPE_END()
