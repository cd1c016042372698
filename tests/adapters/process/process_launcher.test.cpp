// What a started process finds, and what is heard of its end. Streams and what
// processes leave behind have suites of their own.

#include "adapters/process/process_launcher.hpp"

#include "adapters/hwloc/allowed_processors.hpp"
#include "tests/adapters/process/world.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <sstream>

using namespace troupe;
using fixtures::scratch_folder;
using namespace std::chrono_literals;

namespace {

struct fixture : fixtures::world {
  scratch_folder folder;

  status refusal(const start_process& x) {
    const auto result = start(x);
    CAF_CHECK(!result.value);
    // A sentence, not a code: names the thing and a remedy.
    CAF_CHECK(result.reason.find(' ') != std::string::npos);
    CAF_MESSAGE(result.reason);
    return result.refusal.value_or(status::success);
  }

  start_process program(const std::string& name) {
    auto result = shell(proc(0), "");
    result.program = name;
    result.argv = {name};
    return result;
  }
};

/// How the kernel reports a process that ends like `script` says.
int wait_status_of(const std::string& script) {
  const auto pid = fork();
  if (pid == 0) {
    execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
    _exit(127);
  }
  int result = 0;
  waitpid(pid, &result, 0);
  return result;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(process_launcher_tests, fixture)

// -- the end ------------------------------------------------------------------

CAF_TEST(F5.15 exit codes arrive as given) {
  for (const auto code : {0, 1, 7, 126, 127, 255}) {
    auto& x = run_to_end("exit " + std::to_string(code));
    CAF_REQUIRE_EQUAL(x.ended.size(), 1u);
    CAF_CHECK(x.ended[0] == (process_ended{proc(0), code, 0, false}));
    CAF_CHECK_EQUAL(x.drained, 1u);
  }
}

CAF_TEST(F5.16 the signal that ended a process arrives) {
  for (const auto number : {SIGHUP, SIGKILL, SIGTERM, SIGUSR1}) {
    auto& x = run_to_end("kill -" + std::to_string(number) + " $$");
    CAF_REQUIRE_EQUAL(x.ended.size(), 1u);
    CAF_CHECK(x.ended[0] == (process_ended{proc(0), 0, number, false}));
  }
}

CAF_TEST(F5 a core dump is reported as the kernel reports it) {
  // Whether there is one depends on the machine.
  const auto script =
    "cd " + folder.path() + "; ulimit -c unlimited 2>/dev/null; kill -ABRT $$";
  const auto expected = wait_status_of(script);
  auto& x = run_to_end(script);
  CAF_REQUIRE_EQUAL(x.ended.size(), 1u);
  CAF_CHECK_EQUAL(x.ended[0].signal, SIGABRT);
  CAF_CHECK_EQUAL(x.ended[0].core_dumped, WCOREDUMP(expected) != 0);
}

CAF_TEST(the end is heard before the streams are drained) {
  run(shell(proc(0), "exit 3"));
  CAF_REQUIRE(run_until([&] { return !heard[proc(0)].ended.empty(); }));
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }));
  CAF_CHECK_EQUAL(heard[proc(0)].ends[io_channels::stdout_], 1u);
  CAF_CHECK_EQUAL(heard[proc(0)].ends[io_channels::stderr_], 1u);
}

CAF_TEST(a process can be started again under its name once it has ended) {
  run(shell(proc(0), "sleep 60"));
  CAF_CHECK_EQUAL(refusal(shell(proc(0), "true")), status::err_exists);
  send(signal_process{proc(0), SIGKILL});
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }));
  CAF_CHECK_EQUAL(run_to_end("echo again").out(), "again\n");
}

CAF_TEST(F5.22 a reaped process leaves no zombie and no descriptor) {
  const auto descriptors = [] {
    const auto folder = std::filesystem::directory_iterator{"/proc/self/fd"};
    return std::distance(begin(folder), end(folder));
  };
  run_to_end("true"); // Whatever is opened once is open now.
  const auto before = descriptors();
  for (int i = 0; i < 20; ++i)
    run_to_end("true");
  CAF_CHECK_EQUAL(descriptors(), before);
  siginfo_t info;
  CAF_CHECK_EQUAL(waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT), -1);
  CAF_CHECK_EQUAL(errno, ECHILD);
}

// -- what does not start ------------------------------------------------------

CAF_TEST(F5.17 a program that does not exist is refused by name) {
  CAF_CHECK_EQUAL(refusal(program("no-such-program")),
                  status::job_exe_not_found);
  CAF_CHECK_EQUAL(refusal(program("/no/such/program")),
                  status::job_exe_not_found);
  CAF_CHECK_EQUAL(refusal(program("/etc/passwd/program")),
                  status::job_exe_not_found);
  CAF_CHECK_EQUAL(refusal(program("")), status::job_no_exe_specified);
}

CAF_TEST(F5.17 a program that cannot be executed is refused) {
  const auto text = folder.file("text", "not a program\n");
  CAF_CHECK_EQUAL(refusal(program(text)), status::job_app_not_executable);
  CAF_CHECK_EQUAL(refusal(program("/tmp")), status::job_app_not_executable);
  const auto garbage = folder.file("garbage",
                                   "\x7f"
                                   "ELF nonsense",
                                   true);
  CAF_CHECK_EQUAL(refusal(program(garbage)), status::job_app_not_executable);
  const auto bare = folder.file("bare", "echo no interpreter\n", true);
  CAF_CHECK_EQUAL(refusal(program(bare)), status::job_app_not_executable);
  const auto lost = folder.file("lost", "#!/no/such/interpreter\n", true);
  CAF_CHECK_EQUAL(refusal(program(lost)), status::job_app_not_executable);
  CAF_CHECK(start(program(lost)).reason.find("interpreter")
            != std::string::npos);
}

CAF_TEST(F5 a working directory that cannot be used is refused) {
  auto x = program("/bin/true");
  x.wdir = folder / "nowhere";
  CAF_CHECK_EQUAL(refusal(x), status::job_wdir_not_found);
  x.wdir = folder.file("file", "");
  CAF_CHECK_EQUAL(refusal(x), status::job_wdir_not_accessible);
}

CAF_TEST(a zero byte in an argument is refused) {
  auto x = program("/bin/true");
  x.argv.emplace_back("a\0b", 3);
  CAF_CHECK_EQUAL(refusal(x), status::bad_param);
}

CAF_TEST(processors that do not exist are refused and our own binding stays) {
  const auto before = allowed_processors();
  auto x = program("/bin/true");
  x.cpus = {60000};
  CAF_CHECK_EQUAL(refusal(x), status::bad_param);
  x.cpus = {UINT32_MAX};
  CAF_CHECK_EQUAL(refusal(x), status::bad_param);
  CAF_CHECK(allowed_processors() == before);
}

CAF_TEST(a limit of the system is named and passes) {
  if (fixtures::is_sanitized)
    return;
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  std::vector<status> refusals;
  auto tight = before;
  for (tight.rlim_cur = 4; tight.rlim_cur < 100; ++tight.rlim_cur) {
    setrlimit(RLIMIT_NOFILE, &tight);
    const auto result = start(program("/bin/true"));
    if (result.value)
      break;
    if (refusals.empty() || refusals.back() != *result.refusal)
      refusals.push_back(*result.refusal);
  }
  setrlimit(RLIMIT_NOFILE, &before);
  CAF_CHECK(
    refusals
    == (std::vector{status::sys_limits_pipes, status::sys_limits_files}));
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }));
  CAF_CHECK_EQUAL(run_to_end("echo fine").out(), "fine\n");
}

// -- what a process finds -----------------------------------------------------

CAF_TEST(arguments arrive byte for byte) {
  auto x = program("/usr/bin/printf");
  x.argv = {"some name", "%s|", "", "a b", "'\"$x\\", "\xff\n"};
  CAF_CHECK_EQUAL(run_to_end(x).out(), "|a b|'\"$x\\|\xff\n|");
}

CAF_TEST(a program without arguments gets its name) {
  auto x = program("/bin/sh");
  x.argv.clear();
  x.with_stdin = true;
  run(x);
  const auto written =
    ask<ack>(launcher, write_stdin{proc(0), "echo $0; exit\n"});
  CAF_CHECK(written.value);
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }));
  CAF_CHECK_EQUAL(heard[proc(0)].out(), "/bin/sh\n");
}

CAF_TEST(the environment is the given one and nothing else) {
  setenv("TROUPE_TEST_OF_THE_DAEMON", "1", 1);
  auto x = program("/usr/bin/env");
  x.env = {"A=1", "B=two words", "C="};
  CAF_CHECK_EQUAL(run_to_end(x).out(), "A=1\nB=two words\nC=\n");
  x.env.clear();
  CAF_CHECK_EQUAL(run_to_end(x).out(), "");
}

CAF_TEST(the PATH of the process counts and is relative to its directory) {
  std::filesystem::create_directory(folder / "bin");
  std::filesystem::create_directory(folder / "skipped");
  std::filesystem::create_directory(folder / "skipped/tool");
  folder.file("bin/tool", "#!/bin/sh\necho tool in $PWD\n", true);
  folder.file("here", "#!/bin/sh\necho here\n", true);
  auto x = program("tool");
  CAF_CHECK_EQUAL(refusal(x), status::job_exe_not_found);
  x.wdir = folder.path();
  x.env = {"PATH=/nowhere:skipped:bin:/bin"};
  CAF_CHECK_EQUAL(run_to_end(x).out(), "tool in " + folder.path() + "\n");
  x.program = "bin/tool";
  CAF_CHECK_EQUAL(run_to_end(x).out(), "tool in " + folder.path() + "\n");
  x.program = "here";
  CAF_CHECK_EQUAL(refusal(x), status::job_exe_not_found);
  x.env = {"PATH=/nowhere:"}; // An empty entry is the working directory.
  CAF_CHECK_EQUAL(run_to_end(x).out(), "here\n");
  x.program = "sh";
  x.argv = {"sh", "-c", "echo default path"};
  x.env.clear();
  CAF_CHECK_EQUAL(run_to_end(x).out(), "default path\n");
}

CAF_TEST(F8.4 F5.21 children get exactly three descriptors) {
  // Without close-on-exec, as one that we inherited ourselves.
  const auto leaky = open("/dev/null", O_RDONLY);
  auto x = program("/bin/ls");
  x.argv = {"ls", "/proc/self/fd"};
  // The fourth is the folder that ls reads.
  CAF_CHECK_EQUAL(run_to_end(x).out(), "0\n1\n2\n3\n");
  x.with_stdin = true;
  CAF_CHECK_EQUAL(run_to_end(x).out(), "0\n1\n2\n3\n");
  close(leaky);
}

CAF_TEST(signals have their default meaning in children) {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  sigprocmask(SIG_BLOCK, &blocked, nullptr);
  signal(SIGINT, SIG_IGN);
  auto x = program("/bin/cat");
  x.argv = {"cat", "/proc/self/status"};
  const auto mask = [&](const std::string& name) {
    const auto& text = heard[proc(0)].out();
    const auto pos = text.find(name + ":\t");
    return std::stoull(text.substr(pos + name.size() + 2), nullptr, 16);
  };
  run_to_end(x);
  // Signals 32 and 33 are glibc's own; it has its children ignore them.
  constexpr auto internal = 0x180000000ull;
  CAF_CHECK_EQUAL(mask("SigBlk"), 0u);
  CAF_CHECK_EQUAL(mask("SigIgn") & ~internal, 0u);
  CAF_CHECK_EQUAL(mask("SigCgt"), 0u);
  CAF_CHECK(signal(SIGPIPE, SIG_IGN) == SIG_IGN); // In the daemon.
}

CAF_TEST(every process leads a group of its own) {
  auto& x = run_to_end("cat /proc/$$/stat");
  std::istringstream in{x.out()};
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  std::string name;
  std::string state;
  in >> pid >> name >> state >> parent >> group;
  CAF_CHECK_EQUAL(static_cast<uint32_t>(pid), x.pid);
  CAF_CHECK_EQUAL(parent, getpid());
  CAF_CHECK_EQUAL(group, pid);
}

CAF_TEST(a process runs where it is bound from its first instruction) {
  const auto cpus = allowed_processors();
  auto x = program("/bin/grep");
  x.argv = {"grep", "Cpus_allowed_list", "/proc/self/status"};
  for (const auto cpu : {cpus.front(), cpus.back()}) {
    x.cpus = {cpu};
    CAF_CHECK_EQUAL(run_to_end(x).out(),
                    "Cpus_allowed_list:\t" + std::to_string(cpu) + "\n");
    CAF_CHECK(allowed_processors() == cpus);
  }
}

// -- signals ------------------------------------------------------------------

CAF_TEST(a signal reaches the process and what it started) {
  run(shell(proc(0), "sleep 60 & echo $!; wait"));
  CAF_REQUIRE(run_until([&] { return !heard[proc(0)].out().empty(); }));
  const auto grandchild = std::stoi(heard[proc(0)].out());
  send(signal_process{proc(0), SIGTERM});
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }));
  CAF_CHECK_EQUAL(heard[proc(0)].ended[0].signal, SIGTERM);
  CAF_CHECK(run_until([&] { return !fixtures::exists(grandchild); }, 5s));
}

CAF_TEST(a stopped process can be continued) {
  run(shell(proc(0), "trap 'echo caught; exit 5' USR1; echo ready; "
                     "while :; do sleep 0.01; done"));
  CAF_REQUIRE(run_until([&] { return heard[proc(0)].out() == "ready\n"; }));
  send(signal_process{proc(0), SIGSTOP});
  send(signal_process{proc(0), SIGUSR1});
  run_for(50ms);
  CAF_CHECK_EQUAL(heard[proc(0)].out(), "ready\n");
  send(signal_process{proc(0), SIGCONT});
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }));
  CAF_CHECK_EQUAL(heard[proc(0)].out(), "ready\ncaught\n");
  CAF_CHECK_EQUAL(heard[proc(0)].ended[0].exit_code, 5);
}

CAF_TEST(X29 a signal for a process that has ended hits nobody) {
  auto& first = run_to_end("true");
  // Whoever gets its number next must be left alone. Only root can choose one.
  std::ofstream{"/proc/sys/kernel/ns_last_pid"} << first.pid - 1;
  auto victim = shell(proc(1), "sleep 60");
  const auto pid = run(victim).pid;
  CAF_MESSAGE("number " << first.pid << " reused: " << (pid == first.pid));
  send(signal_process{proc(0), SIGKILL});
  send(signal_process{proc(7), SIGKILL}); // There never was one.
  run_for(50ms);
  CAF_CHECK(heard[proc(1)].ended.empty());
  send(signal_process{proc(1), SIGKILL});
  CAF_CHECK(run_until([&] { return is_over(proc(1)); }));
}

CAF_TEST_FIXTURE_SCOPE_END()

// -- PMI-1 --------------------------------------------------------------------

CAF_TEST(C6.8 a child that asks for it gets a socket as its fourth descriptor) {
  auto ours = unique_fd{};
  auto whose = proc_id{};
  auto settings = process_launcher_settings{};
  settings.serve_pmi1 = [&](const proc_id& proc, unique_fd fd) {
    whose = proc;
    ours = std::move(fd);
  };
  auto w = fixtures::world{settings};
  auto request = w.shell(w.proc(0), "echo hello >&3; ls /proc/self/fd | wc -l");
  request.with_pmi1 = true;
  auto& x = w.run_to_end(request);
  CAF_CHECK_EQUAL(x.out(), "5\n"); // And the folder itself.
  CAF_CHECK(whose == w.proc(0));
  char text[16] = {};
  CAF_CHECK_EQUAL(::read(ours.get(), text, sizeof(text)), 6);
  CAF_CHECK_EQUAL(std::string{text}, "hello\n");
  CAF_CHECK_EQUAL(::read(ours.get(), text, sizeof(text)), 0);
}
