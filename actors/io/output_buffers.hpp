#pragma once

#include "messages/io_wiring.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

namespace defaults {

/// Output that is kept because PMIX_IOF_BUFFERING_SIZE or _TIME says so, at
/// most as much and as long.
inline constexpr size_t io_buffer = size_t{1} << 20;
inline constexpr auto io_buffer_time = std::chrono::seconds{60};

} // namespace defaults

/// Keeps text until there is enough of it, or it is taken: what
/// PMIX_IOF_BUFFERING_SIZE and _TIME ask for. Plain data, no clock: whoever
/// owns it calls `take_all` when `time` has passed since something was kept.
/// Source: PMIx Standard v5, "IO Forwarding attributes".
template <class Key>
class output_buffers {
public:
  output_buffers() = default;

  explicit output_buffers(const output_format& format)
    : size_(std::min<size_t>(format.buffer_size, defaults::io_buffer)),
      time_(std::min<std::chrono::seconds>(
        std::chrono::seconds{format.buffer_time}, defaults::io_buffer_time)) {
    if (size_ == 0 && time_.count() > 0)
      size_ = defaults::io_buffer;
  }

  /// Takes more text; without a size and time, gives it back untouched.
  /// @param flush Whether nothing is to be kept.
  /// @returns what to write now; may be empty.
  std::string add(const Key& key, std::string text, bool flush) {
    if (size_ == 0)
      return text;
    auto pos = kept_.find(key);
    if (pos == kept_.end()) {
      if (flush || text.empty() || text.size() >= size_)
        return text;
      pos = kept_.emplace(key, std::string{}).first;
    }
    held_ += text.size();
    pos->second += text;
    if (!flush && pos->second.size() < size_ && held_ < defaults::io_buffer)
      return {};
    auto result = std::move(pos->second);
    held_ -= result.size();
    kept_.erase(pos);
    return result;
  }

  /// Bytes that are kept for a key.
  size_t kept(const Key& key) const {
    const auto pos = kept_.find(key);
    return pos == kept_.end() ? 0 : pos->second.size();
  }

  std::vector<std::pair<Key, std::string>> take_all() {
    std::vector<std::pair<Key, std::string>> result;
    for (auto& [key, text] : kept_)
      result.emplace_back(key, std::move(text));
    kept_.clear();
    held_ = 0;
    return result;
  }

  bool empty() const noexcept {
    return kept_.empty();
  }

  /// How long text is kept at most; 0: until there is enough.
  std::chrono::seconds time() const noexcept {
    return time_;
  }

private:
  size_t size_ = 0;
  std::chrono::seconds time_{0};
  std::map<Key, std::string> kept_;
  size_t held_ = 0;
};

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
