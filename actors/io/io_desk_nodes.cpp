#include "actors/io/io_desk_state.hpp"

// What this node wants of others, and others of this one.

namespace troupe::io_desk_internals {

namespace {

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
void set_window(desk_node& node) {
  auto least = uint64_t{defaults::io_window_total};
  for (const auto& [nspace, x] : node.wants)
    if (x.window > 0)
      least = std::min(least, x.window);
  node.window->set_total(std::max<size_t>(least, defaults::io_window_least));
}

} // namespace

// -- what we want
// --------------------------------------------------------------

void meet_mesh(self_pointer self, const io_mesh_actor& mesh) {
  auto& state = self->state;
  state.mesh = mesh;
  state.interests.clear();
  for (const auto& x : state.patterns.nspaces())
    tell_interest(self, x);
}

void tell_interest(self_pointer self, const std::string& nspace) {
  auto& state = self->state;
  if (!state.mesh)
    return;
  auto& x = state.interests[nspace];
  if (x.is_busy)
    return;
  auto now = state.patterns.wanted(nspace);
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

// -- what others want
// ----------------------------------------------------------

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
    i->second.window =
      std::make_shared<shared_window>(defaults::io_window_total);
    state.shared->nodes.emplace(i->second.id, i->second.window);
  }
  auto& node = i->second;
  if (is_nothing(what))
    node.wants.erase(nspace);
  else
    node.wants[nspace] = std::move(what);
  set_window(node);
  for (auto* x : streams_of(state, {{nspace, rank_wildcard}}))
    if (!x->origin)
      give_node(self, *x, number, node);
  return ack{};
}

void give_nodes(self_pointer self, desk_stream& x) {
  for (const auto& [number, node] : self->state.nodes)
    give_node(self, x, number, node);
}

namespace {

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

} // namespace

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
      set_window(node);
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

} // namespace troupe::io_desk_internals
