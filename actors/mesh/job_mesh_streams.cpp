#include "actors/mesh/job_mesh_streams.hpp"

#include "actors/answer.hpp"
#include "actors/io/input_spread.hpp"
#include "messages/status.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace troupe {

namespace {

template <class T>
std::shared_ptr<answer<T>> owed_to(caf::typed_response_promise<T> promise) {
  return std::make_shared<answer<T>>(std::move(promise));
}

/// Answers with what a member says.
template <class T>
mesh_calls::completion answer_with(std::shared_ptr<answer<T>> reply) {
  return [reply = std::move(reply)](caf::expected<host_reply> x) {
    auto result = reply_as<T>(std::move(x));
    if (result)
      reply->give(std::move(*result));
    else
      reply->fail(std::move(result.error()));
  };
}

} // namespace

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
  self_->request(desk_.actor, caf::infinite, std::move(xs)...)
    .then([reply](T& x) { reply(std::move(x)); },
          [reply](const caf::error& why) { reply(refusal(why)); });
}

// -- for the desk of this node -----------------------------------------------

caf::result<ack> job_mesh_streams::want(io_interest& what) {
  auto reply = owed_to(self_->make_response_promise<ack>());
  const auto promise = reply->promise();
  wanted_ = std::move(what);
  meeting_.when_ready([this, reply](const caf::error& err) {
    if (err) {
      reply->fail(err);
      return;
    }
    // Given when all have answered: who is lost has nothing to give.
    const auto all =
      std::shared_ptr<void>{nullptr, [reply](void*) { reply->give(ack{}); }};
    for (const auto to : live())
      if (to != rank())
        ask_(to, wanted_, [all](const caf::expected<host_reply>&) {});
  });
  return promise;
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
  auto reply = owed_to(self_->make_response_promise<ack>());
  const auto promise = reply->promise();
  ask_(to, std::move(what), answer_with(std::move(reply)));
  return promise;
}

caf::result<io_fragment> job_mesh_streams::fetch(io_fetch& what) {
  const auto to = places_.node_of(what.stream.source);
  if (!to || live().count(*to) == 0)
    return make_error(status::not_found,
                      "no node has output of " + to_string(what.stream.source));
  auto reply = owed_to(self_->make_response_promise<io_fragment>());
  const auto promise = reply->promise();
  ask_(*to, what, answer_with(std::move(reply)));
  return promise;
}

caf::result<io_input_taken> job_mesh_streams::give(io_input& what) {
  auto procs = std::vector<proc_id>{};
  for (const auto rank : what.ranks)
    procs.push_back({what.nspace, rank});
  const auto nodes = places_.nodes_of(procs);
  auto reply = owed_to(self_->make_response_promise<io_input_taken>());
  const auto promise = reply->promise();
  const auto go = [this, reply, what = std::move(what)](const caf::error& err) {
    if (err) {
      reply->fail(err);
      return;
    }
    spread_input(
      places_, what,
      [this](uint32_t node, io_input part, input_taken_callback then) {
        ask_(node, std::move(part),
             [then = std::move(then)](caf::expected<host_reply> x) {
               then(reply_as<io_input_taken>(std::move(x)));
             });
      },
      [reply](caf::expected<io_input_taken> x) {
        if (x)
          reply->give(std::move(*x));
        else
          reply->fail(std::move(x.error()));
      });
  };
  // What is for this node only waits for no other.
  if (nodes.empty() || (nodes.size() == 1 && nodes.front() == rank()))
    go({});
  else
    meeting_.when_ready(go);
  return promise;
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

// -- for members -------------------------------------------------------------

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
