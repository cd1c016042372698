#pragma once

#include "actors/io/io_patterns.hpp"
#include "messages/host.hpp"
#include "messages/io.hpp"
#include "messages/io_wiring.hpp"
#include "messages/spawn.hpp"
#include "messages/value.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <string_view>
#include <vector>

namespace troupe {

/// BOOL, to `PMIx_IOF_deregister`, from libraries of ours: what is kept
/// together comes first, then the answer. Those of OpenPMIx would print it.
/// Source: PMIx Standard v5, PMIX_IOF_BUFFERING_SIZE.
inline constexpr std::string_view io_flush_key = "troupe.iof.flush";

/// The calls of I/O forwarding that take directives.
enum class io_call { pull, push, spawn };

/// Refuses what is marked as required and not acted upon by the call; of a
/// spawn, only what is about I/O forwarding.
/// Source: PMIx Standard v5, PMIX_INFO_REQD.
/// @returns `not_supported` with the name of the attribute.
caf::error check_required(io_call call, const std::vector<info>& directives);

/// Reads how the streams of a job are wired.
/// @returns `bad_param` with the attribute and its remedy.
caf::expected<io_wiring> read_io_wiring(const spawn_request& request);

/// The same of a job that a resource manager registers, for the desk.
/// Source: OpenPMIx, the PMIX_IOF_ keys of `PMIx_server_register_nspace`.
/// @returns `bad_param` with the attribute and its remedy.
caf::expected<io_job_begun> read_io_job(const register_nspace& what);

/// The output streams that go to whoever started a job: none if they go to
/// files only.
io_channels forwarded_channels(const io_wiring& wiring);

/// Reads what a requester wants of its own subscription.
/// Source: PMIx Standard v5, `PMIx_IOF_pull`: directives.
/// @returns `bad_param` with the attribute and its remedy.
caf::expected<io_subscription>
read_subscription(const io_pull_request& request);

/// Reads how output is to be shown.
/// @returns `bad_param` with the attribute and its remedy.
caf::expected<output_format> read_output_format(const std::vector<info>& infos);

/// The channels that are in any of both.
constexpr io_channels united(io_channels x, io_channels y) {
  return static_cast<io_channels>(static_cast<uint16_t>(x)
                                  | static_cast<uint16_t>(y));
}

} // namespace troupe
