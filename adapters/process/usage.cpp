#include "adapters/process/usage.hpp"

#include "adapters/loop/thread_pool.hpp"
#include "adapters/process/usage_reader.hpp"
#include "config/defaults.hpp"

#include <caf/all.hpp>

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <utility>

namespace troupe {

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
        reply.deliver(make_error(status::resource_busy,
                                 "too much work waits on this node"));
      return reply;
    },
    [self, pool](const sample_usage& request) -> caf::result<usage_samples> {
      if (request.pids.size() > defaults::usage_procs
          || request.disk_names.size() > defaults::usage_names
          || request.net_names.size() > defaults::usage_names)
        return make_error(status::bad_param,
                          "too much to sample in one request");
      auto reply = self->make_response_promise<usage_samples>();
      const auto result = std::make_shared<usage_samples>();
      const auto work = [request, result] {
        *result = read_usage(request, "/proc");
      };
      const auto done = [reply, result]() mutable {
        reply.deliver(std::move(*result));
      };
      if (!pool->post(work, done))
        reply.deliver(make_error(status::resource_busy,
                                 "too much work waits on this node"));
      return reply;
    },
  };
}

} // namespace troupe
