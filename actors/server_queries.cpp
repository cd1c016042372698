#include "actors/groups/group_report.hpp"
#include "actors/server_state.hpp"
#include "actors/supported.hpp"
#include "messages/attributes.hpp"

#include <memory>

namespace troupe::server_internals {

namespace {

/// The release that we present ourselves as. Source: PMIX_VERSION_INFO.
constexpr auto version_text = "OpenPMIx-compatible server, Troupe 0.1.0";

/// Keys for what the log of events knows.
constexpr auto event_keys = "troupe.event.";

/// Keys for what the MONITOR DESK knows.
constexpr auto monitor_keys = "troupe.monitor.";

/// A query on its way: some keys are known here, memory use is sampled, the
/// rest is asked of the host.
struct query_job {
  info_result result;
  size_t asked = 0;
  size_t answered = 0;

  /// Requests on their way.
  size_t pending = 1;
  answer<info_result> reply;
};

void finish_one(query_job& job) {
  if (--job.pending > 0)
    return;
  if (job.result.infos.empty() && job.asked > 0) {
    job.reply.fail(status::not_found, "none of the keys is known");
    return;
  }
  job.result.complete = job.answered >= job.asked;
  job.reply.give(std::move(job.result));
}

void add(query_job& job, const std::string& key, value val) {
  ++job.answered;
  job.result.infos.push_back({key, 0, std::move(val)});
}

std::string namespaces(const server_state& state) {
  auto result = std::string{};
  for (const auto& [nspace, entry] : state.namespaces)
    if (!entry.is_tool)
      result += (result.empty() ? "" : ",") + nspace;
  return result;
}

std::string names_of_sets(const server_state& state) {
  auto result = std::string{};
  for (const auto& [name, members] : state.process_sets)
    result += (result.empty() ? "" : ",") + name;
  return result;
}

/// One array per namespace: its name and its job-level data.
value namespace_infos(const server_state& state) {
  auto elements = std::vector<info>{};
  for (const auto& [nspace, entry] : state.namespaces) {
    if (entry.is_tool)
      continue;
    auto infos =
      std::vector<info>{{std::string{attr::nspace}, 0, value::string(nspace)}};
    for (const auto& x : entry.data.job_level())
      infos.push_back({x.key, 0, x.val});
    elements.push_back(
      {std::string{attr::job_info_array}, 0, value::infos(std::move(infos))});
  }
  return value::infos(std::move(elements));
}

/// Source: PMIx Standard v5, PMIX_QUERY_MEMORY_USAGE, PMIX_DAEMON_MEMORY: MB.
void sample(self_pointer self, const std::string& key,
            const std::shared_ptr<query_job>& job) {
  ++job->pending;
  self->request(self->state.directory.usage, caf::infinite, sample_memory{{0}})
    .then(
      [=](const memory_samples& samples) {
        constexpr auto mebibyte = 1024.0 * 1024.0;
        const auto used = samples.bytes.empty()
                            ? 0.0
                            : static_cast<double>(samples.bytes[0]) / mebibyte;
        add(*job, key,
            value::infos({{std::string{attr::daemon_memory}, 0,
                           value{data_type::float_, used}}}));
        finish_one(*job);
      },
      [=](const caf::error&) { finish_one(*job); });
}

/// Answers a key from what the server knows.
/// @returns whether it did.
bool answer_here(self_pointer self, const std::string& key,
                 const std::vector<info>& qualifiers,
                 const std::shared_ptr<query_job>& job) {
  auto& state = self->state;
  if (state.options.spans_nodes
      && (key == attr::query_namespaces || key == attr::query_namespace_info))
    return false;
  if (key == attr::query_namespaces) {
    add(*job, key, value::string(namespaces(state)));
  } else if (key == attr::query_namespace_info) {
    add(*job, key, namespace_infos(state));
  } else if (key == attr::query_attribute_support) {
    auto infos = supported(qualifiers);
    if (!infos.empty())
      add(*job, key, value::infos(std::move(infos)));
  } else if (key == attr::query_memory_usage) {
    sample(self, key, job);
  } else if (key == attr::query_stable_abi_version) {
    add(*job, key, value::string("4.1"));
  } else if (key == attr::query_provisional_abi_version) {
    add(*job, key, value::string("4.1"));
  } else if (key == attr::version_info) {
    add(*job, key, value::string(version_text));
  } else if (key == attr::query_num_psets) {
    add(*job, key, value::size(state.process_sets.size()));
  } else if (key == attr::query_pset_names) {
    add(*job, key, value::string(names_of_sets(state)));
  } else if (key == attr::query_pset_membership) {
    const auto name = text(qualifiers, attr::pset_name);
    const auto found = state.process_sets.find(name.value_or(""));
    if (found != state.process_sets.end())
      add(*job, key, value::procs(found->second));
  } else {
    return false;
  }
  return true;
}

/// Asks another actor for what is not known here.
template <class Handle>
void ask_other(self_pointer self, const Handle& other, const requester& who,
               query_request request, const std::shared_ptr<query_job>& job) {
  ++job->pending;
  self->request(other, caf::infinite, who, std::move(request))
    .then(
      [=](info_result& more) {
        for (auto& x : more.infos)
          add(*job, x.key, std::move(x.val));
        finish_one(*job);
      },
      [=](const caf::error&) { finish_one(*job); });
}

/// Answers from the groups that this node knows.
void ask_own_groups(self_pointer self, const requester& who, query what,
                    const std::shared_ptr<query_job>& job) {
  ++job->pending;
  self->request(server_actor{self}, caf::infinite, list_groups{})
    .then(
      [job, who, what = std::move(what)](group_list& found) {
        const auto all = without_repeats(std::move(found.groups));
        for (const auto& key : what.keys)
          if (auto x = group_answer(key, what.qualifiers, who, all))
            add(*job, key, std::move(*x));
        finish_one(*job);
      },
      [job](const caf::error&) { finish_one(*job); });
}

/// Asks who knows the groups of all nodes, else what is known here.
void ask_groups(self_pointer self, const requester& who, query what,
                const std::shared_ptr<query_job>& job) {
  if (!self->state.options.spans_nodes) {
    ask_own_groups(self, who, std::move(what), job);
    return;
  }
  ++job->pending;
  const auto go_on = [=](const std::vector<info>& found) {
    auto rest = query{{}, what.qualifiers};
    for (const auto& key : what.keys)
      if (const auto* x = find(found, key))
        add(*job, key, *x);
      else
        rest.keys.push_back(key);
    if (!rest.keys.empty())
      ask_own_groups(self, who, std::move(rest), job);
    finish_one(*job);
  };
  self
    ->request(self->state.directory.host, caf::infinite, who,
              query_request{{what}})
    .then([go_on](const info_result& found) { go_on(found.infos); },
          [go_on](const caf::error&) { go_on({}); });
}

} // namespace

caf::result<resolve_peers_result>
resolve_peers(self_pointer self, const resolve_peers_request& request) {
  const auto& state = self->state;
  auto result = resolve_peers_result{};
  const auto& node = request.node.value_or(state.options.hostname);
  const auto is_here = node == state.options.hostname;
  for (const auto& [nspace, entry] : state.namespaces) {
    if (entry.is_tool || (request.nspace && *request.nspace != nspace))
      continue;
    if (is_here) {
      for (const auto& [rank, proc] : entry.procs)
        result.procs.push_back({nspace, rank});
      continue;
    }
    for (const auto& rank : entry.data.all()->ranks)
      if (const auto* host = find(rank.entries, attr::hostname))
        if (const auto* name = host->text(); name && *name == node)
          result.procs.push_back({nspace, rank.rank});
  }
  if (!is_here && result.procs.empty())
    return make_error(status::not_found, "no processes on a node " + node);
  if (request.nspace && result.procs.empty())
    return make_error(status::invalid_namespace,
                      "no namespace " + *request.nspace);
  return result;
}

caf::result<resolve_nodes_result>
resolve_nodes(self_pointer self, const resolve_nodes_request& request) {
  const auto& state = self->state;
  auto result = resolve_nodes_result{};
  if (!request.nspace)
    return resolve_nodes_result{state.options.hostname};
  const auto i = state.namespaces.find(*request.nspace);
  if (i == state.namespaces.end())
    return make_error(status::invalid_namespace,
                      "no namespace " + *request.nspace);
  if (const auto* nodes = i->second.data.find(attr::node_list))
    if (const auto* list = nodes->text())
      return resolve_nodes_result{*list};
  return resolve_nodes_result{state.options.hostname};
}

caf::result<info_result> answer_query(self_pointer self, const requester& who,
                                      query_request& request) {
  auto promise = self->make_response_promise<info_result>();
  auto job = std::make_shared<query_job>();
  job->reply = answer<info_result>{promise};
  auto rest = query_request{};
  for (auto& x : request.queries) {
    auto unknown = query{};
    auto of_events = query{};
    auto of_monitors = query{};
    auto of_groups = query{};
    for (auto& key : x.keys) {
      ++job->asked;
      if (key.rfind(event_keys, 0) == 0)
        of_events.keys.push_back(std::move(key));
      else if (self->state.directory.monitors
               && key.rfind(monitor_keys, 0) == 0)
        of_monitors.keys.push_back(std::move(key));
      else if (is_group_key(key))
        of_groups.keys.push_back(std::move(key));
      else if (!answer_here(self, key, x.qualifiers, job))
        unknown.keys.push_back(std::move(key));
    }
    if (!of_events.keys.empty()) {
      of_events.qualifiers = x.qualifiers;
      ask_other(self, self->state.directory.events, who,
                query_request{{std::move(of_events)}}, job);
    }
    if (!of_monitors.keys.empty())
      ask_other(self, self->state.directory.monitors, who,
                query_request{{std::move(of_monitors)}}, job);
    if (!of_groups.keys.empty()) {
      of_groups.qualifiers = x.qualifiers;
      ask_groups(self, who, std::move(of_groups), job);
    }
    if (!unknown.keys.empty()) {
      unknown.qualifiers = std::move(x.qualifiers);
      rest.queries.push_back(std::move(unknown));
    }
  }
  if (!rest.queries.empty())
    ask_other(self, self->state.directory.host, who, std::move(rest), job);
  finish_one(*job);
  return promise;
}

} // namespace troupe::server_internals
