#pragma once

#include <cstdint>
#include <utility>

namespace troupe {

namespace defaults {

/// How often in a row the processes of a job may be let meet without the server,
/// and ask it all the same.
inline constexpr uint32_t meetings_in_vain = 8;

} // namespace defaults

/// Whether the processes of a job are let meet in a cell of the memory that they
/// share. Those that ask us again and again without having met are not any more.
class meeting_door {
public:
  bool is_open() const {
    return is_open_;
  }

  /// Whether it may be opened.
  bool can_open() const {
    return !is_open_ && !is_barred_;
  }

  /// @param rounds Those of the cell so far.
  void open(uint64_t rounds) {
    is_open_ = true;
    rounds_ = rounds;
  }

  /// @returns whether it was open.
  bool close() {
    return std::exchange(is_open_, false);
  }

  /// Closes it for good.
  void bar() {
    is_open_ = false;
    is_barred_ = true;
  }

  /// It was closed since one of them asked us.
  /// @param rounds Those of the cell by then.
  void note_question(uint64_t rounds) {
    vain_ = rounds == rounds_ ? vain_ + 1 : 0;
    is_barred_ |= vain_ >= defaults::meetings_in_vain;
  }

private:
  bool is_open_ = false;

  /// Whether it is closed for good.
  bool is_barred_ = false;

  /// How often it was opened in vain, in a row.
  uint32_t vain_ = 0;

  /// The rounds when it was opened last.
  uint64_t rounds_ = 0;
};

} // namespace troupe
