#pragma once

#include "config/journal.hpp"
#include "config/monitor_settings.hpp"
#include "config/sensor_settings.hpp"
#include "messages/actors.hpp"

#include <caf/expected.hpp>
#include <caf/fwd.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

class loop_system;

struct runtime_options {
  /// The server's name; empty namespace: made from the node's name and the
  /// process's number.
  proc_id id{{}, 0};

  /// Whether tools of this user can find the server, and whether it is the one
  /// that they find if they ask for the node's.
  bool tools = true;
  bool system_server = false;

  /// Whether processes must bring a credential of munge.
  bool munge = false;

  /// Where the files of the session go: an existing directory; empty: a private
  /// one that goes with the runtime.
  std::string session_directory;

  /// Puts something between the server and its host: `job_meshes`
  /// (runtime/job_networks.hpp) has the servers of each job do among themselves
  /// what the host does not. It hears of each namespace beside the server.
  std::function<host_actor(loop_system&, host_actor, journal)> around_host;

  /// What is watched on the node for processes that register for events of the
  /// environment, beside what the host tells of; absent: nothing, and no sensor
  /// can be added.
  std::optional<sensor_settings> sensors;

  /// Kinds of monitors of one's own, by name: makes a monitor that has not been
  /// started. They are watched by PMIx_Process_monitor, see docs/monitoring.md.
  std::map<std::string, std::function<monitor_actor(caf::actor_system&)>>
    monitor_kinds;

  /// What holds for monitors and reactions to alerts.
  monitor_settings monitors;

  /// Completes the configuration: message types of one's own.
  std::function<void(caf::actor_system_config&)> configure;

  /// Gets a line for whatever is worth one. Called on the runtime's thread.
  journal log;
};

/// A server for the processes of this node inside a resource manager's daemon,
/// with a host of the daemon's own. One thread runs it; all functions may be
/// called on any other thread, and wait for their outcome.
///
///     auto rt = troupe::runtime::start({}, my_host);
///     rt->register_nspace({"job", owner, {0, 1}, infos});
///     auto env = rt->setup_fork({"job", 0});
///
/// Source: PMIx Standard v5, "Server-Specific Interfaces".
class runtime {
public:
  /// Makes the host: called once, before anybody can connect.
  using host_maker = std::function<host_actor(caf::actor_system&)>;

  /// Starts the thread and the server.
  /// @returns why it cannot work, in a sentence.
  static caf::expected<std::unique_ptr<runtime>>
  start(runtime_options options, const host_maker& make_host);

  /// Stops.
  ~runtime();

  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  // -- jobs and their processes ----------------------------------------------

  /// Makes a namespace known: its job-level data and, if they are known, its
  /// processes on this node. Refused with `exists` for a name in use.
  caf::error register_nspace(struct register_nspace what);

  /// Forgets a namespace and closes the connections of its processes.
  caf::error deregister_nspace(const std::string& nspace);

  /// Lets one more process of this node connect, as this user only.
  caf::error register_client(const proc_id& proc, credentials owner);

  caf::error deregister_client(const proc_id& proc);

  /// What a registered process needs in its environment to find the server,
  /// `NAME=value`.
  caf::expected<std::vector<std::string>> setup_fork(const proc_id& proc);

  /// A process has ended: whoever waits for it waits no longer.
  void proc_ended(const proc_id& proc,
                  proc_state state = proc_state::terminated);

  /// Tells local processes of an event.
  /// @param targets Whom it is for; none: whom its range names.
  void notify(event what, std::vector<proc_id> targets = {});

  /// Adds a sensor of one's own, which ends with the runtime: started while
  /// somebody wants one of its codes. See examples/temperature_sensor.cpp.
  /// @returns `bad_param` for codes that are not of the environment, and
  ///          `not_supported` without `runtime_options::sensors`.
  caf::error add_sensor(sensor_offer offer, const sensor_actor& sensor);

  // -- actors ----------------------------------------------------------------

  /// The system in which server and host live; spawn actors of your own in it.
  /// They run on the runtime's thread and must not block.
  caf::actor_system& actors();

  const server_actor& server() const;

  const event_cache_actor& events() const;

  const host_actor& host() const;

  const proc_id& id() const;

  /// The first address at which the server listens.
  std::string uri() const;

  /// Closes all connections, ends all actors and joins the thread. Not on the
  /// runtime's own thread.
  void stop();

private:
  class implementation;

  explicit runtime(std::unique_ptr<implementation> x);

  std::unique_ptr<implementation> implementation_;
};

} // namespace troupe
