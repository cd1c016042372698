#include "adapters/loop/loop_system.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/loop_coordinator.hpp"
#include "adapters/loop/thread_pool.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>

#include <utility>

namespace troupe {

loop_system::loop_system() : loop_system(settings{}) {
  // nop
}

loop_system::loop_system(settings x)
  : settings_(std::move(x)),
    loop_(std::make_unique<event_loop>(settings_.starts_late
                                         ? event_loop::start::late
                                         : event_loop::start::at_once)),
    pool_(std::make_unique<thread_pool>(*loop_)) {
  if (!settings_.print)
    settings_.print = [](const std::string&) {};
}

caf::actor_system& loop_system::actors() {
  std::call_once(is_built_, [this] { build(); });
  return *actors_;
}

void loop_system::build() {
  auto config = std::make_unique<caf::actor_system_config>();
  loop_coordinator::load(*config, *loop_, settings_.print);
  if (settings_.configure)
    settings_.configure(*config, *loop_);
  auto actors = std::make_unique<caf::actor_system>(*config);
  // CAF would wait for ever for actors that refer to each other.
  actors->await_actors_before_shutdown(false);
  config_ = std::move(config);
  actors_ = std::move(actors);
}

loop_system::~loop_system() {
  // Tasks own actor handles, thus go before the actor system does; actors that
  // work off their mail still know the pool.
  pool_->close();
  loop_->close();
  actors_.reset();
}

void loop_system::run() {
  loop_->run();
}

void loop_system::stop() noexcept {
  loop_->stop();
}

} // namespace troupe
