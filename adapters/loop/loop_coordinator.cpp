#include "adapters/loop/loop_coordinator.hpp"

#include "adapters/loop/event_loop.hpp"

#include <caf/actor_registry.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <utility>

namespace troupe {

loop_coordinator::loop_coordinator(caf::actor_system& sys, event_loop& loop,
                                   line_sink print)
  : caf::scheduler::abstract_coordinator(sys), print_(std::move(print)),
    clock_(loop, roster_), queue_(sys, loop, roster_) {
  // nop
}

void loop_coordinator::load(caf::actor_system_config& cfg, event_loop& loop,
                            line_sink print) {
  cfg.module_factories.push_back(
    [&loop, print = std::move(print)](caf::actor_system& sys) {
      return new loop_coordinator(sys, loop, print);
    });
}

void loop_coordinator::init(caf::actor_system_config&) {
  // The base class reads settings of CAF's own schedulers here.
  num_workers_ = 1;
  max_throughput_ = run_queue::messages_per_job;
}

void loop_coordinator::start() {
  // The base class would start a thread to print from.
  utility_actors_[printer_id] =
    system().spawn<caf::hidden + caf::lazy_init>(troupe::printer, print_);
}

void loop_coordinator::stop() {
  queue_.run_until(std::chrono::steady_clock::now() + grace);
  caf::anon_send_exit(utility_actors_[printer_id],
                      caf::exit_reason::user_shutdown);
  clock_.close();
  queue_.kill_all();
  if (const auto left = system().registry().running(); left > 0)
    print_(std::to_string(left) + " actors outlive their actor system");
}

} // namespace troupe
