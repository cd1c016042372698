// What processes hear of their job, of each other's ends and of nodes.

#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/job_host.hpp"
#include "tests/fixtures/mesh_hosts.hpp"
#include "tests/test.hpp"

#include <csignal>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

const auto nspace = std::string{"server@1"};

const auto all_codes = std::vector<status>{status::job_start,
                                           status::launch_complete,
                                           status::job_end,
                                           status::event_proc_terminated,
                                           status::exit_nonzero_term,
                                           status::proc_aborted_by_sig,
                                           status::proc_term_wo_sync,
                                           status::proc_requested_abort,
                                           status::proc_killed_by_cmd,
                                           status::proc_aborted,
                                           status::lost_connection,
                                           status::event_node_down};

struct fixture : deterministic {
  mesh_hosts mesh{*this, 3};

  /// Six processes, two on each node.
  void spawn(bool recoverable = true) {
    auto infos = std::vector<info>{};
    if (recoverable)
      infos.push_back(with(attr::job_recoverable));
    mesh.spawn(job_host::program(6, std::move(infos)));
    consume_messages();
  }

  void listen(uint32_t node, const peer_ptr& who,
              std::vector<status> codes = all_codes) {
    mesh[node].uut->ask<ack>(who, register_events_request{codes, {}});
    consume_messages();
  }

  peer_ptr listener(uint32_t rank) {
    const auto result = mesh.connect(rank / 2, nspace, rank);
    consume_messages();
    listen(rank / 2, result);
    return result;
  }

  void end(uint32_t rank, int32_t exit_code = 0, int32_t signal = 0) {
    mesh[rank / 2].launcher->end(rank, exit_code, signal);
    consume_messages();
  }

  /// What it has heard since this was last called: `-402 server@1.3`.
  static std::vector<std::string> heard(const peer_ptr& who) {
    auto result = std::vector<std::string>{};
    for (const auto& x : who->wire->events) {
      const auto* affected = find(x.infos, attr::event_affected_proc);
      result.push_back(
        std::to_string(static_cast<int32_t>(x.code)) + " "
        + (affected != nullptr ? to_string(procs_of(*affected).front()) : ""));
    }
    who->wire->events.clear();
    return result;
  }

  /// Of each end since this was last called whether the job ends with it.
  static std::string of_ends(const peer_ptr& who) {
    auto result = std::string{};
    for (const auto& x : who->wire->events)
      if (find(x.infos, attr::event_affected_proc) != nullptr)
        result += flag(x.infos, attr::event_terminate_job) ? '1' : '0';
    who->wire->events.clear();
    return result;
  }

  static std::string line(status code, const proc_id& proc) {
    return std::to_string(static_cast<int32_t>(code)) + " " + to_string(proc);
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(mesh_job_events_tests, fixture)

CAF_TEST(E3 P-J3 all nodes hear of all ends once and in one order) {
  spawn();
  const auto near = listener(0);
  const auto far = listener(4);
  heard(near);
  heard(far);
  end(1, 0, SIGKILL);
  end(5, 7);
  end(2);
  const auto expected =
    std::vector<std::string>{line(status::proc_aborted_by_sig, {nspace, 1}),
                             line(status::exit_nonzero_term, {nspace, 5}),
                             line(status::event_proc_terminated, {nspace, 2})};
  CAF_CHECK(heard(near) == expected);
  CAF_CHECK(heard(far) == expected);
}

CAF_TEST(E59 an end says whether its job ends with it) {
  spawn();
  auto x = listener(0);
  of_ends(x);
  end(1, 0, SIGKILL);
  end(5, 7);
  CAF_CHECK_EQUAL(of_ends(x), "00");
}

CAF_TEST(E59 an end of a job that is not recoverable says that it ends it) {
  spawn(false);
  auto x = listener(0);
  of_ends(x);
  end(4);
  CAF_CHECK_EQUAL(of_ends(x), "0"); // It ended well.
  end(1, 0, SIGKILL);
  CAF_CHECK_EQUAL(of_ends(x).substr(0, 1), "1");
}

CAF_TEST(E46 E47 E49 who registers late hears of the start first) {
  spawn();
  end(3, 0, SIGSEGV);
  const auto late = listener(0);
  CAF_CHECK((heard(late)
             == std::vector<std::string>{
               line(status::job_start, {nspace, rank_wildcard}),
               line(status::launch_complete, {nspace, rank_wildcard}),
               line(status::proc_aborted_by_sig, {nspace, 3})}));
}

CAF_TEST(E3 a process that goes on without its server is told of once) {
  spawn();
  const auto peer = listener(4);
  const auto lost = mesh.connect(0, nspace, 1);
  consume_messages();
  heard(peer);
  mesh[0].uut->lose(lost);
  consume_messages();
  elapse(defaults::lost_connection_wait - 1ms);
  CAF_CHECK(heard(peer).empty());
  elapse(1ms);
  consume_messages();
  CAF_CHECK(
    (heard(peer)
     == std::vector<std::string>{line(status::lost_connection, {nspace, 1})}));
  // Its end is another matter.
  end(1);
  CAF_CHECK((
    heard(peer)
    == std::vector<std::string>{line(status::proc_term_wo_sync, {nspace, 1})}));
}

CAF_TEST(E3 the end of a process is one event although it loses its server) {
  spawn();
  const auto peer = listener(4);
  const auto lost = mesh.connect(0, nspace, 1);
  consume_messages();
  heard(peer);
  mesh[0].uut->lose(lost);
  consume_messages();
  end(1, 0, SIGKILL);
  elapse(10 * defaults::lost_connection_wait);
  consume_messages();
  CAF_CHECK((heard(peer)
             == std::vector<std::string>{
               line(status::proc_aborted_by_sig, {nspace, 1})}));
}

CAF_TEST(E3 who connects again has lost nothing) {
  spawn();
  const auto peer = listener(4);
  const auto lost = mesh.connect(0, nspace, 1);
  consume_messages();
  heard(peer);
  mesh[0].uut->lose(lost);
  mesh.connect(0, nspace, 1);
  consume_messages();
  elapse(10 * defaults::lost_connection_wait);
  consume_messages();
  CAF_CHECK(heard(peer).empty());
}

// "process failure within a related job": RFC0002, Description.
CAF_TEST(E3 E46 a job hears of those it has started and no other does) {
  // A job for each node: the first, a stranger to it, and what it starts.
  const auto started = std::string{"server@3"};
  mesh.spawn(job_host::program(2, {with(attr::job_recoverable)}));
  mesh.spawn(job_host::program(2));
  consume_messages();
  const auto parent = listener(0);
  const auto stranger = mesh.connect(1, "server@2", 0);
  consume_messages();
  listen(1, stranger);
  heard(parent);
  heard(stranger);
  mesh[0].uut->ask<spawn_result>(parent, job_host::program(1));
  consume_messages();
  mesh[2].launcher->end(0, 3);
  consume_messages();
  CAF_CHECK((heard(parent)
             == std::vector<std::string>{
               line(status::job_start, {started, rank_wildcard}),
               line(status::launch_complete, {started, rank_wildcard}),
               line(status::exit_nonzero_term, {started, 0}),
               line(status::job_end, {started, rank_wildcard})}));
  CAF_CHECK(heard(stranger).empty());
}

// "Deaths of other jobs": to whoever registers with a range that wide.
CAF_TEST(E13 E45 who asks hears of other jobs wherever they run) {
  const auto ask = [&](uint32_t node, const peer_ptr& who) {
    mesh[node].uut->ask<ack>(
      who, register_events_request{
             all_codes,
             {{std::string{attr::range}, 0,
               value{data_type::data_range,
                     static_cast<uint64_t>(data_range::session)}}}});
    consume_messages();
  };
  const auto tool = mesh[2].uut->connect(node::tool_greeting());
  consume_messages();
  ask(2, tool);
  mesh.spawn(job_host::program(2, {with(attr::job_recoverable)}));
  mesh.spawn(job_host::program(2, {with(attr::job_recoverable)}));
  consume_messages();
  const auto other = std::string{"server@2"};
  heard(tool);
  // One of the job itself asks, too.
  const auto peer = mesh.connect(1, other, 1);
  consume_messages();
  ask(1, peer);
  heard(peer);
  mesh[1].launcher->end(0, 0, SIGKILL);
  consume_messages();
  const auto death =
    std::vector<std::string>{line(status::proc_aborted_by_sig, {other, 0})};
  CAF_CHECK(heard(tool) == death);
  CAF_CHECK(heard(peer) == death);
  // Nobody asks any more.
  mesh[2].uut->lose(tool, true);
  consume_messages();
  end(0);
  CAF_CHECK(heard(tool).empty());
  CAF_CHECK((heard(peer)
             == std::vector<std::string>{
               line(status::event_proc_terminated, {nspace, 0})}));
}

CAF_TEST(E45 the loss of a node is told with its processes) {
  spawn();
  const auto peer = listener(0);
  heard(peer);
  mesh.lose(2);
  consume_messages();
  CAF_CHECK(
    (heard(peer)
     == std::vector<std::string>{
       line(status::proc_aborted, {nspace, 4}),
       line(status::proc_aborted, {nspace, 5}),
       std::to_string(static_cast<int32_t>(status::event_node_down)) + " "}));
}

CAF_TEST_FIXTURE_SCOPE_END()
