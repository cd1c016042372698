#include "actors/jobs/io_options.hpp"
#include "actors/mesh/mesh_host_state.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <algorithm>

// The streams of jobs between nodes. The desks of all nodes say what they want;
// what the origin of a job wants, and nodes that watch all jobs, is told with
// the job. The root hears of everything that is wanted, for the jobs to come.

namespace troupe::mesh_internals {

io_interest united(const io_interest& x, const io_interest& y) {
  if (is_empty(x))
    return y;
  if (is_empty(y))
    return x;
  auto result = x;
  result.channels = united(x.channels, y.channels);
  result.ranks.insert(result.ranks.end(), y.ranks.begin(), y.ranks.end());
  std::sort(result.ranks.begin(), result.ranks.end());
  result.ranks.erase(std::unique(result.ranks.begin(), result.ranks.end()),
                     result.ranks.end());
  if (std::binary_search(result.ranks.begin(), result.ranks.end(),
                         rank_wildcard))
    result.ranks = {rank_wildcard};
  return result;
}

bool same(const io_interest& x, const io_interest& y) {
  return (is_empty(x) && is_empty(y))
         || (x.ranks == y.ranks && x.channels == y.channels
             && x.window == y.window);
}

bool is_empty(const io_interest& x) {
  return x.ranks.empty() || x.channels == io_channels::none;
}

namespace {

io_interest all_of(const std::string& nspace, io_channels channels,
                   uint64_t window = 0) {
  if (channels == io_channels::none)
    return {nspace, {}, channels, window};
  return {nspace, {rank_wildcard}, channels, window};
}

/// What each node of a job may send at once, so that a node that gets the
/// output of all holds no more than what all streams of a node may have.
/// Enough for one fragment, however many nodes there are.
uint64_t window_of(const mesh_host_state& state, const std::string& nspace) {
  const auto nodes = state.locations.nodes_of(nspace).size();
  return std::max<uint64_t>(defaults::io_fragment_bytes,
                            defaults::io_window_total
                              / std::max<size_t>(1, nodes));
}

bool wants_all(const io_interest& x) {
  return std::find(x.ranks.begin(), x.ranks.end(), rank_wildcard)
         != x.ranks.end();
}

/// Tells the desk what another node wants of the processes here.
void pass_interest(self_pointer self, uint32_t node, const io_interest& what,
                   completion<ack> done) {
  self->request(self->state.directory.io_desk, caf::infinite, node, what)
    .then([done](ack x) { done(x); },
          [done](caf::error& why) { done(std::move(why)); });
}

/// At the root: who is to hear of jobs that this one spawns.
void note_watcher(job_record& job, uint32_t node, const io_interest& what) {
  if (wants_all(what) && what.channels != io_channels::none)
    job.watchers[node] = what.channels;
  else
    job.watchers.erase(node);
}

bool has_share(const mesh_host_state& state, const std::string& nspace) {
  return state.shares.count(nspace) > 0;
}

/// Tells the nodes of a job, and the root, what is wanted here, if they do not
/// know.
void update(self_pointer self, const std::string& nspace,
            completion<ack> done) {
  auto& state = self->state;
  const auto i = state.streams.find(nspace);
  if (i == state.streams.end()) {
    done(ack{});
    return;
  }
  auto& x = i->second;
  auto wanted = united(x.ours, state.standing);
  wanted.nspace = nspace;
  wanted.window = window_of(state, nspace);
  if (same(wanted, x.told)) {
    done(ack{});
    return;
  }
  x.told = wanted;
  auto nodes = state.locations.hosts_of(nspace);
  if (nodes.empty() || nodes.front() != 0)
    nodes.insert(nodes.begin(), 0);
  auto left = std::make_shared<size_t>(nodes.size() + 1);
  const auto one = [left,
                    done = std::move(done)](const caf::expected<host_reply>&) {
    // Who is lost has nothing to give.
    if (--*left == 0)
      done(ack{});
  };
  for (const auto node : nodes) {
    if (node != state.options.rank) {
      ask(self, node, wanted, one);
      continue;
    }
    if (auto* job = state.find_job(nspace))
      note_watcher(*job, node, wanted);
    one(ack{});
  }
  one(ack{});
}

} // namespace

void start_streams(self_pointer self) {
  if (self->state.directory.io_desk)
    self->send(self->state.directory.io_desk,
               io_mesh_actor{mesh_host_actor{self}});
}

void begin_streams(self_pointer self, const prepare_share& order) {
  auto& state = self->state;
  const auto& nspace = order.map.nspace;
  const auto own = state.options.rank;
  // The root has read them before.
  const auto read = read_io_wiring(order.request);
  const auto wiring = read ? *read : io_wiring{};
  auto& x = state.streams[nspace];
  x.owner = order.parent.creds.uid;
  x.origin = order.origin;
  x.stdin_target = wiring.stdin_target;
  auto begun = io_job_begun{};
  begun.nspace = nspace;
  begun.wiring = wiring;
  begun.uid = order.parent.creds.uid;
  begun.size = state.locations.size_of(nspace);
  caf::anon_send(state.directory.io_desk, std::move(begun));
  const auto window = window_of(state, nspace);
  auto told = std::map<uint32_t, io_interest>{};
  told[order.origin] = all_of(nspace, forwarded_channels(wiring), window);
  for (const auto& y : order.watchers)
    told[y.node] = united(told[y.node], all_of(nspace, y.channels, window));
  const auto ours = told.extract(own);
  if (has_processes_on(order.map, own))
    for (auto& [node, what] : told) {
      // What it has said itself meanwhile is newer.
      const auto put = x.wanted.try_emplace(node, std::move(what));
      if (!is_empty(put.first->second))
        pass_interest(self, node, put.first->second, [](const auto&) {
          // Nobody waits for it.
        });
    }
  // What the nodes have been told meanwhile is newer.
  if (is_empty(x.told) && !ours.empty())
    x.told = ours.mapped();
  auto is_wanted = !is_empty(state.standing);
  if (order.origin == own) {
    open_outlet(self, order, wiring);
    is_wanted |= bool{state.outlets.at(nspace).sink};
  }
  is_wanted |= extend_pulls(self, order);
  // Nobody is left who wanted it when the job was made.
  if (!is_wanted)
    update(self, nspace, [](const auto&) {
      // Nobody waits for it.
    });
}

job_streams& known_streams(self_pointer self, const std::string& nspace,
                           std::optional<uint32_t> owner) {
  auto& state = self->state;
  const auto [i, is_new] = state.streams.try_emplace(nspace);
  const auto is_told = owner && !i->second.owner;
  if (is_told)
    i->second.owner = owner;
  if (is_new || is_told) {
    auto begun = io_job_begun{};
    begun.nspace = nspace;
    // Without an owner it is nobody's but the administrator's.
    begun.uid = owner.value_or(0);
    begun.size = state.locations.size_of(nspace);
    caf::anon_send(state.directory.io_desk, std::move(begun));
  }
  return i->second;
}

void end_streams(self_pointer self, const std::string& nspace,
                 std::function<void()> then) {
  auto& state = self->state;
  const auto readers = end_pulls(self, nspace);
  if (state.streams.erase(nspace) == 0) {
    then();
    return;
  }
  const auto wait_on = [self, nspace, then, readers] {
    auto& state = self->state;
    if (state.outlets.count(nspace) == 0) {
      then();
      return;
    }
    // Whoever started the job gets all of it, or hears what is missing.
    for (const auto id : readers)
      unsubscribe(self, id);
    self->request(state.directory.io_desk, caf::infinite, io_job_over{nspace})
      .then([then](ack) { then(); }, [then](const caf::error&) { then(); });
  };
  self
    ->request(state.directory.io_desk, defaults::io_end_wait,
              io_job_over{nspace})
    .then([then](ack) { then(); }, [wait_on](const caf::error&) { wait_on(); });
}

void want_streams(self_pointer self, io_interest& what, completion<ack> done) {
  auto& state = self->state;
  if (what.nspace.empty()) {
    state.standing = std::move(what);
    tell_standing(self, std::move(done));
    for (const auto& nspace : state.locations.nspaces())
      if (state.streams.count(nspace) > 0)
        update(self, nspace, [](const auto&) {
          // Their own answers come with their nodes.
        });
    return;
  }
  const auto nspace = what.nspace;
  if (state.locations.knows(nspace)) {
    known_streams(self, nspace).ours = std::move(what);
    update(self, nspace, std::move(done));
    return;
  }
  if (is_empty(what)) {
    done(ack{});
    return;
  }
  locate(self, nspace,
         [self, what = std::move(what), done](const caf::error& why) mutable {
           if (why) {
             done(why);
             return;
           }
           const auto nspace = what.nspace;
           known_streams(self, nspace).ours = std::move(what);
           update(self, nspace, std::move(done));
         });
}

void tell_standing(self_pointer self, completion<ack> done) {
  auto& state = self->state;
  auto wanted = state.standing;
  for (const auto& [number, x] : state.pulls)
    if (x.is_standing)
      wanted = united(wanted, all_of("", x.what.channels));
  wanted.nspace.clear();
  if (same(wanted, state.standing_told)) {
    done(ack{});
    return;
  }
  state.standing_told = wanted;
  ask(self, 0, std::move(wanted), reply_to<ack>(std::move(done)));
}

void take_interest(self_pointer self, uint32_t from, io_interest& what,
                   completion<ack> done) {
  auto& state = self->state;
  const auto nspace = what.nspace;
  if (nspace.empty()) {
    if (!state.is_root())
      done(make_error(status::bad_param,
                      "only the root is told what is wanted of all jobs"));
    else if (is_empty(what))
      state.standing_of.erase(from);
    else
      state.standing_of[from] = std::move(what);
    if (state.is_root())
      done(ack{});
    return;
  }
  if (!state.locations.knows(nspace)) {
    if (is_empty(what)) {
      done(ack{});
      return;
    }
    // It may have heard of the job before this node does.
    locate(self, nspace,
           [self, from, what = std::move(what),
            done](const caf::error& why) mutable {
             if (why)
               done(why);
             else
               take_interest(self, from, what, done);
           });
    return;
  }
  if (what.ranks.size() > state.locations.size_of(nspace))
    what.ranks = {rank_wildcard};
  if (auto* job = state.find_job(nspace))
    note_watcher(*job, from, what);
  const auto i = state.streams.find(nspace);
  const auto is_begun = has_share(state, nspace) && i != state.streams.end();
  if (is_empty(what) && i != state.streams.end())
    i->second.wanted.erase(from);
  else if (!is_empty(what)
           && !state.locations.ranks_on(state.options.rank, nspace).empty())
    state.streams[nspace].wanted[from] = what;
  if (is_begun)
    pass_interest(self, from, what, std::move(done));
  else
    done(ack{});
}

void send_fragment(self_pointer self, uint32_t to, io_fragment& what,
                   completion<ack> done) {
  // Nobody holds up a process for ever: an error comes when the node is lost.
  ask(self, to, std::move(what), reply_to<ack>(std::move(done)));
}

void take_fragment(self_pointer self, uint32_t from, io_fragment& what,
                   completion<ack> done) {
  auto& state = self->state;
  const auto channel = what.stream.channel;
  if (channel != io_channels::stdout_ && channel != io_channels::stderr_
      && channel != io_channels::stddiag) {
    done(make_error(status::bad_param, "output of "
                                         + to_string(what.stream.source)
                                         + " names no channel"));
    return;
  }
  self->request(state.directory.io_desk, caf::infinite, from, std::move(what))
    .then([done](ack x) { done(x); },
          [done](caf::error& why) { done(std::move(why)); });
}

void fetch_stream(self_pointer self, io_fetch& what,
                  completion<io_fragment> done) {
  auto& state = self->state;
  const auto node = state.locations.node_of(what.stream.source);
  if (!node)
    done(make_error(status::not_found,
                    "no process " + to_string(what.stream.source)));
  else
    ask(self, *node, std::move(what), reply_to<io_fragment>(std::move(done)));
}

void fetch_here(self_pointer self, io_fetch& what,
                completion<io_fragment> done) {
  auto& state = self->state;
  const auto& source = what.stream.source;
  if (state.locations.node_of(source) != state.options.rank
      || !has_share(state, source.nspace)) {
    done(make_error(status::not_found,
                    to_string(source) + " does not run on this node"));
    return;
  }
  what.size = std::min<uint64_t>(what.size, defaults::io_fragment_bytes);
  self->request(state.directory.io_desk, caf::infinite, std::move(what))
    .then([done](io_fragment& x) { done(std::move(x)); },
          [done](caf::error& why) { done(std::move(why)); });
}

std::vector<io_watcher> watchers_of(const mesh_host_state& state,
                                    const job_record& job,
                                    const spawn_request& request) {
  auto found = std::map<uint32_t, io_channels>{};
  for (const auto& [node, what] : state.standing_of)
    found[node] = what.channels;
  const auto* parent = state.find_job(job.parent.proc.nspace);
  const auto* inherits = find(request.job_infos, attr::iof_inherit);
  if (parent != nullptr && (inherits == nullptr || inherits->truth()))
    for (const auto& [node, channels] : parent->watchers)
      found[node] = united(found[node], channels);
  auto result = std::vector<io_watcher>{};
  for (const auto& [node, channels] : found)
    if (state.calls->is_live(node))
      result.push_back({node, channels});
  return result;
}

void lose_streams(self_pointer self, uint32_t node) {
  auto& state = self->state;
  auto what = io_node_lost{};
  what.node = node;
  for (auto& [nspace, x] : state.streams) {
    x.wanted.erase(node);
    for (const auto rank : state.locations.ranks_on(node, nspace))
      what.procs.push_back({nspace, rank});
  }
  state.standing_of.erase(node);
  state.jobs->drop_watcher(node);
  self->send(state.directory.io_desk, std::move(what));
}

} // namespace troupe::mesh_internals
