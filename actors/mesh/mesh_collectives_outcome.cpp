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

/// Tells the root what this node knows: no outcome.
void mesh_collectives::state::report(operation& x, uint32_t to) {
  if (x.reported_to == to)
    return;
  x.reported_to = to;
  auto part = collective_part{};
  part.id = x.id;
  part.root = to;
  out.tell(to, std::move(part));
}

/// Whether a participant has ended of whose node nothing has come.
bool mesh_collectives::state::knows_gone(const operation& x) const {
  for (const auto& proc : x.id.procs) {
    const auto i = gone.find(proc.nspace);
    if (i == gone.end())
      continue;
    for (const auto rank : i->second) {
      if (!matches(proc, {proc.nspace, rank}))
        continue;
      const auto node = places.node_of({proc.nspace, rank});
      const auto place = node ? place_of(x, *node) : x.nodes.size();
      if (place < x.nodes.size() && !x.joined[place])
        return true;
    }
  }
  return false;
}

/// A participant of this node that has ended, if there is one.
std::optional<proc_id>
mesh_collectives::state::gone_here(const operation& x) const {
  for (const auto& proc : x.id.procs) {
    const auto i = gone.find(proc.nspace);
    if (i == gone.end())
      continue;
    for (const auto rank : i->second)
      if (matches(proc, {proc.nspace, rank})
          && places.node_of({proc.nspace, rank}) == self)
        return proc_id{proc.nspace, rank};
  }
  return std::nullopt;
}

/// A participant has ended: asks its node whether it had joined before.
void mesh_collectives::state::ask_for_gone(operation& x) {
  auto question = collective_part{};
  question.id = x.id;
  question.root = self;
  question.is_question = true;
  for (const auto& proc : x.id.procs) {
    const auto i = gone.find(proc.nspace);
    if (i == gone.end())
      continue;
    for (const auto rank : i->second) {
      if (!matches(proc, {proc.nspace, rank}))
        continue;
      const auto node = places.node_of({proc.nspace, rank});
      const auto place = node ? place_of(x, *node) : x.nodes.size();
      if (place < x.nodes.size() && !x.joined[place] && *node != self
          && x.asked.insert(*node).second)
        out.tell(*node, question);
    }
  }
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
    if (!x.has_joined && x.failure == status::success)
      if (const auto proc = gone_here(x)) {
        x.failure = status::lost_connection;
        x.reason = to_string(*proc) + " had ended";
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
    auto question = collective_part{};
    question.id = x.id;
    question.root = self;
    question.is_question = true;
    for (const auto rank : x.nodes) {
      if (rank == self || x.lost.count(rank) > 0 || x.reports.count(rank) > 0)
        continue;
      is_sure = false;
      if (x.asked.insert(rank).second)
        out.tell(rank, question);
    }
  }
  if (is_sure)
    decide(k, status::lost_connection, lost_participants(x));
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
    if (find(k) == nullptr)
      fail("the daemon of node " + std::to_string(self) + " has changed");
    out.tell(from, std::move(reply));
    return;
  }
  auto& x = begin(k, part.id);
  if (place_of(x, from) == x.nodes.size())
    return; // A stranger.
  x.promised = std::max(x.promised, part.root);
  if (!x.has_joined)
    if (const auto proc = gone_here(x))
      fail(to_string(*proc) + " had ended");
  out.tell(from, std::move(reply));
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
  auto& limit = forgotten[{oldest.kind, *oldest.procs}];
  limit = std::max(limit, oldest.generation);
  released.erase(oldest);
  keys.pop_front();
}

} // namespace troupe
