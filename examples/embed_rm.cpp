// A resource manager's daemon in C++: it starts a server inside itself, with a
// host and an actor of its own, then two processes, and shows what they write.
//
//   c++ -std=c++17 embed_rm.cpp $(pkg-config --cflags --libs troupe) -o rm
//   ./rm ./pmix_hello

#include <caf/all.hpp>

#include <actors/mesh/partial_host.hpp>
#include <runtime/local_processes.hpp>
#include <runtime/runtime.hpp>

#include <csignal>
#include <iostream>

using namespace troupe;
using namespace std::chrono_literals;

/// What this resource manager does for its processes; all else is refused.
static caf::message_handler my_host(caf::event_based_actor*) {
  return {[](const client_connected& what) {
            std::cout << to_string(what.who.proc) << " connected" << std::endl;
            return ack{};
          },
          [](const requester& who, const abort_request&) {
            std::cout << to_string(who.proc) << " gives up" << std::endl;
            ::kill(0, SIGTERM);
            return ack{};
          }};
}

/// An actor of our own: shows what processes write, as fast as it is read.
static output_sink_actor::behavior_type screen(output_sink_actor::pointer) {
  return {[](const io_fragment& x) {
    const auto is_output = x.stream.channel == io_channels::stdout_;
    (is_output ? std::cout : std::cerr) << x.bytes << std::flush;
    return ack{};
  }};
}

int main(int argc, char** argv) {
  auto options = runtime_options{};
  options.hostname = "here";
  auto rt = runtime::start(std::move(options), [](caf::actor_system& sys) {
    return spawn_partial_host(sys, my_host);
  });
  if (!rt)
    return std::cerr << reason_of(rt.error()) << std::endl, 2;
  // Two processes, both on node 0.
  auto job = placed_job{"embedded", {argv + 1, argv + argc}, {0, 0}};
  job.hosts[0] = "here";
  auto how = local_processes::options{};
  how.lead_groups = false; // `kill(0)` ends them, too.
  local_processes procs{**rt, how};
  const auto mine = share_of(job, 0, (*rt)->id());
  if (!mine)
    return std::cerr << reason_of(mine.error()) << std::endl, 2;
  if (auto why = procs.start(*mine, (*rt)->actors().spawn(screen)))
    return std::cerr << reason_of(why) << std::endl, 2;
  auto failures = 0;
  while (!procs.empty())
    if (const auto end = procs.next_end(60s))
      failures += end->exit_code != 0 || end->signal != 0 ? 1 : 0;
  procs.finish(); // All that they wrote has been shown.
  std::cout << "served 2 processes, " << failures << " failed" << std::endl;
  return failures;
}
