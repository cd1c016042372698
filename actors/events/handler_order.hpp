#pragma once

#include "messages/event.hpp"

#include <caf/expected.hpp>

#include <list>
#include <map>

namespace troupe {

/// Decides which handlers of a process run for an event, and in which order.
/// Plain data: no actors, no clock, so every rule is tested with a table.
///
/// Order: the *first* handler, handlers for a single code, for several codes,
/// default handlers, the *last* handler. Within a category as registered,
/// unless a directive places a handler elsewhere.
/// Source: RFC0002, "Description" and "Event Registration"; PMIx Standard v5,
/// "Event handler registration and notification attributes".
class handler_order {
public:
  struct settings {
    /// Whether a handler without directives goes in front of its category, as
    /// OpenPMIx has it, instead of to its end.
    bool newest_first = false;

    /// Most handlers at a time.
    size_t capacity = 0;
  };

  /// A registered handler.
  struct entry {
    uint64_t id = 0;

    /// Empty if it has none.
    std::string name;

    /// Distinct; none for a default handler.
    std::vector<status> codes;

    /// Whether it is called once only. PMIX_EVENT_ONESHOT.
    bool is_oneshot = false;

    /// Whether it sees events that affect these processes only; none: all.
    std::vector<proc_id> affected;

    /// Whose events it sees. PMIX_RANGE, PMIX_EVENT_CUSTOM_RANGE.
    data_range sources = data_range::undef;
    std::vector<proc_id> custom_sources;

    /// Whether it sees events of jobs and of the environment.
    bool wants_job = true;
    bool wants_environment = false;

    /// The code that it is told: as it knows it.
    status code_of(const event& what) const;
  };

  explicit handler_order(settings x) : settings_(x) {
    // nop
  }

  /// Adds a handler.
  /// @returns its number, counted from 0 and never used again, or
  ///   - `event_registration` if it wants to be the first or the last of all
  ///     and another is,
  ///   - `bad_param` if it asks for what there is not: an unknown range, events
  ///     neither of jobs nor of the environment,
  ///   - `out_of_resource` if there are too many.
  caf::expected<uint64_t> add(const register_handler& request);

  /// @returns whether the handler was there.
  bool remove(uint64_t id);

  /// Finds a handler; null if it is not there. The pointer holds until the
  /// handler is removed.
  const entry* find(uint64_t id) const;

  /// The handlers that run for an event, in their order.
  /// @param self The process whose handlers these are.
  std::vector<uint64_t> match(const event& what, const proc_id& self) const;

  /// Whether a handler runs for an event.
  bool matches(uint64_t id, const event& what, const proc_id& self) const;

  size_t size() const {
    return index_.size();
  }

private:
  /// Where in its category a handler insists to be.
  enum class place : uint8_t { front, middle, back };

  struct slot {
    entry what;
    place where = place::middle;
  };

  using category = std::list<slot>;

  enum : size_t { single_code, several_codes, any_code, num_categories };

  struct position {
    category* in;
    category::iterator at;
  };

  position find_name(const std::string& name);
  void insert(slot x, size_t home, const std::vector<info>& directives);

  settings settings_;
  uint64_t next_ = 0;

  /// At most one each.
  category first_;
  category last_;

  category categories_[num_categories];
  std::map<uint64_t, position> index_;
};

} // namespace troupe
