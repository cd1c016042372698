#include "actors/mesh/mesh_host_state.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>

// What processes of several nodes have with each other: collectives, data. The
// rules are in plain classes; here they get their means.

namespace troupe::mesh_internals {

namespace {

mesh_collectives::effects means_of_collectives(self_pointer self) {
  auto out = mesh_collectives::effects{};
  out.tell = [self](uint32_t rank, host_question what) {
    self->state.calls->tell(rank, std::move(what));
    arm(self);
  };
  out.locate = [self](const std::string& nspace) {
    locate(self, nspace, [self, nspace](const caf::error& why) {
      if (why)
        self->state.collectives->job_unknown(nspace, reason_of(why));
      else
        self->state.collectives->job_known(nspace);
    });
  };
  out.is_live = [self](uint32_t rank) {
    return self->state.calls->is_live(rank);
  };
  return out;
}

modex_desk::effects means_of_modex(self_pointer self) {
  auto out = modex_desk::effects{};
  out.ask = [self](uint32_t rank, direct_modex what,
                   std::chrono::nanoseconds limit,
                   modex_desk::completion then) {
    self->state.calls->call(rank, std::move(what),
                            reply_to<get_result>(std::move(then)), limit);
    arm(self);
  };
  out.locate = [self](const std::string& nspace,
                      std::function<void(const caf::error&)> then) {
    locate(self, nspace, std::move(then));
  };
  return out;
}

bool spans_jobs(const std::vector<proc_id>& procs) {
  return std::any_of(procs.begin(), procs.end(), [&](const proc_id& x) {
    return x.nspace != procs.front().nspace;
  });
}

/// How an operation changes who is connected; nothing if it does not.
std::optional<connection_changed>
connection_change(const host_collective& what) {
  // Questions about an operation are no operation.
  if (what.failure != status::success || !spans_jobs(what.procs))
    return std::nullopt;
  if (what.kind == collective_kind::fence
      && !flag(what.directives, disconnecting_fence))
    return std::nullopt;
  return connection_changed{what.procs, what.kind == collective_kind::connect};
}

/// Tells the root, which acts on it.
void tell_connection(self_pointer self, const connection_changed& what,
                     completion<ack> then) {
  ask(self, 0, what, reply_to<ack>([then](caf::expected<ack> x) {
        // A root that is gone needs to know nothing.
        if (!x && status_of(x.error()) == status::out_of_resource)
          then(std::move(x.error()));
        else
          then(ack{});
      }));
}

} // namespace

void start_exchange(self_pointer self) {
  auto& state = self->state;
  const auto rank = state.options.rank;
  state.collectives = std::make_unique<mesh_collectives>(
    rank, state.locations, means_of_collectives(self));
  state.modex =
    std::make_unique<modex_desk>(state.locations, means_of_modex(self));
  start_events(self);
}

void locate(self_pointer self, const std::string& nspace,
            std::function<void(const caf::error&)> then) {
  auto& waiting = self->state.locating[nspace];
  waiting.push_back(std::move(then));
  if (waiting.size() > 1)
    return;
  ask(self, 0, locate_job{nspace},
      reply_to<job_map>([self, nspace](caf::expected<job_map> map) {
        auto& state = self->state;
        if (map)
          state.locations.add(*map);
        auto node = state.locating.extract(nspace);
        if (node.empty())
          return;
        const auto why = map ? caf::error{} : map.error();
        for (const auto& then : node.mapped())
          then(why);
      }));
}

caf::result<host_collective_result> join_collective(self_pointer self,
                                                    host_collective& what) {
  // Members have left a group: no operation.
  if (what.failure != status::success && what.generation != 0
      && static_cast<uint32_t>(what.generation) == 0) {
    self->state.collectives->procs_left(what.generation, what.procs,
                                        what.reason);
    return host_collective_result{};
  }
  const auto change = connection_change(what);
  // All processes are on this node: there is nobody else to wait for.
  if (what.is_local && !change)
    return host_collective_result{};
  return answer_later<host_collective_result>(
    self, [&](completion<host_collective_result> done) {
      // Before anybody goes on: whoever fails then has failed all of them.
      if (change)
        done = [self, change = *change,
                done](caf::expected<host_collective_result> x) {
          if (!x) {
            done(std::move(x));
            return;
          }
          tell_connection(self, change,
                          [done, x = std::move(x)](caf::expected<ack> y) {
                            if (y)
                              done(x);
                            else
                              done(std::move(y.error()));
                          });
        };
      if (what.is_local)
        done(host_collective_result{});
      else
        self->state.collectives->join(std::move(what), std::move(done));
    });
}

caf::result<get_result> get_from_node(self_pointer self, direct_modex& what) {
  return answer_later<get_result>(self, [&](completion<get_result> done) {
    self->state.modex->get(std::move(what), std::move(done));
  });
}

void answer_modex(self_pointer self, direct_modex& what,
                  completion<get_result> done) {
  if (!self->state.server) {
    done(make_error(status::init, "the host has no server"));
    return;
  }
  // Whoever asks has not heard yet; the server would wait for the job to come.
  if (self->state.find_share(what.target.nspace) == nullptr) {
    done(make_error(status::not_found, "job " + what.target.nspace
                                         + " does not run here, or is over"));
    return;
  }
  self->request(self->state.server, caf::infinite, std::move(what))
    .then([done](get_result& result) { done(std::move(result)); },
          [done](caf::error& why) { done(std::move(why)); });
}

void note_gone(self_pointer self, const std::vector<proc_ended>& procs) {
  if (!procs.empty())
    self->state.collectives->procs_gone(procs);
}

} // namespace troupe::mesh_internals
