#include "actors/io/input_queue.hpp"
#include "actors/jobs/io_options.hpp"
#include "adapters/c_host/c_host_state.hpp"
#include "messages/attributes.hpp"

#include <caf/exit_reason.hpp>

// Output and input of processes: the host owns their pipes, the desk of this
// server has what the host delivers.

namespace troupe::c_host_internals {

namespace {

/// The host is asked to deliver no more. Source: PMIx Standard v5,
/// PMIX_IOF_STOP.
void stop(self_pointer self, const requester& who,
          const io_pull_request& request, const std::vector<info>& directives,
          upcall_receiver<ack> done) {
  const auto f = self->state.module().iof_pull;
  if (f == nullptr) {
    done(ack{});
    return;
  }
  auto args = arguments_of(who);
  args->set_procs(request.procs);
  auto infos = with_credentials(directives, who);
  infos.push_back({std::string{attr::iof_stop}, 0, value::boolean(true)});
  args->set_infos(infos);
  const auto channels = static_cast<pmix_iof_channel_t>(request.channels);
  call_host<ack>(
    self, "iof_pull", args, usual_limit(), std::move(done), [&](void* cbdata) {
      return f(args->procs.data(), args->procs.size(), args->infos.data(),
               args->infos.size(), channels, upcalls::on_op, cbdata);
    });
}

/// The host delivers: from now on the requester gets it, and what has been
/// kept. Its handler may have the number that it gets here: 3.2 gives none.
void subscribe(self_pointer self, const requester& who, io_subscription& how,
               io_pull_request& request,
               const std::shared_ptr<answer<io_pull_result>>& owed) {
  auto& state = self->state;
  const auto id = ++state.last_pull;
  auto sink = state.settings.make_sink(who, request.handler.value_or(id),
                                       request.directives);
  const auto wants = std::make_shared<output_pull>();
  wants->who = who;
  wants->request = std::move(request);
  wants->sink = sink;
  self
    ->request(state.settings.desk, caf::infinite, std::move(how),
              std::move(sink))
    .then(
      [self, id, wants, owed](io_pull_result x) {
        wants->subscription = x.subscription;
        self->state.pulls.emplace(id, std::move(*wants));
        owed->give({id});
      },
      [self, wants, owed](caf::error& why) {
        self->send_exit(wants->sink, caf::exit_reason::user_shutdown);
        stop(self, wants->who, wants->request, {},
             [](const caf::expected<ack>&) {
               // Nobody waits for it.
             });
        owed->fail(std::move(why));
      });
}

} // namespace

caf::result<io_pull_result> pull_output(self_pointer self, const requester& who,
                                        io_pull_request& request) {
  const auto f = self->state.module().iof_pull;
  if (f == nullptr || !self->state.settings.desk)
    return missing("iof_pull");
  auto how = read_subscription(request);
  if (!how)
    return std::move(how.error());
  if (how->name.empty())
    how->name = to_string(who.proc);
  auto args = arguments_of(who);
  args->set_procs(request.procs);
  args->set_infos(with_credentials(request.directives, who));
  const auto channels = static_cast<pmix_iof_channel_t>(request.channels);
  auto promise = self->make_response_promise<io_pull_result>();
  auto owed = std::make_shared<answer<io_pull_result>>(promise);
  call_host<ack>(
    self, "iof_pull", args, usual_limit(),
    [self, who, how = std::move(*how), request = std::move(request),
     owed](const caf::expected<ack>& x) mutable {
      if (x)
        subscribe(self, who, how, request, owed);
      else
        owed->fail(x.error());
    },
    [&](void* cbdata) {
      return f(args->procs.data(), args->procs.size(), args->infos.data(),
               args->infos.size(), channels, upcalls::on_op, cbdata);
    });
  return promise;
}

caf::result<ack> end_pull(self_pointer self, const requester& who,
                          io_deregister_request& request) {
  auto& pulls = self->state.pulls;
  const auto i = pulls.find(request.subscription);
  if (i == pulls.end() || i->second.who.index != who.index)
    return make_error(status::not_found, "there is no such subscription");
  const auto old = std::move(i->second);
  pulls.erase(i);
  auto promise = self->make_response_promise<ack>();
  auto owed = std::make_shared<answer<ack>>(promise);
  const auto done = [self, who, old, owed,
                     directives = std::move(request.directives)] {
    self->send_exit(old.sink, caf::exit_reason::user_shutdown);
    stop(self, who, old.request, directives,
         [owed](const caf::expected<ack>& x) {
           if (x)
             owed->give(ack{});
           else
             owed->fail(x.error());
         });
  };
  // It may have gone with its job.
  self
    ->request(self->state.settings.desk, caf::infinite,
              io_unsubscription{old.subscription})
    .then([done](ack) { done(); }, [done](const caf::error&) { done(); });
  return promise;
}

output_wish forwarded_output(const requester& who,
                             const std::vector<info>& job_infos) {
  auto result = output_wish{};
  const auto add = [&](std::string_view key, io_channels channel) {
    const auto is_said = find(job_infos, key) != nullptr;
    if (is_said ? flag(job_infos, key) : is_tool(who.role))
      result.how.channels = united(result.how.channels, channel);
  };
  add(attr::fwd_stdout, io_channels::stdout_);
  add(attr::fwd_stderr, io_channels::stderr_);
  add(attr::fwd_stddiag, io_channels::stddiag);
  if (flag(job_infos, attr::iof_drop_oldest))
    result.how.policy = io_policy::drop_oldest;
  else if (flag(job_infos, attr::iof_drop_newest))
    result.how.policy = io_policy::drop_newest;
  result.how.name = to_string(who.proc);
  result.directives = job_infos;
  return result;
}

void forward_output(self_pointer self, const requester& who, output_wish wish,
                    const std::string& nspace, std::function<void()> then) {
  auto& state = self->state;
  if (wish.how.channels == io_channels::none || !state.settings.desk) {
    then();
    return;
  }
  auto pull = output_pull{};
  pull.who = who;
  pull.request.procs = {{nspace, rank_wildcard}};
  pull.request.channels = wish.how.channels;
  pull.sink = state.settings.make_sink(who, 0, wish.directives);
  wish.how.sources = pull.request.procs;
  self
    ->request(state.settings.desk, caf::infinite, std::move(wish.how),
              pull.sink)
    .then(
      [self, pull, then](io_pull_result x) mutable {
        pull.subscription = x.subscription;
        self->state.pulls.emplace(++self->state.last_pull, std::move(pull));
        then();
      },
      [self, sink = pull.sink, then, nspace](const caf::error& why) {
        self->send_exit(sink, caf::exit_reason::user_shutdown);
        self->state.log(severity::warning,
                        "the output of " + nspace
                          + " is not forwarded: " + reason_of(why));
        then();
      });
}

void forget_pulls(self_pointer self, const requester& who) {
  auto& pulls = self->state.pulls;
  for (auto i = pulls.begin(); i != pulls.end();) {
    if (i->second.who.index != who.index) {
      ++i;
      continue;
    }
    // Its subscription goes with it.
    self->send_exit(i->second.sink, caf::exit_reason::user_shutdown);
    i = pulls.erase(i);
  }
}

caf::result<ack> push_input(self_pointer self, const requester& who,
                            io_push_request& request) {
  const auto f = self->state.module().push_stdin;
  if (f == nullptr)
    return missing("push_stdin");
  auto args = arguments_of(who);
  args->set_procs(request.targets);
  args->set_infos(with_credentials(std::move(request.directives), who));
  args->set_bytes(std::move(request.bytes).value_or(""));
  auto promise = self->make_response_promise<ack>();
  auto owed = std::make_shared<answer<ack>>(promise);
  call_host<ack>(
    self, "push_stdin", args, usual_limit(),
    [self, source = who.proc, owed](const caf::expected<ack>& x) {
      auto& gate = *self->state.settings.gate;
      if (!x && status_of(x.error()) == taken_and_stopped)
        gate.set(source, true);
      else if (!x) {
        owed->fail(x.error());
        return;
      }
      gate.when_open(source, [owed] { owed->give(ack{}); });
    },
    [&](void* cbdata) {
      return f(&args->proc, args->procs.data(), args->procs.size(),
               args->infos.data(), args->infos.size(), &args->object,
               upcalls::on_op, cbdata);
    });
  return promise;
}

} // namespace troupe::c_host_internals
