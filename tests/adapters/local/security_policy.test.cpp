#include "adapters/local/security_policy.hpp"

#include "messages/status.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

wire::hello greeting(std::string mechanism, std::string credential) {
  wire::hello result;
  result.security = std::move(mechanism);
  result.credential = std::move(credential);
  return result;
}

} // namespace

CAF_TEST(X4 the policy alone fixes the mechanism) {
  const security_policy native;
  const security_policy munge{security_mechanism::munge, {}};
  for (const auto* asked : {"native", "munge", "none", "dummy_handshake", ""}) {
    const auto x = greeting(asked, {});
    CAF_CHECK_EQUAL(!check_mechanism(native, x),
                    asked == std::string{"native"});
    CAF_CHECK_EQUAL(!check_mechanism(munge, x), asked == std::string{"munge"});
  }
}

CAF_TEST(X3 the kernel must confirm a native credential) {
  const auto x = greeting("native", wire::native_credential({1000, 100}));
  const auto good = confirm_native(x, 1000);
  CAF_REQUIRE(good);
  CAF_CHECK(*good == (credentials{1000, 100}));
  const auto bad = confirm_native(x, 1001);
  CAF_REQUIRE(!bad);
  CAF_CHECK(status_of(bad.error()) == status::invalid_cred);
}

CAF_TEST(X3 F4.7 the kernel must confirm a munge credential too) {
  const auto x = greeting("munge", "MUNGE:...");
  CAF_CHECK(confirm_munge(x, {1000, 100}, 1000));
  CAF_CHECK(!confirm_munge(x, {1000, 100}, 1001));
}

CAF_TEST(X3 what a tool claims beside must be the same) {
  auto x = greeting("native", wire::native_credential({1000, 100}));
  x.claimed = credentials{0, 0};
  CAF_CHECK(!confirm_native(x, 1000));
  CAF_CHECK(!confirm_munge(x, {1000, 100}, 1000));
  x.claimed->uid = 1000;
  CAF_CHECK(confirm_native(x, 1000));
  CAF_CHECK(confirm_munge(x, {1000, 100}, 1000));
}

CAF_TEST(X4 a native credential has eight bytes) {
  for (const auto* bytes : {"", "1234567", "123456789"})
    CAF_CHECK(!confirm_native(greeting("native", bytes), 0));
}
