#include "actors/control/checkpoint_round.hpp"

#include "messages/site_hook.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

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
                      "none of the processes to save runs (any more)");
  for (const auto& x : wanted)
    if (cannot_be_caught(x))
      return make_error(status::bad_param,
                        "signal " + std::to_string(*x.signal)
                          + " asks for no checkpoint: no process can catch it");
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
      result.infos.push_back(
        {std::string{key}, 0, value::procs(std::move(xs))});
  };
  add(checkpoint_saved_key, list(saved_));
  add(checkpoint_failed_key, std::move(failed));
  return result;
}

} // namespace troupe
