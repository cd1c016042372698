#include "tools/known_jobs.hpp"

#include "config/escape.hpp"
#include "messages/attributes.hpp"
#include "tools/report.hpp"

#include <nlohmann/json.hpp>

namespace troupe {

caf::expected<known_jobs> ask_jobs(tool_session& to,
                                   std::chrono::milliseconds limit) {
  auto question = query_request{};
  question.queries.emplace_back().keys = {
    std::string{query_key(report_kind::processes)}};
  const auto got = to.ask(question, limit);
  if (!got)
    return got.error();
  const auto* answer = std::get_if<info_result>(&*got);
  const auto* table = answer != nullptr
                        ? find(answer->infos, query_key(report_kind::processes))
                        : nullptr;
  if (table == nullptr)
    return make_error(status::not_supported, "is it a DVM of Troupe?");
  auto result = known_jobs{};
  for (const auto& x : to_json(*table))
    if (x.is_object() && x.contains("nspace") && x["nspace"].is_string()
        && x.contains("rank") && x["rank"].is_number_unsigned())
      result[x["nspace"].get<std::string>()].insert(x["rank"].get<uint32_t>());
  return result;
}

std::string refusal_of(const known_jobs& known, const proc_id& x) {
  const auto job = known.find(x.nspace);
  if (job != known.end()
      && (x.rank == rank_wildcard || job->second.count(x.rank)))
    return {};
  const auto name = escape_control_characters(x.nspace);
  if (job != known.end())
    return "job " + name + " has no rank " + std::to_string(x.rank)
           + "; its ranks are " + std::to_string(*job->second.begin()) + " to "
           + std::to_string(*job->second.rbegin());
  if (known.empty())
    return "there is no job " + name + "; the DVM runs none";
  auto names = std::string{};
  for (const auto& [y, ranks] : known)
    names += (names.empty() ? "" : ", ") + escape_control_characters(y);
  return "there is no job " + name + "; there is " + names;
}

} // namespace troupe
