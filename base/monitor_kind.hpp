#pragma once

// Kinds of monitors of one's own, in C++: classes or actors. A daemon that embeds
// the runtime has them in `runtime_options::monitor_kinds`, `trouped` loads them as
// plugins. docs/extending.md is the way in.

#include "messages/custom_monitor.hpp"
#include "messages/interfaces/monitors.hpp"
#include "messages/interfaces/remoting.hpp"

#include <caf/config.hpp>
#include <caf/fwd.hpp>
#include <caf/timespan.hpp>

#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

namespace troupe {

// -- monitors that look -------------------------------------------------------

/// Watches one process by looking now and then. It is made by a program's first
/// look, lives until nobody wants it any more, and is only ever used by one
/// thread at a time, one that may block. A look that never ends holds up
/// monitors of its own kind at most.
class watcher {
public:
  virtual ~watcher() = default;

  /// Looks.
  /// @returns why this is an alert, a sentence without the name of the process,
  ///          of which 511 bytes are told; empty: all is well.
  /// @throws std::exception if it could not look, which is no alert: after five
  ///         looks in a row `what()` goes to the log.
  virtual std::string look() = 0;
};

/// A kind of monitors that look.
struct watcher_kind {
  /// Between two looks, unless a request says otherwise: 10 ms to a year.
  caf::timespan interval{0};

  /// Begins to watch. Called on a thread that may block.
  /// @returns null to refuse; or
  /// @throws std::exception to refuse with `bad_param` and `what()`.
  std::function<std::unique_ptr<watcher>(const start_monitor&)> make;
};

/// The kind of the watchers of class `T`, which has a constructor that takes a
/// `start_monitor`.
template <class T>
watcher_kind watchers(caf::timespan interval) {
  return {interval,
          [](const start_monitor& what) { return std::make_unique<T>(what); }};
}

// -- monitors of several nodes ------------------------------------------------

/// What a monitor may use of other nodes. A node that is alone is all there is.
struct monitor_peers {
  /// Makes monitors of any kind on the node of a process, or on a named one.
  /// They end with whoever their alerts go to. When their node is lost, those
  /// who monitor them get their `down_msg`.
  monitor_maker_actor maker;

  /// Actors of other nodes as handles, for what is no monitor: docs/remoting.md.
  /// Null on a node that is alone.
  gateway_actor gateway;
};

// -- kinds --------------------------------------------------------------------

/// How the monitors of a kind are made: as actors that have not been started,
/// in the system of the server, where they must not block; as objects that
/// look; or as actors that work with others on other nodes.
using monitor_kind = std::variant<
  std::function<monitor_actor(caf::actor_system&)>, watcher_kind,
  std::function<monitor_actor(caf::actor_system&, const monitor_peers&)>>;

/// By name: at most 64 letters, digits, `_`, `-` and `.`.
using monitor_kind_map = std::map<std::string, monitor_kind>;

// -- settings of a request ----------------------------------------------------

/// Text, number or truth value as text; anything else is empty.
inline std::string setting_text(const value& x) {
  if (const auto* text = x.text())
    return *text;
  if (const auto* yes = std::get_if<bool>(&x.data))
    return *yes ? "true" : "false";
  if (const auto number = x.number<int64_t>())
    return std::to_string(*number);
  if (const auto number = x.number<uint64_t>())
    return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&x.data))
    return std::to_string(*number);
  return {};
}

/// The setting `troupe.monitor.NAME` of a request.
/// @throws std::invalid_argument if there is none: a reason to refuse.
inline std::string text_setting(const start_monitor& of,
                                std::string_view name) {
  const auto* x =
    find(of.settings, std::string{monitor_key_prefix}.append(name));
  auto result = x != nullptr ? setting_text(*x) : std::string{};
  if (result.empty())
    throw std::invalid_argument{"needs the setting " + std::string{name}};
  return result;
}

/// The same as a number.
/// @throws std::invalid_argument if it is none.
inline double number_setting(const start_monitor& of, std::string_view name) {
  const auto text = text_setting(of, name);
  auto used = size_t{0};
  auto result = 0.0;
  try {
    result = std::stod(text, &used);
  } catch (const std::logic_error&) {
    used = 0;
  }
  if (used != text.size())
    throw std::invalid_argument{"the setting " + std::string{name}
                                + " must be a number"};
  return result;
}

// -- plugins ------------------------------------------------------------------

/// What a plugin in C++ is made for: messages are C++ structures that it and
/// the daemon share, so another minor version is another interface.
#define TROUPE_MONITOR_TEXT_OF(x) #x
#define TROUPE_MONITOR_TEXT(x) TROUPE_MONITOR_TEXT_OF(x)
#define TROUPE_MONITOR_ABI "Troupe 0.1, CAF " TROUPE_MONITOR_TEXT(CAF_VERSION)

/// What a daemon finds in a plugin.
struct monitor_plugin {
  const char* abi;
  void (*add)(monitor_kind_map& kinds);
};

} // namespace troupe

/// Begins the function by which a plugin tells of its kinds, once in a plugin:
///
///     TROUPE_MONITOR_PLUGIN(kinds) {
///       kinds["backlog"] = troupe::watchers<backlog>(std::chrono::seconds{5});
///     }
#define TROUPE_MONITOR_PLUGIN(kinds)                                           \
  static void troupe_add_monitor_kinds(::troupe::monitor_kind_map& kinds);     \
  extern "C" {                                                                 \
  __attribute__((visibility(                                                   \
    "default"))) extern const ::troupe::monitor_plugin troupe_monitor_plugin;  \
  const ::troupe::monitor_plugin troupe_monitor_plugin = {                     \
    TROUPE_MONITOR_ABI, troupe_add_monitor_kinds};                             \
  }                                                                            \
  static void troupe_add_monitor_kinds(::troupe::monitor_kind_map& kinds)
