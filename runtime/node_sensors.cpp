#include "runtime/node_sensors.hpp"

#include "actors/events/sampled_sensor.hpp"
#include "actors/events/sensor_desk.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/loop_system.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "adapters/sensors/link_reader.hpp"
#include "adapters/sensors/pool_reader.hpp"
#include "adapters/sensors/readers.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

/// How often sensors look, while somebody wants their events. What the kernel
/// tells by itself, such as links, is not asked for.
inline constexpr auto memory_errors_interval = 5s;
inline constexpr auto temperature_interval = 5s;
inline constexpr auto memory_pressure_interval = 2s;
inline constexpr auto memory_kills_interval = 1s;
inline constexpr auto file_system_interval = 10s;

} // namespace defaults

namespace {

constexpr size_t most_file_system_threads = 8;
constexpr auto file_system_grace = std::chrono::milliseconds{100};

/// What the work of a sensor is given to.
template <class Threads>
work_poster poster(const std::shared_ptr<Threads>& to,
                   thread_pool* Threads::*which) {
  return [to, which](std::function<void()> work, std::function<void()> done) {
    auto* pool = (*to).*which;
    return pool != nullptr && pool->post(std::move(work), std::move(done));
  };
}

/// Makes the sensors of a node.
class maker {
public:
  maker(loop_system& loop, const sensor_settings& settings, const journal& log,
        const sensor_desk_actor& desk)
    : loop_(loop), settings_(settings), log_(log), desk_(desk) {
    // nop
  }

  /// A sensor that looks now and then.
  void add(std::string name, std::vector<sensor_quantity> quantities,
           caf::timespan interval, std::function<sensor_readings()> read,
           work_poster post) {
    add(std::move(name), std::move(quantities),
        settings_.interval.value_or(interval),
        loop_.actors().spawn(pool_reader, std::move(post), std::move(read)));
  }

  void add(std::string name, std::vector<sensor_quantity> quantities,
           caf::timespan interval, sensor_reader_actor reader) {
    auto options = sampled_sensor_options{};
    options.name = std::move(name);
    options.quantities = std::move(quantities);
    options.reader = std::move(reader);
    options.interval = interval;
    options.limits = settings_.limits;
    options.log = log_;
    auto offer = offer_of(options);
    sensor_actor handle =
      spawn_sampled_sensor(loop_.actors(), std::move(options));
    caf::anon_send(desk_, std::move(offer), std::move(handle));
  }

private:
  loop_system& loop_;
  const sensor_settings& settings_;
  const journal& log_;
  const sensor_desk_actor& desk_;
};

void add_hardware(maker& make, const sensor_settings& x,
                  const work_poster& post) {
  make.add(
    "memory errors",
    {sensor_quantity::corrected_errors, sensor_quantity::uncorrected_errors},
    defaults::memory_errors_interval,
    [root = x.sysfs] { return read_memory_errors(root); }, post);
  make.add(
    "temperatures", {sensor_quantity::temperature},
    defaults::temperature_interval,
    [root = x.sysfs] { return read_temperatures(root); }, post);
}

void add_memory(maker& make, const sensor_settings& x,
                const work_poster& post) {
  const auto is_group = !x.cgroup.empty();
  const auto device = is_group ? x.cgroup : std::string{"node"};
  const auto pressure =
    is_group ? x.cgroup + "/memory.pressure" : x.procfs + "/pressure/memory";
  make.add(
    "memory pressure", {sensor_quantity::memory_pressure},
    defaults::memory_pressure_interval,
    [=] { return read_memory_pressure(pressure, device); }, post);
  const auto kills =
    is_group ? x.cgroup + "/memory.events" : x.procfs + "/vmstat";
  const auto kills_of_old =
    is_group ? x.cgroup + "/memory.oom_control" : std::string{};
  make.add(
    "kills for memory", {sensor_quantity::memory_kills},
    defaults::memory_kills_interval,
    [=] {
      auto result = read_memory_kills(kills, device);
      if (!kills_of_old.empty() && result.readings.empty())
        result = read_memory_kills(kills_of_old, device);
      return result;
    },
    post);
}

} // namespace

int64_t wall_clock() {
  return static_cast<int64_t>(std::time(nullptr));
}

struct node_sensors::threads {
  /// Of the loop.
  thread_pool* common = nullptr;

  /// File systems may hang: they have threads of their own.
  std::unique_ptr<thread_pool> own;
  thread_pool* separate = nullptr;
};

node_sensors::node_sensors(loop_system& loop, const std::string& hostname,
                           const sensor_settings& settings, const journal& log)
  : threads_(std::make_shared<threads>()) {
  auto options = sensor_desk_options{};
  options.hostname = hostname;
  options.wall_clock = wall_clock;
  options.log = log;
  desk_ = spawn_sensor_desk(loop.actors(), std::move(options));
  if (!settings.enabled)
    return;
  auto make = maker{loop, settings, log, desk_};
  threads_->common = &loop.pool();
  const auto post = poster(threads_, &threads::common);
  add_hardware(make, settings, post);
  add_memory(make, settings, post);
  if (auto reader =
        spawn_link_reader(loop.actors(), loop.loop(), {settings.links}))
    make.add("links", {sensor_quantity::link}, caf::timespan{0},
             std::move(*reader));
  else if (log)
    log(severity::warning,
        "links are not watched: " + reason_of(reader.error()));
  if (settings.file_systems.empty())
    return;
  auto bounds = thread_pool::limits{};
  bounds.threads =
    std::min(settings.file_systems.size(), most_file_system_threads);
  bounds.grace = file_system_grace;
  threads_->own = std::make_unique<thread_pool>(loop.loop(), bounds);
  threads_->separate = threads_->own.get();
  for (const auto& path : settings.file_systems)
    make.add(
      "file system " + path, {sensor_quantity::file_system_use},
      defaults::file_system_interval, [path] { return read_file_system(path); },
      poster(threads_, &threads::separate));
}

node_sensors::~node_sensors() {
  threads_->common = nullptr;
  threads_->separate = nullptr;
  threads_->own.reset();
  caf::anon_send_exit(desk_, caf::exit_reason::user_shutdown);
}

} // namespace troupe
