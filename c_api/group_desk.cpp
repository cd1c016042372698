#include "c_api/group_desk.hpp"

#include "actors/groups/group_keys.hpp"
#include "adapters/loop/event_loop.hpp"
#include "base/make_info.hpp"
#include "c_api/event_desk.hpp"
#include "c_api/library_core.hpp"
#include "c_api/request.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>

namespace troupe::c_api {

namespace {

/// For the progress thread only.
group_desk* the_desk = nullptr;

/// What tells members of each other.
const std::vector<status>& codes_of_members() {
  static const auto result =
    std::vector{status::group_left, status::group_membership_update,
                status::group_member_failed};
  return result;
}

} // namespace

group_desk* group_desk::current() {
  return the_desk;
}

group_desk::group_desk(library& lib)
  : lib_(lib),
    invitations_({defaults::group_decision, defaults::groups_per_namespace,
                  defaults::group_participants}) {
  the_desk = this;
}

group_desk::~group_desk() {
  the_desk = nullptr;
  for (auto& [id, done] : std::exchange(calls_, {}))
    done(PMIX_ERR_UNREACH, {});
}

invitations::time group_desk::now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

// -- calls -------------------------------------------------------------------

status group_desk::invite(const std::string& id, std::vector<proc_id> range,
                          const std::vector<info>& directives,
                          on_outcome done) {
  listen(invitations::codes());
  invitations_.set_self(lib_.proc());
  auto procs = std::vector<proc_id>{};
  for (auto& x : spell_out(lib_, range)) {
    if (x.rank == rank_wildcard)
      return status::not_found; // A namespace that we do not know.
    if (std::find(procs.begin(), procs.end(), x) == procs.end())
      procs.push_back(std::move(x));
  }
  auto out = invitations::effects{};
  const auto call = ++last_call_;
  const auto code = invitations_.invite(call, id, std::move(range), procs,
                                        directives, now(), out);
  if (code != status::success)
    return code;
  calls_.emplace(call, std::move(done));
  carry_out(std::move(out));
  return code;
}

status group_desk::join(const std::string& id, const proc_id* leader,
                        bool accepts, const std::vector<info>& directives,
                        on_outcome done) {
  invitations_.set_self(lib_.proc());
  auto out = invitations::effects{};
  const auto call = ++last_call_;
  const auto code =
    invitations_.join(call, id, leader, accepts, directives, now(), out);
  if (code != status::success)
    return code;
  calls_.emplace(call, std::move(done));
  carry_out(std::move(out));
  return code;
}

void group_desk::follow_members() {
  listen(codes_of_members());
}

// -- events -------------------------------------------------------------------

void group_desk::observe(const event_batch& what) {
  for (const auto& x : what.events)
    if (is_of_group(x->code) || x->code == status::lost_connection_to_server
        || codes_.count(x->code) > 0)
      observe(*x);
}

void group_desk::observe(const event& what) {
  auto out = invitations::effects{};
  if (what.code == status::lost_connection_to_server) {
    if (what.source == lib_.server())
      invitations_.lose(status::lost_connection, out);
  } else {
    if (what.code == status::group_invited)
      listen(invitations::codes());
    follow(what);
    invitations_.set_self(lib_.proc());
    invitations_.observe(what, now(), out);
  }
  carry_out(std::move(out));
}

/// Keeps the book of groups right while members come and go.
void group_desk::follow(const event& what) {
  const auto id = text(what.infos, attr::group_id);
  if (!id)
    return;
  auto& book = *lib_.core()->groups;
  if (what.code == status::group_membership_update) {
    const auto* members = find(what.infos, attr::group_membership);
    if (members != nullptr && book.members(*id))
      book.add(*id, procs_of(*members));
  } else if (what.code == status::group_left
             || what.code == status::group_member_failed) {
    const auto* gone = find(what.infos, attr::event_affected_proc);
    for (const auto& x :
         gone != nullptr ? procs_of(*gone) : std::vector{what.source})
      book.remove_member(*id, x);
  }
}

/// Tells the server what the handlers of an event that asks them have decided,
/// also if there are none.
void group_desk::decide(const event& what, handler_verdict verdict) {
  const auto round = number<uint64_t>(what.infos, group_keys::round);
  const auto id = text(what.infos, attr::group_id);
  if (round && id) {
    auto answer = notify_request{status::group_verdict, data_range::local, {}};
    answer.infos = {
      make_info(attr::group_id, value::string(*id)),
      make_info(group_keys::round, value::uint64(*round)),
      make_info(group_keys::status,
                value::integer(static_cast<int32_t>(verdict.outcome)))};
    if (const auto* x = find(what.infos, group_keys::invitation))
      answer.infos.push_back(make_info(group_keys::invitation, *x));
    answer.infos.insert(answer.infos.end(), verdict.results.begin(),
                        verdict.results.end());
    lib_.tell<ack>(std::move(answer));
  }
  auto out = invitations::effects{};
  invitations_.decide(what,
                      {lib_.proc(), round ? *round : 0, verdict.outcome,
                       std::move(verdict.results)},
                      now(), out);
  carry_out(std::move(out));
}

void group_desk::raise(const notify_request& what) {
  auto out = invitations::effects{};
  invitations_.raise(what, out);
  carry_out(std::move(out));
}

// -- the server ---------------------------------------------------------------

/// Has the server send events with these codes. Handlers of the program count
/// on their own.
void group_desk::listen(const std::vector<status>& codes) {
  auto request = register_events_request{};
  for (const auto code : codes)
    if (codes_.insert(code).second)
      request.codes.push_back(code);
  if (!request.codes.empty())
    lib_.tell<ack>(std::move(request));
}

void group_desk::meet_server() {
  if (!codes_.empty())
    lib_.tell<ack>(register_events_request{{codes_.begin(), codes_.end()}, {}});
}

void group_desk::keep(std::vector<status>& codes) const {
  codes.erase(std::remove_if(codes.begin(), codes.end(),
                             [&](status x) { return codes_.count(x) > 0; }),
              codes.end());
}

void group_desk::carry_out(invitations::effects what) {
  for (auto& [notice, request] : what.notices) {
    const auto code = lib_.ask<ack>(
      std::move(request), [id = notice](const caf::expected<ack>& x) {
        if (the_desk == nullptr)
          return;
        auto out = invitations::effects{};
        the_desk->invitations_.confirm(id, static_cast<status>(code_of(x)),
                                       now(), out);
        the_desk->carry_out(std::move(out));
      });
    if (code == PMIX_SUCCESS)
      continue;
    lib_.post([id = notice, code] {
      if (the_desk == nullptr)
        return;
      auto out = invitations::effects{};
      the_desk->invitations_.confirm(id, static_cast<status>(code), now(), out);
      the_desk->carry_out(std::move(out));
    });
  }
  auto& book = *lib_.core()->groups;
  for (auto& x : what.formed) {
    book.add(std::move(x.id), spell_out(lib_, x.members), x.context_id);
    follow_members();
  }
  book.keep_out(invitations_.open_groups());
  const auto due = invitations_.next();
  if (due && !timer_)
    timer_.emplace(lib_.loop().loop(), [this] {
      auto out = invitations::effects{};
      invitations_.advance(now(), out);
      carry_out(std::move(out));
    });
  if (due)
    timer_->start(*due - now());
  else if (timer_)
    timer_->cancel();
  for (auto& x : what.outcomes) {
    auto done = calls_.extract(x.call);
    if (!done.empty())
      done.mapped()(static_cast<pmix_status_t>(x.code), x.infos);
  }
  for (auto& x : what.own)
    event_desk::events_of_ours().push(lib_, std::move(x));
}

std::vector<proc_id> spell_out(const library& lib,
                               const std::vector<proc_id>& xs) {
  auto result = std::vector<proc_id>{};
  for (const auto& x : xs) {
    auto size = std::optional<uint32_t>{};
    if (x.rank == rank_wildcard)
      lib.store()->get({x, attr::job_size}, {},
                       [&](const value& y) { size = y.number<uint32_t>(); });
    if (size && *size <= rank_valid_max)
      for (uint32_t rank = 0; rank < *size; ++rank)
        result.push_back({x.nspace, rank});
    else
      result.push_back(x);
  }
  return result;
}

} // namespace troupe::c_api
