#include "actors/control/checkpoint_methods.hpp"

#include "actors/make_info.hpp"
#include "messages/attributes.hpp"

#include <csignal>
#include <utility>

namespace troupe {

bool cannot_be_caught(const checkpoint_method& x) {
  return x.signal && (*x.signal == SIGKILL || *x.signal == SIGSTOP);
}

namespace {

info describe_method(const checkpoint_method& x) {
  if (x.signal)
    return make_info(attr::job_ctrl_checkpoint_signal,
                     value::integer(*x.signal));
  const auto code = x.event.value_or(status::jctrl_checkpoint);
  return make_info(attr::job_ctrl_checkpoint_event,
                   value::of_status(static_cast<int32_t>(code)));
}

} // namespace

caf::error checkpoint_methods::declare(const proc_id& who,
                                       const control_directives& what) {
  if (what.methods) {
    if (what.methods->size() > defaults::checkpoint_methods_per_process)
      return make_error(
        status::out_of_resource,
        to_string(who) + " declares " + std::to_string(what.methods->size())
          + " checkpoint methods; at most "
          + std::to_string(defaults::checkpoint_methods_per_process));
    for (const auto& x : *what.methods)
      if (cannot_be_caught(x))
        return make_error(status::bad_param,
                          "signal " + std::to_string(*x.signal)
                            + " is no checkpoint method of " + to_string(who)
                            + ": no process can catch it");
  }
  const auto is_new =
    (what.methods && !what.methods->empty() && methods_.count(who) == 0)
    || (what.preemptible == true && preemptible_.count(who.nspace) == 0);
  if (is_new && size() >= max_procs_)
    return make_error(status::out_of_resource,
                      "no more than " + std::to_string(max_procs_)
                        + " processes may declare checkpoint methods");
  if (what.methods && what.methods->empty())
    methods_.erase(who);
  else if (what.methods)
    methods_[who] = *what.methods;
  if (what.preemptible == true)
    preemptible_[who.nspace] = who;
  else if (what.preemptible == false)
    preemptible_.erase(who.nspace);
  return caf::none;
}

const std::vector<checkpoint_method>*
checkpoint_methods::find(const proc_id& proc) const {
  const auto i = methods_.find(proc);
  return i != methods_.end() ? &i->second : nullptr;
}

bool checkpoint_methods::is_preemptible(const std::string& nspace) const {
  return preemptible_.count(nspace) > 0;
}

std::vector<info> checkpoint_methods::describe(const proc_id& proc) const {
  auto result = std::vector<info>{};
  result.push_back(make_info(attr::job_ctrl_preemptible,
                             value::boolean(is_preemptible(proc.nspace))));
  const auto* those = find(proc);
  if (those == nullptr)
    return result;
  auto infos = std::vector<info>{};
  for (const auto& x : *those)
    infos.push_back(describe_method(x));
  result.push_back(make_info(attr::job_ctrl_checkpoint_method,
                             value::infos(std::move(infos))));
  return result;
}

void checkpoint_methods::proc_ended(const proc_id& proc) {
  methods_.erase(proc);
}

void checkpoint_methods::job_ended(const std::string& nspace) {
  methods_.erase(methods_.lower_bound({nspace, 0}),
                 methods_.upper_bound({nspace, rank_undef}));
  preemptible_.erase(nspace);
}

} // namespace troupe
