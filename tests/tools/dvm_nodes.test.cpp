// Which node of a list is this one, and in which order nodes get their ranks.

#include "messages/status.hpp"
#include "tests/test.hpp"
#include "tools/dvm_options.hpp"

using namespace troupe;

namespace {

const auto here = this_host{"node1.cluster", {"10.0.0.1", "fe80::1"}};

/// Nodes as text: `n1:4`, `n2:*` for all processors.
std::string ordered(const host_list& hosts, const std::string& own = {}) {
  const auto nodes = order_nodes(hosts, here, own);
  if (!nodes)
    return reason_of(nodes.error());
  auto result = std::string{};
  for (const auto& x : *nodes)
    result += (result.empty() ? "" : " ") + x.name + ":"
              + (x.slots ? std::to_string(*x.slots) : "*");
  return result;
}

} // namespace

CAF_TEST(a node knows itself by name and by address) {
  for (const auto* x :
       {"node1.cluster", "node1", "NODE1", "Node1.Cluster", "localhost",
        "127.0.0.1", "127.3.2.1", "::1", "10.0.0.1", "fe80::1", "FE80:0::1"})
    CAF_CHECK(here.is(x));
  for (const auto* x : {"", "node", "node11", "node1.elsewhere", "n1",
                        "10.0.0.2", "fe80::2", "node1.cluster.org"})
    CAF_CHECK(!here.is(x));
  CAF_CHECK((this_host{"node1", {}}.is("node1.cluster")));
}

CAF_TEST(this node finds its own addresses) {
  const auto found = this_host::find();
  CAF_CHECK(found.is(found.name()));
  CAF_CHECK(found.is("localhost"));
}

CAF_TEST(the root is first and the others keep their order) {
  CAF_CHECK_EQUAL(ordered({{"n2", 2}, {"n3", 0}, {"node1", 4}, {"n4", 1}}),
                  "node1:4 n2:2 n3:* n4:1");
}

CAF_TEST(a root that is not listed takes no processes) {
  CAF_CHECK_EQUAL(ordered({{"n2", 2}}), "node1.cluster:0 n2:2");
  CAF_CHECK_EQUAL(ordered({{"n2", 2}, {"n3", 1}}, "head"), "head:0 n2:2 n3:1");
}

CAF_TEST(a node is called as it is told) {
  CAF_CHECK_EQUAL(ordered({{"a", 1}, {"b", 2}}, "b"), "b:2 a:1");
  CAF_CHECK_EQUAL(ordered({{"node1", 1}, {"b", 2}}, "b"), "b:2 node1:1");
}

CAF_TEST(two entries cannot be one node) {
  CAF_CHECK_EQUAL(ordered({{"node1", 1}, {"n2", 1}, {"localhost", 1}}),
                  "node1 and localhost are both this node; name it once");
}

CAF_TEST(X48 a name that none can have is refused) {
  for (const auto* x : {"-oProxyCommand=sh", "a b", "a;b", "a/b", "a$b"})
    CAF_CHECK_EQUAL(ordered({{x, 1}}),
                    "'" + std::string{x}
                      + "' is no name of a node; use letters, digits, '.', '_' "
                        "and '-'");
  CAF_CHECK(ordered({{std::string(256, 'x'), 1}}).find("is no name")
            != std::string::npos);
  CAF_CHECK(ordered({{"n2", 1}}, "a b").find("is no name")
            != std::string::npos);
}
