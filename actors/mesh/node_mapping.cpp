#include "actors/mesh/node_mapping.hpp"

#include "messages/attributes.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>

namespace troupe {

namespace {

/// A node that the processes of a program may go to.
struct seat {
  const mapping_node* node = nullptr;

  /// How many more it takes.
  uint32_t room = 0;

  /// Processes of the program on it.
  uint32_t count = 0;
};

/// What PMIX_HOST says of one node.
struct host_limit {
  std::string name;

  /// The most slots to take; absent: all.
  std::optional<uint32_t> slots;
};

std::string number(uint64_t x) {
  return std::to_string(x);
}

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

/// The values of PMIX_HOST and PMIX_ADD_HOST: names with commas between.
caf::expected<std::vector<host_limit>>
parse_hosts(const std::vector<info>& infos) {
  auto result = std::vector<host_limit>{};
  for (const auto& x : infos) {
    const auto* list = x.val.text();
    if ((x.key != attr::host && x.key != attr::add_host) || list == nullptr)
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

/// Whether `name` means this node: whole, or up to its first dot.
bool is_called(const mapping_node& node, const std::string& name) {
  return node.name == name || node.name.substr(0, node.name.find('.')) == name;
}

caf::error keep_hosts(std::vector<seat>& seats,
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
      return make_error(status::not_found,
                        "node " + x.name
                          + " is not in this DVM, or is lost; start a DVM that "
                            "has it");
    auto& limit = limits[i->rank];
    limit =
      std::min<uint64_t>(UINT32_MAX, limit + x.slots.value_or(UINT32_MAX));
  }
  auto kept = std::vector<seat>{};
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

uint64_t room_of(const std::vector<seat>& seats) {
  return std::accumulate(
    seats.begin(), seats.end(), uint64_t{0},
    [](uint64_t sum, const seat& x) { return sum + x.room; });
}

/// Gives `count` processes to the seats.
void deal(std::vector<seat>& seats, uint32_t count,
          const job_options& options) {
  const auto take = [&](seat& x, uint32_t n) {
    x.count += n;
    x.room -= std::min(x.room, n);
    count -= n;
  };
  if (options.nodes == node_policy::ppr)
    for (auto& x : seats)
      take(x, std::min(count, options.per_node));
  else if (options.nodes == node_policy::slot)
    for (auto& x : seats)
      take(x, std::min(count, x.room));
  else
    for (auto more = true; more && count > 0;) {
      more = false;
      for (auto& x : seats)
        if (x.room > 0 && count > 0) {
          take(x, 1);
          more = true;
        }
    }
  // What does not fit is spread evenly, if it may.
  for (size_t i = 0; count > 0; i = (i + 1) % seats.size())
    take(seats[i], 1);
}

/// Numbers the processes of a program.
void number_ranks(std::vector<seat>& seats, uint32_t app, uint32_t& next,
                  bool by_node, std::map<uint32_t, node_share>& shares) {
  const auto put = [&](seat& x) {
    auto& share = shares[x.node->rank];
    share.node = x.node->rank;
    share.hostname = x.node->name;
    share.procs.push_back({next++, app, {}});
    --x.count;
  };
  if (!by_node) {
    for (auto& x : seats)
      while (x.count > 0)
        put(x);
    return;
  }
  for (auto more = true; more;) {
    more = false;
    for (auto& x : seats)
      if (x.count > 0) {
        put(x);
        more = true;
      }
  }
}

caf::error check(const spawn_request& request, const job_options& options) {
  if (request.apps.empty())
    return make_error(status::bad_param, "a job needs a program");
  constexpr auto most = uint64_t{65535}; // A local rank has 16 bits.
  auto total = uint64_t{0};
  for (const auto& x : request.apps) {
    if (x.cmd.empty())
      return make_error(status::job_no_exe_specified,
                        "a program of the job has no name");
    if (x.max_procs < 1)
      return make_error(status::bad_param, x.cmd + " is to run "
                                             + std::to_string(x.max_procs)
                                             + " times; give a number above 0");
    total += static_cast<uint64_t>(x.max_procs);
  }
  if (total > most)
    return make_error(status::bad_param, number(total)
                                           + " processes are more than "
                                           + number(most));
  if (options.io.stdin_target != rank_undef
      && options.io.stdin_target != rank_wildcard
      && options.io.stdin_target >= total)
    return make_error(status::bad_param, "standard input cannot go to rank "
                                           + number(options.io.stdin_target)
                                           + " of a job with " + number(total)
                                           + " processes");
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
    for (auto& program : request_.apps)
      if (options_.nodes == node_policy::ppr && program.max_procs < 1)
        if (auto why = count_by_ppr(program))
          return why;
    if (auto why = check(request_, options_))
      return why;
    if (map_as_wanted())
      return result();
    // First what is free, then what slots there are.
    auto why = caf::error{};
    for (const auto only_free : {true, false}) {
      const auto is_last = !only_free;
      shares_.clear();
      free_.clear();
      for (const auto& x : nodes_)
        free_[x.rank] = x.slots - (only_free ? std::min(x.slots, x.used) : 0);
      why = try_map(is_last);
      if (!why)
        break;
    }
    if (why)
      return why;
    return result();
  }

private:
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

  /// Puts processes where `wanted_hosts` says.
  /// @returns whether all of them can be there.
  bool map_as_wanted() {
    const auto* wish = find(request_.job_infos, wanted_hosts);
    const auto* list = wish != nullptr ? wish->array() : nullptr;
    if (list == nullptr)
      return false;
    auto apps = std::vector<uint32_t>{}; // by rank
    for (uint32_t number = 0; number < request_.apps.size(); ++number)
      apps.insert(apps.end(),
                  static_cast<size_t>(request_.apps[number].max_procs), number);
    if (apps.size() != list->elements.size())
      return false;
    auto used = std::map<const mapping_node*, uint32_t>{};
    auto shares = std::map<uint32_t, node_share>{};
    for (uint32_t rank = 0; rank < apps.size(); ++rank) {
      const auto* name = list->elements[rank].text();
      const auto* node = name != nullptr ? node_named(*name) : nullptr;
      if (node == nullptr
          || (++used[node] > node->slots && !options_.oversubscribe))
        return false;
      auto& share = shares[node->rank];
      share.node = node->rank;
      share.hostname = node->name;
      share.procs.push_back({rank, apps[rank], {}});
    }
    shares_ = std::move(shares);
    return true;
  }

  /// The nodes that a program may go to.
  caf::expected<std::vector<seat>> seats_of(const app& program) {
    auto result = std::vector<seat>{};
    for (const auto& x : nodes_)
      if (x.slots > 0)
        result.push_back({&x, free_.empty() ? x.slots : free_[x.rank], 0});
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
                          + "; name nodes with slots");
    return result;
  }

  caf::error count_by_ppr(app& program) {
    auto seats = seats_of(program);
    if (!seats)
      return seats.error();
    program.max_procs = static_cast<int32_t>(std::min<uint64_t>(
      INT32_MAX, uint64_t{options_.per_node} * seats->size()));
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
      for (const auto& x : *seats)
        free_[x.node->rank] -= std::min(free_[x.node->rank], x.count);
      number_ranks(*seats, number, next, options_.rank_by_node, shares_);
    }
    return {};
  }

  caf::error fit(const std::vector<seat>& seats, uint32_t count, bool is_last) {
    const auto is_ppr = options_.nodes == node_policy::ppr;
    if (is_ppr && uint64_t{options_.per_node} * seats.size() < count)
      return make_error(status::job_insufficient_resources,
                        number(count) + " processes do not fit onto "
                          + number(seats.size()) + " nodes with "
                          + number(options_.per_node)
                          + " on each; raise N of ppr:N:node");
    if (options_.oversubscribe && is_last)
      return {};
    const auto fits =
      is_ppr
        ? std::all_of(seats.begin(), seats.end(),
                      [&](const seat& x) {
                        return x.room >= std::min(options_.per_node, count);
                      })
        : room_of(seats) >= count;
    if (fits)
      return {};
    return lack(seats);
  }

  caf::error lack(const std::vector<seat>& seats) const {
    auto total = uint64_t{0};
    for (const auto& x : request_.apps)
      total += static_cast<uint64_t>(x.max_procs);
    auto named = std::vector<mapping_node>{};
    auto slots = uint64_t{0};
    for (const auto& x : seats) {
      named.push_back(*x.node);
      slots += x.node->slots;
    }
    return make_error(status::job_insufficient_resources,
                      number(total) + " processes do not fit into "
                        + number(slots) + " slots of " + name_seats(named)
                        + "; use --oversubscribe to run them nevertheless");
  }

  spawn_request& request_;
  const job_options& options_;
  std::vector<mapping_node> nodes_;

  /// What is left on each node.
  std::map<uint32_t, uint32_t> free_;
  std::map<uint32_t, node_share> shares_;
};

} // namespace

caf::expected<std::vector<node_share>>
map_job(spawn_request& request, const job_options& options,
        const std::vector<mapping_node>& nodes) {
  return mapper{request, options, nodes}.map();
}

} // namespace troupe
