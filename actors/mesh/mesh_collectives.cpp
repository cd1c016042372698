#include "actors/mesh/mesh_collectives.hpp"

#include "actors/mesh/mesh_collectives_state.hpp"
#include "messages/mesh_payload.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

size_t bytes_of(const value& x) {
  if (const auto* text = std::get_if<std::string>(&x.data))
    return text->size();
  auto result = size_t{8};
  if (const auto* array = x.array())
    for (const auto& element : array->elements)
      result += bytes_of(element);
  return result;
}

/// Whether what a process has posted stays where it is until it is asked for.
bool is_lazy(const proc_data& x) {
  auto bytes = size_t{0};
  for (const auto& entry : x.entries)
    bytes += bytes_of(entry.val);
  return bytes > defaults::eager_modex_bytes;
}

} // namespace

// -- the state
// -------------------------------------------------------------------

mesh_collectives::state::key
mesh_collectives::state::key_of(mesh_collective_id& id) {
  std::sort(id.procs.begin(), id.procs.end());
  id.procs.erase(std::unique(id.procs.begin(), id.procs.end()), id.procs.end());
  return {id.generation, id.kind,
          std::make_shared<const std::vector<proc_id>>(id.procs)};
}

size_t mesh_collectives::state::place_of(const operation& x, uint32_t rank) {
  const auto i = std::lower_bound(x.nodes.begin(), x.nodes.end(), rank);
  return i != x.nodes.end() && *i == rank
           ? static_cast<size_t>(i - x.nodes.begin())
           : x.nodes.size();
}

bool mesh_collectives::state::is_complete(const operation& x) const {
  // The places below, level by level.
  auto first = place_of(x, self);
  auto last = first;
  while (first < x.nodes.size()) {
    for (auto i = first; i <= last && i < x.nodes.size(); ++i)
      if (!x.joined[i])
        return false;
    first = first * radix + 1;
    last = last * radix + radix;
  }
  return true;
}

std::vector<uint32_t>
mesh_collectives::state::children(const operation& x) const {
  auto result = std::vector<uint32_t>{};
  const auto first = place_of(x, self) * radix + 1;
  for (auto i = first; i < first + radix && i < x.nodes.size(); ++i)
    result.push_back(x.nodes[i]);
  return result;
}

mesh_collectives::operation&
mesh_collectives::state::begin(const key& k, const mesh_collective_id& id) {
  const auto [i, is_new] = open.try_emplace(k);
  auto& x = i->second;
  if (!is_new)
    return x;
  x.id = id;
  if (const auto unknown = places.first_unknown(id.procs)) {
    ++parked;
    if (locating.insert(*unknown).second)
      out.locate(*unknown);
    return open.at(k);
  }
  resolve(x);
  return x;
}

/// Finds the nodes of an operation, and those of them that are lost.
void mesh_collectives::state::resolve(operation& x) {
  x.nodes = places.nodes_of(x.id.procs);
  if (x.nodes.empty())
    x.nodes.push_back(self); // Nobody else.
  x.joined.assign(x.nodes.size(), false);
  for (const auto rank : x.nodes)
    if (rank != self && !out.is_live(rank))
      x.lost.insert(rank);
  for (const auto& proc : x.id.procs) {
    const auto i = lost.find(proc.nspace);
    if (i == lost.end())
      continue;
    // A later daemon of that node does not run these processes.
    for (const auto rank : i->second)
      if (!places.procs_on(rank, {proc}).empty())
        x.lost.insert(rank);
  }
}

/// Whether a node has sent a part straight to this one, its root: it knows of
/// losses that this node may not know of yet, and may not be reached along the
/// tree.
bool mesh_collectives::state::is_brought(const operation& x, uint32_t from,
                                         const collective_part& part) const {
  const auto place = place_of(x, from);
  const auto is_leaf = place * radix + 1 >= x.nodes.size();
  const auto is_child = place > 0 && x.nodes[(place - 1) / radix] == self;
  return x.is_fault_tolerant && !(is_leaf && is_child)
         && std::count(part.joined.begin(), part.joined.end(), true) == 1;
}

/// Takes what the nodes below bring, each of them once.
void mesh_collectives::state::merge(const key& k, uint32_t from,
                                    collective_part& part) {
  auto& x = *find(k);
  if (place_of(x, from) == x.nodes.size())
    return; // A stranger.
  if (part.failure != status::success && x.failure == status::success) {
    x.failure = part.failure;
    x.reason = part.reason;
  }
  x.is_fault_tolerant |= part.is_fault_tolerant;
  const auto goes_on = x.lost.empty() || x.is_fault_tolerant;
  if (part.root == self
      && (part.joined.empty() || !x.lost.empty() || is_brought(x, from, part)))
    x.reports.insert(from);
  if (part.joined.size() == x.nodes.size() && goes_on) {
    auto is_new = std::vector<bool>(x.nodes.size());
    for (size_t i = 0; i < is_new.size(); ++i)
      is_new[i] = part.joined[i] && !x.joined[i];
    for (auto& data : part.data) {
      const auto place = place_of(x, data.node);
      if (place < x.nodes.size() && is_new[place])
        x.data.push_back(std::move(data));
    }
    for (size_t i = 0; i < is_new.size(); ++i)
      if (is_new[i])
        x.joined[i] = true;
  }
  advance(k);
}

/// Does what an operation needs now.
void mesh_collectives::state::advance(const key& k) {
  auto* found = find(k);
  if (found == nullptr || found->is_parked())
    return;
  auto& x = *found;
  const auto root = root_of(x);
  x.promised = std::max(x.promised, root);
  if (x.is_fault_tolerant && !x.has_joined && has_nobody(x)) {
    x.has_joined = true;
    x.joined[place_of(x, self)] = true;
  }
  if (!x.is_fault_tolerant && !x.has_joined && x.failure == status::success
      && left_of(x) != nullptr)
    if (auto why = gone_here(x)) {
      x.failure = status::lost_connection;
      x.reason = std::move(*why);
    }
  if (root == self) {
    lead(k);
    return;
  }
  if (!x.lost.empty() && !x.is_fault_tolerant) {
    report(x, root);
    return;
  }
  if (x.failure != status::success) {
    if (x.failed_to == root)
      return;
    x.failed_to = root;
    auto part = part_of(x, root);
    part.failure = x.failure;
    part.reason = x.reason;
    out.tell(root, std::move(part));
    return;
  }
  if (!x.lost.empty()) {
    bring(x, root);
    return;
  }
  if (!x.is_sent && is_complete(x)) {
    x.is_sent = true;
    auto part = part_of(x, root);
    part.joined = x.joined;
    part.data = x.is_fault_tolerant ? x.data : std::exchange(x.data, {});
    out.tell(x.nodes[(place_of(x, self) - 1) / radix], std::move(part));
  } else if (!x.is_sent && knows_gone(x)) {
    report(x, root);
  }
}

// -- the class
// -------------------------------------------------------------------

mesh_collectives::mesh_collectives(uint32_t self, const job_locations& places,
                                   effects out, uint32_t radix)
  : state_(std::make_unique<state>(self, places, std::move(out), radix)) {
  // nop
}

mesh_collectives::~mesh_collectives() = default;

void mesh_collectives::join(host_collective what, completion then) {
  auto& s = *state_;
  auto id =
    mesh_collective_id{what.kind, std::move(what.procs), what.generation};
  const auto k = state::key_of(id);
  if (const auto i = s.released.find(k); i != s.released.end()) {
    if (i->second.code == status::success)
      then(host_collective_result{});
    else
      then(make_error(i->second.code, i->second.reason));
    return;
  }
  auto& x = s.begin(k, id);
  x.is_fault_tolerant |= what.is_fault_tolerant;
  if (what.failure == status::success && !x.joiner)
    x.joiner = std::move(then);
  else
    x.calls.push_back(std::move(then));
  if (what.failure == status::operation_in_progress) {
    // Some are missing yet.
  } else if (what.failure != status::success) {
    if (x.failure == status::success) {
      x.failure = what.failure;
      x.reason = std::move(what.reason);
    }
  } else if (!std::exchange(x.has_joined, true)) {
    auto& data = what.data;
    data.erase(std::remove_if(data.begin(), data.end(), is_lazy), data.end());
    if (!data.empty()) {
      x.data.push_back({s.self, pack_data(data)});
      if (x.is_fault_tolerant)
        x.own = x.data.back();
    }
    if (!x.is_parked())
      x.joined[state::place_of(x, s.self)] = true;
  }
  s.advance(k);
}

void mesh_collectives::take(uint32_t from, collective_part what) {
  auto& s = *state_;
  const auto k = state::key_of(what.id);
  if (s.released.count(k) > 0) {
    s.answer(k, from, what.root == s.self);
    return;
  }
  if (what.is_question) {
    s.take_question(k, from, what);
    return;
  }
  const auto old = s.forgotten.find(
    state::signature_of(what.id.kind, what.id.procs, what.id.generation));
  if (old != s.forgotten.end() && what.id.generation <= old->second
      && s.find(k) == nullptr) {
    s.out.tell(from, collective_outcome{what.id,
                                        std::max(what.root, s.self),
                                        status::not_available,
                                        "the operation was over long ago",
                                        {}});
    return;
  }
  if (s.find(k) == nullptr && s.parked >= defaults::parked_collectives
      && s.places.first_unknown(what.id.procs))
    return; // Only if another node does not keep to the bounds.
  auto& x = s.begin(k, what.id);
  x.is_fault_tolerant |= what.is_fault_tolerant;
  if (x.is_parked())
    x.parked.emplace_back(from, std::move(what));
  else
    s.merge(k, from, what);
}

void mesh_collectives::take(uint32_t from, collective_outcome what) {
  auto& s = *state_;
  const auto k = state::key_of(what.id);
  if (s.released.count(k) > 0)
    return; // The first one counts.
  auto* x = s.find(k);
  if (x == nullptr || x->is_parked()) {
    // Nobody has joined here: it cannot have succeeded.
    if (what.code == status::success)
      return;
    s.release(k, {what.code, what.reason, what.root}, {});
    return;
  }
  if (state::place_of(*x, from) == x->nodes.size())
    return; // A stranger.
  if (!x->lost.empty() && state::root_of(*x) == s.self) {
    // A former root has decided it.
    s.decide(k, what.code, what.reason);
    return;
  }
  if (what.root < x->promised)
    return;
  if (what.code == status::success) {
    if (!x->has_joined)
      return;
    for (const auto child : s.children(*x))
      s.out.tell(child, what);
  }
  s.release(k, {what.code, what.reason, what.root}, what.data);
}

size_t mesh_collectives::open() const {
  return state_->open.size();
}

size_t mesh_collectives::remembered() const {
  return state_->released.size();
}

} // namespace troupe
