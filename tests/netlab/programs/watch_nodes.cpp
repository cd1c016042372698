// A daemon of somebody who uses Troupe, for tests/netlab/embedder.sh: built against
// what was installed, a member of a DVM with a server inside and with two kinds of
// monitors of its own: `spool`, and `backlog`, whose source is that of a plugin,
// examples/queue_monitor.cpp. The first node has monitors of `spool` made on all nodes.
//
//   c++ watch_nodes.cpp queue_monitor.cpp $(pkg-config --cflags --libs troupe_mesh)
//
//   watch_nodes keys COUNT             makes key.0, key.1 ..., one for each node
//   watch_nodes key.0 COUNT MONITORS   the first of so many nodes, with so many
//                                      monitors on each; tells what they find
//   watch_nodes key.1 ADDRESS          another node; ADDRESS is the first one's
//
// It ends by SIGTERM; the first one ends its monitors before. Those of the
// first node have the numbers 100, 101 ... and watch the directory spool.n1, those of
// the second one 200, 201 ... and spool.n2, and so on.
//
// If there is a program ./watched, it is a job of three processes, one on each of three
// nodes, which may ask for `backlog`, and for the kinds of plugins in ./plugins.

#include <caf/all.hpp>

#include <actors/mesh/partial_host.hpp>
#include <runtime/local_processes.hpp>
#include <runtime/mesh_keys.hpp>
#include <runtime/mesh_member.hpp>
#include <runtime/remoting.hpp>
#include <runtime/runtime.hpp>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>

using namespace troupe;
using namespace std::chrono_literals;

/// What queue_monitor.cpp has for whoever loads it as a plugin.
extern "C" const monitor_plugin troupe_monitor_plugin;

static void check(const caf::error& why) {
  if (!why)
    return;
  std::cerr << "watch_nodes: " << reason_of(why) << std::endl;
  std::_Exit(2);
}

template <class T>
static T need(caf::expected<T> x) {
  if (!x)
    check(x.error());
  return std::move(*x);
}

// -- a kind -------------------------------------------------------------------

struct spool_state {
  uint64_t number = 0;
  uint64_t told = 0;
  std::string directory;
  monitor_user_actor user;
};

/// Has an alert for each file that comes into its directory.
static timed_monitor_actor::behavior_type
spool(timed_monitor_actor::stateful_pointer<spool_state> self) {
  return {
    [self](const start_monitor& what,
           const monitor_user_actor& user) -> caf::result<ack> {
      try {
        self->state = {what.number, 0, text_setting(what, "directory"), user};
      } catch (const std::exception& x) {
        return make_error(status::bad_param, x.what());
      }
      self->send(timed_monitor_actor{self}, deadline{});
      return ack{};
    },
    [self](stop_monitor) { self->quit(); },
    [self](deadline) {
      auto& x = self->state;
      auto failure = std::error_code{};
      auto files = std::filesystem::directory_iterator{x.directory, failure};
      const auto count = static_cast<uint64_t>(std::distance(files, {}));
      while (!failure && x.told < count) {
        ++x.told;
        self->send(x.user,
                   monitor_alert{x.number,
                                 "a file has come",
                                 {{"files", 0, value::uint64(x.told)}}});
      }
      self->delayed_send(timed_monitor_actor{self}, 20ms, deadline{});
    },
  };
}

// -- who hears of what they find ----------------------------------------------

using watch_actor = monitor_user_actor::extend<
  // A monitor of this number that has not been started.
  caf::reacts_to<uint64_t, monitor_actor>,
  // Ends all monitors, and then itself.
  caf::reacts_to<stop_monitor>>;

struct watch_state {
  std::map<uint64_t, monitor_actor> monitors; // Those that have ended, too.
  std::set<uint64_t> ended;
  bool is_over = false;
};

using watch_pointer = watch_actor::stateful_pointer<watch_state>;

static void quit_if_over(watch_pointer self) {
  const auto& x = self->state;
  if (x.is_over && x.ended.size() == x.monitors.size())
    self->quit();
}

/// Writes a line for each thing that it hears, in the order in which it does.
static watch_actor::behavior_type watch(watch_pointer self) {
  self->set_down_handler([self](const caf::down_msg& x) {
    for (const auto& [number, monitor] : self->state.monitors)
      if (monitor == x.source) {
        std::cout << "down " << number << " " << self->system().render(x.reason)
                  << std::endl;
        self->state.ended.insert(number);
      }
    quit_if_over(self);
  });
  return {
    [self](const monitor_alert& x) {
      const auto sender = self->current_sender();
      const auto rank = sender ? rank_of(sender->node()) : std::nullopt;
      const auto* files = find(x.infos, "files");
      std::cout << "alert " << x.number << " " << rank.value_or(999) << " "
                << (files ? files->number<uint64_t>().value_or(0) : 0)
                << std::endl;
    },
    [self](uint64_t number, const monitor_actor& x) {
      self->state.monitors.emplace(number, x);
      self->monitor(x);
      auto what = start_monitor{};
      what.number = number;
      what.settings = {
        {std::string{monitor_key_prefix} + "directory", 0,
         value::string("spool.n" + std::to_string(number / 100))}};
      self->request(x, 15s, std::move(what), monitor_user_actor{self})
        .then([=](ack) { std::cout << "begun " << number << std::endl; },
              [=](const caf::error& why) {
                std::cout << "refused " << number << " " << to_string(why)
                          << std::endl;
              });
    },
    [self](stop_monitor what) {
      for (const auto& [number, x] : self->state.monitors)
        self->send(x, what);
      self->state.is_over = true;
      quit_if_over(self);
    },
  };
}

// -- a node -------------------------------------------------------------------

static void make_keys(uint32_t count) {
  const auto issuer = need(key_issuer::make("watch"));
  for (auto rank = 0u; rank < count; ++rank) {
    const auto name = std::to_string(rank);
    // Nodes lend monitors to those of the same user.
    const auto key = need(issuer.issue(rank, "node" + name, ::getuid()));
    std::ofstream{"key." + name} << key.bytes();
  }
}

/// A monitor of the kind on a node, once that is a member.
static monitor_actor make_on(remoting& remote, uint32_t rank) {
  for (auto i = 0;; ++i) {
    auto made = remote.remote_spawn<monitor_actor>(rank, "monitor.spool", 10s);
    if (made || i == 600)
      return need(std::move(made));
    std::this_thread::sleep_for(50ms);
  }
}

/// A server with the kinds of monitors.
static std::unique_ptr<runtime> serve(loop_system& here,
                                      const mesh_member& member) {
  auto options = runtime_options{};
  options.hostname = member.name();
  options.tools = false;
  options.monitors.plugins = "plugins";
  options.monitor_kinds["spool"] = [](caf::actor_system& sys) -> monitor_actor {
    return sys.spawn(spool);
  };
  troupe_monitor_plugin.add(options.monitor_kinds);
  return need(
    runtime::start(here, std::move(options), [](caf::actor_system& sys) {
      return spawn_partial_host(sys, {});
    }));
}

/// Starts the process of this node, if there is a program.
static void start_watched(local_processes& procs, uint32_t rank,
                          const proc_id& server) {
  const auto job = placed_job{"watched", {"./watched"}, {0, 1, 2}};
  if (std::filesystem::exists(job.argv.front()))
    check(procs.start(need(share_of(job, rank, server))));
}

int main(int argc, char** argv) {
  if (argc < 3)
    return std::cerr << "usage: watch_nodes keys|KEY ..." << std::endl, 2;
  if (argv[1] == std::string{"keys"})
    return make_keys(static_cast<uint32_t>(std::stoul(argv[2]))), 0;
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr); // Of all threads to come, too.
  const auto is_first = argc > 3;
  const auto nodes = is_first ? std::stoul(argv[2]) : 0;
  auto in = std::ifstream{argv[1]};
  auto options = mesh_member_options{};
  options.context =
    need(read_key(std::string{std::istreambuf_iterator<char>{in}, {}}));
  for (auto i = 0u; i < nodes; ++i)
    options.names.push_back("node" + std::to_string(i));
  options.port = is_first ? 7200 : 0;
  if (!is_first) {
    options.root_name = "node0";
    options.root_addresses = {{"", argv[2], 7200}};
  }

  loop_system here;
  auto member = need(mesh_member::start(here, std::move(options)));
  auto settings = remoting_options{};
  settings.is_alone = true; // Nothing else in this process speaks for the node.
  auto remote = remoting::start(here, *member, settings);
  auto rt = serve(here, *member);
  auto progress = std::thread{[&] { here.run(); }};
  auto procs = std::make_unique<local_processes>(*rt);

  int signal;
  if (is_first) {
    caf::scoped_actor self{here.actors()};
    const auto watcher = here.actors().spawn(watch);
    for (auto rank = 0u; rank < nodes; ++rank)
      for (auto i = 0ul; i < std::stoul(argv[3]); ++i)
        self->send(watcher, uint64_t{100 * (rank + 1) + i},
                   make_on(*remote, rank));
    // It has other nodes' processes watched: these are members now.
    start_watched(*procs, member->rank(), rt->id());
    sigwait(&signals, &signal);
    self->send(watcher, stop_monitor{});
    self->wait_for(watcher);
  } else {
    start_watched(*procs, member->rank(), rt->id());
    sigwait(&signals, &signal);
  }
  procs.reset();
  here.stop();
  progress.join();
  std::cout << "end" << std::endl;
}
