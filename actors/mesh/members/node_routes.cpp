#include "actors/mesh/members/node_routes.hpp"

#include "config/defaults.hpp"

#include <algorithm>
#include <iterator>

namespace troupe {

node_routes::node_routes(settings options, const node_membership& membership,
                         effects out)
  : settings_(std::move(options)), membership_(membership),
    out_(std::move(out)) {
  // nop
}

// -- sessions ----------------------------------------------------------------

void node_routes::add(const peer_key& key, steady_time now) {
  auto& x = sessions_[key];
  x.used_at = x.unreached_since = now;
}

void node_routes::remove(const peer_key& key) {
  sessions_.erase(key);
  if (live(key.first) == 0 && count(key.first) == 0)
    let_go(key.first);
}

void node_routes::rename(const peer_key& from, const peer_key& to) {
  auto node = sessions_.extract(from);
  if (node.empty())
    return;
  node.key() = to;
  sessions_.insert(std::move(node));
}

peer_key node_routes::find(const peer_key& key) const {
  if (key.second != 0 || has(key))
    return key;
  const auto last = sessions_.upper_bound({key.first, UINT64_MAX});
  return last != sessions_.begin() && std::prev(last)->first.first == key.first
           ? std::prev(last)->first
           : key;
}

size_t node_routes::count(uint32_t rank) const {
  const auto first = sessions_.lower_bound({rank, 0});
  const auto last = sessions_.upper_bound({rank, UINT64_MAX});
  return static_cast<size_t>(std::distance(first, last));
}

void node_routes::use(const peer_key& to, steady_time now) {
  const auto key = find(to);
  auto& x = sessions_.at(key);
  x.used_at = now;
  if (!x.is_connected())
    look_for_way(to, key, now);
}

void node_routes::heard(const peer_key& key, steady_time now) {
  sessions_.at(key).used_at = now;
}

void node_routes::reached(const peer_key& key, peer_state how,
                          steady_time now) {
  auto& x = sessions_.at(key);
  if (x.reach == peer_state::direct || x.reach == peer_state::resting)
    x.unreached_since = now;
  x.reach = how;
  if (how == peer_state::direct)
    trouble_.erase(key.first);
  else if (how == peer_state::stranded)
    look_for_way(key, key, now);
}

uint64_t node_routes::live(uint32_t rank) const {
  const auto* row = membership_.list().find(rank);
  return row != nullptr && row->state == node_state::live ? row->incarnation
                                                          : 0;
}

bool node_routes::is_seeking() const {
  return std::any_of(sessions_.begin(), sessions_.end(), [this](auto& x) {
    return x.second.reach != peer_state::direct
           && live(x.first.first) == x.first.second;
  });
}

bool node_routes::is_connected() const {
  return std::any_of(sessions_.begin(), sessions_.end(),
                     [](auto& x) { return x.second.is_connected(); });
}

// -- dialling ----------------------------------------------------------------

bool node_routes::is_neighbour(uint32_t rank) const {
  const auto own = membership_.rank();
  return tree().parent(own) == rank || tree().parent(rank) == own;
}

/// Whether a live member is reached over a lane of this node.
bool node_routes::is_direct(uint32_t rank) const {
  const auto i = sessions_.find({rank, live(rank)});
  return i != sessions_.end() && i->second.reach == peer_state::direct;
}

void node_routes::dial(uint32_t rank) {
  auto x = dialled_node{};
  if (rank == 0) {
    x.name = settings_.root_name;
    x.addresses = settings_.root_addresses;
  }
  if (const auto* row = membership_.list().find(rank)) {
    x.name = row->name;
    for (const auto& address : row->addresses)
      if (std::find(x.addresses.begin(), x.addresses.end(), address)
          == x.addresses.end())
        x.addresses.push_back(address);
  }
  auto& known = dialled_[rank];
  if (x.addresses.empty() || known.addresses == x.addresses)
    return;
  known = x;
  out_.reach({rank, std::move(x.name), std::move(x.addresses)});
}

void node_routes::let_go(uint32_t rank) {
  if (dialled_.erase(rank) > 0)
    out_.release(rank);
  trouble_.erase(rank);
}

void node_routes::stop() {
  is_stopped_ = true;
  while (!dialled_.empty())
    let_go(dialled_.begin()->first);
}

void node_routes::note_trouble(uint32_t rank, std::string why) {
  if (dialled_.count(rank) > 0)
    trouble_[rank] = std::move(why);
}

std::string node_routes::trouble_of(uint32_t rank) const {
  const auto i = trouble_.find(rank);
  return i != trouble_.end() ? i->second : std::string{};
}

/// Whether it is ours to dial that node whatever there is to say.
bool node_routes::is_ours_to_dial(uint32_t rank) const {
  if (is_joining())
    return rank == 0;
  return rank < settings_.rank && is_neighbour(rank);
}

/// Sessions beyond the tree that have lanes, or for which we dial.
std::vector<std::pair<steady_time, peer_key>> node_routes::guests() const {
  auto result = std::vector<std::pair<steady_time, peer_key>>{};
  for (const auto& [key, x] : sessions_)
    if (!is_neighbour(key.first)
        && (x.reach == peer_state::direct || dialled_.count(key.first) > 0))
      result.emplace_back(x.used_at, key);
  std::sort(result.begin(), result.end());
  return result;
}

/// Closes all lanes to a node; its session rests, or goes on through others.
void node_routes::retire(const peer_key& key) {
  // Dialled or not: this closes its lanes.
  dialled_.erase(key.first);
  out_.release(key.first);
  out_.close_relays(key);
}

/// Makes room for one more session with lanes of its own. If there is none, the
/// question costs nothing for a while.
bool node_routes::has_room(steady_time now) {
  if (now < next_room_ || settings_.direct_peers == 0)
    return false;
  const auto all = guests();
  if (all.size() < settings_.direct_peers)
    return true;
  if (all.empty() || now < all.front().first + defaults::peer_grace) {
    next_room_ = now + defaults::lane_probe;
    return false;
  }
  retire(all.front().second);
  return true;
}

void node_routes::update() {
  auto ranks = tree().children(settings_.rank);
  if (const auto parent = tree().parent(settings_.rank))
    ranks.push_back(*parent);
  for (const auto rank : ranks)
    if (is_ours_to_dial(rank)) {
      out_.begin({rank, live(rank)});
      dial(rank);
    }
  // Others may have ended, or moved.
  const auto dialled = dialled_;
  for (const auto& [rank, unused] : dialled)
    if (live(rank) != 0)
      dial(rank);
    else
      let_go(rank);
}

void node_routes::tend(steady_time now) {
  auto dead = std::vector<peer_key>{};
  auto idle = std::vector<peer_key>{};
  for (const auto& [key, x] : sessions_) {
    const auto rank = key.first;
    const auto is_live = live(rank) == key.second;
    const auto is_needed = is_neighbour(rank) || (is_joining() && rank == 0);
    if (!is_live && !is_needed) {
      // A dead one, or one that never joined.
      if (!x.is_connected() && now >= x.used_at + defaults::direct_idle)
        dead.push_back(key);
    } else if (is_live && x.reach != peer_state::direct
               && (is_needed || x.reach == peer_state::stranded)) {
      look_for_way(key, key, now);
    } else if (!is_needed && (x.is_connected() || dialled_.count(rank) > 0)
               && now >= x.used_at + defaults::direct_idle) {
      idle.push_back(key);
    }
  }
  for (const auto& key : idle)
    retire(key);
  for (const auto& key : dead)
    out_.end(key, "it is no member");
  const auto all = guests();
  for (size_t i = 0; i + settings_.direct_peers < all.size(); ++i)
    if (now >= all[i].first + defaults::peer_grace)
      retire(all[i].second);
}

// -- ways through others -----------------------------------------------------

namespace {

/// Ways aside of the tree that are tried at a time.
constexpr size_t ways_aside = 4;

} // namespace

/// Some of the nodes that are reached directly, others each time.
std::vector<uint32_t> node_routes::reached_aside(steady_time now) const {
  auto all = std::vector<uint32_t>{};
  for (const auto& [key, x] : sessions_)
    if (is_direct(key.first) && (all.empty() || all.back() != key.first))
      all.push_back(key.first);
  if (all.size() <= ways_aside)
    return all;
  const auto turn =
    static_cast<size_t>(now.time_since_epoch() / defaults::relay_retry);
  const auto from = turn % all.size() * ways_aside % all.size();
  std::rotate(all.begin(), all.begin() + static_cast<ptrdiff_t>(from),
              all.end());
  all.resize(ways_aside);
  return all;
}

/// Opens lanes through all who may know a way.
void node_routes::open_relays(const peer_key& key, const session& x,
                              steady_time now) {
  const auto rank = key.first;
  const auto own = settings_.rank;
  if (const auto next = tree().next_hop(own, rank);
      next && *next != rank && is_direct(*next))
    out_.open_relay(key, via_tree);
  auto ways = std::set<uint32_t>{0};
  if (const auto parent = tree().parent(own))
    ways.insert(*parent);
  if (const auto parent = tree().parent(rank))
    ways.insert(*parent);
  auto is_open = false;
  for (const auto via : ways)
    if (via != own && via != rank && is_direct(via)) {
      out_.open_relay(key, via);
      is_open = true;
    }
  if (is_open || x.is_connected())
    return;
  // The tree leads nowhere, as between a node and its parent: others may reach
  // both.
  for (const auto via : reached_aside(now))
    out_.open_relay(key, via);
}

/// Looks for a way to somebody with whom there is something to talk about.
/// @param to Incarnation that is meant.
/// @param key Its session.
void node_routes::look_for_way(const peer_key& to, const peer_key& key,
                               steady_time now) {
  const auto rank = to.first;
  const auto is_live = to.second != 0 && live(rank) == to.second;
  if (is_stopped_ || (!is_live && !is_joining()))
    return; // Who is no member comes to us.
  if (dialled_.count(rank) == 0 && (is_ours_to_dial(rank) || has_room(now)))
    dial(rank);
  auto& x = sessions_.at(key);
  if (!is_live || now < x.next_relay)
    return;
  if (now < x.unreached_since + defaults::relay_delay
      && dialled_.count(rank) > 0 && trouble_.count(rank) == 0)
    return;
  x.next_relay = now + defaults::relay_retry;
  open_relays(key, x, now);
}

/// Dials a node to which frames of another one lead.
void node_routes::dial_aside(const peer_key& key, steady_time now) {
  if (dialled_.count(key.first) > 0 || !has_room(now))
    return;
  out_.begin(key);
  heard(find(key), now);
  dial(key.first);
}

std::optional<peer_key> node_routes::next_of(const relayed_frame& x,
                                             uint32_t sender, steady_time now) {
  const auto own = settings_.rank;
  auto next = std::optional<uint32_t>{};
  if (sender == own) {
    // Never to the end itself: this is how it is reached when it is not.
    next =
      x.via == via_tree ? tree().next_hop(own, x.to) : std::optional{x.via};
    if (next == x.to)
      return std::nullopt;
  } else if (is_direct(x.to)) {
    next = x.to;
  } else {
    next = tree().next_hop(own, x.to);
  }
  if (next == sender) {
    // It asks who may have a way of its own.
    if (const auto incarnation = live(x.to); incarnation != 0)
      dial_aside({x.to, incarnation}, now);
    return std::nullopt;
  }
  if (!next || !is_direct(*next))
    return std::nullopt;
  return peer_key{*next, live(*next)};
}

} // namespace troupe
