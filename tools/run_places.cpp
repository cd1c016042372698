#include "tools/run_places.hpp"

#include "actors/jobs/job_options.hpp"
#include "messages/attributes.hpp"
#include "tools/run_refusal.hpp"

#include <algorithm>
#include <string_view>

namespace troupe {

namespace {

/// What comes before the name of a file in a policy.
constexpr std::string_view file_sign = ":file=";

/// Where processes go: the policy that was given, by whatever word, with all
/// modifiers.
std::string mapping(const job_flags& x, const command_segment& from) {
  auto policies = std::vector<std::string>{};
  auto modifiers = std::string{};
  for (const auto& text : x.map_by)
    if (!text.empty() && text.front() == ':')
      modifiers += text;
    else
      policies.push_back(text);
  if (x.per_node > 0)
    policies.push_back("ppr:" + std::to_string(x.per_node) + ":node");
  if (policies.size() > 1) {
    auto words = typed_as(from, {"--map-by", "--npernode"});
    words.erase(std::remove_if(words.begin(), words.end(),
                               [](const std::string& word) {
                                 return word.find(" :") != std::string::npos;
                               }),
                words.end());
    refuse(words.at(0) + " and " + words.at(1)
           + " both say where processes go; give one of them");
  }
  for (const auto& text : x.map_modifiers)
    modifiers += ":" + text;
  if (x.oversubscribe)
    modifiers += ":OVERSUBSCRIBE";
  auto result = policies.empty() ? std::string{} : policies.front();
  // The name of a file goes up to the end.
  const auto file = std::min(result.find(file_sign), result.size());
  return result.insert(file, modifiers);
}

/// Checks by the rules of whoever puts processes there; in the place of an
/// attribute an error names what was typed.
void check(const spawn_request& job, const command_segment& from) {
  const auto options = read_options(job);
  if (options)
    return;
  auto what = reason_of(options.error());
  const std::pair<std::string_view, std::vector<std::string>> words[] = {
    {"PMIX_MAPBY", typed_as(from, {"--map-by", "--npernode", "--map-modifier",
                                   "--oversubscribe"})},
    {"PMIX_RANKBY", typed_as(from, {"--rank-by"})},
    {"PMIX_BINDTO", typed_as(from, {"--bind-to"})},
    {"PMIX_CPU_LIST", typed_as(from, {"--cpu-list"})}};
  for (const auto& [key, typed] : words)
    for (auto at = what.find(key); !typed.empty() && at != std::string::npos;
         at = what.find(key)) {
      auto text = std::string{};
      for (const auto& word : typed)
        text += (text.empty() ? "" : " ") + word.substr(0, word.find(' '));
      what.replace(at, key.size(), text);
    }
  refuse(what);
}

} // namespace

void add_places(spawn_request& job, const job_flags& x,
                const command_segment& from) {
  auto& infos = job.job_infos;
  const auto map_by = mapping(x, from);
  const std::pair<std::string_view, std::string> texts[] = {
    {attr::mapby, map_by},
    {attr::rankby, x.rank_by},
    {attr::bindto, x.bind_to},
    {attr::cpu_list, x.cpu_list}};
  for (const auto& [key, text] : texts)
    if (!text.empty())
      infos.push_back({std::string{key}, 0, value::string(text)});
  if (const auto path = mapping_file_of(job); !path.empty()) {
    auto content = value_or_refuse(read_text_file(path),
                                   typed_as(from, {"--map-by"}).front());
    infos.push_back(
      {std::string{mapping_file_key}, 0, value::string(std::move(content))});
  }
  if (x.report_bindings)
    infos.push_back(
      {std::string{attr::report_bindings}, 0, value::boolean(true)});
  check(job, from);
  // A modifier of the binding says the same: launchers look at the attribute.
  if (const auto options = read_options(job);
      options && options->report_bindings
      && !flag(infos, attr::report_bindings))
    infos.push_back(
      {std::string{attr::report_bindings}, 0, value::boolean(true)});
}

} // namespace troupe
