#include "actors/mesh/exchange/environment_spread.hpp"

#include "messages/attributes.hpp"
#include "messages/event.hpp"
#include "messages/sensor.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

void environment_spread::add(const std::vector<status>& codes) {
  own_.all |= codes.empty();
  codes_.insert(codes.begin(), codes.end());
  change_own();
}

void environment_spread::remove(const std::vector<status>& codes) {
  for (const auto code : codes) {
    if (code == default_events)
      own_.all = false;
    codes_.erase(code);
  }
  change_own();
}

void environment_spread::change_own() {
  own_.codes.assign(codes_.begin(), codes_.end());
  if (is_root()) {
    interest_.set(self_, own_);
    tell_all();
  } else {
    out_.tell(root, own_);
  }
  look_out();
}

void environment_spread::look_out() {
  auto codes = codes_;
  codes.insert(elsewhere_.codes.begin(), elsewhere_.codes.end());
  auto wanted = environment_interest{{codes.begin(), codes.end()},
                                     own_.all || elsewhere_.all};
  if (wanted == watched_)
    return;
  watched_ = wanted;
  out_.watch(std::move(wanted));
}

void environment_spread::raise(environment_event what) {
  if (is_root())
    hand_on(self_, what);
  else if (wants(elsewhere_, what.code))
    out_.pass(root, what);
  note(std::move(what));
}

void environment_spread::note(environment_event what) {
  if (wanted_here(what.code))
    out_.deliver(std::move(what));
}

void environment_spread::take(uint32_t from, const environment_interest& what) {
  if (!is_root()) {
    elsewhere_ = what;
    look_out();
    return;
  }
  if (members_.count(from) == 0)
    return;
  interest_.set(from, what);
  tell_all();
}

void environment_spread::take(uint32_t from, environment_event what) {
  if (is_root())
    hand_on(from, what);
  note(std::move(what));
}

void environment_spread::hand_on(uint32_t from, const environment_event& what) {
  for (const auto rank : interest_.users_of(what.code))
    if (rank != from && rank != self_)
      out_.pass(rank, what);
}

void environment_spread::change_member(uint32_t rank, bool is_live) {
  if (rank == self_)
    return;
  if (!is_root()) {
    // A root that is not there wants nothing; it hears of us once it is.
    if (rank == root && is_live && (own_.all || !own_.codes.empty()))
      out_.tell(root, own_);
    return;
  }
  told_.erase(rank);
  interest_.set(rank, {});
  if (is_live)
    members_.insert(rank);
  else
    members_.erase(rank);
  tell_all();
}

void environment_spread::tell_all() {
  // How many nodes want a code, and all codes.
  auto wanting = std::map<status, size_t>{};
  auto wanting_all = size_t{0};
  for (const auto& [rank, x] : interest_.users()) {
    wanting_all += x.all ? 1 : 0;
    for (const auto code : x.codes)
      ++wanting[code];
  }
  const auto others_of = [&](uint32_t rank) {
    const auto own = interest_.of(rank);
    auto result = environment_interest{};
    result.all = wanting_all > (own.all ? 1u : 0u);
    for (const auto& [code, count] : wanting) {
      const auto is_own =
        std::binary_search(own.codes.begin(), own.codes.end(), code);
      if (count > (is_own ? 1u : 0u))
        result.codes.push_back(code);
    }
    return result;
  };
  for (const auto rank : members_) {
    auto what = others_of(rank);
    auto& told = told_[rank];
    if (what == told)
      continue;
    told = what;
    out_.tell(rank, std::move(what));
  }
  elsewhere_ = others_of(self_);
  look_out();
}

// -- events --

namespace {

/// Between hosts only: the namespaces that have been told already.
constexpr std::string_view except_key = "troupe.event.except";

std::set<std::string> take_exceptions(environment_event& x) {
  auto result = std::set<std::string>{};
  auto& infos = x.infos;
  const auto i = std::find_if(infos.begin(), infos.end(), [](const info& y) {
    return y.key == except_key;
  });
  if (i == infos.end())
    return result;
  for (const auto& proc : procs_of(i->val))
    result.insert(proc.nspace);
  infos.erase(i);
  return result;
}

} // namespace

environment_event event_of_member(const member_changed& what, bool is_live,
                                  const std::string& name,
                                  std::optional<int64_t> time,
                                  const std::set<std::string>& told) {
  auto result = environment_event{};
  result.code = is_live                          ? status::node_up
                : what.state == node_state::left ? status::event_node_offline
                                                 : status::event_node_down;
  result.infos = {{std::string{attr::hostname}, 0, value::string(name)},
                  {std::string{attr::nodeid}, 0, value::uint32(what.rank)}};
  if (time)
    result.infos.push_back({std::string{attr::event_timestamp}, 0,
                            value{data_type::time, uint64_t(*time)}});
  if (result.code == status::event_node_down && !told.empty()) {
    auto except = std::vector<proc_id>{};
    for (const auto& nspace : told)
      except.push_back({nspace, rank_wildcard});
    result.infos.push_back(
      {std::string{except_key}, 0, value::procs(std::move(except))});
  }
  return result;
}

std::optional<deliver_event>
event_for_server(environment_event what, const std::set<std::string>& nspaces) {
  const auto except = take_exceptions(what);
  auto result = deliver_event{to_event(std::move(what)), {}};
  if (except.empty())
    return result;
  for (const auto& nspace : nspaces)
    if (except.count(nspace) == 0)
      result.targets.push_back({nspace, rank_wildcard});
  if (result.targets.empty())
    return std::nullopt;
  return result;
}

} // namespace troupe
