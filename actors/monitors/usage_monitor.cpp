#include "actors/monitors/usage_monitor.hpp"

#include "actors/monitors/usage_request.hpp"
#include "base/all_of.hpp"
#include "base/answer.hpp"
#include "base/make_info.hpp"
#include "base/may_act_for.hpp"
#include "base/pass_on.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/enums.hpp"
#include "messages/query.hpp"

#include <caf/actor_system.hpp>
#include <caf/expected.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

namespace defaults {

/// How long what the host says of a job's processes is used.
inline constexpr auto usage_table_age = std::chrono::seconds{5};

} // namespace defaults

namespace {

/// Which processes run on this node, as its host says: for a while, or until
/// one of them ends.
class local_procs {
public:
  using time = std::chrono::nanoseconds;

  /// What a request for processes means here.
  struct selection {
    std::vector<proc_info> procs;

    /// Whether processes may run on other nodes that are meant, too.
    bool others = false;
  };

  /// Takes an answer to PMIX_QUERY_LOCAL_PROC_TABLE: of these namespaces there
  /// is nothing else.
  void add(const std::vector<std::string>& nspaces, const info_result& answer,
           time now);

  /// Those of `nspaces` that have to be asked for (again).
  std::vector<std::string> stale(const std::vector<std::string>& nspaces,
                                 time now, time age) const;

  void proc_ended(const proc_id& proc);

  void remove(const std::string& nspace);

  /// Those of `nspaces` that a request means.
  selection select(const usage_request& request,
                   const std::vector<std::string>& nspaces,
                   const std::string& hostname,
                   std::optional<uint32_t> node_id) const;

private:
  struct table {
    std::vector<proc_info> procs;
    time since{0};
  };

  std::map<std::string, table> tables_;
};

/// The namespaces that a request names; empty: it names none.
std::vector<std::string> nspaces_of(const usage_request& request);

/// Asks for the processes of this node in some namespaces.
query_request query_local_procs(const std::vector<std::string>& nspaces);

/// Asks which namespaces there are.
query_request query_nspaces();

/// @param answer To `query_nspaces`: names with commas between.
std::vector<std::string> nspaces_in(const info_result& answer);

/// pid_t{-1} in a `node_pid`.
constexpr auto all_pids = UINT32_MAX;

bool is_meant(const proc_id& target, const proc_id& proc) {
  return target.nspace == proc.nspace
         && (target.rank == rank_wildcard || target.rank == proc.rank);
}

bool is_on(const node_pid& x, const std::string& hostname,
           std::optional<uint32_t> node_id) {
  if (x.hostname && !x.hostname->empty())
    return *x.hostname == hostname;
  return x.node_id == UINT32_MAX || x.node_id == node_id;
}

bool runs(const proc_info& x) {
  return x.pid != 0
         && static_cast<proc_state>(x.state) < proc_state::terminated;
}

void local_procs::add(const std::vector<std::string>& nspaces,
                      const info_result& answer, time now) {
  for (const auto& nspace : nspaces)
    tables_[nspace] = {{}, now};
  for (const auto& x : answer.infos) {
    const auto* array = x.val.array();
    if (x.key != attr::query_local_proc_table || array == nullptr)
      continue;
    for (const auto& y : array->elements)
      if (const auto* proc = std::get_if<box<proc_info>>(&y.data))
        if (const auto i = tables_.find((**proc).proc.nspace);
            i != tables_.end() && runs(**proc))
          i->second.procs.push_back(**proc);
  }
}

std::vector<std::string>
local_procs::stale(const std::vector<std::string>& nspaces, time now,
                   time age) const {
  auto result = std::vector<std::string>{};
  for (const auto& x : nspaces) {
    const auto i = tables_.find(x);
    if (i == tables_.end() || now - i->second.since >= age)
      result.push_back(x);
  }
  return result;
}

void local_procs::proc_ended(const proc_id& proc) {
  // Another may have come in its place.
  tables_.erase(proc.nspace);
}

void local_procs::remove(const std::string& nspace) {
  tables_.erase(nspace);
}

local_procs::selection local_procs::select(
  const usage_request& request, const std::vector<std::string>& nspaces,
  const std::string& hostname, std::optional<uint32_t> node_id) const {
  auto result = selection{};
  const auto has_targets = request.procs || request.pids;
  const auto is_wanted = [&](const proc_info& x) {
    if (!has_targets)
      return true;
    const auto by_name =
      request.procs
      && std::any_of(request.procs->begin(), request.procs->end(),
                     [&](const proc_id& y) { return is_meant(y, x.proc); });
    const auto by_pid =
      request.pids
      && std::any_of(request.pids->begin(), request.pids->end(),
                     [&](const node_pid& y) {
                       return is_on(y, hostname, node_id)
                              && (y.pid == all_pids || y.pid == x.pid);
                     });
    return by_name || by_pid;
  };
  if (request.names_node(hostname, node_id))
    for (const auto& nspace : nspaces)
      if (const auto i = tables_.find(nspace); i != tables_.end())
        std::copy_if(i->second.procs.begin(), i->second.procs.end(),
                     std::back_inserter(result.procs), is_wanted);
  const auto is_missing = [&](const proc_id& x) {
    return x.rank == rank_wildcard
           || std::none_of(result.procs.begin(), result.procs.end(),
                           [&](const proc_info& y) { return y.proc == x; });
  };
  const auto is_elsewhere = [&](const node_pid& x) {
    return !is_on(x, hostname, node_id);
  };
  result.others = !has_targets
                  || (request.procs
                      && std::any_of(request.procs->begin(),
                                     request.procs->end(), is_missing))
                  || (request.pids
                      && std::any_of(request.pids->begin(), request.pids->end(),
                                     is_elsewhere));
  if (request.hostnames || request.node_ids)
    result.others &= request.names_other_nodes(hostname, node_id);
  return result;
}

std::vector<std::string> nspaces_of(const usage_request& request) {
  auto result = std::vector<std::string>{};
  if (request.procs)
    for (const auto& x : *request.procs)
      if (std::find(result.begin(), result.end(), x.nspace) == result.end())
        result.push_back(x.nspace);
  return result;
}

query_request query_local_procs(const std::vector<std::string>& nspaces) {
  auto result = query_request{};
  for (const auto& x : nspaces)
    result.queries.push_back({{std::string{attr::query_local_proc_table}},
                              {make_info(attr::nspace, value::string(x))}});
  return result;
}

query_request query_nspaces() {
  return {{{{std::string{attr::query_namespaces}}, {}}}};
}

std::vector<std::string> nspaces_in(const info_result& answer) {
  auto result = std::vector<std::string>{};
  const auto names = text(answer.infos, attr::query_namespaces).value_or("");
  for (size_t begin = 0; begin < names.size();) {
    const auto end = std::min(names.find(',', begin), names.size());
    if (end > begin)
      result.push_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

struct usage_monitor_state {
  static inline const char* name = "usage-monitor";

  usage_monitor_options options;
  local_procs procs;
};

TROUPE_SELF_POINTER(usage_monitor_actor, usage_monitor_state);

local_procs::time now(self_pointer self) {
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
  caf::error trouble;

  caf::expected<info_result> outcome() {
    if (!result.infos.empty() || is_for_other)
      return std::move(result);
    if (trouble)
      return std::move(trouble);
    if (request.procs || request.pids || request.hostnames || request.node_ids
        || !request.disk_names.empty() || !request.net_names.empty())
      return make_error(status::not_found,
                        "nothing of what was named is there to be sampled; "
                        "troupe ps lists processes");
    return std::move(result);
  }
};

using pending_sample = all_of<sample_job>;

/// Whether somebody may know how much memory processes have for themselves,
/// which the kernel does not tell everybody.
bool may_see_pss(const usage_monitor_state& state, const requester& who,
                 const std::vector<proc_info>& procs) {
  return may_act_for(who, state.options.owner.uid)
         || std::all_of(procs.begin(), procs.end(), [&](const proc_info& x) {
              return x.proc.nspace == who.proc.nspace;
            });
}

/// Samples this node.
void sample_node(self_pointer self, const pending_sample& job,
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
  job.add();
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
        job.done();
      },
      [job](caf::error& why) {
        job->trouble = std::move(why);
        job.done();
      });
}

/// Has the host sample other nodes: they answer once, whatever the rate.
void sample_others(self_pointer self, const pending_sample& job) {
  auto what = job->what;
  auto& x = what.directives;
  x.erase(std::remove_if(x.begin(), x.end(),
                         [](const info& y) {
                           return y.key == attr::monitor_resource_rate
                                  || y.key == attr::monitor_id;
                         }),
          x.end());
  job.add();
  self
    ->request(self->state.options.host, defaults::usage_host_wait * 2, job->who,
              std::move(what))
    .then(
      [job](info_result& more) {
        std::move(more.infos.begin(), more.infos.end(),
                  std::back_inserter(job->result.infos));
        job.done();
      },
      [job](caf::error& why) {
        // A host without others has nothing to add.
        if (status_of(why) != status::not_supported)
          job->trouble = std::move(why);
        job.done();
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

void sample_procs_of(self_pointer self, const pending_sample& job,
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
    job.done();
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
void sample_procs(self_pointer self, const pending_sample& job) {
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

void sample(self_pointer self, const pending_sample& job) {
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
  job.done();
}

pending_sample make_job(const requester& who, monitor_request what,
                        usage_request request, completion<info_result> done) {
  auto job = sample_job{};
  job.who = who;
  job.what = std::move(what);
  job.request = std::move(request);
  return {std::move(job),
          [done = std::move(done)](sample_job& x) { done(x.outcome()); }};
}

caf::result<info_result> begin(self_pointer self, const requester& who,
                               monitor_request& what) {
  auto request = parse_usage_request(what);
  if (!request)
    return std::move(request.error());
  auto promise = self->make_response_promise<info_result>();
  sample(self,
         make_job(who, std::move(what), std::move(*request), pass_on(promise)));
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
  auto promise = self->make_response_promise<info_result>();
  auto job = make_job(what.who, std::move(what.what), std::move(*request),
                      pass_on(promise));
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
    [self](const proc_ended& what) { self->state.procs.proc_ended(what.proc); },
    [self](const deregister_nspace& what) {
      self->state.procs.remove(what.nspace);
    },
  };
}

} // namespace

usage_monitor_actor spawn_usage_monitor(caf::actor_system& sys,
                                        usage_monitor_options options) {
  return sys.spawn(behavior, std::move(options));
}

} // namespace troupe
