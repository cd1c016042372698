#include "adapters/process/write_input.hpp"

#include "adapters/process/input_pipe.hpp"
#include "messages/actors.hpp"
#include "messages/status.hpp"

#include <string>
#include <utility>

namespace troupe {

void write_input(input_pipe* pipe, write_stdin&& request,
                 caf::typed_response_promise<ack> reply) {
  const auto refuse = [proc = request.proc](auto& answer) {
    answer.deliver(
      make_error(status::lost_connection,
                 to_string(proc) + " does not read its standard input"));
  };
  if (pipe == nullptr) {
    refuse(reply);
    return;
  }
  auto answer = reply;
  const auto accepted = pipe->write(std::move(request.bytes),
                                    [answer, refuse](bool written) mutable {
                                      if (written)
                                        answer.deliver(ack{});
                                      else
                                        refuse(answer);
                                    });
  if (!accepted)
    reply.deliver(
      make_error(status::resource_busy, "too much input waits for "
                                          + to_string(request.proc)
                                          + "; wait for the answers"));
}

} // namespace troupe
