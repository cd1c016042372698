#include "adapters/log/fd_writer.hpp"
#include "adapters/process/inherited_fd.hpp"
#include "tools/dvm_root.hpp"
#include "tools/interrupts.hpp"
#include "tools/job_streams.hpp"
#include "tools/output_document.hpp"
#include "tools/run_observer.hpp"
#include "tools/run_refusal.hpp"
#include "tools/up.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <unistd.h>

#include <iostream>

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
  void end(int status);

  run_options options_;
  std::unique_ptr<dvm_root> root_;
  job_observer_actor observer_;
  std::unique_ptr<job_streams> streams_;
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
    node.err()->write("troupe run: " + reason_of(streams.error()) + "\n");
    end(exit_status_of(streams.error()));
    return;
  }
  streams_ = std::move(*streams);
  node.out()->write(std::string{document_begin(options_.node.output)});
  auto setup = run_setup{};
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
  auto request = end_job{};
  // The host names its first job after the server.
  request.nspace = root_->name() + "@1";
  request.reason =
    "the launcher was interrupted by signal " + std::to_string(number);
  request.exit_status = 128 + number;
  caf::anon_send(root_->node().host(), std::move(request));
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
  setup.node = options_.node;
  setup.on_ready = [this] { start_job(); };
  setup.on_failed = [this](const std::string& reason) {
    root_->node().err()->write("troupe run: " + reason + "\n");
    end(3);
  };
  setup.on_terminate = [this] { end(143); };
  auto root = dvm_root::start(std::move(setup));
  if (!root) {
    std::cerr << "troupe run: " << reason_of(root.error()) << '\n';
    return 1;
  }
  root_ = std::move(*root);
  auto& loop = root_->node().loop();
  on_interrupt(loop.loop(), [this](int number) { on_signal(number); });
  loop.run();
  streams_.reset();
  observer_ = nullptr;
  root_.reset();
  return exit_status_;
}

} // namespace

int run_on_nodes(run_options options, dvm_plan plan) {
  return temporary_dvm{std::move(options)}.run(std::move(plan));
}

} // namespace troupe
