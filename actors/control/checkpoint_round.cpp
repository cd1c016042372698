#include "actors/control/checkpoint_round.hpp"

#include "actors/control/defaults.hpp"
#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "messages/site_hook.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

namespace troupe {

namespace {

info describe_method(const checkpoint_method& x) {
  if (x.signal)
    return make_info(attr::job_ctrl_checkpoint_signal,
                     value::integer(*x.signal));
  const auto code = x.event.value_or(status::jctrl_checkpoint);
  return make_info(attr::job_ctrl_checkpoint_event,
                   value::of_status(static_cast<int32_t>(code)));
}

/// Rows of ranks that are named; a message that nobody can read helps nobody.
constexpr size_t max_rows = 32;

bool is_supported(const checkpoint_method& x) {
  return x.event || x.signal;
}

void add(checkpoint_round::plan& to, const checkpoint_method& how,
         const proc_id& proc) {
  if (how.signal)
    to.by_signal[*how.signal].push_back(proc);
  else
    to.by_event[*how.event].push_back(proc);
}

/// `0-3, 7`
std::string rows_of(const std::vector<uint32_t>& ranks) {
  auto result = std::string{};
  auto rows = size_t{0};
  for (size_t i = 0; i < ranks.size();) {
    auto j = i + 1;
    while (j < ranks.size() && ranks[j] == ranks[j - 1] + 1)
      ++j;
    if (++rows > max_rows)
      return result + ", ...";
    result += (result.empty() ? "" : ", ") + std::to_string(ranks[i]);
    if (j - i > 1)
      result += "-" + std::to_string(ranks[j - 1]);
    i = j;
  }
  return result;
}

std::vector<proc_id> list(const std::set<proc_id>& procs) {
  return {procs.begin(), procs.end()};
}

} // namespace

bool cannot_be_caught(const checkpoint_method& x) {
  return x.signal && (*x.signal == SIGKILL || *x.signal == SIGSTOP);
}

caf::error checkpoint_methods::declare(const proc_id& who,
                                       const control_directives& what) {
  if (what.methods) {
    if (what.methods->size() > defaults::checkpoint_methods_per_process)
      return make_error(
        status::out_of_resource,
        to_string(who) + " declares " + std::to_string(what.methods->size())
          + " checkpoint methods; at most "
          + std::to_string(defaults::checkpoint_methods_per_process)
          + ": declare fewer");
    for (const auto& x : *what.methods)
      if (cannot_be_caught(x))
        return make_error(status::bad_param,
                          "signal " + std::to_string(*x.signal)
                            + " is no checkpoint method of " + to_string(who)
                            + ": no process can catch it; choose another");
  }
  const auto is_new =
    (what.methods && !what.methods->empty() && methods_.count(who) == 0)
    || (what.preemptible == true && preemptible_.count(who.nspace) == 0);
  if (is_new && size() >= max_procs_)
    return make_error(status::out_of_resource,
                      "no more than " + std::to_string(max_procs_)
                        + " processes may declare checkpoint methods; let one "
                          "of each node declare");
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

std::string list_of_procs(const std::set<proc_id>& procs) {
  auto by_nspace = std::map<std::string, std::vector<uint32_t>>{};
  for (const auto& x : procs)
    by_nspace[x.nspace].push_back(x.rank);
  auto result = std::string{};
  for (const auto& [nspace, ranks] : by_nspace)
    result += (result.empty() ? "" : "; ") + nspace
              + (ranks.size() == 1 ? ": rank " : ": ranks ") + rows_of(ranks);
  return result;
}

caf::expected<checkpoint_round::plan>
checkpoint_round::make_plan(const std::vector<proc_id>& procs,
                            const std::vector<checkpoint_method>& wanted,
                            const checkpoint_methods& declared, bool has_hook) {
  if (procs.empty())
    return make_error(status::bad_param,
                      "none of the processes to save runs (any more); troupe "
                      "ps lists those that do");
  for (const auto& x : wanted)
    if (cannot_be_caught(x))
      return make_error(
        status::bad_param,
        "signal " + std::to_string(*x.signal)
          + " asks for no checkpoint: no process can catch it; choose another");
  auto result = plan{};
  auto without = std::set<proc_id>{};
  for (const auto& proc : procs) {
    const auto* own = declared.find(proc);
    const auto* from = !wanted.empty() ? &wanted : own;
    const auto first =
      from != nullptr ? std::find_if(from->begin(), from->end(), is_supported)
                      : std::vector<checkpoint_method>::const_iterator{};
    if (from != nullptr && first != from->end())
      add(result, *first, proc);
    else if (has_hook)
      result.by_hook.push_back(proc);
    else
      without.insert(proc);
  }
  if (!without.empty())
    return make_error(status::not_supported,
                      list_of_procs(without)
                        + " registered no checkpoint method that is supported; "
                          "name an event or a signal in the request");
  return result;
}

checkpoint_round::checkpoint_round(std::string name,
                                   const std::vector<proc_id>& procs)
  : name_(std::move(name)), waiting_(procs.begin(), procs.end()) {
  // nop
}

bool checkpoint_round::complete(const proc_id& proc) {
  if (waiting_.erase(proc) == 0)
    return false;
  saved_.insert(proc);
  return true;
}

bool checkpoint_round::fail(const proc_id& proc, std::string why) {
  if (waiting_.erase(proc) == 0)
    return false;
  failed_.emplace(proc, std::move(why));
  return true;
}

control_result checkpoint_round::result() const {
  auto result = control_result{};
  result.reached = saved_.size();
  result.missing = list(waiting_);
  auto failed = std::vector<proc_id>{};
  auto whys = std::map<std::string, std::set<proc_id>>{};
  for (const auto& [proc, why] : failed_) {
    failed.push_back(proc);
    whys[why].insert(proc);
  }
  for (const auto& [why, those] : whys)
    result.reason +=
      (result.reason.empty() ? "" : "; ") + list_of_procs(those) + " " + why;
  if (!waiting_.empty())
    result.reason += (result.reason.empty() ? "" : "; ")
                     + list_of_procs(waiting_) + " did not complete in time";
  if (!result.reason.empty())
    result.reason = name_ + ": " + result.reason;
  if (!waiting_.empty())
    result.code = status::timeout;
  else if (!failed_.empty())
    result.code = status::error;
  const auto add = [&result](std::string_view key, std::vector<proc_id> xs) {
    if (!xs.empty())
      result.infos.push_back(make_info(key, value::procs(std::move(xs))));
  };
  add(checkpoint_saved_key, list(saved_));
  add(checkpoint_failed_key, std::move(failed));
  return result;
}

} // namespace troupe
