#include "tools/dvm_options.hpp"

#include "adapters/local/rendezvous.hpp"
#include "adapters/sockets/system_error.hpp"
#include "adapters/wire/number_range.hpp"
#include "base/escape.hpp"
#include "base/lane_kind.hpp"
#include "messages/status.hpp"
#include "tools/defaults.hpp"
#include "tools/local_node.hpp"

#include <CLI/CLI.hpp>
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

namespace troupe {

// -- this host ---------------------------------------------------------------

namespace {

bool same_text(std::string_view x, std::string_view y) {
  return x.size() == y.size()
         && ::strncasecmp(x.data(), y.data(), x.size()) == 0;
}

/// Names say the same if one of them lacks the domain.
bool same_name(std::string_view x, std::string_view y) {
  const auto x_dot = x.find('.');
  const auto y_dot = y.find('.');
  if (x_dot != std::string_view::npos && y_dot != std::string_view::npos)
    return same_text(x, y);
  return same_text(x.substr(0, x_dot), y.substr(0, y_dot));
}

std::string text_of(const sockaddr* x) {
  char room[INET6_ADDRSTRLEN];
  const char* result = nullptr;
  if (x != nullptr && x->sa_family == AF_INET)
    result =
      ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(x)->sin_addr,
                  room, sizeof(room));
  else if (x != nullptr && x->sa_family == AF_INET6)
    result = ::inet_ntop(AF_INET6,
                         &reinterpret_cast<const sockaddr_in6*>(x)->sin6_addr,
                         room, sizeof(room));
  return result != nullptr ? result : "";
}

/// An address as `text_of` writes it; empty if `name` is none.
std::string canonical(const std::string& name) {
  char room[INET6_ADDRSTRLEN];
  unsigned char bytes[sizeof(in6_addr)];
  for (const auto family : {AF_INET, AF_INET6})
    if (::inet_pton(family, name.c_str(), bytes) == 1)
      return ::inet_ntop(family, bytes, room, sizeof(room));
  return {};
}

/// Those of the node's interfaces.
std::set<std::string> find_addresses() {
  auto result = std::set<std::string>{};
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) == 0) {
    const auto guard =
      std::unique_ptr<ifaddrs, void (*)(ifaddrs*)>{all, ::freeifaddrs};
    for (const auto* x = all; x != nullptr; x = x->ifa_next)
      if (auto text = text_of(x->ifa_addr); !text.empty())
        result.insert(std::move(text));
  }
  return result;
}

} // namespace

this_host this_host::find() {
  return this_host{node_name()};
}

bool this_host::is(std::string_view name) const {
  if (name.empty())
    return false;
  if (const auto address = canonical(std::string{name}); !address.empty()) {
    if (!addresses_)
      addresses_ = find_addresses();
    return addresses_->count(address) > 0 || address.rfind("127.", 0) == 0
           || address == "::1";
  }
  return same_text(name, "localhost") || same_name(name, name_);
}

// -- nodes of a DVM ----------------------------------------------------------

namespace {

/// The characters of a node's name, and how many it has; those of
/// `node_identity`.
constexpr auto name_characters = std::string_view{
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"};
constexpr size_t longest_name = 255;

caf::error check(const std::string& name) {
  if (name.empty() || name.size() > longest_name
      || name.find_first_not_of(name_characters) != std::string::npos
      || name.front() == '-')
    return make_error(status::bad_param,
                      "'" + name
                        + "' is no name of a node; use letters, digits, '.', "
                          "'_' and '-'");
  return {};
}

/// A name that a host gave itself, made to fit.
std::string usable(std::string name) {
  for (auto& x : name)
    if (name_characters.find(x) == std::string_view::npos)
      x = '-';
  name.resize(std::min(name.size(), longest_name));
  return name.empty() ? "localhost" : name;
}

dvm_node node_of(const host& x) {
  auto result = dvm_node{x.name, {}, x.max_slots};
  if (x.slots > 0)
    result.slots = x.slots;
  return result;
}

} // namespace

caf::expected<std::vector<dvm_node>> order_nodes(const host_list& hosts,
                                                 const this_host& here,
                                                 const std::string& own) {
  auto root = std::optional<dvm_node>{};
  auto result = std::vector<dvm_node>{};
  for (const auto& x : hosts) {
    if (auto err = check(x.name))
      return err;
    const auto is_root = own.empty() ? here.is(x.name) : x.name == own;
    if (is_root && root)
      return make_error(status::bad_param,
                        root->name + " and " + x.name
                          + " are both this node; name it once");
    if (is_root)
      root = node_of(x);
    else
      result.push_back(node_of(x));
  }
  if (!root) {
    root = dvm_node{own.empty() ? usable(here.name()) : own, 0, 0};
    if (auto err = check(root->name))
      return err;
  }
  result.insert(result.begin(), std::move(*root));
  return result;
}

std::string allocation_text(const std::vector<dvm_node>& nodes) {
  auto result = "troupe: allocation of " + std::to_string(nodes.size())
                + (nodes.size() == 1 ? " node\n" : " nodes\n");
  for (const auto& x : nodes) {
    result += "troupe:   " + escape_control_characters(x.name) + ": ";
    if (!x.slots)
      result += "a slot for each core";
    else
      result += std::to_string(*x.slots) + (*x.slots == 1 ? " slot" : " slots");
    if (x.max_slots > 0)
      result += ", at most " + std::to_string(x.max_slots);
    result += "\n";
  }
  return result;
}

// -- the options -------------------------------------------------------------

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
  cli.add_option("--lanes", x.lanes,
                 "Kinds of connections between daemons: unix (on one machine), "
                 "tcp (default: unix,tcp)");
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
  cli.add_option("--set", x.settings, set_help)->allow_extra_args(false);
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
  result.networks = split_at_commas(x.networks);
  for (const auto& name : result.networks)
    if (name.empty())
      return make_error(status::bad_param,
                        "--networks has an empty name; write eth0,eth1");
  result.lanes = split_at_commas(x.lanes);
  if (const auto kinds = read_lane_kinds(result.lanes); !kinds)
    return make_error(status::bad_param,
                      "--lanes: " + reason_of(kinds.error()));
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

// -- nodes of a DVM that is up -----------------------------------------------

namespace {

/// Splits at commas outside of brackets.
std::vector<std::string_view> parts_of(std::string_view text) {
  auto result = std::vector<std::string_view>{};
  auto depth = 0;
  auto begin = size_t{0};
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
    if (text[i] == ',' && depth <= 0) {
      result.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  result.push_back(text.substr(begin));
  return result;
}

caf::error add(std::vector<chosen_node>& nodes, std::string_view part) {
  const auto colon = part.rfind(':');
  auto slots = std::optional<uint32_t>{};
  if (colon != std::string_view::npos && part.substr(colon + 1) != "*") {
    const auto number = wire::parse_number(part.substr(colon + 1));
    if (!number || *number == 0 || *number > INT32_MAX)
      return make_error(status::bad_param,
                        "--host: '" + std::string{part}
                          + "' has no number of slots; write NAME:4, NAME:* "
                            "or NAME");
    slots = static_cast<uint32_t>(*number);
  }
  auto names = expand_names(part.substr(0, colon), "--host");
  if (!names)
    return std::move(names.error());
  for (auto& name : *names)
    nodes.push_back({std::move(name), slots});
  return {};
}

/// A name means a node as a whole, or up to the node's first dot.
bool is_called(std::string_view node, std::string_view name) {
  return node == name || node.substr(0, node.find('.')) == name;
}

} // namespace

caf::expected<std::vector<chosen_node>> choose_nodes(const dvm_options& x,
                                                     const file_reader& read) {
  auto result = std::vector<chosen_node>{};
  if (!x.hosts.empty() && !x.hostfile.empty())
    return make_error(status::bad_param,
                      "--host and --hostfile both name nodes; give one of "
                      "them");
  if (!x.hosts.empty()) {
    for (const auto part : parts_of(x.hosts))
      if (auto err = add(result, part))
        return err;
  } else if (!x.hostfile.empty()) {
    const auto text = read(x.hostfile);
    if (!text)
      return text.error();
    const auto hosts = parse_hostfile(*text, x.hostfile);
    if (!hosts)
      return hosts.error();
    for (const auto& y : *hosts) {
      auto& next = result.emplace_back();
      next.name = y.name;
      if (y.slots > 0)
        next.slots = y.slots;
      next.max_slots = y.max_slots;
    }
  }
  return result;
}

std::string to_string(const std::vector<chosen_node>& nodes) {
  auto result = std::string{};
  for (const auto& x : nodes) {
    result += (result.empty() ? "" : ",") + x.name;
    if (x.slots)
      result += ":" + std::to_string(*x.slots);
  }
  return result;
}

std::string max_slots_of(const std::vector<chosen_node>& nodes) {
  auto result = std::string{};
  for (const auto& x : nodes)
    if (x.max_slots > 0)
      result += (result.empty() ? "" : ",") + x.name + ":"
                + std::to_string(x.max_slots);
  return result;
}

uint32_t slots_of(const std::vector<chosen_node>& nodes, std::string_view name,
                  uint32_t slots) {
  if (nodes.empty())
    return slots;
  auto wanted = uint64_t{0};
  for (const auto& x : nodes)
    if (is_called(name, x.name))
      wanted += x.slots.value_or(slots);
  return static_cast<uint32_t>(std::min<uint64_t>(wanted, slots));
}

} // namespace troupe
