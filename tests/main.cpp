// The test runner: CAF's test engine with a `main` of our own.
//
// Each test runs in a process of its own, because the engine aborts on a failed
// requirement, keeps the counters of a first run when a test runs twice, and
// reports a filter that matches nothing as success. Here an abort, a crash or a
// hang costs one test, a failing test is repeated verbosely in a fresh process,
// and a suite that is not there is an error.

#define CAF_TEST_NO_MAIN
#include <caf/test/unit_test_impl.hpp>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using engine = caf::test::engine;

constexpr auto usage =
  "usage: troupe_tests [options] [text ...]\n"
  "  text             run the tests whose suite/name contains one of the "
  "texts\n"
  "  --suite NAME     run this suite only; it must exist (may be repeated)\n"
  "  --list           print suite and name of each test, separated by a tab\n"
  "  --agree FILE     check that FILE lists exactly the suites in this binary\n"
  "  --verbose        print the checks of passing tests too\n"
  "  --timeout N      seconds one test may take (default 60)\n"
  "  --here           run the tests in this process, for a debugger\n"
  "With TROUPE_TEST_RESULTS=DIR in the environment, DIR/SUITE.tsv gets a line\n"
  "per test: suite, name, pass or fail; the last line for a name counts.\n";

struct options {
  std::vector<std::string> texts;
  std::vector<std::string> suites;
  std::string agree;
  int timeout_s = 60;
  bool list = false;
  bool verbose = false;
  bool here = false;
};

struct test_id {
  std::string suite;

  /// As the engine knows it.
  std::string name;

  /// As we print it.
  std::string title;
};

/// How a test ended; empty if it passed.
using complaint = std::optional<std::string>;

/// Closes the gap that GCC's preprocessor leaves in `F1.2`: it reads two tokens
/// there and stringifies them as `F1 .2`.
std::string title_of(std::string name) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (size_t i = 0; i + 2 < name.size(); ++i)
    if (name[i] == ' ' && name[i + 1] == '.' && is_digit(name[i + 2]))
      name.erase(i, 1);
  return name;
}

std::optional<options> parse(int argc, char** argv) {
  options result;
  for (int i = 1; i < argc; ++i) {
    const auto arg = std::string_view{argv[i]};
    const auto has_value = i + 1 < argc;
    if (arg == "--list")
      result.list = true;
    else if (arg == "--verbose")
      result.verbose = true;
    else if (arg == "--here")
      result.here = true;
    else if (arg == "--suite" && has_value)
      result.suites.emplace_back(argv[++i]);
    else if (arg == "--agree" && has_value)
      result.agree = argv[++i];
    else if (arg == "--timeout" && has_value)
      result.timeout_s = std::atoi(argv[++i]);
    else if (arg.empty() || arg.front() == '-')
      return std::nullopt;
    else
      result.texts.emplace_back(arg);
  }
  if (result.timeout_s <= 0)
    return std::nullopt;
  return result;
}

/// Makes a filter that selects exactly `name`. The engine reads filters as
/// regular expressions, except with Clang on libstdc++, where they are lists of
/// names separated by bars.
std::string exactly(const std::string& name) {
#if defined(__clang__) && !defined(_LIBCPP_VERSION)
  return name;
#else
  std::string result = "^";
  for (const auto c : name) {
    if (std::string_view{R"(\^$.|?*+()[]{})"}.find(c) != std::string_view::npos)
      result += '\\';
    result += c;
  }
  return result + '$';
#endif
}

/// Runs one test in this process.
/// @returns whether it ran and all its checks passed.
bool run_here(const test_id& id, int verbosity) {
  const auto passed = engine::run(isatty(STDERR_FILENO) != 0, "", verbosity, 0,
                                  exactly(id.suite), "", exactly(id.name), "");
  const auto* ran = engine::current_test();
  return passed && ran != nullptr && ran->name() == id.name;
}

std::string describe(int wait_status) {
  if (WIFSIGNALED(wait_status))
    return std::string{"ended by "} + strsignal(WTERMSIG(wait_status));
  return "failed";
}

/// Waits until `pid` ended or the time is up.
/// @returns whether it ended.
bool ended_in_time(pid_t pid, int timeout_s) {
  using clock = std::chrono::steady_clock;
  const auto fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0)
    return true; // An old kernel: wait without a limit, ctest has one.
  const auto deadline = clock::now() + std::chrono::seconds{timeout_s};
  int ready = 0;
  do {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      deadline - clock::now());
    auto watched = pollfd{fd, POLLIN, 0};
    ready = poll(&watched, 1, std::max(0, static_cast<int>(left.count())));
  } while (ready < 0 && errno == EINTR);
  close(fd);
  return ready > 0;
}

/// Runs one test in a child, which leads a process group of its own so that
/// whatever the test left behind goes with it.
complaint run_apart(const test_id& id, int verbosity, int timeout_s) {
  std::cout.flush();
  std::cerr.flush();
  const auto pid = fork();
  if (pid < 0)
    return "could not be started";
  if (pid == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::exit(run_here(id, verbosity) ? 0 : 1);
  }
  setpgid(pid, pid); // Both sides set it: neither can be late.
  const auto in_time = ended_in_time(pid, timeout_s);
  kill(-pid, SIGKILL); // Before the child is reaped: its number is still ours.
  int wait_status = 0;
  while (waitpid(pid, &wait_status, 0) < 0 && errno == EINTR) {
    // Again.
  }
  if (!in_time)
    return "did not end within " + std::to_string(timeout_s) + " s";
  if (wait_status != 0)
    return describe(wait_status);
  return std::nullopt;
}

complaint run(const test_id& id, const options& opts) {
  constexpr auto errors = 1; // A failure by chance is seen only once.
  constexpr auto everything = 4;
  const auto verbosity = opts.verbose ? everything : errors;
  if (opts.here)
    return run_here(id, verbosity) ? complaint{} : complaint{"failed"};
  auto result = run_apart(id, verbosity, opts.timeout_s);
  if (result && !opts.verbose) {
    std::cerr << "--- " << id.suite << '/' << id.title << ": " << *result
              << "; once more, with all checks:\n";
    if (!run_apart(id, everything, opts.timeout_s)) {
      std::cerr << "--- passed when repeated: it depends on chance\n";
      result->append(", passed when repeated");
    }
    std::cerr << "---\n";
  }
  return result;
}

/// Every test of the binary, in suite order.
std::vector<test_id> all_tests() {
  std::vector<test_id> result;
  for (const auto& suite : engine::available_suites())
    for (const auto& name : engine::available_tests(suite))
      result.push_back({suite, name, title_of(name)});
  return result;
}

bool selected(const test_id& id, const options& opts) {
  const auto full_name = id.suite + '/' + id.title;
  const auto in_suite =
    opts.suites.empty()
    || std::find(opts.suites.begin(), opts.suites.end(), id.suite)
         != opts.suites.end();
  return in_suite
         && (opts.texts.empty()
             || std::any_of(opts.texts.begin(), opts.texts.end(),
                            [&](const std::string& text) {
                              return full_name.find(text) != std::string::npos;
                            }));
}

/// Prints what is in one list of suites and not in the other.
/// @returns whether the lists are equal.
bool agree(const std::string& file) {
  std::ifstream in{file};
  if (!in) {
    std::cout << "FAIL cannot read " << file << '\n';
    return false;
  }
  std::set<std::string> listed;
  for (std::string line; std::getline(in, line);)
    if (!line.empty())
      listed.insert(line);
  const auto available = engine::available_suites();
  const auto built = std::set<std::string>(available.begin(), available.end());
  for (const auto& name : listed)
    if (built.count(name) == 0)
      std::cout << "FAIL " << name
                << ": its file exists, but the binary has no test of it (is "
                   "troupe_test_suite called for it?)\n";
  for (const auto& name : built)
    if (listed.count(name) == 0)
      std::cout << "FAIL " << name << ": in the binary, but has no file\n";
  return listed == built;
}

/// Appends results to the files that scripts/requirements reads.
class result_files {
public:
  explicit result_files(const options& opts) {
    if (const auto* dir = std::getenv("TROUPE_TEST_RESULTS"))
      dir_ = dir;
    append_ = !opts.texts.empty();
  }

  void add(const test_id& id, bool passed) {
    if (dir_.empty())
      return;
    const auto whole_suite = begun_.insert(id.suite).second && !append_;
    std::ofstream out{dir_ + '/' + id.suite + ".tsv",
                      whole_suite ? std::ios::trunc : std::ios::app};
    out << id.suite << '\t' << id.title << '\t' << (passed ? "pass" : "fail")
        << '\n';
  }

private:
  std::string dir_;
  std::set<std::string> begun_;
  bool append_ = false;
};

/// Names that the engine or the result files could not tell apart.
bool names_are_usable(const std::vector<test_id>& tests) {
  auto result = true;
  for (const auto& id : tests)
    if (id.name.find_first_of("|\t\n") != std::string::npos) {
      std::cerr << id.suite << '/' << id.name << ": no bar in a test name\n";
      result = false;
    }
  return result;
}

int run_selected(const std::vector<test_id>& tests, const options& opts) {
  std::set<std::string> missing{opts.suites.begin(), opts.suites.end()};
  result_files files{opts};
  size_t passed = 0;
  size_t failed = 0;
  for (const auto& id : tests) {
    missing.erase(id.suite);
    if (!selected(id, opts))
      continue;
    const auto result = run(id, opts);
    files.add(id, !result);
    ++(result ? failed : passed);
    std::cout << (result ? "FAIL " : "ok   ") << id.suite << '/' << id.title;
    if (result)
      std::cout << " (" << *result << ')';
    std::cout << std::endl;
  }
  for (const auto& suite : missing) {
    std::cout << "FAIL " << suite << ": no such suite" << std::endl;
    ++failed;
  }
  if (passed + failed == 0) {
    std::cout << "FAIL no test matches" << std::endl;
    ++failed;
  }
  std::cout << passed << " passed, " << failed << " failed" << std::endl;
  return failed == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  const auto opts = parse(argc, argv);
  if (!opts) {
    std::cerr << usage;
    return 2;
  }
  engine::args(1, argv);
  engine::path(argv[0]);
  engine::max_runtime(0); // Its watchdog is a thread; ours is the parent.
  const auto tests = all_tests();
  if (!names_are_usable(tests))
    return 2;
  if (opts->list) {
    for (const auto& id : tests)
      std::cout << id.suite << '\t' << id.title << '\n';
    return 0;
  }
  if (!opts->agree.empty()) {
    const auto equal = agree(opts->agree);
    std::cout << (equal ? "1 passed, 0 failed\n" : "0 passed, 1 failed\n");
    return equal ? 0 : 1;
  }
  return run_selected(tests, *opts);
}
