#include "actors/mesh_calls.hpp"

#include "actors/number_ranges.hpp"

#include <algorithm>
#include <set>
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

/// Whether a question may be carried out twice: it changes nothing.
bool is_reading(const host_question& what) {
  return std::holds_alternative<direct_modex>(what)
         || std::holds_alternative<locate_job>(what)
         || std::holds_alternative<list_jobs>(what);
}

} // namespace

traffic_class class_of(const host_question& what) {
  return std::visit(
    [](const auto& x) {
      using type = std::decay_t<decltype(x)>;
      if constexpr (
        std::is_same_v<
          type, collective_part> || std::is_same_v<type, collective_outcome>)
        return traffic_class::collectives;
      else if constexpr (std::is_same_v<type, deliver_event>)
        return traffic_class::job_events;
      else if constexpr (
        std::is_same_v<
          type,
          process_output> || std::is_same_v<type, write_stdin> || std::is_same_v<type, close_stdin>)
        return traffic_class::io;
      else
        return traffic_class::control;
    },
    what);
}

host_reply refusal(const caf::error& why) {
  return mesh_failure{status_of(why), reason_of(why)};
}

/// What is asked of one member.
struct mesh_calls::outgoing {
  struct open_call {
    host_question what;
    completion then;
    uint64_t after = 0;
    std::optional<time> due;
  };

  uint64_t incarnation = 0;
  uint64_t next = 1;
  per_class<uint64_t> last = {};
  std::map<uint64_t, open_call> calls;

  /// Answered, and the member has not been told.
  std::set<uint64_t> answered;

  uint64_t settled() const {
    return calls.empty() ? next - 1 : calls.begin()->first - 1;
  }
};

/// What one member asks.
struct mesh_calls::incoming {
  uint64_t incarnation = 0;

  /// Numbers that have been carried out, or never will be.
  number_ranges done;

  /// Carried out, with the class of the answer; no reply: not yet answered.
  struct record {
    traffic_class of = traffic_class::control;
    bool is_reading = false;
    std::optional<host_reply> reply;
  };

  uint64_t settled = 0;
  std::map<uint64_t, record> records;
  std::map<uint64_t, host_call> early;
};

struct mesh_calls::state : std::enable_shared_from_this<state> {
  /// Answers for who forgot.
  struct token {
    std::weak_ptr<state> owner;
    member from;
    uint64_t number = 0;
    bool is_used = false;

    void give(host_reply what) {
      if (std::exchange(is_used, true))
        return;
      if (const auto to = owner.lock())
        to->answered(from, number, std::move(what));
    }

    ~token() {
      give(mesh_failure{status::unreach, "nobody answered on the node"});
    }
  };

  member self;
  effects out;
  limits bounds;
  std::map<uint32_t, outgoing> to;
  std::map<uint32_t, incoming> from;
  std::map<uint32_t, uint64_t> live;
  std::map<uint32_t, uint64_t> dead; // the latest incarnation
  std::set<std::tuple<time, uint32_t, uint64_t>> deadlines;
  std::optional<time> repeat_at;
  uint32_t repeats_left = 0;

  // -- asking --

  void call(uint32_t rank, host_question what, completion then,
            std::optional<time> timeout);
  void send(uint32_t rank, outgoing& x, uint64_t number);
  void send_all();
  void complete(uint32_t rank, uint64_t number, caf::expected<host_reply> x);
  void lose(uint32_t rank, const std::string& why);

  // -- answering --

  void take(const member& who, host_call what);
  void settle(incoming& x, const host_call& what);
  void repeat_answer(const member& who, incoming& x, host_call& what);
  void execute(const member& who, uint64_t number, host_question& what);
  void execute_early(const member& who);
  void answered(const member& who, uint64_t number, host_reply reply);

  incoming* find(const member& who) {
    const auto i = from.find(who.rank);
    return i != from.end() && i->second.incarnation == who.incarnation
             ? &i->second
             : nullptr;
  }
};

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
    if (const auto* why = std::get_if<mesh_failure>(&*reply))
      reply = make_error(
        why->code == status::success ? status::error : why->code, why->reason);
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

// -- answering
// --------------------------------------------------------------------

void mesh_calls::state::settle(incoming& x, const host_call& what) {
  if (what.settled > x.settled) {
    x.settled = what.settled;
    x.done.insert_up_to(what.settled);
    x.records.erase(x.records.begin(), x.records.upper_bound(what.settled));
    x.early.erase(x.early.begin(), x.early.upper_bound(what.settled));
  }
  for (const auto number : what.answered) {
    const auto i = x.records.find(number);
    if (i != x.records.end() && i->second.reply)
      x.records.erase(i);
  }
}

void mesh_calls::state::take(const member& who, host_call what) {
  const auto buried = dead.find(who.rank);
  if (buried != dead.end() && who.incarnation <= buried->second)
    return;
  auto& x = from[who.rank];
  if (who.incarnation < x.incarnation)
    return;
  if (who.incarnation > x.incarnation) {
    x = incoming{};
    x.incarnation = who.incarnation;
  }
  if (what.number == 0 || what.settled >= what.number
      || what.after >= what.number)
    return;
  settle(x, what);
  if (what.number <= x.settled)
    return;
  if (x.done.contains(what.number)) {
    repeat_answer(who, x, what);
  } else if (x.early.size() + x.records.size() >= 2 * bounds.remembered) {
    // Only a member that does not keep to the bounds comes here.
  } else {
    const auto number = what.number;
    x.early.insert_or_assign(number, std::move(what));
  }
  execute_early(who);
}

void mesh_calls::state::repeat_answer(const member& who, incoming& x,
                                      host_call& what) {
  const auto of = class_of(what.what);
  const auto i = x.records.find(what.number);
  if (i == x.records.end()) {
    if (is_reading(what.what))
      execute(who, what.number, what.what);
    else
      out.send({who.rank, who.incarnation, of,
                host_answer{what.number,
                            mesh_failure{status::unreach,
                                         "carried out, with an outcome that is "
                                         "not known any more"}}});
  } else if (i->second.reply) {
    out.send({who.rank, who.incarnation, of,
              host_answer{what.number, *i->second.reply}});
  }
}

void mesh_calls::state::execute_early(const member& who) {
  // What is carried out may call back in and end the member.
  for (auto is_done = false; !is_done;) {
    is_done = true;
    auto* x = find(who);
    if (x == nullptr)
      return;
    for (auto i = x->early.begin(); i != x->early.end(); ++i) {
      if (i->second.after != 0 && !x->done.contains(i->second.after))
        continue;
      auto node = x->early.extract(i);
      x->done.insert(node.key());
      execute(who, node.key(), node.mapped().what);
      is_done = false;
      break;
    }
  }
}

void mesh_calls::state::execute(const member& who, uint64_t number,
                                host_question& what) {
  auto& x = *find(who);
  x.records[number] = {class_of(what), is_reading(what), std::nullopt};
  auto guard = std::make_shared<token>();
  guard->owner = weak_from_this();
  guard->from = who;
  guard->number = number;
  out.execute(who, what,
              [guard](host_reply reply) { guard->give(std::move(reply)); });
}

void mesh_calls::state::answered(const member& who, uint64_t number,
                                 host_reply reply) {
  if (who.rank == self.rank) {
    complete(self.rank, number, std::move(reply));
    return;
  }
  auto* x = find(who);
  if (x == nullptr)
    return;
  const auto i = x->records.find(number);
  if (i == x->records.end() || i->second.reply)
    return;
  const auto of = i->second.of;
  if (i->second.is_reading)
    x->records.erase(i);
  else
    i->second.reply = reply;
  if (x->records.size() > bounds.remembered)
    for (auto j = x->records.begin(); j != x->records.end(); ++j)
      if (j->second.reply) {
        x->records.erase(j);
        break;
      }
  out.send(
    {who.rank, who.incarnation, of, host_answer{number, std::move(reply)}});
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
  if (auto* call = std::get_if<host_call>(&what.what)) {
    state_->take(who, std::move(*call));
    return;
  }
  auto& answer = std::get<host_answer>(what.what);
  const auto i = state_->to.find(who.rank);
  if (i != state_->to.end() && i->second.incarnation == who.incarnation)
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
  if (!state_->deadlines.empty()) {
    const auto first = std::get<0>(*state_->deadlines.begin());
    result = result ? std::min(*result, first) : first;
  }
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
