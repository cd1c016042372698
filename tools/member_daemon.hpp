#pragma once

#include "adapters/log/logger.hpp"
#include "base/journal.hpp"
#include "messages/lane.hpp"
#include "tools/detached.hpp"

#include <caf/expected.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// What a daemon is told by the root that has it started, beside its
/// credentials. Both come on its standard input.
struct join_settings {
  std::string dvm;

  /// The node's rank and its name.
  uint32_t rank = 0;
  std::string name;

  /// The root's name in the list of nodes, and as its system calls it.
  std::string root;
  std::string root_host;

  /// Where the root takes lanes.
  std::vector<node_address> contacts;

  uint32_t radix = 0;

  /// The interfaces to use; none: all that are fit.
  std::vector<std::string> networks;

  /// The kinds of lanes to have, see `read_lane_kinds`; none: all.
  std::vector<std::string> lanes;

  /// Settings of its sensors, as `apply_setting` takes them.
  std::vector<std::string> sensors;

  /// Commands of the site, as `read_hooks` takes them.
  std::vector<std::string> hooks;

  /// Settings of its monitors, as `apply_setting` takes them.
  std::vector<std::string> monitors;

  /// What the root was told by `--set`, over what its own node says.
  std::vector<std::string> settings;

  /// Where it tells its metrics, see `metrics_place_of`.
  std::string metrics;

  /// Whether it shares memory with processes that can.
  bool share_memory = true;

  /// Whether lanes are plain text. No credentials follow then.
  bool is_insecure = false;

  /// Seconds that the daemon has to join.
  uint32_t patience = 60;

  severity log_level = severity::warning;
  log_format logs_as = log_format::text;

  /// Where its log goes; empty: nowhere.
  std::string log_file;

  /// The directory below which session directories are made; empty: the
  /// node's.
  std::string directory;
};

/// Most bytes of settings.
constexpr size_t max_join_settings = 65536;

/// One line of text, with its end.
std::string encode(const join_settings& x);

/// Reads the line that `encode` wrote.
/// @param rest Gets what follows the line.
/// @returns `bad_param` in a sentence for anything else, also if another
///          release of Troupe wrote it.
caf::expected<join_settings> decode_join_settings(std::string_view bytes,
                                                  std::string_view& rest);

/// What a daemon says on its standard output once it has joined.
struct join_answer {
  /// Processors that it may use.
  uint32_t slots = 0;
};

std::string encode(const join_answer& x);

/// Looks for the answer in what came out of a remote shell, which may have said
/// more.
std::optional<join_answer> find_join_answer(std::string_view output);

/// `trouped --join`: becomes a member of the DVM whose root started us; what
/// it needs comes on standard input. Goes on in the background once it has
/// joined, unless it stays attached.
/// @returns the exit status: 1 for what is wrong here, 3 if it cannot join.
int join(bool stays_attached);

class orphan_guard;
class secure_context;

/// Is a daemon of a DVM until the DVM ends, or gives it up.
/// @param self Hears of the outcome of joining: 0 and a `join_answer`, or why
///             not.
/// @param keeps_streams Nobody waits for it: logs go where they went so far,
///                      and it looks for the root until it is told to end.
/// @param guard Sees that nothing outlives it; none: it makes one.
/// @returns the exit status: 1 for what is wrong here, 3 if it cannot join.
int run_member(join_settings settings,
               std::shared_ptr<const secure_context> context, detached self,
               bool keeps_streams = false,
               std::shared_ptr<orphan_guard> guard = nullptr);

} // namespace troupe
