#pragma once

#include <caf/expected.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

class authority;
class secret;
class secure_context;

/// The key of a node of a DVM, for `read_key`: bytes for a pipe or a descriptor
/// to its process, never for arguments, an environment or a file that others can
/// read. Wiped when the last copy goes.
class node_key {
public:
  explicit node_key(std::shared_ptr<const secret> x);

  std::string_view bytes() const;

private:
  std::shared_ptr<const secret> bytes_;
};

/// Makes the keys of the nodes of a DVM: who has one is a member. It is in the
/// memory of this process only, and ends with it. Of the library `troupe_mesh`.
class key_issuer {
public:
  /// @param dvm The name of the DVM: 1 to 64 letters, digits, `.`, `_` and `-`.
  /// @returns `bad_param` if it cannot be one.
  static caf::expected<key_issuer> make(std::string dvm);

  /// The key of a node.
  /// @param rank The root has 0.
  /// @param name 1 to 255 of the same characters; no two nodes have one.
  /// @param user Of whom the process is that gets it, for `actor_audience`; none:
  ///             nobody's.
  caf::expected<node_key> issue(uint32_t rank, const std::string& name,
                                std::optional<uint32_t> user = {}) const;

private:
  explicit key_issuer(std::shared_ptr<const authority> x);

  std::shared_ptr<const authority> authority_;
};

/// Reads a key, for `mesh_member_options::context`: TLS 1.3 with the members of
/// its DVM, and with nobody else. Wiping `bytes` is left to the caller.
/// @returns `bad_param` for anything else; if its certificate is not valid at
///          present, the error says so.
caf::expected<std::shared_ptr<const secure_context>>
read_key(std::string_view bytes);

/// Reads a key from a pipe until its writer closes it, and blocks as long.
caf::expected<std::shared_ptr<const secure_context>> read_key(int fd);

/// No key, for trials: nodes take each other for what they say, and talk on
/// loopback only.
caf::expected<std::shared_ptr<const secure_context>>
without_key(const std::string& dvm, uint32_t rank, const std::string& name);

} // namespace troupe
