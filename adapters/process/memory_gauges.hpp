#pragma once

#include "messages/gauge.hpp"
#include "messages/memory_source.hpp"

#include <caf/behavior.hpp>

namespace troupe {

/// Tells in bytes what of this process is in use (`daemon.heap`), what is free
/// in between (`daemon.heap_free`), whether or not the system has its pages, and
/// what is resident (`daemon.resident`). If the second grows and the first does not, nothing
/// leaks: memory is in pieces. Source: mallinfo2(3), proc(5).
caf::behavior memory_gauges();

} // namespace troupe
