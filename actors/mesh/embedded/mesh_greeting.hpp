#pragma once

#include "base/journal.hpp"
#include "messages/collective.hpp"
#include "messages/lane.hpp"

#include <caf/expected.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Under this key the servers of a job greet each other among the data of a
/// fence, as data of the rank that no process has.
inline constexpr std::string_view mesh_greeting_key = "troupe.mesh.greeting";

/// What a server tells the others of its job so that they find it: it travels
/// through the resource manager's fence, whose word is trusted as the resource
/// manager is.
struct mesh_greeting {
  /// The node's place in the job's list of nodes, and its name there.
  uint32_t rank = 0;
  std::string name;
  uint64_t incarnation = 0;

  /// Where it takes lanes.
  std::vector<node_address> addresses;

  /// The certificate that it will show, as DER.
  std::string certificate;
};

TROUPE_MESSAGE(mesh_greeting, x.rank, x.name, x.incarnation, x.addresses,
               x.certificate)

/// Most bytes of a greeting, and most addresses in it.
inline constexpr size_t max_greeting_size = 16384;
inline constexpr size_t max_greeting_addresses = 64;

std::string to_bytes(const mesh_greeting& x);

/// @returns `unpack_failure` with a reason for what `to_bytes` does not write.
caf::expected<mesh_greeting> read_greeting(std::string_view bytes);

/// Puts a greeting before what the processes of this node bring to a fence.
void add_greeting(host_collective& call, const std::string& nspace,
                  const mesh_greeting& x);

/// Takes all greetings out of what a fence brought. One that cannot be read
/// costs a line in the log and nothing else.
std::vector<mesh_greeting> take_greetings(std::vector<proc_data>& data,
                                          const journal& log);

} // namespace troupe
