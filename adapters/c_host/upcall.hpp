#pragma once

#include "adapters/c_values/convert.hpp"
#include "base/journal.hpp"
#include "messages/actors.hpp"
#include "messages/publish.hpp"

#include <caf/actor_addr.hpp>
#include <caf/expected.hpp>
#include <caf/timespan.hpp>

#include <pmix_server.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Up-calls in flight. What a host gets as its `cbdata` is a number, never an
// address: it may call back twice, late, or with nonsense, from any thread.

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

/// How long a host may take to answer an up-call before whoever asked is told
/// that it does not.
inline constexpr auto host_call = 60s;

/// Up-calls that a host has not answered; more are refused.
inline constexpr size_t host_calls_in_flight = 16384;

} // namespace defaults

/// Bytes that a modex brought.
struct modex_bytes {
  std::string bytes;
};

/// The namespace of a spawned job.
struct spawned {
  std::string nspace;
};

/// Receiver of the outcome of an up-call. For the actor's thread only.
template <class Raw>
using upcall_receiver = std::function<void(caf::expected<Raw>)>;

/// One up-call, without what it answers.
struct upcall {
  virtual ~upcall();

  /// For the log: the entry of the module, and who asked.
  std::string name;

  /// Gets a `deadline` of `id` once the host has answered.
  c_host_actor owner;

  /// The host may keep pointers into them until it answers.
  std::shared_ptr<void> arguments;

  bool is_answered = false;

  /// Gives the host back what it has lent for its answers. Not inside of its
  /// callback: Slurm's holds a lock there that giving back takes, too.
  std::vector<std::function<void()>> releases;

  /// The requester has been told that the host does not answer.
  bool is_given_up = false;

  /// Hands over the outcome that the host has given.
  virtual void deliver() = 0;

  /// Hands over an outcome of ours.
  virtual void refuse(caf::error why) = 0;
};

template <class Raw>
struct upcall_of : upcall {
  std::optional<caf::expected<Raw>> outcome;
  upcall_receiver<Raw> receiver;

  void deliver() override {
    if (auto f = std::exchange(receiver, nullptr))
      f(std::move(*outcome));
  }

  void refuse(caf::error why) override {
    if (auto f = std::exchange(receiver, nullptr))
      f(std::move(why));
  }
};

namespace upcalls {

/// Notes an up-call that is about to be made.
/// @returns the number by which the host answers it; 0 if there are too many.
uint64_t open(std::shared_ptr<upcall> x);

/// Takes an up-call that has been answered, or that `give_up` has marked.
/// @returns null if it is not there, or not answered yet.
std::shared_ptr<upcall> take_answered(uint64_t id);

/// Marks an up-call whose time is up; its arguments stay until the host answers
/// after all, or its actor ends.
/// @returns null if it has been answered.
std::shared_ptr<upcall> give_up(uint64_t id);

/// Finds an up-call in flight; null if it has been answered.
std::shared_ptr<upcall> find_open(uint64_t id);

/// Forgets all of an actor: whatever the host answers later is dropped.
void forget(const caf::actor_addr& owner);

/// How many are in flight, given up ones included.
size_t size();

inline void* to_cbdata(uint64_t id) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(id));
}

// -- what hosts call ---------------------------------------------------------

// Each may be called on any thread, also inside the up-call. The first call
// counts; all others, and those for numbers that are not known, do nothing.

void on_op(pmix_status_t code, void* cbdata);

void on_modex(pmix_status_t code, const char* data, size_t ndata, void* cbdata,
              pmix_release_cbfunc_t release, void* release_cbdata);

void on_lookup(pmix_status_t code, pmix_pdata_t data[], size_t ndata,
               void* cbdata);

void on_spawn(pmix_status_t code, char nspace[], void* cbdata);

void on_info(pmix_status_t code, pmix_info_t* info, size_t ninfo, void* cbdata,
             pmix_release_cbfunc_t release, void* release_cbdata);

void on_tool(pmix_status_t code, pmix_proc_t* proc, void* cbdata);

void on_credential(pmix_status_t code, pmix_byte_object_t* credential,
                   pmix_info_t info[], size_t ninfo, void* cbdata);

void on_validation(pmix_status_t code, pmix_info_t info[], size_t ninfo,
                   void* cbdata);

/// The host has answered.
/// @param release Gives back what the host has lent; may be empty.
template <class Raw>
void settle(uint64_t id, caf::expected<Raw> outcome,
            std::function<void()> release = {});

extern template void settle(uint64_t, caf::expected<ack>,
                            std::function<void()>);
extern template void settle(uint64_t, caf::expected<modex_bytes>,
                            std::function<void()>);
extern template void settle(uint64_t, caf::expected<lookup_result>,
                            std::function<void()>);
extern template void settle(uint64_t, caf::expected<spawned>,
                            std::function<void()>);
extern template void settle(uint64_t, caf::expected<info_result>,
                            std::function<void()>);
extern template void settle(uint64_t, caf::expected<proc_id>,
                            std::function<void()>);
extern template void settle(uint64_t, caf::expected<get_credential_result>,
                            std::function<void()>);

} // namespace upcalls

/// Arguments of one up-call: an entry of the module gets pointers into them,
/// and the host may keep these until it answers.
struct upcall_arguments {
  pmix_proc_t proc{};
  c_api::c_procs procs;
  c_api::c_infos infos;
  c_api::c_infos directives;
  c_api::c_apps apps;
  c_api::c_queries queries;
  std::string text;
  std::string bytes;
  pmix_byte_object_t object{};
  std::vector<std::string> texts;
  std::vector<char*> keys;
  std::vector<pmix_status_t> codes;
  std::vector<pmix_resource_unit_t> units;

  /// The first error of a conversion.
  caf::error error;

  template <class T>
  void take(c_api::c_array<T>& to, caf::expected<c_api::c_array<T>> x) {
    if (x)
      to = std::move(*x);
    else if (!error)
      error = std::move(x.error());
  }

  void set_procs(const std::vector<proc_id>& xs);

  void set_infos(const std::vector<info>& xs);

  void set_directives(const std::vector<info>& xs);

  void set_codes(const std::vector<status>& xs);

  /// Null stands for all codes. Source: PMIx Standard v5,
  /// `pmix_server_register_events_fn_t`.
  pmix_status_t* codes_or_null();

  /// A list of strings that ends with a null pointer.
  void set_keys(std::vector<std::string> xs);

  void set_bytes(std::string x);
};

using upcall_arguments_ptr = std::shared_ptr<upcall_arguments>;

/// Arguments of an up-call on behalf of `proc`.
upcall_arguments_ptr arguments_of(const proc_id& proc);

/// How long a host may take for an up-call; none: as long as it likes.
using upcall_limit = std::optional<caf::timespan>;

/// The limit of most up-calls: a host that takes longer is broken.
upcall_limit usual_limit();

/// The limit of up-calls that wait for others: what the requester asks for.
upcall_limit limit_of(const std::vector<info>& directives);

/// The error where the module has no entry.
caf::error missing(const char* entry);

/// `infos` with the user and group of the requester, as the kernel tells them:
/// hosts decide by these.
/// Source: PMIx Standard v5, PMIX_USERID, PMIX_GRPID: the server adds them.
std::vector<info> with_credentials(std::vector<info> infos,
                                   const requester& who);

/// `infos` without booleans that say no: hosts look for the key only.
std::vector<info> without_false(std::vector<info> infos);

/// Makes the up-calls of one C HOST and sees to their outcomes. Forgets those
/// in flight when it is destroyed.
class c_host_calls {
public:
  struct effects {
    /// The actor that gets a `deadline` for each outcome, and passes it on to
    /// `wake`.
    std::function<c_host_actor()> owner;

    /// Has `wake` called with that number after a time.
    std::function<void(uint64_t id, caf::timespan after)> remind;

    /// Gets a line for a host that does not answer; may be empty.
    journal log;
  };

  explicit c_host_calls(effects fx);

  c_host_calls(const c_host_calls&) = delete;
  c_host_calls& operator=(const c_host_calls&) = delete;

  ~c_host_calls();

  /// Makes an up-call.
  /// @param entry    Name of the entry in the module, for the log.
  /// @param receiver Gets the outcome, once.
  /// @param invoke   Calls the entry with the `cbdata` that it is given, and
  ///                 returns what the host returns.
  /// @returns the number of the up-call; 0 if it has its outcome by now.
  template <class Raw, class Invoke>
  uint64_t make(const char* entry, const upcall_arguments_ptr& args,
                upcall_limit limit, upcall_receiver<Raw> receiver,
                Invoke invoke) {
    auto x = std::make_shared<upcall_of<Raw>>();
    x->receiver = std::move(receiver);
    const auto id = open(x, entry, args);
    if (id == 0)
      return 0;
    const pmix_status_t code = invoke(upcalls::to_cbdata(id));
    if (code == PMIX_OPERATION_SUCCEEDED)
      upcalls::settle<Raw>(id, Raw{});
    else if (code != PMIX_SUCCESS)
      upcalls::settle<Raw>(
        id, make_error(static_cast<status>(code), "the host refused"));
    if (upcalls::find_open(id) == nullptr)
      return 0;
    if (limit)
      fx_.remind(id, *limit);
    return id;
  }

  /// Calls `f` after a time if an up-call has no outcome by then.
  void grace(uint64_t id, caf::timespan after, std::function<void()> f);

  /// An up-call has its outcome, or its time is up.
  void wake(uint64_t id);

private:
  /// @returns 0 if the up-call has been refused.
  uint64_t open(const std::shared_ptr<upcall>& x, const char* entry,
                const upcall_arguments_ptr& args);

  effects fx_;
  caf::actor_addr address_;

  /// Instead of refusals, by numbers of up-calls.
  std::map<uint64_t, std::function<void()>> graces_;
};

} // namespace troupe
