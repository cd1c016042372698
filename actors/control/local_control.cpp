#include "actors/control/local_control.hpp"

#include "actors/io/stream_lists.hpp"
#include "base/make_info.hpp"
#include "base/sturdy.hpp"
#include "messages/attributes.hpp"
#include "messages/denial.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace troupe {

namespace {

info to_info(const checkpoint_method& x) {
  if (x.signal)
    return make_info(attr::job_ctrl_checkpoint_signal,
                     value::integer(*x.signal));
  const auto code = x.event.value_or(status::jctrl_checkpoint);
  return make_info(attr::job_ctrl_checkpoint_event,
                   value::of_status(static_cast<int32_t>(code)));
}

/// Whom a query is about.
proc_id subject_of(const requester& who, const query& question) {
  if (const auto* proc = find(question.qualifiers, attr::procid))
    if (const auto procs = procs_of(*proc); !procs.empty())
      return procs.front();
  if (const auto nspace = text(question.qualifiers, attr::nspace))
    return {*nspace, number<uint32_t>(question.qualifiers, attr::rank)
                       .value_or(rank_wildcard)};
  return who.proc;
}

} // namespace

// -- what is kept ------------------------------------------------------------

caf::error cleanup_book::add(const std::string& nspace,
                             std::vector<cleanup_path> paths) {
  return jobs_[nspace].add(std::move(paths));
}

std::vector<cleanup_path> cleanup_book::take(const std::string& nspace) {
  auto job = jobs_.extract(nspace);
  return job.empty() ? std::vector<cleanup_path>{} : job.mapped().take();
}

std::vector<cleanup_path> cleanup_book::take_all() {
  auto result = std::vector<cleanup_path>{};
  for (auto& [nspace, job] : std::exchange(jobs_, {})) {
    auto paths = job.take();
    std::move(paths.begin(), paths.end(), std::back_inserter(result));
  }
  return result;
}

local_declarations::local_declarations(std::shared_ptr<cleanup_book> book,
                                       uint32_t uid)
  : book_(std::move(book)), uid_(uid) {
  // nop
}

caf::expected<local_declarations::remainder>
local_declarations::take(const requester& who,
                         const job_control_request& request) {
  auto cleanup = job_control_request{request.targets, {}};
  auto result = remainder{};
  for (const auto& x : request.directives)
    (is_cleanup(x.key) ? cleanup.directives : result.directives).push_back(x);
  auto paths = std::optional<std::vector<cleanup_path>>{};
  if (!cleanup.directives.empty()) {
    // Open MPI goes on at this status, and at no other.
    if (who.creds.uid != uid_)
      return make_error(
        status::not_supported,
        "this server removes files of its own user only; name these");
    auto read = read_cleanup(cleanup);
    if (!read)
      return std::move(read.error());
    paths = std::move(*read);
  }
  // What cannot be read here may mean something to the host.
  const auto rest = result.directives.empty()
                      ? caf::expected<control_directives>{control_directives{}}
                      : read_directives(result.directives);
  if (rest && rest->declares()) {
    if (auto why = methods_.declare(who.proc, *rest))
      return why;
    if (rest->methods && rest->methods->empty())
      first_.erase(who.proc);
    else if (rest->methods)
      first_[who.proc] = rest->methods->front();
    result.is_kept = rest->verbs().empty() && !rest->cancel;
  }
  if (paths)
    if (auto why = book_->add(who.proc.nspace, std::move(*paths)))
      return why;
  if (rest && rest->checkpoint && rest->checkpoint_by.empty())
    if (const auto* method = method_for(who, request.targets))
      result.directives.push_back(to_info(*method));
  return result;
}

const checkpoint_method*
local_declarations::method_for(const requester& who,
                               std::vector<proc_id> targets) const {
  if (targets.empty())
    targets.push_back({who.proc.nspace, rank_wildcard});
  for (const auto& x : targets) {
    const auto i = x.rank == rank_wildcard ? first_.lower_bound({x.nspace, 0})
                                           : first_.find(x);
    if (i != first_.end() && i->first.nspace == x.nspace)
      return &i->second;
  }
  return nullptr;
}

std::optional<std::vector<info>>
local_declarations::answer(const requester& who, const query& question) const {
  const auto known = methods_.describe(subject_of(who, question));
  auto result = std::vector<info>{};
  for (const auto& key : question.keys) {
    if (key != attr::job_ctrl_preemptible
        && key != attr::job_ctrl_checkpoint_method)
      return std::nullopt;
    if (const auto* x = find(known, key))
      result.push_back({key, 0, *x});
  }
  return result;
}

void local_declarations::proc_ended(const proc_id& proc) {
  methods_.proc_ended(proc);
  first_.erase(proc);
}

void local_declarations::job_ended(const std::string& nspace) {
  methods_.job_ended(nspace);
  first_.erase(first_.lower_bound({nspace, 0}),
               first_.upper_bound({nspace, rank_undef}));
}

// -- the actor ---------------------------------------------------------------

namespace {

struct local_control_state {
  static inline const char* name = "local-control";

  caf::actor host;
  cleaner_actor cleaner;
  io_desk_actor desk;
  std::shared_ptr<cleanup_book> book;
  std::optional<local_declarations> kept;
};

using self_pointer = caf::stateful_actor<local_control_state>*;

caf::result<info_result> control(self_pointer self, const requester& who,
                                 job_control_request& request) {
  auto rest = self->state.kept->take(who, request);
  if (!rest)
    return std::move(rest.error());
  if (rest->directives.empty())
    return info_result{};
  auto promise = self->make_response_promise<info_result>();
  request.directives = std::move(rest->directives);
  self->request(self->state.host, caf::infinite, who, std::move(request))
    .then([promise](info_result& x) mutable { promise.deliver(std::move(x)); },
          [promise, is_kept = rest->is_kept](caf::error& why) mutable {
            if (is_kept && status_of(why) == status::not_supported)
              promise.deliver(info_result{});
            else
              promise.deliver(std::move(why));
          });
  return promise;
}

/// Whether all that is asked is known here; then the answer.
std::optional<info_result> answer_here(self_pointer self, const requester& who,
                                       const query_request& request) {
  auto result = info_result{};
  for (const auto& x : request.queries) {
    auto found = self->state.kept->answer(who, x);
    if (!found || x.keys.empty())
      return std::nullopt;
    result.complete &= found->size() == x.keys.size();
    result.infos.insert(result.infos.end(), found->begin(), found->end());
  }
  return result;
}

caf::result<info_result> list_streams(self_pointer self, const requester& who,
                                      query_request& request) {
  auto out = stream_list_means{};
  out.list = [self](list_io what, completion<io_list> then) {
    ask<io_list>(self, self->state.desk, std::move(then), std::move(what));
  };
  out.ask_host = [self, who](query_request what, completion<info_result> then) {
    ask<info_result>(self, caf::actor_cast<host_actor>(self->state.host),
                     std::move(then), who, std::move(what));
  };
  return answer_later<info_result>(self, [&](completion<info_result> done) {
    answer_with_streams(who, std::move(request), out, std::move(done));
  });
}

void forget(self_pointer self, const std::string& nspace) {
  auto& state = self->state;
  state.kept->job_ended(nspace);
  auto paths = state.book->take(nspace);
  if (!paths.empty())
    self->request(state.cleaner, caf::infinite, remove_paths{std::move(paths)})
      .then([](ack) {}, [](const caf::error&) {});
}

/// Apart from `behavior`: the type of a lambda there is named after all that the
/// actors it is given understand.
caf::behavior handlers(self_pointer self) {
  self->link_to(self->state.host);
  self->set_exit_handler([self](const caf::exit_msg& x) {
    constexpr auto reason = caf::exit_reason::user_shutdown;
    caf::anon_send_exit(self->state.host, reason);
    caf::anon_send_exit(self->state.cleaner, reason);
    self->quit(x.reason);
  });
  self->set_default_handler(
    [self](caf::scheduled_actor*,
           caf::message_view& x) -> caf::result<caf::message> {
      return self->delegate(self->state.host, x.move_content_to_message());
    });
  auto handlers = caf::behavior{
    [self](const requester& who, job_control_request& request) {
      return control(self, who, request);
    },
    [self](const requester& who,
           query_request& request) -> caf::result<info_result> {
      if (auto known = answer_here(self, who, request))
        return std::move(*known);
      if (self->state.desk && asks_for_streams(request))
        return list_streams(self, who, request);
      auto promise = self->make_response_promise<info_result>();
      promise.delegate(self->state.host, who, std::move(request));
      return promise;
    },
    [self](const client_finalized& what) {
      self->state.kept->proc_ended(what.who.proc);
      return self->delegate(self->state.host, what);
    },
    [self](const client_lost& what) {
      self->state.kept->proc_ended(what.who.proc);
      self->send(self->state.host, what);
    },
    [self](const deregister_nspace& what) { forget(self, what.nspace); },
  };
  return sturdy(self, std::move(handlers));
}

caf::behavior behavior(self_pointer self, const host_actor& host,
                       cleaner_actor cleaner,
                       std::shared_ptr<cleanup_book> book, uint32_t uid,
                       io_desk_actor desk) {
  auto& state = self->state;
  state.desk = std::move(desk);
  state.host = caf::actor_cast<caf::actor>(host);
  state.cleaner = std::move(cleaner);
  state.book = std::move(book);
  state.kept.emplace(state.book, uid);
  return handlers(self);
}

} // namespace

host_actor spawn_local_control(caf::actor_system& sys, host_actor host,
                               cleaner_actor cleaner,
                               std::shared_ptr<cleanup_book> book, uint32_t uid,
                               io_desk_actor desk) {
  return caf::actor_cast<host_actor>(
    sys.spawn(behavior, std::move(host), std::move(cleaner), std::move(book),
              uid, std::move(desk)));
}

} // namespace troupe
