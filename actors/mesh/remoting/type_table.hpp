#pragma once

#include "messages/remoting.hpp"

#include <caf/rtti_pair.hpp>
#include <caf/type_erased_tuple.hpp>
#include <caf/type_nr.hpp>

#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace troupe {

/// The types that messages of other nodes may bring: some of CAF's always, and
/// those that the program has allowed. On the wire the former have a number, the
/// latter their name; neither means anything beyond this table.
class type_table {
public:
  type_table();

  /// Types that are known already stay as they are.
  void add(const std::vector<wire_type>& types);

  struct entry {
    wire_type type;

    /// On the wire; 0: by name.
    uint8_t code = 0;
  };

  /// @returns null for a type that is not allowed.
  const entry* find(const caf::rtti_pair& type) const;
  const entry* find(uint8_t code) const;
  const entry* find(const std::string& name) const;

  /// Tells the typed handles in a message, of types that the table has.
  /// @returns what an `inspect` has thrown.
  caf::error find_handles(const caf::type_erased_tuple& content,
                          const handle_function& out) const;

  /// Whether CAF's name of a message within a value, such as the context of an
  /// error, has nothing but texts, numbers and atoms.
  static bool is_plain(std::string_view name);

private:
  std::vector<entry> common_;
  std::array<uint8_t, caf::type_nrs> by_number_{};
  std::unordered_map<std::string, entry> named_;
  std::unordered_map<std::type_index, const entry*> by_type_;
  std::array<const entry*, caf::type_nrs> named_numbers_{};
};

} // namespace troupe
