#include "actors/mesh/embedded/mesh_greeting.hpp"

#include "messages/status.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

struct fixture {
  static mesh_greeting example() {
    auto result = mesh_greeting{};
    result.rank = 7;
    result.name = "n07";
    result.incarnation = 0x1234567890;
    result.addresses = {{"eth0", "10.0.0.7", 40000}, {"ib0", "fe80::7", 40001}};
    result.certificate = std::string{"\x30\x82\x00\xff", 4};
    return result;
  }

  static proc_data data_of(uint32_t rank, std::string key, value x) {
    return {{"job", rank}, {key_value{std::move(key), std::move(x)}}};
  }

  journal log = [this](severity, const std::string& line) {
    lines.push_back(line);
  };

  std::vector<std::string> lines;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(mesh_greeting_tests, fixture)

CAF_TEST(O10 a greeting survives its way) {
  const auto read = read_greeting(to_bytes(example()));
  CAF_REQUIRE(read);
  CAF_CHECK(*read == example());
}

CAF_TEST(X44 what is no greeting is refused whatever it is) {
  const auto bytes = to_bytes(example());
  for (size_t n = 0; n < bytes.size(); ++n)
    CAF_CHECK(!read_greeting(bytes.substr(0, n)));
  CAF_CHECK(!read_greeting(bytes + "x"));
  CAF_CHECK(!read_greeting("\x02" + bytes.substr(1)));
  CAF_CHECK(!read_greeting(std::string(max_greeting_size + 1, '\x01')));
  CAF_CHECK(!read_greeting(std::string(64, '\xff')));
  auto crowd = example();
  crowd.addresses.assign(max_greeting_addresses + 1, {"a", "b", 1});
  CAF_CHECK(!read_greeting(to_bytes(crowd)));
  auto anonymous = example();
  anonymous.incarnation = 0;
  CAF_CHECK(!read_greeting(to_bytes(anonymous)));
  auto bare = example();
  bare.certificate.clear();
  CAF_CHECK(!read_greeting(to_bytes(bare)));
  // Any byte of it may be another one: read or refused, never worse.
  for (size_t i = 0; i < bytes.size(); ++i) {
    auto broken = bytes;
    broken[i] = static_cast<char>(broken[i] ^ 0x80);
    if (const auto read = read_greeting(broken))
      CAF_CHECK(!(*read == example()));
  }
}

CAF_TEST(O15 greetings ride among the data of a fence and are taken out) {
  auto call = host_collective{};
  call.procs = {{"job", rank_wildcard}};
  call.data = {data_of(0, "k", value::string("v"))};
  add_greeting(call, "job", example());
  CAF_REQUIRE_EQUAL(call.data.size(), 2u);
  auto met = take_greetings(call.data, log);
  CAF_REQUIRE_EQUAL(met.size(), 1u);
  CAF_CHECK(met.front() == example());
  CAF_REQUIRE_EQUAL(call.data.size(), 1u);
  CAF_CHECK_EQUAL(call.data.front().proc, (proc_id{"job", 0}));
  CAF_CHECK(lines.empty());
  CAF_CHECK(take_greetings(call.data, log).empty());
  CAF_CHECK_EQUAL(call.data.size(), 1u);
}

CAF_TEST(X44 a broken greeting costs one line and nothing else) {
  const auto key = std::string{mesh_greeting_key};
  auto data = std::vector<proc_data>{
    data_of(rank_undef, key, value::bytes("nonsense")),
    data_of(rank_undef, key, value::uint32(1)),
    data_of(rank_undef, key, value::bytes(to_bytes(example()))),
    // Keys of processes may have any name.
    data_of(3, key, value::bytes(to_bytes(example()))),
    data_of(rank_undef, "other", value::bytes("")),
  };
  CAF_CHECK_EQUAL(take_greetings(data, log).size(), 1u);
  CAF_CHECK_EQUAL(data.size(), 2u);
  CAF_REQUIRE_EQUAL(lines.size(), 2u);
  CAF_CHECK(lines[0].find("of job is ignored") != std::string::npos);
  CAF_CHECK(lines[1].find("no bytes") != std::string::npos);
}

CAF_TEST_FIXTURE_SCOPE_END()
