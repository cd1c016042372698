// What a reply of the server comes to.

#include "adapters/link/link_replies.hpp"

#include "adapters/wire/replies.hpp"
#include "messages/attributes.hpp"
#include "messages/denial.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

wire::dialect rules() {
  auto result = wire::dialect{};
  result.module = wire::packing_module::v41;
  result.peer = {5, 0, 0};
  return result;
}

const auto why = std::vector<info>{
  {std::string{attr::event_text_message}, 0, value::string("not yours")}};

std::string denial() {
  auto out = std::string{};
  if (wire::encode_denial(status::no_permissions, why, rules(), out))
    CAF_FAIL("cannot be encoded");
  return out;
}

} // namespace

CAF_TEST(J4 M4 refusals of control and monitoring tell why) {
  for (const auto asked :
       {wire::command::job_control, wire::command::monitor}) {
    const auto x = read_reply(asked, denial(), rules());
    CAF_REQUIRE(!x);
    CAF_CHECK(status_of(x.error()) == status::no_permissions);
    CAF_CHECK(infos_of(x.error()) == why);
    CAF_CHECK(!is_unreadable(x.error()));
  }
}

CAF_TEST(J4 refusals of other requests are a status) {
  const auto x = read_reply(wire::command::query, denial(), rules());
  CAF_REQUIRE(!x);
  CAF_CHECK(status_of(x.error()) == status::no_permissions);
  CAF_CHECK(infos_of(x.error()).empty());
}

CAF_TEST(J4 a refusal without infos is a status) {
  auto out = std::string{};
  wire::encode_status(status::not_supported, rules(), out);
  const auto x = read_reply(wire::command::job_control, out, rules());
  CAF_REQUIRE(!x);
  CAF_CHECK(status_of(x.error()) == status::not_supported);
  CAF_CHECK(infos_of(x.error()).empty());
}
