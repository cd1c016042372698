// Processes whose launcher is killed.

#include "adapters/process/orphan_guard.hpp"

#include "adapters/process/child.hpp"
#include "tests/adapters/process/world.hpp"

#include <fcntl.h>
#include <sys/wait.h>

#include <sstream>
#include <thread>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

/// Whether it lives; orphans of the killed launcher come to us as zombies.
bool lives(pid_t pid) {
  auto in = std::ifstream{"/proc/" + std::to_string(pid) + "/stat"};
  auto text = std::string{};
  std::getline(in, text);
  const auto at = text.rfind(')');
  return at != std::string::npos && text.size() > at + 2 && text[at + 2] != 'Z';
}

bool eventually(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (!holds())
    if (std::chrono::steady_clock::now() > end)
      return false;
    else
      std::this_thread::sleep_for(5ms);
  return true;
}

start_process shell(const std::string& script) {
  auto result = start_process{};
  result.program = "/bin/sh";
  result.argv = {"sh", "-c", script};
  result.env = {"PATH=/usr/bin:/bin", std::string{guard_variable} + "stale"};
  return result;
}

/// A launcher in a process of its own. It runs `script` with the mark, and
/// tells its guard's number and what the script says, `lines` in all.
struct launcher {
  pid_t pid = -1;
  unique_fd said;
  std::vector<pid_t> numbers;

  launcher(const std::string& script, size_t lines, bool is_marked,
           const std::string& directory = {}) {
    int fds[2];
    CAF_REQUIRE_EQUAL(pipe2(fds, O_CLOEXEC), 0);
    said.reset(fds[0]);
    pid = fork();
    if (pid == 0)
      work(fds[1], script, is_marked, directory);
    close(fds[1]);
    auto text = std::string{};
    char c = 0;
    while (lines > 0 && read(said.get(), &c, 1) == 1) {
      text += c;
      if (c == '\n')
        --lines;
    }
    auto in = std::istringstream{text};
    for (pid_t number = 0; in >> number;)
      numbers.push_back(number);
  }

  [[noreturn]] static void work(int fd, const std::string& script,
                                bool is_marked, const std::string& directory) {
    const auto guard = orphan_guard::start();
    if (!guard)
      _exit(1);
    if (!directory.empty())
      guard->set_directory(directory);
    dprintf(fd, "%d\n", static_cast<int>(guard->pid()));
    auto outcome =
      spawn_child(shell(script), is_marked ? guard->mark() : std::string{});
    if (const auto* started = std::get_if<child>(&outcome)) {
      char buffer[256];
      for (;;) {
        const auto n = read(started->out.get(), buffer, sizeof(buffer));
        if (n > 0 && write(fd, buffer, static_cast<size_t>(n)) < 0)
          _exit(1);
        if (n <= 0)
          std::this_thread::sleep_for(5ms);
      }
    }
    _exit(1);
  }

  void end() {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
};

} // namespace

CAF_TEST(SIG-5 a killed launcher leaves nothing of what it marked) {
  char folder[] = "/tmp/troupe-test-guard-XXXXXX";
  CAF_REQUIRE(mkdtemp(folder) != nullptr);
  std::ofstream{std::string{folder} + "/file"} << "left";
  auto x = launcher{
    "sleep 60 & echo $!; setsid sh -c 'echo $$; exec sleep 60'& "
    "env -i setsid sh -c 'echo $$; exec sleep 60' & (sleep 60 & echo $!); "
    "trap '' TERM HUP INT; echo $$; while :; do sleep 1; done",
    6, true, folder};
  CAF_REQUIRE_EQUAL(x.numbers.size(), 6u);
  for (const auto pid : x.numbers)
    CAF_CHECK(lives(pid));
  const auto begin = std::chrono::steady_clock::now();
  x.end();
  CAF_CHECK(eventually([&] {
    return std::none_of(x.numbers.begin() + 1, x.numbers.end(), lives);
  }));
  CAF_MESSAGE("gone after "
              << std::chrono::duration_cast<std::chrono::milliseconds>(
                   std::chrono::steady_clock::now() - begin)
                   .count()
              << " ms");
  CAF_CHECK(eventually([&] { return !lives(x.numbers.front()); }));
  CAF_CHECK(!std::filesystem::exists(folder));
}

CAF_TEST(SIG-5 a guard kills nobody without the mark) {
  auto x = launcher{"echo $$; exec sleep 60", 2, false};
  CAF_REQUIRE_EQUAL(x.numbers.size(), 2u);
  x.end();
  CAF_CHECK(eventually([&] { return !lives(x.numbers.front()); }));
  CAF_CHECK(lives(x.numbers.back()));
  kill(x.numbers.back(), SIGKILL);
}

CAF_TEST(SIG-5 a guard is dismissed by who has no children left) {
  const auto guard = orphan_guard::start();
  CAF_REQUIRE(guard);
  auto outcome = spawn_child(shell("exec sleep 60"), guard->mark());
  const auto* started = std::get_if<child>(&outcome);
  CAF_REQUIRE(started != nullptr);
  guard->dismiss_if_alone();
  CAF_CHECK(lives(guard->pid()));
  kill(started->pid, SIGKILL);
  CAF_REQUIRE_EQUAL(waitpid(started->pid, nullptr, 0), started->pid);
  guard->dismiss_if_alone();
  CAF_CHECK(eventually([&] { return !lives(guard->pid()); }));
}

CAF_TEST(SIG-5 a guard ends with its launcher and is no child to wait for) {
  auto guard = orphan_guard::start();
  CAF_REQUIRE(guard != nullptr);
  const auto pid = guard->pid();
  CAF_CHECK(lives(pid));
  siginfo_t info;
  CAF_CHECK_NOT_EQUAL(waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT), 0);
  CAF_CHECK(eventually([&] {
    const auto fds = std::filesystem::directory_iterator{
      "/proc/" + std::to_string(pid) + "/fd"};
    return std::distance(begin(fds), end(fds)) == 4;
  }));
  auto outcome = spawn_child(shell("env"), guard->mark());
  const auto* started = std::get_if<child>(&outcome);
  CAF_REQUIRE(started != nullptr);
  auto text = std::string{};
  waitpid(started->pid, nullptr, 0);
  char buffer[4096];
  const auto n = read(started->out.get(), buffer, sizeof(buffer));
  text.assign(buffer, n > 0 ? static_cast<size_t>(n) : 0);
  CAF_CHECK(text.find(guard->mark() + "\n") != std::string::npos);
  CAF_CHECK(text.find("stale") == std::string::npos);
  guard.reset();
  CAF_CHECK(!fixtures::exists(pid));
}
