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

CAF_TEST(C3.16 data of ranks are unpacked when somebody asks) {
  auto job = job_info{};
  job.nspace = "job";
  job.entries = {{std::string{attr::job_size}, value::uint32(3)}};
  const auto local = [](uint16_t x) {
    return key_value{std::string{attr::local_rank}, value::uint16(x)};
  };
  const auto name =
    key_value{std::string{attr::hostname}, value::string("here")};
  job.ranks = {{2, {local(1)}}, {0, {local(0), name}}, {2, {local(2)}}};
  const auto read = [&] {
    auto out = std::string{};
    if (wire::encode_reply(job, rules(), out))
      CAF_FAIL("cannot be encoded");
    return read_job_reply(out, rules());
  };
  const auto x = read();
  CAF_REQUIRE(x);
  CAF_CHECK_EQUAL(x->info.nspace, "job");
  CAF_CHECK(x->info.entries == job.entries);
  CAF_CHECK(x->info.ranks.empty());
  CAF_REQUIRE(x->ranks);
  auto& uut = *x->ranks;
  CAF_CHECK(uut.ranks() == (std::vector<uint32_t>{0, 2}));
  CAF_CHECK(uut.of(0) == (std::vector<key_value>{local(0), name}));
  CAF_CHECK(uut.of(2) == (std::vector<key_value>{local(1), local(2)}));
  CAF_CHECK(uut.of(1).empty());
  CAF_CHECK(uut.of(3).empty());
  uut.drop(2);
  uut.drop(1);
  CAF_CHECK(uut.of(2).empty());
  CAF_CHECK(uut.ranks() == (std::vector<uint32_t>{0}));
  // A key of somebody else's may be asked for at any time.
  job.ranks.front().entries.push_back({"mine", value::uint32(1)});
  const auto y = read();
  CAF_REQUIRE(y);
  CAF_CHECK(!y->ranks);
  CAF_CHECK(y->info == job);
}

CAF_TEST(X50 data of a job that cannot be read are an error) {
  const auto nothing = read_job_reply("", rules());
  CAF_REQUIRE(!nothing);
  CAF_CHECK(status_of(nothing.error()) == status::lost_connection);
  auto out = std::string{};
  const auto job = job_info{
    "job", {}, {{0, {{std::string{attr::hostname}, value::string("here")}}}}};
  if (wire::encode_reply(job, rules(), out))
    CAF_FAIL("cannot be encoded");
  // The end of the name is not where its length says.
  out.back() = 'x';
  const auto damaged = read_job_reply(out, rules());
  CAF_REQUIRE(!damaged);
  CAF_CHECK(is_unreadable(damaged.error()));
}
