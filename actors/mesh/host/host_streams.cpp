#include "actors/mesh/host/host_streams.hpp"

#include "actors/io/io_options.hpp"
#include "actors/io/output_gate.hpp"
#include "actors/mesh/host/defaults.hpp"
#include "base/all_of.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <set>
#include <utility>

namespace troupe {

// -- means of the rules --

class host_streams::spread_effects final : public stream_spread::effects {
public:
  explicit spread_effects(host_streams& of) : of_(of) {
    // nop
  }

  void tell(uint32_t node, io_interest what, completion<ack> done) override {
    of_.calls_.ask_for<ack>(node, std::move(what), std::move(done));
  }

  void send(uint32_t node, io_fragment what, completion<ack> done) override {
    of_.calls_.ask_for<ack>(node, std::move(what), std::move(done));
  }

  void fetch(uint32_t node, io_fetch what,
             completion<io_fragment> done) override {
    of_.calls_.ask_for<io_fragment>(node, std::move(what), std::move(done));
  }

  void list(uint32_t node, list_io what, completion<io_list> done) override {
    of_.calls_.ask_for<io_list>(node, std::move(what), std::move(done),
                                defaults::net_wait * 2);
  }

  void locate(const std::string& nspace,
              std::function<void(const caf::error&)> then) override {
    of_.calls_.locate(nspace, std::move(then));
  }

  std::vector<uint32_t> live() const override {
    return of_.calls_.live();
  }

  void begin_at_desk(io_job_begun what) override {
    caf::anon_send(desk(), std::move(what));
  }

  void tell_desk(uint32_t node, io_interest what,
                 completion<ack> done) override {
    ask<ack>(of_.self_, desk(), std::move(done), node, std::move(what));
  }

  void give_desk(uint32_t node, io_fragment what,
                 completion<ack> done) override {
    ask<ack>(of_.self_, desk(), std::move(done), node, std::move(what));
  }

  void fetch_at_desk(io_fetch what, completion<io_fragment> done) override {
    ask<io_fragment>(of_.self_, desk(), std::move(done), std::move(what));
  }

  void list_at_desk(list_io what, completion<io_list> done) override {
    of_.self_->request(desk(), defaults::net_wait, std::move(what))
      .then(answer_to<io_list>{done}, failure_to<io_list>{done});
  }

  void lose_at_desk(io_node_lost what) override {
    of_.self_->send(desk(), std::move(what));
  }

  bool runs_here(const std::string& nspace) const override {
    return of_.runs_here_(nspace);
  }

  bool is_job(const std::string& nspace) const override {
    return of_.jobs_.find(nspace) != nullptr;
  }

private:
  const io_desk_actor& desk() const {
    return of_.actors_.io_desk;
  }

  host_streams& of_;
};

class host_streams::outlet_effects final : public outlets::effects {
public:
  explicit outlet_effects(host_streams& of) : of_(of) {
    // nop
  }

  void subscribe(io_subscription what, const output_sink_actor& sink,
                 completion<uint64_t> then) override {
    of_.subscribe(std::move(what), sink, std::move(then));
  }

  void unsubscribe(uint64_t subscription) override {
    of_.unsubscribe(subscription);
  }

  output_sink_actor make_gate(tool_output_options options) override {
    return caf::actor_cast<output_sink_actor>(spawn_output_gate(
      of_.self_->home_system(), of_.make_sink(std::move(options))));
  }

  void open_gate(const output_sink_actor& gate) override {
    caf::anon_send(caf::actor_cast<buffered_sink_actor>(gate), deadline{});
  }

  void end_gate(const output_sink_actor& gate) override {
    caf::anon_send_exit(gate, caf::exit_reason::user_shutdown);
  }

  void deliver(deliver_event what) override {
    caf::anon_send(of_.actors_.events, std::move(what));
  }

  void control(const requester& who, job_control_request what) override {
    of_.calls_.ask(host_calls::root, ask_root{who, std::move(what)},
                   [](const caf::expected<host_reply>&) {
                     // Nobody waits for it.
                   });
  }

  void log_error(const std::string& line) override {
    if (of_.options_.log)
      of_.options_.log(severity::error, line);
  }

private:
  host_streams& of_;
};

input_spread::effects host_streams::means_of_input() {
  auto out = input_spread::effects{};
  out.send = [this](uint32_t node, io_input part, input_taken_callback then) {
    calls_.ask_for<io_input_taken>(node, std::move(part), std::move(then));
  };
  out.locate = [this](const std::string& nspace,
                      std::function<void(const caf::error&)> then) {
    calls_.locate(nspace, std::move(then));
  };
  return out;
}

host_streams::host_streams(mesh_host_actor::pointer self,
                           const mesh_host_options& options,
                           const host_actors& actors, host_calls& calls,
                           std::shared_ptr<const job_locations> places,
                           dvm_jobs& jobs, runs_here is_here)
  : self_(self), options_(options), actors_(actors), calls_(calls),
    places_(std::move(places)), jobs_(jobs), runs_here_(std::move(is_here)),
    spread_(options.rank, *places_, std::make_unique<spread_effects>(*this)),
    outlets_({actors.sink, "launcher on " + options.hostname},
             std::make_unique<outlet_effects>(*this)),
    inputs_(*places_, means_of_input()) {
  if (actors_.io_desk)
    self_->send(actors_.io_desk, io_mesh_actor{mesh_host_actor{self_}});
}

output_formatter::hosts host_streams::hosts() const {
  return
    [places = places_](const proc_id& proc) { return places->host_of(proc); };
}

/// Gives streams to a sink of this node.
void host_streams::subscribe(io_subscription what,
                             const output_sink_actor& sink,
                             completion<uint64_t> then) {
  self_->request(actors_.io_desk, caf::infinite, std::move(what), sink)
    .then([then](io_pull_result x) { then(x.subscription); },
          [then](caf::error& why) { then(std::move(why)); });
}

void host_streams::unsubscribe(uint64_t subscription) {
  caf::anon_send(actors_.io_desk, io_unsubscription{subscription});
}

/// Makes the sink of a tool or process.
output_sink_actor host_streams::make_sink(tool_output_options options) {
  options.server = actors_.server;
  options.show_time = options_.show_time;
  options.host_of = hosts();
  return spawn_tool_output(self_->home_system(), std::move(options));
}

// -- readers: the root says what they may watch; each subscription goes to the
// desk, job by job --

/// Subscribes at the desk, for a job that is known here.
void host_streams::watch(stream_readers::watch x) {
  const auto nspace = x.what.sources.front().nspace;
  // The root has found that it is theirs; the administrator may watch all.
  const auto uid = x.who.creds.uid;
  spread_.know(nspace, uid == 0 ? std::nullopt : std::optional<uint32_t>{uid});
  subscribe(std::move(x.what), x.sink,
            [this, number = x.number, nspace](caf::expected<uint64_t> got) {
              if (!got) {
                if (options_.log)
                  options_.log(severity::warning,
                               "no output of " + nspace
                                 + " for a reader: " + reason_of(got.error()));
              } else if (!readers_.note(number, nspace, *got)) {
                unsubscribe(*got);
              }
            });
}

/// Tells the root what readers want of all jobs.
void host_streams::tell_standing(completion<ack> done) {
  spread_.want_all(readers_.standing_channels(), std::move(done));
}

/// A reader wants no more.
void host_streams::end_reader(const stream_readers::reader& x) {
  for (const auto& [nspace, subscription] : x.at_desk)
    if (subscription)
      unsubscribe(*subscription);
  if (x.is_standing)
    tell_standing([](const auto&) {
      // Nobody waits for it.
    });
}

void host_streams::end_reader(uint64_t number) {
  if (const auto x = readers_.remove(number))
    end_reader(*x);
}

/// Locates jobs one after another; those that are over by now are left out.
void host_streams::locate_each(
  const std::vector<std::string>& nspaces,
  std::function<void(std::vector<std::string>&)> then) {
  const auto found = all_of<std::vector<std::string>>{{}, std::move(then)};
  for (const auto& nspace : nspaces) {
    if (places_->knows(nspace)) {
      found->push_back(nspace);
      continue;
    }
    found.add();
    calls_.locate(nspace, [found, nspace](const caf::error& why) {
      if (!why)
        found->push_back(nspace);
      found.done();
    });
  }
  found.done();
}

/// The root has said what may be watched.
void host_streams::begin_reader(uint64_t number,
                                const std::vector<std::string>& nspaces,
                                const completion<io_pull_result>& done) {
  const auto* x = readers_.find(number);
  if (x == nullptr) {
    done(make_error(status::unreach, "whoever asked is gone"));
    return;
  }
  if (nspaces.empty() && !x->is_standing) {
    end_reader(number);
    done(make_error(status::not_found, "the jobs are over"));
    return;
  }
  // First the number, then the output that comes with it.
  done(io_pull_result{number});
  for (const auto& nspace : nspaces)
    if (auto what = readers_.begin(number, nspace))
      watch(std::move(*what));
}

namespace {

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

void host_streams::ask_what_to_watch(uint64_t number, const requester& who,
                                     io_pull_request request,
                                     completion<io_pull_result> done) {
  calls_.ask_root_for<nspace_list>(
    who, std::move(request),
    [this, number, done = std::move(done)](caf::expected<nspace_list> may) {
      if (!may) {
        end_reader(number);
        done(std::move(may.error()));
        return;
      }
      locate_each(may->nspaces, [this, number, done](const auto& nspaces) {
        begin_reader(number, nspaces, done);
      });
    });
}

caf::result<io_pull_result> host_streams::pull(const requester& who,
                                               io_pull_request& request) {
  auto what = readers_.read(who, request);
  if (!what)
    return std::move(what.error());
  request.procs = highest_of(what->what.sources);
  const auto is_standing = what->is_standing();
  const auto number = readers_.add(
    who, request, std::move(*what), name_of_sink(who),
    [this](tool_output_options x) { return make_sink(std::move(x)); });
  return answer_later<io_pull_result>(
    self_, [&](completion<io_pull_result> done) {
      if (!is_standing) {
        ask_what_to_watch(number, who, std::move(request), std::move(done));
        return;
      }
      // Before the root is asked for the jobs that there are: none is missed.
      tell_standing([this, number, who, request = std::move(request),
                     done = std::move(done)](caf::expected<ack> told) {
        if (told) {
          ask_what_to_watch(number, who, request, done);
          return;
        }
        end_reader(number);
        done(std::move(told.error()));
      });
    });
}

caf::result<ack>
host_streams::deregister(const requester& who,
                         const io_deregister_request& request) {
  const auto x = readers_.remove(who, request.subscription);
  if (!x)
    return x.error();
  if (!*x)
    return ack{};
  const auto& reader = **x;
  end_reader(reader);
  if (!flag(request.directives, io_flush_key))
    return ack{};
  return answer_later<ack>(self_, [&](completion<ack> done) {
    ask<ack>(
      self_, reader.sink,
      [done = std::move(done)](const caf::expected<ack>&) {
        // The reader may be gone.
        done(ack{});
      },
      io_fragment{});
  });
}

void host_streams::drop_readers(const requester& who) {
  for (const auto& x : readers_.remove_all_of(who))
    end_reader(x);
}

caf::expected<nspace_list>
host_streams::watchable(const requester& who,
                        const io_pull_request& request) const {
  auto found = std::set<std::string>{};
  auto procs = request.procs;
  if (procs.empty())
    procs.push_back({"", rank_wildcard});
  for (const auto& proc : procs) {
    if (proc.nspace.empty()) {
      for (const auto& [nspace, job] : jobs_.all())
        if (may_control(job, who) && !job.reporting)
          found.insert(nspace);
      continue;
    }
    const auto* x = jobs_.find(proc.nspace);
    if (x == nullptr || x->reporting)
      return make_error(status::not_found,
                        "no job " + proc.nspace
                          + "; troupe jobs lists those there are");
    const auto& job = *x;
    if (!may_control(job, who))
      return make_error(status::no_permissions,
                        "job " + proc.nspace
                          + " is another user's; ask as that user");
    if (proc.rank != rank_wildcard && proc.rank >= job.procs.size())
      return make_error(status::not_found,
                        "no process " + to_string(proc)
                          + "; troupe ps lists those there are");
    found.insert(proc.nspace);
  }
  return nspace_list{{found.begin(), found.end()}};
}

// -- jobs --

void host_streams::spawn(const requester& who, spawn_request& request,
                         completion<spawn_result> done) {
  const auto wants_why = wants_reason(who, request);
  calls_.ask_root_for<spawn_result>(
    who, std::move(request),
    [this, who, wants_why,
     done = std::move(done)](caf::expected<spawn_result> x) {
      if (!x && wants_why)
        outlets_.refused(who, x.error());
      const auto nspace = x ? x->nspace : std::string{};
      done(std::move(x));
      outlets_.release(who, nspace);
    });
}

void host_streams::begin(const prepare_share& order) {
  const auto& nspace = order.map.nspace;
  const auto wiring = spread_.begin(order);
  auto is_wanted =
    order.origin == options_.rank && outlets_.open(order, wiring);
  const auto* inherits = find(order.request.job_infos, attr::iof_inherit);
  const auto is_heir = order.parent.role == peer_role::client
                       && (inherits == nullptr || inherits->truth());
  auto heirs = readers_.job_begun(nspace, order.parent.creds.uid,
                                  is_heir ? order.parent.proc.nspace : "");
  is_wanted |= heirs.is_wanted;
  for (auto& x : heirs.watches)
    watch(std::move(x));
  if (!is_wanted)
    spread_.want_nothing(nspace);
}

void host_streams::end(const std::string& nspace, std::function<void()> then) {
  const auto readers = readers_.job_over(nspace);
  if (!spread_.end(nspace)) {
    then();
    return;
  }
  const auto wait_on = [this, nspace, then, readers] {
    if (!outlets_.is_open(nspace)) {
      then();
      return;
    }
    // Whoever started the job gets all of it, or hears what is missing.
    for (const auto id : readers)
      unsubscribe(id);
    ask<ack>(
      self_, actors_.io_desk, [then](const caf::expected<ack>&) { then(); },
      io_job_over{nspace});
  };
  self_->request(actors_.io_desk, defaults::io_end_wait, io_job_over{nspace})
    .then([then](ack) { then(); }, [wait_on](const caf::error&) { wait_on(); });
}

// -- input: from the node where a job was asked for, or by way of the root from
// whoever may control the job --

void host_streams::take_input(uint32_t from, io_input& what,
                              completion<io_input_taken> done) {
  const auto own = options_.rank;
  const auto* job = spread_.find(what.nspace);
  if (job == nullptr || !runs_here_(what.nspace)) {
    done(make_error(status::not_found, "no share of " + what.nspace));
    return;
  }
  // X41: from the origin of the job, or from the root, which knows who may.
  if (from != own && from != host_calls::root && from != job->origin) {
    done(make_error(status::no_permissions,
                    "input for " + what.nspace + " comes from another node"));
    return;
  }
  if (auto why = keep_input_of(*places_, own, what))
    done(std::move(why));
  else
    ask<io_input_taken>(self_, actors_.io_desk, std::move(done),
                        std::move(what));
}

namespace {

caf::error of_another_user(const std::string& nspace) {
  return make_error(status::no_permissions,
                    "job " + nspace + " is another user's; ask as that user");
}

} // namespace

void host_streams::push(io_push_request& request, input_spread::targets targets,
                        completion<ack> done) {
  inputs_.push(request, std::move(targets),
               [done = std::move(done)](const caf::error& why) {
                 if (why)
                   done(why);
                 else
                   done(ack{});
               });
}

void host_streams::push(const requester& who, io_push_request& request,
                        completion<ack> done) {
  if (auto why = check_push(request)) {
    done(std::move(why));
    return;
  }
  auto targets = input_spread::targets{};
  for (const auto& x : request.targets) {
    const auto* job = spread_.find(x.nspace);
    if (job == nullptr || !job->owner || job->origin != options_.rank) {
      // The root knows, and may send it to all nodes.
      calls_.ask_root_for(who, std::move(request), std::move(done));
      return;
    }
    if (!stream_readers::may_watch(who, *job->owner)) {
      done(of_another_user(x.nspace));
      return;
    }
    if (targets.count(x.nspace) == 0)
      targets[x.nspace] = input_spread::input_of(
        request, x.nspace, job->stdin_target, places_->size_of(x.nspace));
  }
  push(request, std::move(targets), std::move(done));
}

void host_streams::push_at_root(const requester& who, io_push_request& request,
                                completion<ack> done) {
  auto targets = input_spread::targets{};
  for (const auto& x : request.targets) {
    const auto* job = jobs_.find(x.nspace);
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
  push(request, std::move(targets), std::move(done));
}

} // namespace troupe
