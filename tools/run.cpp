#include "tools/run.hpp"

#include "adapters/hwloc/allowed_processors.hpp"
#include "adapters/log/fd_writer.hpp"
#include "tools/dvm_search.hpp"
#include "tools/interrupts.hpp"
#include "tools/job_streams.hpp"
#include "tools/output_document.hpp"
#include "tools/run_in_dvm.hpp"
#include "tools/run_observer.hpp"
#include "tools/run_options.hpp"
#include "tools/up.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <unistd.h>

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
    return 1;
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

} // namespace

int run(std::vector<std::string> args) {
  auto parsed = parse_run(std::move(args));
  if (const auto* status = std::get_if<int>(&parsed))
    return *status;
  auto& options = std::get<run_options>(parsed);
  if (options.dvm)
    return run_in_dvm(std::move(options));
  if (options.nodes.hosts.empty() && options.nodes.hostfile.empty())
    if (const auto hint = hint_of_dvms(names_of_dvms()); !hint.empty())
      std::cerr << "troupe: " << hint << '\n';
  auto plan = plan_dvm(options.nodes, dvm_surroundings::find());
  if (!plan) {
    std::cerr << "troupe run: " << reason_of(plan.error()) << '\n';
    return 1;
  }
  if (*plan)
    return run_on_nodes(std::move(options), std::move(**plan));
  fill_in_processes(options.job,
                    static_cast<uint32_t>(allowed_processors().size()));
  return run_job(options);
}

} // namespace troupe
