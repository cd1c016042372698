#include "actors/mesh/exchange/mesh_collectives.hpp"

#include "actors/data/datastore.hpp"
#include "actors/mesh/exchange/collective_outcomes.hpp"
#include "actors/mesh/exchange/defaults.hpp"
#include "config/defaults.hpp"
#include "messages/mesh_payload.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace troupe {

namespace {

const job_locations::node_list& nobody() {
  static const auto result = std::make_shared<const std::vector<uint32_t>>();
  return result;
}

} // namespace

/// One operation that this node knows of and whose outcome it does not know.
struct mesh_collectives::operation {
  mesh_collective_id id;

  /// The nodes that take part; none: a namespace is not known yet.
  job_locations::node_list nodes = nobody();

  /// Those of them that are lost.
  std::set<uint32_t> lost;

  /// A bit per node, and what they brought.
  std::vector<bool> joined;
  std::vector<node_data> data;

  /// Who of this node gets the data and who only hears of the end, and whether
  /// its participants have joined.
  completion joiner;
  std::vector<completion> calls;
  bool has_joined = false;

  /// Why participants of some node cannot join.
  status failure = status::success;
  std::string reason;

  /// Nobody with a smaller rank may say any more what the outcome is.
  uint32_t promised = 0;

  bool is_sent = false;

  /// Whether it goes on without those who end or leave, what this node brings
  /// to such an operation, and the root that has got it directly.
  bool is_fault_tolerant = false;
  std::optional<node_data> own;
  std::optional<uint32_t> brought_to;

  /// The root that has been told what this node knows, and of the failure.
  std::optional<uint32_t> reported_to;
  std::optional<uint32_t> failed_to;

  /// At the root: who has been asked, and who knows of no outcome and will
  /// accept none of an earlier root.
  std::set<uint32_t> asked;
  std::set<uint32_t> reports;

  /// Parts that came before the namespaces were known.
  std::vector<std::pair<uint32_t, collective_part>> parked;

  bool is_parked() const {
    return nodes->empty();
  }
};

struct mesh_collectives::state {
  using key = collective_key;
  using outcome = collective_outcomes::outcome;

  uint32_t self = 0;
  const job_locations& places;
  effects out;
  uint32_t radix = 1;

  std::map<key, operation> open;
  collective_outcomes released;

  std::map<std::string, std::set<uint32_t>> gone;
  std::map<std::string, std::set<uint32_t>> lost;

  /// Who has left which group, and what to say of it.
  struct departures {
    std::set<proc_id> procs;
    std::string reason;
  };

  std::map<uint32_t, departures> left;

  const departures* left_of(const operation& x) const {
    const auto i = left.find(static_cast<uint32_t>(x.id.generation >> 32));
    return i != left.end() ? &i->second : nullptr;
  }
  std::set<std::string> locating;
  size_t parked = 0;

  state(uint32_t rank, const job_locations& where, effects fx, uint32_t width)
    : self(rank), places(where), out(std::move(fx)),
      radix(width == 0 ? 1 : width) {
    // nop
  }

  static key key_of(mesh_collective_id& id);

  operation* find(const key& k) {
    const auto i = open.find(k);
    return i != open.end() ? &i->second : nullptr;
  }

  // -- operations --

  operation& begin(const key& k, const mesh_collective_id& id);
  void resolve(operation& x);
  void merge(const key& k, uint32_t from, collective_part& part);
  void advance(const key& k);

  // -- the tree, by the places of the nodes in the list --

  static size_t place_of(const operation& x, uint32_t rank);
  bool is_below(size_t place, size_t top) const;

  /// Visits a place and those below it, level by level, while `visit` says so.
  template <class F>
  bool visit_below(const operation& x, size_t top, F visit) const {
    for (auto first = top, last = top; first < x.nodes->size();
         first = first * radix + 1, last = last * radix + radix)
      for (auto i = first; i <= last && i < x.nodes->size(); ++i)
        if (!visit(i))
          return false;
    return true;
  }
  bool is_complete(const operation& x) const;
  std::vector<uint32_t> children(const operation& x) const;

  // -- outcomes --

  /// The first node that is not lost.
  static uint32_t root_of(const operation& x);

  collective_part part_of(const operation& x, uint32_t root) const;
  void report(operation& x, uint32_t to);
  void bring(operation& x, uint32_t to);
  bool knows_gone(const operation& x) const;
  std::optional<std::string> gone_here(const operation& x) const;
  std::set<proc_id> gone_from(const operation& x) const;
  bool has_nobody(const operation& x) const;
  bool all_have_joined(const operation& x) const;
  void ask_for_gone(operation& x);
  void ask_the_missing(operation& x);
  void lead(const key& k);
  void answer(const key& k, uint32_t to, bool as_root);
  void take_question(const key& k, uint32_t from, const collective_part& part);
  std::string lost_participants(const operation& x) const;

  /// Ends an operation for all, or only here.
  void decide(const key& k, status code, const std::string& reason);
  void release(const key& k, outcome how, const std::vector<node_data>& data);
  std::vector<proc_data> data_of_others(const std::vector<node_data>& data);
};

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

/// What the others get of it then: enough to forget what they have had.
std::vector<key_value> digest_of(const proc_data& x) {
  const auto number = std::hash<std::string>{}(pack_data({x}));
  return {{std::string{posted_digest}, value::uint64(number)}};
}

} // namespace

// -- operations --------------------------------------------------------------

mesh_collectives::state::key
mesh_collectives::state::key_of(mesh_collective_id& id) {
  std::sort(id.procs.begin(), id.procs.end());
  id.procs.erase(std::unique(id.procs.begin(), id.procs.end()), id.procs.end());
  return {id.generation, id.kind,
          std::make_shared<const std::vector<proc_id>>(id.procs)};
}

size_t mesh_collectives::state::place_of(const operation& x, uint32_t rank) {
  const auto i = std::lower_bound(x.nodes->begin(), x.nodes->end(), rank);
  return i != x.nodes->end() && *i == rank
           ? static_cast<size_t>(i - x.nodes->begin())
           : x.nodes->size();
}

bool mesh_collectives::state::is_complete(const operation& x) const {
  return visit_below(x, place_of(x, self),
                     [&](size_t i) -> bool { return x.joined[i]; });
}

/// Whether a place is another one or below it.
bool mesh_collectives::state::is_below(size_t place, size_t top) const {
  while (place > top)
    place = (place - 1) / radix;
  return place == top;
}

std::vector<uint32_t>
mesh_collectives::state::children(const operation& x) const {
  auto result = std::vector<uint32_t>{};
  const auto first = place_of(x, self) * radix + 1;
  for (auto i = first; i < first + radix && i < x.nodes->size(); ++i)
    result.push_back((*x.nodes)[i]);
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
  x.nodes = places.list_of(x.id.procs);
  if (x.nodes->empty()) // Nobody else.
    x.nodes = std::make_shared<const std::vector<uint32_t>>(1, self);
  x.joined.assign(x.nodes->size(), false);
  for (const auto rank : *x.nodes)
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

/// Takes what the nodes below bring, each of them once.
void mesh_collectives::state::merge(const key& k, uint32_t from,
                                    collective_part& part) {
  auto& x = *find(k);
  if (place_of(x, from) == x.nodes->size())
    return; // A stranger.
  if (part.failure != status::success && x.failure == status::success) {
    x.failure = part.failure;
    x.reason = part.reason;
  }
  x.is_fault_tolerant |= part.is_fault_tolerant;
  const auto goes_on = x.lost.empty() || x.is_fault_tolerant;
  // What came straight to this root is answered by it: of losses that this node
  // does not know of yet its sender may, and take nothing from a former root.
  if (part.root == self && (part.all_below_of == 0 || !x.lost.empty()))
    x.reports.insert(from);
  const auto size = x.nodes->size();
  const auto top = place_of(x, from);
  const auto is_whole = part.all_below_of == size;
  if ((is_whole || part.joined.size() == size) && goes_on) {
    for (auto& data : part.data) {
      const auto place = place_of(x, data.node);
      if (place < size && !x.joined[place]
          && (is_whole ? is_below(place, top) : part.joined[place]))
        x.data.push_back(std::move(data));
    }
    if (is_whole)
      visit_below(x, top, [&](size_t place) {
        x.joined[place] = true;
        return true;
      });
    else
      for (size_t i = 0; i < size; ++i)
        x.joined[i] = x.joined[i] || part.joined[i];
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
    part.all_below_of = static_cast<uint32_t>(x.nodes->size());
    part.data = x.is_fault_tolerant ? x.data : std::exchange(x.data, {});
    out.tell((*x.nodes)[(place_of(x, self) - 1) / radix], std::move(part));
  } else if (!x.is_sent && knows_gone(x)) {
    report(x, root);
  }
}

// -- outcomes ----------------------------------------------------------------

// The root of an operation alone decides. If the first root is lost, the next one
// asks all others whether they know what the former one has decided, and has them
// take nothing from it any more.

uint32_t mesh_collectives::state::root_of(const operation& x) {
  for (const auto rank : *x.nodes)
    if (x.lost.count(rank) == 0)
      return rank;
  return x.nodes->front();
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
  part.joined.assign(x.nodes->size(), false);
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
  for (size_t i = 0; i < x.nodes->size(); ++i)
    if (!x.joined[i] && x.lost.count((*x.nodes)[i]) == 0)
      return false;
  return true;
}

/// Whether a participant has ended of whose node nothing has come.
bool mesh_collectives::state::knows_gone(const operation& x) const {
  if (gone.empty() && left.empty())
    return false;
  for (const auto& proc : gone_from(x)) {
    const auto node = places.node_of(proc);
    const auto place = node ? place_of(x, *node) : x.nodes->size();
    if (place < x.nodes->size() && !x.joined[place])
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
    const auto place = node ? place_of(x, *node) : x.nodes->size();
    if (place < x.nodes->size() && !x.joined[place] && *node != self
        && x.asked.insert(*node).second)
      out.tell(*node, question);
  }
}

/// Nodes are lost, and the operation goes on: asks the others what they have.
void mesh_collectives::state::ask_the_missing(operation& x) {
  auto question = part_of(x, self);
  question.is_question = true;
  for (size_t i = 0; i < x.nodes->size(); ++i)
    if (const auto rank = (*x.nodes)[i]; !x.joined[i] && rank != self
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
  auto is_sure = x.nodes->front() == self;
  if (!is_sure) {
    is_sure = true;
    auto question = part_of(x, self);
    question.is_question = true;
    for (const auto rank : *x.nodes) {
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
  const auto& x = *released.find(k);
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
    if (find(k) != nullptr
        || (part.is_fault_tolerant && parked < defaults::parked_collectives)) {
      // Who of this node takes part, and who of them has ended, is known later.
      auto& x = begin(k, part.id);
      x.is_fault_tolerant |= part.is_fault_tolerant;
      x.parked.emplace_back(from, part);
      return;
    }
    // It has ended processes of a job that never ran under this daemon.
    fail("the daemon of node " + std::to_string(self) + " has changed");
    out.tell(from, std::move(reply));
    return;
  }
  auto& x = begin(k, part.id);
  if (place_of(x, from) == x.nodes->size())
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
    for (const auto rank : *x.nodes)
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
  auto waiting = std::vector<std::pair<uint32_t, collective_part>>{};
  if (!node.empty()) {
    if (node.mapped().is_parked())
      --parked;
    calls = std::move(node.mapped().calls);
    if (node.mapped().joiner)
      calls.push_back(std::move(node.mapped().joiner));
    reports = std::move(node.mapped().reports);
    waiting = std::move(node.mapped().parked);
  }
  released.add(k, how);
  for (const auto& [from, part] : waiting)
    answer(k, from, part.root == self);
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

// -- the class ---------------------------------------------------------------

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
  if (const auto* x = s.released.find(k)) {
    if (x->code == status::success)
      then(host_collective_result{});
    else
      then(make_error(x->code, x->reason));
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
    for (auto& y : data)
      if (is_lazy(y))
        y.entries = digest_of(y);
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
  if (s.released.find(k) != nullptr) {
    s.answer(k, from, what.root == s.self);
    return;
  }
  if (what.is_question) {
    s.take_question(k, from, what);
    return;
  }
  if (s.released.is_forgotten(what.id) && s.find(k) == nullptr) {
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
  if (s.released.find(k) != nullptr)
    return; // The first one counts.
  auto* x = s.find(k);
  if (x == nullptr || x->is_parked()) {
    // Nobody has joined here: it cannot have succeeded.
    if (what.code == status::success)
      return;
    s.release(k, {what.code, what.reason, what.root}, {});
    return;
  }
  if (state::place_of(*x, from) == x->nodes->size())
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

// -- what happens meanwhile --------------------------------------------------

void mesh_collectives::procs_gone(const std::vector<proc_ended>& procs) {
  auto& s = *state_;
  auto nspaces = std::set<std::string>{};
  for (const auto& x : procs) {
    s.gone[x.proc.nspace].insert(x.proc.rank);
    nspaces.insert(x.proc.nspace);
  }
  auto keys = std::vector<state::key>{};
  for (const auto& [k, x] : s.open)
    for (const auto& proc : x.id.procs)
      if (nspaces.count(proc.nspace) > 0) {
        keys.push_back(k);
        break;
      }
  for (const auto& k : keys)
    s.advance(k);
}

void mesh_collectives::procs_left(uint64_t salt,
                                  const std::vector<proc_id>& departed,
                                  const std::string& reason) {
  auto& s = *state_;
  const auto of = static_cast<uint32_t>(salt >> 32);
  if (s.left.size() >= defaults::groups_remembered && s.left.count(of) == 0)
    s.left.erase(s.left.begin());
  auto& all = s.left[of];
  all.procs.insert(departed.begin(), departed.end());
  all.reason = reason;
  auto keys = std::vector<state::key>{};
  for (const auto& [k, x] : s.open)
    if (static_cast<uint32_t>(k.generation >> 32) == of)
      keys.push_back(k);
  for (const auto& k : keys)
    s.advance(k);
}

void mesh_collectives::job_known(const std::string& nspace) {
  auto& s = *state_;
  s.locating.erase(nspace);
  auto keys = std::vector<state::key>{};
  for (const auto& [k, x] : s.open)
    if (x.is_parked())
      keys.push_back(k);
  for (const auto& k : keys) {
    auto* x = s.find(k);
    if (x == nullptr)
      continue;
    if (const auto unknown = s.places.first_unknown(x->id.procs)) {
      if (s.locating.insert(*unknown).second)
        s.out.locate(*unknown);
      continue;
    }
    --s.parked;
    s.resolve(*x);
    if (x->has_joined)
      x->joined[state::place_of(*x, s.self)] = true;
    auto parts = std::exchange(x->parked, {});
    s.advance(k);
    for (auto& [from, part] : parts)
      take(from, std::move(part));
  }
}

void mesh_collectives::job_unknown(const std::string& nspace,
                                   const std::string& why) {
  auto& s = *state_;
  s.locating.erase(nspace);
  auto keys = std::vector<state::key>{};
  for (const auto& [k, x] : s.open)
    for (const auto& proc : x.id.procs)
      if (x.is_parked() && proc.nspace == nspace) {
        keys.push_back(k);
        break;
      }
  for (const auto& k : keys)
    if (s.find(k) != nullptr)
      s.release(k, {status::invalid_namespace, why, s.self}, {});
}

void mesh_collectives::job_forgotten(const std::string& nspace) {
  auto& s = *state_;
  auto keys = std::vector<state::key>{};
  const auto names = [&](const std::vector<proc_id>& procs) {
    return std::any_of(procs.begin(), procs.end(), [&](const proc_id& proc) {
      return proc.nspace == nspace;
    });
  };
  for (const auto& [k, x] : s.open)
    if (names(x.id.procs))
      keys.push_back(k);
  for (const auto& k : keys)
    if (s.find(k) != nullptr)
      s.release(k, {status::lost_connection, nspace + " is over", s.self}, {});
  s.released.forget_job(nspace);
  for (auto i = s.left.begin(); i != s.left.end();) {
    const auto& left = i->second.procs;
    i = names({left.begin(), left.end()}) ? s.left.erase(i) : std::next(i);
  }
  s.gone.erase(nspace);
  s.lost.erase(nspace);
  s.locating.erase(nspace);
}

void mesh_collectives::node_lost(uint32_t rank) {
  auto& s = *state_;
  for (const auto& nspace : s.places.nspaces()) {
    const auto nodes = s.places.nodes_of(nspace);
    if (std::binary_search(nodes.begin(), nodes.end(), rank))
      s.lost[nspace].insert(rank);
  }
  auto keys = std::vector<state::key>{};
  for (auto& [k, x] : s.open)
    if (state::place_of(x, rank) < x.nodes->size()
        && x.lost.insert(rank).second)
      keys.push_back(k);
  for (const auto& k : keys)
    s.advance(k);
}

} // namespace troupe
