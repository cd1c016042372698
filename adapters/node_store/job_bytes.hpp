#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The data of a job as they lie on the board: the server writes them before anybody
// maps it, and never changes them.
//
//     | parts: 8 | size of the job level: 8 | of each part, by rank: place |
//     | job level | parts ... |
//
//     place:  | rank: 4 | size: 4 | offset: 8 |
//
// Offsets count from the first byte. A part has what is known of a rank, or some of
// that. Numbers are those of the machine. The reader believes nothing: whoever has
// written the bytes, it reads nothing outside of them and comes to an end.

namespace troupe {

/// What is known of a rank, in whatever form.
struct job_part {
  uint32_t rank = 0;
  std::string bytes;
};

/// Puts what is known of a job together.
/// @param level What is known of the job as a whole.
/// @param parts Of one rank they stay in their order.
std::string join_job(std::string_view level, std::vector<job_part> parts);

/// Finds what `join_job` has put together. Hands out copies alone: what a reader
/// makes of them stays the same, whatever becomes of the bytes.
class job_bytes {
public:
  /// @param all They have to live as long as the result.
  /// @returns nothing if they make no sense.
  static std::optional<job_bytes> read(std::string_view all);

  /// What is known of the job as a whole.
  std::string level() const;

  /// The parts of a rank, in their order.
  std::vector<std::string> of(uint32_t rank) const;

  /// The ranks that have parts, each once.
  std::vector<uint32_t> ranks() const;

private:
  struct header {
    uint64_t parts = 0;
    uint64_t level_bytes = 0;
  };

  struct place {
    uint32_t rank = 0;
    uint32_t size = 0;
    uint64_t offset = 0;
  };

  friend std::string join_job(std::string_view, std::vector<job_part>);

  job_bytes(std::string_view all, const header& head);

  /// @pre i < parts_
  place at(size_t i) const;

  /// Where the first part of a rank is, or would be.
  size_t first_of(uint32_t rank) const;

  std::string_view all_;
  size_t parts_;
  size_t level_bytes_;
};

} // namespace troupe
