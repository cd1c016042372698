// What a daemon is told on its standard input, and what it answers.

#include "messages/status.hpp"
#include "tests/test.hpp"
#include "tools/member_daemon.hpp"

using namespace troupe;

namespace {

join_settings example() {
  auto result = join_settings{};
  result.dvm = "dvm";
  result.rank = 3;
  result.name = "n3";
  result.root = "n0";
  result.root_host = "head";
  result.contacts = {{"eth0", "10.0.0.1", 4711}, {"eth1", "fd00::1", 4712}};
  result.radix = 8;
  result.networks = {"eth0", "eth1"};
  result.lanes = {"tcp"};
  result.sensors = {"file-system=/scratch", "off"};
  result.hooks = {"checkpoint=save -q"};
  result.monitors = {"reaction=kill"};
  result.settings = {"events.history=true"};
  result.metrics = "localhost:9466";
  result.patience = 17;
  result.log_level = severity::debug;
  result.logs_as = log_format::json;
  result.log_file = "/tmp/a \"file\"\n";
  result.directory = "/tmp";
  return result;
}

std::string refusal(std::string_view bytes) {
  auto rest = std::string_view{};
  const auto result = decode_join_settings(bytes, rest);
  return result ? "" : reason_of(result.error());
}

} // namespace

CAF_TEST(settings arrive as they were and credentials follow) {
  const auto sent = example();
  const auto bytes = encode(sent) + std::string{"secret\0\n", 8};
  auto rest = std::string_view{};
  const auto got = decode_join_settings(bytes, rest);
  CAF_REQUIRE(got);
  CAF_CHECK_EQUAL(rest, (std::string_view{"secret\0\n", 8}));
  CAF_CHECK_EQUAL(encode(*got), encode(sent));
  CAF_CHECK_EQUAL(got->contacts.size(), 2u);
  CAF_CHECK_EQUAL(got->contacts.back().port, 4712u);
  CAF_CHECK_EQUAL(got->log_file, sent.log_file);
  CAF_CHECK(got->lanes == sent.lanes);
  CAF_CHECK(got->sensors == sent.sensors);
  CAF_CHECK(got->hooks == sent.hooks);
  CAF_CHECK(got->monitors == sent.monitors);
  CAF_CHECK(got->settings == sent.settings);
  CAF_CHECK_EQUAL(got->metrics, sent.metrics);
}

CAF_TEST(X48 every cut of the settings is refused) {
  const auto bytes = encode(example());
  for (size_t i = 0; i < bytes.size(); ++i)
    CAF_CHECK(!refusal(bytes.substr(0, i)).empty());
}

CAF_TEST(X48 settings that are damaged are refused) {
  const auto bytes = encode(example());
  const auto with = [&](const std::string& from, const std::string& to) {
    auto result = bytes;
    const auto where = result.find(from);
    CAF_REQUIRE(where != std::string::npos);
    return result.replace(where, from.size(), to);
  };
  CAF_CHECK(refusal(bytes).empty());
  for (const auto& x :
       {with("\"rank\":3", "\"rank\":-3"), with("\"rank\":3", "\"rank\":\"3\""),
        with("\"rank\":3", "\"rank\":4294967296"), with("4711", "65536"),
        with("\"n3\"", "7"), with("[\"eth0\",", "[7,"), with("[\"tcp\"]", "7"),
        with("\"radix\"", "\"other\""), with("\"insecure\":false", "\"x\":1"),
        with("\"log_level\":0", "\"log_level\":9"),
        with("\"log_format\":1", "\"log_format\":3"), with("{", "["),
        std::string{"hello\n"}, std::string(2 * max_join_settings, 'x')})
    CAF_CHECK(!refusal(x).empty());
}

CAF_TEST(another release is told apart from noise) {
  CAF_CHECK(refusal("troupe-join 99.0 {}\n").find("another release")
            != std::string::npos);
  CAF_CHECK(refusal("# motd\n").find("use troupe up") != std::string::npos);
}

CAF_TEST(the answer is found among what a shell says) {
  const auto found = find_join_answer("Welcome!\njoined us today\n"
                                      + encode(join_answer{12}) + "bye\n");
  CAF_REQUIRE(found);
  CAF_CHECK_EQUAL(found->slots, 12u);
  for (const auto* x : {"", "joined", "joined \n", "joined -1\n", "joined 4x\n",
                        "xjoined 4\n", "joined 4294967296\n"})
    CAF_CHECK(!find_join_answer(x));
}
