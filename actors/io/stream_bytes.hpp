#pragma once

#include "messages/io_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

/// Bytes of a stream by their offsets, perhaps with holes, and when they were
/// read. Small pieces are joined. Nothing costs more than the bytes it touches;
/// what is forgotten is given back; without bytes it holds no memory. Plain
/// data.
class stream_bytes {
public:
  /// Nanoseconds: moments in the same multiple of this are one.
  static constexpr int64_t time_resolution = 10'000'000;

  /// Pieces up to this size are joined with those before them.
  static constexpr size_t max_joined = size_t{8} << 10;

  /// Adds bytes.
  /// @param offset Not before `end()`.
  void append(uint64_t offset, std::string bytes, int64_t read_at);

  /// @returns where the first byte stands; without bytes, `end()`.
  uint64_t begin() const noexcept {
    return begin_;
  }

  /// @returns the offset after the last byte there ever was.
  uint64_t end() const noexcept {
    return end_;
  }

  /// @returns how many bytes there are.
  size_t size() const noexcept {
    return static_cast<size_t>(added_ - rank_of(begin_));
  }

  /// @returns how many bytes there are at `offset` and after it.
  size_t size_from(uint64_t offset) const noexcept {
    return static_cast<size_t>(added_ - rank_of(offset));
  }

  /// @returns the lowest offset from which on there are at most `n` bytes.
  uint64_t last(size_t n) const noexcept;

  /// Forgets the bytes before `offset`.
  void cut_front(uint64_t offset);

  /// Forgets all but the first `n` bytes.
  void cut_back(size_t n);

  /// Reads the next bytes at `offset` or after it that belong together: without
  /// a hole, and read at one moment.
  /// @returns whether there were any; sets offset, bytes and moment.
  bool read(uint64_t offset, size_t size, io_fragment& result) const;

private:
  /// What was read later than the first byte of a chunk.
  struct mark {
    uint32_t at;
    int64_t read_at;
  };

  struct chunk {
    uint64_t offset;

    /// How many bytes were added before it.
    uint64_t rank;
    int64_t read_at;
    std::string bytes;
    std::vector<mark> marks;

    uint64_t end() const noexcept {
      return offset + bytes.size();
    }

    /// Gives its memory back, which an assignment would keep.
    void forget() noexcept {
      std::string{}.swap(bytes);
      std::vector<mark>{}.swap(marks);
    }
  };

  static constexpr size_t max_marks = 32;

  /// Forgotten bytes that stay in memory at most, unless they are few beside
  /// those that follow them.
  static constexpr size_t max_waste = 1024;

  /// @returns the position of the first chunk that ends after `offset`.
  size_t find(uint64_t offset) const noexcept;

  /// @returns how many bytes were added before `offset`, of those that are
  ///          there and those that were forgotten.
  uint64_t rank_of(uint64_t offset) const noexcept;

  void shorten(chunk& x) const;

  bool join(uint64_t offset, const std::string& bytes, int64_t read_at);

  /// From `first_` on; those before it are empty.
  std::vector<chunk> chunks_;
  size_t first_ = 0;
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
  uint64_t added_ = 0;
};

} // namespace troupe
