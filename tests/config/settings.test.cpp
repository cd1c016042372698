// The table of settings, and what a site has set.

#include "config/settings.hpp"

#include "actors/events/event_cache.hpp"
#include "actors/io/io_desk.hpp"
#include "actors/mesh/members/node.hpp"
#include "actors/monitors/monitor_table.hpp"
#include "actors/server/server.hpp"
#include "adapters/files/file_checker.hpp"
#include "adapters/local/local_limits.hpp"
#include "adapters/networks/networks.hpp"
#include "adapters/process/process_launcher.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"

#include <algorithm>
#include <set>

using namespace troupe;

namespace {

uint64_t standard(setting_id id) {
  return info_of(id).standard;
}

uint64_t in_ms(std::chrono::milliseconds x) {
  return static_cast<uint64_t>(x.count());
}

/// One line that can be printed, and says where the fault is.
void check_fault(const caf::error& err, const std::string& origin) {
  CAF_CHECK(status_of(err) == status::bad_param);
  const auto text = reason_of(err);
  CAF_MESSAGE(text);
  CAF_CHECK_EQUAL(text.compare(0, origin.size(), origin), 0);
  CAF_CHECK(std::all_of(text.begin(), text.end(),
                        [](char x) { return x >= ' ' && x <= '~'; }));
}

} // namespace

CAF_TEST(each setting is found by its name and has a variable of its own) {
  auto variables = std::set<std::string>{};
  auto next = 0u;
  for (const auto& x : all_settings()) {
    CAF_MESSAGE(x.name);
    CAF_CHECK_EQUAL(static_cast<unsigned>(x.id), next++);
    CAF_CHECK(find_setting(x.name) == &x);
    CAF_CHECK(variables.insert(variable_of(x)).second);
    CAF_CHECK(x.least <= x.most);
    CAF_CHECK(!x.text.empty() && x.text.back() != '.');
    // What it shows is what it understands.
    for (const auto value : {x.standard, x.least, x.most}) {
      const auto read = parse_setting(x, text_of(x, value));
      CAF_REQUIRE(read);
      CAF_CHECK_EQUAL(*read, value);
      CAF_CHECK(x.allows(value));
    }
  }
  CAF_CHECK(variables.count("TROUPE_POSTED_BYTES") == 1);
  CAF_CHECK(find_setting("events") == nullptr);
  CAF_CHECK(find_setting("") == nullptr);
}

CAF_TEST(defaults are those of the code that settings reach) {
  const auto log = event_log_options{};
  CAF_CHECK_EQUAL(standard(setting_id::events_history),
                  uint64_t{log.per_namespace.holds_history});
  CAF_CHECK_EQUAL(standard(setting_id::events_memory),
                  log.per_namespace.memory);
  CAF_CHECK_EQUAL(standard(setting_id::events_disk), defaults::event_log_spool);
  CAF_CHECK_EQUAL(standard(setting_id::events_backlog),
                  log.per_namespace.backlog);
  CAF_CHECK_EQUAL(standard(setting_id::events_node), log.node_bytes);
  CAF_CHECK_EQUAL(standard(setting_id::events_node_disk), log.node_spool);
  CAF_CHECK_EQUAL(standard(setting_id::events_environment), log.ring_size);
  CAF_CHECK_EQUAL(
    standard(setting_id::events_stall),
    in_ms(std::chrono::duration_cast<std::chrono::milliseconds>(log.stall)));
  CAF_CHECK_EQUAL(standard(setting_id::events_disconnect_stalled),
                  uint64_t{event_cache_options{}.disconnects_stalled});
  CAF_CHECK_EQUAL(standard(setting_id::events_codes), log.codes_per_client);
  const auto monitors = monitor_limits{};
  CAF_CHECK_EQUAL(standard(setting_id::monitors_per_process),
                  monitors.per_process);
  CAF_CHECK_EQUAL(standard(setting_id::monitors_node), monitors.node);
  CAF_CHECK_EQUAL(standard(setting_id::monitors_updates_per_process),
                  monitors.updates_per_process);
  CAF_CHECK_EQUAL(standard(setting_id::monitors_updates), monitors.updates);
  const auto looks = file_check_limits{};
  CAF_CHECK_EQUAL(standard(setting_id::files_threads), looks.threads);
  CAF_CHECK_EQUAL(standard(setting_id::files_hung_per_user),
                  looks.hung_per_user);
  CAF_CHECK_EQUAL(standard(setting_id::files_patience), in_ms(looks.patience));
  const auto streams = io_desk_options{};
  CAF_CHECK_EQUAL(standard(setting_id::streams_waiting), streams.waiting);
  CAF_CHECK_EQUAL(standard(setting_id::streams_waiting),
                  process_launcher_settings{}.total_window);
  CAF_CHECK_EQUAL(standard(setting_id::streams_kept), streams.kept);
  const auto serve = server_options{};
  CAF_CHECK_EQUAL(standard(setting_id::collectives_in_flight),
                  serve.collectives_in_flight);
  CAF_CHECK_EQUAL(standard(setting_id::groups_per_namespace),
                  serve.groups_per_namespace);
  CAF_CHECK_EQUAL(standard(setting_id::networks_direct_peers),
                  node_options{}.direct_peers);
  CAF_CHECK_EQUAL(standard(setting_id::networks_window),
                  node_options{}.session.window);
  const auto local = local_limits{};
  CAF_CHECK_EQUAL(standard(setting_id::connections_requests), local.in_flight);
  CAF_CHECK_EQUAL(standard(setting_id::connections_half_open), local.half_open);
  CAF_CHECK_EQUAL(standard(setting_id::connections_greeting_time),
                  in_ms(local.greeting_time));
  CAF_CHECK_EQUAL(info_of(setting_id::connections_message_bytes).most,
                  local.message_size);
  CAF_CHECK_EQUAL(standard(setting_id::connections_log_lines), local.log_lines);
  CAF_CHECK_EQUAL(standard(setting_id::tools_per_user),
                  defaults::tools_per_user);
  const auto nets = networks_options{};
  CAF_CHECK_EQUAL(standard(setting_id::networks_own_progress),
                  uint64_t{nets.own_progress});
  CAF_CHECK_EQUAL(standard(setting_id::networks_half_open),
                  nets.limits.half_open);
  CAF_CHECK_EQUAL(standard(setting_id::networks_handshake_time),
                  in_ms(nets.limits.handshake_time));
}

CAF_TEST(values are read with their units) {
  const auto read = [](setting_id id, std::string_view text) {
    const auto x = parse_setting(info_of(id), text);
    return x ? std::optional<uint64_t>{*x} : std::nullopt;
  };
  const auto bytes = setting_id::events_memory;
  CAF_CHECK(read(bytes, "4194304") == 4194304u);
  CAF_CHECK(read(bytes, "4K") == 4096u);
  CAF_CHECK(read(bytes, "3M") == 3u << 20);
  CAF_CHECK(read(bytes, "1G") == 1u << 30);
  const auto time = setting_id::events_stall;
  CAF_CHECK(read(time, "250ms") == 250u);
  CAF_CHECK(read(time, "30s") == 30000u);
  CAF_CHECK(read(time, "5m") == 300000u);
  CAF_CHECK(read(time, "1h") == 3600000u);
  const auto flag = setting_id::events_history;
  CAF_CHECK(read(flag, "true") == 1u);
  CAF_CHECK(read(flag, "0") == 0u);
  for (const auto* text : {"", "-1", "4 M", "4m", "4MB", "0x10", "1e6", " 4",
                           "18446744073709551615K", "99999999999999999999"})
    CAF_CHECK(!read(bytes, text));
  for (const auto* text : {"", "30", "s", "30 s", "1d", "-1s", "1.5s"})
    CAF_CHECK(!read(time, text));
  for (const auto* text : {"", "2", "yes", "TRUE", "true "})
    CAF_CHECK(!read(flag, text));
}

CAF_TEST(the last one who sets it counts and is named) {
  site_settings x;
  const auto id = setting_id::tools_per_user;
  CAF_CHECK_EQUAL(x.origin_of(id), "default");
  CAF_CHECK_EQUAL(x.get(id), 16u);
  CAF_CHECK(!x.set(id, uint64_t{3}, "file:1"));
  const char* const variables[] = {"PATH=/bin", "TROUPE_TOOLS_PER_USER=5",
                                   "TROUPE_MARK=1", "TROUPE_TOOLS", nullptr};
  CAF_CHECK(!x.apply_environment(variables));
  CAF_CHECK_EQUAL(x.get(id), 5u);
  CAF_CHECK_EQUAL(x.origin_of(id), "TROUPE_TOOLS_PER_USER");
  CAF_CHECK(!x.apply_words({"tools.per_user=7", "events.stall=2s"}, "--set"));
  CAF_CHECK_EQUAL(x.get(id), 7u);
  CAF_CHECK_EQUAL(x.origin_of(id), "--set");
  site_settings below;
  CAF_CHECK(!below.set(id, uint64_t{1}, "below"));
  CAF_CHECK(!below.set(setting_id::events_history, uint64_t{1}, "below"));
  below.apply(x);
  CAF_CHECK_EQUAL(below.get(id), 7u);
  CAF_CHECK_EQUAL(below.get(setting_id::events_history), 1u);
  // It reaches bounds, flags and times, and those alone that were set.
  auto tools = size_t{1};
  auto history = false;
  auto stall = std::chrono::nanoseconds{1};
  auto memory = size_t{1};
  below.give(id, tools);
  below.give(setting_id::events_history, history);
  below.give(setting_id::events_stall, stall);
  below.give(setting_id::events_memory, memory);
  CAF_CHECK_EQUAL(tools, 7u);
  CAF_CHECK(history);
  CAF_CHECK(stall == std::chrono::seconds{2});
  CAF_CHECK_EQUAL(memory, 1u);
  CAF_CHECK(!x.apply_environment(nullptr));
}

CAF_TEST(what is out of bounds or unknown is told in a line and sets nothing) {
  site_settings x;
  check_fault(x.set(setting_id::tools_per_user, uint64_t{0}, "f:3"), "f:3: ");
  check_fault(x.set(setting_id::tools_per_user, uint64_t{4097}, "f:3"),
              "f:3: ");
  check_fault(x.set(setting_id::events_memory, std::string_view{"lots"}, "V"),
              "V: ");
  // A default that is out of its bounds stands for something else.
  CAF_CHECK(!x.set(setting_id::connections_message_bytes, uint64_t{0}, "f"));
  check_fault(x.set(setting_id::connections_message_bytes, uint64_t{5}, "f"),
              "f: ");
  check_fault(x.apply_word("tools.per_user", "--set"), "--set: ");
  check_fault(x.apply_word("tools=5", "--set"), "--set: ");
  check_fault(x.apply_word("\x1b[2J=\n", "--set"), "--set: ");
  check_fault(x.apply_word("tools.per_user=\x1b[2J", "--set"), "--set: ");
  const char* const misspelt[] = {"TROUPE_EVENTS_HISTROY=1", nullptr};
  check_fault(x.apply_environment(misspelt), "TROUPE_EVENTS_HISTROY");
  const char* const wrong[] = {"TROUPE_EVENTS_HISTORY=maybe", nullptr};
  check_fault(x.apply_environment(wrong), "TROUPE_EVENTS_HISTORY: ");
  CAF_CHECK(!x.has(setting_id::tools_per_user));
  CAF_CHECK(!x.has(setting_id::events_history));
  CAF_CHECK_EQUAL(bounds_of(info_of(setting_id::connections_message_bytes)),
                  "0, or 1M to 32M");
  CAF_CHECK_EQUAL(bounds_of(info_of(setting_id::events_history)),
                  "true or false");
}
