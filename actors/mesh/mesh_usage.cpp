#include "actors/mesh/mesh_host_state.hpp"
#include "messages/attributes.hpp"
#include "messages/custom_monitor.hpp"
#include "messages/monitor.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

// The use of resources on other nodes, and their monitors of named kinds: each
// host passes what it is asked to whoever samples or monitors its node, and
// puts together what the others say.
// Source: OpenPMIx, "Process & Resource Statistics", where the host relays.

namespace troupe::mesh_internals {

namespace {

/// Answers of nodes that are missing.
struct collection {
  info_result result;
  size_t missing = 1;
  completion<info_result> done;

  void arrived() {
    if (--missing == 0)
      done(std::move(result));
  }
};

std::vector<proc_id> targets_of(const monitor_request& request) {
  auto result = std::vector<proc_id>{};
  for (const auto& x : request.directives)
    if (x.key == attr::monitor_target_procs)
      for (auto& proc : procs_of(x.val))
        result.push_back(std::move(proc));
  return result;
}

void ask_nodes(self_pointer self, const requester& who,
               const monitor_request& request,
               const std::vector<uint32_t>& nodes,
               completion<info_result> done) {
  auto& state = self->state;
  auto all = std::make_shared<collection>();
  all->done = std::move(done);
  for (const auto rank : nodes) {
    if (rank == state.options.rank)
      continue;
    ++all->missing;
    const auto note = [all](caf::expected<info_result> x) {
      // Who is lost, or too slow, is not there.
      if (!x)
        all->result.complete = false;
      else
        std::move(x->infos.begin(), x->infos.end(),
                  std::back_inserter(all->result.infos));
      all->arrived();
    };
    state.calls->call(rank, sample_elsewhere{who, request},
                      reply_to<info_result>(note), defaults::usage_host_wait);
  }
  arm(self);
  all->arrived();
}

/// Has all jobs located that are not known here, one after another.
/// @param then Gets what is known of `procs` in the end.
void locate_all(self_pointer self, std::vector<proc_id> procs,
                std::function<void(std::vector<proc_id>)> then) {
  const auto unknown = self->state.locations.first_unknown(procs);
  if (!unknown) {
    then(std::move(procs));
    return;
  }
  const auto next = [self, procs, nspace = *unknown, then](const caf::error&) {
    auto known = procs;
    if (!self->state.locations.knows(nspace))
      known.erase(
        std::remove_if(known.begin(), known.end(),
                       [&](const proc_id& x) { return x.nspace == nspace; }),
        known.end());
    locate_all(self, std::move(known), then);
  };
  locate(self, *unknown, next);
}

bool is_of_usage(std::string_view key) {
  return key == attr::monitor_proc_resource_usage
         || key == attr::monitor_node_resource_usage
         || key == attr::monitor_disk_resource_usage
         || key == attr::monitor_net_resource_usage;
}

/// Has the node of a process do what is asked.
void ask_node_of(self_pointer self, const requester& who,
                 const monitor_request& request, const proc_id& proc,
                 completion<info_result> done) {
  locate_all(self, {proc}, [=](const std::vector<proc_id>& known) {
    auto& state = self->state;
    const auto nodes = state.locations.nodes_of(known);
    if (nodes.size() != 1 || nodes.front() == state.options.rank) {
      done(make_error(status::not_found,
                      to_string(proc) + " does not run in this DVM"));
      return;
    }
    state.calls->call(nodes.front(), sample_elsewhere{who, request},
                      reply_to<info_result>(done), defaults::usage_host_wait);
    arm(self);
  });
}

} // namespace

void sample_others(self_pointer self, const requester& who,
                   const monitor_request& request,
                   completion<info_result> done) {
  const auto& key = request.monitor.key;
  auto procs = targets_of(request);
  const auto is_for_desk =
    key == monitor_kind_key || key == attr::monitor_cancel;
  if (is_for_desk && procs.size() == 1) {
    ask_node_of(self, who, request, procs.front(), std::move(done));
    return;
  }
  if (!is_of_usage(key) && key != monitor_list_key) {
    done(make_error(status::not_supported,
                    "monitoring is not supported by this host"));
    return;
  }
  // Without processes every node answers for itself.
  if (procs.empty()) {
    ask_nodes(self, who, request, self->state.calls->live(), std::move(done));
    return;
  }
  locate_all(self, std::move(procs),
             [self, who, request, done](const std::vector<proc_id>& known) {
               ask_nodes(self, who, request,
                         self->state.locations.nodes_of(known), done);
             });
}

void sample_here(self_pointer self, sample_elsewhere& request,
                 completion<info_result> done) {
  if (!self->state.usage) {
    done(make_error(status::not_supported,
                    self->state.options.hostname
                      + " does not sample the use of resources"));
    return;
  }
  self
    ->request(self->state.usage, defaults::usage_host_wait, std::move(request))
    .then([done](info_result& x) { done(std::move(x)); },
          [done](caf::error& err) { done(std::move(err)); });
}

} // namespace troupe::mesh_internals
