#include "adapters/process/process_probe.hpp"

#include "adapters/loop/read_write.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "adapters/loop/unique_fd.hpp"

#include <caf/all.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe {

namespace defaults {

/// Descendants of a process that are looked at.
inline constexpr size_t probed_descendants = 4096;

} // namespace defaults

namespace {

/// Reads a small file of /proc.
std::string read_file(const std::string& path) {
  constexpr size_t most = size_t{64} << 10;
  const auto fd = unique_fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  return read_up_to(fd.get(), most).value_or("");
}

/// The numbers in `text`, with blanks between; 0 for what is none.
std::vector<uint64_t> numbers_in(std::string_view text) {
  auto result = std::vector<uint64_t>{};
  while (!text.empty()) {
    const auto begin = text.find_first_not_of(" \n");
    if (begin == std::string_view::npos)
      break;
    text.remove_prefix(begin);
    const auto word = text.substr(0, text.find_first_of(" \n"));
    auto& x = result.emplace_back(0);
    std::from_chars(word.data(), word.data() + word.size(), x);
    text.remove_prefix(word.size());
  }
  return result;
}

std::string folder_of(uint32_t pid) {
  return "/proc/" + std::to_string(pid);
}

/// The children of a process, as far as the kernel lists them.
/// Source: proc(5), /proc/pid/task/tid/children.
std::vector<uint32_t> children_of(uint32_t pid) {
  auto result = std::vector<uint32_t>{};
  const auto folder = folder_of(pid) + "/task";
  const auto dir =
    std::unique_ptr<DIR, int (*)(DIR*)>{::opendir(folder.c_str()), closedir};
  while (const auto* x = dir ? ::readdir(dir.get()) : nullptr) {
    if (x->d_name[0] == '.')
      continue;
    const auto path = folder + '/' + x->d_name + "/children";
    for (const auto child : numbers_in(read_file(path)))
      result.push_back(static_cast<uint32_t>(child));
  }
  return result;
}

/// Adds one process.
/// @param is_first Whether it is the one that was asked for.
/// @returns whether it lives.
bool add(process_probe& sum, uint32_t pid, bool is_first) {
  static const auto ticks = ::sysconf(_SC_CLK_TCK);
  static const auto page = ::sysconf(_SC_PAGESIZE);
  const auto stat = read_file(folder_of(pid) + "/stat");
  // The name, field 2, may hold anything, parentheses and spaces too.
  const auto name_end = stat.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= stat.size())
    return false;
  const auto state = stat[name_end + 2];
  // Field 4 is the first number here; 14 to 17 are the times.
  const auto fields = numbers_in(std::string_view{stat}.substr(name_end + 3));
  constexpr size_t first_time = 10;
  if (fields.size() < first_time + 4 || state == 'Z' || state == 'X')
    return false;
  auto used = uint64_t{0};
  for (size_t i = 0; i < 4; ++i)
    used += fields[first_time + i];
  const auto nanoseconds =
    used * (1'000'000'000 / static_cast<uint64_t>(ticks));
  sum.cpu_time += std::chrono::nanoseconds{nanoseconds};
  if (is_first)
    sum.is_stopped = state == 'T' || state == 't';
  const auto statm = numbers_in(read_file(folder_of(pid) + "/statm"));
  if (statm.size() > 1)
    sum.resident += statm[1] * static_cast<uint64_t>(page);
  return true;
}

} // namespace

namespace {

/// Whether the control group of a process is frozen. Source: cgroups(7), file
/// cgroup.events.
bool is_frozen(uint32_t pid) {
  const auto groups = read_file(folder_of(pid) + "/cgroup");
  constexpr std::string_view unified = "0::";
  const auto begin = groups.rfind(unified);
  if (begin == std::string::npos || (begin > 0 && groups[begin - 1] != '\n'))
    return false;
  const auto name = begin + unified.size();
  const auto path = groups.substr(name, groups.find('\n', name) - name);
  const auto events = read_file("/sys/fs/cgroup" + path + "/cgroup.events");
  return events.find("frozen 1") != std::string::npos;
}

} // namespace

std::optional<process_probe> probe(uint32_t pid) {
  auto result = process_probe{};
  result.pid = pid;
  if (!add(result, pid, true))
    return std::nullopt;
  result.is_stopped = result.is_stopped || is_frozen(pid);
  auto seen = std::set<uint32_t>{pid};
  auto open = std::vector<uint32_t>{pid};
  while (!open.empty() && seen.size() < defaults::probed_descendants) {
    const auto next = open.back();
    open.pop_back();
    for (const auto child : children_of(next))
      if (seen.insert(child).second && add(result, child, false))
        open.push_back(child);
  }
  return result;
}

namespace {

using reply_promise = caf::typed_response_promise<process_probe>;

/// Looks at a process on a thread.
void look(thread_pool& pool, const proc_id& proc, const local_process& found,
          bool knows_output, reply_promise reply) {
  const auto result = std::make_shared<std::optional<process_probe>>();
  const auto work = [result, pid = found.pid] { *result = probe(pid); };
  const auto done = [=]() mutable {
    if (!*result) {
      reply.deliver(
        make_error(status::not_found, to_string(proc) + " has ended"));
      return;
    }
    if (knows_output)
      (**result).silence = found.silence;
    reply.deliver(std::move(**result));
  };
  if (!pool.post(work, done))
    reply.deliver(make_error(status::resource_busy,
                             "too much work waits on this node; ask later"));
}

} // namespace

process_probe_actor::behavior_type
process_prober(process_probe_actor::stateful_pointer<process_prober_state> self,
               thread_pool* pool, const process_launcher_actor& launcher) {
  return {
    [self, pool, launcher](const probe_process& request) {
      auto reply = self->make_response_promise<process_probe>();
      auto by_number = [=](const caf::error& why) mutable {
        if (request.pid != 0)
          look(*pool, request.proc, {request.pid, {}}, false, reply);
        else
          reply.deliver(why);
      };
      if (!launcher) {
        by_number(
          make_error(status::not_found,
                     to_string(request.proc) + " does not run on this node"));
        return reply;
      }
      self->request(launcher, caf::infinite, find_process{request.proc})
        .then(
          [=](const local_process& found) {
            look(*pool, request.proc, found, true, reply);
          },
          by_number);
      return reply;
    },
  };
}

} // namespace troupe
