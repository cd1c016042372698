// A small resource manager: daemons on several nodes, each with a server for the
// processes of its node inside. The first one, the head, allocates slots,
// launches programs over the nodes, and goes on without a node that is lost.
//
//   c++ -std=c++17 mini_rm.cpp $(pkg-config --cflags --libs troupe_mesh) -o mini_rm
//   echo run 4 ./pmix_hello | ./mini_rm 3 2
//
// The second line starts three nodes of two slots, here all on this machine, and
// has them do what it reads:
//
//     run COUNT PROGRAM ARGUMENT...   starts a job, if so many slots are free
//     nodes                           says which nodes there are, and how busy
//     wait                            goes on when no job runs
//     kill NODE                       ends a node as if its power failed
//
// The daemons talk by actors. Each node has an AGENT, whose end is that of the
// node, and a SHARE for each job that has processes there, spawned by the HEAD.

#include <caf/all.hpp>

#include <actors/mesh/partial_host.hpp>
#include <runtime/daemon_start.hpp>
#include <runtime/local_processes.hpp>
#include <runtime/mesh_daemon.hpp>
#include <runtime/node_fences.hpp>

#include <csignal>
#include <iostream>
#include <sstream>

using namespace troupe;
using namespace std::chrono_literals;

// -- what the daemons say to each other ---------------------------------------

using load_atom = caf::atom_constant<caf::atom("load")>;
using nodes_atom = caf::atom_constant<caf::atom("nodes")>;
using stop_atom = caf::atom_constant<caf::atom("stop")>;
using tick_atom = caf::atom_constant<caf::atom("tick")>;
using wait_atom = caf::atom_constant<caf::atom("wait")>;

/// The AGENT of a node says how busy it is.
using agent_actor = caf::typed_actor<caf::replies_to<load_atom>::with<double>>;

/// The SHARE of a node in a job ends when its processes have, with an error if
/// one of them failed.
using share_actor =
  caf::typed_actor<caf::reacts_to<stop_atom>, caf::reacts_to<tick_atom>>;

using head_actor = caf::typed_actor<
  // A node is there, with so many slots.
  caf::replies_to<uint32_t, uint32_t, agent_actor>::with<ack>,
  // A node joins a fence; answered when all nodes of the job have.
  caf::replies_to<uint32_t, host_collective>::with<host_collective_result>,
  // What processes have written; answered when it is shown.
  caf::replies_to<io_fragment>::with<ack>,
  // Starts so many processes of a program; answered with what becomes of it.
  caf::replies_to<uint32_t, std::vector<std::string>>::with<std::string>,
  // Says how the nodes do.
  caf::reacts_to<nodes_atom>,
  // Answered when all nodes are up and no job runs.
  caf::replies_to<wait_atom>::with<ack>>;

CAF_BEGIN_TYPE_ID_BLOCK(mini_rm, caf::id_block::troupe_actors::end)
  CAF_ADD_TYPE_ID(mini_rm, (placed_job))
  CAF_ADD_TYPE_ID(mini_rm, (std::vector<std::string>))
  CAF_ADD_TYPE_ID(mini_rm, (agent_actor))
  CAF_ADD_TYPE_ID(mini_rm, (head_actor))
CAF_END_TYPE_ID_BLOCK(mini_rm)

// -- the head -----------------------------------------------------------------

struct head_state {
  struct node {
    agent_actor agent;
    uint32_t slots = 0, used = 0;
  };

  struct job {
    placed_job plan;
    std::map<uint32_t, share_actor> shares; // By node, until they end.
    std::string failure;
  };

  std::map<uint32_t, node> nodes;
  std::map<std::string, job> jobs;
  node_fences fences;
  std::vector<caf::typed_response_promise<ack>> waiting;
  uint32_t last_job = 0;
  uint32_t missing = 0; // Nodes that have not come up yet.

  /// Answers those who wait, if there is nothing to wait for.
  void settle() {
    if (missing == 0 && jobs.empty())
      for (auto& x : std::exchange(waiting, {}))
        x.deliver(ack{});
  }
};

using head_pointer = head_actor::stateful_pointer<head_state>;

/// The share of a node is over. If it failed, the job has.
static void finish_share(head_pointer self, const std::string& name,
                         uint32_t node, const std::string& failure) {
  auto& state = self->state;
  auto& job = state.jobs[name];
  job.shares.erase(node);
  if (!failure.empty() && job.failure.empty()) {
    job.failure = failure;
    for (const auto& [rank, share] : job.shares)
      self->send(share, stop_atom::value);
    state.fences.remove(name, failure);
  }
  if (!job.shares.empty())
    return;
  std::cout << name << (job.failure.empty() ? " is done" : " failed: ")
            << job.failure << std::endl;
  for (const auto rank : job.plan.nodes)
    if (state.nodes.count(rank) > 0)
      --state.nodes[rank].used;
  state.fences.remove(name, "the job is over");
  state.jobs.erase(name);
  state.settle();
}

/// An agent or a share has ended: each monitor hears once, also of lost nodes.
static void note_end(head_pointer self, const caf::down_msg& x) {
  auto& state = self->state;
  for (const auto& [rank, node] : state.nodes)
    if (node.agent == x.source) {
      std::cout << "node " << rank << " is lost" << std::endl;
      state.nodes.erase(rank); // The ends of its shares come, too.
      return;
    }
  for (const auto& [name, job] : state.jobs)
    for (const auto& [rank, share] : job.shares)
      if (share == x.source)
        return finish_share(self, std::string{name}, rank,
                            !x.reason ? ""
                            : x.reason == caf::exit_reason::user_shutdown
                              ? "a process on node " + std::to_string(rank)
                              : "node " + std::to_string(rank) + " is lost");
}

static std::string launch(head_pointer self, const gateway_actor& gateway,
                          uint32_t count, std::vector<std::string>& argv) {
  auto& state = self->state;
  auto plan = placed_job{"job-" + std::to_string(state.last_job + 1), argv};
  for (const auto& [rank, x] : state.nodes)
    for (auto i = x.used; i < x.slots && plan.nodes.size() < count; ++i)
      plan.nodes.push_back(rank);
  if (count == 0 || plan.nodes.size() < count)
    return "no room for " + std::to_string(count) + " processes\n";
  ++state.last_job;
  auto& job = state.jobs[plan.nspace];
  job.plan = plan;
  state.fences.add(plan);
  for (const auto rank : plan.nodes) {
    ++state.nodes[rank].used;
    job.shares.emplace(rank, share_actor{});
  }
  auto line = plan.nspace + " runs on nodes";
  for (const auto& [rank, share] : job.shares) {
    line += " " + std::to_string(rank);
    self
      ->request(gateway, 15s, remoting::spawn<share_actor>(rank, "share", plan))
      .then(
        [=, rank = rank](const caf::strong_actor_ptr& x) {
          auto& of = self->state.jobs[plan.nspace];
          self->monitor(of.shares[rank] = caf::actor_cast<share_actor>(x));
          if (!of.failure.empty())
            self->send(of.shares[rank], stop_atom::value);
        },
        [=, rank = rank](const caf::error&) {
          const auto is_there = self->state.nodes.count(rank) > 0;
          finish_share(self, plan.nspace, rank,
                       "node " + std::to_string(rank)
                         + (is_there ? " starts nothing" : " is lost"));
        });
  }
  return line + "\n";
}

static head_actor::behavior_type
head(head_pointer self, const gateway_actor& gateway, uint32_t nodes) {
  self->state.missing = nodes;
  self->set_down_handler([self](caf::down_msg& x) { note_end(self, x); });
  return {
    [self](uint32_t rank, uint32_t slots, const agent_actor& agent) {
      std::cout << "node " << rank << " is up" << std::endl;
      self->state.nodes[rank] = {agent, slots, 0};
      self->monitor(agent);
      --self->state.missing;
      self->state.settle();
      return ack{};
    },
    [self](uint32_t node, host_collective& x) {
      auto result = self->make_response_promise<host_collective_result>();
      self->state.fences.join(node, x, result);
      return result;
    },
    [](const io_fragment& x) {
      const auto is_output = x.stream.channel == io_channels::stdout_;
      (is_output ? std::cout : std::cerr) << x.bytes << std::flush;
      return ack{};
    },
    [=](uint32_t count, std::vector<std::string>& argv) {
      return launch(self, gateway, count, argv);
    },
    [self](nodes_atom) {
      for (const auto& [rank, x] : self->state.nodes)
        self->request(x.agent, 15s, load_atom::value)
          .then([rank = rank, used = x.used](double load) {
            std::cout << "node " << rank << ": " << used << " processes, load "
                      << load << std::endl;
          });
    },
    [self](wait_atom) {
      auto promise = self->make_response_promise<ack>();
      self->state.waiting.push_back(promise);
      self->state.settle();
      return promise;
    },
  };
}

// -- a node -------------------------------------------------------------------

/// What the actors of a node share.
struct node_daemon {
  std::unique_ptr<mesh_daemon> mesh;
  head_actor head;
};

struct share_state {
  std::optional<local_processes> procs;
  bool has_failed = false;
};

/// Has a thread of its own, to wait for processes.
static share_actor::behavior_type
share(share_actor::stateful_pointer<share_state> self, node_daemon* here,
      const placed_job& job) {
  auto& state = self->state;
  auto& rt = here->mesh->server();
  auto how = local_processes::options{};
  how.lead_groups = false; // Who kills the daemon kills them.
  state.procs.emplace(rt, how);
  const auto mine = share_of(job, here->mesh->rank(), rt.id());
  state.has_failed = !mine || state.procs->start(*mine, here->head);
  self->send(self, tick_atom::value);
  return {
    [self](stop_atom) { self->state.procs->signal(SIGKILL); },
    [self](tick_atom) {
      auto& [procs, has_failed] = self->state;
      const auto end = procs->next_end(20ms);
      if (end && (end->exit_code != 0 || end->signal != 0)) {
        has_failed = true;
        procs->signal(SIGKILL);
      }
      if (!procs->empty())
        return self->send(self, tick_atom::value);
      procs->finish(); // All output has been shown.
      self->quit(has_failed ? caf::exit_reason::user_shutdown
                            : caf::exit_reason::normal);
    },
  };
}

/// Joins fences by the head; all else the servers of a job do among themselves.
static caf::message_handler my_host(caf::event_based_actor* self,
                                    node_daemon* here) {
  return {[=](host_collective& x) -> caf::result<host_collective_result> {
    if (x.is_local)
      return host_collective_result{};
    return self->delegate(here->head, here->mesh->rank(), std::move(x));
  }};
}

static agent_actor::behavior_type agent(agent_actor::pointer) {
  return {[](load_atom) {
    auto result = 0.0;
    ::getloadavg(&result, 1);
    return result;
  }};
}

static void check(const caf::error& why) {
  if (!why)
    return;
  std::cerr << "mini_rm: " << reason_of(why) << std::endl;
  std::_Exit(2);
}

template <class T>
static T need(caf::expected<T> x) {
  if (!x)
    check(x.error());
  return std::move(*x);
}

/// Begins what each node has. @param root Where the head is; none: it is here.
static void begin(node_daemon& x, std::shared_ptr<const secure_context> key,
                  uint32_t nodes, std::vector<node_address> root) {
  auto options = mesh_daemon_options{};
  options.member.context = std::move(key);
  options.member.networks = {"lo"}; // Elsewhere: all, by default.
  for (auto i = 0u; root.empty() && i < nodes; ++i)
    options.member.names.push_back("node" + std::to_string(i));
  options.member.root_name = root.empty() ? "" : "node0";
  options.member.root_addresses = std::move(root);
  options.server.tools = false;
  options.offers.fence = true;
  x.mesh = need(mesh_daemon::start(std::move(options), [&](auto& sys) {
    return spawn_partial_host(sys,
                              [&x](auto* self) { return my_host(self, &x); });
  }));
  auto& remote = x.mesh->remote();
  remote.accept<placed_job, agent_actor, head_actor, share_actor>();
  const auto make = [&x](const caf::message& plan) {
    return plan.match_elements<placed_job>()
             ? x.mesh->actors().spawn<caf::detached>(share, &x,
                                                     plan.get_as<placed_job>(0))
             : share_actor{};
  };
  remote.register_kind<share_actor>("share", make, {{{0}}});
}

/// Makes itself known to the head.
static void enlist(node_daemon& x, uint32_t slots) {
  check(x.mesh->await_joining());
  x.head = need(x.mesh->remote().remote_lookup<head_actor>(0, "head"));
  caf::scoped_actor self{x.mesh->actors()};
  self
    ->request(x.head, 15s, x.mesh->rank(), slots, x.mesh->actors().spawn(agent))
    .receive([](ack) {}, check);
}

static void do_command(caf::scoped_actor& self, const head_actor& head,
                       const std::string& line, std::map<int, pid_t>& pids) {
  auto in = std::istringstream{line};
  auto verb = std::string{};
  auto count = uint32_t{0};
  const auto show = [](const std::string& x) { std::cout << x << std::flush; };
  const auto fail = [](const caf::error& x) { std::cout << to_string(x); };
  in >> verb;
  if (verb == "run" && in >> count) {
    auto argv =
      std::vector<std::string>{std::istream_iterator<std::string>{in}, {}};
    self->request(head, 15s, count, std::move(argv)).receive(show, fail);
  } else if (verb == "nodes") {
    self->send(head, nodes_atom::value);
  } else if (verb == "wait") {
    self->request(head, caf::infinite, wait_atom::value)
      .receive([](ack) {}, fail);
  } else if (verb == "kill" && in >> count && pids.count(count) > 0) {
    ::kill(-pids[count], SIGKILL);
  } else {
    std::cout << "unknown: " << line << std::endl;
  }
}

int main(int argc, char** argv) {
  hide_memory(); // There are keys in it.
  node_daemon me;
  if (argc == 5 && argv[1] == std::string{"--node"}) {
    begin(me, need(read_key(STDIN_FILENO)), 0,
          {{"", argv[3], static_cast<uint16_t>(std::atoi(argv[4]))}});
    enlist(me, static_cast<uint32_t>(std::atoi(argv[2])));
    caf::scoped_actor self{me.mesh->actors()};
    self->monitor(me.head);
    self->receive([](const caf::down_msg&) {});
    ::kill(0, SIGKILL); // Without the head nothing runs here.
  }
  if (argc != 3)
    return std::cerr << "usage: mini_rm NODES SLOTS" << std::endl, 2;
  const auto nodes = static_cast<uint32_t>(std::atoi(argv[1]));
  const auto issuer = need(key_issuer::make("mini"));
  begin(me, need(read_key(need(issuer.issue(0, "node0")).bytes())), nodes, {});
  auto& remote = me.mesh->remote();
  const auto first = me.mesh->actors().spawn(head, remote.gateway(), nodes);
  remote.publish(first, "head");
  enlist(me, static_cast<uint32_t>(std::atoi(argv[2])));
  const auto root = need(me.mesh->addresses()).front();
  auto pids = std::map<int, pid_t>{};
  for (auto i = 1u; i < nodes; ++i) // By remote shells on a cluster.
    pids[i] = need(start_daemon(
      {argv[0], "--node", argv[2], root.address, std::to_string(root.port)},
      need(issuer.issue(i, "node" + std::to_string(i)))));
  caf::scoped_actor self{me.mesh->actors()};
  auto line = std::string{"wait"};
  do_command(self, first, line, pids);
  while (std::getline(std::cin, line))
    do_command(self, first, line, pids);
  do_command(self, first, "wait", pids);
  self->send_exit(first, caf::exit_reason::user_shutdown);
  for (const auto& [rank, pid] : pids)
    ::kill(-pid, SIGKILL);
}
