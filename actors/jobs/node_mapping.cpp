#include "actors/jobs/node_mapping.hpp"

#include "actors/jobs/job_options.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <charconv>
#include <map>

namespace troupe {

namespace {

// -- hosts -------------------------------------------------------------------

/// What PMIX_HOST says of one node.
struct host_limit {
  std::string name;

  /// The most slots to take; absent: all.
  std::optional<uint32_t> slots;
};

caf::expected<host_limit> parse_host(const std::string& text) {
  auto result = host_limit{};
  const auto colon = text.find(':');
  result.name = text.substr(0, colon);
  if (colon == std::string::npos || text.substr(colon + 1) == "*")
    return result;
  auto slots = uint32_t{0};
  const auto* end = text.data() + text.size();
  const auto [rest, err] = std::from_chars(text.data() + colon + 1, end, slots);
  if (err != std::errc{} || rest != end || slots == 0)
    return make_error(status::bad_param, "\"" + text
                                           + "\" is no node; write NAME or "
                                             "NAME:SLOTS with SLOTS above 0");
  result.slots = slots;
  return result;
}

/// The values of some attributes: names with commas between, `n1,n2:4`.
/// @returns `bad_param` for what is no node, with the remedy.
caf::expected<std::vector<host_limit>> parse_hosts(
  const std::vector<info>& infos,
  std::initializer_list<std::string_view> keys = {attr::host, attr::add_host}) {
  auto result = std::vector<host_limit>{};
  for (const auto& x : infos) {
    const auto* list = x.val.text();
    if (std::find(keys.begin(), keys.end(), x.key) == keys.end()
        || list == nullptr)
      continue;
    for (size_t begin = 0; begin < list->size();) {
      const auto end = std::min(list->find(',', begin), list->size());
      if (end > begin) {
        auto one = parse_host(list->substr(begin, end - begin));
        if (!one)
          return one.error();
        result.push_back(std::move(*one));
      }
      begin = end + 1;
    }
  }
  return result;
}

// -- seats -------------------------------------------------------------------

/// A node that the processes of a program may go to.
struct node_seat {
  const mapping_node* node = nullptr;

  /// How many more it takes without being oversubscribed.
  uint32_t room = 0;

  /// How many more it takes whatever is allowed.
  uint32_t limit = 0;

  /// Processes of the program on it.
  uint32_t count = 0;
};

/// How many processes a node gets before the next has its turn.
uint32_t turn_of(const node_seat& x, const job_options& options) {
  return options.nodes == node_policy::node && !options.spans
           ? 1
           : std::max<uint32_t>(1, x.node->objects);
}

/// Whether `name` means this node: whole, or up to its first dot.
bool is_called(const mapping_node& node, const std::string& name) {
  return node.name == name || node.name.substr(0, node.name.find('.')) == name;
}

caf::error unknown_node(const std::string& name) {
  return make_error(status::not_found,
                    "node " + name
                      + " is not in this DVM, or is lost; start a DVM that has "
                        "it");
}

/// Leaves only the seats that some hosts give, with as much room as they say.
/// @returns `not_found` for a name that is no node.
caf::error keep_hosts(std::vector<node_seat>& seats,
                      const std::vector<host_limit>& hosts,
                      const std::vector<mapping_node>& nodes) {
  if (hosts.empty())
    return {};
  auto limits = std::map<uint32_t, uint64_t>{}; // by rank of the node
  for (const auto& x : hosts) {
    const auto i = std::find_if(nodes.begin(), nodes.end(), [&](const auto& y) {
      return is_called(y, x.name);
    });
    if (i == nodes.end())
      return unknown_node(x.name);
    auto& limit = limits[i->rank];
    limit =
      std::min<uint64_t>(UINT32_MAX, limit + x.slots.value_or(UINT32_MAX));
  }
  auto kept = std::vector<node_seat>{};
  for (auto x : seats) {
    const auto i = limits.find(x.node->rank);
    if (i == limits.end())
      continue;
    x.room = static_cast<uint32_t>(std::min<uint64_t>(x.room, i->second));
    kept.push_back(x);
  }
  seats = std::move(kept);
  return {};
}

/// The most processes that `ppr` puts on a node.
uint64_t ppr_of(const node_seat& x, const job_options& options) {
  return uint64_t{options.per_object} * x.node->objects;
}

/// Gives `count` processes to the seats, which have room for them or may be
/// oversubscribed within their limits.
void deal(std::vector<node_seat>& seats, uint32_t count,
          const job_options& options) {
  const auto take = [&](node_seat& x, uint64_t most) {
    const auto n = static_cast<uint32_t>(
      std::min<uint64_t>({most, count, uint64_t{x.limit}}));
    x.count += n;
    x.room -= std::min(x.room, n);
    x.limit -= n;
    count -= n;
    return n > 0;
  };
  const auto in_turn = options.nodes == node_policy::node || options.spans;
  if (options.nodes == node_policy::ppr)
    for (auto& x : seats)
      take(x, ppr_of(x, options));
  else if (!in_turn)
    for (auto& x : seats)
      take(x, x.room);
  else
    for (auto more = true; more && count > 0;) {
      more = false;
      for (auto& x : seats)
        more |= take(x, std::min(x.room, turn_of(x, options)));
    }
  // What does not fit is spread evenly, if it may.
  for (auto more = true; more && count > 0;) {
    more = false;
    for (auto& x : seats)
      more |= take(x, 1);
  }
}

/// Numbers the processes of a program, from `next` on.
void number_ranks(std::vector<node_seat>& seats, uint32_t app, uint32_t& next,
                  rank_policy policy, std::map<uint32_t, node_share>& shares) {
  const auto put = [&](node_seat& x) {
    auto& share = shares[x.node->rank];
    share.node = x.node->rank;
    share.hostname = x.node->name;
    share.procs.push_back({next++, app, {}});
    --x.count;
  };
  const auto in_turn =
    policy == rank_policy::node || policy == rank_policy::span;
  for (auto more = true; more;) {
    more = false;
    for (auto& x : seats) {
      const auto turn = !in_turn                      ? x.count
                        : policy == rank_policy::span ? x.node->objects
                                                      : 1;
      for (auto n = std::min(x.count, turn); n > 0; --n)
        put(x);
      more |= x.count > 0;
    }
  }
}

// -- the map -----------------------------------------------------------------

std::string number(uint64_t x) {
  return std::to_string(x);
}

/// `n1 (4) and n2 (2)`, and how many more there are.
std::string name_seats(const std::vector<mapping_node>& nodes) {
  constexpr size_t most = 8;
  auto result = std::string{};
  for (size_t i = 0; i < std::min(nodes.size(), most); ++i) {
    result += i > 0 ? ", " : "";
    result += nodes[i].name;
    if (nodes.size() > 1)
      result += " (" + number(nodes[i].slots) + ")";
  }
  if (nodes.size() > most)
    result += " and " + number(nodes.size() - most) + " more";
  return result;
}

caf::error check(const spawn_request& request, const job_options& options) {
  if (request.apps.empty())
    return make_error(status::bad_param, "a job needs a program; name one");
  constexpr auto most = uint64_t{65535}; // A local rank has 16 bits.
  auto total = uint64_t{0};
  for (const auto& x : request.apps) {
    if (x.cmd.empty())
      return make_error(status::job_no_exe_specified,
                        "a program of the job has no name; name it");
    if (x.max_procs < 1)
      return make_error(status::bad_param, x.cmd + " is to run "
                                             + std::to_string(x.max_procs)
                                             + " times; give a number above 0");
    total += static_cast<uint64_t>(x.max_procs);
  }
  if (total > most)
    return make_error(status::bad_param, number(total)
                                           + " processes are more than "
                                           + number(most) + "; ask for fewer");
  if (options.io.stdin_target != rank_undef
      && options.io.stdin_target != rank_wildcard
      && options.io.stdin_target >= total)
    return make_error(status::bad_param, "standard input cannot go to rank "
                                           + number(options.io.stdin_target)
                                           + " of a job with " + number(total)
                                           + " processes; name one of them");
  return {};
}

class mapper {
public:
  mapper(spawn_request& request, const job_options& options,
         std::vector<mapping_node> nodes)
    : request_(request), options_(options), nodes_(std::move(nodes)) {
    // nop
  }

  caf::expected<std::vector<node_share>> map() {
    auto most = parse_hosts(request_.job_infos, {max_slots_key});
    if (!most)
      return std::move(most.error());
    most_ = std::move(*most);
    const auto is_listed = options_.nodes == node_policy::seq
                           || options_.nodes == node_policy::rank_file;
    auto homes = std::vector<std::string>{};
    if (is_listed) {
      auto names = names_of_list();
      if (!names)
        return std::move(names.error());
      homes = std::move(*names);
      if (request_.apps.size() == 1 && request_.apps.front().max_procs < 1)
        request_.apps.front().max_procs = static_cast<int32_t>(homes.size());
    }
    for (auto& program : request_.apps)
      if (options_.nodes == node_policy::ppr && program.max_procs < 1)
        if (auto why = count_by_ppr(program))
          return why;
    if (auto why = check(request_, options_))
      return why;
    if (is_listed) {
      if (auto why = map_by_list(homes))
        return why;
      return result();
    }
    if (map_as_wanted())
      return result();
    // First what is free, then what slots there are.
    auto why = caf::error{};
    for (const auto only_free : {true, false}) {
      const auto is_last = !only_free;
      shares_.clear();
      free_.clear();
      limits_.clear();
      for (const auto& x : nodes_) {
        free_[x.rank] = x.slots - (only_free ? std::min(x.slots, x.used) : 0);
        limits_[x.rank] = limit_of(x);
      }
      why = try_map(is_last);
      if (!why)
        break;
    }
    if (why)
      return why;
    return result();
  }

private:
  /// How many more a node takes of this job.
  uint32_t limit_of(const mapping_node& x) const {
    auto result = x.max_slots > 0 ? x.max_slots - std::min(x.max_slots, x.used)
                                  : UINT32_MAX;
    for (const auto& y : most_)
      if (is_called(x, y.name))
        result = std::min(result, y.slots.value_or(UINT32_MAX));
    return result;
  }

  std::vector<node_share> result() {
    auto result = std::vector<node_share>{};
    for (auto& [rank, share] : shares_)
      result.push_back(std::move(share));
    return result;
  }

  const mapping_node* node_named(const std::string& name) const {
    const auto i =
      std::find_if(nodes_.begin(), nodes_.end(),
                   [&](const mapping_node& x) { return x.name == name; });
    return i != nodes_.end() ? &*i : nullptr;
  }

  /// A node as a list of the user's names it.
  const mapping_node* node_meant(const std::string& name) const {
    if (name == "localhost")
      return nodes_.empty() ? nullptr : &nodes_.front();
    if (name.compare(0, 2, "+n") == 0) {
      auto number = size_t{0};
      const auto* end = name.data() + name.size();
      const auto [rest, err] = std::from_chars(name.data() + 2, end, number);
      if (err != std::errc{} || rest != end)
        return nullptr;
      for (const auto& x : nodes_)
        if (x.slots > 0 && number-- == 0)
          return &x;
      return nullptr;
    }
    const auto i =
      std::find_if(nodes_.begin(), nodes_.end(),
                   [&](const mapping_node& x) { return is_called(x, name); });
    return i != nodes_.end() ? &*i : nullptr;
  }

  /// The nodes that hosts name, one a process.
  static caf::expected<std::vector<std::string>>
  entries_of(const std::vector<info>& infos) {
    const auto hosts = parse_hosts(infos);
    if (!hosts)
      return hosts.error();
    auto result = std::vector<std::string>{};
    for (const auto& x : *hosts)
      for (uint32_t i = 0;
           i < x.slots.value_or(1) && result.size() <= UINT16_MAX; ++i)
        result.push_back(x.name);
    return result;
  }

  /// Hosts of a program, if it has any.
  static bool has_hosts(const app& program) {
    return find(program.infos, attr::host) != nullptr
           || find(program.infos, attr::add_host) != nullptr;
  }

  /// The names of nodes by rank, for `seq` and `rankfile`.
  caf::expected<std::vector<std::string>> names_of_list() const {
    auto result = options_.sequence;
    for (const auto& x : options_.ranks)
      result.push_back(x.host);
    if (!result.empty())
      return result;
    auto entries = entries_of(request_.job_infos);
    if (!entries || !entries->empty())
      return entries;
    if (request_.apps.size() == 1 && has_hosts(request_.apps.front()))
      return entries_of(request_.apps.front().infos);
    for (const auto& x : nodes_)
      if (x.slots > 0)
        result.push_back(x.name);
    return result;
  }

  /// The program of each rank.
  std::vector<uint32_t> programs() const {
    auto result = std::vector<uint32_t>{};
    for (uint32_t number = 0; number < request_.apps.size(); ++number)
      result.insert(result.end(),
                    static_cast<size_t>(request_.apps[number].max_procs),
                    number);
    return result;
  }

  void put(uint32_t rank, uint32_t app, const mapping_node& node) {
    auto& share = shares_[node.rank];
    share.node = node.rank;
    share.hostname = node.name;
    share.procs.push_back({rank, app, {}});
  }

  /// Whether so many processes of the job may be on a node.
  bool is_allowed(const mapping_node& node, uint32_t count) const {
    return count <= limit_of(node)
           && (count <= node.slots || options_.oversubscribe);
  }

  caf::error map_by_list(const std::vector<std::string>& homes) {
    const auto apps = programs();
    if (apps.size() > homes.size())
      return make_error(status::bad_param,
                        number(apps.size()) + " processes are more than the "
                          + number(homes.size()) + " entries of the list for "
                          + mapping_of(options_)
                          + "; name a node for each process");
    // The nodes to which each program is bound: launchers give them with the
    // program, too.
    auto own = std::vector<std::vector<host_limit>>{};
    for (const auto& x : request_.apps) {
      auto hosts = parse_hosts(x.infos);
      if (!hosts)
        return std::move(hosts.error());
      own.push_back(std::move(*hosts));
    }
    auto used = std::map<const mapping_node*, uint32_t>{};
    for (uint32_t rank = 0; rank < apps.size(); ++rank) {
      const auto* node = node_meant(homes[rank]);
      if (node == nullptr)
        return unknown_node(homes[rank]);
      const auto& hosts = own[apps[rank]];
      const auto is_here = [&](const host_limit& x) {
        return node_meant(x.name) == node;
      };
      if (!hosts.empty() && std::none_of(hosts.begin(), hosts.end(), is_here))
        return make_error(
          status::not_supported,
          "PMIX_HOST of " + request_.apps[apps[rank]].cmd + " lacks "
            + node->name + ": a job mapped by " + mapping_of(options_)
            + " has one list of nodes, by rank; name them there, or in "
              "PMIX_HOST of the job");
      if (!is_allowed(*node, ++used[node]))
        return lack({{node, 0, limit_of(*node), 0}});
      put(rank, apps[rank], *node);
    }
    return {};
  }

  /// Puts processes where `wanted_hosts` says.
  /// @returns whether all of them can be there.
  bool map_as_wanted() {
    const auto* wish = find(request_.job_infos, wanted_hosts);
    const auto* list = wish != nullptr ? wish->array() : nullptr;
    const auto apps = programs();
    if (list == nullptr || apps.size() != list->elements.size())
      return false;
    auto used = std::map<const mapping_node*, uint32_t>{};
    for (uint32_t rank = 0; rank < apps.size(); ++rank) {
      const auto* name = list->elements[rank].text();
      const auto* node = name != nullptr ? node_named(*name) : nullptr;
      if (node == nullptr || !is_allowed(*node, ++used[node])) {
        shares_.clear();
        return false;
      }
      put(rank, apps[rank], *node);
    }
    return true;
  }

  /// The nodes that a program may go to.
  caf::expected<std::vector<node_seat>> seats_of(const app& program) {
    auto result = std::vector<node_seat>{};
    for (const auto& x : nodes_)
      if (x.slots > 0)
        result.push_back({&x, free_.empty() ? x.slots : free_[x.rank],
                          limits_.empty() ? limit_of(x) : limits_[x.rank], 0});
    const std::vector<info>* const lists[] = {&request_.job_infos,
                                              &program.infos};
    for (const auto* infos : lists) {
      auto hosts = parse_hosts(*infos);
      if (!hosts)
        return hosts.error();
      if (auto why = keep_hosts(result, *hosts, nodes_))
        return why;
    }
    if (result.empty())
      return make_error(status::job_insufficient_resources,
                        "no node has slots for " + program.cmd
                          + (options_.no_local
                               ? ": nolocal leaves out the launcher's node"
                               : "")
                          + "; name nodes with slots");
    return result;
  }

  uint64_t most_by_ppr(const std::vector<node_seat>& seats) const {
    auto result = uint64_t{0};
    for (const auto& x : seats)
      result += ppr_of(x, options_);
    return result;
  }

  caf::error count_by_ppr(app& program) {
    auto seats = seats_of(program);
    if (!seats)
      return seats.error();
    program.max_procs =
      static_cast<int32_t>(std::min<uint64_t>(INT32_MAX, most_by_ppr(*seats)));
    return {};
  }

  caf::error try_map(bool is_last) {
    auto next = uint32_t{0};
    for (uint32_t number = 0; number < request_.apps.size(); ++number) {
      const auto& program = request_.apps[number];
      auto seats = seats_of(program);
      if (!seats)
        return seats.error();
      const auto count = static_cast<uint32_t>(program.max_procs);
      if (auto why = fit(*seats, count, is_last))
        return why;
      deal(*seats, count, options_);
      for (const auto& x : *seats) {
        free_[x.node->rank] -= std::min(free_[x.node->rank], x.count);
        limits_[x.node->rank] = x.limit;
      }
      number_ranks(*seats, number, next, options_.rank_by, shares_);
    }
    return {};
  }

  caf::error fit(const std::vector<node_seat>& seats, uint32_t count,
                 bool is_last) {
    const auto is_ppr = options_.nodes == node_policy::ppr;
    if (is_ppr && most_by_ppr(seats) < count)
      return make_error(
        status::job_insufficient_resources,
        number(count) + " processes do not fit onto " + number(seats.size())
          + " nodes with " + number(options_.per_object) + " on each "
          + to_string(options_.ppr_object)
          + "; raise N of ppr:N:" + to_string(options_.ppr_object));
    const auto may_exceed = options_.oversubscribe && is_last;
    auto room = uint64_t{0};
    auto left = uint64_t{count};
    for (const auto& x : seats) {
      const auto own = may_exceed ? x.limit : std::min(x.room, x.limit);
      const auto wanted = is_ppr ? std::min(ppr_of(x, options_), left) : own;
      if (is_ppr && own < wanted)
        return lack(seats);
      left -= std::min<uint64_t>(left, wanted);
      room += own;
    }
    if (room >= count)
      return {};
    return lack(seats);
  }

  caf::error lack(const std::vector<node_seat>& seats) const {
    auto total = uint64_t{0};
    for (const auto& x : request_.apps)
      total += static_cast<uint64_t>(x.max_procs);
    auto named = std::vector<mapping_node>{};
    auto slots = uint64_t{0};
    for (const auto& x : seats) {
      named.push_back(*x.node);
      slots += x.node->slots;
    }
    auto limit = uint64_t{0};
    for (const auto& x : named)
      limit += limit_of(x);
    // It would not help to allow more.
    const auto is_limited = options_.oversubscribe || limit < total;
    return make_error(
      status::job_insufficient_resources,
      number(total) + " processes do not fit into "
        + (is_limited ? "the " + number(limit) + " places that max_slots leaves"
                      : number(slots) + " slots")
        + " of " + name_seats(named)
        + (is_limited ? "; raise max_slots or name more nodes"
                      : "; use --oversubscribe to run them nevertheless"));
  }

  spawn_request& request_;
  const job_options& options_;
  std::vector<mapping_node> nodes_;

  /// What `max_slots_key` says.
  std::vector<host_limit> most_;

  /// What is left on each node: slots, and what `max_slots` allows.
  std::map<uint32_t, uint32_t> free_;
  std::map<uint32_t, uint32_t> limits_;
  std::map<uint32_t, node_share> shares_;
};

} // namespace

caf::expected<std::vector<node_share>>
map_job(spawn_request& request, const job_options& options,
        const std::vector<mapping_node>& nodes) {
  return mapper{request, options, nodes}.map();
}

} // namespace troupe
