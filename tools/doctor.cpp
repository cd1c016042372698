#include "tools/doctor.hpp"

#include "adapters/link/link_socket.hpp"
#include "adapters/local/rendezvous.hpp"
#include "adapters/process/descriptors.hpp"
#include "messages/status.hpp"
#include "tools/command_line.hpp"
#include "tools/diagnosis.hpp"
#include "tools/dvm_options.hpp"
#include "tools/host_list.hpp"
#include "tools/node_probe.hpp"
#include "tools/open_door.hpp"
#include "tools/printing.hpp"
#include "tools/probe_answer.hpp"
#include "tools/tcp_reach.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace troupe {

namespace {

struct doctor_options {
  dvm_options nodes;

  /// Of a DVM that nobody launches; empty: there is none.
  std::string bootstrap_file;
  uint32_t timeout = 20;
  std::string security = "native";
  bool json = false;
  bool is_strict = false;
};

/// @returns the exit status if there is nothing to do.
std::optional<int> parse(std::vector<std::string> args, doctor_options& x) {
  auto cli = CLI::App{
    "Looks at this node, and at those of a list as troupe up would start "
    "daemons "
    "there: versions, ports, names, clocks, limits, directories, munge, "
    "libraries and settings of MPI. Says what is wrong, and what to do about "
    "it.",
    "troupe doctor"};
  cli.add_option(
    "--host,-H", x.nodes.hosts,
    "Nodes with commas between: n1,n2,n[3-5] (default: those of an "
    "allocation of Slurm or PBS, else this node alone)");
  cli.add_option("--hostfile,--machinefile", x.nodes.hostfile,
                 "File with a node a line");
  auto* file = cli.add_option(
    "--bootstrap", x.bootstrap_file,
    "The nodes of the DVM that this file describes, whose daemons come by "
    "themselves; and whether they have the file");
  for (const auto* other : {"--host", "--hostfile"})
    file->excludes(other);
  cli.add_option("--node", x.nodes.own_name,
                 "What this node is called in the list (found out by its name "
                 "and addresses)");
  cli.add_option("--launch-agent", x.nodes.launch_agent,
                 "Program of the daemons on the nodes (default: the trouped "
                 "beside this program)");
  cli.add_option("--remote-shell", x.nodes.remote_shell,
                 "Command that runs others on a node (default: ssh -x -o "
                 "BatchMode=yes; srun in an allocation of Slurm)");
  cli
    .add_option("--timeout", x.timeout,
                "Seconds that a node has to answer (default 20)")
    ->check(CLI::Range(1, 3600));
  cli
    .add_option("--security", x.security,
                "munge: daemons are to run with --security munge")
    ->check(CLI::IsMember({"native", "munge"}));
  cli.add_flag("--strict", x.is_strict, "Fail for warnings, too");
  cli.add_flag("--json", x.json, "Print an object of JSON (docs/json.md)");
  return parse_arguments(cli, std::move(args));
}

/// One `troupe doctor`.
class examination {
public:
  /// @param controller The node of the root, as a bootstrap file has it; empty:
  ///                   this one.
  examination(doctor_options options, dvm_plan plan, std::string programs,
              std::string controller)
    : options_(std::move(options)), plan_(std::move(plan)),
      programs_(std::move(programs)), controller_(std::move(controller)) {
    // nop
  }

  int run();

private:
  void ask_this_node();
  void ask_node(size_t index);
  void ask_others();
  std::vector<diagnosed_node> judge() const;

  doctor_options options_;
  dvm_plan plan_;
  std::string programs_;
  std::string controller_;
  open_door door_;
  probe_request request_;
  std::vector<node_report> reports_;
};

void examination::ask_this_node() {
  auto failure = std::error_code{};
  request_.directory = std::filesystem::current_path(failure).string();
  if (!options_.bootstrap_file.empty())
    request_.bootstrap =
      std::filesystem::absolute(options_.bootstrap_file, failure).string();
  request_.own_name = options_.nodes.own_name;
  auto& report = reports_.front();
  report.name = plan_.nodes.front().name;
  report.is_here = true;
  report.outcome.facts =
    look_at_node(request_, door_.port().number, door_.port().trouble);
  // What the others are asked besides.
  const auto& facts = *report.outcome.facts;
  request_.own_name.clear();
  request_.names = {controller_.empty() ? node_name() : controller_};
  if (facts.port != 0)
    for (const auto& x : facts.addresses)
      request_.reach.push_back({x, facts.port});
}

void examination::ask_node(size_t index) {
  auto& report = reports_[index];
  report.name = plan_.nodes[index].name;
  report.address = resolve({report.name}, name_time).front();
  auto what = request_;
  // One for each: munge takes none twice.
  if (reports_.front().outcome.facts->munge_trouble.empty())
    if (make_munge_credential(what.credential))
      what.credential.clear();
  auto program = plan_.agent;
  program.emplace_back("--probe");
  const auto command = remote_command(plan_.shell, report.name, program);
  report.command = command.front();
  report.outcome =
    probe_node(command, what, std::chrono::seconds{options_.timeout});
}

void examination::ask_others() {
  const auto use = current_descriptors();
  const auto left = use.limit - std::min(use.limit, use.in_use);
  const auto n = probes_at_a_time(left, reports_.size() - 1);
  auto next = std::atomic<size_t>{1};
  const auto ask_some = [&] {
    for (auto x = next++; x < reports_.size(); x = next++)
      ask_node(x);
  };
  auto threads = std::vector<std::thread>{};
  try {
    while (threads.size() + 1 < n)
      threads.emplace_back(ask_some);
  } catch (const std::system_error&) {
    // With fewer it takes longer.
  }
  ask_some();
  for (auto& x : threads)
    x.join();
}

std::vector<diagnosed_node> examination::judge() const {
  auto wish = diagnosis_wish{};
  wish.has_others = reports_.size() > 1;
  wish.wants_munge = options_.security == "munge";
  wish.has_no_launcher = !options_.bootstrap_file.empty();
  auto result = std::vector<diagnosed_node>{};
  for (const auto& x : reports_)
    result.push_back({x, diagnose(x, &reports_.front(), wish)});
  // Daemons are started from there if nobody says otherwise.
  const auto daemon = programs_ + "/trouped";
  if (options_.nodes.launch_agent.empty()
      && ::access(daemon.c_str(), X_OK) != 0)
    result.front().findings.insert(
      result.front().findings.begin(),
      finding{"program", gravity::error, daemon + ": " + std::strerror(errno),
              "install the whole of Troupe, or say where trouped is by "
              "--launch-agent"});
  return result;
}

int examination::run() {
  reports_.resize(plan_.nodes.size());
  ask_this_node();
  if (reports_.size() > 1)
    ask_others();
  const auto nodes = judge();
  if (options_.json)
    std::cout << json_document(to_json(nodes));
  else
    std::cout << to_text(nodes);
  // What nobody gets is told by guarded_main.
  if (!std::cout.flush())
    return 0;
  return exit_status_of(nodes, options_.is_strict);
}

caf::expected<bootstrap_settings> bootstrap_of(const std::string& file) {
  const auto text = read_text_file(file);
  if (!text)
    return text.error();
  return parse_bootstrap(*text, file);
}

} // namespace

int doctor(std::vector<std::string> args) {
  auto options = doctor_options{};
  if (const auto status = parse(std::move(args), options))
    return *status;
  const auto where = dvm_surroundings::find();
  auto controller = std::string{};
  if (!options.bootstrap_file.empty()) {
    const auto settings = bootstrap_of(options.bootstrap_file);
    if (!settings)
      return complain("troupe doctor", reason_of(settings.error()));
    controller = settings->controller;
    for (const auto& x : settings->nodes)
      options.nodes.hosts += (options.nodes.hosts.empty() ? "" : ",") + x;
  }
  auto plan = plan_dvm(options.nodes, where);
  if (!plan)
    return complain("troupe doctor", reason_of(plan.error()));
  auto nodes = dvm_plan{};
  if (*plan)
    nodes = std::move(**plan);
  else
    nodes.nodes.push_back({where.here.name(), {}, 0});
  return examination{std::move(options), std::move(nodes), where.programs,
                     std::move(controller)}
    .run();
}

} // namespace troupe
