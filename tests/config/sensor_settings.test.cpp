// What a node watches, as people write it.

#include "config/sensor_settings.hpp"

#include "messages/status.hpp"
#include "tests/test.hpp"

using namespace troupe;

CAF_TEST(E4 settings of sensors are read one by one) {
  sensor_settings x;
  const auto err = apply_settings(
    x, {"root=/tree", "procfs=/other/proc", "cgroup=/sys/fs/cgroup/job",
        "file-system=/scratch", "file-system=/tmp", "link=ib0", "interval=0.25",
        "temperature=85.5", "memory-pressure=10", "file-systems-full=99"});
  CAF_CHECK(!err);
  CAF_CHECK(x.enabled);
  CAF_CHECK_EQUAL(x.sysfs, "/tree/sys");
  CAF_CHECK_EQUAL(x.procfs, "/other/proc");
  CAF_CHECK_EQUAL(x.cgroup, "/sys/fs/cgroup/job");
  CAF_CHECK(x.file_systems == (std::vector<std::string>{"/scratch", "/tmp"}));
  CAF_CHECK(x.links == std::vector<std::string>{"ib0"});
  CAF_CHECK(x.interval == std::chrono::milliseconds{250});
  CAF_CHECK(x.limits.temperature == 85.5);
  CAF_CHECK_EQUAL(x.limits.memory_pressure, 10);
  CAF_CHECK_EQUAL(x.limits.file_system, 99);
  CAF_CHECK(!apply_setting(x, "off"));
  CAF_CHECK(!x.enabled);
}

CAF_TEST(E4 a setting that makes no sense is refused in a line with its remedy) {
  for (const auto* text : {"",
                           "on",
                           "OFF",
                           "root",
                           "root=",
                           "root=tree",
                           "sysfs=",
                           "cgroup=x",
                           "file-system=tmp",
                           "link=",
                           "link=a-name-that-is-too-long",
                           "interval=0",
                           "interval=-1",
                           "interval=nan",
                           "interval=1e3",
                           "interval=1s",
                           "interval=99999999",
                           "temperature=hot",
                           "temperature=",
                           "memory-pressure=101",
                           "memory-pressure=-1",
                           "file-systems-full=",
                           "links=eth0",
                           "\x1b[31m=1\n"}) {
    CAF_MESSAGE(text);
    sensor_settings x;
    const auto err = apply_setting(x, text);
    CAF_CHECK(status_of(err) == status::bad_param);
    const auto reason = reason_of(err);
    CAF_CHECK(reason.find("; ") != std::string::npos);
    CAF_CHECK(reason.find_first_of("\x1b\n") == std::string::npos);
  }
}

CAF_TEST(E4 names of file systems and links have a bound) {
  sensor_settings x;
  for (int i = 0; i < 64; ++i) {
    CAF_CHECK(!apply_setting(x, "file-system=/tmp"));
    CAF_CHECK(!apply_setting(x, "link=eth0"));
  }
  CAF_CHECK(apply_setting(x, "file-system=/tmp"));
  CAF_CHECK(apply_setting(x, "link=eth0"));
  CAF_CHECK(apply_setting(x, "file-system=/" + std::string(5000, 'x')));
}
