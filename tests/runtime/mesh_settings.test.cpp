#include "runtime/mesh_settings.hpp"

#include "messages/status.hpp"
#include "tests/test.hpp"

#include <cstdlib>
#include <memory>
#include <string>

using namespace troupe;

namespace {

/// Sets a variable of the environment for a while.
class variable {
public:
  variable(const char* name, const char* value) : name_(name) {
    ::setenv(name, value, 1);
  }

  ~variable() {
    ::unsetenv(name_);
  }

  variable(const variable&) = delete;

  variable& operator=(const variable&) = delete;

private:
  const char* name_;
};

networks_options networks_of(const site_settings& of_host) {
  const auto all = with_environment(of_host);
  if (!all)
    CAF_FAIL(reason_of(all.error()));
  auto result = networks_options{};
  apply_settings(*all, result);
  return result;
}

} // namespace

CAF_TEST(C12.9 O8 networks of an embedded mesh have what the environment sets) {
  const auto before = networks_of({});
  const variable progress{"TROUPE_NETWORKS_OWN_PROGRESS", "true"};
  const variable half_open{"TROUPE_NETWORKS_HALF_OPEN", "7"};
  const variable patience{"TROUPE_NETWORKS_HANDSHAKE_TIME", "1500ms"};
  const auto after = networks_of({});
  CAF_CHECK(!before.own_progress);
  CAF_CHECK(after.own_progress);
  CAF_CHECK_EQUAL(after.limits.half_open, 7u);
  CAF_CHECK_EQUAL(after.limits.half_open_per_address, 7u);
  CAF_CHECK_EQUAL(after.limits.handshake_time.count(), 1500);
}

CAF_TEST(C12.9 LIM23 LIM24 so have its nodes) {
  const variable window{"TROUPE_NETWORKS_WINDOW", "8M"};
  const variable peers{"TROUPE_NETWORKS_DIRECT_PEERS", "0"};
  const auto all = with_environment({});
  CAF_REQUIRE(all);
  auto node = node_options{};
  apply_settings(*all, node);
  CAF_CHECK_EQUAL(node.session.window, size_t{8} << 20);
  CAF_CHECK_EQUAL(node.direct_peers, 0u);
}

CAF_TEST(C12.9 the host is above the environment) {
  const variable half_open{"TROUPE_NETWORKS_HALF_OPEN", "7"};
  const variable patience{"TROUPE_NETWORKS_HANDSHAKE_TIME", "1500ms"};
  auto of_host = site_settings{};
  CAF_REQUIRE(!of_host.set(setting_id::networks_half_open, 9, "the host"));
  const auto found = networks_of(of_host);
  CAF_CHECK_EQUAL(found.limits.half_open, 9u);
  CAF_CHECK_EQUAL(found.limits.handshake_time.count(), 1500);
}

CAF_TEST(C12.9 a wrong variable of networks is named) {
  const variable wrong{"TROUPE_NETWORKS_HALF_OPEN", "none"};
  const auto found = with_environment({});
  CAF_REQUIRE(!found);
  CAF_CHECK(status_of(found.error()) == status::bad_param);
  CAF_CHECK_NOT_EQUAL(
    reason_of(found.error()).find("TROUPE_NETWORKS_HALF_OPEN"),
    std::string::npos);
}
