#pragma once

#include "messages/actors.hpp"
#include "messages/publish.hpp"

#include <caf/expected.hpp>

#include <pmix_server.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Up-calls in flight. What a host gets as its `cbdata` is a number, never an
// address: it may call back twice, late, or with nonsense, from any thread.

namespace troupe {

/// Bytes that a modex brought.
struct modex_bytes {
  std::string bytes;
};

/// The namespace of a spawned job.
struct spawned {
  std::string nspace;
};

/// Whoever waits for the outcome of an up-call. For the actor's thread only.
template <class Raw>
using upcall_receiver = std::function<void(caf::expected<Raw>)>;

/// One up-call, without what it answers.
struct upcall {
  virtual ~upcall();

  /// For the log: the entry of the module, and who asked.
  std::string name;

  /// Gets a `deadline` of `id` once the host has answered.
  c_host_actor owner;

  /// What the host may keep pointers into until it answers.
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

} // namespace troupe
