#pragma once

#include "actors/data/job_locations.hpp"
#include "actors/mesh/exchange/mesh_calls.hpp"
#include "base/pass_on.hpp"

#include <caf/timespan.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// Turns the answer of a member into what was asked for.
template <class T>
mesh_calls::completion reply_to(completion<T> then) {
  return [then = std::move(then)](caf::expected<host_reply> x) {
    then(reply_as<T>(std::move(x)));
  };
}

/// Answers a member.
template <class T>
completion<T> to_member(mesh_calls::answerer reply) {
  return [reply = std::move(reply)](caf::expected<T> x) {
    reply(x ? host_reply{std::move(*x)} : refusal(x.error()));
  };
}

/// The calls of a host to the others, with the clock of its actor; and the jobs
/// whose places the root is asked for, each once.
class host_calls {
public:
  using call_later =
    std::function<void(caf::timespan delay, std::function<void()> then)>;
  using time = mesh_calls::time;

  /// @param places Where jobs run; outlives this.
  host_calls(mesh_calls::member self, mesh_calls::effects out,
             job_locations& places, call_later later);

  host_calls(const host_calls&) = delete;
  host_calls& operator=(const host_calls&) = delete;

  /// Asks the host of a node; this one's without a message.
  /// @param limit See `mesh_calls::call`.
  void ask(uint32_t node, host_question what, mesh_calls::completion then,
           std::optional<time> limit = std::nullopt);

  template <class T>
  void ask_for(uint32_t node, host_question what, completion<T> then,
               std::optional<time> limit = std::nullopt) {
    ask(node, std::move(what), reply_to<T>(std::move(then)), limit);
  }

  /// Asks the root for a process or tool of this node.
  template <class T, class Request>
  void ask_root_for(const requester& who, Request request, completion<T> then) {
    ask_for<T>(root, ask_root{who, std::move(request)}, std::move(then));
  }

  /// Asks a member and does not care for the answer.
  void tell(uint32_t node, host_question what);

  /// Asks the root where a job runs.
  /// @param then Gets an empty error once `places` knows it.
  void locate(const std::string& nspace,
              std::function<void(const caf::error&)> then);

  // -- from the NODE actor --

  void take(member_message what);
  void change_member(const member_changed& what);

  /// Has the calls looked after when they are due: after what may have answered
  /// members, other than `take`.
  void arm();

  // -- see `mesh_calls` --

  void lose_all(const std::string& why) {
    calls_.lose_all(why);
  }

  bool is_live(uint32_t node) const {
    return calls_.is_live(node);
  }

  std::vector<uint32_t> live() const {
    return calls_.live();
  }

  size_t open() const {
    return calls_.open();
  }

  size_t remembered() const {
    return calls_.remembered();
  }

  static constexpr uint32_t root = 0;

private:
  std::function<time()> now_;
  call_later call_later_;
  job_locations& places_;
  mesh_calls calls_;

  /// When the calls are looked after next.
  std::optional<time> next_tick_;

  /// Jobs whose places the root has been asked for.
  std::map<std::string, std::vector<std::function<void(const caf::error&)>>>
    locating_;
};

} // namespace troupe
