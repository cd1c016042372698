#include "actors/io/io_desk_state.hpp"

// What is there of streams, and which there are.

namespace troupe::io_desk_internals {

namespace {

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

} // namespace

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
  struct gathering {
    io_list found;
    size_t left = 0;
    answer<io_list> reply;
  };
  auto all = std::make_shared<gathering>();
  list_input(state, {sources, what.uid}, all->found);
  if (channels.empty())
    return std::move(all->found);
  auto promise = self->make_response_promise<io_list>();
  all->left = channels.size();
  all->reply = answer<io_list>{promise};
  const auto one = [all] {
    if (--all->left == 0)
      all->reply.give(std::move(all->found));
  };
  for (const auto& x : channels)
    self->request(x, caf::infinite, list_io{})
      .then(
        [all, one](io_stream_status& y) {
          all->found.streams.push_back(std::move(y));
          one();
        },
        [one](const caf::error&) { one(); });
  return promise;
}

} // namespace troupe::io_desk_internals
