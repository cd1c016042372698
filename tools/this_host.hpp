#pragma once

#include <set>
#include <string>
#include <string_view>

namespace troupe {

/// The ways in which a list of nodes may mean the node that we are on.
class this_host {
public:
  /// @param name      What the node calls itself.
  /// @param addresses Numeric, those of its interfaces.
  this_host(std::string name, std::set<std::string> addresses)
    : name_(std::move(name)), addresses_(std::move(addresses)) {
    // nop
  }

  /// Asks the system.
  static this_host find();

  const std::string& name() const noexcept {
    return name_;
  }

  /// Whether `name` is the node's name, in full or without its domain, one of
  /// its addresses, or `localhost`. Does not ask a name service: a list may
  /// have 10,000 names.
  bool is(std::string_view name) const;

private:
  std::string name_;
  std::set<std::string> addresses_;
};

} // namespace troupe
