// How clients and tools find their server.

#include "adapters/link/server_search.hpp"

#include "tests/adapters/local/world.hpp"
#include "tests/test.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

using variables = std::map<std::string, std::string>;

variable_lookup in(const variables& xs) {
  return [&xs](const char* name) -> const char* {
    const auto i = xs.find(name);
    return i != xs.end() ? i->second.c_str() : nullptr;
  };
}

constexpr auto some_uri = "server.0;tcp4://127.0.0.1:4711";

variables launched() {
  return {{"PMIX_NAMESPACE", "job"},
          {"PMIX_RANK", "3"},
          {"PMIX_SERVER_URI41", some_uri},
          {"PMIX_VERSION", "4.2.2"}};
}

status code_of(const variables& xs) {
  const auto x = client_settings(in(xs));
  return x ? status::success : status_of(x.error());
}

/// A directory that goes with the test.
class sandbox {
public:
  sandbox() {
    auto pattern = std::string{"/tmp/troupe-search-XXXXXX"};
    path = ::mkdtemp(pattern.data());
  }

  ~sandbox() {
    std::filesystem::remove_all(path);
  }

  void write(const std::string& name, const std::string& uri, pid_t pid) const {
    std::filesystem::create_directories(
      std::filesystem::path{path + "/" + name}.parent_path());
    std::ofstream{path + "/" + name} << uri << "\n4.2.2\n"
                                     << pid << "\n"
                                     << ::geteuid() << ":" << ::getegid()
                                     << "\nnow\n\n";
  }

  std::string path;
};

server_search search(const sandbox& where) {
  auto x = server_search{};
  x.directory = where.path;
  x.retries = 0;
  return x;
}

std::string tool_file(const std::string& suffix = "") {
  return "pmix." + node_name() + ".tool" + suffix;
}

/// How many servers are found, or the status.
int count(const server_search& x, const variables& xs = {}) {
  const auto found = find_servers(x, in(xs));
  return found ? static_cast<int>(found->size())
               : static_cast<int>(status_of(found.error()));
}

/// The number of a process that is no more.
pid_t dead() {
  const auto child = ::fork();
  if (child == 0)
    ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

constexpr auto unreach = static_cast<int>(status::unreach);

} // namespace

// -- clients -----------------------------------------------------------------

CAF_TEST(C3.10 the environment of a launched client is understood) {
  const auto x = client_settings(in(launched()));
  CAF_REQUIRE(x);
  CAF_CHECK(x->self == (proc_id{"job", 3}));
  CAF_CHECK(x->uri.server == (proc_id{"server", 0}));
  CAF_CHECK_EQUAL(x->uri.port, 4711);
  CAF_CHECK(x->module == wire::packing_module::v41);
  CAF_CHECK(!x->described);
  CAF_CHECK_EQUAL(x->server->major, 4);
}

CAF_TEST(C3.10 the best module is chosen and options are read) {
  auto xs = launched();
  for (const auto* suffix : {"61", "51", "4", "3", "21", "2"})
    xs["PMIX_SERVER_URI" + std::string{suffix}] = some_uri;
  xs["PMIX_SECURITY_MODE"] = "munge,native";
  xs["PMIX_BFROP_BUFFER_TYPE"] = "PMIX_BFROP_BUFFER_FULLY_DESC";
  xs["TROUPE_SERVER_USERS"] = "1,x,77";
  const auto best = client_settings(in(xs));
  CAF_REQUIRE(best);
  CAF_CHECK(best->module == wire::packing_module::v61);
  CAF_CHECK(best->described);
  CAF_CHECK(best->security == (std::vector<std::string>{"munge", "native"}));
  CAF_CHECK(best->trusted_users == (std::vector<uint32_t>{1, 77}));
  for (const auto* suffix : {"61", "51", "41", "4"})
    xs.erase("PMIX_SERVER_URI" + std::string{suffix});
  const auto old = client_settings(in(xs));
  CAF_REQUIRE(old);
  CAF_CHECK(old->module == wire::packing_module::v3);
}

CAF_TEST(C3.9 an environment that is none gives a status) {
  auto no_rank = launched();
  no_rank.erase("PMIX_RANK");
  CAF_CHECK(code_of(no_rank) == status::data_value_not_found);
  for (const auto* rank : {"", "x", "-1", "4294967295", "99999999999999"}) {
    auto xs = launched();
    xs["PMIX_RANK"] = rank;
    CAF_CHECK(code_of(xs) == status::bad_param);
  }
  auto no_uri = launched();
  no_uri.erase("PMIX_SERVER_URI41");
  CAF_CHECK(code_of(no_uri) == status::unreach);
  for (const auto* uri : {"", "x", ";;;", "s.0;tcp4://localhost:1",
                          "s.0;tcp4://127.0.0.1:0", "s;tcp4://127.0.0.1:1"}) {
    auto xs = launched();
    xs["PMIX_SERVER_URI41"] = uri;
    CAF_CHECK(code_of(xs) == status::unreach);
  }
  auto long_name = launched();
  long_name["PMIX_NAMESPACE"] = std::string(256, 'n');
  CAF_CHECK(code_of(long_name) == status::bad_param);
}

// -- tools -------------------------------------------------------------------

CAF_TEST(C3.13 a tool finds the one server that lives) {
  sandbox dir;
  CAF_CHECK_EQUAL(count(search(dir)), unreach);
  dir.write("session.1/" + tool_file(), some_uri, ::getpid());
  dir.write("session.1/" + tool_file(".4711"), some_uri, ::getpid());
  CAF_CHECK_EQUAL(count(search(dir)), 1);
  // What a dead server left does not count.
  dir.write("session.2/" + tool_file(), "old.0;tcp4://127.0.0.1:1", dead());
  CAF_CHECK_EQUAL(count(search(dir)), 1);
  // Of two, the tool cannot know which is meant.
  dir.write("session.3/" + tool_file(), "new.0;tcp4://127.0.0.1:2", ::getpid());
  CAF_CHECK_EQUAL(count(search(dir)), unreach);
}

CAF_TEST(C3.13 a tool finds the server that is named) {
  sandbox dir;
  dir.write("a/" + tool_file(".4711"), "one.0;tcp4://127.0.0.1:1", ::getpid());
  dir.write("a/" + tool_file(".two"), "two.0;tcp4://127.0.0.1:2", ::getpid());
  dir.write("pmix.sys." + node_name(), "sys.0;tcp4://127.0.0.1:3", ::getpid());
  auto by_pid = search(dir);
  by_pid.pid = 4711;
  auto by_name = search(dir);
  by_name.nspace = "two";
  auto system = search(dir);
  system.node_servers = {rendezvous_kind::system};
  system.node_servers_only = true;
  auto by_uri = search(dir);
  by_uri.uri = "uri.0;tcp4://127.0.0.1:4";
  auto by_file = search(dir);
  by_file.uri = "file:" + dir.path + "/a/" + tool_file(".two");
  for (const auto& [x, port] : {std::pair{by_pid, 1},
                                {by_name, 2},
                                {system, 3},
                                {by_uri, 4},
                                {by_file, 2}}) {
    const auto found = find_servers(x, in({}));
    CAF_REQUIRE(found);
    CAF_REQUIRE_EQUAL(found->size(), 1u);
    CAF_CHECK_EQUAL(found->front().uri.port, port);
    CAF_CHECK(found->front().role == peer_role::tool_needs_identity);
  }
  auto nobody = search(dir);
  nobody.pid = 471;
  CAF_CHECK_EQUAL(count(nobody), unreach);
}

CAF_TEST(C3.13 a tool that a job runs asks the server of the job) {
  sandbox dir;
  dir.write("a/" + tool_file(), "one.0;tcp4://127.0.0.1:1", ::getpid());
  const auto found = find_servers(search(dir), in(launched()));
  CAF_REQUIRE(found);
  CAF_CHECK_EQUAL(found->front().uri.port, 4711);
  CAF_CHECK(found->front().role == peer_role::tool_client);
}

CAF_TEST(X10 files of others and odd ones are left alone) {
  sandbox dir;
  const auto path = dir.path + "/" + tool_file();
  std::ofstream{path} << "no uri\n";
  CAF_CHECK_EQUAL(count(search(dir)), unreach);
  std::filesystem::remove(path);
  std::filesystem::create_symlink("/etc/passwd", path);
  CAF_CHECK_EQUAL(count(search(dir)), unreach);
  std::filesystem::remove(path);
  CAF_REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  CAF_CHECK_EQUAL(count(search(dir)), unreach);
  std::filesystem::remove(path);
  dir.write(tool_file(), some_uri, ::getpid());
  CAF_CHECK_EQUAL(count(search(dir)), 1);
  if (me() != 0) {
    CAF_MESSAGE("needs root to give a file away");
    return;
  }
  CAF_REQUIRE(::chown(path.c_str(), 4711, 4711) == 0);
  CAF_CHECK_EQUAL(count(search(dir)), unreach);
}
