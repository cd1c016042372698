#include "tools/bootstrap.hpp"

#include "adapters/lane/secure_context.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "adapters/process/descriptors.hpp"
#include "adapters/settings/settings_file.hpp"
#include "adapters/sockets/system_error.hpp"
#include "base/lane_kind.hpp"
#include "config/defaults.hpp"
#include "runtime/mesh_member.hpp"
#include "tools/command_line.hpp"
#include "tools/dvm_root.hpp"
#include "tools/guarded_main.hpp"
#include "tools/member_daemon.hpp"
#include "tools/printing.hpp"

#include <CLI/CLI.hpp>
#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>

namespace troupe {

// -- the authority -----------------------------------------------------------

namespace {

caf::error write_authority(const std::string& path, const authority& x) {
  auto bytes = x.encode();
  if (!bytes)
    return std::move(bytes.error());
  const auto fd = unique_fd{
    ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
           S_IRUSR | S_IWUSR)};
  if (!fd)
    return system_error("cannot make " + path);
  if (::write(fd.get(), bytes->data(), bytes->size())
        != static_cast<ssize_t>(bytes->size())
      || ::fsync(fd.get()) != 0) {
    auto result = system_error("cannot write " + path);
    ::unlink(path.c_str());
    return result;
  }
  return {};
}

} // namespace

int make_authority_file(std::vector<std::string> args) {
  auto path = std::string{};
  auto name = std::string{"cluster"};
  auto cli = CLI::App{"Makes the authority of a DVM that nobody launches: a "
                      "file for all its nodes, which nobody else may read.",
                      "troupe authority"};
  cli.add_option("file", path, "The file; it must not exist")->required();
  cli.add_option(
    "--name", name,
    "The DVM: ClusterName of the bootstrap file (default cluster)");
  if (const auto status = parse_arguments(cli, std::move(args)))
    return *status;
  hide_memory();
  auto made = authority::make(name);
  const auto failure = made ? write_authority(path, *made) : made.error();
  if (!failure)
    return 0;
  std::cerr << notice("troupe authority", reason_of(failure));
  return 1;
}

caf::expected<authority> read_authority_file(const std::string& path) {
  hide_memory();
  const auto fd = unique_fd{::open(
    path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
  struct stat st;
  if (!fd || ::fstat(fd.get(), &st) != 0)
    return system_error("cannot read the authority " + path);
  if (!S_ISREG(st.st_mode) || (st.st_mode & (S_IRWXG | S_IRWXO)) != 0
      || (st.st_uid != ::geteuid() && st.st_uid != 0))
    return make_error(status::no_permissions,
                      "the authority " + path
                        + " is open to others; make it yours by chown and "
                          "chmod 600, or a new one by troupe authority");
  const auto bytes = read_secret(fd.get(), 2 * max_credentials_size);
  if (!bytes)
    return make_error(status::bad_param,
                      path + " is no authority; make one by troupe authority");
  auto result = authority::decode(bytes->view());
  if (!result)
    return make_error(status::bad_param,
                      path + " is no authority; make one by troupe authority");
  return result;
}

// -- the daemon --------------------------------------------------------------

namespace {

/// Seconds after which a daemon says that it has not found its root, which may
/// be started much later.
constexpr uint32_t patience = 60;

/// Whether the file wants plain text.
caf::expected<bool> read_insecure(const bootstrap_settings& x,
                                  const std::string& file) {
  const auto i = x.others.find("Insecure");
  if (i == x.others.end() || i->second == "no" || i->second == "false"
      || i->second == "0")
    return false;
  if (i->second == "yes" || i->second == "true" || i->second == "1")
    return true;
  return make_error(status::bad_param,
                    file + ": Insecure=" + i->second
                      + " is neither yes nor no; write yes or no");
}

/// The words of a list with commas; none if the file does not have it.
std::vector<std::string> list_of(const bootstrap_settings& x, const char* key) {
  auto result = std::vector<std::string>{};
  const auto i = x.others.find(key);
  if (i == x.others.end())
    return result;
  for (size_t begin = 0; begin <= i->second.size();) {
    const auto end = std::min(i->second.find(',', begin), i->second.size());
    if (end > begin)
      result.push_back(i->second.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

/// Why the file's kinds of lanes make no sense. Its nodes find their root by an
/// address, which leads over TCP.
caf::error check_lanes(const bootstrap_settings& x, const std::string& file) {
  const auto kinds = read_lane_kinds(list_of(x, "DVMLanes"));
  if (!kinds)
    return make_error(status::bad_param,
                      file + ": DVMLanes: " + reason_of(kinds.error()));
  if (!kinds->tcp)
    return make_error(status::bad_param,
                      file
                        + ": DVMLanes has no tcp, over which nodes find their "
                          "root; write unix,tcp");
  return caf::none;
}

/// The addresses that the controller's name stands for.
caf::expected<std::vector<node_address>> resolve(const std::string& name,
                                                 uint16_t port) {
  auto hints = addrinfo{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const auto code = ::getaddrinfo(name.c_str(), nullptr, &hints, &found);
  if (code != 0)
    return make_error(status::unreach,
                      "the controller " + name
                        + " has no address: " + ::gai_strerror(code)
                        + "; correct DVMControllerHost or /etc/hosts");
  const auto guard =
    std::unique_ptr<addrinfo, void (*)(addrinfo*)>{found, ::freeaddrinfo};
  auto result = std::vector<node_address>{};
  for (const auto* x = found; x != nullptr; x = x->ai_next) {
    char text[NI_MAXHOST];
    if (::getnameinfo(x->ai_addr, x->ai_addrlen, text, sizeof(text), nullptr, 0,
                      NI_NUMERICHOST)
        == 0)
      result.push_back({{}, text, port});
  }
  return result;
}

int fail(const caf::error& why) {
  std::cerr << notice("trouped", reason_of(why));
  return failure_status(why);
}

int run_root(bootstrap_part x, const bootstrap_options& options) {
  ignore_broken_pipes();
  auto setup = root_settings(std::move(x));
  setup.node.log_level = options.log_level;
  setup.node.logs_as = options.logs_as;
  setup.node.sensors = options.sensors;
  setup.node.hooks = options.hooks;
  setup.node.monitors = options.monitors;
  setup.node.share_memory = options.share_memory;
  setup.node.metrics = options.metrics;
  setup.node.needs_metrics = !options.metrics.empty();
  auto site = load_settings(options.settings);
  if (!site)
    return complain("trouped", reason_of(site.error()));
  setup.node.settings = std::move(*site);
  setup.node.is_service = true;
  setup.on_ready = [] { std::cout << "DVM ready" << std::endl; };
  auto root = std::unique_ptr<dvm_root>{};
  const auto end = [&root] {
    root->end([&root] { root->node().loop().stop(); });
  };
  auto status = 0;
  setup.on_failed = [&](const std::string& reason) {
    std::cerr << notice("trouped", reason);
    status = cannot_work;
    end();
  };
  setup.on_terminate = end;
  auto started = dvm_root::start(std::move(setup));
  if (!started)
    return fail(started.error());
  root = std::move(*started);
  for (const auto number : {SIGINT, SIGTERM, SIGHUP})
    root->node().loop().loop().on_signal(number, end);
  root->node().loop().run();
  return status;
}

int run_other(const bootstrap_part& x, const bootstrap_options& options) {
  auto contacts = resolve(x.settings.controller, x.settings.port);
  if (!contacts)
    return fail(contacts.error());
  const auto& name = x.settings.nodes[x.rank];
  const auto mine = x.vouching.issue(x.rank, name, {}, ::geteuid());
  if (!mine)
    return fail(mine.error());
  auto context = secure_context::make(*mine);
  if (context && x.is_insecure)
    context = secure_context::make_insecure(node_identity{(**context).self()});
  if (!context)
    return fail(context.error());
  const auto here = this_host::find();
  auto settings = join_settings{};
  settings.dvm = x.settings.cluster;
  settings.rank = x.rank;
  settings.name = name;
  settings.root = x.settings.nodes.front();
  if (here.is(x.settings.controller))
    settings.root_host = here.name();
  settings.contacts = std::move(*contacts);
  settings.radix =
    x.settings.radix > 0 ? x.settings.radix : defaults::tree_radix;
  settings.networks = list_of(x.settings, "DVMNetworks");
  settings.lanes = list_of(x.settings, "DVMLanes");
  settings.is_insecure = x.is_insecure;
  settings.patience = patience;
  settings.log_level = options.log_level;
  settings.logs_as = options.logs_as;
  settings.sensors = options.sensors;
  settings.hooks = options.hooks;
  settings.monitors = options.monitors;
  settings.share_memory = options.share_memory;
  settings.settings = options.settings;
  settings.metrics = options.metrics;
  return run_member(std::move(settings), std::move(*context), detached::none(),
                    true);
}

} // namespace

caf::expected<bootstrap_part> read_bootstrap(const std::string& file,
                                             const std::string& own) {
  const auto text = read_text_file(file);
  if (!text)
    return text.error();
  auto settings = parse_bootstrap(*text, file);
  if (!settings)
    return std::move(settings.error());
  const auto key = settings->others.find("AuthorityFile");
  if (key == settings->others.end())
    return make_error(status::bad_param,
                      file
                        + " names no authority; make one by troupe authority "
                          "FILE, give it to all nodes, and add a line "
                          "AuthorityFile=FILE");
  const auto is_insecure = read_insecure(*settings, file);
  if (!is_insecure)
    return is_insecure.error();
  if (auto err = check_lanes(*settings, file))
    return err;
  const auto here = this_host::find();
  const auto& nodes = settings->nodes;
  const auto i =
    std::find_if(nodes.begin(), nodes.end(), [&](const std::string& x) {
      return own.empty() ? here.is(x) : x == own;
    });
  if (i == nodes.end())
    return make_error(status::bad_param,
                      file + " does not name this node, "
                        + (own.empty() ? here.name() : own)
                        + "; add it to DVMNodes, or say what it is called "
                          "there by --node");
  auto vouching = read_authority_file(key->second);
  if (!vouching)
    return std::move(vouching.error());
  if (vouching->dvm() != settings->cluster)
    return make_error(status::bad_param,
                      key->second + " is the authority of " + vouching->dvm()
                        + ", and ClusterName is " + settings->cluster
                        + "; make them agree");
  const auto rank = static_cast<uint32_t>(i - nodes.begin());
  return bootstrap_part{std::move(*settings), std::move(*vouching), rank,
                        *is_insecure};
}

dvm_root::settings root_settings(bootstrap_part part) {
  auto result = dvm_root::settings{};
  for (const auto& name : part.settings.nodes)
    result.plan.nodes.push_back({name, {}, 0});
  result.plan.networks = list_of(part.settings, "DVMNetworks");
  result.plan.lanes = list_of(part.settings, "DVMLanes");
  if (part.settings.radix > 0)
    result.options.radix = part.settings.radix;
  result.options.is_insecure = part.is_insecure;
  result.name = part.settings.cluster;
  result.vouching = std::move(part.vouching);
  result.launches = false;
  result.port = part.settings.port;
  return result;
}

int bootstrap(const std::string& file, const std::string& own,
              const bootstrap_options& options) {
  auto found = read_bootstrap(file, own);
  if (!found)
    return fail(found.error());
  return found->rank == 0 ? run_root(std::move(*found), options)
                          : run_other(*found, options);
}

} // namespace troupe
