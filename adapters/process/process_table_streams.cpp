#include "adapters/process/process_table.hpp"
#include "adapters/process/terminal.hpp"
#include "adapters/process/write_input.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <utility>

// The standard streams of processes.

namespace troupe {

namespace {

/// Nanoseconds since 1970.
int64_t now() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(system_clock::now().time_since_epoch())
    .count();
}

} // namespace

bool process_table::record::is_quiet() const {
  return std::all_of(out.begin(), out.end(),
                     [](const auto& x) { return x.second->is_quiet(); });
}

bool process_table::record::is_silent() const {
  return std::all_of(out.begin(), out.end(),
                     [](const auto& x) { return x.second->is_over(); });
}

void process_table::open_output(uint64_t id, io_channels channel,
                                unique_fd fd) {
  if (!fd)
    return;
  records_.at(id).out[channel] = std::make_unique<output_pipe>(
    loop_, std::move(fd), credit_, settings_.stream_window,
    [this, id, channel](std::string bytes) {
      deliver(id, channel, std::move(bytes));
    });
}

void process_table::open_input(record& x, unique_fd fd, bool is_terminal) {
  if (!fd)
    return;
  auto make_end = input_pipe::end_maker{};
  if (is_terminal)
    make_end = [master = fd.get()](char last) {
      return end_of_input(master, last);
    };
  x.in = std::make_unique<input_pipe>(
    loop_, std::move(fd), settings_.stdin_window, std::move(make_end));
}

// -- output
// --------------------------------------------------------------------

void process_table::deliver(uint64_t id, io_channels channel,
                            std::string bytes) {
  auto& x = records_.at(id);
  const auto size = bytes.size();
  if (channel == io_channels::stdout_ && size > 0)
    ++x.untaken;
  // Output without a taker counts as taken: the process must not wait for ever.
  const auto taken = [this, id, channel, size] { on_taken(id, channel, size); };
  self_
    ->request(x.sink, caf::infinite,
              process_output{x.proc, channel, std::move(bytes), now(),
                             static_cast<uint32_t>(x.pid)})
    .then([taken](const ack&) { taken(); },
          [taken](const caf::error&) { taken(); });
}

void process_table::on_taken(uint64_t id, io_channels channel, size_t bytes) {
  const auto pos = records_.find(id);
  if (pos == records_.end())
    return;
  auto& x = pos->second;
  if (channel == io_channels::stdout_ && bytes > 0) {
    --x.untaken;
    x.wrote = std::chrono::steady_clock::now();
  }
  x.out.at(channel)->taken(bytes);
  settle(pos);
}

// -- input
// ---------------------------------------------------------------------

void process_table::write(write_stdin&& request,
                          caf::typed_response_promise<ack> reply) {
  const auto pos = latest_.find(request.proc);
  if (pos == latest_.end()) {
    reply.deliver(make_error(status::not_found,
                             to_string(request.proc) + " is not running here"));
    return;
  }
  write_input(records_.at(pos->second).in.get(), std::move(request),
              std::move(reply));
}

void process_table::close(const close_stdin& request) {
  const auto pos = latest_.find(request.proc);
  if (pos == latest_.end())
    return;
  if (const auto& in = records_.at(pos->second).in)
    in->close();
}

} // namespace troupe
