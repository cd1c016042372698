#include "c_api/waiter.hpp"

#include "c_api/library_core.hpp"

namespace troupe::c_api {

void waiter::set(pmix_status_t code) {
  {
    const auto guard = std::lock_guard{mutex_};
    code_ = code;
    changed_.notify_all();
  }
  if (driver_)
    driver_->interrupt();
}

waiter::waiter() {
  if (auto core = library::instance().core(); core && core->is_external)
    driver_ = std::move(core);
}

waiter::~waiter() = default;

pmix_status_t waiter::wait() {
  if (driver_)
    driver_->drive([this] {
      const auto guard = std::lock_guard{mutex_};
      return code_.has_value();
    });
  auto lock = std::unique_lock{mutex_};
  changed_.wait(lock, [this] { return code_.has_value(); });
  return *code_;
}

} // namespace troupe::c_api
