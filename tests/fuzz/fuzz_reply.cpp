// What a server sends. The first byte chooses the dialect, the second the
// command that is answered or another kind of message.

#include "adapters/wire/handshake.hpp"
#include "adapters/wire/pushes.hpp"
#include "adapters/wire/replies.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/reply_kinds.hpp"

#include <utility>
#include <variant>
#include <vector>

using namespace troupe;
using namespace troupe::wire;
using namespace troupe::wire::fuzz;

namespace {

/// The data of a rank that came alone goes out in the data of its job.
void check_rank_data(std::string_view input, const dialect& d) {
  auto is_alone = true;
  check_round_trip(
    input, is_symmetric(d),
    [&](std::string_view x) -> caf::expected<rank_data> {
      if (std::exchange(is_alone, false))
        return decode_rank_data(x, d);
      auto job = decode_reply(command::job_info, x, d);
      if (!job)
        return std::move(job.error());
      return std::move(std::get<job_info>(job->body).ranks.at(0));
    },
    [&](const rank_data& x, std::string& out) {
      return encode_reply({status::success, job_info{"job", {}, {x}}}, d, out);
    });
}

/// What stays packed can be read later, and is what would have been read at once.
void check_late_ranks(std::string_view input, const dialect& d) {
  auto packed = std::vector<packed_rank>{};
  const auto late = decode_job_info(
    input, d, [](std::string_view) { return true; }, packed);
  auto whole = decode_reply(command::job_info, input, d);
  require(static_cast<bool>(late) == static_cast<bool>(whole),
          "data are as good whether those of ranks are read or not");
  if (!late || packed.empty())
    return;
  const auto& expected = std::get<job_info>(whole->body).ranks;
  require(late->ranks.empty() && packed.size() == expected.size(),
          "all data of ranks stay packed or none");
  for (size_t i = 0; i < packed.size(); ++i) {
    const auto x = decode_rank_data(packed[i].bytes, d);
    require(x && packed[i].rank == expected[i].rank && *x == expected[i],
            "data of a rank are the same later");
  }
}

} // namespace

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
      check_rank_data(input, d);
      break;
    case connect_reply_kind:
      for (auto form : {connect_reply_form::client, connect_reply_form::tool,
                        connect_reply_form::tool_with_identity})
        decode_connect_reply(input, form);
      break;
    default: {
      const auto asked = static_cast<command>(kind);
      if (asked == command::job_info)
        check_late_ranks(input, d);
      check_round_trip(
        input, is_symmetric(d),
        [&](std::string_view x) { return decode_reply(asked, x, d); },
        [&](const reply& x, std::string& out) {
          return encode_reply(x, d, out);
        });
    }
  }
}
