#pragma once

#include "actors/io/shared_window.hpp"
#include "messages/io_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
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

/// What is there of one stream: its bytes by offset, who gets them from where,
/// and what was dropped. Plain data, no clock.
///
/// Invariants (guarantees 5.7): `IO-1` what a sink gets is contiguous or says
/// how much it missed. `IO-2` what waits for a sink is at most its window; what
/// is kept for later ones at most the tail. `IO-3` the end comes after the last
/// byte, once. `IO-5` a new sink gets what is kept, then what comes, without a
/// seam.
///
/// A sink that drops may leave as much waiting as its window says. What is kept
/// when it is added does not count until it has been given. A sink that drops
/// the newest goes on when half of that is free. Of all this less is held when
/// `keep` says so: the tail, the beginning, and what waits for sinks that drop
/// share it.
class stream_log {
public:
  /// @param tail Most bytes that are kept when all sinks have them.
  /// @param overflow What is dropped of what does not fit in the tail: with
  ///                 `drop_newest` the beginning of the stream is kept.
  explicit stream_log(size_t tail, io_policy overflow = io_policy::drop_oldest);

  // -- the stream -------------------------------------------------------------

  /// Adds bytes at the end of the stream.
  /// @returns what `settled` must reach before the writer may go on.
  uint64_t append(std::string bytes, int64_t read_at);

  /// Adds bytes at an offset, of a stream that is elsewhere; bytes between the
  /// end and `offset` never come. Bytes that are known already are left out.
  /// @returns what `settled` must reach before the writer may go on.
  uint64_t append_at(uint64_t offset, std::string bytes, int64_t read_at);

  /// Nothing follows.
  /// @returns what `settled` must reach before everybody has heard of the end.
  uint64_t end();

  /// Nothing follows a stream of this many bytes.
  uint64_t end_at(uint64_t offset);

  // -- sinks ------------------------------------------------------------------

  /// @param is_copy Whether what is not here may be fetched from elsewhere, so
  ///                that the sink waits for it: see `lacks`.
  /// @param window What is on its way to this and other sinks, of all streams;
  ///               none: as if there were no others.
  /// @returns whether `id` is new.
  bool add_sink(uint64_t id, const io_subscription& how, bool is_copy = false,
                std::shared_ptr<shared_window> window = {});

  /// @returns the byte after the last that it has answered.
  uint64_t remove_sink(uint64_t id);

  /// What a sink is to get next; nothing while too much is on its way, or when
  /// it has all there is. More than one fragment is on its way to sinks that
  /// block only: they take them in this order.
  std::optional<io_fragment> next(uint64_t id, size_t size);

  /// The sink has answered the oldest fragment that is on its way.
  void taken(uint64_t id);

  struct interval {
    uint64_t from;
    uint64_t until;
  };

  /// What a sink wants and is not here, though it may be elsewhere: it gets
  /// nothing else before.
  std::optional<interval> lacks(uint64_t id) const;

  /// @returns how much may be sent to a sink now.
  size_t room(uint64_t id) const;

  /// What was fetched from elsewhere for a sink; nothing: it has nothing.
  /// @returns what the sink is to get of it, as with `next`.
  std::optional<io_fragment> fill(uint64_t id, std::optional<io_fragment> got);

  /// @returns where the slowest sink that blocks stands; without one, the end.
  ///          One more when all have heard of the end.
  uint64_t settled() const;

  // -- memory -----------------------------------------------------------------

  /// Holds at most so many bytes from now on, beyond what sinks that block have
  /// to get; but always `defaults::io_window_least` for each sink that drops.
  void keep(size_t most);

  /// Bytes held now, without those on their way.
  size_t held() const noexcept;

  /// How many of them sinks that block have to get.
  size_t needed() const noexcept;

  // -- questions --------------------------------------------------------------

  bool has_ended() const noexcept {
    return has_ended_;
  }

  /// Whether the end has come and all sinks have it.
  bool is_over() const;

  /// What is there from `offset` on; `missed`: what is gone before it.
  io_fragment fetch(uint64_t offset, size_t size) const;

  /// Without `stream`.
  io_stream_status status() const;

private:
  struct sink {
    std::string name;
    io_policy policy;
    uint64_t window;

    /// What waited when it came, and where the stream ended then.
    uint64_t replay = 0;
    uint64_t replay_until = 0;

    /// The byte it expects, and the first of those that it will be given.
    uint64_t expected = 0;
    uint64_t position = 0;

    /// Where it lacks what may be elsewhere; not before `expected`.
    uint64_t lacks_until = 0;

    uint64_t taken = 0;
    uint64_t missed = 0;

    /// For each fragment on its way, where it ends and what it counts.
    std::vector<std::pair<uint64_t, size_t>> on_way;
    window_share share;

    /// What waits for a sink that drops the newest.
    std::unique_ptr<stream_bytes> waiting;
    bool is_full = false;
    bool was_given_end = false;
    bool has_end = false;
  };

  uint64_t begin() const noexcept;
  size_t tail() const noexcept;
  size_t head_limit() const noexcept;
  uint64_t limit_of(const sink& x) const noexcept;
  bool may_have_more(const sink& x) const noexcept;
  bool has_nothing_to_take(const sink& x) const noexcept;
  bool read(uint64_t offset, size_t size, io_fragment& result) const;
  void drop_newest(sink& x, const std::string& bytes, int64_t read_at);
  void drop_oldest(sink& x);
  void shorten(sink& x);
  void share_out();
  void append_to_head(const std::string& bytes, int64_t read_at);
  void give(sink& x, io_fragment& what);
  void trim();

  /// What may be kept for later sinks, and what may be held at all.
  size_t tail_;
  size_t most_ = SIZE_MAX;

  /// What each of those may hold that share it.
  size_t part_ = SIZE_MAX;
  stream_bytes bytes_;

  /// The beginning of the stream, if it is to be kept.
  std::unique_ptr<stream_bytes> head_;
  size_t head_limit_ = 0;
  bool is_head_full_ = false;

  /// Where the next byte will stand.
  uint64_t end_ = 0;
  bool has_ended_ = false;
  std::map<uint64_t, sink> sinks_;
};

} // namespace troupe
