#include "actors/mesh_host_state.hpp"
#include "actors/timeout.hpp"
#include "messages/attributes.hpp"

// Published data: the root keeps it for all nodes.

namespace troupe::mesh_internals {

namespace {

/// Source: PMIx Standard v5, PMIX_WAIT: how many keys to wait for; 0, or true,
/// for all.
std::optional<size_t> keys_to_wait_for(const lookup_request& request) {
  const auto* wait = find(request.directives, attr::wait);
  if (wait == nullptr)
    return std::nullopt;
  const auto all = request.keys.size();
  if (wait->type == data_type::bool_ || wait->type == data_type::undef)
    return wait->truth() ? std::optional<size_t>{all} : std::nullopt;
  const auto count = wait->number<uint32_t>().value_or(0);
  return count == 0 ? all : std::min<size_t>(count, all);
}

/// Looks up without removing what goes with the first reading, unless enough is
/// there.
std::optional<lookup_result> try_look_up(mesh_host_state& state,
                                         const requester& who,
                                         const lookup_request& request,
                                         size_t enough) {
  if (state.published.count(who, request) < enough)
    return std::nullopt;
  return lookup_result{state.published.look_up(who, request)};
}

} // namespace

void look_up(self_pointer self, const requester& who, lookup_request& request,
             completion<lookup_result> done) {
  auto& state = self->state;
  const auto wanted = keys_to_wait_for(request);
  if (auto found = try_look_up(state, who, request, wanted.value_or(1))) {
    done(std::move(*found));
    return;
  }
  if (!wanted) {
    done(make_error(status::not_found, "none of the keys is published"));
    return;
  }
  const auto id = state.next_lookup++;
  const auto timeout = timeout_of(request.directives);
  state.lookups.emplace(
    id, waiting_lookup{who, std::move(request), std::move(done)});
  if (timeout)
    call_later(self, *timeout, [self, id] {
      auto node = self->state.lookups.extract(id);
      if (!node.empty())
        node.mapped().reply(
          make_error(status::timeout, "the keys were not published in time"));
    });
}

caf::expected<ack> publish(self_pointer self, const requester& who,
                           const publish_request& request) {
  auto& state = self->state;
  const auto outcome = state.published.publish(who, request);
  if (outcome != status::success)
    return make_error(outcome, "");
  for (auto i = state.lookups.begin(); i != state.lookups.end();) {
    auto& x = i->second;
    auto found = try_look_up(state, x.who, x.request,
                             keys_to_wait_for(x.request).value_or(1));
    if (found) {
      x.reply(std::move(*found));
      i = state.lookups.erase(i);
    } else {
      ++i;
    }
  }
  return ack{};
}

caf::expected<ack> unpublish(self_pointer self, const requester& who,
                             const unpublish_request& request) {
  const auto outcome = self->state.published.unpublish(who, request);
  if (outcome != status::success)
    return make_error(outcome, "");
  return ack{};
}

void forget_process(mesh_host_state& state, const proc_id& proc) {
  for (auto i = state.lookups.begin(); i != state.lookups.end();) {
    if (i->second.who.proc == proc) {
      i->second.reply(make_error(status::unreach, ""));
      i = state.lookups.erase(i);
    } else {
      ++i;
    }
  }
  state.published.proc_ended(proc);
}

} // namespace troupe::mesh_internals
