#pragma once

#include "actors/io/defaults.hpp"
#include "actors/io/io_patterns.hpp"
#include "messages/actors.hpp"

#include <caf/actor_addr.hpp>
#include <caf/error.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace troupe {

/// Who on a node wants which output: subscriptions by number, by the pattern of
/// what they name, by sink, and by name. Plain data.
/// Source: PMIx Standard v5, `PMIx_IOF_pull`; guarantees 5.7.
class io_subscriptions {
public:
  struct subscription {
    io_subscription how;
    output_sink_actor sink;
  };

  /// A subscription that has been taken out.
  struct removed {
    io_subscription how;

    /// Its sink.
    caf::actor_addr sink;

    /// Whether the sink has no other.
    bool was_last = false;
  };

  /// @param window_most Bytes of one stream that may wait for a sink that asks
  ///                    for more: as much as a node holds.
  explicit io_subscriptions(size_t window_most = defaults::io_tails_total)
    : window_most_(window_most) {
    // nop
  }

  /// @returns `bad_param` for a subscription that names nothing that there can
  ///          be, `out_of_resource` if the node, or whoever asks, has too many.
  caf::error check(const io_subscription& how,
                   const output_sink_actor& sink) const;

  /// Adds what `check` lets through. Its window is bounded.
  /// @param id Not in use.
  /// @returns whether it is the first of its sink.
  bool add(uint64_t id, io_subscription how, output_sink_actor sink);

  /// @pre There is one of this number.
  const subscription& at(uint64_t id) const {
    return all_.at(id);
  }

  bool contains(uint64_t id) const {
    return all_.count(id) > 0;
  }

  size_t size() const noexcept {
    return all_.size();
  }

  /// @pre There is one of this number.
  removed remove(uint64_t id);

  /// A job is over: takes it out of all subscriptions, and removes those that
  /// name nothing else.
  /// @returns the sinks that have none any more.
  std::vector<caf::actor_addr> forget(const std::string& nspace);

  /// The numbers of the subscriptions of a sink.
  std::set<uint64_t> of_sink(const caf::actor_addr& sink) const;

  /// Whether somebody wants a stream from where it is now.
  bool wants_live(const io_stream& stream) const;

  /// Who wants which streams.
  const io_patterns& patterns() const noexcept {
    return patterns_;
  }

private:
  removed take_out(uint64_t id);

  uint64_t window_most_;
  std::map<uint64_t, subscription> all_;
  io_patterns patterns_;
  std::map<caf::actor_addr, std::set<uint64_t>> by_sink_;
  std::map<std::string, size_t> by_name_;
};

} // namespace troupe
