#include "adapters/local/local_service.hpp"

#include "adapters/loop/loop_system.hpp"

#include <utility>

namespace troupe {

namespace {

thread_pool::limits one_thread() {
  auto result = thread_pool::limits{};
  result.threads = 1;
  return result;
}

} // namespace

local_service::local_service(loop_system& sys, server_actor server,
                             listener_options x)
  : loop(sys.loop()), pool(sys.pool()), readers(sys.loop(), one_thread()),
    actors(sys.actors()), server(std::move(server)), options(std::move(x)),
    log(options.log, options.limits.log_lines),
    unfinished({options.limits.unfinished_per_namespace,
                options.limits.unfinished_per_node}) {
  // nop
}

} // namespace troupe
