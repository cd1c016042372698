#include "actors/jobs/process_sets.hpp"

#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <utility>

namespace troupe {

caf::error set_name_refusal(const std::string& name) {
  if (name.empty() || name.size() > max_nspace_length)
    return make_error(status::bad_param,
                      "the name of a process set has 1 to 255 bytes, not "
                        + std::to_string(name.size()) + "; choose another");
  if (name.find(',') != std::string::npos)
    return make_error(status::bad_param,
                      "process set " + name
                        + ": names are listed with commas between, choose one "
                          "without");
  return {};
}

caf::error process_sets::define(const define_process_set& what) {
  const auto& name = what.name;
  const auto is_of_jobs =
    !dvm_.empty()
    && (name == dvm_ || name.compare(0, dvm_.size() + 1, dvm_ + "@") == 0);
  if (is_of_jobs)
    return make_error(status::bad_param,
                      "process set " + name
                        + ": it is, or may become, the namespace of a job; "
                          "choose another name");
  if (auto why = set_name_refusal(what.name))
    return why;
  if (what.members.empty())
    return make_error(status::bad_param, "process set " + what.name
                                           + " has no members; name some");
  const auto i = sets_.find(what.name);
  if (i != sets_.end()) {
    if (i->second.members == what.members)
      return {};
    return make_error(status::exists, "there is a process set " + what.name
                                        + " of other processes, such as "
                                        + to_string(i->second.members.front())
                                        + ": choose another name");
  }
  if (sets_.size() >= defaults::process_sets)
    return make_error(status::out_of_resource,
                      "more than " + std::to_string(defaults::process_sets)
                        + " process sets; end jobs that have some");
  auto x = entry{what.members, {}};
  for (const auto& proc : what.members)
    x.jobs.insert(proc.nspace);
  sets_.emplace(what.name, std::move(x));
  return {};
}

caf::expected<std::vector<define_process_set>>
process_sets::define_of_job(const std::string& nspace,
                            const std::vector<app>& apps,
                            const std::vector<uint32_t>& app_of) {
  auto sets = std::map<std::string, define_process_set>{};
  for (uint32_t number = 0; number < apps.size(); ++number) {
    const auto name = text(apps[number].infos, attr::pset_name);
    if (!name)
      continue;
    auto& x = sets[*name];
    x.name = *name;
    for (uint32_t rank = 0; rank < app_of.size(); ++rank)
      if (app_of[rank] == number)
        x.members.push_back({nspace, rank});
  }
  auto result = std::vector<define_process_set>{};
  for (auto& [name, x] : sets) {
    if (auto why = define(x))
      return why;
    result.push_back(std::move(x));
  }
  return result;
}

const std::vector<proc_id>* process_sets::find(const std::string& name) const {
  const auto i = sets_.find(name);
  return i != sets_.end() ? &i->second.members : nullptr;
}

std::vector<std::string> process_sets::job_over(const std::string& nspace) {
  auto result = std::vector<std::string>{};
  for (auto i = sets_.begin(); i != sets_.end();) {
    auto& jobs = i->second.jobs;
    if (jobs.erase(nspace) > 0 && jobs.empty()) {
      result.push_back(i->first);
      i = sets_.erase(i);
    } else {
      ++i;
    }
  }
  return result;
}

std::vector<define_process_set> process_sets::all() const {
  auto result = std::vector<define_process_set>{};
  for (const auto& [name, x] : sets_)
    result.push_back({name, x.members});
  return result;
}

} // namespace troupe
