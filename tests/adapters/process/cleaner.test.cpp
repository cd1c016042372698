// What goes with a job, and what stays.

#include "adapters/process/cleaner.hpp"

#include "tests/adapters/process/world.hpp"

#include <filesystem>

using namespace troupe;
using fixtures::scratch_folder;

namespace {

struct fixture {
  scratch_folder folder;

  void make(const std::string& path) {
    std::filesystem::create_directories(
      std::filesystem::path{folder / path}.parent_path());
    folder.file(path, "text");
  }

  bool has(const std::string& path) {
    return std::filesystem::exists(folder / path);
  }

  cleanup_path file(const std::string& path) {
    return {folder / path, false, false, false};
  }

  cleanup_path directory(const std::string& path, bool recursive,
                         bool leave_top = false) {
    return {folder / path, true, recursive, leave_top};
  }

  cleanup_path kept(const std::string& path) {
    return {folder / path, false, false, true};
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(cleaner_tests, fixture)

CAF_TEST(J35 82 files and directories go as they were registered) {
  for (const auto* x : {"a", "b", "all/x", "all/y/z", "full/x", "top/x"})
    make(x);
  std::filesystem::create_directory(folder / "empty");
  remove_all({file("a"), directory("all", true), directory("full", false),
              directory("empty", false), directory("top", true, true),
              file("nothing")});
  CAF_CHECK(!has("a"));
  CAF_CHECK(has("b"));
  CAF_CHECK(!has("all"));
  CAF_CHECK(has("full/x"));
  CAF_CHECK(!has("empty"));
  CAF_CHECK(has("top"));
  CAF_CHECK(!has("top/x"));
}

CAF_TEST(J35 82 what is to be ignored stays with all that leads to it) {
  for (const auto* x :
       {"dir/x", "dir/y/z", "dir/y/kept", "dir/more/deep", "kept", "top/kept"})
    make(x);
  remove_all({kept("dir/y/kept"), directory("dir", true), file("kept"),
              kept("kept"), directory("top", true, true), kept("top/kept")});
  CAF_CHECK(has("dir/y/kept"));
  CAF_CHECK(!has("dir/x"));
  CAF_CHECK(!has("dir/y/z"));
  CAF_CHECK(!has("dir/more"));
  CAF_CHECK(has("kept"));
  CAF_CHECK(has("top/kept"));
}

CAF_TEST(X7 a link leads nowhere) {
  make("elsewhere/x");
  make("dir/y");
  std::filesystem::create_directory_symlink(folder / "elsewhere",
                                            folder / "dir/link");
  remove_all({directory("dir", true), kept("dir/none")});
  CAF_CHECK(has("elsewhere/x"));
  CAF_CHECK(!has("dir/y"));
}

CAF_TEST_FIXTURE_SCOPE_END()
