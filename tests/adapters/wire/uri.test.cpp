#include "adapters/wire/uri.hpp"

#include "messages/status.hpp"
#include "tests/test.hpp"

#include <algorithm>

using namespace troupe;
using namespace troupe::wire;

namespace {

const auto text = std::string{"server.0;tcp4://127.0.0.1:40001"};

server_uri uri() {
  const auto x = parse_uri(text);
  if (!x)
    CAF_FAIL(reason_of(x.error()));
  return *x;
}

std::string variable(const environment& xs, const std::string& name) {
  for (const auto& [key, value] : xs)
    if (key == name)
      return value;
  return "?";
}

} // namespace

CAF_TEST(F3 a URI names the server and its address) {
  const auto x = uri();
  CAF_CHECK(x.server == (proc_id{"server", 0}));
  CAF_CHECK_EQUAL(x.address, "127.0.0.1");
  CAF_CHECK_EQUAL(x.port, 40001);
  CAF_CHECK(!x.is_ipv6);
  CAF_CHECK_EQUAL(to_string(x), text);
  const auto y = parse_uri("a.b.3;tcp6://[fe80::1%eth0]:1\n");
  CAF_REQUIRE(y);
  CAF_CHECK(y->server == (proc_id{"a.b", 3}));
  CAF_CHECK_EQUAL(y->address, "fe80::1%eth0");
  CAF_CHECK_EQUAL(to_string(*y), "a.b.3;tcp6://fe80::1%eth0:1");
}

CAF_TEST(F3 names of variables may stand in front of a URI) {
  const auto x = parse_uri("PMIX_SERVER_URI41:PMIX_SERVER_URI3;" + text);
  CAF_REQUIRE(x);
  CAF_CHECK(
    x->variables
    == (std::vector<std::string>{"PMIX_SERVER_URI41", "PMIX_SERVER_URI3"}));
  CAF_CHECK_EQUAL(to_string(*x), "PMIX_SERVER_URI41:PMIX_SERVER_URI3;" + text);
  CAF_CHECK(module_of_variable("PMIX_SERVER_URI41") == packing_module::v41);
  CAF_CHECK(module_of_variable("PMIX_SERVER_URI61") == packing_module::v61);
  CAF_CHECK(!module_of_variable("PMIX_SERVER_URI2"));
  CAF_CHECK(!module_of_variable("PMIX_SERVER_URI"));
  CAF_CHECK(!module_of_variable("HOME"));
}

CAF_TEST(X50 damaged URIs are refused) {
  for (const auto* x : {"",
                        ";",
                        "server",
                        "server.0",
                        "server.0;",
                        "server.0;tcp4://",
                        "server.0;tcp4://127.0.0.1",
                        "server.0;tcp4://127.0.0.1:",
                        "server.0;tcp4://127.0.0.1:0",
                        "server.0;tcp4://127.0.0.1:65536",
                        "server.0;tcp4://127.0.0.1:x",
                        "server.0;tcp4://localhost:1",
                        "server.0;tcp4://127.0.0:1",
                        "server.0;tcp4://127.0.0.256:1",
                        "server.0;tcp4://127.0.0.0001:1",
                        "server.0;tcp4://1.2.3.4.5:1",
                        "server.0;usock:/tmp/x:1",
                        "server.0;tcp6://127.0.0.1:1",
                        "server.0;tcp6://:1",
                        "server;tcp4://127.0.0.1:1",
                        ".0;tcp4://127.0.0.1:1",
                        "server.x;tcp4://127.0.0.1:1",
                        "server.4294967296;tcp4://127.0.0.1:1",
                        "a;b;server.0;tcp4://127.0.0.1:1",
                        "ser\tver.0;tcp4://127.0.0.1:1"})
    CAF_CHECK(!parse_uri(x));
  CAF_CHECK(!parse_uri(std::string(256, 'n') + ".0;tcp4://127.0.0.1:1"));
  CAF_CHECK(parse_uri(std::string(255, 'n') + ".0;tcp4://127.0.0.1:1"));
  CAF_CHECK(!parse_uri(std::string(5000, 'n')));
}

CAF_TEST(F3 a rendezvous file has five lines and an empty one) {
  auto x = rendezvous{uri(), "4.2.2", 1234, credentials{1000, 100},
                      "Thu Nov 20 16:29:00 2026"};
  CAF_CHECK_EQUAL(to_string(x), text
                                  + "\n4.2.2\n1234\n1000:100\n"
                                    "Thu Nov 20 16:29:00 2026\n\n");
  const auto y = parse_rendezvous(to_string(x));
  CAF_REQUIRE(y);
  CAF_CHECK_EQUAL(to_string(*y), to_string(x));
  CAF_CHECK(y->pid == uint32_t{1234});
  CAF_CHECK(y->owner == (credentials{1000, 100}));
  CAF_CHECK_EQUAL(y->started, x.started);
}

CAF_TEST(F3 the first line of a rendezvous file is enough) {
  for (const auto& rest : {"", "\n", "\n4.2.2\n", "\n4.2.2\nx\ny\n"}) {
    const auto x = parse_rendezvous(text + rest);
    CAF_REQUIRE(x);
    CAF_CHECK_EQUAL(x->uri.port, 40001);
    CAF_CHECK(!x->pid);
    CAF_CHECK(!x->owner);
  }
  CAF_CHECK(!parse_rendezvous(""));
  CAF_CHECK(!parse_rendezvous("\n" + text));
  CAF_CHECK(!parse_rendezvous(text + '\n' + std::string(100000, 'x')));
}

CAF_TEST(F3.6 a client finds everything in its environment) {
  auto setup = client_setup{};
  setup.uri = uri();
  setup.uri.variables = {"PMIX_SERVER_URI41"};
  setup.proc = {"job-1", 3};
  setup.hostname = "node";
  setup.server_tmpdir = "/tmp/session";
  const auto xs = wire::client_environment(setup);
  CAF_CHECK_EQUAL(variable(xs, "PMIX_NAMESPACE"), "job-1");
  CAF_CHECK_EQUAL(variable(xs, "PMIX_RANK"), "3");
  for (const auto* suffix : {"61", "51", "41", "4", "3", "21"})
    CAF_CHECK_EQUAL(variable(xs, std::string{"PMIX_SERVER_URI"} + suffix),
                    text);
  CAF_CHECK_EQUAL(variable(xs, "PMIX_SERVER_URI2"), "?");
  CAF_CHECK_EQUAL(variable(xs, "PMIX_GDS_MODULE"), "hash");
  CAF_CHECK_EQUAL(variable(xs, "PMIX_SECURITY_MODE"), "native");
  CAF_CHECK_EQUAL(variable(xs, "PMIX_BFROP_BUFFER_TYPE"),
                  "PMIX_BFROP_BUFFER_NON_DESC");
  CAF_CHECK_EQUAL(variable(xs, "PMIX_HOSTNAME"), "node");
  CAF_CHECK_EQUAL(variable(xs, "PMIX_SERVER_TMPDIR"), "/tmp/session");
  CAF_CHECK_EQUAL(variable(xs, "PMIX_SYSTEM_TMPDIR"), "?");
  CAF_CHECK_EQUAL(variable(xs, "PMIX_VERSION"), "4.2.2");
  // Nobody gets the same variable twice.
  auto sorted = xs;
  std::sort(sorted.begin(), sorted.end());
  CAF_CHECK(std::adjacent_find(
              sorted.begin(), sorted.end(),
              [](const auto& x, const auto& y) { return x.first == y.first; })
            == sorted.end());
}

CAF_TEST(F3 variables of another server do not reach a client) {
  for (const auto* name :
       {"PMIX_MCA_gds", "PMIX_MCA_bfrops", "PMIX_MCA_psec", "PMIX_SERVER_URI2",
        "PMIX_SERVER_URI61", "PMIX_DSTORE_ESH_BASE_PATH"})
    CAF_CHECK(is_hostile_variable(name));
  for (const auto* name : {"PMIX_MCA_gds_base_verbose", "PATH", "PMIX_RANK"})
    CAF_CHECK(!is_hostile_variable(name));
}
