#include "actors/mesh/mesh_calls.hpp"

#include "actors/mesh/mesh_calls_state.hpp"
#include "messages/denial.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace troupe {

namespace {

using namespace std::chrono_literals;

/// How many answers a call says it has had, beside those that are settled.
constexpr auto answered_per_call = size_t{64};

/// Calls without an answer are sent again right after routes have changed, and
/// so often again, each time twice as long after the last: members hear of the
/// change one after the other.
constexpr auto first_repeat = mesh_calls::time{1s};
constexpr auto repeats = 4u;

template <class T, class... Ts>
constexpr bool is_any_of = (std::is_same_v<T, Ts> || ...);

} // namespace

traffic_class class_of(const host_question& what) {
  return std::visit(
    [](const auto& x) {
      using type = std::decay_t<decltype(x)>;
      if constexpr (
        std::is_same_v<
          type, collective_part> || std::is_same_v<type, collective_outcome>)
        return traffic_class::collectives;
      else if constexpr (is_any_of<type, deliver_event, submit_event,
                                   order_events, collect_events>)
        return traffic_class::job_events;
      else if constexpr (
        std::is_same_v<
          type,
          environment_event> || std::is_same_v<type, environment_interest>)
        return traffic_class::environment;
      else if constexpr (is_any_of<type, io_interest, io_fragment, io_fetch,
                                   io_input>)
        return traffic_class::io;
      else
        return traffic_class::control;
    },
    what);
}

host_reply refusal(const caf::error& why) {
  return mesh_failure{status_of(why), reason_of(why), infos_of(why)};
}

// -- asking
// -----------------------------------------------------------------------

void mesh_calls::state::call(uint32_t rank, host_question what, completion then,
                             std::optional<time> timeout) {
  const auto is_here = live.find(rank);
  if (is_here == live.end()) {
    then(make_error(status::unreach,
                    "node " + std::to_string(rank) + " is not a member"));
    return;
  }
  auto& x = to[rank];
  if (x.calls.size() >= bounds.open) {
    then(make_error(status::out_of_resource,
                    "node " + std::to_string(rank) + " owes "
                      + std::to_string(bounds.open) + " answers"));
    return;
  }
  x.incarnation = is_here->second;
  const auto number = x.next++;
  auto& last = x.last[index_of(class_of(what))];
  auto entry = outgoing::open_call{std::move(what), std::move(then), 0, {}};
  // One that is settled holds up nothing.
  entry.after = last > x.settled() ? last : 0;
  last = number;
  if (timeout) {
    entry.due = out.now() + *timeout;
    deadlines.emplace(*entry.due, rank, number);
  }
  auto& put = x.calls.emplace(number, std::move(entry)).first->second;
  if (rank != self.rank) {
    send(rank, x, number);
    return;
  }
  auto guard = std::make_shared<token>();
  guard->owner = weak_from_this();
  guard->from = self;
  guard->number = number;
  auto question = std::move(put.what);
  out.execute(self, question,
              [guard](host_reply reply) { guard->give(std::move(reply)); });
}

void mesh_calls::state::send(uint32_t rank, outgoing& x, uint64_t number) {
  const auto& entry = x.calls.at(number);
  auto what = host_call{};
  what.number = number;
  what.after = entry.after;
  what.settled = std::min(x.settled(), number - 1);
  auto& answered = x.answered;
  answered.erase(answered.begin(), answered.upper_bound(what.settled));
  while (!answered.empty() && what.answered.size() < answered_per_call) {
    what.answered.push_back(*answered.begin());
    answered.erase(answered.begin());
  }
  what.carried_out = take_unsaid({rank, x.incarnation});
  what.what = entry.what;
  const auto of = class_of(what.what);
  out.send({rank, x.incarnation, of, std::move(what)});
}

void mesh_calls::state::send_all() {
  for (auto& [rank, x] : to)
    if (rank != self.rank)
      for (const auto& [number, unused] : x.calls)
        send(rank, x, number);
}

void mesh_calls::state::complete(uint32_t rank, uint64_t number,
                                 caf::expected<host_reply> reply) {
  const auto i = to.find(rank);
  if (i == to.end())
    return;
  auto node = i->second.calls.extract(number);
  if (node.empty())
    return;
  if (rank != self.rank)
    i->second.answered.insert(number);
  auto& entry = node.mapped();
  if (entry.due)
    deadlines.erase({*entry.due, rank, number});
  if (!entry.then)
    return;
  if (reply)
    if (auto* why = std::get_if<mesh_failure>(&*reply))
      reply =
        make_error(why->code == status::success ? status::error : why->code,
                   std::move(why->reason), std::move(why->infos));
  entry.then(std::move(reply));
}

void mesh_calls::state::lose(uint32_t rank, const std::string& why) {
  auto node = to.extract(rank);
  if (node.empty())
    return;
  for (auto& [number, entry] : node.mapped().calls) {
    if (entry.due)
      deadlines.erase({*entry.due, rank, number});
    if (entry.then)
      entry.then(make_error(status::unreach, why));
  }
}

// -- the class
// --------------------------------------------------------------------

mesh_calls::mesh_calls(member self, effects out)
  : mesh_calls(self, std::move(out), limits{}) {
  // nop
}

mesh_calls::mesh_calls(member self, effects out, limits bounds)
  : state_(std::make_shared<state>()) {
  state_->self = self;
  state_->out = std::move(out);
  state_->bounds = bounds;
  state_->live[self.rank] = self.incarnation;
}

mesh_calls::~mesh_calls() = default;

void mesh_calls::call(uint32_t rank, host_question what, completion then,
                      std::optional<time> timeout) {
  state_->call(rank, std::move(what), std::move(then), timeout);
}

void mesh_calls::tell(uint32_t rank, host_question what) {
  state_->call(
    rank, std::move(what), [](const caf::expected<host_reply>&) {},
    std::nullopt);
}

void mesh_calls::take(member_message what) {
  const auto who = member{what.rank, what.incarnation};
  if (who.rank == state_->self.rank)
    return;
  const auto is_known = [&] {
    const auto i = state_->to.find(who.rank);
    return i != state_->to.end() && i->second.incarnation == who.incarnation;
  };
  const auto complete = [&](const std::vector<uint64_t>& carried_out) {
    for (const auto number : carried_out)
      if (is_known())
        state_->complete(who.rank, number, host_reply{ack{}});
  };
  if (auto* call = std::get_if<host_call>(&what.what)) {
    complete(call->carried_out);
    state_->take(who, std::move(*call));
    return;
  }
  auto& answer = std::get<host_answer>(what.what);
  complete(answer.carried_out);
  if (answer.number != 0 && is_known())
    state_->complete(who.rank, answer.number, std::move(answer.what));
}

void mesh_calls::member_changed(const troupe::member_changed& what) {
  auto& x = *state_;
  if (what.rank == x.self.rank || what.state == node_state::expected)
    return;
  const auto known = x.live.find(what.rank);
  const auto was = known != x.live.end() ? known->second : 0;
  if (what.state == node_state::live) {
    if (was == what.incarnation)
      return;
    x.live[what.rank] = what.incarnation;
    if (was == 0)
      return;
    x.dead[what.rank] = std::max(x.dead[what.rank], was);
    x.lose(what.rank, "node " + what.name + " has started anew");
    return;
  }
  auto& buried = x.dead[what.rank];
  buried = std::max(buried, what.incarnation);
  const auto i = x.from.find(what.rank);
  if (i != x.from.end() && i->second.incarnation <= what.incarnation)
    x.from.erase(i);
  if (was != what.incarnation)
    return;
  x.live.erase(what.rank);
  x.lose(what.rank, "node " + what.name
                      + (what.state == node_state::left ? " has left the DVM"
                                                        : " is lost"));
  routes_changed();
}

void mesh_calls::lose_all(const std::string& why) {
  auto& x = *state_;
  const auto members = x.live;
  for (const auto& [rank, incarnation] : members) {
    if (rank == x.self.rank)
      continue;
    auto& buried = x.dead[rank];
    buried = std::max(buried, incarnation);
    x.from.erase(rank);
    x.live.erase(rank);
    x.lose(rank, why);
  }
}

void mesh_calls::routes_changed() {
  state_->repeats_left = repeats;
  state_->repeat_at = state_->out.now() + first_repeat;
  state_->send_all();
}

bool mesh_calls::is_live(uint32_t rank) const {
  return state_->live.count(rank) > 0;
}

std::vector<uint32_t> mesh_calls::live() const {
  auto result = std::vector<uint32_t>{};
  for (const auto& [rank, unused] : state_->live)
    result.push_back(rank);
  return result;
}

std::optional<mesh_calls::time> mesh_calls::next_due() const {
  auto result = state_->repeat_at;
  const auto add = [&](time x) { result = result ? std::min(*result, x) : x; };
  if (state_->receipts_at)
    add(*state_->receipts_at);
  if (!state_->deadlines.empty())
    add(std::get<0>(*state_->deadlines.begin()));
  return result;
}

void mesh_calls::tick() {
  auto& x = *state_;
  const auto now = x.out.now();
  while (!x.deadlines.empty() && std::get<0>(*x.deadlines.begin()) <= now) {
    const auto [due, rank, number] = *x.deadlines.begin();
    x.deadlines.erase(x.deadlines.begin());
    // It stays, without a caller: others are to come after it.
    auto& entry = x.to.at(rank).calls.at(number);
    entry.due.reset();
    if (auto then = std::exchange(entry.then, nullptr))
      then(make_error(status::timeout, "node " + std::to_string(rank)
                                         + " has not answered in time"));
  }
  if (x.receipts_at && *x.receipts_at <= now)
    x.give_receipts();
  if (x.repeat_at && *x.repeat_at <= now) {
    x.repeat_at.reset();
    if (open() > 0 && --x.repeats_left > 0)
      x.repeat_at = now + first_repeat * (1 << (repeats - x.repeats_left));
    x.send_all();
  }
}

size_t mesh_calls::open() const {
  auto result = size_t{0};
  for (const auto& [rank, x] : state_->to)
    result += x.calls.size();
  return result;
}

size_t mesh_calls::remembered() const {
  auto result = size_t{0};
  for (const auto& [rank, x] : state_->from)
    result += x.records.size();
  return result;
}

} // namespace troupe
