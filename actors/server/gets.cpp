#include "actors/server/gets.hpp"

#include "actors/data/get_options.hpp"
#include "base/make_info.hpp"
#include "base/timeout.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace troupe {

namespace {

/// Outcome of a search for a key.
struct found {
  /// Nothing: not there now.
  std::optional<get_result> result;

  /// Whether it may still come.
  bool may_come = false;

  /// Whether its process was refused it.
  bool was_refused = false;
};

/// Entries of the answer to a get of a key of a process: all that it has posted,
/// to save the next get, unless that is much.
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
  if (flag(request.directives, attr::session_info)) {
    auto session = entry.data.of_session();
    const auto wanted = number<uint32_t>(request.directives, attr::session_id);
    if (wanted && number<uint32_t>(session, attr::session_id) != wanted)
      session.clear();
    return in_array(target, attr::session_info_array, std::move(session),
                    request.key);
  }
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

/// The refusal of a key that its process was refused when it posted it; null:
/// any key.
caf::error refusal_of(const proc_id& proc, const std::string* key) {
  return make_error(status::out_of_resource,
                    to_string(proc) + " was refused "
                      + (key != nullptr ? *key : "what it posted")
                      + ": it posted more than it may; post less");
}

/// Why a process cannot open memory that we have open.
std::string why_unseen(int32_t code) {
  switch (code) {
    case ENOENT:
      return "does not find the server in its /proc, as in another pid or mount"
             " namespace";
    case EACCES:
    case EPERM:
      return "may not open what the server has open, as those of another user";
    case EINVAL:
      return "finds another process in the server's place in its /proc, as in"
             " another pid namespace";
    case EBADMSG:
      return "finds nothing there that makes sense as the data of its job";
    default:
      return std::string{"cannot map the server's: "} + std::strerror(code);
  }
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

/// Whether what a rank posts has to come from another node.
bool is_elsewhere(const namespace_entry& entry, uint32_t rank) {
  return rank <= rank_valid_max && !entry.is_tool && !entry.is_local()
         && entry.procs.count(rank) == 0;
}

/// Entries that a local process shows to other nodes.
get_result posted_for_others(const namespace_entry& entry,
                             const proc_id& proc) {
  return {{{proc, entry.posted.visible_elsewhere(proc.rank)}}};
}

} // namespace

gets::gets(registry& known, const datastore::limits& bounds, bool spans_nodes,
           effects out)
  : known_(known), bounds_(bounds), spans_nodes_(spans_nodes),
    out_(std::move(out)) {
  // nop
}

// -- data of this node --

caf::expected<job_info_reply> gets::job(const requester& who) const {
  const auto& nspace = who.proc.nspace;
  const auto* entry = known_.find(nspace);
  if (entry == nullptr)
    return make_error(status::not_found, "namespace " + nspace + " is gone");
  const auto& data = entry->data.all();
  const auto* proc = known_.find_local(who.proc);
  const auto is_in_memory = proc != nullptr && proc->posts_by == who.index
                            && entry->data_in_memory == data;
  return job_info_reply{is_in_memory ? entry->note_of_memory : data};
}

uint64_t gets::bytes_posted() const {
  for (const auto& [nspace, entry] : known_.namespaces())
    if (entry.memory)
      for (const auto& [rank, proc] : entry.procs)
        entry.posted.refresh(rank);
  return bytes_posted_;
}

std::shared_ptr<job_memory> gets::share(namespace_entry& entry,
                                        const std::string& nspace,
                                        const job_memory_maker& make) {
  const auto size = entry.data.job_size();
  if (entry.memory || entry.lacks_memory || !size)
    return entry.memory;
  const auto* wants_none = entry.data.find(no_shared_memory_key);
  if (wants_none != nullptr && wants_none->truth()) {
    entry.lacks_memory = true;
    return nullptr;
  }
  auto locals = std::vector<uint32_t>{};
  for (const auto& [rank, proc] : entry.procs)
    locals.push_back(rank);
  // An entry costs up to six times its bytes: what fits there is never refused.
  constexpr auto part = size_t{8};
  const auto most =
    std::min(bounds_.process_bytes,
             bounds_.namespace_bytes / std::max<size_t>(locals.size(), 1))
    / part;
  auto why = std::string{};
  if (most < defaults::least_shared)
    why = "each of them may post too little (TROUPE_POSTED_BYTES)";
  else
    entry.memory = make(*size, locals, most, *entry.data.all(), why);
  entry.lacks_memory = entry.memory == nullptr;
  if (entry.lacks_memory) {
    tell_unshared(entry, nspace, why, out_.log);
    return nullptr;
  }
  if (entry.memory->has_job()) {
    entry.data_in_memory = entry.data.all();
    auto note = job_info{};
    note.nspace = nspace;
    note.entries = {{std::string{job_in_memory_key}, value::boolean(true)}};
    entry.note_of_memory = std::make_shared<const job_info>(std::move(note));
  }
  entry.posted.follow(
    [memory = entry.memory](uint32_t rank) { return memory->take(rank); },
    [this](size_t bytes) { bytes_posted_ += bytes; },
    [this, nspace, memory = entry.memory](uint32_t rank) {
      memory->retire(rank);
      if (out_.log)
        out_.log(severity::warning,
                 to_string(proc_id{nspace, rank})
                   + " posted more than it may in shared memory"
                     " (TROUPE_POSTED_BYTES of the server)");
    });
  entry.posted.tell_of_remote(
    [memory = entry.memory](uint32_t rank, const std::vector<key_value>& xs) {
      memory->bring(rank, xs);
    },
    [memory = entry.memory](uint32_t rank) { memory->drop(rank); });
  // Who asked before the first of them connected waits for news from there.
  for (const auto& [id, x] : gets_)
    want(entry, nspace, x.target());
  for (const auto& [id, x] : modexes_)
    want(entry, nspace, x.target());
  return entry.memory;
}

void gets::take_over(const proc_id& proc) {
  if (const auto* entry = known_.find(proc.nspace)) {
    retire(*entry, proc,
           "the host lets it go, or it gives endpoints to a group");
    entry->posted.refresh(proc.rank);
  }
}

caf::error gets::note_unseen(const requester& who, int32_t code,
                             const std::string& inbox) {
  auto* entry = known_.find(who.proc.nspace);
  auto* proc = known_.find_local(who.proc);
  if (entry == nullptr || proc == nullptr || !entry->memory
      || who.creds.uid != entry->owner.uid)
    return make_error(status::not_found, "there is no memory for it");
  if (!inbox.empty() && entry->memory->hand(inbox) == 0)
    return {};
  if (proc->posts_by == who.index) {
    proc->posts_by = 0;
    take_over(who.proc);
  }
  tell_unshared(*entry, who.proc.nspace,
                to_string(who.proc) + " " + why_unseen(code), out_.log);
  if (inbox.empty())
    return {};
  return make_error(status::not_found, "it could not be handed over");
}

/// One source counts for all who look: what comes by a connection is not in the
/// memory.
void gets::retire(const namespace_entry& entry, const proc_id& proc,
                  const char* why) const {
  if (!entry.memory || !entry.memory->has(proc.rank))
    return;
  entry.memory->retire(proc.rank);
  const auto found = entry.procs.find(proc.rank);
  const auto was_lent =
    found != entry.procs.end() && found->second.posts_by != 0;
  if (was_lent && out_.log)
    out_.log(severity::info,
             to_string(proc) + " posts by its connection from now on: " + why);
}

void gets::want(const namespace_entry& entry, const std::string& nspace,
                const proc_id& proc) {
  if (proc.nspace == nspace && entry.memory->has(proc.rank))
    entry.memory->want(proc.rank, true);
}

void gets::watch(const proc_id& proc) {
  const auto* entry = known_.find(proc.nspace);
  if (entry == nullptr || !entry->memory || !entry->memory->has(proc.rank))
    return;
  entry->memory->want(proc.rank, true);
  wake(proc);
}

void gets::stop_watching(const proc_id& proc) const {
  const auto* entry = known_.find(proc.nspace);
  if (entry == nullptr || !entry->memory || !entry->memory->has(proc.rank))
    return;
  const auto waits = [&](const auto& x) { return x.second.target() == proc; };
  if (std::none_of(gets_.begin(), gets_.end(), waits)
      && std::none_of(modexes_.begin(), modexes_.end(), waits))
    entry->memory->want(proc.rank, false);
}

caf::error gets::commit(const requester& who, const commit_request& request) {
  auto* entry = known_.find(who.proc.nspace);
  if (entry == nullptr)
    return make_error(status::not_found,
                      "namespace " + who.proc.nspace + " is gone");
  // Without anything in it: it has posted in shared memory.
  if (!request.blocks.empty()) {
    const auto* proc = known_.find_local(who.proc);
    const auto is_other = proc != nullptr && proc->posts_by != who.index;
    retire(*entry, who.proc,
           is_other ? "it has several connections"
                    : "its part of the memory that it shares with the server"
                      " has no room for what it posts");
    // One that is of this node only now.
    if (entry->memory)
      entry->memory->drop(who.proc.rank);
  }
  entry->posted.refresh(who.proc.rank);
  const auto before = entry->posted.size_bytes();
  const auto outcome = entry->posted.commit(who.proc.rank, request.blocks);
  if (outcome != status::success) {
    const auto why =
      to_string(who.proc)
      + " posted more than it may: " + std::to_string(bounds_.process_bytes)
      + " bytes a process, " + std::to_string(bounds_.namespace_bytes)
      + " a namespace (TROUPE_POSTED_BYTES of the server); the largest is "
      + largest_in(request);
    if (out_.log)
      out_.log(severity::warning, why);
    // Whoever waits for it hears of it.
    wake(who.proc);
    return make_error(outcome, why);
  }
  if (entry->posted.size_bytes() > before)
    bytes_posted_ += entry->posted.size_bytes() - before;
  wake(who.proc);
  return {};
}

void gets::refresh(const proc_id& target,
                   completion<refresh_cache_result> reply) {
  renew(target, {},
        [this, target, reply = std::move(reply)] { reply(fresh(target)); });
}

void gets::renew(const proc_id& target, std::vector<info> directives,
                 std::function<void()> then) {
  const auto* known = known_.find(target.nspace);
  // Who has posted nothing yet is not waited for.
  if (known == nullptr || !is_elsewhere(*known, target.rank)
      || !known->posted.has_committed(target.rank)) {
    then();
    return;
  }
  // Never the answer to a question of before.
  constexpr auto renewals = uint64_t{1} << 63;
  directives.push_back(
    make_info(question_number, value::uint64(renewals | ++renewals_)));
  out_.ask_host(direct_modex{target, std::move(directives)},
                [this, target, age = age_of(target),
                 then = std::move(then)](caf::expected<get_result> found) {
                  auto* entry = known_.find(target.nspace);
                  // Who cannot be asked has what it had.
                  if (found && entry != nullptr && age_of(target) == age) {
                    entry->posted.forget_remote(target.rank);
                    keep(target, age, *found);
                  }
                  then();
                });
}

uint64_t gets::age_of(const proc_id& proc) const {
  const auto* entry = known_.find(proc.nspace);
  return entry != nullptr ? entry->posted.age_of(proc.rank) : 0;
}

bool gets::keep(const proc_id& target, uint64_t age, get_result& found) {
  if (age_of(target) != age)
    return false;
  for (auto& x : found.blocks)
    if (auto* entry = known_.find(x.proc.nspace))
      entry->posted.store_remote(x.proc.rank, std::move(x.entries));
  wake(target);
  return true;
}

caf::expected<refresh_cache_result> gets::fresh(const proc_id& target) const {
  const auto* entry = known_.find(target.nspace);
  if (entry == nullptr)
    return make_error(status::not_found, "no namespace " + target.nspace);
  auto result = refresh_cache_result{};
  for (const auto& [key, val] : entry->posted.visible_here(target.rank))
    result.entries.push_back({std::string{posted_key(key)}, val});
  return result;
}

/// Source: PMIx Standard v5, PMIX_PSET_NAMES.
caf::expected<get_result> gets::sets_of(const proc_id& proc) const {
  auto names = std::vector<value>{};
  for (const auto& [name, members] : known_.process_sets())
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

void gets::get(const requester& who, get_request request,
               completion<get_result> reply) {
  if (request.target.nspace.empty())
    request.target.nspace = who.proc.nspace;
  const auto target = request.target;
  if (request.key == attr::pset_names && target.rank <= rank_valid_max) {
    reply(sets_of(target));
    return;
  }
  const auto* entry = known_.find(target.nspace);
  if (entry == nullptr) {
    if (flag(request.directives, attr::immediate)
        || flag(request.directives, attr::optional))
      reply(make_error(status::not_found, "no namespace " + target.nspace));
    else if (may_be_elsewhere(target.nspace))
      fetch(who, target.nspace,
            [this, who, request = std::move(request),
             reply = std::move(reply)](const caf::error& why) {
              if (why)
                reply(make_error(status::not_found, reason_of(why)));
              else
                get(who, request, reply);
            });
    else
      out_.ask_host({target, std::move(request.directives)}, std::move(reply));
    return;
  }
  // Source: PMIx Standard v5, PMIX_GET_REFRESH_CACHE.
  if (flag(request.directives, attr::get_refresh_cache)
      && !flag(request.directives, attr::optional)) {
    auto& directives = request.directives;
    directives.erase(std::remove_if(directives.begin(), directives.end(),
                                    [](const info& x) {
                                      return x.key == attr::get_refresh_cache;
                                    }),
                     directives.end());
    auto limits = std::vector<info>{};
    if (const auto* limit = find(directives, attr::timeout))
      limits.push_back(make_info(attr::timeout, *limit));
    renew(target, std::move(limits),
          [this, who, request = std::move(request), reply = std::move(reply)] {
            get(who, request, reply);
          });
    return;
  }
  auto x = look_up(*entry, who, request);
  if (x.result) {
    reply(std::move(*x.result));
    return;
  }
  if (!x.may_come) {
    reply(error_of(request, x, " is not known"));
    return;
  }
  const auto is_remote = is_elsewhere(*entry, target.rank);
  const auto asked = is_remote ? request : get_request{};
  // The node of a remote process knows what it has posted: what it brings may
  // take its time.
  const auto has_committed =
    !is_remote && entry->posted.has_committed(target.rank);
  const auto id =
    wait_for(who, std::move(request), has_committed, std::move(reply));
  if (is_remote)
    ask_for_remote(asked, id);
}

caf::expected<get_result> gets::exchanged(const get_request& request) const {
  const auto& target = request.target;
  const auto* entry = known_.find(target.nspace);
  const auto* found = entry != nullptr && request.key
                        ? entry->posted.find(target.rank, *request.key)
                        : nullptr;
  if (found == nullptr)
    return make_error(status::not_found, describe(request) + " is not known");
  return get_result{{{target, {{*request.key, *found}}}}};
}

/// Keeps the request until its key is posted, its process ends, or its time is
/// up.
/// @returns the number of the request.
uint64_t gets::wait_for(const requester& who, get_request request,
                        bool has_committed, completion<get_result> reply) {
  auto timeout = timeout_of(request.directives);
  const auto code = timeout ? status::timeout : status::not_found;
  if (!timeout && has_committed)
    timeout = caf::timespan{defaults::get_wait};
  const auto id = next_get_++;
  const auto late = describe(request)
                    + " was not posted in time; wait longer with PMIX_TIMEOUT";
  const auto target = request.target;
  gets_.emplace(id, waiting_get{who, std::move(request), std::move(reply)});
  if (timeout)
    out_.call_later(*timeout, [this, id, code, late] { fail(id, code, late); });
  watch(target);
  return id;
}

void gets::fail(uint64_t id, status code, const std::string& why) {
  auto node = gets_.extract(id);
  if (!node.empty())
    node.mapped().reply(make_error(code, why));
}

/// Asks the host for data of a process on another node; whoever waits for it,
/// as the get `id` does, gets it, whether it or a fence brings it first.
void gets::ask_for_remote(const get_request& request, uint64_t id) {
  const auto age = age_of(request.target);
  auto ask = direct_modex{request.target, request.directives};
  if (request.key)
    ask.directives.push_back(
      make_info(attr::required_key, value::string(*request.key)));
  // A fence may have overtaken a question of before.
  if (age > 0)
    ask.directives.push_back(make_info(question_number, value::uint64(age)));
  const auto has_timeout = timeout_of(request.directives).has_value();
  out_.ask_host(std::move(ask), [this, id, has_timeout, request,
                                 age](caf::expected<get_result> found) {
    if (found) {
      if (keep(request.target, age, *found)) {
        fail(id, status::not_found, "the host brought other data only");
      } else if (const auto i = gets_.find(id); i != gets_.end()) {
        // Fences may go on for ever.
        if (!has_timeout && !std::exchange(i->second.asks_again, true))
          out_.call_later(defaults::get_wait, [this, id, request] {
            fail(id, status::not_found,
                 describe(request)
                   + " was not posted in time; wait longer with PMIX_TIMEOUT");
          });
        ask_for_remote(request, id);
      }
      return;
    }
    const auto code = status_of(found.error());
    const auto why = reason_of(found.error());
    if (code != status::not_found && code != status::not_supported)
      fail(id, code, why);
    else if (!has_timeout)
      out_.call_later(defaults::get_wait,
                      [this, id, why] { fail(id, status::not_found, why); });
  });
}

void gets::store(std::vector<proc_data> data) {
  for (auto& x : data)
    // A host may bring back what it got from here.
    if (auto* entry = known_.find(x.proc.nspace);
        entry != nullptr && entry->procs.count(x.proc.rank) == 0) {
      const auto* digest = find(x.entries, posted_digest);
      if (digest == nullptr)
        entry->posted.store_fenced(x.proc.rank, std::move(x.entries));
      else
        entry->posted.forget_fenced(x.proc.rank,
                                    digest->number<uint64_t>().value_or(0));
      wake(x.proc);
    }
}

void gets::store_exchanged(std::vector<proc_data> data) {
  for (auto& x : data)
    if (auto* entry = known_.find(x.proc.nspace);
        entry != nullptr && entry->procs.count(x.proc.rank) == 0) {
      entry->posted.store_exchanged(x.proc.rank, std::move(x.entries));
      wake(x.proc);
    }
}

void gets::wake(const proc_id& proc) {
  wake_modexes(proc);
  const auto* entry = known_.find(proc.nspace);
  for (auto i = gets_.begin(); i != gets_.end();) {
    auto& x = i->second;
    if (x.request.target != proc) {
      ++i;
      continue;
    }
    auto now = entry != nullptr ? look_up(*entry, x.who, x.request) : found{};
    if (now.result) {
      x.reply(std::move(*now.result));
    } else if (!now.may_come) {
      x.reply(error_of(x.request, now, ": it has ended"));
    } else {
      ++i;
      continue;
    }
    i = gets_.erase(i);
  }
  stop_watching(proc);
}

void gets::forget(uint32_t session) {
  for (auto i = gets_.begin(); i != gets_.end();)
    i = i->second.who.index == session ? gets_.erase(i) : std::next(i);
}

void gets::forget(const std::string& nspace) {
  for (auto i = modexes_.begin(); i != modexes_.end();) {
    auto& x = i->second;
    if (x.whose.nspace != nspace) {
      ++i;
      continue;
    }
    x.reply(make_error(status::not_found, "job " + nspace + " is over"));
    i = modexes_.erase(i);
  }
}

// -- jobs of other nodes --

bool gets::may_be_elsewhere(const std::string& nspace) const {
  return spans_nodes_ && !nspace.empty() && known_.find(nspace) == nullptr;
}

std::optional<std::string>
gets::first_elsewhere(const std::vector<proc_id>& procs) const {
  const std::string* here = nullptr;
  for (const auto& proc : procs) {
    if (here != nullptr && *here == proc.nspace)
      continue;
    if (may_be_elsewhere(proc.nspace))
      return proc.nspace;
    here = &proc.nspace;
  }
  return std::nullopt;
}

caf::error gets::add_foreign(const requester& who, const std::string& nspace,
                             const get_result& found) {
  auto infos = std::vector<info>{};
  for (const auto& block : found.blocks)
    if (block.proc == proc_id{nspace, rank_wildcard})
      for (const auto& x : block.entries)
        infos.push_back({x.key, 0, x.val});
  if (infos.empty())
    return make_error(status::invalid_namespace, "no namespace " + nspace);
  // It may have been registered meanwhile.
  if (known_.find(nspace) == nullptr)
    known_.add(nspace, who.creds, job_data{nspace, infos}).is_foreign = true;
  return {};
}

void gets::fetch(const requester& who, const std::string& nspace,
                 std::function<void(const caf::error&)> then) {
  auto& waiters = fetching_[nspace];
  waiters.push_back(std::move(then));
  if (waiters.size() > 1)
    return;
  out_.ask_host(direct_modex{{nspace, rank_wildcard}, {}},
                [this, who, nspace](const caf::expected<get_result>& found) {
                  const auto why =
                    found ? add_foreign(who, nspace, *found)
                          : make_error(status::invalid_namespace,
                                       "no namespace " + nspace + ": "
                                         + reason_of(found.error()));
                  auto node = fetching_.extract(nspace);
                  if (!node.empty())
                    for (const auto& waiter : node.mapped())
                      waiter(why);
                });
}

// -- requests of other nodes --

std::optional<caf::expected<get_result>>
gets::answer_to_node(const proc_id& target, const std::string* key) const {
  const auto* entry = known_.find(target.nspace);
  if (entry == nullptr)
    return std::nullopt;
  if (target.rank == rank_wildcard)
    return get_result{{{target, whole_job(*entry->data.all())}}};
  const auto* proc = known_.find_local(target);
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

void gets::answer_modex(const direct_modex& request,
                        completion<get_result> reply) {
  const auto key = text(request.directives, attr::required_key);
  if (auto now = answer_to_node(request.target, key ? &*key : nullptr)) {
    reply(std::move(*now));
    return;
  }
  const auto id = next_modex_++;
  modexes_.emplace(id, waiting_modex{request.target, key, std::move(reply)});
  const auto* entry = known_.find(request.target.nspace);
  const auto has_committed =
    entry != nullptr && entry->posted.has_committed(request.target.rank);
  const auto limit =
    timeout_of(request.directives)
      .value_or(has_committed ? caf::timespan{defaults::get_wait}
                              : caf::timespan{defaults::modex_wait});
  watch(request.target);
  out_.call_later(limit, [this, id] {
    auto node = modexes_.extract(id);
    if (node.empty())
      return;
    // All that there is, if it has posted anything.
    auto& x = node.mapped();
    auto now = answer_to_node(x.whose, nullptr);
    if (now && *now)
      x.reply(std::move(*now));
    else
      x.reply(make_error(
        status::timeout,
        to_string(x.whose)
          + " posted nothing in time; see whether it calls PMIx_Commit"));
  });
}

void gets::wake_modexes(const proc_id& proc) {
  for (auto i = modexes_.begin(); i != modexes_.end();) {
    auto& x = i->second;
    auto now = x.whose == proc ? answer_to_node(proc, x.key ? &*x.key : nullptr)
                               : std::nullopt;
    if (!now) {
      ++i;
      continue;
    }
    x.reply(std::move(*now));
    i = modexes_.erase(i);
  }
}

std::vector<key_value> whole_job(const job_info& job) {
  auto result = job.entries;
  for (const auto& rank : job.ranks) {
    auto infos =
      std::vector<info>{make_info(attr::rank, value::rank(rank.rank))};
    for (const auto& x : rank.entries)
      infos.push_back({x.key, 0, x.val});
    result.push_back(
      {std::string{attr::proc_data}, value::infos(std::move(infos))});
  }
  return result;
}

} // namespace troupe
