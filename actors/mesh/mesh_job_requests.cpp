#include "actors/mesh/mesh_host_state.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <csignal>

// What processes, tools and launchers want of jobs: carried out at the root.

namespace troupe::mesh_internals {

namespace {

caf::error unknown_job(const std::string& nspace) {
  return make_error(status::not_found, "no job " + nspace);
}

caf::error forbidden(const std::string& nspace) {
  return make_error(status::no_permissions,
                    "job " + nspace + " is another user's");
}

void signal_process_of(self_pointer self, const job_record& job,
                       const proc_id& proc, int32_t signal) {
  const auto& x = job.procs[proc.rank];
  if (!x.has_ended())
    ask(self, x.node, signal_process{proc, signal},
        [](const caf::expected<host_reply>&) {
          // Who is lost needs no signal.
        });
}

void spawn_for(self_pointer self, uint32_t from, requester& who,
               spawn_request& request, completion<spawn_result> done) {
  auto order = job_order{};
  order.origin = from;
  // A job started by a process shares the output, the observer and the right to
  // oversubscribe of its parent.
  if (const auto* parent = self->state.find_job(who.proc.nspace)) {
    order.origin = parent->origin;
    order.observer = parent->observer;
    order.oversubscribe = parent->oversubscribe;
  }
  // What a launcher reads goes to the first process, as its users expect.
  const auto is_launcher = who.role == peer_role::launcher_needs_identity
                           || who.role == peer_role::launcher_with_identity;
  if (is_launcher && find(request.job_infos, attr::stdin_tgt) == nullptr)
    request.job_infos.push_back(
      {std::string{attr::stdin_tgt}, 0, value::rank(0)});
  order.who = std::move(who);
  order.request = std::move(request);
  order.reply = std::move(done);
  begin_job(self, std::move(order));
}

/// One request, by its kind.
struct root_executor {
  self_pointer self;
  uint32_t from;
  requester& who;
  const mesh_calls::answerer& reply;

  template <class T>
  void give(caf::expected<T> x) {
    to_member<T>(reply)(std::move(x));
  }

  void operator()(spawn_request& x) {
    spawn_for(self, from, who, x, to_member<spawn_result>(reply));
  }

  void operator()(abort_request& x) {
    give(abort(self, who, x));
  }

  void operator()(publish_request& x) {
    give(publish(self, who, x));
  }

  void operator()(lookup_request& x) {
    look_up(self, who, x, to_member<lookup_result>(reply));
  }

  void operator()(unpublish_request& x) {
    give(unpublish(self, who, x));
  }

  void operator()(query_request& x) {
    reply(answer_query(self, from, who, x));
  }

  void operator()(job_control_request& x) {
    control_at_root(self, from, who, x, to_member<info_result>(reply));
  }

  void operator()(io_pull_request& x) {
    give(watchable(self->state, who, x));
  }

  void operator()(io_push_request& x) {
    push_at_root(self, who, x, to_member<ack>(reply));
  }
};

} // namespace

bool may_control(const job_record& job, const requester& who) {
  return who.creds.uid == job.parent.creds.uid || who.creds.uid == 0;
}

void carry_out_at_root(self_pointer self, uint32_t from, ask_root& request,
                       const mesh_calls::answerer& reply) {
  // X41: a daemon speaks for its own processes only.
  auto& state = self->state;
  const auto* job = state.find_job(request.who.proc.nspace);
  const auto is_foreign =
    job != nullptr
    && (request.who.proc.rank >= job->procs.size()
        || job->procs[request.who.proc.rank].node != from);
  if (is_foreign) {
    state.log(severity::error, "node " + std::to_string(from) + " asks for "
                                 + to_string(request.who.proc)
                                 + ", which is not its own: refused");
    reply(refusal(make_error(status::no_permissions,
                             "a daemon speaks for its own processes only")));
    return;
  }
  std::visit(root_executor{self, from, request.who, reply}, request.what);
}

caf::expected<ack> end(self_pointer self, const end_job& request) {
  auto* job = self->state.find_job(request.nspace);
  if (job == nullptr)
    return unknown_job(request.nspace);
  job->outcome.end(request.reason, request.exit_status);
  // Asked twice: patience is over. The shares see to that.
  end_processes(self, request.nspace, request.signal);
  return ack{};
}

void end_all_jobs(self_pointer self, const end_job& request,
                  completion<ack> done) {
  auto& state = self->state;
  state.is_closing = true;
  if (state.jobs.empty()) {
    done(ack{});
    return;
  }
  state.closing.push_back(std::move(done));
  auto names = std::vector<std::string>{};
  for (const auto& [nspace, job] : state.jobs)
    names.push_back(nspace);
  for (const auto& nspace : names) {
    auto one = request;
    one.nspace = nspace;
    end(self, one);
  }
}

/// Source: PMIx Standard v5, `PMIx_Abort`.
caf::expected<ack> abort(self_pointer self, const requester& who,
                         const abort_request& request) {
  const auto& nspace =
    request.procs.empty() ? who.proc.nspace : request.procs.front().nspace;
  auto* job = self->state.find_job(nspace);
  if (job == nullptr)
    return unknown_job(nspace);
  if (!may_control(*job, who))
    return forbidden(nspace);
  const auto whole = proc_id{nspace, rank_wildcard};
  const auto names_all =
    request.procs.empty()
    || std::find(request.procs.begin(), request.procs.end(), whole)
         != request.procs.end();
  job->outcome.abort(
    who.proc.rank, request.exit_status, request.message.value_or(""),
    nspace == who.proc.nspace ? place_of(self->state, *job, who.proc.rank)
                              : proc_place{});
  if (names_all) {
    // Whoever aborts its own job has failed.
    if (nspace == who.proc.nspace && !job->ending)
      end_connected(self, {who.proc});
    end_processes(self, nspace, SIGTERM);
    return ack{};
  }
  for (const auto& x : request.procs)
    if (x.nspace == nspace && x.rank < job->procs.size())
      signal_process_of(self, *job, x, SIGKILL);
  return ack{};
}

job_list list(const mesh_host_state& state, const list_jobs& request) {
  auto result = job_list{};
  for (const auto& [nspace, job] : state.jobs) {
    if (!request.nspace.empty() && request.nspace != nspace)
      continue;
    auto x = job_description{};
    x.nspace = nspace;
    x.state =
      job.ending ? job_state::terminated_with_error : job_state::running;
    x.cmd = job.commands.empty() ? "" : job.commands.front();
    auto hosts = std::map<uint32_t, std::string>{};
    for (const auto& share : job.map.shares)
      hosts[share.node] = share.hostname;
    for (uint32_t rank = 0; rank < job.procs.size(); ++rank) {
      const auto& proc = job.procs[rank];
      x.procs.push_back({{nspace, rank},
                         hosts[proc.node],
                         job.commands[proc.app],
                         proc.pid,
                         static_cast<uint8_t>(proc.state)});
    }
    result.jobs.push_back(std::move(x));
  }
  return result;
}

} // namespace troupe::mesh_internals
