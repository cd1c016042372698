#include "actors/server/collectives.hpp"

#include "actors/data/get_options.hpp"
#include "actors/groups/group_keys.hpp"
#include "base/directives.hpp"
#include "base/make_info.hpp"
#include "base/timeout.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace troupe {

namespace {

/// Names a few of many.
std::string names(const std::vector<proc_id>& procs) {
  constexpr auto most = size_t{8};
  auto result = std::string{};
  for (size_t i = 0; i < std::min(procs.size(), most); ++i)
    result += (i > 0 ? ", " : "") + to_string(procs[i]);
  if (procs.size() > most)
    result += " and " + std::to_string(procs.size() - most) + " more";
  return result;
}

pmix_call call_of(collective_kind kind) {
  switch (kind) {
    case collective_kind::connect:
      return pmix_call::connect;
    case collective_kind::disconnect:
      return pmix_call::disconnect;
    default:
      return pmix_call::fence;
  }
}

bool spans_jobs(const std::vector<proc_id>& procs) {
  return std::any_of(procs.begin(), procs.end(), [&](const proc_id& x) {
    return x.nspace != procs.front().nspace;
  });
}

/// The jobs in `all` that are not the caller's own.
connect_procs_result jobs_of_others(const std::vector<job_info>& all,
                                    const std::string& nspace) {
  auto result = connect_procs_result{};
  for (const auto& job : all)
    if (job.nspace != nspace)
      result.jobs.push_back(job);
  return result;
}

} // namespace

collectives::collectives(registry& known, bool spans_nodes, size_t most,
                         effects out)
  : known_(known), spans_nodes_(spans_nodes), most_(most), out_(std::move(out)),
    parts_(known) {
  // nop
}

// -- who may take part --

caf::error collectives::refusal(const requester& who,
                                const std::vector<proc_id>& procs) const {
  const auto is_member =
    std::any_of(procs.begin(), procs.end(),
                [&](const proc_id& proc) { return matches(proc, who.proc); });
  if (!is_member)
    return make_error(status::bad_param,
                      troupe::to_string(who.proc)
                        + " is not among the processes it names; name it, too");
  if (const auto count = known_.count_named(procs); !count)
    return count.error();
  // The word of its end may overtake its call: the operation that it means has
  // gone on without it, or failed.
  if (const auto* caller = known_.find_local(who.proc);
      caller != nullptr && caller->is_gone())
    return make_error(status::lost_connection,
                      troupe::to_string(who.proc) + " has ended");
  return {};
}

caf::error
collectives::connection_refusal(collective_kind kind,
                                const std::vector<proc_id>& procs) const {
  if (kind == collective_kind::disconnect && !connected_.contains(procs))
    return make_error(status::invalid_operation,
                      names(procs)
                        + " are not connected: name those that PMIx_Connect "
                          "has connected, in the same way");
  if (kind == collective_kind::connect && !connected_.has_room(procs))
    return make_error(status::out_of_resource,
                      "too many sets of processes are connected ("
                        + std::to_string(defaults::groups_per_namespace)
                        + " of one namespace); disconnect some");
  return {};
}

caf::error
collectives::unasked_refusal(collective_kind kind,
                             const std::vector<proc_id>& procs,
                             const std::vector<info>& directives) const {
  // Of connections between jobs the host hears although all are here.
  if (kind != collective_kind::fence && spans_jobs(procs))
    return {};
  auto why = check_required(call_of(kind), directives, next_host::ours);
  return why && known_.are_local(procs) ? why : caf::error{};
}

// -- connections --

/// Open MPI calls a fence where it means `PMIx_Disconnect`. Its processes are
/// known by what they post.
/// Source: Open MPI 4.1 to 5.0, MPI_Comm_disconnect.
bool collectives::disconnects(const operation& x) const {
  if (x.kind != collective_kind::fence || x.procs.size() < 2
      || !connected_.contains(x.procs))
    return false;
  const auto& joined = x.members.joined();
  return std::any_of(joined.begin(), joined.end(), [&](const proc_id& proc) {
    const auto* entry = known_.find(proc.nspace);
    if (entry == nullptr)
      return false;
    const auto& posted = entry->posted.visible_here(proc.rank);
    return std::any_of(posted.begin(), posted.end(), [](const auto& y) {
      const auto key = posted_key(y.first);
      return key.compare(0, 4, "btl.") == 0 || key.compare(0, 4, "pml.") == 0
             || key.compare(0, 4, "mtl.") == 0;
    });
  });
}

void collectives::note_connection(const operation& x) {
  if (x.kind == collective_kind::connect) {
    connected_.connect(x.procs);
    // A fence of theirs may end that.
    parts_.release(x.procs);
  } else if (x.kind == collective_kind::disconnect || disconnects(x))
    connected_.disconnect(x.procs);
}

void collectives::forget(const std::string& nspace) {
  close_meeting(nspace);
  meetings_.erase(nspace);
  parts_.forget(nspace);
  table_.forget(nspace);
  connected_.forget(nspace);
}

// -- fences without us --

bool collectives::is_of_job(collective_kind kind,
                            const std::vector<proc_id>& procs) {
  return kind == collective_kind::fence && procs.size() == 1
         && procs.front().rank == rank_wildcard;
}

bool collectives::can_meet(const namespace_entry& entry) {
  return (entry.is_local() || entry.procs.size() > 1) && entry.shares_memory();
}

void collectives::share(const proc_id& proc, bool is_first) {
  if (!is_first) {
    // Calls of its rank may come by both connections.
    close_meeting(proc.nspace);
    meetings_[proc.nspace].door.bar();
    parts_.bar(proc.nspace);
  } else if (meetings_.count(proc.nspace) == 0) {
    open_meeting(proc.nspace);
  }
}

void collectives::open_meeting(const std::string& nspace) {
  const auto* entry = known_.find(nspace);
  const auto everybody = proc_id{nspace, rank_wildcard};
  if (entry == nullptr || !can_meet(*entry) || table_.has_fence({everybody}))
    return;
  auto& x = meetings_[nspace];
  if (!x.door.can_open())
    return;
  if (entry->memory->open_fences(job_memory::whole_job))
    x.door.open(entry->memory->fences(job_memory::whole_job));
  x.departed.clear();
}

bool collectives::close_meeting(const std::string& nspace) {
  const auto i = meetings_.find(nspace);
  if (i == meetings_.end() || !i->second.door.close())
    return false;
  const auto* entry = known_.find(nspace);
  return entry != nullptr && entry->memory
         && entry->memory->close_fences(job_memory::whole_job)
         && !i->second.round;
}

void collectives::interrupt_meeting(const std::string& nspace,
                                    bool is_of_round) {
  const auto i = meetings_.find(nspace);
  const auto* entry = known_.find(nspace);
  if (i == meetings_.end() || !i->second.door.is_open() || entry == nullptr)
    return;
  close_meeting(nspace);
  if (!is_of_round)
    i->second.door.note_question(entry->memory->fences(job_memory::whole_job));
}

void collectives::interrupt(const std::vector<proc_id>& procs,
                            bool is_of_round) {
  if (is_of_job(collective_kind::fence, procs))
    interrupt_meeting(procs.front().nspace, is_of_round);
  else
    parts_.interrupt(procs, is_of_round);
}

std::vector<proc_id>
collectives::take_departed(const std::vector<proc_id>& procs) {
  if (!is_of_job(collective_kind::fence, procs))
    return parts_.take_departed(procs);
  const auto i = meetings_.find(procs.front().nspace);
  return i != meetings_.end() ? std::exchange(i->second.departed, {})
                              : std::vector<proc_id>{};
}

void collectives::note_fence(const std::vector<proc_id>& procs) {
  if (is_of_job(collective_kind::fence, procs))
    open_meeting(procs.front().nspace);
  else if (parts_.may_meet(procs) && !table_.has_fence(procs)
           && !connected_.contains(procs))
    parts_.note(procs);
}

bool collectives::join_round(const proc_id& caller, uint32_t round,
                             completion<connect_procs_result>& reply) {
  const auto i = meetings_.find(caller.nspace);
  const auto* entry = known_.find(caller.nspace);
  if (i == meetings_.end() || entry == nullptr || !entry->memory
      || entry->is_local())
    return false;
  auto& meeting = i->second;
  if (meeting.last_round == round) {
    if (meeting.last_failure)
      reply(meeting.last_failure);
    else
      reply(connect_procs_result{});
    return true;
  }
  const auto call = [&](uint64_t id) {
    open_.at(id).calls.push_back({caller.nspace, std::move(reply)});
  };
  if (meeting.round == round) {
    call(meeting.operation);
    return true;
  }
  const auto everybody = proc_id{caller.nspace, rank_wildcard};
  // The host may have registered others since they began to meet.
  if (!meeting.door.is_open() || meeting.given_up == round || meeting.round
      || !can_meet(*entry) || !entry->memory->has_gathered(round)
      || table_.has_fence({everybody}) || table_.size() >= most_
      || table_.counted() >= defaults::collective_signatures) {
    meeting.given_up = round;
    return false;
  }
  const auto id = table_
                    .begin_joined(collective_kind::fence, {everybody},
                                  known_.local_among({everybody}))
                    .id;
  meeting.round = round;
  meeting.operation = id;
  meeting.departed.clear();
  auto& fresh = open_[id];
  fresh.round = round;
  fresh.name = name_of(*table_.find(id));
  fresh.since = now();
  if (entry->memory->has_collected(round))
    fresh.directives.push_back(
      make_info(attr::collect_data, value::boolean(true)));
  call(id);
  check_complete(id);
  return true;
}

void collectives::end_round(const entry& x, const std::string& nspace,
                            const caf::error& why) {
  const auto i = meetings_.find(nspace);
  if (!x.round || i == meetings_.end() || i->second.round != x.round)
    return;
  auto& meeting = i->second;
  meeting.round = std::nullopt;
  meeting.last_round = x.round;
  meeting.last_failure = why;
  if (why)
    close_meeting(nspace);
  else if (const auto* entry = known_.find(nspace);
           entry != nullptr && entry->memory)
    entry->memory->end_fence(*x.round);
}

// -- how an operation begins --

void collectives::join(const requester& who, collective_kind kind,
                       std::vector<proc_id> procs,
                       const std::vector<info>& directives,
                       completion<connect_procs_result> reply) {
  if (procs.empty())
    procs.push_back({who.proc.nspace, rank_wildcard});
  if (auto why = refusal(who, procs)) {
    reply(std::move(why));
    return;
  }
  const auto participants = known_.canonical(procs);
  if (auto why = connection_refusal(kind, participants)) {
    reply(std::move(why));
    return;
  }
  if (auto why = unasked_refusal(kind, participants, directives)) {
    reply(std::move(why));
    return;
  }
  const auto round = kind == collective_kind::fence
                       ? number<uint32_t>(directives, fence_round)
                       : std::nullopt;
  if (round && is_of_job(kind, participants)
      && participants.front().nspace == who.proc.nspace
      && join_round(who.proc, *round, reply))
    return;
  const auto name = kind == collective_kind::fence
                      ? text(directives, group_keys::fence)
                      : std::nullopt;
  const auto group =
    name ? out_.find_group(who.proc, *name) : std::optional<group_key>{};
  auto* x = group ? table_.join_reduced(*group, who.proc) : nullptr;
  auto is_new = false;
  if (x == nullptr)
    std::tie(x, is_new) = table_.join(
      kind, who.proc, participants,
      [&] { return known_.local_among(participants); },
      [&] { return !known_.are_local(participants); }, group);
  const auto id = x->id;
  const auto may_meet = kind == collective_kind::fence && !group;
  if (may_meet)
    interrupt(participants, round.has_value());
  x->is_fault_tolerant |= flag(directives, attr::group_ft_collective);
  if (is_new) {
    if (table_.size() > most_
        || table_.counted() > defaults::collective_signatures) {
      table_.retire(id);
      reply(make_error(
        status::out_of_resource,
        "more than " + std::to_string(most_)
          + " collective operations in flight; wait until some are over"));
      return;
    }
    auto& fresh = open_[id];
    fresh.name = name_of(*x);
    fresh.since = now();
    for (const auto& y : directives)
      if (y.key != group_keys::fence && y.key != fence_round)
        fresh.directives.push_back(y);
    if (may_meet)
      fresh.departed = take_departed(participants);
  }
  auto& open = open_.at(id);
  open.calls.push_back({who.proc.nspace, std::move(reply)});
  if (out_.trace)
    out_.trace->note_proc(open.name, trace_step::called, who.proc);
  if (!open.has_deadline)
    if (const auto timeout = timeout_of(directives)) {
      open.has_deadline = true;
      out_.call_later(*timeout, [this, id] { time_out(id); });
    }
  if (open.failure)
    fail_calls(open, open.failure);
  check_complete(id);
}

// -- who waits for whom --

std::chrono::steady_clock::time_point collectives::now() const {
  return out_.now ? out_.now() : std::chrono::steady_clock::time_point{};
}

std::vector<memory_fence> collectives::memory_waits() const {
  auto result = parts_.waits();
  for (const auto& [nspace, x] : meetings_) {
    const auto* entry = known_.find(nspace);
    // Those of several nodes ask us when they have waited for a moment.
    if (!x.door.is_open() || entry == nullptr || !entry->memory
        || !entry->is_local() || !can_meet(*entry))
      continue;
    auto ranks = std::vector<uint32_t>{};
    for (const auto& [rank, proc] : entry->procs)
      ranks.push_back(rank);
    if (auto found = look_into(*entry->memory, job_memory::whole_job, nspace,
                               std::move(ranks)))
      result.push_back(std::move(*found));
  }
  return result;
}

std::vector<wait_part> collectives::waits() {
  const auto here = now();
  auto result = in_memory_.take(memory_waits(), here);
  for (const auto* x : table_.list()) {
    const auto open = open_.find(x->id);
    if (x->failed || open == open_.end())
      continue;
    if (result.size() >= defaults::waits_looked_at)
      break;
    auto& part = result.emplace_back();
    if (out_.trace)
      part.id = out_.trace->text_of(open->second.name);
    part.kind = x->kind;
    part.generation = x->generation;
    part.participants = participants_of(x->procs);
    if (const auto size = known_.count_named(x->procs))
      part.size = *size;
    part.joined = x->members.joined().size();
    auto missing = x->members.missing();
    part.missing = missing.size();
    if (missing.size() > defaults::waits_missing)
      missing.resize(defaults::waits_missing);
    part.named = std::move(missing);
    part.age = std::chrono::duration_cast<std::chrono::milliseconds>(
      here - open->second.since);
  }
  return result;
}

// -- how it succeeds --

void collectives::check_complete(uint64_t id) {
  auto* x = table_.find(id);
  if (x == nullptr)
    return;
  // Whoever ended before the operation began will not join it; of those that
  // end later the server hears.
  if (!std::exchange(open_.at(id).checked, true)) {
    for (const auto& proc : x->members.missing()) {
      const auto* local = known_.find_local(proc);
      const auto& departed = open_.at(id).departed;
      const auto has_left =
        local != nullptr && local->connections == 0
        && std::find(departed.begin(), departed.end(), proc) != departed.end();
      const auto is_gone = local != nullptr && local->is_gone();
      if ((has_left || is_gone) && x->members.drop(proc)
          && !x->is_fault_tolerant) {
        fail(*x, status::lost_connection,
             troupe::to_string(proc) + " had ended");
        if (table_.find(id) == nullptr)
          return;
      }
    }
  }
  if (!x->members.is_settled()) {
    if (spans_nodes_ && x->generation > 0 && !x->is_watched
        && !std::exchange(is_watch_due_, true))
      out_.call_later(defaults::collective_watch, [this] { watch(); });
    return;
  }
  if (x->failed)
    retire(id);
  else if (!x->is_given_up)
    complete(*x);
}

trace_id collectives::name_of(const operation& x) const {
  if (!out_.trace)
    return {};
  return x.generation > 0
           ? out_.trace->collective(x.kind, x.procs, x.generation)
           : out_.trace->local_collective(x.kind, x.procs, x.id);
}

void collectives::note(const entry& x, trace_step what, size_t detail,
                       status code) const {
  if (out_.trace)
    out_.trace->note(x.name, what, detail, code);
}

void collectives::complete(const operation& x) {
  note(open_.at(x.id), trace_step::gathered, x.members.joined().size());
  const auto ends_connection = disconnects(x);
  auto jobs = x.kind == collective_kind::connect ? jobs_of(x.procs)
                                                 : std::vector<job_info>{};
  auto ask = host_collective{};
  ask.is_local = known_.are_local(x.procs);
  // There is nobody else to wait for.
  if (ask.is_local
      && ((x.kind == collective_kind::fence && !ends_connection)
          || !spans_jobs(x.procs))) {
    succeed(x.id, jobs);
    return;
  }
  ask.kind = x.kind;
  ask.procs = x.procs;
  ask.directives = open_.at(x.id).directives;
  ask.generation = x.generation;
  ask.is_fault_tolerant = x.is_fault_tolerant;
  if (!ask.is_local && flag(ask.directives, attr::collect_data))
    ask.data = contributions(x);
  if (ends_connection)
    ask.directives.push_back(
      make_info(disconnecting_fence, value::boolean(true)));
  out_.ask_host(std::move(ask), [this, id = x.id, jobs = std::move(jobs)](
                                  caf::expected<host_collective_result> y) {
    if (!y) {
      if (const auto i = open_.find(id); i != open_.end()) {
        if (const auto* x = table_.find(id))
          end_round(i->second, x->procs.front().nspace, y.error());
        fail_calls(i->second, std::move(y.error()));
      }
      retire(id);
      return;
    }
    // It may have timed out while the host thought.
    if (table_.find(id) == nullptr)
      return;
    // Data first, so that a get right after the fence finds it.
    if (!y->data.empty())
      out_.store(std::move(y->data));
    succeed(id, jobs);
  });
}

void collectives::succeed(uint64_t id, const std::vector<job_info>& jobs) {
  const auto* x = table_.find(id);
  if (!x->failed)
    note_connection(*x);
  auto& open = open_.at(id);
  end_round(open, x->procs.front().nspace, open.failure);
  auto calls = std::move(open.calls);
  if (!x->failed)
    note(open, trace_step::answered, calls.size());
  retire(id);
  for (auto& call : calls)
    call.reply(jobs_of_others(jobs, call.nspace));
}

void collectives::retire(uint64_t id) {
  const auto* x = table_.find(id);
  // Then nobody has still to learn that the meeting was closed.
  const auto i = open_.find(id);
  const auto has_met = i != open_.end() && i->second.round;
  const auto have_all_called = x != nullptr && !x->group && !has_met
                               && x->members.gone().empty()
                               && x->kind == collective_kind::fence;
  const auto procs = have_all_called ? x->procs : std::vector<proc_id>{};
  table_.retire(id);
  open_.erase(id);
  if (have_all_called)
    note_fence(procs);
}

std::vector<proc_data> collectives::contributions(const operation& x) const {
  auto result = std::vector<proc_data>{};
  for (const auto& proc : x.members.joined())
    if (const auto* entry = known_.find(proc.nspace))
      result.push_back({proc, entry->posted.visible_elsewhere(proc.rank)});
  return result;
}

std::vector<job_info>
collectives::jobs_of(const std::vector<proc_id>& procs) const {
  auto nspaces = std::set<std::string>{};
  for (const auto& proc : procs)
    nspaces.insert(proc.nspace);
  auto result = std::vector<job_info>{};
  for (const auto& nspace : nspaces)
    if (const auto* entry = known_.find(nspace))
      result.push_back(*entry->data.all());
  return result;
}

// -- how it fails --

void collectives::fail_calls(entry& x, caf::error why) {
  auto calls = std::move(x.calls);
  x.calls.clear();
  note(x, trace_step::answered, calls.size(), status_of(why));
  for (auto& call : calls)
    call.reply(why);
}

void collectives::conclude(uint64_t id, status code, const std::string& why) {
  auto* x = table_.find(id);
  if (x == nullptr)
    return;
  // The first reason counts; a later one may settle it.
  if (!std::exchange(x->failed, true)) {
    const auto reason =
      std::string{text_of(x->kind)} + " of " + names(x->procs) + ": " + why;
    auto& open = open_.at(id);
    if (out_.log)
      out_.log(severity::info,
               out_.trace ? reason + " (" + out_.trace->text_of(open.name) + ")"
                          : reason);
    open.failure = make_error(code, reason);
    end_round(open, x->procs.front().nspace, open.failure);
    fail_calls(open, open.failure);
  }
  if (x->members.is_settled())
    retire(id);
}

void collectives::tell_host(const operation& x, status code,
                            const std::string& why) {
  auto ask = host_collective{};
  ask.kind = x.kind;
  ask.procs = x.procs;
  ask.generation = x.generation;
  ask.failure = code;
  ask.reason = why;
  ask.is_fault_tolerant = x.is_fault_tolerant;
  out_.ask_host(std::move(ask), [this, id = x.id](const auto& y) {
    // If it has completed, the answer to its own question says so.
    if (!y)
      conclude(id, status_of(y.error()), reason_of(y.error()));
  });
}

void collectives::fail(operation& x, status code, const std::string& why) {
  if (x.failed || x.generation == 0 || !spans_nodes_) {
    conclude(x.id, code, why);
    return;
  }
  if (!std::exchange(x.is_given_up, true))
    tell_host(x, code, why);
}

void collectives::watch() {
  is_watch_due_ = false;
  for (const auto id : table_.incomplete()) {
    auto* x = table_.find(id);
    if (x != nullptr && !std::exchange(x->is_watched, true))
      tell_host(*x, status::operation_in_progress, {});
  }
}

void collectives::time_out(uint64_t id) {
  auto* x = table_.find(id);
  if (x == nullptr || x->failed)
    return;
  const auto missing = x->members.missing();
  fail(*x, status::timeout,
       "timed out; missing "
         + (missing.empty() ? "processes of other nodes" : names(missing)));
}

void collectives::leave(const proc_id& proc, const std::string& reason) {
  if (close_meeting(proc.nspace))
    meetings_[proc.nspace].departed.push_back(proc);
  parts_.leave(proc);
  auto ids = std::vector<uint64_t>{};
  for (const auto* x : table_.drop(proc))
    ids.push_back(x->id);
  for (const auto id : ids) {
    auto* x = table_.find(id);
    if (x != nullptr && x->is_fault_tolerant && !x->failed)
      check_complete(id);
    else if (x != nullptr)
      fail(*x, status::lost_connection,
           troupe::to_string(proc) + " can not join: " + reason);
  }
}

void collectives::renew(const proc_id& proc) {
  table_.renew(proc);
}

void collectives::reduce(const group_changed& what) {
  if (what.departed.empty())
    return;
  const auto found = table_.reduce(what.group, what.departed);
  for (const auto id : found.remaining)
    check_complete(id);
  for (const auto id : found.failing)
    if (auto* x = table_.find(id)) {
      // Who has not called will name the others only.
      const auto missing = x->members.missing();
      for (const auto& proc : missing)
        x->members.drop(proc);
      fail(*x, status::lost_connection,
           names(what.departed) + " left group " + what.group.id);
    }
  if (!spans_nodes_)
    return;
  // The host tells the operations of a group by the upper half of their
  // generations; there is no first one.
  auto ask = host_collective{};
  ask.procs = what.departed;
  ask.generation = uint64_t{collective_table::salt_of(what.group)} << 32;
  ask.failure = status::lost_connection;
  ask.reason = "left group " + what.group.id;
  out_.ask_host(std::move(ask), [](const auto&) {});
}

} // namespace troupe
