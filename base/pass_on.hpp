#pragma once

#include "base/answer.hpp"
#include "messages/connection.hpp"
#include "messages/fwd.hpp"

#include <caf/expected.hpp>
#include <caf/result.hpp>
#include <caf/timespan.hpp>

#include <functional>
#include <memory>
#include <utility>

// Answers that come from somebody else.

namespace troupe {

/// Takes the outcome of a request: once, or never if its actor quits before.
template <class T>
using completion = std::function<void(caf::expected<T>)>;

/// Turns an owed answer into a completion. If that is destroyed uncalled, the
/// requester is told `status::unreach`.
template <class T>
completion<T> pass_on(answer<T> what) {
  auto owed = std::make_shared<answer<T>>(std::move(what));
  return [owed](caf::expected<T> x) {
    if (x)
      owed->give(std::move(*x));
    else
      owed->fail(std::move(x.error()));
  };
}

template <class T>
completion<T> pass_on(const caf::typed_response_promise<T>& promise) {
  return pass_on(answer<T>{promise});
}

/// The same of what is answered with nothing but how it went: no error, or
/// why not.
inline std::function<void(const caf::error&)>
pass_on_outcome(const caf::typed_response_promise<ack>& promise) {
  return [done = pass_on<ack>(promise)](const caf::error& why) {
    if (why)
      done(why);
    else
      done(ack{});
  };
}

/// Lets `begin` answer the request at hand, now or later.
template <class T, class Self, class F>
caf::result<T> answer_later(Self* self, F begin) {
  auto promise = self->template make_response_promise<T>();
  begin(pass_on(promise));
  return promise;
}

/// Passes an answer on, and a failure. By names of their own: the type of a lambda
/// in `ask` is named after all messages that self and other understand, in several
/// kilobytes of the program for each use, and CAF's part is made for each anew.
template <class T>
struct answer_to {
  completion<T> then;

  void operator()(T& x) const {
    then(std::move(x));
  }
};

template <class T>
struct failure_to {
  completion<T> then;

  void operator()(caf::error& why) const {
    then(std::move(why));
  }
};

/// Makes a request, and passes its outcome on.
template <class T, class Self, class Handle, class... Ts>
void ask(Self* self, const Handle& other, completion<T> then, Ts&&... what) {
  self->request(other, caf::infinite, std::forward<Ts>(what)...)
    .then(answer_to<T>{then}, failure_to<T>{then});
}

} // namespace troupe
