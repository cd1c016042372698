#include "actors/mesh/mesh_host_state.hpp"

#include <algorithm>

// Published data: the root keeps it for all nodes, except for what is to stay
// on its node.

namespace troupe::mesh_internals {

namespace {

template <class T, class Request>
void ask_root_for(self_pointer self, const requester& who, Request& request,
                  completion<T> done) {
  ask(self, 0, ask_root{who, std::move(request)}, reply_to<T>(std::move(done)));
}

publish_desk::timer timer_of(self_pointer self) {
  return [self](std::chrono::nanoseconds delay, std::function<void()> then) {
    call_later(self, delay, std::move(then));
  };
}

caf::expected<ack> outcome(status code) {
  if (code != status::success)
    return make_error(code, "");
  return ack{};
}

caf::result<ack> result_of(status code) {
  if (code != status::success)
    return code;
  return ack{};
}

} // namespace

// -- of this node
// ------------------------------------------------------------------

caf::result<ack> request_publish(self_pointer self, const requester& who,
                                 publish_request& request) {
  if (stays_on_node(request.infos))
    return result_of(self->state.published_here.publish(who, request));
  return answer_later<ack>(self, [&](completion<ack> done) {
    ask_root_for(self, who, request, std::move(done));
  });
}

caf::result<lookup_result> request_lookup(self_pointer self,
                                          const requester& who,
                                          lookup_request& request) {
  return answer_later<lookup_result>(self, [&](completion<lookup_result> done) {
    auto& here = self->state.published_here;
    if (stays_on_node(request.directives)) {
      here.look_up(who, std::move(request), std::move(done), timer_of(self));
      return;
    }
    // What is here, and the rest from the root.
    auto found = here.look_up_now(who, request);
    auto& keys = request.keys;
    for (const auto& x : found.found)
      keys.erase(std::remove(keys.begin(), keys.end(), x.key), keys.end());
    if (keys.empty()) {
      done(std::move(found));
      return;
    }
    ask_root_for<lookup_result>(
      self, who, request, [done, found](caf::expected<lookup_result> more) {
        if (found.found.empty()
            || (!more && status_of(more.error()) != status::not_found)) {
          done(std::move(more));
          return;
        }
        auto all = found;
        if (more)
          std::move(more->found.begin(), more->found.end(),
                    std::back_inserter(all.found));
        done(std::move(all));
      });
  });
}

caf::result<ack> request_unpublish(self_pointer self, const requester& who,
                                   unpublish_request& request) {
  const auto here = self->state.published_here.unpublish(who, request);
  const auto is_done = here == status::success && !request.keys.empty();
  if (is_done || stays_on_node(request.directives))
    return result_of(here);
  return answer_later<ack>(self, [&](completion<ack> done) {
    ask_root_for(self, who, request, std::move(done));
  });
}

// -- at the root
// ------------------------------------------------------------------

void look_up(self_pointer self, const requester& who, lookup_request& request,
             completion<lookup_result> done) {
  self->state.published.look_up(who, std::move(request), std::move(done),
                                timer_of(self));
}

caf::expected<ack> publish(self_pointer self, const requester& who,
                           const publish_request& request) {
  return outcome(self->state.published.publish(who, request));
}

caf::expected<ack> unpublish(self_pointer self, const requester& who,
                             const unpublish_request& request) {
  return outcome(self->state.published.unpublish(who, request));
}

void forget_process(mesh_host_state& state, const proc_id& proc) {
  state.published.proc_ended(proc);
  state.published_here.proc_ended(proc);
}

} // namespace troupe::mesh_internals
