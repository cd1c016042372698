#include "actors/io/streams_host.hpp"

#include "actors/io/input_queue.hpp"
#include "actors/io/input_spread.hpp"
#include "actors/io/io_options.hpp"
#include "actors/io/stream_lists.hpp"
#include "actors/io/stream_readers.hpp"
#include "base/answer.hpp"
#include "base/pass_on.hpp"
#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace troupe {

namespace {

struct known_job {
  uint32_t owner = 0;

  /// Its processes on this node.
  std::set<uint32_t> ranks;
};

struct streams_host_state {
  static inline const char* name = "streams-host";

  streams_host_options options;
  caf::actor host;
  server_actor server;

  /// Takes input for other nodes, too; none: this is the only one.
  caf::actor mesh;

  std::map<std::string, known_job> jobs;

  stream_readers readers;
  std::shared_ptr<input_queue> pushes;
};

using self_pointer = caf::stateful_actor<streams_host_state>*;

caf::error check(const streams_host_state& state, const requester& who,
                 const proc_id& proc) {
  const auto i = state.jobs.find(proc.nspace);
  if (i == state.jobs.end())
    return make_error(status::not_found,
                      "no job " + proc.nspace
                        + " on this node; troupe jobs lists those there are");
  if (!stream_readers::may_watch(who, i->second.owner))
    return make_error(status::no_permissions,
                      "job " + proc.nspace
                        + " is another user's; ask as that user");
  return {};
}

// -- output

/// Has the desk give a reader what it wants.
void watch(self_pointer self, stream_readers::watch x) {
  self
    ->request(self->state.options.desk, caf::infinite, std::move(x.what),
              x.sink)
    .then(
      [](const io_pull_result&) {
        // It ends with its sink, or with its jobs.
      },
      [self, sink = x.sink](const caf::error&) {
        // Its end is all that can be told by now.
        self->send_exit(sink, caf::exit_reason::user_shutdown);
      });
}

caf::result<io_pull_result> pull(self_pointer self, const requester& who,
                                 io_pull_request& request) {
  auto& state = self->state;
  auto what = state.readers.read(who, request);
  if (!what)
    return std::move(what.error());
  auto sources = std::vector<proc_id>{};
  for (const auto& source : what->what.sources) {
    if (!source.nspace.empty()) {
      if (auto why = check(state, who, source))
        return why;
      sources.push_back(source);
      continue;
    }
    for (const auto& [nspace, job] : state.jobs)
      if (stream_readers::may_watch(who, job.owner))
        sources.push_back({nspace, source.rank});
  }
  const auto number = state.readers.add(
    who, request, std::move(*what), to_string(who.proc),
    [self](tool_output_options x) {
      x.server = self->state.server;
      x.show_time = self->state.options.show_time;
      return spawn_tool_output(self->home_system(), std::move(x));
    });
  // First the number, then the output that comes with it.
  auto promise = self->make_response_promise<io_pull_result>();
  promise.deliver(io_pull_result{number});
  if (!sources.empty())
    watch(self, state.readers.begin(number, std::move(sources)));
  return promise;
}

caf::result<ack> end_pull(self_pointer self, const requester& who,
                          const io_deregister_request& request) {
  const auto x = self->state.readers.remove(who, request.subscription);
  if (!x)
    return x.error();
  if (!*x)
    return ack{};
  const auto sink = (*x)->sink;
  if (!flag(request.directives, io_flush_key)) {
    self->send_exit(sink, caf::exit_reason::user_shutdown);
    return ack{};
  }
  auto promise = self->make_response_promise<ack>();
  auto owed = std::make_shared<answer<ack>>(promise);
  const auto end = [self, sink, owed] {
    self->send_exit(sink, caf::exit_reason::user_shutdown);
    owed->give(ack{});
  };
  // The reader may be gone.
  self->request(sink, caf::infinite, io_fragment{})
    .then([end](ack) { end(); }, [end](const caf::error&) { end(); });
  return promise;
}

void forget_reader(self_pointer self, const requester& who) {
  for (const auto& x : self->state.readers.remove_all_of(who))
    self->send_exit(x.sink, caf::exit_reason::user_shutdown);
}

/// Which streams there are.
caf::result<info_result> list_streams(self_pointer self, const requester& who,
                                      query_request& request) {
  auto& state = self->state;
  auto host = caf::actor_cast<host_actor>(state.host);
  if (!asks_for_streams(request))
    return self->delegate(host, who, std::move(request));
  auto out = stream_list_means{};
  out.list = [self](list_io what, completion<io_list> then) {
    ask<io_list>(self, self->state.options.desk, std::move(then),
                 std::move(what));
  };
  out.ask_host = [self, host, who](query_request what,
                                   completion<info_result> then) {
    ask<info_result>(self, host, std::move(then), who, std::move(what));
  };
  return answer_later<info_result>(self, [&](completion<info_result> done) {
    answer_with_streams(who, std::move(request), out, std::move(done));
  });
}

// -- jobs

void open(self_pointer self, const register_nspace& what) {
  auto& state = self->state;
  const auto [place, is_new] = state.jobs.try_emplace(what.nspace);
  if (!is_new)
    return;
  place->second.owner = what.owner.uid;
  place->second.ranks.insert(what.local_ranks.begin(), what.local_ranks.end());
  // What a job spawns is a job of the resource manager.
  auto heirs = state.readers.job_begun(what.nspace, what.owner.uid, "");
  for (auto& x : heirs.watches)
    watch(self, std::move(x));
}

/// What is on its way to readers reaches them all the same.
void close(self_pointer self, const deregister_nspace& what) {
  auto& state = self->state;
  state.jobs.erase(what.nspace);
  state.readers.job_over(what.nspace);
}

// -- input

/// Sends input to the mesh, or as the desk takes it.
caf::response_promise give(self_pointer self, io_input what) {
  auto& state = self->state;
  auto promise = self->make_response_promise();
  if (state.mesh) {
    promise.delegate(state.mesh, std::move(what));
    return promise;
  }
  const auto job = state.jobs.find(what.nspace);
  const auto is_for_all =
    std::find(what.ranks.begin(), what.ranks.end(), rank_wildcard)
    != what.ranks.end();
  if (is_for_all && job != state.jobs.end())
    what.ranks.assign(job->second.ranks.begin(), job->second.ranks.end());
  promise.delegate(caf::actor_cast<caf::actor>(state.options.desk),
                   std::move(what));
  return promise;
}

/// Sends a piece to the jobs of its targets.
void send_piece(self_pointer self, io_push_request request,
                const input_queue::callback& done) {
  auto jobs = std::map<std::string, io_input>{};
  for (const auto& target : request.targets)
    jobs[target.nspace].ranks.push_back(target.rank);
  const auto round = push_round{request, done};
  for (auto& [nspace, x] : jobs) {
    x.nspace = nspace;
    x.offset = number<uint64_t>(request.directives, io_offset_key);
    x.bytes = request.bytes.value_or("");
    x.is_end = x.bytes.empty() || flag(request.directives, attr::iof_complete);
    round.expect();
    self
      ->request(caf::actor_cast<caf::actor>(self), caf::infinite, std::move(x))
      .then([round](io_input_taken& y) { round.take(std::move(y)); },
            [round](caf::error& why) { round.take(std::move(why)); });
  }
  round.close();
}

caf::result<ack> push(self_pointer self, const requester& who,
                      io_push_request& request) {
  auto& state = self->state;
  if (auto why = check_push(request))
    return why;
  for (const auto& target : request.targets) {
    auto why = check(state, who, target);
    if (why && status_of(why) == status::not_found)
      return nobody_reads(target);
    if (why)
      return why;
  }
  auto promise = self->make_response_promise<ack>();
  state.pushes->push(std::move(request), pass_on_outcome(promise));
  return promise;
}

caf::behavior behavior(self_pointer self, streams_host_options options) {
  auto& state = self->state;
  state.host = caf::actor_cast<caf::actor>(options.host);
  state.options = std::move(options);
  state.pushes = std::make_shared<input_queue>(
    [self](io_push_request piece, const input_queue::callback& done) {
      send_piece(self, std::move(piece), done);
    });
  self->link_to(state.host);
  self->set_default_handler(
    [self](caf::scheduled_actor*,
           caf::message_view& x) -> caf::result<caf::message> {
      return self->delegate(self->state.host, x.move_content_to_message());
    });
  return {
    [self](const server_actor& server, const event_cache_actor&) {
      self->state.server = server;
    },
    [self](const io_mesh_actor& mesh) {
      self->state.mesh = caf::actor_cast<caf::actor>(mesh);
    },
    [self](const register_nspace& what) { open(self, what); },
    [self](const deregister_nspace& what) { close(self, what); },
    [self](const requester& who, io_pull_request& request) {
      return pull(self, who, request);
    },
    [self](const requester& who, const io_deregister_request& request) {
      return end_pull(self, who, request);
    },
    [self](const requester& who, io_push_request& request) {
      return push(self, who, request);
    },
    [self](const requester& who, query_request& request) {
      return list_streams(self, who, request);
    },
    [self](const register_client& what) {
      const auto i = self->state.jobs.find(what.proc.nspace);
      if (i != self->state.jobs.end())
        i->second.ranks.insert(what.proc.rank);
    },
    [self](io_input& what) { return give(self, std::move(what)); },
    [self](const client_finalized& what) {
      forget_reader(self, what.who);
      return self->delegate(self->state.options.host, what);
    },
    [self](const client_lost& what) {
      forget_reader(self, what.who);
      self->send(self->state.options.host, what);
    },
  };
}

} // namespace

host_actor spawn_streams_host(caf::actor_system& sys,
                              streams_host_options options) {
  return caf::actor_cast<host_actor>(sys.spawn(behavior, std::move(options)));
}

} // namespace troupe
