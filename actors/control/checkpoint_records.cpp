#include "actors/control/checkpoint_records.hpp"

#include "actors/control/checkpoint_round.hpp"
#include "base/make_info.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

std::string checkpoint_records::add(checkpoint what) {
  const auto is_same = [&what](const checkpoint& x) {
    return x.id == what.id && x.job->owner.uid == what.job->owner.uid;
  };
  all_.erase(std::remove_if(all_.begin(), all_.end(), is_same), all_.end());
  if (what.latest.empty())
    what.latest = what.nspace;
  all_.push_back(std::move(what));
  if (all_.size() <= bound_)
    return {};
  auto forgotten = std::move(all_.front().id);
  all_.pop_front();
  return forgotten;
}

const checkpoint* checkpoint_records::find(uint32_t uid,
                                           const std::string& id) const {
  const auto first = [&](auto predicate) {
    const auto i = std::find_if(all_.rbegin(), all_.rend(), predicate);
    return i != all_.rend() ? &*i : nullptr;
  };
  const auto* own = first(
    [&](const checkpoint& x) { return x.id == id && x.job->owner.uid == uid; });
  if (own != nullptr || uid != 0)
    return own;
  return first([&](const checkpoint& x) { return x.id == id; });
}

void checkpoint_records::restarted(uint32_t owner, const std::string& id,
                                   const std::string& nspace) {
  for (auto& x : all_)
    if (x.id == id && x.job->owner.uid == owner)
      x.latest = nspace;
}

std::string checkpoint_variable(const std::string& id) {
  return std::string{checkpoint_id_variable} + "=" + id;
}

namespace {

void set_variable(app& program, const std::string& name,
                  const std::string& val) {
  const auto prefix = name + "=";
  auto& env = program.env;
  env.erase(std::remove_if(env.begin(), env.end(),
                           [&](const std::string& x) {
                             return x.compare(0, prefix.size(), prefix) == 0;
                           }),
            env.end());
  env.push_back(prefix + val);
}

void start_with(app& program, const std::vector<std::string>& command) {
  auto argv = command;
  if (program.argv.empty())
    argv.push_back(program.cmd);
  else
    argv.insert(argv.end(), program.argv.begin(), program.argv.end());
  program.cmd = command.front();
  program.argv = std::move(argv);
}

/// Adds data of the job's level to that which it had anyway.
void add_preset(std::vector<info>& to, info what) {
  for (auto& x : to) {
    if (x.key != preset_data)
      continue;
    auto infos = infos_of(x.val);
    infos.erase(
      std::remove_if(infos.begin(), infos.end(),
                     [&](const info& y) { return y.key == what.key; }),
      infos.end());
    infos.push_back(std::move(what));
    x.val = value::infos(std::move(infos));
    return;
  }
  to.push_back(make_info(preset_data, value::infos({std::move(what)})));
}

void remove(std::vector<info>& from, std::string_view key) {
  from.erase(std::remove_if(from.begin(), from.end(),
                            [&](const info& x) { return x.key == key; }),
             from.end());
}

} // namespace

caf::expected<spawn_request>
make_restart(const checkpoint& from, const std::set<uint32_t>& ranks,
             const std::vector<std::string>& restart_command) {
  const auto& wanted = ranks.empty() ? from.ranks : ranks;
  for (const auto rank : wanted)
    if (from.ranks.count(rank) == 0)
      return make_error(status::not_found,
                        "checkpoint " + from.id + " has no state of "
                          + to_string(proc_id{from.nspace, rank}));
  if (from.is_by_hook && restart_command.empty())
    return make_error(status::not_supported,
                      "checkpoint " + from.id
                        + " was taken by the site's hook, "
                        + "and this DVM has none that restores it");
  const auto& job = *from.job;
  auto result = job.request;
  const auto is_whole = wanted.size() == job.hosts.size();
  if (!is_whole) {
    result.apps.clear();
    for (const auto rank : wanted) {
      auto program = job.request.apps[job.apps[rank]];
      program.max_procs = 1;
      set_variable(program, checkpoint_rank_variable, std::to_string(rank));
      result.apps.push_back(std::move(program));
    }
    // How many there are on a node is no longer what it was.
    remove(result.job_infos, attr::ppr);
    remove(result.job_infos, attr::mapby);
    remove(result.job_infos, attr::stdin_tgt);
  }
  for (auto& program : result.apps) {
    set_variable(program, checkpoint_id_variable, from.id);
    if (from.is_by_hook)
      start_with(program, restart_command);
  }
  auto hosts = std::vector<value>{};
  for (const auto rank : wanted)
    hosts.push_back(value::string(job.hosts[rank]));
  remove(result.job_infos, wanted_hosts);
  result.job_infos.push_back(
    make_info(wanted_hosts, value::array(data_type::string, std::move(hosts))));
  add_preset(result.job_infos,
             make_info(attr::job_ctrl_restart, value::string(from.id)));
  return result;
}

} // namespace troupe
