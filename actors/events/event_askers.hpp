#pragma once

#include "messages/event.hpp"

#include <map>
#include <set>
#include <vector>

namespace troupe {

/// Marks a copy of an event about a job for whoever asks for those of other
/// jobs; its value names those that get the event anyway. Stays
/// between hosts and servers.
inline constexpr std::string_view event_told_key = "troupe.event.told";

/// An event about a job, for those who ask.
/// @param told Namespaces that get it anyway.
event make_copy_for_askers(event what, const std::vector<std::string>& told);

/// The same, where some get it without the others of their namespaces.
event make_copy_for_askers(event what, std::vector<proc_id> told);

/// Processes of this node that ask for what happens to jobs that are not
/// theirs: those that register with PMIX_RANGE of a session or wider, or for
/// affected processes of another namespace.
/// Source: RFC0002, "Client-Based Notifications": a range says how far one
/// looks; PMIx Standard v5, PMIX_RANGE and PMIX_EVENT_AFFECTED_PROC as
/// directives of a registration.
class event_askers {
public:
  /// Whether a registration asks.
  static bool asks(const proc_id& who, const std::vector<info>& directives);

  /// Notes a registration that asks; no codes: for all.
  void add(uint32_t index, const proc_id& who,
           const std::vector<status>& codes);

  /// Takes codes back; `default_events` stands for all of a default handler.
  void remove(uint32_t index, const std::vector<status>& codes);

  void disconnect(uint32_t index) {
    all_.erase(index);
  }

  /// What is asked for; `default_events`: everything.
  std::set<status> codes() const;

  /// Whether this is a copy for those who ask.
  static bool is_copy(const event& what);

  /// Takes the mark off a copy.
  /// @returns for whom of this node it is.
  std::vector<proc_id> unwrap(event& what) const;

private:
  struct asker {
    proc_id who;
    std::set<status> codes;
  };

  std::map<uint32_t, asker> all_; // by connection index
};

} // namespace troupe
