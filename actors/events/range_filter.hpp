#pragma once

#include "messages/event.hpp"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// BOOL, in an event that somebody else raised in the name of its source: the
/// source gets it, too. Source: RFC0015, "Monitoring"; reading A20.
inline constexpr std::string_view event_reaches_source =
  "troupe.event.reaches.source";

/// Decides which processes of this node an event is for. Plain data: what is
/// costly to work out is worked out once per event.
/// Source: PMIx Standard v5, `pmix_data_range_t` and PMIX_EVENT_CUSTOM_RANGE;
/// RFC0002, "Client-based".
class range_filter {
public:
  /// @param targets Whom the event is for, whatever its range; none: whom its
  ///                range names.
  explicit range_filter(const event& what, std::vector<proc_id> targets = {});

  /// Whether `proc` may see the event. Its own notifier does not: its library
  /// runs the handlers itself, unless somebody else has raised the event.
  bool admits(const proc_id& proc) const;

  /// Whether processes of other nodes may see the event.
  bool leaves_node() const;

  /// Whether default handlers may see the event.
  /// Source: PMIx Standard v5, PMIX_EVENT_NON_DEFAULT.
  bool admits_default() const {
    return admits_default_;
  }

  /// Whether any process may see the event that is not known yet: it is for
  /// whoever is there.
  bool is_for_all() const;

  /// Whether processes of a namespace may see it.
  bool concerns(const std::string& nspace) const;

  /// The namespaces whose processes may see it; of no meaning if it is for all.
  std::set<std::string> nspaces() const;

  /// The ranks of a namespace that may see it; nothing: all but those
  /// excluded.
  std::optional<std::set<uint32_t>> ranks_of(const std::string& nspace) const;

  /// The processes and namespaces that it names; none: it is for whom its range
  /// names.
  const std::vector<proc_id>& targets() const {
    return targets_;
  }

  /// How many there are.
  size_t target_count() const {
    return targets_.size();
  }

  /// Bytes of memory that it takes, about.
  size_t memory() const;

  /// Keeps the event from one process: whoever had it raised.
  void exclude(proc_id proc) {
    except_ = std::move(proc);
  }

  /// The ranks of a namespace that would see it, were they not its source or
  /// excluded.
  std::vector<uint32_t> excluded_of(const std::string& nspace) const;

  /// Whether it belongs to no job: the resource manager raised it, and it names
  /// nobody. Source: RFC0002, "Environment events"; reading A9.
  bool is_of_environment() const {
    return source_.nspace.empty() && is_for_all();
  }

  const proc_id& source() const {
    return source_;
  }

  bool operator==(const range_filter& x) const;

  bool operator!=(const range_filter& x) const {
    return !(*this == x);
  }

private:
  proc_id source_;
  std::optional<proc_id> except_;
  data_range range_;
  std::vector<proc_id> targets_;
  bool admits_default_;
  bool stays_local_;
  bool reaches_source_;
};

} // namespace troupe
