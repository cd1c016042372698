#pragma once

#include "adapters/local/local_limits.hpp"

#include <caf/expected.hpp>

#include <cstdint>
#include <functional>
#include <memory>

namespace troupe {

/// Counts connections and says when there are too many. Plain data: no socket,
/// no clock.
/// Source: guarantees, limits L1 and L13.
class admission {
public:
  /// What an admitted connection holds as long as it lasts.
  class place {
  public:
    place() = default;

    place(place&&) noexcept = default;

    place& operator=(place&& other) noexcept;

    ~place();

    /// The handshake is over.
    void settle() noexcept;

  private:
    friend class admission;

    struct counts;

    place(std::shared_ptr<counts> owner, uint32_t uid);

    void leave() noexcept;

    std::shared_ptr<counts> counts_;
    uint32_t uid_ = 0;
    bool is_half_open_ = true;
  };

  /// @param awaited    As in `listener_options`; may be empty.
  /// @param registered As in `listener_options`; may be empty.
  admission(const local_limits& limits,
            std::function<size_t(uint32_t uid)> awaited,
            std::function<size_t()> registered);

  /// Admits a connection of user `uid`.
  /// @returns an error that names the limit if there are too many.
  caf::expected<place> admit(uint32_t uid);

private:
  size_t half_open_limit(uint32_t uid) const;

  local_limits limits_;
  std::function<size_t(uint32_t uid)> awaited_;
  std::function<size_t()> registered_;
  std::shared_ptr<place::counts> counts_;
};

} // namespace troupe
