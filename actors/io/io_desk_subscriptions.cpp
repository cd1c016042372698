#include "actors/io/io_desk_state.hpp"

// Who on this node wants what.

namespace troupe::io_desk_internals {

namespace {

/// Bytes of one stream that may wait for a sink that asks for more: as much as
/// a node holds.
constexpr uint64_t window_most = defaults::io_tails_total;

caf::error check(const desk_state& state, const io_subscription& how,
                 const output_sink_actor& sink) {
  if (!sink)
    return make_error(status::bad_param, "a subscription needs a sink");
  if (how.sources.empty())
    return make_error(status::bad_param,
                      "name the processes whose output is wanted");
  if (!has(how.channels, output_channels))
    return make_error(status::bad_param,
                      "name what is wanted: standard output, standard error or "
                      "diagnostics");
  for (const auto& x : how.sources)
    if (x.rank > rank_valid_max && x.rank != rank_wildcard)
      return make_error(status::bad_param,
                        "output comes from a rank or from all, not from "
                          + to_string(x));
  if (state.subscriptions.size() >= defaults::io_subscriptions)
    return make_error(status::out_of_resource,
                      "this node has "
                        + std::to_string(defaults::io_subscriptions)
                        + " subscriptions of output already: end some");
  const auto i = state.by_name.find(how.name);
  if (!how.name.empty() && i != state.by_name.end()
      && i->second >= defaults::io_subscriptions_per_requester)
    return make_error(
      status::out_of_resource,
      how.name + " has "
        + std::to_string(defaults::io_subscriptions_per_requester)
        + " subscriptions of output already: end some, or name several "
          "processes in one");
  return {};
}

void tell_all(self_pointer self, const std::vector<proc_id>& sources) {
  auto nspaces = std::set<std::string>{};
  for (const auto& x : sources)
    nspaces.insert(x.nspace);
  for (const auto& x : nspaces)
    tell_interest(self, x);
}

/// Takes a subscription out of all but the patterns.
io_subscription take_out(self_pointer self, uint64_t id) {
  auto& state = self->state;
  auto node = state.subscriptions.extract(id);
  auto& how = node.mapped().how;
  const auto sink = node.mapped().sink.address();
  const auto i = state.by_sink.find(sink);
  i->second.erase(id);
  if (i->second.empty()) {
    state.by_sink.erase(i);
    self->demonitor(sink);
  }
  const auto j = state.by_name.find(how.name);
  if (--j->second == 0)
    state.by_name.erase(j);
  return std::move(how);
}

void remove(self_pointer self, uint64_t id) {
  auto& state = self->state;
  const auto how = take_out(self, id);
  state.patterns.remove(id);
  for (const auto* x : streams_of(state, how.sources, how.channels))
    self->send(x->channel, io_unsubscription{id});
  tell_all(self, how.sources);
}

} // namespace

caf::result<io_pull_result> subscribe(self_pointer self, io_subscription& how,
                                      output_sink_actor& sink) {
  auto& state = self->state;
  if (auto why = check(state, how, sink))
    return why;
  if (how.window == 0)
    how.window = defaults::io_window;
  how.window = std::min(how.window, window_most);
  const auto id = ++state.last_id;
  state.patterns.add(id, how.sources, how.channels);
  auto& mine = state.by_sink[sink.address()];
  if (mine.empty())
    self->monitor(sink);
  mine.insert(id);
  ++state.by_name[how.name];
  for (auto* x : streams_of(state, how.sources, how.channels))
    if (how.start == io_start::live && x->origin && state.mesh)
      open_live(self, *x); // A copy may be far behind.
    else
      self->send(x->channel, id, how, sink);
  const auto sources = how.sources;
  state.subscriptions.emplace(
    id, desk_subscription{std::move(how), std::move(sink)});
  tell_all(self, sources);
  return io_pull_result{id};
}

caf::result<ack> unsubscribe(self_pointer self, uint64_t id) {
  // Jobs that are over have forgotten who it is that still gets their rest.
  for (const auto& job : self->state.closing)
    for (const auto& [key, x] : job.streams)
      self->send(x.channel, io_unsubscription{id});
  if (self->state.subscriptions.count(id) == 0)
    return make_error(status::not_found, "there is no such subscription");
  remove(self, id);
  return ack{};
}

void note_down(self_pointer self, const caf::actor_addr& who) {
  auto& state = self->state;
  const auto i = state.by_sink.find(who);
  if (i == state.by_sink.end())
    return;
  const auto ids = i->second;
  for (const auto id : ids)
    remove(self, id);
}

void forget_subscriptions(self_pointer self, const std::string& nspace) {
  auto& state = self->state;
  for (const auto id : state.patterns.forget(nspace))
    take_out(self, id);
  for (auto& [id, x] : state.subscriptions) {
    auto& sources = x.how.sources;
    sources.erase(
      std::remove_if(sources.begin(), sources.end(),
                     [&](const proc_id& y) { return y.nspace == nspace; }),
      sources.end());
  }
  // The mesh forgets by itself: the end of a job costs no message for each.
  state.interests.erase(nspace);
}

void give_sinks(self_pointer self, const desk_job& job, const desk_stream& x) {
  auto& state = self->state;
  if (job.files && !x.origin) {
    auto how = io_subscription{};
    how.channels = output_channels;
    how.window = defaults::io_window;
    how.name = "files";
    self->send(x.channel, job.files_id, std::move(how), job.files);
  }
  for (const auto id : state.patterns.of(x.name)) {
    const auto& y = state.subscriptions.at(id);
    // Those begin where the process is once that is known.
    if (x.origin && state.mesh && y.how.start == io_start::live)
      continue;
    self->send(x.channel, id, y.how, y.sink);
  }
}

} // namespace troupe::io_desk_internals
