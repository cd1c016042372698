#include "tools/run.hpp"

#include "adapters/hwloc/allowed_processors.hpp"
#include "adapters/log/fd_writer.hpp"
#include "tools/allocation_text.hpp"
#include "tools/dvm_search.hpp"
#include "tools/guarded_main.hpp"
#include "tools/interrupts.hpp"
#include "tools/job_streams.hpp"
#include "tools/notice.hpp"
#include "tools/output_document.hpp"
#include "tools/run_in_dvm.hpp"
#include "tools/run_observer.hpp"
#include "tools/run_options.hpp"
#include "tools/run_refusal.hpp"
#include "tools/signal_forwarder.hpp"
#include "tools/terminal_mode.hpp"
#include "tools/unwritten.hpp"
#include "tools/up.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <unistd.h>

#include <fstream>
#include <iostream>
#include <set>

namespace troupe {

namespace {

/// A job of this node alone.
class own_job {
public:
  explicit own_job(const run_options& x) : options_(x) {
    // nop
  }

  int run();

private:
  void end(int status, const std::string& reason);
  void on_interrupted(int number);
  void on_unwritten(int error, const std::string& reason);
  signal_forwarder::settings passing_on();
  void flush_then_stop();

  const run_options& options_;
  std::unique_ptr<local_node> node_;
  std::unique_ptr<job_streams> streams_;
  std::shared_ptr<std::set<std::string>> running_;
  int interrupts_ = 0;
  int exit_status_ = 1;
};

void own_job::end(int status, const std::string& reason) {
  auto request = end_job{};
  // The local host names its first job after the server.
  request.nspace = node_->id().nspace + "@1";
  request.reason = reason;
  request.exit_status = status;
  caf::anon_send(node_->host(), std::move(request));
}

/// Ends the job when the user interrupts the launcher; asked twice, at once;
/// asked again, the launcher waits for nobody, since whoever reads its output
/// may have stopped.
void own_job::on_interrupted(int number) {
  if (++interrupts_ > 2) {
    exit_status_ = 128 + number;
    node_->loop().stop();
    return;
  }
  end(128 + number,
      "the launcher was interrupted by signal " + std::to_string(number));
}

void own_job::on_unwritten(int error, const std::string& reason) {
  if (is_unread(error, options_.output))
    end(unread_status, unread_reason);
  else
    node_->err()->write(notice("troupe", unwritten_notice(reason)));
}

signal_forwarder::settings own_job::passing_on() {
  auto result = signal_forwarder::settings{};
  result.signals = options_.signals;
  result.jobs = [this] { return *running_; };
  result.ask = [this](job_control_request request,
                      signal_forwarder::callback done) {
    node_->control(std::move(request), std::move(done));
  };
  result.on_stop = [this] { streams_->leave_terminal(); };
  result.on_continue = [this] { streams_->take_terminal(); };
  return result;
}

/// Lets what is still to be shown go out.
void own_job::flush_then_stop() {
  node_->out()->write(std::string{document_end(options_.node.output)}, [this] {
    node_->err()->write("", [this] { node_->loop().stop(); });
  });
}

int own_job::run() {
  auto how = options_.node;
  if (options_.with_pty && options_.screen.empty())
    how.window = terminal_size;
  how.on_unwritten = [this](int error, const std::string& reason) {
    on_unwritten(error, reason);
  };
  auto started = local_node::start(std::move(how));
  if (!started) {
    std::cerr << notice("troupe run", reason_of(started.error()));
    return failure_status(started.error());
  }
  node_ = std::move(*started);
  auto& loop = node_->loop();
  auto streams = job_streams::make(loop, options_, node_->sink(), node_->err());
  if (!streams) {
    std::cerr << notice("troupe run", reason_of(streams.error()));
    return streams_status(streams.error());
  }
  streams_ = std::move(*streams);
  on_interrupt(loop.loop(), [this](int number) { on_interrupted(number); });
  auto setup = run_setup{};
  running_ = setup.running;
  const auto forwarder = signal_forwarder{loop.loop(), passing_on()};
  setup.options = options_;
  setup.creds = {::geteuid(), ::getegid()};
  setup.host = node_->host();
  setup.sink = streams_->sink();
  setup.out = node_->out();
  setup.err = node_->err();
  setup.statistics = &node_->statistics();
  setup.on_started = [this](const std::string& name) {
    streams_->begin(name, node_->host());
  };
  setup.on_done = [this](int status) {
    exit_status_ = status;
    flush_then_stop();
  };
  node_->out()->write(std::string{document_begin(options_.node.output)});
  spawn_run_observer(loop.actors(), std::move(setup));
  loop.loop().run();
  if (node_->has_failed())
    return cannot_work;
  return status_of_output(node_->out()->error(), exit_status_, options_.output,
                          node_->lacks_output());
}

/// Writes the number of this process to where it is wanted.
bool report_pid(const std::string& where) {
  if (where.empty())
    return true;
  const auto line = std::to_string(::getpid()) + "\n";
  if (where == "-")
    return static_cast<bool>(std::cout << line << std::flush);
  if (where == "+")
    return static_cast<bool>(std::cerr << line);
  return static_cast<bool>(std::ofstream{where} << line << std::flush);
}

void show_allocation(const run_options& options,
                     const std::vector<dvm_node>& nodes) {
  if (options.display.count("allocation") > 0)
    std::cerr << allocation_text(nodes);
}

} // namespace

int run(std::vector<std::string> args) {
  outlive_user_signals();
  auto parsed = parse_run(std::move(args));
  if (const auto* status = std::get_if<int>(&parsed))
    return *status;
  auto& options = std::get<run_options>(parsed);
  if (!report_pid(options.report_pid)) {
    std::cerr << notice("troupe run",
                        "--report-pid: cannot write " + options.report_pid);
    return 1;
  }
  if (const auto why = preload(options.preloads, options.node_words)) {
    std::cerr << notice("troupe run", reason_of(why));
    return exit_status_of(why);
  }
  if (options.dvm)
    return run_in_dvm(std::move(options));
  if (options.nodes.hosts.empty() && options.nodes.hostfile.empty())
    if (const auto hint = hint_of_dvms(names_of_dvms()); !hint.empty())
      std::cerr << notice("troupe", hint);
  const auto surroundings = dvm_surroundings::find();
  auto plan = plan_dvm(options.nodes, surroundings);
  if (!plan) {
    std::cerr << notice("troupe run", reason_of(plan.error()));
    return exit_status_of(plan.error());
  }
  if (*plan) {
    show_allocation(options, (**plan).nodes);
    return run_on_nodes(std::move(options), std::move(**plan));
  }
  const auto slots = static_cast<uint32_t>(allowed_processors().size());
  show_allocation(options, {{surroundings.here.name(), slots, 0}});
  fill_in_processes(options.job, slots);
  return own_job{options}.run();
}

} // namespace troupe
