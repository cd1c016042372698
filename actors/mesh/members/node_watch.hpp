#pragma once

#include "config/defaults.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

/// T_lease, T_fence: how long after its last contact to the root a daemon stops
/// taking work, and ends.
inline constexpr auto lease_timeout = 15s;
inline constexpr auto fence_timeout = 30s;

} // namespace defaults

/// Time since some start, by a clock that goes on while the machine sleeps.
using node_time = std::chrono::nanoseconds;

/// The times of a DVM's membership: T_probe with and without cause, T_path,
/// T_suspect, T_dead, T_lease, T_fence of the guarantees, section 1.
struct node_times {
  node_time probe = defaults::lane_probe;
  node_time idle = defaults::lane_probe_idle;
  node_time path = defaults::lane_silence;
  node_time suspect = defaults::peer_suspicion;
  node_time dead = defaults::peer_grace;
  node_time lease = defaults::lease_timeout;
  node_time fence = defaults::fence_timeout;
};

/// Finds out who of some nodes has fallen silent: asks the silent for a sign of
/// life, then other members whether they reach it, then reports it.
///
/// A node that is heard by anybody asked is not suspected. While a node is
/// suspected its children are watched too, since it is not: levels that die
/// together are found one `suspect` after the other, not one `dead`.
/// Source: guarantees, section 5.4; MEM-4.
class node_watch {
public:
  /// What has to be done now.
  struct step {
    enum class kind : uint8_t {
      probe,  ///< ask `rank` itself for a sign of life
      ask,    ///< ask `rank` whether it reaches `suspect`
      report, ///< tell the root that `suspect` has been silent for `silence`
    };

    kind what = kind::probe;
    uint32_t rank = 0;
    uint32_t suspect = 0;
    node_time silence{0};
    uint32_t witnesses = 0;
  };

  explicit node_watch(node_times times) : times_(times) {
    // nop
  }

  /// Watches exactly these from now on, and who is suspected; those already
  /// watched keep their time.
  void set(const std::set<uint32_t>& ranks, node_time now);

  /// Stops watching a rank: it is no member any more, or another incarnation.
  void drop(uint32_t rank) {
    watched_.erase(rank);
  }

  void heard(uint32_t rank, node_time now);

  /// We were late by `lateness` ourselves: silence so far counts less by that.
  void excuse(node_time lateness, node_time now);

  /// What a member says whom we asked.
  void answer(uint32_t suspect, uint32_t witness, bool is_reachable,
              node_time now);

  /// All live members but ourselves: who may be asked.
  using members = std::function<std::vector<uint32_t>()>;

  std::vector<step> tick(const members& others, node_time now);

  /// When somebody has been silent for so long that `tick` has to see it.
  node_time due() const;

  /// Who has been silent for long enough to be suspected.
  std::set<uint32_t> suspects() const;

private:
  struct entry {
    node_time last_heard{0};

    /// Whether others were asked.
    bool is_suspect = false;

    /// Who has been asked, and how many of them do not reach it either.
    std::set<uint32_t> asked;
    std::set<uint32_t> confirmed;
    int rounds = 0;
    node_time round_ends{0};
    std::optional<node_time> reported;

    /// Someone reaches it: not before then again.
    node_time trusted_until{0};
  };

  void suspect(uint32_t rank, entry& x, const members& others, node_time now,
               std::vector<step>& out);

  node_times times_;
  std::map<uint32_t, entry> watched_;
};

} // namespace troupe
