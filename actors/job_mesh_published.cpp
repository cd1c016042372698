#include "actors/job_mesh_state.hpp"
#include "actors/timeout.hpp"
#include "messages/attributes.hpp"

#include <algorithm>

// What processes of the job have published: kept at the root of its mesh.

namespace troupe::job_mesh_internals {

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

} // namespace

caf::expected<ack> job_mesh::publish(const requester& who,
                                     const publish_request& request) {
  const auto outcome = published.publish(who, request);
  if (outcome != status::success)
    return make_error(outcome, "");
  for (auto i = lookups.begin(); i != lookups.end();) {
    auto& x = i->second;
    const auto enough = keys_to_wait_for(x.request).value_or(1);
    if (published.count(x.who, x.request) < enough) {
      ++i;
      continue;
    }
    x.done(lookup_result{published.look_up(x.who, x.request)});
    i = lookups.erase(i);
  }
  return ack{};
}

void job_mesh::look_up(const requester& who, lookup_request& request,
                       completion<lookup_result> done) {
  const auto wanted = keys_to_wait_for(request);
  if (published.count(who, request) >= wanted.value_or(1)) {
    done(lookup_result{published.look_up(who, request)});
    return;
  }
  if (!wanted) {
    done(make_error(status::not_found, "none of the keys is published"));
    return;
  }
  const auto id = next_lookup++;
  const auto timeout = timeout_of(request.directives);
  lookups.emplace(id, waiting_lookup{who, std::move(request), std::move(done)});
  if (timeout)
    call_later(*timeout, [this, id] {
      auto x = lookups.extract(id);
      if (!x.empty())
        x.mapped().done(
          make_error(status::timeout, "the keys were not published in time"));
    });
}

caf::expected<ack> job_mesh::unpublish(const requester& who,
                                       const unpublish_request& request) {
  const auto outcome = published.unpublish(who, request);
  if (outcome != status::success)
    return make_error(outcome, "");
  return ack{};
}

void job_mesh::forget(const proc_id& proc) {
  for (auto i = lookups.begin(); i != lookups.end();)
    i = i->second.who.proc == proc ? lookups.erase(i) : std::next(i);
  published.proc_ended(proc);
}

} // namespace troupe::job_mesh_internals
