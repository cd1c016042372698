// Event handlers and events.

#include "actors/events/handler_chain.hpp"
#include "c_api/event_desk.hpp"
#include "c_api/group_desk.hpp"
#include "c_api/helpers/failure.hpp"
#include "c_api/request.hpp"
#include "c_api/server_calls.hpp"
#include "config/defaults.hpp"

#include <limits>

using namespace troupe;
using namespace troupe::c_api;

namespace {

/// A handler from what the program says of it.
c_handler handler_of(pmix_notification_fn_t function, const pmix_info_t* infos,
                     size_t ninfo) {
  auto result = c_handler{};
  result.function = function;
  for (size_t i = 0; i < ninfo; ++i)
    if (text_of(infos[i].key) == attr::event_return_object
        && infos[i].value.type == PMIX_POINTER)
      result.object = infos[i].value.data.ptr;
  return result;
}

/// Stands for a handler's function, with its object.
uint64_t number_of(const c_handler& x) {
  const auto object = x.object ? reinterpret_cast<uintptr_t>(*x.object) : 0;
  return reinterpret_cast<uintptr_t>(x.function)
         ^ (uint64_t{object} * 0x9e3779b97f4a7c15U);
}

/// Runs `task` with the desk on the progress thread, in the order of calls.
/// @returns whether it will run; if the library is finalized before, it does
///          not, and what it holds is destroyed.
bool at_desk(const library& lib, std::function<void(event_desk&)> task) {
  if (lib.in_progress_thread()) {
    if (auto* desk = event_desk::current())
      task(*desk);
    return true;
  }
  return lib.post([task = std::move(task)] {
    if (auto* desk = event_desk::current())
      task(*desk);
  });
}

/// The number of a new handler for the caller, or why there is none.
pmix_status_t code_of_handler(const caf::expected<handler_registered>& x) {
  if (!x)
    return to_c(x.error());
  const auto most = static_cast<uint64_t>(std::numeric_limits<int>::max());
  return x->id <= most ? static_cast<pmix_status_t>(x->id)
                       : PMIX_ERR_OUT_OF_RESOURCE;
}

} // namespace

pmix_status_t PMIx_Register_event_handler(pmix_status_t codes[], size_t ncodes,
                                          pmix_info_t info[], size_t ninfo,
                                          pmix_notification_fn_t evhdlr,
                                          pmix_hdlr_reg_cbfunc_t cbfunc,
                                          void* cbdata) try {
  const auto& lib = library::instance();
  const auto ready = cbfunc != nullptr ? lib.check() : lib.check_blocking();
  if (ready != PMIX_SUCCESS)
    return ready;
  if (evhdlr == nullptr || (codes == nullptr && ncodes > 0))
    return PMIX_ERR_BAD_PARAM;
  if (ncodes > defaults::event_codes_per_client)
    return PMIX_ERR_OUT_OF_RESOURCE;
  TROUPE_TAKE(directives,
              to_directives(pmix_call::register_event_handler, info, ninfo));
  if (const auto why = spell_out_groups(lib, *directives))
    return to_c(why);
  auto request = register_handler{};
  for (size_t i = 0; i < ncodes; ++i) {
    request.codes.push_back(static_cast<status>(codes[i]));
    if (request.codes.back() == default_events)
      return PMIX_ERR_BAD_PARAM; // No code: it stands for all.
  }
  auto handler = handler_of(evhdlr, info, ninfo);
  handler.is_oneshot = flag(*directives, attr::event_oneshot);
  request.function = number_of(handler);
  request.directives = std::move(*directives);
  event_desk::events_of_ours().expect(lib, request.codes);
  const auto begin = [&](event_desk::on_registered done) {
    auto answer =
      std::make_shared<one_answer<handler_registered>>(std::move(done));
    return at_desk(lib, [request, handler, answer](event_desk& desk) {
      desk.register_handler(request, handler,
                            [answer](caf::expected<handler_registered> x) {
                              (*answer)(std::move(x));
                            });
    });
  };
  if (cbfunc != nullptr) {
    begin([cbfunc, cbdata](const caf::expected<handler_registered>& x) {
      cbfunc(x ? PMIX_SUCCESS : to_c(x.error()),
             x ? static_cast<size_t>(x->id) : SIZE_MAX, cbdata);
    });
    return PMIX_SUCCESS;
  }
  // Here, not on the thread that we wait for: it may load CAF, and who calls from a
  // constructor of a library that is being loaded has the loader's lock.
  lib.loop().actors();
  const auto done = std::make_shared<waiter>();
  begin([done](const caf::expected<handler_registered>& x) {
    done->set(code_of_handler(x));
  });
  return done->wait();
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Deregister_event_handler(size_t evhdlr_ref,
                                            pmix_op_cbfunc_t cbfunc,
                                            void* cbdata) try {
  const auto& lib = library::instance();
  if (const auto ready = lib.check(); ready != PMIX_SUCCESS)
    return ready;
  // A handler that deregisters itself is not called again, and need not wait.
  if (lib.in_progress_thread()) {
    auto* desk = event_desk::current();
    const auto tell = [cbfunc, cbdata](const caf::expected<ack>& x) {
      if (cbfunc != nullptr)
        cbfunc(code_of(x), cbdata);
    };
    return desk != nullptr && desk->deregister_handler(evhdlr_ref, tell)
             ? PMIX_SUCCESS
             : PMIX_ERR_BAD_PARAM;
  }
  const auto done = std::make_shared<waiter>();
  const auto tell = [=](const caf::expected<ack>& x) {
    if (cbfunc != nullptr)
      cbfunc(code_of(x), cbdata);
    else
      done->set(code_of(x));
  };
  auto answer = std::make_shared<one_answer<ack>>(tell);
  at_desk(lib, [evhdlr_ref, answer](event_desk& desk) {
    const auto pass = [answer](caf::expected<ack> x) {
      (*answer)(std::move(x));
    };
    if (!desk.deregister_handler(evhdlr_ref, pass))
      pass(make_error(status::bad_param,
                      "there is no event handler " + std::to_string(evhdlr_ref)
                        + "; give the number that its registration brought"));
  });
  answer.reset();
  return cbfunc != nullptr ? PMIX_SUCCESS : done->wait();
} catch (...) {
  return status_of_exception();
}

namespace {

/// Why there is no such event.
pmix_status_t fault_of(const notify_request& x) {
  // Those beyond are no ranges, PMIX_RANGE_INVALID included.
  const auto is_range = x.range <= data_range::proc_local;
  const auto is_complete =
    x.range != data_range::custom || find(x.infos, attr::event_custom_range);
  return is_range && is_complete ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

/// Takes an event to our own handlers, if they are among those whom it is for.
pmix_status_t raise_here(const library& lib, notify_request x) {
  if (x.code == status::group_construct_abort)
    at_desk(lib, [x](event_desk&) { group_desk::current()->raise(x); });
  auto self = lib.proc();
  if (!is_for_notifier(x, self))
    return PMIX_SUCCESS;
  return event_desk::events_of_ours().push(
    lib, event{x.code, std::move(self), x.range, std::move(x.infos)});
}

} // namespace

pmix_status_t PMIx_Notify_event(pmix_status_t status, const pmix_proc_t* source,
                                pmix_data_range_t range,
                                const pmix_info_t info[], size_t ninfo,
                                pmix_op_cbfunc_t cbfunc, void* cbdata) try {
  const auto& lib = library::instance();
  if (const auto ready = lib.check(); ready != PMIX_SUCCESS)
    return ready;
  TROUPE_TAKE(infos, to_infos(info, ninfo));
  if (const auto why = spell_out_groups(lib, *infos))
    return to_c(why);
  auto request =
    notify_request{static_cast<troupe::status>(status),
                   static_cast<data_range>(range), std::move(*infos)};
  if (const auto fault = fault_of(request); fault != PMIX_SUCCESS)
    return fault;
  const auto tell = [cbfunc, cbdata](pmix_status_t code) {
    if (cbfunc != nullptr)
      cbfunc(code, cbdata);
  };
  if (!lib.current_link()) {
    auto from = source != nullptr ? to_proc(*source) : proc_id{"", rank_undef};
    if (raise_from_host(
          event{request.code, std::move(from), request.range, request.infos})) {
      if (cbfunc != nullptr)
        lib.post([=] { tell(PMIX_SUCCESS); });
      return PMIX_SUCCESS;
    }
  }
  // Nobody waits on the progress thread, nor for what stays on the node: Open
  // MPI reports failures that way, without a callback.
  const auto waits = cbfunc == nullptr && request.range != data_range::local
                     && request.range != data_range::proc_local
                     && !lib.in_progress_thread();
  if (cbfunc == nullptr && !waits && request.range == data_range::local) {
    // Others first: they have the longer way.
    const auto code = lib.tell<ack>(request);
    const auto own = raise_here(lib, std::move(request));
    return code != PMIX_SUCCESS ? code : own;
  }
  if (request.range == data_range::proc_local) {
    const auto code = raise_here(lib, std::move(request));
    if (code == PMIX_SUCCESS && cbfunc != nullptr)
      lib.post([=] { tell(PMIX_SUCCESS); });
    return code;
  }
  if (const auto code = raise_here(lib, request); code != PMIX_SUCCESS)
    return code;
  if (waits)
    return code_of(lib.ask_and_wait<ack>(std::move(request)));
  if (cbfunc == nullptr)
    return lib.tell<ack>(std::move(request));
  return lib.ask<ack>(std::move(request), [tell](const caf::expected<ack>& x) {
    tell(code_of(x));
  });
} catch (...) {
  return status_of_exception();
}
