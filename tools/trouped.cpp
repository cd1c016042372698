// The daemon of a node: serves processes and tools, runs the jobs that tools
// spawn, until it is told to end.

#include "adapters/loop/event_loop.hpp"
#include "adapters/settings/settings_file.hpp"
#include "tools/bootstrap.hpp"
#include "tools/command_line.hpp"
#include "tools/guarded_main.hpp"
#include "tools/local_node.hpp"
#include "tools/member_daemon.hpp"
#include "tools/metrics_option.hpp"
#include "tools/printing.hpp"
#include "tools/probe_answer.hpp"
#include "tools/signals.hpp"

#include <caf/send.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace {

int serve(const troupe::local_node_options& options, bool report_uri) {
  auto started = troupe::local_node::start(options);
  if (!started) {
    std::cerr << troupe::notice("trouped", troupe::reason_of(started.error()));
    return troupe::failure_status(started.error());
  }
  auto& rt = **started;
  for (const auto number : {SIGINT, SIGTERM, SIGHUP})
    rt.loop().loop().on_signal(number, [&rt] { rt.loop().stop(); });
  if (report_uri)
    std::cout << rt.uri() << std::endl;
  rt.service().set_status("serves the processes and tools of this node");
  rt.service().set_ready();
  rt.loop().run();
  rt.service().set_stopping();
  return rt.has_failed() ? troupe::cannot_work : 0;
}

int run(std::vector<std::string> args) {
  auto cli =
    CLI::App{"Serves the processes and tools of this node.", "trouped"};
  auto options = troupe::local_node_options{};
  auto report_uri = false;
  auto verbose = false;
  auto joins = false;
  auto answers = false;
  auto stays_attached = false;
  auto words = std::vector<std::string>{};
  auto bootstrap_file = std::string{};
  auto own_name = std::string{};
  auto metrics = std::string{};
  auto security = std::string{"native"};
  cli.set_version_flag("--version", "trouped " TROUPE_VERSION,
                       "Print the version and exit");
  cli.add_flag("--system-server", options.system_server,
               "Be the server that tools and singletons of this node find");
  cli.add_flag("--join", joins,
               "Be a daemon of the DVM whose root starts us and tells us what "
               "we need on standard input; for troupe up");
  cli.add_flag(
    "--probe", answers,
    "Say what this node is like, and be no daemon; for troupe doctor");
  cli.add_option("--bootstrap", bootstrap_file,
                 "Be a daemon of the DVM that this file describes, which all "
                 "its nodes have");
  cli.add_option("--node", own_name,
                 "With --bootstrap: what the file calls this node (found out "
                 "by its name and addresses)");
  cli.add_flag("--attached", stays_attached,
               "With --join: do not go into the background");
  cli.add_flag("--report-uri", report_uri, "Print the server's URI");
  cli.add_flag("-v,--verbose", verbose, "Log what happens");
  troupe::add_log_format(cli, options.logs_as);
  cli.add_option("--sensor", options.sensors, troupe::sensor_help)
    ->allow_extra_args(false);
  cli.add_option("--hook", options.hooks, troupe::hook_help)
    ->allow_extra_args(false);
  cli.add_option("--monitor", options.monitors, troupe::monitor_help)
    ->allow_extra_args(false);
  cli.add_flag("!--no-shared-memory", options.share_memory,
               troupe::shared_memory_help);
  cli.add_option("--set", words, troupe::set_help)->allow_extra_args(false);
  troupe::add_metrics_option(cli, metrics);
  cli.add_option("--security", security, "native (default) or munge")
    ->check(CLI::IsMember({"native", "munge"}));
  if (const auto status = troupe::parse_arguments(cli, std::move(args)))
    return *status;
  if (joins)
    return troupe::join(stays_attached);
  if (answers)
    return troupe::answer_probe();
  if (verbose)
    options.log_level = troupe::severity::debug;
  if (!bootstrap_file.empty())
    return troupe::bootstrap(bootstrap_file, own_name,
                             {options.log_level, options.logs_as,
                              options.sensors, options.hooks, options.monitors,
                              options.share_memory, words, metrics});
  auto settings = troupe::load_settings(words);
  if (!settings)
    return troupe::complain("trouped", troupe::reason_of(settings.error()));
  options.settings = std::move(*settings);
  options.metrics = metrics;
  options.needs_metrics = !metrics.empty();
  options.is_service = true;
  if (security == "munge")
    options.security.mechanism = troupe::security_mechanism::munge;
  return serve(options, report_uri);
}

} // namespace

int main(int argc, char** argv) {
  return troupe::guarded_main("trouped", [&] {
    troupe::outlive_user_signals();
    return run({argv + std::min(argc, 1), argv + argc});
  });
}
