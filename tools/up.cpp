#include "tools/up.hpp"

#include "adapters/log/fd_writer.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/process/descriptors.hpp"
#include "adapters/settings/settings_file.hpp"
#include "tools/bootstrap.hpp"
#include "tools/command_line.hpp"
#include "tools/detached.hpp"
#include "tools/dvm_root.hpp"
#include "tools/guarded_main.hpp"
#include "tools/local_node.hpp"
#include "tools/metrics_option.hpp"
#include "tools/printing.hpp"
#include "tools/signals.hpp"

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>

namespace troupe {

namespace {

constexpr int local_failure = 1;
constexpr int remote_failure = 3;

struct up_options {
  dvm_options dvm;
  std::string name;

  /// The file of a DVM whose daemons come by themselves; empty: none.
  std::string bootstrap_file;
  std::string report_uri;
  bool reports_uri = false;
  bool daemonizes = false;
  bool json = false;
  std::string log_level = "warning";
  std::string metrics;
  local_node_options node;
};

/// @returns the exit status if there is nothing to do.
std::optional<int> parse(std::vector<std::string> args, up_options& x) {
  auto cli = CLI::App{"Starts a DVM over nodes, prints `DVM ready` once all "
                      "have joined, and stays until troupe down or a signal "
                      "ends it.",
                      "troupe up"};
  add_dvm_options(cli, x.dvm);
  cli.add_option("--name", x.name, "The DVM's name, for --dvm");
  auto* file = cli.add_option(
    "--bootstrap", x.bootstrap_file,
    "Be the root of the DVM that this file describes, whose daemons come by "
    "themselves (trouped --bootstrap on the other nodes)");
  for (const auto* other :
       {"--host", "--hostfile", "--name", "--launch-agent", "--remote-shell",
        "--radix", "--networks", "--lanes", "--insecure", "--join-timeout",
        "--leave-session-attached", "--log-directory"})
    file->excludes(other);
  cli
    .add_option("--report-uri", x.report_uri,
                "Print the URI of its server, to a file if one is named")
    ->expected(0, 1);
  cli.add_flag("--json", x.json,
               "Print a line of JSON in the place of `DVM ready`");
  cli.add_flag("--daemonize", x.daemonizes,
               "Return once it is ready, and go on in the background");
  cli.add_flag("--system-server", x.node.system_server,
               "Be the server that tools and singletons of this node find");
  cli.add_option("--log-level", x.log_level, "debug, info, warning, error")
    ->check(CLI::IsMember({"debug", "info", "warning", "error"}));
  add_metrics_option(cli, x.metrics);
  add_log_format(cli, x.node.logs_as);
  cli.add_option("--monitor", x.node.monitors, monitor_help)
    ->allow_extra_args(false);
  cli.add_option("--sensor", x.node.sensors, sensor_help)
    ->allow_extra_args(false);
  cli.add_flag("!--no-shared-memory", x.node.share_memory, shared_memory_help);
  cli.add_option("--hook", x.node.hooks, hook_help)->allow_extra_args(false);
  cli.add_option("--checkpoints", x.node.checkpoints,
                 "Keep the checkpoints of jobs in this file, and take those "
                 "that an earlier DVM has kept there");
  if (const auto status = parse_arguments(cli, std::move(args)))
    return status;
  x.reports_uri = cli.count("--report-uri") > 0;
  x.node.metrics = x.metrics;
  x.node.needs_metrics = !x.metrics.empty();
  x.node.log_level = x.log_level == "debug"   ? severity::debug
                     : x.log_level == "info"  ? severity::info
                     : x.log_level == "error" ? severity::error
                                              : severity::warning;
  return std::nullopt;
}

/// The nodes, or this one alone.
caf::expected<dvm_plan> make_plan(const dvm_options& x) {
  const auto where = dvm_surroundings::find();
  auto found = plan_dvm(x, where);
  if (!found)
    return std::move(found.error());
  if (*found)
    return std::move(**found);
  auto result = dvm_plan{};
  auto nodes = order_nodes({{where.here.name(), 0, 0}}, where.here, x.own_name);
  if (!nodes)
    return std::move(nodes.error());
  nodes->front().slots.reset();
  nodes->resize(1);
  result.nodes = std::move(*nodes);
  return result;
}

/// Which DVM it is to be.
caf::expected<dvm_root::settings> prepare(const up_options& x) {
  if (!x.bootstrap_file.empty()) {
    auto part = read_bootstrap(x.bootstrap_file, x.dvm.own_name);
    if (!part)
      return std::move(part.error());
    if (part->rank != 0)
      return make_error(status::bad_param,
                        x.bootstrap_file + " makes " + part->settings.controller
                          + " the controller, and this node is "
                          + part->settings.nodes[part->rank]
                          + "; here, run trouped --bootstrap "
                          + x.bootstrap_file);
    return root_settings(std::move(*part));
  }
  auto plan = make_plan(x.dvm);
  if (!plan)
    return std::move(plan.error());
  auto result = dvm_root::settings{};
  result.plan = std::move(*plan);
  result.options = x.dvm;
  result.name = x.name;
  return result;
}

/// Writes a file for this user alone, whole or not at all.
caf::error write_private_file(const std::string& path,
                              const std::string& text) {
  const auto failure = [&] {
    return make_error(status::in_errno,
                      "cannot write " + path + ": " + std::strerror(errno)
                        + "; name a file in a directory of yours");
  };
  const auto draft = path + "." + std::to_string(::getpid());
  auto fd = unique_fd{::open(
    draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR)};
  if (!fd)
    return failure();
  auto err = caf::error{};
  if (::write(fd.get(), text.data(), text.size())
        != static_cast<ssize_t>(text.size())
      || ::fsync(fd.get()) != 0 || ::rename(draft.c_str(), path.c_str()) != 0)
    err = failure();
  if (err)
    ::unlink(draft.c_str());
  return err;
}

/// One `troupe up`.
class up_command {
public:
  explicit up_command(up_options x) : options_(std::move(x)) {
    // nop
  }

  int run();

private:
  int fail(int status, const std::string& reason) {
    self_.report(status, notice("troupe up", reason));
    return status;
  }

  void on_ready();
  void end(int status);

  up_options options_;
  detached self_;
  std::unique_ptr<dvm_root> root_;
  bool has_file_ = false;
  int exit_status_ = 0;
};

void up_command::on_ready() {
  auto text = std::string{};
  const auto uri = root_->node().uri() + "\n";
  const auto& file = options_.report_uri;
  if (options_.reports_uri && (file.empty() || file == "-")) {
    text += uri;
  } else if (options_.reports_uri) {
    if (auto err = write_private_file(file, uri)) {
      fail(local_failure, reason_of(err));
      end(local_failure);
      return;
    }
    has_file_ = true;
  }
  if (options_.json)
    text += json_line({{"type", "ready"},
                       {"dvm", root_->name()},
                       {"uri", root_->node().uri()},
                       {"pid", ::getpid()}});
  else
    text += "DVM ready\n";
  self_.report(0, text);
  if (self_.is_in_background())
    redirect_standard_streams({});
}

void up_command::end(int status) {
  exit_status_ = std::max(exit_status_, status);
  root_->end([this] { root_->node().loop().stop(); });
}

int up_command::run() {
  auto settings = load_settings(options_.dvm.settings);
  if (!settings)
    return complain("troupe up", reason_of(settings.error()));
  options_.node.settings = std::move(*settings);
  auto prepared = prepare(options_);
  if (!prepared) {
    std::cerr << notice("troupe up", reason_of(prepared.error()));
    return local_failure;
  }
  if (options_.daemonizes)
    self_ = detached::split();
  outlive_user_signals();
  ignore_broken_pipes();
  auto setup = std::move(*prepared);
  setup.node = options_.node;
  // A manager knows the process that it has started.
  setup.node.is_service = !options_.daemonizes;
  setup.on_ready = [this] { on_ready(); };
  setup.on_failed = [this](const std::string& reason) {
    fail(remote_failure, reason);
    end(remote_failure);
  };
  setup.on_terminate = [this] { end(0); };
  auto root = dvm_root::start(std::move(setup));
  if (!root)
    return fail(failure_status(root.error()), reason_of(root.error()));
  root_ = std::move(*root);
  auto& loop = root_->node().loop();
  for (const auto number : {SIGINT, SIGTERM, SIGHUP})
    loop.loop().on_signal(number, [this] { end(0); });
  loop.run();
  if (root_->node().has_failed())
    exit_status_ = cannot_work;
  if (has_file_)
    ::unlink(options_.report_uri.c_str());
  root_.reset();
  return exit_status_;
}

} // namespace

int up(std::vector<std::string> args) {
  auto options = up_options{};
  if (const auto status = parse(std::move(args), options))
    return *status;
  return up_command{std::move(options)}.run();
}

} // namespace troupe
