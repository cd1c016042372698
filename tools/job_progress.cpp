#include "tools/job_progress.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace troupe {

namespace {

/// Processes of a job that are counted, whatever a server says.
constexpr size_t most_processes = size_t{1} << 24;

std::string of_all(size_t n, size_t all) {
  return std::to_string(n) + " of " + std::to_string(all)
         + (all == 1 ? " process" : " processes");
}

/// Of what a server says, which may be another than ours.
std::string word_at(const nlohmann::json& x, const char* key) {
  const auto i = x.find(key);
  return i != x.end() && i->is_string() ? i->get<std::string>() : std::string{};
}

} // namespace

job_progress::phase job_progress::phase_of(proc_state x) {
  switch (x) {
    case proc_state::undef:
    case proc_state::prepped:
    case proc_state::launch_underway:
    case proc_state::restart:
      return phase::waiting;
    case proc_state::running:
      return phase::started;
    case proc_state::connected:
      return phase::connected;
    default:
      return x < proc_state::unterminated ? phase::started : phase::ended;
  }
}

void job_progress::add_job(const std::string& nspace, size_t procs) {
  jobs_[nspace].assign(std::min(procs, most_processes), phase::waiting);
}

void job_progress::change(const proc_id& proc, proc_state state) {
  const auto i = jobs_.find(proc.nspace);
  if (i != jobs_.end() && proc.rank < i->second.size())
    i->second[proc.rank] = phase_of(state);
}

void job_progress::remove_job(const std::string& nspace) {
  jobs_.erase(nspace);
}

void job_progress::read(const nlohmann::json& processes,
                        const std::set<std::string>& nspaces) {
  jobs_.clear();
  if (!processes.is_array())
    return;
  for (const auto& x : processes) {
    if (!x.is_object())
      continue;
    const auto nspace = word_at(x, "nspace");
    if (nspaces.count(nspace) == 0)
      continue;
    const auto state = word_at(x, "state");
    jobs_[nspace].push_back(state == "starting"  ? phase::waiting
                            : state == "running" ? phase::started
                                                 : phase::ended);
  }
}

std::string job_progress::text() const {
  auto all = size_t{0};
  auto started = size_t{0};
  auto connected = size_t{0};
  auto ended = size_t{0};
  for (const auto& [nspace, procs] : jobs_) {
    all += procs.size();
    for (const auto x : procs) {
      started += x != phase::waiting ? 1 : 0;
      connected += x == phase::connected ? 1 : 0;
      ended += x == phase::ended ? 1 : 0;
    }
  }
  if (all == 0)
    return {};
  if (is_ending_ || ended > 0)
    return "ended " + of_all(ended, all);
  if (started == all)
    return {};
  auto result = "started " + of_all(started, all);
  if (connected > 0)
    result += ", connected " + std::to_string(connected);
  return result;
}

std::string starting_job_of(const nlohmann::json& jobs) {
  auto result = std::string{};
  if (!jobs.is_array())
    return result;
  for (const auto& x : jobs) {
    if (!x.is_object() || word_at(x, "state") != "starting")
      continue;
    if (!result.empty())
      return {};
    result = word_at(x, "nspace");
  }
  return result;
}

} // namespace troupe
