#pragma once

#include "messages/memory_actors.hpp"

namespace troupe {

/// Tells in bytes what of this process is in use (`daemon.heap`), what is free
/// in between (`daemon.heap_free`), whether or not the system has its pages, and
/// what is resident (`daemon.resident`). If the second grows and the first does not, nothing
/// leaks: memory is in pieces. Source: mallinfo2(3), proc(5).
memory_actor::behavior_type memory_gauges();

} // namespace troupe
