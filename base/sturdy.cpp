#include "base/sturdy.hpp"

#include "messages/status.hpp"

#include <caf/scheduled_actor.hpp>

#include <new>

namespace troupe {

namespace {

using caf::match_case;
using caf::detail::behavior_impl;
using caf::detail::invoke_result_visitor;

/// CAF ends an actor that throws, whatever its handler of exceptions says; so
/// the exception must not reach it.
class sturdy_impl : public behavior_impl {
public:
  sturdy_impl(caf::scheduled_actor* self, pointer inner)
    : behavior_impl(inner->timeout()), self_(self), inner_(std::move(inner)) {
    // nop
  }

  match_case::result invoke(invoke_result_visitor& f,
                            caf::type_erased_tuple& xs) override {
    try {
      return inner_->invoke(f, xs);
    } catch (const std::bad_alloc&) {
      return refuse(f);
    }
  }

  match_case::result invoke_empty(invoke_result_visitor& f) override {
    try {
      return inner_->invoke_empty(f);
    } catch (const std::bad_alloc&) {
      return refuse(f);
    }
  }

  void handle_timeout() override {
    inner_->handle_timeout();
  }

private:
  match_case::result refuse(invoke_result_visitor& f) {
    // An error that nobody asked for would end its receiver.
    const auto* now = self_->current_mailbox_element();
    if (now != nullptr && now->mid.is_request()) {
      auto why = make_error(status::nomem, "no memory for the request");
      f(why);
    }
    return match_case::match;
  }

  caf::scheduled_actor* self_;
  pointer inner_;
};

} // namespace

caf::behavior sturdy_behavior(caf::scheduled_actor* self, caf::behavior x) {
  return behavior_impl::pointer{
    caf::make_counted<sturdy_impl>(self, x.as_behavior_impl())};
}

} // namespace troupe
