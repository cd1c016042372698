// What sensors read from the kernel: datagrams of the routing socket, and files
// of text. The first byte chooses what reads.

#include "adapters/sensors/readers.hpp"
#include "adapters/sockets/netlink.hpp"
#include "config/sensor_settings.hpp"
#include "messages/status.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>

using namespace troupe;
using wire::fuzz::require;

namespace {

bool is_plain(std::string_view x) {
  return std::all_of(x.begin(), x.end(),
                     [](char c) { return c >= ' ' && c <= '~'; });
}

} // namespace

TROUPE_FUZZ(input) {
  switch (wire::fuzz::take_byte(input) % 4) {
    case 0:
      for (const auto& x : link_changes_in(input)) {
        require(!x.name.empty() && x.name.size() < 16 && is_plain(x.name),
                "a link has a name that can be printed");
        require(!x.is_gone || !x.is_running, "what is gone does not run");
      }
      break;
    case 1:
      if (const auto x = pressure_in(input))
        require(*x >= 0 && *x <= 100, "pressure is in percent");
      break;
    case 2:
      if (number_named(input, "oom_kill"))
        require(input.find("oom_kill ") != std::string_view::npos,
                "a number has its name");
      whole_number(input);
      break;
    default: {
      auto x = sensor_settings{};
      if (const auto err = apply_setting(x, input)) {
        const auto text = reason_of(err);
        require(!text.empty() && is_plain(text), "an error is a plain line");
      }
    }
  }
}
