#include "adapters/c_host/upcall.hpp"

#include "base/make_info.hpp"
#include "base/timeout.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/denial.hpp"

#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
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

// -- arguments ---------------------------------------------------------------

void upcall_arguments::set_procs(const std::vector<proc_id>& xs) {
  take(procs, c_api::to_c_procs(xs));
}

void upcall_arguments::set_infos(const std::vector<info>& xs) {
  take(infos, c_api::to_c_infos(xs));
}

void upcall_arguments::set_directives(const std::vector<info>& xs) {
  take(directives, c_api::to_c_infos(xs));
}

void upcall_arguments::set_codes(const std::vector<status>& xs) {
  for (const auto x : xs)
    codes.push_back(static_cast<pmix_status_t>(x));
}

pmix_status_t* upcall_arguments::codes_or_null() {
  return codes.empty() ? nullptr : codes.data();
}

void upcall_arguments::set_keys(std::vector<std::string> xs) {
  texts = std::move(xs);
  for (auto& x : texts)
    keys.push_back(x.data());
  keys.push_back(nullptr);
}

void upcall_arguments::set_bytes(std::string x) {
  bytes = std::move(x);
  object.bytes = bytes.empty() ? nullptr : bytes.data();
  object.size = bytes.size();
}

upcall_arguments_ptr arguments_of(const proc_id& proc) {
  auto result = std::make_shared<upcall_arguments>();
  c_api::to_c(proc, result->proc);
  return result;
}

upcall_limit usual_limit() {
  return caf::timespan{defaults::host_call};
}

upcall_limit limit_of(const std::vector<info>& directives) {
  auto time = timeout_of(directives);
  if (time)
    *time += defaults::host_timeout_margin;
  return time;
}

caf::error missing(const char* entry) {
  return make_error(status::not_supported,
                    std::string{"the host has no "} + entry);
}

std::vector<info> with_credentials(std::vector<info> infos,
                                   const requester& who) {
  // What the requester says of itself does not count.
  const auto is_claimed = [](const info& x) {
    return x.key == attr::userid || x.key == attr::grpid;
  };
  infos.erase(std::remove_if(infos.begin(), infos.end(), is_claimed),
              infos.end());
  infos.push_back(make_info(attr::userid, value::uint32(who.creds.uid)));
  infos.push_back(make_info(attr::grpid, value::uint32(who.creds.gid)));
  return infos;
}

std::vector<info> without_false(std::vector<info> infos) {
  const auto is_no = [](const info& x) {
    return x.val.type == data_type::bool_ && !x.val.truth();
  };
  infos.erase(std::remove_if(infos.begin(), infos.end(), is_no), infos.end());
  return infos;
}

// -- one host ----------------------------------------------------------------

c_host_calls::c_host_calls(effects fx)
  : fx_(std::move(fx)), address_(fx_.owner().address()) {
  // nop
}

c_host_calls::~c_host_calls() {
  upcalls::forget(address_);
}

void c_host_calls::grace(uint64_t id, caf::timespan after,
                         std::function<void()> f) {
  graces_.emplace(id, std::move(f));
  fx_.remind(id, after);
}

void c_host_calls::wake(uint64_t id) {
  if (const auto x = upcalls::take_answered(id)) {
    graces_.erase(id);
    x->deliver();
    for (const auto& release : x->releases)
      release();
    return;
  }
  auto grace = graces_.extract(id);
  if (!grace.empty()) {
    grace.mapped()();
    return;
  }
  if (const auto x = upcalls::give_up(id)) {
    const auto why = "the host does not answer " + x->name;
    if (fx_.log)
      fx_.log(severity::error, why);
    x->refuse(make_error(status::timeout, why));
  }
}

uint64_t c_host_calls::open(const std::shared_ptr<upcall>& x, const char* entry,
                            const upcall_arguments_ptr& args) {
  if (args->error) {
    x->refuse(std::move(args->error));
    return 0;
  }
  x->name =
    std::string{entry} + " for " + to_string(c_api::to_proc(args->proc));
  x->owner = fx_.owner();
  x->arguments = args;
  const auto id = upcalls::open(x);
  if (id == 0)
    x->refuse(make_error(status::out_of_resource,
                         "too many up-calls wait for the host; ask later"));
  return id;
}

} // namespace troupe
