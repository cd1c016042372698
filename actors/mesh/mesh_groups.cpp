#include "actors/mesh/group_speakers.hpp"
#include "actors/mesh/mesh_host_state.hpp"

#include <caf/actor_system.hpp>

#include <algorithm>
#include <utility>

// Groups over several nodes: where their processes are, and who may say what of
// them. Their logs are kept by the sequencer.

namespace troupe::mesh_internals {

namespace {

/// Processes that are being looked for.
struct place_search {
  std::vector<proc_id> procs;

  /// Tools of other nodes, by the node that has answered for them.
  std::map<proc_id, uint32_t> tools;
  caf::error why;
  size_t pending = 1;
  completion<proc_places> done;
};

/// Those of this node that belong to no job.
std::vector<proc_id> own_tools(const mesh_host_state& state,
                               const proc_id& what) {
  auto result = std::vector<proc_id>{};
  for (const auto& [index, id] : state.tools)
    if (matches(what, id) && std::count(result.begin(), result.end(), id) == 0)
      result.push_back(id);
  std::sort(result.begin(), result.end());
  return result;
}

/// Writes down where they are, or which of them does not exist.
caf::expected<proc_places> places_of(const mesh_host_state& state,
                                     const place_search& x) {
  const auto& locations = state.locations;
  auto result = proc_places{{}, state.options.rank};
  for (const auto& proc : x.procs) {
    if (const auto tools = own_tools(state, proc); !tools.empty()) {
      for (const auto& tool : tools)
        result.procs.push_back({tool, state.options.rank});
      continue;
    }
    if (const auto i = x.tools.find(proc); i != x.tools.end()) {
      result.procs.push_back({proc, i->second});
      continue;
    }
    if (!locations.knows(proc.nspace))
      return x.why
               ? x.why
               : make_error(status::not_found, "no process " + to_string(proc));
    const auto lost = locations.lost_of(proc.nspace);
    const auto add = [&](const proc_id& id) {
      auto node = locations.node_of(id);
      if (!node)
        return false;
      if (std::binary_search(lost.begin(), lost.end(), *node))
        node.reset();
      result.procs.push_back({id, node});
      return true;
    };
    if (proc.rank == rank_wildcard) {
      const auto size = locations.size_of(proc.nspace);
      for (uint32_t rank = 0; rank < size; ++rank)
        add({proc.nspace, rank});
    } else if (!add(proc)) {
      return make_error(status::not_found, "no process " + to_string(proc));
    }
  }
  return result;
}

void finish_one(self_pointer self, const std::shared_ptr<place_search>& x) {
  if (--x->pending == 0)
    x->done(places_of(self->state, *x));
}

/// Asks all others for a process that is no job's.
void find_tool(self_pointer self, const std::shared_ptr<place_search>& x,
               const proc_id& proc) {
  for (const auto rank : self->state.calls->live()) {
    if (rank == self->state.options.rank)
      continue;
    ++x->pending;
    ask(self, rank, find_procs{{proc}},
        [self, x, proc, rank](const caf::expected<host_reply>& y) {
          if (y)
            x->tools.emplace(proc, rank);
          finish_one(self, x);
        });
  }
}

} // namespace

void locate_all(self_pointer self, std::vector<proc_id> procs,
                completion<proc_places> done) {
  const auto& state = self->state;
  auto x = std::make_shared<place_search>();
  x->procs = std::move(procs);
  x->done = std::move(done);
  auto unknown = std::set<std::string>{};
  for (const auto& proc : x->procs)
    if (!state.locations.knows(proc.nspace) && own_tools(state, proc).empty())
      unknown.insert(proc.nspace);
  for (const auto& nspace : unknown) {
    ++x->pending;
    locate(self, nspace, [self, x, nspace](const caf::error& why) {
      if (why) {
        x->why = why;
        for (const auto& proc : x->procs)
          if (proc.nspace == nspace && proc.rank != rank_wildcard)
            find_tool(self, x, proc);
      }
      finish_one(self, x);
    });
  }
  finish_one(self, x);
}

bool may_say(self_pointer self, uint32_t from, const group_entry& what) {
  const auto procs = speakers_of(what);
  return std::all_of(procs.begin(), procs.end(), [&](const proc_id& x) {
    return may_speak_for(self, from, x);
  });
}

void carry_out(self_pointer self, const std::string& log, group_entry what,
               std::function<void()> then) {
  auto& state = self->state;
  if (!state.server) {
    then();
    return;
  }
  auto hosts = state.sequencer->hosts_of_log(log);
  self
    ->request(state.server, caf::infinite,
              group_entry_ordered{std::move(what), std::move(hosts)})
    .then([then](ack) { then(); }, [then](const caf::error&) { then(); });
}

void lose_host(self_pointer self, uint32_t rank) {
  auto& state = self->state;
  state.sequencer->node_lost(rank);
  if (state.server)
    self->send(state.server, host_node_lost{rank});
}

void list_groups_here(self_pointer self, completion<group_list> done) {
  const auto& state = self->state;
  if (!state.server) {
    done(group_list{});
    return;
  }
  self->request(state.server, defaults::net_wait, list_groups{})
    .then([done](group_list& x) { done(std::move(x)); },
          [done](caf::error& why) { done(std::move(why)); });
}

void list_all_groups(self_pointer self, completion<group_list> done) {
  struct survey {
    std::map<uint32_t, group_list> found;
    size_t missing = 1;
    completion<group_list> done;
  };
  auto& state = self->state;
  auto all = std::make_shared<survey>();
  all->done = std::move(done);
  const auto arrived = [all] {
    if (--all->missing > 0)
      return;
    auto result = group_list{};
    for (auto& [rank, x] : all->found)
      for (auto& group : x.groups)
        result.groups.push_back(std::move(group));
    all->done(std::move(result));
  };
  for (const auto rank : state.calls->live()) {
    ++all->missing;
    // Who does not answer soon is left out.
    const auto note = [all, arrived, rank](caf::expected<group_list> x) {
      if (x)
        all->found[rank] = std::move(*x);
      arrived();
    };
    if (rank == state.options.rank)
      list_groups_here(self, note);
    else
      state.calls->call(rank, list_groups{}, reply_to<group_list>(note),
                        defaults::net_wait * 2);
  }
  arm(self);
  arrived();
}

} // namespace troupe::mesh_internals
