#pragma once

#include <chrono>
#include <cstddef>

// Bounds and times of actors/mesh/exchange/ that several of its files use.

namespace troupe::defaults {

using namespace std::chrono_literals;

/// How long a node waits for something else to say to a node before it says
/// which parts of collective operations of it have been carried out, and for
/// how many and how many bytes at most.
inline constexpr auto receipt_delay = 100ms;
inline constexpr size_t receipts = 64;
inline constexpr size_t receipt_bytes = size_t{256} << 10;

/// Outcomes of collective operations over nodes that are remembered for late
/// participants, per namespace; and operations of namespaces that are not known
/// yet. Source: guarantees 5.5.
inline constexpr size_t collective_outcomes = 64;
inline constexpr size_t parked_collectives = 1024;

/// Events that the home of a namespace sends together, how many times it may do
/// so without an answer, and how many stable ones the others keep untold.
inline constexpr size_t event_batch = 64;
inline constexpr size_t event_batches = 16;
inline constexpr size_t event_untold = 16;

/// Nodes beyond the last one that a node has heard of that others may name: they
/// have heard of them a moment earlier.
inline constexpr uint32_t unheard_nodes = 1024;

} // namespace troupe::defaults
