#pragma once

#include "actors/server/registry.hpp"
#include "actors/server/server.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

/// How long the host may take to answer before a connection is refused.
inline constexpr auto host_answer = 30s;

} // namespace defaults

/// The connections of a node: who is let in, and the CLIENT actor of each.
/// Source: PMIx Standard v5, "Security".
class sessions {
public:
  /// One connection.
  struct entry {
    requester who;
    client_actor handle;
  };

  using sharer = std::function<std::shared_ptr<job_memory>(
    namespace_entry& entry, const std::string& nspace)>;

  /// @param self The SERVER.
  /// @param statistics Connections are counted there.
  /// @param share Makes the memory that a namespace shares with the server.
  /// @param on_admitted A process or tool has been let in.
  sessions(server_actor::pointer self, const server_options& options,
           const server_directory& directory, registry& known,
           server_statistics& statistics, sharer share,
           std::function<void(const entry&)> on_admitted);

  /// Lets a process or a tool in.
  /// @returns the CLIENT that takes its requests from now on.
  caf::result<connect_accepted, client_actor>
  accept(const connect_request& request, const connection_actor& connection);

  /// A connection is over.
  /// @returns whether it was open.
  bool end(const requester& who, bool finalized);

  /// The connections of a process are to be closed.
  void close(const proc_id& proc, const std::string& reason) const;

  void close_all(const std::string& reason) const;

  /// A job is over: its connections are closed, and forgotten at once. The name
  /// may be registered anew before they are closed.
  void forget(const std::string& nspace);

  /// Calls `then` when all that has come from those who are `proc` has been
  /// read, up to the end of their connections: a tool may come back as soon as
  /// it has closed its own.
  void read_sessions_of(const proc_id& proc, std::function<void()> then);

  /// The former life of a process is over: its connections are closed, and
  /// forgotten at once.
  void drop(const proc_id& proc);

  /// Output for a connected process; refused with `unreach` if it has gone.
  caf::result<ack> pass_output(const requester& who, io_delivery& what) const;

  /// The first connection of a process; refused with `not_found`.
  caf::result<client_actor> find(const proc_id& proc) const;

  /// By connection index.
  const std::map<uint32_t, entry>& all() const {
    return sessions_;
  }

private:
  template <class Predicate>
  void forget_those(Predicate are_meant, const char* reason);

  using promise = caf::typed_response_promise<connect_accepted, client_actor>;

  /// Why nobody of this user may be `proc`, if so. The kernel's word counts,
  /// not the peer's.
  /// Source: PMIx Standard v5, "Security"; attacks X3, X12.
  caf::error refusal(uint32_t uid, const proc_id& proc) const;

  /// Why a tool may not have the name that it gives itself, if so: others would
  /// take it for the server. Attack X12.
  caf::error name_refusal(const requester& who) const;

  /// Why this user may not attach a tool, if so. Attack X11.
  caf::error tool_refusal(uint32_t uid) const;

  /// Whether a tool that is connected has the name that another one gives
  /// itself: its events and answers would go to both.
  bool is_taken(const requester& who) const;

  void refuse(promise& reply, caf::error why);

  /// Refuses a tool that the host has given an identity: the host forgets the
  /// connection. It names nobody: the identity may be that of another process.
  void refuse_identified(requester who, promise& reply, caf::error why);

  /// Asks the host before a registered process is let in.
  /// @param can_share Whether it can share memory with the server.
  void admit_client(const client_connected& what, bool can_share,
                    const connection_actor& connection, promise reply);

  /// Lets a tool in unless its user, or its name, is refused.
  void receive_tool(const requester& who, const std::vector<info>& infos,
                    const connection_actor& connection, promise reply);

  /// Asks the host for the identity of a tool and makes a namespace for it.
  void admit_tool(const requester& who, const std::vector<info>& infos,
                  const connection_actor& connection, promise reply);

  /// Lets in a tool that the host has given an identity.
  void admit_identified(const requester& who, bool is_its_own,
                        const connection_actor& connection, promise& reply);

  /// Makes the namespace of its own that a tool has.
  void add_tool(const requester& who);

  /// Shares memory with a process that can.
  /// @returns where the process finds it; empty: there is none.
  std::string lend(const requester& who);

  /// @param shared Where the peer finds memory that it shares; may be empty.
  void admit(const requester& who, const std::string& shared,
             const connection_actor& connection, promise& reply);

  void log(severity level, const std::string& line) const;

  server_actor::pointer self_;
  const server_options& options_;
  const server_directory& directory_;
  registry& known_;
  server_statistics& statistics_;
  sharer share_;
  std::function<void(const entry&)> on_admitted_;
  std::map<uint32_t, entry> sessions_;
  uint32_t next_index_ = 1;
};

} // namespace troupe
