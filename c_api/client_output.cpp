// Output of others on its way to the program.

#include "c_api/client_output.hpp"

#include "actors/io/io_options.hpp"
#include "actors/io/output_formatter.hpp"
#include "adapters/log/fd_writer.hpp"
#include "adapters/log/local_time.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/timer.hpp"
#include "c_api/input_pusher.hpp"
#include "c_api/library_core.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace troupe::c_api {

namespace {

/// How long whoever reads our standard output and error has at the end for what
/// they have not taken yet.
constexpr auto last_patience = std::chrono::seconds{5};

/// What a handler is shown.
pmix_byte_object_t payload_of(const io_delivery& x) {
  auto result = pmix_byte_object_t{};
  // Handlers get what they must not change as `char*`.
  result.bytes = x.bytes.empty() ? nullptr : const_cast<char*>(x.bytes.data());
  result.size = x.bytes.size();
  return result;
}

} // namespace

output_shape shape_for(const library& lib, const std::vector<info>& infos) {
  const auto to = lib.current_link();
  if (!to || to->counts_output())
    return nullptr;
  const auto format = read_output_format(infos);
  if (!format)
    return nullptr; // The server says what it thinks of that.
  auto result = std::make_shared<output_formatter>(
    *format, [](int64_t at) { return local_time(at); });
  return result->is_plain() ? nullptr : result;
}

output_handlers::output_handlers() = default;

output_handlers::~output_handlers() = default;

uint64_t output_handlers::add(pmix_iof_cbfunc_t call, output_shape shape,
                              bool is_buffered) {
  const auto guard = std::lock_guard{mutex_};
  handlers_[++last_] = {call, {}, std::move(shape), is_buffered};
  return last_;
}

void output_handlers::confirm(uint64_t number, uint64_t subscription) {
  const auto guard = std::lock_guard{mutex_};
  if (const auto i = handlers_.find(number); i != handlers_.end())
    i->second.subscription = subscription;
}

std::optional<output_handlers::handler> output_handlers::find(uint64_t number) {
  const auto guard = std::lock_guard{mutex_};
  const auto i = handlers_.find(number);
  if (i == handlers_.end())
    return std::nullopt;
  return i->second;
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

void output_handlers::expect_job(const output_shape& shape) {
  const auto guard = std::lock_guard{mutex_};
  expected_.push_back(shape);
}

void output_handlers::name_job(const output_shape& shape,
                               const std::string& nspace) {
  const auto guard = std::lock_guard{mutex_};
  const auto i = std::find(expected_.begin(), expected_.end(), shape);
  if (i != expected_.end())
    expected_.erase(i);
  if (!nspace.empty())
    jobs_.emplace(nspace, shape);
}

/// @pre locked
output_shape output_handlers::shape_of_job(const std::string& nspace) {
  auto i = jobs_.find(nspace);
  if (i == jobs_.end() && !expected_.empty())
    i = jobs_.emplace(nspace, expected_.front()).first;
  return i == jobs_.end() ? nullptr : i->second;
}

void output_handlers::deliver(const io_delivery& x,
                              const output_receipt& receipt) {
  auto to = handler{};
  {
    const auto guard = std::lock_guard{mutex_};
    const auto i = handlers_.find(x.handler);
    if (i != handlers_.end())
      to = i->second;
    else if (x.handler != 0 && x.handler <= last_)
      return;
    else
      to.shape = shape_of_job(x.source.nspace);
  }
  const auto is_end = x.bytes.empty();
  if (to.shape) {
    auto what = io_fragment{};
    what.stream = {x.source, x.channel};
    what.bytes = x.bytes;
    what.is_end = is_end;
    auto shown = x;
    shown.bytes = to.shape->format(std::move(what));
    if (!shown.bytes.empty())
      hand(to.call, shown, receipt);
  }
  if (!to.shape || is_end)
    hand(to.call, x, receipt);
}

void output_handlers::hand(pmix_iof_cbfunc_t call, const io_delivery& x,
                           const output_receipt& receipt) {
  if (call == nullptr) {
    print(x, receipt);
    return;
  }
  auto infos = to_c_infos(x.infos);
  if (!infos)
    return;
  auto source = pmix_proc_t{};
  to_c(x.source, source);
  auto payload = payload_of(x);
  call(x.handler, static_cast<pmix_iof_channel_t>(x.channel), &source, &payload,
       infos->data(), infos->size());
}

void output_handlers::print(const io_delivery& x,
                            const output_receipt& receipt) {
  if (x.bytes.empty())
    return;
  const auto to_out = x.channel == io_channels::stdout_;
  auto& writer = to_out ? out_ : err_;
  if (!writer)
    writer =
      std::make_unique<fd_writer>(library::instance().loop().loop(),
                                  to_out ? STDOUT_FILENO : STDERR_FILENO);
  writer->write(x.bytes, [receipt] {
    // It goes with this.
  });
}

void output_handlers::when_written(const std::function<void()>& f) {
  const auto after_out = [this, f] {
    if (err_)
      err_->write("", f);
    else
      f();
  };
  if (out_)
    out_->write("", after_out);
  else
    after_out();
}

void output_handlers::close_writers() {
  out_.reset();
  err_.reset();
}

void start_output(library& lib) {
  auto handlers = std::make_shared<output_handlers>();
  lib.core()->outputs = handlers;
  lib.core()->inputs =
    std::make_shared<input_pusher>(lib.loop().loop(), lib.loop().pool());
  lib.set_output_sink([handlers](const io_delivery& x, output_receipt receipt) {
    handlers->deliver(x, std::move(receipt));
  });
}

bool await_written(library& lib, output_handlers& handlers,
                   std::chrono::milliseconds patience) {
  const auto done = std::make_shared<waiter>();
  auto limit = std::unique_ptr<timer>{};
  lib.run_in_loop([&] {
    limit = std::make_unique<timer>(lib.loop().loop(),
                                    [done] { done->set(PMIX_ERR_TIMEOUT); });
    limit->start(patience);
    handlers.when_written([done] { done->set(PMIX_SUCCESS); });
  });
  const auto outcome = done->wait();
  lib.run_in_loop([&] { limit.reset(); });
  return outcome == PMIX_SUCCESS;
}

void stop_output(library& lib) {
  const auto core = lib.core();
  const auto close = [&] {
    // One that was not quite up has less.
    if (core->outputs)
      core->outputs->close_writers();
    if (const auto inputs = std::exchange(core->inputs, nullptr))
      inputs->close();
  };
  auto is_closed = false;
  lib.run_in_loop([&] {
    is_closed = !core->outputs || !core->outputs->has_written();
    if (is_closed)
      close();
  });
  if (is_closed)
    return;
  await_written(lib, *core->outputs, last_patience);
  lib.run_in_loop(close);
}

} // namespace troupe::c_api
