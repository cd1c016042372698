// Put, commit, store: data of this process. PMIx_Get: what is here is found on the
// caller's thread, the rest at the server.

#include "actors/data/datastore.hpp"
#include "actors/data/get_options.hpp"
#include "actors/groups/group_keys.hpp"
#include "adapters/hwloc/handles.hpp"
#include "adapters/hwloc/locality.hpp"
#include "adapters/wire/frame.hpp"
#include "adapters/wire/reader.hpp"
#include "base/make_info.hpp"
#include "c_api/helpers/failure.hpp"
#include "c_api/library_core.hpp"
#include "c_api/request.hpp"
#include "c_api/shared_posts.hpp"
#include "messages/data.hpp"

#include <cstring>

using namespace troupe;
using namespace troupe::c_api;

namespace {

/// Whether a key has an end and is not too long.
bool is_key(const char* x) {
  return x != nullptr && *x != '\0'
         && ::strnlen(x, PMIX_MAX_KEYLEN + 1) <= PMIX_MAX_KEYLEN;
}

/// How much of a commit goes in one message, so that it has no more keys than a
/// server takes at once; a larger value goes alone.
constexpr size_t part_bytes = wire::max_entries_from_client * entry_overhead;

/// The longest text, or bytes, that a message with a key can hold.
constexpr size_t most_bytes = wire::max_message_size - PMIX_MAX_KEYLEN * 4;

/// The way to the server; null if there is none.
std::shared_ptr<troupe::link> link_of(const library_core& core) {
  const auto guard = std::lock_guard{core.mutex};
  return core.to;
}

bool is_too_long(const value& x) {
  const auto* bytes = std::get_if<std::string>(&x.data);
  return bytes != nullptr && bytes->size() > most_bytes;
}

} // namespace

pmix_status_t PMIx_Put(pmix_scope_t scope, const char key[],
                       pmix_value_t* val) try {
  const auto core = library::instance().core();
  if (!core)
    return PMIX_ERR_INIT;
  auto& store = *core->store;
  if (!is_key(key) || scope < PMIX_LOCAL || scope > PMIX_DEL_INTERNAL)
    return PMIX_ERR_BAD_PARAM;
  if (scope > PMIX_INTERNAL) {
    // Others than ours would take no notice.
    const auto to = link_of(*core);
    const auto can_tell = !to || to->is_of_ours();
    return to_c(store.take_back(taken_from(static_cast<enum scope>(scope)), key,
                                can_tell));
  }
  if (val == nullptr)
    return PMIX_ERR_BAD_PARAM;
  TROUPE_TAKE(x, to_value(*val));
  if (std::string_view{key} == attr::qualified_value && x->array() == nullptr)
    return PMIX_ERR_BAD_PARAM;
  if (scope != PMIX_INTERNAL && is_given_by_host(key))
    return PMIX_ERR_BAD_PARAM;
  if (scope != PMIX_INTERNAL && is_too_long(*x))
    return PMIX_ERR_OUT_OF_RESOURCE;
  store.put(static_cast<enum scope>(scope), key, std::move(*x));
  return PMIX_SUCCESS;
} catch (...) {
  return status_of_exception();
}

namespace {

/// Posts where the processes of our job on this node see it.
/// @returns whether that is enough.
bool post_here(const library& lib, const library_core& core) {
  const auto to = link_of(core);
  if (!to || !to->is_open())
    return false;
  auto outcome = store_access::posting::done;
  const auto is_done = core.store->commit([&](const auto& news) {
    outcome = core.shared->post(news);
    return outcome != store_access::posting::refused;
  });
  // Somebody waits: the server looks when it hears of it.
  if (is_done && outcome == store_access::posting::wanted
      && lib.begin() == PMIX_SUCCESS)
    lib.tell<ack>(commit_request{});
  return is_done;
}

} // namespace

pmix_status_t PMIx_Commit(void) try {
  auto& lib = library::instance();
  const auto core = lib.core();
  if (!core || !lib.is_up() || !core->may_go_on())
    return PMIX_ERR_INIT;
  // What goes there needs no thread.
  if (post_here(lib, *core))
    return PMIX_SUCCESS;
  if (const auto code = lib.begin(); code != PMIX_SUCCESS)
    return code;
  auto x = core->store->take_commit();
  if (x.blocks.empty())
    return PMIX_SUCCESS;
  // The server has it before it gets any later request of ours. Only its answer
  // says whether it has kept it: who posts too much is to hear of it here.
  const auto may_wait = !lib.in_progress_thread();
  auto result = pmix_status_t{PMIX_SUCCESS};
  for (auto& part : parts_of(std::move(x), part_bytes)) {
    const auto code = may_wait ? await_op(lib, std::move(part))
                               : lib.tell<ack>(std::move(part));
    if (result == PMIX_SUCCESS && code != PMIX_ERR_UNREACH)
      result = code;
  }
  return result;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Store_internal(const pmix_proc_t* proc, const char key[],
                                  pmix_value_t* val) try {
  const auto& lib = library::instance();
  const auto store = lib.store();
  if (!store || !lib.is_up())
    return PMIX_ERR_INIT;
  if (!is_key(key) || val == nullptr)
    return PMIX_ERR_BAD_PARAM;
  auto whose = proc != nullptr ? to_proc(*proc) : lib.proc();
  if (whose.nspace.empty())
    whose.nspace = lib.proc().nspace;
  TROUPE_TAKE(x, to_value(*val));
  store->store(whose, key, std::move(*x));
  return PMIX_SUCCESS;
} catch (...) {
  return status_of_exception();
}

// -- PMIx_Get ------------------------------------------------------------------

namespace {

/// What is looked for.
struct lookup {
  proc_id proc;
  std::optional<std::string> key;
  std::vector<info> directives;
  get_options options;

  process_store::target target() const {
    return {proc, key ? std::optional<std::string_view>{*key} : std::nullopt};
  }

  bool has_level() const {
    return options.node_info || options.app_info || options.session_info;
  }
};

caf::expected<lookup> make_lookup(const library_core& core,
                                  const pmix_proc_t* proc, const char* key,
                                  const pmix_info_t* infos, size_t ninfo) {
  if (proc == nullptr && key == nullptr)
    return make_error(status::bad_param);
  auto result = caf::expected<lookup>{lookup{}};
  auto& x = *result;
  if (key != nullptr) {
    const auto length = ::strnlen(key, PMIX_MAX_KEYLEN + 1);
    if (length == 0 || length > PMIX_MAX_KEYLEN)
      return make_error(status::bad_param);
    x.key.emplace(key, length);
  }
  // No process: a key that is unique in our namespace. No namespace: ours.
  // Source: PMIx Standard v5, `PMIx_Get`; MPICH relies on the latter.
  if (proc != nullptr)
    x.proc = to_proc(*proc);
  if (x.proc.nspace.empty())
    x.proc.nspace = library::instance().proc().nspace;
  if (auto why = core.groups->spell_out(x.proc))
    return why;
  if (ninfo > 0) {
    auto directives = to_directives(pmix_call::get, infos, ninfo);
    if (!directives)
      return std::move(directives.error());
    x.directives = std::move(*directives);
    x.options = get_options_of(x.directives);
  }
  return result;
}

// -- what is here ------------------------------------------------------------

std::optional<std::string> text_here(const process_store& store,
                                     const proc_id& proc,
                                     std::string_view key) {
  auto result = std::optional<std::string>{};
  store.get({proc, key}, {}, [&](const value& x) {
    if (const auto* text = x.text())
      result = *text;
  });
  return result;
}

/// How near a process is. Nobody sends it: it depends on who asks.
/// Source: OpenPMIx wire protocol, job info (`pmix.loc`).
std::optional<value> locality(const library& lib, const process_store& store,
                              const proc_id& proc) {
  const auto self = lib.proc();
  const auto mine = text_here(store, self, attr::locality_string);
  const auto theirs = text_here(store, proc, attr::locality_string);
  const auto here = text_here(store, self, attr::hostname);
  const auto there = text_here(store, proc, attr::hostname);
  auto result = pmix_locality_t{PMIX_LOCALITY_NONLOCAL};
  if (here && there && *here == *there) {
    result = PMIX_LOCALITY_SHARE_NODE;
    if (mine && theirs)
      PMIx_Get_relative_locality(mine->c_str(), theirs->c_str(), &result);
  } else if (!here || !there) {
    return std::nullopt;
  }
  return value::uint16(result);
}

/// Where a process is that no server has bound: a process knows of itself, and one
/// of this node has all of it. Source: PMIx Standard v5, PMIX_LOCALITY_STRING.
std::optional<value> unbound_locality(const library& lib,
                                      const process_store& store,
                                      const proc_id& proc) {
  const auto self = lib.proc();
  auto result = std::optional<std::string>{};
  if (proc == self) {
    auto* cpus = hwloc::bound_cpus(true);
    result = hwloc::locality_of(hwloc::shared_topology(), cpus);
    hwloc::release_cpus(cpus);
  } else if (const auto to = lib.current_link(); to && to->is_of_ours()) {
    // Of a rank that is none the host's name would be that of this node.
    const auto is_one =
      store.get({proc, attr::local_rank}, {}, [](const value&) {})
      == status::success;
    const auto here = text_here(store, self, attr::hostname);
    if (is_one && here && here == text_here(store, proc, attr::hostname))
      result = hwloc::locality_of_all(hwloc::shared_topology());
  }
  return result ? std::optional{value::string(std::move(*result))}
                : std::nullopt;
}

template <class F>
status find_here(const library& lib, const process_store& store,
                 const lookup& x, F use) {
  const auto code = store.get(x.target(), x.options, use);
  if (code == status::success || !x.key || x.proc.rank > rank_valid_max
      || (*x.key != attr::locality && *x.key != attr::locality_string))
    return code;
  const auto made = *x.key == attr::locality
                      ? locality(lib, store, x.proc)
                      : unbound_locality(lib, store, x.proc);
  if (!made)
    return code;
  use(*made);
  return status::success;
}

// -- what is in shared memory ------------------------------------------------

/// What a process of this node has posted. It is not kept: the memory has it
/// for all of them.
std::optional<value> find_shared(const library_core& core, const lookup& x) {
  const auto& how = x.options;
  if (!x.key || is_given_by_host(*x.key) || x.proc.rank > rank_valid_max
      || x.has_level() || how.refresh || !how.qualifiers.empty()
      || how.data_scope != scope::undef)
    return std::nullopt;
  return core.shared->find(x.proc, *x.key);
}

// -- what a group has exchanged ----------------------------------------------

/// A lookup of what a member has posted, by the context identifier of a group that
/// we are in: what all had posted when it was made is with our server since then,
/// so that PMIX_OPTIONAL finds it. Source: OpenPMIx 7, PMIX_GROUP_CONTEXT_ID.
std::optional<lookup> in_group(const library_core& core, const lookup& x) {
  const auto& by = x.options.qualifiers;
  if (!x.key || by.size() != 1 || by.front().key != attr::group_context_id
      || is_given_by_host(*x.key) || x.proc.rank > rank_valid_max
      || x.has_level() || x.options.refresh
      || x.options.data_scope != scope::undef)
    return std::nullopt;
  const auto context_id = by.front().val.number<uint64_t>();
  auto id = context_id ? core.groups->find(*context_id, x.proc) : std::nullopt;
  if (!id)
    return std::nullopt;
  auto result = lookup{x.proc, x.key, {}, x.options};
  result.options.qualifiers.clear();
  result.directives = {
    make_info(group_keys::exchanged, value::string(std::move(*id))),
    make_info(attr::immediate, value::boolean(true))};
  return result;
}

// -- what the server has -----------------------------------------------------

/// Whether it makes sense to ask the server.
bool is_worth_asking(const library& lib, const lookup& x) {
  return !x.options.optional && (lib.current_link() || lib.session());
}

get_request make_request(const library& lib, const lookup& x) {
  auto result = get_request{x.proc, x.directives, x.key};
  const auto self = lib.proc();
  const auto is_ours = x.proc.nspace == self.nspace;
  // One's own key may still come, from another thread; a server posts none.
  // Source: PMIx Standard v5, `PMIx_Get`, which waits for any process's key.
  const auto is_one = x.proc.rank <= rank_valid_max
                      && (x.proc.rank != self.rank || lib.current_link());
  const auto is_posted =
    is_one && x.key && !is_reserved_key(*x.key) && x.options.qualifiers.empty();
  // The server is not to wait for what nobody is going to post.
  if (is_ours && !is_posted && find(x.directives, attr::immediate) == nullptr)
    result.directives.push_back(
      make_info(attr::immediate, value::boolean(true)));
  return result;
}

/// Finds the key in an answer about a level: it does not go into the store,
/// where it would stand for another node or application.
const value* find_in(const get_result& x, std::string_view key) {
  for (const auto& block : x.blocks)
    for (const auto& y : block.entries) {
      if (y.key == key)
        return &y.val;
      const auto* array = y.val.array();
      if (array == nullptr)
        continue;
      for (const auto& z : array->elements)
        if (const auto* entry = std::get_if<box<info>>(&z.data))
          if ((*entry)->key == key)
            return &(*entry)->val;
    }
  return nullptr;
}

template <class F>
pmix_status_t take_answer(const library& lib, const lookup& x,
                          const caf::expected<get_result>& answer, F use) {
  if (!answer)
    return to_c(answer.error());
  const auto store = lib.store();
  if (!store)
    return PMIX_ERR_INIT;
  if (!x.has_level()) {
    for (const auto& block : answer->blocks)
      store->add(block);
    if (find_here(lib, *store, x, use) == status::success)
      return PMIX_SUCCESS;
  }
  const auto* found =
    x.key && x.options.qualifiers.empty() ? find_in(*answer, *x.key) : nullptr;
  if (found == nullptr)
    return PMIX_ERR_NOT_FOUND;
  use(*found);
  return PMIX_SUCCESS;
}

// -- handing it over ---------------------------------------------------------

/// Puts a value where the caller of PMIx_Get wants it.
pmix_status_t give(const lookup& x, const value& found, pmix_value_t** to) {
  if (x.options.static_values)
    return to_c(found, **to);
  auto code = pmix_status_t{PMIX_SUCCESS};
  if (x.options.pointer_values)
    *to = library::instance().keep_value(x.proc, x.key.value_or(""), found);
  else
    *to = to_c_value(found, code);
  return *to != nullptr || code != PMIX_SUCCESS ? code : PMIX_ERR_NOMEM;
}

// -- the topology ------------------------------------------------------------

/// Whether the topology of this node is asked for, which nobody sends.
/// Source: PMIx Standard v5, PMIX_TOPOLOGY2; OpenPMIx 5.
bool wants_topology(const library& lib, const lookup& x) {
  if (!x.key || *x.key != attr::topology2 || x.proc.nspace != lib.proc().nspace
      || x.options.node_id)
    return false;
  const auto here = text_here(*lib.store(), lib.proc(), attr::hostname);
  if (x.options.hostname)
    return here && *here == *x.options.hostname;
  if (x.proc.rank > rank_valid_max || x.proc.rank == lib.proc().rank)
    return true;
  const auto there = text_here(*lib.store(), x.proc, attr::hostname);
  return here && there && *here == *there;
}

pmix_status_t load_topology(pmix_value_t& to) {
  auto topology = pmix_topology_t{};
  if (const auto code = PMIx_Load_topology(&topology); code != PMIX_SUCCESS)
    return code;
  const auto code = PMIx_Value_load(&to, &topology, PMIX_TOPO);
  PMIx_Topology_destruct(&topology);
  return code;
}

pmix_value_t* make_topology(pmix_status_t& code) {
  auto* result = PMIx_Value_create(1);
  code = result != nullptr ? load_topology(*result) : PMIX_ERR_NOMEM;
  if (code == PMIX_SUCCESS || result == nullptr)
    return result;
  PMIx_Value_free(result, 1);
  return nullptr;
}

pmix_status_t give_topology(const lookup& x, pmix_value_t** to) {
  if (x.options.static_values)
    return load_topology(**to);
  auto code = pmix_status_t{PMIX_SUCCESS};
  if (x.options.pointer_values) {
    // The topology lives as long as the process, and so does this.
    static auto first = pmix_status_t{PMIX_SUCCESS};
    static auto* const shown = make_topology(first);
    *to = shown;
    return first;
  }
  *to = make_topology(code);
  return code;
}

void call_back(pmix_status_t code, pmix_value_t* x, pmix_value_cbfunc_t f,
               void* data) {
  f(code, x, data);
  free_array(x, x != nullptr ? 1 : 0);
}

/// Asks the server, and hands over what it answers.
pmix_status_t ask_server(const library& lib, lookup x, pmix_value_cbfunc_t f,
                         void* data) {
  auto request = make_request(lib, x);
  return lib.ask<get_result>(
    std::move(request),
    [x = std::move(x), f, data](const caf::expected<get_result>& answer) {
      pmix_value_t* found = nullptr;
      auto outcome = pmix_status_t{PMIX_SUCCESS};
      const auto code =
        take_answer(library::instance(), x, answer, [&](const value& y) {
          if (found == nullptr)
            found = to_c_value(y, outcome);
        });
      call_back(code == PMIX_SUCCESS ? outcome : code, found, f, data);
    });
}

/// The same for a call that has returned: it hears of every fault by its callback.
void ask_later(const lookup& x, pmix_value_cbfunc_t f, void* data) {
  const auto& lib = library::instance();
  auto code = pmix_status_t{PMIX_ERR_NOT_FOUND};
  if (is_worth_asking(lib, x))
    code = ask_server(lib, x, f, data);
  if (code != PMIX_SUCCESS)
    call_back(code, nullptr, f, data);
}

} // namespace

pmix_status_t PMIx_Get(const pmix_proc_t* proc, const char key[],
                       const pmix_info_t info[], size_t ninfo,
                       pmix_value_t** val) try {
  const auto& lib = library::instance();
  const auto core = lib.core();
  if (!core || !lib.is_up())
    return PMIX_ERR_INIT;
  if (val == nullptr)
    return PMIX_ERR_BAD_PARAM;
  auto& store = *core->store;
  TROUPE_TAKE(x, make_lookup(*core, proc, key, info, ninfo));
  if (x->options.static_values) {
    if (*val == nullptr)
      return PMIX_ERR_BAD_PARAM;
  } else {
    *val = nullptr;
  }
  auto outcome = pmix_status_t{PMIX_SUCCESS};
  const auto use = [&](const value& found) { outcome = give(*x, found, val); };
  if (!x->options.refresh && find_here(lib, store, *x, use) == status::success)
    return outcome;
  if (store.has_taken_back(x->target()))
    return PMIX_ERR_NOT_FOUND;
  if (const auto found = find_shared(*core, *x))
    return give(*x, *found, val);
  if (const auto y = in_group(*core, *x)) {
    if (find_here(lib, store, *y, use) == status::success)
      return outcome;
    if (const auto found = find_shared(*core, *y))
      return give(*x, *found, val);
    if (lib.current_link() && !lib.in_progress_thread()) {
      const auto answer = lib.ask_and_wait<get_result>(
        get_request{y->proc, y->directives, y->key}, limit_of(x->directives));
      if (const auto* found = answer ? find_in(*answer, *y->key) : nullptr)
        return give(*x, *found, val);
    }
  }
  if (wants_topology(lib, *x))
    return give_topology(*x, val);
  if (!is_worth_asking(lib, *x))
    return PMIX_ERR_NOT_FOUND;
  if (lib.in_progress_thread())
    return PMIX_ERR_WOULD_BLOCK;
  if (x->options.refresh)
    store.forget(x->proc);
  const auto answer = lib.ask_and_wait<get_result>(make_request(lib, *x),
                                                   limit_of(x->directives));
  const auto code = take_answer(lib, *x, answer, use);
  return code == PMIX_SUCCESS ? outcome : code;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Get_nb(const pmix_proc_t* proc, const char key[],
                          const pmix_info_t info[], size_t ninfo,
                          pmix_value_cbfunc_t cbfunc, void* cbdata) try {
  TROUPE_ENTER(lib)
  const auto core = lib.core();
  if (!core)
    return PMIX_ERR_INIT;
  if (cbfunc == nullptr)
    return PMIX_ERR_BAD_PARAM;
  auto& store = *core->store;
  TROUPE_TAKE(x, make_lookup(*core, proc, key, info, ninfo));
  pmix_value_t* result = nullptr;
  auto code = pmix_status_t{PMIX_SUCCESS};
  const auto here = [&](const value& found) {
    result = to_c_value(found, code);
  };
  auto is_here =
    !x->options.refresh && find_here(lib, store, *x, here) == status::success;
  const auto is_gone = !is_here && store.has_taken_back(x->target());
  if (const auto found =
        is_here || is_gone ? std::nullopt : find_shared(*core, *x)) {
    is_here = true;
    here(*found);
  }
  if (is_here) {
    const auto is_kept =
      lib.post([=] { call_back(code, result, cbfunc, cbdata); });
    return is_kept ? PMIX_SUCCESS : PMIX_ERR_INIT;
  }
  if (wants_topology(lib, *x)) {
    result = make_topology(code);
    const auto is_kept =
      lib.post([=] { call_back(code, result, cbfunc, cbdata); });
    return is_kept ? PMIX_SUCCESS : PMIX_ERR_INIT;
  }
  const auto y = is_gone ? std::nullopt : in_group(*core, *x);
  if (y && lib.current_link())
    return lib.ask<get_result>(get_request{y->proc, y->directives, y->key},
                               [x = std::move(*x), cbfunc, cbdata](
                                 const caf::expected<get_result>& answer) {
                                 const auto* there =
                                   answer ? find_in(*answer, *x.key) : nullptr;
                                 if (there == nullptr) {
                                   ask_later(x, cbfunc, cbdata);
                                   return;
                                 }
                                 auto outcome = pmix_status_t{PMIX_SUCCESS};
                                 auto* found = to_c_value(*there, outcome);
                                 call_back(outcome, found, cbfunc, cbdata);
                               });
  if (is_gone || !is_worth_asking(lib, *x)) {
    lib.post([=] { cbfunc(PMIX_ERR_NOT_FOUND, nullptr, cbdata); });
    return PMIX_SUCCESS;
  }
  if (x->options.refresh)
    store.forget(x->proc);
  return ask_server(lib, std::move(*x), cbfunc, cbdata);
} catch (...) {
  return status_of_exception();
}
