#pragma once

#include "messages/codec_reader.hpp"
#include "messages/codec_writer.hpp"

#include <caf/expected.hpp>

// What nodes send each other as bytes: any type with `inspect`, without type
// names, by these rules:
//
//     bool, uint8_t                one byte
//     unsigned integers, counts    7 bits a byte, lowest first, at most 10
//     signed integers, durations   the same, with the sign in the lowest bit
//     double                       its 64 bits, most significant byte first
//     std::string                  count, bytes
//     sequences, sets, maps        count, elements
//     std::vector<bool>            count, 8 elements a byte
//     std::optional                bool, value if there is one
//     std::variant                 index as one byte, value
//     structures                   their fields
//     lists of ranks and processes runs, where their message says so
//                                  (messages/rank_list.hpp, messages/runs.hpp)

namespace troupe {

/// Serializes `x`.
template <class T>
std::string encode(const T& x) {
  auto result = std::string{};
  codec_writer{result}.write(x);
  return result;
}

/// Builds a `T` from bytes that may come from anybody: reads nothing beyond
/// them, holds no more memory than they justify, and nests no deeper than its
/// limits say.
/// @returns `sec::end_of_stream` or `sec::invalid_argument` with a reason for
///          what no encoder writes, also if bytes are left over.
/// Source: guarantees X14, X16, X44.
template <class T>
caf::expected<T> decode(std::string_view bytes) {
  auto result = T{};
  auto reader = codec_reader{bytes};
  if (auto err = reader.read(result))
    return err;
  if (auto err = reader.expect_end())
    return err;
  return result;
}

} // namespace troupe
