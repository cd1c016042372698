#include "actors/mesh/mesh_collectives_state.hpp"
#include "messages/mesh_payload.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <utility>

// How operations over nodes end. The root of an operation alone decides; if the
// first root is lost, the next one first asks all others whether they know what
// the former one has decided, and has them take nothing from it any more.

namespace troupe {

uint32_t mesh_collectives::state::root_of(const operation& x) {
  for (const auto rank : x.nodes)
    if (x.lost.count(rank) == 0)
      return rank;
  return x.nodes.front();
}

collective_part mesh_collectives::state::part_of(const operation& x,
                                                 uint32_t root) const {
  auto result = collective_part{};
  result.id = x.id;
  result.root = root;
  result.is_fault_tolerant = x.is_fault_tolerant;
  return result;
}

/// Tells the root what this node knows: no outcome.
void mesh_collectives::state::report(operation& x, uint32_t to) {
  if (x.reported_to == to)
    return;
  x.reported_to = to;
  out.tell(to, part_of(x, to));
}

/// Nodes are lost, and the operation goes on: the root gets what this node has.
void mesh_collectives::state::bring(operation& x, uint32_t to) {
  if (!x.has_joined) {
    report(x, to);
    return;
  }
  if (x.brought_to == to)
    return;
  x.brought_to = to;
  auto part = part_of(x, to);
  part.joined.assign(x.nodes.size(), false);
  part.joined[place_of(x, self)] = true;
  if (x.own)
    part.data.push_back(*x.own);
  out.tell(to, std::move(part));
}

/// The participants that have ended, or have left the group.
std::set<proc_id> mesh_collectives::state::gone_from(const operation& x) const {
  auto result = std::set<proc_id>{};
  for (const auto& proc : x.id.procs) {
    const auto i = gone.find(proc.nspace);
    if (i == gone.end())
      continue;
    if (proc.rank == rank_wildcard)
      for (const auto rank : i->second)
        result.insert({proc.nspace, rank});
    else if (i->second.count(proc.rank) > 0)
      result.insert(proc);
  }
  if (const auto* others = left_of(x))
    result.insert(others->procs.begin(), others->procs.end());
  return result;
}

/// Whether all participants of this node have ended or left.
bool mesh_collectives::state::has_nobody(const operation& x) const {
  if (gone.empty() && left.empty())
    return false;
  const auto out_of_it = gone_from(x);
  const auto own = places.procs_on(self, x.id.procs);
  return !own.empty()
         && std::all_of(own.begin(), own.end(), [&](const proc_id& proc) {
              return out_of_it.count(proc) > 0;
            });
}

/// Whether all nodes that are not lost have joined.
bool mesh_collectives::state::all_have_joined(const operation& x) const {
  for (size_t i = 0; i < x.nodes.size(); ++i)
    if (!x.joined[i] && x.lost.count(x.nodes[i]) == 0)
      return false;
  return true;
}

/// Whether a participant has ended of whose node nothing has come.
bool mesh_collectives::state::knows_gone(const operation& x) const {
  if (gone.empty() && left.empty())
    return false;
  for (const auto& proc : gone_from(x)) {
    const auto node = places.node_of(proc);
    const auto place = node ? place_of(x, *node) : x.nodes.size();
    if (place < x.nodes.size() && !x.joined[place])
      return true;
  }
  return false;
}

/// What has become of a participant of this node that is gone, if one is.
std::optional<std::string>
mesh_collectives::state::gone_here(const operation& x) const {
  if (gone.empty() && left.empty())
    return std::nullopt;
  const auto* others = left_of(x);
  for (const auto& proc : gone_from(x))
    if (places.node_of(proc) == self)
      return to_string(proc)
             + (others != nullptr && others->procs.count(proc) > 0
                  ? " " + others->reason
                  : " had ended");
  return std::nullopt;
}

/// A participant has ended: asks its node whether it had joined before.
void mesh_collectives::state::ask_for_gone(operation& x) {
  if (gone.empty() && left.empty())
    return;
  auto question = part_of(x, self);
  question.is_question = true;
  for (const auto& proc : gone_from(x)) {
    const auto node = places.node_of(proc);
    const auto place = node ? place_of(x, *node) : x.nodes.size();
    if (place < x.nodes.size() && !x.joined[place] && *node != self
        && x.asked.insert(*node).second)
      out.tell(*node, question);
  }
}

/// Nodes are lost, and the operation goes on: asks the others what they have.
void mesh_collectives::state::ask_the_missing(operation& x) {
  auto question = part_of(x, self);
  question.is_question = true;
  for (size_t i = 0; i < x.nodes.size(); ++i)
    if (const auto rank = x.nodes[i]; !x.joined[i] && rank != self
                                      && x.lost.count(rank) == 0
                                      && x.asked.insert(rank).second)
      out.tell(rank, question);
}

std::string
mesh_collectives::state::lost_participants(const operation& x) const {
  auto names = std::string{};
  auto count = size_t{0};
  constexpr auto most = size_t{8};
  for (const auto rank : x.lost)
    for (const auto& proc : places.procs_on(rank, x.id.procs))
      if (++count <= most)
        names += (names.empty() ? "" : ", ") + to_string(proc);
  if (count > most)
    names += " and " + std::to_string(count - most) + " more";
  return "lost with its node: " + names;
}

/// Does what the root has to do.
void mesh_collectives::state::lead(const key& k) {
  auto& x = *find(k);
  if (x.lost.empty()) {
    if (!x.has_joined && x.failure == status::success && !x.is_fault_tolerant)
      if (auto why = gone_here(x)) {
        x.failure = status::lost_connection;
        x.reason = std::move(*why);
      }
    if (x.failure != status::success)
      decide(k, x.failure, x.reason);
    else if (is_complete(x))
      decide(k, status::success, {});
    else
      ask_for_gone(x);
    return;
  }
  // The first root can have told nobody what it has not decided.
  auto is_sure = x.nodes.front() == self;
  if (!is_sure) {
    is_sure = true;
    auto question = part_of(x, self);
    question.is_question = true;
    for (const auto rank : x.nodes) {
      if (rank == self || x.lost.count(rank) > 0 || x.reports.count(rank) > 0)
        continue;
      is_sure = false;
      if (x.asked.insert(rank).second)
        out.tell(rank, question);
    }
  }
  if (!is_sure)
    return;
  if (!x.is_fault_tolerant)
    decide(k, status::lost_connection, lost_participants(x));
  else if (x.failure != status::success)
    decide(k, x.failure, x.reason);
  else if (all_have_joined(x))
    decide(k, status::success, {});
  else
    ask_the_missing(x);
}

/// Says what is known of an operation that is over.
void mesh_collectives::state::answer(const key& k, uint32_t to, bool as_root) {
  const auto& x = released.at(k);
  auto id = mesh_collective_id{k.kind, *k.procs, k.generation};
  // What was exchanged is not kept: it can be asked for process by process.
  out.tell(to, collective_outcome{
                 std::move(id), as_root ? self : x.root, x.code, x.reason, {}});
}

/// A root asks.
void mesh_collectives::state::take_question(const key& k, uint32_t from,
                                            const collective_part& part) {
  auto reply = collective_part{};
  reply.id = part.id;
  reply.root = part.root;
  const auto fail = [&](std::string why) {
    reply.failure = status::lost_connection;
    reply.reason = std::move(why);
  };
  if (places.first_unknown(part.id.procs)) {
    // It has ended processes of a job that never ran under this daemon.
    if (part.is_fault_tolerant
        && (find(k) != nullptr || parked < defaults::parked_collectives)) {
      auto& x = begin(k, part.id);
      x.is_fault_tolerant = true;
      x.promised = std::max(x.promised, part.root);
    } else if (find(k) == nullptr) {
      fail("the daemon of node " + std::to_string(self) + " has changed");
    }
    out.tell(from, std::move(reply));
    return;
  }
  auto& x = begin(k, part.id);
  if (place_of(x, from) == x.nodes.size())
    return; // A stranger.
  x.promised = std::max(x.promised, part.root);
  x.is_fault_tolerant |= part.is_fault_tolerant;
  reply.is_fault_tolerant = x.is_fault_tolerant;
  if (!x.has_joined && !x.is_fault_tolerant)
    if (auto why = gone_here(x))
      fail(std::move(*why));
  out.tell(from, std::move(reply));
  if (!x.is_fault_tolerant)
    return;
  // The root may be reached in no other way.
  if (!x.lost.empty() || x.has_joined || !has_nobody(x)) {
    advance(k);
    return;
  }
  x.has_joined = true;
  x.joined[place_of(x, self)] = true;
  bring(x, part.root);
  advance(k);
}

/// Ends an operation for all: at its root.
void mesh_collectives::state::decide(const key& k, status code,
                                     const std::string& reason) {
  auto& x = *find(k);
  auto what = collective_outcome{};
  what.id = x.id;
  what.root = self;
  what.code = code;
  what.reason = reason;
  auto receivers = std::vector<uint32_t>{};
  if (code == status::success && x.lost.empty()) {
    receivers = children(x);
    what.data = std::move(x.data);
  } else {
    if (code == status::success && x.is_fault_tolerant)
      what.data = std::move(x.data);
    // Also to those that have not joined: their operations are counted alike.
    for (const auto rank : x.nodes)
      if (rank != self && x.lost.count(rank) == 0)
        receivers.push_back(rank);
    x.reports.clear();
  }
  for (const auto rank : receivers)
    out.tell(rank, what);
  release(k, {code, reason, self}, what.data);
}

/// Ends an operation here. What it was is gone before anybody hears of it: who
/// does may join the next one at once.
void mesh_collectives::state::release(const key& k, outcome how,
                                      const std::vector<node_data>& data) {
  auto node = open.extract(k);
  auto calls = std::vector<completion>{};
  auto reports = std::set<uint32_t>{};
  if (!node.empty()) {
    if (node.mapped().is_parked())
      --parked;
    calls = std::move(node.mapped().calls);
    if (node.mapped().joiner)
      calls.push_back(std::move(node.mapped().joiner));
    reports = std::move(node.mapped().reports);
  }
  remember(k, how);
  // They have asked this node as their root; along the tree they may not be
  // reached.
  for (const auto rank : reports)
    answer(k, rank, true);
  if (how.code != status::success) {
    for (auto& then : calls)
      then(make_error(how.code, how.reason));
    return;
  }
  for (size_t i = 0; i < calls.size(); ++i)
    if (i + 1 < calls.size())
      calls[i](host_collective_result{});
    else
      calls[i](host_collective_result{data_of_others(data)});
}

/// What the other nodes have brought, as far as it is theirs.
std::vector<proc_data>
mesh_collectives::state::data_of_others(const std::vector<node_data>& data) {
  auto result = std::vector<proc_data>{};
  for (const auto& x : data) {
    if (x.node == self)
      continue;
    auto procs = unpack_data(x.procs);
    if (!procs)
      continue; // Whoever needs it asks for it.
    for (auto& y : *procs)
      if (places.node_of(y.proc) == x.node)
        result.push_back(std::move(y));
  }
  return result;
}

void mesh_collectives::state::remember(const key& k, outcome how) {
  if (!released.emplace(k, std::move(how)).second)
    return;
  const auto& procs = *k.procs;
  auto& keys = order[procs.empty() ? std::string{} : procs.front().nspace];
  keys.push_back(k);
  if (keys.size() <= defaults::collective_outcomes)
    return;
  const auto& oldest = keys.front();
  auto& limit =
    forgotten[signature_of(oldest.kind, *oldest.procs, oldest.generation)];
  limit = std::max(limit, oldest.generation);
  released.erase(oldest);
  keys.pop_front();
}

} // namespace troupe
