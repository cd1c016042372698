#include "actors/io/io_desk.hpp"

#include "actors/io/defaults.hpp"
#include "actors/io/io_channel.hpp"
#include "actors/io/io_inputs.hpp"
#include "actors/io/io_subscriptions.hpp"
#include "actors/io/output_file.hpp"
#include "actors/io/shared_window.hpp"
#include "actors/io/tail_budget.hpp"
#include "base/all_of.hpp"
#include "base/answer.hpp"
#include "base/pass_on.hpp"
#include "base/sturdy.hpp"
#include "config/defaults.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace troupe {

namespace defaults {

/// Jobs that are over and whose late output is dropped.
inline constexpr size_t io_jobs_remembered = 1024;

} // namespace defaults

namespace {

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
  explicit shared_with_channels(const io_desk_options& bounds)
    : tails(bounds.kept),
      here(std::make_shared<shared_window>(bounds.waiting / 4)) {
    // nop
  }

  tail_budget tails;

  /// What is on its way to the sinks of this node, and to other nodes, by the
  /// numbers of their sinks. The sinks here make other bytes of it, and keep
  /// these: what they have is but a part of what waits for them.
  std::shared_ptr<shared_window> here;
  std::map<uint64_t, std::shared_ptr<shared_window>> nodes;

  /// What the desk has to be told.
  std::vector<dropped_sink> dropped;

  /// Bytes that readers have missed, since the start.
  uint64_t missed = 0;
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

  /// Bytes that the processes of this node have written, since the start.
  uint64_t written = 0;
  io_subscriptions subscriptions;

  std::map<std::string, desk_interest> interests;
  std::map<uint64_t, std::string> retries;
  std::map<uint32_t, desk_node> nodes;

  /// Streams that are given to a node again later.
  std::map<uint64_t, std::pair<io_stream, uint32_t>> again;
  io_inputs inputs;

  std::shared_ptr<shared_with_channels> shared;

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

std::vector<desk_stream*> streams_of(desk_state& state,
                                     const std::vector<proc_id>& sources,
                                     io_channels channels = output_channels);

void open_live(self_pointer self, desk_stream& x);

void begin_copy(self_pointer self, desk_stream& x,
                std::optional<uint64_t> begin);

void give_nodes(self_pointer self, desk_stream& x);

void tell_interest(self_pointer self, const std::string& nspace);

void give_again(self_pointer self, uint64_t id);

void forget_interests(self_pointer self, const std::string& nspace);

// -- who on this node wants what ----------------------------------------------

void tell_all(self_pointer self, const std::vector<proc_id>& sources) {
  auto nspaces = std::set<std::string>{};
  for (const auto& x : sources)
    nspaces.insert(x.nspace);
  for (const auto& x : nspaces)
    tell_interest(self, x);
}

void remove(self_pointer self, uint64_t id) {
  auto& state = self->state;
  const auto gone = state.subscriptions.remove(id);
  if (gone.was_last)
    self->demonitor(gone.sink);
  for (const auto* x : streams_of(state, gone.how.sources, gone.how.channels))
    self->send(x->channel, io_unsubscription{id});
  tell_all(self, gone.how.sources);
}

caf::result<io_pull_result> subscribe(self_pointer self, io_subscription& how,
                                      output_sink_actor& sink) {
  auto& state = self->state;
  if (auto why = state.subscriptions.check(how, sink))
    return why;
  const auto id = ++state.last_id;
  if (state.subscriptions.add(id, std::move(how), sink))
    self->monitor(sink);
  const auto& added = state.subscriptions.at(id).how;
  for (auto* x : streams_of(state, added.sources, added.channels))
    if (added.start == io_start::live && x->origin && state.mesh)
      open_live(self, *x); // A copy may be far behind.
    else
      self->send(x->channel, id, added, sink);
  tell_all(self, added.sources);
  return io_pull_result{id};
}

caf::result<ack> unsubscribe(self_pointer self, uint64_t id) {
  // Jobs that are over have forgotten who it is that still gets their rest.
  for (const auto& job : self->state.closing)
    for (const auto& [key, x] : job.streams)
      self->send(x.channel, io_unsubscription{id});
  if (!self->state.subscriptions.contains(id))
    return make_error(status::not_found, "there is no such subscription");
  remove(self, id);
  return ack{};
}

void note_down(self_pointer self, const caf::actor_addr& who) {
  for (const auto id : self->state.subscriptions.of_sink(who))
    remove(self, id);
}

void forget_subscriptions(self_pointer self, const std::string& nspace) {
  auto& state = self->state;
  for (const auto& sink : state.subscriptions.forget(nspace))
    self->demonitor(sink);
  // The mesh forgets by itself: the end of a job costs no message for each.
  state.interests.erase(nspace);
}

/// Gives a new channel its sinks of this node.
void give_sinks(self_pointer self, const desk_job& job, const desk_stream& x) {
  auto& state = self->state;
  if (job.files && !x.origin) {
    auto how = io_subscription{};
    how.channels = output_channels;
    how.window = defaults::io_window;
    how.name = "files";
    self->send(x.channel, job.files_id, std::move(how), job.files);
  }
  for (const auto id : state.subscriptions.patterns().of(x.name)) {
    const auto& y = state.subscriptions.at(id);
    // Those begin where the process is once that is known.
    if (x.origin && state.mesh && y.how.start == io_start::live)
      continue;
    self->send(x.channel, id, y.how, y.sink);
  }
}

// -- channels: of our own processes, and copies of other nodes' ---------------

/// Whether one more stream of a job may come.
bool has_room(const desk_state& state, const std::string& nspace) {
  const auto i = state.jobs.find(nspace);
  if (i != state.jobs.end() && i->second.is_announced)
    return true;
  auto found = size_t{0};
  for (const auto& [name, job] : state.jobs)
    if (!job.is_announced)
      found += job.streams.size();
  return found < defaults::io_unannounced_streams;
}

desk_job& job_of(desk_state& state, const std::string& nspace) {
  auto& job = state.jobs[nspace];
  job.nspace = nspace;
  return job;
}

desk_stream& open(self_pointer self, const io_stream& name,
                  std::optional<uint32_t> origin) {
  auto& state = self->state;
  auto& job = job_of(state, name.source.nspace);
  auto& x = job.streams[{name.source.rank, name.channel}];
  x.name = name;
  x.origin = origin;
  x.number = ++state.last_id;
  auto options = io_channel_options{};
  options.stream = name;
  // A part of what the node keeps.
  options.tail = static_cast<size_t>(std::min<uint64_t>(
    state.options.kept, job.wiring.tail.value_or(defaults::io_tail)));
  options.overflow = job.wiring.overflow;
  if (origin)
    options.elsewhere = state.mesh;
  options.window_of = [shared = state.shared](uint64_t id) {
    const auto i = shared->nodes.find(id);
    return i != shared->nodes.end() ? i->second : shared->here;
  };
  options.on_held = [shared = state.shared, number = x.number](size_t held,
                                                               size_t needed) {
    shared->tails.set(number, held, needed);
  };
  options.on_missed = [shared = state.shared](uint64_t bytes) {
    shared->missed += bytes;
  };
  options.on_dropped =
    [shared = state.shared, name, number = x.number,
     desk = caf::actor_addr{self->address()}](uint64_t id, uint64_t offset) {
      shared->dropped.push_back({name, number, id, offset});
      if (const auto x = caf::actor_cast<io_desk_actor>(desk))
        caf::anon_send(x, deadline{});
    };
  state.shared->tails.add(x.number);
  x.channel = spawn_io_channel(self->system(), std::move(options));
  give_sinks(self, job, x);
  if (!origin)
    give_nodes(self, x);
  return x;
}

/// Has the streams that hold the most hold less when it is too much.
void settle_tails(self_pointer self) {
  auto& state = self->state;
  auto keep = std::map<uint64_t, size_t>{};
  for (const auto& x : state.shared->tails.settle())
    keep.emplace(x.stream, x.keep);
  if (keep.empty())
    return;
  const auto tell = [&](const desk_job& job) {
    for (const auto& [key, x] : job.streams)
      if (const auto i = keep.find(x.number); i != keep.end())
        self->send(x.channel, io_keep{i->second});
  };
  for (const auto& [nspace, job] : state.jobs)
    tell(job);
  for (const auto& job : state.closing)
    tell(job);
}

// -- copies -------------------------------------------------------------------

/// Whether somebody wants a stream, or other nodes think so: what they have
/// sent of it they do not send again.
bool is_expected(const desk_state& state, const io_stream& name) {
  const auto is_in = [&](const io_interest& x) {
    return has(x.channels, name.channel)
           && std::any_of(x.ranks.begin(), x.ranks.end(), [&](uint32_t y) {
                return y == rank_wildcard || y == name.source.rank;
              });
  };
  const auto is_told = [&](const std::string& nspace) {
    const auto i = state.interests.find(nspace);
    return i != state.interests.end()
           && (is_in(i->second.told) || is_in(i->second.asked));
  };
  return state.subscriptions.patterns().wants(name)
         || is_told(name.source.nspace) || is_told({});
}

/// Whether a node begins to send a stream. Anything else that comes to a node
/// without a copy was on its way when the node wanted the stream no more; all
/// of it that is kept comes again.
bool is_first(const io_fragment& x) {
  return x.missed == x.offset;
}

desk_state::~desk_state() {
  const auto end_all = [](const desk_job& job) {
    for (const auto& [key, x] : job.streams)
      caf::anon_send_exit(x.channel, caf::exit_reason::user_shutdown);
    if (job.files)
      caf::anon_send_exit(job.files, caf::exit_reason::user_shutdown);
  };
  for (const auto& [nspace, job] : jobs)
    end_all(job);
  for (const auto& job : closing)
    end_all(job);
  for (const auto& [number, x] : nodes)
    caf::anon_send_exit(x.sink, caf::exit_reason::user_shutdown);
}

desk_job* desk_state::find_job(const std::string& nspace) {
  const auto i = jobs.find(nspace);
  return i != jobs.end() ? &i->second : nullptr;
}

desk_stream* desk_state::find(const io_stream& name) {
  auto* job = find_job(name.source.nspace);
  if (job == nullptr)
    return nullptr;
  const auto i = job->streams.find({name.source.rank, name.channel});
  return i != job->streams.end() ? &i->second : nullptr;
}

/// @returns the streams that `sources` and `channels` name, each once.
std::vector<desk_stream*> streams_of(desk_state& state,
                                     const std::vector<proc_id>& sources,
                                     io_channels channels) {
  auto found = std::map<uint64_t, desk_stream*>{};
  const auto visit = [&](desk_job& job, uint32_t rank) {
    auto i = job.streams.begin();
    if (rank != rank_wildcard)
      i = job.streams.lower_bound({rank, io_channels::none});
    for (; i != job.streams.end(); ++i) {
      if (rank != rank_wildcard && i->first.first != rank)
        break;
      if (has(channels, i->first.second))
        found.emplace(i->second.number, &i->second);
    }
  };
  for (const auto& x : sources) {
    if (auto* job = state.find_job(x.nspace))
      visit(*job, x.rank);
    else if (x.nspace.empty())
      for (auto& [nspace, any] : state.jobs)
        visit(any, x.rank);
  }
  auto result = std::vector<desk_stream*>{};
  for (const auto& [number, x] : found)
    result.push_back(x);
  return result;
}

bool desk_state::is_past(const std::string& nspace) const {
  return std::find(past.begin(), past.end(), std::hash<std::string>{}(nspace))
         != past.end();
}

caf::result<ack> take_output(self_pointer self, process_output& what) {
  auto& state = self->state;
  const auto name = io_stream{what.proc, what.channel};
  if (!is_output(name.channel) || name.source.nspace.empty()
      || name.source.rank > rank_valid_max)
    return make_error(status::bad_param,
                      "output comes from a process and one of its streams, "
                      "not from "
                        + to_string(name.source) + "; name one");
  state.written += what.bytes.size();
  auto* x = state.find(name);
  if (x == nullptr) {
    // A process that writes nothing has no channel.
    if (what.bytes.empty() || state.is_past(name.source.nspace))
      return ack{};
    if (!has_room(state, name.source.nspace))
      return make_error(status::out_of_resource,
                        "no output of " + to_string(name.source)
                          + ": there are "
                          + std::to_string(defaults::io_unannounced_streams)
                          + " streams of jobs that were never registered; "
                            "register its namespace");
    x = &open(self, name, std::nullopt);
  }
  settle_tails(self);
  return self->delegate(x->channel, std::move(what));
}

caf::result<ack> take_fragment(self_pointer self, uint32_t node,
                               io_fragment& what) {
  auto& state = self->state;
  const auto& name = what.stream;
  auto* x = state.find(name);
  if (!is_output(name.channel) || (x != nullptr && !x->origin)
      || what.bytes.size() > UINT64_MAX - what.offset)
    return ack{};
  if (x == nullptr) {
    if (state.is_past(name.source.nspace) || !is_expected(state, name)
        || !is_first(what))
      return ack{};
    x = &open(self, name, node);
    if (state.mesh && state.subscriptions.wants_live(name))
      open_live(self, *x);
  }
  settle_tails(self);
  if (!x->is_opening)
    return self->delegate(x->channel, std::move(what));
  auto promise = self->make_response_promise<ack>();
  x->held.emplace_back(std::move(what), answer<ack>{promise});
  return promise;
}

/// Asks where a stream of another node is now: whoever wants its copy live
/// begins there. What comes waits for that.
void open_live(self_pointer self, desk_stream& x) {
  if (std::exchange(x.is_opening, true))
    return;
  const auto go_on = [self, name = x.name,
                      number = x.number](std::optional<uint64_t> begin) {
    auto* x = self->state.find(name);
    if (x != nullptr && x->number == number && x->is_opening)
      begin_copy(self, *x, begin);
  };
  self->request(self->state.mesh, caf::infinite, io_fetch{x.name, 0, 0})
    .then([go_on](const io_fragment& y) { go_on(y.offset); },
          [go_on](const caf::error&) { go_on(std::nullopt); });
}

/// Gives a copy that was opening its sinks, and what has come meanwhile.
/// @param begin Where sinks begin that want the stream live; none: unknown,
///              they get what has come.
void begin_copy(self_pointer self, desk_stream& x,
                std::optional<uint64_t> begin) {
  auto& state = self->state;
  x.is_opening = false;
  for (const auto id : state.subscriptions.patterns().of(x.name)) {
    const auto& y = state.subscriptions.at(id);
    if (y.how.start != io_start::live)
      continue;
    auto how = y.how;
    if (begin) {
      how.start = io_start::offset;
      how.offset = *begin;
    }
    self->send(x.channel, id, std::move(how), y.sink);
  }
  for (auto& [what, reply] : std::exchange(x.held, {}))
    ask(self, x.channel, pass_on(std::move(reply)), std::move(what));
}

/// Ends a channel.
void end_channel(self_pointer self, desk_stream& x) {
  self->state.shared->tails.remove(x.number);
  self->send_exit(x.channel, caf::exit_reason::user_shutdown);
}

/// Ends the copies of a namespace's streams that nobody here wants any more.
void drop_copies(self_pointer self, const std::string& nspace) {
  auto& state = self->state;
  const auto drop = [&](desk_job& job) {
    for (auto i = job.streams.begin(); i != job.streams.end();) {
      auto& x = i->second;
      if (x.origin && !is_expected(state, x.name)) {
        end_channel(self, x);
        i = job.streams.erase(i);
      } else {
        ++i;
      }
    }
  };
  if (auto* job = state.find_job(nspace))
    drop(*job);
  else if (nspace.empty())
    for (auto& [key, job] : state.jobs)
      drop(job);
}

void open_job(self_pointer self, const io_job_begun& what) {
  auto& state = self->state;
  state.past.erase(std::remove(state.past.begin(), state.past.end(),
                               std::hash<std::string>{}(what.nspace)),
                   state.past.end());
  auto& job = job_of(state, what.nspace);
  job.is_announced = true;
  job.wiring = what.wiring;
  job.owner = what.uid;
  if (!state.options.open_files || job.files || !has_files(what.wiring))
    return;
  job.files = state.options.open_files(what);
  job.files_id = ++state.last_id;
}

// -- the end of a job ---------------------------------------------------------

using job_position = std::list<desk_job>::iterator;

void finish(self_pointer self, job_position i) {
  if (i->files)
    self->send_exit(i->files, caf::exit_reason::user_shutdown);
  auto over = std::move(i->over);
  self->state.closing.erase(i);
  for (auto& x : over)
    x.give(ack{});
}

void close(self_pointer self, job_position i) {
  i->open = i->streams.size();
  if (i->open == 0) {
    finish(self, i);
    return;
  }
  const auto done = [self, i](std::pair<uint32_t, io_channels> key) {
    const auto node = i->streams.extract(key);
    end_channel(self, node.mapped());
    if (--i->open == 0)
      finish(self, i);
  };
  for (const auto& [key, x] : i->streams)
    self->request(x.channel, caf::infinite, io_job_over{i->nspace})
      .then([done, key = key](ack) { done(key); },
            [done, key = key](const caf::error&) { done(key); });
}

caf::result<ack> close_job(self_pointer self, const io_job_over& what) {
  auto& state = self->state;
  const auto& nspace = what.nspace;
  if (!state.is_past(nspace))
    state.past.push_back(std::hash<std::string>{}(nspace));
  if (state.past.size() > defaults::io_jobs_remembered)
    state.past.pop_front();
  forget_subscriptions(self, nspace);
  forget_interests(self, nspace);
  state.inputs.forget(nspace);
  auto node = state.jobs.extract(nspace);
  const auto is_it = [&](const desk_job& x) { return x.nspace == nspace; };
  auto i = std::find_if(state.closing.begin(), state.closing.end(), is_it);
  if (node.empty() && i == state.closing.end())
    return ack{};
  auto promise = self->make_response_promise<ack>();
  if (node.empty()) {
    i->over.emplace_back(promise);
    return promise;
  }
  i = state.closing.insert(state.closing.end(), std::move(node.mapped()));
  i->over.emplace_back(promise);
  close(self, i);
  return promise;
}

// -- interests ----------------------------------------------------------------

bool is_same(const io_interest& x, const io_interest& y) {
  return x.channels == y.channels && x.ranks == y.ranks && x.window == y.window;
}

bool is_nothing(const io_interest& x) {
  return x.ranks.empty() || x.channels == io_channels::none;
}

/// Passes on the fragments of all channels to one node.
output_sink_actor::behavior_type node_sink(output_sink_actor::pointer self,
                                           const io_mesh_actor& mesh,
                                           uint32_t node) {
  return {
    [self, mesh, node](io_fragment& what) {
      return self->delegate(mesh, node, std::move(what));
    },
  };
}

bool wants(const desk_node& node, const io_stream& stream) {
  const auto look = [&](const std::string& nspace) {
    const auto i = node.wants.find(nspace);
    if (i == node.wants.end() || !has(i->second.channels, stream.channel))
      return false;
    const auto& ranks = i->second.ranks;
    return std::any_of(ranks.begin(), ranks.end(), [&](uint32_t x) {
      return x == rank_wildcard || x == stream.source.rank;
    });
  };
  return look(stream.source.nspace) || look({});
}

void give_node(self_pointer self, desk_stream& x, uint32_t number,
               const desk_node& node) {
  const auto has_it = x.nodes.count(number) > 0;
  const auto wants_it = wants(node, x.name);
  if (wants_it && !has_it) {
    auto how = io_subscription{};
    how.channels = x.name.channel;
    how.window = defaults::io_window;
    how.name = "node " + std::to_string(number);
    if (const auto i = x.refusals.find(number); i != x.refusals.end()) {
      how.start = io_start::offset;
      how.offset = i->second.offset;
    }
    self->send(x.channel, node.id, std::move(how), node.sink);
    x.nodes.insert(number);
  } else if (!wants_it && has_it) {
    self->send(x.channel, io_unsubscription{node.id});
    x.nodes.erase(number);
  }
  // Who wants it anew has nothing of it.
  if (!wants_it)
    x.refusals.erase(number);
}

/// What a node may be sent at once is what it wants for any of its jobs, so
/// that it is not too much for the largest.
void set_window(const desk_state& state, desk_node& node) {
  auto least = uint64_t{state.options.waiting};
  for (const auto& [nspace, x] : node.wants)
    if (x.window > 0)
      least = std::min(least, x.window);
  node.window->set_total(std::max<size_t>(least, defaults::io_window_least));
}

// -- what we want -------------------------------------------------------------

void meet_mesh(self_pointer self, const io_mesh_actor& mesh) {
  auto& state = self->state;
  state.mesh = mesh;
  state.interests.clear();
  for (const auto& x : state.subscriptions.patterns().nspaces())
    tell_interest(self, x);
}

/// Tells the mesh what is wanted of a namespace, if that has changed.
void tell_interest(self_pointer self, const std::string& nspace) {
  auto& state = self->state;
  if (!state.mesh)
    return;
  auto& x = state.interests[nspace];
  if (x.is_busy)
    return;
  auto now = state.subscriptions.patterns().wanted(nspace);
  if (is_same(now, x.told)) {
    if (is_nothing(now))
      state.interests.erase(nspace);
    return;
  }
  x.is_busy = true;
  x.asked = now;
  x.call = ++state.last_id;
  const auto find = [self, nspace, call = x.call]() -> desk_interest* {
    const auto i = self->state.interests.find(nspace);
    return i != self->state.interests.end() && i->second.call == call
             ? &i->second
             : nullptr;
  };
  self->request(state.mesh, caf::infinite, now)
    .then(
      [self, find, now](ack) {
        auto* x = find();
        if (x == nullptr)
          return;
        x->is_busy = false;
        x->told = now;
        x->asked = {};
        x->retry = defaults::io_interest_retry;
        drop_copies(self, now.nspace);
        tell_interest(self, now.nspace);
      },
      [self, find, nspace](const caf::error&) {
        auto* x = find();
        if (x == nullptr)
          return;
        self->state.retries.emplace(x->call, nspace);
        self->delayed_send(io_desk_actor{self}, x->retry, deadline{x->call});
        x->retry = std::min<caf::timespan>(x->retry * 2,
                                           defaults::io_interest_retry_most);
      });
}

void retry_interest(self_pointer self, uint64_t id) {
  auto& state = self->state;
  const auto node = state.retries.extract(id);
  if (node.empty())
    return;
  const auto i = state.interests.find(node.mapped());
  if (i == state.interests.end() || i->second.call != id)
    return;
  i->second.is_busy = false;
  tell_interest(self, node.mapped());
}

// -- what others want ---------------------------------------------------------

caf::result<ack> take_interest(self_pointer self, uint32_t number,
                               io_interest& what) {
  auto& state = self->state;
  if (number == state.options.node)
    return ack{};
  const auto nspace = what.nspace;
  if (state.is_past(nspace))
    return ack{};
  if (!is_nothing(what) && !state.mesh)
    return make_error(status::unreach, "this node has no way to other nodes");
  auto i = state.nodes.find(number);
  if (i == state.nodes.end()) {
    if (is_nothing(what))
      return ack{};
    i = state.nodes.emplace(number, desk_node{}).first;
    i->second.id = ++state.last_id;
    i->second.sink = self->system().spawn(node_sink, state.mesh, number);
    i->second.window = std::make_shared<shared_window>(state.options.waiting);
    state.shared->nodes.emplace(i->second.id, i->second.window);
  }
  auto& node = i->second;
  if (is_nothing(what))
    node.wants.erase(nspace);
  else
    node.wants[nspace] = std::move(what);
  set_window(state, node);
  for (auto* x : streams_of(state, {{nspace, rank_wildcard}}))
    if (!x->origin)
      give_node(self, *x, number, node);
  return ack{};
}

/// Gives a stream of ours to the nodes that want it, and to no other.
void give_nodes(self_pointer self, desk_stream& x) {
  for (const auto& [number, node] : self->state.nodes)
    give_node(self, x, number, node);
}

/// A node that lives has refused a part of a stream. What it has of it, it
/// leaves out.
void note_refusal(self_pointer self, desk_stream& x, uint32_t number,
                  uint64_t offset) {
  auto& state = self->state;
  x.nodes.erase(number);
  auto& refusal = x.refusals[number];
  const auto is_again = refusal.retry.count() > 0 && offset <= refusal.offset;
  const auto wait = is_again ? refusal.retry : caf::timespan{0};
  refusal.offset = offset;
  refusal.retry =
    is_again
      ? std::min<caf::timespan>(wait * 2, defaults::io_interest_retry_most)
      : caf::timespan{defaults::io_interest_retry};
  const auto id = ++state.last_id;
  state.again.emplace(id, std::pair{x.name, number});
  if (is_again)
    self->delayed_send(io_desk_actor{self}, wait, deadline{id});
  else
    give_again(self, id);
}

/// Channels have lost sinks.
void take_dropped(self_pointer self) {
  auto& state = self->state;
  for (const auto& x : std::exchange(state.shared->dropped, {})) {
    const auto is_it = [&](const auto& y) { return y.second.id == x.id; };
    const auto i = std::find_if(state.nodes.begin(), state.nodes.end(), is_it);
    if (i == state.nodes.end()) {
      unsubscribe(self, x.id);
      continue;
    }
    auto* stream = state.find(x.stream);
    if (stream != nullptr && stream->number == x.number
        && stream->nodes.count(i->first) > 0)
      note_refusal(self, *stream, i->first, x.offset);
  }
}

/// Gives a stream to a node that refused it some time ago.
void give_again(self_pointer self, uint64_t id) {
  auto& state = self->state;
  const auto node = state.again.extract(id);
  if (node.empty())
    return;
  const auto& [name, number] = node.mapped();
  auto* x = state.find(name);
  const auto i = state.nodes.find(number);
  if (x != nullptr && i != state.nodes.end() && x->refusals.count(number) > 0)
    give_node(self, *x, number, i->second);
}

void forget_interests(self_pointer self, const std::string& nspace) {
  for (auto& [number, node] : self->state.nodes)
    if (node.wants.erase(nspace) > 0)
      set_window(self->state, node);
}

void lose_node(self_pointer self, const io_node_lost& what) {
  auto& state = self->state;
  const auto i = state.nodes.find(what.node);
  const auto had_sink = i != state.nodes.end();
  if (had_sink) {
    self->send_exit(i->second.sink, caf::exit_reason::user_shutdown);
    state.shared->nodes.erase(i->second.id);
    state.nodes.erase(i);
  }
  const auto is_of_it = [&](const desk_stream& x) {
    return x.origin == what.node
           || std::find(what.procs.begin(), what.procs.end(), x.name.source)
                != what.procs.end();
  };
  for (auto* x : streams_of(state, {{{}, rank_wildcard}})) {
    x->nodes.erase(what.node);
    x->refusals.erase(what.node);
    if (!x->origin || !is_of_it(*x))
      continue;
    // What has come is all there is; where the stream ends nobody will say.
    if (x->is_opening)
      begin_copy(self, *x, std::nullopt);
    self
      ->request(x->channel, caf::infinite,
                process_output{x->name.source, x->name.channel, {}, 0})
      .then(
        [](ack) {
          // Its sinks know.
        },
        [](const caf::error&) {
          // It has ended.
        });
  }
}

// -- questions ----------------------------------------------------------------

/// Nothing but where a stream ends now.
caf::result<io_fragment> end_of(self_pointer self, const desk_stream& x) {
  auto promise = self->make_response_promise<io_fragment>();
  auto owed = std::make_shared<answer<io_fragment>>(promise);
  self->request(x.channel, caf::infinite, list_io{})
    .then(
      [owed](io_stream_status& y) {
        auto result = io_fragment{};
        result.stream = std::move(y.stream);
        result.offset = y.end;
        owed->give(std::move(result));
      },
      [owed](caf::error& why) { owed->fail(std::move(why)); });
  return promise;
}

/// Whether a job is one of those that are asked for, by its user.
bool may_see(const list_io& what, const desk_job& job) {
  return !what.uid || job.owner == what.uid;
}

caf::result<io_fragment> fetch(self_pointer self, const io_fetch& what) {
  const auto* x = self->state.find(what.stream);
  if (x == nullptr)
    return make_error(status::not_found, "nothing is known of the output of "
                                           + to_string(what.stream.source));
  if (what.size == 0)
    return end_of(self, *x);
  auto asked = what;
  asked.size = std::min<uint64_t>(asked.size, defaults::io_fragment_bytes);
  return self->delegate(x->channel, std::move(asked));
}

caf::result<io_list> list(self_pointer self, const list_io& what) {
  auto& state = self->state;
  auto sources = what.sources;
  if (sources.empty())
    sources.push_back({{}, rank_wildcard});
  auto channels = std::vector<io_channel_actor>{};
  for (const auto* x : streams_of(state, sources))
    if (may_see(what, *state.find_job(x->name.source.nspace)))
      channels.push_back(x->channel);
  for (const auto& job : state.closing)
    for (const auto& [key, x] : job.streams)
      if (may_see(what, job)
          && std::any_of(
            sources.begin(), sources.end(),
            [&x = x](const auto& y) { return covers(y, x.name.source); }))
        channels.push_back(x.channel);
  auto found = io_list{};
  const auto may_see_input = [&](const std::string& nspace) {
    const auto* job = state.find_job(nspace);
    return !what.uid || (job != nullptr && may_see(what, *job));
  };
  state.inputs.list(sources, may_see_input, found);
  auto promise = self->make_response_promise<io_list>();
  auto all =
    all_of<io_list>{std::move(found), [done = pass_on(promise)](io_list& x) {
                      done(std::move(x));
                    }};
  for (const auto& x : channels) {
    all.add();
    self->request(x, caf::infinite, list_io{})
      .then(
        [all](io_stream_status& y) {
          all->streams.push_back(std::move(y));
          all.done();
        },
        [all](const caf::error&) { all.done(); });
  }
  all.done();
  return promise;
}

/// How much there is, and has been.
gauge_list gauges_of(const desk_state& state) {
  auto streams = size_t{0};
  for (const auto& [nspace, job] : state.jobs)
    streams += job.streams.size();
  for (const auto& job : state.closing)
    streams += job.streams.size();
  const auto& shared = *state.shared;
  return {{{"streams.open", streams, 0, "streams"},
           {"streams.readers", state.subscriptions.size(), 0, "readers"},
           {"streams.kept", shared.tails.held(), state.options.kept, "bytes"},
           {"streams.waiting", shared.here->used(), state.options.waiting / 4,
            "bytes"},
           {"streams.written", state.written, 0, "bytes"},
           {"streams.missed", shared.missed, 0, "bytes"}}};
}

// -- input --------------------------------------------------------------------

/// Takes input for processes of this node.
caf::result<io_input_taken> take_input(self_pointer self, io_input& what) {
  auto& state = self->state;
  if (!state.options.launcher)
    return make_error(status::not_supported,
                      "the input of processes is written by whoever started "
                      "them; use its input");
  auto owed = std::make_shared<answer<io_input_taken>>(
    self->make_response_promise<io_input_taken>());
  auto promise = owed->promise();
  auto why = state.inputs.take(
    what, [owed](io_input_taken x) { owed->give(std::move(x)); });
  if (why)
    owed->fail(std::move(why));
  return promise;
}

/// What the inputs do with the launcher.
io_inputs::effects means_of_input(self_pointer self) {
  auto out = io_inputs::effects{};
  out.write = [self](const proc_id& proc, std::string bytes) {
    const auto size = bytes.size();
    self
      ->request(self->state.options.launcher, caf::infinite,
                write_stdin{proc, std::move(bytes)})
      .then([self, proc,
             size](ack) { self->state.inputs.note_written(proc, size); },
            [self, proc](const caf::error& why) {
              self->state.inputs.note_failed(proc, why);
            });
  };
  out.close = [self](const proc_id& proc) {
    self->send(self->state.options.launcher, close_stdin{proc});
  };
  return out;
}

io_desk_actor::behavior_type behavior(self_pointer self,
                                      io_desk_options options) {
  auto& state = self->state;
  state.options = std::move(options);
  state.shared = std::make_shared<shared_with_channels>(state.options);
  state.subscriptions = io_subscriptions{state.options.kept};
  state.inputs = io_inputs{means_of_input(self)};
  self->set_down_handler(
    [self](const caf::down_msg& x) { note_down(self, x.source); });
  auto handlers = io_desk_actor::behavior_type{
    [self](process_output& what) { return take_output(self, what); },
    [self](const io_job_begun& what) {
      open_job(self, what);
      return ack{};
    },
    [self](const io_job_over& what) { return close_job(self, what); },
    [self](io_subscription& how, output_sink_actor& sink) {
      return subscribe(self, how, sink);
    },
    [self](const io_unsubscription& what) {
      return unsubscribe(self, what.subscription);
    },
    [self](io_input& what) { return take_input(self, what); },
    [self](const list_io& what) { return list(self, what); },
    [self](const io_mesh_actor& mesh) { meet_mesh(self, mesh); },
    [self](uint32_t node, io_interest& what) {
      return take_interest(self, node, what);
    },
    [self](uint32_t node, io_fragment& what) {
      return take_fragment(self, node, what);
    },
    [self](const io_fetch& what) { return fetch(self, what); },
    [self](const io_node_lost& what) { lose_node(self, what); },
    [self](get_gauges) { return gauges_of(self->state); },
    [self](deadline due) {
      take_dropped(self);
      retry_interest(self, due.id);
      give_again(self, due.id);
    },
  };
  return sturdy(self, std::move(handlers));
}

} // namespace

io_desk_actor spawn_io_desk(caf::actor_system& sys, io_desk_options options) {
  return sys.spawn(behavior, std::move(options));
}

} // namespace troupe
