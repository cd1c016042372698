#include "actors/monitors/usage_monitor.hpp"

#include "actors/answer.hpp"
#include "actors/monitors/local_procs.hpp"
#include "actors/monitors/usage_monitors.hpp"
#include "actors/monitors/usage_report.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

namespace troupe {

namespace {

using completion = std::function<void(caf::expected<info_result>)>;

struct usage_monitor_state {
  static inline const char* name = "usage-monitor";

  usage_monitor_options options;
  usage_monitors monitors{
    {defaults::usage_monitors_per_client, defaults::usage_monitors}};
  local_procs procs;
  std::optional<usage_monitors::time> wake_at;
};

TROUPE_SELF_POINTER(usage_monitor_actor, usage_monitor_state);

usage_monitors::time now(self_pointer self) {
  return self->clock().now().time_since_epoch();
}

/// One sample on its way: this node's part and that of the others.
struct sample_job {
  requester who;
  monitor_request what;
  usage_request request;

  /// Whether another node asks.
  bool is_for_other = false;

  info_result result;
  size_t missing = 1;
  caf::error trouble;
  completion done;

  void arrived() {
    if (--missing > 0)
      return;
    if (!result.infos.empty() || is_for_other)
      done(std::move(result));
    else if (trouble)
      done(std::move(trouble));
    else if (request.procs || request.pids || request.hostnames
             || request.node_ids || !request.disk_names.empty()
             || !request.net_names.empty())
      done(make_error(status::not_found,
                      "nothing of what was named is there to be sampled"));
    else
      done(std::move(result));
  }
};

using job_pointer = std::shared_ptr<sample_job>;

/// Whether somebody may know how much memory processes have for themselves,
/// which the kernel does not tell everybody.
bool may_see_pss(const usage_monitor_state& state, const requester& who,
                 const std::vector<proc_info>& procs) {
  return who.creds.uid == 0 || who.creds.uid == state.options.owner.uid
         || std::all_of(procs.begin(), procs.end(), [&](const proc_info& x) {
              return x.proc.nspace == who.proc.nspace;
            });
}

/// Samples this node.
void sample_node(self_pointer self, const job_pointer& job,
                 std::vector<proc_info> procs) {
  auto& state = self->state;
  const auto& request = job->request;
  if (procs.size() > defaults::usage_procs)
    procs.resize(defaults::usage_procs);
  auto what = sample_usage{};
  for (const auto& x : procs)
    what.pids.push_back(x.pid);
  what.pss =
    request.wants(attr::proc_pss) && may_see_pss(state, job->who, procs);
  what.node = request.subject == usage_subject::node;
  what.disks = request.subject == usage_subject::disks || request.with_disks;
  what.nets = request.subject == usage_subject::nets || request.with_nets;
  what.disk_names = request.disk_names;
  what.net_names = request.net_names;
  ++job->missing;
  self->request(state.options.usage, caf::infinite, std::move(what))
    .then(
      [self, job, procs](usage_samples& x) {
        const auto& options = self->state.options;
        for (auto& y : x.procs)
          for (const auto& z : procs)
            if (z.pid == y.pid)
              y.proc = z.proc;
        auto infos =
          usage_report(job->request, x, {options.hostname, options.node_id});
        auto& to = job->result.infos;
        to.insert(to.begin(), std::make_move_iterator(infos.begin()),
                  std::make_move_iterator(infos.end()));
        job->arrived();
      },
      [job](caf::error& why) {
        job->trouble = std::move(why);
        job->arrived();
      });
}

/// Has the host sample other nodes: they answer once, whatever the rate.
void sample_others(self_pointer self, const job_pointer& job) {
  auto what = job->what;
  auto& x = what.directives;
  x.erase(std::remove_if(x.begin(), x.end(),
                         [](const info& y) {
                           return y.key == attr::monitor_resource_rate
                                  || y.key == attr::monitor_id;
                         }),
          x.end());
  ++job->missing;
  self
    ->request(self->state.options.host, defaults::usage_host_wait * 2, job->who,
              std::move(what))
    .then(
      [job](info_result& more) {
        std::move(more.infos.begin(), more.infos.end(),
                  std::back_inserter(job->result.infos));
        job->arrived();
      },
      [job](caf::error& why) {
        // A host without others has nothing to add.
        if (status_of(why) != status::not_supported)
          job->trouble = std::move(why);
        job->arrived();
      });
}

/// Asks the host. A process of another node is not ours to speak for: then the
/// server asks for itself.
void ask_host(self_pointer self, const sample_job& job, query_request what,
              std::function<void(const caf::expected<info_result>&)> then) {
  auto who = job.who;
  if (job.is_for_other) {
    who = requester{};
    who.proc = self->state.options.server;
    who.creds = self->state.options.owner;
  }
  self
    ->request(self->state.options.host, defaults::usage_host_wait, who,
              std::move(what))
    .then([then](info_result& x) { then(std::move(x)); },
          [then](caf::error& why) { then(std::move(why)); });
}

void sample_procs_of(self_pointer self, const job_pointer& job,
                     const std::vector<std::string>& nspaces) {
  auto& state = self->state;
  const auto go_on = [self, job, nspaces] {
    const auto& options = self->state.options;
    auto found = self->state.procs.select(job->request, nspaces,
                                          options.hostname, options.node_id);
    if (!found.procs.empty())
      sample_node(self, job, std::move(found.procs));
    if (found.others && !job->request.is_local && !job->is_for_other)
      sample_others(self, job);
    job->arrived();
  };
  auto stale = state.procs.stale(nspaces, now(self), defaults::usage_table_age);
  if (stale.empty()) {
    go_on();
    return;
  }
  ask_host(self, *job, query_local_procs(stale),
           [self, job, stale, go_on](const caf::expected<info_result>& x) {
             if (x)
               self->state.procs.add(stale, *x, now(self));
             else
               job->trouble = x.error();
             go_on();
           });
}

/// Samples processes: those that are named, those of the requester's job, or
/// all of the jobs that there are.
void sample_procs(self_pointer self, const job_pointer& job) {
  const auto& request = job->request;
  const auto is_of_job = !is_tool(job->who.role);
  if (request.procs && !request.procs->empty() && !request.pids) {
    sample_procs_of(self, job, nspaces_of(request));
    return;
  }
  if (!request.procs && !request.pids && is_of_job) {
    sample_procs_of(self, job, {job->who.proc.nspace});
    return;
  }
  ask_host(self, *job, query_nspaces(),
           [self, job, is_of_job](const caf::expected<info_result>& x) {
             auto nspaces = x ? nspaces_in(*x) : std::vector<std::string>{};
             if (nspaces.empty() && is_of_job)
               nspaces.push_back(job->who.proc.nspace);
             sample_procs_of(self, job, nspaces);
           });
}

void sample(self_pointer self, const job_pointer& job) {
  auto& state = self->state;
  auto& request = job->request;
  // An empty list of processes is as good as none. Source: OpenPMIx.
  if (request.procs && request.procs->empty())
    request.procs = std::nullopt;
  if (request.pids && request.pids->empty())
    request.pids = std::nullopt;
  if (request.subject == usage_subject::procs) {
    sample_procs(self, job);
    return;
  }
  const auto& options = state.options;
  if (request.names_node(options.hostname, options.node_id))
    sample_node(self, job, {});
  const auto names_nodes = request.hostnames || request.node_ids;
  // Without targets, devices are those of this node.
  const auto others =
    names_nodes ? request.names_other_nodes(options.hostname, options.node_id)
                : request.subject == usage_subject::node;
  if (others && !request.is_local && !job->is_for_other)
    sample_others(self, job);
  job->arrived();
}

void tell(self_pointer self, const usage_monitors::entry& to,
          info_result sample) {
  auto what = event{};
  what.code = to.request.code;
  what.source = self->state.options.server;
  what.range = data_range::custom;
  const auto add = [&](std::string_view key, value x) {
    what.infos.push_back({std::string{key}, 0, std::move(x)});
  };
  add(attr::event_non_default, value::boolean(true));
  add(attr::event_custom_range, value::procs({to.who.proc}));
  // An update that nobody waits for is of no use later.
  add(attr::event_do_not_cache, value::boolean(true));
  if (to.request.id)
    add(attr::monitor_id, value::string(*to.request.id));
  std::move(sample.infos.begin(), sample.infos.end(),
            std::back_inserter(what.infos));
  self
    ->request(self->state.options.events, caf::infinite,
              deliver_event{std::move(what), {to.who.proc}})
    .then([](ack) {}, [](const caf::error&) {});
}

void arm(self_pointer self) {
  auto& state = self->state;
  const auto next = state.monitors.next_due();
  if (!next || (state.wake_at && *state.wake_at <= *next))
    return;
  state.wake_at = next;
  self->delayed_send(usage_monitor_actor{self},
                     std::max(*next - now(self), usage_monitors::time{0}),
                     deadline{});
}

job_pointer make_job(const requester& who, monitor_request what,
                     usage_request request, completion done) {
  auto job = std::make_shared<sample_job>();
  job->who = who;
  job->what = std::move(what);
  job->request = std::move(request);
  job->done = std::move(done);
  return job;
}

void update(self_pointer self, uint64_t number) {
  const auto* x = self->state.monitors.find(number);
  if (x == nullptr)
    return;
  sample(self, make_job(x->who, x->what, x->request,
                        [self, number](caf::expected<info_result> found) {
                          auto& monitors = self->state.monitors;
                          const auto* to = monitors.find(number);
                          if (to == nullptr)
                            return;
                          if (found && !found->infos.empty())
                            tell(self, *to, std::move(*found));
                          monitors.finish(number);
                        }));
}

void wake(self_pointer self) {
  auto& state = self->state;
  state.wake_at = std::nullopt;
  for (const auto number : state.monitors.take_due(now(self)))
    update(self, number);
  arm(self);
}

caf::result<info_result> cancel(self_pointer self, const requester& who,
                                const monitor_request& what) {
  const auto* id = what.monitor.val.text();
  const auto count = self->state.monitors.cancel(
    who.proc, id != nullptr ? std::optional{*id} : std::nullopt);
  if (count == 0 && id != nullptr)
    return make_error(status::not_found, "no monitor " + *id);
  return info_result{};
}

caf::result<info_result> begin(self_pointer self, const requester& who,
                               monitor_request& what) {
  if (what.monitor.key == attr::monitor_cancel)
    return cancel(self, who, what);
  auto request = parse_usage_request(what);
  if (!request)
    return std::move(request.error());
  auto number = uint64_t{0};
  if (request->rate > 0) {
    auto added = self->state.monitors.add(who, what, *request, now(self));
    if (!added)
      return std::move(added.error());
    number = *added;
  }
  auto owed = std::make_shared<answer<info_result>>(
    self->make_response_promise<info_result>());
  auto promise = owed->promise();
  sample(self,
         make_job(who, std::move(what), std::move(*request),
                  [self, owed, who, number](caf::expected<info_result> x) {
                    if (!x) {
                      // What is refused leaves nothing behind.
                      self->state.monitors.remove(number);
                      owed->fail(std::move(x.error()));
                      return;
                    }
                    owed->give(std::move(*x));
                    arm(self);
                  }));
  return promise;
}

caf::result<info_result> begin_for_other(self_pointer self,
                                         sample_elsewhere& what) {
  const auto& options = self->state.options;
  if (!is_usage_request(what.what) && options.desk)
    return self->delegate(options.desk(), std::move(what.who),
                          std::move(what.what), monitored_session_actor{});
  auto request = parse_usage_request(what.what);
  if (!request)
    return std::move(request.error());
  auto owed = std::make_shared<answer<info_result>>(
    self->make_response_promise<info_result>());
  auto promise = owed->promise();
  auto job = make_job(what.who, std::move(what.what), std::move(*request),
                      [owed](caf::expected<info_result> x) {
                        if (x)
                          owed->give(std::move(*x));
                        else
                          owed->fail(std::move(x.error()));
                      });
  job->is_for_other = true;
  sample(self, job);
  return promise;
}

usage_monitor_actor::behavior_type behavior(self_pointer self,
                                            usage_monitor_options options) {
  self->state.options = std::move(options);
  return {
    [self](const requester& who, monitor_request& what) {
      return begin(self, who, what);
    },
    [self](sample_elsewhere& what) { return begin_for_other(self, what); },
    [self](const requester& who, connection_lost) {
      self->state.monitors.disconnect(who.index);
    },
    [self](const proc_ended& what) { self->state.procs.proc_ended(what.proc); },
    [self](const deregister_nspace& what) {
      self->state.procs.remove(what.nspace);
    },
    [self](get_gauges) {
      return gauge_list{{{"usage.monitors", self->state.monitors.size(),
                          defaults::usage_monitors, "monitors"}}};
    },
    [self](deadline) { wake(self); },
  };
}

} // namespace

usage_monitor_actor spawn_usage_monitor(caf::actor_system& sys,
                                        usage_monitor_options options) {
  return sys.spawn(behavior, std::move(options));
}

} // namespace troupe
