// A resource manager's daemon in C++: it starts a server inside itself, with a
// host and an actor of its own, then two processes, and shows what they write.
//
//   c++ -std=c++17 embed_rm.cpp $(pkg-config --cflags --libs troupe) -o rm
//   ./rm ./pmix_hello

#include <caf/all.hpp>

#include <actors/mesh/partial_host.hpp>
#include <fcntl.h>
#include <messages/attributes.hpp>
#include <runtime/runtime.hpp>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iostream>

using namespace troupe;
constexpr auto num_procs = 2u;
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
    std::cout << x.bytes << std::flush;
    return ack{};
  }};
}

static info data(std::string_view key, value val) {
  return {std::string{key}, 0, std::move(val)};
}

static register_nspace job(const std::string& nspace) {
  auto result = register_nspace{nspace, {getuid(), getgid()}, {}, {}, false};
  for (const auto key : {attr::job_size, attr::univ_size, attr::max_procs,
                         attr::local_size}) // Open MPI wants the last two.
    result.infos.push_back(data(key, value::uint32(num_procs)));
  result.infos.push_back(data(attr::local_peers, value::string("0,1")));
  for (auto rank = uint16_t{0}; rank < num_procs; ++rank)
    result.infos.push_back(
      data(attr::proc_data,
           value::infos({data(attr::rank, value::rank(rank)),
                         data(attr::local_rank, value::uint16(rank)),
                         data(attr::node_rank, value::uint16(rank))})));
  return result;
}

/// Starts a process with pipes. @returns our ends of them.
static process_streams start(const proc_id& proc, char** argv, char** envp) {
  int in[2], out[2], pid;
  posix_spawn_file_actions_t ends;
  posix_spawn_file_actions_init(&ends);
  if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)
      || posix_spawn_file_actions_adddup2(&ends, in[0], STDIN_FILENO)
      || posix_spawn_file_actions_adddup2(&ends, out[1], STDOUT_FILENO)
      || posix_spawn(&pid, argv[0], &ends, nullptr, argv, envp))
    std::exit(2);
  close(in[0]), close(out[1]);
  return {proc, in[1], out[0]};
}

int main(int argc, char** argv) {
  setenv("OMPI_MCA_schizo", "ompi", 1); // Open MPI 4.1 is no singleton.
  auto rt = runtime::start({}, [](caf::actor_system& sys) {
    return spawn_partial_host(sys, my_host);
  });
  if (argc < 2 || !rt || (*rt)->register_nspace(job("embedded")))
    return 2;
  auto all = io_subscription{};
  all.sources = {{"embedded", rank_wildcard}};
  all.channels = io_channels::stdout_;
  (*rt)->subscribe(all, (*rt)->actors().spawn(screen));
  for (auto rank = 0u; rank < num_procs; ++rank) {
    (*rt)->register_client({"embedded", rank}, {getuid(), getgid()});
    auto env = (*rt)->setup_fork({"embedded", rank});
    for (auto& x : *env)
      putenv(strdup(x.c_str())); // Our own environment, and this.
    (*rt)->forward(start({"embedded", rank}, argv + 1, environ));
  }
  int status, failures = 0;
  while (wait(&status) > 0)
    failures += status != 0 ? 1 : 0;
  (*rt)->deregister_nspace("embedded"); // All that they wrote has been shown.
  std::cout << "served 2 processes, " << failures << " failed" << std::endl;
  return failures;
}
