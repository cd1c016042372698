#pragma once

#include <caf/fwd.hpp>

#include <cstddef>

namespace troupe {

/// About how many bytes the content of a message has.
struct content_size {
  size_t bytes = 0;

  /// Whether all of it was counted: what follows a handle within a value of the
  /// program's, or in a list of handles, was not.
  bool is_whole = true;
};

/// Counts what `inspect` says without writing it: texts and blocks of bytes at
/// once, other sequences by their elements. On any thread that may read the
/// message; of whatever types, and handles in it are left alone.
/// @param most Where it stops, with a size above that.
content_size count_content(const caf::type_erased_tuple& x, size_t most);

} // namespace troupe
