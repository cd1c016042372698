#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace troupe {

/// Counts the bytes of messages that have begun and are not whole, and says who
/// may read on: when a namespace, or all together, have as many as they may
/// have, only the message that began first does, until it is whole or its
/// connection ends. So no message waits for itself, and memory stays bounded
/// however many begin. Short ones always may: their number is bounded already.
/// Plain data: no socket, no clock.
class unfinished_messages {
public:
  struct bounds {
    size_t per_namespace = size_t{64} << 20;
    size_t per_node = size_t{256} << 20;

    /// What counts as short; more than is read in a turn.
    size_t ignored = size_t{512} << 10;
  };

private:
  struct table;

public:
  /// The messages of a connection, one after the other.
  class message {
  public:
    /// @param go_on Called when a message that might not grow may do so again;
    ///              must not destroy anything of this.
    message(unfinished_messages& all, std::string nspace,
            std::function<void()> go_on);

    message(const message&) = delete;

    message& operator=(const message&) = delete;

    ~message();

    /// @param bytes How much there is of the message; 0 once it is whole.
    void note(size_t bytes);

    /// Whether more of it may be read; if not, `go_on` says when.
    bool may_grow();

  private:
    friend class unfinished_messages;

    std::shared_ptr<table> table_;
    std::string nspace_;
    std::function<void()> go_on_;
    size_t bytes_ = 0;

    /// Its place among those that count; 0: it does not.
    uint64_t order_ = 0;
    bool is_waiting_ = false;
  };

  explicit unfinished_messages(const bounds& limits);

  /// Of all that count.
  size_t bytes() const noexcept;

private:
  std::shared_ptr<table> table_;
};

} // namespace troupe
