#include "adapters/c_host/host_module.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace troupe {

static_assert(offsetof(pmix_server_module_t, client_connected2)
                == module_size_4 - sizeof(void*),
              "the first 28 entries are those of release 4");

pmix_server_module_t copy_module(const void* module, size_t size) {
  auto result = pmix_server_module_t{};
  if (module == nullptr)
    return result;
  if (size != module_size_5) {
    std::memcpy(&result, module, std::min(size, sizeof(result)));
    return result;
  }
  std::memcpy(&result, module, module_size_4);
  std::memcpy(&result.session_control,
              static_cast<const char*>(module) + module_size_4,
              sizeof(result.session_control));
  return result;
}

void server_objects::set(const proc_id& proc, void* object) {
  const auto guard = std::lock_guard{mutex_};
  objects_[proc] = object;
}

void server_objects::forget(const proc_id& proc) {
  const auto guard = std::lock_guard{mutex_};
  objects_.erase(proc);
}

void server_objects::forget(const std::string& nspace) {
  const auto guard = std::lock_guard{mutex_};
  auto i = objects_.lower_bound({nspace, 0});
  while (i != objects_.end() && i->first.nspace == nspace)
    i = objects_.erase(i);
}

void* server_objects::get(const proc_id& proc) const {
  const auto guard = std::lock_guard{mutex_};
  const auto i = objects_.find(proc);
  return i != objects_.end() ? i->second : nullptr;
}

// -- input -------------------------------------------------------------------

namespace {

/// Whether all that `inner` names are among those that `outer` names.
bool covers(const proc_id& outer, const proc_id& inner) {
  return (outer.nspace.empty() || outer.nspace == inner.nspace)
         && (outer.rank == rank_wildcard || outer.rank == inner.rank);
}

} // namespace

void input_gate::set(const proc_id& source, bool is_stopped) {
  said_.erase(
    std::remove_if(said_.begin(), said_.end(),
                   [&](const auto& x) { return covers(source, x.first); }),
    said_.end());
  // Where nothing is said nobody is stopped.
  if (is_stopped || !said_.empty())
    said_.emplace_back(source, is_stopped);
  auto ready = std::vector<std::function<void()>>{};
  auto kept = std::vector<std::pair<proc_id, std::function<void()>>>{};
  for (auto& x : waiting_)
    if (this->is_stopped(x.first))
      kept.push_back(std::move(x));
    else
      ready.push_back(std::move(x.second));
  waiting_ = std::move(kept);
  for (const auto& done : ready)
    done();
}

void input_gate::when_open(const proc_id& who, std::function<void()> done) {
  if (is_stopped(who))
    waiting_.emplace_back(who, std::move(done));
  else
    done();
}

bool input_gate::is_stopped(const proc_id& who) const {
  const auto last =
    std::find_if(said_.rbegin(), said_.rend(),
                 [&](const auto& x) { return covers(x.first, who); });
  return last != said_.rend() && last->second;
}

// -- events ------------------------------------------------------------------

void mark_origin(std::vector<info>& infos, const std::string& server) {
  // What a process says of it counts for nothing.
  take_origin(infos, server);
  infos.push_back({std::string{origin_key}, 0, value::string(server)});
}

bool take_origin(std::vector<info>& infos, const std::string& server) {
  auto is_ours = false;
  const auto is_mark = [&](const info& x) {
    if (x.key != origin_key)
      return false;
    const auto* text = x.val.text();
    is_ours = is_ours || (text != nullptr && *text == server);
    return true;
  };
  infos.erase(std::remove_if(infos.begin(), infos.end(), is_mark), infos.end());
  return is_ours;
}

} // namespace troupe
