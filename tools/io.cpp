#include "tools/io.hpp"

#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"
#include "tools/json_output.hpp"
#include "tools/known_jobs.hpp"
#include "tools/notice.hpp"
#include "tools/report.hpp"
#include "tools/stream_text.hpp"
#include "tools/stream_viewer.hpp"
#include "tools/tool_session.hpp"
#include "tools/view_options.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <iostream>

namespace troupe {

namespace {

/// How long a DVM may take to answer.
constexpr auto answer_time = std::chrono::seconds{30};

int fail(const std::string& command, const std::string& reason) {
  std::cerr << notice("troupe " + command, reason);
  return 1;
}

int show(const list_order& order) {
  auto session = tool_session::open(order.dvm, false, {});
  if (!session)
    return fail(order.command, reason_of(session.error()));
  const auto got = (**session).ask(stream_question(order.whose), answer_time);
  if (!got && status_of(got.error()) == status::not_found)
    return fail(order.command, order.whose.nspace.empty()
                                 ? "the server that answers does not know "
                                   "this; is it a DVM of Troupe?"
                                 : "the DVM has no streams of "
                                     + to_string(order.whose)
                                     + "; troupe jobs shows its jobs");
  if (!got)
    return fail(order.command,
                "the DVM does not answer: " + reason_of(got.error()));
  const auto* result = std::get_if<info_result>(&*got);
  const auto* list =
    result != nullptr ? find(result->infos, io_streams_key) : nullptr;
  if (list == nullptr)
    return fail(order.command, "the server that answers does not know this; is "
                               "it a DVM of Troupe?");
  const auto shown = to_json(*list);
  if (shown.empty() && !order.whose.nspace.empty()) {
    // Perhaps there is no such process.
    const auto known = ask_jobs(**session, answer_time);
    if (const auto why =
          known ? refusal_of(*known, order.whose) : reason_of(known.error());
        !why.empty())
      return fail(order.command, why);
  }
  if (order.json)
    std::cout << json_document("streams", shown);
  else
    std::cout << (order.command == "io list"
                    ? streams_text(stream_rows(shown))
                    : offsets_text(stream_rows(shown)));
  return std::cout.flush() ? 0 : fail(order.command, "cannot write the answer");
}

} // namespace

int attach(std::vector<std::string> args) {
  auto order = parse_attach(std::move(args));
  if (const auto* exit_status = std::get_if<int>(&order))
    return *exit_status;
  return view_streams(std::move(std::get<view_order>(order)));
}

int io(std::vector<std::string> args) {
  auto order = parse_io(std::move(args));
  if (const auto* exit_status = std::get_if<int>(&order))
    return *exit_status;
  if (const auto* list = std::get_if<list_order>(&order))
    return show(*list);
  return view_streams(std::move(std::get<view_order>(order)));
}

} // namespace troupe
