#include "actors/monitors/monitor_alert_event.hpp"
#include "actors/monitors/monitor_desk_state.hpp"

#include <caf/send.hpp>

#include <utility>

// What is due, and what becomes of it.

namespace troupe::monitor_desk_internals {

namespace {

using item_list = std::vector<monitor_table::item>;

std::string method_name(const monitor_entry& x) {
  switch (x.method) {
    case monitor_method::heartbeat:
      return "heartbeat";
    case monitor_method::file:
      return "file";
    default:
      return x.extras->kind;
  }
}

/// Has something done about an alert, unless the program wants to do it.
/// Source: RFC0015, PMIX_MONITOR_APP_CONTROL.
void react(self_pointer self, monitor_table::item x, const requester& who,
           const alert_facts& facts) {
  const auto& state = self->state;
  const auto& entry = state.table[x];
  if (entry.app_control || !state.options.react)
    return;
  auto what = react_to_alert{};
  what.who = who;
  what.proc = facts.proc;
  what.kind = method_name(entry);
  what.id = entry.id;
  what.file = facts.file;
  what.reason = facts.reason;
  state.options.react(std::move(what), entry.extras ? entry.extras->settings
                                                    : std::vector<info>{});
}

/// Raises the alert of a monitor.
void raise(self_pointer self, monitor_table::item x, alert_facts facts) {
  auto& state = self->state;
  const auto& entry = state.table[x];
  const auto& of = state.table.of(state.table.process_of(x));
  auto who = requester{};
  who.proc = of.proc;
  who.creds = of.creds;
  who.index = state.table.connection_of(x);
  facts.proc = of.proc;
  const auto title = "monitor " + method_name(entry)
                     + (entry.id.empty() ? "" : " \"" + entry.id + "\"")
                     + " of " + to_string(of.proc);
  state.note(severity::info, title + ": " + facts.reason);
  self
    ->request(state.options.events, caf::infinite, who,
              make_alert(entry, facts))
    .then([](ack) {},
          [self, title](const caf::error& why) {
            self->state.note(severity::warning,
                             title + ": its alert does not reach everybody: "
                               + reason_of(why));
          });
  react(self, x, who, facts);
}

/// What the processes have sent has been read.
void confirm(self_pointer self, const item_list& items, const unread& left) {
  auto& state = self->state;
  for (const auto x : items) {
    if (!state.heartbeats.confirm(x, left.bytes, now(self)))
      continue;
    auto facts = alert_facts{};
    facts.reason = "no heartbeat has come";
    raise(self, x, std::move(facts));
  }
  arm(self);
}

/// Reads what processes have sent before they are said to be silent.
/// Source: guarantees 5.9, MON-1.
void look_at_processes(self_pointer self) {
  auto& state = self->state;
  auto due = item_list{};
  state.heartbeats.advance(now(self), due);
  auto by_connection = std::map<uint32_t, item_list>{};
  for (const auto x : due)
    by_connection[state.table.connection_of(x)].push_back(x);
  for (auto& [index, items] : by_connection) {
    const auto session = state.sessions.find(index);
    if (session == state.sessions.end()) {
      confirm(self, items, {}); // The server itself: there is nothing to read.
      continue;
    }
    self->request(session->second, caf::infinite, read_now{})
      .then([self,
             items = items](const unread& left) { confirm(self, items, left); },
            [](const caf::error&) {
              // Its connection is gone: the session tells us so itself.
            });
  }
}

void look_at_files(self_pointer self) {
  auto& state = self->state;
  auto looks = std::vector<file_watch::look>{};
  state.files.advance(now(self), looks);
  const auto take = [self](uint64_t ticket, const file_stamps& found) {
    auto silent = item_list{};
    self->state.files.take(ticket, found, silent);
    for (const auto x : silent) {
      auto facts = alert_facts{};
      facts.file = self->state.files.path_of(x);
      facts.reason = self->state.files.reason_of(x);
      raise(self, x, std::move(facts));
    }
  };
  for (auto& x : looks)
    self->request(state.options.files, caf::infinite, std::move(x.request))
      .then([take, ticket = x.ticket](
              const file_stamps& found) { take(ticket, found); },
            [take, ticket = x.ticket](const caf::error&) {
              take(ticket, {}); // Nothing could be looked at.
            });
}

} // namespace

void look(self_pointer self) {
  look_at_processes(self);
  look_at_files(self);
  arm(self);
}

void take_alert(self_pointer self, monitor_alert& what) {
  const auto x = self->state.table.item_of(what.number);
  if (!x)
    return;
  auto facts = alert_facts{};
  facts.reason = std::move(what.reason);
  facts.infos = std::move(what.infos);
  if (const auto& extras = self->state.table[*x].extras)
    extras->reason = facts.reason;
  raise(self, *x, std::move(facts));
}

} // namespace troupe::monitor_desk_internals
