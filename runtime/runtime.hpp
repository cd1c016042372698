#pragma once

#include "base/journal.hpp"
#include "base/monitor_kind.hpp"
#include "config/monitor_settings.hpp"
#include "config/sensor_settings.hpp"
#include "config/settings.hpp"
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

/// Our ends of the standard streams of a process: pipes. They become the
/// runtime's, which makes them non-blocking and closes them; -1: there is none.
struct process_streams {
  proc_id proc;

  /// Its standard input is written here.
  int in = -1;

  /// Its standard output, standard error and diagnostics are read here.
  int out = -1;
  int err = -1;
  int diag = -1;

  /// Its process number, to be shown; 0: unknown.
  uint32_t pid = 0;
};

struct runtime_options {
  /// The server's name; empty namespace: made from the node's name and the
  /// process's number.
  proc_id id{{}, 0};

  /// The name of the node, as the data of its jobs has it; empty: as
  /// `gethostname` says.
  std::string hostname{};

  /// Whether tools of this user can find the server, and whether it is the one
  /// that they find if they ask for the node's.
  bool tools = true;
  bool system_server = false;

  /// Whether processes must bring a credential of munge.
  bool munge = false;

  /// Where the files of the session go: an existing directory; empty: a private
  /// one that goes with the runtime.
  std::string session_directory;

  /// Puts something between the server and its host, such as what has the
  /// servers of each job do among themselves what the host does not. It hears of
  /// each namespace beside the server.
  std::function<host_actor(loop_system&, host_actor, journal)> around_host;

  /// Whether events that are kept for processes, and that memory has no room
  /// for, go to disk, into the session's directory: docs/events.md, "What is
  /// kept, and what is missed".
  bool spool_events = true;

  /// Whether what processes and tools pull and push is served by the I/O DESK,
  /// see `forward`; if not, they ask the host.
  bool serve_streams = true;

  /// What is watched on the node for processes that register for events of the
  /// environment, beside what the host tells of; absent: nothing, and no sensor
  /// can be added.
  std::optional<sensor_settings> sensors;

  /// Kinds of monitors of one's own, which PMIx_Process_monitor and `troupe
  /// monitor` ask for by name, see docs/extending.md. On a loop that has
  /// `remoting` already they have other nodes (`monitor_peers`).
  monitor_kind_map monitor_kinds;

  /// What holds for monitors and reactions to alerts.
  monitor_settings monitors;

  /// What holds for events, posted data and connections, above what the
  /// environment sets (`TROUPE_...`): docs/settings.md. What a host sets
  /// on networks goes to who makes them, `job_meshes` or `mesh_member_options`.
  site_settings settings;

  /// Completes the configuration: message types of one's own. Not of a loop that
  /// is there already.
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

  /// The same on a loop of the daemon's own, which may serve other things, such
  /// as `remoting`. For the thread of the loop, or while nobody runs it.
  /// @param loop Outlives the runtime. Functions that wait for an answer need
  ///             somebody in its `run`: when nobody was there for five seconds
  ///             they return `status::timeout`. What they asked for may still be
  ///             done when somebody comes.
  static caf::expected<std::unique_ptr<runtime>>
  start(loop_system& loop, runtime_options options,
        const host_maker& make_host);

  /// Stops.
  ~runtime();

  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  // -- jobs and their processes ----------------------------------------------

  /// Makes a namespace known: its job-level data and, if they are known, its
  /// processes on this node. Refused with `exists` for a name in use.
  caf::error register_nspace(struct register_nspace what);

  /// Forgets a namespace and closes the connections of its processes. What they
  /// have written goes to its readers before, for two seconds at most.
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

  // -- standard streams ------------------------------------------------------

  /// Forwards the standard streams of a process of this node, see docs/io.md:
  /// what it writes goes to whoever subscribes or pulls, what is pushed is
  /// written to it. A process waits for its readers, within bounded memory.
  /// @returns `bad_param` for what is no descriptor: all are left alone then.
  caf::error forward(const process_streams& what);

  /// Gives the readers output that has come in another way; no bytes: the end
  /// of that stream. Waits until they have taken it.
  caf::error deliver(process_output what);

  /// Gives a sink what processes write, also of other nodes where a mesh joins
  /// them. It ends with the sink.
  /// @returns its number for `io_unsubscription` to the desk.
  caf::expected<uint64_t> subscribe(io_subscription what,
                                    output_sink_actor sink);

  /// Writes to processes of one job, on any node where a mesh joins them. Waits
  /// until they have it.
  caf::expected<io_input_taken> give_input(io_input what);

  /// Has the streams of all processes: for actors, which must not wait
  /// (messages/interfaces/io.hpp).
  const io_desk_actor& streams() const;

  // -- actors ----------------------------------------------------------------

  /// The system in which server and host live; spawn actors of your own in it.
  /// They run on the runtime's thread and must not block.
  caf::actor_system& actors();

  /// Knows the processes of the node, and what they have posted: asks and tells
  /// as the functions above do, without waiting (messages/interfaces/server.hpp).
  const server_actor& server() const;

  /// The log of events of the node: `deliver_event` gives it one, `find_listeners`
  /// asks who wants what (messages/interfaces/events.hpp).
  const event_cache_actor& events() const;

  /// Watches processes and files: `monitor_request` begins and ends monitors,
  /// `monitor_alert` is how kinds of one's own raise alerts
  /// (messages/interfaces/monitors.hpp).
  const monitor_desk_actor& monitors() const;

  /// What `start` was given (messages/interfaces/host.hpp).
  const host_actor& host() const;

  /// The groups that have members here, or began here. For actors: `list_groups`,
  /// asked of the SERVER.
  caf::expected<group_list> groups();

  /// The actor of one of these groups, which ends with it: `get_group_status`
  /// asks how it stands (messages/interfaces/groups.hpp). For actors:
  /// `find_group`, asked of the SERVER.
  /// @returns `not_found` if there is no such group.
  caf::expected<group_tracker_actor> group(const group_key& which);

  /// The session of a connected process, which ends with its connection: takes
  /// what the process may ask, in its name, and events for it
  /// (messages/interfaces/client.hpp). For actors: `find_session`, asked of the
  /// SERVER.
  /// @returns `not_found` while it is not connected.
  caf::expected<client_actor> session(const proc_id& proc);

  const proc_id& id() const;

  /// The first address at which the server listens.
  std::string uri() const;

  /// Closes all connections, ends all actors and joins the thread. Not on the
  /// runtime's own thread; with a loop of the daemon's own, on its thread or while
  /// nobody runs it. After that functions that return an error return
  /// `status::init`, and requests to the actors of the runtime fail.
  void stop();

private:
  class implementation;

  static caf::expected<std::unique_ptr<runtime>>
  start(std::unique_ptr<implementation> where, runtime_options options,
        const host_maker& make_host);

  explicit runtime(std::unique_ptr<implementation> x);

  std::unique_ptr<implementation> implementation_;
};

} // namespace troupe
