#include "adapters/files/file_look.hpp"

#include "adapters/files/user_rights.hpp"
#include "tests/test.hpp"

#include <fcntl.h>
#include <rapidcheck.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

using namespace troupe;

namespace {

constexpr auto table_text =
  "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
  "27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
  "30 27 0:9 / /data rw,noatime - nfs4 server:/data rw\n"
  "31 30 0:10 / /data/in\\040side ro,relatime - xfs /dev/b rw\n"
  "nonsense\n"
  "0 1 0:1 / /zero rw - ext4 x rw\n"
  "32 27 0:11 / relative rw - ext4 x rw\n"
  "33 27 0:12 / /data rw,nosuid - ext4 /dev/c rw\n";

/// A directory of its own on the mount of the temporary files.
struct fixture {
  fixture() {
    auto path =
      (std::filesystem::temp_directory_path() / "look-XXXXXX").string();
    CAF_REQUIRE(::mkdtemp(path.data()) != nullptr);
    root = path;
    std::ifstream in{"/proc/self/mountinfo"};
    table = mount_table{std::string{std::istreambuf_iterator<char>{in}, {}}};
    std::ofstream{root + "/file"} << "hello";
    std::filesystem::create_directory(root + "/folder");
    std::ofstream{root + "/folder/below"} << "x";
    CAF_REQUIRE_EQUAL(::mkfifo((root + "/fifo").c_str(), 0600), 0);
  }

  ~fixture() {
    std::filesystem::remove_all(root);
  }

  look_result look(const std::string& path) {
    const auto* mount = table.find(path);
    CAF_REQUIRE(mount != nullptr);
    return look_at(mount->point, path);
  }

  file_state state_of(const std::string& path) {
    return look(root + "/" + path).stamp.state;
  }

  void link(const std::string& target, const std::string& name) {
    std::filesystem::create_symlink(target, root + "/" + name);
  }

  std::string root;
  mount_table table;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(file_look_tests, fixture)

CAF_TEST(MON-4 the mount of a path is known without touching it) {
  const auto uut = mount_table{table_text};
  CAF_CHECK_EQUAL(uut.entries().size(), 5u);
  const auto id_of = [&](const std::string& path) {
    const auto* x = uut.find(path);
    return x != nullptr ? x->id : 0;
  };
  CAF_CHECK_EQUAL(id_of("/"), 27u);
  CAF_CHECK_EQUAL(id_of("/database"), 27u);
  CAF_CHECK_EQUAL(id_of("/data"), 33u); // The last one is on top.
  CAF_CHECK_EQUAL(id_of("/data/x"), 33u);
  CAF_CHECK_EQUAL(id_of("/data/in side/x"), 31u);
  CAF_CHECK_EQUAL(id_of("/data/in side/../x"), 31u);
  CAF_CHECK_EQUAL(id_of("/data/../x"), 33u);
  CAF_CHECK_EQUAL(id_of("/data/..x"), 33u);
  CAF_CHECK_EQUAL(id_of("/proc/1/stat"), 22u);
  CAF_CHECK_EQUAL(id_of("relative"), 0u);
  CAF_CHECK(uut.find("/proc/1")->is_of_kernel);
  CAF_CHECK(!uut.find("/x")->is_of_kernel);
  CAF_CHECK(uut.find("/x")->keeps_access_time);
  CAF_CHECK(uut.find("/x")->access_time_is_relative);
  CAF_CHECK(!uut.find("/data/x")->access_time_is_relative);
  CAF_CHECK(!uut.find("/data/in side/x")->keeps_access_time);
  CAF_CHECK_EQUAL(tidy_path("//a/./b//c/."), "/a/b/c");
  CAF_CHECK_EQUAL(tidy_path("/"), "/");
}

CAF_TEST(X32 no list of mounts breaks the reader) {
  CAF_CHECK(
    rc::check("any text", [](const std::string& text, const std::string& path) {
      const auto table = mount_table{text};
      const auto* x = table.find("/" + path);
      RC_ASSERT((x == nullptr || x->point.front() == '/'));
    }));
  CAF_CHECK(rc::check("damaged lines", [] {
    auto text = std::string{table_text};
    const auto at = *rc::gen::inRange<size_t>(0, text.size());
    text[at] = *rc::gen::arbitrary<char>();
    const auto table = mount_table{text};
    for (const auto& x : table.entries())
      RC_ASSERT((x.id != 0 && !x.point.empty() && x.point.front() == '/'));
  }));
}

CAF_TEST(M17 M20 a regular file is stamped to the nanosecond) {
  const auto x = look(root + "/file").stamp;
  struct stat expected {};
  CAF_REQUIRE_EQUAL(::stat((root + "/file").c_str(), &expected), 0);
  CAF_CHECK(x.state == file_state::regular);
  CAF_CHECK_EQUAL(x.size, 5u);
  CAF_CHECK_EQUAL(x.inode, expected.st_ino);
  CAF_CHECK_EQUAL(x.modified, expected.st_mtim.tv_sec * int64_t{1000000000}
                                + expected.st_mtim.tv_nsec);
  CAF_CHECK_EQUAL(x.accessed, expected.st_atim.tv_sec * int64_t{1000000000}
                                + expected.st_atim.tv_nsec);
  std::ofstream{root + "/other"} << "hello";
  std::filesystem::rename(root + "/other", root + "/file");
  CAF_CHECK(!is_same_file(x, look(root + "/file").stamp)); // Replaced.
}

CAF_TEST(X32 M23 only regular files are regular) {
  CAF_CHECK(state_of("nothing") == file_state::missing);
  CAF_CHECK(state_of("file/below") == file_state::missing);
  CAF_CHECK(state_of("folder") == file_state::not_regular);
  CAF_CHECK(state_of("fifo") == file_state::not_regular); // And does not block.
  CAF_CHECK(look("/dev/null").stamp.state == file_state::not_regular);
  CAF_CHECK(look(root + "/" + std::string(5000, 'x')).stamp.state
            == file_state::failed);
}

CAF_TEST(MON-4 links are followed within a mount and told where they leave it) {
  link("folder", "there");
  link("file", "to-file");
  link("/proc/version", "out");
  link("/proc", "proc");
  link(root + "/file", "absolute");
  link("loop", "loop");
  CAF_CHECK(state_of("to-file") == file_state::regular);
  CAF_CHECK(state_of("there/below") == file_state::regular);
  CAF_CHECK(state_of("folder/../file") == file_state::regular);
  CAF_CHECK(state_of("there/../to-file") == file_state::regular);
  CAF_CHECK(state_of("loop") == file_state::failed);
  CAF_CHECK_EQUAL(look(root + "/out").elsewhere, "/proc/version");
  CAF_CHECK_EQUAL(look(root + "/proc/1/stat").elsewhere, "/proc/1/stat");
  // Behind `..` a path may lie anywhere: it is begun where it can be.
  CAF_CHECK_EQUAL(look_at("/proc", "/proc/..").elsewhere, "/");
  const auto back = look_at("/proc", "/proc/../etc/passwd").elsewhere;
  CAF_CHECK_EQUAL(tidy_path(back), "/etc/passwd");
  const auto again = look(root + "/absolute");
  CAF_CHECK(again.stamp.state == file_state::regular
            || again.elsewhere == root + "/file");
}

CAF_TEST(X32 a file is seen with the rights of whoever asks) {
  std::filesystem::permissions(root, std::filesystem::perms::all);
  CAF_REQUIRE_EQUAL(::chmod((root + "/folder").c_str(), 0700), 0);
  {
    const auto own = user_rights{{::geteuid(), ::getegid()}};
    CAF_CHECK(own.held());
    CAF_CHECK(state_of("folder/below") == file_state::regular);
  }
  const auto nobody = credentials{65534, 65534};
  if (::geteuid() != 0) {
    // Who is not root can take the rights of nobody else, and looks at nothing.
    CAF_CHECK(!user_rights{nobody}.held());
    return;
  }
  {
    const auto other = user_rights{nobody};
    CAF_REQUIRE(other.held());
    CAF_CHECK(state_of("file") == file_state::regular);
    CAF_CHECK(state_of("folder/below") == file_state::no_permission);
    CAF_CHECK(look("/root/x").stamp.state == file_state::no_permission);
  }
  CAF_CHECK(state_of("folder/below") == file_state::regular);
  CAF_CHECK(!user_rights{{UINT32_MAX, 0}}.held());
}

CAF_TEST_FIXTURE_SCOPE_END()
