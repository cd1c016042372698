#pragma once

#include "c_api/helpers/failure.hpp"
#include "messages/status.hpp"

#include <caf/expected.hpp>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace troupe::c_api {

class library_core;

/// An answer that goes to its receiver exactly once: if it is dropped, as
/// `unreach`.
template <class Answer>
class one_answer {
public:
  explicit one_answer(std::function<void(caf::expected<Answer>)> receiver)
    : receiver_(std::move(receiver)) {
    // nop
  }

  one_answer(const one_answer&) = delete;

  one_answer& operator=(const one_answer&) = delete;

  ~one_answer() {
    if (receiver_)
      insist([this] {
        receiver_(make_error(status::unreach, "the library is finalized"));
      });
  }

  void operator()(caf::expected<Answer> x) {
    if (const auto f = std::exchange(receiver_, nullptr))
      f(std::move(x));
  }

private:
  std::function<void(caf::expected<Answer>)> receiver_;
};

/// A caller who waits for an outcome.
class waiter {
public:
  waiter();

  ~waiter();

  void set(pmix_status_t code);

  /// @returns what was set. With progress driven by the program, drives it.
  pmix_status_t wait();

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<pmix_status_t> code_; // guarded by mutex_

  /// Set if the program drives progress.
  std::shared_ptr<library_core> driver_;
};

} // namespace troupe::c_api
