#pragma once

#include "adapters/pmi1/command.hpp"
#include "messages/spawn.hpp"

namespace troupe::pmi1 {

/// Puts a spawn request together: one command for each program, numbered.
/// Source: MPICH, PMI version 1.1, PMI_Spawn_multiple.
class spawn_builder {
public:
  /// Takes the command of one program.
  /// @returns the request when it is complete; `bad_param` if the command makes
  ///          no sense, and then the request is dropped.
  caf::expected<std::optional<spawn_request>> add(const command& x);

private:
  caf::expected<std::optional<spawn_request>> refuse(const std::string& why);

  std::optional<spawn_request> open_;
  size_t bytes_ = 0;
};

} // namespace troupe::pmi1
