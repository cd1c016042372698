#pragma once

#include "actors/answer.hpp"
#include "actors/io/io_desk.hpp"
#include "actors/io/io_patterns.hpp"
#include "actors/io/process_input.hpp"
#include "actors/io/shared_window.hpp"
#include "actors/io/tail_budget.hpp"
#include "config/defaults.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

// INTERNAL: the parts of the I/O DESK.

namespace troupe::io_desk_internals {

/// A node has refused a part of a stream, and is given it again.
struct node_refusal {
  /// The first byte that it has not taken.
  uint64_t offset = 0;

  /// How long it waits the next time; not at all the first time.
  caf::timespan retry{0};
};

/// A stream that has a channel.
struct desk_stream {
  io_stream name;
  io_channel_actor channel;

  /// Its number in the budget.
  uint64_t number = 0;

  /// The node that it comes from, for a copy of another node's stream.
  std::optional<uint32_t> origin;

  /// Of our own: the nodes that get it.
  std::set<uint32_t> nodes;

  /// Nodes that refused a part of it, though they live.
  std::map<uint32_t, node_refusal> refusals;

  /// Of a copy: fragments that wait until it is known where sinks begin that
  /// want it live.
  std::vector<std::pair<io_fragment, answer<ack>>> held;
  bool is_opening = false;
};

/// The streams of a job.
struct desk_job {
  std::string nspace;

  /// Whether somebody has said that it begins.
  bool is_announced = false;
  io_wiring wiring;

  /// The user whose job it is; none: nobody has said so.
  std::optional<uint32_t> owner;
  std::map<std::pair<uint32_t, io_channels>, desk_stream> streams;

  /// What writes its output to files, as a sink.
  output_sink_actor files;
  uint64_t files_id = 0;

  /// Once it is over: how many channels have not ended, and who waits for that.
  size_t open = 0;
  std::list<answer<ack>> over;
};

/// A sink of this node.
struct desk_subscription {
  io_subscription how;
  output_sink_actor sink;
};

/// Another node that wants streams of this one.
struct desk_node {
  /// Passes fragments on to it; for all channels the same.
  output_sink_actor sink;
  uint64_t id = 0;

  /// By namespace.
  std::map<std::string, io_interest> wants;

  /// What is on its way to it, of all streams.
  std::shared_ptr<shared_window> window;
};

/// A channel has lost a sink.
struct dropped_sink {
  io_stream stream;

  /// The number of the stream, and of the sink.
  uint64_t number = 0;
  uint64_t id = 0;

  /// The first byte that it has not answered.
  uint64_t offset = 0;
};

/// What a desk shares with its channels.
struct shared_with_channels {
  tail_budget tails{defaults::io_tails_total};

  /// What is on its way to the sinks of this node, and to other nodes, by the
  /// numbers of their sinks. The sinks here make other bytes of it, and keep
  /// these: what they have is but a part of what waits for them.
  std::shared_ptr<shared_window> here =
    std::make_shared<shared_window>(defaults::io_window_total / 4);
  std::map<uint64_t, std::shared_ptr<shared_window>> nodes;

  /// What the desk has to be told.
  std::vector<dropped_sink> dropped;
};

/// What the mesh has been told of a namespace.
struct desk_interest {
  io_interest told;

  /// What it is being told now; it may hold already.
  io_interest asked;

  /// Whether its answer is out, or the time until it is told once more; and
  /// which of the answers that is.
  bool is_busy = false;
  uint64_t call = 0;
  caf::timespan retry = defaults::io_interest_retry;
};

/// Input on its way to several processes.
struct input_call {
  std::string nspace;
  std::vector<uint32_t> ranks;
  answer<io_input_taken> reply;

  /// How many have not been written to.
  size_t left = 0;

  /// Those that have not been there, or would not read.
  std::set<uint32_t> closed;
};

using input_call_ptr = std::shared_ptr<input_call>;

/// The input of one process, and who waits for it.
struct desk_input {
  process_input position{defaults::io_input_window};

  /// Whether there was no such process: it may come yet, or be gone.
  bool is_missing = false;
  std::multimap<uint64_t, input_call_ptr> waiting;
};

struct desk_state {
  static inline const char* name = "io-desk";

  io_desk_options options;
  io_mesh_actor mesh;

  std::unordered_map<std::string, desk_job> jobs;

  /// Jobs that are over, until their sinks have everything.
  std::list<desk_job> closing;

  /// Jobs that are over, the oldest first, against output that comes late: by
  /// the hash of their names, as a name has 200 bytes with all that holds it.
  /// Two names of one hash cost a job that no host announces its output.
  std::deque<size_t> past;

  uint64_t last_id = 0;
  std::map<uint64_t, desk_subscription> subscriptions;
  io_patterns patterns;

  /// The subscriptions of a sink, and of whoever has a name.
  std::map<caf::actor_addr, std::set<uint64_t>> by_sink;
  std::map<std::string, size_t> by_name;

  std::map<std::string, desk_interest> interests;
  std::map<uint64_t, std::string> retries;
  std::map<uint32_t, desk_node> nodes;

  /// Streams that are given to a node again later.
  std::map<uint64_t, std::pair<io_stream, uint32_t>> again;
  std::map<proc_id, desk_input> inputs;

  std::shared_ptr<shared_with_channels> shared =
    std::make_shared<shared_with_channels>();

  desk_state() = default;
  desk_state(const desk_state&) = delete;
  desk_state& operator=(const desk_state&) = delete;

  /// Channels end with the desk.
  ~desk_state();

  desk_job* find_job(const std::string& nspace);
  desk_stream* find(const io_stream& name);
  bool is_past(const std::string& nspace) const;
};

TROUPE_SELF_POINTER(io_desk_actor, desk_state);

/// @returns the streams that `sources` and `channels` name, each once.
std::vector<desk_stream*> streams_of(desk_state& state,
                                     const std::vector<proc_id>& sources,
                                     io_channels channels = output_channels);

// -- io_desk_streams.cpp

caf::result<ack> take_output(self_pointer self, process_output& what);
caf::result<ack> take_fragment(self_pointer self, uint32_t node,
                               io_fragment& what);
void open_job(self_pointer self, const io_job_begun& what);
caf::result<ack> close_job(self_pointer self, const io_job_over& what);

/// Asks where a stream of another node is now: whoever wants its copy live
/// begins there. What comes waits for that.
void open_live(self_pointer self, desk_stream& x);

/// Gives a copy that was opening its sinks, and what has come meanwhile.
/// @param begin Where sinks begin that want the stream live; none: unknown,
///              they get what has come.
void begin_copy(self_pointer self, desk_stream& x,
                std::optional<uint64_t> begin);

/// Ends the copies of a namespace's streams that nobody here wants any more.
void drop_copies(self_pointer self, const std::string& nspace);

/// Ends a channel.
void end_channel(self_pointer self, desk_stream& x);

// -- io_desk_questions.cpp

caf::result<io_fragment> fetch(self_pointer self, const io_fetch& what);
caf::result<io_list> list(self_pointer self, const list_io& what);

/// Whether a job is one of those that are asked for, by its user.
bool may_see(const list_io& what, const desk_job& job);

// -- io_desk_subscriptions.cpp

caf::result<io_pull_result> subscribe(self_pointer self, io_subscription& how,
                                      output_sink_actor& sink);
caf::result<ack> unsubscribe(self_pointer self, uint64_t id);
void note_down(self_pointer self, const caf::actor_addr& who);
void forget_subscriptions(self_pointer self, const std::string& nspace);

/// Gives a new channel its sinks of this node.
void give_sinks(self_pointer self, const desk_job& job, const desk_stream& x);

// -- io_desk_nodes.cpp

void meet_mesh(self_pointer self, const io_mesh_actor& mesh);

/// Tells the mesh what is wanted of a namespace, if that has changed.
void tell_interest(self_pointer self, const std::string& nspace);
void retry_interest(self_pointer self, uint64_t id);

/// Channels have lost sinks.
void take_dropped(self_pointer self);

/// The time has come to give a stream to a node that refused it.
void give_again(self_pointer self, uint64_t id);
caf::result<ack> take_interest(self_pointer self, uint32_t node,
                               io_interest& what);
void lose_node(self_pointer self, const io_node_lost& what);
void forget_interests(self_pointer self, const std::string& nspace);

/// Gives a stream of ours to the nodes that want it, and to no other.
void give_nodes(self_pointer self, desk_stream& x);

// -- io_desk_input.cpp

caf::result<io_input_taken> take_input(self_pointer self, io_input& what);
void forget_input(self_pointer self, const std::string& nspace);
void list_input(const desk_state& state, const list_io& what, io_list& result);

} // namespace troupe::io_desk_internals
