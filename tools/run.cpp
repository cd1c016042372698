#include "tools/run.hpp"

#include "adapters/hwloc/allowed_processors.hpp"
#include "adapters/log/fd_writer.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/process/descriptors.hpp"
#include "adapters/settings/settings_file.hpp"
#include "tools/dvm_options.hpp"
#include "tools/dvm_root.hpp"
#include "tools/guarded_main.hpp"
#include "tools/job_progress.hpp"
#include "tools/job_streams.hpp"
#include "tools/output_options.hpp"
#include "tools/printing.hpp"
#include "tools/progress_line.hpp"
#include "tools/run_in_dvm.hpp"
#include "tools/run_observer.hpp"
#include "tools/run_options.hpp"
#include "tools/signals.hpp"
#include "tools/terminal_mode.hpp"
#include "tools/tool_session.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <set>

namespace troupe {

namespace {

/// A job whose server is this process: on this node alone, or as the root of a
/// DVM that ends with it.
class own_job {
public:
  explicit own_job(run_options x) : options_(std::move(x)) {
    // nop
  }

  /// @returns the exit status.
  int run();

  /// The same on other nodes, too.
  int run(dvm_plan plan);

private:
  local_node_options node_options();
  void listen();
  caf::error start_job();
  void on_ready();
  void on_interrupt(int number);
  void leave(int number);
  void end(int status);
  void end_job(int status, const std::string& reason);
  void show_progress();
  std::string progress_text() const;
  void on_unwritten(int error, const std::string& reason);
  signal_forwarder::settings passing_on();
  void flush_then_stop();
  int wait();

  run_options options_;

  /// One of them; `node_` is of it.
  std::unique_ptr<local_node> single_;
  std::unique_ptr<dvm_root> root_;
  local_node* node_ = nullptr;
  job_observer_actor observer_;
  std::unique_ptr<job_streams> streams_;
  std::unique_ptr<signal_forwarder> forwarder_;
  std::shared_ptr<std::set<std::string>> running_ =
    std::make_shared<std::set<std::string>>();

  /// None: nobody wants to see it, or nobody could.
  std::shared_ptr<job_progress> progress_;
  std::unique_ptr<progress_line> line_;
  bool has_job_ = false;
  bool is_ending_ = false;
  user_interrupts interrupts_{[this](int x) { on_interrupt(x); },
                              [this](int x) { leave(x); }};
  int exit_status_ = 1;
};

/// Those of the node that runs the job.
local_node_options own_job::node_options() {
  auto result = options_.node;
  if (options_.with_pty && options_.screen.empty())
    result.window = terminal_size;
  result.on_unwritten = [this](int error, const std::string& reason) {
    on_unwritten(error, reason);
  };
  return result;
}

/// Takes the signals of the user, and keeps him company.
void own_job::listen() {
  auto& loop = node_->loop().loop();
  interrupts_.listen(loop);
  forwarder_ = std::make_unique<signal_forwarder>(loop, passing_on());
  if (options_.shows_progress && progress_line::is_possible(*node_->err()))
    show_progress();
}

void own_job::show_progress() {
  progress_ = std::make_shared<job_progress>();
  const auto& out = node_->out();
  line_ = std::make_unique<progress_line>(node_->loop().loop(), node_->err(),
                                          out->is_terminal() ? out : nullptr,
                                          [this] { return progress_text(); });
}

/// How far it is: the daemons, then the processes, then the daemons.
std::string own_job::progress_text() const {
  if (!root_ || (has_job_ && !is_ending_))
    return progress_->text();
  const auto here = root_->present_nodes();
  const auto all = root_->all_nodes();
  if (all == 1)
    return {};
  if (!is_ending_)
    return "started " + std::to_string(here) + " of " + std::to_string(all)
           + " nodes";
  return "ended " + std::to_string(all - std::min(here, all)) + " of "
         + std::to_string(all) + " nodes";
}

/// @returns why the job cannot be started.
caf::error own_job::start_job() {
  has_job_ = true;
  auto streams =
    job_streams::make(node_->loop(), options_, node_->sink(), node_->err());
  if (!streams)
    return std::move(streams.error());
  streams_ = std::move(*streams);
  node_->out()->write(std::string{document_begin(options_.node.output)});
  auto setup = run_setup{};
  setup.running = running_;
  setup.options = options_;
  setup.creds = {::geteuid(), ::getegid()};
  setup.host = node_->host();
  setup.sink = streams_->sink();
  setup.out = node_->out();
  setup.err = node_->err();
  setup.statistics = &node_->statistics();
  setup.progress = progress_;
  setup.on_started = [this](const std::string& name) {
    streams_->begin(name, node_->host());
  };
  setup.on_done = [this](int status) { end(status); };
  observer_ = spawn_run_observer(node_->loop().actors(), std::move(setup));
  return caf::none;
}

void own_job::leave(int number) {
  exit_status_ = 128 + number;
  node_->loop().stop();
}

/// The host ends a job at once that it is told to end again.
void own_job::on_interrupt(int number) {
  if (!has_job_) {
    end(128 + number);
    return;
  }
  end_job(128 + number,
          "the launcher was interrupted by signal " + std::to_string(number));
}

void own_job::end_job(int status, const std::string& reason) {
  if (progress_)
    progress_->end();
  auto request = troupe::end_job{};
  // The host names its first job after the server.
  request.nspace = node_->id().nspace + "@1";
  request.reason = reason;
  request.exit_status = status;
  caf::anon_send(node_->host(), std::move(request));
}

void own_job::on_unwritten(int error, const std::string& reason) {
  if (is_unread(error, options_.output))
    end_job(unread_status, unread_reason);
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
  result.on_stop = [this] {
    if (streams_)
      streams_->leave_terminal();
  };
  result.on_continue = [this] {
    if (streams_)
      streams_->take_terminal();
  };
  // A root that stands still would be taken for dead by the other nodes.
  if (node_->member())
    result.stays = [this](const std::string& line) {
      node_->err()->write(notice("troupe", line));
    };
  return result;
}

/// Lets what is still to be shown go out.
void own_job::flush_then_stop() {
  const auto last = streams_ ? document_end(options_.node.output) : "";
  node_->out()->write(std::string{last}, [this] {
    node_->err()->write("", [this] { node_->loop().stop(); });
  });
}

/// Runs the loop to its end.
/// @returns the exit status.
int own_job::wait() {
  node_->loop().run();
  line_.reset();
  forwarder_.reset();
  streams_.reset();
  observer_ = nullptr;
  return status_of_output(node_->out()->error(),
                          node_->has_failed() ? cannot_work : exit_status_,
                          options_.output, node_->lacks_output());
}

/// Ends what has been started, then the loop.
void own_job::end(int status) {
  exit_status_ = status;
  is_ending_ = true;
  if (root_)
    root_->end([this] { flush_then_stop(); });
  else
    flush_then_stop();
}

/// All nodes are there.
void own_job::on_ready() {
  fill_in_processes(options_.job, root_->slots());
  if (const auto why = start_job()) {
    node_->err()->write(notice("troupe run", reason_of(why)));
    end(streams_status(why));
  }
}

int own_job::run(dvm_plan plan) {
  ignore_broken_pipes();
  add_surroundings(options_.job);
  auto setup = dvm_root::settings{};
  setup.plan = std::move(plan);
  setup.options = options_.nodes;
  setup.is_for_a_job = true;
  setup.node = node_options();
  setup.on_ready = [this] { on_ready(); };
  setup.on_failed = [this](const std::string& reason) {
    node_->err()->write(notice("troupe run", reason));
    end(3);
  };
  setup.on_terminate = [this] { end(143); };
  auto root = dvm_root::start(std::move(setup));
  if (!root) {
    std::cerr << notice("troupe run", reason_of(root.error()));
    return failure_status(root.error());
  }
  root_ = std::move(*root);
  node_ = &root_->node();
  listen();
  return wait();
}

int own_job::run() {
  auto started = local_node::start(node_options());
  if (!started) {
    std::cerr << notice("troupe run", reason_of(started.error()));
    return failure_status(started.error());
  }
  single_ = std::move(*started);
  node_ = single_.get();
  listen();
  if (const auto why = start_job()) {
    std::cerr << notice("troupe run", reason_of(why));
    return streams_status(why);
  }
  return wait();
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
    std::cerr << notice(
      "troupe run",
      "--report-pid: cannot write " + options.report_pid
        + "; name a file in a directory of yours, or - for standard output");
    return 1;
  }
  if (const auto why = preload(options.preloads, options.node_words)) {
    std::cerr << notice("troupe run", reason_of(why));
    return exit_status_of(why);
  }
  if (options.dvm && !options.nodes.settings.empty())
    return complain("troupe run",
                    "--set is for daemons that are started, and those of "
                    "--dvm run already; give it to troupe up");
  if (options.dvm)
    return run_in_dvm(std::move(options));
  auto settings = load_settings(options.nodes.settings);
  if (!settings)
    return complain("troupe run", reason_of(settings.error()));
  options.node.settings = std::move(*settings);
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
    return own_job{std::move(options)}.run(std::move(**plan));
  }
  const auto slots = static_cast<uint32_t>(allowed_processors().size());
  show_allocation(options, {{surroundings.here.name(), slots, 0}});
  fill_in_processes(options.job, slots);
  return own_job{std::move(options)}.run();
}

} // namespace troupe
