// Plugins: which files are loaded, and how their functions are called.

#include "adapters/monitor_plugins/plugin_library.hpp"
#include "adapters/monitor_plugins/plugin_monitor.hpp"
#include "messages/status.hpp"
#include "tests/adapters/process/world.hpp"

#include <sys/stat.h>

#include <atomic>
#include <cstring>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

std::string refusal(const std::string& path) {
  const auto x = load_plugin(path, getuid());
  if (x)
    return "loaded";
  CAF_CHECK_EQUAL(status_of(x.error()), status::bad_param);
  return reason_of(x.error());
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// What a plugin of the test's own does, and what it was asked.
struct play {
  std::atomic<int> verdict{0};
  std::atomic<int> begun{0};
  std::atomic<int> ended{0};
  std::atomic<bool> hangs{false};
  std::string settings;
  std::string target;
} script;

void* begin(const troupe_monitor_target* target,
            const troupe_monitor_setting* settings, size_t count, char* why,
            size_t size) {
  script.target = target->nspace + std::string{":"}
                  + std::to_string(target->rank) + " "
                  + std::to_string(target->pid);
  script.settings.clear();
  for (size_t i = 0; i < count; ++i)
    script.settings +=
      settings[i].key + std::string{"="} + settings[i].value + ";";
  if (script.verdict < 0) {
    std::snprintf(why, size, "not today");
    return nullptr;
  }
  ++script.begun;
  return &script;
}

int check(void* x, char* why, size_t size) {
  while (script.hangs)
    usleep(1000);
  if (script.verdict == 2)
    std::memset(why, 'x', size);
  else if (script.verdict == 1)
    std::snprintf(why, size, "too hot");
  return x == &script ? script.verdict.load() : -1;
}

void stop(void*) {
  ++script.ended;
}

const troupe_monitor_kind kind = {
  TROUPE_MONITOR_VERSION, "test", 1, begin, check, stop};

struct fixture : fixtures::world {
  fixtures::scratch_folder folder;
  start_monitor request;

  fixture() {
    script.verdict = 0;
    script.begun = 0;
    script.ended = 0;
    script.hangs = false;
    request.proc = {"job", 2};
    request.settings = {
      {"troupe.monitor.a", 0, value::string("x")},
      {"troupe.monitor.b", 0, value::uint32(7)},
      {"troupe.monitor.c", 0, value::boolean(true)},
      {"troupe.monitor.d", 0, value{}},
    };
  }

  monitor_plugin_actor make(const start_monitor& what) {
    auto* const pool = &sys.pool();
    const auto post = [pool](std::function<void()> work,
                             std::function<void()> done) {
      return pool->post(std::move(work), std::move(done));
    };
    return sys.actors().spawn(plugin_monitor, work_poster{post}, &kind, what);
  }

  std::string copy() {
    const auto to = folder / "queue.so";
    fs::copy_file(TROUPE_QUEUE_PLUGIN, to);
    ::chmod(to.c_str(), 0755);
    return to;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(plugin_tests, fixture)

CAF_TEST(a plugin is loaded by its versioned entry point) {
  const auto x = load_plugin(copy(), getuid());
  CAF_REQUIRE(x);
  CAF_CHECK_EQUAL(std::string{x->kind->name}, "queue");
  CAF_CHECK_EQUAL(x->kind->version, uint32_t{TROUPE_MONITOR_VERSION});
}

CAF_TEST(a file that others may write to is not loaded) {
  const auto path = copy();
  for (const auto mode : {0775, 0757}) {
    ::chmod(path.c_str(), mode);
    CAF_CHECK(contains(refusal(path), "others may write to it"));
  }
  ::chmod(path.c_str(), 0755);
  const auto link = folder / "link.so";
  fs::create_symlink(path, link);
  CAF_CHECK(contains(refusal(link), "a link"));
  CAF_CHECK(contains(refusal(folder.path()), "no regular file"));
  CAF_CHECK(contains(refusal(folder / "none.so"), "No such file"));
}

CAF_TEST(a file of another user is not loaded) {
  const auto path = copy();
  // Only root can give files away; to others their own are another user's.
  if (::chown(path.c_str(), 12345, 12345) == 0)
    CAF_CHECK(contains(refusal(path), "belongs to user 12345"));
  else
    CAF_CHECK(!load_plugin(path, getuid() + 1));
}

CAF_TEST(what is no plugin is named with its remedy) {
  CAF_CHECK(
    contains(refusal(folder.file("text.so", "hello")), "cannot be loaded"));
}

CAF_TEST(a directory gives what it can and names the rest) {
  copy();
  folder.file("broken.so", "hello");
  folder.file("readme.txt", "hello");
  auto found = load_plugins(folder.path(), getuid());
  CAF_CHECK_EQUAL(found.loaded.size(), 1u);
  CAF_REQUIRE_EQUAL(found.complaints.size(), 1u);
  CAF_CHECK(contains(found.complaints[0], "broken.so"));
  ::chmod(folder.path().c_str(), 0777);
  found = load_plugins(folder.path(), getuid());
  CAF_CHECK(found.loaded.empty());
  CAF_CHECK_EQUAL(found.complaints.size(), 1u);
  found = load_plugins(folder / "none", getuid());
  CAF_CHECK_EQUAL(found.complaints.size(), 1u);
}

CAF_TEST(M6 a plugin is begun once and hears whom it watches and how) {
  auto uut = make(request);
  const auto look = [&] {
    return ask<check_result>(uut, check_process{request.proc, 9});
  };
  CAF_REQUIRE(look().value);
  CAF_CHECK_EQUAL(script.target, "job:2 9");
  CAF_CHECK_EQUAL(script.settings, "troupe.monitor.a=x;troupe.monitor.b=7;"
                                   "troupe.monitor.c=true;troupe.monitor.d=;");
  script.verdict = 1;
  CAF_CHECK_EQUAL(look().value->reason, "too hot");
  script.verdict = 2;
  CAF_CHECK_EQUAL(look().value->reason.size(), 511u);
  script.verdict = -1;
  CAF_CHECK(look().refusal == status::error);
  CAF_CHECK_EQUAL(script.begun.load(), 1);
  uut = nullptr;
  CAF_CHECK(run_until([] { return script.ended == 1; }));
}

CAF_TEST(a plugin that refuses says why) {
  script.verdict = -1;
  const auto uut = make(request);
  const auto got = ask<check_result>(uut, check_process{request.proc, 0});
  CAF_CHECK(got.refusal == status::bad_param);
  CAF_CHECK_EQUAL(got.reason, "test: not today");
}

CAF_TEST(a plugin that does not return holds up nobody else) {
  auto hanging = make(request);
  auto other = make(request);
  CAF_CHECK(ask<check_result>(hanging, check_process{request.proc, 0}).value);
  script.hangs = true;
  const auto first =
    world::request<check_result>(hanging, check_process{request.proc, 0});
  const auto second = ask<check_result>(hanging, check_process{});
  CAF_CHECK(second.refusal == status::resource_busy);
  CAF_CHECK(!first->has_come());
  script.hangs = false;
  CAF_CHECK(run_until([&] { return first->has_come(); }));
  CAF_CHECK(ask<check_result>(other, check_process{request.proc, 0}).value);
}

CAF_TEST_FIXTURE_SCOPE_END()
