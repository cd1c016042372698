#include "tools/group.hpp"

#include "actors/groups/group_report.hpp"
#include "config/escape.hpp"
#include "messages/attributes.hpp"
#include "tools/group_options.hpp"
#include "tools/group_text.hpp"
#include "tools/json_output.hpp"
#include "tools/notice.hpp"
#include "tools/report.hpp"
#include "tools/tool_session.hpp"

#include <fmt/chrono.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <iostream>
#include <thread>

namespace troupe {

namespace {

using nlohmann::json;

/// How long a DVM may take to answer.
constexpr auto answer_time = std::chrono::seconds{30};

std::string_view name_of(group_order::verb x) {
  switch (x) {
    case group_order::verb::list:
      return "list";
    case group_order::verb::show:
      return "show";
    default:
      return "watch";
  }
}

int fail(const group_order& order, const std::string& reason) {
  std::cerr << notice("troupe group " + std::string{name_of(order.what)},
                      reason);
  return 1;
}

/// The groups that are asked for: an array of objects.
caf::expected<json> ask(tool_session& to, const group_order& order) {
  auto question = query_request{};
  auto& x = question.queries.emplace_back();
  x.keys = {std::string{group_list_key}};
  if (!order.id.empty())
    x.qualifiers = {{std::string{attr::group_id}, 0, value::string(order.id)}};
  const auto got = to.ask(question, answer_time);
  if (!got && status_of(got.error()) != status::not_found)
    return make_error(status_of(got.error()),
                      "the DVM does not answer: " + reason_of(got.error()));
  const auto* result = got ? std::get_if<info_result>(&*got) : nullptr;
  const auto* found =
    result != nullptr ? find(result->infos, group_list_key) : nullptr;
  if (found == nullptr)
    return make_error(status::not_supported,
                      "the server that answers does not know this; is it a DVM "
                      "of Troupe?");
  return to_json(*found);
}

int show(const group_order& order, tool_session& to) {
  const auto groups = ask(to, order);
  if (!groups)
    return fail(order, reason_of(groups.error()));
  if (!order.id.empty() && groups->empty())
    return fail(order, "there is no group "
                         + escape_control_characters(order.id)
                         + "; `troupe group list` shows those there are");
  if (order.json) {
    std::cout << json_document("groups", *groups);
  } else if (order.what == group_order::verb::list) {
    std::cout << group_table(*groups);
  } else {
    auto separator = "";
    for (const auto& x : *groups)
      std::cout << std::exchange(separator, "\n") << group_details(x);
  }
  return std::cout.flush() ? 0 : fail(order, "cannot write the answer");
}

void print(const group_order& order, group_change& x) {
  const auto now = std::chrono::system_clock::now();
  if (order.json) {
    x.group["time"] =
      std::chrono::duration<double>{now.time_since_epoch()}.count();
    x.group["change"] = x.words;
    std::cout << json_line(x.group);
    return;
  }
  const auto id = x.group.value("id", std::string{});
  std::cout << fmt::format(
    "{:%H:%M:%S} {}: {}\n",
    fmt::localtime(std::chrono::system_clock::to_time_t(now)),
    escape_control_characters(id), escape_control_characters(x.words));
}

int watch(const group_order& order, tool_session& session) {
  auto before = json::array();
  auto next = std::chrono::steady_clock::now();
  for (;;) {
    auto now = ask(session, order);
    if (!now) {
      if (status_of(now.error()) == status::lost_connection
          || session.is_gone())
        return fail(order, "the DVM is gone");
      return fail(order, reason_of(now.error()));
    }
    for (auto& x : group_changes(before, *now))
      print(order, x);
    if (!std::cout.flush())
      return fail(order, "cannot write");
    const auto had = !before.empty();
    before = std::move(*now);
    if (!order.id.empty() && had && before.empty())
      return 0;
    next = std::max(next + order.interval, std::chrono::steady_clock::now());
    std::this_thread::sleep_until(next);
  }
}

} // namespace

int group(std::vector<std::string> args) {
  const auto parsed = parse_group_options(std::move(args));
  if (const auto* status = std::get_if<int>(&parsed))
    return *status;
  const auto& order = std::get<group_order>(parsed);
  auto session = tool_session::open(order.dvm, false, {});
  if (!session)
    return fail(order, reason_of(session.error()));
  return order.what == group_order::verb::watch ? watch(order, **session)
                                                : show(order, **session);
}

} // namespace troupe
