// Two daemons that embed Troupe, in one process: each has one process of a job.
// The resource manager joins fences and nothing else; the mesh of the job
// carries standard streams between them. Ends with 0 if each byte has come.

#include "actors/mesh/partial_host.hpp"
#include "messages/attributes.hpp"
#include "runtime/job_networks.hpp"
#include "runtime/runtime.hpp"

#include <caf/all.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <mutex>

using namespace troupe;

namespace {

constexpr auto size = size_t{5000000};
constexpr auto limit = std::chrono::seconds{40};
const auto whole = proc_id{"joint", rank_wildcard};

char byte_at(size_t offset) {
  return static_cast<char>('a' + (offset * 2654435761U >> 11) % 26);
}

[[noreturn]] void fail(const std::string& why) {
  std::cerr << "not so: " << why << std::endl;
  std::_Exit(1);
}

/// What one daemon's host knows of the other.
struct link_to_other {
  caf::actor other;
  std::deque<caf::typed_response_promise<host_collective_result>> owed;
  std::deque<host_collective_result> come;

  void settle() {
    for (; !owed.empty() && !come.empty(); owed.pop_front(), come.pop_front())
      owed.front().deliver(std::move(come.front()));
  }
};

/// Joins fences.
caf::message_handler my_host(caf::event_based_actor* self,
                             const std::shared_ptr<link_to_other>& to) {
  return {
    [=](const host_collective& x) {
      // The other has a thread of its own.
      caf::anon_send(to->other, host_collective_result{x.data});
      to->owed.push_back(self->make_response_promise<host_collective_result>());
      const auto result = to->owed.back();
      to->settle();
      return result;
    },
    [=](host_collective_result& x) {
      to->come.push_back(std::move(x));
      to->settle();
    },
  };
}

struct daemon {
  std::shared_ptr<link_to_other> link = std::make_shared<link_to_other>();

  /// The mesh, before its host.
  caf::actor mesh;
  std::unique_ptr<runtime> rt;
};

daemon start(uint32_t node) {
  auto result = daemon{};
  auto options = runtime_options{};
  options.id = {"daemon-" + std::to_string(node), 0};
  options.tools = false;
  options.log = [node](severity level, const std::string& line) {
    if (level >= severity::warning)
      std::cerr << node << ": " << line << std::endl;
  };
  auto offers = host_offers{};
  offers.fence = true;
  options.around_host = [&, offers](loop_system& loop, host_actor host,
                                    journal log) {
    auto outer = job_meshes(offers)(loop, std::move(host), std::move(log));
    result.mesh = caf::actor_cast<caf::actor>(outer);
    return outer;
  };
  auto rt = runtime::start(std::move(options), [&](caf::actor_system& sys) {
    return spawn_partial_host(
      sys, [link = result.link](auto* self) { return my_host(self, link); });
  });
  if (!rt)
    fail(to_string(rt.error()));
  result.rt = std::move(*rt);
  return result;
}

info entry(std::string_view key, value val) {
  return {std::string{key}, 0, std::move(val)};
}

register_nspace job_on(uint32_t node) {
  auto result = register_nspace{};
  result.nspace = whole.nspace;
  result.owner = {getuid(), getgid()};
  result.local_ranks = {node};
  result.infos = {entry(attr::job_size, value::uint32(2))};
  for (auto i = 0u; i < 2; ++i) {
    result.infos.push_back(entry(
      attr::node_info_array,
      value::infos(
        {entry(attr::hostname, value::string(i == 0 ? "first" : "second")),
         entry(attr::nodeid, value::uint32(i))})));
    result.infos.push_back(entry(
      attr::proc_data, value::infos({entry(attr::rank, value::rank(i)),
                                     entry(attr::nodeid, value::uint32(i))})));
  }
  return result;
}

/// A fence of all processes, in which the servers meet.
void fence(const daemon& x) {
  caf::anon_send(x.mesh, [] {
    auto result = host_collective{};
    result.procs = {whole};
    result.directives = {entry(attr::collect_data, value::boolean(true))};
    return result;
  }());
}

/// What has come of the process of the other node.
struct received {
  std::mutex mutex;
  std::condition_variable changed;
  size_t bytes = 0;
  bool is_over = false;
};

output_sink_actor::behavior_type sink(output_sink_actor::pointer,
                                      received* to) {
  return {[to](const io_fragment& x) {
    const auto guard = std::lock_guard{to->mutex};
    if (x.stream.source.rank != 1 || x.offset != to->bytes || x.missed > 0)
      fail("each byte comes in its place");
    for (const auto c : x.bytes)
      if (c != byte_at(to->bytes++))
        fail("each byte is right");
    to->is_over = x.is_end;
    to->changed.notify_all();
    return ack{};
  }};
}

process_streams start_cat(const proc_id& proc) {
  int in[2];
  int out[2];
  pid_t pid;
  char* argv[] = {const_cast<char*>("cat"), nullptr};
  posix_spawn_file_actions_t ends;
  posix_spawn_file_actions_init(&ends);
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0
      || posix_spawn_file_actions_adddup2(&ends, in[0], STDIN_FILENO) != 0
      || posix_spawn_file_actions_adddup2(&ends, out[1], STDOUT_FILENO) != 0
      || posix_spawnp(&pid, "cat", &ends, nullptr, argv, environ) != 0)
    fail("a process starts");
  posix_spawn_file_actions_destroy(&ends);
  close(in[0]);
  close(out[1]);
  return {proc, in[1], out[0], -1, -1, static_cast<uint32_t>(pid)};
}

} // namespace

int main() {
  auto near = start(0);
  auto far = start(1);
  near.link->other = caf::actor_cast<caf::actor>(far.rt->host());
  far.link->other = caf::actor_cast<caf::actor>(near.rt->host());
  if (near.rt->register_nspace(job_on(0)) || far.rt->register_nspace(job_on(1)))
    fail("the job is registered");
  auto got = received{};
  auto wish = io_subscription{};
  wish.sources = {whole};
  wish.channels = io_channels::stdout_;
  if (!near.rt->subscribe(wish, near.rt->actors().spawn(sink, &got)))
    fail("a sink subscribes");
  fence(near);
  fence(far);
  if (far.rt->forward(start_cat({"joint", 1})))
    fail("streams are forwarded");
  constexpr auto piece = size_t{1} << 16;
  for (auto at = size_t{0}; at < size; at += piece) {
    auto x = io_input{whole.nspace, {1}, at, {}, false};
    for (auto i = at; i < std::min(at + piece, size); ++i)
      x.bytes += byte_at(i);
    x.is_end = at + piece >= size;
    const auto taken = near.rt->give_input(std::move(x));
    if (!taken || taken->readers != 1)
      fail("input is written on the other node: "
           + (taken ? std::string{"nobody reads"} : to_string(taken.error())));
  }
  auto status = 0;
  if (wait(&status) < 0 || status != 0)
    fail("the process ends well");
  if (far.rt->deregister_nspace(whole.nspace))
    fail("the job ends");
  auto guard = std::unique_lock{got.mutex};
  if (!got.changed.wait_for(guard, limit, [&] { return got.is_over; }))
    fail("the end comes: " + std::to_string(got.bytes));
  if (got.bytes != size)
    fail("all bytes come: " + std::to_string(got.bytes));
  guard.unlock();
  const auto threads =
    std::distance(std::filesystem::directory_iterator{"/proc/self/task"},
                  std::filesystem::directory_iterator{});
  near.rt->deregister_nspace(whole.nspace);
  near.link->other = nullptr;
  far.link->other = nullptr;
  std::cout << "two daemons: " << size << " bytes there and back\n"
            << threads << " threads\n";
  return 0;
}
