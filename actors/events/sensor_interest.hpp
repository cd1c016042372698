#pragma once

#include "messages/sensor.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace troupe {

/// Whether an interest is in a code.
inline bool wants(const environment_interest& x, status code) {
  return x.all
         || std::find(x.codes.begin(), x.codes.end(), code) != x.codes.end();
}

/// Who wants which events of the environment. A code is wanted as long as
/// somebody wants it.
/// @tparam User Somebody: an actor, a node.
template <class User>
class sensor_interest {
public:
  /// @param x In place of what the user wanted before; nothing: it is gone.
  void set(const User& user, environment_interest x) {
    std::sort(x.codes.begin(), x.codes.end());
    x.codes.erase(std::unique(x.codes.begin(), x.codes.end()), x.codes.end());
    if (x.all || !x.codes.empty())
      users_[user] = std::move(x);
    else
      users_.erase(user);
  }

  /// What somebody wants, in order.
  environment_interest of(const User& user) const {
    const auto i = users_.find(user);
    return i != users_.end() ? i->second : environment_interest{};
  }

  const std::map<User, environment_interest>& users() const {
    return users_;
  }

  /// Everybody who wants a code.
  std::vector<User> users_of(status code) const {
    auto result = std::vector<User>{};
    for (const auto& [user, x] : users_)
      if (wants(x, code))
        result.push_back(user);
    return result;
  }

  /// What anybody wants, in order and each once.
  environment_interest all() const {
    auto codes = std::set<status>{};
    auto result = environment_interest{};
    for (const auto& [user, x] : users_) {
      codes.insert(x.codes.begin(), x.codes.end());
      result.all |= x.all;
    }
    result.codes.assign(codes.begin(), codes.end());
    return result;
  }

private:
  std::map<User, environment_interest> users_;
};

} // namespace troupe
