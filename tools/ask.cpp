#include "tools/ask.hpp"

#include "actors/groups/group_report.hpp"
#include "actors/server/wait_report.hpp"
#include "messages/attributes.hpp"
#include "tools/command_line.hpp"
#include "tools/printing.hpp"
#include "tools/tool_session.hpp"
#include "tools/wait_table.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

namespace troupe {

namespace {

using namespace std::chrono_literals;

/// How long a DVM may take to answer.
constexpr auto answer_time = 30s;

/// How often `down` looks whether the DVM is gone.
constexpr auto look_again = 20ms;

struct ask_options {
  std::string dvm;
  bool json = false;
  bool waits = false;
  uint32_t timeout = 60;
};

/// @returns the exit status if there is nothing to do.
std::optional<int> parse(CLI::App& cli, std::vector<std::string> args,
                         ask_options& x) {
  cli
    .add_option("--dvm", x.dvm,
                "The DVM: its name, pid:N, file:PATH or URI (default: your "
                "only one)")
    ->expected(0, 1);
  return parse_arguments(cli, std::move(args));
}

int fail(const std::string& command, const std::string& reason) {
  std::cerr << notice("troupe " + command, reason);
  return 1;
}

/// What answers several keys; nothing if one of them is not known there.
std::optional<std::vector<nlohmann::json>>
lists_in(const link::outcome& got, const std::vector<std::string_view>& keys) {
  const auto* result = got ? std::get_if<info_result>(&*got) : nullptr;
  auto lists = std::vector<nlohmann::json>{};
  for (const auto key : keys) {
    const auto* found = result != nullptr ? find(result->infos, key) : nullptr;
    if (found == nullptr)
      return std::nullopt;
    lists.push_back(to_json(*found));
  }
  return lists;
}

void show(report_kind what, const ask_options& how,
          const std::vector<nlohmann::json>& lists) {
  if (how.waits) {
    const auto rows = wait_rows(lists[0], lists[1]);
    std::cout << (how.json ? json_document("waits", rows) : wait_text(rows));
  } else {
    std::cout << (how.json ? json_document(json_name(what), lists[0])
                           : to_text(what, lists[0]));
  }
}

} // namespace

int ask(report_kind what, const std::string& command,
        std::vector<std::string> args) {
  auto x = ask_options{};
  auto cli = CLI::App{"Shows what a DVM knows.", "troupe " + command};
  cli.add_flag("--json", x.json, "Print JSON");
  if (what == report_kind::jobs)
    cli.add_flag("--waits", x.waits,
                 "Show fences, connects and groups under way instead: who has "
                 "called, and who is waited for");
  if (const auto status = parse(cli, std::move(args), x))
    return *status;
  auto session = tool_session::open(x.dvm, false, {});
  if (!session)
    return fail(command, reason_of(session.error()));
  const auto keys = x.waits
                      ? std::vector<std::string_view>{waits_key, group_list_key}
                      : std::vector<std::string_view>{query_key(what)};
  auto question = query_request{};
  question.queries.emplace_back();
  for (const auto key : keys)
    question.queries.back().keys.emplace_back(key);
  const auto got = (**session).ask(question, answer_time);
  if (!got)
    return fail(command, "the DVM does not answer: " + reason_of(got.error()));
  const auto lists = lists_in(got, keys);
  if (!lists)
    return fail(command, "the server that answers does not know this; is it a "
                         "DVM of Troupe?");
  show(what, x, *lists);
  return 0;
}

int down(std::vector<std::string> args) {
  auto x = ask_options{};
  auto cli = CLI::App{"Ends a DVM with all its jobs, and waits until it is "
                      "gone.",
                      "troupe down"};
  cli.add_option("--timeout", x.timeout, "Seconds to wait (default 60)");
  if (const auto status = parse(cli, std::move(args), x))
    return *status;
  auto session = tool_session::open(x.dvm, false, {});
  if (!session)
    return fail("down", reason_of(session.error()));
  const auto deadline =
    std::chrono::steady_clock::now() + std::chrono::seconds{x.timeout};
  auto request = job_control_request{};
  request.directives = {
    {std::string{attr::job_ctrl_terminate}, 0, value::boolean(true)}};
  const auto got = (**session).ask(request, answer_time);
  if (!got && status_of(got.error()) != status::lost_connection)
    return fail("down", "the DVM does not end: " + reason_of(got.error()));
  while (!(**session).is_gone()) {
    if (std::chrono::steady_clock::now() >= deadline)
      return fail("down", "the DVM is still there after "
                            + std::to_string(x.timeout)
                            + " s; wait longer by --timeout");
    std::this_thread::sleep_for(look_again);
  }
  return 0;
}

} // namespace troupe
