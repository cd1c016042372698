#pragma once

#include "messages/value.hpp"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace troupe {

/// What a host says that its functions act upon, for whoever asks. Safe on any
/// thread.
/// Source: PMIx Standard v5, `PMIx_Register_attributes`.
class registered_attributes {
public:
  /// @param names Names in C of attributes; none, or `N/A`, for a function that
  ///              takes none.
  /// @returns false if the function has been registered before.
  bool add(std::string function, std::vector<std::string> names);

  /// Answers PMIX_QUERY_ATTRIBUTE_SUPPORT with PMIX_HOST_FUNCTIONS and
  /// PMIX_HOST_ATTRIBUTES, in the form of `supported`.
  std::vector<info> describe(const std::vector<info>& qualifiers) const;

private:
  mutable std::mutex mutex_;

  /// Attributes by function; guarded by mutex_.
  std::map<std::string, std::vector<std::string>> functions_;
};

} // namespace troupe
