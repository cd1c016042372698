#pragma once

#include <caf/fwd.hpp>

#include <chrono>

namespace troupe {

class loop_system;

namespace defaults {

using namespace std::chrono_literals;

/// How long a thread waits for an answer while nobody runs the loop that has to
/// give it: longer than it takes to start the thread that does.
inline constexpr auto loop_absence = 5s;

} // namespace defaults

/// Waits until a blocking actor of the system has mail: an answer, or a failure
/// in its place. The clock of the system stands still while nobody runs its loop,
/// so a limit of the request does not end the wait.
/// @param absence How long nobody may be in the loop's `run`.
/// @returns `status::timeout` if nobody was there for as long.
caf::error
await_mail(caf::scoped_actor& me, loop_system& where,
           std::chrono::nanoseconds absence = defaults::loop_absence);

} // namespace troupe
