#include "tools/node_probe.hpp"

#include "adapters/process/child.hpp"
#include "adapters/process/children.hpp"
#include "messages/process.hpp"
#include "tools/tcp_reach.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>
#include <utility>
#include <variant>

namespace troupe {

namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

/// How long a node may take to answer a connection, and what was started to end
/// after the answer.
constexpr auto reach_time = 3s;
constexpr auto end_time = 3s;

/// Bytes that are kept of what a remote shell says.
constexpr size_t most_errors = 16384;

/// Bytes of a pipe that are read at a time, and how often at its end: a pipe holds
/// 64 KiB, 1 MiB if somebody has raised that. Source: pipe(7).
constexpr size_t read_bytes = 16384;
constexpr size_t most_reads = (size_t{1} << 20) / read_bytes;

/// Nodes that are asked at a time, and the descriptors that each takes: for each
/// place a connection that is tried, its pipes, and what starting it takes.
constexpr size_t most_probes = 64;
constexpr uint64_t descriptors_each = defaults::probe_places + 8;

int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
           std::chrono::system_clock::now().time_since_epoch())
    .count();
}

/// Milliseconds for poll(2); 0 if the time is over.
int left_until(steady::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
    deadline - steady::now());
  return static_cast<int>(std::max<int64_t>(left.count(), 0));
}

/// One command that runs.
class conversation {
public:
  conversation(child process, std::string request)
    : process_(std::move(process)), request_(std::move(request)) {
    // nop
  }

  /// Writes the request and reads until there is an answer, or nothing will come.
  void exchange(steady::time_point deadline, probe_outcome& to);

  /// Waits for its end, and ends it if need be.
  void finish(steady::time_point deadline, probe_outcome& to);

  void close_input() {
    process_.in.reset();
  }

private:
  void write_some();
  void read_rest(probe_outcome& to);
  static bool read_some(unique_fd& fd, std::string& to, size_t most);

  child process_;
  std::string request_;
  std::string output_;
};

void conversation::write_some() {
  const auto n = ::write(process_.in.get(), request_.data(), request_.size());
  if (n > 0)
    request_.erase(0, static_cast<size_t>(n));
  else if (n < 0 && errno != EAGAIN && errno != EINTR)
    request_.clear(); // Its end tells why.
}

/// @returns whether more may come at once.
bool conversation::read_some(unique_fd& fd, std::string& to, size_t most) {
  char room[read_bytes];
  const auto n = ::read(fd.get(), room, sizeof(room));
  if (n > 0) {
    to.append(room, static_cast<size_t>(n));
    if (to.size() > most)
      to.erase(0, to.size() - most);
    return true;
  }
  if (n == 0 || (errno != EAGAIN && errno != EINTR))
    fd.reset();
  return false;
}

void conversation::exchange(steady::time_point deadline, probe_outcome& to) {
  while (!has_facts(output_)) {
    const auto left = left_until(deadline);
    if (left == 0) {
      to.is_late = true;
      break;
    }
    // A negative descriptor is passed over.
    pollfd watched[] = {{request_.empty() ? -1 : process_.in.get(), POLLOUT, 0},
                        {process_.out.get(), POLLIN, 0},
                        {process_.err.get(), POLLIN, 0},
                        {process_.pidfd.get(), POLLIN, 0}};
    if (::poll(watched, std::size(watched), left) < 0)
      continue; // Interrupted.
    if (watched[0].revents != 0)
      write_some();
    if (watched[1].revents != 0)
      read_some(process_.out, output_, defaults::probe_answer_bytes);
    if (watched[2].revents != 0)
      read_some(process_.err, to.errors, most_errors);
    if (watched[3].revents != 0) {
      read_rest(to);
      break;
    }
  }
  to.after_ms = now_ms();
  to.facts = find_facts(output_);
  to.is_garbled = !to.facts && has_facts(output_);
  if (!to.facts)
    to.output =
      output_.substr(output_.size() - std::min(output_.size(), most_errors));
}

/// What it has left in its pipes, which its children may keep open, and fill.
void conversation::read_rest(probe_outcome& to) {
  for (size_t i = 0; i < most_reads && process_.out; ++i)
    if (!read_some(process_.out, output_, defaults::probe_answer_bytes))
      break;
  for (size_t i = 0; i < most_reads && process_.err; ++i)
    if (!read_some(process_.err, to.errors, most_errors))
      break;
}

void conversation::finish(steady::time_point deadline, probe_outcome& to) {
  auto ends = pollfd{process_.pidfd.get(), POLLIN, 0};
  while (left_until(deadline) > 0 && ends.revents == 0
         && (::poll(&ends, 1, left_until(deadline)) >= 0 || errno == EINTR)) {
    // Again.
  }
  auto status = 0;
  if (::waitpid(process_.pid, &status, WNOHANG) == process_.pid) {
    to.status = status;
    return;
  }
  ::kill(-process_.pid, SIGKILL);
  while (::waitpid(process_.pid, nullptr, 0) < 0 && errno == EINTR) {
    // Again.
  }
}

} // namespace

size_t probes_at_a_time(uint64_t descriptors, size_t nodes) {
  const auto most =
    std::clamp<uint64_t>(descriptors / descriptors_each, 1, most_probes);
  return std::min(static_cast<size_t>(most), nodes);
}

probe_outcome probe_node(const std::vector<std::string>& command,
                         const probe_request& what,
                         std::chrono::milliseconds limit) {
  auto result = probe_outcome{};
  auto start = start_process{};
  start.program = command.front();
  start.argv = command;
  for (auto** x = environ; *x != nullptr; ++x)
    start.env.emplace_back(*x);
  start.with_stdin = true;
  auto process = child{};
  const auto begin = steady::now();
  result.before_ms = now_ms();
  const auto awaited = awaited_child{[&] {
    auto started = spawn_child(start);
    if (auto* why = std::get_if<launch_failure>(&started)) {
      result.failure = std::move(why->reason);
      return pid_t{-1};
    }
    process = std::move(std::get<child>(started));
    return process.pid;
  }};
  if (awaited.pid() <= 0)
    return result;
  auto talk = conversation{std::move(process), encode(what)};
  talk.exchange(begin + limit, result);
  result.took = std::chrono::duration_cast<std::chrono::milliseconds>(
    steady::now() - begin);
  if (result.facts && result.facts->port != 0) {
    auto places = std::vector<network_place>{};
    for (const auto& x : result.facts->addresses)
      places.push_back({x, result.facts->port});
    result.reached = try_to_reach(places, reach_time);
  }
  talk.close_input();
  talk.finish(result.facts ? steady::now() + end_time : steady::now(), result);
  return result;
}

} // namespace troupe
