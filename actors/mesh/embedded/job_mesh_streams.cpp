#include "actors/mesh/embedded/job_mesh_streams.hpp"

#include "actors/io/input_spread.hpp"
#include "messages/status.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace troupe {

job_mesh_streams::job_mesh_streams(caf::event_based_actor* self, desk streams,
                                   const registered_map& where,
                                   const job_locations& places,
                                   job_meeting& meeting, asker ask)
  : self_(self), desk_(std::move(streams)), where_(where), places_(places),
    meeting_(meeting), ask_(std::move(ask)) {
  // nop
}

template <class T, class... Ts>
void job_mesh_streams::ask_desk(const mesh_calls::answerer& reply, Ts... xs) {
  if (!desk_.actor) {
    reply(refusal(make_error(status::not_supported,
                             "this server has no standard streams")));
    return;
  }
  ask<T>(self_, desk_.actor, to_member<T>(reply), std::move(xs)...);
}

// -- for the desk of this node --

caf::result<ack> job_mesh_streams::want(io_interest& what) {
  wanted_ = std::move(what);
  return answer_later<ack>(self_, [&](completion<ack> done) {
    meeting_.when_ready([this, done = std::move(done)](const caf::error& why) {
      if (why) {
        done(why);
        return;
      }
      // Given when all have answered: a node that is lost has nothing to give.
      const auto all =
        std::shared_ptr<void>{nullptr, [done](void*) { done(ack{}); }};
      for (const auto to : live())
        if (to != rank())
          ask_(to, wanted_, [all](const caf::expected<host_reply>&) {});
    });
  });
}

void job_mesh_streams::tell_wanted(uint32_t node) {
  if (node != rank() && !wanted_.nspace.empty())
    ask_(node, wanted_, [](const caf::expected<host_reply>&) {
      // It may have no streams.
    });
}

caf::result<ack> job_mesh_streams::send(uint32_t node, io_fragment& what) {
  const auto to = node - desk_.first_node;
  if (live().count(to) == 0)
    return make_error(status::unreach, "that node is gone");
  return answer_later<ack>(self_, [&](completion<ack> done) {
    ask_(to, std::move(what), reply_to<ack>(std::move(done)));
  });
}

caf::result<io_fragment> job_mesh_streams::fetch(io_fetch& what) {
  const auto to = places_.node_of(what.stream.source);
  if (!to || live().count(*to) == 0)
    return make_error(status::not_found,
                      "no node has output of " + to_string(what.stream.source));
  return answer_later<io_fragment>(self_, [&](completion<io_fragment> done) {
    ask_(*to, what, reply_to<io_fragment>(std::move(done)));
  });
}

caf::result<io_input_taken> job_mesh_streams::give(io_input& what) {
  auto procs = std::vector<proc_id>{};
  for (const auto rank : what.ranks)
    procs.push_back({what.nspace, rank});
  const auto nodes = places_.nodes_of(procs);
  return answer_later<io_input_taken>(
    self_, [&](completion<io_input_taken> done) {
      const auto go = [this, done = std::move(done),
                       what = std::move(what)](const caf::error& why) {
        if (why) {
          done(why);
          return;
        }
        spread_input(
          places_, what,
          [this](uint32_t node, io_input part, input_taken_callback then) {
            ask_(node, std::move(part),
                 reply_to<io_input_taken>(std::move(then)));
          },
          done);
      };
      // What is for this node only waits for no other.
      if (nodes.empty() || (nodes.size() == 1 && nodes.front() == rank()))
        go({});
      else
        meeting_.when_ready(go);
    });
}

void job_mesh_streams::lose_node(uint32_t node) {
  if (!desk_.actor)
    return;
  auto what = io_node_lost{};
  what.node = desk_.first_node + node;
  for (const auto proc : places_.ranks_on(node, nspace()))
    what.procs.push_back({nspace(), proc});
  self_->send(desk_.actor, std::move(what));
}

// -- for members --

void job_mesh_streams::take(uint32_t from, io_interest& what,
                            const mesh_calls::answerer& reply) {
  if (what.nspace != nspace()) {
    reply(refusal(make_error(status::bad_param, "the mesh of " + nspace()
                                                  + " has no output of "
                                                  + what.nspace)));
    return;
  }
  if (what.ranks.size() > places_.size_of(nspace()))
    what.ranks = {rank_wildcard};
  ask_desk<ack>(reply, desk_.first_node + from, std::move(what));
}

void job_mesh_streams::take(uint32_t from, io_fragment& what,
                            const mesh_calls::answerer& reply) {
  ask_desk<ack>(reply, desk_.first_node + from, std::move(what));
}

void job_mesh_streams::take(uint32_t, io_fetch& what,
                            const mesh_calls::answerer& reply) {
  ask_desk<io_fragment>(reply, std::move(what));
}

/// Source: X41: all members are servers of the resource manager, which decides
/// who may give input.
void job_mesh_streams::take(uint32_t, io_input& what,
                            const mesh_calls::answerer& reply) {
  if (const auto why = keep_input_of(places_, rank(), what))
    reply(refusal(why));
  else
    ask_desk<io_input_taken>(reply, std::move(what));
}

} // namespace troupe
