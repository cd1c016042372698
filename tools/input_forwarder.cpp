#include "tools/input_forwarder.hpp"

#include "messages/attributes.hpp"
#include "tools/stream_table.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

using promise = caf::typed_response_promise<io_input_taken>;

/// What all of the named have been given.
uint64_t offset_of(const std::vector<stream_row>& rows, const io_input& whose) {
  auto result = std::optional<uint64_t>{};
  for (const auto& x : rows) {
    const auto is_named =
      std::any_of(whose.ranks.begin(), whose.ranks.end(), [&](uint32_t rank) {
        return rank == rank_wildcard || rank == x.source.rank;
      });
    if (is_named && x.stream == "stdin" && !x.is_over)
      result = std::min(result.value_or(x.end), x.end);
  }
  return result.value_or(0);
}

void ask(link& to, const io_input& whose, promise reply) {
  to.submit(stream_question({whose.nspace, rank_wildcard}),
            [whose, reply](const link::outcome& outcome) mutable {
              auto taken = io_input_taken{};
              taken.readers = 1;
              if (outcome)
                taken.offset = offset_of(stream_rows(*outcome), whose);
              reply.deliver(taken);
            });
}

/// Cuts input at the key that detaches.
/// @returns whether it was there.
bool cut_at_detach(std::string& bytes) {
  constexpr char detach_key = 0x1d; // Ctrl-]
  const auto at = bytes.find(detach_key);
  if (at == std::string::npos)
    return false;
  bytes.erase(at);
  return true;
}

void push(link& to, io_input& what, const forwarding& how, promise reply) {
  auto request = io_push_request{};
  for (const auto rank : what.ranks)
    request.targets.push_back({what.nspace, rank});
  auto taken = io_input_taken{};
  taken.offset = what.offset.value_or(0) + what.bytes.size();
  taken.readers = what.is_end ? 0 : 1;
  if (!what.is_end)
    request.bytes = std::move(what.bytes);
  to.submit(request, [reply, taken,
                      tell = how.on_refused](link::outcome outcome) mutable {
    if (outcome) {
      reply.deliver(taken);
      return;
    }
    if (tell && status_of(outcome.error()) != status::resource_busy)
      tell(outcome.error());
    reply.deliver(std::move(outcome.error()));
  });
}

} // namespace

input_target_actor::behavior_type input_forwarder(
  input_target_actor::stateful_pointer<input_forwarder_state> self,
  std::shared_ptr<link> to, forwarding how) {
  return {
    [self, to, how](io_input& what) -> caf::result<io_input_taken> {
      const auto is_question = what.bytes.empty() && !what.is_end;
      if (how.on_detach && cut_at_detach(what.bytes)) {
        how.on_detach();
        if (what.bytes.empty())
          return io_input_taken{};
      }
      if (what.is_end && how.keeps_open)
        return io_input_taken{};
      auto reply = self->make_response_promise<io_input_taken>();
      if (is_question)
        ask(*to, what, reply);
      else
        push(*to, what, how, reply);
      return reply;
    },
  };
}

} // namespace troupe
