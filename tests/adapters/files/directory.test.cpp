#include "adapters/files/directory.hpp"

#include "messages/status.hpp"
#include "tests/adapters/local/files.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

struct fixture {
  fixture() {
    auto x = directory::open(tmp.path);
    if (!x)
      CAF_FAIL(reason_of(x.error()));
    uut = std::move(*x);
  }

  scratch tmp;
  directory uut;
};

status outcome(const caf::expected<directory>& x) {
  return x ? status::success : status_of(x.error());
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(directory_tests, fixture)

CAF_TEST(the system directory is good enough) {
  CAF_CHECK(directory::open("/tmp"));
}

CAF_TEST(X6 a directory in which others may remove files is refused) {
  ::chmod(tmp.path.c_str(), 0777);
  CAF_CHECK(outcome(directory::open(tmp.path)) == status::no_permissions);
  ::chmod(tmp.path.c_str(), 01777);
  CAF_CHECK(directory::open(tmp.path));
}

CAF_TEST(X6 what is no directory is refused) {
  write_file(tmp / "file", "");
  CAF_CHECK(outcome(directory::open(tmp / "file")) == status::in_errno);
  CAF_CHECK(outcome(directory::open(tmp / "nothing")) == status::in_errno);
  CAF_CHECK(outcome(uut.open_private("file")) == status::no_permissions);
}

CAF_TEST(X6 a directory or link of somebody else is refused) {
  if (::geteuid() != 0) {
    CAF_MESSAGE("needs root to give files away");
    return;
  }
  ::mkdir((tmp / "theirs").c_str(), 0700);
  std::ignore = ::chown((tmp / "theirs").c_str(), 65534, 65534);
  CAF_CHECK(outcome(directory::open(tmp / "theirs")) == status::no_permissions);
  CAF_CHECK(outcome(uut.open_private("theirs")) == status::no_permissions);
  ::mkdir((tmp / "mine").c_str(), 0700);
  ::symlink("mine", (tmp / "link").c_str());
  CAF_CHECK(directory::open(tmp / "link"));
  std::ignore = ::lchown((tmp / "link").c_str(), 65534, 65534);
  CAF_CHECK(outcome(directory::open(tmp / "link")) == status::no_permissions);
}

CAF_TEST(X6 a link is not a private directory) {
  ::mkdir((tmp / "mine").c_str(), 0700);
  ::symlink("mine", (tmp / "link").c_str());
  CAF_CHECK(uut.open_private("mine"));
  CAF_CHECK(outcome(uut.open_private("link")) == status::no_permissions);
  CAF_CHECK(outcome(uut.create_private("link")) == status::exists);
}

CAF_TEST(X9 a private directory is closed to others) {
  CAF_CHECK(uut.create_private("new"));
  CAF_CHECK_EQUAL(mode_of(tmp / "new") & 07777, 0700u);
  CAF_CHECK(outcome(uut.create_private("new")) == status::exists);
  CAF_CHECK(uut.open_private("new"));
  ::chmod((tmp / "new").c_str(), 0755);
  CAF_CHECK(outcome(uut.open_private("new")) == status::no_permissions);
}

CAF_TEST(X7 what was opened stays the same wherever its path leads) {
  auto inner = uut.create_private("inner");
  CAF_REQUIRE(inner);
  ::rename((tmp / "inner").c_str(), (tmp / "moved").c_str());
  ::symlink("/etc", (tmp / "inner").c_str());
  CAF_CHECK(inner->create_private("new"));
  CAF_CHECK(exists(tmp / "moved/new"));
}

CAF_TEST(a file is removed only if it is the one we mean) {
  write_file(tmp / "file", "ours");
  const auto ours = uut.identify("file");
  CAF_REQUIRE(ours);
  write_file(tmp / "other", "theirs"); // Another inode, surely.
  ::rename((tmp / "other").c_str(), (tmp / "file").c_str());
  uut.unlink("file", *ours);
  CAF_CHECK_EQUAL(read_file(tmp / "file"), "theirs");
  uut.unlink("file", *uut.identify("file"));
  CAF_CHECK(!exists(tmp / "file"));
}

CAF_TEST(X7 a tree is removed without following links) {
  const scratch elsewhere;
  write_file(elsewhere / "precious", "text");
  std::filesystem::create_directories(tmp / "tree/a/b/c");
  write_file(tmp / "tree/a/b/c/file", "text");
  ::symlink(elsewhere.path.c_str(), (tmp / "tree/a/link").c_str());
  ::mkfifo((tmp / "tree/fifo").c_str(), 0600);
  uut.remove_tree("tree", *uut.identify("tree"));
  CAF_CHECK(!exists(tmp / "tree"));
  CAF_CHECK(exists(elsewhere / "precious"));
}

CAF_TEST(X7 a tree that was swapped is left alone) {
  ::mkdir((tmp / "tree").c_str(), 0700);
  const auto what = *uut.identify("tree");
  const scratch elsewhere;
  write_file(elsewhere / "precious", "text");
  ::rename((tmp / "tree").c_str(), (tmp / "moved").c_str());
  ::symlink(elsewhere.path.c_str(), (tmp / "tree").c_str());
  uut.remove_tree("tree", what);
  CAF_CHECK(exists(elsewhere / "precious"));
  CAF_CHECK(exists(tmp / "tree"));
}

CAF_TEST(names are listed up to a number) {
  for (const auto* name : {"a", "b", "c"})
    write_file(tmp / name, "");
  CAF_CHECK_EQUAL(uut.list(10).size(), 3u);
  CAF_CHECK_EQUAL(uut.list(10).size(), 3u); // From the beginning again.
  CAF_CHECK_EQUAL(uut.list(2).size(), 2u);
}

CAF_TEST_FIXTURE_SCOPE_END()
