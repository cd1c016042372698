#include "actors/local_host.hpp"

#include "actors/answer.hpp"
#include "actors/job.hpp"
#include "actors/published_data.hpp"
#include "actors/reminders.hpp"
#include "actors/timeout.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <map>
#include <memory>

namespace troupe {

namespace {

/// A job that runs.
struct running_job {
  job_actor handle;

  /// Where its output goes, and that of the jobs it spawns.
  output_sink_actor sink;
  job_observer_actor observer;

  /// Whether it, and what it spawns, may have more processes than slots.
  bool oversubscribe = false;
};

/// A lookup that waits for keys to be published.
struct waiting_lookup {
  requester who;
  lookup_request request;
  answer<lookup_result> reply;
};

struct local_host_state {
  static inline const char* name = "local-host";

  local_host_options options;
  local_host_directory directory;
  server_actor server;
  event_cache_actor events;

  std::map<std::string, running_job> jobs;
  uint32_t next_job = 1;
  uint32_t next_tool = 1;

  published_data published{defaults::posted_bytes_per_process};
  std::map<uint64_t, waiting_lookup> lookups;
  uint64_t next_lookup = 1;
  reminders waits;

  running_job* find_job(const std::string& nspace) {
    const auto i = jobs.find(nspace);
    return i != jobs.end() ? &i->second : nullptr;
  }
};

using self_pointer = local_host_actor::stateful_pointer<local_host_state>;

// -- jobs
// --------------------------------------------------------------------------

caf::result<spawn_result> spawn(self_pointer self, const requester& who,
                                spawn_request& request, running_job inherited) {
  auto& state = self->state;
  if (!state.server)
    return make_error(status::init, "the host has no server to serve the job");
  auto context = job_context{};
  context.number = state.next_job++;
  context.nspace =
    state.options.server.nspace + "@" + std::to_string(context.number);
  context.server = state.options.server;
  context.hostname = state.options.hostname;
  context.slots = state.options.slots;
  context.environment = state.options.environment;
  context.session_directory = state.options.session_directory;
  context.working_directory = state.options.working_directory;
  context.with_pmi1 = state.options.with_pmi1;
  context.oversubscribe = inherited.oversubscribe;
  if (const auto options = read_options(request))
    inherited.oversubscribe |= options->oversubscribe;
  auto directory = job_directory{};
  directory.host = local_host_actor{self};
  directory.server = state.server;
  directory.events = state.events;
  directory.launcher = state.directory.launcher;
  directory.topology = state.directory.topology;
  directory.cleaner = state.directory.cleaner;
  directory.sink = inherited.sink;
  directory.observer = inherited.observer;
  const auto nspace = context.nspace;
  inherited.handle = spawn_job(self->home_system(), std::move(context),
                               std::move(directory), state.options.log);
  const auto& job = state.jobs[nspace] = std::move(inherited);
  return self->delegate(job.handle, who, std::move(request));
}

/// A job started by a process shares the output, the observer and the right to
/// oversubscribe of its parent.
caf::result<spawn_result> spawn_for(self_pointer self, const requester& who,
                                    spawn_request& request) {
  auto& state = self->state;
  if (const auto* parent = state.find_job(who.proc.nspace))
    return spawn(self, who, request, *parent);
  return spawn(self, who, request, {{}, state.directory.sink, {}, false});
}

/// Source: PMIx Standard v5, `PMIx_Abort`: a process may end processes of its
/// own user.
caf::result<ack> abort(self_pointer self, const requester& who,
                       abort_request& request) {
  const auto& nspace =
    request.procs.empty() ? who.proc.nspace : request.procs.front().nspace;
  auto* job = self->state.find_job(nspace);
  if (job == nullptr)
    return make_error(status::not_found, "no job " + nspace);
  return self->delegate(job->handle, who, std::move(request));
}

template <class Message>
void pass_to_job(self_pointer self, const Message& what) {
  if (auto* job = self->state.find_job(what.who.proc.nspace))
    self->send(job->handle, what);
}

/// Source: PMIx Standard v5, `pmix_server_tool_connection_fn_t`.
proc_id identify(self_pointer self, const tool_connected& what) {
  if (!what.who.proc.nspace.empty() && !needs_identity(what.who.role))
    return what.who.proc;
  auto& state = self->state;
  return {state.options.server.nspace + "-tool"
            + std::to_string(state.next_tool++),
          0};
}

void forget_job(self_pointer self, const job_ended& what) {
  auto& state = self->state;
  state.jobs.erase(what.nspace);
  state.published.nspace_ended(what.nspace);
}

// -- published data
// ----------------------------------------------------------------

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
std::optional<lookup_result> try_look_up(local_host_state& state,
                                         const requester& who,
                                         const lookup_request& request,
                                         size_t enough) {
  if (state.published.count(who, request) < enough)
    return std::nullopt;
  return lookup_result{state.published.look_up(who, request)};
}

caf::result<lookup_result> look_up(self_pointer self, const requester& who,
                                   lookup_request& request) {
  auto& state = self->state;
  const auto wanted = keys_to_wait_for(request);
  if (auto found = try_look_up(state, who, request, wanted.value_or(1)))
    return std::move(*found);
  if (!wanted)
    return make_error(status::not_found, "none of the keys is published");
  auto promise = self->make_response_promise<lookup_result>();
  const auto id = state.next_lookup++;
  const auto timeout = timeout_of(request.directives);
  state.lookups.emplace(id, waiting_lookup{who, std::move(request),
                                           answer<lookup_result>{promise}});
  if (timeout) {
    const auto reminder = state.waits.add([self, id] {
      auto node = self->state.lookups.extract(id);
      if (!node.empty())
        node.mapped().reply.fail(status::timeout,
                                 "the keys were not published in time");
    });
    self->delayed_send(local_host_actor{self}, *timeout, deadline{reminder});
  }
  return promise;
}

caf::result<ack> publish(self_pointer self, const requester& who,
                         const publish_request& request) {
  auto& state = self->state;
  const auto outcome = state.published.publish(who, request);
  if (outcome != status::success)
    return outcome;
  for (auto i = state.lookups.begin(); i != state.lookups.end();) {
    auto& x = i->second;
    auto found = try_look_up(state, x.who, x.request,
                             keys_to_wait_for(x.request).value_or(1));
    if (found) {
      x.reply.give(std::move(*found));
      i = state.lookups.erase(i);
    } else {
      ++i;
    }
  }
  return ack{};
}

/// Drops what waits for, or was published by, a process that is gone.
void forget_process(local_host_state& state, const requester& who) {
  for (auto i = state.lookups.begin(); i != state.lookups.end();)
    i =
      i->second.who.index == who.index ? state.lookups.erase(i) : std::next(i);
  state.published.proc_ended(who.proc);
}

// -- queries
// -----------------------------------------------------------------------

/// A query that asks one or more jobs.
struct query_job {
  info_result result;
  size_t pending = 1;
  answer<info_result> reply;
};

void finish_one(query_job& job) {
  if (--job.pending > 0)
    return;
  if (job.result.infos.empty())
    job.reply.fail(status::not_found, "none of the keys is known");
  else
    job.reply.give(std::move(job.result));
}

value proc_table(const job_description& job) {
  auto elements = std::vector<value>{};
  for (const auto& x : job.procs)
    elements.push_back({data_type::proc_info, box<proc_info>{x}});
  return value::array(data_type::proc_info, std::move(elements));
}

value status_value(const job_description& job) {
  const auto code = job.state == job_state::terminated_with_error
                      ? status::job_aborted
                      : status::success;
  return value::of_status(static_cast<int32_t>(code));
}

void ask_job(self_pointer self, const std::string& key,
             const std::vector<info>& qualifiers, const requester& who,
             const std::shared_ptr<query_job>& query) {
  const auto nspace = text(qualifiers, attr::nspace).value_or(who.proc.nspace);
  auto* job = self->state.find_job(nspace);
  if (job == nullptr)
    return;
  ++query->pending;
  self->request(job->handle, caf::infinite, list_jobs{nspace})
    .then(
      [=](const job_description& found) {
        query->result.infos.push_back({key, 0,
                                       key == attr::query_job_status
                                         ? status_value(found)
                                         : proc_table(found)});
        finish_one(*query);
      },
      [=](const caf::error&) { finish_one(*query); });
}

caf::result<info_result> answer_query(self_pointer self, const requester& who,
                                      const query_request& request) {
  auto promise = self->make_response_promise<info_result>();
  auto query = std::make_shared<query_job>();
  query->reply = answer<info_result>{promise};
  for (const auto& x : request.queries)
    for (const auto& key : x.keys) {
      if (key == attr::query_proc_table || key == attr::query_local_proc_table
          || key == attr::query_job_status)
        ask_job(self, key, x.qualifiers, who, query);
      else if (key == attr::query_spawn_support)
        query->result.infos.push_back(
          {key, 0,
           value::string("PMIX_WDIR,PMIX_MAPBY,PMIX_BINDTO,PMIX_STDIN_TGT,"
                         "PMIX_JOB_TIMEOUT,PMIX_JOB_RECOVERABLE,"
                         "PMIX_SET_ENVAR,PMIX_UNSET_ENVAR,PMIX_ADD_ENVAR,"
                         "PMIX_PREPEND_ENVAR,PMIX_APPEND_ENVAR")});
      else if (key == attr::query_debug_support)
        query->result.infos.push_back({key, 0, value::string("")});
      else if (key == attr::query_available_slots)
        query->result.infos.push_back(
          {key, 0, value::uint32(self->state.options.slots)});
    }
  finish_one(*query);
  return promise;
}

caf::result<job_list> list(self_pointer self, const list_jobs& request) {
  struct listing {
    job_list result;
    size_t pending = 1;
    answer<job_list> reply;
  };
  auto promise = self->make_response_promise<job_list>();
  auto all = std::make_shared<listing>();
  all->reply = answer<job_list>{promise};
  const auto finish = [all] {
    if (--all->pending == 0)
      all->reply.give(std::move(all->result));
  };
  for (const auto& [nspace, job] : self->state.jobs) {
    if (!request.nspace.empty() && request.nspace != nspace)
      continue;
    ++all->pending;
    self->request(job.handle, caf::infinite, list_jobs{nspace})
      .then(
        [=](job_description& x) {
          all->result.jobs.push_back(std::move(x));
          finish();
        },
        [=](const caf::error&) { finish(); });
  }
  finish();
  return promise;
}

// -- the rest
// ----------------------------------------------------------------------

/// A handler that refuses what this host does not offer.
template <class Result, class Request>
auto refuse(const char* what) {
  return [what](const requester&, const Request&) -> caf::result<Result> {
    return make_error(status::not_supported,
                      std::string{what} + " is not supported by this host");
  };
}

// NOLINTNEXTLINE(readability-function-size): a flat list of messages.
local_host_actor::behavior_type behavior(self_pointer self,
                                         local_host_options options,
                                         local_host_directory directory) {
  self->state.options = std::move(options);
  self->state.directory = std::move(directory);
  return {
    // -- the host interface, in its order --
    [self](const client_connected& what) {
      pass_to_job(self, what);
      return ack{};
    },
    [self](const client_finalized& what) {
      pass_to_job(self, what);
      return ack{};
    },
    [self](const client_lost& what) {
      pass_to_job(self, what);
      forget_process(self->state, what.who);
    },
    [self](const tool_connected& what) { return identify(self, what); },
    [self](const requester& who, abort_request& request) {
      return abort(self, who, request);
    },
    [](const host_collective&) {
      // All processes are on this node: there is nobody else to wait for.
      return host_collective_result{};
    },
    [](const direct_modex& request) -> caf::result<get_result> {
      return make_error(status::not_found, to_string(request.target)
                                             + " is not known to this host");
    },
    [self](const requester& who, const publish_request& request) {
      return publish(self, who, request);
    },
    [self](const requester& who, lookup_request& request) {
      return look_up(self, who, request);
    },
    [self](const requester& who,
           const unpublish_request& request) -> caf::result<ack> {
      const auto outcome = self->state.published.unpublish(who, request);
      if (outcome != status::success)
        return outcome;
      return ack{};
    },
    [self](const requester& who, spawn_request& request) {
      return spawn_for(self, who, request);
    },
    [](const requester&, const notify_request&) {
      // No other node: its server has told everybody.
      return ack{};
    },
    refuse<ack, register_events_request>("events of the environment"),
    [](const requester&, const deregister_events_request&) {
      // Nothing was registered.
    },
    refuse<ack, log_request>("another log"),
    [self](const requester& who, const query_request& request) {
      return answer_query(self, who, request);
    },
    [self](const requester& who,
           job_control_request& request) -> caf::result<info_result> {
      auto* job = self->state.find_job(who.proc.nspace);
      if (job == nullptr)
        return make_error(status::not_supported,
                          "job control is not supported by this host");
      return self->delegate(job->handle, who, std::move(request));
    },
    refuse<info_result, monitor_request>("monitoring"),
    refuse<info_result, allocation_request>("allocation"),
    refuse<info_result, session_control_request>("session control"),
    refuse<ack, resource_block_request>("a resource block"),
    refuse<get_credential_result, get_credential_request>("a credential"),
    refuse<info_result, validate_credential_request>("a credential"),
    refuse<info_result, fabric_register_request>("a fabric"),
    refuse<info_result, fabric_update_request>("a fabric"),
    refuse<group_construct_result, group_construct_request>("a group"),
    refuse<ack, group_destruct_request>("a group"),
    refuse<ack, group_leave_request>("a group"),
    refuse<io_pull_result, io_pull_request>("output forwarding to tools"),
    refuse<ack, io_deregister_request>("output forwarding to tools"),
    refuse<ack, io_push_request>("input forwarding from tools"),
    // -- the local host's own --
    [self](const server_actor& server, const event_cache_actor& events) {
      self->state.server = server;
      self->state.events = events;
    },
    [self](const requester& who, spawn_request& request,
           const job_observer_actor& observer, const output_sink_actor& sink) {
      return spawn(self, who, request, {{}, sink, observer, false});
    },
    [self](end_job& request) -> caf::result<ack> {
      auto* job = self->state.find_job(request.nspace);
      if (job == nullptr)
        return make_error(status::not_found, "no job " + request.nspace);
      return self->delegate(job->handle, std::move(request));
    },
    [self](const list_jobs& request) { return list(self, request); },
    [self](write_stdin& request) -> caf::result<ack> {
      auto* job = self->state.find_job(request.proc.nspace);
      if (job == nullptr)
        return make_error(status::not_found, "no job " + request.proc.nspace);
      return self->delegate(job->handle, std::move(request));
    },
    [self](const close_stdin& request) {
      if (auto* job = self->state.find_job(request.proc.nspace))
        self->send(job->handle, request);
    },
    [self](const job_ended& what) { forget_job(self, what); },
    [self](deadline due) { self->state.waits.fire(due.id); },
  };
}

} // namespace

local_host_actor spawn_local_host(caf::actor_system& sys,
                                  local_host_options options,
                                  local_host_directory directory) {
  return sys.spawn(behavior, std::move(options), std::move(directory));
}

} // namespace troupe
