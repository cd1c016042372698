#include "tools/run_variables.hpp"

#include "messages/attributes.hpp"
#include "tools/notice.hpp"
#include "tools/run_refusal.hpp"

#include <iostream>
#include <utility>

namespace troupe {

void add_variables(spawn_request& job, const job_flags& x,
                   const environment& launcher) {
  auto first = variable_list{};
  auto has_all = true;
  for (const auto& list : x.exports) {
    auto choice = value_or_refuse(read_export(list, launcher), "--export");
    has_all = has_all && choice.has_all;
    if (choice.has_all)
      first = all_of(launcher);
    first.insert(first.end(), choice.variables.begin(), choice.variables.end());
  }
  for (const auto& file : x.tune_files) {
    const auto text = value_or_refuse(read_text_file(file), "--tune");
    for (auto& y :
         value_or_refuse(read_tune_file(text, file, launcher), "--tune"))
      first.push_back(std::move(y));
  }
  first.insert(first.end(), x.variables.begin(), x.variables.end());
  for (auto& program : job.apps)
    program.env.insert(program.env.begin(), first.begin(), first.end());
  if (!has_all)
    for (const auto& [name, val] : launcher)
      if (name != "PATH")
        job.job_infos.push_back(
          {std::string{attr::unset_envar}, 0, value::string(name)});
  if (!x.prefix.empty())
    for (const auto& [name, directory] :
         {std::pair{"PATH", "/bin"}, std::pair{"LD_LIBRARY_PATH", "/lib"}}) {
      auto change = envar{name, x.prefix + directory, ':'};
      job.job_infos.push_back(
        {std::string{attr::prepend_envar}, 0,
         value{data_type::envar, box<envar>{std::move(change)}}});
    }
  if (x.is_quiet)
    return;
  for (const auto& program : job.apps)
    for (const auto& name : settings_of_mpirun(program.env))
      std::cerr << notice(
        "troupe run",
        "the setting " + name
          + " is one of mpirun itself; it only reaches the processes");
}

} // namespace troupe
