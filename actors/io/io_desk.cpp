#include "actors/io/io_desk.hpp"

#include "actors/io/io_desk_state.hpp"
#include "actors/sturdy.hpp"

namespace troupe {

namespace {

using namespace io_desk_internals;

io_desk_actor::behavior_type behavior(self_pointer self,
                                      io_desk_options options) {
  self->state.options = std::move(options);
  self->set_down_handler(
    [self](const caf::down_msg& x) { note_down(self, x.source); });
  auto handlers = io_desk_actor::behavior_type{
    [self](process_output& what) { return take_output(self, what); },
    [self](const io_job_begun& what) {
      open_job(self, what);
      return ack{};
    },
    [self](const io_job_over& what) { return close_job(self, what); },
    [self](io_subscription& how, output_sink_actor& sink) {
      return subscribe(self, how, sink);
    },
    [self](const io_unsubscription& what) {
      return unsubscribe(self, what.subscription);
    },
    [self](io_input& what) { return take_input(self, what); },
    [self](const list_io& what) { return list(self, what); },
    [self](const io_mesh_actor& mesh) { meet_mesh(self, mesh); },
    [self](uint32_t node, io_interest& what) {
      return take_interest(self, node, what);
    },
    [self](uint32_t node, io_fragment& what) {
      return take_fragment(self, node, what);
    },
    [self](const io_fetch& what) { return fetch(self, what); },
    [self](const io_node_lost& what) { lose_node(self, what); },
    [self](deadline due) {
      take_dropped(self);
      retry_interest(self, due.id);
      give_again(self, due.id);
    },
  };
  return sturdy(self, std::move(handlers));
}

} // namespace

io_desk_actor spawn_io_desk(caf::actor_system& sys, io_desk_options options) {
  return sys.spawn(behavior, std::move(options));
}

} // namespace troupe
