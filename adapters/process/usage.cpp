#include "adapters/process/usage.hpp"

#include "adapters/loop/read_write.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "config/defaults.hpp"
#include "messages/connection.hpp"
#include "messages/usage.hpp"

#include <caf/all.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <fstream>
#include <limits>
#include <utility>

namespace troupe {

namespace defaults {

/// Bytes of a file of the kernel.
inline constexpr size_t usage_file_bytes = size_t{1} << 20;

} // namespace defaults

// -- files of /proc ----------------------------------------------------------

namespace {

constexpr auto bytes_per_megabyte = 1024.0 * 1024.0;

/// Drivers of disks that are hardware; others, such as loops and what is made
/// of several disks, only by name. Source: OpenPMIx, "Where the numbers come
/// from".
constexpr std::string_view hardware_prefixes[] = {"sd",  "hd",   "vd",
                                                  "xvd", "nvme", "mmcblk"};

template <class T>
std::optional<T> number(std::string_view x) {
  auto result = T{};
  const auto* const end = x.data() + x.size();
  const auto [rest, code] = std::from_chars(x.data(), end, result);
  if (x.empty() || code != std::errc{} || rest != end)
    return std::nullopt;
  return result;
}

std::optional<double> fraction(std::string_view x) {
  auto result = 0.0;
  const auto* const end = x.data() + x.size();
  const auto [rest, code] =
    std::from_chars(x.data(), end, result, std::chars_format::fixed);
  if (x.empty() || code != std::errc{} || rest != end || !(result >= 0)
      || result > std::numeric_limits<float>::max())
    return std::nullopt;
  return result;
}

bool is_blank(char x) {
  return x == ' ' || x == '\t' || x == '\n';
}

/// Takes the next word off a text; empty: there is none.
std::string_view next_word(std::string_view& text) {
  const auto begin = std::find_if_not(text.begin(), text.end(), is_blank);
  const auto end = std::find_if(begin, text.end(), is_blank);
  const auto result = text.substr(static_cast<size_t>(begin - text.begin()),
                                  static_cast<size_t>(end - begin));
  text.remove_prefix(static_cast<size_t>(end - text.begin()));
  return result;
}

std::string_view next_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const auto result = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return result;
}

/// The words of a text that are numbers, up to the first that is none.
template <size_t N>
size_t numbers_of(std::string_view text, std::array<uint64_t, N>& to) {
  for (size_t i = 0; i < N; ++i) {
    const auto x = number<uint64_t>(next_word(text));
    if (!x)
      return i;
    to[i] = *x;
  }
  return N;
}

std::string printable(std::string_view x) {
  auto result = std::string{x};
  const auto is_odd = [](char c) { return c < ' ' || c > '~'; };
  std::replace_if(result.begin(), result.end(), is_odd, '?');
  return result;
}

bool is_wanted(std::string_view name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_hardware(std::string_view name) {
  return std::any_of(
    std::begin(hardware_prefixes), std::end(hardware_prefixes),
    [&](std::string_view x) { return name.substr(0, x.size()) == x; });
}

} // namespace

std::optional<process_stat> parse_process_stat(std::string_view text) {
  // The name is between parentheses, and may have some in it.
  const auto open = text.find('(');
  const auto close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos
      || close < open)
    return std::nullopt;
  auto result = process_stat{};
  result.name = printable(text.substr(open + 1, close - open - 1));
  text.remove_prefix(close + 1);
  // From the third on, as proc(5) counts them.
  constexpr size_t first = 3;
  constexpr size_t last = 39;
  auto words = std::array<std::string_view, last - first + 1>{};
  for (auto& x : words)
    x = next_word(text);
  const auto word = [&](size_t n) { return words[n - first]; };
  const auto utime = number<uint64_t>(word(14));
  const auto stime = number<uint64_t>(word(15));
  const auto priority = number<int32_t>(word(18));
  const auto threads = number<uint32_t>(word(20));
  const auto start = number<uint64_t>(word(22));
  const auto processor = number<uint32_t>(word(39));
  if (word(3).size() != 1 || !utime || !stime || !priority || !threads || !start
      || !processor || *utime > std::numeric_limits<uint64_t>::max() - *stime)
    return std::nullopt;
  result.state = printable(word(3)).front();
  result.cpu_ticks = *utime + *stime;
  result.priority = *priority;
  result.threads = *threads;
  result.start_ticks = *start;
  result.processor = *processor;
  return result;
}

std::optional<uint64_t> bytes_named(std::string_view text,
                                    std::string_view name) {
  constexpr uint64_t kibibyte = 1024;
  while (!text.empty()) {
    auto line = next_line(text);
    if (line.size() <= name.size() || line.substr(0, name.size()) != name
        || line[name.size()] != ':')
      continue;
    line.remove_prefix(name.size() + 1);
    const auto x = number<uint64_t>(next_word(line));
    if (!x || next_word(line) != "kB"
        || *x > std::numeric_limits<uint64_t>::max() / kibibyte)
      return std::nullopt;
    return *x * kibibyte;
  }
  return std::nullopt;
}

std::optional<double> parse_uptime(std::string_view text) {
  return fraction(next_word(text));
}

bool parse_load(std::string_view text, node_stats& to) {
  const auto one = fraction(next_word(text));
  const auto five = fraction(next_word(text));
  const auto fifteen = fraction(next_word(text));
  if (!one || !five || !fifteen)
    return false;
  to.load_average = *one;
  to.load_average_5 = *five;
  to.load_average_15 = *fifteen;
  return true;
}

bool parse_memory(std::string_view text, node_stats& to) {
  const auto set = [&](std::string_view name, double& field) {
    const auto x = bytes_named(text, name);
    field = x ? static_cast<double>(*x) / bytes_per_megabyte : 0;
    return x.has_value();
  };
  set("MemFree", to.free_memory);
  set("Buffers", to.buffers);
  set("Cached", to.cached);
  set("SwapCached", to.swap_cached);
  set("SwapTotal", to.swap_total);
  set("SwapFree", to.swap_free);
  set("Mapped", to.mapped);
  return set("MemTotal", to.total_memory);
}

std::vector<disk_stats> parse_disks(std::string_view text,
                                    const std::vector<std::string>& names) {
  constexpr size_t fields = 11;
  auto result = std::vector<disk_stats>{};
  while (!text.empty() && result.size() < defaults::usage_devices) {
    auto line = next_line(text);
    next_word(line); // major
    next_word(line); // minor
    const auto name = next_word(line);
    auto x = std::array<uint64_t, fields>{};
    if (name.empty()
        || !(names.empty() ? is_hardware(name) : is_wanted(name, names))
        || numbers_of(line, x) < fields)
      continue;
    auto& to = result.emplace_back();
    to.disk = printable(name);
    to.num_reads_completed = x[0];
    to.num_reads_merged = x[1];
    to.num_sectors_read = x[2];
    to.milliseconds_reading = x[3];
    to.num_writes_completed = x[4];
    to.num_writes_merged = x[5];
    to.num_sectors_written = x[6];
    to.milliseconds_writing = x[7];
    to.num_ios_in_progress = x[8];
    to.milliseconds_io = x[9];
    to.weighted_milliseconds_io = x[10];
  }
  return result;
}

std::vector<net_stats> parse_nets(std::string_view text,
                                  const std::vector<std::string>& names) {
  constexpr size_t fields = 11;
  auto result = std::vector<net_stats>{};
  while (!text.empty() && result.size() < defaults::usage_devices) {
    auto line = next_line(text);
    // A name may have a colon in it; the numbers have none.
    const auto colon = line.rfind(':');
    if (colon == std::string_view::npos)
      continue;
    auto before = line.substr(0, colon);
    const auto name = next_word(before);
    auto x = std::array<uint64_t, fields>{};
    if (name.empty() || (!names.empty() && !is_wanted(name, names))
        || numbers_of(line.substr(colon + 1), x) < fields)
      continue;
    auto& to = result.emplace_back();
    to.interface_name = printable(name);
    to.num_bytes_received = x[0];
    to.num_packets_received = x[1];
    to.num_receive_errors = x[2];
    to.num_bytes_sent = x[8];
    to.num_packets_sent = x[9];
    to.num_send_errors = x[10];
  }
  return result;
}

// -- samples -----------------------------------------------------------------

namespace {

/// The beginning of a file, up to `defaults::usage_file_bytes`.
std::optional<std::string> read_file(const std::string& path) {
  const auto fd = unique_fd{
    ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  if (!fd)
    return std::nullopt;
  return read_up_to(fd.get(), defaults::usage_file_bytes);
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

/// Reads how processes, the node, its disks and its networks use resources.
/// Processes that are gone are absent, as is what cannot be read: the memory of
/// processes of other users, if the kernel keeps it from the daemon.
/// @param root The kernel's tree, such as `/proc`.
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

} // namespace

// -- the actor ---------------------------------------------------------------

namespace {

constexpr uint64_t kibibyte = 1024;

/// Source: proc(5), /proc/pid/smaps_rollup.
uint64_t proportional_set_size(const std::string& folder) {
  std::ifstream in{folder + "/smaps_rollup"};
  uint64_t size = 0;
  for (std::string word; in >> word;) {
    if (word == "Pss:" && in >> size)
      return size * kibibyte;
    in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

/// Source: proc(5), /proc/pid/statm.
uint64_t resident_set_size(const std::string& folder) {
  std::ifstream in{folder + "/statm"};
  uint64_t size = 0;
  uint64_t resident = 0;
  if (in >> size >> resident)
    return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return 0;
}

} // namespace

uint64_t memory_of(uint32_t pid) {
  const auto folder =
    pid == 0 ? std::string{"/proc/self"} : "/proc/" + std::to_string(pid);
  const auto result = proportional_set_size(folder);
  return result > 0 ? result : resident_set_size(folder);
}

usage_actor::behavior_type
usage(usage_actor::stateful_pointer<usage_state> self, thread_pool* pool) {
  return {
    [self, pool](const sample_memory& request) {
      auto reply = self->make_response_promise<memory_samples>();
      const auto result = std::make_shared<memory_samples>();
      result->bytes.resize(request.pids.size());
      const auto work = [pids = request.pids, result] {
        std::transform(pids.begin(), pids.end(), result->bytes.begin(),
                       memory_of);
      };
      const auto done = [reply, result]() mutable {
        reply.deliver(std::move(*result));
      };
      if (!pool->post(work, done))
        reply.deliver(
          make_error(status::resource_busy,
                     "too much work waits on this node; ask later"));
      return reply;
    },
    [self, pool](const sample_usage& request) -> caf::result<usage_samples> {
      if (request.pids.size() > defaults::usage_procs
          || request.disk_names.size() > defaults::usage_names
          || request.net_names.size() > defaults::usage_names)
        return make_error(status::bad_param,
                          "too much to sample in one request; name fewer");
      auto reply = self->make_response_promise<usage_samples>();
      const auto result = std::make_shared<usage_samples>();
      const auto work = [request, result] {
        *result = read_usage(request, "/proc");
      };
      const auto done = [reply, result]() mutable {
        reply.deliver(std::move(*result));
      };
      if (!pool->post(work, done))
        reply.deliver(
          make_error(status::resource_busy,
                     "too much work waits on this node; ask later"));
      return reply;
    },
  };
}

} // namespace troupe
