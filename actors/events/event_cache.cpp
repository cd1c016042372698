#include "actors/events/event_cache.hpp"

#include "actors/events/defaults.hpp"
#include "actors/events/event_askers.hpp"
#include "base/answer.hpp"
#include "base/make_info.hpp"
#include "base/pass_on.hpp"
#include "base/reminders.hpp"
#include "base/sturdy.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

/// When a disk that could not be asked is asked again.
inline constexpr auto event_spool_retry = 100ms;

} // namespace defaults

namespace {

using delivery_list = std::vector<std::shared_ptr<const event>>;

/// Of one namespace.
struct processes_here {
  /// Those that may connect and have not ended: no more than the server has
  /// registered.
  std::set<uint32_t> ranks;

  /// Whether there are no others.
  bool are_all = false;
};

/// What has come of events since the start; for gauges.
struct event_counts {
  /// Those that processes and tools of this node have raised.
  uint64_t raised = 0;

  /// Those that the logs of this node were offered, of whatever source.
  uint64_t offered = 0;

  /// Handed to connections, once for each that gets an event.
  uint64_t delivered = 0;

  /// Those that connections have been told they missed.
  uint64_t missed = 0;
};

struct event_cache_state {
  static inline const char* name = "event-cache";

  event_cache_options options;
  std::unique_ptr<event_log> log;
  event_counts counts;

  /// Sessions that have registered something, by connection.
  std::map<uint32_t, client_actor> sessions;

  /// Those whose default handlers ask for events of the environment.
  std::set<uint32_t> takes_environment;

  /// What to do when an offer that waits has been taken, by its ticket.
  std::map<uint64_t, std::function<void()>> waiting;
  uint64_t next_ticket = 1;

  /// Who wants to hear of other jobs.
  event_askers askers;

  /// Codes of the environment that somebody here wants.
  std::set<status> of_environment;

  /// Codes that the host was asked to tell of: those, and what askers want.
  std::set<status> asked_for;

  /// What is to be delivered when this turn is over, by connection.
  std::map<uint32_t, delivery_list> deliveries;
  size_t num_deliveries = 0;
  bool will_deliver = false;

  /// Whether an event is being offered: who gets it is not complete yet.
  bool is_offering = false;

  /// What is to be tried again.
  reminders later;

  /// Whether a look at who is in the way is due some time.
  bool is_watching = false;

  /// The processes of each namespace that are on this node.
  std::map<std::string, processes_here> here;

  void note(severity weight, const std::string& line) const {
    if (options.lines)
      options.lines(weight, line);
  }
};

TROUPE_SELF_POINTER(event_cache_actor, event_cache_state);

void deliver_soon(self_pointer self);

/// The number of the `deadline` by which the actor tells itself to deliver.
constexpr uint64_t for_deliveries = UINT64_MAX;

// -- the disk -----------------------------------------------------------------

void write(self_pointer self, uint64_t log,
           std::vector<spool_effects::payload> batch) {
  auto request = write_spool{log, {}};
  request.records.reserve(batch.size());
  for (auto& [number, bytes] : batch)
    request.records.push_back({number, std::move(bytes)});
  self->request(self->state.options.spool, caf::infinite, std::move(request))
    .then([self, log](ack) { self->state.log->note_written(log, true); },
          [self, log](const caf::error& why) {
            self->state.note(severity::warning, reason_of(why));
            self->state.log->note_written(log, false);
          });
}

void read(self_pointer self, uint64_t log,
          const std::vector<uint64_t>& numbers) {
  self
    ->request(self->state.options.spool, caf::infinite,
              read_spool{log, numbers})
    .then(
      [self, log](spool_content& content) {
        auto found = std::vector<spool_effects::payload>{};
        found.reserve(content.records.size());
        for (auto& x : content.records)
          found.emplace_back(x.number, std::move(x.bytes));
        self->state.log->note_loaded(log, found);
      },
      [self, log, numbers](const caf::error&) {
        // The disk was not asked: nothing is lost yet.
        const auto id = self->state.later.add(
          [self, log, numbers] { read(self, log, numbers); });
        self->delayed_send(self, defaults::event_spool_retry, deadline{id});
      });
}

/// What the log does with the disk.
spool_effects means_of_disk(self_pointer self) {
  auto out = spool_effects{};
  out.write = [self](uint64_t log, std::vector<spool_effects::payload> batch) {
    write(self, log, std::move(batch));
  };
  out.read = [self](uint64_t log, const std::vector<uint64_t>& numbers) {
    read(self, log, numbers);
  };
  out.erase = [self](uint64_t log, std::vector<uint64_t> numbers) {
    self->send(self->state.options.spool, erase_spool{log, std::move(numbers)});
  };
  out.warn = [self](const std::string& line) {
    self->state.note(severity::warning, line);
  };
  return out;
}

// -- questions of tools: the keys are this project's own ----------------------

constexpr auto counts_key = "troupe.event.counts";
constexpr auto retained_key = "troupe.event.retained";
constexpr auto since_key = "troupe.event.since";

/// Tools see everything, processes what is of their namespace.
bool may_see(const requester& who, const std::string& nspace) {
  return is_tool(who.role) || who.index == 0 || who.proc.nspace == nspace;
}

value counts_of(const event_log& log, const requester& who) {
  auto all = std::vector<info>{};
  for (const auto& x : log.count()) {
    if (!may_see(who, x.nspace))
      continue;
    auto numbers = std::vector<info>{};
    const auto add = [&](const char* key, uint64_t n) {
      numbers.push_back({key, 0, value::uint64(n)});
    };
    add("troupe.event.accepted", x.accepted);
    add("troupe.event.entries", x.entries);
    add("troupe.event.owed", x.owed);
    add("troupe.event.bytes", x.bytes);
    add("troupe.event.spooled", x.spooled);
    add("troupe.event.missed", x.missed);
    add("troupe.event.held", x.held);
    all.push_back({x.nspace, 0, value::infos(std::move(numbers))});
  }
  return value::infos(std::move(all));
}

value retained_by(const event_log& log, const requester& who,
                  const std::vector<info>& qualifiers) {
  const auto wanted = text(qualifiers, attr::nspace);
  const auto since = number<uint64_t>(qualifiers, since_key).value_or(0);
  auto found = std::vector<std::pair<uint64_t, info>>{};
  for (const auto& of : log.count()) {
    if ((wanted && *wanted != of.nspace) || !may_see(who, of.nspace))
      continue;
    log.each(of.nspace, since, [&](const event_entry& x) {
      const auto what = x.get();
      if (!what)
        return;
      auto infos =
        std::vector<info>{{"troupe.event.number", 0, value::uint64(x.number)},
                          {"troupe.event.code", 0,
                           value::of_status(static_cast<int32_t>(x.code))},
                          make_info(attr::procid, value::of_proc(what->source)),
                          {"troupe.event.range", 0,
                           value::uint32(static_cast<uint32_t>(what->range))}};
      infos.insert(infos.end(), what->infos.begin(), what->infos.end());
      found.emplace_back(x.number,
                         info{of.nspace, 0, value::infos(std::move(infos))});
    });
  }
  std::stable_sort(
    found.begin(), found.end(),
    [](const auto& x, const auto& y) { return x.first < y.first; });
  auto all = std::vector<info>{};
  for (auto& x : found)
    all.push_back(std::move(x.second));
  return value::infos(std::move(all));
}

/// How full the logs are.
gauge_list gauges_of(const event_cache_state& state) {
  auto entries = uint64_t{0};
  auto result = gauge_list{};
  for (const auto& x : state.log->count()) {
    entries += x.entries;
    if (x.nspace == "*")
      result.gauges.push_back(
        {"events.ring", x.entries, state.options.log.ring_size, "events"});
  }
  const auto& taken = state.log->budget();
  result.gauges.push_back({"events.memory", taken.used, taken.limit, "bytes"});
  result.gauges.push_back(
    {"events.disk", taken.on_disk, taken.disk_limit, "bytes"});
  result.gauges.push_back({"events.retained", entries, 0, "events"});
  result.gauges.push_back(
    {"events.subscribers", state.sessions.size(), 0, "processes"});
  result.gauges.push_back(
    {"events.waiting", state.waiting.size(), 0, "events"});
  const auto& counts = state.counts;
  result.gauges.push_back({"events.raised", counts.raised, 0, "events"});
  result.gauges.push_back({"events.offered", counts.offered, 0, "events"});
  result.gauges.push_back({"events.delivered", counts.delivered, 0, "events"});
  result.gauges.push_back({"events.missed", counts.missed, 0, "events"});
  return result;
}

/// What is kept, and for whom.
caf::result<info_result> answer_query(self_pointer self, const requester& who,
                                      const query_request& request) {
  const auto& log = *self->state.log;
  auto result = info_result{};
  for (const auto& x : request.queries)
    for (const auto& key : x.keys) {
      if (key == counts_key)
        result.infos.push_back({key, 0, counts_of(log, who)});
      else if (key == retained_key)
        result.infos.push_back({key, 0, retained_by(log, who, x.qualifiers)});
      else
        result.complete = false;
    }
  return result;
}

// -- the way to the sessions --------------------------------------------------

/// Deliveries to collect at most.
constexpr size_t max_deliveries = 1024;

/// Tells somebody of a gap together with an event.
event with_gap(const event& what, const missed_events& missed) {
  auto result = what;
  const auto add = [&](const char* key, uint64_t x) {
    result.infos.push_back({key, 0, value::uint64(x)});
  };
  add("troupe.event.missed", missed.count);
  add("troupe.event.missed.first", missed.first);
  add("troupe.event.missed.last", missed.last);
  return result;
}

/// An event of the environment for a process that registered for its code, but
/// whose default handlers did not ask for the environment: those of MPI
/// libraries take what they do not know for a failure. Source: RFC0002,
/// PMIX_EVENT_ENVIRO_LEVEL, "Default: false".
event without_default(event what) {
  if (find(what.infos, attr::event_non_default) == nullptr)
    what.infos.push_back(
      make_info(attr::event_non_default, value::boolean(true)));
  return what;
}

/// Hands over what is to be delivered. Those that get the same share a message.
void send_deliveries(self_pointer self) {
  auto& state = self->state;
  auto packet = caf::message{};
  for (auto& [to, list] : state.deliveries) {
    const auto i = state.sessions.find(to);
    if (i == state.sessions.end())
      continue;
    if (packet.empty() || packet.get_as<event_batch>(0).events != list)
      packet = caf::make_message(event_batch{std::move(list)});
    caf::actor_cast<caf::strong_actor_ptr>(i->second)->enqueue(
      self->ctrl(), caf::make_message_id(), packet, self->context());
  }
  state.deliveries.clear();
  state.num_deliveries = 0;
}

/// Delivers an event once what is in the mailbox has been seen to: what comes
/// together goes out together.
void deliver(self_pointer self, uint32_t to,
             const std::shared_ptr<const event>& what,
             const missed_events& missed) {
  auto& state = self->state;
  if (state.sessions.count(to) == 0)
    return;
  ++state.counts.delivered;
  state.counts.missed += missed.count;
  auto& list = state.deliveries[to];
  const auto is_marked = what->source.nspace.empty()
                         && is_of_environment(what->code)
                         && state.takes_environment.count(to) == 0;
  if (missed.count > 0 || is_marked) {
    auto copy = missed.count > 0 ? with_gap(*what, missed) : *what;
    if (is_marked)
      copy = without_default(std::move(copy));
    list.push_back(std::make_shared<const event>(std::move(copy)));
  } else {
    list.push_back(what);
  }
  if (++state.num_deliveries == max_deliveries)
    send_deliveries(self);
  else if (!state.is_offering)
    deliver_soon(self);
}

/// Hands over what is to be delivered, if there is something, when the mailbox
/// has been seen to.
void deliver_soon(self_pointer self) {
  auto& state = self->state;
  if (!state.deliveries.empty() && !std::exchange(state.will_deliver, true))
    self->send(self, deadline{for_deliveries});
}

/// What a `deadline` of ours is about, beside deliveries and reminders.
constexpr uint64_t for_stalled = 0;

event_log::time_point now(self_pointer self) {
  return self->clock().now().time_since_epoch();
}

void watch(self_pointer self) {
  auto& state = self->state;
  if (!state.log->is_waiting() || std::exchange(state.is_watching, true))
    return;
  self->delayed_send(self, state.options.log.stall / 8, deadline{for_stalled});
}

/// Offers an event to the log.
/// @param then Called when the log has taken it; gets an error if it never
///             will.
void offer(self_pointer self, offered_event what,
           std::function<void(const caf::error&)> then) {
  auto& state = self->state;
  const auto ticket = state.next_ticket++;
  const auto code = static_cast<int32_t>(what.what.code);
  const auto source = what.what.source;
  ++state.counts.offered;
  state.is_offering = true;
  const auto outcome = state.log->offer(ticket, std::move(what));
  state.is_offering = false;
  if (self->mailbox().empty())
    send_deliveries(self);
  else
    deliver_soon(self);
  switch (outcome) {
    case event_log::outcome::taken:
      then({});
      break;
    case event_log::outcome::waits:
      state.waiting.emplace(ticket, [then = std::move(then)] { then({}); });
      watch(self);
      break;
    case event_log::outcome::too_large:
      then(make_error(status::out_of_resource,
                      "event " + std::to_string(code) + " of "
                        + to_string(source) + " has more than "
                        + std::to_string(defaults::event_bytes)
                        + " bytes (L8); send less, or where it is"));
  }
}

// -- what the log does -------------------------------------------------------

/// Names a process that is in the way of others.
/// Source: guarantees, L12.
void name_stalled(self_pointer self, uint32_t id) {
  auto& state = self->state;
  const auto who = state.log->proc_of(id);
  const auto text =
    to_string(who) + " takes no events, and others wait for it to go on";
  state.note(severity::warning, text);
  const auto i = state.sessions.find(id);
  if (state.options.disconnects_stalled && i != state.sessions.end())
    self->send(i->second, close_connection{text});
  auto warning = offered_event{};
  warning.what.code = status::event_sys_other;
  warning.what.source = {"", rank_undef};
  warning.what.range = data_range::global;
  warning.what.infos = {
    make_info(attr::event_affected_proc, value::of_proc(who)),
    make_info(attr::event_text_message, value::string(text)),
    make_info(attr::event_non_default, value::boolean(true))};
  offer(self, std::move(warning), [](const caf::error&) {
    // Events of the environment never wait.
  });
}

event_log::effects means(self_pointer self) {
  auto out = event_log::effects{};
  out.deliver = [self](uint32_t to, const std::shared_ptr<const event>& what,
                       const missed_events& missed) {
    deliver(self, to, what, missed);
  };
  out.accept = [self](uint64_t ticket) {
    auto node = self->state.waiting.extract(ticket);
    if (!node.empty())
      node.mapped()();
  };
  out.note = [self](severity weight, const std::string& line) {
    self->state.note(weight, line);
  };
  out.stalled = [self](uint32_t id) { name_stalled(self, id); };
  if (self->state.options.spool)
    out.disk = means_of_disk(self);
  return out;
}

// -- registrations -----------------------------------------------------------

/// Asks the host for the events of the environment that somebody here wants
/// now, and no longer for those that nobody wants.
/// Source: RFC0002, "PMIx Server Registrations".
void update_host(self_pointer self, const requester& who) {
  auto& state = self->state;
  if (const auto codes = state.log->take_environment_codes()) {
    state.of_environment.clear();
    for (const auto code : *codes)
      if (code == default_events || is_of_environment(code))
        state.of_environment.insert(code);
  }
  auto wanted = state.askers.codes();
  wanted.insert(state.of_environment.begin(), state.of_environment.end());
  if (wanted == state.asked_for)
    return;
  const auto ask = [&](std::vector<status> more) {
    self
      ->request(state.options.host, caf::infinite, who,
                register_events_request{std::move(more), {}})
      .then([](ack) {},
            [](const caf::error&) {
              // A host without such events: nothing will come.
            });
  };
  auto more = std::vector<status>{};
  for (const auto code : wanted)
    if (state.asked_for.count(code) == 0 && code != default_events)
      more.push_back(code);
  auto less = deregister_events_request{};
  for (const auto code : state.asked_for)
    if (wanted.count(code) == 0)
      less.codes.push_back(code);
  const auto wants_all =
    wanted.count(default_events) > state.asked_for.count(default_events);
  state.asked_for = std::move(wanted);
  if (!less.codes.empty())
    self->send(state.options.host, who, std::move(less));
  if (!more.empty())
    ask(std::move(more));
  if (wants_all)
    ask({});
}

caf::result<ack> subscribe(self_pointer self, const requester& who,
                           const register_events_request& request,
                           const client_actor& session) {
  auto& state = self->state;
  auto codes = request.codes;
  // Whoever names the code of default handlers means them.
  if (std::all_of(codes.begin(), codes.end(),
                  [](status x) { return x == default_events; }))
    codes.clear();
  const auto levels = levels_of(request.directives, codes.empty());
  if (!levels)
    return levels.error();
  state.log->connect(who.proc, who.index, now(self));
  state.sessions[who.index] = session;
  if (auto why = state.log->subscribe(who.index, codes, *levels))
    return why;
  if (codes.empty() && levels->environment)
    state.takes_environment.insert(who.index);
  // The answer goes first. Source: RFC0002, "PMIx Server Registrations".
  auto promise = self->make_response_promise<ack>();
  promise.deliver(ack{});
  state.log->resume(who.index);
  if (event_askers::asks(who.proc, request.directives))
    state.askers.add(who.index, who.proc, codes);
  update_host(self, who);
  return promise;
}

// -- events ------------------------------------------------------------------

/// Whether all processes that an event is for are on this node.
bool is_for_us_only(const event_cache_state& state, const range_filter& whom) {
  if (whom.is_for_all())
    return false;
  const auto jobs = whom.nspaces();
  return !jobs.empty()
         && std::all_of(jobs.begin(), jobs.end(), [&](const auto& nspace) {
              const auto i = state.here.find(nspace);
              if (i == state.here.end() || i->second.are_all)
                return i != state.here.end();
              const auto ranks = whom.ranks_of(nspace);
              return ranks
                     && std::includes(i->second.ranks.begin(),
                                      i->second.ranks.end(), ranks->begin(),
                                      ranks->end());
            });
}

caf::result<ack> notify(self_pointer self, const requester& who,
                        notify_request& request) {
  auto& state = self->state;
  auto what =
    event{request.code, who.proc, request.range, std::move(request.infos)};
  if (cost_of(what) > defaults::event_bytes)
    return make_error(status::out_of_resource,
                      to_string(who.proc) + " raises an event of more than "
                        + std::to_string(defaults::event_bytes)
                        + " bytes (L8); send less, or where it is");
  ++state.counts.raised;
  const auto whom = range_filter{what};
  const auto leaves = whom.leaves_node();
  // One for this node only must not overtake those before it.
  if (state.options.host_orders_events
      && request.range != data_range::proc_local) {
    request.infos = std::move(what.infos);
    return self->delegate(state.options.host, who, std::move(request));
  }
  auto promise = self->make_response_promise<ack>();
  const auto done = pass_on(promise);
  if (leaves)
    request.infos = what.infos;
  // A host that carries no events says so, and so do we, unless nobody
  // elsewhere was to get it. Source: PMIx Standard v5, `PMIx_Notify_event`.
  const auto is_ours = leaves && is_for_us_only(state, whom);
  const completion<ack> carried = [=](caf::expected<ack> outcome) {
    const auto is_all = is_ours && !outcome
                        && status_of(outcome.error()) == status::not_supported;
    done(is_all ? caf::expected<ack>{ack{}} : std::move(outcome));
  };
  auto offered = offered_event{};
  offered.what = std::move(what);
  offered.stream = std::to_string(who.index);
  // The host's answer is that of the request.
  offer(self, std::move(offered),
        [=, request = std::move(request)](const caf::error& why) {
          if (why)
            done(why);
          else if (leaves)
            ask(self, self->state.options.host, carried, who, request);
          else
            done(ack{});
        });
  return promise;
}

/// Whose events stay in order when they wait.
std::string stream_of(const deliver_event& x) {
  if (!x.targets.empty())
    return "host " + x.targets.front().nspace;
  return "host "
         + (x.what.range == data_range::nspace ? x.what.source.nspace : "");
}

caf::result<ack> take_event(self_pointer self, deliver_event& request) {
  if (event_askers::is_copy(request.what)) {
    request.targets = self->state.askers.unwrap(request.what);
    if (request.targets.empty())
      return ack{};
  }
  auto promise = self->make_response_promise<ack>();
  auto offered = offered_event{};
  offered.stream = stream_of(request);
  offered.what = std::move(request.what);
  offered.targets = std::move(request.targets);
  offered.is_from_host = true;
  offered.mark = request.mark;
  offer(self, std::move(offered), pass_on_outcome(promise));
  return promise;
}

event_cache_actor::behavior_type behavior(self_pointer self,
                                          event_cache_options options) {
  auto& state = self->state;
  state.options = std::move(options);
  auto& limits = state.options.log.per_namespace;
  if (!state.options.spool)
    limits.spool = 0;
  else if (limits.spool == 0)
    limits.spool = defaults::event_log_spool;
  state.log = std::make_unique<event_log>(state.options.log, means(self));
  if (state.options.on_log)
    state.options.on_log(*state.log);
  auto handlers = event_cache_actor::behavior_type{
    [self](const requester& who, const register_events_request& request,
           const client_actor& session) {
      return subscribe(self, who, request, session);
    },
    [self](const requester& who, const deregister_events_request& request) {
      self->state.log->unsubscribe(who.index, request.codes);
      self->state.askers.remove(who.index, request.codes);
      for (const auto code : request.codes)
        if (code == default_events)
          self->state.takes_environment.erase(who.index);
      update_host(self, who);
    },
    [self](const requester& who, notify_request& request) {
      return notify(self, who, request);
    },
    [self](const requester& who, events_taken what) {
      if (!self->state.log->take(who.index, what.count, now(self)))
        self->state.note(severity::error, to_string(who.proc)
                                            + " has taken events that it was "
                                              "not given");
    },
    [self](deliver_event& request) { return take_event(self, request); },
    [self](const expect_procs& what) {
      auto& here = self->state.here[what.nspace];
      here.ranks.insert(what.ranks.begin(), what.ranks.end());
      here.are_all = what.is_whole;
      self->state.log->await(what.nspace, what.ranks);
    },
    [self](const connect_accepted& what) {
      self->state.log->connect(what.proc, what.index, now(self));
    },
    [self](const proc_ended& what) {
      const auto here = self->state.here.find(what.proc.nspace);
      if (here != self->state.here.end())
        here->second.ranks.erase(what.proc.rank);
      self->state.log->end(what.proc);
    },
    [self](const requester& who, connection_lost) {
      self->state.sessions.erase(who.index);
      self->state.deliveries.erase(who.index);
      self->state.takes_environment.erase(who.index);
      self->state.log->disconnect(who.index);
      self->state.askers.disconnect(who.index);
      update_host(self, who);
    },
    [self](const deregister_nspace& request) {
      self->state.here.erase(request.nspace);
      self->state.log->forget(request.nspace);
    },
    [self](const requester& who, const query_request& request) {
      return answer_query(self, who, request);
    },
    [self](const find_listeners& what) {
      return event_listeners{self->state.log->listeners(what.code, what.procs)};
    },
    [self](get_gauges) { return gauges_of(self->state); },
    [self](deadline what) {
      if (what.id == for_deliveries) {
        self->state.will_deliver = false;
        send_deliveries(self);
        return;
      }
      if (what.id != for_stalled) {
        self->state.later.fire(what.id);
        return;
      }
      self->state.is_watching = false;
      self->state.log->look_for_stalled(now(self));
      watch(self);
    },
  };
  return sturdy(self, std::move(handlers));
}

} // namespace

event_cache_actor spawn_event_cache(caf::actor_system& sys,
                                    event_cache_options options) {
  return sys.spawn(behavior, std::move(options));
}

} // namespace troupe
