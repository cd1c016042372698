#include "adapters/process/process_launcher.hpp"

#include "adapters/process/process_table.hpp"
#include "base/sturdy.hpp"

#include <caf/all.hpp>

#include <utility>

namespace troupe {

process_launcher_state::process_launcher_state() = default;

process_launcher_state::~process_launcher_state() = default;

process_launcher_actor::behavior_type process_launcher(
  process_launcher_actor::stateful_pointer<process_launcher_state> self,
  event_loop* loop, process_launcher_settings settings) {
  self->state.table =
    std::make_unique<process_table>(self, *loop, std::move(settings));
  auto* table = self->state.table.get();
  self->set_down_handler(
    [table](const caf::down_msg& x) { table->abandon(x.source); });
  auto handlers = process_launcher_actor::behavior_type{
    [table](const start_process& request, const process_owner_actor& owner,
            const output_receiver_actor& sink) {
      return table->start(request, owner, sink);
    },
    [table](const signal_process& request) { table->signal(request); },
    [table](const control_procs& what) { return table->control(what); },
    [table](const find_process& request) { return table->find(request); },
    [self, table](const sweep_job& request) {
      auto reply = self->make_response_promise<ack>();
      table->sweep(request.nspace, reply);
      return reply;
    },
    [self, table](write_stdin& request) {
      auto reply = self->make_response_promise<ack>();
      table->write(std::move(request), reply);
      return reply;
    },
    [table](const close_stdin& request) { table->close(request); },
  };
  return sturdy(self, std::move(handlers));
}

} // namespace troupe
