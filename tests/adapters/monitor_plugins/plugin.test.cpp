// Plugins: which files are loaded, and how their functions are called.

#include "adapters/loop/thread_pool.hpp"
#include "adapters/monitor_plugins/c_watcher.hpp"
#include "adapters/monitor_plugins/plugin_library.hpp"
#include "adapters/monitor_plugins/plugin_monitor.hpp"
#include "messages/status.hpp"
#include "tests/adapters/process/world.hpp"

#include <sys/stat.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <thread>

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

/// What a watcher of the test's own does.
struct watching {
  std::function<void(const start_monitor&)> begin = [](const auto&) {};
  std::function<std::string()> look = [] { return std::string{}; };
  std::atomic<bool> has_ended{false};
  std::thread::id ended_on;
};

class test_watcher : public watcher {
public:
  test_watcher(watching& play, const start_monitor& what) : play_(play) {
    play.begin(what);
  }

  ~test_watcher() override {
    play_.ended_on = std::this_thread::get_id();
    play_.has_ended = true;
  }

  std::string look() override {
    return play_.look();
  }

private:
  watching& play_;
};

watcher_kind kind_of(watching& play) {
  return {1s, [&play](const start_monitor& what) {
            return std::make_unique<test_watcher>(play, what);
          }};
}

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
    return make(c_watchers(&kind), what);
  }

  monitor_plugin_actor make(const watcher_kind& how,
                            const start_monitor& what) {
    auto* const pool = &sys.pool();
    const auto post = [pool](std::function<void()> work,
                             std::function<void()> done) {
      return pool->post(std::move(work), std::move(done));
    };
    return sys.actors().spawn(plugin_monitor, work_poster{post}, "test", how,
                              what);
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
  CAF_REQUIRE_EQUAL(x->kinds.count("queue"), 1u);
  const auto* queue = std::get_if<watcher_kind>(&x->kinds.at("queue"));
  CAF_REQUIRE(queue != nullptr);
  CAF_CHECK(queue->interval == 5s);
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

CAF_TEST(C11.1 a watcher hears its settings and tells of what it sees) {
  auto play = watching{};
  auto heard = std::string{};
  play.begin = [&](const start_monitor& x) {
    heard = text_setting(x, "a") + text_setting(x, "c")
            + std::to_string(number_setting(x, "b"));
  };
  play.look = [] { return std::string(600, 'x'); };
  const auto uut = make(kind_of(play), request);
  const auto got = ask<check_result>(uut, check_process{request.proc, 0});
  CAF_REQUIRE(got.value);
  CAF_CHECK_EQUAL(heard, "xtrue7.000000");
  CAF_CHECK_EQUAL(got.value->reason.size(), 511u);
}

CAF_TEST(C11.1 a setting that is missing or no number is a reason to refuse) {
  auto play = watching{};
  const auto refused = [&](const std::string& name) {
    play.begin = [name](const start_monitor& x) { number_setting(x, name); };
    const auto got = ask<check_result>(make(kind_of(play), request),
                                       check_process{request.proc, 0});
    CAF_CHECK(got.refusal == status::bad_param);
    return got.reason;
  };
  CAF_CHECK_EQUAL(refused("limit"), "test: needs the setting limit");
  CAF_CHECK_EQUAL(refused("d"), "test: needs the setting d");
  CAF_CHECK_EQUAL(refused("a"), "test: the setting a must be a number");
}

CAF_TEST(C11.5 a watcher that throws could not look) {
  auto play = watching{};
  const auto uut = make(kind_of(play), request);
  const auto look = [&] {
    return ask<check_result>(uut, check_process{request.proc, 0});
  };
  play.look = []() -> std::string { throw std::runtime_error{"no oven"}; };
  CAF_CHECK_EQUAL(look().reason, "test: no oven");
  play.look = []() -> std::string { throw 1; };
  CAF_CHECK(look().refusal == status::error);
  play.look = [] { return std::string{}; };
  CAF_CHECK(look().value);
  play.begin = [](const start_monitor&) { throw 1; };
  const auto other = ask<check_result>(make(kind_of(play), request),
                                       check_process{request.proc, 0});
  CAF_CHECK(other.refusal == status::error);
}

CAF_TEST(C11.5 the end of a watcher may block as its looks may) {
  auto play = watching{};
  auto uut = make(kind_of(play), request);
  CAF_CHECK(ask<check_result>(uut, check_process{request.proc, 0}).value);
  uut = nullptr;
  CAF_CHECK(run_until([&] { return play.has_ended.load(); }));
  CAF_CHECK(play.ended_on != std::this_thread::get_id());
}

CAF_TEST(C11.3 a plugin in Cxx is for one minor version) {
  const auto ours = std::string{"Troupe "} + TROUPE_MINOR_VERSION + ", CAF ";
  CAF_CHECK_EQUAL(std::string{TROUPE_MONITOR_ABI}.substr(0, ours.size()), ours);
}

CAF_TEST_FIXTURE_SCOPE_END()
