// Forwarded input and output.
// Source: PMIx Standard v5, "IO Forwarding".

#include "actors/io/io_options.hpp"
#include "base/make_info.hpp"
#include "c_api/client_output.hpp"
#include "c_api/helpers/failure.hpp"
#include "c_api/input_pusher.hpp"
#include "c_api/library_core.hpp"
#include "c_api/request.hpp"

#include <utility>

using namespace troupe;
using namespace troupe::c_api;

namespace {

/// What a subscription came to: the handler's number, or an error.
pmix_status_t settle(output_handlers& handlers, uint64_t number,
                     const caf::expected<io_pull_result>& x) {
  if (x) {
    handlers.confirm(number, x->subscription);
    return static_cast<pmix_status_t>(number);
  }
  handlers.remove(number);
  return to_c(x.error());
}

/// The processes that a call names; an empty namespace is ours, if we are in a
/// job, for a tool that of all jobs.
caf::expected<std::vector<proc_id>>
to_ends(const library& lib, const pmix_proc_t* procs, size_t n) {
  auto result = to_procs(procs, n);
  if (!result)
    return result;
  for (auto& x : *result)
    if (x.nspace.empty() && !lib.has_role(role::tool))
      x.nspace = lib.proc().nspace;
  if (auto why = spell_out_groups(lib, *result))
    return why;
  return result;
}

/// Reads our own standard input no further.
void stop_stdin(const library& lib) {
  const auto core = lib.core();
  lib.run_in_loop([&] {
    if (core->inputs)
      core->inputs->stop_stdin();
  });
}

/// Begins or ends the forwarding of our own standard input.
pmix_status_t forward_stdin(const library& lib, io_push_request x,
                            pmix_op_cbfunc_t f, void* data) {
  const auto core = lib.core();
  if (flag(x.directives, attr::iof_stop))
    stop_stdin(lib);
  else
    lib.run_in_loop([&] {
      if (core->inputs)
        core->inputs->forward_stdin(std::move(x));
    });
  if (f != nullptr)
    lib.post([f, data] { f(PMIX_SUCCESS, data); });
  return PMIX_SUCCESS;
}

/// Pushes; `done` gets the outcome once, `unreach` if the library ends first.
pmix_status_t push(const library& lib, io_push_request x,
                   std::function<void(pmix_status_t)> done) {
  auto owed = std::make_shared<one_answer<ack>>(
    [done = std::move(done)](const caf::expected<ack>& y) {
      done(code_of(y));
    });
  const auto is_kept = lib.post(
    [owed, x = std::move(x), core = std::weak_ptr{lib.core()}]() mutable {
      const auto self = core.lock();
      if (!self || !self->inputs)
        return;
      self->inputs->push(std::move(x), [owed](const caf::error& why) {
        (*owed)(why ? caf::expected<ack>{why} : caf::expected<ack>{ack{}});
      });
    });
  return is_kept ? PMIX_SUCCESS : PMIX_ERR_INIT;
}

} // namespace

// Not supported: to pull standard input, which is pushed.
pmix_status_t PMIx_IOF_pull(const pmix_proc_t procs[], size_t nprocs,
                            const pmix_info_t directives[], size_t ndirs,
                            pmix_iof_channel_t channel,
                            pmix_iof_cbfunc_t cbfunc,
                            pmix_hdlr_reg_cbfunc_t regcbfunc,
                            void* regcbdata) try {
  const auto& lib = library::instance();
  const auto code = regcbfunc == nullptr ? lib.check_blocking() : lib.check();
  if (code != PMIX_SUCCESS)
    return code;
  if (procs == nullptr || nprocs == 0 || channel == PMIX_FWD_NO_CHANNELS)
    return PMIX_ERR_BAD_PARAM;
  if ((channel & PMIX_FWD_STDIN_CHANNEL) != 0)
    return PMIX_ERR_NOT_SUPPORTED;
  TROUPE_TAKE(sources, to_ends(lib, procs, nprocs));
  TROUPE_TAKE(options, to_infos(directives, ndirs));
  const auto handlers = lib.core()->outputs;
  const auto is_buffered =
    find(*options, attr::iof_buffering_size) != nullptr
    || find(*options, attr::iof_buffering_time) != nullptr;
  const auto number =
    handlers->add(cbfunc, shape_for(lib, *options), is_buffered);
  auto x = io_pull_request{};
  x.procs = std::move(*sources);
  x.directives = std::move(*options);
  x.channels = static_cast<io_channels>(channel);
  x.handler = number;
  const auto limit = limit_of(x.directives);
  if (regcbfunc == nullptr)
    return settle(*handlers, number,
                  lib.ask_and_wait<io_pull_result>(std::move(x), limit));
  const auto asked = lib.ask<io_pull_result>(
    std::move(x), [handlers, number, regcbfunc,
                   regcbdata](const caf::expected<io_pull_result>& y) {
      const auto outcome = settle(*handlers, number, y);
      regcbfunc(outcome < 0 ? outcome : PMIX_SUCCESS, number, regcbdata);
    });
  if (asked != PMIX_SUCCESS)
    handlers->remove(number);
  return asked;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_IOF_deregister(size_t iofhdlr,
                                  const pmix_info_t directives[], size_t ndirs,
                                  pmix_op_cbfunc_t cbfunc, void* cbdata) try {
  const auto& lib = library::instance();
  const auto code = cbfunc == nullptr ? lib.check_blocking() : lib.check();
  if (code != PMIX_SUCCESS)
    return code;
  TROUPE_TAKE(options,
              to_directives(pmix_call::iof_deregister, directives, ndirs));
  const auto handlers = lib.core()->outputs;
  const auto handler = handlers->find(iofhdlr);
  if (!handler)
    return PMIX_ERR_NOT_FOUND;
  // What is kept together comes before the answer, if the server is ours;
  // anything else is not wanted any more.
  if (handler->is_buffered)
    options->push_back(make_info(io_flush_key, value::boolean(true)));
  else
    handlers->remove(iofhdlr);
  auto x = io_deregister_request{std::move(*options),
                                 handler->subscription.value_or(0)};
  if (cbfunc != nullptr) {
    const auto asked =
      lib.ask<ack>(std::move(x), [handlers, iofhdlr, cbfunc,
                                  cbdata](const caf::expected<ack>& y) {
        handlers->remove(iofhdlr);
        cbfunc(code_of(y), cbdata);
      });
    if (asked != PMIX_SUCCESS)
      handlers->remove(iofhdlr);
    return asked;
  }
  const auto outcome = await_op(lib, std::move(x));
  // The handler may be running, or about to get what came before the answer:
  // what it uses may go when we return.
  lib.run_in_loop([&] { handlers->remove(iofhdlr); });
  return outcome;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_IOF_push(const pmix_proc_t targets[], size_t ntargets,
                            pmix_byte_object_t* bo,
                            const pmix_info_t directives[], size_t ndirs,
                            pmix_op_cbfunc_t cbfunc, void* cbdata) try {
  const auto& lib = library::instance();
  const auto code = cbfunc == nullptr ? lib.check_blocking() : lib.check();
  if (code != PMIX_SUCCESS)
    return code;
  if (bo != nullptr && bo->bytes == nullptr && bo->size > 0)
    return PMIX_ERR_BAD_PARAM;
  TROUPE_TAKE(receivers, to_ends(lib, targets, ntargets));
  TROUPE_TAKE(options, to_infos(directives, ndirs));
  auto x = io_push_request{};
  x.targets = std::move(*receivers);
  x.directives = std::move(*options);
  const auto is_end = flag(x.directives, attr::iof_complete);
  if (is_end)
    // The end of our own input, too, if that is what they get.
    stop_stdin(lib);
  if (bo != nullptr && bo->size > 0)
    x.bytes = to_bytes(bo);
  else if (!is_end
           && (flag(x.directives, attr::iof_push_stdin)
               || flag(x.directives, attr::iof_stop))) {
    // What comes of the pieces is told to nobody.
    if (auto why =
          check_required(pmix_call::iof_push, x.directives, next_host::ours))
      return to_c(why);
    return forward_stdin(lib, std::move(x), cbfunc, cbdata);
  }
  if (cbfunc != nullptr)
    return push(lib, std::move(x), [cbfunc, cbdata](pmix_status_t outcome) {
      cbfunc(outcome, cbdata);
    });
  const auto done = std::make_shared<waiter>();
  const auto asked = push(
    lib, std::move(x), [done](pmix_status_t outcome) { done->set(outcome); });
  return asked == PMIX_SUCCESS ? done->wait() : asked;
} catch (...) {
  return status_of_exception();
}
