// A resource manager's daemon in C++: it starts a server inside itself, with a
// host and an actor of its own, then two processes, and serves them.
//
//   find_package(Troupe), target_link_libraries(embed_rm troupe::troupe); or
//   c++ -std=c++17 embed_rm.cpp $(pkg-config --cflags --libs troupe) -o
//   embed_rm
//   ./embed_rm ./pmix_hello

#include <caf/all.hpp>

#include <actors/mesh/partial_host.hpp>
#include <messages/attributes.hpp>
#include <runtime/runtime.hpp>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

using namespace troupe;

namespace {

constexpr auto num_procs = 2u;

/// An actor of our own: reports who has connected.
caf::behavior reporter(caf::event_based_actor*) {
  return {[](const proc_id& who) {
    std::printf("%s connected\n", to_string(who).c_str());
    std::fflush(stdout);
  }};
}

/// What this resource manager does for its processes; all else is refused.
caf::message_handler my_host(caf::event_based_actor* self) {
  const auto report = self->spawn(reporter);
  return {[=](const client_connected& what) {
            self->send(report, what.who.proc);
            return ack{};
          },
          [](const requester& who, const abort_request& what) {
            std::printf("%s gives up: %d\n", to_string(who.proc).c_str(),
                        what.exit_status);
            ::kill(0, SIGTERM);
            return ack{};
          }};
}

info data(std::string_view key, value val) {
  return {std::string{key}, 0, std::move(val)};
}

register_nspace job(const std::string& nspace) {
  auto result = register_nspace{nspace, {getuid(), getgid()}, {}, {}, false};
  result.infos = {data(attr::job_size, value::uint32(num_procs)),
                  data(attr::univ_size, value::uint32(num_procs)),
                  data(attr::max_procs, value::uint32(num_procs))};
  for (auto rank = 0u; rank < num_procs; ++rank)
    result.infos.push_back(
      data(attr::proc_data,
           value::infos({data(attr::rank, value::rank(rank)),
                         data(attr::local_rank, value::uint16(rank)),
                         data(attr::node_rank, value::uint16(rank))})));
  return result;
}

} // namespace

int main(int argc, char** argv) {
  auto rt = runtime::start({}, [](caf::actor_system& sys) {
    return spawn_partial_host(sys, my_host);
  });
  if (argc < 2 || !rt || (*rt)->register_nspace(job("embedded")))
    return 2;
  for (auto rank = 0u; rank < num_procs; ++rank) {
    (*rt)->register_client({"embedded", rank}, {getuid(), getgid()});
    auto env = (*rt)->setup_fork({"embedded", rank});
    auto envp = std::vector<char*>{};
    for (auto& x : *env)
      envp.push_back(x.data());
    envp.push_back(nullptr);
    pid_t pid;
    if (posix_spawn(&pid, argv[1], nullptr, nullptr, argv + 1, envp.data()))
      return 2;
  }
  auto failures = 0;
  for (int status; wait(&status) > 0;)
    failures += status != 0 ? 1 : 0;
  std::printf("served %u processes, %d failed\n", num_procs, failures);
  return failures;
}
