// How `troupe doctor` and the daemon's program talk.

#include "tools/node_facts.hpp"

#include "tests/test.hpp"

using namespace troupe;

CAF_TEST(OPS-D1 a request comes as it went) {
  auto x = probe_request{};
  x.names = {"n0", "n 1"};
  x.reach = {{"10.0.0.1", 4000}, {"fd00::1", 65535}};
  x.directory = "/home/a\nb";
  x.credential = std::string{"MUNGE:x:\0", 9};
  const auto line = encode(x);
  CAF_CHECK_EQUAL(line.find('\n'), line.size() - 1);
  const auto got = decode_probe_request(line);
  CAF_REQUIRE(got);
  CAF_CHECK(got->names == x.names);
  CAF_REQUIRE_EQUAL(got->reach.size(), 2u);
  CAF_CHECK_EQUAL(got->reach[1].address, "fd00::1");
  CAF_CHECK_EQUAL(got->reach[1].port, 65535);
  CAF_CHECK_EQUAL(got->directory, x.directory);
  CAF_CHECK_EQUAL(got->credential, x.credential);
}

CAF_TEST(OPS-D1 what is no request is refused) {
  for (const auto* text :
       {"", "7", "[]", "{", R"({"names": 7})", R"({"reach": [{"port": "x"}]})"})
    CAF_CHECK(!decode_probe_request(text));
}

CAF_TEST(OPS-D1 an answer is found among what login scripts print) {
  auto x = node_facts{};
  x.version = "0.1.0";
  x.limits = {{"n", 1024}, {"v", -1}};
  x.names = {{"n1", {"10.0.0.1"}, "none"}};
  x.libraries = {{"libssl.so.3", "/lib/x", "3", "why"}};
  x.settings = {{"OMPI_MCA_btl", "self", "environment", true}};
  x.time_ms = 1'700'000'000'123;
  const auto line = encode(x);
  CAF_CHECK(!has_facts(line.substr(0, line.size() - 1)));
  CAF_CHECK(!has_facts("not troupe-probe-1 {}\n"));
  CAF_CHECK(!has_facts(""));
  const auto got = find_facts("Welcome!\nmail: 3\n" + line + "bye\n");
  CAF_REQUIRE(got);
  CAF_CHECK_EQUAL(got->version, "0.1.0");
  CAF_CHECK(got->limits == x.limits);
  CAF_CHECK_EQUAL(got->names.at(0).addresses.at(0), "10.0.0.1");
  CAF_CHECK_EQUAL(got->libraries.at(0).trouble, "why");
  CAF_CHECK(got->settings.at(0).is_missing);
  CAF_CHECK_EQUAL(got->time_ms, x.time_ms);
}

CAF_TEST(OPS-D1 an answer that is none of ours is noticed) {
  for (const auto* text : {"7", "{", R"({"cpus": "many"})", "[]"}) {
    const auto output = "troupe-probe-1 " + std::string{text} + "\n";
    CAF_CHECK(has_facts(output));
    CAF_CHECK(!find_facts(output));
  }
  // Of a release that says less.
  CAF_CHECK(find_facts("troupe-probe-1 {\"cpus\": 2}\n"));
}

CAF_TEST(OPS-D1 an answer is within its bounds) {
  const auto whole = [](const std::string& members) {
    return find_facts("troupe-probe-1 {" + members + "}\n").has_value();
  };
  CAF_CHECK(whole(R"("cpus": 4294967295, "port": 65535, "new": [1.5e0])")
            == false);
  CAF_CHECK(whole(R"("cpus": 4294967295, "port": 65535, "new": [15])"));
  CAF_CHECK(!whole(R"("cpus": 4294967296)"));
  CAF_CHECK(!whole(R"("cpus": -1)"));
  CAF_CHECK(!whole(R"("cpus": 1e9)"));
  CAF_CHECK(!whole(R"("port": 65536)"));
  CAF_CHECK(!whole(R"("time_ms": 18446744073709551615)"));
  CAF_CHECK(!whole(R"("limits": {"n": 1.5})"));
  // Times can be subtracted from each other.
  const auto times = find_facts("troupe-probe-1 {\"time_ms\": "
                                "9223372036854775807, \"began_ms\": "
                                "-9223372036854775807}\n");
  CAF_REQUIRE(times);
  CAF_CHECK_EQUAL(times->time_ms, INT64_MAX / 2);
  CAF_CHECK_EQUAL(times->began_ms, 0);
  CAF_CHECK(!whole(R"("reached": [{"place": {"port": 70000}}])"));
  // Deep, or much of it.
  CAF_CHECK(!whole("\"x\": " + std::string(100, '[') + std::string(100, ']')));
  CAF_CHECK(!whole("\"x\": " + std::string(100000, '[')));
  auto many = std::string{"\"interfaces\": [\"\""};
  for (size_t i = 0; i < defaults::probe_values; ++i)
    many += ",\"\"";
  CAF_CHECK(!whole(many + "]"));
}

CAF_TEST(OPS-D1 an answer of ours with full lists is understood) {
  auto x = node_facts{};
  x.bootstrap_text = std::string(size_t{64} << 10, '\x01');
  x.interfaces.assign(5000, "eth0");
  x.addresses.assign(100, "fd00:1:2:3:4:5:6:7");
  x.names.assign(100, {"n0", x.addresses, {}});
  x.reached.assign(100, {{"10.0.0.1", 65535}, "no answer"});
  x.settings.assign(5000, {"FI_X", std::string(1000, '\x01'), "here", false});
  x.settings[0].value.assign(5000, 'a');
  bound(x);
  const auto line = encode(x);
  CAF_CHECK(line.size() < defaults::probe_answer_bytes);
  const auto got = find_facts(line);
  CAF_REQUIRE(got);
  CAF_CHECK_EQUAL(got->interfaces.size(), defaults::probe_interfaces);
  CAF_CHECK_EQUAL(got->addresses.size(), defaults::probe_places);
  CAF_CHECK_EQUAL(got->settings.size(), x.settings.size());
  CAF_CHECK(got->settings.size() > 200);
  CAF_CHECK_EQUAL(got->settings[0].value, std::string(1000, '\x01'));
  // Others say more, and it is cut here.
  auto more = *got;
  more.addresses.assign(1000, "10.0.0.1");
  CAF_CHECK_EQUAL(find_facts(encode(more))->addresses.size(),
                  defaults::probe_places);
}

CAF_TEST(OPS-D6 files of settings have a name and a value a line) {
  const auto got = read_mca_file("# a comment\n"
                                 "btl = self,tcp # why\n"
                                 "\n"
                                 "  btl_tcp_if_include=eth0\r\n"
                                 "no value\n"
                                 "= nothing\n",
                                 "OMPI_MCA_", "/etc/x");
  CAF_REQUIRE_EQUAL(got.size(), 2u);
  CAF_CHECK_EQUAL(got[0].name, "OMPI_MCA_btl");
  CAF_CHECK_EQUAL(got[0].value, "self,tcp");
  CAF_CHECK_EQUAL(got[1].name, "OMPI_MCA_btl_tcp_if_include");
  CAF_CHECK_EQUAL(got[1].value, "eth0");
  CAF_CHECK_EQUAL(got[1].from, "/etc/x");
}
