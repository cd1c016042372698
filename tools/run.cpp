#include "tools/run.hpp"

#include "adapters/hwloc/allowed_processors.hpp"
#include "adapters/log/fd_writer.hpp"
#include "tools/allocation_text.hpp"
#include "tools/interrupts.hpp"
#include "tools/job_streams.hpp"
#include "tools/output_document.hpp"
#include "tools/run_in_dvm.hpp"
#include "tools/run_observer.hpp"
#include "tools/run_options.hpp"
#include "tools/run_refusal.hpp"
#include "tools/up.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <unistd.h>

#include <fstream>
#include <iostream>

namespace troupe {

namespace {

/// Ends the job when the user interrupts the launcher; asked twice, at once;
/// asked again, the launcher waits for nobody, since whoever reads its output
/// may have stopped.
void end_on_signals(local_node& rt, std::string& nspace, int& exit_status) {
  const auto count = std::make_shared<int>(0);
  on_interrupt(rt.loop().loop(),
               [&rt, &nspace, &exit_status, count](int number) {
                 if (++*count > 2) {
                   exit_status = 128 + number;
                   rt.loop().stop();
                   return;
                 }
                 auto request = end_job{};
                 request.nspace = nspace;
                 request.reason = "the launcher was interrupted by signal "
                                  + std::to_string(number);
                 request.exit_status = 128 + number;
                 caf::anon_send(rt.host(), std::move(request));
               });
}

/// Lets what is still to be shown go out.
void flush_then_stop(local_node& rt, const output_format& format) {
  rt.out()->write(std::string{document_end(format)},
                  [&rt] { rt.err()->write("", [&rt] { rt.loop().stop(); }); });
}

int run_job(const run_options& options) {
  auto started = local_node::start(options.node);
  if (!started) {
    std::cerr << "troupe run: " << reason_of(started.error()) << '\n';
    return 1;
  }
  auto& rt = **started;
  auto exit_status = 1;
  auto streams = job_streams::make(rt.loop(), options, rt.sink(), rt.err());
  if (!streams) {
    std::cerr << "troupe run: " << reason_of(streams.error()) << '\n';
    return exit_status_of(streams.error());
  }
  rt.out()->write(std::string{document_begin(options.node.output)});
  // The local host names its first job after the server.
  auto nspace = rt.id().nspace + "@1";
  end_on_signals(rt, nspace, exit_status);
  auto setup = run_setup{};
  setup.options = options;
  setup.creds = {::geteuid(), ::getegid()};
  setup.host = rt.host();
  setup.sink = (**streams).sink();
  setup.out = rt.out();
  setup.err = rt.err();
  setup.statistics = &rt.statistics();
  setup.on_started = [&](const std::string& name) {
    (**streams).begin(name, rt.host());
  };
  setup.on_done = [&](int status) {
    exit_status = status;
    flush_then_stop(rt, options.node.output);
  };
  spawn_run_observer(rt.loop().actors(), std::move(setup));
  rt.loop().run();
  return exit_status;
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
  auto parsed = parse_run(std::move(args));
  if (const auto* status = std::get_if<int>(&parsed))
    return *status;
  auto& options = std::get<run_options>(parsed);
  if (!report_pid(options.report_pid)) {
    std::cerr << "troupe run: --report-pid: cannot write " << options.report_pid
              << '\n';
    return 1;
  }
  if (options.dvm)
    return run_in_dvm(std::move(options));
  const auto surroundings = dvm_surroundings::find();
  auto plan = plan_dvm(options.nodes, surroundings);
  if (!plan) {
    std::cerr << "troupe run: " << reason_of(plan.error()) << '\n';
    return exit_status_of(plan.error());
  }
  if (*plan) {
    show_allocation(options, (**plan).nodes);
    return run_on_nodes(std::move(options), std::move(**plan));
  }
  const auto slots = static_cast<uint32_t>(allowed_processors().size());
  show_allocation(options, {{surroundings.here.name(), slots, 0}});
  fill_in_processes(options.job, slots);
  return run_job(options);
}

} // namespace troupe
