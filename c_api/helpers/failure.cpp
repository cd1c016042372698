#include "c_api/helpers/failure.hpp"

#include "adapters/loop/memory_reserve.hpp"

#include <chrono>
#include <exception>
#include <new>
#include <system_error>
#include <thread>

namespace troupe::c_api {

namespace {

constexpr auto attempts = 1000;
constexpr auto pause = std::chrono::milliseconds{1};

} // namespace

pmix_status_t status_of_exception() noexcept {
  // What has been thrown has given back what it held.
  refill_memory_reserve();
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return PMIX_ERR_NOMEM;
  } catch (const std::system_error&) {
    return PMIX_ERR_OUT_OF_RESOURCE;
  } catch (...) {
    return PMIX_ERROR;
  }
}

void insist(const std::function<void()>& step) {
  for (auto i = 1;; ++i) {
    try {
      step();
      return;
    } catch (const std::bad_alloc&) {
      if (i == attempts)
        throw;
      refill_memory_reserve();
    }
    std::this_thread::sleep_for(pause);
  }
}

} // namespace troupe::c_api
