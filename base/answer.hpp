#pragma once

#include "messages/status.hpp"

#include <caf/typed_response_promise.hpp>

#include <string>
#include <utility>

namespace troupe {

/// An answer we owe and cannot forget: destroyed unused, for example because
/// its actor quits, it tells the requester `status::unreach`. A bare promise
/// would leave the requester waiting.
template <class T>
class answer {
public:
  answer() = default;

  explicit answer(caf::typed_response_promise<T> promise)
    : promise_(std::move(promise)), owed_(true) {
    // nop
  }

  answer(answer&& other) noexcept
    : promise_(std::move(other.promise_)),
      owed_(std::exchange(other.owed_, false)) {
    // nop
  }

  answer& operator=(answer&& other) noexcept {
    std::swap(promise_, other.promise_);
    std::swap(owed_, other.owed_);
    return *this;
  }

  answer(const answer&) = delete;
  answer& operator=(const answer&) = delete;

  ~answer() {
    fail(status::unreach);
  }

  /// Answers the request, unless it has been answered already.
  void give(T value) {
    if (std::exchange(owed_, false))
      promise_.deliver(std::move(value));
  }

  /// Refuses the request, unless it has been answered already.
  /// @param what For the log: names the input and the remedy.
  void fail(status code, std::string what = {}) {
    if (std::exchange(owed_, false))
      promise_.deliver(make_error(code, std::move(what)));
  }

  /// Refuses the request with an error of another request.
  void fail(caf::error err) {
    if (std::exchange(owed_, false))
      promise_.deliver(std::move(err));
  }

  /// What a handler returns to answer later.
  caf::typed_response_promise<T> promise() const {
    return promise_;
  }

private:
  caf::typed_response_promise<T> promise_;
  bool owed_ = false;
};

} // namespace troupe
