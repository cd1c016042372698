#pragma once

#include <cstddef>
#include <memory>

namespace troupe {

/// What all streams together have unanswered, in bytes, and what is left of
/// their total. Plain data, for one thread; see `window_share`.
class shared_window {
public:
  /// @param total Most bytes, but for the least that each stream may have.
  explicit shared_window(size_t total) : total_(total) {
    // nop
  }

  /// What is out stays out: less is given until it has been answered.
  void set_total(size_t bytes) noexcept {
    total_ = bytes;
  }

  /// Bytes that are out.
  size_t used() const noexcept {
    return used_;
  }

  size_t left() const noexcept {
    return total_ > used_ ? total_ - used_ : 0;
  }

private:
  friend class window_share;

  size_t total_;
  size_t used_ = 0;
};

/// What one stream has of a `shared_window`: never more than is left for the
/// others, so that those that wait share the total and one that comes later
/// finds room. But always `defaults::io_window_least`: each goes on with its
/// own answers, and nobody waits for those of another.
/// Source: guarantees 5.7; LIM14. The rule is that of dynamic thresholds
/// (Choudhury and Hahne, 1998).
class window_share {
public:
  /// Has only itself to think of.
  window_share() = default;

  explicit window_share(std::shared_ptr<shared_window> of);

  window_share(window_share&& other) noexcept;

  window_share& operator=(window_share&& other) noexcept;

  window_share(const window_share&) = delete;

  window_share& operator=(const window_share&) = delete;

  /// All that is out counts as answered.
  ~window_share();

  /// @param window Most bytes that the stream may have out, whatever is left.
  /// @returns how many more it may send now. More than nothing if it has none
  ///          out; never just a few while others of its bytes are.
  size_t room(size_t window) const noexcept;

  /// A message with so many bytes goes out. A small one counts as `small`, for
  /// what it costs beside its bytes.
  void take(size_t bytes) noexcept;

  /// A message with so many bytes has been answered.
  void give_back(size_t bytes) noexcept;

  /// What is out.
  size_t out() const noexcept {
    return out_;
  }

  static constexpr size_t small = 1024;

private:
  void reset() noexcept;

  std::shared_ptr<shared_window> of_;
  size_t out_ = 0;
};

} // namespace troupe
