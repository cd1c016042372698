#include "adapters/process/usage_reader.hpp"

#include "adapters/loop/unique_fd.hpp"
#include "adapters/process/usage_text.hpp"
#include "config/defaults.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <limits>
#include <optional>
#include <string_view>

namespace troupe {

namespace {

constexpr auto bytes_per_megabyte = 1024.0 * 1024.0;

/// The beginning of a file, up to `defaults::usage_file_bytes`.
std::optional<std::string> read_file(const std::string& path) {
  const auto fd = unique_fd{
    ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  if (!fd)
    return std::nullopt;
  constexpr size_t step = 4096;
  auto result = std::string{};
  while (result.size() < defaults::usage_file_bytes) {
    const auto size = result.size();
    const auto more =
      std::min(std::max(step, size), defaults::usage_file_bytes - size);
    result.resize(size + more);
    const auto n = ::read(fd.get(), result.data() + size, more);
    result.resize(size + static_cast<size_t>(std::max<ssize_t>(n, 0)));
    if (n < 0 && errno != EINTR)
      return std::nullopt;
    if (n == 0)
      break;
  }
  return result;
}

double megabytes(std::string_view text, std::string_view name) {
  return static_cast<double>(bytes_named(text, name).value_or(0))
         / bytes_per_megabyte;
}

/// Cuts a number off at the largest that a type has.
template <class T, class U>
T capped(U x) {
  constexpr auto most = std::numeric_limits<T>::max();
  return x > static_cast<U>(most) ? most : static_cast<T>(x);
}

timeval_value cpu_time(uint64_t ticks, uint64_t per_second) {
  constexpr uint64_t microseconds = 1000000;
  return {static_cast<int64_t>(ticks / per_second),
          static_cast<int64_t>(ticks % per_second * microseconds / per_second)};
}

std::optional<proc_stats> read_process(uint32_t pid, bool pss, double uptime,
                                       const std::string& root) {
  constexpr auto whole = 100.0;
  const auto folder = root + "/" + std::to_string(pid);
  const auto text = read_file(folder + "/stat");
  const auto stat = text ? parse_process_stat(*text) : std::nullopt;
  if (!stat)
    return std::nullopt;
  const auto per_second =
    static_cast<uint64_t>(std::max(::sysconf(_SC_CLK_TCK), 1L));
  auto result = proc_stats{};
  result.pid = pid;
  result.cmd = stat->name;
  result.state = static_cast<uint8_t>(stat->state);
  result.time = cpu_time(stat->cpu_ticks, per_second);
  const auto ticks = static_cast<double>(per_second);
  const auto age = uptime - static_cast<double>(stat->start_ticks) / ticks;
  if (age > 0)
    result.percent_cpu =
      whole * static_cast<double>(stat->cpu_ticks) / ticks / age;
  result.priority = stat->priority;
  result.num_threads = capped<int16_t>(stat->threads);
  result.processor = capped<uint16_t>(stat->processor);
  const auto memory = read_file(folder + "/status").value_or("");
  result.vsize = megabytes(memory, "VmSize");
  result.peak_vsize = megabytes(memory, "VmPeak");
  result.rss = megabytes(memory, "VmRSS");
  if (pss)
    result.pss =
      megabytes(read_file(folder + "/smaps_rollup").value_or(""), "Pss");
  return result;
}

void read_processes(const sample_usage& what, const std::string& root,
                    usage_samples& to) {
  if (what.pids.empty())
    return;
  const auto uptime =
    parse_uptime(read_file(root + "/uptime").value_or("")).value_or(0);
  for (const auto pid : what.pids)
    if (auto x = read_process(pid, what.pss, uptime, root)) {
      x->sample_time.seconds = to.taken;
      to.procs.push_back(std::move(*x));
    }
}

} // namespace

usage_samples read_usage(const sample_usage& what, const std::string& root) {
  auto result = usage_samples{};
  result.taken = static_cast<int64_t>(std::time(nullptr));
  read_processes(what, root, result);
  if (what.node) {
    auto node = node_stats{};
    node.sample_time.seconds = result.taken;
    const auto load =
      parse_load(read_file(root + "/loadavg").value_or(""), node);
    const auto memory =
      parse_memory(read_file(root + "/meminfo").value_or(""), node);
    if (load || memory)
      result.node = std::move(node);
  }
  if (what.disks)
    result.disks =
      parse_disks(read_file(root + "/diskstats").value_or(""), what.disk_names);
  if (what.nets)
    result.nets =
      parse_nets(read_file(root + "/net/dev").value_or(""), what.net_names);
  return result;
}

} // namespace troupe
