#include "tools/page_state.hpp"

#include "messages/attributes.hpp"
#include "messages/custom_monitor.hpp"
#include "tools/event_text.hpp"
#include "tools/stream_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <tuple>

namespace troupe {

namespace {

using nlohmann::json;

/// States of processes on the page, in the order of a life.
constexpr auto rank_states = std::array<const char*, 6>{
  "starting", "running", "connected", "ended", "failed", "lost"};

std::string text_in(const json& x, std::string_view key) {
  const auto i = x.find(key);
  return i != x.end() && i->is_string() ? i->get<std::string>() : std::string{};
}

uint64_t number_in(const json& x, std::string_view key) {
  const auto i = x.find(key);
  return i != x.end() && i->is_number_unsigned() ? i->get<uint64_t>() : 0;
}

bool flag_in(const json& x, std::string_view key) {
  const auto i = x.find(key);
  return i != x.end() && i->is_boolean() && i->get<bool>();
}

/// The objects of a list; none if it is no list.
std::vector<const json*> objects_in(const json& list) {
  auto result = std::vector<const json*>{};
  if (list.is_array())
    for (const auto& x : list)
      if (x.is_object())
        result.push_back(&x);
  return result;
}

std::vector<const json*> objects_in(const json& x, std::string_view key) {
  const auto i = x.find(key);
  return i != x.end() ? objects_in(*i) : std::vector<const json*>{};
}

/// The texts of a list, so many at most.
json texts_in(const json& x, std::string_view key, size_t most) {
  auto result = json::array();
  const auto i = x.find(key);
  if (i != x.end() && i->is_array())
    for (const auto& y : *i)
      if (y.is_string() && result.size() < most)
        result.push_back(y);
  return result;
}

/// The members of an object that are named.
json members(const json& x, std::initializer_list<const char*> keys) {
  auto result = json::object();
  for (const auto* key : keys)
    if (const auto i = x.find(key); i != x.end())
      result[key] = *i;
  return result;
}

bool has_ended(const std::string& state) {
  return state == "ended" || state == "failed" || state == "lost";
}

json no_counts() {
  auto result = json::object();
  for (const auto* x : rank_states)
    result[x] = 0u;
  return result;
}

void count(json& counts, const std::string& state) {
  const auto i = counts.find(state);
  if (i != counts.end())
    *i = i->get<uint64_t>() + 1;
}

std::optional<double> real(const std::vector<info>& infos,
                           std::string_view key) {
  const auto* x = find(infos, key);
  if (x == nullptr)
    return std::nullopt;
  const auto* y = std::get_if<double>(&x->data);
  return y != nullptr && std::isfinite(*y) ? std::optional<double>{*y}
                                           : std::nullopt;
}

/// A number that is not negative, without its fraction.
uint64_t whole_number(double x) {
  constexpr auto most = 9e15;
  return x > 0 ? static_cast<uint64_t>(std::min(x, most)) : 0;
}

} // namespace

std::string json_text(const json& x) {
  return x.dump(-1, ' ', false, json::error_handler_t::replace);
}

// -- items -------------------------------------------------------------------

void page_state::set(const std::string& part, const std::string& name, json x) {
  auto& to = parts_[part][name];
  if (to == x)
    return;
  to = std::move(x);
  changed_[part].insert(name);
}

void page_state::remove(const std::string& part, const std::string& name) {
  if (parts_[part].erase(name) > 0)
    changed_[part].insert(name);
}

/// Makes these the items of a part.
void page_state::replace(const std::string& part, items x) {
  auto gone = std::vector<std::string>{};
  for (const auto& y : parts_[part])
    if (x.count(y.first) == 0)
      gone.push_back(y.first);
  for (const auto& name : gone)
    remove(part, name);
  for (auto& [name, y] : x)
    set(part, name, std::move(y));
}

const json* page_state::item(const std::string& part,
                             const std::string& name) const {
  const auto i = parts_.find(part);
  if (i == parts_.end())
    return nullptr;
  const auto j = i->second.find(name);
  return j != i->second.end() ? &j->second : nullptr;
}

json page_state::whole() const {
  auto result = json::object();
  for (const auto& [part, all] : parts_) {
    auto& to = result[part] = json::object();
    for (const auto& [name, x] : all)
      to[name] = x;
  }
  return result;
}

json page_state::take_change() {
  auto result = json::object();
  for (const auto& [part, names] : changed_) {
    auto& to = result[part] = json::object();
    for (const auto& name : names) {
      const auto* x = item(part, name);
      to[name] = x != nullptr ? *x : json{};
    }
  }
  changed_.clear();
  return result;
}

double page_state::rate(const marks& before, marks& after,
                        const std::string& name, double amount, time now) {
  constexpr auto second = 1000.0;
  after[name] = {amount, now};
  const auto i = before.find(name);
  if (i == before.end() || now <= i->second.at || amount < i->second.amount)
    return 0;
  return (amount - i->second.amount)
         / (static_cast<double>(now - i->second.at) / second);
}

// -- the DVM and its nodes ---------------------------------------------------

void page_state::take_dvm(const json& x) {
  if (!x.is_object())
    return;
  auto shown = members(x, {"name", "nodes", "live", "ready"});
  if (const auto* before = item("dvm", "dvm"))
    shown["left_out"] = before->value("left_out", json(0u));
  set("dvm", "dvm", std::move(shown));
}

void page_state::take_nodes(const json& list) {
  auto all = items{};
  for (const auto* x : objects_in(list))
    all[std::to_string(number_in(*x, "rank"))] =
      members(*x, {"rank", "name", "state", "slots", "procs"});
  replace("nodes", std::move(all));
}

// -- jobs --------------------------------------------------------------------

/// The names of those that are shown.
std::vector<std::string> page_state::ranks_of(const std::string& nspace) const {
  auto result = std::vector<std::string>{};
  const auto ranks = parts_.find("ranks");
  if (ranks == parts_.end())
    return result;
  const auto prefix = nspace + ":";
  for (auto i = ranks->second.lower_bound(prefix);
       i != ranks->second.end()
       && i->first.compare(0, prefix.size(), prefix) == 0;
       ++i)
    if (text_in(i->second, "job") == nspace)
      result.push_back(i->first);
  return result;
}

void page_state::take_jobs(const json& jobs, const json& processes, time now) {
  auto running = items{};
  for (const auto* x : objects_in(jobs)) {
    auto job = members(*x, {"nspace", "state", "cmd", "procs", "nodes"});
    job["counts"] = no_counts();
    const auto nspace = text_in(*x, "nspace");
    const auto* before = item("jobs", nspace);
    // The answer may be older than the event of its end.
    const auto is_over =
      before != nullptr && text_in(*before, "state") == "over";
    if (!nspace.empty() && !is_over)
      running[nspace] = std::move(job);
  }
  auto ended = std::vector<std::string>{};
  for (const auto& [nspace, job] : parts_["jobs"])
    if (running.count(nspace) == 0)
      ended.push_back(nspace);
  for (const auto& nspace : ended)
    end_job(nspace, now);
  auto seen = std::set<std::string>{};
  auto left_out = uint64_t{0};
  for (const auto* x : objects_in(processes)) {
    const auto nspace = text_in(*x, "nspace");
    const auto job = running.find(nspace);
    if (job == running.end())
      continue;
    auto shown = members(*x, {"rank", "node", "host", "pid", "exit", "cpus"});
    auto state = text_in(*x, "state");
    if (state == "running" && flag_in(*x, "connected"))
      state = "connected";
    const auto name = nspace + ":" + std::to_string(number_in(*x, "rank"));
    const auto* before = item("ranks", name);
    // As above.
    if (before != nullptr && has_ended(text_in(*before, "state"))
        && !has_ended(state)
        && number_in(*before, "pid") == number_in(*x, "pid"))
      shown = *before;
    else
      shown["state"] = state;
    if (before != nullptr && before->contains("words")
        && shown["state"] == before->at("state"))
      shown["words"] = before->at("words");
    shown["job"] = nspace;
    count(job->second["counts"], text_in(shown, "state"));
    if (seen.size() >= defaults::page_ranks) {
      ++left_out;
      continue;
    }
    seen.insert(name);
    set("ranks", name, std::move(shown));
  }
  for (auto& [nspace, job] : running) {
    for (const auto& name : ranks_of(nspace))
      if (seen.count(name) == 0)
        remove("ranks", name);
    set("jobs", nspace, std::move(job));
  }
  while (!over_.empty() && parts_["ranks"].size() > 2 * defaults::page_ranks)
    forget_job(over_.front());
  auto dvm = json::object();
  if (const auto* before = item("dvm", "dvm"))
    dvm = *before;
  dvm["left_out"] = left_out;
  set("dvm", "dvm", std::move(dvm));
}

/// What is known of its end may come by event, before or after.
void page_state::end_job(const std::string& nspace, time now) {
  const auto* before = item("jobs", nspace);
  if (before == nullptr || text_in(*before, "state") == "over")
    return;
  auto job = *before;
  job["state"] = "over";
  job["ended"] = now;
  job["counts"] = no_counts();
  for (const auto& name : ranks_of(nspace)) {
    auto shown = *item("ranks", name);
    if (!has_ended(text_in(shown, "state")))
      shown["state"] = "ended";
    count(job["counts"], text_in(shown, "state"));
    set("ranks", name, std::move(shown));
  }
  set("jobs", nspace, std::move(job));
  over_.push_back(nspace);
  if (over_.size() > defaults::page_jobs_over)
    forget_job(over_.front());
}

/// @param nspace Of a job that is over.
void page_state::forget_job(const std::string& nspace) {
  const auto copy = nspace; // It may be an element of what changes.
  for (const auto& name : ranks_of(copy)) {
    remove("ranks", name);
    remove("use", name);
  }
  remove("jobs", copy);
  over_.erase(std::remove(over_.begin(), over_.end(), copy), over_.end());
}

void page_state::end_rank(const proc_id& proc, const char* state,
                          const event& x) {
  const auto name = to_string(proc);
  const auto* before = item("ranks", name);
  if (before == nullptr)
    return;
  auto shown = *before;
  shown["state"] = state;
  if (const auto code = number<int32_t>(x.infos, attr::exit_code))
    shown["exit"] = *code;
  if (auto words = text(x.infos, attr::event_text_message))
    shown["words"] = words->substr(0, defaults::page_event_bytes);
  set("ranks", name, std::move(shown));
}

// -- networks ----------------------------------------------------------------

namespace {

/// A connection of two nodes, as both tell of it.
struct pair_view {
  struct network {
    bool is_usable = true;
    bool is_relay = false;
    uint64_t round_trip_us = 0;
  };

  bool is_connected = true;
  uint64_t resent = 0;
  uint64_t waiting = 0;
  std::string trouble;
  std::map<std::string, network> networks;
};

void add_peer(pair_view& to, const json& peer) {
  constexpr uint64_t microsecond_ns = 1000;
  to.is_connected = to.is_connected && flag_in(peer, "connected");
  to.resent += number_in(peer, "resent");
  to.waiting += number_in(peer, "waiting_bytes");
  if (const auto why = text_in(peer, "trouble"); !why.empty())
    to.trouble = why;
  for (const auto* lane : objects_in(peer, "lanes")) {
    const auto network = text_in(*lane, "network");
    auto& x = to.networks[lane->contains("relay")
                            ? "through " + lane->at("relay").dump()
                            : network];
    x.is_relay = lane->contains("relay") || network == "relay";
    x.is_usable = x.is_usable && flag_in(*lane, "usable");
    x.round_trip_us = std::max(
      x.round_trip_us, number_in(*lane, "round_trip_ns") / microsecond_ns);
  }
}

/// Adds networks that the two had and have no more, and notes those that they have.
/// While they are not connected nothing is remembered: who comes back may have others.
void add_lost(pair_view& to, std::set<std::string>& known) {
  if (!to.is_connected)
    known.clear();
  for (const auto& [name, x] : to.networks)
    if (!x.is_relay && known.size() < defaults::page_networks)
      known.insert(name);
  for (const auto& name : known)
    if (to.networks.count(name) == 0)
      to.networks[name].is_usable = false;
}

/// `down`: nothing crosses; `failing`: less than should, or again; `well`.
const char* state_of(const pair_view& x, bool resends) {
  const auto usable =
    std::count_if(x.networks.begin(), x.networks.end(),
                  [](const auto& y) { return y.second.is_usable; });
  if (!x.is_connected || usable == 0)
    return "down";
  return resends || static_cast<size_t>(usable) < x.networks.size() ? "failing"
                                                                    : "well";
}

/// What a node says of itself.
json duty_of(const json& node) {
  auto result = members(node, {"duty", "epoch", "trouble"});
  auto full = json::array();
  for (const auto* x : objects_in(node, "gauges")) {
    const auto name = text_in(*x, "name");
    const auto amount = number_in(*x, "value");
    const auto bound = number_in(*x, "bound");
    if (name == "host.collectives")
      result["collectives"] = amount;
    else if (name == "daemon.resident")
      result["memory"] = amount;
    if (bound > 0
        && static_cast<double>(amount) * 100
             >= static_cast<double>(bound * defaults::page_nearly_full))
      full.push_back(members(*x, {"name", "value", "bound", "unit"}));
  }
  result["full"] = std::move(full);
  return result;
}

} // namespace

void page_state::take_networks(const json& list) {
  auto duties = items{};
  auto pairs = std::map<std::pair<uint64_t, uint64_t>, pair_view>{};
  for (const auto* node : objects_in(list)) {
    const auto rank = number_in(*node, "rank");
    duties[std::to_string(rank)] = duty_of(*node);
    for (const auto* peer : objects_in(*node, "peers")) {
      const auto other = number_in(*peer, "rank");
      add_peer(pairs[std::minmax(rank, other)], *peer);
    }
  }
  auto links = items{};
  auto resent = std::map<std::string, uint64_t>{};
  auto known = std::map<std::string, std::set<std::string>>{};
  for (auto& [ends, x] : pairs) {
    const auto name =
      std::to_string(ends.first) + "-" + std::to_string(ends.second);
    const auto before = resent_.find(name);
    const auto resends = before != resent_.end() && x.resent > before->second;
    resent[name] = x.resent;
    known[name] = std::move(networks_[name]);
    add_lost(x, known[name]);
    auto networks = json::array();
    for (const auto& [network, y] : x.networks)
      networks.push_back({{"name", network},
                          {"usable", y.is_usable},
                          {"round_trip_us", y.round_trip_us}});
    links[name] = {{"a", ends.first},
                   {"b", ends.second},
                   {"state", state_of(x, resends)},
                   {"networks", std::move(networks)},
                   {"resent", x.resent},
                   {"waiting", x.waiting},
                   {"trouble", x.trouble}};
  }
  resent_ = std::move(resent);
  networks_ = std::move(known);
  replace("duties", std::move(duties));
  replace("links", std::move(links));
}

// -- groups, streams, monitors -----------------------------------------------

void page_state::take_groups(const json& list) {
  constexpr size_t most_members = 1024;
  auto all = items{};
  for (const auto* x : objects_in(list)) {
    auto shown = members(*x, {"id", "phase", "context_id"});
    for (const auto* key : {"members", "leaders", "missing"})
      shown[key] = texts_in(*x, key, most_members);
    const auto i = x->find("members");
    shown["size"] = i != x->end() && i->is_array() ? i->size() : size_t{0};
    all[text_in(*x, "id") + "/" + std::to_string(number_in(*x, "participants"))
        + "/" + std::to_string(number_in(*x, "generation"))] = std::move(shown);
  }
  replace("groups", std::move(all));
}

void page_state::take_waits(const json& list, time now) {
  constexpr size_t most_jobs = 8;
  constexpr time second = 1000;
  auto all = items{};
  for (const auto* x : objects_in(list)) {
    const auto age = number_in(*x, "age_ms");
    if (age < defaults::page_wait_least)
      continue;
    auto shown = members(*x, {"kind", "job", "id", "size", "joined", "others",
                              "unknown", "at_least"});
    shown["participants"] = texts_in(*x, "participants", most_jobs);
    auto missing = json::array();
    for (const auto* y : objects_in(*x, "missing"))
      missing.push_back(members(*y, {"proc", "host"}));
    shown["missing"] = std::move(missing);
    auto name = text_in(*x, "id");
    if (name.empty())
      name = text_in(*x, "kind") + ":" + json_text(shown["participants"]);
    // Answers take different times: what has begun once does not begin anew.
    auto began =
      now - static_cast<time>(whole_number(static_cast<double>(age)));
    const auto* before = item("waits", name);
    if (before != nullptr
        && std::abs(before->value("began", time{0}) - began) < second)
      began = before->value("began", time{0});
    shown["began"] = began;
    all[name] = std::move(shown);
  }
  replace("waits", std::move(all));
}

void page_state::take_streams(const json& list, time now) {
  struct line {
    double rate = 0;
    uint64_t missed = 0;
    std::string name;
    const stream_row* row = nullptr;
  };
  const auto rows = stream_rows(list);
  auto lines = std::vector<line>{};
  auto written = marks{};
  auto flows = items{};
  for (const auto& x : rows) {
    auto& y = lines.emplace_back();
    y.name = to_string(x.source) + "/" + x.stream;
    y.row = &x;
    y.rate = rate(written_, written, y.name, static_cast<double>(x.end), now);
    for (const auto& sink : x.sinks)
      y.missed += sink.missed;
    auto& flow = flows[x.source.nspace];
    const auto add = [&](const char* key, uint64_t amount) {
      flow[key] = number_in(flow, key) + amount;
    };
    add("rate", whole_number(y.rate));
    add("written", x.end);
    add("missed", y.missed);
    add("streams", 1);
    add("open", x.is_over ? 0 : 1);
  }
  written_ = std::move(written);
  const auto shown = std::min(lines.size(), defaults::page_streams);
  std::partial_sort(lines.begin(),
                    lines.begin() + static_cast<std::ptrdiff_t>(shown),
                    lines.end(), [](const line& x, const line& y) {
                      return std::tie(y.rate, y.missed, x.name)
                             < std::tie(x.rate, x.missed, y.name);
                    });
  lines.resize(shown);
  auto all = items{};
  for (const auto& x : lines) {
    auto sinks = json::array();
    for (const auto& sink : x.row->sinks)
      sinks.push_back(sink.name + ": " + sink.policy);
    all[x.name] = {
      {"job", x.row->source.nspace}, {"rank", x.row->source.rank},
      {"stream", x.row->stream},     {"rate", whole_number(x.rate)},
      {"written", x.row->end},       {"missed", x.missed},
      {"over", x.row->is_over},      {"sinks", std::move(sinks)}};
  }
  replace("streams", std::move(all));
  replace("flows", std::move(flows));
}

void page_state::take_monitors(const json& list) {
  constexpr auto names =
    std::array<std::pair<std::string_view, const char*>, 12>{
      {{attr::procid, "process"},
       {attr::hostname, "node"},
       {monitor_kind_key, "kind"},
       {attr::monitor_id, "id"},
       {monitor_reason_key, "reason"},
       {monitor_silent_key, "silent"},
       {monitor_last_key, "last"},
       {monitor_due_key, "due"},
       {monitor_interval_key, "every"},
       {monitor_target_key, "target"},
       {monitor_requestor_key, "requestor"},
       {attr::monitor_file, "file"}}};
  auto all = items{};
  for (const auto* x : objects_in(list)) {
    auto shown = json::object();
    for (const auto& [key, name] : names)
      if (const auto i = x->find(key); i != x->end())
        shown[name] = *i;
    all[text_in(*x, attr::hostname) + "/"
        + std::to_string(number_in(*x, monitor_number_key))] = std::move(shown);
  }
  replace("monitors", std::move(all));
}

// -- use of resources --------------------------------------------------------

void page_state::take_usage(const std::vector<info>& answer, time now) {
  constexpr auto microsecond = 1e-6;
  auto seconds = marks{};
  auto procs = items{};
  auto nodes = items{};
  for (const auto& x : answer) {
    const auto sample = infos_of(x.val);
    const auto* proc = find(sample, attr::procid);
    if (x.key == attr::proc_resource_usage && proc != nullptr
        && proc->proc() != nullptr) {
      const auto name = to_string(*proc->proc());
      if (item("ranks", name) == nullptr)
        continue;
      auto shown = json::object();
      const auto* used = find(sample, attr::proc_time);
      const auto* amount =
        used != nullptr ? std::get_if<timeval_value>(&used->data) : nullptr;
      if (amount != nullptr)
        shown["load"] = std::lround(
          100
          * rate(seconds_, seconds, name,
                 static_cast<double>(amount->seconds)
                   + microsecond * static_cast<double>(amount->microseconds),
                 now));
      if (const auto memory = real(sample, attr::proc_rss))
        shown["memory_mb"] = whole_number(*memory);
      procs[name] = std::move(shown);
    } else if (x.key == attr::node_resource_usage) {
      auto shown = json::object();
      if (const auto load = real(sample, attr::node_load_avg))
        shown["load"] = std::round(*load * 100) / 100;
      if (const auto all = real(sample, attr::node_mem_total))
        shown["memory_mb"] = whole_number(*all);
      if (const auto free = real(sample, attr::node_mem_free))
        shown["free_mb"] = whole_number(*free);
      if (auto name = text(sample, attr::hostname))
        nodes[std::move(*name)] = std::move(shown);
    }
  }
  if (!procs.empty()) {
    seconds_ = std::move(seconds);
    replace("use", std::move(procs));
  }
  if (!nodes.empty())
    replace("node_use", std::move(nodes));
}

// -- events ------------------------------------------------------------------

namespace {

/// The state of a process that an event tells the end of; null: it tells none.
const char* end_of(status code) {
  switch (code) {
    case status::event_proc_terminated:
      return "ended";
    case status::proc_aborted:
    case status::proc_aborted_by_sig:
    case status::proc_requested_abort:
    case status::proc_failed_to_start:
    case status::exit_nonzero_term:
    case status::proc_killed_by_cmd:
      return "failed";
    default:
      return nullptr;
  }
}

bool is_alarm(const event& x) {
  switch (x.code) {
    case status::proc_aborted:
    case status::proc_aborted_by_sig:
    case status::proc_requested_abort:
    case status::proc_failed_to_start:
    case status::proc_term_wo_sync:
    case status::exit_nonzero_term:
    case status::lost_connection:
    case status::event_node_down:
    case status::monitor_heartbeat_alert:
    case status::monitor_file_alert:
    case status::proc_sensor_bound_exceeded:
    case status::job_sensor_bound_exceeded:
      return true;
    case status::job_end:
      return number<int32_t>(x.infos, attr::exit_code).value_or(0) != 0;
    default:
      return false;
  }
}

/// What else an event says, if it has no message.
std::string words_of(const event& x, const json& all) {
  auto result = text(x.infos, attr::event_text_message).value_or("");
  if (result.empty())
    for (const auto& [key, y] : all.at("infos").items())
      result += (result.empty() ? "" : ", ") + key + "="
                + (y.is_string() ? y.get<std::string>() : json_text(y));
  if (result.size() > defaults::page_event_bytes)
    result = result.substr(0, defaults::page_event_bytes) + " ...";
  return result;
}

} // namespace

void page_state::take_event(const event& x, time now) {
  const auto affected = affected_by(x);
  const auto* const ends = end_of(x.code);
  for (const auto& proc : affected) {
    if (ends != nullptr)
      end_rank(proc, ends, x);
    if (x.code != status::job_end)
      continue;
    end_job(proc.nspace, now);
    const auto* before = item("jobs", proc.nspace);
    if (before == nullptr)
      continue;
    auto job = *before;
    if (const auto code = number<int32_t>(x.infos, attr::exit_code))
      job["exit"] = *code;
    if (auto why = text(x.infos, attr::event_text_message))
      job["reason"] = why->substr(0, defaults::page_event_bytes);
    set("jobs", proc.nspace, std::move(job));
  }
  auto about = json::array();
  for (size_t i = 0; i < std::min(affected.size(), defaults::page_event_procs);
       ++i)
    about.push_back(to_string(affected[i]));
  const auto next = ++event_number_;
  set("events", std::to_string(next),
      {{"number", next},
       {"time", now},
       {"name", to_string(x.code)},
       {"alarm", is_alarm(x)},
       {"source",
        x.source.nspace.empty() ? "the resource manager" : to_string(x.source)},
       {"about", std::move(about)},
       {"affected", affected.size()},
       {"words", words_of(x, to_json(numbered_event{x, 0, {}}))}});
  if (next > defaults::page_events)
    remove("events", std::to_string(next - defaults::page_events));
}

} // namespace troupe
