#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace troupe {

/// Waits until all of several questions are answered. It counts one itself, so
/// that nothing ends while questions are still being asked:
///
///     auto all = all_of<group_list>{{}, [](group_list& found) { ... }};
///     for (const auto& x : trackers) {
///       all.add();
///       ask(x, [all](auto& y) { all->groups.push_back(y); all.done(); });
///     }
///     all.done();
///
/// Copies share what is collected and the count. Nothing is called if the actor
/// quits and the last copy goes with it.
template <class T>
class all_of {
public:
  /// @param what What the answers are collected in.
  /// @param then Called with it, once, when nothing is missing.
  all_of(T what, std::function<void(T&)> then)
    : state_(std::make_shared<state>(state{std::move(what), std::move(then)})) {
    // nop
  }

  /// One more answer is missing.
  void add() const {
    ++state_->missing;
  }

  /// An answer has come, or never will.
  void done() const {
    if (--state_->missing == 0)
      state_->then(state_->what);
  }

  T& operator*() const {
    return state_->what;
  }

  T* operator->() const {
    return &state_->what;
  }

private:
  struct state {
    T what;
    std::function<void(T&)> then;
    size_t missing = 1;
  };

  std::shared_ptr<state> state_;
};

} // namespace troupe
