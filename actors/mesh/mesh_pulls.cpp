#include "actors/io/tool_output.hpp"
#include "actors/jobs/io_directives.hpp"
#include "actors/jobs/io_options.hpp"
#include "actors/mesh/mesh_host_state.hpp"
#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <algorithm>

// Output that processes and tools of this node ask for, of processes on any
// node. The root says what they may watch; each subscription goes to the desk
// of this node, job by job.
// Source: PMIx Standard v5, `PMIx_IOF_pull`.

namespace troupe::mesh_internals {

namespace {

io_pull* find_pull(self_pointer self, uint64_t number) {
  const auto i = self->state.pulls.find(number);
  return i != self->state.pulls.end() ? &i->second : nullptr;
}

/// What a pull wants of one job.
io_subscription part_of(const io_pull& x, const std::string& nspace) {
  auto result = x.what;
  result.sources.clear();
  for (const auto& source : x.what.sources)
    if (source.nspace == nspace || source.nspace.empty())
      result.sources.push_back({nspace, source.rank});
  return result;
}

/// Subscribes at the desk, for a job that is known here.
void watch(self_pointer self, uint64_t number, io_pull& x,
           io_subscription what) {
  const auto nspace = what.sources.front().nspace;
  for (const auto& source : what.sources)
    if (source.rank == rank_wildcard)
      x.whole.insert(nspace);
  if (!x.at_desk.emplace(nspace, std::nullopt).second)
    return;
  // The root has found that it is theirs; the administrator may watch all.
  const auto uid = x.who.creds.uid;
  known_streams(self, nspace,
                uid == 0 ? std::nullopt : std::optional<uint32_t>{uid});
  subscribe(self, std::move(what), x.sink,
            [self, number, nspace](caf::expected<uint64_t> got) {
              auto* x = find_pull(self, number);
              const auto i = x != nullptr ? x->at_desk.find(nspace)
                                          : decltype(x->at_desk.end()){};
              const auto is_wanted = x != nullptr && i != x->at_desk.end();
              if (!got)
                self->state.log(severity::warning,
                                "no output of " + nspace
                                  + " for a reader: " + reason_of(got.error()));
              else if (is_wanted)
                i->second = *got;
              else
                unsubscribe(self, *got);
            });
}

void erase_pull(self_pointer self, uint64_t number) {
  auto& state = self->state;
  auto node = state.pulls.extract(number);
  if (node.empty())
    return;
  for (const auto& [nspace, subscription] : node.mapped().at_desk)
    if (subscription)
      unsubscribe(self, *subscription);
  if (node.mapped().is_standing)
    tell_standing(self, [](const auto&) {
      // Nobody waits for it.
    });
}

/// Locates jobs one after another; those that are over by now are left out.
void locate_each(self_pointer self, const std::vector<std::string>& nspaces,
                 std::function<void(const std::vector<std::string>&)> then) {
  auto found = std::make_shared<std::vector<std::string>>();
  auto left = std::make_shared<size_t>(nspaces.size() + 1);
  const auto one = [found, left, then = std::move(then)] {
    if (--*left == 0)
      then(*found);
  };
  for (const auto& nspace : nspaces) {
    if (self->state.locations.knows(nspace)) {
      found->push_back(nspace);
      one();
      continue;
    }
    locate(self, nspace, [found, one, nspace](const caf::error& why) {
      if (!why)
        found->push_back(nspace);
      one();
    });
  }
  one();
}

/// The root has said what may be watched.
void begin_pull(self_pointer self, uint64_t number,
                const std::vector<std::string>& nspaces,
                const completion<io_pull_result>& done) {
  auto* x = find_pull(self, number);
  if (x == nullptr) {
    done(make_error(status::unreach, "whoever asked is gone"));
    return;
  }
  if (nspaces.empty() && !x->is_standing) {
    erase_pull(self, number);
    done(make_error(status::not_found, "the jobs are over"));
    return;
  }
  // First the number, then the output that comes with it.
  done(io_pull_result{number});
  for (const auto& nspace : nspaces)
    watch(self, number, *x, part_of(*x, nspace));
}

/// What the root has to look at: the highest rank of each job.
/// @param sources As `read_subscription` gives them: sorted.
std::vector<proc_id> highest_of(const std::vector<proc_id>& sources) {
  auto result = std::vector<proc_id>{};
  for (const auto& x : sources)
    if (result.empty() || result.back().nspace != x.nspace)
      result.push_back(x);
    else if (x.rank != rank_wildcard)
      result.back().rank = x.rank;
  return result;
}

/// Whether a requester may watch a job of a user.
bool may_watch(const requester& who, uint32_t owner) {
  return who.creds.uid == owner || who.creds.uid == 0;
}

} // namespace

caf::result<io_pull_result> request_pull(self_pointer self,
                                         const requester& who,
                                         io_pull_request& request) {
  auto& state = self->state;
  if (auto why = check_required(io_call::pull, request.directives))
    return why;
  auto what = read_subscription(request);
  if (!what)
    return std::move(what.error());
  request.procs = highest_of(what->sources);
  auto format = read_output_format(request.directives);
  if (!format)
    return std::move(format.error());
  const auto of_same =
    std::count_if(state.pulls.begin(), state.pulls.end(), [&](const auto& x) {
      return x.second.who.index == who.index;
    });
  if (static_cast<size_t>(of_same) >= defaults::io_subscriptions_per_requester
      || state.pulls.size() >= defaults::io_subscriptions)
    return make_error(status::out_of_resource,
                      "too many subscriptions of output; end some of them with "
                      "PMIx_IOF_deregister");
  const auto number = state.next_pull++;
  auto& x = state.pulls[number];
  x.who = who;
  x.what = std::move(*what);
  x.what.name = name_of_sink(who);
  x.is_standing =
    std::any_of(x.what.sources.begin(), x.what.sources.end(),
                [](const proc_id& proc) { return proc.nspace.empty(); });
  auto options = tool_output_options{};
  options.server = state.server;
  options.who = who;
  // Tools of 3.2 know the number that they are given.
  options.handler = request.handler.value_or(number);
  options.format = *format;
  options.show_time = state.options.show_time;
  options.host_of = hosts_of(state);
  options.with_offsets = flag(request.directives, io_offsets_key);
  x.sink = spawn_tool_output(self->home_system(), std::move(options));
  return answer_later<io_pull_result>(
    self, [&](completion<io_pull_result> done) {
      const auto ask_root_for = [self, number, who, done,
                                 request = std::move(request)] {
        ask(self, 0, ask_root{who, request},
            reply_to<nspace_list>(
              [self, number, done](caf::expected<nspace_list> may) {
                if (!may) {
                  erase_pull(self, number);
                  done(std::move(may.error()));
                  return;
                }
                locate_each(self, may->nspaces,
                            [self, number, done](const auto& nspaces) {
                              begin_pull(self, number, nspaces, done);
                            });
              }));
      };
      if (!x.is_standing) {
        ask_root_for();
        return;
      }
      // Before the root is asked for the jobs that there are: none is missed.
      tell_standing(
        self, [self, number, done, ask_root_for](caf::expected<ack> told) {
          if (told) {
            ask_root_for();
            return;
          }
          erase_pull(self, number);
          done(std::move(told.error()));
        });
    });
}

caf::result<ack> request_deregister(self_pointer self, const requester& who,
                                    const io_deregister_request& request) {
  auto* x = find_pull(self, request.subscription);
  if (x == nullptr) {
    // It may have gone with its job.
    if (request.subscription > 0
        && request.subscription < self->state.next_pull)
      return ack{};
    return make_error(status::not_found,
                      "no subscription "
                        + std::to_string(request.subscription));
  }
  if (x->who.index != who.index)
    return make_error(status::no_permissions,
                      "subscription " + std::to_string(request.subscription)
                        + " is another's");
  const auto sink = x->sink;
  erase_pull(self, request.subscription);
  if (!sink || !flag(request.directives, io_flush_key))
    return ack{};
  auto promise = self->make_response_promise<ack>();
  self->request(sink, caf::infinite, io_fragment{})
    .then([promise](ack) mutable { promise.deliver(ack{}); },
          // Whoever asked is gone.
          [promise](const caf::error&) mutable { promise.deliver(ack{}); });
  return promise;
}

void drop_pulls(self_pointer self, const requester& who) {
  auto gone = std::vector<uint64_t>{};
  for (const auto& [number, x] : self->state.pulls)
    if (x.who.index == who.index)
      gone.push_back(number);
  for (const auto number : gone)
    erase_pull(self, number);
}

bool extend_pulls(self_pointer self, const prepare_share& order) {
  const auto& nspace = order.map.nspace;
  const auto& parent = order.parent.proc.nspace;
  const auto owner = order.parent.creds.uid;
  const auto* inherits = find(order.request.job_infos, attr::iof_inherit);
  const auto is_heir = order.parent.role == peer_role::client
                       && (inherits == nullptr || inherits->truth());
  auto result = false;
  for (auto& [number, x] : self->state.pulls) {
    if (!may_watch(x.who, owner) || !x.sink)
      continue;
    auto what = io_subscription{};
    if (x.is_standing)
      what = part_of(x, nspace);
    else if (is_heir && x.whole.count(parent) > 0) {
      what = x.what;
      what.sources = {{nspace, rank_wildcard}};
      what.start = io_start::tail;
      what.offset = 0;
    }
    if (what.sources.empty())
      continue;
    result = true;
    watch(self, number, x, std::move(what));
  }
  return result;
}

std::vector<uint64_t> end_pulls(self_pointer self, const std::string& nspace) {
  auto result = std::vector<uint64_t>{};
  auto& pulls = self->state.pulls;
  for (auto i = pulls.begin(); i != pulls.end();) {
    auto& x = i->second;
    const auto subscription = x.at_desk.extract(nspace);
    if (!subscription.empty() && subscription.mapped())
      result.push_back(*subscription.mapped());
    x.whole.erase(nspace);
    if (!subscription.empty() && x.at_desk.empty() && !x.is_standing)
      i = pulls.erase(i);
    else
      ++i;
  }
  return result;
}

caf::expected<nspace_list> watchable(const mesh_host_state& state,
                                     const requester& who,
                                     const io_pull_request& request) {
  auto found = std::set<std::string>{};
  auto procs = request.procs;
  if (procs.empty())
    procs.push_back({"", rank_wildcard});
  for (const auto& proc : procs) {
    if (proc.nspace.empty()) {
      for (const auto& [nspace, job] : state.jobs->all())
        if (may_control(job, who) && !job.reporting)
          found.insert(nspace);
      continue;
    }
    const auto* x = state.find_job(proc.nspace);
    if (x == nullptr || x->reporting)
      return make_error(status::not_found, "no job " + proc.nspace);
    const auto& job = *x;
    if (!may_control(job, who))
      return make_error(status::no_permissions,
                        "job " + proc.nspace + " is another user's");
    if (proc.rank != rank_wildcard && proc.rank >= job.procs.size())
      return make_error(status::not_found, "no process " + to_string(proc));
    found.insert(proc.nspace);
  }
  return nspace_list{{found.begin(), found.end()}};
}

} // namespace troupe::mesh_internals
