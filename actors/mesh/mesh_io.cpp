#include "actors/io/input_spread.hpp"
#include "actors/io/outlets.hpp"
#include "actors/io/output_gate.hpp"
#include "actors/io/stream_readers.hpp"
#include "actors/io/stream_spread.hpp"
#include "actors/jobs/io_directives.hpp"
#include "actors/mesh/mesh_host_state.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <utility>

// The standard streams of jobs, as far as they concern other nodes or whoever
// started them. The rules are in plain classes; here they get their means: the
// desk of this node, and the hosts of the others.

namespace troupe::mesh_internals {

namespace {

/// Asks the desk of this node.
template <class T, class... Ts>
void ask_desk(self_pointer self, completion<T> done, Ts... xs) {
  self->request(self->state.directory.io_desk, caf::infinite, std::move(xs)...)
    .then([done](T& x) { done(std::move(x)); },
          [done](caf::error& why) { done(std::move(why)); });
}

class spread_effects final : public stream_spread::effects {
public:
  explicit spread_effects(self_pointer self) : self_(self) {
    // nop
  }

  void tell(uint32_t node, io_interest what, completion<ack> done) override {
    ask(self_, node, std::move(what), reply_to<ack>(std::move(done)));
  }

  void send(uint32_t node, io_fragment what, completion<ack> done) override {
    ask(self_, node, std::move(what), reply_to<ack>(std::move(done)));
  }

  void fetch(uint32_t node, io_fetch what,
             completion<io_fragment> done) override {
    ask(self_, node, std::move(what), reply_to<io_fragment>(std::move(done)));
  }

  void list(uint32_t node, list_io what, completion<io_list> done) override {
    self_->state.calls->call(node, std::move(what),
                             reply_to<io_list>(std::move(done)),
                             defaults::net_wait * 2);
    arm(self_);
  }

  void locate(const std::string& nspace,
              std::function<void(const caf::error&)> then) override {
    mesh_internals::locate(self_, nspace, std::move(then));
  }

  std::vector<uint32_t> live() const override {
    return self_->state.calls->live();
  }

  void begin_at_desk(io_job_begun what) override {
    caf::anon_send(desk(), std::move(what));
  }

  void tell_desk(uint32_t node, io_interest what,
                 completion<ack> done) override {
    ask_desk<ack>(self_, std::move(done), node, std::move(what));
  }

  void give_desk(uint32_t node, io_fragment what,
                 completion<ack> done) override {
    ask_desk<ack>(self_, std::move(done), node, std::move(what));
  }

  void fetch_at_desk(io_fetch what, completion<io_fragment> done) override {
    ask_desk<io_fragment>(self_, std::move(done), std::move(what));
  }

  void list_at_desk(list_io what, completion<io_list> done) override {
    self_->request(desk(), defaults::net_wait, std::move(what))
      .then([done](io_list& x) { done(std::move(x)); },
            [done](caf::error& why) { done(std::move(why)); });
  }

  void lose_at_desk(io_node_lost what) override {
    self_->send(desk(), std::move(what));
  }

  bool runs_here(const std::string& nspace) const override {
    return self_->state.find_share(nspace) != nullptr;
  }

  bool is_job(const std::string& nspace) const override {
    return self_->state.find_job(nspace) != nullptr;
  }

private:
  const io_desk_actor& desk() const {
    return self_->state.directory.io_desk;
  }

  self_pointer self_;
};

/// Gives streams to a sink of this node.
void subscribe(self_pointer self, io_subscription what,
               const output_sink_actor& sink, completion<uint64_t> then) {
  self
    ->request(self->state.directory.io_desk, caf::infinite, std::move(what),
              sink)
    .then([then](io_pull_result x) { then(x.subscription); },
          [then](caf::error& why) { then(std::move(why)); });
}

void unsubscribe(self_pointer self, uint64_t subscription) {
  caf::anon_send(self->state.directory.io_desk,
                 io_unsubscription{subscription});
}

/// Makes the sink of a tool or process.
output_sink_actor make_sink(self_pointer self, tool_output_options options) {
  options.server = self->state.server;
  options.show_time = self->state.options.show_time;
  options.host_of = hosts_of(self->state);
  return spawn_tool_output(self->home_system(), std::move(options));
}

class outlet_effects final : public outlets::effects {
public:
  explicit outlet_effects(self_pointer self) : self_(self) {
    // nop
  }

  void subscribe(io_subscription what, const output_sink_actor& sink,
                 completion<uint64_t> then) override {
    mesh_internals::subscribe(self_, std::move(what), sink, std::move(then));
  }

  void unsubscribe(uint64_t subscription) override {
    mesh_internals::unsubscribe(self_, subscription);
  }

  output_sink_actor make_gate(tool_output_options options) override {
    return caf::actor_cast<output_sink_actor>(spawn_output_gate(
      self_->home_system(), make_sink(self_, std::move(options))));
  }

  void open_gate(const output_sink_actor& gate) override {
    caf::anon_send(caf::actor_cast<buffered_sink_actor>(gate), deadline{});
  }

  void end_gate(const output_sink_actor& gate) override {
    caf::anon_send_exit(gate, caf::exit_reason::user_shutdown);
  }

  void deliver(deliver_event what) override {
    caf::anon_send(self_->state.events, std::move(what));
  }

  void control(const requester& who, job_control_request what) override {
    ask(self_, 0, ask_root{who, std::move(what)},
        [](const caf::expected<host_reply>&) {
          // Nobody waits for it.
        });
  }

  void log_error(const std::string& line) override {
    self_->state.log(severity::error, line);
  }

private:
  self_pointer self_;
};

input_spread::effects means_of_input(self_pointer self) {
  auto out = input_spread::effects{};
  out.send = [self](uint32_t node, io_input part, input_taken_callback then) {
    ask(self, node, std::move(part), reply_to<io_input_taken>(std::move(then)));
  };
  out.locate = [self](const std::string& nspace,
                      std::function<void(const caf::error&)> then) {
    locate(self, nspace, std::move(then));
  };
  return out;
}

} // namespace

void start_io(self_pointer self) {
  auto& state = self->state;
  state.streams =
    std::make_unique<stream_spread>(state.options.rank, state.locations,
                                    std::make_unique<spread_effects>(self));
  state.readers = std::make_unique<stream_readers>();
  state.outputs = std::make_unique<outlets>(
    outlets::settings{state.directory.sink,
                      "launcher on " + state.options.hostname},
    std::make_unique<outlet_effects>(self));
  state.inputs =
    std::make_unique<input_spread>(state.locations, means_of_input(self));
  if (state.directory.io_desk)
    self->send(state.directory.io_desk, io_mesh_actor{mesh_host_actor{self}});
}

output_formatter::hosts hosts_of(const mesh_host_state& state) {
  return [known = state.known_locations](const proc_id& proc) {
    return known->host_of(proc);
  };
}

// -- readers: processes and tools of this node that ask for output. The root
// says what they may watch; each subscription goes to the desk, job by job.

namespace {

/// Subscribes at the desk, for a job that is known here.
void watch(self_pointer self, stream_readers::watch x) {
  auto& state = self->state;
  const auto nspace = x.what.sources.front().nspace;
  // The root has found that it is theirs; the administrator may watch all.
  const auto uid = x.who.creds.uid;
  state.streams->know(nspace,
                      uid == 0 ? std::nullopt : std::optional<uint32_t>{uid});
  subscribe(self, std::move(x.what), x.sink,
            [self, number = x.number, nspace](caf::expected<uint64_t> got) {
              auto& state = self->state;
              if (!got)
                state.log(severity::warning,
                          "no output of " + nspace
                            + " for a reader: " + reason_of(got.error()));
              else if (!state.readers->note(number, nspace, *got))
                unsubscribe(self, *got);
            });
}

/// Tells the root what readers want of all jobs.
void tell_standing(self_pointer self, completion<ack> done) {
  auto& state = self->state;
  state.streams->want_all(state.readers->standing_channels(), std::move(done));
}

/// A reader wants no more.
void end_reader(self_pointer self, const stream_readers::reader& x) {
  for (const auto& [nspace, subscription] : x.at_desk)
    if (subscription)
      unsubscribe(self, *subscription);
  if (x.is_standing)
    tell_standing(self, [](const auto&) {
      // Nobody waits for it.
    });
}

void end_reader(self_pointer self, uint64_t number) {
  if (const auto x = self->state.readers->remove(number))
    end_reader(self, *x);
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
void begin_reader(self_pointer self, uint64_t number,
                  const std::vector<std::string>& nspaces,
                  const completion<io_pull_result>& done) {
  auto& readers = *self->state.readers;
  const auto* x = readers.find(number);
  if (x == nullptr) {
    done(make_error(status::unreach, "whoever asked is gone"));
    return;
  }
  if (nspaces.empty() && !x->is_standing) {
    end_reader(self, number);
    done(make_error(status::not_found, "the jobs are over"));
    return;
  }
  // First the number, then the output that comes with it.
  done(io_pull_result{number});
  for (const auto& nspace : nspaces)
    if (auto what = readers.begin(number, nspace))
      watch(self, std::move(*what));
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

} // namespace

caf::result<io_pull_result> request_pull(self_pointer self,
                                         const requester& who,
                                         io_pull_request& request) {
  auto& readers = *self->state.readers;
  auto what = readers.read(who, request);
  if (!what)
    return std::move(what.error());
  request.procs = highest_of(what->what.sources);
  const auto is_standing = what->is_standing();
  const auto number = readers.add(
    who, request, std::move(*what), name_of_sink(who),
    [self](tool_output_options x) { return make_sink(self, std::move(x)); });
  return answer_later<io_pull_result>(
    self, [&](completion<io_pull_result> done) {
      const auto ask_root_for = [self, number, who, done,
                                 request = std::move(request)] {
        ask(self, 0, ask_root{who, request},
            reply_to<nspace_list>(
              [self, number, done](caf::expected<nspace_list> may) {
                if (!may) {
                  end_reader(self, number);
                  done(std::move(may.error()));
                  return;
                }
                locate_each(self, may->nspaces,
                            [self, number, done](const auto& nspaces) {
                              begin_reader(self, number, nspaces, done);
                            });
              }));
      };
      if (!is_standing) {
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
          end_reader(self, number);
          done(std::move(told.error()));
        });
    });
}

caf::result<ack> request_deregister(self_pointer self, const requester& who,
                                    const io_deregister_request& request) {
  const auto x = self->state.readers->remove(who, request.subscription);
  if (!x)
    return x.error();
  if (!*x)
    return ack{};
  const auto& reader = **x;
  end_reader(self, reader);
  if (!flag(request.directives, io_flush_key))
    return ack{};
  auto promise = self->make_response_promise<ack>();
  // The reader may be gone.
  self->request(reader.sink, caf::infinite, io_fragment{})
    .then([promise](ack) mutable { promise.deliver(ack{}); },
          [promise](const caf::error&) mutable { promise.deliver(ack{}); });
  return promise;
}

void drop_readers(self_pointer self, const requester& who) {
  for (const auto& x : self->state.readers->remove_all_of(who))
    end_reader(self, x);
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

// -- jobs

caf::result<spawn_result> request_spawn(self_pointer self, const requester& who,
                                        spawn_request& request) {
  const auto wants_why = wants_reason(who, request);
  return answer_later<spawn_result>(self, [&](completion<spawn_result> done) {
    ask(self, 0, ask_root{who, std::move(request)},
        reply_to<spawn_result>(
          [self, who, wants_why, done](caf::expected<spawn_result> x) {
            auto& outputs = *self->state.outputs;
            if (!x && wants_why)
              outputs.refused(who, x.error());
            const auto nspace = x ? x->nspace : std::string{};
            done(std::move(x));
            outputs.release(who, nspace);
          }));
  });
}

void begin_streams(self_pointer self, const prepare_share& order) {
  auto& state = self->state;
  const auto& nspace = order.map.nspace;
  const auto wiring = state.streams->begin(order);
  auto is_wanted =
    order.origin == state.options.rank && state.outputs->open(order, wiring);
  const auto* inherits = find(order.request.job_infos, attr::iof_inherit);
  const auto is_heir = order.parent.role == peer_role::client
                       && (inherits == nullptr || inherits->truth());
  auto heirs = state.readers->job_begun(
    nspace, order.parent.creds.uid, is_heir ? order.parent.proc.nspace : "");
  is_wanted |= heirs.is_wanted;
  for (auto& x : heirs.watches)
    watch(self, std::move(x));
  if (!is_wanted)
    state.streams->want_nothing(nspace);
}

void end_streams(self_pointer self, const std::string& nspace,
                 std::function<void()> then) {
  auto& state = self->state;
  const auto readers = state.readers->job_over(nspace);
  if (!state.streams->end(nspace)) {
    then();
    return;
  }
  const auto wait_on = [self, nspace, then, readers] {
    auto& state = self->state;
    if (!state.outputs->is_open(nspace)) {
      then();
      return;
    }
    // Whoever started the job gets all of it, or hears what is missing.
    for (const auto id : readers)
      unsubscribe(self, id);
    self->request(state.directory.io_desk, caf::infinite, io_job_over{nspace})
      .then([then](ack) { then(); }, [then](const caf::error&) { then(); });
  };
  self
    ->request(state.directory.io_desk, defaults::io_end_wait,
              io_job_over{nspace})
    .then([then](ack) { then(); }, [wait_on](const caf::error&) { wait_on(); });
}

// -- input: from the node where a job was asked for, or by way of the root from
// whoever may control the job.

void take_input(self_pointer self, uint32_t from, io_input& what,
                completion<io_input_taken> done) {
  auto& state = self->state;
  const auto own = state.options.rank;
  const auto* job = state.streams->find(what.nspace);
  if (job == nullptr || state.find_share(what.nspace) == nullptr) {
    done(make_error(status::not_found, "no share of " + what.nspace));
    return;
  }
  // X41: from the origin of the job, or from the root, which knows who may.
  if (from != own && from != 0 && from != job->origin) {
    done(make_error(status::no_permissions,
                    "input for " + what.nspace + " comes from another node"));
    return;
  }
  if (auto why = keep_input_of(state.locations, own, what))
    done(std::move(why));
  else
    ask_desk<io_input_taken>(self, std::move(done), std::move(what));
}

namespace {

caf::error of_another_user(const std::string& nspace) {
  return make_error(status::no_permissions,
                    "job " + nspace + " is another user's");
}

void push(self_pointer self, io_push_request& request,
          input_spread::targets targets, completion<ack> done) {
  self->state.inputs->push(request, std::move(targets),
                           [done = std::move(done)](const caf::error& why) {
                             if (why)
                               done(why);
                             else
                               done(ack{});
                           });
}

} // namespace

void push_input(self_pointer self, const requester& who,
                io_push_request& request, completion<ack> done) {
  auto& state = self->state;
  if (auto why = check_push(request)) {
    done(std::move(why));
    return;
  }
  auto targets = input_spread::targets{};
  for (const auto& x : request.targets) {
    const auto* job = state.streams->find(x.nspace);
    if (job == nullptr || !job->owner || job->origin != state.options.rank) {
      // The root knows, and may send it to all nodes.
      ask(self, 0, ask_root{who, std::move(request)},
          reply_to<ack>(std::move(done)));
      return;
    }
    if (!stream_readers::may_watch(who, *job->owner)) {
      done(of_another_user(x.nspace));
      return;
    }
    if (targets.count(x.nspace) == 0)
      targets[x.nspace] =
        input_spread::input_of(request, x.nspace, job->stdin_target,
                               state.locations.size_of(x.nspace));
  }
  push(self, request, std::move(targets), std::move(done));
}

void push_at_root(self_pointer self, const requester& who,
                  io_push_request& request, completion<ack> done) {
  auto targets = input_spread::targets{};
  for (const auto& x : request.targets) {
    const auto* job = self->state.find_job(x.nspace);
    if (job == nullptr || job->reporting) {
      done(nobody_reads(x));
      return;
    }
    if (!may_control(*job, who)) {
      done(of_another_user(x.nspace));
      return;
    }
    if (targets.count(x.nspace) == 0)
      targets[x.nspace] =
        input_spread::input_of(request, x.nspace, job->options.io.stdin_target,
                               static_cast<uint32_t>(job->procs.size()));
  }
  push(self, request, std::move(targets), std::move(done));
}

} // namespace troupe::mesh_internals
