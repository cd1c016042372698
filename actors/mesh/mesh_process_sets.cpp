#include "actors/mesh/mesh_host_state.hpp"
#include "messages/attributes.hpp"

#include <utility>

// Process sets: the root keeps them, the servers of all nodes answer questions
// about them and tell their processes.

namespace troupe::mesh_internals {

namespace {

/// Asks all members, and goes on when each has answered or is lost.
void ask_all(self_pointer self, const host_question& what,
             completion<ack> then) {
  const auto nodes = self->state.calls->live();
  auto left = std::make_shared<size_t>(nodes.size() + 1);
  const auto one = [left,
                    then = std::move(then)](const caf::expected<host_reply>&) {
    // A node that is lost has nobody who could ask.
    if (--*left == 0)
      then(ack{});
  };
  for (const auto node : nodes)
    ask(self, node, what, one);
  one(ack{});
}

/// Source: PMIx Standard v5, "Process Sets": their names are no namespaces.
caf::error conflict(const mesh_host_state& state, const std::string& name) {
  const auto& own = state.options.server.nspace;
  const auto is_ours =
    name == own || name.compare(0, own.size() + 1, own + "@") == 0;
  if (is_ours || state.jobs.count(name) > 0)
    return make_error(status::bad_param,
                      "process set " + name
                        + ": it is, or may become, the namespace of a job");
  return {};
}

caf::error add_set(mesh_host_state& state, const define_process_set& what) {
  if (auto why = conflict(state, what.name))
    return why;
  return state.sets.define(what);
}

} // namespace

void define_set(self_pointer self, define_process_set what,
                completion<ack> then) {
  if (auto why = add_set(self->state, what)) {
    then(std::move(why));
    return;
  }
  ask_all(self, std::move(what), std::move(then));
}

caf::error define_sets_of(self_pointer self, const job_record& job,
                          const spawn_request& request,
                          std::vector<define_process_set>& to) {
  auto sets = std::map<std::string, define_process_set>{};
  for (uint32_t number = 0; number < request.apps.size(); ++number) {
    const auto name = text(request.apps[number].infos, attr::pset_name);
    if (!name)
      continue;
    auto& x = sets[*name];
    x.name = *name;
    for (uint32_t rank = 0; rank < job.procs.size(); ++rank)
      if (job.procs[rank].app == number)
        x.members.push_back({job.map.nspace, rank});
  }
  for (auto& [name, x] : sets) {
    if (auto why = add_set(self->state, x))
      return why;
    to.push_back(std::move(x));
  }
  return {};
}

void tell_sets(self_pointer self, std::vector<define_process_set> sets,
               std::function<void()> then) {
  auto left = std::make_shared<size_t>(sets.size() + 1);
  const auto one = [left, then = std::move(then)](const caf::expected<ack>&) {
    if (--*left == 0)
      then();
  };
  for (auto& x : sets)
    ask_all(self, std::move(x), one);
  one(ack{});
}

void end_sets_of(self_pointer self, const std::string& nspace) {
  for (auto& name : self->state.sets.job_over(nspace))
    ask_all(self, delete_process_set{std::move(name)},
            [](const caf::expected<ack>&) {
              // Nobody waits for it.
            });
}

void tell_sets(self_pointer self, uint32_t node) {
  for (auto& x : self->state.sets.all())
    ask(self, node, std::move(x), [](const caf::expected<host_reply>&) {
      // A node that is lost has nobody who could ask.
    });
}

// -- at every node
// -----------------------------------------------------------------

void define_set_here(self_pointer self, const define_process_set& what,
                     completion<ack> done) {
  self->request(self->state.server, caf::infinite, what)
    .then([done](ack) { done(ack{}); },
          [done](caf::error& why) { done(std::move(why)); });
}

void delete_set_here(self_pointer self, const delete_process_set& what,
                     completion<ack> done) {
  self->request(self->state.server, caf::infinite, what)
    .then([done](ack) { done(ack{}); },
          [done](caf::error& why) { done(std::move(why)); });
}

} // namespace troupe::mesh_internals
