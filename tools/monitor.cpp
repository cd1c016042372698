#include "tools/monitor.hpp"

#include "messages/attributes.hpp"
#include "messages/custom_monitor.hpp"
#include "messages/denial.hpp"
#include "messages/monitor.hpp"
#include "tools/ask.hpp"
#include "tools/monitor_options.hpp"
#include "tools/notice.hpp"
#include "tools/tool_session.hpp"

#include <chrono>
#include <iostream>

namespace troupe {

namespace {

/// How long a server may take to answer.
constexpr auto answer_time = std::chrono::seconds{30};

int fail(const std::string& command, const std::string& reason) {
  std::cerr << notice("troupe monitor " + command, reason);
  return 1;
}

/// What a refusal comes to, in words.
std::string words_of(const caf::error& why) {
  const auto code = to_string(status_of(why));
  const auto said = text(explanation_of(why), attr::event_text_message);
  return said ? code + " (" + *said + ")" : code;
}

/// Asks for something that is done or refused.
int carry_out(const std::string& command, const std::string& dvm,
              const monitor_request& what) {
  auto session = tool_session::open(dvm, false, {});
  if (!session)
    return fail(command, reason_of(session.error()));
  const auto got = (**session).ask(what, answer_time);
  if (!got)
    return fail(command, words_of(got.error()));
  const auto* result = std::get_if<info_result>(&*got);
  if (command == "add" && result != nullptr)
    if (const auto which = number<uint64_t>(result->infos, monitor_number_key))
      std::cout << *which << '\n';
  return std::cout.flush() ? 0 : fail(command, "cannot write the answer");
}

int run(const add_monitor& order) {
  return carry_out("add", order.dvm, order.what);
}

/// Finds out whom a monitor watches: numbers are those of a node.
/// @returns why that cannot be told.
caf::error find_watched(tool_session& to, monitor_request& what) {
  auto question = query_request{};
  question.queries.emplace_back().keys = {std::string{monitor_list_key}};
  const auto got = to.ask(question, answer_time);
  if (!got)
    return got.error();
  const auto* result = std::get_if<info_result>(&*got);
  const auto* list =
    result != nullptr ? find(result->infos, monitor_list_key) : nullptr;
  const auto wanted = number<uint64_t>(what.directives, monitor_number_key);
  auto found = std::vector<proc_id>{};
  if (list != nullptr)
    for (const auto& item : infos_of(*list)) {
      const auto entry = infos_of(item.val);
      const auto* proc = find(entry, attr::procid);
      if (number<uint64_t>(entry, monitor_number_key) == wanted
          && proc != nullptr && proc->proc() != nullptr)
        found.push_back(*proc->proc());
    }
  if (found.size() > 1)
    return make_error(status::bad_param,
                      "monitors of several nodes have that number: say whom it "
                      "watches by --proc");
  if (!found.empty())
    what.directives.push_back({std::string{attr::monitor_target_procs}, 0,
                               value::procs(std::move(found))});
  return {};
}

int run(cancel_monitor& order) {
  if (find(order.what.directives, attr::monitor_target_procs) == nullptr) {
    auto session = tool_session::open(order.dvm, false, {});
    if (!session)
      return fail("cancel", reason_of(session.error()));
    if (const auto why = find_watched(**session, order.what))
      return fail("cancel", words_of(why));
  }
  return carry_out("cancel", order.dvm, order.what);
}

} // namespace

int monitor(std::vector<std::string> args) {
  if (!args.empty() && args.front() == "list") {
    args.erase(args.begin());
    return ask(report_kind::monitors, "monitor list", std::move(args));
  }
  auto order = parse_monitor_options(std::move(args));
  if (const auto* status = std::get_if<int>(&order))
    return *status;
  return std::visit([](auto& x) { return run(x); },
                    std::get<monitor_order>(order));
}

} // namespace troupe
