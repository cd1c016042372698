#include "tools/ask.hpp"

#include "messages/attributes.hpp"
#include "tools/command_line.hpp"
#include "tools/printing.hpp"
#include "tools/tool_session.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>
#include <optional>
#include <thread>

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

} // namespace

int ask(report_kind what, const std::string& command,
        std::vector<std::string> args) {
  auto x = ask_options{};
  auto cli = CLI::App{"Shows what a DVM knows.", "troupe " + command};
  cli.add_flag("--json", x.json, "Print JSON");
  if (const auto status = parse(cli, std::move(args), x))
    return *status;
  auto session = tool_session::open(x.dvm, false, {});
  if (!session)
    return fail(command, reason_of(session.error()));
  auto question = query_request{};
  question.queries.emplace_back().keys = {std::string{query_key(what)}};
  const auto got = (**session).ask(question, answer_time);
  if (!got)
    return fail(command, "the DVM does not answer: " + reason_of(got.error()));
  const auto* result = std::get_if<info_result>(&*got);
  const auto* found =
    result != nullptr ? find(result->infos, query_key(what)) : nullptr;
  if (found == nullptr)
    return fail(command, "the server that answers does not know this; is it a "
                         "DVM of Troupe?");
  const auto shown = to_json(*found);
  if (x.json)
    std::cout << json_document(json_name(what), shown);
  else
    std::cout << to_text(what, shown);
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
