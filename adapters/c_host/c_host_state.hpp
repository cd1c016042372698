#pragma once

// The inside of the C HOST actor: shared by adapters/c_host/c_host*.cpp only.

#include "actors/answer.hpp"
#include "adapters/c_host/c_host.hpp"
#include "adapters/c_host/upcall.hpp"
#include "adapters/c_values/convert.hpp"

#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/timespan.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <map>

namespace troupe::c_host_internals {

/// Output that somebody wants.
struct output_pull {
  requester who;
  io_pull_request request;

  /// The desk's number.
  uint64_t subscription = 0;
  output_sink_actor sink;
};

struct c_host_state {
  static inline const char* name = "c-host";

  c_host_settings settings;

  /// The host does not call back when a client connects.
  bool is_silent_on_connect = false;

  /// What to do when the host has not answered an up-call in time, if not to
  /// refuse the request.
  std::map<uint64_t, std::function<void()>> graces;

  /// By the numbers that requesters know.
  std::map<uint64_t, output_pull> pulls;
  uint64_t last_pull = 0;

  caf::actor_addr self;

  ~c_host_state() {
    upcalls::forget(self);
    for (const auto& [id, x] : pulls)
      caf::anon_send_exit(x.sink, caf::exit_reason::user_shutdown);
  }

  const pmix_server_module_t& module() const {
    return settings.module;
  }

  void log(severity level, const std::string& line) const {
    if (settings.log)
      settings.log(level, line);
  }
};

TROUPE_SELF_POINTER(c_host_actor, c_host_state);

/// What an up-call points to.
struct arguments {
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

  // -- to fill in; the first error stays --

  caf::error error;

  void set_proc(const proc_id& x) {
    c_api::to_c(x, proc);
  }

  template <class T>
  void take(c_api::c_array<T>& to, caf::expected<c_api::c_array<T>> x) {
    if (x)
      to = std::move(*x);
    else if (!error)
      error = std::move(x.error());
  }

  void set_procs(const std::vector<proc_id>& xs) {
    take(procs, c_api::to_c_procs(xs));
  }

  void set_codes(const std::vector<status>& xs) {
    for (const auto x : xs)
      codes.push_back(static_cast<pmix_status_t>(x));
  }

  /// Null stands for all codes. Source: PMIx Standard v5,
  /// `pmix_server_register_events_fn_t`.
  pmix_status_t* codes_or_null() {
    return codes.empty() ? nullptr : codes.data();
  }

  void set_infos(const std::vector<info>& xs) {
    take(infos, c_api::to_c_infos(xs));
  }

  void set_directives(const std::vector<info>& xs) {
    take(directives, c_api::to_c_infos(xs));
  }

  /// A list of strings that ends with a null pointer.
  void set_keys(std::vector<std::string> xs) {
    texts = std::move(xs);
    for (auto& x : texts)
      keys.push_back(x.data());
    keys.push_back(nullptr);
  }

  void set_bytes(std::string x) {
    bytes = std::move(x);
    object.bytes = bytes.empty() ? nullptr : bytes.data();
    object.size = bytes.size();
  }
};

using arguments_ptr = std::shared_ptr<arguments>;

/// Arguments of a call on behalf of `who`.
inline arguments_ptr arguments_of(const requester& who) {
  auto result = std::make_shared<arguments>();
  result->set_proc(who.proc);
  return result;
}

/// How long the host may take.
using limit = std::optional<caf::timespan>;

/// Most calls: a host that takes longer is broken.
limit usual_limit();

/// Calls that wait for others: what the requester asks for, if it does.
limit limit_of(const std::vector<info>& directives);

void remind(self_pointer self, uint64_t id, caf::timespan after);

/// Notes an up-call, makes it, and sees to its answer.
/// @param entry    The name of the entry in the module, for the log.
/// @param receiver Gets the outcome, once.
/// @param invoke   Makes the up-call with the `cbdata` that it is given; what
///                 it returns is the host's return value.
template <class Raw, class Invoke>
void call_host(self_pointer self, const char* entry, const arguments_ptr& args,
               limit time, upcall_receiver<Raw> receiver, Invoke invoke) {
  if (args->error) {
    receiver(std::move(args->error));
    return;
  }
  auto x = std::make_shared<upcall_of<Raw>>();
  x->name =
    std::string{entry} + " for " + to_string(c_api::to_proc(args->proc));
  x->owner = c_host_actor{self};
  x->arguments = args;
  x->receiver = std::move(receiver);
  const auto id = upcalls::open(x);
  if (id == 0) {
    x->refuse(make_error(status::out_of_resource,
                         "too many up-calls wait for the host"));
    return;
  }
  const pmix_status_t code = invoke(upcalls::to_cbdata(id));
  if (code == PMIX_OPERATION_SUCCEEDED)
    upcalls::settle<Raw>(id, Raw{});
  else if (code != PMIX_SUCCESS)
    upcalls::settle<Raw>(
      id, make_error(static_cast<status>(code), "the host refused"));
  else if (time && upcalls::find_open(id) != nullptr)
    remind(self, id, *time);
}

/// The receiver that answers a request; `convert` makes the answer.
template <class Raw, class Result, class Convert>
upcall_receiver<Raw> replying(caf::typed_response_promise<Result> promise,
                              Convert convert) {
  auto reply = std::make_shared<answer<Result>>(std::move(promise));
  return [reply, convert](caf::expected<Raw> x) {
    if (!x) {
      reply->fail(std::move(x.error()));
      return;
    }
    auto result = caf::expected<Result>{convert(std::move(*x))};
    if (result)
      reply->give(std::move(*result));
    else
      reply->fail(std::move(result.error()));
  };
}

/// The usual up-call: its outcome is the answer.
template <class Result, class Invoke>
caf::result<Result> call_and_reply(self_pointer self, const char* entry,
                                   const arguments_ptr& args, limit time,
                                   Invoke invoke) {
  auto promise = self->make_response_promise<Result>();
  call_host<Result>(
    self, entry, args, time,
    replying<Result, Result>(promise, [](Result x) { return x; }),
    std::move(invoke));
  return promise;
}

/// The answer where the host has no entry.
caf::error missing(const char* entry);

/// `infos` with who asks, as the kernel says: hosts decide by it.
/// Source: PMIx Standard v5, PMIX_USERID, PMIX_GRPID: the server adds them.
std::vector<info> with_credentials(std::vector<info> infos,
                                   const requester& who);

/// Without booleans that say no: hosts look for the key only (trap 21).
std::vector<info> without_false(std::vector<info> infos);

// -- c_host_control.cpp
// -----------------------------------------------------------------------

/// All local members have called. Groups of the same processes differ by their
/// identifiers, unlike fences.
/// Source: RFC0033, "implementation note" of Group_construct.
caf::result<info_result> conduct_group(self_pointer self, host_group& request);

// -- c_host_requests.cpp
// -----------------------------------------------------------------------

caf::result<ack> publish(self_pointer self, const requester& who,
                         publish_request& request);

caf::result<lookup_result> look_up(self_pointer self, const requester& who,
                                   lookup_request& request);

caf::result<ack> unpublish(self_pointer self, const requester& who,
                           unpublish_request& request);

caf::result<spawn_result> spawn(self_pointer self, const requester& who,
                                spawn_request& request);

caf::result<ack> notify(self_pointer self, const requester& who,
                        notify_request& request);

caf::result<ack> register_events(self_pointer self, const requester& who,
                                 const register_events_request& request);

void deregister_events(self_pointer self, const requester& who,
                       const deregister_events_request& request);

caf::result<ack> write_log(self_pointer self, const requester& who,
                           const log_request& request);

caf::result<info_result> answer_query(self_pointer self, const requester& who,
                                      const query_request& request);

caf::result<info_result> control_job(self_pointer self, const requester& who,
                                     job_control_request& request);

caf::result<info_result> monitor(self_pointer self, const requester& who,
                                 monitor_request& request);

caf::result<info_result> allocate(self_pointer self, const requester& who,
                                  allocation_request& request);

caf::result<info_result> control_session(self_pointer self,
                                         const requester& who,
                                         session_control_request& request);

caf::result<ack> change_block(self_pointer self, const requester& who,
                              resource_block_request& request);

caf::result<get_credential_result>
get_credential(self_pointer self, const requester& who,
               get_credential_request& request);

caf::result<info_result> validate(self_pointer self, const requester& who,
                                  validate_credential_request& request);

caf::result<info_result> ask_fabric(self_pointer self, const requester& who,
                                    uint8_t operation,
                                    const std::vector<info>& directives);

// -- c_host_output.cpp
// ------------------------------------------------------------------------

caf::result<io_pull_result> pull_output(self_pointer self, const requester& who,
                                        io_pull_request& request);

caf::result<ack> end_pull(self_pointer self, const requester& who,
                          io_deregister_request& request);

/// What a requester gets of the job that it spawns: a tool, what it does not
/// refuse; a process, what it asks for. Source: PMIx Standard v5,
/// PMIX_FWD_STDOUT and its neighbours; OpenPMIx, for what is not said.
struct output_wish {
  io_subscription how;
  std::vector<info> directives;
};

output_wish forwarded_output(const requester& who,
                             const std::vector<info>& job_infos);

/// Gives it that, from the first byte on.
void forward_output(self_pointer self, const requester& who, output_wish wish,
                    const std::string& nspace, std::function<void()> then);

/// Whoever is gone wants no more output.
void forget_pulls(self_pointer self, const requester& who);

caf::result<ack> push_input(self_pointer self, const requester& who,
                            io_push_request& request);

} // namespace troupe::c_host_internals
