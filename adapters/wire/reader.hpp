#pragma once

#include "adapters/wire/layout.hpp"
#include "messages/proc_id.hpp"
#include "messages/status.hpp"

#include <caf/error.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::wire {

/// Who wrote the bytes: some types are accepted from servers only.
enum class origin : uint8_t { client, server };

/// The most elements of arrays and lists in one message.
/// Source: guarantees, limit on elements (L4).
inline constexpr size_t max_elements_from_client = size_t{1} << 17;
inline constexpr size_t max_elements_from_server = size_t{1} << 22;

/// The most elements of one type in one message of a client: one message must
/// not stop the others for long. They count together however they are spread
/// over lists, so that no list can be written in pieces.
/// Source: guarantees, L4 and L6; docs/library.md has them for users.
inline constexpr size_t max_procs_from_client = 65536; ///< The largest job.
inline constexpr size_t max_infos_from_client = 4096;
inline constexpr size_t max_entries_from_client = 4096; ///< Of a commit.
inline constexpr size_t max_strings_from_client = 65536;
inline constexpr size_t max_codes_from_client = 1024;
inline constexpr size_t max_queries_from_client = 256;
inline constexpr size_t max_apps_from_client = 1024;
inline constexpr size_t max_others_from_client = 32768; ///< Of all other types.

/// The most keys that one query, lookup or unpublish of a client names, and
/// that it publishes at a time.
inline constexpr size_t max_query_keys_from_client = 1024;
inline constexpr size_t max_keys_from_client = 4096;
inline constexpr size_t max_published_from_client = 1024;

/// The most infos of a greeting, which comes before anybody is known.
inline constexpr size_t max_infos_of_greeting = 1024;

/// Reads packed bytes from front to back. Every bound is kept here: nothing is
/// read past the end, no count is believed that the bytes left cannot hold, and
/// the first error stays. After an error every read gives an empty value.
/// Source: OpenPMIx wire protocol, integers and PACK calls; guarantees, X13 to
/// X18.
class reader {
public:
  reader(std::string_view bytes, const dialect& d, origin from);

  reader(const reader&) = delete;
  reader& operator=(const reader&) = delete;

  // -- state -----------------------------------------------------------------

  bool ok() const {
    return what_ == nullptr;
  }

  /// Bytes not read yet; 0 after an error.
  size_t left() const {
    return ok() ? static_cast<size_t>(end_ - position_) : 0;
  }

  const dialect& rules() const {
    return rules_;
  }

  origin from() const {
    return from_;
  }

  bool is_fixed() const {
    return family_ == integer_family::fixed;
  }

  /// The first error with the place where it was found; none if all is well.
  caf::error failure() const;

  /// Notes an error, unless there is one already.
  /// @param what A sentence without its end; must outlive the reader.
  void fail(const char* what, status code = status::unpack_failure);

  /// Checks that a list of a client, of which `what` names the elements, has no
  /// more than `most`; what servers write is bounded by its bytes.
  /// @param what As with `fail`.
  void at_most(uint64_t n, size_t most, const char* what);

  /// Checks that everything has been read. Peers newer than the releases we
  /// know may have appended something.
  void expect_end();

  // -- primitives ------------------------------------------------------------

  uint8_t byte();

  /// @param width 1, 2, 4 or 8 bytes, which bounds the value in either family.
  uint64_t unsigned_integer(unsigned width);
  int64_t signed_integer(unsigned width);

  data_type type_tag();

  /// The inner tag that precedes values of type `x`, if there is one.
  void inner_tag(data_type x);

  /// A SIZE inside of something else.
  uint64_t size();

  /// A string; nothing for a null string.
  std::optional<std::string_view> string();

  /// The same with null taken as empty.
  std::string_view string_or_empty();

  /// A string that must not be null and has at most 511 bytes.
  std::string_view key();

  /// A string of at most 255 bytes; null is taken as empty.
  std::string_view nspace();

  /// The next `n` bytes.
  std::string_view bytes(size_t n);

  /// A length and as many bytes.
  std::string_view blob();

  /// Everything up to and including the next zero byte.
  std::string_view up_to_zero();

  /// Whether `x` comes next.
  bool next_is(std::string_view x) const {
    return x.size() <= left() && std::string_view{position_, x.size()} == x;
  }

  // -- counts ----------------------------------------------------------------

  /// Checks that `n` elements of type `x` fit into the bytes left and into what
  /// a message may hold, and takes them off that.
  /// @returns `n`, or 0 after an error.
  size_t admit(uint64_t n, data_type x);

  /// A count of type SIZE, checked by `admit`.
  size_t count(data_type x);

  /// A count of type INT32, checked by `admit`.
  size_t count32(data_type x);

  // -- PACK calls ------------------------------------------------------------

  /// Reads the head of a PACK call that holds values of type `x`.
  /// @returns how many.
  size_t pack(data_type x);

  /// The same for exactly `n` values.
  void pack_exactly(data_type x, size_t n);

  /// Reads PACK(SIZE), the count of values of type `x` in the next PACK, and
  /// checks that they fit into the bytes left.
  size_t packed_count(data_type x);

  /// Calls `f` with the end set after the next `n` bytes; `f` has to read all
  /// of them. `described` says how they are packed.
  template <class F>
  void within(size_t n, bool described, F f) {
    if (n > left())
      fail("a length goes past the end");
    if (!ok())
      return;
    const auto* outer = end_;
    const auto outer_described = rules_.described;
    end_ = position_ + n;
    rules_.described = described;
    f();
    if (ok() && position_ != end_)
      fail("bytes are left over in a byte object");
    position_ = end_;
    end_ = outer;
    rules_.described = outer_described;
  }

  // -- nesting ---------------------------------------------------------------

  /// Enters a value. Pair it with `leave`.
  /// @returns whether it may be read: values nest to `max_value_depth`.
  bool enter();

  void leave() {
    --depth_;
  }

private:
  /// The types whose elements are counted each by itself, and all others.
  static constexpr size_t num_counted = 8;

  bool need(size_t n);
  uint64_t varint(unsigned width);
  size_t fits(uint64_t n, data_type x);

  const char* begin_;
  const char* position_;
  const char* end_;
  dialect rules_;
  integer_family family_;
  origin from_;
  int depth_ = 0;
  size_t elements_left_;
  std::array<size_t, num_counted> counted_{};
  const char* what_ = nullptr;

  /// How many there are and may be, if there are too many of something.
  uint64_t count_ = 0;
  size_t most_ = 0;
  status code_ = status::success;
  size_t failed_at_ = 0;
};

} // namespace troupe::wire
