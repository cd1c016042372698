#include "adapters/link/server_search.hpp"

#include "adapters/local/server_presence.hpp"
#include "adapters/loop/read_write.hpp"
#include "adapters/sockets/system_error.hpp"
#include "messages/status.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace troupe {

namespace {

constexpr size_t max_file_size = size_t{64} << 10;

/// What a search for files looks at.
constexpr int max_depth = 4;
constexpr size_t max_entries = 20'000;

constexpr auto file_prefix = std::string_view{"file:"};

template <class T>
std::optional<T> parse_number(std::string_view x) {
  auto result = T{};
  const auto* end = x.data() + x.size();
  const auto [stop, code] = std::from_chars(x.data(), end, result);
  return code == std::errc{} && stop == end ? std::optional{result}
                                            : std::nullopt;
}

std::vector<std::string> split(std::string_view x) {
  auto result = std::vector<std::string>{};
  while (!x.empty()) {
    const auto n = std::min(x.find(','), x.size());
    if (n > 0)
      result.emplace_back(x.substr(0, n));
    x.remove_prefix(std::min(n + 1, x.size()));
  }
  return result;
}

/// The packing rules for a server of which only the release is known.
wire::packing_module module_for(const std::optional<release>& server) {
  if (!server || !(*server < release{4, 1, 0}))
    return wire::packing_module::v41;
  return *server < release{4, 0, 0} ? wire::packing_module::v3
                                    : wire::packing_module::v4;
}

/// What the environment says of any server.
void read_common(const variable_lookup& environment, link_settings& x) {
  if (const auto* text = environment("PMIX_SECURITY_MODE"))
    x.security = split(text);
  if (const auto* text = environment("PMIX_BFROP_BUFFER_TYPE"))
    x.described = std::string_view{text} == "PMIX_BFROP_BUFFER_FULLY_DESC";
  x.trusted_users = trusted_users(environment);
}

/// The first variable with a server that we can talk to.
caf::error read_uri_variable(const variable_lookup& environment,
                             link_settings& x) {
  for (const auto module : wire::all_modules) {
    const auto name =
      "PMIX_SERVER_URI" + std::string{to_string(module).substr(1)};
    const auto* text = environment(name.c_str());
    if (text == nullptr)
      continue;
    auto uri = wire::parse_uri(text);
    if (!uri)
      return make_error(status::unreach, name + ": " + reason_of(uri.error()));
    x.uri = std::move(*uri);
    x.module = module;
    if (module == wire::packing_module::v3)
      x.server = release{3, 0, 0};
    return caf::none;
  }
  return make_error(
    status::unreach,
    "no variable PMIX_SERVER_URI<module> of a server that we "
    "can talk to; start this by troupe run or another launcher");
}

std::string host_file(std::string_view before, std::string_view after) {
  return std::string{before} + node_name() + std::string{after};
}

/// Collects files whose name begins with `prefix`.
class file_search {
public:
  file_search(std::string prefix, bool exact)
    : prefix_(std::move(prefix)), exact_(exact) {
    // nop
  }

  std::vector<std::string> in(const std::string& directory) {
    visit(directory, max_depth);
    std::sort(found_.begin(), found_.end());
    return std::move(found_);
  }

private:
  void visit(const std::string& path, int depth) {
    const auto dir =
      std::unique_ptr<DIR, int (*)(DIR*)>{::opendir(path.c_str()), ::closedir};
    if (dir == nullptr)
      return;
    auto below = std::vector<std::string>{};
    while (const auto* x = ::readdir(dir.get())) {
      if (++seen_ > max_entries)
        return;
      const auto name = std::string_view{x->d_name};
      if (name == "." || name == "..")
        continue;
      if (exact_ ? name == prefix_ : name.substr(0, prefix_.size()) == prefix_)
        found_.push_back(path + "/" + std::string{name});
      else if (x->d_type == DT_DIR || x->d_type == DT_UNKNOWN)
        below.push_back(path + "/" + std::string{name});
    }
    if (depth > 0)
      for (const auto& x : below)
        visit(x, depth - 1);
  }

  std::string prefix_;
  bool exact_;
  size_t seen_ = 0;
  std::vector<std::string> found_;
};

/// Reads a file, and again a few times if it is not there yet or empty: its
/// server may be about to write it.
caf::expected<link_settings>
read_awaited_file(const std::string& path, const server_search& what,
                  const std::vector<uint32_t>& trusted) {
  for (auto attempt = uint32_t{0};; ++attempt) {
    auto result = read_rendezvous_file(path, trusted);
    if (result || status_of(result.error()) != status::not_found
        || attempt >= std::min<uint32_t>(what.retries, 1000))
      return result;
    const auto wait = std::clamp<int64_t>(what.retry_delay.count(), 1, 10'000);
    ::poll(nullptr, 0, static_cast<int>(wait));
  }
}

std::string node_server_file(rendezvous_kind x) {
  if (x == rendezvous_kind::scheduler)
    return host_file("pmix.sched.", "");
  if (x == rendezvous_kind::system_controller)
    return host_file("pmix.sysctrlr.", "");
  return host_file("pmix.sys.", "");
}

/// The servers behind files; each once.
std::vector<link_settings> servers_in(const std::vector<std::string>& paths,
                                      const std::vector<uint32_t>& trusted) {
  auto result = std::vector<link_settings>{};
  for (const auto& path : paths) {
    auto x = read_rendezvous_file(path, trusted);
    if (!x)
      continue;
    const auto same = [&](const link_settings& y) {
      return y.uri.port == x->uri.port && y.uri.address == x->uri.address;
    };
    if (std::none_of(result.begin(), result.end(), same))
      result.push_back(std::move(*x));
  }
  return result;
}

} // namespace

bool is_launched(const variable_lookup& environment) {
  return environment("PMIX_NAMESPACE") != nullptr;
}

std::vector<uint32_t> trusted_users(const variable_lookup& environment) {
  auto result = std::vector<uint32_t>{};
  if (const auto* text = environment("TROUPE_SERVER_USERS"))
    for (const auto& x : split(text))
      if (const auto uid = parse_number<uint32_t>(x))
        result.push_back(*uid);
  return result;
}

caf::expected<link_settings>
client_settings(const variable_lookup& environment) {
  const auto* nspace = environment("PMIX_NAMESPACE");
  const auto* rank = environment("PMIX_RANK");
  if (nspace == nullptr || *nspace == '\0'
      || std::strlen(nspace) > max_nspace_length)
    return make_error(
      status::bad_param,
      "PMIX_NAMESPACE is no namespace; unset it, or start this by a launcher");
  if (rank == nullptr)
    return make_error(status::data_value_not_found,
                      "PMIX_RANK is not set; start this by a launcher");
  const auto number = parse_number<uint32_t>(rank);
  if (!number || *number > rank_valid_max)
    return make_error(
      status::bad_param,
      "PMIX_RANK is no rank; unset it, or start this by a launcher");
  auto x = link_settings{};
  x.self = proc_id{nspace, *number};
  if (auto err = read_uri_variable(environment, x))
    return err;
  if (const auto* version = environment("PMIX_VERSION"))
    x.server = wire::parse_release(version);
  read_common(environment, x);
  return x;
}

caf::expected<link_settings>
singleton_settings(const variable_lookup& environment) {
  auto directory = system_tmpdir();
  auto x = read_rendezvous_file(directory + "/"
                                  + node_server_file(rendezvous_kind::system),
                                trusted_users(environment));
  if (!x)
    return make_error(status::unreach, reason_of(x.error()));
  read_common(environment, *x);
  x->role = peer_role::singleton;
  auto host = node_name();
  x->self = proc_id{"singleton." + host + "." + std::to_string(::getpid()), 0};
  return x;
}

caf::expected<link_settings>
read_rendezvous_file(const std::string& path,
                     const std::vector<uint32_t>& trusted) {
  const auto fd = unique_fd{::open(
    path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
  if (!fd)
    return make_error(errno == ENOENT ? status::not_found
                                      : status::no_permissions,
                      reason_of(system_error("open " + path)));
  struct stat st;
  if (::fstat(fd.get(), &st) != 0 || !S_ISREG(st.st_mode))
    return make_error(
      status::no_permissions,
      path + " is no file; name the file that a server has written");
  if (!may_be_our_server(st.st_uid, trusted))
    return make_error(status::no_permissions,
                      path + " belongs to user " + std::to_string(st.st_uid)
                        + "; name one of yours, or ask as that user");
  const auto text = read_up_to(fd.get(), max_file_size);
  if (!text || text->empty())
    return make_error(status::not_found,
                      path
                        + " is empty; name the file that a server has written");
  auto content = wire::parse_rendezvous(*text);
  if (!content)
    return make_error(status::unreach,
                      path + ": " + reason_of(content.error()));
  if (content->pid
      && is_server_gone(*content->pid, content->uri.port, st.st_mtime))
    return make_error(status::unreach,
                      path + ": its server is no more; start another one");
  auto x = link_settings{};
  x.uri = std::move(content->uri);
  if (!content->version.empty())
    x.server = wire::parse_release(content->version);
  x.module = module_for(x.server);
  x.trusted_users = trusted;
  x.role = peer_role::tool_needs_identity;
  return x;
}

caf::expected<std::vector<link_settings>>
find_servers(const server_search& what, const variable_lookup& environment) {
  const auto trusted = trusted_users(environment);
  const auto directory =
    what.directory.empty() ? system_tmpdir() : what.directory;
  const auto one = [&](caf::expected<link_settings> x)
    -> caf::expected<std::vector<link_settings>> {
    if (!x)
      return make_error(status::unreach, reason_of(x.error()));
    read_common(environment, *x);
    return std::vector{std::move(*x)};
  };
  if (what.uri) {
    if (what.uri->compare(0, file_prefix.size(), file_prefix) == 0)
      return one(
        read_awaited_file(what.uri->substr(file_prefix.size()), what, trusted));
    auto uri = wire::parse_uri(*what.uri);
    if (!uri)
      return make_error(status::bad_param, reason_of(uri.error()));
    auto x = link_settings{};
    for (const auto& name : uri->variables)
      if (const auto module = wire::module_of_variable(name)) {
        x.module = *module;
        break;
      }
    x.uri = std::move(*uri);
    x.role = peer_role::tool_needs_identity;
    return one(std::move(x));
  }
  if (what.attachment_file)
    return one(read_awaited_file(*what.attachment_file, what, trusted));
  auto result = std::vector<link_settings>{};
  for (const auto kind : what.node_servers)
    if (auto x = read_awaited_file(directory + "/" + node_server_file(kind),
                                   what, trusted))
      result.push_back(std::move(*x));
  if (!what.node_servers.empty() && what.node_servers_only) {
    if (result.empty())
      return make_error(status::unreach,
                        "the node has no such server; start one by troupe up");
    for (auto& x : result)
      read_common(environment, x);
    return result;
  }
  if (what.pid || what.nspace) {
    const auto suffix = what.pid ? std::to_string(*what.pid) : *what.nspace;
    auto search = file_search{host_file("pmix.", ".tool.") + suffix, true};
    for (auto& x : servers_in(search.in(directory), trusted))
      result.push_back(std::move(x));
  } else {
    if (what.use_environment && is_launched(environment)) {
      if (auto x = client_settings(environment)) {
        x->role = peer_role::tool_client;
        result.push_back(std::move(*x));
      }
    }
    if (result.empty()) {
      auto search = file_search{host_file("pmix.", ".tool"), false};
      result = servers_in(search.in(directory), trusted);
      if (result.size() > 1)
        return make_error(status::unreach,
                          "there are " + std::to_string(result.size())
                            + " servers: name the one you mean");
    }
  }
  if (result.empty())
    return make_error(status::unreach,
                      "no server can be found; start one by troupe up");
  for (auto& x : result)
    read_common(environment, x);
  return result;
}

} // namespace troupe
