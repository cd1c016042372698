#include "adapters/local/rendezvous.hpp"

#include "adapters/local/server_presence.hpp"
#include "messages/status.hpp"
#include "tests/adapters/local/files.hpp"

#include <sys/time.h>
#include <sys/wait.h>

#include <atomic>
#include <ctime>
#include <filesystem>
#include <optional>
#include <thread>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

struct fixture {
  fixture() {
    options.kinds = {rendezvous_kind::session};
    options.uri.server = {"server", 0};
    options.uri.address = "127.0.0.1";
    options.uri.port = 4711;
    options.hostname = "host";
    options.system_directory = tmp.path;
    options.session_directory = tmp.path;
  }

  status refusal() {
    const auto x = rendezvous_files::publish(options);
    return x ? status::success : status_of(x.error());
  }

  /// A file as a server with number `pid` would leave it.
  void leave_file(uint32_t pid) {
    wire::rendezvous x;
    x.uri = options.uri;
    x.version = "4.2.2";
    x.pid = pid;
    x.owner = credentials{::geteuid(), ::getegid()};
    x.started = "Mon Jan  1 00:00:00 2024";
    write_file(path, to_string(x));
  }

  void age_file(time_t seconds) {
    const auto then = ::time(nullptr) - seconds;
    const timeval times[2] = {{then, 0}, {then, 0}};
    ::utimes(path.c_str(), times);
  }

  scratch tmp;
  std::string path = tmp / "pmix.host.tool";
  rendezvous_options options;
};

/// The number of a process that is no more.
uint32_t dead_pid() {
  const auto child = ::fork();
  if (child == 0)
    ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return static_cast<uint32_t>(child);
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(rendezvous_tests, fixture)

CAF_TEST(files say where the server is and go with it) {
  options.kinds = {rendezvous_kind::system,
                   rendezvous_kind::scheduler,
                   rendezvous_kind::system_controller,
                   rendezvous_kind::session,
                   rendezvous_kind::by_pid,
                   rendezvous_kind::by_nspace};
  std::optional<rendezvous_files> uut;
  {
    auto x = rendezvous_files::publish(options);
    CAF_REQUIRE(x);
    uut.emplace(std::move(*x));
  }
  const auto pid = std::to_string(::getpid());
  const auto paths = std::vector<std::string>{
    tmp / "pmix.sys.host",         tmp / "pmix.sched.host",
    tmp / "pmix.sysctrlr.host",    tmp / "pmix.host.tool",
    tmp / "pmix.host.tool." + pid, tmp / "pmix.host.tool.server"};
  CAF_CHECK(uut->paths() == paths);
  CAF_CHECK_EQUAL(tmp.entries(), paths.size()); // Nothing temporary is left.
  for (const auto& x : paths) {
    CAF_CHECK_EQUAL(mode_of(x), S_IFREG | 0600u);
    const auto content = wire::parse_rendezvous(read_file(x));
    CAF_REQUIRE(content);
    CAF_CHECK_EQUAL(to_string(content->uri), "server.0;tcp4://127.0.0.1:4711");
    CAF_CHECK_EQUAL(content->version, "4.2.2");
    CAF_CHECK(content->pid == static_cast<uint32_t>(::getpid()));
    CAF_CHECK(content->owner == (credentials{::geteuid(), ::getegid()}));
  }
  uut.reset();
  CAF_CHECK_EQUAL(tmp.entries(), 0u);
}

CAF_TEST(DIR-1 a file that was removed or replaced is missed) {
  options.kinds = {rendezvous_kind::session, rendezvous_kind::by_own_name};
  options.own_name = "name";
  auto uut = rendezvous_files::publish(options);
  CAF_REQUIRE(uut);
  CAF_CHECK(uut->are_in_place());
  CAF_CHECK(exists(tmp / "name"));
  ::unlink((tmp / "name").c_str());
  CAF_CHECK(!uut->are_in_place());
  auto again = rendezvous_files::publish(options);
  CAF_REQUIRE(again);
  CAF_CHECK(again->are_in_place());
  CAF_CHECK(!uut->are_in_place()); // Those are others now.
  std::filesystem::rename(tmp.path, tmp.path + ".away");
  ::mkdir(tmp.path.c_str(), 0700);
  CAF_CHECK(!again->are_in_place());
  std::filesystem::remove_all(tmp.path + ".away");
}

CAF_TEST(DIR-2 files are touched so that they do not look old) {
  const auto uut = rendezvous_files::publish(options);
  CAF_REQUIRE(uut);
  age_file(86400 * 30);
  uut->touch();
  struct stat st;
  CAF_REQUIRE_EQUAL(::stat(path.c_str(), &st), 0);
  CAF_CHECK(st.st_mtime > ::time(nullptr) - 3600);
  CAF_CHECK(st.st_atime > ::time(nullptr) - 3600);
  CAF_CHECK(uut->are_in_place());
}

CAF_TEST(DIR-5 what dead servers of the node left is removed) {
  const auto put = [&](const std::string& name, uint32_t pid) {
    leave_file(pid);
    ::rename(path.c_str(), (tmp / name).c_str());
  };
  put("pmix.sys.host", dead_pid());
  put("pmix.sched.host", static_cast<uint32_t>(::getppid()));
  put("pmix.sysctrlr.host", static_cast<uint32_t>(::getpid()));
  put("pmix.sys.other", dead_pid());
  remove_stale_files(tmp.path, "host");
  CAF_CHECK(!exists(tmp / "pmix.sys.host"));
  CAF_CHECK(exists(tmp / "pmix.sched.host"));
  CAF_CHECK(exists(tmp / "pmix.sysctrlr.host"));
  CAF_CHECK(exists(tmp / "pmix.sys.other")); // Of another node.
}

CAF_TEST(DIR-5 X6 only files of ours are removed) {
  const auto target = tmp / "target";
  leave_file(dead_pid());
  ::rename(path.c_str(), target.c_str());
  ::symlink(target.c_str(), (tmp / "pmix.sys.host").c_str());
  ::mkfifo((tmp / "pmix.sched.host").c_str(), 0600);
  remove_stale_files(tmp.path, "host");
  CAF_CHECK(exists(tmp / "pmix.sys.host"));
  CAF_CHECK(exists(tmp / "pmix.sched.host"));
  CAF_CHECK(exists(target));
}

CAF_TEST(all files are written or none) {
  options.kinds = {rendezvous_kind::by_pid, rendezvous_kind::session};
  ::mkdir(path.c_str(), 0700);
  CAF_CHECK(refusal() == status::no_permissions);
  CAF_CHECK_EQUAL(tmp.entries(), 1u);
}

CAF_TEST(a name with a slash is refused) {
  options.hostname = "../host";
  CAF_CHECK(refusal() == status::bad_param);
}

CAF_TEST(X8 the file of a dead server is replaced) {
  leave_file(dead_pid());
  const auto uut = rendezvous_files::publish(options);
  CAF_REQUIRE(uut);
  CAF_CHECK(wire::parse_rendezvous(read_file(path))->pid
            == static_cast<uint32_t>(::getpid()));
  CAF_CHECK_EQUAL(tmp.entries(), 1u);
}

CAF_TEST(X8 the file of a live server is kept) {
  leave_file(static_cast<uint32_t>(::getppid()));
  const auto before = read_file(path);
  const auto uut = rendezvous_files::publish(options);
  CAF_REQUIRE(!uut);
  CAF_CHECK(status_of(uut.error()) == status::exists);
  CAF_CHECK(reason_of(uut.error()).find(path) != std::string::npos);
  CAF_CHECK_EQUAL(read_file(path), before);
  CAF_CHECK_EQUAL(tmp.entries(), 1u);
}

CAF_TEST(X8 a number that was given anew does not keep a file) {
  leave_file(static_cast<uint32_t>(::getppid()));
  const auto start = started_at(static_cast<uint32_t>(::getppid()));
  CAF_REQUIRE(start);
  age_file(::time(nullptr) - *start + 60); // A minute before that process.
  CAF_CHECK(refusal() == status::success);
}

CAF_TEST(X8 a file without sense is kept while it may be being written) {
  write_file(path, "");
  CAF_CHECK(refusal() == status::exists);
  age_file(60);
  CAF_CHECK(refusal() == status::success);
}

CAF_TEST(MND-X70 a file without sense of the time to come is not being written) {
  write_file(path, "");
  age_file(-3 * 3600); // The wall clock was set back.
  CAF_CHECK(refusal() == status::success);
}

CAF_TEST(X6 a directory at the path is an error) {
  ::mkdir(path.c_str(), 0700);
  CAF_CHECK(refusal() == status::no_permissions);
  CAF_CHECK(S_ISDIR(mode_of(path)));
}

CAF_TEST(X6 a link at the path is not followed) {
  const auto target = tmp / "target";
  write_file(target, "precious");
  ::symlink(target.c_str(), path.c_str());
  CAF_CHECK(refusal() == status::no_permissions);
  CAF_CHECK(S_ISLNK(mode_of(path)));
  CAF_CHECK_EQUAL(read_file(target), "precious");
  ::unlink(target.c_str());
  CAF_CHECK(refusal() == status::no_permissions); // Dangling.
  CAF_CHECK(!exists(target));
}

CAF_TEST(X6 a hard link at the path is not touched) {
  const auto target = tmp / "target";
  leave_file(dead_pid());
  const auto before = read_file(path);
  CAF_REQUIRE_EQUAL(::link(path.c_str(), target.c_str()), 0);
  CAF_CHECK(refusal() == status::no_permissions);
  CAF_CHECK_EQUAL(read_file(target), before);
  CAF_CHECK(exists(path));
}

CAF_TEST(X6 a FIFO at the path does not block) {
  ::mkfifo(path.c_str(), 0600);
  CAF_CHECK(refusal() == status::no_permissions);
  CAF_CHECK(S_ISFIFO(mode_of(path)));
}

CAF_TEST(X6 the file of another user is not touched) {
  if (::geteuid() != 0) {
    CAF_MESSAGE("needs root to give files away");
    return;
  }
  leave_file(dead_pid());
  std::ignore = ::chown(path.c_str(), 65534, 65534);
  CAF_CHECK(refusal() == status::no_permissions);
  CAF_CHECK(exists(path));
}

CAF_TEST(X6 a file that is not ours any more is not removed) {
  {
    const auto uut = rendezvous_files::publish(options);
    CAF_REQUIRE(uut);
    write_file(tmp / "other", "somebody else's");
    ::rename((tmp / "other").c_str(), path.c_str());
  }
  CAF_CHECK_EQUAL(read_file(path), "somebody else's");
}

CAF_TEST(X7 swapping the path all the time leads nowhere) {
  const scratch elsewhere;
  const auto precious = elsewhere / "precious";
  write_file(precious, "text");
  std::atomic<bool> done{false};
  auto attacker = std::thread{[&] {
    const auto spare = tmp / "spare";
    for (auto i = 0; !done; ++i) {
      ::symlink(precious.c_str(), spare.c_str());
      ::rename(spare.c_str(), path.c_str());
      ::unlink(path.c_str());
    }
  }};
  size_t published = 0;
  for (auto i = 0; i < 5000; ++i)
    if (const auto uut = rendezvous_files::publish(options))
      ++published;
  done = true;
  attacker.join();
  CAF_MESSAGE("published " << published << " of 5000 times");
  CAF_CHECK_EQUAL(read_file(precious), "text");
  CAF_CHECK_EQUAL(elsewhere.entries(), 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()

CAF_TEST(the system directory is the first that the environment names) {
  for (const auto* name : {"PMIX_SYSTEM_TMPDIR", "TMPDIR", "TEMP", "TMP"})
    ::unsetenv(name);
  CAF_CHECK_EQUAL(system_tmpdir(), "/tmp");
  ::setenv("TMP", "/d", 1);
  CAF_CHECK_EQUAL(system_tmpdir(), "/d");
  ::setenv("TEMP", "/c", 1);
  CAF_CHECK_EQUAL(system_tmpdir(), "/c");
  ::setenv("TMPDIR", "/b", 1);
  CAF_CHECK_EQUAL(system_tmpdir(), "/b");
  ::setenv("PMIX_SYSTEM_TMPDIR", "", 1);
  CAF_CHECK_EQUAL(system_tmpdir(), "/b");
  ::setenv("PMIX_SYSTEM_TMPDIR", "/a", 1);
  CAF_CHECK_EQUAL(system_tmpdir(), "/a");
}

CAF_TEST(DIR-4 what is wrong with the directory names its variable) {
  for (const auto* name : {"PMIX_SYSTEM_TMPDIR", "TMPDIR", "TEMP", "TMP"})
    ::unsetenv(name);
  CAF_CHECK(blame_tmpdir("/tmp", "full").find("full; set TMPDIR to ") == 0);
  CAF_CHECK(blame_tmpdir("/tmp", "full").find("it is not set")
            != std::string::npos);
  CAF_CHECK_EQUAL(blame_tmpdir("/other", "full"), "full");
  ::setenv("TMPDIR", "/b", 1);
  CAF_CHECK(
    blame_tmpdir("/b", "full").find("TMPDIR is /b: full; set TMPDIR to ") == 0);
  ::setenv("PMIX_SYSTEM_TMPDIR", "/a", 1);
  CAF_CHECK(
    blame_tmpdir("/a", "full")
      .find("PMIX_SYSTEM_TMPDIR is /a: full; unset PMIX_SYSTEM_TMPDIR, and "
            "set TMPDIR to ")
    == 0);
}

CAF_TEST(a process that lives has an age and a dead one has none) {
  const auto age = started_at(static_cast<uint32_t>(::getpid()));
  CAF_REQUIRE(age);
  CAF_CHECK(*age <= ::time(nullptr) + 1);
  CAF_CHECK(*age > ::time(nullptr) - 3600);
  CAF_CHECK(!started_at(dead_pid()));
}
