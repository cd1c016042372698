#pragma once

#include "messages/io_wiring.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace troupe {

/// Keeps lines whole of streams that share a descriptor, in output that has no
/// format: where a stream has been cut within a line, the begin of that line
/// waits for the rest, so that no other stream is written into it. Plain data,
/// no clock: whoever owns it calls `advance` every `period` while it is not
/// empty. A begin without an end, such as a question, is given out after one to
/// two periods.
/// Source: PMIx Standard v5, "IO Forwarding"; docs/output.md.
class whole_lines {
public:
  /// Bytes of an unfinished line that are kept; of a longer one none are: what has
  /// no lines is to pass untouched.
  static constexpr size_t max_line = size_t{16} << 10;

  /// @param is_shared Whether several streams are to be expected: without, the
  ///                  first passes untouched until there is a second.
  explicit whole_lines(bool is_shared = true) noexcept : is_shared_(is_shared) {
    // nop
  }

  /// Takes the next bytes of a stream.
  /// @returns what to write now; may be empty.
  std::string add(io_fragment&& x);

  /// A period has passed.
  /// @returns what has waited long enough; may be empty.
  std::string advance();

  bool empty() const noexcept {
    return held_ == 0;
  }

private:
  struct begun {
    std::string line;

    /// The period in which the line began.
    uint64_t since = 0;
  };

  bool is_shared_ = true;
  uint64_t period_ = 0;
  size_t held_ = 0;

  /// Streams that have not ended.
  std::map<std::pair<proc_id, io_channels>, begun> streams_;
};

} // namespace troupe
