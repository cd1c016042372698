#include "actors/monitors/monitor_maker.hpp"

#include "actors/monitors/defaults.hpp"
#include "base/pass_on.hpp"
#include "messages/attributes.hpp"
#include "messages/wire_types.hpp"

#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <utility>

namespace troupe {

namespace {

/// As which kind of actors other nodes have monitors of a kind spawned.
std::string name_of(const std::string& kind) {
  return "monitor." + kind;
}

// -- what is lent --------------------------------------------------------------

struct lent_monitor_state {
  static inline const char* name = "lent-monitor";

  monitor_actor monitor;

  /// One of the places that there are.
  std::shared_ptr<void> place;

  lent_monitor_state() = default;
  lent_monitor_state(const lent_monitor_state&) = delete;
  lent_monitor_state& operator=(const lent_monitor_state&) = delete;

  ~lent_monitor_state() {
    caf::anon_send_exit(monitor, caf::exit_reason::user_shutdown);
  }
};

/// What others have of a monitor: one that has begun would go on if nobody told it
/// that they are gone, or their node is lost.
monitor_actor::behavior_type
lent_monitor(monitor_actor::stateful_pointer<lent_monitor_state> self,
             monitor_actor monitor, std::shared_ptr<void> place) {
  self->state.monitor = std::move(monitor);
  self->state.place = std::move(place);
  self->monitor(self->state.monitor);
  self->set_down_handler([self](const caf::down_msg& x) {
    const auto is_own = x.source == self->state.monitor.address();
    self->quit(is_own ? x.reason : caf::error{caf::exit_reason::user_shutdown});
  });
  return {
    [self](start_monitor& what, monitor_user_actor& user) -> caf::result<ack> {
      self->monitor(user);
      return self->delegate(self->state.monitor, std::move(what),
                            std::move(user));
    },
    [self](stop_monitor what) {
      self->send(self->state.monitor, what);
      self->quit();
    },
  };
}

caf::expected<monitor_actor>
lend(caf::actor_system& sys, const lent_kinds& from, const std::string& kind) {
  if (*from.count >= from.most)
    return make_error(
      status::out_of_resource,
      "too many monitors have monitors on this node (L7); cancel some");
  auto made = from.kinds->make(kind);
  if (!made)
    return std::move(made.error());
  ++*from.count;
  auto place = std::shared_ptr<void>{
    nullptr, [count = from.count](std::nullptr_t) { --*count; }};
  return sys.spawn(lent_monitor, std::move(made->actor), std::move(place));
}

// -- who has them made ---------------------------------------------------------

struct monitor_maker_state {
  static inline const char* name = "monitor-maker";

  monitor_maker_options options;
};

TROUPE_SELF_POINTER(monitor_maker_actor, monitor_maker_state);

using monitor_made = completion<monitor_actor>;

/// The number of its node in the data of a process.
std::optional<uint32_t> node_in(const get_result& x, const proc_id& proc) {
  for (const auto& block : x.blocks)
    if (block.proc == proc)
      for (const auto& entry : block.entries)
        if (entry.key == attr::nodeid)
          return entry.val.number<uint32_t>();
  return std::nullopt;
}

void make_here(self_pointer self, const std::string& kind,
               const monitor_made& done) {
  done(lend(self->home_system(), self->state.options.here, kind));
}

void make_on(self_pointer self, uint32_t rank, const std::string& kind,
             const monitor_made& done) {
  const auto& options = self->state.options;
  if (!options.gateway || options.rank == rank) {
    make_here(self, kind, done);
    return;
  }
  auto question =
    spawn_actor{rank, name_of(kind), {}, interface_of<monitor_actor>()};
  self
    ->request(options.gateway, defaults::monitor_start_time,
              std::move(question))
    .then(
      [done](const caf::strong_actor_ptr& x) {
        done(caf::actor_cast<monitor_actor>(x));
      },
      [done](caf::error& why) { done(std::move(why)); });
}

/// On the node of a process. What its job says of it is known wherever its job is.
void make_beside(self_pointer self, const proc_id& proc,
                 const std::string& kind, const monitor_made& done) {
  const auto& options = self->state.options;
  if (!options.gateway) {
    make_here(self, kind, done);
    return;
  }
  auto question = get_request{};
  question.target = proc;
  question.key = std::string{attr::nodeid};
  auto who = requester{};
  // As one of its job: the data of that need not come as well.
  who.proc = {proc.nspace, rank_wildcard};
  who.creds = options.owner;
  self
    ->request(options.server(), defaults::monitor_start_time, std::move(who),
              std::move(question))
    .then(
      [self, proc, kind, done](const get_result& x) {
        if (const auto rank = node_in(x, proc))
          make_on(self, *rank, kind, done);
        else
          done(make_error(status::not_found,
                          "nobody knows the node of " + to_string(proc)));
      },
      [done](caf::error& why) { done(std::move(why)); });
}

monitor_maker_actor::behavior_type maker(self_pointer self,
                                         monitor_maker_options options) {
  self->state.options = std::move(options);
  return {
    [self](const make_monitor& what) {
      return answer_later<monitor_actor>(self, [&](const monitor_made& done) {
        if (what.rank)
          make_on(self, *what.rank, what.kind, done);
        else
          make_beside(self, what.proc, what.kind, done);
      });
    },
  };
}

} // namespace

monitor_maker_actor spawn_monitor_maker(caf::actor_system& sys,
                                        monitor_maker_options options) {
  return sys.spawn(maker, std::move(options));
}

void lend_monitors(caf::actor_system& sys, const gateway_actor& gateway,
                   const std::string& kind, const lent_kinds& here) {
  auto make = [&sys, here,
               kind](const caf::message& x) -> caf::strong_actor_ptr {
    auto made = lend(sys, here, kind);
    return made && x.empty() ? caf::actor_cast<caf::strong_actor_ptr>(*made)
                             : nullptr;
  };
  caf::anon_send(gateway,
                 allow_types{wire_types<monitor_actor, monitor_user_actor>()});
  // Who asks says for whom: only nodes of our user may.
  auto who = actor_audience{};
  who.same_user = true;
  caf::anon_send(gateway, register_actor_kind{name_of(kind), std::move(make),
                                              interface_of<monitor_actor>(),
                                              std::move(who)});
}

} // namespace troupe
