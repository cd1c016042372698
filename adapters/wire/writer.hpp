#pragma once

#include "adapters/wire/layout.hpp"
#include "messages/status.hpp"

#include <caf/error.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace troupe::wire {

/// What a writer does with an entry that the peer cannot read.
enum class unreadable : uint8_t {
  /// The whole message fails: a request must not lose a directive.
  fails,

  /// Key-values and infos are left out: an old client gets what it knows.
  left_out,
};

/// Appends packed bytes to a string. The first error stays; `finish` then takes
/// back what was written.
/// Source: OpenPMIx wire protocol, integers and PACK calls.
class writer {
public:
  writer(std::string& out, const dialect& d,
         unreadable policy = unreadable::fails);

  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;

  // -- state -----------------------------------------------------------------

  bool ok() const {
    return what_ == nullptr;
  }

  const dialect& rules() const {
    return rules_;
  }

  bool is_fixed() const {
    return family_ == integer_family::fixed;
  }

  bool leaves_out() const {
    return policy_ == unreadable::left_out;
  }

  /// Notes an error, unless there is one already.
  /// @param what A sentence without its end; must outlive the writer.
  void fail(const char* what, status code = status::pack_failure);

  /// Where the next byte goes.
  size_t position() const {
    return out_.size();
  }

  /// Calls `f`, which writes one entry. If entries may be left out, an error
  /// takes back what `f` wrote and is forgotten.
  /// @returns whether the entry was written.
  template <class F>
  bool entry(F f) {
    const auto mark = out_.size();
    if (!ok())
      return false;
    f();
    if (ok())
      return true;
    if (leaves_out()) {
      out_.resize(mark);
      what_ = nullptr;
    }
    return false;
  }

  /// Ends the message: on an error the string is as it was at the beginning.
  caf::error finish();

  // -- primitives ------------------------------------------------------------

  void byte(uint8_t x) {
    out_.push_back(static_cast<char>(x));
  }

  /// @param width 1, 2, 4 or 8 bytes; larger values are an error.
  void unsigned_integer(uint64_t x, unsigned width);
  void signed_integer(int64_t x, unsigned width);

  void type_tag(data_type x);

  /// The inner tag that precedes values of type `x`, if there is one.
  void inner_tag(data_type x);

  /// A SIZE inside of something else.
  void size(uint64_t x);

  void string(std::string_view x);
  void string(const std::optional<std::string>& x);
  void null_string();

  /// A string of at most 511 bytes.
  void key(std::string_view x);

  /// A string of at most 255 bytes.
  void nspace(std::string_view x);

  /// Bytes without a length.
  void bytes(std::string_view x) {
    out_.append(x);
  }

  /// A length and the bytes.
  void blob(std::string_view x);

  // -- PACK calls ------------------------------------------------------------

  /// The head of a PACK call that holds `n` values of type `x`.
  void pack(data_type x, size_t n = 1);

  /// PACK(SIZE).
  void packed_size(uint64_t x);

  /// Calls `f`, which writes at the end, then puts what `head` writes in front
  /// of it (at most 32 bytes): for lengths and counts that are known last.
  template <class F, class G>
  void preceded(F f, G head) {
    const auto mark = out_.size();
    f();
    const auto end = out_.size();
    head(end - mark);
    move_to_front(mark, end);
  }

  // -- nesting ---------------------------------------------------------------

  /// Enters a value. Pair it with `leave`.
  /// @returns whether it may be written: values nest to `max_value_depth`.
  bool enter();

  void leave() {
    --depth_;
  }

private:
  void move_to_front(size_t mark, size_t end);

  std::string& out_;
  size_t start_;
  dialect rules_;
  integer_family family_;
  unreadable policy_;
  int depth_ = 0;
  const char* what_ = nullptr;
  status code_ = status::success;
};

} // namespace troupe::wire
