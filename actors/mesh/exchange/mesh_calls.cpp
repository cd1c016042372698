#include "actors/mesh/exchange/mesh_calls.hpp"

#include "messages/attributes.hpp"
#include "messages/custom_monitor.hpp"
#include "messages/denial.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>

namespace troupe {

namespace {

/// A set of numbers that are mostly in rows: costs an entry per row.
class number_ranges {
public:
  bool contains(uint64_t x) const {
    const auto next = rows_.upper_bound(x);
    return next != rows_.begin() && std::prev(next)->second >= x;
  }

  void insert(uint64_t x) {
    if (contains(x))
      return;
    auto next = rows_.upper_bound(x);
    const auto joins_next = next != rows_.end() && next->first == x + 1;
    if (next != rows_.begin() && std::prev(next)->second + 1 == x) {
      const auto row = std::prev(next);
      row->second = joins_next ? next->second : x;
      if (joins_next)
        rows_.erase(next);
    } else if (joins_next) {
      const auto last = next->second;
      rows_.erase(next);
      rows_.emplace(x, last);
    } else {
      rows_.emplace(x, x);
    }
  }

  /// Inserts 1 to `x`.
  void insert_up_to(uint64_t x) {
    if (x == 0)
      return;
    auto last = x;
    auto i = rows_.begin();
    while (i != rows_.end() && i->first <= x + 1) {
      last = i->second > last ? i->second : last;
      i = rows_.erase(i);
    }
    rows_.emplace(1, last);
  }

  size_t rows() const {
    return rows_.size();
  }

private:
  std::map<uint64_t, uint64_t> rows_; // first -> last
};

} // namespace

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
    size_t bytes = 0;

    /// Whether nobody waits for an `ack`.
    bool is_patient = false;
  };

  uint64_t settled = 0;
  std::map<uint64_t, record> records;

  /// Carried out, with `ack` as the answer, which has not been sent; and the
  /// data of these calls.
  std::vector<uint64_t> unsaid;
  size_t unsaid_bytes = 0;

  /// Those that have to wait for others.
  std::map<uint64_t, host_call> early;

  bool may_execute(const host_call& x) const {
    return x.after == 0 || done.contains(x.after);
  }
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

  /// When what is unsaid to some member has to be said.
  std::optional<time> receipts_at;

  // -- asking --

  void call(uint32_t rank, host_question what, completion then,
            std::optional<time> timeout);
  void send(uint32_t rank, outgoing& x, uint64_t number);
  void send_all();
  void complete(uint32_t rank, uint64_t number, caf::expected<host_reply> x);
  void lose(uint32_t rank, const std::string& why);

  // -- answering --

  void take(const member& who, host_call&& what);
  void settle(incoming& x, const host_call& what);
  void repeat_answer(const member& who, incoming& x, host_call& what);
  void execute(const member& who, uint64_t number, host_question& what);
  void execute_early(const member& who);
  void answered(const member& who, uint64_t number, host_reply reply);
  void give(const member& who, traffic_class of, host_answer what);
  void give_receipt(const member& who, incoming& x);
  void give_receipts();
  std::vector<uint64_t> take_unsaid(const member& who);

  incoming* find(const member& who) {
    const auto i = from.find(who.rank);
    return i != from.end() && i->second.incarnation == who.incarnation
             ? &i->second
             : nullptr;
  }
};

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

/// Whether a question may be carried out twice: it changes nothing.
bool is_reading(const host_question& what) {
  // Monitors of other nodes begin and end by it, too.
  if (const auto* x = std::get_if<sample_elsewhere>(&what))
    return x->what.monitor.key != monitor_kind_key
           && x->what.monitor.key != attr::monitor_cancel;
  return std::holds_alternative<direct_modex>(what)
         || std::holds_alternative<locate_job>(what)
         || std::holds_alternative<list_jobs>(what)
         || std::holds_alternative<get_mesh_status>(what)
         || std::holds_alternative<list_groups>(what)
         || std::holds_alternative<list_nspaces>(what)
         || std::holds_alternative<find_procs>(what);
}

/// What a caller keeps of a question, roughly, beyond its fixed part.
size_t data_bytes(const host_question& what) {
  auto result = size_t{0};
  const auto add = [&](const std::vector<node_data>& data) {
    for (const auto& x : data)
      result += x.procs.size();
  };
  if (const auto* part = std::get_if<collective_part>(&what))
    add(part->data);
  else if (const auto* end = std::get_if<collective_outcome>(&what))
    add(end->data);
  return result;
}

/// Whether nobody waits for an `ack`, so that it may go with something else.
bool is_patient(const host_question& what) {
  if (const auto* x = std::get_if<submit_event>(&what))
    return is_group_log(x->nspace);
  if (const auto* x = std::get_if<order_events>(&what))
    return is_group_log(x->nspace);
  return class_of(what) == traffic_class::collectives;
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

// -- asking ------------------------------------------------------------------

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

// -- answering ---------------------------------------------------------------

// What other members ask is carried out once and in order, and answered as often
// as they ask.

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

void mesh_calls::state::take(const member& who, host_call&& what) {
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
  } else if (x.early.empty() && x.may_execute(what)) {
    x.done.insert(what.number);
    execute(who, what.number, what.what);
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
      give(who, of,
           {what.number,
            mesh_failure{status::unreach, "carried out, with an outcome that "
                                          "is not known any more"}});
  } else if (i->second.reply) {
    give(who, of, {what.number, *i->second.reply});
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
      if (!x->may_execute(i->second))
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
  x.records[number] = {class_of(what), is_reading(what), std::nullopt,
                       data_bytes(what), is_patient(what)};
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
  const auto bytes = i->second.bytes;
  const auto may_wait =
    i->second.is_patient && std::holds_alternative<ack>(reply);
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
  if (!may_wait) {
    give(who, of, {number, std::move(reply)});
    return;
  }
  x->unsaid.push_back(number);
  x->unsaid_bytes += bytes;
  if (x->unsaid.size() >= bounds.receipts
      || x->unsaid_bytes >= bounds.receipt_bytes)
    give_receipt(who, *x);
  else if (!receipts_at)
    receipts_at = out.now() + bounds.receipt_delay;
}

/// Sends an answer, and with it what is unsaid.
void mesh_calls::state::give(const member& who, traffic_class of,
                             host_answer what) {
  what.carried_out = take_unsaid(who);
  out.send({who.rank, who.incarnation, of, std::move(what)});
}

void mesh_calls::state::give_receipt(const member& who, incoming& x) {
  auto what = host_answer{};
  what.carried_out = std::exchange(x.unsaid, {});
  x.unsaid_bytes = 0;
  out.send(
    {who.rank, who.incarnation, traffic_class::collectives, std::move(what)});
}

void mesh_calls::state::give_receipts() {
  receipts_at.reset();
  auto members = std::vector<member>{};
  for (const auto& [rank, x] : from)
    if (!x.unsaid.empty())
      members.push_back({rank, x.incarnation});
  for (const auto& who : members)
    if (auto* x = find(who); x != nullptr && !x->unsaid.empty())
      give_receipt(who, *x);
}

std::vector<uint64_t> mesh_calls::state::take_unsaid(const member& who) {
  auto* x = find(who);
  if (x == nullptr)
    return {};
  x->unsaid_bytes = 0;
  return std::exchange(x->unsaid, {});
}

// -- the class ---------------------------------------------------------------

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
