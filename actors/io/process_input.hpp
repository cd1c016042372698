#pragma once

#include <caf/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace troupe {

/// How far the input of a process has come. What repeats is left out, what is
/// missing is refused, so that a process reads each byte once whoever writes
/// it. Plain data. Source: A46; guarantees 5.7, "stdin".
class process_input {
public:
  /// What to do with input.
  struct step {
    /// Leading bytes that the process has been given already.
    size_t skip = 0;

    /// Whether the end is to be told, after the rest.
    bool ends = false;

    /// Where the process stands when all of it has been written.
    uint64_t target = 0;
  };

  /// @param window Most bytes that wait to be written, unless they come at
  /// once.
  explicit process_input(size_t window) : window_(window) {
    // nop
  }

  /// Takes input of `size` bytes.
  /// @param offset Where it begins; without: after what was given.
  /// @returns `bad_param` if bytes before it are missing, `out_of_resource` if
  ///          too much waits already.
  caf::expected<step> take(std::optional<uint64_t> offset, size_t size,
                           bool is_end);

  /// What was given has been written, so much of it.
  void note_written(size_t size);

  /// Nobody reads any more.
  void close();

  /// Bytes that have been written to the process.
  uint64_t written() const noexcept {
    return written_;
  }

  /// Whether bytes that come now would be read by nobody.
  bool is_closed() const noexcept {
    return closed_ || ended_;
  }

  /// Whether the process has stopped to read of itself.
  bool has_left() const noexcept {
    return closed_;
  }

private:
  size_t window_;
  uint64_t given_ = 0;
  uint64_t written_ = 0;
  bool ended_ = false;
  bool closed_ = false;
};

} // namespace troupe
