#include "actors/control/checkpoint_records.hpp"

#include "actors/control/checkpoint_round.hpp"
#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "messages/bounded_codec.hpp"
#include "messages/inspect.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

/// A checkpoint as it is kept.
struct kept_checkpoint {
  std::string id;
  std::string nspace;
  spawn_request request;
  credentials owner;
  std::vector<std::string> hosts;
  std::vector<uint32_t> apps;
  bool is_recoverable = false;
  std::set<uint32_t> ranks;
  bool is_by_hook = false;
};

TROUPE_INSPECT(kept_checkpoint, x.id, x.nspace, x.request, x.owner, x.hosts,
               x.apps, x.is_recoverable, x.ranks, x.is_by_hook)

/// What is kept begins with this: another layout has another number.
constexpr auto kept_version = std::string_view{"troupe checkpoints 1\n"};

kept_checkpoint kept_of(const checkpoint& x) {
  return {x.id,         x.nspace,    x.job->request,        x.job->owner,
          x.job->hosts, x.job->apps, x.job->is_recoverable, x.ranks,
          x.is_by_hook};
}

/// Whether each rank has a program and a node, as those that were saved here.
bool is_sound(const kept_checkpoint& x) {
  const auto is_program = [&](uint32_t i) { return i < x.request.apps.size(); };
  return !x.ranks.empty() && *x.ranks.rbegin() < x.hosts.size()
         && x.hosts.size() == x.apps.size()
         && std::all_of(x.apps.begin(), x.apps.end(), is_program);
}

} // namespace

void checkpoint_records::append(checkpoint what) {
  const auto bytes = encode(kept_of(what)).size();
  size_bytes_ += bytes;
  all_.push_back({std::move(what), bytes});
}

/// @returns the names of those that go.
std::vector<std::string> checkpoint_records::trim() {
  auto result = std::vector<std::string>{};
  while (all_.size() > bound_
         || (all_.size() > 1 && size_bytes_ > most_bytes_)) {
    size_bytes_ -= all_.front().bytes;
    result.push_back(std::move(all_.front().what.id));
    all_.pop_front();
  }
  return result;
}

std::vector<std::string> checkpoint_records::add(checkpoint what) {
  for (auto i = all_.begin(); i != all_.end();) {
    if (i->what.id == what.id
        && i->what.job->owner.uid == what.job->owner.uid) {
      size_bytes_ -= i->bytes;
      i = all_.erase(i);
    } else {
      ++i;
    }
  }
  if (what.latest.empty())
    what.latest = what.nspace;
  append(std::move(what));
  return trim();
}

const checkpoint* checkpoint_records::find(uint32_t uid,
                                           const std::string& id) const {
  const auto first = [&](auto predicate) -> const checkpoint* {
    const auto i =
      std::find_if(all_.rbegin(), all_.rend(),
                   [&](const entry& x) { return predicate(x.what); });
    return i != all_.rend() ? &i->what : nullptr;
  };
  const auto* own = first(
    [&](const checkpoint& x) { return x.id == id && x.job->owner.uid == uid; });
  if (own != nullptr || uid != 0)
    return own;
  return first([&](const checkpoint& x) { return x.id == id; });
}

void checkpoint_records::restarted(uint32_t owner, const std::string& id,
                                   const std::string& nspace) {
  for (auto& [x, bytes] : all_)
    if (x.id == id && x.job->owner.uid == owner)
      x.latest = nspace;
}

std::string checkpoint_records::save() const {
  auto kept = std::vector<kept_checkpoint>{};
  for (const auto& x : all_)
    kept.push_back(kept_of(x.what));
  return std::string{kept_version} + encode(kept);
}

caf::error checkpoint_records::load(std::string_view bytes) {
  const auto refused = make_error(
    status::bad_param, "these are no checkpoints that this version has kept; "
                       "name another file by --checkpoints");
  if (bytes.substr(0, kept_version.size()) != kept_version)
    return refused;
  auto kept =
    decode<std::vector<kept_checkpoint>>(bytes.substr(kept_version.size()));
  if (!kept || !std::all_of(kept->begin(), kept->end(), is_sound))
    return refused;
  for (auto& x : *kept) {
    auto job = std::make_shared<recorded_job>();
    job->request = std::move(x.request);
    job->owner = x.owner;
    job->hosts = std::move(x.hosts);
    job->apps = std::move(x.apps);
    job->is_recoverable = x.is_recoverable;
    auto made = checkpoint{};
    made.id = std::move(x.id);
    made.nspace = std::move(x.nspace);
    made.job = std::move(job);
    made.ranks = std::move(x.ranks);
    made.is_by_hook = x.is_by_hook;
    // Another job may have its name by now: it is not this one's.
    append(std::move(made));
  }
  trim();
  return caf::none;
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
                          + to_string(proc_id{from.nspace, rank})
                          + "; restart those it has, or the whole job");
  if (from.is_by_hook && restart_command.empty())
    return make_error(status::not_supported,
                      "checkpoint " + from.id
                        + " was taken by the site's hook, "
                        + "and this DVM has none that restores it; give one by "
                          "--hook to troupe up");
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
