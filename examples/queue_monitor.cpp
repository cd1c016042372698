// A kind of monitors of a site's own, in C++: too many files wait in a directory,
// so whoever should take them does not get on. docs/extending.md explains it.
//
//   flags="-std=c++17 -shared -fPIC $(pkg-config --cflags troupe)"
//   c++ $flags queue_monitor.cpp -o backlog.so
//   troupe run --monitor plugins=$PWD -n 4 ./a_program &
//   troupe monitor add backlog --proc NAMESPACE:0 --set limit=100
//     --set directory=/tmp/queue --reaction signal:USR1
//
// Built into a daemon of one's own instead, as it is, it is registered there by
// `troupe_monitor_plugin.add(options.monitor_kinds)`. With peer_monitor.cpp it
// watches for processes of other nodes.

#include <base/monitor_kind.hpp>

#include <filesystem>

namespace {

/// Watches one directory for one process.
class backlog : public troupe::watcher {
public:
  /// What it throws is why the monitor is refused.
  explicit backlog(const troupe::start_monitor& what)
    : directory_(troupe::text_setting(what, "directory")),
      limit_(troupe::number_setting(what, "limit")) {
    // nop
  }

  /// May block: only monitors of this kind wait. What it throws is why it could
  /// not look.
  std::string look() override {
    auto files = 0;
    for ([[maybe_unused]] const auto& x :
         std::filesystem::directory_iterator{directory_})
      ++files;
    if (files <= limit_)
      return {};
    return std::to_string(files) + " files wait in " + directory_;
  }

private:
  std::string directory_;
  double limit_;
};

} // namespace

TROUPE_MONITOR_PLUGIN(kinds) {
  kinds["backlog"] = troupe::watchers<backlog>(std::chrono::seconds{5});
}
