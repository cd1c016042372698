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
  : loop_(std::make_unique<event_loop>()),
    pool_(std::make_unique<thread_pool>(*loop_)),
    config_(std::make_unique<caf::actor_system_config>()) {
  if (!x.print)
    x.print = [](const std::string&) {};
  loop_coordinator::load(*config_, *loop_, std::move(x.print));
  if (x.configure)
    x.configure(*config_, *loop_);
  actors_ = std::make_unique<caf::actor_system>(*config_);
  // CAF would wait for ever for actors that refer to each other.
  actors_->await_actors_before_shutdown(false);
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
