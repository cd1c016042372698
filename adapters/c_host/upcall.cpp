#include "adapters/c_host/upcall.hpp"

#include "adapters/c_values/convert.hpp"
#include "config/defaults.hpp"
#include "messages/denial.hpp"

#include <caf/actor_addr.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <mutex>
#include <unordered_map>

namespace troupe {

upcall::~upcall() = default;

namespace upcalls {

namespace {

struct table {
  std::mutex mutex;
  std::unordered_map<uint64_t, std::shared_ptr<upcall>> entries;
  uint64_t next = 1;
};

/// Never destroyed: a host may call back while the process exits.
table& all() {
  static auto& result = *new table;
  return result;
}

uint64_t id_of(void* cbdata) {
  return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(cbdata));
}

bool is_fine(pmix_status_t code) {
  return code == PMIX_SUCCESS || code == PMIX_OPERATION_SUCCEEDED;
}

caf::error refusal(pmix_status_t code, std::vector<info> why = {}) {
  return make_error(static_cast<status>(code), "the host refused",
                    std::move(why));
}

/// The outcome if the host says that it succeeded.
template <class Raw>
caf::expected<Raw> outcome_of(pmix_status_t code, Raw x) {
  if (!is_fine(code))
    return refusal(code);
  return x;
}

std::function<void()> releasing(pmix_release_cbfunc_t f, void* cbdata) {
  if (f == nullptr)
    return {};
  return [f, cbdata] { f(cbdata); };
}

/// The infos of an answer; an error if they cannot be read.
caf::expected<info_result> infos_of(pmix_status_t code, const pmix_info_t* info,
                                    size_t ninfo) {
  const auto is_partial =
    code == PMIX_ERR_PARTIAL_SUCCESS || code == PMIX_QUERY_PARTIAL_SUCCESS;
  auto infos = c_api::to_infos(info, info != nullptr ? ninfo : 0);
  if (!is_fine(code) && !is_partial)
    return infos ? refusal(code, std::move(*infos)) : refusal(code);
  if (!infos)
    return std::move(infos.error());
  return info_result{std::move(*infos), !is_partial};
}

} // namespace

uint64_t open(std::shared_ptr<upcall> x) {
  auto& t = all();
  const auto guard = std::lock_guard{t.mutex};
  if (t.entries.size() >= defaults::host_calls_in_flight)
    return 0;
  t.entries.emplace(t.next, std::move(x));
  return t.next++;
}

std::shared_ptr<upcall> take_answered(uint64_t id) {
  auto& t = all();
  const auto guard = std::lock_guard{t.mutex};
  const auto i = t.entries.find(id);
  if (i == t.entries.end() || !i->second->is_answered)
    return nullptr;
  auto result = std::move(i->second);
  t.entries.erase(i);
  return result;
}

std::shared_ptr<upcall> give_up(uint64_t id) {
  auto& t = all();
  const auto guard = std::lock_guard{t.mutex};
  const auto i = t.entries.find(id);
  if (i == t.entries.end() || i->second->is_answered)
    return nullptr;
  i->second->is_given_up = true;
  return i->second;
}

std::shared_ptr<upcall> find_open(uint64_t id) {
  auto& t = all();
  const auto guard = std::lock_guard{t.mutex};
  const auto i = t.entries.find(id);
  if (i == t.entries.end() || i->second->is_answered)
    return nullptr;
  return i->second;
}

void forget(const caf::actor_addr& owner) {
  auto& t = all();
  auto dropped = std::vector<std::shared_ptr<upcall>>{};
  {
    const auto guard = std::lock_guard{t.mutex};
    for (auto i = t.entries.begin(); i != t.entries.end();) {
      if (i->second->owner.address() != owner) {
        ++i;
        continue;
      }
      dropped.push_back(std::move(i->second));
      i = t.entries.erase(i);
    }
  }
  for (const auto& x : dropped)
    for (const auto& release : x->releases)
      release();
}

size_t size() {
  auto& t = all();
  const auto guard = std::lock_guard{t.mutex};
  return t.entries.size();
}

template <class Raw>
void settle(uint64_t id, caf::expected<Raw> outcome,
            std::function<void()> release) {
  auto& t = all();
  {
    const auto guard = std::lock_guard{t.mutex};
    const auto i = t.entries.find(id);
    auto* x = i != t.entries.end()
                ? dynamic_cast<upcall_of<Raw>*>(i->second.get())
                : nullptr; // The number of another up-call, or of none.
    if (x != nullptr) {
      if (release)
        x->releases.push_back(std::move(release));
      release = nullptr;
      if (x->is_answered)
        return;
      x->outcome.emplace(std::move(outcome));
      x->is_answered = true;
      // Under the lock: `forget` keeps the system alive until we are done.
      caf::anon_send(x->owner, deadline{id});
    }
  }
  if (release)
    release(); // Nobody is left who could do it later.
}

template void settle(uint64_t, caf::expected<ack>, std::function<void()>);
template void settle(uint64_t, caf::expected<modex_bytes>,
                     std::function<void()>);
template void settle(uint64_t, caf::expected<lookup_result>,
                     std::function<void()>);
template void settle(uint64_t, caf::expected<spawned>, std::function<void()>);
template void settle(uint64_t, caf::expected<info_result>,
                     std::function<void()>);
template void settle(uint64_t, caf::expected<proc_id>, std::function<void()>);
template void settle(uint64_t, caf::expected<get_credential_result>,
                     std::function<void()>);

void on_op(pmix_status_t code, void* cbdata) {
  settle(id_of(cbdata), outcome_of(code, ack{}));
}

void on_modex(pmix_status_t code, const char* data, size_t ndata, void* cbdata,
              pmix_release_cbfunc_t release, void* release_cbdata) {
  auto x = modex_bytes{};
  if (is_fine(code) && data != nullptr)
    x.bytes.assign(data, ndata);
  settle(id_of(cbdata), outcome_of(code, std::move(x)),
         releasing(release, release_cbdata));
}

void on_lookup(pmix_status_t code, pmix_pdata_t data[], size_t ndata,
               void* cbdata) {
  const auto id = id_of(cbdata);
  if (!is_fine(code) && code != PMIX_ERR_PARTIAL_SUCCESS) {
    settle<lookup_result>(id, refusal(code));
    return;
  }
  auto found = c_api::to_pdatas(data, data != nullptr ? ndata : 0);
  if (found)
    settle<lookup_result>(id, lookup_result{std::move(*found)});
  else
    settle<lookup_result>(id, std::move(found.error()));
}

void on_spawn(pmix_status_t code, char nspace[], void* cbdata) {
  settle(id_of(cbdata),
         outcome_of(code, spawned{std::string{c_api::nspace_of(nspace)}}));
}

void on_info(pmix_status_t code, pmix_info_t* info, size_t ninfo, void* cbdata,
             pmix_release_cbfunc_t release, void* release_cbdata) {
  settle(id_of(cbdata), infos_of(code, info, ninfo),
         releasing(release, release_cbdata));
}

void on_tool(pmix_status_t code, pmix_proc_t* proc, void* cbdata) {
  const auto id = id_of(cbdata);
  if (is_fine(code) && proc == nullptr)
    settle<proc_id>(
      id, make_error(status::bad_param, "the host named no identity"));
  else
    settle(id, outcome_of(code,
                          proc != nullptr ? c_api::to_proc(*proc) : proc_id{}));
}

void on_credential(pmix_status_t code, pmix_byte_object_t* credential,
                   pmix_info_t info[], size_t ninfo, void* cbdata) {
  const auto id = id_of(cbdata);
  auto infos = infos_of(code, info, ninfo);
  if (!infos)
    settle<get_credential_result>(id, std::move(infos.error()));
  else
    settle<get_credential_result>(
      id, get_credential_result{c_api::to_bytes(credential),
                                std::move(infos->infos)});
}

void on_validation(pmix_status_t code, pmix_info_t info[], size_t ninfo,
                   void* cbdata) {
  settle(id_of(cbdata), infos_of(code, info, ninfo));
}

} // namespace upcalls

} // namespace troupe
