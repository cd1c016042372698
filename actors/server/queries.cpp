#include "actors/server/queries.hpp"

#include "actors/groups/group_report.hpp"
#include "base/abi_version.hpp"
#include "base/directives.hpp"
#include "base/make_info.hpp"
#include "base/pass_on.hpp"
#include "messages/attributes.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

/// The release that we present ourselves as. Source: PMIX_VERSION_INFO.
constexpr auto version_text = "OpenPMIx-compatible server, Troupe 0.1.0";

/// Keys for what the log of events knows.
constexpr auto event_keys = "troupe.event.";

/// Keys for what the MONITOR DESK knows.
constexpr auto monitor_keys = "troupe.monitor.";

std::string namespaces(const registry& known) {
  auto result = std::string{};
  for (const auto& [nspace, entry] : known.namespaces())
    if (!entry.is_tool)
      result += (result.empty() ? "" : ",") + nspace;
  return result;
}

std::string names_of_sets(const registry& known) {
  auto result = std::string{};
  for (const auto& [name, members] : known.process_sets())
    result += (result.empty() ? "" : ",") + name;
  return result;
}

/// One array per namespace: its name and its job-level data.
value namespace_infos(const registry& known) {
  auto elements = std::vector<info>{};
  for (const auto& [nspace, entry] : known.namespaces()) {
    if (entry.is_tool)
      continue;
    auto infos =
      std::vector<info>{make_info(attr::nspace, value::string(nspace))};
    for (const auto& x : entry.data.job_level())
      infos.push_back({x.key, 0, x.val});
    elements.push_back(
      make_info(attr::job_info_array, value::infos(std::move(infos))));
  }
  return value::infos(std::move(elements));
}

bool is_of_host(const info& x) {
  return x.key == attr::host_functions || x.key == attr::host_attributes;
}

/// Takes what PMIX_QUERY_ATTRIBUTE_SUPPORT asks of the host out of a query.
query take_host_support(query& x) {
  auto result = query{};
  const auto key =
    std::find(x.keys.begin(), x.keys.end(), attr::query_attribute_support);
  const auto first =
    std::stable_partition(x.qualifiers.begin(), x.qualifiers.end(),
                          [](const info& y) { return !is_of_host(y); });
  if (key == x.keys.end() || first == x.qualifiers.end())
    return result;
  result.keys.push_back(*key);
  result.qualifiers.assign(first, x.qualifiers.end());
  x.qualifiers.erase(first, x.qualifiers.end());
  if (x.qualifiers.empty())
    x.keys.erase(key);
  return result;
}

} // namespace

/// The answer to a query as far as it is known.
struct queries::progress {
  info_result result;
  size_t asked = 0;
  size_t answered = 0;
  completion<info_result> reply;

  void add(const std::string& key, value val) {
    ++answered;
    result.infos.push_back({key, 0, std::move(val)});
  }

  void finish() {
    if (result.infos.empty() && asked > 0) {
      reply(make_error(
        status::not_found,
        "none of the keys is known; ask for PMIX_QUERY_SUPPORTED_KEYS"));
      return;
    }
    result.complete = answered >= asked;
    reply(std::move(result));
  }
};

queries::queries(server_actor::pointer self, const server_options& options,
                 const server_directory& directory, const registry& known,
                 std::function<std::vector<wait_part>()> waits)
  : self_(self), options_(options), directory_(directory), known_(known),
    waits_(std::move(waits)) {
  // nop
}

/// Source: PMIx Standard v5, PMIX_QUERY_MEMORY_USAGE, PMIX_DAEMON_MEMORY: MB.
void queries::sample(const std::string& key, const job& all) {
  all.add();
  self_->request(directory_.usage, caf::infinite, sample_memory{{0}})
    .then(
      [=](const memory_samples& samples) {
        constexpr auto mebibyte = 1024.0 * 1024.0;
        const auto used = samples.bytes.empty()
                            ? 0.0
                            : static_cast<double>(samples.bytes[0]) / mebibyte;
        all->add(key, value::infos({make_info(
                        attr::daemon_memory, value{data_type::float_, used})}));
        all.done();
      },
      [=](const caf::error&) { all.done(); });
}

/// As with groups: tools see all, a process those of its own job.
std::vector<wait_part> queries::waits_for(const requester& who) const {
  auto result = waits_();
  if (is_tool(who.role))
    return result;
  const auto prefix = who.proc.nspace + ':';
  const auto is_foreign = [&](const wait_part& x) {
    return std::none_of(x.participants.begin(), x.participants.end(),
                        [&](const std::string& y) {
                          return y.rfind(':') + 1 == prefix.size()
                                 && y.compare(0, prefix.size(), prefix) == 0;
                        });
  };
  result.erase(std::remove_if(result.begin(), result.end(), is_foreign),
               result.end());
  return result;
}

/// @returns whether the key is about collective operations, and answered here.
bool queries::answer_waits(const requester& who, const std::string& key,
                           const job& all) {
  if (key == node_waits_key) {
    all->add(key, wait_parts_report(waits_for(who)));
    return true;
  }
  if (key != waits_key || options_.spans_nodes)
    return false;
  auto list = wait_list{};
  list.add(0, waits_for(who));
  for (auto& x : list.report(job_locations{}))
    if (x.key == key)
      all->add(key, std::move(x.val));
    else
      all->result.infos.push_back(std::move(x));
  return true;
}

/// Answers a key from what the server knows.
/// @returns whether it did.
bool queries::answer_here(const std::string& key,
                          const std::vector<info>& qualifiers, const job& all) {
  if (options_.spans_nodes
      && (key == attr::query_namespaces || key == attr::query_namespace_info))
    return false;
  if (key == attr::query_namespaces) {
    all->add(key, value::string(namespaces(known_)));
  } else if (key == attr::query_namespace_info) {
    all->add(key, namespace_infos(known_));
  } else if (key == attr::query_attribute_support) {
    auto infos = supported(qualifiers);
    if (!infos.empty())
      all->add(key, value::infos(std::move(infos)));
  } else if (key == attr::query_supported_keys) {
    all->add(key, value::string(supported_keys()));
  } else if (key == attr::query_supported_qualifiers) {
    all->add(key, value::string(supported_qualifiers()));
  } else if (key == attr::query_memory_usage) {
    sample(key, all);
  } else if (key == attr::query_stable_abi_version) {
    all->add(key, value::string(abi_version));
  } else if (key == attr::query_provisional_abi_version) {
    all->add(key, value::string(abi_version));
  } else if (key == attr::version_info) {
    all->add(key, value::string(version_text));
  } else if (key == attr::query_num_psets) {
    all->add(key, value::size(known_.process_sets().size()));
  } else if (key == attr::query_pset_names) {
    all->add(key, value::string(names_of_sets(known_)));
  } else if (key == attr::query_pset_membership) {
    const auto name = text(qualifiers, attr::pset_name);
    const auto found = known_.process_sets().find(name.value_or(""));
    if (found != known_.process_sets().end())
      all->add(key, value::procs(found->second));
  } else {
    return false;
  }
  return true;
}

/// Asks another actor for what is not known here.
template <class Handle>
void queries::ask_other(const Handle& other, const requester& who,
                        query_request request, const job& all) {
  all.add();
  self_->request(other, caf::infinite, who, std::move(request))
    .then(
      [=](info_result& more) {
        for (auto& x : more.infos)
          all->add(x.key, std::move(x.val));
        all.done();
      },
      [=](const caf::error&) { all.done(); });
}

/// Answers from the groups that this node knows.
void queries::ask_own_groups(const requester& who, query what, const job& all) {
  all.add();
  self_->request(server_actor{self_}, caf::infinite, list_groups{})
    .then(
      [all, who, what = std::move(what)](group_list& found) {
        const auto groups = without_repeats(std::move(found.groups));
        for (const auto& key : what.keys)
          if (auto x = group_answer(key, what.qualifiers, who, groups))
            all->add(key, std::move(*x));
        all.done();
      },
      [all](const caf::error&) { all.done(); });
}

/// Asks who knows the groups of all nodes, else what is known here.
void queries::ask_groups(const requester& who, query what, const job& all) {
  if (!options_.spans_nodes) {
    ask_own_groups(who, std::move(what), all);
    return;
  }
  all.add();
  const auto go_on = [=](const std::vector<info>& found) {
    auto rest = query{{}, what.qualifiers};
    for (const auto& key : what.keys)
      if (const auto* x = find(found, key))
        all->add(key, *x);
      else
        rest.keys.push_back(key);
    if (!rest.keys.empty())
      ask_own_groups(who, std::move(rest), all);
    all.done();
  };
  self_->request(directory_.host, caf::infinite, who, query_request{{what}})
    .then([go_on](const info_result& found) { go_on(found.infos); },
          [go_on](const caf::error&) { go_on({}); });
}

caf::expected<resolve_peers_result>
queries::peers(const resolve_peers_request& request) const {
  auto result = resolve_peers_result{};
  const auto& node = request.node.value_or(options_.hostname);
  const auto is_here = node == options_.hostname;
  for (const auto& [nspace, entry] : known_.namespaces()) {
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
    return make_error(status::not_found,
                      "no processes on a node " + node
                        + "; troupe nodes lists those there are");
  if (request.nspace && result.procs.empty())
    return make_error(status::invalid_namespace,
                      "no namespace " + *request.nspace);
  return result;
}

caf::expected<resolve_nodes_result>
queries::nodes(const resolve_nodes_request& request) const {
  if (!request.nspace)
    return resolve_nodes_result{options_.hostname};
  const auto* entry = known_.find(*request.nspace);
  if (entry == nullptr)
    return make_error(status::invalid_namespace,
                      "no namespace " + *request.nspace);
  if (const auto* nodes = entry->data.find(attr::node_list))
    if (const auto* list = nodes->text())
      return resolve_nodes_result{*list};
  return resolve_nodes_result{options_.hostname};
}

caf::result<info_result> queries::answer(const requester& who,
                                         query_request& request) {
  auto promise = self_->make_response_promise<info_result>();
  const auto all = job{{}, [](progress& x) { x.finish(); }};
  all->reply = pass_on(promise);
  auto rest = query_request{};
  for (auto& x : request.queries) {
    if (options_.next == next_host::foreign)
      // What another's host acts upon, it says itself.
      if (auto of_host = take_host_support(x); !of_host.keys.empty()) {
        ++all->asked;
        rest.queries.push_back(std::move(of_host));
      }
    auto unknown = query{};
    auto of_events = query{};
    auto of_monitors = query{};
    auto of_groups = query{};
    for (auto& key : x.keys) {
      ++all->asked;
      if (key.rfind(event_keys, 0) == 0)
        of_events.keys.push_back(std::move(key));
      else if (directory_.monitors && key.rfind(monitor_keys, 0) == 0)
        of_monitors.keys.push_back(std::move(key));
      else if (is_group_key(key))
        of_groups.keys.push_back(std::move(key));
      else if (!answer_waits(who, key, all)
               && !answer_here(key, x.qualifiers, all))
        unknown.keys.push_back(std::move(key));
    }
    if (!of_events.keys.empty()) {
      of_events.qualifiers = x.qualifiers;
      ask_other(directory_.events, who, query_request{{std::move(of_events)}},
                all);
    }
    if (!of_monitors.keys.empty())
      ask_other(directory_.monitors, who,
                query_request{{std::move(of_monitors)}}, all);
    if (!of_groups.keys.empty()) {
      of_groups.qualifiers = x.qualifiers;
      ask_groups(who, std::move(of_groups), all);
    }
    if (!unknown.keys.empty()) {
      unknown.qualifiers = std::move(x.qualifiers);
      rest.queries.push_back(std::move(unknown));
    }
  }
  if (!rest.queries.empty())
    ask_other(directory_.host, who, std::move(rest), all);
  all.done();
  return promise;
}

} // namespace troupe
