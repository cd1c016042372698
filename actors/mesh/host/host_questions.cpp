#include "actors/mesh/host/host_questions.hpp"

#include "actors/mesh/exchange/environment_spread.hpp"
#include "actors/mesh/exchange/event_routes.hpp"
#include "actors/mesh/host/job_shares.hpp"
#include "actors/mesh/host/log_desk.hpp"
#include "actors/mesh/host/mesh_queries.hpp"
#include "messages/status.hpp"

#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <type_traits>
#include <utility>
#include <variant>

namespace troupe {

namespace {

constexpr auto root = host_calls::root;

template <class T, class... Ts>
constexpr bool is_any_of = (std::is_same_v<T, Ts> || ...);

/// Whether only the root may be asked for that.
struct is_for_root {
  bool operator()(const ask_root& x) const {
    return !is_objects_question(x) && !is_log_question(x)
           && !is_waits_question(x);
  }

  template <class T>
  bool operator()(const T&) const {
    return is_any_of<T, share_progress, share_ended, locate_job, list_jobs,
                     connection_changed, node_resources, list_nspaces>;
  }
};

/// Whether other nodes are asked for that by the root alone, and whether the
/// root is, too.
struct is_of_root {
  template <class T>
  bool operator()(const T&) const {
    return is_any_of<
             T, prepare_share, start_share, end_share, procs_gone, forget_job,
             signal_process, run_site_hook, control_procs, define_process_set,
             delete_process_set> || (to != root && is_any_of<T, environment_interest, environment_event>);
  }

  uint32_t to;
};

caf::error suspended() {
  return make_error(status::not_available,
                    "the node is out of contact with its root");
}

} // namespace

caf::error check_way(const host_question& what, uint32_t from, uint32_t to) {
  if (to != root && std::visit(is_for_root{}, what))
    return make_error(status::bad_param, "only the root can be asked for that");
  if (from != root && std::visit(is_of_root{to}, what))
    return make_error(status::no_permissions, "only the root may ask for that");
  return {};
}

host_questions::host_questions(mesh_host_actor::pointer self,
                               const mesh_host_options& options,
                               const host_actors& actors, parts others)
  : self_(self), options_(options), actors_(actors),
    others_(std::move(others)) {
  // nop
}

/// One question, by its kind; the way it has come is right.
struct host_questions::executor {
  host_questions& of;
  const parts& others;
  const mesh_calls::member& from;
  const mesh_calls::answerer& reply;

  void refuse(const caf::error& why) {
    reply(refusal(why));
  }

  template <class T>
  void give(caf::expected<T> x) {
    to_member<T>(reply)(std::move(x));
  }

  /// Asks the server, which the root has told of its jobs.
  template <class T>
  void ask_server(const T& x) {
    ask<ack>(of.self_, of.actors_.server, to_member<ack>(reply), x);
  }

  // -- shares in jobs --

  void operator()(prepare_share& x) {
    if (others.may_work())
      others.shares.prepare(x, to_member<job_map>(reply));
    else
      refuse(suspended());
  }

  void operator()(start_share& x) {
    if (others.may_work())
      others.shares.start(x, to_member<spawn_result>(reply));
    else
      refuse(suspended());
  }

  void operator()(end_share& x) {
    give(others.shares.rules().end(x));
  }

  void operator()(procs_gone& x) {
    others.shares.hear_of_gone(x);
    reply(ack{});
  }

  void operator()(forget_job& x) {
    others.shares.forget(x, to_member<ack>(reply));
  }

  void operator()(signal_process& x) {
    of.self_->send(of.actors_.launcher, x);
    reply(ack{});
  }

  void operator()(run_site_hook& x) {
    others.shares.run_hook(x, to_member<site_hook_result>(reply));
  }

  void operator()(control_procs& x) {
    others.shares.control(x, to_member<procs_controlled>(reply));
  }

  void operator()(define_process_set& x) {
    ask_server(x);
  }

  void operator()(delete_process_set& x) {
    ask_server(x);
  }

  // -- jobs, at the root --

  void operator()(share_progress& x) {
    others.jobs.note_progress(from.rank, x);
    reply(ack{});
  }

  void operator()(share_ended& x) {
    reply(ack{});
    others.jobs.note_share_ended(from.rank, x.nspace);
  }

  void operator()(locate_job& x) {
    others.jobs.locate(from.rank, x.nspace, to_member<job_map>(reply));
  }

  void operator()(ask_root& x) {
    if (is_log_question(x))
      others.logs.answer_here(x, to_member<info_result>(reply));
    else if (is_waits_question(x))
      others.queries.list_waits_here(x, to_member<info_result>(reply));
    else if (is_objects_question(x))
      others.queries.count_objects_here(to_member<info_result>(reply));
    else
      of.carry_out_at_root(from.rank, x, reply);
  }

  void operator()(list_jobs& x) {
    reply(others.jobs.list(x));
  }

  void operator()(list_nspaces&) {
    auto result = nspace_list{};
    for (const auto& [nspace, unused] : others.jobs.all())
      result.nspaces.push_back(nspace);
    reply(std::move(result));
  }

  void operator()(connection_changed& x) {
    give(others.jobs.note_connection(from.rank, std::move(x)));
  }

  void operator()(node_resources& x) {
    others.jobs.offer(from.rank, x.slots);
    reply(ack{});
  }

  // -- standard streams --

  void operator()(io_interest& x) {
    others.streams.spread().take(from.rank, x, to_member<ack>(reply));
  }

  /// X41: streams of a process are those of its own node.
  void operator()(io_fragment& x) {
    if (from.rank != of.options_.rank
        && others.places.node_of(x.stream.source) == from.rank)
      others.streams.spread().take(from.rank, x, to_member<ack>(reply));
    else
      refuse(make_error(status::no_permissions,
                        to_string(x.stream.source) + " is not of that node"));
  }

  void operator()(io_fetch& x) {
    others.streams.spread().take(x, to_member<io_fragment>(reply));
  }

  void operator()(io_input& x) {
    others.streams.take_input(from.rank, x, to_member<io_input_taken>(reply));
  }

  void operator()(list_io& x) {
    others.streams.spread().take(x, to_member<io_list>(reply));
  }

  // -- what processes have with each other --

  void operator()(collective_part& x) {
    reply(ack{});
    others.logs.note_received(from.rank, x);
    others.collectives.take(from.rank, std::move(x));
  }

  void operator()(collective_outcome& x) {
    reply(ack{});
    others.logs.note_received(from.rank, x);
    others.collectives.take(from.rank, std::move(x));
  }

  void operator()(direct_modex& x) {
    of.answer_modex(x, to_member<get_result>(reply));
  }

  void operator()(deliver_event& x) {
    give(of.take_event(from.rank, x));
  }

  void operator()(submit_event& x) {
    others.events.take(from, std::move(x), reply);
  }

  void operator()(order_events& x) {
    others.events.orders().take(from.rank, std::move(x), reply);
  }

  void operator()(collect_events& x) {
    others.events.orders().take(from.rank, x, reply);
  }

  void operator()(find_procs& x) {
    if (others.tools.has(x.procs, others.places))
      reply(ack{});
    else
      refuse(make_error(status::not_found, "none of these is connected here"));
  }

  // -- this node --

  void operator()(list_groups) {
    others.queries.list_groups_here(to_member<group_list>(reply));
  }

  void operator()(get_mesh_status) {
    others.queries.describe_node(to_member<mesh_status>(reply));
  }

  void operator()(sample_elsewhere& x) {
    if (const auto why = others.events.check_speaker(from.rank, x.who.proc))
      refuse(why);
    else
      others.queries.sample_here(x, to_member<info_result>(reply));
  }

  void operator()(environment_interest& x) {
    others.environment.take(from.rank, x);
    reply(ack{});
  }

  void operator()(environment_event& x) {
    // The root tells of jobs, too: whoever asks.
    if (of.options_.rank == root && !is_of_environment(x.code)) {
      refuse(make_error(status::bad_param,
                        to_string(x.code)
                          + " is no event of the environment; choose "
                            "TROUPE_EVENT_SITE_BASE (-32300) to -32330"));
      return;
    }
    others.environment.take(from.rank, std::move(x));
    reply(ack{});
  }
};

void host_questions::carry_out(const mesh_calls::member& from,
                               host_question& what,
                               const mesh_calls::answerer& reply) {
  if (const auto why = check_way(what, from.rank, options_.rank))
    reply(refusal(why));
  else
    std::visit(executor{*this, others_, from, reply}, what);
}

// -- requests of processes and tools, at the root --

/// One request, by its kind.
struct host_questions::root_executor {
  const parts& others;
  uint32_t from;
  requester& who;
  const mesh_calls::answerer& reply;

  template <class T>
  void give(caf::expected<T> x) {
    to_member<T>(reply)(std::move(x));
  }

  void operator()(spawn_request& x) {
    others.jobs.spawn(from, who, x, to_member<spawn_result>(reply));
  }

  void operator()(abort_request& x) {
    give(others.jobs.abort(who, x));
  }

  void operator()(publish_request& x) {
    give(others.published.publish_for_all(who, x));
  }

  void operator()(lookup_request& x) {
    others.published.look_up_for_all(who, x, to_member<lookup_result>(reply));
  }

  void operator()(unpublish_request& x) {
    give(others.published.unpublish_for_all(who, x));
  }

  void operator()(query_request& x) {
    reply(others.queries.answer_at_root(from, who, x));
  }

  void operator()(job_control_request& x) {
    others.jobs.control(from, who, x, to_member<info_result>(reply));
  }

  void operator()(io_pull_request& x) {
    give(others.streams.watchable(who, x));
  }

  void operator()(io_push_request& x) {
    others.streams.push_at_root(who, x, to_member<ack>(reply));
  }
};

void host_questions::carry_out_at_root(uint32_t from, ask_root& request,
                                       const mesh_calls::answerer& reply) {
  // X41: a daemon speaks for its own processes only.
  if (others_.jobs.is_foreign(from, request.who.proc)) {
    if (options_.log)
      options_.log(severity::error, "node " + std::to_string(from)
                                      + " asks for "
                                      + to_string(request.who.proc)
                                      + ", which is not its own: refused");
    reply(refusal(make_error(status::no_permissions,
                             "a daemon speaks for its own processes only")));
    return;
  }
  std::visit(root_executor{others_, from, request.who, reply}, request.what);
}

// -- events for the resource manager, and data of processes --

caf::expected<ack> host_questions::take_event(uint32_t from,
                                              deliver_event& what) {
  if (auto why = others_.events.check_speaker(from, what.what.source))
    return why;
  others_.jobs.hear(what.what);
  if (what.what.range != data_range::rm)
    return ack{};
  if (options_.log)
    options_.log(severity::info, to_string(what.what.source)
                                   + " tells the resource manager of "
                                   + to_string(what.what.code));
  // The server's own handlers may want it.
  caf::anon_send(actors_.events, std::move(what));
  return ack{};
}

void host_questions::answer_modex(direct_modex& what,
                                  completion<get_result> done) {
  if (!actors_.server) {
    done(make_error(status::init, "the host has no server"));
    return;
  }
  // Whoever asks has not heard yet; the server would wait for the job to come.
  if (others_.shares.find(what.target.nspace) == nullptr) {
    done(make_error(
      status::not_found,
      "job " + what.target.nspace
        + " does not run here, or is over; troupe jobs lists those there are"));
    return;
  }
  ask<get_result>(self_, actors_.server, std::move(done), std::move(what));
}

} // namespace troupe
