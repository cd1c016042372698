#include "tools/dvm_options.hpp"

#include "adapters/sockets/system_error.hpp"
#include "messages/status.hpp"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>

namespace troupe {

namespace {

/// The largest radix that makes sense.
constexpr uint32_t most_children = 1024;

caf::expected<host_list> listed_hosts(const dvm_options& x,
                                      const dvm_surroundings& where) {
  if (!x.hosts.empty() && !x.hostfile.empty())
    return make_error(status::bad_param,
                      "--host and --hostfile both name nodes; give one of "
                      "them");
  if (!x.hosts.empty())
    return parse_host_option(x.hosts);
  auto text = where.read(x.hostfile);
  if (!text)
    return std::move(text.error());
  return parse_hostfile(*text, x.hostfile);
}

bool is_only_here(const host_list& hosts, const this_host& here) {
  return hosts.size() == 1 && here.is(hosts.front().name);
}

std::vector<std::string> split_at_commas(const std::string& list) {
  auto result = CLI::detail::split(list, ',');
  if (list.empty())
    result.clear();
  return result;
}

} // namespace

void add_dvm_options(CLI::App& cli, dvm_options& x) {
  cli.add_option("--host,-H", x.hosts,
                 "Nodes with commas between, each with its slots: "
                 "n1,n2:4,n[3-5]:*");
  cli.add_option("--hostfile,--machinefile", x.hostfile,
                 "File with a node a line: NAME [slots=N]");
  cli.add_option("--node", x.own_name,
                 "What this node is called in the list (found out by its name "
                 "and addresses)");
  cli.add_option("--launch-agent", x.launch_agent,
                 "Program started on the nodes (default: the trouped beside "
                 "this program)");
  cli.add_option("--remote-shell", x.remote_shell,
                 "Command that runs others on a node, called as COMMAND HOST "
                 "PROGRAM ARGUMENTS (default: ssh -x -o BatchMode=yes; srun in "
                 "an allocation of Slurm)");
  cli.add_option("--radix", x.radix, "Children per daemon (default 8)")
    ->check(CLI::Range(uint32_t{1}, most_children));
  cli.add_option("--networks", x.networks,
                 "Interfaces to use, with commas between (default: all)");
  cli.add_flag("--insecure", x.is_insecure,
               "Plain text between nodes; on loopback only");
  cli
    .add_option("--join-timeout", x.patience,
                "Seconds that a daemon has to join (default 60)")
    ->check(CLI::Range(1, 86400));
  cli.add_flag("--leave-session-attached", x.leaves_attached,
               "Daemons stay children of the remote shell");
  cli.add_option("--log-directory", x.log_directory,
                 "Daemons log to trouped.NAME.log there (default: nowhere)");
}

dvm_surroundings dvm_surroundings::find() {
  auto variables = environment{};
  for (auto** x = environ; *x != nullptr; ++x) {
    const auto text = std::string_view{*x};
    const auto end = text.find('=');
    if (end != std::string_view::npos)
      variables.emplace(text.substr(0, end), text.substr(end + 1));
  }
  auto failure = std::error_code{};
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failure);
  return {std::move(variables), read_text_file, this_host::find(),
          self.parent_path().string()};
}

caf::expected<std::optional<dvm_plan>> plan_dvm(const dvm_options& x,
                                                const dvm_surroundings& where) {
  auto result = dvm_plan{};
  auto hosts = host_list{};
  if (!x.hosts.empty() || !x.hostfile.empty()) {
    auto listed = listed_hosts(x, where);
    if (!listed)
      return std::move(listed.error());
    hosts = std::move(*listed);
    result.shell = default_remote_shell();
    if (where.variables.count("SLURM_JOB_ID") > 0)
      result.shell = slurm_remote_shell();
  } else {
    auto found = find_allocation(where.variables, where.read);
    if (!found)
      return std::move(found.error());
    if (!*found || is_only_here((**found).hosts, where.here))
      return std::optional<dvm_plan>{};
    hosts = std::move((**found).hosts);
    result.shell = (**found).manager == "slurm" ? slurm_remote_shell()
                                                : default_remote_shell();
  }
  if (!x.remote_shell.empty()) {
    auto shell = parse_remote_shell(x.remote_shell);
    if (!shell)
      return std::move(shell.error());
    result.shell = std::move(*shell);
  }
  result.shell.stays = result.shell.stays || x.leaves_attached;
  auto nodes = order_nodes(hosts, where.here, x.own_name);
  if (!nodes)
    return std::move(nodes.error());
  result.nodes = std::move(*nodes);
  result.agent = {where.programs + "/trouped"};
  if (!x.launch_agent.empty()) {
    auto words = split_words(x.launch_agent, "--launch-agent");
    if (!words)
      return std::move(words.error());
    result.agent = std::move(*words);
  }
  result.networks = split_at_commas(x.networks);
  for (const auto& name : result.networks)
    if (name.empty())
      return make_error(status::bad_param,
                        "--networks has an empty name; write eth0,eth1");
  return std::optional<dvm_plan>{std::move(result)};
}

caf::expected<std::string> read_text_file(const std::string& path) {
  const auto close = [](FILE* x) { std::fclose(x); };
  const auto file = std::unique_ptr<FILE, decltype(close)>{
    std::fopen(path.c_str(), "re"), close};
  if (!file)
    return system_error("cannot read " + path);
  auto result = std::string{};
  char room[65536];
  for (;;) {
    const auto n = std::fread(room, 1, sizeof(room), file.get());
    result.append(room, n);
    if (result.size() > defaults::host_file_bytes)
      return make_error(status::bad_param, path
                                             + " is too long; it is no list "
                                               "of nodes");
    if (n < sizeof(room))
      break;
  }
  if (std::ferror(file.get()) != 0)
    return system_error("cannot read " + path);
  return result;
}

} // namespace troupe
