#include "actors/jobs/job_record.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

/// What is kept of the name of a breakpoint.
constexpr size_t max_breakpoint = 256;

/// The share of a node, if it has one.
/// @param shares In the order of their nodes, as `map_job` makes them.
template <class Shares>
auto find_share(Shares& shares, uint32_t node) {
  const auto i = std::lower_bound(
    shares.begin(), shares.end(), node,
    [](const node_share& x, uint32_t y) { return x.node < y; });
  return i != shares.end() && i->node == node ? i : shares.end();
}

} // namespace

std::string dvm_nodes::name_of(uint32_t rank) const {
  const auto i = all_.find(rank);
  return i != all_.end() ? i->second.name : "number " + std::to_string(rank);
}

void dvm_nodes::offer(uint32_t rank, uint32_t slots) {
  auto& x = all_[rank];
  if (!x.slots)
    x.slots = slots;
  x.processors = slots;
}

bool dvm_nodes::change(const member_changed& what) {
  auto& x = all_[what.rank];
  if (!what.name.empty())
    x.name = what.name;
  const auto is_of_old = what.incarnation < x.incarnation;
  if (!is_of_old) {
    x.state = what.state;
    x.incarnation = what.incarnation;
  }
  if (what.state == node_state::lost)
    x.unfenced.insert(what.incarnation);
  return !is_of_old
         && (what.state == node_state::lost || what.state == node_state::left);
}

uint32_t dvm_nodes::slots() const {
  auto result = uint32_t{0};
  for (const auto& [rank, x] : all_)
    if (x.takes_work())
      result += *x.slots;
  return result;
}

// -- the start

void job_record::answer(caf::expected<spawn_result> what) {
  if (const auto owed = std::exchange(reply, nullptr))
    owed(std::move(what));
}

void job_record::cancel() {
  if (has_failed) {
    started.nspace = map.nspace;
    answer(std::move(started));
    return;
  }
  answer(
    make_error(status::job_canceled, "the job was ended while it started"));
}

void job_record::place(std::vector<node_share> where,
                       const spawn_request& request) {
  map.shares = std::move(where);
  for (const auto& x : request.apps)
    commands.push_back(x.cmd);
  for (const auto& x : map.shares) {
    shares.insert(x.node);
    for (const auto& proc : x.procs) {
      if (procs.size() <= proc.rank)
        procs.resize(proc.rank + 1);
      procs[proc.rank].node = x.node;
      procs[proc.rank].app = proc.app;
    }
  }
}

void job_record::record(const spawn_request& request, const dvm_nodes& nodes) {
  auto x = std::make_shared<recorded_job>();
  x->request = request;
  x->owner = parent.creds;
  x->is_recoverable = options.recoverable;
  x->restarts_in_place = options.max_restarts.has_value();
  for (const auto& proc : procs) {
    x->hosts.push_back(nodes.name_of(proc.node));
    x->apps.push_back(proc.app);
  }
  recorded = std::move(x);
}

void job_record::bind(uint32_t node, job_map theirs) {
  const auto own = find_share(map.shares, node);
  if (own == map.shares.end())
    return;
  for (auto& x : theirs.shares)
    if (x.node == node && x.procs.size() == own->procs.size())
      for (size_t i = 0; i < x.procs.size(); ++i)
        own->procs[i].cpus = std::move(x.procs[i].cpus);
}

job_mapped job_record::mapped(const dvm_nodes& nodes) const {
  auto result = job_mapped{};
  result.nspace = map.nspace;
  result.map_by = mapping_of(options);
  result.shows_map = options.display_map;
  result.shows_bindings = options.report_bindings;
  const auto is_bound =
    std::any_of(map.shares.begin(), map.shares.end(), [](const auto& x) {
      return std::any_of(x.procs.begin(), x.procs.end(),
                         [](const auto& y) { return !y.cpus.empty(); });
    });
  result.bind_to = to_string(is_bound ? options.bind_to : resource_kind::none);
  for (const auto& x : map.shares) {
    result.hostname += (result.hostname.empty() ? "" : ",") + x.hostname;
    result.procs.insert(result.procs.end(), x.procs.begin(), x.procs.end());
  }
  std::sort(result.procs.begin(), result.procs.end(),
            [](const auto& x, const auto& y) { return x.rank < y.rank; });
  for (const auto& x : result.procs)
    result.hosts.push_back(nodes.name_of(procs[x.rank].node));
  return result;
}

// -- its processes

noted_change job_record::note(uint32_t from, const proc_changed& what,
                              const dvm_nodes& nodes) {
  auto result = noted_change{};
  const auto rank = what.proc.rank;
  if (what.proc.nspace != map.nspace || rank >= procs.size()
      || procs[rank].node != from) {
    result.is_foreign = true;
    return result;
  }
  auto& proc = procs[rank];
  if (proc.has_ended())
    return result;
  result.is_news = true;
  result.loses_connection =
    proc.state == proc_state::connected && what.state == proc_state::running;
  proc.state = what.state;
  proc.pid = what.pid;
  proc.exit_code = what.exit_code;
  // Who was killed by command may have been so before it ran.
  result.has_run =
    what.state != proc_state::failed_to_start
    && (what.state != proc_state::killed_by_cmd || what.pid != 0);
  result.begins_job = result.has_run && !std::exchange(has_begun, true);
  result.is_restart = what.state == proc_state::restart;
  if (result.is_restart)
    ++proc.restarts;
  result.is_end = proc.has_ended();
  if (result.is_end)
    for (const auto x : {stop_point::in_init, stop_point::in_app}) {
      auto& left = awaited[static_cast<size_t>(x)];
      // If nobody is left, nobody waits.
      if (left.erase(rank) > 0 && left.empty()
          && std::any_of(procs.begin(), procs.end(),
                         [](const auto& y) { return !y.has_ended(); }))
        result.completes_stop = x;
    }
  if (!result.is_end || !result.has_run)
    return result;
  const auto end = proc_outcome{rank,        what.state, what.exit_code,
                                what.signal, ending,     place_of(rank, nodes)};
  const auto is_fatal = !options.recoverable && !ending
                        && what.state != proc_state::killed_by_cmd
                        && is_failure(what.state, options.abort_non_zero);
  has_failed |= is_fatal;
  result.is_fatal = is_fatal;
  if (may_follow(from, what)) {
    held.push_back({end, is_fatal});
    return result;
  }
  outcome.add(end);
  result.ends_job = is_fatal;
  return result;
}

std::optional<stop_point>
job_record::note_stopped(uint32_t rank, const std::string& breakpoint) {
  const auto place =
    breakpoint == init_breakpoint ? stop_point::in_init : stop_point::in_app;
  const auto whom =
    place == stop_point::in_init ? options.stops.in_init : options.stops.in_app;
  const auto is_meant = whom && (*whom == rank_wildcard || *whom == rank);
  if (!is_meant || rank >= procs.size() || procs[rank].has_ended())
    return std::nullopt;
  auto& left = awaited[static_cast<size_t>(place)];
  if (left.empty())
    for (uint32_t x = 0; x < procs.size(); ++x)
      if ((*whom == rank_wildcard || *whom == x) && !procs[x].has_ended())
        left.insert(x);
  if (left.erase(rank) == 0)
    return std::nullopt;
  breakpoints[static_cast<size_t>(place)] =
    breakpoint.substr(0, max_breakpoint);
  return left.empty() ? std::make_optional(place) : std::nullopt;
}

std::vector<uint32_t> job_record::ranks_on(uint32_t node) const {
  auto result = std::vector<uint32_t>{};
  if (const auto own = find_share(map.shares, node); own != map.shares.end())
    for (const auto& x : own->procs)
      result.push_back(x.rank);
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<proc_changed> job_record::lost_with(uint32_t node) const {
  auto result = std::vector<proc_changed>{};
  for (const auto rank : ranks_on(node))
    if (const auto& x = procs[rank]; !x.has_ended())
      result.push_back(
        {{map.nspace, rank}, proc_state::comm_failed, x.pid, 0, 0});
  return result;
}

std::vector<proc_ended> job_record::end_share_of(uint32_t node) {
  auto result = std::vector<proc_ended>{};
  for (const auto rank : ranks_on(node)) {
    auto& x = procs[rank];
    if (x.has_ended())
      continue;
    x.state = proc_state::killed_by_cmd;
    result.push_back({{map.nspace, rank}, x.state});
  }
  return result;
}

std::vector<proc_ended> job_record::ended() const {
  auto result = std::vector<proc_ended>{};
  for (uint32_t rank = 0; rank < procs.size(); ++rank)
    if (procs[rank].has_ended())
      result.push_back({{map.nspace, rank}, procs[rank].state});
  return result;
}

std::vector<proc_id> job_record::connected() const {
  auto result = std::vector<proc_id>{};
  for (uint32_t rank = 0; rank < procs.size(); ++rank)
    if (procs[rank].state == proc_state::connected)
      result.push_back({map.nspace, rank});
  return result;
}

bool job_record::runs_on(uint32_t node, uint32_t rank) const {
  if (rank == rank_wildcard)
    return !ranks_on(node).empty();
  return rank < procs.size() && procs[rank].node == node;
}

proc_place job_record::place_of(uint32_t rank, const dvm_nodes& nodes) const {
  auto result = proc_place{};
  if (rank >= procs.size())
    return result;
  const auto& x = procs[rank];
  if (x.app < commands.size())
    result.program = commands[x.app];
  result.pid = x.pid;
  result.node = nodes.name_of(x.node);
  return result;
}

// -- causes

/// Whether an end may follow that of a process which was killed on a node that
/// the root has not heard of yet.
bool job_record::may_follow(uint32_t from, const proc_changed& what) const {
  const auto is_failing_exit = what.signal == 0
                               && (what.state == proc_state::term_non_zero
                                   || what.state == proc_state::term_wo_sync);
  return is_failing_exit && !ending
         && std::any_of(shares.begin(), shares.end(),
                        [&](uint32_t node) { return node != from; });
}

std::map<uint32_t, control_procs>
job_record::questions_except(uint32_t from) const {
  auto result = std::map<uint32_t, control_procs>{};
  for (const auto node : shares)
    if (node != from)
      result[node] = {map.nspace, {}, control_action::signal, 0};
  for (uint32_t rank = 0; rank < procs.size(); ++rank) {
    const auto question = result.find(procs[rank].node);
    if (question != result.end() && !procs[rank].has_ended())
      question->second.ranks.push_back(rank);
  }
  return result;
}

std::vector<proc_id> job_record::count_held() {
  auto result = std::vector<proc_id>{};
  for (const auto& x : std::exchange(held, {})) {
    outcome.add(x.what);
    if (x.is_fatal)
      result.push_back({map.nspace, x.what.rank});
  }
  if (std::exchange(inquires, false))
    ++inquiry;
  return result;
}

// -- for those who ask

job_description job_record::describe() const {
  auto result = job_description{};
  result.nspace = map.nspace;
  result.state = ending ? job_state::terminated_with_error : job_state::running;
  result.cmd = commands.empty() ? "" : commands.front();
  auto hosts = std::map<uint32_t, std::string>{};
  for (const auto& x : map.shares)
    hosts[x.node] = x.hostname;
  for (uint32_t rank = 0; rank < procs.size(); ++rank) {
    const auto& x = procs[rank];
    result.procs.push_back({{map.nspace, rank},
                            hosts[x.node],
                            commands[x.app],
                            x.pid,
                            static_cast<uint8_t>(x.state)});
  }
  return result;
}

controlled_job job_record::controlled() const {
  auto result = controlled_job{};
  result.owner = parent.creds;
  result.procs.reserve(procs.size());
  for (const auto& x : procs)
    result.procs.push_back({x.node, !x.has_ended()});
  return result;
}

} // namespace troupe
