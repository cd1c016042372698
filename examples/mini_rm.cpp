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
#include <fcntl.h>
#include <messages/attributes.hpp>
#include <runtime/job_networks.hpp>
#include <runtime/mesh_keys.hpp>
#include <runtime/mesh_member.hpp>
#include <runtime/remoting.hpp>
#include <runtime/runtime.hpp>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <iostream>
#include <set>
#include <sstream>
#include <thread>

using namespace troupe;
using namespace std::chrono_literals;

// -- what the daemons say to each other ---------------------------------------

/// A job: its program, and the node of each rank.
struct job_plan {
  std::string name;
  std::vector<std::string> argv;
  std::vector<uint32_t> nodes;
};

template <class Inspector>
auto inspect(Inspector& f, job_plan& x) {
  return f(caf::meta::type_name("job_plan"), x.name, x.argv, x.nodes);
}

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
  caf::replies_to<std::string>::with<ack>,
  // Starts so many processes of a program; answered with what becomes of it.
  caf::replies_to<uint32_t, std::vector<std::string>>::with<std::string>,
  // Says how the nodes do.
  caf::reacts_to<nodes_atom>,
  // Answered when all nodes are up and no job runs.
  caf::replies_to<wait_atom>::with<ack>>;

CAF_BEGIN_TYPE_ID_BLOCK(mini_rm, caf::id_block::troupe_actors::end)
  CAF_ADD_TYPE_ID(mini_rm, (job_plan))
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

  struct fence {
    std::set<uint32_t> joined;
    host_collective_result all;
    std::vector<caf::typed_response_promise<host_collective_result>> owed;
  };

  struct job {
    job_plan plan;
    std::map<uint32_t, share_actor> shares; // By node, until they end.
    std::map<std::string, fence> fences;    // Those that somebody waits for.
    std::string failure;
  };

  std::map<uint32_t, node> nodes;
  std::map<std::string, job> jobs;
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
    for (auto& [key, fence] : job.fences)
      for (auto& x : fence.owed)
        x.deliver(make_error(status::lost_connection, failure));
    job.fences.clear();
  }
  if (!job.shares.empty())
    return;
  std::cout << name << (job.failure.empty() ? " is done" : " failed: ")
            << job.failure << std::endl;
  for (const auto rank : job.plan.nodes)
    if (state.nodes.count(rank) > 0)
      --state.nodes[rank].used;
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
  auto plan = job_plan{"job-" + std::to_string(state.last_job + 1), argv, {}};
  for (const auto& [rank, x] : state.nodes)
    for (auto i = x.used; i < x.slots && plan.nodes.size() < count; ++i)
      plan.nodes.push_back(rank);
  if (count == 0 || plan.nodes.size() < count)
    return "no room for " + std::to_string(count) + " processes\n";
  ++state.last_job;
  auto& job = state.jobs[plan.name];
  job.plan = plan;
  for (const auto rank : plan.nodes) {
    ++state.nodes[rank].used;
    job.shares.emplace(rank, share_actor{});
  }
  auto line = plan.name + " runs on nodes";
  for (const auto& [rank, share] : job.shares) {
    line += " " + std::to_string(rank);
    self
      ->request(gateway, 15s, remoting::spawn<share_actor>(rank, "share", plan))
      .then(
        [=, rank = rank](const caf::strong_actor_ptr& x) {
          auto& of = self->state.jobs[plan.name];
          self->monitor(of.shares[rank] = caf::actor_cast<share_actor>(x));
          if (!of.failure.empty())
            self->send(of.shares[rank], stop_atom::value);
        },
        [=, rank = rank](const caf::error&) {
          const auto is_there = self->state.nodes.count(rank) > 0;
          finish_share(self, plan.name, rank,
                       "node " + std::to_string(rank)
                         + (is_there ? " starts nothing" : " is lost"));
        });
  }
  return line + "\n";
}

static caf::result<host_collective_result>
join(head_pointer self, uint32_t node, host_collective& call) {
  const auto found = self->state.jobs.find(call.procs.front().nspace);
  if (found == self->state.jobs.end() || !found->second.failure.empty())
    return make_error(status::not_found, "the job is over");
  auto& job = found->second;
  // All nodes count the fences of the same processes alike.
  const auto key =
    caf::deep_to_string(call.procs) + std::to_string(call.generation);
  auto& fence = job.fences[key];
  fence.joined.insert(node);
  for (auto& x : call.data)
    fence.all.data.push_back(std::move(x));
  fence.owed.push_back(self->make_response_promise<host_collective_result>());
  const auto result = fence.owed.back();
  const auto& all = job.plan.nodes;
  if (fence.joined == std::set<uint32_t>{all.begin(), all.end()}) {
    for (auto& x : fence.owed)
      x.deliver(fence.all);
    job.fences.erase(key);
  }
  return result;
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
    [self](uint32_t node, host_collective& x) { return join(self, node, x); },
    [](const std::string& text) {
      std::cout << text << std::flush;
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

struct node_daemon {
  uint32_t rank = 0;
  loop_system loop;
  std::unique_ptr<mesh_member> member;
  std::unique_ptr<remoting> remote;
  std::unique_ptr<runtime> rt;
  head_actor head;

  /// This node is a member.
  std::promise<void> joined;
};

/// Hears what the membership has to tell: when this node is a member.
static mesh_user_actor::behavior_type newcomer(mesh_user_actor::pointer,
                                               node_daemon* x) {
  return {
    [](const member_message&) {},
    [](const member_changed&) {},
    [](const member_fenced&) {},
    [x, is_known = false](const mesh_duty_changed& y) mutable {
      if (y.now == mesh_duty::active && !std::exchange(is_known, true))
        x->joined.set_value();
    },
  };
}

static info data(std::string_view key, value val) {
  return {std::string{key}, 0, std::move(val)};
}

/// What the server of a node is told of a job.
static register_nspace describe(const job_plan& plan, uint32_t here) {
  auto result = register_nspace{plan.name, {getuid(), getgid()}, {}, {}, false};
  auto& infos = result.infos;
  const auto size = static_cast<uint32_t>(plan.nodes.size());
  for (const auto key : {attr::job_size, attr::univ_size, attr::max_procs})
    infos.push_back(data(key, value::uint32(size)));
  auto peers = std::map<uint32_t, std::vector<uint32_t>>{};
  for (auto rank = 0u; rank < size; ++rank) {
    auto& of_node = peers[plan.nodes[rank]];
    const auto place = value::uint16(static_cast<uint16_t>(of_node.size()));
    of_node.push_back(rank);
    infos.push_back(
      data(attr::proc_data,
           value::infos({data(attr::rank, value::rank(rank)),
                         data(attr::nodeid, value::uint32(plan.nodes[rank])),
                         data(attr::local_rank, place),
                         data(attr::node_rank, place)})));
  }
  for (const auto& [node, ranks] : peers) {
    auto list = std::to_string(ranks.front());
    for (size_t i = 1; i < ranks.size(); ++i)
      list += "," + std::to_string(ranks[i]);
    const auto count = value::uint32(static_cast<uint32_t>(ranks.size()));
    infos.push_back(data(
      attr::node_info_array,
      value::infos(
        {data(attr::hostname, value::string("node" + std::to_string(node))),
         data(attr::nodeid, value::uint32(node)),
         data(attr::local_peers, value::string(list))})));
    if (node != here)
      continue;
    result.local_ranks = ranks;
    infos.push_back(data(attr::local_peers, value::string(list)));
    infos.push_back(data(attr::local_size, count));
  }
  return result;
}

/// Starts a process with pipes. @returns our ends of them, and its number; 0: it
/// could not be started.
static process_streams start(const proc_id& proc,
                             std::vector<std::string> program,
                             std::vector<std::string> variables) {
  auto argv = std::vector<char*>{}, envp = std::vector<char*>{};
  for (auto& x : program)
    argv.push_back(x.data());
  for (auto& x : variables)
    envp.push_back(x.data());
  for (auto** x = environ; *x != nullptr; ++x)
    envp.push_back(*x);
  argv.push_back(nullptr), envp.push_back(nullptr);
  int in[2], out[2];
  auto pid = pid_t{0};
  posix_spawn_file_actions_t ends;
  posix_spawn_file_actions_init(&ends);
  if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
    std::exit(2);
  posix_spawn_file_actions_adddup2(&ends, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&ends, out[1], STDOUT_FILENO);
  if (posix_spawnp(&pid, argv[0], &ends, nullptr, argv.data(), envp.data()))
    pid = 0;
  posix_spawn_file_actions_destroy(&ends);
  close(in[0]), close(out[1]);
  return {proc, in[1], out[0], -1, -1, static_cast<uint32_t>(pid)};
}

struct share_state {
  std::set<pid_t> running;
  bool has_failed = false;

  void fail() {
    if (!std::exchange(has_failed, true))
      for (const auto pid : running)
        ::kill(pid, SIGKILL);
  }
};

/// Has a thread of its own: the functions of the runtime wait.
static share_actor::behavior_type
share(share_actor::stateful_pointer<share_state> self, node_daemon* here,
      const job_plan& plan) {
  auto& rt = *here->rt;
  const auto job = describe(plan, here->rank);
  auto written = io_subscription{};
  for (const auto rank : job.local_ranks)
    written.sources.push_back({plan.name, rank});
  written.channels = io_channels::stdout_;
  const auto show = [here](output_sink_actor::pointer sink) {
    return output_sink_actor::behavior_type{[=](const io_fragment& x) {
      return sink->delegate(here->head, x.bytes);
    }};
  };
  if (rt.register_nspace(job)
      || !rt.subscribe(written, rt.actors().spawn(show)))
    self->state.has_failed = true;
  for (const auto rank : job.local_ranks) {
    const auto variables = rt.setup_fork({plan.name, rank});
    if (!variables) {
      self->state.fail(); // The others would wait for it.
      break;
    }
    const auto streams = start({plan.name, rank}, plan.argv, *variables);
    if (!rt.forward(streams) && streams.pid > 0)
      self->state.running.insert(static_cast<pid_t>(streams.pid));
    else
      self->state.fail();
  }
  self->send(self, tick_atom::value);
  return {
    [=](stop_atom) { self->state.fail(); },
    [=](tick_atom) {
      auto& state = self->state;
      auto status = 0;
      for (const auto pid : std::set<pid_t>{state.running})
        if (::waitpid(pid, &status, WNOHANG) == pid) {
          state.running.erase(pid);
          if (status != 0)
            state.fail();
        }
      if (!state.running.empty())
        return self->delayed_send(self, 20ms, tick_atom::value);
      here->rt->deregister_nspace(plan.name); // All output has been shown.
      self->quit(state.has_failed ? caf::exit_reason::user_shutdown
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
    if (x.failure != status::success)
      return make_error(status::not_supported, "the head sees who fails");
    return self->delegate(here->head, here->rank, std::move(x));
  }};
}

static agent_actor::behavior_type agent(agent_actor::pointer) {
  return {[](load_atom) {
    auto result = 0.0;
    ::getloadavg(&result, 1);
    return result;
  }};
}

template <class T>
static T need(caf::expected<T> x) {
  if (x)
    return std::move(*x);
  std::cerr << "mini_rm: " << reason_of(x.error()) << std::endl;
  std::_Exit(2);
}

/// Begins what each node has. @param root Where the head is; none: it is here.
static void begin(node_daemon& x, std::shared_ptr<const secure_context> key,
                  uint32_t nodes, std::vector<node_address> root) {
  auto member = mesh_member_options{};
  member.context = std::move(key);
  member.networks = {"lo"}; // Elsewhere: all, by default.
  for (auto i = 0u; root.empty() && i < nodes; ++i)
    member.names.push_back("node" + std::to_string(i));
  member.root_name = root.empty() ? "" : "node0";
  member.root_addresses = std::move(root);
  x.member = need(mesh_member::start(x.loop, std::move(member)));
  x.rank = x.member->rank();
  x.remote = remoting::start(x.loop, *x.member);
  caf::anon_send(x.member->node(), x.loop.actors().spawn(newcomer, &x));
  x.remote->accept<job_plan, agent_actor, head_actor, share_actor>();
  auto options = runtime_options{};
  options.tools = false;
  options.hostname = x.member->name();
  options.around_host = job_meshes({true});
  x.rt = need(runtime::start(x.loop, std::move(options), [&](auto& sys) {
    return spawn_partial_host(sys,
                              [&x](auto* self) { return my_host(self, &x); });
  }));
  const auto make = [&x](const caf::message& plan) {
    return plan.match_elements<job_plan>()
             ? x.loop.actors().spawn<caf::detached>(share, &x,
                                                    plan.get_as<job_plan>(0))
             : share_actor{};
  };
  x.remote->register_kind<share_actor>("share", make, {{{0}}});
}

/// Goes on as a member.
static void await_joining(node_daemon& x) {
  if (x.joined.get_future().wait_for(60s) == std::future_status::ready)
    return;
  std::cerr << "mini_rm: no way to the head" << std::endl;
  std::_Exit(2);
}

/// Makes itself known to the head.
static void enlist(node_daemon& x, uint32_t slots) {
  x.head = need(x.remote->remote_lookup<head_actor>(0, "head"));
  caf::scoped_actor self{x.loop.actors()};
  self->request(x.head, 15s, x.rank, slots, x.loop.actors().spawn(agent))
    .receive([](ack) {}, [](caf::error&) { std::_Exit(2); });
}

/// Starts the daemon of another node: by a remote shell on a cluster.
static pid_t start_node(const char* self, uint32_t rank, const char* slots,
                        const node_address& root, const key_issuer& issuer) {
  int pipe[2];
  const auto key = need(issuer.issue(rank, "node" + std::to_string(rank)));
  if (pipe2(pipe, O_CLOEXEC))
    std::exit(2);
  const auto pid = fork();
  if (pid == 0) {
    setpgid(0, 0); // With its processes.
    dup2(pipe[0], STDIN_FILENO);
    execl(self, self, "--node", slots, root.address.c_str(),
          std::to_string(root.port).c_str(), nullptr);
    _exit(2);
  }
  close(pipe[0]);
  if (write(pipe[1], key.bytes().data(), key.bytes().size()) < 0)
    std::exit(2);
  close(pipe[1]);
  return pid;
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
  hide_memory();                        // There are keys in it.
  setenv("OMPI_MCA_schizo", "ompi", 1); // Open MPI 4.1 is no singleton.
  node_daemon me;
  if (argc == 5 && argv[1] == std::string{"--node"}) {
    begin(me, need(read_key(STDIN_FILENO)), 0,
          {{"", argv[3], static_cast<uint16_t>(std::atoi(argv[4]))}});
    auto progress = std::thread{[&] { me.loop.run(); }};
    await_joining(me);
    enlist(me, static_cast<uint32_t>(std::atoi(argv[2])));
    caf::scoped_actor self{me.loop.actors()};
    self->monitor(me.head);
    self->receive([](const caf::down_msg&) {});
    ::kill(0, SIGKILL); // Without the head nothing runs here.
  }
  if (argc != 3)
    return std::cerr << "usage: mini_rm NODES SLOTS" << std::endl, 2;
  const auto nodes = static_cast<uint32_t>(std::atoi(argv[1]));
  const auto issuer = need(key_issuer::make("mini"));
  begin(me, need(read_key(need(issuer.issue(0, "node0")).bytes())), nodes, {});
  const auto first = me.loop.actors().spawn(head, me.remote->gateway(), nodes);
  me.remote->publish(first, "head");
  auto progress = std::thread{[&] { me.loop.run(); }};
  {
    caf::scoped_actor self{me.loop.actors()};
    await_joining(me);
    auto here = std::vector<node_address>{};
    self->request(me.member->node(), 15s, get_mesh_status{})
      .receive([&](const mesh_status& x) { here = x.addresses; },
               [](const caf::error& x) { need<ack>(x); });
    auto pids = std::map<int, pid_t>{};
    for (auto i = 1u; i < nodes; ++i)
      pids[i] = start_node(argv[0], i, argv[2], here.front(), issuer);
    enlist(me, static_cast<uint32_t>(std::atoi(argv[2])));
    auto line = std::string{"wait"};
    do_command(self, first, line, pids);
    while (std::getline(std::cin, line))
      do_command(self, first, line, pids);
    do_command(self, first, "wait", pids);
    self->send_exit(first, caf::exit_reason::user_shutdown);
    for (const auto& [rank, pid] : pids)
      ::kill(-pid, SIGKILL);
  }
  me.loop.stop();
  progress.join();
  return 0;
}
