#pragma once

#include "messages/event.hpp"

#include <memory>
#include <string>
#include <utility>

namespace troupe {

/// The content of an event, which the logs that keep it share: as an event
/// while somebody is about to get it, as bytes while it is kept for those who
/// may come.
class kept_event {
public:
  explicit kept_event(std::shared_ptr<const event> what)
    : whole_(std::move(what)) {
    // nop
  }

  /// The event; made anew each time while it is bytes. Null if it nests deeper
  /// than bytes may (`max_value_depth`).
  std::shared_ptr<const event> get() const;

  /// Makes it an event again: those who get it share it.
  /// @returns whether it is one.
  bool unpack();

  /// Makes it bytes: nobody is about to get it.
  void pack();

  bool is_packed() const noexcept {
    return whole_ == nullptr;
  }

private:
  std::shared_ptr<const event> whole_;

  /// Empty if it has never been bytes: they stay, since they do not change.
  std::string bytes_;
};

} // namespace troupe
