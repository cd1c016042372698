// Who may connect, as whom, and what is left when a connection ends.

#include "actors/server/defaults.hpp"
#include "actors/server/server.hpp"
#include "actors/server/sessions.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/node.hpp"
#include "tests/test.hpp"

#include <caf/send.hpp>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

constexpr auto other_uid = our_uid + 1;

struct fixture : deterministic {
  node uut{*this};

  fixture() {
    uut.add_job("job", 3);
    consume_messages();
  }

  peer_ptr connect(connect_request greeting) {
    auto result = uut.connect(std::move(greeting));
    consume_messages();
    return result;
  }

  peer_ptr connect(uint32_t rank) {
    return connect(node::greeting({"job", rank}));
  }

  server_statistics statistics() {
    return request<server_statistics>(uut.server, get_statistics{});
  }

  template <class T>
  pending<T> now(pending<T> x) {
    consume_messages();
    return x;
  }

  bool logged(const std::string& part) {
    for (const auto& line : *uut.lines)
      if (line.find(part) != std::string::npos)
        return true;
    return false;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(server_sessions_tests, fixture)

// -- clients -----------------------------------------------------------------

CAF_TEST(F4.8 a registered process is let in and the host hears of it) {
  const auto x = connect(1);
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK(x->accepted.proc == (proc_id{"job", 1}));
  CAF_CHECK(x->accepted.server == (proc_id{"server", 0}));
  CAF_CHECK(x->accepted.index > 0);
  CAF_REQUIRE_EQUAL(uut.host_play->connected.size(), 1u);
  CAF_CHECK(uut.host_play->connected[0].proc == (proc_id{"job", 1}));
  CAF_CHECK_EQUAL(uut.host_play->connected[0].creds.uid, our_uid);
  CAF_CHECK_EQUAL(statistics().connections, 1u);
  CAF_CHECK_EQUAL(statistics().refused_connections, 0u);
}

CAF_TEST(F4.8 connections are told apart) {
  const auto x = connect(0);
  const auto y = connect(1);
  const auto z = connect(1);
  CAF_CHECK(x->accepted.index != y->accepted.index);
  CAF_CHECK(y->accepted.index != z->accepted.index);
}

CAF_TEST(F4.8 X12 who is not registered is refused) {
  const auto stranger = connect(node::greeting({"unknown", 0}));
  CAF_CHECK_EQUAL(stranger->code, status::not_found);
  CAF_CHECK(stranger->reason.find("unknown") != std::string::npos);
  const auto beyond = connect(3);
  CAF_CHECK_EQUAL(beyond->code, status::not_found);
  CAF_CHECK(beyond->reason.find("job:3") != std::string::npos);
  CAF_CHECK_EQUAL(connect(node::greeting({"job", rank_wildcard}))->code,
                  status::not_found);
  CAF_CHECK_EQUAL(connect(node::greeting({"", 0}))->code, status::not_found);
  auto nameless = node::greeting({"job", 0});
  nameless.claimed_proc.reset();
  CAF_CHECK_EQUAL(connect(nameless)->code, status::not_found);
  CAF_CHECK(uut.host_play->connected.empty());
  CAF_CHECK_EQUAL(statistics().refused_connections, 5u);
  CAF_CHECK_EQUAL(statistics().connections, 0u);
}

CAF_TEST(F4.9 X3 another user is refused whatever it claims) {
  const auto x = connect(node::greeting({"job", 0}, other_uid));
  CAF_CHECK_EQUAL(x->code, status::no_permissions);
  auto liar = node::greeting({"job", 0}, other_uid);
  liar.claimed = credentials{our_uid, our_uid};
  CAF_CHECK_EQUAL(connect(liar)->code, status::invalid_cred);
  CAF_CHECK(uut.host_play->connected.empty());
}

CAF_TEST(X3 who claims to be another user than the kernel says is refused) {
  auto x = node::greeting({"job", 0});
  x.claimed = credentials{0, 0};
  const auto refused = connect(x);
  CAF_CHECK_EQUAL(refused->code, status::invalid_cred);
  CAF_CHECK(refused->reason.find("claims user 0") != std::string::npos);
  x.claimed = credentials{our_uid, 7};
  CAF_CHECK_EQUAL(connect(x)->code, status::success);
}

CAF_TEST(X12 a process that has ended does not come back) {
  uut.end_process({"job", 0});
  const auto x = connect(0);
  CAF_CHECK_EQUAL(x->code, status::not_found);
  CAF_CHECK(x->reason.find("has ended") != std::string::npos);
}

CAF_TEST(X12 X34 a rank has a bounded number of connections) {
  std::vector<peer_ptr> clones;
  for (size_t i = 0; i < defaults::connections_per_rank; ++i)
    clones.push_back(connect(0));
  for (const auto& x : clones)
    CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(connect(0)->code, status::out_of_resource);
  CAF_CHECK_EQUAL(connect(1)->code, status::success);
  uut.lose(clones.back());
  consume_messages();
  CAF_CHECK_EQUAL(connect(0)->code, status::success);
}

CAF_TEST(X12 X34 the bound holds when all come at once) {
  std::vector<peer_ptr> clones;
  for (size_t i = 0; i < defaults::connections_per_rank + 10; ++i)
    clones.push_back(uut.connect("job", 0));
  consume_messages();
  size_t served = 0;
  for (const auto& x : clones)
    served += x->code == status::success ? 1 : 0;
  CAF_CHECK_EQUAL(served, defaults::connections_per_rank);
}

CAF_TEST(F4.8 the host may refuse a process) {
  uut.host_play->connections = status::resource_busy;
  CAF_CHECK_EQUAL(connect(0)->code, status::resource_busy);
  CAF_CHECK_EQUAL(statistics().refused_connections, 1u);
}

CAF_TEST(F4.8 a host that does not answer in time refuses) {
  uut.host_play->holds = true;
  const auto x = connect(0);
  CAF_CHECK(x->is_pending());
  elapse(defaults::host_answer - 1s);
  CAF_CHECK(x->is_pending());
  elapse(1s);
  CAF_CHECK_EQUAL(x->code, status::timeout);
  // Its late answer harms nobody.
  uut.host_play->release();
  consume_messages();
  CAF_CHECK_EQUAL(statistics().connections, 0u);
}

CAF_TEST(F4.8 a job may end while its host thinks) {
  uut.host_play->holds = true;
  const auto gone = connect(0);
  const auto ended = connect(1);
  uut.end_process({"job", 1});
  consume_messages();
  uut.host_play->holds = false;
  uut.tell<ack>(deregister_nspace{"job"});
  consume_messages();
  uut.host_play->release();
  consume_messages();
  CAF_CHECK_EQUAL(gone->code, status::not_found);
  CAF_CHECK_EQUAL(ended->code, status::not_found);
}

// -- tools -------------------------------------------------------------------

CAF_TEST(F4.10 a tool gets its identity from the host) {
  uut.host_play->tool_identity = {"tool-7", 0};
  const auto x = connect(node::tool_greeting());
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK(x->accepted.proc == (proc_id{"tool-7", 0}));
  CAF_REQUIRE_EQUAL(uut.host_play->attached.size(), 1u);
  CAF_CHECK(uut.host_play->connected.empty());
  // It is served like everybody else.
  const auto info = now(uut.ask<job_info_reply>(x, job_info_request{}));
  CAF_REQUIRE_EQUAL(info->code, status::success);
  CAF_CHECK_EQUAL(info->value.info->nspace, "tool-7");
}

CAF_TEST(X11 a tool of another user is refused without asking) {
  const auto x = connect(node::tool_greeting(other_uid));
  CAF_CHECK_EQUAL(x->code, status::no_permissions);
  CAF_CHECK(x->reason.find(std::to_string(other_uid)) != std::string::npos);
  CAF_CHECK(uut.host_play->attached.empty());
}

CAF_TEST(MND-A9 X12 a tool does not take the name of the server) {
  auto x = node::tool_greeting();
  x.role = peer_role::tool_with_identity;
  for (const auto& name : {proc_id{"server", 0}, proc_id{"server", 7}}) {
    x.claimed_proc = name;
    const auto refused = connect(x);
    CAF_CHECK_EQUAL(refused->code, status::no_permissions);
    CAF_CHECK(refused->reason.find("a name of servers") != std::string::npos);
  }
  uut.host_play->tool_identity = {"mine", 0};
  x.claimed_proc = proc_id{"mine", 0};
  CAF_CHECK_EQUAL(connect(x)->code, status::success);
}

CAF_TEST(MND-A9 a tool does not take the name of one that is connected) {
  const auto name = proc_id{"mine", 0};
  uut.host_play->tool_identity = name;
  auto x = node::tool_greeting();
  x.role = peer_role::tool_with_identity;
  x.claimed_proc = name;
  const auto first = connect(x);
  CAF_CHECK_EQUAL(first->code, status::success);
  const auto second = connect(x);
  CAF_CHECK_EQUAL(second->code, status::exists);
  CAF_CHECK(second->reason.find("mine:0") != std::string::npos);
  x.role = peer_role::client;
  CAF_CHECK_EQUAL(connect(x)->code, status::no_permissions);
  // Others of its namespace it may have.
  x.role = peer_role::tool_with_identity;
  uut.host_play->tool_identity = {"mine", 1};
  x.claimed_proc = proc_id{"mine", 1};
  CAF_CHECK_EQUAL(connect(x)->code, status::success);
  uut.host_play->tool_identity = name;
  x.claimed_proc = name;
  uut.lose(first);
  CAF_CHECK_EQUAL(connect(x)->code, status::success);
}

CAF_TEST(MND-A9 of two tools that come at once under one name one is served) {
  uut.host_play->tool_identity = {"mine", 0};
  auto x = node::tool_greeting();
  x.role = peer_role::tool_with_identity;
  x.claimed_proc = proc_id{"mine", 0};
  const auto first = uut.connect(x);
  const auto second = uut.connect(x);
  consume_messages();
  CAF_CHECK_EQUAL(first->code, status::success);
  CAF_CHECK_EQUAL(second->code, status::exists);
  CAF_REQUIRE_EQUAL(uut.host_play->lost.size(), 1u);
  CAF_CHECK(uut.host_play->lost[0].proc == proc_id{});
}

CAF_TEST(X11 LIM19 a user has a bounded number of tools) {
  std::vector<peer_ptr> tools;
  for (size_t i = 0; i < defaults::tools_per_user; ++i) {
    uut.host_play->tool_identity = {"tool-" + std::to_string(i), 0};
    tools.push_back(connect(node::tool_greeting()));
    CAF_CHECK_EQUAL(tools.back()->code, status::success);
  }
  uut.host_play->tool_identity = {"tool-x", 0};
  CAF_CHECK_EQUAL(connect(node::tool_greeting())->code,
                  status::out_of_resource);
  CAF_CHECK_EQUAL(connect(0)->code, status::success); // No tool.
  uut.lose(tools.front());
  consume_messages();
  CAF_CHECK_EQUAL(connect(node::tool_greeting())->code, status::success);
}

CAF_TEST(X11 the bound on tools holds when all come at once) {
  std::vector<peer_ptr> tools;
  for (size_t i = 0; i < defaults::tools_per_user + 5; ++i)
    tools.push_back(uut.connect(node::tool_greeting()));
  consume_messages();
  size_t served = 0;
  for (const auto& x : tools)
    served += x->code == status::success ? 1 : 0;
  CAF_CHECK_EQUAL(served, defaults::tools_per_user);
  CAF_CHECK_EQUAL(uut.host_play->attached.size() - uut.host_play->lost.size(),
                  served);
}

CAF_TEST(F4.10 the host may refuse a tool) {
  uut.host_play->tools = status::not_supported;
  CAF_CHECK_EQUAL(connect(node::tool_greeting())->code, status::not_supported);
  CAF_CHECK_EQUAL(statistics().refused_connections, 1u);
}

CAF_TEST(X12 COLL-5 a tool does not become a process of a job) {
  const auto intruder = proc_id{"job", 99};
  uut.host_play->tool_identity = intruder;
  auto greeting = node::tool_greeting();
  greeting.role = peer_role::tool_with_identity;
  greeting.claimed_proc = intruder;
  CAF_CHECK_EQUAL(connect(greeting)->code, status::no_permissions);
  // The host forgets the connection, not the process of that name.
  CAF_REQUIRE_EQUAL(uut.host_play->lost.size(), 1u);
  CAF_CHECK(uut.host_play->lost[0].proc == proc_id{});
  CAF_CHECK_EQUAL(uut.host_play->lost[0].index,
                  uut.host_play->attached.back().who.index);
  // The job does not wait for it.
  std::vector<pending<ack>> fences;
  for (uint32_t rank = 0; rank < 3; ++rank)
    fences.push_back(uut.fence(connect(rank)));
  consume_messages();
  for (const auto& x : fences)
    CAF_CHECK_EQUAL(x->code, status::success);
}

CAF_TEST(F4.10 a tool that has the identity of a process is that process) {
  auto greeting = node::greeting({"job", 2});
  greeting.role = peer_role::tool_client;
  const auto x = connect(greeting);
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK(x->accepted.proc == (proc_id{"job", 2}));
  CAF_CHECK(uut.host_play->attached.empty());
  greeting.actual = {other_uid, other_uid};
  CAF_CHECK_EQUAL(connect(greeting)->code, status::no_permissions);
}

CAF_TEST(F4.10 nothing is left of a tool that has gone) {
  const auto tool = connect(node::tool_greeting());
  const auto client = connect(0);
  const auto waiting =
    now(uut.get(client, {"tool", 0}, std::string{"never posted"}));
  CAF_CHECK(waiting->is_pending());
  uut.lose(tool);
  consume_messages();
  CAF_CHECK_EQUAL(waiting->code, status::not_found);
  // Its name can be used again.
  CAF_CHECK_EQUAL(connect(node::tool_greeting())->code, status::success);
}

CAF_TEST(MND-A1 tools that come and go leave nothing to remember) {
  const auto gauges = [&] {
    return request<gauge_list>(uut.server, get_gauges{}).gauges;
  };
  const auto before = gauges();
  for (const auto finalized : {false, true})
    for (uint32_t rank = 0; rank < 3; ++rank) {
      uut.host_play->tool_identity = {"tool-" + std::to_string(rank), 0};
      uut.lose(connect(node::tool_greeting()), finalized);
    }
  // Of a tool that stays, one after the other.
  uut.host_play->tool_identity = {"tool", 0};
  const auto stays = connect(node::tool_greeting());
  for (uint32_t rank = 1; rank < 4; ++rank) {
    uut.host_play->tool_identity = {"tool", rank};
    uut.lose(connect(node::tool_greeting()));
  }
  // What it was connected to does not have its name any more.
  const auto both = std::vector<proc_id>{{"tool", 0}, {"job", 0}};
  const auto client = connect(0);
  for (const auto& x : {stays, client})
    uut.ask<connect_procs_result>(x, connect_procs_request{both, {}, {}});
  consume_messages();
  uut.lose(client);
  uut.lose(stays);
  now(uut.tell<ack>(deregister_nspace{"job"}));
  const auto after = gauges();
  CAF_REQUIRE_EQUAL(after.size(), before.size());
  for (size_t i = 0; i < before.size(); ++i)
    if (before[i].name != "server.namespaces"
        && before[i].name != "server.processes")
      CAF_CHECK_EQUAL(after[i].name + std::to_string(after[i].value),
                      before[i].name + std::to_string(before[i].value));
}

// -- namespaces --------------------------------------------------------------

CAF_TEST(a namespace is registered once and with a usable name) {
  CAF_CHECK_EQUAL(now(uut.add_job("job", 1))->code, status::exists);
  CAF_CHECK_EQUAL(now(uut.add_job("", 1))->code, status::bad_param);
  const auto longest = std::string(max_nspace_length, 'x');
  CAF_CHECK_EQUAL(now(uut.add_job(longest, 1))->code, status::success);
  CAF_CHECK_EQUAL(now(uut.add_job(longest + "x", 1))->code, status::bad_param);
}

CAF_TEST(F4.39 a process finds its server by its environment) {
  const auto x = now(uut.tell<client_environment>(setup_fork{{"job", 2}}));
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK((x->value.variables
             == std::vector<std::string>{"PMIX_SERVER_URI=here",
                                         "PMIX_NAMESPACE=job", "PMIX_RANK=2"}));
  CAF_CHECK_EQUAL(
    now(uut.tell<client_environment>(setup_fork{{"job", 3}}))->code,
    status::not_found);
  CAF_CHECK_EQUAL(
    now(uut.tell<client_environment>(setup_fork{{"unknown", 0}}))->code,
    status::not_found);
}

CAF_TEST(a namespace that is deregistered takes its connections along) {
  uut.add_job("other", 1);
  const auto mine = connect(0);
  const auto theirs = connect(node::greeting({"other", 0}));
  CAF_CHECK_EQUAL(now(uut.tell<ack>(deregister_nspace{"job"}))->code,
                  status::success);
  CAF_CHECK_EQUAL(mine->wire->closed.size(), 1u);
  CAF_CHECK(theirs->wire->closed.empty());
  CAF_CHECK_EQUAL(connect(0)->code, status::not_found);
  CAF_CHECK_EQUAL(now(uut.tell<ack>(deregister_nspace{"job"}))->code,
                  status::not_found);
}

CAF_TEST(a name can be used again before the old connections are closed) {
  const auto old = connect(0);
  old->wire->session = nullptr; // Its socket closes late.
  uut.tell<ack>(deregister_nspace{"job"});
  uut.add_job("job", 1);
  consume_messages();
  uut.lose(old);
  consume_messages();
  CAF_CHECK(uut.host_play->lost.empty());
  const auto fresh = connect(0);
  CAF_CHECK_EQUAL(fresh->code, status::success);
  CAF_CHECK_EQUAL(now(uut.fence(fresh))->code, status::success);
}

CAF_TEST(F4.22 requests of a process whose namespace is gone are refused) {
  const auto x = connect(0);
  x->wire->session = nullptr;
  uut.tell<ack>(deregister_nspace{"job"});
  consume_messages();
  CAF_CHECK_EQUAL(now(uut.ask<job_info_reply>(x, job_info_request{}))->code,
                  status::not_found);
  CAF_CHECK_EQUAL(now(uut.commit(x, {}))->code, status::not_found);
  CAF_CHECK_EQUAL(now(uut.fence(x))->code, status::invalid_namespace);
}

// -- the end of a connection -------------------------------------------------

CAF_TEST(F4.36 finalizing is answered and no loss) {
  const auto x = connect(0);
  CAF_CHECK_EQUAL(now(uut.ask<ack>(x, finalize_request{}))->code,
                  status::success);
  CAF_REQUIRE_EQUAL(uut.host_play->finalized.size(), 1u);
  CAF_CHECK(uut.host_play->finalized[0].proc == (proc_id{"job", 0}));
  uut.lose(x, true);
  consume_messages();
  CAF_CHECK(uut.host_play->lost.empty());
  // It may initialize again.
  CAF_CHECK_EQUAL(connect(0)->code, status::success);
}

CAF_TEST(F4.36 a connection that ends without finalizing is a loss) {
  const auto x = connect(0);
  uut.lose(x);
  consume_messages();
  CAF_REQUIRE_EQUAL(uut.host_play->lost.size(), 1u);
  CAF_CHECK(uut.host_play->lost[0].proc == (proc_id{"job", 0}));
  CAF_CHECK(logged("job:0 lost its connection"));
}

CAF_TEST(F4.36 a clone that goes is no loss while another is there) {
  const auto parent = connect(0);
  const auto child = connect(0);
  uut.lose(child);
  consume_messages();
  CAF_CHECK(uut.host_play->lost.empty());
  uut.lose(parent);
  consume_messages();
  CAF_CHECK_EQUAL(uut.host_play->lost.size(), 1u);
}

CAF_TEST(X35 a process that goes leaves no waiting get behind) {
  const auto asker = connect(0);
  const auto waiting = now(uut.get(asker, {"job", 1}, std::string{"k"}));
  CAF_CHECK(waiting->is_pending());
  uut.lose(asker);
  consume_messages();
  CAF_CHECK_EQUAL(waiting->code, status::unreach);
}

CAF_TEST(shutting down closes every connection with its reason) {
  const auto client = connect(0);
  const auto tool = connect(node::tool_greeting());
  CAF_CHECK_EQUAL(now(uut.tell<ack>(shut_down{"the end"}))->code,
                  status::success);
  for (const auto& x : {client, tool})
    CAF_CHECK((x->wire->closed == std::vector<std::string>{"the end"}));
}

CAF_TEST(the server counts what it does) {
  const auto x = connect(0);
  connect(node::greeting({"unknown", 0}));
  uut.fence(x, {{"job", 0}});
  uut.commit(x, {post(scope::global, "k", "text")});
  consume_messages();
  const auto counts = statistics();
  CAF_CHECK_EQUAL(counts.connections, 1u);
  CAF_CHECK_EQUAL(counts.refused_connections, 1u);
  CAF_CHECK_EQUAL(counts.fences, 1u);
  CAF_CHECK(counts.bytes_posted > 0);
}

CAF_TEST(LIM1 LIM13 those who may still connect are counted) {
  const auto& counts = *uut.registered;
  CAF_CHECK_EQUAL(counts.total, 3u);
  CAF_CHECK_EQUAL(counts.awaited_of(our_uid), 3u);
  connect(0);
  connect(0);
  CAF_CHECK_EQUAL(counts.awaited_of(our_uid), 2u);
  uut.end_process({"job", 1});
  consume_messages();
  CAF_CHECK_EQUAL(counts.awaited_of(our_uid), 1u);
  uut.add_job("other", 5, other_uid);
  consume_messages();
  CAF_CHECK_EQUAL(counts.total, 8u);
  CAF_CHECK_EQUAL(counts.awaited_of(our_uid), 1u);
  CAF_CHECK_EQUAL(counts.awaited_of(other_uid), 5u);
  uut.tell<ack>(deregister_nspace{"job"});
  uut.tell<ack>(deregister_nspace{"other"});
  consume_messages();
  CAF_CHECK_EQUAL(counts.total, 0u);
  CAF_CHECK(counts.awaited.empty());
}

CAF_TEST_FIXTURE_SCOPE_END()
