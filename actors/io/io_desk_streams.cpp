#include "actors/io/io_channel.hpp"
#include "actors/io/io_desk_state.hpp"

#include <caf/send.hpp>

// The channels of streams: of our own processes, and copies of those of other
// nodes.

namespace troupe::io_desk_internals {

namespace {

/// Bytes of one stream that somebody may ask to have kept: a part of what the
/// node keeps.
constexpr uint64_t tail_most = defaults::io_tails_total;

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
  options.tail = static_cast<size_t>(
    std::min(tail_most, job.wiring.tail.value_or(defaults::io_tail)));
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

// -- copies
// --------------------------------------------------------------------

bool wants_live(const desk_state& state, const io_stream& name) {
  const auto ids = state.patterns.of(name);
  return std::any_of(ids.begin(), ids.end(), [&](uint64_t id) {
    return state.subscriptions.at(id).how.start == io_start::live;
  });
}

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
  return state.patterns.wants(name) || is_told(name.source.nspace)
         || is_told({});
}

/// Whether a node begins to send a stream. Anything else that comes to a node
/// without a copy was on its way when the node wanted the stream no more; all
/// of it that is kept comes again.
bool is_first(const io_fragment& x) {
  return x.missed == x.offset;
}

} // namespace

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
                        + to_string(name.source));
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
    if (state.mesh && wants_live(state, name))
      open_live(self, *x);
  }
  settle_tails(self);
  if (!x->is_opening)
    return self->delegate(x->channel, std::move(what));
  auto promise = self->make_response_promise<ack>();
  x->held.emplace_back(std::move(what), answer<ack>{promise});
  return promise;
}

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

void begin_copy(self_pointer self, desk_stream& x,
                std::optional<uint64_t> begin) {
  auto& state = self->state;
  x.is_opening = false;
  for (const auto id : state.patterns.of(x.name)) {
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
  for (auto& [what, reply] : std::exchange(x.held, {})) {
    auto owed = std::make_shared<answer<ack>>(std::move(reply));
    self->request(x.channel, caf::infinite, std::move(what))
      .then([owed](ack y) { owed->give(y); },
            [owed](caf::error& why) { owed->fail(std::move(why)); });
  }
}

void end_channel(self_pointer self, desk_stream& x) {
  self->state.shared->tails.remove(x.number);
  self->send_exit(x.channel, caf::exit_reason::user_shutdown);
}

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
  const auto& wiring = what.wiring;
  if (!state.options.open_files || job.files
      || (wiring.file.empty() && wiring.directory.empty()))
    return;
  job.files = state.options.open_files(what);
  job.files_id = ++state.last_id;
}

// -- the end of a job
// ----------------------------------------------------------

namespace {

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

} // namespace

caf::result<ack> close_job(self_pointer self, const io_job_over& what) {
  auto& state = self->state;
  const auto& nspace = what.nspace;
  if (!state.is_past(nspace))
    state.past.push_back(std::hash<std::string>{}(nspace));
  if (state.past.size() > defaults::io_jobs_remembered)
    state.past.pop_front();
  forget_subscriptions(self, nspace);
  forget_interests(self, nspace);
  forget_input(self, nspace);
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

} // namespace troupe::io_desk_internals
