#include "actors/mesh/mesh_host_state.hpp"
#include "actors/mesh/mesh_report.hpp"
#include "actors/report_values.hpp"
#include "messages/memory_source.hpp"

#include <caf/actor_registry.hpp>
#include <caf/actor_system.hpp>

#include <algorithm>

// How nodes are connected, and how full what may grow is. Each host knows it of
// its own node, and asks the others. Source: guarantees 5.9, LOAD-2.

namespace troupe::mesh_internals {

namespace {

/// A status that waits for its parts.
struct collection {
  mesh_status result;
  size_t missing = 1;
  completion<mesh_status> done;

  void arrived() {
    if (--missing == 0)
      done(std::move(result));
  }

  void add(std::vector<gauge> x) {
    std::move(x.begin(), x.end(), std::back_inserter(result.gauges));
  }
};

std::vector<gauge> gauges_of(const mesh_host_state& state) {
  const auto limits = mesh_calls::limits{};
  auto result = std::vector<gauge>{
    {"host.calls", state.calls->open(),
     limits.open * state.calls->live().size(), "calls"},
    {"host.remembered_answers", state.calls->remembered(),
     limits.remembered * state.calls->live().size(), "answers"},
    {"host.collectives", state.collectives->open(), 0, "operations"},
    {"host.remembered_collectives", state.collectives->remembered(), 0,
     "operations"},
    {"host.gets", state.modex->open(), 0, "requests"},
    {"host.lookups", state.published_here.waiting(), defaults::waiting_lookups,
     "requests"},
    {"host.events", state.spread->waiting(), 0, "events"},
    {"host.unstable_events", state.sequencer->kept(), 0, "events"},
    {"host.group_logs", state.sequencer->logs(), 0, "groups"},
    {"host.groups_remembered", state.sequencer->closed_logs(),
     defaults::groups_remembered, "groups"},
    {"host.shares", state.shares.size(), 0, "jobs"},
    {"host.progress", state.share_rules->untold(), 0, "changes"}};
  if (state.is_root()) {
    result.push_back({"root.lookups", state.published.waiting(),
                      defaults::waiting_lookups, "requests"});
    auto more = state.jobs->gauges();
    std::move(more.begin(), more.end(), std::back_inserter(result));
  }
  return result;
}

/// The nodes that have answered, or have not.
struct survey {
  std::map<uint32_t, value> reports;
  size_t missing = 1;
  completion<value> done;

  void arrived() {
    if (--missing > 0)
      return;
    auto items = std::vector<value>{};
    for (auto& [rank, x] : reports)
      items.push_back(std::move(x));
    done(report_list(std::move(items)));
  }
};

} // namespace

void describe_node(self_pointer self, completion<mesh_status> done) {
  auto& state = self->state;
  auto x = std::make_shared<collection>();
  x->done = std::move(done);
  x->result.rank = state.options.rank;
  x->result.name = state.options.hostname;
  x->result.incarnation = state.options.incarnation;
  x->result.duty = state.duty;
  x->result.gauges = gauges_of(state);
  // What stays of an actor that has ended is in no table of ours.
  x->result.gauges.push_back(
    {"daemon.actors", self->home_system().registry().running(), 0, "actors"});
  const auto add = [x](gauge_list& found) {
    x->add(std::move(found.gauges));
    x->arrived();
  };
  const auto skip = [x](const caf::error&) { x->arrived(); };
  if (const auto memory = self->home_system().registry().get(memory_source)) {
    ++x->missing;
    self
      ->request(caf::actor_cast<caf::actor>(memory), defaults::net_wait,
                get_gauges{})
      .then(add, skip);
  }
  if (state.node) {
    ++x->missing;
    self->request(state.node, defaults::net_wait, get_mesh_status{})
      .then(
        [x](mesh_status& found) {
          auto gauges = std::move(x->result.gauges);
          x->result = std::move(found);
          x->add(std::move(gauges));
          x->arrived();
        },
        skip);
  }
  if (state.server) {
    x->missing += 2;
    self->request(state.server, defaults::net_wait, get_gauges{})
      .then(add, skip);
    self->request(state.events, defaults::net_wait, get_gauges{})
      .then(add, skip);
  }
  x->arrived();
}

void describe_net(self_pointer self, completion<value> done) {
  auto& state = self->state;
  auto all = std::make_shared<survey>();
  all->done = std::move(done);
  for (const auto rank : state.calls->live()) {
    ++all->missing;
    const auto note = [all, rank](caf::expected<mesh_status> x) {
      all->reports[rank] =
        x ? net_report(*x) : silent_report(rank, reason_of(x.error()));
      all->arrived();
    };
    if (rank == state.options.rank)
      describe_node(self, note);
    else
      state.calls->call(rank, get_mesh_status{}, reply_to<mesh_status>(note),
                        defaults::net_wait * 2);
  }
  arm(self);
  all->arrived();
}

} // namespace troupe::mesh_internals
