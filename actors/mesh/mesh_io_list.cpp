#include "actors/mesh/mesh_host_state.hpp"

#include <caf/actor_system.hpp>

#include <iterator>

// Which streams there are: each node knows its own, and copies of others.

namespace troupe::mesh_internals {

void list_io_here(self_pointer self, list_io what, completion<io_list> done) {
  self
    ->request(self->state.directory.io_desk, defaults::net_wait,
              std::move(what))
    .then([done](io_list& x) { done(std::move(x)); },
          [done](caf::error& why) { done(std::move(why)); });
}

namespace {

using stream_key = std::pair<proc_id, io_channels>;

/// One stream, as its own node and those that copy it know it.
struct found_stream {
  bool is_of_home = false;
  io_stream_status what;
};

/// What all nodes know, each stream once.
class io_survey {
public:
  explicit io_survey(const job_locations& places) : places_(places) {
    // nop
  }

  void add(uint32_t node, io_list&& found) {
    for (auto& x : found.streams) {
      const auto is_home = places_.node_of(x.stream.source) == node;
      auto& to = streams_[{x.stream.source, x.stream.channel}];
      auto sinks = std::move(to.what.sinks);
      std::move(x.sinks.begin(), x.sinks.end(), std::back_inserter(sinks));
      if (is_home || to.what.stream.channel == io_channels::none) {
        to.what = std::move(x);
        to.is_of_home = is_home;
      }
      to.what.sinks = std::move(sinks);
    }
  }

  io_list finish() {
    auto result = io_list{};
    for (auto& [key, x] : streams_)
      result.streams.push_back(std::move(x.what));
    return result;
  }

private:
  const job_locations& places_;
  std::map<stream_key, found_stream> streams_;
};

} // namespace

void list_all_io(self_pointer self, list_io what, completion<io_list> done) {
  struct survey {
    io_survey found;
    size_t missing = 1;
    completion<io_list> done;
  };
  auto& state = self->state;
  auto all = std::make_shared<survey>(
    survey{io_survey{state.locations}, 1, std::move(done)});
  const auto arrived = [all] {
    if (--all->missing == 0)
      all->done(all->found.finish());
  };
  for (const auto rank : state.calls->live()) {
    ++all->missing;
    // Who does not answer soon is left out.
    const auto note = [all, arrived, rank](caf::expected<io_list> x) {
      if (x)
        all->found.add(rank, std::move(*x));
      arrived();
    };
    if (rank == state.options.rank)
      list_io_here(self, what, note);
    else
      state.calls->call(rank, what, reply_to<io_list>(note),
                        defaults::net_wait * 2);
  }
  arm(self);
  arrived();
}

} // namespace troupe::mesh_internals
