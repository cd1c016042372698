#include "adapters/c_host/c_host_streams.hpp"

#include "actors/io/input_queue.hpp"
#include "actors/io/io_options.hpp"
#include "base/make_info.hpp"
#include "messages/attributes.hpp"

namespace troupe {

c_host_streams::~c_host_streams() {
  for (const auto& [id, x] : pulls_)
    fx_.end(x.sink);
}

// -- output ------------------------------------------------------------------

void c_host_streams::pull(const requester& who, io_pull_request& request,
                          upcall_receiver<io_pull_result> done) {
  const auto f = settings_.module.iof_pull;
  if (f == nullptr || !settings_.desk)
    return done(missing("iof_pull"));
  auto how = read_subscription(request);
  if (!how)
    return done(std::move(how.error()));
  if (how->name.empty())
    how->name = to_string(who.proc);
  auto args = arguments_of(who.proc);
  args->set_procs(request.procs);
  args->set_infos(with_credentials(request.directives, who));
  const auto channels = static_cast<pmix_iof_channel_t>(request.channels);
  calls_.make<ack>(
    "iof_pull", args, usual_limit(),
    [this, who, how = std::move(*how), request = std::move(request),
     done = std::move(done)](const caf::expected<ack>& x) mutable {
      if (x)
        subscribe(who, std::move(how), std::move(request), std::move(done));
      else
        done(x.error());
    },
    [&](void* cbdata) {
      return f(args->procs.data(), args->procs.size(), args->infos.data(),
               args->infos.size(), channels, upcalls::on_op, cbdata);
    });
}

/// The host delivers: from now on the requester gets it, and what has been
/// kept. Its handler may have the number that it gets here: 3.2 gives none.
void c_host_streams::subscribe(const requester& who, io_subscription how,
                               io_pull_request request,
                               upcall_receiver<io_pull_result> done) {
  const auto id = ++last_pull_;
  auto pull = output_pull{};
  pull.who = who;
  pull.sink =
    settings_.make_sink(who, request.handler.value_or(id), request.directives);
  pull.request = std::move(request);
  auto sink = pull.sink;
  fx_.subscribe(std::move(how), std::move(sink),
                [this, id, pull = std::move(pull), done = std::move(done)](
                  caf::expected<io_pull_result> x) mutable {
                  if (x) {
                    pull.subscription = x->subscription;
                    pulls_.emplace(id, std::move(pull));
                    done(io_pull_result{id});
                    return;
                  }
                  fx_.end(pull.sink);
                  stop(pull.who, pull.request, {}, {});
                  done(std::move(x.error()));
                });
}

/// The host is asked to deliver no more. Source: PMIx Standard v5,
/// PMIX_IOF_STOP.
/// @param done May be empty.
void c_host_streams::stop(const requester& who, const io_pull_request& request,
                          const std::vector<info>& directives,
                          upcall_receiver<ack> done) {
  if (!done)
    done = [](const caf::expected<ack>&) {};
  const auto f = settings_.module.iof_pull;
  if (f == nullptr)
    return done(ack{});
  auto args = arguments_of(who.proc);
  args->set_procs(request.procs);
  auto infos = with_credentials(directives, who);
  infos.push_back(make_info(attr::iof_stop, value::boolean(true)));
  args->set_infos(infos);
  const auto channels = static_cast<pmix_iof_channel_t>(request.channels);
  calls_.make<ack>(
    "iof_pull", args, usual_limit(), std::move(done), [&](void* cbdata) {
      return f(args->procs.data(), args->procs.size(), args->infos.data(),
               args->infos.size(), channels, upcalls::on_op, cbdata);
    });
}

void c_host_streams::end_pull(const requester& who,
                              io_deregister_request& request,
                              upcall_receiver<ack> done) {
  const auto i = pulls_.find(request.subscription);
  if (i == pulls_.end() || i->second.who.index != who.index)
    return done(make_error(status::not_found, "there is no such subscription"));
  auto old = std::move(i->second);
  pulls_.erase(i);
  const auto subscription = old.subscription;
  fx_.unsubscribe(subscription,
                  [this, old = std::move(old), done = std::move(done),
                   directives = std::move(request.directives)] {
                    fx_.end(old.sink);
                    stop(old.who, old.request, directives, done);
                  });
}

c_host_streams::wish
c_host_streams::forwarded(const requester& who,
                          const std::vector<info>& job_infos) {
  auto result = wish{};
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

void c_host_streams::forward(const requester& who, wish what,
                             const std::string& nspace,
                             std::function<void()> then) {
  if (what.how.channels == io_channels::none || !settings_.desk)
    return then();
  auto pull = output_pull{};
  pull.who = who;
  pull.request.procs = {{nspace, rank_wildcard}};
  pull.request.channels = what.how.channels;
  pull.sink = settings_.make_sink(who, 0, what.directives);
  what.how.sources = pull.request.procs;
  auto sink = pull.sink;
  fx_.subscribe(
    std::move(what.how), std::move(sink),
    [this, pull = std::move(pull), nspace,
     then = std::move(then)](caf::expected<io_pull_result> x) mutable {
      if (x) {
        pull.subscription = x->subscription;
        pulls_.emplace(++last_pull_, std::move(pull));
      } else {
        fx_.end(pull.sink);
        if (settings_.log)
          settings_.log(severity::warning,
                        "the output of " + nspace
                          + " is not forwarded: " + reason_of(x.error()));
      }
      then();
    });
}

void c_host_streams::forget(const requester& who) {
  for (auto i = pulls_.begin(); i != pulls_.end();) {
    if (i->second.who.index != who.index) {
      ++i;
      continue;
    }
    fx_.end(i->second.sink);
    i = pulls_.erase(i);
  }
}

// -- input -------------------------------------------------------------------

void c_host_streams::push(const requester& who, io_push_request& request,
                          upcall_receiver<ack> done) {
  const auto f = settings_.module.push_stdin;
  if (f == nullptr)
    return done(missing("push_stdin"));
  auto args = arguments_of(who.proc);
  args->set_procs(request.targets);
  args->set_infos(with_credentials(std::move(request.directives), who));
  args->set_bytes(std::move(request.bytes).value_or(""));
  calls_.make<ack>(
    "push_stdin", args, usual_limit(),
    [gate = settings_.gate, source = who.proc,
     done = std::move(done)](const caf::expected<ack>& x) {
      if (!x && status_of(x.error()) == taken_and_stopped)
        gate->set(source, true);
      else if (!x)
        return done(x.error());
      gate->when_open(source, [done] { done(ack{}); });
    },
    [&](void* cbdata) {
      return f(&args->proc, args->procs.data(), args->procs.size(),
               args->infos.data(), args->infos.size(), &args->object,
               upcalls::on_op, cbdata);
    });
}

} // namespace troupe
