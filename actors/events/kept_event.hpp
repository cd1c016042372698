#pragma once

#include "messages/event.hpp"

#include <caf/intrusive_ptr.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace troupe {

/// The content of an event, which the logs that keep it share: as an event
/// while somebody is about to get it, as bytes while it is kept for those who
/// may come. What an entry of a log says anyway, code and source, is not among
/// the bytes. Counts its references for one thread.
class kept_event {
public:
  using pointer = caf::intrusive_ptr<kept_event>;

  /// Of an event that somebody is about to get.
  static pointer whole(std::shared_ptr<const event> what);

  /// Of an event that nobody is about to get: it is bytes.
  static pointer packed(const event& what);

  /// Of bytes that `bytes` has given.
  static pointer of_bytes(std::string_view bytes);

  kept_event(const kept_event&) = delete;
  kept_event& operator=(const kept_event&) = delete;

  /// The event; made anew each time while it is bytes. Null if it nests deeper
  /// than bytes may (`max_value_depth`).
  /// @param code, source Those of the event.
  std::shared_ptr<const event> get(status code, const proc_id& source) const;

  /// Makes it an event again: those who get it share it.
  /// @returns whether it is one.
  bool unpack(status code, const proc_id& source);

  /// Makes it bytes: nobody is about to get it.
  void pack();

  /// What it is, or would be, when it is bytes; valid as long as this.
  std::string_view bytes();

  bool is_packed() const noexcept {
    return whole_ == nullptr;
  }

  /// Whether there are other references to it.
  bool is_shared() const noexcept {
    return references_ > 1;
  }

  /// Its bytes; 0 if it has never been any.
  size_t size() const noexcept {
    return size_;
  }

private:
  kept_event() = default;

  void write(const event& what);
  void keep(std::string_view bytes);

  friend void intrusive_ptr_add_ref(const kept_event* x) noexcept {
    ++x->references_;
  }

  friend void intrusive_ptr_release(const kept_event* x) noexcept {
    if (--x->references_ == 0)
      delete x;
  }

  mutable uint32_t references_ = 0;

  /// Bytes stay, since they do not change; none if it has never been any.
  uint32_t size_ = 0;
  std::unique_ptr<char[]> bytes_;

  std::shared_ptr<const event> whole_;
};

} // namespace troupe
