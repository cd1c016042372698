#include "adapters/log/fd_writer.hpp"
#include "adapters/process/descriptors.hpp"
#include "tools/dvm_root.hpp"
#include "tools/guarded_main.hpp"
#include "tools/interrupts.hpp"
#include "tools/job_streams.hpp"
#include "tools/notice.hpp"
#include "tools/output_document.hpp"
#include "tools/run_observer.hpp"
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

#include <iostream>
#include <set>

namespace troupe {

namespace {

/// A job with a DVM of its own.
class temporary_dvm {
public:
  explicit temporary_dvm(run_options x) : options_(std::move(x)) {
    // nop
  }

  int run(dvm_plan plan);

private:
  void start_job();
  void on_signal(int number);
  void end_the_job(int status, const std::string& reason);
  void on_unwritten(int error, const std::string& reason);
  signal_forwarder::settings passing_on();
  void end(int status);

  run_options options_;
  std::unique_ptr<dvm_root> root_;
  job_observer_actor observer_;
  std::unique_ptr<job_streams> streams_;
  std::shared_ptr<std::set<std::string>> running_ =
    std::make_shared<std::set<std::string>>();
  bool has_job_ = false;
  int interrupts_ = 0;
  int exit_status_ = 1;
};

void temporary_dvm::start_job() {
  has_job_ = true;
  auto& node = root_->node();
  fill_in_processes(options_.job, root_->slots());
  auto streams =
    job_streams::make(node.loop(), options_, node.sink(), node.err());
  if (!streams) {
    node.err()->write(notice("troupe run", reason_of(streams.error())));
    end(streams_status(streams.error()));
    return;
  }
  streams_ = std::move(*streams);
  node.out()->write(std::string{document_begin(options_.node.output)});
  auto setup = run_setup{};
  setup.running = running_;
  setup.options = options_;
  setup.creds = {::geteuid(), ::getegid()};
  setup.host = node.host();
  setup.sink = streams_->sink();
  setup.out = node.out();
  setup.err = node.err();
  setup.statistics = &node.statistics();
  setup.on_started = [this](const std::string& name) {
    streams_->begin(name, root_->node().host());
  };
  setup.on_done = [this](int status) { end(status); };
  observer_ = spawn_run_observer(node.loop().actors(), std::move(setup));
}

/// Ends the job when the user interrupts the launcher; asked twice, at once;
/// asked again, the launcher waits for nobody, since whoever reads its output
/// may have stopped.
void temporary_dvm::on_signal(int number) {
  if (++interrupts_ > 2) {
    exit_status_ = 128 + number;
    root_->node().loop().stop();
    return;
  }
  if (!has_job_) {
    end(128 + number);
    return;
  }
  end_the_job(128 + number, "the launcher was interrupted by signal "
                              + std::to_string(number));
}

void temporary_dvm::end_the_job(int status, const std::string& reason) {
  auto request = end_job{};
  // The host names its first job after the server.
  request.nspace = root_->name() + "@1";
  request.reason = reason;
  request.exit_status = status;
  caf::anon_send(root_->node().host(), std::move(request));
}

void temporary_dvm::on_unwritten(int error, const std::string& reason) {
  if (is_unread(error, options_.output))
    end_the_job(unread_status, unread_reason);
  else
    root_->node().err()->write(notice("troupe", unwritten_notice(reason)));
}

/// A root that stands still would be taken for dead by the other nodes.
signal_forwarder::settings temporary_dvm::passing_on() {
  auto result = signal_forwarder::settings{};
  result.signals = options_.signals;
  result.jobs = [this] { return *running_; };
  result.ask = [this](job_control_request request,
                      signal_forwarder::callback done) {
    root_->node().control(std::move(request), std::move(done));
  };
  result.on_stop = [this] {
    if (streams_)
      streams_->leave_terminal();
  };
  result.on_continue = [this] {
    if (streams_)
      streams_->take_terminal();
  };
  if (root_->node().member())
    result.stays = [this](const std::string& line) {
      root_->node().err()->write(notice("troupe", line));
    };
  return result;
}

void temporary_dvm::end(int status) {
  exit_status_ = status;
  root_->end([this] {
    auto& node = root_->node();
    const auto last = streams_ ? document_end(options_.node.output) : "";
    node.out()->write(std::string{last}, [&node] {
      node.err()->write("", [&node] { node.loop().stop(); });
    });
  });
}

int temporary_dvm::run(dvm_plan plan) {
  ignore_broken_pipes();
  add_surroundings(options_.job);
  auto setup = dvm_root::settings{};
  setup.plan = std::move(plan);
  setup.options = options_.nodes;
  setup.is_for_a_job = true;
  setup.node = options_.node;
  if (options_.with_pty && options_.screen.empty())
    setup.node.window = terminal_size;
  setup.node.on_unwritten = [this](int error, const std::string& reason) {
    on_unwritten(error, reason);
  };
  setup.on_ready = [this] { start_job(); };
  setup.on_failed = [this](const std::string& reason) {
    root_->node().err()->write(notice("troupe run", reason));
    end(3);
  };
  setup.on_terminate = [this] { end(143); };
  auto root = dvm_root::start(std::move(setup));
  if (!root) {
    std::cerr << notice("troupe run", reason_of(root.error()));
    return failure_status(root.error());
  }
  root_ = std::move(*root);
  auto& loop = root_->node().loop();
  on_interrupt(loop.loop(), [this](int number) { on_signal(number); });
  auto forwarder =
    std::make_unique<signal_forwarder>(loop.loop(), passing_on());
  loop.run();
  if (root_->node().has_failed())
    exit_status_ = cannot_work;
  forwarder.reset();
  const auto error = root_->node().out()->error();
  const auto lacks_output = root_->node().lacks_output();
  streams_.reset();
  observer_ = nullptr;
  root_.reset();
  return status_of_output(error, exit_status_, options_.output, lacks_output);
}

} // namespace

int run_on_nodes(run_options options, dvm_plan plan) {
  return temporary_dvm{std::move(options)}.run(std::move(plan));
}

} // namespace troupe
