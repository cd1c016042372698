#include "actors/mesh/mesh_calls_state.hpp"
#include "messages/attributes.hpp"
#include "messages/custom_monitor.hpp"

#include <utility>

// What other members ask: carried out once and in order, answered as often as
// they ask.

namespace troupe {

namespace {

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

} // namespace troupe
