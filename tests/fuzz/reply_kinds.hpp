#pragma once

#include <cstdint>

namespace troupe::wire::fuzz {

/// Second byte of an input of fuzz_reply, if it is no command.
inline constexpr uint8_t event_kind = 200;
inline constexpr uint8_t output_kind = 201;
inline constexpr uint8_t rank_data_kind = 202;
inline constexpr uint8_t connect_reply_kind = 203;
inline constexpr uint8_t flow_control_kind = 204;
inline constexpr uint8_t output_credit_kind = 205;

} // namespace troupe::wire::fuzz
