#pragma once

#include "adapters/wire/dialect.hpp"
#include "messages/data_type.hpp"

namespace troupe::wire {

/// What the bytes of a type look like.
enum class shape : uint8_t {
  unknown,
  nothing,
  boolean,
  unsigned_integer,
  signed_integer,

  /// UINT: an unsigned number that travels as the signed one of the same bits.
  unsigned_as_signed,

  /// FLOAT and DOUBLE: decimal text.
  floating_text,
  text,

  /// A length and bytes.
  bytes,

  /// One byte that says that there was a pointer.
  pointer,
  structure,
};

/// The layout of a type.
struct layout {
  shape kind = shape::unknown;

  /// Width of an integer.
  uint8_t width = 0;

  /// The type tag that precedes the values, once per array; `undef` for none.
  /// In the flex family only PID has one.
  data_type inner_tag = data_type::undef;

  /// The fewest bytes that a value has, inner tag not counted.
  uint8_t min_fixed = 0;
  uint8_t min_flex = 0;
};

/// Source: OpenPMIx wire protocol, type encodings.
const layout& layout_of(data_type x);

/// The fewest bytes that a value of type `x` has in `family`; at least 1.
size_t min_size_of(data_type x, integer_family family);

/// Whether a peer that speaks `d` may send values of type `x`. Wider than
/// `supports`, which says what the peer can digest.
bool may_send(const dialect& d, data_type x);

} // namespace troupe::wire
