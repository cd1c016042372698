#pragma once

#include <future>
#include <memory>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

namespace troupe {

/// Calls `f` on a thread of its own, for functions of libraries that may wait for
/// minutes and that nobody can interrupt. Whoever does not wait for the outcome any
/// more leaves the thread alone, which ends with the call or with the process.
/// Where there are no more threads, the call is made at once.
/// @param f Owns all that it uses.
template <class F>
std::future<std::invoke_result_t<F>> call_apart(F f) {
  using task = std::packaged_task<std::invoke_result_t<F>()>;
  auto what = std::make_shared<task>(std::move(f));
  auto result = what->get_future();
  try {
    std::thread{[what] { (*what)(); }}.detach();
  } catch (const std::system_error&) {
    (*what)();
  }
  return result;
}

} // namespace troupe
