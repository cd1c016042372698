#include "tools/bootstrap.hpp"

#include "adapters/lane/secure_context.hpp"
#include "adapters/process/inherited_fd.hpp"
#include "tools/authority_file.hpp"
#include "tools/dvm_root.hpp"
#include "tools/member_daemon.hpp"

#include <arpa/inet.h>
#include <netdb.h>

#include <algorithm>
#include <csignal>
#include <iostream>

namespace troupe {

namespace {

constexpr int local_failure = 1;

/// Seconds that a daemon waits for its root: it may be started much earlier.
constexpr uint32_t patience = 365 * 86400;

/// What all of it needs.
struct facts {
  bootstrap_settings settings;
  authority vouching;

  /// Which of the nodes this is.
  uint32_t rank = 0;
};

caf::expected<facts> read_facts(const std::string& file) {
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
  auto vouching = read_authority_file(key->second);
  if (!vouching)
    return std::move(vouching.error());
  if (vouching->dvm() != settings->cluster)
    return make_error(status::bad_param,
                      key->second + " is the authority of " + vouching->dvm()
                        + ", and ClusterName is " + settings->cluster
                        + "; make them agree");
  const auto here = this_host::find();
  const auto& nodes = settings->nodes;
  const auto is_here = [&](const std::string& x) { return here.is(x); };
  const auto i = std::find_if(nodes.begin(), nodes.end(), is_here);
  if (i == nodes.end())
    return make_error(status::bad_param, file + " does not name this node, "
                                           + here.name()
                                           + "; add it to DVMNodes");
  const auto rank = static_cast<uint32_t>(i - nodes.begin());
  return facts{std::move(*settings), std::move(*vouching), rank};
}

std::vector<std::string> networks_of(const bootstrap_settings& x) {
  auto result = std::vector<std::string>{};
  const auto i = x.others.find("DVMNetworks");
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

int fail(const std::string& reason) {
  std::cerr << "trouped: " << reason << '\n';
  return local_failure;
}

int run_root(facts x, const bootstrap_options& options) {
  ignore_broken_pipes();
  auto setup = dvm_root::settings{};
  for (const auto& name : x.settings.nodes)
    setup.plan.nodes.push_back({name, {}, 0});
  setup.plan.networks = networks_of(x.settings);
  if (x.settings.radix > 0)
    setup.options.radix = x.settings.radix;
  setup.name = x.settings.cluster;
  setup.node.log_level = options.log_level;
  setup.node.log_json = options.log_json;
  setup.node.sensors = options.sensors;
  setup.vouching = std::move(x.vouching);
  setup.launches = false;
  setup.port = x.settings.port;
  setup.on_ready = [] { std::cout << "DVM ready" << std::endl; };
  auto root = std::unique_ptr<dvm_root>{};
  const auto end = [&root] {
    root->end([&root] { root->node().loop().stop(); });
  };
  setup.on_failed = [](const std::string&) {};
  setup.on_terminate = end;
  auto started = dvm_root::start(std::move(setup));
  if (!started)
    return fail(reason_of(started.error()));
  root = std::move(*started);
  for (const auto number : {SIGINT, SIGTERM, SIGHUP})
    root->node().loop().loop().on_signal(number, end);
  root->node().loop().run();
  return 0;
}

int run_other(const facts& x, const bootstrap_options& options) {
  auto contacts = resolve(x.settings.controller, x.settings.port);
  if (!contacts)
    return fail(reason_of(contacts.error()));
  const auto& name = x.settings.nodes[x.rank];
  const auto mine = x.vouching.issue(x.rank, name);
  if (!mine)
    return fail(reason_of(mine.error()));
  auto context = secure_context::make(*mine);
  if (!context)
    return fail(reason_of(context.error()));
  auto settings = join_settings{};
  settings.dvm = x.settings.cluster;
  settings.rank = x.rank;
  settings.name = name;
  settings.root = x.settings.nodes.front();
  settings.contacts = std::move(*contacts);
  settings.radix =
    x.settings.radix > 0 ? x.settings.radix : defaults::tree_radix;
  settings.networks = networks_of(x.settings);
  settings.patience = patience;
  settings.log_level = options.log_level;
  settings.log_json = options.log_json;
  settings.sensors = options.sensors;
  return run_member(std::move(settings), std::move(*context), detached::none(),
                    true);
}

} // namespace

int bootstrap(const std::string& file, const bootstrap_options& options) {
  auto found = read_facts(file);
  if (!found)
    return fail(reason_of(found.error()));
  return found->rank == 0 ? run_root(std::move(*found), options)
                          : run_other(*found, options);
}

} // namespace troupe
