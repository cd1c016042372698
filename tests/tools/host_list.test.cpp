// The nodes of a DVM, from options, files, Slurm and PBS; and what is said of
// those that are wrong.

#include "tools/host_list.hpp"

#include "messages/status.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

using strings = std::vector<std::string>;

/// A list as text: `n1:4/8`, without what is 0.
std::string text_of(const host_list& hosts) {
  auto result = std::string{};
  for (const auto& x : hosts) {
    result += (result.empty() ? "" : " ") + x.name;
    if (x.slots > 0)
      result += ":" + std::to_string(x.slots);
    if (x.max_slots > 0)
      result += "/" + std::to_string(x.max_slots);
  }
  return result;
}

template <class T>
std::string text_of(const caf::expected<T>& x) {
  return x ? text_of(*x) : reason_of(x.error());
}

std::string option(std::string_view text) {
  return text_of(parse_host_option(text));
}

std::string file(std::string_view text) {
  return text_of(parse_hostfile(text, "hosts"));
}

std::string names(std::string_view text) {
  const auto result = expand_names(text, "LIST");
  if (!result)
    return reason_of(result.error());
  auto all = std::string{};
  for (const auto& x : *result)
    all += (all.empty() ? "" : " ") + x;
  return all;
}

/// What an environment stands for, with files by name.
std::string found(const environment& variables, const environment& files = {}) {
  const auto result = find_allocation(
    variables, [&](const std::string& name) -> caf::expected<std::string> {
      const auto i = files.find(name);
      if (i == files.end())
        return make_error(status::not_found, name + ": no such file");
      return i->second;
    });
  if (!result)
    return reason_of(result.error());
  return *result ? (*result)->manager + " " + text_of((*result)->hosts)
                 : "nothing";
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// Whether a text names the place, shows the culprit and says what to do.
#define CHECK_ERROR(text, place, culprit, remedy)                              \
  do {                                                                         \
    const auto what = text;                                                    \
    CAF_CHECK_EQUAL(what.substr(0, std::string{place}.size()), place);         \
    CAF_CHECK(has(what, culprit));                                             \
    CAF_CHECK(has(what, remedy));                                              \
    CAF_CHECK_EQUAL(what.find('\n'), std::string::npos);                       \
  } while (false)

} // namespace

CAF_TEST(brackets stand for many names) {
  CAF_CHECK_EQUAL(names("n1"), "n1");
  CAF_CHECK_EQUAL(names("n[1-3]"), "n1 n2 n3");
  CAF_CHECK_EQUAL(names("n[08-11,20]-ib"),
                  "n08-ib n09-ib n10-ib n11-ib n20-ib");
  CAF_CHECK_EQUAL(names("n[9-11]"), "n9 n10 n11");
  CAF_CHECK_EQUAL(names("r[1-2]n[01-02],login.x_y"),
                  "r1n01 r1n02 r2n01 r2n02 login.x_y");
  CAF_CHECK_EQUAL(names("[1-2]"), "1 2");
  CAF_CHECK_EQUAL(names("10.0.0.[1-2]"), "10.0.0.1 10.0.0.2");
  CAF_CHECK_EQUAL(names("n1,n1"), "n1 n1");
}

CAF_TEST(the option gives each node its slots) {
  CAF_CHECK_EQUAL(option("n1"), "n1:1");
  CAF_CHECK_EQUAL(option("n1,n2:4"), "n1:1 n2:4");
  CAF_CHECK_EQUAL(option("n1,n2,n1,n1"), "n1:3 n2:1");
  CAF_CHECK_EQUAL(option("n1:2,n1:3,n1"), "n1:6");
  CAF_CHECK_EQUAL(option("n[1-2,4]:8,n2"), "n1:8 n2:9 n4:8");
  CAF_CHECK_EQUAL(option("n1:*,n2:auto"), "n1 n2");
  CAF_CHECK_EQUAL(option("n[1-2]-ib:2"), "n1-ib:2 n2-ib:2");
}

CAF_TEST(a hostfile has a node a line) {
  CAF_CHECK_EQUAL(file("# ours\n\nn1 slots=4\n  n2\tslots = 2 max_slots=8 # x\n"
                       "n3\r\nn[4-5] max-slots=2"),
                  "n1:4 n2:2/8 n3 n4/2 n5/2");
  CAF_CHECK_EQUAL(file("n1\nn2\nn1\n"), "n1:2 n2");
  CAF_CHECK_EQUAL(file("n1 slots=2\nn1 slots=3\n"), "n1:5");
  CAF_CHECK_EQUAL(file("n1 cpus=2\nn2 count=3\n"), "n1:2 n2:3");
}

CAF_TEST(HAB-9 a hostfile may be one of MPICH) {
  CAF_CHECK_EQUAL(file("n1:4\nn[2-3]:2 # x\nn4\n"), "n1:4 n2:2 n3:2 n4");
  CAF_CHECK_EQUAL(file("n1:4 max_slots=8\nn2:1\nn2:1\n"), "n1:4/8 n2:2");
  CHECK_ERROR(file("n1:x"), "hosts, line 1, column 1: ", "'n1:x'", "node:N");
  CHECK_ERROR(file("n1:0"), "hosts, line 1, ", "'n1:0'", "node:N");
  CHECK_ERROR(file("n1:4 slots=2"), "hosts, line 1, ", "'n1:4'", "slots=N");
}

CAF_TEST(X48 an error names the place the text and the remedy) {
  CHECK_ERROR(file("n1\nn2 slot=4\n"), "hosts, line 2, column 4: ", "'slot'",
              "write slots=N");
  CHECK_ERROR(file("n1\n\n# x\nn2 slots=\n"),
              "hosts, line 4, column 10: ", "slots", "write 1 to");
  CHECK_ERROR(file("n1 slots=-1"), "hosts, line 1, column 10: ", "'-1'",
              "write 1 to");
  CHECK_ERROR(file("n1 slots=0"), "hosts, line 1, ", "'0'", "write 1 to");
  CHECK_ERROR(file("n1 slots 4"), "hosts, line 1, column 4: ", "'slots'",
              "write slots=N");
  CHECK_ERROR(file("n1 slots=4 max_slots=2"), "hosts, ", "'n1'", "raise");
  CHECK_ERROR(file("  n[1-"), "hosts, line 1, column 3: ", "'n[1-'", "n[1-4]");
  CHECK_ERROR(file("n1\n^n2\n"), "hosts, line 2, column 1: ", "'^n2'",
              "name the nodes");
  CHECK_ERROR(file("bob@n2\n"), "hosts, line 1, column 1: ", "'bob@n2'", "ssh");
  CHECK_ERROR(file("# nobody\n"), "hosts, column 1: ", "no node", "at least");
  CHECK_ERROR(option("n1,n[3-1]"), "--host, column 6: ", "'3-1'", "smaller");
  CHECK_ERROR(option("n1,,n2"), "--host, column 4: ", "no node", "at least");
  CHECK_ERROR(option(""), "--host, column 1: ", "no node", "at least");
  CHECK_ERROR(option("n1:"), "--host, column 1: ", "'n1:'", "node:N");
  CHECK_ERROR(option("n1,n2:x"), "--host, column 4: ", "'n2:x'", "node:N");
  CHECK_ERROR(option("n1,-oProxyCommand=x"), "--host, column 4: ", "'-o",
              "dash");
  CHECK_ERROR(option("n1;reboot"), "--host, column 1: ", "'n1;reboot'",
              "letters");
  CHECK_ERROR(option("n]1"), "--host, column 1: ", "'n]1'", "n[1-4]");
  CHECK_ERROR(option("n[1,]"), "--host, column 3: ", "'1,'", "n[1-4]");
  CHECK_ERROR(names("n1,"), "LIST, column 4: ", "empty", "leave");
  // What a terminal would obey is not shown.
  CHECK_ERROR(option("n\x1b[2J"), "--host, column 1: ", "'n?[2J'", "letters");
  CHECK_ERROR(option("n\xff"), "--host, column 1: ", "'n?'", "letters");
  CAF_CHECK(option(std::string(5000, 'x')).size() < 300);
}

CAF_TEST(X48 what stands for too much is refused at once) {
  const auto is_refused = [](const std::string& what) {
    return has(what, "stands for more than 1048576 names")
           || has(what, "longer than 255") || has(what, "no range");
  };
  CAF_CHECK(is_refused(names("n[0-1048576]")));
  CAF_CHECK(is_refused(names("n[0-999999999999]")));
  CAF_CHECK(is_refused(names("n[0-99999999999999999999]")));
  CAF_CHECK(is_refused(names("a[0-1023]b[0-1023]c[0-1]")));
  CAF_CHECK(is_refused(names("a[0-1048575],b")));
  CAF_CHECK(is_refused(names(std::string(256, 'x'))));
  CAF_CHECK(is_refused(names(std::string(200, 'x') + "[000000-999999]")));
  auto deep = std::string{};
  for (auto i = 0; i < 10'000; ++i)
    deep += "[0-1]";
  CAF_CHECK(is_refused(names(deep)));
  // Over the lines of a file and the parts of an option too.
  CAF_CHECK(is_refused(file("a[0-600000]\nb[0-600000]\n")));
  CAF_CHECK(is_refused(option("a[0-600000],b[0-600000]")));
  const auto all = expand_names("n[0-1048575]", "LIST");
  CAF_REQUIRE(all);
  CAF_CHECK_EQUAL(all->size(), 1048576u);
  CAF_CHECK_EQUAL(all->back(), "n1048575");
  // Sums do not overflow.
  CAF_CHECK(has(option("n:1048576,n:1"), "too many slots"));
  CAF_CHECK(has(option("n:4294967297"), "node:N"));
}

CAF_TEST(an allocation of Slurm is found) {
  CAF_CHECK_EQUAL(found({}), "nothing");
  CAF_CHECK_EQUAL(found({{"SLURM_JOB_NODELIST", "n[01-03],login"},
                         {"SLURM_TASKS_PER_NODE", "4(x2),2,1"}}),
                  "slurm n01:4 n02:4 n03:2 login:1");
  CAF_CHECK_EQUAL(
    found({{"SLURM_NODELIST", "n1"}, {"SLURM_TASKS_PER_NODE", "16"}}),
    "slurm n1:16");
  CAF_CHECK_EQUAL(found({{"SLURM_NODELIST", "old"},
                         {"SLURM_JOB_NODELIST", "n[1-2]"},
                         {"SLURM_JOB_CPUS_PER_NODE", "8(x2)"}}),
                  "slurm n1:8 n2:8");
  CAF_CHECK_EQUAL(found({{"SLURM_JOB_NODELIST", "n1"}}), "slurm n1");
  const auto broken = [](const std::string& tasks) {
    return found(
      {{"SLURM_JOB_NODELIST", "n[1-2]"}, {"SLURM_TASKS_PER_NODE", tasks}});
  };
  const auto* place = "SLURM_TASKS_PER_NODE, column ";
  CHECK_ERROR(broken("4"), place, "counts 1 nodes", "--host");
  CHECK_ERROR(broken("4(x3)"), place, "'4(x3)'", "more nodes");
  CHECK_ERROR(broken("4(x99999999999)"), place, "'4(x", "more nodes");
  CHECK_ERROR(broken("4(x0)"), place, "'4(x0)'", "4(x2)");
  CHECK_ERROR(broken("4(y2)"), place, "'4(y2)'", "4(x2)");
  CHECK_ERROR(broken("4(x2"), place, "'4(x2'", "4(x2)");
  CHECK_ERROR(broken("4,,2"), "SLURM_TASKS_PER_NODE, column 3", "is no number",
              "4(x2)");
  CHECK_ERROR(broken("x,2"), place, "'x'", "4(x2)");
  CHECK_ERROR(found({{"SLURM_JOB_NODELIST", "n[1-"}}),
              "SLURM_JOB_NODELIST, column 1: ", "'n[1-'", "n[1-4]");
}

CAF_TEST(an allocation of PBS is found) {
  CAF_CHECK_EQUAL(found({{"PBS_NODEFILE", "/x"}}, {{"/x", "n1\nn1\nn2\n"}}),
                  "pbs n1:2 n2:1");
  CAF_CHECK_EQUAL(found({{"PBS_NODEFILE", "/x"}}), "/x: no such file");
  CHECK_ERROR(found({{"PBS_NODEFILE", "/x"}}, {{"/x", ""}}),
              "/x, column 1: ", "no node", "at least");
}

CAF_TEST(a bootstrap file names the root and the nodes) {
  const auto x = parse_bootstrap("# ours\nClusterName=x\n"
                                 "DVMControllerHost = n2\nDVMPort=7000\n"
                                 "DVMNodes=n[1-3]\nDVMRadix=4\n"
                                 "DVMTempDir=/tmp/a=b\n",
                                 "f");
  CAF_REQUIRE(x);
  CAF_CHECK_EQUAL(x->cluster, "x");
  CAF_CHECK_EQUAL(x->controller, "n2");
  CAF_CHECK_EQUAL(x->port, 7000u);
  CAF_CHECK_EQUAL(x->radix, 4u);
  CAF_CHECK_EQUAL(x->nodes, (strings{"n2", "n1", "n3"}));
  CAF_CHECK_EQUAL(x->others.at("DVMTempDir"), "/tmp/a=b");
  const auto other = parse_bootstrap("DVMControllerHost=c\nDVMNodes=a,b", "f");
  CAF_REQUIRE(other);
  CAF_CHECK_EQUAL(other->nodes, (strings{"c", "a", "b"}));
  CAF_CHECK_EQUAL(other->port, 7817u);
}

CAF_TEST(X48 an error in a bootstrap file names its place) {
  const auto error = [](std::string_view text) {
    const auto result = parse_bootstrap(text, "f");
    return result ? std::string{} : reason_of(result.error());
  };
  CHECK_ERROR(error("DVMNodes=n1"), "f, column 1: ", "no controller",
              "DVMControllerHost=");
  CHECK_ERROR(error("DVMControllerHost=n1"), "f, column 1: ", "no nodes",
              "DVMNodes=");
  CHECK_ERROR(error("\nNodes=n1"), "f, line 2, column 1: ", "'Nodes'",
              "DVMNodes");
  CHECK_ERROR(error("DVMPort=70000"), "f, line 1, column 9: ", "'70000'",
              "65535");
  CHECK_ERROR(error("DVMPort="), "f, line 1, column 9: ", "no value",
              "Key=value");
  CHECK_ERROR(error("DVMPort"), "f, line 1, column 1: ", "'DVMPort'",
              "Key=value");
  CHECK_ERROR(error("=x"), "f, line 1, column 1: ", "'=x'", "Key=value");
  CHECK_ERROR(error("DVMRadix=0"), "f, line 1, column 10: ", "'0'", "1 to");
  CHECK_ERROR(error("DVMControllerHost=a,b"), "f, line 1, column 19: ", "'a,b'",
              "name one");
  CHECK_ERROR(error("DVMControllerHost=a\nDVMNodes=a,b,a"),
              "f, column 1: ", "'a'", "twice");
}
