// What `troupe doctor` makes of what it has found out.

#include "tools/diagnosis.hpp"

#include "tests/test.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace troupe;

namespace {

/// A node with which nothing is wrong.
node_report healthy(std::string name, bool is_here = false) {
  auto result = node_report{};
  result.name = name;
  result.is_here = is_here;
  result.command = "ssh";
  result.address = {name, {"10.0.0.1"}, {}};
  auto facts = node_facts{};
  facts.version = "0.1.0";
  facts.caf = "0.17.6";
  facts.host = name;
  facts.user = "alice";
  facts.uid = 1000;
  facts.kernel = "6.1.0";
  facts.cpus = 4;
  facts.began_ms = 1'000'000'000'000;
  facts.time_ms = 1'000'000'000'050;
  facts.limits = {{"n", 65536}, {"u", -1}, {"l", -1}, {"v", -1}, {"f", -1}};
  facts.shared_memory = {"/dev/shm", {}, int64_t{8} << 30};
  facts.temporary = {"/tmp", {}, int64_t{8} << 30};
  facts.work = {"/home/alice", {}, -1};
  facts.interfaces = {"lo", "eth0"};
  facts.addresses = {"10.0.0.1"};
  facts.port = 40000;
  facts.first_port = 32768;
  facts.last_port = 60999;
  facts.names = {{std::move(name), {"10.0.0.1"}, {}}};
  facts.libraries = {{"libssl.so.3", "/lib/libssl.so.3", {}, {}},
                     {"libpmix.so.2", "/lib/libpmix.so.2", "4.2.2", {}}};
  result.outcome.before_ms = 999'999'999'900;
  result.outcome.after_ms = 1'000'000'000'150;
  result.outcome.facts = std::move(facts);
  return result;
}

node_report silent(std::string errors, int code) {
  auto result = node_report{};
  result.name = "n1";
  result.command = "ssh";
  result.address = {"n1", {"10.0.0.1"}, {}};
  result.outcome.errors = std::move(errors);
  result.outcome.status = code << 8; // As waitpid has it.
  return result;
}

constexpr auto alone = diagnosis_wish{false, false};
constexpr auto with_others = diagnosis_wish{true, false};

/// The one finding.
finding only(const node_report& x, const node_report* here = nullptr,
             diagnosis_wish wish = with_others) {
  const auto found = diagnose(x, here, wish);
  if (found.size() != 1) {
    for (const auto& y : found)
      CAF_MESSAGE(y.check << ": " << y.text);
    CAF_FAIL("one finding was expected");
  }
  CAF_CHECK(!found.front().remedy.empty());
  return found.front();
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

CAF_TEST(OPS-D1 nothing is found where nothing is wrong) {
  const auto here = healthy("n0", true);
  CAF_CHECK(diagnose(here, &here, with_others).empty());
  CAF_CHECK(diagnose(healthy("n1"), &here, with_others).empty());
  CAF_CHECK(diagnose(here, &here, alone).empty());
}

CAF_TEST(OPS-D2 what a remote shell says tells what to do) {
  struct row {
    const char* said;
    int code;
    const char* check;
    const char* remedy;
  };
  const row table[] = {
    {"a@n1: Permission denied (publickey,password).\n", 255, "ssh",
     "ssh-copy-id n1"},
    {"Host key verification failed.\r\n", 255, "ssh", "ssh-keyscan n1"},
    {"@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key "
     "verification failed.\n",
     255, "ssh", "ssh-keygen -R n1"},
    {"ssh: Could not resolve hostname n1: Name or service not known\n", 255,
     "name", "/etc/hosts"},
    {"ssh: connect to host n1 port 22: Connection refused\n", 255, "ssh",
     "sshd on n1"},
    {"sh: 1: /opt/bin/trouped: not found\n", 127, "program", "--launch-agent"},
    {"/opt/bin/trouped: error while loading shared libraries: "
     "libcaf_core.so.0.17.6: cannot open shared object file: No such file or "
     "directory\n",
     127, "libraries", "ldd"},
    {"sh: 1: /opt/bin/trouped: Permission denied\n", 126, "program", "chmod"},
    {"The following argument was not expected: --probe\nRun with --help\n", 109,
     "version", "same"},
    {"trouped: the limit of open files (ulimit -n) is 16, and 32 are needed at "
     "least; raise its hard value (ulimit -Hn)\n",
     125, "program", "raise its hard value"},
    {"trouped: it has to; ", 1, "program", "start it there by hand"},
    {"trouped: ; do so", 1, "ssh", "`ssh ... n1 true`"},
    {"", 1, "ssh", "`ssh ... n1 true`"},
  };
  for (const auto& x : table) {
    const auto found = only(silent(x.said, x.code));
    CAF_CHECK_EQUAL(found.check, std::string{x.check});
    CAF_CHECK(found.level == gravity::error);
    CAF_CHECK(says(found.remedy, x.remedy));
    CAF_CHECK(!found.text.empty() && !says(found.text, "\n"));
  }
}

CAF_TEST(OPS-D2 a node that does not answer in time or not in words of ours) {
  auto late = silent("password:", 0);
  late.outcome.status = std::nullopt;
  late.outcome.is_late = true;
  CAF_CHECK(says(only(late).text, "time-out (password:)"));
  auto garbled = silent("", 0);
  garbled.outcome.is_garbled = true;
  CAF_CHECK_EQUAL(only(garbled).check, "version");
  auto unstarted = silent("", 0);
  unstarted.outcome.failure = "cannot start ssh: no such program";
  CAF_CHECK(says(only(unstarted).remedy, "--remote-shell"));
}

CAF_TEST(OPS-D1 releases have to be the same) {
  const auto here = healthy("n0", true);
  auto there = healthy("n1");
  there.outcome.facts->version = "0.2.0";
  const auto found = only(there, &here);
  CAF_CHECK_EQUAL(found.check, "version");
  CAF_CHECK(found.level == gravity::error);
  CAF_CHECK(says(found.text, "0.2.0") && says(found.text, "0.1.0"));
}

CAF_TEST(OPS-D3 clocks are compared as far as the way allows) {
  const auto here = healthy("n0", true);
  const auto shifted = [&](int64_t ms, bool munge = false) {
    auto there = healthy("n1");
    there.outcome.facts->began_ms += ms;
    there.outcome.facts->time_ms += ms;
    return diagnose(there, &here, diagnosis_wish{true, munge});
  };
  CAF_CHECK(shifted(0).empty());
  CAF_CHECK(shifted(900).empty());
  CAF_CHECK(shifted(-900).empty());
  const auto ahead = shifted(10'000);
  CAF_REQUIRE_EQUAL(ahead.size(), 1u);
  CAF_CHECK(ahead.front().level == gravity::warning);
  CAF_CHECK(says(ahead.front().text, "9.9 s ahead of"));
  const auto behind = shifted(-10'000);
  CAF_REQUIRE_EQUAL(behind.size(), 1u);
  CAF_CHECK(says(behind.front().text, "9.9 s behind"));
  const auto days = shifted(3 * int64_t{86'400'000});
  CAF_REQUIRE_EQUAL(days.size(), 1u);
  CAF_CHECK(days.front().level == gravity::error);
  CAF_CHECK(says(days.front().text, "certificates"));
  CAF_CHECK(shifted(400'000).front().level == gravity::warning);
  CAF_CHECK(shifted(400'000, true).front().level == gravity::error);
}

CAF_TEST(OPS-D4 limits are measured by the processors) {
  const auto here = healthy("n0", true);
  const auto with = [&](const char* name, int64_t n) {
    auto x = here;
    x.outcome.facts->limits[name] = n;
    return diagnose(x, &here, with_others);
  };
  // 104 descriptors for the daemon and 5 for each of 4 processes.
  CAF_CHECK(with("n", 123).front().level == gravity::error);
  CAF_CHECK(with("n", 124).front().level == gravity::note);
  CAF_CHECK(says(with("n", 1024).front().text, "184 processes"));
  CAF_CHECK(with("n", 8192).empty());
  CAF_CHECK(with("u", 10).front().level == gravity::warning);
  CAF_CHECK(with("v", 1 << 20).front().level == gravity::error);
  CAF_CHECK(with("v", int64_t{1} << 33).front().level == gravity::note);
  CAF_CHECK(with("f", 1 << 20).front().level == gravity::warning);
  CAF_CHECK(says(with("l", 65536).front().text, "64 KiB"));
}

CAF_TEST(OPS-D4 directories have to be there with room) {
  const auto here = healthy("n0", true);
  auto x = here;
  x.outcome.facts->shared_memory.trouble = "No such file or directory";
  CAF_CHECK(only(x).level == gravity::error);
  x = here;
  x.outcome.facts->shared_memory.free_bytes = int64_t{16} << 20;
  CAF_CHECK(only(x).level == gravity::warning);
  CAF_CHECK(says(only(x).text, "16 MiB free"));
  x = here;
  x.outcome.facts->temporary.trouble = "Permission denied";
  CAF_CHECK(says(only(x).remedy, "TMPDIR"));
  x = here;
  x.outcome.facts->work.trouble = "No such file or directory";
  CAF_CHECK(says(only(x).text, "/home/alice"));
}

CAF_TEST(OPS-D5 nodes have to reach each other) {
  const auto here = healthy("n0", true);
  auto x = healthy("n1");
  x.outcome.facts->reached = {{{"10.0.0.1", 4000}, "no answer"},
                              {{"fd00::1", 4000}, "Connection refused"}};
  const auto found = only(x, &here);
  CAF_CHECK_EQUAL(found.check, "ports");
  CAF_CHECK(found.level == gravity::error);
  CAF_CHECK(says(found.text, "10.0.0.1: no answer, [fd00::1]: Connection"));
  CAF_CHECK(says(found.remedy, "--networks"));
  x.outcome.facts->reached.push_back({{"10.1.0.1", 4000}, {}});
  CAF_CHECK(diagnose(x, &here, with_others).empty());
  x.outcome.reached = {{{"10.0.0.2", 4000}, "no answer"}};
  CAF_CHECK(only(x, &here).level == gravity::warning);
}

CAF_TEST(OPS-D5 names concern those that have other nodes) {
  auto x = healthy("n1");
  x.outcome.facts->names = {{"n1", {}, "Name or service not known"},
                            {"n0", {"127.0.1.1"}, {}}};
  CAF_CHECK_EQUAL(diagnose(x, nullptr, with_others).size(), 2u);
  CAF_CHECK(diagnose(x, nullptr, alone).empty());
  const auto without = diagnose(x, nullptr, diagnosis_wish{true, false, true});
  CAF_REQUIRE_EQUAL(without.size(), 2u);
  CAF_CHECK(without[0].level == gravity::error);
  CAF_CHECK(says(without[0].text, "n0 leads to 127.0.1.1"));
  CAF_CHECK(without[1].level == gravity::note);
}

CAF_TEST(OPS-D5 a file of a DVM that nobody launches is the same everywhere) {
  auto here = healthy("n0", true);
  here.outcome.facts->bootstrap_text = "ClusterName=c";
  auto x = healthy("n1");
  x.outcome.facts->bootstrap_text = "ClusterName=d";
  CAF_CHECK_EQUAL(only(x, &here).check, "bootstrap");
  x.outcome.facts->bootstrap_text.clear();
  x.outcome.facts->bootstrap_trouble = "cannot read it";
  CAF_CHECK_EQUAL(only(x, &here).text, "cannot read it");
}

CAF_TEST(OPS-D6 settings of Open MPI that make jobs fail are found) {
  const auto with = [](std::vector<mpi_setting> settings) {
    auto x = healthy("n0", true);
    x.outcome.facts->settings = std::move(settings);
    return diagnose(x, nullptr, with_others);
  };
  const auto tcp = std::string{"OMPI_MCA_btl_tcp_if_"};
  CAF_CHECK(
    with({{tcp + "include", "eth0,10.0.0.0/8", "environment"}}).empty());
  const auto ib =
    with({{tcp + "include", "ib0", "/etc/openmpi/openmpi-mca-params.conf"}});
  CAF_REQUIRE_EQUAL(ib.size(), 1u);
  CAF_CHECK(ib.front().level == gravity::error);
  CAF_CHECK(says(ib.front().text, "ib0"));
  CAF_CHECK(says(ib.front().text, "openmpi-mca-params.conf"));
  CAF_CHECK(says(ib.front().remedy, "lo, eth0"));
  CAF_CHECK(with({{"OMPI_MCA_btl", "tcp,vader", "environment"}}).front().level
            == gravity::error);
  CAF_CHECK(with({{"OMPI_MCA_btl", "self,tcp", "environment"}}).empty());
  CAF_CHECK(with({{"OMPI_MCA_btl", "^openib", "environment"}}).empty());
  CAF_CHECK_EQUAL(with({{tcp + "include", "eth0", "environment"},
                        {tcp + "exclude", "lo", "environment"}})
                    .size(),
                  1u);
  auto gone = mpi_setting{"OMPI_MCA_btl_vader_backing_directory", "/gone",
                          "environment", true};
  CAF_CHECK_EQUAL(with({gone}).size(), 1u);
  gone.is_missing = false;
  CAF_CHECK(with({gone}).empty());
  CAF_CHECK(with({{"PMIX_MCA_psec", "munge", "environment"}}).front().level
            == gravity::warning);
  CAF_CHECK(with({{"PMIX_MCA_psec", "^munge", "environment"}}).empty());
  CAF_CHECK_EQUAL(with({{"PMIX_MCA_psec", "^native", "environment"}}).size(),
                  1u);
  // What only looks wrong.
  CAF_CHECK(with({{"OMPI_MCA_btl_openib_if_include", "mlx5_0", "environment"}})
              .empty());
  CAF_CHECK(with({{"UCX_NET_DEVICES", "mlx5_0:1,eth*,all", "x"}}).empty());
  CAF_CHECK(with({{"OMPI_MCA_pml", "ucx", "environment"},
                  {"OMPI_MCA_btl", "tcp", "environment"}})
              .empty());
  // Debian's pml, which leaves the transports of Open MPI in use.
  CAF_CHECK_EQUAL(with({{"OMPI_MCA_pml", "^ucx", "environment"},
                        {"OMPI_MCA_btl", "tcp", "environment"}})
                    .size(),
                  1u);
}

CAF_TEST(OPS-D6 processes that offer munge suit daemons that want it) {
  auto x = healthy("n0", true);
  x.outcome.facts->settings = {{"PMIX_MCA_psec", "munge", "environment"}};
  CAF_CHECK(diagnose(x, nullptr, {true, true}).empty());
  x.outcome.facts->settings.front().value = "native";
  CAF_CHECK_EQUAL(diagnose(x, nullptr, {true, true}).size(), 1u);
}

CAF_TEST(OPS-D1 what a node says makes no findings without bound) {
  auto x = healthy("n1");
  for (auto i = 0; i < 1000; ++i) {
    x.outcome.facts->settings.push_back(
      {"OMPI_MCA_btl_tcp_if_include", "ib0,ib1,ib2", std::string(10000, 'x')});
    x.outcome.facts->interfaces.push_back(std::string(1000, 'y'));
  }
  const auto found = diagnose(x, nullptr, with_others);
  CAF_CHECK(found.size() >= 10 && found.size() <= 100);
  for (const auto& y : found) {
    CAF_CHECK(y.text.size() <= 4000);
    CAF_CHECK(y.remedy.size() <= 4000);
  }
}

CAF_TEST(OPS-D6 libraries are compared and OpenSSL is needed for other nodes) {
  const auto here = healthy("n0", true);
  auto x = healthy("n1");
  x.outcome.facts->libraries[1].version = "5.0.1";
  CAF_CHECK_EQUAL(only(x, &here).check, "libraries");
  x = healthy("n1");
  x.outcome.facts->libraries[0] = {"libssl.so.3", {}, {}, "libssl.so.3: none"};
  CAF_CHECK(only(x, &here).level == gravity::error);
  CAF_CHECK(diagnose(x, nullptr, alone).front().level == gravity::note);
}

CAF_TEST(OPS-D7 munge is looked at if it is wanted or works here) {
  const auto here = healthy("n0", true);
  auto broken = healthy("n1");
  broken.outcome.facts->munge_trouble = "munge: Failed to access";
  CAF_CHECK(only(broken, &here).level == gravity::note);
  CAF_CHECK(only(broken, &here, {true, true}).level == gravity::error);
  auto other_key = healthy("n1");
  other_key.outcome.facts->foreign_munge_trouble = "munge: Invalid credential";
  CAF_CHECK(only(other_key, &here, {true, true}).level == gravity::error);
  auto without = here;
  without.outcome.facts->munge_trouble = "munge: Failed to access";
  CAF_CHECK(diagnose(without, &without, with_others).empty());
  CAF_CHECK(diagnose(broken, &without, with_others).empty());
}

CAF_TEST(OPS-D1 the worst comes first and decides the exit status) {
  auto x = diagnosed_node{healthy("n0", true), {}};
  CAF_CHECK_EQUAL(exit_status_of({x}, true), 0);
  x.findings = {{"clock", gravity::warning, "a", "b"}};
  CAF_CHECK_EQUAL(exit_status_of({x}, false), 0);
  CAF_CHECK_EQUAL(exit_status_of({x}, true), 1);
  x.findings = {{"clock", gravity::error, "a", "b"}};
  CAF_CHECK_EQUAL(exit_status_of({x}, false), 1);
  auto bad = healthy("n0", true);
  bad.outcome.facts->limits["l"] = 0;
  bad.outcome.facts->shared_memory.trouble = "gone";
  const auto found = diagnose(bad, nullptr, with_others);
  CAF_REQUIRE_EQUAL(found.size(), 2u);
  CAF_CHECK(found[0].level == gravity::error);
  CAF_CHECK(found[1].level == gravity::note);
}

CAF_TEST(OPS-D1 X31 each finding is shown with its remedy and commands nobody) {
  auto x = diagnosed_node{healthy("n0", true), {}};
  CAF_CHECK_EQUAL(
    to_text({x}),
    "n0 (this node): Troupe 0.1.0, 4 processors, Linux 6.1.0, all well\n"
    "1 node: 0 errors, 0 warnings, 0 notes\n");
  x.findings = {{"clock", gravity::error, "it is \x1b[2J late", "set it"}};
  const auto shown = to_text({x});
  CAF_CHECK(says(shown, "  error    clock: it is \\x1b[2J late\n"
                        "           -> set it\n"));
  CAF_CHECK(says(shown, "1 error, 0 warnings"));
  const auto told = to_json({x});
  CAF_CHECK(told["errors"] == 1);
  CAF_CHECK(told["nodes"][0]["findings"][0]["check"] == "clock");
  CAF_CHECK(told["nodes"][0]["answered"] == true);
}
