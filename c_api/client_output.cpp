// Forwarded input and output.

#include "c_api/client_output.hpp"

#include "adapters/log/fd_writer.hpp"
#include "c_api/input_forwarder.hpp"
#include "c_api/library_core.hpp"
#include "c_api/request.hpp"

#include <unistd.h>

#include <algorithm>

namespace troupe::c_api {

output_handlers::output_handlers() = default;

output_handlers::~output_handlers() = default;

uint64_t output_handlers::add(pmix_iof_cbfunc_t call) {
  const auto guard = std::lock_guard{mutex_};
  handlers_[++last_].call = call;
  return last_;
}

void output_handlers::confirm(uint64_t number, uint64_t subscription) {
  const auto guard = std::lock_guard{mutex_};
  if (const auto i = handlers_.find(number); i != handlers_.end())
    i->second.subscription = subscription;
}

std::optional<output_handlers::handler>
output_handlers::remove(uint64_t number) {
  const auto guard = std::lock_guard{mutex_};
  const auto i = handlers_.find(number);
  if (i == handlers_.end())
    return std::nullopt;
  auto result = i->second;
  handlers_.erase(i);
  return result;
}

void output_handlers::deliver(const io_delivery& x) {
  auto call = pmix_iof_cbfunc_t{};
  {
    const auto guard = std::lock_guard{mutex_};
    if (const auto i = handlers_.find(x.handler); i != handlers_.end())
      call = i->second.call;
  }
  if (call == nullptr) {
    print(x);
    return;
  }
  auto infos = to_c_infos(x.infos);
  if (!infos)
    return;
  auto source = pmix_proc_t{};
  to_c(x.source, source);
  auto bytes = x.bytes;
  auto payload = pmix_byte_object_t{};
  payload.bytes = bytes.empty() ? nullptr : bytes.data();
  payload.size = bytes.size();
  call(x.handler, static_cast<pmix_iof_channel_t>(x.channel), &source, &payload,
       infos->data(), infos->size());
}

void output_handlers::print(const io_delivery& x) {
  if (x.bytes.empty())
    return;
  const auto to_out = x.channel == io_channels::stdout_;
  auto& writer = to_out ? out_ : err_;
  if (!writer)
    writer =
      std::make_unique<fd_writer>(library::instance().loop().loop(),
                                  to_out ? STDOUT_FILENO : STDERR_FILENO);
  writer->write(x.bytes);
}

void output_handlers::close_writers() {
  out_.reset();
  err_.reset();
}

void start_output(library& lib) {
  auto handlers = std::make_shared<output_handlers>();
  lib.core()->outputs = handlers;
  lib.set_output_sink(
    [handlers](const io_delivery& x) { handlers->deliver(x); });
}

void stop_output(library& lib) {
  lib.run_in_loop([&] {
    lib.core()->outputs->close_writers();
    lib.core()->inputs.reset();
  });
}

} // namespace troupe::c_api

using namespace troupe;
using namespace troupe::c_api;

namespace {

struct registration {
  pmix_hdlr_reg_cbfunc_t call = nullptr;
  void* data = nullptr;
};

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

} // namespace

// Not supported: to pull standard input, which is pushed.
pmix_status_t PMIx_IOF_pull(const pmix_proc_t procs[], size_t nprocs,
                            const pmix_info_t directives[], size_t ndirs,
                            pmix_iof_channel_t channel,
                            pmix_iof_cbfunc_t cbfunc,
                            pmix_hdlr_reg_cbfunc_t regcbfunc, void* regcbdata) {
  const auto& lib = library::instance();
  const auto code = regcbfunc == nullptr ? lib.check_blocking() : lib.check();
  if (code != PMIX_SUCCESS)
    return code;
  if (procs == nullptr || nprocs == 0 || channel == PMIX_FWD_NO_CHANNELS)
    return PMIX_ERR_BAD_PARAM;
  if ((channel & PMIX_FWD_STDIN_CHANNEL) != 0)
    return PMIX_ERR_NOT_SUPPORTED;
  TROUPE_TAKE(sources, to_procs(procs, nprocs));
  TROUPE_TAKE(options, to_infos(directives, ndirs));
  for (auto& x : *sources)
    if (x.nspace.empty())
      x.nspace = lib.proc().nspace;
  const auto handlers = lib.core()->outputs;
  const auto number = handlers->add(cbfunc);
  auto x = io_pull_request{};
  x.procs = std::move(*sources);
  x.directives = std::move(*options);
  x.channels = static_cast<io_channels>(channel);
  x.handler = number;
  if (regcbfunc == nullptr)
    return settle(*handlers, number,
                  lib.ask_and_wait<io_pull_result>(std::move(x)));
  const auto asked = lib.ask<io_pull_result>(
    std::move(x), [handlers, number, regcbfunc,
                   regcbdata](const caf::expected<io_pull_result>& y) {
      const auto outcome = settle(*handlers, number, y);
      regcbfunc(outcome < 0 ? outcome : PMIX_SUCCESS, number, regcbdata);
    });
  if (asked != PMIX_SUCCESS)
    handlers->remove(number);
  return asked;
}

pmix_status_t PMIx_IOF_deregister(size_t iofhdlr,
                                  const pmix_info_t directives[], size_t ndirs,
                                  pmix_op_cbfunc_t cbfunc, void* cbdata) {
  const auto& lib = library::instance();
  const auto code = cbfunc == nullptr ? lib.check_blocking() : lib.check();
  if (code != PMIX_SUCCESS)
    return code;
  TROUPE_TAKE(options, to_infos(directives, ndirs));
  const auto handler = lib.core()->outputs->remove(iofhdlr);
  if (!handler)
    return PMIX_ERR_NOT_FOUND;
  auto x = io_deregister_request{std::move(*options),
                                 handler->subscription.value_or(0)};
  if (cbfunc == nullptr)
    return await_op(lib, std::move(x));
  return ask_op(lib, std::move(x), cbfunc, cbdata);
}

pmix_status_t PMIx_IOF_push(const pmix_proc_t targets[], size_t ntargets,
                            pmix_byte_object_t* bo,
                            const pmix_info_t directives[], size_t ndirs,
                            pmix_op_cbfunc_t cbfunc, void* cbdata) {
  const auto& lib = library::instance();
  const auto code = cbfunc == nullptr ? lib.check_blocking() : lib.check();
  if (code != PMIX_SUCCESS)
    return code;
  if (bo != nullptr && bo->bytes == nullptr && bo->size > 0)
    return PMIX_ERR_BAD_PARAM;
  TROUPE_TAKE(receivers, to_procs(targets, ntargets));
  TROUPE_TAKE(options, to_infos(directives, ndirs));
  for (auto& x : *receivers)
    if (x.nspace.empty())
      x.nspace = lib.proc().nspace;
  auto x = io_push_request{};
  x.targets = std::move(*receivers);
  x.directives = std::move(*options);
  if (bo != nullptr && bo->size > 0)
    x.bytes = to_bytes(bo);
  else if (flag(x.directives, attr::iof_push_stdin)) {
    // Our own standard input is to be forwarded until it ends.
    const auto core = lib.core();
    lib.run_in_loop([&] {
      if (core->inputs)
        return; // It is read once.
      core->inputs = std::make_shared<input_forwarder>(
        core->loop.loop(), core->loop.pool(), std::move(x));
      core->inputs->start();
    });
    if (cbfunc != nullptr)
      lib.post([cbfunc, cbdata] { cbfunc(PMIX_SUCCESS, cbdata); });
    return PMIX_SUCCESS;
  }
  if (cbfunc == nullptr)
    return await_op(lib, std::move(x));
  return ask_op(lib, std::move(x), cbfunc, cbdata);
}
