// How much memory there is for us, and whom the kernel has killed for it.

#include "adapters/process/control_groups.hpp"
#include "tests/test.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

using namespace troupe;

namespace {

/// A directory with what the kernel shows of a process and of its groups.
struct fixture {
  std::string root = std::filesystem::temp_directory_path()
                     / ("memory_group." + std::to_string(::getpid()));

  fixture() {
    std::filesystem::create_directories(root);
  }

  ~fixture() {
    std::filesystem::remove_all(root);
  }

  void write(const std::string& path, const std::string& text) const {
    const auto file = std::filesystem::path{root + "/" + path};
    std::filesystem::create_directories(file.parent_path());
    std::ofstream{file} << text;
  }

  /// A hierarchy that is mounted at `top` and shows the group `shown`.
  std::string mount(const std::string& top, const std::string& shown,
                    const std::string& kind) const {
    return "30 24 0:25 " + shown + " " + root + "/" + top
           + " rw,nosuid shared:9 - " + kind + "\n";
  }

  memory_group group() const {
    return memory_group{root};
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(memory_group_tests, fixture)

CAF_TEST(MND-X51 the least limit of a group of version 2 and those around) {
  write("mountinfo", "29 24 0:25 / /proc rw - proc proc rw\n"
                       + mount("v2", "/", "cgroup2 cgroup rw"));
  write("cgroup", "1:name=systemd:/other\n0::/a/b\n");
  write("v2/a/b/memory.max", "max\n");
  CAF_CHECK(!group().limit());
  write("v2/a/memory.max", "209715200\n");
  CAF_CHECK_EQUAL(group().limit().value_or(0), 209715200u);
  write("v2/a/b/memory.max", "109715200\n");
  CAF_CHECK_EQUAL(group().limit().value_or(0), 109715200u);
  write("v2/a/memory.max", "19715200\n");
  CAF_CHECK_EQUAL(group().limit().value_or(0), 19715200u);
  // The top of all has no such file.
  write("v2/a/b/memory.events", "low 0\noom 3\noom_kill 2\n");
  CAF_CHECK_EQUAL(group().kills(), 2u);
  CAF_CHECK_EQUAL(group().name(), "the control group " + root
                                    + "/v2/a/b, which may have 18 MiB");
}

CAF_TEST(MND-X51 the same of version 1) {
  write("mountinfo", mount("v2", "/", "cgroup2 cgroup rw")
                       + mount("pids", "/", "cgroup cgroup rw,pids")
                       + mount("v1", "/", "cgroup cgroup rw,memory"));
  write("cgroup", "8:pids:/x\n4:cpu,memory:/job\n0::/\n");
  write("v1/memory.limit_in_bytes", "9223372036854771712\n");
  write("v1/job/memory.limit_in_bytes", "104857600\n");
  write("v1/job/memory.oom_control", "under_oom 0\noom_kill 1\n");
  write("pids/x/memory.limit_in_bytes", "1\n");
  CAF_CHECK_EQUAL(group().limit().value_or(0), 104857600u);
  CAF_CHECK_EQUAL(group().kills(), 1u);
  write("v1/job/memory.limit_in_bytes", "9223372036854771712\n");
  CAF_CHECK(!group().limit());
}

CAF_TEST(MND-X51 a container sees its own group as the top) {
  write("mountinfo", mount("v1", "/docker/x", "cgroup cgroup rw,memory"));
  write("cgroup", "4:memory:/docker/x/job\n");
  write("v1/job/memory.limit_in_bytes", "100\n");
  write("v1/memory.limit_in_bytes", "90\n");
  CAF_CHECK_EQUAL(group().limit().value_or(0), 90u);
}

CAF_TEST(MND-X51 without control groups it is the node) {
  CAF_CHECK(!group().limit());
  CAF_CHECK_EQUAL(group().name(), "this node");
  write("mountinfo", "nonsense\n30 24\n - cgroup2\n");
  write("cgroup", "nonsense\n:\n0::");
  CAF_CHECK(!group().limit());
  CAF_CHECK(memory_limit() > 0);
}

CAF_TEST_FIXTURE_SCOPE_END()
