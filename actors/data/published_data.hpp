#pragma once

#include "messages/connection.hpp"
#include "messages/publish.hpp"
#include "messages/status.hpp"

#include <map>
#include <optional>
#include <set>

namespace troupe {

/// Keys that processes have published, who may see them, and how long they
/// stay. Source: PMIx Standard v5, "Publish/Lookup Operations".
class published_data {
public:
  /// @param bytes_per_process Largest sum of a publisher's keys and values, and
  ///                          of what each of them costs besides; all of a user
  ///                          together have 16 times as much.
  explicit published_data(size_t bytes_per_process)
    : bytes_per_process_(bytes_per_process) {
    // nop
  }

  /// Publishes the keys of a request; range and persistence stand among them,
  /// and no other reserved key is published. Processes of other users see what
  /// PMIX_ACCESS_USERIDS names their users for, or PMIX_ACCESS_GRPIDS their first
  /// groups: in the request, or in its PMIX_ACCESS_PERMISSIONS.
  /// @returns
  ///   - `success`,
  ///   - `duplicate_key` if a key is published already in a range that
  ///     overlaps, or named twice; then nothing is published,
  ///   - `out_of_resource` if the bound of the publisher or of its user is
  ///     exceeded,
  ///   - `bad_param` if there is no key at all, or who may see them is no array
  ///     of numbers.
  status publish(const requester& who, const publish_request& request);

  /// Finds the keys that the requester may see, and removes those that go with
  /// the first reading.
  std::vector<pdata> look_up(const requester& who,
                             const lookup_request& request);

  /// How many of the keys the requester may see now.
  size_t count(const requester& who, const lookup_request& request) const;

  /// Withdraws keys of the requester; all of them if it names none.
  /// @returns `not_found` if it names a key that it did not publish.
  status unpublish(const requester& who, const unpublish_request& request);

  /// Removes what stays no longer than the process.
  void proc_ended(const proc_id& proc);

  /// Removes what stays no longer than the application or its namespace.
  void nspace_ended(const std::string& nspace);

private:
  /// Other users that may see an entry, by themselves and by their groups.
  struct admission {
    std::set<uint32_t> users;
    std::set<uint32_t> groups;
  };

  /// @returns nothing if a list is none of numbers.
  static std::optional<admission> read_admission(const std::vector<info>& xs);

  struct entry {
    requester publisher;
    value val;
    data_range range;
    persistence stays;
    std::set<proc_id> targets;
    admission others;
    size_t size_bytes;
  };

  bool may_see(const entry& x, const requester& who, data_range asked) const;

  using map = std::multimap<std::string, entry>;

  /// The entry under `key` that the requester may see; the end if none.
  map::const_iterator find_visible(const std::string& key, const requester& who,
                                   data_range asked) const;

  void erase(map::const_iterator i);

  size_t bytes_per_process_;
  map entries_;

  /// By publisher, and by user.
  std::map<proc_id, size_t> size_bytes_;
};

} // namespace troupe
