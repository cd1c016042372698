#include "actors/data/qualified_value.hpp"
#include "actors/server_state.hpp"
#include "messages/attributes.hpp"

#include <algorithm>

namespace troupe::server_internals {

namespace {

/// What came of looking for a key.
struct found {
  /// Nothing: not there now.
  std::optional<get_result> result;

  /// Whether it may still come.
  bool may_come = false;

  /// Whether its process was refused it.
  bool was_refused = false;
};

/// What an answer brings when somebody wants a key of a process: all that it
/// has posted, so that he need not ask again, unless that is much.
std::vector<key_value> posted_by(const namespace_entry& entry, uint32_t rank,
                                 const std::optional<std::string>& wanted) {
  const auto takes_all = !wanted || !entry.posted.is_large(rank);
  const auto prefix = wanted ? qualified_prefix(*wanted) : std::string{};
  auto result = std::vector<key_value>{};
  for (const auto& [name, val] : entry.posted.visible_here(rank))
    if (takes_all || name == *wanted
        || name.compare(0, prefix.size(), prefix) == 0)
      result.push_back({std::string{posted_key(name)}, val});
  return result;
}

/// Source: PMIx Standard v5, "Reserved keys": those of the library and the host
/// are never posted, so nobody waits for one.
bool is_reserved(const std::string& key) {
  return key.compare(0, 4, "pmix") == 0;
}

/// Looks for `key` among the infos of a node, session or application array.
found in_array(const proc_id& target, std::string_view array_key,
               std::vector<info> infos, const std::optional<std::string>& key) {
  auto result = found{};
  if (infos.empty())
    return result;
  auto block = proc_data{target, {}};
  if (key) {
    const auto* val = find(infos, *key);
    if (val == nullptr)
      return result;
    block.entries.push_back({*key, *val});
  }
  block.entries.push_back(
    {std::string{array_key}, value::infos(std::move(infos))});
  result.result = get_result{{std::move(block)}};
  return result;
}

/// Looks for job-level data.
found job_level(const namespace_entry& entry, const requester& who,
                const get_request& request) {
  const auto& target = request.target;
  if (flag(request.directives, attr::node_info))
    return in_array(target, attr::node_info_array,
                    entry.data.of_node(request.directives), request.key);
  if (flag(request.directives, attr::app_info))
    return in_array(target, attr::app_info_array,
                    entry.data.of_app(request.directives), request.key);
  if (flag(request.directives, attr::session_info))
    return in_array(target, attr::session_info_array, entry.data.of_session(),
                    request.key);
  auto result = found{};
  if (request.key && entry.data.find(*request.key) == nullptr)
    return result;
  const auto is_foreign = who.proc.nspace != target.nspace;
  result.result = get_result{
    {{{target.nspace, rank_wildcard},
      is_foreign ? whole_job(*entry.data.all()) : entry.data.job_level()}}};
  return result;
}

/// Looks for the data of one process.
found rank_level(const namespace_entry& entry, const requester& who,
                 const get_request& request) {
  const auto& target = request.target;
  auto result = found{};
  const auto size = entry.data.job_size();
  if (size && target.rank >= *size)
    return result;
  const auto* known = entry.data.of_rank(target.rank);
  const auto& posted = entry.posted.visible_here(target.rank);
  const auto is_known =
    known != nullptr && request.key && find(*known, *request.key) != nullptr;
  const auto qualifiers = qualifiers_of(request.directives);
  const auto is_posted =
    !request.key ? entry.posted.has_committed(target.rank)
    : qualifiers.empty()
      ? posted.count(*request.key) > 0
      : find_qualified(posted, *request.key, qualifiers) != nullptr;
  if (!is_known && !is_posted) {
    const auto* key = request.key ? &*request.key : nullptr;
    if (entry.posted.was_refused(target.rank, key)) {
      result.was_refused = true;
      return result;
    }
    const auto proc = entry.procs.find(target.rank);
    const auto is_alive = proc == entry.procs.end() || !proc->second.is_gone();
    result.may_come = is_alive && (!request.key || !is_reserved(*request.key))
                      && !flag(request.directives, attr::immediate)
                      && !flag(request.directives, attr::optional);
    return result;
  }
  result.result.emplace();
  auto own = proc_data{target, posted_by(entry, target.rank, request.key)};
  const auto is_foreign = who.proc.nspace != target.nspace;
  if (is_foreign)
    result.result->blocks.push_back(
      {{target.nspace, rank_wildcard}, whole_job(*entry.data.all())});
  if ((is_foreign || is_known) && known != nullptr)
    own.entries.insert(own.entries.end(), known->begin(), known->end());
  result.result->blocks.push_back(std::move(own));
  return result;
}

/// Looks for a key wherever it is: in the data of the job, or posted by one of
/// its processes. Source: PMIx Standard v5, `PMIx_Get`, PMIX_RANK_UNDEF.
found anywhere(const namespace_entry& entry, const requester& who,
               const get_request& request) {
  auto result = job_level(entry, who, request);
  if (result.result || !request.key)
    return result;
  const auto size = entry.data.job_size().value_or(0);
  for (uint32_t rank = 0; rank < size; ++rank) {
    const auto& posted = entry.posted.visible_here(rank);
    const auto i = posted.find(*request.key);
    if (i == posted.end())
      continue;
    result.result = get_result{
      {{{request.target.nspace, rank}, {{*request.key, i->second}}}}};
    break;
  }
  return result;
}

found look_up(const namespace_entry& entry, const requester& who,
              const get_request& request) {
  if (request.target.rank == rank_wildcard)
    return job_level(entry, who, request);
  if (request.target.rank == rank_undef)
    return anywhere(entry, who, request);
  return rank_level(entry, who, request);
}

std::string describe(const get_request& request) {
  return request.key.value_or("any key") + " of " + to_string(request.target);
}

caf::error error_of(const get_request& request, const found& x,
                    const char* otherwise) {
  const auto* key = request.key ? &*request.key : nullptr;
  return x.was_refused
           ? refusal_of(request.target, key)
           : make_error(status::not_found, describe(request) + otherwise);
}

/// The key of a commit whose value is the largest.
std::string largest_in(const commit_request& x) {
  auto result = std::string{"nothing"};
  auto most = size_t{0};
  for (const auto& block : x.blocks)
    for (const auto& entry : block.entries)
      if (const auto size = size_of(entry.val); size > most) {
        most = size;
        result = entry.key + ", " + std::to_string(size) + " bytes";
      }
  return result;
}

/// Keeps the request until its key is posted, its process ends, or its time is
/// up.
/// @returns the number of the request.
uint64_t wait_for(self_pointer self, const requester& who, get_request& request,
                  bool has_committed, answer<get_result> reply) {
  auto& state = self->state;
  auto timeout = timeout_of(request.directives);
  const auto code = timeout ? status::timeout : status::not_found;
  if (!timeout && has_committed)
    timeout = caf::timespan{defaults::get_wait};
  const auto id = state.next_get++;
  state.gets.emplace(id,
                     waiting_get{who, std::move(request), std::move(reply)});
  if (timeout)
    call_later(self, *timeout, [self, id, code] {
      auto node = self->state.gets.extract(id);
      if (!node.empty())
        node.mapped().reply.fail(code, describe(node.mapped().request)
                                         + " was not posted in time");
    });
  return id;
}

/// Asks the host for data of a process on another node; whoever waits for it,
/// as the get `id` does, gets it, whether it or a fence brings it first.
void ask_for_remote(self_pointer self, const get_request& request,
                    uint64_t id) {
  auto ask = direct_modex{request.target, request.directives};
  if (request.key)
    ask.directives.push_back(
      {std::string{attr::required_key}, 0, value::string(*request.key)});
  const auto fail = [self, id](status code, const std::string& why) {
    auto node = self->state.gets.extract(id);
    if (!node.empty())
      node.mapped().reply.fail(code, why);
  };
  const auto has_timeout = timeout_of(request.directives).has_value();
  self->request(self->state.directory.host, caf::infinite, std::move(ask))
    .then(
      [self, fail, target = request.target](get_result& result) {
        for (auto& x : result.blocks)
          if (auto* entry = self->state.find_namespace(x.proc.nspace))
            entry->posted.store_remote(x.proc.rank, std::move(x.entries));
        wake_gets(self, target);
        fail(status::not_found, "the host brought other data only");
      },
      [self, fail, has_timeout](const caf::error& err) {
        const auto code = status_of(err);
        const auto why = reason_of(err);
        if (code != status::not_found && code != status::not_supported)
          fail(code, why);
        else if (!has_timeout)
          call_later(self, defaults::get_wait,
                     [fail, why] { fail(status::not_found, why); });
      });
}

/// Source: PMIx Standard v5, PMIX_PSET_NAMES.
caf::result<get_result> sets_of(const server_state& state,
                                const proc_id& proc) {
  auto names = std::vector<value>{};
  for (const auto& [name, members] : state.process_sets)
    if (std::any_of(members.begin(), members.end(),
                    [&](const proc_id& x) { return matches(x, proc); }))
      names.push_back(value::string(name));
  if (names.empty())
    return make_error(status::not_found,
                      to_string(proc) + " is in no process set");
  return get_result{{{proc,
                      {{std::string{attr::pset_names},
                        value::array(data_type::string, std::move(names))}}}}};
}

} // namespace

caf::error refusal_of(const proc_id& proc, const std::string* key) {
  return make_error(status::out_of_resource,
                    to_string(proc) + " was refused "
                      + (key != nullptr ? *key : "what it posted")
                      + ": it posted more than it may");
}

caf::result<job_info_reply> get_job_info(self_pointer self,
                                         const requester& who) {
  const auto* entry = self->state.find_namespace(who.proc.nspace);
  if (entry == nullptr)
    return make_error(status::not_found,
                      "namespace " + who.proc.nspace + " is gone");
  return job_info_reply{entry->data.all()};
}

caf::result<ack> commit(self_pointer self, const requester& who,
                        const commit_request& request) {
  auto& state = self->state;
  auto* entry = state.find_namespace(who.proc.nspace);
  if (entry == nullptr)
    return make_error(status::not_found,
                      "namespace " + who.proc.nspace + " is gone");
  const auto before = entry->posted.size_bytes();
  const auto outcome = entry->posted.commit(who.proc.rank, request.blocks);
  if (outcome != status::success) {
    const auto& bounds = state.options.posted;
    const auto why =
      to_string(who.proc)
      + " posted more than it may: " + std::to_string(bounds.process_bytes)
      + " bytes a process, " + std::to_string(bounds.namespace_bytes)
      + " a namespace (TROUPE_POSTED_BYTES of the server); the largest is "
      + largest_in(request);
    state.log(severity::warning, why);
    // Whoever waits for it hears of it.
    wake_gets(self, who.proc);
    return make_error(outcome, why);
  }
  state.statistics.bytes_posted += entry->posted.size_bytes() - before;
  wake_gets(self, who.proc);
  return ack{};
}

caf::result<get_result> get(self_pointer self, const requester& who,
                            get_request& request) {
  auto& state = self->state;
  if (request.target.nspace.empty())
    request.target.nspace = who.proc.nspace;
  if (request.key == attr::pset_names && request.target.rank <= rank_valid_max)
    return sets_of(state, request.target);
  const auto* entry = state.find_namespace(request.target.nspace);
  if (entry == nullptr) {
    if (flag(request.directives, attr::immediate)
        || flag(request.directives, attr::optional))
      return make_error(status::not_found,
                        "no namespace " + request.target.nspace);
    if (may_be_elsewhere(state, request.target.nspace))
      return ask_again<get_result>(self, who, request.target.nspace, request,
                                   status::not_found);
    return self->delegate(
      state.directory.host,
      direct_modex{request.target, std::move(request.directives)});
  }
  auto x = look_up(*entry, who, request);
  if (x.result)
    return std::move(*x.result);
  if (!x.may_come)
    return error_of(request, x, " is not known");
  auto promise = self->make_response_promise<get_result>();
  const auto is_remote = !entry->is_tool && !entry->is_local()
                         && entry->procs.count(request.target.rank) == 0;
  const auto asked = is_remote ? request : get_request{};
  // The node of a remote process knows what it has posted: what it brings may
  // take its time.
  const auto has_committed =
    !is_remote && entry->posted.has_committed(request.target.rank);
  const auto id =
    wait_for(self, who, request, has_committed, answer<get_result>{promise});
  if (is_remote)
    ask_for_remote(self, asked, id);
  return promise;
}

void wake_gets(self_pointer self, const proc_id& proc) {
  auto& state = self->state;
  wake_modexes(state, proc);
  const auto* entry = state.find_namespace(proc.nspace);
  for (auto i = state.gets.begin(); i != state.gets.end();) {
    auto& x = i->second;
    if (x.request.target != proc) {
      ++i;
      continue;
    }
    auto now = entry != nullptr ? look_up(*entry, x.who, x.request) : found{};
    if (now.result) {
      x.reply.give(std::move(*now.result));
    } else if (!now.may_come) {
      x.reply.fail(error_of(x.request, now, ": it has ended"));
    } else {
      ++i;
      continue;
    }
    i = state.gets.erase(i);
  }
}

std::vector<key_value> whole_job(const job_info& job) {
  auto result = job.entries;
  for (const auto& rank : job.ranks) {
    auto infos =
      std::vector<info>{{std::string{attr::rank}, 0, value::rank(rank.rank)}};
    for (const auto& x : rank.entries)
      infos.push_back({x.key, 0, x.val});
    result.push_back(
      {std::string{attr::proc_data}, value::infos(std::move(infos))});
  }
  return result;
}

} // namespace troupe::server_internals
