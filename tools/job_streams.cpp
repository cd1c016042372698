#include "tools/job_streams.hpp"

#include "adapters/log/fd_writer.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "messages/status.hpp"
#include "tools/guarded_main.hpp"
#include "tools/printing.hpp"
#include "tools/run_options.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <unistd.h>

#include <utility>

namespace troupe {

job_streams::job_streams(loop_system& sys, const run_options& options,
                         output_sink_actor terminal)
  : system_(sys), readers_(stdin_ranks(options)), with_pty_(options.with_pty),
    terminal_(std::move(terminal)) {
  // nop
}

caf::expected<std::unique_ptr<job_streams>>
job_streams::make(loop_system& sys, const run_options& options,
                  output_sink_actor terminal, std::shared_ptr<fd_writer> err) {
  if (auto why = check_stdin(options))
    return why;
  auto result = std::unique_ptr<job_streams>{
    new job_streams{sys, options, std::move(terminal)}};
  if (options.screen.empty())
    return result;
  auto how = screen::settings{};
  how.command = options.screen;
  how.size = job_size(options);
  how.is_raw = options.with_pty;
  how.fallback = result->terminal_;
  how.warn = [err = std::move(err)](const std::string& line) {
    err->write(notice("troupe run", line));
  };
  auto windows = screen::make(sys, std::move(how));
  if (!windows)
    return std::move(windows.error());
  result->windows_ = std::move(*windows);
  return result;
}

job_streams::~job_streams() {
  caf::anon_send_exit(input_, caf::exit_reason::user_shutdown);
}

void job_streams::begin(const std::string& nspace,
                        const input_target_actor& to) {
  if (windows_)
    windows_->open(nspace, to);
  if (readers_.empty())
    return;
  has_begun_ = true;
  take_terminal();
  auto source = stdin_source_settings{};
  source.fd = STDIN_FILENO;
  source.nspace = nspace;
  source.ranks = readers_;
  input_ = system_.actors().spawn(stdin_source, &system_.loop(),
                                  &system_.pool(), to, source);
}

void job_streams::leave_terminal() {
  mode_ = terminal_mode{};
}

void job_streams::take_terminal() {
  if (with_pty_ && has_begun_ && !mode_.is_changed())
    mode_ = terminal_mode{STDIN_FILENO};
}

int streams_status(const caf::error& why) {
  return status_of(why) == status::bad_param ? exit_status_of(why)
                                             : cannot_work;
}

} // namespace troupe
