// A sensor of a site's own: an oven of which the node knows the temperature by
// a file. It runs inside a daemon with a server, as long as a process on the
// node wants its events.
//
//   c++ -std=c++17 temperature_sensor.cpp $(pkg-config --cflags --libs troupe)
//   echo 20 > /tmp/oven; ./temperature_sensor /tmp/oven ./a_pmix_program
//
// The program registers for -32300 (TROUPE_EVENT_SITE_BASE), and gets an event
// when the oven becomes hotter than 200 degrees, or cools down again.

#include <caf/all.hpp>

#include <actors/mesh/partial_host.hpp>
#include <messages/attributes.hpp>
#include <runtime/runtime.hpp>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

using namespace troupe;

namespace {

constexpr auto limit = 200.0;
constexpr auto interval = std::chrono::milliseconds{200};

/// A sensor hears when it has to work; this one reminds itself to look.
using oven_actor = sensor_actor::extend<caf::reacts_to<deadline>>;

struct oven_state {
  static inline const char* name = "oven";

  /// Who wants to hear of it; nobody: it rests.
  environment_user_actor user;

  /// Tells reminders that still matter from those of before.
  uint64_t run = 0;
  bool is_hot = false;
};

/// What the file says. A sensor must not block: to ask slow hardware, use a
/// thread and send yourself what it found.
double temperature_of(const std::string& file) {
  auto result = 0.0;
  std::ifstream{file} >> result;
  return result;
}

oven_actor::behavior_type oven(oven_actor::stateful_pointer<oven_state> self,
                               const std::string& file) {
  return {
    [self](const start_sensor&, const environment_user_actor& user) {
      self->state.user = user;
      self->send(oven_actor{self}, deadline{++self->state.run});
    },
    [self](stop_sensor) {
      self->state.user = environment_user_actor{};
      ++self->state.run;
    },
    [self, file](deadline due) {
      auto& state = self->state;
      if (due.id != state.run || !state.user)
        return;
      const auto now = temperature_of(file);
      // Tell of a change, not of each look.
      if ((now > limit) != state.is_hot) {
        state.is_hot = now > limit;
        self->send(
          state.user,
          environment_event{
            status::site_event,
            {{std::string{event_device_key}, 0, value::string("oven")},
             {std::string{event_value_key}, 0, value{data_type::double_, now}},
             {std::string{event_limit_key}, 0,
              value{data_type::double_, limit}}}});
      }
      self->delayed_send(oven_actor{self}, interval, deadline{state.run});
    },
  };
}

info data(std::string_view key, value val) {
  return {std::string{key}, 0, std::move(val)};
}

/// A job of one process.
register_nspace job(const std::string& nspace) {
  return {nspace,
          {getuid(), getgid()},
          {0},
          {data(attr::job_size, value::uint32(1)),
           data(attr::univ_size, value::uint32(1)),
           data(attr::max_procs, value::uint32(1)),
           data(attr::proc_data,
                value::infos({data(attr::rank, value::rank(0)),
                              data(attr::local_rank, value::uint16(0)),
                              data(attr::node_rank, value::uint16(0))}))},
          false};
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s FILE PROGRAM [ARGUMENTS]\n", argv[0]);
    return 2;
  }
  auto options = runtime_options{};
  options.sensors = sensor_settings{};
  auto rt = runtime::start(std::move(options), [](caf::actor_system& sys) {
    return spawn_partial_host(sys, {});
  });
  if (!rt) {
    std::fprintf(stderr, "%s\n", reason_of(rt.error()).c_str());
    return 2;
  }
  const auto sensor = (*rt)->actors().spawn(oven, std::string{argv[1]});
  if (auto err = (*rt)->add_sensor({"oven", {status::site_event}}, sensor)) {
    std::fprintf(stderr, "%s\n", reason_of(err).c_str());
    return 2;
  }
  const auto env = (*rt)->register_nspace(job("ovens"))
                     ? caf::expected<std::vector<std::string>>{caf::error{}}
                     : (*rt)->setup_fork({"ovens", 0});
  if (!env)
    return 2;
  auto envp = std::vector<char*>{};
  for (const auto& x : *env)
    envp.push_back(const_cast<char*>(x.c_str()));
  envp.push_back(nullptr);
  pid_t pid = 0;
  if (posix_spawnp(&pid, argv[2], nullptr, nullptr, argv + 2, envp.data()) != 0)
    return 2;
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
