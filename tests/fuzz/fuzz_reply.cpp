// What a server sends. The first byte chooses the dialect, the second the
// command that is answered or another kind of message.

#include "adapters/wire/handshake.hpp"
#include "adapters/wire/pushes.hpp"
#include "adapters/wire/replies.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/reply_kinds.hpp"

using namespace troupe;
using namespace troupe::wire;
using namespace troupe::wire::fuzz;

TROUPE_FUZZ(input) {
  const auto& d = take_dialect(input);
  const auto kind = take_byte(input);
  switch (kind) {
    case event_kind:
      check_round_trip(
        input, is_symmetric(d),
        [&](std::string_view x) { return decode_event(x, d); },
        [&](const event& x, std::string& out) {
          return encode_event(x, d, out);
        });
      break;
    case output_kind:
      check_round_trip(
        input, is_symmetric(d),
        [&](std::string_view x) { return decode_output(x, d); },
        [&](const io_delivery& x, std::string& out) {
          return encode_output(x, d, out);
        });
      break;
    case flow_control_kind:
      check_round_trip(
        input, is_symmetric(d),
        [&](std::string_view x) { return decode_flow_control(x, d); },
        [&](const flow_control& x, std::string& out) {
          return encode_flow_control(x, d, out);
        });
      break;
    case output_credit_kind:
      check_round_trip(
        input, true,
        [&](std::string_view x) { return decode_output_credit(x); },
        [&](uint64_t x, std::string& out) {
          encode_output_credit(x, out);
          return caf::error{};
        });
      break;
    case rank_data_kind:
      check_round_trip(
        input, is_symmetric(d),
        [&](std::string_view x) { return decode_rank_data(x, d); },
        [&](const rank_data& x, std::string& out) {
          return encode_rank_data(x, d, out);
        });
      break;
    case connect_reply_kind:
      for (auto form : {connect_reply_form::client, connect_reply_form::tool,
                        connect_reply_form::tool_with_identity})
        decode_connect_reply(input, form);
      break;
    default: {
      const auto asked = static_cast<command>(kind);
      check_round_trip(
        input, is_symmetric(d),
        [&](std::string_view x) { return decode_reply(asked, x, d); },
        [&](const reply& x, std::string& out) {
          return encode_reply(x, d, out);
        });
    }
  }
}
