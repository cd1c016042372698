// What a job may have removed at its end.

#include "actors/control/cleanup_request.hpp"

#include "messages/attributes.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

status refusal(std::vector<info> directives) {
  const auto x = read_cleanup({{}, std::move(directives)});
  return x ? status::success : status_of(x.error());
}

std::vector<cleanup_path> paths(std::vector<info> directives) {
  auto x = read_cleanup({{}, std::move(directives)});
  if (!x)
    CAF_FAIL("refused: " << reason_of(x.error()));
  return std::move(*x);
}

} // namespace

CAF_TEST(F5.20 files and directories are registered) {
  const auto x =
    paths({with(attr::register_cleanup, value::string("/tmp/a,/tmp/b")),
           with(attr::register_cleanup_dir, value::string("/tmp/d")),
           with(attr::cleanup_recursive)});
  CAF_REQUIRE_EQUAL(x.size(), 3u);
  CAF_CHECK_EQUAL(x[0].path, "/tmp/a");
  CAF_CHECK(!x[0].is_directory);
  CAF_CHECK_EQUAL(x[1].path, "/tmp/b");
  CAF_CHECK_EQUAL(x[2].path, "/tmp/d");
  CAF_CHECK(x[2].is_directory);
  CAF_CHECK(x[2].recursive);
  CAF_CHECK(!x[2].leave_top);
  CAF_CHECK(paths({with(attr::register_cleanup_dir, value::string("/d")),
                   with(attr::cleanup_leave_topdir)})
              .at(0)
              .leave_top);
}

CAF_TEST(J35 what is to be ignored and what goes only if it is empty) {
  const auto x =
    paths({with(attr::register_cleanup_dir, value::string("/tmp/d")),
           with(attr::cleanup_recursive), with(attr::cleanup_leave_topdir),
           with(attr::cleanup_ignore, value::string("/tmp/d/a,/tmp/d/b"))});
  CAF_REQUIRE_EQUAL(x.size(), 3u);
  CAF_CHECK((x[0] == cleanup_path{"/tmp/d", true, true, true}));
  CAF_CHECK((x[1] == cleanup_path{"/tmp/d/a", false, false, true}));
  CAF_CHECK((x[2] == cleanup_path{"/tmp/d/b", false, false, true}));
  // Open MPI registers what stays by itself.
  CAF_CHECK_EQUAL(
    paths({with(attr::cleanup_ignore, value::string("/tmp/c"))}).size(), 1u);
  CAF_CHECK(!paths({with(attr::register_cleanup_dir, value::string("/tmp/d")),
                    with(attr::cleanup_recursive), with(attr::cleanup_empty)})
               .at(0)
               .recursive);
}

CAF_TEST(F5.20 a path that may lead anywhere is refused) {
  for (const auto* path :
       {"", "/", "a", "a/b", "/a/../b", "/a/..", "/..", "/a,b", "/a,", ",/a"})
    CAF_CHECK_EQUAL(
      refusal({with(attr::register_cleanup, value::string(path))}),
      status::bad_param);
  CAF_CHECK_EQUAL(
    refusal({with(attr::register_cleanup, value::string("/a/..b/c"))}),
    status::success);
}

// 2.T, trap 18: Open MPI branches on this very status.
CAF_TEST(F4.38 other job control is not supported) {
  CAF_CHECK_EQUAL(refusal({}), status::not_supported);
  CAF_CHECK_EQUAL(refusal({with(attr::job_ctrl_kill)}), status::not_supported);
  CAF_CHECK_EQUAL(refusal({with(attr::register_cleanup, value::uint32(1))}),
                  status::not_supported);
  CAF_CHECK_EQUAL(refusal({with(attr::cleanup_recursive)}),
                  status::not_supported);
  CAF_CHECK_EQUAL(
    refusal({with(attr::register_cleanup, value::string("/tmp/a")),
             with(attr::job_ctrl_kill)}),
    status::not_supported);
}
