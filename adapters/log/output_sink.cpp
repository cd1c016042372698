#include "adapters/log/output_sink.hpp"

#include "adapters/log/fd_writer.hpp"
#include "adapters/process/inherited_fd.hpp"

#include <caf/all.hpp>

#include <utility>

namespace troupe {

output_sink_actor::behavior_type
output_sink(output_sink_actor::stateful_pointer<output_sink_state> self,
            output_sink_settings settings) {
  ignore_broken_pipes();
  self->state.formatter = output_formatter{settings.format};
  self->state.settings = std::move(settings);
  return {
    [self](process_output& x) {
      auto& state = self->state;
      auto& writer = state.formatter.on_stderr(x.channel) ? state.settings.err
                                                          : state.settings.out;
      auto reply = self->make_response_promise<ack>();
      writer->write(state.formatter.format(std::move(x)),
                    [reply]() mutable { reply.deliver(ack{}); });
      return reply;
    },
  };
}

} // namespace troupe
