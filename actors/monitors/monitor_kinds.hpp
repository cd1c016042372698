#pragma once

#include "messages/actors.hpp"

#include <caf/expected.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace troupe {

/// The kinds of monitors that a node knows, by name.
class monitor_kinds {
public:
  /// Makes a monitor that has not been started.
  using maker = std::function<monitor_actor()>;

  /// Makes a kind known.
  /// @param name Letters, digits, `_`, `-` and `.`.
  /// @returns `exists` for a name in use, `bad_param` for one that cannot be
  ///          asked for, `out_of_resource` beyond `defaults::monitor_kinds`.
  caf::error add(const std::string& name, maker make);

  /// @returns `not_supported` for a name that nobody has added, with those that
  ///          there are.
  caf::expected<monitor_actor> make(const std::string& name) const;

  /// In alphabetical order.
  std::vector<std::string> names() const;

private:
  std::map<std::string, maker> makers_;
};

} // namespace troupe
