#include "actors/server_state.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>

// Jobs that run on other nodes only, and what other nodes ask for.

namespace troupe::server_internals {

namespace {

/// Takes what the server of another node says of its job.
caf::error add_foreign(server_state& state, const requester& who,
                       const std::string& nspace, const get_result& found) {
  auto infos = std::vector<info>{};
  for (const auto& block : found.blocks)
    if (block.proc == proc_id{nspace, rank_wildcard})
      for (const auto& x : block.entries)
        infos.push_back({x.key, 0, x.val});
  if (infos.empty())
    return make_error(status::invalid_namespace, "no namespace " + nspace);
  if (state.find_namespace(nspace) != nullptr)
    return {}; // It has been registered meanwhile.
  auto entry = namespace_entry{state.options.posted};
  entry.owner = who.creds;
  entry.data = job_data{nspace, infos};
  entry.is_foreign = true;
  state.namespaces.emplace(nspace, std::move(entry));
  return {};
}

/// What a local process shows to other nodes.
get_result posted_for_others(const namespace_entry& entry,
                             const proc_id& proc) {
  return {{{proc, entry.posted.visible_elsewhere(proc.rank)}}};
}

/// What can be said now; nothing: it may still come.
std::optional<caf::expected<get_result>>
try_answer(server_state& state, const proc_id& target, const std::string* key) {
  const auto* entry = state.find_namespace(target.nspace);
  if (entry == nullptr)
    return std::nullopt;
  if (target.rank == rank_wildcard)
    return get_result{{{target, whole_job(*entry->data.all())}}};
  const auto* proc = state.find_local(target);
  const auto is_gone = proc != nullptr && proc->is_gone();
  if (entry->posted.has_committed(target.rank)) {
    auto result = posted_for_others(*entry, target);
    const auto has_key =
      key == nullptr || find(result.blocks.front().entries, *key) != nullptr;
    auto& entries = result.blocks.front().entries;
    if (has_key && key != nullptr && entry->posted.is_large(target.rank))
      entries.erase(std::remove_if(entries.begin(), entries.end(),
                                   [&](const key_value& x) {
                                     return x.key != *key
                                            && x.key != attr::qualified_value;
                                   }),
                    entries.end());
    if (has_key || is_gone)
      return result;
  }
  if (entry->posted.was_refused(target.rank, key))
    return refusal_of(target, key);
  if (is_gone)
    return make_error(status::not_found, to_string(target) + " has ended");
  return std::nullopt;
}

} // namespace

bool may_be_elsewhere(const server_state& state, const std::string& nspace) {
  return state.options.spans_nodes && !nspace.empty()
         && state.namespaces.count(nspace) == 0;
}

std::optional<std::string> first_elsewhere(const server_state& state,
                                           const std::vector<proc_id>& procs) {
  const std::string* here = nullptr;
  for (const auto& proc : procs) {
    if (here != nullptr && *here == proc.nspace)
      continue;
    if (may_be_elsewhere(state, proc.nspace))
      return proc.nspace;
    here = &proc.nspace;
  }
  return std::nullopt;
}

void fetch_namespace(self_pointer self, const requester& who,
                     const std::string& nspace,
                     std::function<void(const caf::error&)> then) {
  auto& state = self->state;
  auto& waiters = state.fetching[nspace];
  waiters.push_back(std::move(then));
  if (waiters.size() > 1)
    return;
  const auto finish = [self, nspace](const caf::error& why) {
    auto node = self->state.fetching.extract(nspace);
    if (!node.empty())
      for (const auto& waiter : node.mapped())
        waiter(why);
  };
  self
    ->request(state.directory.host, caf::infinite,
              direct_modex{{nspace, rank_wildcard}, {}})
    .then(
      [self, finish, who, nspace](const get_result& found) {
        finish(add_foreign(self->state, who, nspace, found));
      },
      [finish, nspace](const caf::error& err) {
        finish(make_error(status::invalid_namespace,
                          "no namespace " + nspace + ": " + reason_of(err)));
      });
}

caf::result<get_result> answer_modex(self_pointer self,
                                     const direct_modex& request) {
  auto& state = self->state;
  const auto key = text(request.directives, attr::required_key);
  if (auto now = try_answer(state, request.target, key ? &*key : nullptr)) {
    if (*now)
      return std::move(**now);
    return std::move(now->error());
  }
  auto promise = self->make_response_promise<get_result>();
  const auto id = state.next_modex++;
  state.modexes.emplace(
    id, waiting_modex{request.target, key, answer<get_result>{promise}});
  const auto* entry = state.find_namespace(request.target.nspace);
  const auto has_committed =
    entry != nullptr && entry->posted.has_committed(request.target.rank);
  const auto limit =
    timeout_of(request.directives)
      .value_or(has_committed ? caf::timespan{defaults::get_wait}
                              : caf::timespan{defaults::modex_wait});
  call_later(self, limit, [self, id] {
    auto node = self->state.modexes.extract(id);
    if (node.empty())
      return;
    // What there is, if it has posted anything.
    auto& x = node.mapped();
    auto now = try_answer(self->state, x.target, nullptr);
    if (now && *now)
      x.reply.give(std::move(**now));
    else
      x.reply.fail(status::timeout,
                   to_string(x.target) + " posted nothing in time");
  });
  return promise;
}

void wake_modexes(server_state& state, const proc_id& proc) {
  for (auto i = state.modexes.begin(); i != state.modexes.end();) {
    auto& x = i->second;
    auto now = x.target == proc
                 ? try_answer(state, proc, x.key ? &*x.key : nullptr)
                 : std::nullopt;
    if (!now) {
      ++i;
      continue;
    }
    if (*now)
      x.reply.give(std::move(**now));
    else
      x.reply.fail(std::move(now->error()));
    i = state.modexes.erase(i);
  }
}

} // namespace troupe::server_internals
