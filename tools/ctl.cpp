#include "tools/ctl.hpp"

#include "actors/control/control_directives.hpp"
#include "messages/attributes.hpp"
#include "messages/denial.hpp"
#include "tools/ctl_options.hpp"
#include "tools/ctl_text.hpp"
#include "tools/json_output.hpp"
#include "tools/notice.hpp"
#include "tools/tool_session.hpp"

#include <nlohmann/json.hpp>

#include <iostream>

namespace troupe {

namespace {

using namespace std::chrono_literals;

/// How long a DVM may take to say what it knows.
constexpr auto query_time = 30s;

int fail(const std::string& command, const std::string& reason) {
  std::cerr << notice("troupe ctl " + command, reason);
  return 1;
}

int show(const ctl_request& order, const control_answer& x) {
  if (order.json)
    std::cout << json_document(to_json(x));
  else if (const auto done = to_text(x); !done.empty())
    std::cout << done << '\n';
  if (!std::cout.flush())
    return fail(order.command, "cannot write the answer");
  if (x.code != status::success && !order.json)
    fail(order.command, complaint_of(x));
  return exit_status_of(x);
}

int carry_out(const ctl_request& order) {
  auto session = tool_session::open(order.dvm, false, {});
  if (!session)
    return fail(order.command, reason_of(session.error()));
  const auto got = (**session).ask(order.what, order.limit);
  if (got) {
    const auto* result = std::get_if<info_result>(&*got);
    return show(order,
                {status::success,
                 result != nullptr ? result->infos : std::vector<info>{}});
  }
  return show(order, {status_of(got.error()), explanation_of(got.error())});
}

int carry_out(const ctl_status_request& order) {
  auto session = tool_session::open(order.dvm, false, {});
  if (!session)
    return fail("status", reason_of(session.error()));
  auto question = query_request{};
  auto& x = question.queries.emplace_back();
  x.keys = {std::string{control_key::status}};
  x.qualifiers = {{std::string{control_key::user}, 0, value::boolean(true)}};
  if (order.id)
    x.qualifiers.push_back(
      {std::string{attr::job_ctrl_id}, 0, value::string(*order.id)});
  const auto got = (**session).ask(question, query_time);
  if (!got && status_of(got.error()) != status::not_found)
    return fail("status", "the DVM does not answer: " + reason_of(got.error()));
  const auto* result = got ? std::get_if<info_result>(&*got) : nullptr;
  const auto* found =
    result != nullptr ? find(result->infos, control_key::status) : nullptr;
  if (found == nullptr)
    return fail("status",
                order.id ? "no request of yours is called \"" + *order.id + "\""
                         : "the server that answers does not know this; is it "
                           "a DVM of Troupe?");
  const auto requests = read_requests(*found);
  if (order.json)
    std::cout << json_document("requests", requests);
  else
    std::cout << requests_to_text(requests);
  return std::cout.flush() ? 0 : fail("status", "cannot write the answer");
}

} // namespace

int ctl(std::vector<std::string> args) {
  const auto order = parse_ctl_options(std::move(args));
  if (const auto* exit_status = std::get_if<int>(&order))
    return *exit_status;
  return std::visit([](const auto& x) { return carry_out(x); },
                    std::get<ctl_order>(order));
}

} // namespace troupe
