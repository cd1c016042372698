#include "tools/run_observer.hpp"

#include "actors/jobs/job_outcome.hpp"
#include "actors/jobs/number_list.hpp"
#include "adapters/log/fd_writer.hpp"
#include "messages/attributes.hpp"
#include "tools/job_progress.hpp"
#include "tools/output_options.hpp"
#include "tools/printing.hpp"
#include "tools/report.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <numeric>
#include <set>

namespace troupe {

namespace {

using steady = std::chrono::steady_clock;

struct run_state {
  static inline const char* name = "run-observer";

  run_setup setup;
  size_t num_procs = 0;
  size_t num_jobs = 0;

  /// The job that was asked for.
  std::string primary;
  steady::time_point begin;
  int exit_status = 0;
  bool done = false;
};

TROUPE_SELF_POINTER(job_observer_actor, run_state);

void show_json(const run_state& state, const nlohmann::json& x) {
  state.setup.out->write(json_line(x));
}

bool shows(const run_state& state, const char* what) {
  return state.setup.options.display.count(what) > 0;
}

void tell(const run_state& state, const std::string& line) {
  state.setup.err->write(notice("troupe", line));
}

std::string text_of(proc_state x) {
  switch (x) {
    case proc_state::running:
      return "running";
    case proc_state::connected:
      return "connected";
    case proc_state::terminated:
      return "terminated";
    case proc_state::aborted_by_sig:
      return "killed by a signal";
    case proc_state::term_wo_sync:
      return "exited without finalizing";
    case proc_state::term_non_zero:
      return "exited with a status other than 0";
    case proc_state::called_abort:
      return "aborted";
    case proc_state::failed_to_start:
      return "failed to start";
    case proc_state::killed_by_cmd:
      return "not started";
    case proc_state::restart:
      return "started again";
    case proc_state::cannot_restart:
      return "could not be started again";
    default:
      return "changed";
  }
}

/// The node of a process.
const std::string& host_of(const job_mapped& map, size_t index) {
  return index < map.hosts.size() ? map.hosts[index] : map.hostname;
}

void show_map(const run_state& state, const job_mapped& map) {
  if (state.setup.options.json) {
    auto procs = nlohmann::json::array();
    for (size_t i = 0; i < map.procs.size(); ++i) {
      const auto& x = map.procs[i];
      procs.push_back({{"rank", x.rank},
                       {"app", x.app},
                       {"node", host_of(map, i)},
                       {"cpus", x.cpus}});
    }
    show_json(state, {{"type", "job_mapped"},
                      {"nspace", map.nspace},
                      {"node", map.hostname},
                      {"map_by", map.map_by},
                      {"bind_to", map.bind_to},
                      {"procs", std::move(procs)}});
    return;
  }
  if (map.shows_bindings
      || flag(state.setup.options.job.job_infos, attr::report_bindings))
    for (size_t i = 0; i < map.procs.size(); ++i)
      tell(state, binding_text(map.procs[i].rank, host_of(map, i),
                               to_ranges(map.procs[i].cpus)));
  const auto shows_map = map.shows_map || shows(state, "map");
  if (shows_map || shows(state, "bind"))
    tell(state, fmt::format("job {}: {} process{} on {}, mapped by {}, bound "
                            "to {}",
                            map.nspace, map.procs.size(),
                            map.procs.size() == 1 ? "" : "es", map.hostname,
                            map.map_by, map.bind_to));
  for (size_t i = 0; i < map.procs.size(); ++i) {
    const auto& x = map.procs[i];
    if (shows(state, "bind"))
      tell(state, fmt::format("  rank {}: app {}, node {}, cpus {}", x.rank,
                              x.app, host_of(map, i),
                              x.cpus.empty() ? "any" : to_ranges(x.cpus)));
    else if (shows_map)
      tell(state, fmt::format("  rank {}: app {}, node {}", x.rank, x.app,
                              host_of(map, i)));
  }
}

void show_change(const run_state& state, const proc_changed& x) {
  if (state.setup.options.json)
    show_json(state, {{"type", "proc_changed"},
                      {"nspace", x.proc.nspace},
                      {"rank", x.proc.rank},
                      {"state", text_of(x.state)},
                      {"pid", x.pid},
                      {"exit_code", x.exit_code},
                      {"signal", x.signal}});
  else if (x.state == proc_state::restart)
    tell(state, describe_end(x) + "; it is started again");
}

void show_end(const run_state& state, const job_ended& x) {
  if (state.setup.options.json)
    show_json(state, {{"type", "job_ended"},
                      {"nspace", x.nspace},
                      {"exit_status", x.exit_status},
                      {"reason", x.reason}});
  else if (!x.reason.empty() && x.reason != unread_reason)
    tell(state, x.reason);
}

void show_summary(const run_state& state) {
  if (!shows(state, "summary"))
    return;
  const auto& counted = *state.setup.statistics;
  const auto requests = std::accumulate(counted.requests.begin(),
                                        counted.requests.end(), uint64_t{0});
  const auto seconds =
    std::chrono::duration<double>(steady::now() - state.begin).count();
  if (state.setup.options.json) {
    show_json(state, {{"type", "summary"},
                      {"jobs", state.num_jobs},
                      {"procs", state.num_procs},
                      {"exit_status", state.exit_status},
                      {"seconds", seconds},
                      {"connections", counted.served},
                      {"refused", counted.refused},
                      {"requests", requests},
                      {"pushes", counted.pushes},
                      {"bytes_received", counted.bytes_received},
                      {"bytes_sent", counted.bytes_sent}});
    return;
  }
  tell(state, fmt::format(
                "{} job{}, {} process{}, exit status {}, {:.3f} s; the "
                "server took {} connection{}, {} requests, {} bytes, sent "
                "{} bytes and {} events",
                state.num_jobs, state.num_jobs == 1 ? "" : "s", state.num_procs,
                state.num_procs == 1 ? "" : "es", state.exit_status, seconds,
                counted.served, counted.served == 1 ? "" : "s", requests,
                counted.bytes_received, counted.bytes_sent, counted.pushes));
}

void finish(self_pointer self) {
  auto& state = self->state;
  if (state.done)
    return;
  state.done = true;
  show_summary(state);
  state.setup.on_done(state.exit_status);
  self->quit();
}

void start(self_pointer self) {
  auto& state = self->state;
  auto who = requester{};
  who.role = peer_role::launcher_with_identity;
  who.creds = state.setup.creds;
  self
    ->request(state.setup.host, caf::infinite, who, state.setup.options.job,
              job_observer_actor{self}, state.setup.sink)
    .then(
      [self](const spawn_result& result) {
        if (self->state.setup.on_started)
          self->state.setup.on_started(result.nspace);
      },
      [](const caf::error&) {
        // The end of the job, which follows, says the same.
      });
}

job_observer_actor::behavior_type behavior(self_pointer self, run_setup setup) {
  self->state.setup = std::move(setup);
  self->state.begin = steady::now();
  start(self);
  return {
    [self](const job_mapped& map) {
      auto& state = self->state;
      state.setup.running->insert(map.nspace);
      if (state.num_jobs == 0)
        state.primary = map.nspace;
      ++state.num_jobs;
      state.num_procs += map.procs.size();
      if (state.setup.progress)
        state.setup.progress->add_job(map.nspace, map.procs.size());
      show_map(state, map);
    },
    [self](const proc_changed& x) {
      const auto& state = self->state;
      if (state.setup.progress)
        state.setup.progress->change(x.proc, x.state);
      show_change(state, x);
    },
    [self](const job_ended& x) {
      auto& state = self->state;
      state.setup.running->erase(x.nspace);
      if (state.setup.progress)
        state.setup.progress->remove_job(x.nspace);
      // A job that could not be mapped is the one that was asked for.
      const auto counts = !state.setup.options.only_primary
                          || state.primary.empty() || x.nspace == state.primary;
      if (counts)
        state.exit_status = std::max(state.exit_status, x.exit_status);
      show_end(state, x);
      if (state.setup.running->empty())
        finish(self);
    },
  };
}

} // namespace

job_observer_actor spawn_run_observer(caf::actor_system& sys, run_setup setup) {
  return sys.spawn(behavior, std::move(setup));
}

} // namespace troupe
